"""The command line: parse, call, print."""


def main() -> None:
    """The entry point of ``klafter``."""
    from klafter.cli.app import app

    app(prog_name="klafter")
