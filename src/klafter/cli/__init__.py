"""The command line: parse, call, print."""

# NumPy, SciPy and scikit-learn import these at their top; commands seldom need them, and they are most of the time it
# takes to start
SELDOM = ("scipy.stats", "pandas", "pydoc", "joblib")


def main() -> None:
    """The entry point of ``klafter``."""
    from klafter.cli.later import postpone

    postpone(*SELDOM)
    from klafter.cli.app import app

    app(prog_name="klafter")
