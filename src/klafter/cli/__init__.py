"""The command line: parse, call, print."""

# scikit-learn imports both at its top; commands seldom need either, and they are half of the time it takes to start
SELDOM = ("scipy.stats", "pandas")


def main() -> None:
    """The entry point of ``klafter``."""
    from klafter.cli.later import postpone

    postpone(*SELDOM)
    from klafter.cli.app import app

    app(prog_name="klafter")
