"""Lawyers of a New England law firm (Lazega 2001): advice, friendship, co-work, and who they are."""

from __future__ import annotations

import numpy as np

from klafter.datasets.files import fetch_file
from klafter.graph import Graph

RELATIONS = {"advice": 1, "friend": 2}  # their numbers in the Pajek project; co-work has a file of its own
N_LAWYERS = 71

# the columns of ELattr.dat after the lawyer's number, with the meaning of their codes
COLUMNS: dict[str, tuple[str, ...]] = {
    "status": ("partner", "associate"),
    "gender": ("man", "woman"),
    "office": ("Boston", "Hartford", "Providence"),
    "seniority": (),
    "age": (),
    "practice": ("litigation", "corporate"),
    "law_school": ("Harvard or Yale", "Connecticut", "other"),
}


def fetch_lazega(relation: str = "advice", *, data_home=None) -> Graph:
    """71 lawyers of one firm and whom each goes to for advice, works with, or sees as a friend.

    Parameters
    ----------
    relation : {"advice", "work", "friend"}
        Advice (892 arcs) and friendship (575 arcs) are directed, co-work (378 pairs) is not.
    data_home : path, optional
        Folder of the files; default: environment variable KLAFTER_DATA, else the user's cache.

    Returns
    -------
    Graph
        Labels L1 to L71, by seniority; attributes ``status``, ``gender``, ``office``, ``seniority`` (years with the
        firm), ``age``, ``practice``, ``law_school``.

    Notes
    -----
    Licence: none stated; free for research with citation of the book. The files are checked by sha256.

    References
    ----------
    E. Lazega (2001). The Collegial Phenomenon: the social mechanisms of cooperation among peers in a corporate law
    partnership. Oxford University Press.

    Examples
    --------
    >>> fetch_lazega("advice")                                                          # doctest: +SKIP
    Graph(71 nodes, 892 links, directed)
    """
    if relation not in ("advice", "work", "friend"):
        raise ValueError(f'fetch_lazega needs relation "advice", "work" or "friend"; {relation!r} is none of them.')
    if relation == "work":
        links = np.loadtxt(fetch_file("ELwork.dat", data_home))
    else:
        links = _pajek_relation(fetch_file("Lazega-Law-Firm.paj", data_home), RELATIONS[relation])
    labels = [f"L{i}" for i in range(1, N_LAWYERS + 1)]
    return Graph(links, directed=relation != "work", labels=labels, attributes=_lawyers(data_home))


def _pajek_relation(path, number: int) -> np.ndarray:
    """The arcs of one relation: lines ``number: source target value``, nodes from 1."""
    links = np.zeros((N_LAWYERS, N_LAWYERS))
    for line in path.read_text().splitlines():
        if line.startswith(f"{number}:"):
            source, target = line.split(":")[1].split()[:2]
            links[int(source) - 1, int(target) - 1] = 1.0
    return links


def _lawyers(data_home) -> dict[str, list]:
    table = np.loadtxt(fetch_file("ELattr.dat", data_home), dtype=int)[:, 1:]
    return {
        name: [meanings[code - 1] for code in column] if meanings else column.tolist()
        for (name, meanings), column in zip(COLUMNS.items(), table.T)
    }
