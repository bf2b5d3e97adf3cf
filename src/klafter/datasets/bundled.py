"""Small real networks: Zachary's karate club, and others that come with networkx."""

import numpy as np
from scipy import sparse

from klafter.graph import Graph

# Zachary's, as networkx has it, which takes long to load: a member, and friends with a higher number with the count of
# settings in which the two met
N_MEMBERS = 34
WITH_MR_HI = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21)
MEETINGS = """
0 1:4 2:5 3:3 4:3 5:3 6:3 7:2 8:2 10:2 11:3 12:1 13:3 17:2 19:2 21:2 31:2
1 2:6 3:3 7:4 13:5 17:1 19:2 21:2 30:2
2 3:3 7:4 8:5 9:1 13:3 27:2 28:2 32:2
3 7:3 12:3 13:3
4 6:2 10:3
5 6:5 10:3 16:3
6 16:3
8 30:3 32:3 33:4
9 33:2
13 33:3
14 32:3 33:2
15 32:3 33:4
18 32:1 33:2
19 33:1
20 32:3 33:1
22 32:2 33:3
23 25:5 27:4 29:3 32:5 33:4
24 25:2 27:3 31:2
25 31:7
26 29:4 33:2
27 33:4
28 31:2 33:2
29 32:4 33:2
30 32:3 33:3
31 32:4 33:4
32 33:5
"""


def load_karate(weighted: bool = False) -> Graph:
    """Zachary's karate club: 34 members, 78 friendships; attribute ``club`` is the side each took when it split.

    Parameters
    ----------
    weighted : bool
        Link values count the settings in which two members met (1 to 7), not just 1.

    Returns
    -------
    Graph

    References
    ----------
    W. W. Zachary (1977). An information flow model for conflict and fission in small groups.
    Journal of Anthropological Research 33, 452-473.

    Examples
    --------
    >>> load_karate()
    Graph(34 nodes, 78 links, undirected)
    """
    links = _meetings()
    return Graph(
        links if weighted else (links != 0).astype(float),
        labels=list(range(links.shape[0])),
        attributes={"club": _clubs()},
    )


def load_les_miserables(weighted: bool = False) -> Graph:
    """Characters of Les Miserables, linked when they appear in the same chapter: 77 nodes, 254 links, named.

    Parameters
    ----------
    weighted : bool
        Link values count the chapters (1 to 31), not just 1.

    Returns
    -------
    Graph

    References
    ----------
    D. E. Knuth (1993). The Stanford GraphBase: a platform for combinatorial computing. Addison-Wesley.

    Examples
    --------
    >>> graph = load_les_miserables(weighted=True)
    >>> graph, graph.links.max().item()
    (Graph(77 nodes, 254 links, undirected), 31.0)
    """
    import networkx as nx

    return _from_networkx(nx.les_miserables_graph(), weighted)


def load_florentine_families() -> Graph:
    """Marriages between families of Renaissance Florence: 15 nodes, 20 links, named.

    Returns
    -------
    Graph

    References
    ----------
    R. L. Breiger, P. E. Pattison (1986). Cumulated social roles: the duality of persons and their algebras.
    Social Networks 8, 215-256.

    Examples
    --------
    >>> load_florentine_families()
    Graph(15 nodes, 20 links, undirected)
    """
    import networkx as nx

    return _from_networkx(nx.florentine_families_graph(), False)


def load_southern_women() -> Graph:
    """18 women and the 14 social events they attended: a two-mode network of 89 links, of kinds woman and event.

    Returns
    -------
    Graph

    References
    ----------
    A. Davis, B. B. Gardner, M. R. Gardner (1941). Deep South. University of Chicago Press.

    Examples
    --------
    >>> graph = load_southern_women()
    >>> graph, graph.n_dyads
    (Graph(18 woman and 14 event nodes, 89 links, two-mode), 252)
    """
    import networkx as nx

    net = nx.davis_southern_women_graph()
    kinds = np.where([net.nodes[v]["bipartite"] == 0 for v in net], "woman", "event")
    return _from_networkx(net, False).replace(kinds=kinds)


def _from_networkx(net, weighted: bool, *attributes: str) -> Graph:
    import networkx as nx

    links = nx.to_scipy_sparse_array(net, weight="weight" if weighted else None, dtype=float)
    known = {name: [net.nodes[v][name] for v in net] for name in attributes}
    return Graph(links, labels=list(net), attributes=known)


def _meetings() -> sparse.csr_array:
    """(34, 34), symmetric: in how many settings two members met."""
    links = np.zeros((N_MEMBERS, N_MEMBERS))
    for line in MEETINGS.split("\n")[1:-1]:
        member, *friends = line.split()
        for friend, count in (pair.split(":") for pair in friends):
            links[int(member), int(friend)] = links[int(friend), int(member)] = float(count)
    return sparse.csr_array(links)


def _clubs() -> list[str]:
    """The side each member took when the club split."""
    return ["Mr. Hi" if member in WITH_MR_HI else "Officer" for member in range(N_MEMBERS)]
