"""A sweep of LFRM in plain NumPy, as one would write it in an afternoon: what the compiled sweep is measured against.

Undirected 0/1 links. The moves are those of ``klafter.sampling.lfrm``: Gibbs on shared memberships, Metropolis on
private ones, and slices along each weight, sociality and the offset; each evaluates only the dyads it touches.
"""

from __future__ import annotations

import numpy as np


class PlainLFRM:
    """Parameters as plain arrays; ``sweep`` draws each once."""

    def __init__(self, graph, state, priors, rng):
        n = graph.n_nodes
        self.y, self.rng, self.priors = graph.links.toarray(), rng, priors
        self.seen = ~(graph.hidden.toarray().astype(bool) | np.eye(n, dtype=bool))
        self.z, self.w = state.z.T.astype(float), state.w.copy()
        self.s, self.b = state.sender.copy(), float(state.offset[0])

    def sweep(self) -> None:
        self.x = self.b + self.s[:, None] + self.s + self.z @ self.w @ self.z.T
        for i in range(len(self.y)):
            self.draw_row(i)
            self.draw_private(i)
        alive = self.z.any(axis=0)
        self.z, self.w = self.z[:, alive], self.w[np.ix_(alive, alive)]
        self.draw_weights()
        self.draw_sociality()

    def loss(self, rows, columns, x) -> float:
        """sum of log(1 + e^x) - y x over the observed ones of the dyads."""
        return float(((np.logaddexp(0.0, x) - self.y[rows, columns] * x) * self.seen[rows, columns]).sum())

    def set_row(self, i: int) -> None:
        self.x[i] = self.x[:, i] = self.b + self.s[i] + self.s + self.z @ (self.z[i] @ self.w)

    def draw_row(self, i: int) -> None:
        n, every = len(self.y), slice(None)
        for k in range(self.z.shape[1]):
            others = self.z[:, k].sum() - self.z[i, k]
            if others == 0:
                continue
            d = 1 - 2 * self.z[i, k]
            moved = self.x[i] + d * (self.z @ self.w[k])
            gain = self.loss(i, every, self.x[i]) - self.loss(i, every, moved) - d * np.log((n - others) / others)
            if np.log(self.rng.random()) < -np.logaddexp(0.0, -gain):
                self.z[i, k] += d
                self.set_row(i)

    def draw_private(self, i: int) -> None:
        n, every = len(self.y), slice(None)
        fresh = self.rng.poisson(np.exp(-self.priors.penalty) / n)
        private = (self.z[i] == 1) & (self.z.sum(axis=0) == 1)
        if not fresh and not private.any():
            return
        before, old = self.loss(i, every, self.x[i]), (self.z, self.w)
        z, w = self.z[:, ~private], self.w[np.ix_(~private, ~private)]
        k = z.shape[1]
        self.z, self.w = np.zeros((n, k + fresh)), np.zeros((k + fresh, k + fresh))
        self.z[:, :k], self.z[i, k:], self.w[:k, :k] = z, 1.0, w
        for m in range(k, k + fresh):
            self.w[m, :m] = self.w[:m, m] = self.rng.normal(0, self.priors.offdiagonal**-0.5, m)
            self.w[m, m] = self.rng.normal(0, self.priors.diagonal**-0.5)
        self.set_row(i)
        if np.log(self.rng.random()) >= before - self.loss(i, every, self.x[i]):
            self.z, self.w = old
            self.set_row(i)

    def draw_weights(self) -> None:
        k = len(self.w)
        for a in range(k):
            for c in range(a, k):
                touch = np.outer(self.z[:, a], self.z[:, c])
                touch = np.triu(touch if a == c else touch + touch.T, 1)
                rows, columns = touch.nonzero()
                precision = self.priors.diagonal if a == c else self.priors.offdiagonal
                shift = self.slice(rows, columns, touch[rows, columns], self.w[a, c], precision)
                self.w[a, c] = self.w[c, a] = self.w[a, c] + shift
                self.x += shift * (touch + touch.T)

    def draw_sociality(self) -> None:
        n = len(self.y)
        for i in range(n):
            shift = self.slice(np.full(n, i), np.arange(n), np.ones(n), self.s[i], self.priors.sociality)
            self.s[i] += shift
            self.x[i] += shift
            self.x[:, i] += shift
        rows, columns = np.triu_indices(n, 1)
        shift = self.slice(rows, columns, np.ones(len(rows)), self.b, self.priors.offset)
        self.b += shift
        self.x += shift

    def slice(self, rows, columns, direction, value: float, precision: float) -> float:
        """A step along ``direction``, by slice sampling with stepping out."""
        x = self.x[rows, columns]

        def energy(t):
            return self.loss(rows, columns, x + t * direction) + 0.5 * precision * (value + t) ** 2

        level = energy(0.0) + self.rng.exponential()
        low = -self.rng.random()
        high = low + 1.0
        while energy(low) < level:
            low -= 1.0
        while energy(high) < level:
            high += 1.0
        while True:
            t = self.rng.uniform(low, high)
            if energy(t) < level:
                return t
            low, high = (t, high) if t < 0 else (low, t)
