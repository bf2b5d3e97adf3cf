"""The command line: parse, call, print."""

# SciPy and scikit-learn import these at their top; commands seldom need them, and they are half of the time it takes to
# start
SELDOM = ("scipy.stats", "pandas", "pydoc", "narwhals", "narwhals.stable", "narwhals.stable.v2")


def main() -> None:
    """The entry point of ``klafter``."""
    from klafter.cli.later import postpone

    postpone(*SELDOM)
    from klafter.cli.app import app

    app(prog_name="klafter")
