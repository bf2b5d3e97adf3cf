"""What members have in common: attribute values that a community holds more often than chance would give.

Of N nodes whose value is known, M have the value; of the n of them in the community, k do. The p value is the chance
of k or more when n nodes are drawn without replacement (hypergeometric). All values of all attributes in all
communities are tested together, and q is p after Benjamini and Hochberg's correction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from klafter.models.results.cover import pattern

FEW = 12  # different numbers beyond which an attribute is cut into quarters
LEVEL = 0.05  # q below which a value is over-represented
MOST = 300  # different values beyond which an attribute is more like a name


@dataclass(frozen=True)
class Enriched:
    """A value that is over-represented in a community."""

    attribute: str
    value: str
    inside: int  # members with the value
    members: int  # members whose value is known
    total: int  # nodes with the value
    known: int  # nodes whose value is known
    q: float


def enriched_values(z: sparse.csr_array, attributes: Mapping[str, Any]) -> list[list[Enriched]]:
    """For each community its over-represented values, the least likely by chance first."""
    found: list[list[Enriched]] = [[] for _ in range(z.shape[1])]
    tables = [(name, *table) for name, column in attributes.items() if (table := _tabulate(z, column)) is not None]
    if not tables:
        return found
    q = false_discovery_rates(np.concatenate([p.ravel() for *_, p in tables]))
    start = 0
    for name, values, counts, p in tables:
        adjusted = q[start : start + p.size].reshape(p.shape)
        start += p.size
        for k, v in np.argwhere(adjusted < LEVEL):
            inside, members, total, known = (int(count[k, v]) for count in np.broadcast_arrays(*counts))
            found[k].append(Enriched(name, values[v], inside, members, total, known, float(adjusted[k, v])))
    return [sorted(row, key=lambda e: (e.q, -e.inside)) for row in found]


def _tabulate(z: sparse.csr_array, column: Any) -> tuple[list[str], tuple[np.ndarray, ...], np.ndarray] | None:
    """Values, the four counts and the p value of each community and value; None when nothing can be learned."""
    values, codes = as_categories(column)
    if not 1 < len(values) <= MOST or z.shape[1] == 0:
        return None
    known = np.flatnonzero(codes >= 0)
    shape = (z.shape[0], len(values))
    has = sparse.csr_array((np.ones(len(known)), (known, codes[known])), shape=shape)
    members = pattern(z)
    inside = (members.T @ has).toarray()
    size = np.asarray(members[known].sum(axis=0)).reshape(-1, 1)
    total = np.asarray(has.sum(axis=0)).reshape(1, -1)
    p = hypergeometric_tail(inside, size, total, len(known))
    return values, (inside, size, total, np.array([[len(known)]])), p


def hypergeometric_tail(k: np.ndarray, n: np.ndarray, m: np.ndarray, known: int) -> np.ndarray:
    """Chance of k or more of m marked nodes among n drawn of all that are known.

    Terms are added from the edge of the tail outwards, where each is smaller than the last. (``scipy.stats`` says the
    same, and takes longer to load than most fits.)
    """
    k, n, m = np.broadcast_arrays(k, n, m)
    above = k > (n + 1) * (m + 1) / (known + 2)  # the mode: below it the other tail is summed
    i = np.where(above, k, k - 1).astype(float)
    possible = (i >= np.maximum(0, n + m - known)) & (i <= np.minimum(n, m))
    at = np.where(possible, i, np.maximum(0, n + m - known))
    log_term = _log_choose(m, at) + _log_choose(known - m, n - at) - _log_choose(known, n)
    term = np.where(possible, np.exp(log_term), 0.0)
    total = term.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        while (term > 1e-17 * total).any():
            outwards = (m - i) * (n - i) / ((i + 1) * (known - m - n + i + 1))
            inwards = i * (known - m - n + i) / ((m - i + 1) * (n - i + 1))
            term = np.where(term > 1e-17 * total, term * np.where(above, outwards, inwards), 0.0)
            total += term
            i += np.where(above, 1, -1)
    return np.clip(np.where(above, total, 1.0 - total), 0.0, 1.0)


def _log_choose(n: Any, k: Any) -> np.ndarray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def false_discovery_rates(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's q: the smallest of p m / rank over this and all larger p."""
    order = np.argsort(p)[::-1]
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return np.minimum(q, 1.0)


def as_categories(column: Any) -> tuple[list[str], np.ndarray]:
    """Values as text and a code for each node, -1 where unknown; many different numbers become quarters."""
    column = np.asarray(column)
    if column.dtype.kind in "iuf":
        known = np.isfinite(column.astype(float))
        if len(np.unique(column[known])) > FEW:
            return _quarters(column.astype(float), known)
    text = np.array([show_value(value) for value in column.tolist()], dtype=object)
    known = text != ""
    values, codes = np.unique(text[known].astype(str), return_inverse=True)
    all_codes = np.full(len(column), -1)
    all_codes[known] = codes
    return values.tolist(), all_codes


def _quarters(column: np.ndarray, known: np.ndarray) -> tuple[list[str], np.ndarray]:
    edges = np.unique(np.quantile(column[known], [0, 0.25, 0.5, 0.75, 1]))
    codes = np.where(known, np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(edges) - 2), -1)
    parts = [column[codes == v] for v in range(len(edges) - 1)]
    spans = [dict.fromkeys(show_value(float(end)) for end in (part.min(), part.max())) for part in parts]
    return [" to ".join(span) for span in spans], codes


def show_value(value: Any) -> str:
    """A value as people write it; nothing for what is unknown."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
