"""Rivals from PyPI, each behind one function; a package that is not installed is skipped with its reason.

pip install scikit-network infomap igraph leidenalg cdlib demon angelcommunity graspologic
"""

from __future__ import annotations

import importlib

import networkx as nx
import numpy as np
from scipy import sparse


class Missing(Exception):
    """A rival that cannot run here, and why."""


def package(name: str):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name} is not installed") from error


def as_networkx(graph) -> nx.Graph:
    return nx.from_scipy_sparse_array(graph.links, create_using=nx.Graph)


def as_matrix(graph) -> sparse.csr_matrix:
    """scikit-network knows no sparse arrays, and writes to what it is given."""
    return sparse.csr_matrix(graph.links.copy())


def as_igraph(graph):
    upper = np.array(np.triu(graph.links.toarray()).nonzero()).T
    return package("igraph").Graph(n=graph.n_nodes, edges=upper.tolist())


def groups(labels) -> list[set]:
    """A partition given as one label for each node."""
    labels = np.asarray(labels)
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


# ---- communities: graph, seed -> list of sets of rows ---------------------------------------------------------------


def louvain(graph, seed: int) -> list[set]:
    package("sknetwork")
    from sknetwork.clustering import Louvain

    return groups(Louvain(random_state=seed).fit_predict(as_matrix(graph)))


def leiden(graph, seed: int) -> list[set]:
    leidenalg = package("leidenalg")
    found = leidenalg.find_partition(as_igraph(graph), leidenalg.ModularityVertexPartition, seed=seed)
    return [set(community) for community in found]


def infomap(graph, seed: int) -> list[set]:
    """Modules of the map equation, disjoint."""
    search = package("infomap").Infomap(silent=True, seed=seed + 1, two_level=True)
    coo = graph.links.tocoo()
    for i, j in zip(coo.row.tolist(), coo.col.tolist()):
        search.add_link(i, j)
    search.run()
    modules: dict[int, set] = {}
    for node in search.nodes:
        modules.setdefault(node.module_id, set()).add(node.node_id)
    return list(modules.values())


def demon(graph, seed: int) -> list[set]:
    package("cdlib"), package("demon")
    from cdlib import algorithms

    return [set(community) for community in algorithms.demon(as_networkx(graph), epsilon=0.25).communities]


def angel(graph, seed: int) -> list[set]:
    package("cdlib"), package("angel")
    from cdlib import algorithms

    return [set(community) for community in algorithms.angel(as_networkx(graph), threshold=0.25).communities]


def label_propagation(graph, seed: int) -> list[set]:
    """SLPA of cdlib: overlapping label propagation. It draws from the global generator."""
    import random

    package("cdlib")
    from cdlib import algorithms

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    return [set(community) for community in algorithms.slpa(as_networkx(graph)).communities]


COMMUNITIES = {
    "scikit-network Louvain": louvain,
    "leidenalg Leiden": leiden,
    "infomap": infomap,
    "cdlib DEMON": demon,
    "cdlib ANGEL": angel,
    "cdlib SLPA": label_propagation,
}


# ---- link prediction: fit(graph), predict_proba(pairs) --------------------------------------------------------------


class SpectralGraspologic:
    """graspologic's adjacency spectral embedding; hidden dyads are zeros to it, as it knows no others."""

    def __repr__(self):
        return "graspologic AdjacencySpectralEmbed()"

    def fit(self, graph):
        package("graspologic")
        from graspologic.embed import AdjacencySpectralEmbed

        found = AdjacencySpectralEmbed(check_lcc=False, svd_seed=0).fit_transform(graph.links.toarray())
        self.left, self.right = found if isinstance(found, tuple) else (found, found)
        return self

    def predict_proba(self, pairs):
        inner = np.einsum("md,md->m", self.left[pairs[:, 0]], self.right[pairs[:, 1]])
        return np.clip(inner, 0.0, 1.0)


class SpectralScikitNetwork:
    """scikit-network's spectral embedding, ranked by cosine; hidden dyads are zeros to it."""

    def __repr__(self):
        return "scikit-network Spectral(20)"

    def fit(self, graph):
        package("sknetwork")
        from sknetwork.embedding import Spectral

        x = Spectral(min(20, graph.n_nodes - 2)).fit_transform(as_matrix(graph))
        self.x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
        return self

    def predict_proba(self, pairs):
        return 0.5 + 0.5 * np.clip(np.einsum("md,md->m", self.x[pairs[:, 0]], self.x[pairs[:, 1]]), -1.0, 1.0)


LINKS = {"graspologic ASE": SpectralGraspologic, "scikit-network Spectral": SpectralScikitNetwork}
NEEDS = {"graspologic ASE": "graspologic", "scikit-network Spectral": "sknetwork"}
