"""Fits by the dense engine: restarts, finalists, warm starts, and the levels of what was found."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.core.families import FAMILIES
from klafter.core.problem import Problem, State, make_priors, make_problem
from klafter.graph import Graph
from klafter.graph.pair_columns import PairColumn, asked_kinds
from klafter.jit.compilation import announce_compilation
from klafter.models.base import Run
from klafter.models.engines.choice import LinkChoice, by_size
from klafter.models.engines.refits import learn_weights
from klafter.models.results.effects import attribute_effects
from klafter.models.results.levels import Level
from klafter.models.results.names import match_last, name_communities
from klafter.models.results.posterior import probabilities_of_cover
from klafter.models.results.publish import Fitted, from_restarts
from klafter.models.storage.checkpoint import run_kept
from klafter.sampling.lfrm import as_draw
from klafter.sampling.smoothing import smooth
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.descend import Outcome, Recipe, Task
from klafter.search.progress import Callback
from klafter.search.restart import rebuilt, restart


class DenseFit(LinkChoice):
    """What ``KLafter`` does on graphs whose dyads can all be visited."""

    prior: str
    structure: float | str
    attributes: Any

    def _problem(self, graph: Graph) -> tuple[Problem, float]:
        """The problem in the units of the engine, and the unit of link values."""
        family = FAMILIES["cloglog" if self.link == "cloglog" else self.family]
        unit = self._unit(graph)
        if self.attributes:
            known = self._covariates(graph).items()
            full = {name: v.matrix() if isinstance(v, PairColumn) else v for name, v in known}
            graph = graph.replace(covariates=full)
        if unit != 1.0:
            graph = graph.replace(links=graph.links / unit)
        priors = make_priors(self.penalty, self.temperature, self.weight_scale, self.offdiagonal_scale)
        return make_problem(graph, family.law(), priors, sociality=self.sociality, selects=True), unit

    def _unit(self, graph: Graph) -> float:
        """The unit of link values: of real numbers their root mean square."""
        if not FAMILIES[self.family].quadratic or not graph.n_links:
            return 1.0
        return float(np.sqrt((graph.links.data**2).sum() / max(graph.links.nnz, 1))) or 1.0

    def _recipe(self, n_nodes: int) -> Recipe:
        # large counts would have more communities than nodes: each difference of a thousandth is sure
        most = max(n_nodes, self.n_communities or 0) if self.max_communities is None else self.max_communities
        max_draws = max(SEARCH.effort.fewest_draws, SEARCH.effort.kept_nodes // n_nodes)
        n_smooth = by_size(n_nodes, SEARCH.effort.sweeps) if self.n_smooth == "auto" else int(self.n_smooth)
        return Recipe(self.n_communities, most, self.max_iter, self.tol, n_smooth, max_draws)

    def _restart_all(
        self, graph: Graph, run: Run, point: Draw | None, stop: threading.Event, start: State | None = None
    ) -> list[Outcome]:
        """Restarts side by side; the best ones go on by rebuilding communities.

        Of many nodes the first begins at ``start``, where the choice of the link came; of fewer it begins anew.
        """
        problem, unit = self._problem(graph)
        warm = None
        if isinstance(point, LinearDraw) and run.previous is not None:
            warm = self._warm_state(graph, run.previous, point, unit)
        n_runs, recipe = self._n_runs(graph.n_nodes), self._recipe(graph.n_nodes)
        first = start if warm is None and graph.n_nodes > SEARCH.effort.hundreds else warm
        tasks = [
            Task(r, n_runs, seed, first if r == 0 else None, self._counts(r, warm=r == 0 and warm is not None))
            for r, seed in enumerate(run.seeds.spawn(n_runs))
        ]
        with announce_compilation():
            job, inward = partial(_job, problem, recipe, run.callback), partial(_restored, problem)
            kept = run_kept(
                self._store, "restart", job, tasks, self.n_jobs, run.client, stop, outward=_bare, inward=inward
            )
            outcomes = list(kept.values())
            has_price = self.temperature > 0.0 or self.penalty > 0.0  # else more communities are always better
            if self.n_communities is None and has_price and not stop.is_set():
                self._rebuild(
                    tasks,
                    outcomes,
                    run.seeds.spawn(by_size(graph.n_nodes, SEARCH.effort.finalists)),
                    partial(rebuilt, recipe, run.callback),
                    run.client,
                    stop,
                )
        return outcomes

    def _fit_dense(self, graph: Graph, run: Run, link: str, outcomes: list[Outcome], stop: threading.Event) -> Fitted:
        """What restarts found, its levels, and what structure and attributes count."""
        unit, coarsen = self._unit(graph), self.n_communities is None and self.temperature > 0.0
        fitted = from_restarts(outcomes, link, unit, run.seeds.spawn(1)[0], coarsen=coarsen)
        if self.structure == "auto":
            with announce_compilation():
                weights = learn_weights(self, graph, run, link, self._recipe(graph.n_nodes), stop)
            fitted = fitted if weights is None else fitted.with_more(blend_weights=weights)
        if self.n_communities is not None and (left := self.n_communities - fitted.memberships.shape[1]):
            fitted = fitted.noting(f"{left} of the {self.n_communities} communities asked for lost all members.")
        return self._with_effects(fitted, graph, outcomes, unit) if self.attributes else fitted

    def _with_effects(self, fitted: Fitted, graph: Graph, outcomes: list[Outcome], unit: float) -> Fitted:
        """What was found, and how much attributes count."""
        names = [name for name in self._covariates(graph) if name not in graph.covariates]
        effects = attribute_effects(names, outcomes, unit, fitted.link)
        note = f"Communities are what attributes do not explain ({', '.join(asked_kinds(self.attributes))})."
        return fitted.with_more(attribute_effects=effects).noting(note)

    def _counts(self, run: int, *, warm: bool = False) -> bool:
        """Whether a restart learns how many communities a node holds: where the score is to choose, every second.

        One that goes on from the last fit keeps the prior that was chosen there.
        """
        if self.prior != "auto":
            return self.prior == "counts"
        return getattr(self, "prior_", "buffet") == "counts" if warm else run % 2 == 0

    def _rebuild(
        self,
        tasks: list[Task],
        outcomes: list[Outcome],
        seeds: list[np.random.SeedSequence],
        job: Callable[..., Outcome],
        client: Any,
        stop: threading.Event,
    ) -> None:
        """The best restarts try to rebuild some of their communities; what they find takes their place."""
        order = np.argsort([outcome.score for outcome in outcomes], kind="stable").tolist()
        best = finalists(outcomes, order, len(seeds))
        pairs = [(tasks[r]._replace(seed=seed), outcomes[r]) for r, seed in zip(best, seeds)]
        with suppress(KeyboardInterrupt):  # what the restarts found is kept
            kept = run_kept(
                self._store, "rebuilt", job, pairs, self.n_jobs, client, stop,
                outward=_bare, inward=lambda pair, saved: _restored(pair[1].problem, pair[0], saved),
            )  # fmt: skip
            for t, outcome in kept.items():
                outcomes[best[t]] = outcome

    def _warm_state(self, graph: Graph, previous: Graph, point: LinearDraw, unit: float) -> State:
        """The last optimum as a start of the dense engine; what it does not know yet begins at 0."""
        z = np.ascontiguousarray(point.memberships.toarray().T.astype(np.uint8))
        sender, receiver = (np.asarray(side) / unit * self.sociality for side in (point.sender, point.receiver))
        columns = getattr(self, "attribute_effects_", {"name": []})["name"]  # of the last fit: new nodes may add some
        known = dict(zip([*previous.covariates, *columns], np.asarray(point.coefficients)))
        coefficients = np.array([known.get(name, 0.0) for name in self._covariates(graph)]) / unit
        return State(
            z, point.affinities / unit, np.array([point.offset / unit]), sender,
            receiver if graph.directed else sender, coefficients,
        )  # fmt: skip

    def _level_attributes(self, level: Level) -> dict[str, Any]:
        """Weights, probabilities and names for the cover of another level."""
        if isinstance(self.point_, ExposureDraw):
            return super()._level_attributes(level)
        problem, unit = self._problem(self.graph_)
        precision = self.precision_ * unit**2
        law = problem.law._replace(precision=precision) if problem.law.quadratic else problem.law
        problem = problem._replace(law=law, counts=self.prior_ == "counts")
        z = level.memberships.toarray().astype(np.uint8)
        with announce_compilation():
            state = dense.init(problem, None, np.ascontiguousarray(z.T))
            rng = np.random.default_rng(level.n_communities)
            covers, finest = self._sweeps(), self.finest_.memberships.toarray()
            probabilities = probabilities_of_cover(problem, state, covers, finest, rng)
        point = as_draw(state, unit)
        rows = np.arange(len(z))
        same = match_last(self.memberships_, z, (rows, rows))
        names = {k: self.community_names_[was] for k, was in same.items()}
        return {
            "point_": point,
            "memberships_": z.astype(np.int8),
            "membership_proba_": probabilities,
            "affinities_": np.asarray(point.affinities),
            "n_communities_": level.n_communities,
            "objective_": level.score,
            "community_names_": name_communities(self.graph_, z, names),
        }

    def _sweeps(self) -> list[Any]:
        """Memberships of the draws that are sweeps of the model itself, see ``posterior.social_draws``."""
        if self.n_smooth == 0 or self.temperature == 0.0:
            return []
        draws = [draw for draw in self.draws_ if isinstance(draw, LinearDraw)]
        return [draw.memberships for draw in draws if not self.sociality or np.any(draw.sender)]


def finalists(outcomes: list[Outcome], order: list[int], size: int) -> list[int]:
    """The best restarts, among them the best of either prior."""
    firsts = {outcomes[r].problem.counts: r for r in reversed(order)}
    return sorted(order, key=lambda r: (r not in firsts.values(), order.index(r)))[:size]


def _job(problem: Problem, recipe: Recipe, callback: Callback, task: Task, stop: threading.Event | None) -> Outcome:
    return restart(problem._replace(counts=task.counts), recipe, task, callback, stop, smooth)


def _bare(outcome: Outcome) -> tuple[Any, ...]:
    """An outcome without the data: of its problem only the precision and the prior are its own."""
    problem = outcome.problem
    return (*outcome._replace(problem=None), problem.law.precision, problem.counts)  # type: ignore[arg-type]


def _restored(problem: Problem, task: Task, saved: list[Any]) -> Outcome:
    """The outcome that was kept, with the problem it is of."""
    state, _, *rest, precision, counts = saved
    law = problem.law._replace(precision=precision)
    return Outcome(state, problem._replace(law=law, counts=counts), *rest)
