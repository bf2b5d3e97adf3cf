"""``python -m klafter`` is ``klafter``."""

from klafter.cli import main

main()
