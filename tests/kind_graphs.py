"""Graphs of three kinds of nodes for tests, and the graphs of one kind that must give the same: pairs that cannot be
linked are hidden there."""

import numpy as np

from klafter import Graph

PEOPLE = [("person", "paper"), ("paper", "paper")]
TO_PAPERS = [("person", "paper"), ("paper", "paper"), ("paper", "venue"), ("venue", "person")]
RULES = {
    "across": {"kind_pairs": "across"},
    "within": {"kind_pairs": "within"},
    "people and papers": {"kind_pairs": [*PEOPLE, ("venue", "paper")]},
    "chain": {"kind_pairs": [("person", "paper"), ("paper", "venue")]},
    "directed": {"kind_pairs": TO_PAPERS, "directed": True},
    "directed across": {"kind_pairs": "across", "directed": True},
    "one way": {"kind_pairs": [("person", "paper"), ("venue", "paper")], "directed": True},
}


def ruled(rule, n=27, seed=0, inside=0.6, outside=0.12, hidden=6):
    """Two groups over three kinds of nodes, mixed up in the rows, with links only where the rule allows them."""
    rng, parts = np.random.default_rng(seed), RULES[rule]
    kinds = rng.permutation(np.resize(["person", "paper", "paper", "venue"], n))
    group = rng.integers(0, 2, n)
    links = rng.random((n, n)) < np.where(group[:, None] == group, inside, outside)
    links = links if parts.get("directed") else np.triu(links, 1)
    empty = Graph(np.zeros((n, n)), kinds=kinds, **parts)
    pairs = np.argwhere(links)
    pairs = pairs[empty.is_possible(pairs)]
    made = np.zeros((n, n))
    made[pairs[:, 0], pairs[:, 1]] = 1
    made = made if parts.get("directed") else made + made.T
    return empty.replace(links=made).hide(
        rng.integers(0, n, (hidden, 2)) + [[0, 0]] if hidden else np.zeros((0, 2), int)
    )


def possible(graph):
    """(n, n) whether each pair could be a link, pair by pair."""
    allowed = set(graph.kind_pairs)
    if not graph.directed:
        allowed |= {pair[::-1] for pair in allowed}
    n = graph.n_nodes
    each = [[i != j and (str(graph.kinds[i]), str(graph.kinds[j])) in allowed for j in range(n)] for i in range(n)]
    return np.array(each)


def as_one_kind(graph):
    """The same graph with every pair that cannot be linked listed as hidden."""
    hidden = graph.hidden.toarray().astype(bool) | ~possible(graph)
    np.fill_diagonal(hidden, False)
    return graph.replace(kinds=None, hidden=hidden)
