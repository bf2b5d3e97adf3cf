"""What a fitted model would say of a visible pair, had it not seen that pair, without fitting it again.

Of many draws theta of a posterior, by importance: draws that explain the pair well saw it, and count less,

    p without y = sum_theta p(theta) / f(y | theta)  /  sum_theta 1 / f(y | theta)       (Gelfand, Dey, Chang 1992)

both directions of a pair left out together. Of the sparse engine, which has one draw of each search: a linked node is
as much in a community as its other links into it say, and has one link less,

    z_ik (1 - (W z_j)_k / sum_m a_im (W z_m)_k),      t_i (d_i - 1 + s) / (d_i + s)     with s the degree prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit

from klafter.core.draws import ExposureDraw
from klafter.search.config import SEARCH

FEWEST_DRAWS = 30
LEAST_DENSITY = -20.0  # of the logarithm: no draw counts for more than e^20
EDGE = 1e-9


def left_out_log_odds(model: Any, pairs: np.ndarray, linked: np.ndarray) -> np.ndarray | None:
    """Log odds of visible pairs without themselves; None where a model's draws are too few to tell."""
    draws = model._prediction_draws()
    if isinstance(draws[0], ExposureDraw):
        p = _by_other_links(model, draws, pairs, linked > 0)
    elif len(draws) >= FEWEST_DRAWS:
        p = _by_importance(model, pairs)
    else:
        return None
    return np.asarray(logit(np.clip(p, EDGE, 1 - EDGE)))


def _by_importance(model: Any, pairs: np.ndarray) -> np.ndarray:
    response, links, precision = model._response(), model.graph_.links, model.precision_
    ways = [pairs, pairs[:, ::-1]] if model.graph_.directed else [pairs]
    values = [np.asarray(links[way[:, 0], way[:, 1]]).ravel() for way in ways]
    graph = model.graph_
    seen = [graph.is_possible(way) & ~np.asarray(graph.hidden[way[:, 0], way[:, 1]]).ravel() for way in ways]
    total, parts = np.zeros(len(pairs)), np.zeros(len(pairs))
    for drawn in zip(*(model._predictors(way) for way in ways)):
        density = sum(np.where(s, response.log_density(y, x, precision), 0.0) for y, x, s in zip(values, drawn, seen))
        weight = np.exp(-np.maximum(density, LEAST_DENSITY))
        total += weight
        parts += weight * response.probability(drawn[0], precision)
    return parts / total


def _by_other_links(model: Any, draws: Any, pairs: np.ndarray, linked: np.ndarray) -> np.ndarray:
    response, (i, j) = model._response(), pairs[linked].T
    a = sparse.csr_array((model.graph_.links != 0).astype(float))
    a = sparse.csr_array(a.maximum(a.T))
    degree, prior = np.asarray(a.sum(axis=1)).ravel(), degree_prior_of(model)
    fewer = (degree - 1 + prior) / (degree + prior)
    total = np.zeros(len(pairs))
    for draw in draws:
        x = draw.predictor(pairs)
        x[linked] = draw.send[i] * draw.receive[j] * fewer[i] * fewer[j] * (draw.background + _inside(draw, a, i, j))
        total += response.probability(x, model.precision_)
    return total / len(draws)


def degree_prior_of(model: Any) -> float:
    """The weight of the prior on degree factors that a fit has learned, or was given."""
    learned, given = (getattr(model, name, None) for name in ("degree_prior_", "degree_prior"))
    known = [value for value in (learned, given) if value not in (None, "auto")]
    return float(known[0]) if known else SEARCH.sparse.degree_prior


def _inside(draw: ExposureDraw, a: sparse.csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """z_i' W z_j of linked pairs, with memberships as their other links have them."""
    z, w = sparse.csr_array(draw.loadings, dtype=float), draw.affinities
    drawn = sparse.csr_array(z @ (w + w.T)) / 2
    support = sparse.csr_array(a @ drawn)
    support.data = 1.0 / np.maximum(support.data, 1e-12)

    def rest(one: np.ndarray, other: np.ndarray) -> sparse.csr_array:
        return sparse.csr_array(z[one] - z[one].multiply(drawn[other].multiply(support[one])))

    return np.maximum(np.asarray((rest(i, j) @ w).multiply(rest(j, i)).sum(axis=1), float).ravel(), 0.0)
