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

from klafter.models.cover import pattern

FEW = 12  # different numbers beyond which an attribute is cut into quarters
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


def enriched_values(z: sparse.csr_array, attributes: Mapping[str, Any], level: float = 0.05) -> list[list[Enriched]]:
    """For each community its over-represented values, the least likely by chance first."""
    from scipy.stats import false_discovery_control

    found: list[list[Enriched]] = [[] for _ in range(z.shape[1])]
    tables = [(name, *table) for name, column in attributes.items() if (table := _tabulate(z, column)) is not None]
    if not tables:
        return found
    q = false_discovery_control(np.concatenate([p.ravel() for *_, p in tables]))
    start = 0
    for name, values, counts, p in tables:
        adjusted = q[start : start + p.size].reshape(p.shape)
        start += p.size
        for k, v in np.argwhere(adjusted < level):
            inside, members, total, known = (int(count[k, v]) for count in np.broadcast_arrays(*counts))
            found[k].append(Enriched(name, values[v], inside, members, total, known, float(adjusted[k, v])))
    return [sorted(row, key=lambda e: (e.q, -e.inside)) for row in found]


def _tabulate(z: sparse.csr_array, column: Any) -> tuple[list[str], tuple[np.ndarray, ...], np.ndarray] | None:
    """Values, the four counts and the p value of each community and value; None when nothing can be learned."""
    from scipy.stats import hypergeom

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
    p = np.clip(hypergeom.sf(inside - 1, len(known), total, size), 0, 1)
    return values, (inside, size, total, np.array([[len(known)]])), p


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
    return [_span(part) for part in parts], codes


def _span(part: np.ndarray) -> str:
    low, high = show_value(float(part.min())), show_value(float(part.max()))
    return low if low == high else f"{low} to {high}"


def show_value(value: Any) -> str:
    """A value as people write it; nothing for what is unknown."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
