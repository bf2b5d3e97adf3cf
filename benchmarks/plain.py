"""K-LAFTER in plain NumPy: the moves of the dense engine, in loops over nodes and vectors over dyads.

    flips     the row loss of node i, recomputed with z_ik flipped; taken when Q falls
    weights   coordinate Newton steps on every entry of W, every s_i, r_i and b, halved until Q falls
    births    a community of a seed's surprising partners, weights and members revised in turn, kept when Q falls

    deaths    a community leaves when Q falls without it

The rival that speed is measured against: obvious, dense, Bernoulli at T = 1. The objective is the same; merges, splits
and the polishing of deaths are left out, which spares the rival their cost.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln

BOUND, TINY, PASSES, SLOTS, SWEEPS = 30.0, 1e-9, 4, 10, 3


class PlainKLafter:
    """The dense search without kernels; ``fit`` runs rounds of births, flips and weights, ``objective`` is Q."""

    def __init__(self, *, penalty=0.0, weight_scale=3.2, offdiagonal_scale=1.4, sociality_scale=1.0, offset_scale=10.0,
                 max_iter=5, random_state=0):  # fmt: skip
        self.penalty = penalty
        self.diagonal, self.offdiagonal = weight_scale**-2, offdiagonal_scale**-2
        self.social, self.level = sociality_scale**-2, offset_scale**-2
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, graph) -> PlainKLafter:
        """Rounds of moves from no communities."""
        self.start(graph)
        for _ in range(self.max_iter):
            self.step()
        return self

    def start(self, graph) -> None:
        """Dense arrays of the graph, and no communities."""
        self.rng = np.random.default_rng(self.random_state)
        self.directed, self.n = graph.directed, graph.n_nodes
        self.y = graph.links.toarray()
        self.seen = ~graph.hidden.toarray().astype(bool) & ~np.eye(self.n, dtype=bool)
        self.z, self.w, self.b = np.zeros((self.n, 0)), np.zeros((0, 0)), 0.0
        self.s = np.zeros(self.n)
        self.r = np.zeros(self.n) if self.directed else self.s
        for _ in range(SWEEPS):
            self.sweep_weights()

    def step(self) -> None:
        """One round: births, then flips and weights in turn, then deaths."""
        self.give_birth()
        for _ in range(SWEEPS):
            fall = self.sweep_flips()
            self.sweep_weights()
            if fall < 1e-6:
                break
        self.drop_empty()
        self.try_deaths()

    # The objective

    def rows(self, i, z=None):
        """x_ij and x_ji for all j."""
        z = self.z[i] if z is None else z
        out = self.b + self.s[i] + self.r + (z @ self.w) @ self.z.T
        into = self.b + self.r[i] + self.s + (self.w @ z) @ self.z.T
        return out, into

    def row_loss(self, i, z=None) -> float:
        """Loss of all of node i's dyads."""
        out, into = self.rows(i, z)
        total = _loss(self.y[i], out, self.seen[i])
        return total + _loss(self.y[:, i], into, self.seen[:, i]) if self.directed else total

    def column_price(self, size) -> float:
        choose = gammaln(self.n + 1) - gammaln(size + 1) - gammaln(self.n - size + 1)
        return self.penalty + np.log(size) + choose

    def objective(self) -> float:
        """Q at T = 1."""
        x = self.b + self.s[:, None] + self.r + self.z @ self.w @ self.z.T
        data = _loss(self.y, x, self.seen)
        squares = np.where(np.eye(len(self.w), dtype=bool), self.diagonal, self.offdiagonal) * self.w**2 / 2
        social = self.social / 2 * ((self.s**2).sum() + (self.r**2).sum() * self.directed)
        prior = sum(self.column_price(size) for size in self.z.sum(axis=0)) + social + self.level * self.b**2 / 2
        return data + squares.sum() + prior if self.directed else data / 2 + np.triu(squares).sum() + prior

    # Flips

    def flip_gain(self, i, k) -> float:
        """Fall of Q when z_ik flips."""
        z = self.z[i].copy()
        z[k] = 1 - z[k]
        others = self.z[:, k].sum() - self.z[i, k]
        d = 1 - 2 * self.z[i, k]
        price = np.log((self.n - others) / others) if others else self.column_price(1) + self.weight_price(k)
        return self.row_loss(i) - self.row_loss(i, z) - d * price

    def weight_price(self, k) -> float:
        """Prior of the weights of community k."""
        off = np.delete(self.w[k], k) @ np.delete(self.w[k], k)
        if self.directed:
            off += np.delete(self.w[:, k], k) @ np.delete(self.w[:, k], k)
        return 0.5 * (self.diagonal * self.w[k, k] ** 2 + self.offdiagonal * off)

    def sweep_flips(self) -> float:
        """Every node in random order, its row until no flip gains."""
        total = 0.0
        for i in self.rng.permutation(self.n):
            for _ in range(PASSES):
                fall = 0.0
                for k in range(self.z.shape[1]):
                    if self.z[:, k].any() and (gain := self.flip_gain(i, k)) > TINY:
                        self.z[i, k] = 1 - self.z[i, k]
                        fall += gain
                total += fall
                if fall == 0.0:
                    break
        return total

    # Weights

    def sweep_weights(self) -> None:
        """W, sociality and offset once each."""
        k_all = range(self.z.shape[1])
        for k in k_all:
            for m in k_all if self.directed else range(k, self.z.shape[1]):
                self.move_weight(k, m)
        for i in range(self.n):
            out, into = self.rows(i)
            self.s[i] += _newton(self.y[i], out, self.seen[i] * 1.0, self.s[i], self.social)
            if self.directed:
                self.r[i] += _newton(self.y[:, i], into, self.seen[:, i] * 1.0, self.r[i], self.social)
        x = self.b + self.s[:, None] + self.r + self.z @ self.w @ self.z.T
        use = self.seen if self.directed else np.triu(self.seen)
        self.b += _newton(self.y[use], x[use], np.ones(use.sum()), self.b, self.level)

    def move_weight(self, k, m) -> float:
        """w_km along its line; returns the fall of Q."""
        reach = np.outer(self.z[:, k], self.z[:, m])
        if not self.directed:
            reach = np.triu(reach if k == m else reach + reach.T)
        use = self.seen & (reach > 0)
        x = self.b + self.s[:, None] + self.r + self.z @ self.w @ self.z.T
        precision = self.diagonal if k == m else self.offdiagonal
        y, x, c, w = self.y[use], x[use], reach[use], self.w[k, m]
        delta = _newton(y, x, c, w, precision)
        self.w[k, m] += delta
        if not self.directed and k != m:
            self.w[m, k] += delta
        return _line(y, x, c, w, precision, 0.0) - _line(y, x, c, w, precision, delta)

    # Births and deaths

    def give_birth(self) -> None:
        """A community at each seed, in random order, while slots are free."""
        born = 0
        for t, seed in enumerate(self.rng.permutation(self.n)):
            if born == SLOTS:
                break
            born += self.try_birth(seed, t % 3 != 2)

    def try_birth(self, seed, assortative) -> bool:
        """The seed's surprising partners become a community if Q falls."""
        before, kept = self.objective(), (self.z, self.w)
        out, into = self.rows(seed)
        members = (self.y[seed] > 0) & (out <= self.b + self.s[seed] + 1.5 + self.r)
        if self.directed:
            members |= (self.y[:, seed] > 0) & (into <= self.b + self.s[seed] + 1.5 + self.r)
        members[seed] |= assortative and members.any()
        if members.sum() > 1:
            k = self.z.shape[1]
            self.z = np.column_stack([self.z, members])
            self.w = np.pad(self.w, (0, 1))
            self.grow(k, assortative)
            if self.objective() < before - TINY and self.z[:, k].sum() > 1:
                return True
        self.z, self.w = kept
        return False

    def grow(self, k, diagonal_only) -> None:
        """Weights of community k, and its members, in turn."""
        for _ in range(PASSES):
            self.move_weight(k, k)
            for m in range(k if not diagonal_only else 0):
                self.move_weight(*((k, m) if self.directed else (m, k)))
                if self.directed:
                    self.move_weight(m, k)
            near = self.z[:, k] + self.y @ self.z[:, k] + self.y.T @ self.z[:, k]
            fall = 0.0
            for i in np.flatnonzero(near):
                if self.z[:, k].sum() - self.z[i, k] > 0 and (gain := self.flip_gain(i, k)) > TINY:
                    self.z[i, k] = 1 - self.z[i, k]
                    fall += gain
            if fall == 0.0 or self.z[:, k].sum() < 2:
                return

    def drop_empty(self) -> None:
        alive = np.flatnonzero(self.z.any(axis=0))
        self.z, self.w = self.z[:, alive], self.w[np.ix_(alive, alive)]

    def try_deaths(self) -> None:
        """Each community, smallest first, may die."""
        for k in np.argsort(self.z.sum(axis=0))[::-1].tolist():
            if k < self.z.shape[1]:
                before, kept = self.objective(), (self.z, self.w)
                rest = np.delete(np.arange(self.z.shape[1]), k)
                self.z, self.w = self.z[:, rest], self.w[np.ix_(rest, rest)]
                if self.objective() >= before - 1e-6:
                    self.z, self.w = kept


def _loss(y, x, seen) -> float:
    """sum of log(1 + e^x) - y x over what was seen."""
    return float(((np.logaddexp(0.0, x) - y * x) * seen).sum())


def _line(y, x, c, theta, precision, delta) -> float:
    """The objective when a parameter moves by delta and its dyads by c delta; c = 0 takes a dyad out."""
    return _loss(y, x + c * delta, c > 0) + 0.5 * precision * (theta + delta) ** 2


def _newton(y, x, c, theta, precision, steps: int = 3) -> float:
    """delta that a few Newton steps reach, each halved until the objective falls."""
    delta, here = 0.0, _line(y, x, c, theta, precision, 0.0)
    for _ in range(steps):
        p = expit(x + c * delta)
        slope = (c * (p - y)).sum() + precision * (theta + delta)
        curve = (c * c * p * (1 - p)).sum() + precision
        move = np.clip(-slope / max(curve, 1e-10), -5.0, 5.0)
        for _ in range(12):
            trial = np.clip(delta + move, -BOUND - theta, BOUND - theta)
            there = _line(y, x, c, theta, precision, trial)
            if there < here:
                break
            move /= 2
        else:
            return delta
        delta, here = trial, there
        if abs(move) < 1e-7:
            break
    return delta
