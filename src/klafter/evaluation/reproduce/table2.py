"""Table 2: communities of NIPS authors, small dense ones first, authors of several communities marked."""

from __future__ import annotations

from difflib import SequenceMatcher

import numpy as np

from klafter.datasets import load_dataset
from klafter.evaluation.reproduce.systems import systems
from klafter.evaluation.reproduce.table1 import RESULTS, result_path
from klafter.graph.writing import write_json

SMALLEST, DENSE = 3, 0.5
ALIKE = 0.85  # of two spellings of a surname


def table2(quick: bool = False, results=RESULTS, *, data_home=None, n_jobs: int | None = None) -> dict:
    """Fit all of NIPS234, list its communities with names, and save them as ``table2.json``.

    Returns
    -------
    dict
        ``communities``: size, density (share of pairs that are linked), authors with the number of communities each
        is in; ``unassigned``: how many authors are in none.
    """
    graph = load_dataset("nips234", data_home=data_home)
    model = systems(quick, n_jobs, ["KLafter"])[0]["KLafter"]
    checkpoint = result_path(results, "table2", quick).with_suffix(".ckpt")
    model.set_params(random_state=0).fit(graph, checkpoint=checkpoint)
    content = {
        "quick": quick,
        "settings": " ".join(repr(model).split()),
        "n_communities": model.n_communities_,
        "unassigned": len(model.unassigned()),
        "communities": described(np.asarray(model.memberships_), graph),
    }
    write_json(result_path(results, "table2", quick), content)
    checkpoint.unlink(missing_ok=True)
    return content


def described(memberships: np.ndarray, graph) -> list[dict]:
    """Communities with members and density: dense ones first, the smallest of them first."""
    counts = memberships.sum(axis=1)
    rows = []
    for column in memberships.T:
        members = np.flatnonzero(column)
        size = len(members)
        inside = (graph.links[members][:, members] != 0).sum()
        authors = [{"name": str(graph.label(i)), "communities": int(counts[i])} for i in members]
        rows.append({"size": size, "density": float(inside / max(size * (size - 1), 1)), "authors": authors})
    return sorted(rows, key=lambda r: (r["density"] < DENSE or r["size"] < SMALLEST, r["size"], -r["density"]))


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
