"""Protocols of link prediction: which dyads are hidden, and which of them judge.

clean             dyads hidden whole, a share of links and of non-links; no node loses all its links
entries           entries of rows hidden on their own, as in the paper: mirrors of hidden entries stay visible
unguarded         clean, but nodes may lose all their links
balanced          as SEAL does (Zhang, Chen 2018): links hidden without guard, and as many non-links drawn uniformly
degree-corrected  links hidden as in clean, and as many non-links whose ends are drawn as ends of links are, so that
                  degrees alone tell nothing (Aiyappa et al. 2024)
given             splits that someone else has made, as (train, held)

Figures under different protocols cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from klafter.graph import Graph, split_dyads
from klafter.graph.splits import MAX_NONLINKS, Held, hide_units
from klafter.graph.units import keep_nodes_linked, link_units, random_nonlinks
from klafter.models.checks import MOST_RUNS

PROTOCOL_NAMES = {
    "clean": "clean protocol",
    "entries": "paper's protocol (mirror entries visible)",
    "unguarded": "clean protocol without the isolation guard (nodes may lose all links)",
    "balanced": "SEAL's protocol (no isolation guard, as many non-links as links)",
    "degree-corrected": "degree-corrected protocol (non-links drawn with the degrees of links)",
    "given": "given splits",
}
ROUNDS = 50  # of drawing non-links


def make_splits(graph: Graph, protocol: str, splits: Any, fraction: float, seed: int) -> Iterator[tuple]:
    """(number, train, held) of each split."""
    if protocol == "given":
        for number, (train, held) in enumerate(splits, start=seed):
            yield number, train, held
        return
    for number in range(seed, seed + splits):
        yield (number, *make_split(graph, fraction, protocol, number))


def make_split(graph: Graph, fraction: float, protocol: str, seed: int) -> tuple[Graph, Held]:
    """One split: the training graph, and what is hidden.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> train, held = make_split(load_karate(), 0.1, "balanced", 0)
    >>> len(held.pairs), int(held.values.sum())
    (16, 8)
    """
    if protocol in ("clean", "entries"):
        return split_dyads(graph, fraction, protocol, seed)
    rng = np.random.default_rng(seed)
    links = rng.permutation(link_units(graph))
    links = links[: round(fraction * len(links))]
    if protocol == "unguarded":
        nonlinks, share = random_nonlinks(graph, fraction, MAX_NONLINKS, rng)
        return hide_units(graph, np.concatenate([links, nonlinks]), share)
    degrees = None
    if protocol == "degree-corrected":
        links = keep_nodes_linked(graph, links, rng)
        degrees = np.asarray((graph.links != 0).sum(axis=1) + (graph.links != 0).sum(axis=0)).ravel()
    return hide_units(graph, np.concatenate([links, _nonlinks(graph, len(links), degrees, rng)]))


def _nonlinks(graph: Graph, wanted: int, degrees: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Different unlinked, observed dyads i < j as i n + j, their ends drawn by degrees, or evenly."""
    n, found = graph.n_nodes, np.zeros(0, np.int64)
    chance = None if degrees is None else degrees / degrees.sum()
    taken = graph.links.astype(bool) + graph.hidden
    taken = taken + taken.T
    for _ in range(ROUNDS):
        drawn = rng.choice(n, (2 * wanted + 10, 2), p=chance)
        low, high = drawn.min(axis=1), drawn.max(axis=1)
        ends = np.column_stack([low, high])
        free = (graph.is_possible(ends) | graph.is_possible(ends[:, ::-1])) & ~np.asarray(taken[low, high]).ravel()
        both = np.append(found, (low * n + high)[free])
        found = both[np.sort(np.unique(both, return_index=True)[1])]
        if len(found) >= wanted:
            return found[:wanted]
    raise ValueError(
        f"This graph of {n} nodes has too few pairs without a link to draw {wanted} of them. "
        'Use protocol="clean", or a smaller fraction.'
    )


def check_protocol(protocol: str, splits: int | Sequence) -> None:
    """Refuse unknown protocols, and splits that do not go with them."""
    if protocol not in PROTOCOL_NAMES:
        names = ", ".join(map(repr, PROTOCOL_NAMES))
        raise ValueError(f"protocol is one of {names}; this is {protocol!r}. Use 'clean'.")
    given = not isinstance(splits, (int, np.integer))
    if given != (protocol == "given"):
        raise ValueError(
            f'protocol="given" needs splits=[(train, held), ...], and only it does; protocol is {protocol!r}, '
            f"splits {'a sequence' if given else splits}."
        )
    if not (len(splits) if given else 1 <= splits <= MOST_RUNS):  # type: ignore[arg-type,operator]
        raise ValueError(f"compare needs at least one split and at most {MOST_RUNS:,}; splits is {splits}.")


def degree_corrected_auc(degrees: np.ndarray, pairs: np.ndarray, values: np.ndarray, scores: np.ndarray) -> float:
    """AUC with each non-link counted by the product of its degrees: what non-links drawn by degrees give on average.

    Parameters
    ----------
    degrees : (n,) array
        Of the nodes.
    pairs : (m, 2) integer array of rows
    values, scores : (m,) arrays
        Link values, and numbers that are higher where a link is likelier.

    Returns
    -------
    float

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> round(degree_corrected_auc(np.array([2, 1, 1]), pairs, np.array([1, 0, 0]), np.array([0.5, 0.6, 0.4])), 3)
    0.333
    """
    from sklearn.metrics import roc_auc_score

    linked = np.asarray(values) > 0
    weight = np.where(linked, 1.0, np.asarray(degrees, float)[pairs].prod(axis=1))
    kept = weight > 0
    return float(roc_auc_score(linked[kept], scores[kept], sample_weight=weight[kept]))
