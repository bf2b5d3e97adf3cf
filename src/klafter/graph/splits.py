"""Splits of dyads into a part that models see and a part that judges them.

clean     A dyad is hidden whole, both directions together, so that no mirror entry tells the answer. A link whose
          hiding would leave a node without any visible link stays visible.
entries   Each row hides a share of its off-diagonal entries on its own, as Miller, Griffiths and Jordan (NIPS 2009)
          and later papers did. Of most hidden entries of an undirected graph the mirror stays visible, which makes
          the task far easier: results under it are not comparable with clean ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from klafter.graph.convert import as_graph
from klafter.graph.graph import Graph
from klafter.graph.units import keep_nodes_linked, link_units, look_up, random_nonlinks, unit_pairs

PROTOCOLS = ("clean", "entries")
MAX_NONLINKS, MOST_FOLDS = 3_000_000, 10_000
NO_VALUES = object()  # scikit-learn passes y=None, callers who have a graph pass nothing
Seed = int | np.random.Generator | np.random.RandomState | None


class Held(NamedTuple):
    """Hidden dyads and what they truly hold.

    ``pairs`` are rows, sorted; ``nonlink_share`` is below 1 when only a sample of the non-links was hidden.
    """

    pairs: np.ndarray  # int64, (m, 2)
    values: np.ndarray  # float64, (m,)
    nonlink_share: float = 1.0


def split_dyads(
    graph: Any,
    fraction: float = 0.2,
    protocol: str = "clean",
    random_state: Seed = 0,
    *,
    max_nonlinks: int = MAX_NONLINKS,
) -> tuple[Graph, Held]:
    """Hide a random part of the observed dyads.

    Parameters
    ----------
    graph : Graph, or what `as_graph` takes
        Dyads that are already hidden stay hidden and are not scored.
        Of a network of several kinds of nodes only pairs that may be linked are dyads.
    fraction : float
        Share of the links, and of the non-links, to hide; between 0 and 1.
    protocol : {"clean", "entries"}
        `clean` hides dyads whole; links whose hiding would leave a node without links stay visible. A directed graph
        hides both directions together, and both ordered pairs are in `held`.
        `entries` hides in each row a share of its entries. An undirected graph becomes a directed training graph,
        since the mirror of a hidden entry stays visible.
    random_state : int, Generator or None
        The same integer gives the same split on every machine.
    max_nonlinks : int
        On a large graph, hide at most this many non-link dyads, a uniform sample; `held.nonlink_share` says what
        share of `fraction` they are. All chosen links are hidden all the same, so the training graph is a little
        sparser than the whole; AUC keeps its meaning, average precision and log loss do not.
        `entries` does not sample, and refuses graphs where it would have to.

    Returns
    -------
    train : Graph
    held : Held
        With `pairs`, (m, 2) rows, and `values`, (m,), zero for a non-link.

    Examples
    --------
    >>> import numpy as np
    >>> ring = Graph(np.roll(np.eye(10), 1, axis=1))
    >>> train, held = split_dyads(ring, fraction=0.4)
    >>> train.n_links + int(held.values.sum()), train.n_hidden == len(held.pairs)
    (10, True)
    """
    graph = as_graph(graph)
    if not isinstance(fraction, Real) or not 0 < fraction < 1:
        raise ValueError(
            f"fraction is a share of the dyads between 0 and 1; this is {fraction!r}. Use 0.2 for a fifth."
        )
    rng = _generator(random_state)
    if _check_protocol(protocol) == "entries":
        _check_entries(graph, fraction * graph.n_nodes**2, max_nonlinks)
        return _hide_entries(graph, _deal_rows(graph, [fraction], rng)[0])
    links = rng.permutation(link_units(graph))
    links = links[: round(fraction * len(links))]
    nonlinks, share = random_nonlinks(graph, fraction, max_nonlinks, rng)
    return hide_units(graph, np.concatenate([keep_nodes_linked(graph, links, rng), nonlinks]), share)


class DyadKFold:
    """Folds over the observed dyads of a graph; each fold hides its part and scores it.

    Parameters
    ----------
    n_splits : int
    protocol, random_state, max_nonlinks
        As in `split_dyads`; `max_nonlinks` holds for each fold.

    Examples
    --------
    >>> import numpy as np
    >>> ring = Graph(np.roll(np.eye(10), 1, axis=1))
    >>> [len(held.pairs) for train, held in DyadKFold(5).split(ring)]
    [9, 9, 9, 9, 9]
    """

    def __init__(
        self,
        n_splits: int = 5,
        protocol: str = "clean",
        random_state: Seed = 0,
        *,
        max_nonlinks: int = MAX_NONLINKS,
    ):
        self.n_splits = n_splits
        self.protocol = protocol
        self.random_state = random_state
        self.max_nonlinks = max_nonlinks

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, graph: Any, y: Any = NO_VALUES, groups: object = None) -> Iterator[tuple[Any, Any]]:
        """Give each fold as (train, held), a Graph and the dyads that it hides.

        Parameters
        ----------
        graph : Graph, or what ``as_graph`` takes; with y, (m, 2) array of pairs
        y : (m,) array, optional
            Link values of pairs, as ``LinkClassifier`` takes them. Folds are then arrays of the numbers of pairs, as
            scikit-learn's are; both orders of a pair are in one fold, and folds have equal shares of the links.
        groups : ignored

        Yields
        ------
        train, held
            A Graph and a ``Held``; of pairs two arrays of their numbers.
        """
        if not isinstance(self.n_splits, Integral) or not 2 <= self.n_splits <= MOST_FOLDS:
            rule = f"a whole number, 2 or more and at most {MOST_FOLDS:,}"
            raise ValueError(f"DyadKFold needs n_splits to be {rule}; this is {self.n_splits!r}.")
        if y is None:
            raise ValueError(
                "DyadKFold as the cv of scikit-learn needs pairs and their link values; y is None. Use pairs, values = "
                "klafter.models.dyad_samples(graph) with klafter.models.LinkClassifier(model, graph). Without cv= a "
                "model is scored on nodes that were left out."
            )
        if y is not NO_VALUES:
            yield from _sample_folds(np.asarray(graph), np.asarray(y), self.n_splits, _generator(self.random_state))
            return
        graph = as_graph(graph)
        rng, share = _generator(self.random_state), 1 / self.n_splits
        if _check_protocol(self.protocol) == "entries":
            _check_entries(graph, share * graph.n_nodes**2, self.max_nonlinks)
            for pairs in _deal_rows(graph, [share] * self.n_splits, rng):
                yield _hide_entries(graph, pairs)
            return
        links = np.array_split(rng.permutation(link_units(graph)), self.n_splits)
        nonlinks, kept = random_nonlinks(graph, 1.0, self.max_nonlinks * self.n_splits, rng)
        # the larger parts of links meet the smaller parts of non-links
        for mine, others in zip(links, reversed(np.array_split(nonlinks, self.n_splits))):
            yield hide_units(graph, np.concatenate([keep_nodes_linked(graph, mine, rng), others]), kept)


def _sample_folds(
    pairs: np.ndarray, values: np.ndarray, n_splits: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(train, test) numbers of listed pairs."""
    if pairs.shape != (len(values), 2) or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"DyadKFold splits pairs of rows, (m, 2), and their values; X has shape {pairs.shape} and type "
            f"{pairs.dtype}. Use pairs, values = klafter.models.dyad_samples(graph)."
        )
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    units, unit = np.unique(low * (int(high.max(initial=0)) + 1) + high, return_inverse=True)
    linked = np.bincount(unit, values != 0, len(units)) > 0
    fold = np.empty(len(units), np.int64)
    for kind in (linked, ~linked):
        fold[kind] = rng.permutation(np.arange(kind.sum()) % n_splits)
    for t in range(n_splits):
        yield np.flatnonzero(fold[unit] != t), np.flatnonzero(fold[unit] == t)


def hide_units(graph: Graph, units: np.ndarray, share: float = 1.0) -> tuple[Graph, Held]:
    """Hide whole dyads, see ``units``."""
    pairs = unit_pairs(graph, units)
    return graph.hide(pairs), Held(pairs, look_up(graph.links, pairs), share)


def _deal_rows(graph: Graph, shares: list[float], rng: np.random.Generator) -> list[np.ndarray]:
    """Sorted (m, 2) entries for each share: every row deals its visible entries on its own."""
    n, hidden = graph.n_nodes, graph.hidden
    parts: list[list[np.ndarray]] = [[] for _ in shares]
    for i in range(n):
        visible = np.ones(n, bool)
        visible[i] = False
        visible[hidden.indices[hidden.indptr[i] : hidden.indptr[i + 1]]] = False
        columns = rng.permutation(np.flatnonzero(visible))
        ends = np.round(np.cumsum(shares) * len(columns)).astype(int)
        for part, start, end in zip(parts, [0, *ends], ends):
            part.append(i * n + np.sort(columns[start:end]))
    entries = [np.concatenate([np.zeros(0, np.int64), *part]) for part in parts]
    return [np.column_stack([e // n, e % n]) for e in entries]


def _hide_entries(graph: Graph, pairs: np.ndarray) -> tuple[Graph, Held]:
    return graph.replace(directed=True).hide(pairs), Held(pairs, look_up(graph.links, pairs))


def _check_protocol(protocol: str) -> str:
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol is one of {PROTOCOLS}; this is {protocol!r}. Use 'clean'.")
    return protocol


def _check_entries(graph: Graph, count: float, most: int) -> None:
    if graph.rule is not None:
        which = "a network in which only some kinds may be linked" if graph.kind_pairs else "a two-mode network"
        raise ValueError(
            f"protocol='entries' hides entries whose mirror stays visible; {which} has no mirror entries. "
            "Use protocol='clean'."
        )
    if count > 2 * most:
        raise ValueError(
            f"protocol='entries' would hide {count:,.0f} entries of this graph of {graph.n_nodes:,} nodes, more than "
            f"{2 * most:,}. Use protocol='clean', which samples non-links, or raise max_nonlinks."
        )


def _generator(random_state: Seed) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    return np.random.default_rng(random_state)
