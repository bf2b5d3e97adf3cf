"""The page of commands, from what ``--help`` prints."""

from pathlib import Path

INTRODUCTION = """# The command line

Everything below is what `klafter COMMAND --help` prints. Commands that give results have `--json`; a terminal gets a
progress bar with the time left, a pipe stays quiet. Exit codes: 0 done, 2 a mistake in the command or a file, 1 a fault
of klafter, 130 interrupted (what was found so far is saved), 141 the reader of the output went away. `klafter
--install-completion` completes commands, options, models and data sets in your shell.
"""


def write_commands(path: Path) -> None:
    """Write the page, if it has changed."""
    from typer.testing import CliRunner

    from klafter.cli.app import COMMANDS, app

    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    names = [command.__name__ for group in COMMANDS.values() for command in group]
    parts = [INTRODUCTION]
    for words in [[], *([name] for name in names)]:
        shown = runner.invoke(app, [*words, "--help"], prog_name="klafter")
        lines = "\n".join(line.rstrip() for line in shown.stdout.strip("\n").splitlines())
        parts.append(f"## klafter {' '.join(words)}".rstrip() + f"\n\n```text\n{lines}\n```\n")
    text = "\n".join(parts)
    path.parent.mkdir(exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
