"""Two-mode graphs for tests, and the one-mode graphs that must give the same: all pairs within a kind are hidden."""

import numpy as np

from klafter import Graph


def blocks(n_rows=14, n_columns=10, seed=0, inside=0.7, outside=0.08):
    """Two groups, each of rows and columns that link to each other."""
    rng = np.random.default_rng(seed)
    same = (np.arange(n_rows) < n_rows // 2)[:, None] == (np.arange(n_columns) < n_columns // 2)
    matrix = rng.random((n_rows, n_columns)) < np.where(same, inside, outside)
    matrix[np.arange(n_rows), np.arange(n_rows) % n_columns] = True
    return Graph.from_biadjacency(matrix)


def as_one_mode(graph):
    """The same graph with every pair within a kind listed as hidden."""
    inside = graph.second_kind[:, None] == graph.second_kind
    return graph.replace(kinds=None, hidden=graph.hidden.toarray().astype(bool) | inside)


def shuffled(graph, seed=0):
    """The same graph with the kinds mixed up in its rows."""
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    return graph.replace(
        links=graph.links[order][:, order], hidden=graph.hidden[order][:, order], kinds=graph.kinds[order]
    )
