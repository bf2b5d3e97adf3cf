"""The row of a node that was not in the network, given the parameters of all others, which stay as they are.

Under one draw the dyads of a newcomer v are independent given its row u, so that

    log p(u | y) = sum over observed j of log p(y_vj | x_vj) + log p(u),     x_vj = b + s + r_j + u' W u_j

is a problem of one row, and p(u) is what the rows of the other nodes say:

    memberships of 0/1     single flips, each with the share of members as prior, until none gains
    one block (IRM)        all blocks, with their sizes as prior
    proportions (MMSB)     EM: every dyad takes a role
    loadings (EPM)         EM: every link is caused by one of the communities
    exposure               x = t r_j (e + z' W z_j): flips of the communities of those linked; non-links enter by sums
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax

from klafter.core.draws import ExposureDraw, Floats, LinearDraw
from klafter.core.families import FAMILIES, Law
from klafter.core.responses import RESPONSES, Response
from klafter.prediction.place_kernels import Dyads, Others, place_row

SWEEPS = 6  # of flips, at most
ROUNDS = 60  # of EM
TINY = 1e-12


class Side(NamedTuple):
    """Observed dyads of the newcomer in one direction: with whom, and their values."""

    nodes: NDArray[np.int64]
    values: Floats


class Row(NamedTuple):
    """What one draw says of a newcomer: probabilities, proportions or loadings u, and its sociality.

    ``flips``: u are probabilities of memberships of 0/1, in which the probability of a link is not linear.
    """

    u: Floats
    send: float
    receive: float
    flips: bool = False


class _Direction(NamedTuple):
    """One direction as the row sees it: x = base + sociality + u' effects."""

    base: Floats  # (m,)
    effects: Floats  # (K, m)
    values: Floats


def linear_row(draw: LinearDraw, response: Response, precision: float, sides: list[Side]) -> Row:
    """The row of a newcomer under a draw of IRM, MMSB or EPM; ``sides`` are both directions, or one if undirected."""
    directions = _directions(draw, sides)
    u = sparse.csr_array(draw.memberships, dtype=float)
    if not (u.data == 1.0).all() or not u.nnz:
        row = _proportions(u, directions) if response.binary and _simplex(u) else _loadings(u, directions, response)
        return Row(row, 0.0, 0.0)
    return Row(_block(u, directions, response, precision), 0.0, 0.0)


def law_of(response: Response, precision: float) -> Law:
    """The loss that a response belongs to."""
    family = next(family for family in FAMILIES.values() if RESPONSES[family.response] is response)
    return family.law(precision)


def as_dyads(sides: list[Side]) -> Dyads:
    """Both directions as kernels read them."""
    nodes, values = (np.concatenate([side[part] for side in sides]) for part in (0, 1))
    return Dyads(nodes.astype(np.int64), values.astype(float), len(sides[0].nodes))


def flipped_row(draw: LinearDraw, law: Law, dyads: Dyads, explained: Floats) -> Row:
    """The row of a newcomer whose memberships are 0/1, see ``place_kernels``.

    ``explained``, (n,), is what is known of its dyads besides.
    """
    u, none = draw.memberships, np.zeros(len(explained))
    start, which = (part.astype(np.int64, copy=False) for part in (u.indptr, u.indices))
    sender, receiver = (none if side is None else np.asarray(side) for side in (draw.sender, draw.receiver))
    others = Others(np.asarray(draw.affinities), start, which, float(draw.offset), sender, receiver, explained)
    proba, social = place_row(law, dyads, others)
    return Row(proba, float(social[0]), float(social[1 if dyads.cut < len(dyads.nodes) else 0]), flips=True)


def alternatives(row: Row) -> tuple[Floats, Floats]:
    """Rows u that predictions average, and their weights: of 0/1 the likeliest, and each that is one flip away.

    Flips have the odds q_k / (1 - q_k) against the likeliest row, so that these are the posterior probabilities of
    the K + 1 rows among themselves. u in their place would be too sure: e^(q w) is far below 1 - q + q e^w.
    """
    if not row.flips:
        return np.ones(1), row.u[None]
    likeliest = (row.u > 0.5).astype(float)
    unlikely = np.minimum(row.u, 1 - row.u)
    weights = np.append(1.0, unlikely / (1 - unlikely))
    return weights / weights.sum(), np.vstack([likeliest, np.abs(likeliest - np.eye(len(likeliest)))])


def _directions(draw: LinearDraw, sides: list[Side]) -> list[_Direction]:
    w, u = np.asarray(draw.affinities, float), sparse.csr_array(draw.memberships)
    found = []
    for side, weights, other in zip(sides, (w, w.T), (draw.receiver, draw.sender)):
        base = np.full(len(side.nodes), float(draw.offset))
        if other is not None:
            base += np.asarray(other)[side.nodes]
        found.append(_Direction(base, weights @ u[side.nodes].T.toarray(), side.values))
    return found


def _block(u: sparse.csr_array, directions: list[_Direction], response: Response, precision: float) -> Floats:
    value = np.log(np.asarray(u.sum(axis=0)).ravel() + TINY)
    for direction in directions:
        value = value + response.log_density(direction.values, direction.base + direction.effects, precision).sum(
            axis=1
        )
    return np.asarray(softmax(value))


def _proportions(u: sparse.csr_array, directions: list[_Direction]) -> Floats:
    """EM of proportions, the mean of the others' counting as one dyad."""
    mean = np.asarray(u.mean(axis=0)).ravel()
    effects, y = (
        np.hstack([direction.effects for direction in directions]),
        np.concatenate([direction.values for direction in directions]),
    )
    likely = np.where(y > 0, effects, 1 - effects)
    pi = mean.copy()
    for _ in range(ROUNDS):
        pi = mean + (pi[:, None] * likely / np.maximum(pi @ likely, TINY)).sum(axis=1)
        pi /= pi.sum()
    return pi


def _loadings(u: sparse.csr_array, directions: list[_Direction], response: Response) -> Floats:
    """EM of loadings: each link is shared among the communities that may have caused it.

    The prior is a gamma with the others' mean and the weight of one expected link.
    """
    mean = np.maximum(np.asarray(u.mean(axis=0)).ravel(), TINY)
    effects, y = (
        np.hstack([direction.effects for direction in directions]),
        np.concatenate([direction.values for direction in directions]),
    )
    shape = mean * effects.sum(axis=1)
    shape = shape / max(shape.sum(), TINY)
    row, exposed = mean.copy(), effects.sum(axis=1)
    linked = y > 0
    for _ in range(ROUNDS):
        x = np.maximum(row @ effects[:, linked], TINY)
        caused = x / -np.expm1(-x) if response.binary else y[linked]
        row = (shape + row * (effects[:, linked] @ (caused / x))) / np.maximum(exposed + shape / mean, TINY)
    return row


class Exposure(NamedTuple):
    """Sums over all nodes that non-links of a newcomer need: r, and r z, by direction."""

    total: tuple[float, float]
    members: tuple[Floats, Floats]
    prior: Floats


def exposure_sums(draw: ExposureDraw) -> Exposure:
    """What is summed once for each draw."""
    z = draw.loadings
    sides = (np.asarray(draw.receive), np.asarray(draw.send))
    total = (float(sides[0].sum()), float(sides[1].sum()))
    return Exposure(
        total, (np.asarray(z.T @ sides[0]).ravel(), np.asarray(z.T @ sides[1]).ravel()), _log_odds(draw.memberships)
    )


def exposure_row(
    draw: ExposureDraw, sums: Exposure, binary: bool, degree_prior: float, sides: list[tuple[Side, Side | None]]
) -> Row:
    """The row of a newcomer under a draw of the sparse engine.

    Each side is (links, non-links); None: all other nodes. Communities that none of its links has are not tried.
    """
    near = np.unique(np.concatenate([draw.memberships[links.nodes].indices for links, _ in sides]))
    directions = [_exposed(draw, sums, t, links, rest, near) for t, (links, rest) in enumerate(sides)]
    held = [sparse.csr_array(draw.memberships[links.nodes][:, near]) for links, _ in sides]
    shares = [np.asarray(z.sum(axis=0)).ravel() / max(z.shape[0], 1) for z in held]
    common = (np.mean(shares, axis=0) >= 0.5) if len(near) else np.zeros(0)
    starts = [np.zeros(len(near)), common.astype(float)]
    found = [_ascent_exposed(directions, sums.prior[near], degree_prior, binary, draw.shared, z) for z in starts]
    _, proba, factor = max(found, key=lambda each: each[0])
    u = np.zeros(draw.memberships.shape[1])
    u[near] = proba
    return Row(u, factor[0], factor[-1])


def _ascent_exposed(
    directions: list[_Exposed], prior: Floats, degree_prior: float, binary: bool, shared: bool, z: Floats
) -> tuple[float, Floats, list[float]]:
    """Degree factors and single flips in turn: the log posterior, probabilities of memberships, and factors."""
    factor, proba = [1.0] * len(directions), np.zeros(len(z))
    for _ in range(SWEEPS):
        before = z.copy()
        for t, direction in enumerate(directions):
            expected = direction.rest + shares(z, shared) @ direction.rest_each
            factor[t] = (direction.values.sum() + degree_prior) / (expected + degree_prior) if degree_prior else 1.0
        for k in range(len(z)):
            with_k, without = z.copy(), z.copy()
            with_k[k], without[k] = 1.0, 0.0
            gain = sum(
                _log_exposure(direction, f, shares(with_k, shared), binary)
                - _log_exposure(direction, f, shares(without, shared), binary)
                for direction, f in zip(directions, factor)
            )
            proba[k], z[k] = expit(prior[k] + gain), float(prior[k] + gain > 0)
        if (z == before).all():
            break
    value = sum(
        _log_exposure(direction, f, shares(z, shared), binary) - degree_prior * (f - 1 - np.log(f))
        for direction, f in zip(directions, factor)
    )
    return float(value + z @ prior), proba, factor


def shares(row: Floats, shared: bool) -> Floats:
    """A row of memberships as x has it, see ``ExposureDraw.loadings``."""
    return row / max(row.sum(), 1.0) if shared else row


class _Exposed(NamedTuple):
    """One direction: what links and all observed dyads have of the background, and of each community that is near."""

    values: Floats
    link: Floats  # (m,)
    link_each: Floats  # (K, m)
    rest: float
    rest_each: Floats  # (K,)


def _exposed(
    draw: ExposureDraw, sums: Exposure, t: int, links: Side, rest: Side | None, near: NDArray[np.int64]
) -> _Exposed:
    w = draw.affinities if t == 0 else sparse.csr_array(draw.affinities.T)
    w, degree = w[near], np.asarray(draw.receive if t == 0 else draw.send)
    z = sparse.csr_array(draw.loadings, dtype=float)

    def of(nodes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return draw.background * degree[nodes], np.asarray((w @ z[nodes].T).toarray()) * degree[nodes]

    link, link_each = of(links.nodes)
    if rest is None:
        return _Exposed(links.values, link, link_each, draw.background * sums.total[t], w @ sums.members[t])
    other, other_each = of(rest.nodes)
    return _Exposed(
        links.values, link, link_each, float(link.sum() + other.sum()), link_each.sum(axis=1) + other_each.sum(axis=1)
    )


def _log_exposure(direction: _Exposed, factor: float, z: Floats, binary: bool) -> float:
    """Log likelihood: of links log(1 - e^-x) (counts: y log x - x), of the others -x, summed by ``rest``."""
    x = np.maximum(factor * (direction.link + z @ direction.link_each), TINY)
    everything = factor * (direction.rest + z @ direction.rest_each)
    # -x of links is in the sum as well, which for counts is right
    caused = np.log(-np.expm1(-x)) + x if binary else direction.values * np.log(x)
    return float(caused.sum() - everything)


def _simplex(u: sparse.csr_array) -> bool:
    return bool(np.allclose(np.asarray(u.sum(axis=1)).ravel(), 1.0))


def _log_odds(u: sparse.csr_array) -> Floats:
    share = (np.asarray(u.sum(axis=0)).ravel() + 0.5) / (u.shape[0] + 1.0)
    return np.asarray(np.log(share / (1 - np.minimum(share, 1 - TINY))))
