"""How a command ends: one sentence on stderr, and an exit code that says who can mend it.

0    done
1    a fault of klafter
2    a mistake in the command or in a file
130  interrupted by Ctrl-C; what was found so far is saved
141  nobody reads the output any more
143  interrupted by SIGTERM, likewise
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable
from difflib import get_close_matches

import typer
from typer.core import TyperCommand, TyperGroup

from klafter.cli import RECEIVED
from klafter.cli.screen import plain

# what the library tells a programmer to pass, and what to type instead
SHELL_WORDS = {
    "pass header=True": "say --header",
    "pass header=False": "say --no-header",
    "pass nodes=True": "say --nodes auto",
    "read without sheet=": "leave --sheet out",
    "choose with sheet=": "choose with --sheet",
    "pass weight= to name": "say --weight to name",
    "pass encoding= if": "say --read encoding= if",
    "and nodes= if": "and --nodes if",
    "this one as nodes=": "this one as --nodes",
    "pass two_mode=True": "say --bipartite",
    "pass two_mode=False": "say --no-bipartite",
    "Say with kind_pairs which": "Say with --kind-pairs which",
    "such as kind_pairs='across'": "such as --kind-pairs across",
    "Add the pair to kind_pairs": "Add the pair to --kind-pairs",
    "Pass kind=": "Pass --kind ",
    "pass matrix=True or matrix=False": "say --read matrix=yes or matrix=no",
    "pass nodes_header=True": "say --read nodes_header=yes",
    "pass nodes_header=False": "say --read nodes_header=no",
    "pass decimal=','": "say --read decimal=,",
    "pass directed=True": "say --directed",
    "pass directed=False": "say --undirected",
    "pass weight=None": "say --weight none",
    "or weight=None": "or --weight none",
    "with weight=": "with --weight",
    "pass delimiter=": "say --read delimiter=",
    "pass encoding='latin-1'": "say --read encoding=latin-1",
    "choose with relation=": "choose with --read relation=",
    "read without nodes=": "read without --nodes",
    "klafter.as_graph(X).binarize()": "--binarize",
    "klafter.as_graph(X).symmetrize()": "--read directed=false",
}
_WEIGHT = re.compile(r"pass weight=['\"]?([^'\"\s]+)['\"]?(?= if)")
_ENCODING = re.compile(r"pass encoding='([\w-]+)'")
FAULT, MISTAKE, INTERRUPTED, UNREAD = 1, 2, 130, 141


class Mistake(ValueError):
    """Something the user can mend, as a sentence."""


class Interrupted(Exception):
    """Ctrl-C, after the best so far was saved or when there was nothing to save."""


def in_shell_words(text: str) -> str:
    """A sentence of the library with options as the command line has them."""
    for words, typed in SHELL_WORDS.items():
        text = text.replace(words, typed)
    return _WEIGHT.sub(r"say --weight \1", _ENCODING.sub(r"say --read encoding=\1", text))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with the names that are spelled much like this one; empty if none is."""
    near = get_close_matches(name.lower(), {word.lower(): word for word in known}, 3, 0.6)
    found = [word for word in known if word.lower() in near]
    return f" Did you mean {' or '.join(sorted(found, key=lambda word: near.index(word.lower())))}?" if found else ""


def flags_as_flags(params: list) -> list:
    """Switches take no value, so that help shows none behind them."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = " "
    return params


class SentenceCommand(TyperCommand):
    """A command whose help shows flags as flags and arguments without braces."""

    def get_params(self, ctx):
        """Options and arguments, help among them."""
        return flags_as_flags(super().get_params(ctx))

    def collect_usage_pieces(self, ctx):
        """The words of the usage line."""
        return [
            piece.replace("{", "").replace("}", "").replace("[[", "[").replace("]]", "]")
            for piece in super().collect_usage_pieces(ctx)
        ]


class SentenceGroup(TyperGroup):
    """A group of commands whose errors are sentences, without boxes and tracebacks."""

    def get_params(self, ctx):
        """Options, help among them."""
        return flags_as_flags(super().get_params(ctx))

    def invoke(self, ctx):
        """Run the command; a reader who went away is not an error of files."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(UNREAD) from None
        return result

    def main(
        self, args=None, prog_name=None, complete_var=None, standalone_mode=True, windows_expand_args=True, **extra
    ):
        """Run and exit with a code that means something."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
            if code == INTERRUPTED:
                print("klafter: Interrupted.", file=sys.stderr)
        except Exception as error:
            if os.environ.get("KLAFTER_DEBUG"):
                traceback.print_exc()
            # a Ctrl-C that reaches a compiler comes out as an error of its own
            code, sentence = verdict(typer.Abort() if RECEIVED and not isinstance(error, Interrupted) else error)
            print(f"klafter: {plain(sentence)}", file=sys.stderr)
        if code == INTERRUPTED and RECEIVED:  # typer knows of Ctrl-C alone
            code = 128 + RECEIVED[0]
        sys.exit(code if isinstance(code, int) else 0)


def verdict(error: Exception) -> tuple[int, str]:
    """The exit code and the sentence of an error."""
    if isinstance(error, Interrupted):
        return INTERRUPTED, str(error)
    if isinstance(error, typer.Abort):
        return INTERRUPTED, "Interrupted."
    if hasattr(error, "format_message"):  # a mistake in the arguments, found by typer
        return MISTAKE, _usage(error)
    if isinstance(error, OSError) and error.strerror:
        return MISTAKE, f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, (ValueError, OSError, ImportError)):
        return MISTAKE, in_shell_words(str(error))
    if isinstance(error, MemoryError):
        said = in_shell_words(str(error))
        return FAULT, said if said.endswith(".") else "There is not enough memory for this; try a smaller graph."
    kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return FAULT, f"Something went wrong inside klafter ({kind}); KLAFTER_DEBUG=1 shows where, please report it."


def _usage(error) -> str:
    """What typer found wrong, and where help is."""
    context = getattr(error, "ctx", None)
    where = f"see {context.command_path if context else 'klafter'} --help."
    option = getattr(error, "option_name", None)
    if option is None or not hasattr(error, "possibilities"):
        return f"{error.format_message().rstrip('.?')}; {where}"
    known = (
        [name for param in context.command.params for name in (*param.opts, *param.secondary_opts)] if context else []
    )
    return f"No such option: {option}; {where}{did_you_mean(option, [n for n in known if n.startswith('--')])}"
