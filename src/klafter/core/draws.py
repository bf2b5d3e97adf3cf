"""Draws: one set of parameters each, all that prediction needs. Every model's answer is an average over its draws.

    linear      x_ij = b + s_i + r_j + u_i' W u_j + g' v_ij
    exposure    x_ij = t_i r_j (e + z_i' W z_j)

u_i are memberships: 0/1 for K-LAFTER and LFRM, one-hot for IRM, proportions for MMSB, loadings for EPM. The sparse
engine of K-LAFTER has the second form, with a background e and degree factors t and r; z_i are 0/1, or probabilities of
memberships. What x means, a ``Response`` says. Either kind answers the same questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any  # scipy.sparse.csr_array or array, (n, K) or (K, K)

AT_ONCE = 100_000  # pairs, so that memory stays small
MANY = 16  # dyads of the graph for each pair up to which all are computed

SENDER, RECEIVER, COMMUNITIES, COVARIATE, NOTHING = "sender", "receiver", "communities", "covariate", "nothing"


class Part(NamedTuple):
    """What one reason adds to x; ``first`` and ``second`` are communities of the two nodes, or a covariate's number."""

    kind: str
    value: float
    first: int = -1
    second: int = -1


class Parts(NamedTuple):
    """x of one dyad taken apart: x = start * exp(sum of factors) + sum of terms."""

    start: float  # what is said of every dyad
    factors: list[Part]  # degree factors, as logarithms
    terms: list[Part]


class LinearDraw(NamedTuple):
    """Parameters of one fit, one restart or one kept sweep: x_ij = b + s_i + r_j + u_i' W u_j + g' v_ij."""

    memberships: Matrix  # u, (n, K)
    affinities: Matrix  # W, (K, K)
    offset: float = 0.0
    sender: Floats | None = None  # (n,)
    receiver: Floats | None = None  # (n,), the sender's when undirected
    coefficients: Floats | None = None  # (p,)

    def fits(self, n_nodes: int) -> bool:
        """Whether the shapes are those of a graph of so many nodes."""
        sides = [side for side in (self.sender, self.receiver) if side is not None]
        return _square(self, n_nodes) and all(side.shape == (n_nodes,) for side in sides)

    def predictor(self, pairs: NDArray[np.int64], covariates: Iterable[Any] = ()) -> Floats:
        """x of each pair, shape (m,)."""
        i, j = pairs[:, 0], pairs[:, 1]
        x = float(self.offset) + _bilinear(self.memberships, self.affinities, i, j)
        if self.sender is not None and self.receiver is not None:
            x += self.sender[i] + self.receiver[j]
        for g, v in self._weighed(covariates):
            x += g * np.asarray(v[i, j]).ravel()
        return x

    def predictor_rows(self, rows: NDArray[np.int64], covariates: Iterable[Any] = ()) -> Floats:
        """x of all dyads of some nodes, (len(rows), n): one product of matrices instead of many look-ups."""
        x = _bilinear_rows(self.memberships, self.affinities, rows) + self.offset
        if self.sender is not None and self.receiver is not None:
            x += self.sender[rows, None] + self.receiver
        for g, v in self._weighed(covariates):
            some = v[rows]
            x += g * (some.toarray() if sparse.issparse(some) else some)
        return x

    def parts(self, i: int, j: int, covariates: Iterable[Any] = (), usual: float = 0.0) -> Parts:
        """x of one dyad from the offset on; without one, from the ``usual`` x of dyads on.

        A community's term is then the difference to that, in proportion to the memberships of the two:
        u_ik u_jl (W_kl - usual / c_i c_j), c the sums of memberships, 1 for IRM and MMSB.
        """
        w, usual = self.affinities, 0.0 if self.offset else usual
        mine, theirs = _row(self.memberships, i), _row(self.memberships, j)
        both = sum(a for _, a in mine) * sum(b for _, b in theirs)
        less = usual / both if both else 0.0
        terms = [Part(COMMUNITIES, float(a * (w[k, m] - less) * b), k, m) for k, a in mine for m, b in theirs]
        if not both:
            terms.append(Part(NOTHING, -usual))
        if self.sender is not None and self.receiver is not None:
            terms += [Part(SENDER, float(self.sender[i])), Part(RECEIVER, float(self.receiver[j]))]
        terms += [Part(COVARIATE, float(g * v[i, j]), t) for t, (g, v) in enumerate(self._weighed(covariates))]
        return Parts(self.offset + usual, [], [part for part in terms if part.value])

    def attracting(self) -> sparse.csr_array | None:
        """Which communities draw which; None: each itself, as far as x alone says."""
        return None

    def _weighed(self, covariates: Iterable[Any]) -> Iterator[tuple[float, Any]]:
        return iter(()) if self.coefficients is None else zip(self.coefficients, covariates, strict=True)


class ExposureDraw(NamedTuple):
    """Parameters of one fit or restart of the sparse engine: x_ij = t_i r_j (e + z_i' W z_j), nothing negative.

    Where links are ``shared`` rows of z are divided by their sums, as far as these are above 1: a node has an equal
    share of its links in each of its communities.
    """

    memberships: Matrix  # z, csr_array, (n, K): 0/1, or probabilities of memberships
    affinities: Matrix  # W, csr_array, (K, K), from source to target
    background: float  # e
    send: Floats  # t, (n,)
    receive: Floats  # r, (n,), equal to t when undirected
    shared: bool = False

    def fits(self, n_nodes: int) -> bool:
        """Whether the shapes are those of a graph of so many nodes."""
        return _square(self, n_nodes) and self.send.shape == self.receive.shape == (n_nodes,)

    @property
    def loadings(self) -> Matrix:
        """z as x has it: memberships, or shares of them."""
        if not self.shared:
            return self.memberships
        sums = np.asarray(self.memberships.sum(axis=1)).ravel()
        return sparse.csr_array(sparse.diags_array(1.0 / np.maximum(sums, 1.0)) @ self.memberships)

    def predictor(self, pairs: NDArray[np.int64], covariates: Iterable[Any] = ()) -> Floats:
        """x of each pair, shape (m,); there are no covariates."""
        i, j = pairs[:, 0], pairs[:, 1]
        return self.send[i] * self.receive[j] * (self.background + _bilinear(self.loadings, self.affinities, i, j))

    def predictor_rows(self, rows: NDArray[np.int64], covariates: Iterable[Any] = ()) -> Floats:
        """x of all dyads of some nodes, (len(rows), n)."""
        inside = _bilinear_rows(self.loadings, self.affinities, rows) + self.background
        return self.send[rows, None] * self.receive * inside

    def parts(self, i: int, j: int, covariates: Iterable[Any] = (), usual: float = 0.0) -> Parts:
        """x of one dyad from the background on: degree factors multiply it, then communities add."""
        w, scale = self.affinities, float(self.send[i] * self.receive[j])
        mine, theirs = _row(self.loadings, i), _row(self.loadings, j)
        terms = [Part(COMMUNITIES, float(scale * a * w[k, m] * b), k, m) for k, a in mine for m, b in theirs]
        factors = [Part(SENDER, float(np.log(self.send[i]))), Part(RECEIVER, float(np.log(self.receive[j])))]
        return Parts(self.background, factors, [part for part in terms if part.value])

    def attracting(self) -> sparse.csr_array | None:
        """Which communities draw which: each itself, and those with affinities between them."""
        return sparse.csr_array(self.affinities > 0, dtype=np.float32)


Draw: TypeAlias = LinearDraw | ExposureDraw


def _square(draw: Draw, n_nodes: int) -> bool:
    k = draw.affinities.shape[0]
    return bool(draw.memberships.shape == (n_nodes, k) and draw.affinities.shape == (k, k))


def _row(memberships: Matrix, i: int) -> list[tuple[int, float]]:
    """The communities of a node, and how much it is in each."""
    if not sparse.issparse(memberships):
        return [(k, float(memberships[i, k])) for k in np.flatnonzero(memberships[i]).tolist()]
    row = slice(memberships.indptr[i], memberships.indptr[i + 1])
    return list(zip(memberships.indices[row].tolist(), memberships.data[row].tolist()))


def _bilinear(u: Matrix, w: Matrix, i: NDArray[np.int64], j: NDArray[np.int64]) -> Floats:
    """u_i' W u_j of each pair."""
    effects = u @ w
    if sparse.issparse(effects):
        return np.asarray(effects[i].multiply(u[j]).sum(axis=1), float).ravel()
    return _row_dot(u, effects, i, j) if w.size else np.zeros(len(i))


def _bilinear_rows(u: Matrix, w: Matrix, rows: NDArray[np.int64]) -> Floats:
    """u_i' W u_j of all dyads of some nodes i."""
    u = sparse.csr_array(u)
    effects = u[rows] @ w
    return np.asarray((u @ (effects.toarray() if sparse.issparse(effects) else effects).T).T)


def _row_dot(memberships: Matrix, effects: Floats, i: NDArray[np.int64], j: NDArray[np.int64]) -> Floats:
    """effects_i . u_j for each pair: from all of them where that is less work, else some pairs at a time."""
    n = len(effects)
    if n * n <= MANY * len(i):
        return np.asarray((memberships @ effects.T)[j, i])
    out = np.empty(len(i))
    for start in range(0, len(i), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        rows = memberships[j[part]]
        dense = rows.toarray() if sparse.issparse(rows) else rows
        out[part] = np.einsum("mk,mk->m", effects[i[part]], dense)
    return out
