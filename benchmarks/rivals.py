"""Rivals from PyPI, each behind one function; a package that is not installed is skipped with its reason.

pip install scikit-network infomap igraph leidenalg cdlib demon angelcommunity
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
    return package("igraph").Graph(n=graph.n_nodes, edges=pairs_of(graph).tolist())


def pairs_of(graph) -> np.ndarray:
    """Each link once, as (i, j) with i < j."""
    return np.array(sparse.triu(graph.links, 1).nonzero()).T


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


def surprise(graph, seed: int) -> list[set]:
    leidenalg = package("leidenalg")
    found = leidenalg.find_partition(as_igraph(graph), leidenalg.SurpriseVertexPartition, seed=seed)
    return [set(community) for community in found]


def walktrap(graph, seed: int) -> list[set]:
    """Short random walks, cut where modularity is highest; nothing in it is random."""
    return [set(community) for community in as_igraph(graph).community_walktrap().as_clustering()]


def labels_spread(graph, seed: int) -> list[set]:
    """Label propagation of igraph, which draws from Python's generator."""
    import random

    network = as_igraph(graph)
    random.seed(seed)
    return [set(community) for community in network.community_label_propagation()]


def lpanni(graph, seed: int) -> list[set]:
    return by_cdlib("lpanni", graph, seed)


def lfm(graph, seed: int) -> list[set]:
    """Local fitness, with the exponent of cdlib's example."""
    return by_cdlib("lfm", graph, seed, alpha=0.8)


def by_cdlib(name: str, graph, seed: int, **options) -> list[set]:
    """An algorithm of cdlib, without isolated nodes, as LPANNI fails on them; it draws from the global generators."""
    import random

    package("cdlib")
    from cdlib import algorithms

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    network = as_networkx(graph)
    network.remove_nodes_from(list(nx.isolates(network)))
    return [set(community) for community in getattr(algorithms, name)(network, **options).communities]


def blockmodel(graph, seed: int) -> list[set]:
    """Degree-corrected stochastic blockmodel of least description length."""
    tool, network = as_graph_tool(graph, seed)
    return groups(tool.minimize_blockmodel_dl(network, state_args={"deg_corr": True}).get_blocks().a)


def nested_blockmodel(graph, seed: int) -> list[set]:
    """The lowest level of the nested degree-corrected blockmodel."""
    tool, network = as_graph_tool(graph, seed)
    return groups(tool.minimize_nested_blockmodel_dl(network).get_levels()[0].get_blocks().a)


def as_graph_tool(graph, seed: int):
    tool = package("graph_tool.all")
    tool.seed_rng(seed + 1)  # 0 is a random seed
    np.random.seed(seed)  # noqa: NPY002
    network = tool.Graph(directed=False)
    network.add_vertex(graph.n_nodes)
    network.add_edge_list(pairs_of(graph))
    return tool, network


# of benchmarks/communities.py: the packages to load first, and the function
DETECTORS = {
    "scikit-network Louvain": (("sknetwork.clustering",), louvain),
    "leidenalg Leiden": (("igraph", "leidenalg"), leiden),
    "leidenalg Surprise": (("igraph", "leidenalg"), surprise),
    "infomap": (("infomap",), infomap),
    "igraph walktrap": (("igraph",), walktrap),
    "igraph label propagation": (("igraph",), labels_spread),
    "cdlib SLPA": (("cdlib.algorithms",), label_propagation),
    "cdlib LPANNI": (("cdlib.algorithms",), lpanni),
    "cdlib LFM": (("cdlib.algorithms",), lfm),
    "cdlib DEMON": (("cdlib.algorithms", "demon"), demon),
    "cdlib ANGEL": (("cdlib.algorithms", "angel"), angel),
    "graph-tool SBM": (("graph_tool.all",), blockmodel),
    "graph-tool nested SBM": (("graph_tool.all",), nested_blockmodel),
}
WITHOUT_CHANCE = ("igraph walktrap",)
