"""The draws that simulated graphs share: memberships, and every dyad from its predictor."""

import numpy as np
from scipy import sparse

from klafter.core.responses import RESPONSES
from klafter.datasets.truth import Truth
from klafter.graph import Graph

CHUNK = 2_000_000  # dyads drawn at a time
MOST_NODES, MOST_COMMUNITIES = 100_000, 10_000  # where every dyad is drawn


def check_size(n: int, k: int, name: str) -> None:
    """Refuse more than draws of every dyad end with."""
    for what, value, most in (("n", n, MOST_NODES), ("k", k, MOST_COMMUNITIES)):
        if not 1 <= value <= most:
            raise ValueError(
                f"{name} draws every dyad and needs {what} from 1 to {most:,}; it is {value}. Use make_overlapping."
            )


def draw_memberships(n: int, k: int, many: tuple[int, int], rng) -> sparse.csr_array:
    """Each node in a uniform number of communities between the two given, all different: (n, k) of 0/1."""
    least, most = many
    if not 0 <= least <= most <= k:
        raise ValueError(f"memberships needs 0 <= least <= most <= {k} communities; this is {tuple(many)}.")
    count = rng.integers(least, most + 1, size=n)
    chosen = np.empty((n, most), np.int64)
    for d in range(most):
        pick = rng.integers(k - d, size=n)
        for taken in np.sort(chosen[:, :d], axis=1).T:  # step over those already chosen
            pick += pick >= taken
        chosen[:, d] = pick
    node = np.repeat(np.arange(n), count)
    community = chosen[np.arange(most) < count[:, None]]
    return sparse.csr_array((np.ones(len(node)), (node, community)), shape=(n, k))


def draw_graph(truth: Truth, directed: bool, rng) -> Graph:
    """Draw every dyad, some rows at a time; undirected ones above the diagonal."""
    n = truth.memberships.shape[0]
    draw, blocks = RESPONSES[truth.response].draw, []
    for start in range(0, n, step := max(1, CHUNK // n)):
        x = truth.parameters.predictor_rows(np.arange(start, min(start + step, n)))
        y = draw(x, rng, precision=truth.precision)
        blocks.append(sparse.csr_array(y if directed else np.triu(y, start + 1)))
    return Graph(sparse.vstack(blocks, format="csr"), directed=directed)
