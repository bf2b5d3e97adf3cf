"""Graphs drawn from the models themselves, with the truth.

All four are one draw from  x_ij = b + u_i' W u_j  and a response: u_i is 0/1 in LFRM, one-hot in IRM, shares in MMSB,
loadings in EPM. Dyads are drawn some rows at a time; no n x n array is formed.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.core.draws import LinearDraw
from klafter.datasets.drawing import check_size, draw_graph, draw_memberships
from klafter.datasets.truth import Truth
from klafter.graph import Graph

# offset and affinity inside a community that make communities plain to see, by family
CLEAR = {"bernoulli": (-4.0, 5.0), "poisson": (-3.0, 3.0), "gaussian": (0.0, 2.0), "exposure": (0.02, 1.2)}
SHARE = 0.2  # of a node, from which a community counts as its own


def make_lfrm(
    n: int = 200,
    k: int = 6,
    *,
    memberships: tuple[int, int] = (1, 2),
    affinities=None,
    offset: float | None = None,
    related: float = 0.0,
    directed: bool = False,
    family: str = "bernoulli",
    precision: float = 4.0,
    random_state=None,
) -> tuple[Graph, Truth]:
    """A graph of the latent feature relational model: overlapping communities, x_ij = b + z_i' W z_j.

    Parameters
    ----------
    n, k : int
        Nodes and communities.
    memberships : pair of int
        Least and most communities of a node, uniform between them.
    affinities : (k, k) array, optional
        W. By default clear: about the same strong value on the diagonal, zero elsewhere.
    offset : float, optional
        b. By default such that links between strangers are rare.
    related : float
        Share of pairs of different communities that attract each other, half as strongly as inside one.
    directed : bool
        Whether (i, j) and (j, i) are drawn apart; W is then not symmetric.
    family : {"bernoulli", "poisson", "gaussian", "exposure"}
        What link values are. Gaussian graphs store every dyad.
    precision : float
        Of Gaussian values.
    random_state : int, Generator or None

    Returns
    -------
    graph : Graph
    truth : Truth

    Examples
    --------
    >>> graph, truth = make_lfrm(n=50, k=3, random_state=0)
    >>> graph.n_nodes, truth.memberships.shape
    (50, (50, 3))
    """
    from klafter.core.families import FAMILIES

    if family not in FAMILIES:
        raise ValueError(f"make_lfrm needs a family among {', '.join(FAMILIES)}; {family!r} is none of them.")
    check_size(n, k, "make_lfrm")
    rng = np.random.default_rng(random_state)
    base, strength = CLEAR[family]
    z = draw_memberships(n, k, memberships, rng)
    w = _clear_affinities(k, strength, related, directed, rng) if affinities is None else np.asarray(affinities, float)
    parameters = LinearDraw(z, w, base if offset is None else float(offset))
    precision = precision if family == "gaussian" else 1.0
    truth = Truth(z, parameters, FAMILIES[family].response, precision)
    return draw_graph(truth, directed, rng), truth


def make_irm(
    n: int = 200, k: int = 6, *, a: float = 0.3, b: float = 1.5, directed: bool = False, random_state=None
) -> tuple[Graph, Truth]:
    """A graph of the infinite relational model given k blocks: eta_kl ~ Beta(a, b) for every pair of blocks.

    Returns
    -------
    graph : Graph
    truth : Truth
        ``parameters.affinities`` is eta.

    Parameters
    ----------
    n, k : int
        Nodes and blocks.
    a, b : float
        Of the Beta distribution of link probabilities.
    directed : bool
        Whether links have a direction.
    random_state : int, optional
        Seed.

    Examples
    --------
    >>> graph, truth = make_irm(n=50, k=3, random_state=0)
    >>> sum(len(block) for block in truth.communities())
    50
    """
    check_size(n, k, "make_irm")
    rng = np.random.default_rng(random_state)
    z = draw_memberships(n, k, (1, 1), rng)
    truth = Truth(z, LinearDraw(z, _mirrored(rng.beta(a, b, (k, k)), directed)), "probability")
    return draw_graph(truth, directed, rng), truth


def make_mmsb(
    n: int = 200,
    k: int = 6,
    *,
    alpha: float = 0.1,
    within: float = 0.6,
    between: float = 0.02,
    directed: bool = False,
    random_state=None,
) -> tuple[Graph, Truth]:
    """A graph of the mixed membership stochastic blockmodel: shares pi_i ~ Dirichlet(alpha), p_ij = pi_i' eta pi_j.

    Parameters
    ----------
    n, k : int
        Nodes and roles.
    alpha : float
        The smaller, the purer the nodes.
    within, between : float
        eta on the diagonal and elsewhere.
    directed : bool
    random_state : int, Generator or None

    Returns
    -------
    graph : Graph
    truth : Truth
        ``parameters.memberships`` are the shares, ``parameters.affinities`` is eta.

    Examples
    --------
    >>> graph, truth = make_mmsb(n=50, k=3, random_state=0)
    >>> bool(np.allclose(truth.parameters.memberships.sum(axis=1), 1))
    True
    """
    check_size(n, k, "make_mmsb")
    rng = np.random.default_rng(random_state)
    shares = rng.dirichlet(np.full(k, alpha), n)
    eta = np.full((k, k), between) + (within - between) * np.eye(k)
    truth = Truth(_where(shares >= SHARE), LinearDraw(sparse.csr_array(shares), eta), "probability")
    return draw_graph(truth, directed, rng), truth


def make_epm(
    n: int = 200,
    k: int = 6,
    *,
    shape: float = 0.2,
    mean_degree: float = 12.0,
    between: float = 0.01,
    directed: bool = False,
    random_state=None,
) -> tuple[Graph, Truth]:
    """A graph of the edge partition model: y_ij = 1(m_ij > 0), m_ij ~ Poisson(phi_i' L phi_j), phi_ik ~ Gamma(shape).

    Parameters
    ----------
    n, k : int
        Nodes and communities.
    shape : float
        The smaller, the fewer communities carry a node.
    mean_degree : float
        Expected exposures of a node, to which L is scaled; somewhat fewer links, as several exposures make one.
    between : float
        L between communities, as a share of L inside.
    directed : bool
    random_state : int, Generator or None

    Returns
    -------
    graph : Graph
    truth : Truth
        ``parameters.memberships`` are the loadings, ``parameters.affinities`` is L.

    Examples
    --------
    >>> graph, truth = make_epm(n=50, k=3, random_state=0)
    >>> truth.response
    'exposure'
    """
    check_size(n, k, "make_epm")
    rng = np.random.default_rng(random_state)
    phi = rng.gamma(shape, size=(n, k))
    inside = between + (1 - between) * np.eye(k)
    total = phi.sum(axis=0)
    rates = inside * mean_degree * n / (total @ inside @ total)
    carried = phi * (rates @ total)  # expected exposures of i through community k
    truth = Truth(
        _where(carried >= SHARE * carried.sum(axis=1, keepdims=True)),
        LinearDraw(sparse.csr_array(phi), rates),
        "exposure",
    )
    return draw_graph(truth, directed, rng), truth


def _clear_affinities(k, strength, related, directed, rng) -> np.ndarray:
    relations = _mirrored(rng.random((k, k)) < related, directed) * 0.5 * strength
    np.fill_diagonal(relations, strength * rng.uniform(0.8, 1.2, k))
    return relations


def _mirrored(matrix: np.ndarray, directed: bool) -> np.ndarray:
    """The matrix, or its upper triangle both ways when the graph is undirected."""
    return matrix if directed else np.triu(matrix) + np.triu(matrix, 1).T


def _where(mask: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(mask.astype(float))
