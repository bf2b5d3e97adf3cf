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
from klafter.core.responses import Response

SWEEPS = 6  # of flips, at most
ROUNDS = 60  # of EM
GRID = np.linspace(-3.0, 3.0, 25)  # standard deviations of sociality that are tried
TINY = 1e-12


class Side(NamedTuple):
    """Observed dyads of the newcomer in one direction: with whom, and their values."""

    nodes: NDArray[np.int64]
    values: Floats


class Row(NamedTuple):
    """What one draw says of a newcomer: probabilities, proportions or loadings u, and its sociality."""

    u: Floats
    send: float
    receive: float


class _Half(NamedTuple):
    """One direction as the row sees it: x = base + sociality + u' reach."""

    base: Floats  # (m,)
    reach: Floats  # (K, m)
    values: Floats


def linear_row(draw: LinearDraw, response: Response, precision: float, sides: list[Side]) -> Row:
    """The row of a newcomer under a draw; ``sides`` are both directions, or one of an undirected graph."""
    halves = _halves(draw, sides)
    u = sparse.csr_array(draw.memberships, dtype=float)
    binary = bool((u.data == 1.0).all())
    if response.nonnegative and not binary:
        row = _proportions(u, halves) if response.binary and _simplex(u) else _loadings(u, halves, response)
        return Row(row, 0.0, 0.0)
    if response.nonnegative and (np.diff(u.indptr) == 1).all():
        return Row(_block(u, halves, response, precision), 0.0, 0.0)
    return _flips(draw, u, halves, response, precision)


def _halves(draw: LinearDraw, sides: list[Side]) -> list[_Half]:
    w, u = np.asarray(draw.affinities, float), sparse.csr_array(draw.memberships)
    found = []
    for side, weights, other in zip(sides, (w, w.T), (draw.receiver, draw.sender)):
        base = np.full(len(side.nodes), float(draw.offset))
        if other is not None:
            base += np.asarray(other)[side.nodes]
        found.append(_Half(base, weights @ u[side.nodes].T.toarray(), side.values))
    return found


def _flips(draw: LinearDraw, u: sparse.csr_array, halves: list[_Half], response: Response, precision: float) -> Row:
    """The better of two ascents: from no community, and from those that its links have more than others."""
    linked = np.hstack([half.reach[:, half.values > 0] for half in halves])
    all_reach = np.hstack([half.reach for half in halves])
    drawn = (linked.mean(axis=1) > all_reach.mean(axis=1)) if linked.shape[1] else np.zeros(u.shape[1], bool)
    starts = [np.zeros(u.shape[1]), drawn.astype(float)]
    return max((_ascent(draw, u, halves, response, precision, z) for z in starts), key=lambda found: found[0])[1]


def _ascent(
    draw: LinearDraw, u: sparse.csr_array, halves: list[_Half], response: Response, precision: float, z: Floats
) -> tuple[float, Row]:
    """Sociality and single flips in turn, until no flip gains: the log posterior, and the row."""
    prior = _log_odds(u)
    spread = [float(np.std(side)) if side is not None else 0.0 for side in (draw.sender, draw.receiver)]
    social = [0.0] * len(halves)
    x = [half.base + z @ half.reach for half in halves]

    def likelihood(t: int, predictor: Floats) -> Floats:
        return np.asarray(response.log_density(halves[t].values, predictor, precision)).sum(axis=-1)

    chances = expit(prior)
    for _ in range(SWEEPS):
        before = z.copy()
        for t in range(len(halves)):
            if spread[t] > 0:
                steps = GRID * spread[t] - social[t]
                gains = likelihood(t, x[t] + steps[:, None]) - 0.5 * GRID**2
                best = int(np.argmax(gains))
                social[t] += steps[best]
                x[t] = x[t] + steps[best]
        for k in range(len(z)):
            there = [half.reach[k] * (1 - z[k]) + xs for half, xs in zip(halves, x)]
            gone = [xs - half.reach[k] * z[k] for half, xs in zip(halves, x)]
            odds = prior[k] + sum(float(likelihood(t, there[t]) - likelihood(t, gone[t])) for t in range(len(x)))
            chances[k], z[k] = expit(odds), float(odds > 0)
            x = there if odds > 0 else gone
        if (z == before).all():
            break
    deviation = sum((s / width) ** 2 / 2 for s, width in zip(social, spread) if width > 0)
    value = sum(float(likelihood(t, x[t])) for t in range(len(x))) + float(z @ prior) - deviation
    return value, Row(chances, social[0], social[-1])


def _block(u: sparse.csr_array, halves: list[_Half], response: Response, precision: float) -> Floats:
    value = np.log(np.asarray(u.sum(axis=0)).ravel() + TINY)
    for half in halves:
        value = value + response.log_density(half.values, half.base + half.reach, precision).sum(axis=1)
    return np.asarray(softmax(value))


def _proportions(u: sparse.csr_array, halves: list[_Half]) -> Floats:
    """EM of proportions, the mean of the others' counting as one dyad."""
    mean = np.asarray(u.mean(axis=0)).ravel()
    reach, y = np.hstack([half.reach for half in halves]), np.concatenate([half.values for half in halves])
    likely = np.where(y > 0, reach, 1 - reach)
    pi = mean.copy()
    for _ in range(ROUNDS):
        pi = mean + (pi[:, None] * likely / np.maximum(pi @ likely, TINY)).sum(axis=1)
        pi /= pi.sum()
    return pi


def _loadings(u: sparse.csr_array, halves: list[_Half], response: Response) -> Floats:
    """EM of loadings: each link is shared among the communities that may have caused it.

    The prior is a gamma with the others' mean and the weight of one expected link.
    """
    mean = np.maximum(np.asarray(u.mean(axis=0)).ravel(), TINY)
    reach, y = np.hstack([half.reach for half in halves]), np.concatenate([half.values for half in halves])
    shape = mean * reach.sum(axis=1)
    shape = shape / max(shape.sum(), TINY)
    row, exposed = mean.copy(), reach.sum(axis=1)
    linked = y > 0
    for _ in range(ROUNDS):
        x = np.maximum(row @ reach[:, linked], TINY)
        caused = x / -np.expm1(-x) if response.binary else y[linked]
        row = (shape + row * (reach[:, linked] @ (caused / x))) / np.maximum(exposed + shape / mean, TINY)
    return row


class Exposure(NamedTuple):
    """Sums over all nodes that non-links of a newcomer need: r, and r z, by direction."""

    total: tuple[float, float]
    members: tuple[Floats, Floats]
    prior: Floats


def exposure_sums(draw: ExposureDraw) -> Exposure:
    """What is summed once for each draw."""
    z = draw.memberships
    sides = (np.asarray(draw.receive), np.asarray(draw.send))
    total = (float(sides[0].sum()), float(sides[1].sum()))
    return Exposure(total, (np.asarray(z.T @ sides[0]).ravel(), np.asarray(z.T @ sides[1]).ravel()), _log_odds(z))


def exposure_row(
    draw: ExposureDraw, sums: Exposure, binary: bool, degree_prior: float, sides: list[tuple[Side, Side | None]]
) -> Row:
    """The row of a newcomer under a draw of the sparse engine.

    Each side is (links, non-links); None: all other nodes. Communities that none of its links has are not tried.
    """
    near = np.unique(np.concatenate([draw.memberships[links.nodes].indices for links, _ in sides]))
    halves = [_exposed(draw, sums, t, links, rest, near) for t, (links, rest) in enumerate(sides)]
    shares = [np.asarray(draw.memberships[links.nodes][:, near].mean(axis=0)).ravel() for links, _ in sides]
    common = (np.mean(shares, axis=0) >= 0.5) if len(near) else np.zeros(0)
    starts = [np.zeros(len(near)), common.astype(float)]
    found = [_ascent_exposed(halves, sums.prior[near], degree_prior, binary, z) for z in starts]
    _, chances, factor = max(found, key=lambda each: each[0])
    u = np.zeros(draw.memberships.shape[1])
    u[near] = chances
    return Row(u, factor[0], factor[-1])


def _ascent_exposed(
    halves: list[_Exposed], prior: Floats, degree_prior: float, binary: bool, z: Floats
) -> tuple[float, Floats, list[float]]:
    """Degree factors and single flips in turn: the log posterior, probabilities of memberships, and factors."""
    factor, chances = [1.0] * len(halves), np.zeros(len(z))
    for _ in range(SWEEPS):
        before = z.copy()
        for t, half in enumerate(halves):
            expected = half.rest + z @ half.rest_each
            factor[t] = (half.values.sum() + degree_prior) / (expected + degree_prior) if degree_prior else 1.0
        for k in range(len(z)):
            with_k, without = z.copy(), z.copy()
            with_k[k], without[k] = 1.0, 0.0
            gain = sum(
                _log_exposure(half, f, with_k, binary) - _log_exposure(half, f, without, binary)
                for half, f in zip(halves, factor)
            )
            chances[k], z[k] = expit(prior[k] + gain), float(prior[k] + gain > 0)
        if (z == before).all():
            break
    value = sum(
        _log_exposure(half, f, z, binary) - degree_prior * (f - 1 - np.log(f)) for half, f in zip(halves, factor)
    )
    return float(value + z @ prior), chances, factor


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
    z = sparse.csr_array(draw.memberships, dtype=float)

    def of(nodes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return draw.background * degree[nodes], np.asarray((w @ z[nodes].T).toarray()) * degree[nodes]

    link, link_each = of(links.nodes)
    if rest is None:
        return _Exposed(links.values, link, link_each, draw.background * sums.total[t], w @ sums.members[t])
    other, other_each = of(rest.nodes)
    return _Exposed(
        links.values, link, link_each, float(link.sum() + other.sum()), link_each.sum(axis=1) + other_each.sum(axis=1)
    )


def _log_exposure(half: _Exposed, factor: float, z: Floats, binary: bool) -> float:
    """Log likelihood: of links log(1 - e^-x) (counts: y log x - x), of the others -x, summed by ``rest``."""
    x = np.maximum(factor * (half.link + z @ half.link_each), TINY)
    everything = factor * (half.rest + z @ half.rest_each)
    # -x of links is in the sum as well, which for counts is right
    caused = np.log(-np.expm1(-x)) + x if binary else half.values * np.log(x)
    return float(caused.sum() - everything)


def _simplex(u: sparse.csr_array) -> bool:
    return bool(np.allclose(np.asarray(u.sum(axis=1)).ravel(), 1.0))


def _log_odds(u: sparse.csr_array) -> Floats:
    share = (np.asarray(u.sum(axis=0)).ravel() + 0.5) / (u.shape[0] + 1.0)
    return np.asarray(np.log(share / (1 - np.minimum(share, 1 - TINY))))
