"""LFR benchmark graphs: communities of different sizes, nodes of different degrees, overlap, direction and weights.

    k_i ~ k^-tau1 up to max_degree,  sizes ~ s^-tau2,  (1 - mu) k_i links of node i inside its communities

``on`` nodes are in ``om`` communities, which share the links inside equally, all others in one. Node i can only be in
communities with more members than it has links there; subject to this, memberships, and then links with the degrees
inside and outside, are random.

A. Lancichinetti, S. Fortunato (2009). Benchmarks for testing community detection algorithms on directed and weighted
graphs with overlapping communities. Physical Review E 80, 016118.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.core.draws import LinearDraw
from klafter.datasets.lfr_links import link_inside, link_outside
from klafter.datasets.lfr_places import draw_degrees, draw_places
from klafter.datasets.lfr_plan import Plan, check_plan
from klafter.datasets.lfr_weights import fit_weights
from klafter.datasets.rewiring import Pairs
from klafter.datasets.truth import Truth
from klafter.graph import Graph
from klafter.models.checks import check_memory

BYTES = 50.0  # of an end of a link or a membership
LOST = 0.05  # share of links without a place from which a graph is refused


def make_lfr(
    n: int = 1000,
    *,
    average_degree: float = 20.0,
    max_degree: int = 50,
    mu: float = 0.3,
    tau1: float = 2.0,
    tau2: float = 1.0,
    min_community: int | None = None,
    max_community: int | None = None,
    on: int | float = 0,
    om: int = 2,
    directed: bool = False,
    weighted: bool = False,
    mu_w: float | None = None,
    beta: float = 1.5,
    random_state=None,
) -> tuple[Graph, Truth]:
    """An LFR benchmark graph (Lancichinetti and Fortunato 2009), with overlapping communities if wanted.

    Parameters
    ----------
    n : int
        Nodes.
    average_degree, max_degree : float, int
        Expected and largest degree; with direction, of links that come in.
    mu : float
        Mixing: share of a node's links that go to nodes with which it shares no community.
    tau1, tau2 : float
        Exponents of the power laws of degrees and of sizes of communities.
    min_community, max_community : int, optional
        Sizes of communities. By default from the smallest degree to one more than the largest; never more than half
        of the nodes, unless mu is 0.
    on : int or float
        Overlapping nodes: how many, or a float below 1 for their share.
    om : int
        Communities of each overlapping node.
    directed : bool
        Links that come in follow the power law; links that go out are as equal in number as can be.
    weighted : bool
        Link values have strengths s_i = k_i^beta, with direction of links that come in; else all are 1.
    mu_w : float, optional
        Share of a node's strength that goes to nodes with which it shares no community; ``mu`` by default.
    beta : float
        Exponent of strengths.
    random_state : int, Generator or None

    Returns
    -------
    graph : Graph
    truth : Truth
        ``parameters`` give the expected links when ends are joined at random, inside communities and outside;
        ``predict_proba`` is close to the probability of a link, not equal to it.

    Notes
    -----
    Degrees are met exactly, except where no simple graph has them: such links are left out, and the graph is refused
    when they are more than one in twenty.

    References
    ----------
    A. Lancichinetti, S. Fortunato (2009). Benchmarks for testing community detection algorithms on directed and
    weighted graphs with overlapping communities. Physical Review E 80, 016118.

    Examples
    --------
    >>> graph, truth = make_lfr(500, mu=0.2, on=0.1, om=3, random_state=0)
    >>> np.unique(truth.memberships.sum(axis=1), return_counts=True)[1].tolist()
    [450, 50]
    """
    mu_w = mu if mu_w is None else mu_w
    plan = Plan(n, average_degree, max_degree, mu, tau1, tau2, min_community, max_community, on, om, mu_w, beta)
    check_plan(plan)
    needed = BYTES * (plan.n * average_degree + plan.n_places)
    check_memory(needed, f"make_lfr of {n:,} nodes", "Ask for fewer nodes, or a lower average_degree or om.")
    rng = np.random.default_rng(random_state)
    degree = draw_degrees(plan, rng)
    places = draw_places(plan, degree, directed, rng)
    inside = link_inside(places, directed, rng)
    wanted = degree - inside.degrees(n, directed) if mu > 0 else np.zeros(n, np.int64)
    outside = link_outside(np.maximum(wanted, 0), inside, places, directed, rng)
    _check_placed(plan, (inside.degrees(n, directed) + outside.degrees(n, directed)).sum() / degree.sum())
    weights = fit_weights(inside, outside, plan, directed) if weighted else None
    pairs = Pairs(*(np.concatenate(both) for both in zip(inside, outside)))
    k, ones = int(places.community.max()) + 1, np.ones(len(places.node))
    z = sparse.csr_array((ones, (places.node, places.community)), shape=(n, k))
    return _graph(pairs, weights, n, directed), Truth(z, _expected_links(pairs, n, k, directed), "probability")


def _check_placed(plan: Plan, share: float) -> None:
    if share < 1 - LOST:
        cause = (
            f"communities are too large, or too few, to have mu={plan.mu:g} of all links between them. Raise n, or "
            "lower max_community or average_degree."
            if plan.mu > 0
            else "no simple graphs inside the communities have these degrees. Lower average_degree, max_degree or om, "
            "or raise mu or n."
        )
        raise ValueError(f"make_lfr found a place for only {share:.0%} of the links: {cause}")


def _graph(pairs: Pairs, weights: np.ndarray | None, n: int, directed: bool) -> Graph:
    values = np.ones(len(pairs.first)) if weights is None else weights
    return Graph(sparse.csr_array((values, (pairs.first, pairs.second)), shape=(n, n)), directed=directed)


def _expected_links(pairs: Pairs, n: int, k: int, directed: bool) -> LinearDraw:
    """x_ij = sum over communities, and all that is outside, of (links of i there) (links of j there) / (ends there).

    With direction, memberships are the links that go out there, beside those that come in.
    """
    ones = np.ones(len(pairs.first))
    sent, received = (sparse.csr_array((ones, (i, pairs.group)), shape=(n, k + 1)) for i in (pairs.first, pairs.second))
    m = np.maximum(np.bincount(pairs.group, minlength=k + 1), 1)
    if not directed:
        return LinearDraw(sparse.csr_array(sent + received), sparse.csr_array(sparse.diags_array(1 / (2 * m))))
    affinities = sparse.diags_array(1 / m, offsets=k + 1, shape=(2 * (k + 1), 2 * (k + 1)))
    return LinearDraw(sparse.hstack([sent, received], format="csr"), sparse.csr_array(affinities))
