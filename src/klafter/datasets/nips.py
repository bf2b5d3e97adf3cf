"""NIPS234: the authors of NIPS 1 to 17 with the most co-authors, and who wrote with whom."""

import numpy as np
from scipy import sparse

from klafter.datasets.files import fetch_file
from klafter.graph import Graph

N_AUTHORS = 234  # exactly those with at least 8 co-authors


def fetch_nips234(*, counts: bool = False, data_home=None) -> Graph:
    """The 234 authors of NIPS 1 to 17 with at least 8 co-authors, linked by 598 co-authorships.

    Parameters
    ----------
    counts : bool
        Link values count the joint papers, not just 1.
    data_home : path, optional
        Folder of the files; default: environment variable KLAFTER_DATA, else the user's cache.

    Returns
    -------
    Graph
        Labels are the authors' names, most co-authors first; attributes ``papers`` and ``coauthors`` count over all
        of NIPS 1 to 17. Nine authors have no co-author among the 234.

    Notes
    -----
    Rebuilt from the author lists of the 2484 papers: two authors are linked when they share a paper, authors are
    sorted by their number of co-authors, the first 234 are kept. Licence: none stated.

    References
    ----------
    G. Chechik. NIPS 1-17 data (nips_1-17.mat), author lists as published with G. Heinrich's knowceans.

    K. Miller, T. Griffiths, M. Jordan (2009). Nonparametric latent feature models for link prediction. NIPS.

    Examples
    --------
    >>> fetch_nips234()                                                                 # doctest: +SKIP
    Graph(234 nodes, 598 links, undirected)
    """
    papers, names = _author_lists(data_home)
    joint = sparse.csr_array(papers.T @ papers)
    n_papers = joint.diagonal()
    joint.setdiag(0)
    joint.eliminate_zeros()
    n_coauthors = np.diff(joint.indptr)
    first = np.argsort(-n_coauthors, kind="stable")[:N_AUTHORS]
    attributes = {"papers": n_papers[first].astype(int), "coauthors": n_coauthors[first]}
    graph = Graph(joint[first][:, first], labels=names[first].tolist(), attributes=attributes)
    return graph if counts else graph.binarize()


def _author_lists(data_home) -> tuple[sparse.csr_array, np.ndarray]:
    """Papers x authors, 0/1, and the authors' names."""
    names = np.array(fetch_file("nips17.authors.key", data_home).read_text().split())
    lists = [line.split() for line in fetch_file("nips17.authors", data_home).read_text().splitlines()]
    paper = np.repeat(np.arange(len(lists)), [len(authors) for authors in lists])
    author = np.array([int(a) for authors in lists for a in authors])
    papers = sparse.csr_array((np.ones(len(author)), (paper, author)), shape=(len(lists), len(names)))
    papers.data[:] = 1.0
    return papers, names
