"""The structural expert: what the surroundings of a pair say about its link, and how much that counts beside the model.

Two experts learn from visible links against visible non-links: trees on features of each pair without its own link, and
trees and a regression on more features, the links hidden a part at a time (``klafter.prediction.parts``). The mean of
what they say of a pair, e, and what the model says, m, make one logistic regression with weights of at least 0,

    log odds = a + b m + c e,

which decides how much either counts and whether probabilities are too timid or too bold. It is fitted where neither has
seen the pair: on folds that quick refits and experts of their own were not shown (``weigh_folds``), or, of models
without refits, on visible pairs, by trees that did not see them and by what the model says without them
(``klafter.prediction.left_out``). A pair with an end that has no other link has a regression of its own, without m: of
such an end a model knows only that it has no links. Visible links with such an end, their own link taken out, show
where a node that has lost its link had it; how many have lost one the hidden dyads tell (``share_lost``).
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from klafter.graph import Graph
from klafter.graph.units import distinct, random_ends
from klafter.prediction.features import BARE, Neighbourhoods
from klafter.prediction.parts import MOST_NODES, PartsExpert
from klafter.prediction.trees import Trees

MIN_LINKS = 5
MAX_LINKS, MAX_NONLINKS = 5_000, 30_000  # training pairs: all links of a small graph, a sample of a large one
FEWEST_NONLINKS, NONLINKS = 3_000, 10  # in all, and for each link
TREES = 100
PRIOR, RIDGE = (0.6, 0.5), 300.0  # of the weights of model and expert, where visible pairs are left out
FOLD_PRIOR, FOLD_RIDGE = (0.6, 0.6), 3.0  # the same on folds, see benchmarks/blend.py
MARGIN = 2.0  # nats that the expert has to gain on folds, else the model is taken alone
SHARES, LOYAL = np.array([0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99]), 3.0  # of nodes without visible links that have one
STEADY = 0.5  # weight of the expert beside a model that cannot say what it thinks of a pair without its link


class Sample(NamedTuple):
    """Visible pairs to learn from, links first."""

    pairs: np.ndarray  # (m, 2)
    linked: np.ndarray  # (m,), 1 or 0
    weight: np.ndarray  # (m,), visible dyads that each stands for


class Weights(NamedTuple):
    """Of one regression."""

    intercept: float
    model: float
    expert: float


class Blend(NamedTuple):
    """Log odds shown = model * (the model's own) + offset + neighbourhood, each (m,)."""

    model: np.ndarray
    offset: np.ndarray
    neighbourhood: np.ndarray

    def log_odds(self, own: np.ndarray) -> np.ndarray:
        return self.model * own + self.offset + self.neighbourhood


def half(blend: Blend) -> Blend:
    """The mean of the model's own log odds and those of a blend."""
    return Blend(0.5 + 0.5 * blend.model, 0.5 * blend.offset, 0.5 * blend.neighbourhood)


def blended(p: np.ndarray, blend: Blend | None) -> np.ndarray:
    """The probabilities shown, from those of a model and what a blend makes of them; None leaves them."""
    return p if blend is None else np.asarray(expit(blend.log_odds(logit(np.clip(p, 1e-12, 1 - 1e-12)))))


class Expert:
    """What learned from the visible pairs of a graph: the mean of two experts, beyond MOST_NODES the first alone."""

    def __init__(self, graph: Graph, sample: Sample):
        self.near, self.sample = Neighbourhoods(graph.links, directed=graph.directed), sample
        features = self.near.features(sample.pairs)
        self.bare = features[:, BARE] == 0.0
        self.trees = Trees(features, sample.linked, TREES)
        few = graph.n_nodes <= MOST_NODES
        self.parts = PartsExpert(graph, sample.pairs, sample.linked) if few else None
        self.lost = share_lost(graph, self.near.degree)

    def amid(self, links: sparse.csr_array) -> Expert:
        """The same expert, whose pairs are now those of another network, such as one with a node more."""
        other = copy(self)
        other.near = Neighbourhoods(links, directed=self.near.directed)
        other.parts = None if self.parts is None else self.parts.amid(links)
        return other

    @cached_property
    def left_out(self) -> np.ndarray:
        """What is said of each pair of the sample by those that did not see it; folds, which have others, never ask."""
        return self._mean(self.trees.left_out, None if self.parts is None else self.parts.left_out)

    @cached_property
    def alone(self) -> tuple[Weights, Weights]:
        """Weights without a model."""
        return self.combine(None)

    def log_odds(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is said of each pair, and which pairs have an end without any other link."""
        features = self.near.features(pairs)
        theirs = None if self.parts is None else self.parts.log_odds(pairs)
        return self._mean(self.trees.log_odds(features), theirs), features[:, BARE] == 0.0

    @staticmethod
    def _mean(one: np.ndarray, other: np.ndarray | None) -> np.ndarray:
        return one if other is None else 0.5 * (one + other)

    def combine(self, own: np.ndarray | None) -> tuple[Weights, Weights]:
        """Weights for pairs whose ends have other links, and for the rest; ``own`` is what the model says, left out."""
        usual = ~self.bare
        columns = [self.left_out] if own is None else [own, self.left_out]
        found = self._logistic(np.column_stack(columns), usual, (1.0,) if own is None else PRIOR)
        return self.beside(Weights(found[0], 0.0 if own is None else found[1], found[-1]))

    def beside(self, usual: Weights) -> tuple[Weights, Weights]:
        """The usual weights, and those of pairs with a bare end, as probable as ``lost`` says."""
        linked = self.sample.linked[self.bare]
        if min(linked.sum(), len(linked) - linked.sum()) < MIN_LINKS:
            return usual, usual
        found = self._logistic(self.left_out[:, None], self.bare, (1.0,), 1.0 / self.lost)
        return usual, Weights(found[0], 0.0, found[1])

    def _logistic(
        self, design: np.ndarray, some: np.ndarray, prior: tuple[float, ...], nonlinks: float = 1.0
    ) -> np.ndarray:
        linked = self.sample.linked[some]
        weight = self.sample.weight[some] * np.where(linked > 0, 1.0, nonlinks)
        return _logistic(design[some], linked, weight, np.array(prior), RIDGE)

    def blend(self, pairs: np.ndarray, weights: tuple[Weights, Weights]) -> Blend:
        """What the weights make of some pairs; a neighbourhood as pairs have it on average counts for nothing."""
        said, bare = self.log_odds(pairs)
        intercept, model, expert = np.where(bare, *(np.array(w)[:, None] for w in weights[::-1]))
        usual = float(np.average(self.left_out, weights=self.sample.weight))
        return Blend(model, intercept + expert * usual, expert * (said - usual))

    def mean(self, pairs: np.ndarray, structure: float) -> Blend:
        """The mean of log odds, the expert counted ``structure`` times: a sum would count twice what both saw."""
        alone = self.blend(pairs, self.alone)
        share = structure / (1.0 + structure)
        return Blend(np.full(len(pairs), 1.0 - share), share * alone.offset, share * alone.neighbourhood)


def fit_expert(graph: Graph, rng: np.random.Generator) -> Expert | None:
    """The expert of a graph, or None where there are too few links to learn from."""
    links, nonlinks = visible_links(graph, rng), visible_nonlinks(graph, rng)
    if len(links) < MIN_LINKS or len(nonlinks) < MIN_LINKS:
        return None
    linked = np.repeat([1.0, 0.0], [len(links), len(nonlinks)])
    weight = np.where(linked > 0, graph.n_links / len(links), (graph.n_dyads - graph.n_links) / len(nonlinks))
    return Expert(graph, Sample(np.vstack([links, nonlinks]), linked, weight))


def share_lost(graph: Graph, degree: np.ndarray) -> float:
    """The share of nodes without visible links that have hidden ones, which the only link of a node stands for.

    One that has lost its link to hiding has that hidden dyad beside the usual number, h = 1 + Poisson(m), with m that
    of nodes with links, and is h / m times as likely to have so many as one that never had a link. Where this tells
    nothing, as few have lost one as the prior (1 - share)^LOYAL allows.
    """
    both = graph.hidden + graph.hidden.T
    hidden, none = np.diff(sparse.csr_array(both).indptr), degree == 0
    if not none.any() or none.all() or not hidden[~none].any():
        return float(SHARES[0])
    ratio = hidden[none] / hidden[~none].mean()
    evidence = [np.log1p(s * (ratio - 1)).sum() + LOYAL * np.log1p(-s) for s in SHARES]
    return float(SHARES[int(np.argmax(evidence))])


def weigh_folds(own: np.ndarray, said: np.ndarray, linked: np.ndarray, weight: np.ndarray) -> Weights:
    """Weights of model and expert from pairs that neither has seen; one alone where both together do not fit better.

    The model alone is taken unless the expert gains MARGIN.

    Examples
    --------
    >>> own, linked = np.array([-2.0, -1.0, 1.0, 2.0] * 50), np.array([0.0, 0.0, 1.0, 1.0] * 50)
    >>> found = weigh_folds(own, np.zeros(200), linked, np.ones(200))
    >>> bool(found.model > 1.0)
    True
    """
    both = Weights(*_logistic(np.column_stack([own, said]), linked, weight, np.array(FOLD_PRIOR), FOLD_RIDGE))
    model, expert = (_logistic(x[:, None], linked, weight, np.ones(1), FOLD_RIDGE) for x in (own, said))

    def loss(w: Weights) -> float:
        eta = w.intercept + w.model * own + w.expert * said
        return float((weight * (np.logaddexp(0.0, eta) - linked * eta)).sum())

    alone = Weights(model[0], model[1], 0.0)
    best = min(both, Weights(expert[0], 0.0, expert[1]), key=loss)
    return best if loss(best) + MARGIN < loss(alone) else alone


def _logistic(design: np.ndarray, y: np.ndarray, weight: np.ndarray, prior: np.ndarray, ridge: float) -> np.ndarray:
    """Intercept and weights of at least 0, drawn to ``prior``."""
    from scipy.optimize import minimize

    x = np.column_stack([np.ones(len(y)), design])

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        eta, away = x @ beta, beta[1:] - prior
        slope = x.T @ (weight * (expit(eta) - y))
        slope[1:] += ridge * away
        return float((weight * (np.logaddexp(0.0, eta) - y * eta)).sum() + 0.5 * ridge * (away**2).sum()), slope

    bounds = [(None, None), *[(0.0, None)] * len(prior)]
    return np.asarray(minimize(loss, np.append(0.0, prior), jac=True, bounds=bounds, method="L-BFGS-B").x)


def visible_links(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """Linked dyads, at most MAX_LINKS of them."""
    coo = sparse.coo_array(graph.links if graph.directed else sparse.triu(graph.links, 1))
    return _some(np.column_stack([coo.row, coo.col]).astype(np.int64), MAX_LINKS, rng)


def visible_nonlinks(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """Observed dyads without a link: NONLINKS for each link, or all where there are no more."""
    n = graph.n_nodes
    most = MAX_NONLINKS if n <= MOST_NODES else MAX_NONLINKS // 2  # looking around takes longer there
    wanted = min(max(FEWEST_NONLINKS, NONLINKS * graph.n_links), most)
    few = n * (n - 1) <= 4 * wanted
    pairs = np.argwhere(~np.eye(n, dtype=bool)) if few else random_ends(graph, 3 * wanted, rng, ordered=graph.directed)
    low, high = pairs.T if graph.directed else (np.minimum(*pairs.T), np.maximum(*pairs.T))
    pairs = np.column_stack(np.divmod(distinct(low * n + high), n))
    taken = graph.links.astype(bool) + graph.hidden
    free = graph.is_possible(pairs) & ~np.asarray(taken[pairs[:, 0], pairs[:, 1]]).ravel()
    return _some(pairs[free], wanted, rng)


def _some(pairs: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return pairs if len(pairs) <= most else pairs[np.sort(rng.choice(len(pairs), most, replace=False))]
