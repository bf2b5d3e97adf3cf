"""Why a link is likely: the log odds that predictions show, taken apart so that the parts add up to them.

A prediction averages the probabilities of all draws, P = mean p(x), and adds to their log odds what the structural
expert says, with the weights that the visible links have given to both:

    log odds shown = a + b logit P + c expert

Each draw takes its x apart: where it starts, its degree factors, its terms. From the start, where every dyad is alike,
all draws go the whole way together, factors first. On each small step logit P changes by
(change of logit P / change of P) * (change of p) / draws  for each draw; a draw's share of the change is divided among
its parts in proportion to their values. So nothing is left over, and a part counts as far as it moves the average: this
is the rule of Aumann and Shapley (1974). Of a single draw with logit link the parts are its parameters themselves.

Communities of a draw take the numbers of the model's own where they have much the same members; what the others say is
finer structure. A model without an offset (IRM, MMSB, EPM) starts where every dyad is as likely as links are common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logit

from klafter.core.draws import COMMUNITIES, COVARIATE, NOTHING, RECEIVER, SENDER, Draw, Part, Parts

EDGE = 1e-12  # probabilities nearer to 0 or 1 than this count as so near
STEPS = 24  # from the start of x to the whole of it
NUDGE = 1e-6  # of the size of its parts, for the slope of p where a draw does not move
ALIKE = 0.5  # least cosine between the members of a draw's community and those of the model's
MOST = 0.999  # of the share of dyads with links, as a start
SHOWN = 12
OFFSET, FINER, EXPERT, ATTRIBUTE = "offset", "finer", "expert", "attribute"
KINDS = {
    OFFSET: "offset",
    SENDER: "sociality",
    RECEIVER: "sociality",
    COMMUNITIES: "communities",
    FINER: "communities",
    NOTHING: "communities",
    COVARIATE: "covariates",
    ATTRIBUTE: "attributes",
    EXPERT: "neighbourhood",
}


class Reason(NamedTuple):
    """What a part is about: its kind, and two communities of the model, or one covariate or column of attributes."""

    kind: str
    first: int = -1
    second: int = -1


@dataclass(frozen=True)
class Explanation:
    """The log odds of one dyad and their parts.

    Attributes
    ----------
    source, target : node labels
    probability : float
        What ``predict_proba`` says.
    log_odds : float
        The same as log odds, within those of 1e-12 and 1 - 1e-12.
    parts : list of (str, float)
        What speaks for the link, or against it where negative, largest first. They add up to ``log_odds``.
    totals : dict of str to float
        The same summed by kind: offset, sociality, communities, covariates, attributes, neighbourhood.
    """

    source: object
    target: object
    probability: float
    log_odds: float
    parts: list[tuple[str, float]]
    totals: dict[str, float]

    def largest(self, n: int = SHOWN) -> list[tuple[str, float]]:
        """At most n parts, those that are not 0 to two digits; the last of them is all the rest.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of (name, log odds)
        """
        n_shown = min(n, sum(abs(value) >= 0.005 for _, value in self.parts))
        if len(self.parts) <= n_shown + 1 <= n:
            return self.parts
        n_shown = min(n_shown, n - 1)
        return [*self.parts[:n_shown], ("all the rest", sum(value for _, value in self.parts[n_shown:]))]

    def __str__(self) -> str:
        lines = [f"{self.source} - {self.target}: probability of a link {self.probability:.3f}"]
        lines += [f"  {value:+7.2f}  {what}" for what, value in self.largest()]
        totals = ", ".join(f"{kind} {value:+.2f}" for kind, value in self.totals.items())
        return "\n".join([*lines, f"  {self.log_odds:+7.2f}  log odds in all: {totals}"])


def explain(model, pairs: np.ndarray) -> list[Explanation]:
    """The explanations of some dyads, given as rows (i, j)."""
    draws, usual = model._prediction_draws(), _usual(model)
    covariates, matches = list(model._covariates(model.graph_).values()), model._matches()
    probabilities, blend = model._probability(pairs), model._blend(pairs)
    told = []
    for t, (i, j) in enumerate(pairs.tolist()):
        taken = [draw.parts(i, j, covariates, usual) for draw in draws]
        reasons = take_apart(taken, lambda x: model._response().probability(x, model.precision_), matches)
        reasons = _by_attribute(reasons, len(model.graph_.covariates))
        if blend is not None:
            reasons = {reason: float(blend.model[t]) * value for reason, value in reasons.items()}
            reasons[Reason(OFFSET)] += float(blend.offset[t])
            reasons[Reason(EXPERT)] = float(blend.neighbourhood[t])
        told.append(_tell(model, i, j, float(probabilities[t]), reasons))
    return told


def _usual(model) -> float:
    """x of a dyad as likely linked as all are on average, where x >= 0; else 0."""
    graph, inverse = model.graph_, model._response().inverse
    return inverse(min(graph.n_links / max(graph.n_dyads, 1), MOST)) if inverse else 0.0


def _tell(model, i: int, j: int, probability: float, reasons: dict[Reason, float]) -> Explanation:
    graph = model.graph_
    if EDGE < probability < 1 - EDGE:
        reasons = _exactly(reasons, float(logit(probability)))
    named = [(_what(model, i, j, reason), value) for reason, value in reasons.items() if value]
    named.sort(key=lambda part: -abs(part[1]))
    total = float(sum(value for _, value in named))
    return Explanation(graph.label(i), graph.label(j), probability, total, named, _totals(reasons))


def take_apart(taken: Sequence[Parts], probability: Callable, matches: Sequence[np.ndarray]) -> dict[Reason, float]:
    """The log odds of the average probability of draws as a sum over reasons."""
    start = np.array([parts.start for parts in taken])
    rise, size_of_rise = _sums([parts.factors for parts in taken])
    climb, size_of_climb = _sums([parts.terms for parts in taken])
    raised = start * np.exp(rise)
    factor = _effects(lambda c: probability(start * np.exp(c)), rise, size_of_rise).tolist()
    effect = _effects(lambda c: probability(raised + c), climb, size_of_climb).tolist()
    reasons: dict[Reason, float] = defaultdict(float)
    reasons[Reason(OFFSET)] = float(_log_odds(probability(start).mean()))
    for d, parts in enumerate(taken):
        for kind, value, first, second in parts.factors:
            reasons[Reason(kind, first, second)] += factor[d] * value
        for kind, value, first, second in parts.terms:
            reason = Reason(kind, first, second)
            reasons[_matched(reason, matches[d]) if kind == COMMUNITIES else reason] += effect[d] * value
    return _exactly(reasons, float(_log_odds(probability(raised + climb).mean())))


def _sums(parts: Sequence[list[Part]]) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the parts of each draw, and that of their sizes."""
    values = [[part.value for part in some] for some in parts]
    return np.array([sum(some) for some in values]), np.array([sum(map(abs, some)) for some in values])


def _effects(probability: Callable, change: np.ndarray, size: np.ndarray) -> np.ndarray:
    """For each draw, by how much the log odds of the average rise for each unit of its coordinate.

    The coordinates go from 0 to ``change`` together; effects times changes add up to the rise of the log odds. Where
    parts cancel, so that a draw hardly moves for their ``size``, it is the slope on the way.
    """
    if not size.any():
        return np.zeros(len(change))
    p = probability(np.linspace(0.0, 1.0, STEPS + 1)[:, None] * change)
    mean = p.mean(axis=1)
    rise, middle = np.diff(mean), np.clip((mean[1:] + mean[:-1]) / 2, EDGE, 1 - EDGE)
    moved = np.abs(rise) > 1e-9 * middle * (1 - middle)
    slope = 1 / (middle * (1 - middle))
    slope[moved] = np.diff(_log_odds(mean))[moved] / rise[moved]
    effect = slope @ np.diff(p, axis=0) / len(change)
    nudge = np.where(size > 0, NUDGE * size, 1.0)
    still = np.abs(change) < nudge
    effect[~still] /= change[~still]
    above, below = probability(change / 2 + nudge), probability(change / 2 - nudge)
    effect[still] = (slope.mean() * (above - below) / (2 * nudge) / len(change))[still]
    return effect


def _log_odds(p: Any) -> Any:
    return logit(np.clip(p, EDGE, 1 - EDGE))


def _exactly(reasons: dict[Reason, float], total: float) -> dict[Reason, float]:
    """Parts that add up to the total to the last digit: near certainty, probabilities round log odds."""
    size = sum(abs(value) for value in reasons.values()) or 1.0
    missing = total - sum(reasons.values())
    return {reason: value + missing * abs(value) / size for reason, value in reasons.items()}


def _totals(reasons: dict[Reason, float]) -> dict[str, float]:
    totals = dict.fromkeys(KINDS.values(), 0.0)
    for reason, value in reasons.items():
        totals[KINDS[reason.kind]] += value
    return {kind: value for kind, value in totals.items() if value}


def _matched(reason: Reason, match: np.ndarray) -> Reason:
    first, second = int(match[reason.first]), int(match[reason.second])
    return Reason(COMMUNITIES, first, second) if first >= 0 and second >= 0 else Reason(FINER)


def match_communities(memberships, draws: Sequence[Draw]) -> list[np.ndarray]:
    """For each community of each draw its number among ``memberships``, -1 where none has much the same members.

    Likeness is the cosine of memberships; the most alike are matched first, and each at most once in a draw.
    """
    ends = np.cumsum([0, *(draw.memberships.shape[1] for draw in draws)])
    matches = np.full(ends[-1], -1)
    z = _unit_columns(memberships)
    like = sparse.coo_array(z.T @ _unit_columns(sparse.hstack([sparse.csr_array(draw.memberships) for draw in draws])))
    keep = like.data > ALIKE
    number, column, cosine = like.row[keep], like.col[keep], like.data[keep]
    of_draw, taken = np.searchsorted(ends, column, side="right"), set()
    for t in np.argsort(-cosine, kind="stable").tolist():
        if matches[column[t]] < 0 and (number[t], of_draw[t]) not in taken:
            matches[column[t]] = number[t]
            taken.add((number[t], of_draw[t]))
    return np.split(matches, ends[1:-1])


def _unit_columns(u) -> sparse.csr_array:
    u = sparse.csr_array(u, dtype=float)
    length = np.sqrt(np.asarray(u.multiply(u).sum(axis=0)).ravel())
    return sparse.csr_array(u @ sparse.diags_array(1 / np.maximum(length, 1e-300)))


def _by_attribute(reasons: dict[Reason, float], n_covariates: int) -> dict[Reason, float]:
    """The columns that stand after the covariates of the graph are those of attributes."""
    return {
        reason._replace(kind=ATTRIBUTE) if reason.kind == COVARIATE and reason.first >= n_covariates else reason: value
        for reason, value in reasons.items()
    }


def _what(model, i: int, j: int, reason: Reason) -> str:
    """A reason in words."""
    graph, memberships, k, m = model.graph_, model.memberships_, reason.first, reason.second
    if reason.kind == COMMUNITIES:
        doubt = "" if memberships[i, k] and memberships[j, m] else ", in some draws"
        return (f"both in community {k}" if k == m else f"community {k} with community {m}") + doubt
    if reason.kind == COVARIATE:
        return f"covariate {list(graph.covariates)[k]}"
    if reason.kind == ATTRIBUTE:
        return list(model._covariates(graph).values())[k].describe(i, j)
    return {
        OFFSET: "how common links are",
        SENDER: f"how much {graph.label(i)} links in general",
        RECEIVER: f"how much {graph.label(j)} is linked in general",
        FINER: "finer structure: communities of some draws alone",
        NOTHING: "in no community",
        EXPERT: "how their neighbours are linked",
    }[reason.kind]


__all__ = ["Explanation", "explain"]
