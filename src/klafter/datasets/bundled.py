"""Small real networks that come with networkx."""

import numpy as np

from klafter.graph import Graph


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
    import networkx as nx

    return _from_networkx(nx.karate_club_graph(), weighted, "club")


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
