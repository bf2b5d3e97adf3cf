"""The error that a file of links can give."""

from __future__ import annotations

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

    @classmethod
    def of(cls, path: str | Path, line: int | None, found: str, encoding: str, data: bytes) -> Self:
        """The error with the encoding in which these bytes are words."""
        error = cls.at(path, line, found, f"the text must be {encoding}", "pass encoding='latin-1' or another")
        error.likely = likely_encoding(data)
        return error


def quote(text: str | bytes, width: int = 40) -> str:
    """Text from a file as data: on one line, escaped and short."""
    if isinstance(text, bytes):
        text = text[: 4 * width + 4].decode("utf-8", "replace")
    return repr(text if len(text) <= width else text[: width - 3] + "...")
