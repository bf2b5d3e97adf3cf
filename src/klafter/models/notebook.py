"""What a notebook shows of a model: its settings, or what it found."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.graph.notebook import rows_table

SHOWN, NAMED = 10, 6  # communities, and members of each


def describe(model: Any) -> str:
    """A model as HTML: what was found, the largest communities first, their best connected members first."""
    if not hasattr(model, "draws_"):
        return f"<pre>{escape(repr(model))}</pre>"
    graph, z = model.graph_, sparse.csc_array(model.memberships_, dtype=float)
    sizes = np.diff(z.indptr)
    largest = np.argsort(-sizes, kind="stable")[:SHOWN]
    linked = sparse.csc_array(graph.links != 0, dtype=float) @ z[:, largest]
    rows = [(k, f"{sizes[k]:,}", _name(graph, z, k, linked[:, [t]])) for t, k in enumerate(largest.tolist())]
    several, alone = int((z.sum(axis=1) > 1).sum()), len(model.unassigned())
    title = f"{type(model).__name__}: {model.n_communities_:,} communities in {graph.n_nodes:,} nodes"
    after = [f"{several:,} nodes in several", f"{alone:,} in none", f"{model.fit_seconds_:.1f} s"]
    more = [f"{len(sizes) - SHOWN:,} more communities"] if len(sizes) > SHOWN else []
    return rows_table(title, ("community", "members", "best connected"), rows, ", ".join([*more, *after]) + ".")


def _name(graph: Graph, z: sparse.csc_array, k: int, linked: sparse.csc_array) -> str:
    """The members of a community with most links inside it."""
    members = z.indices[z.indptr[k] : z.indptr[k + 1]]
    inside = linked.toarray().ravel()[members]
    best = members[np.argsort(-inside, kind="stable")][:NAMED]
    more = ", ..." if len(members) > NAMED else ""
    return ", ".join(str(graph.label(int(i))) for i in best) + more
