"""The error that a file of links can give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from klafter.graph.io.encodings import likely_encoding


class GraphFileError(ValueError):
    """A file that cannot be read as a graph: one sentence with file and line, what was found, the rule and the cure.

    Examples
    --------
    >>> print(GraphFileError.at("friends.tsv", 7, "the weight 'abc'", "weights are numbers", "correct it"))
    friends.tsv, line 7: found the weight 'abc', but weights are numbers; correct it.
    """

    @classmethod
    def at(cls, path: str | Path, line: int | None, found: str, rule: str, cure: str) -> Self:
        """The error as a sentence; `line` counts from 1, None when the trouble is the whole file.

        Parameters
        ----------
        path : path of the file
        line : int, optional
        found, rule, cure : str
            Parts of the sentence.

        Returns
        -------
        GraphFileError
        """
        place = f"{path}, line {line}" if line else f"{path}"
        return cls(" ".join(f"{place}: found {found}, but {rule}; {cure}.".split()))


class EncodingError(GraphFileError):
    """Text that is not in the encoding it was read in; `likely` is one to try instead."""

    likely: str = "cp1252"


def misread(found: str, rule: str, cure: str, line: int | None = None) -> GraphFileError:
    """The error of a file that ``located`` names."""
    return GraphFileError(line, found, rule, cure)


def none_of(kind: str, names: Iterable[str], asked: str, cure: str = "name another") -> GraphFileError:
    """The same where ``asked``, such as relation='friends', is none of the things of a kind that a file holds."""
    listed = ", ".join(map(quote, names))
    return misread(f"the {kind} {listed}" if listed else f"no {kind}", f"{asked} must be one of them", cure)


def one_of(kind: str, name: str, others: Iterable[str], option: str) -> str:
    """Which of several things in a file was read, as a note."""
    return f"Read the {kind} {name!r}; the file also holds {', '.join(map(repr, others))} (choose with {option}=)."


def misencoded(found: str, encoding: str, data: bytes, line: int | None = None) -> EncodingError:
    """The same for text in another encoding than it was read in, with one in which these bytes are words."""
    error = EncodingError(line, found, f"the text must be {encoding}", "pass encoding='latin-1' or another")
    error.likely = likely_encoding(data)
    return error


@contextmanager
def located(path: str | Path) -> Iterator[None]:
    """Errors of what is read meanwhile name this file."""
    try:
        yield
    except GraphFileError as error:
        raise GraphFileError.at(path, *error.args).with_traceback(error.__traceback__) from None


def quote(text: str | bytes, width: int = 40) -> str:
    """Text from a file as data: on one line, escaped and short."""
    if isinstance(text, bytes):
        text = text[: 4 * width + 4].decode("utf-8", "replace")
    return repr(text if len(text) <= width else text[: width - 3] + "...")
