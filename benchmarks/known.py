"""Networks whose communities are known, from a folder of NAME.tsv and NAME.communities.txt, and what runs share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse

import klafter as kl
from klafter.evaluation.comparison import mean_and_error


def read_network(folder: Path, name: str):
    """The graph, 0/1 and undirected, with its isolated nodes, and the true communities."""
    lines = (folder / f"{name}.tsv").read_text().splitlines()
    n = next(int(line.split(":")[1]) for line in lines if line.startswith("# nodes:"))
    i, j = np.array([line.split()[:2] for line in lines if line and not line.startswith("#")], int).T
    graph = kl.Graph(sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))).binarize()
    path = folder / f"{name}.communities.txt"
    return graph, read_truth(path) if path.exists() else []


def read_truth(path: Path) -> list[set]:
    """Communities of a file with a label, a tab, and node numbers on each line."""
    lines = path.read_text().splitlines()
    return [set(map(int, line.split("\t")[1].split())) for line in lines if line and not line.startswith("#")]


def rows_of(model) -> list[set]:
    """Communities of a fitted model as rows."""
    columns = model.memberships_.T.tocsr() if hasattr(model.memberships_, "tocsr") else model.memberships_.T
    return [set(column.nonzero()[-1].tolist()) for column in columns]


def summary(found: list[dict]) -> dict:
    """Means and standard errors over seeds."""
    pairs = {name: mean_and_error([run.get(name, float("nan")) for run in found]) for name in found[0]}
    return {key: value for name, (m, e) in pairs.items() for key, value in ((name, m), (f"{name}_se", e))}


def hide_paths(arguments: list[str]) -> list[str]:
    """The command without the places of one machine."""
    return [Path(word).name if os.sep in word else word for word in arguments]
