"""Protein230: interactions between proteins of Escherichia coli."""

from klafter.datasets.files import fetch_file
from klafter.graph import Graph


def fetch_protein230(*, data_home=None) -> Graph:
    """230 proteins of Escherichia coli and their 695 interactions.

    Parameters
    ----------
    data_home : path, optional
        Folder of the file; default: environment variable KLAFTER_DATA, else the user's cache.

    Returns
    -------
    Graph
        Undirected, without labels.

    Notes
    -----
    Licence: MIT (the EPM repository that publishes the file). The literature often says 595 links; the file has 695.

    References
    ----------
    G. Butland et al. (2005). Interaction network containing conserved and essential protein complexes in
    Escherichia coli. Nature 433, 531-537.

    M. Zhou (2015). Infinite edge partition models for overlapping community detection and link prediction. AISTATS.

    Examples
    --------
    >>> fetch_protein230()                                                              # doctest: +SKIP
    Graph(230 nodes, 695 links, undirected)
    """
    from scipy.io import loadmat

    return Graph(loadmat(fetch_file("Protein230.mat", data_home))["B"])
