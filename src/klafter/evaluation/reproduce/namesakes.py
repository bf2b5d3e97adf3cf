"""The communities that the paper's Table 2 prints, beside those of ours that hold most of their authors."""

from __future__ import annotations

from difflib import SequenceMatcher

ALIKE = 0.85  # of two spellings of a surname


def same_author(printed: str, known: str) -> bool:
    """Whether a name of the paper, ``Thrun S`` or ``Sutton``, is one of the data, ``Thrun_S``.

    Examples
    --------
    >>> same_author("SchmidBaur O", "Schmidbauer_O"), same_author("Sutton", "Sutton_R")
    (True, True)
    >>> same_author("Bishop C", "Bair_W")
    False
    """
    surname, _, initial = printed.strip().partition(" ")
    theirs, _, first = known.rpartition("_")
    if initial and first and initial[0] != first[0]:
        return False
    return SequenceMatcher(None, surname.casefold(), theirs.casefold()).ratio() >= ALIKE


def matched(printed: dict[str, str], communities: list[dict]) -> list[dict]:
    """For each of the paper's communities: how many authors, how many of them we know, and ours with most of them."""
    rows = []
    for name, authors in printed.items():
        theirs = [author.strip() for author in authors.split(",")]
        found = [[a for a in theirs if _is_in(a, community)] for community in communities]
        best = max(range(len(found)), key=lambda k: len(found[k]), default=None)
        known = {author for some in found for author in some}
        row = {"name": name, "authors": len(theirs), "known": len(known), "best": best}
        rows.append({**row, "shared": [] if best is None else found[best]})
    return rows


def _is_in(author: str, community: dict) -> bool:
    return any(same_author(author, member["name"]) for member in community["authors"])
