"""What a fit found, and the one place that makes it the attributes of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw, LinearDraw
from klafter.core.objective import objective
from klafter.core.problem import BOUND, Problem, State
from klafter.graph import Graph
from klafter.models.results.levels import pack
from klafter.models.results.matching import average_memberships
from klafter.models.results.names import known_rows, match_last, name_communities, new_order, reordered
from klafter.models.results.posterior import count_posterior, distinct, fill_in, posterior_of_restarts
from klafter.sampling.chain import Chain, Recipe
from klafter.sampling.lfrm import as_draw
from klafter.search.descend import Outcome
from klafter.search.levels import levels, shown_level
from klafter.search.progress import Step

DENSE_AFFINITIES = 1_000  # communities up to which ``affinities_`` of the sparse engine is a full array


@dataclass(frozen=True)
class Fitted:
    """What a fit found. Each field becomes the attribute of its name and an underscore."""

    link: str
    response: str  # what x means, a name in ``RESPONSES``
    point: Draw  # the best restart, chain or search
    draws: Sequence[Draw]  # all that predictions average
    restarts: Sequence[Draw]  # the best of each restart, chain or search
    memberships: Any  # (n, K) of 0/1
    affinities: Any  # (K, K)
    objective: float
    history: list[Step]
    n_iter: int
    precision: float = 1.0
    notes: list[str] = field(default_factory=list)
    membership_proba: Any = None  # (n, K); None: nothing is known but the memberships
    n_communities_posterior: dict[str, np.ndarray] | None = None  # None: nothing is known but their number
    more: dict[str, Any] = field(default_factory=dict)  # what only this kind of model has, by name

    def attributes(self) -> dict[str, Any]:
        """The values by the names of attributes."""
        own = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "more"}
        return {f"{name}_": value for name, value in (own | self.more).items()}

    def noting(self, *notes: str) -> Fitted:
        """The same with further notes."""
        return replace(self, notes=[*self.notes, *notes])

    def with_more(self, **more: Any) -> Fitted:
        """The same with further attributes."""
        return replace(self, more={**self.more, **more})


def publish(model: Any, graph: Graph, fitted: Fitted, seconds: float) -> None:
    """Give an estimator the attributes of a fit, in place of those of an earlier one.

    Communities that the earlier one had keep their names and numbers.
    """
    fitted, names = _numbered(model, graph, fitted)
    for name in published(model):
        delattr(model, name)
    for name, value in fitted.attributes().items():
        setattr(model, name, value)
    model.graph_, model.labels_in_ = graph, graph.labels
    model.n_communities_ = fitted.memberships.shape[1]
    fill_in(model)
    model.community_names_ = name_communities(graph, model.memberships_, names)
    model.fit_seconds_ = seconds
    model._forget()


def _numbered(model: Any, graph: Graph, fitted: Fitted) -> tuple[Fitted, dict[int, str]]:
    """What was found, communities of an earlier fit with their numbers, and the names that they keep."""
    last = getattr(model, "memberships_", None)
    if last is None or not last.shape[1] or not fitted.memberships.shape[1] or "best_estimator" in fitted.more:
        return fitted, {}
    rows = known_rows(model.graph_, graph, last.shape[0])
    match = match_last(last, fitted.memberships, rows)
    order = new_order(match, fitted.memberships.shape[1])
    names = {place: model.community_names_[match[k]] for place, k in enumerate(order.tolist()) if k in match}
    return reordered(fitted, order), names


def published(model: Any) -> list[str]:
    """The names of fitted attributes; those about the input, which scikit-learn sets, are not among them."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_") and name[-4:] != "_in_"]


def adopted(model: Any, **more: Any) -> Fitted:
    """What another estimator has found, with ``more`` beside it."""
    found = {name[:-1]: getattr(model, name) for name in published(model)}
    own = {part.name: found.pop(part.name) for part in fields(Fitted) if part.name in found}
    return Fitted(**own, more={**found, **more})


def from_restarts(
    outcomes: list[Outcome], link: str, unit: float, seed: np.random.SeedSequence, *, coarsen: bool = True
) -> Fitted:
    """Of the dense engine: the best restart gives the communities, at the level shown first, all of them the draws.

    ``seed`` is that of the sweeps that say how probable memberships are.
    """
    order = np.argsort([outcome.score for outcome in outcomes], kind="stable")
    best = outcomes[order[0]]
    restarts = [as_draw(outcome.state, unit) for outcome in outcomes]
    path = levels(best.problem, best.state, best.score)
    shown = shown_level(best.problem, path) if coarsen else 0
    states = [state for outcome in outcomes for state in (outcome.draws or [outcome.state])]
    return Fitted(
        link=link,
        response=link,
        draws=[as_draw(state, unit) for state in states],
        restarts=restarts,
        **_communities(as_draw(path[shown].state, unit)),
        objective=best.score,
        history=[line for outcome in outcomes for line in outcome.history],
        n_iter=best.history[-1].step,
        precision=best.problem.law.precision / unit**2,
        notes=_at_bound(best.state, unit, "links there are all present or all absent"),
        **posterior_of_restarts(outcomes, best, path[shown].state, np.random.default_rng(seed)),
        more={
            "converged": best.converged,
            "prior": "counts" if best.problem.counts else "buffet",
            "finest": restarts[order[0]],
            "levels": pack([t.state.z.T for t in path], [t.score for t in path], [t.merged for t in path], shown),
        },
    )


def from_searches(outcomes: list[Any]) -> Fitted:
    """Of the sparse engine: the best search gives the communities, all of them the predictions."""
    from klafter.search.sparse import engine  # which small networks do without

    order = np.argsort([outcome.score for outcome in outcomes], kind="stable")
    best = outcomes[order[0]]
    draws = [engine.draw(outcome.problem, outcome.state) for outcome in outcomes]
    point = draws[order[0]]
    few = point.affinities.shape[0] <= DENSE_AFFINITIES
    numbers, scores = [len(outcome.state.size) for outcome in outcomes], np.array([o.score for o in outcomes])
    return Fitted(
        link="exposure",
        response="rate" if best.problem.counts else "exposure",
        point=point,
        draws=draws,
        restarts=draws,
        memberships=sparse.csr_array(point.memberships, dtype=np.int8),
        affinities=point.affinities.toarray() if few else point.affinities,
        objective=best.score,
        history=[line for outcome in outcomes for line in outcome.history],
        n_iter=best.history[-1].step,
        n_communities_posterior=count_posterior(numbers, np.exp(scores.min() - scores)),
        more={
            "converged": best.converged,
            "background": point.background,
            "prior": "counts" if best.counts else "buffet",
            "links_shared": best.state.shared,
            "degree_prior": _degree_prior(best.problem),
        },
    )


def _degree_prior(problem: Any) -> float | None:
    """The weight a of the prior on degree factors; None where there are none, and at temperature 0."""
    known = problem.temperature > 0.0 and np.isfinite(problem.shrinkage)
    return float(problem.shrinkage / problem.temperature) if known else None


def from_chains(graph: Graph, recipe: Recipe, chains: list[Chain], precision: float, **more: Any) -> Fitted:
    """Of a sampler: the best sweep gives the communities, the draws of all chains the predictions."""
    engine, peaks = recipe.engine, [chain.peak for chain in chains]
    draws = [draw for chain in chains for draw in chain.kept(recipe, graph)]
    density, best = max(peaks, key=lambda peak: peak[0])
    point, memberships = _point(engine, graph, best)
    size = memberships.shape[1]
    sampled = [k for c in chains for k in c.n_communities[c.n_burned :] or c.n_communities[-1:] or [0]]
    trace = {
        recipe.density: _table([chain.density for chain in chains]),
        "n_communities": _table([chain.n_communities for chain in chains]),
    }
    return Fitted(
        link=engine.response,
        response=engine.response,
        point=point,
        draws=draws,
        restarts=[_point(engine, graph, state)[0] for _, state in peaks],
        memberships=memberships,
        affinities=np.asarray(point.affinities)[:size, :size],
        objective=-density,
        history=[line for chain in chains for line in _history(chain)],
        n_iter=max(len(chain.density) for chain in chains),
        precision=precision,
        membership_proba=average_memberships(memberships, (engine.held(draw) for draw in draws)),
        n_communities_posterior=count_posterior(sampled),
        more={
            "chains": chains,
            "trace": trace,
            "n_burned": np.array([chain.n_burned for chain in chains]),
            "sweep_seconds": _table([chain.seconds for chain in chains]),
            **more,
        },
    )


def from_paper(problem: Problem, state: State, history: list[Step]) -> Fitted:
    """Of the published algorithm, which has one restart."""
    point = as_draw(state)
    return Fitted(
        link="logit",
        response="logit",
        draws=[point],
        restarts=[point],
        **_communities(point),
        objective=objective(problem, state),
        history=history,
        n_iter=len(history),
        notes=_at_bound(state, 1.0, "nothing else limits them"),
    )


def _communities(point: LinearDraw) -> dict[str, Any]:
    """A point whose memberships are 0/1, and its communities."""
    memberships = point.memberships.toarray().astype(np.int8)
    return {"point": point, "memberships": memberships, "affinities": np.asarray(point.affinities)}


def _at_bound(state: State, unit: float, meaning: str) -> list[str]:
    if np.abs(state.w).max(initial=0.0) < BOUND - 1e-6:
        return []
    return [f"Some affinities reached the bound of {BOUND * unit:g}: {meaning}."]


def _point(engine: Any, graph: Graph, state: Any) -> tuple[LinearDraw, np.ndarray]:
    """A state as a draw whose first communities are the distinct ones with members, largest first, and those."""
    draw, members = engine.draw(graph, state), engine.communities(state)
    keep = distinct(members)
    order = np.concatenate([keep, np.setdiff1d(np.arange(members.shape[1]), keep)]).astype(np.int64)
    loadings = sparse.csr_array(sparse.csr_array(draw.memberships)[:, order])
    affinities = np.asarray(draw.affinities)[np.ix_(order, order)]
    return draw._replace(memberships=loadings, affinities=affinities), members[:, keep].astype(np.int8)


def _table(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Rows of unequal lengths as an array with NaN beyond their ends."""
    table = np.full((len(rows), max(len(row) for row in rows)), np.nan)
    for line, row in zip(table, rows):
        line[: len(row)] = row
    return table


def _history(chain: Chain) -> list[Step]:
    seconds = chain.start_seconds + np.cumsum(chain.seconds)
    lines = zip(seconds.tolist(), chain.density, chain.n_communities)
    return [Step(chain.run, t + 1, s, -value, size) for t, (s, value, size) in enumerate(lines)]
