"""Table 2: communities of NIPS authors, small dense ones first, authors of several communities marked."""

from __future__ import annotations

import numpy as np

from klafter.datasets import load_dataset
from klafter.evaluation.reproduce.systems import systems
from klafter.evaluation.reproduce.table1 import RESULTS, _path
from klafter.evaluation.saved import write_json

SMALLEST, DENSE = 3, 0.5


def table2(quick: bool = False, results=RESULTS, *, data_home=None, n_jobs: int | None = None, random_state=0) -> dict:
    """Fit all of NIPS234, list its communities with names, and save them as ``table2.json``.

    Parameters
    ----------
    quick : bool
        One restart, few rounds.
    results : path
        Folder of the results.
    data_home : path, optional
    n_jobs : int, optional
    random_state : int

    Returns
    -------
    dict
        ``communities``: size, density (share of pairs that are linked), authors with the number of communities each
        is in; ``unassigned``: how many authors are in none.
    """
    graph = load_dataset("nips234", data_home=data_home)
    model = systems(quick, n_jobs, ["KLafter"])[0]["KLafter"]
    checkpoint = _path(results, "table2", quick).with_suffix(".ckpt")
    model.set_params(random_state=random_state).fit(graph, checkpoint=checkpoint)
    content = {
        "quick": quick,
        "settings": " ".join(repr(model).split()),
        "n_communities": model.n_communities_,
        "unassigned": len(model.unassigned()),
        "communities": described(np.asarray(model.memberships_), graph),
    }
    write_json(_path(results, "table2", quick), content)
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
    return sorted(rows, key=_small_and_dense)


def _small_and_dense(row: dict) -> tuple:
    return row["density"] < DENSE or row["size"] < SMALLEST, row["size"], -row["density"]
