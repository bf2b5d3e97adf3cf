"""K-LAFTER: overlapping communities, their number, and missing links, by small moves that lower one objective."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.core.families import FAMILIES, check_values
from klafter.core.problem import Problem, State, make_priors, make_problem
from klafter.graph import Graph
from klafter.jit.compilation import announce_compilation
from klafter.models.checks import check_choice, check_integer, check_memory, check_real
from klafter.models.online import Growing
from klafter.models.paper import PaperKLafter
from klafter.models.results.known import probabilities_of_cover
from klafter.models.results.levels import Level
from klafter.models.results.names import match_last, name_communities
from klafter.models.results.publish import Fitted, from_restarts, from_searches
from klafter.models.storage.checkpoint import MISSING, Store, run_kept
from klafter.sampling.lfrm import as_draw
from klafter.sampling.smoothing import smooth
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.descend import Outcome, Recipe, Task
from klafter.search.progress import Callback, Progress
from klafter.search.restart import rebuilt, restart

log = logging.getLogger("klafter")
DYAD_BYTES = 10  # of the dense engine: memory for each dyad
CHOSEN = "Exposure was taken, which describes this network better than logit; link='logit' asks for that."
LOGIT_ONLY = {
    "n_communities": None,
    "max_communities": None,
    "weight_scale": 3.2,
    "offdiagonal_scale": 1.4,
    "n_smooth": "auto",
}  # parameters that the sparse engine has no use for, with their defaults
EXPOSURE_ONLY = {"degree_prior": 5.0}  # and the dense engine


def by_size(n_nodes: int, choices: tuple[int, ...]) -> int:
    """The choice for a network of some dozens of nodes, of some hundreds, or larger."""
    return choices[(n_nodes > SEARCH.effort.dozens) + (n_nodes > SEARCH.effort.hundreds)]


class KLafter(Growing):
    """Overlapping communities and link prediction by K-LAFTER.

    Minimises the score F = -log p(links, memberships), the weights integrated out by Laplace's method; the number of
    communities is learned. See ``klafter.search.dense.score`` and ``klafter.search.sparse.score`` for the formulas.

    Parameters
    ----------
    family : {"bernoulli", "poisson", "gaussian"}
        What link values are: 0/1, counts, or real numbers.
    link : {"auto", "logit", "cloglog", "exposure"}
        For 0/1 links: "logit" and "cloglog" (p = 1 - exp(-e^x)) use the dense engine, "exposure" the sparse one.
        "auto" takes logit below 300 nodes and exposure beyond 2,500; between them it tries both, and takes the one with
        the lower score. Parameters that only logit has then keep logit.
    penalty : float
        Price of one more community, lambda^2 in the paper.
    temperature : float
        T: 0 is the paper's objective, 1 the log posterior of the latent feature relational model.
    sociality : bool
        Whether every node has its own tendency to link.
    weight_scale, offdiagonal_scale : float
        Standard deviation of affinities inside and between communities. Not for link="exposure".
    degree_prior : float
        Weight a of the prior  a sum(t - 1 - log t)  on degree factors, multiplied by temperature (a thousandth is
        left at temperature 0, so that a node without links keeps a factor above 0). For link="exposure" with
        sociality.
    prior : {"auto", "buffet", "counts"}
        On memberships: the limit of the Indian buffet process, or one that also learns how many communities nodes
        hold. "auto" tries both, and takes the one with the lower score.
    bridges : bool
        Whether the sparse engine, when its search has ended, adds affinities between communities where they lower the
        objective. The dense engine has them all.
    structure : float or "auto"
        What the structural expert counts beside the model in predictions of links. "auto" learns its weight, that of
        the model, and whether probabilities are too timid, from visible links that each are predicted without
        themselves. A number is the weight in the mean of log odds; 0 leaves the model alone.
    n_init : int or "auto"
        Restarts: the one with the lowest score gives the communities, predictions average all. The two best go on by
        row resets and by rebuilding communities. On small networks each restart begins several times.
        "auto" makes twelve up to 500 nodes (eight up to 50, six with link="exposure") and four beyond. From 5,000
        nodes on there is one.
    n_smooth : int or "auto"
        Sweeps of the posterior that predictions average in each restart, the scales of affinities and the price of
        communities drawn along, in every second restart without sociality; 0 turns them off. They begin with more
        communities than the optimum has; where they have sociality the search tries once more from where they end.
        "auto" makes 120 up to 500 nodes and 240 beyond. Not for link="exposure", which has no sweeps.
    n_communities : int, optional
        Fixes the number of communities (some may still lose all members). Not for link="exposure".
    max_communities : int, optional
        Most communities to look for. Not for link="exposure".
    tol : float
        Relative fall of the score below which a restart has converged.
    max_iter : int
        Most rounds of moves in a restart.
    warm_start : bool
        Whether the first restart of ``fit`` continues from the last fit's communities, if the link is the same and
        their number is allowed; of the sparse engine with its bridges, if there are any. The nodes must be those of
        the last fit.
    n_jobs : int, optional
        Restarts run side by side: None is 1, -1 all cores. The result does not depend on it.
    random_state : int, optional
        The same seed gives the same result.

    Attributes
    ----------
    memberships_ : (n, K) array of 0/1
    membership_proba_ : (n, K) array, sparse where ``memberships_`` is
        P(z_ik = 1 | links). Of the dense engine: sweeps of the restarts, their communities matched to those shown,
        and, for a third of the weight, a short chain that keeps the communities and draws their members; at
        temperature 0 the memberships. Of the sparse engine: the probability given all other memberships.
    n_communities_posterior_ : dict of arrays ``n_communities`` and ``probability``
        How many communities the sweeps have (of the buffet's posterior; those with sociality); see
        ``n_communities_interval``. Of the sparse engine: the searches, weighed by exp(-objective).
    community_names_ : list of str
        After over-represented attribute values, else the two most central members.
    affinities_ : (K, K) array
    n_communities_ : int
    objective_ : float
        The score F of the best cover; at temperature 0 the objective Q of the paper.
    prior_ : str
        The prior on memberships that was used.
    history_ : list of Step(run, step, seconds, objective, n_communities)
    n_iter_ : int
    link_ : str
        The link that was used.
    labels_in_ : array or None

    Examples
    --------
    >>> import klafter as kl
    >>> from klafter.datasets import load_les_miserables
    >>> model = kl.KLafter(n_init=2, n_smooth=30, random_state=0).fit(load_les_miserables())
    >>> model.n_communities_ >= 2
    True
    """

    def __init__(
        self,
        *,
        family: str = "bernoulli",
        link: str = "auto",
        penalty: float = 0.0,
        temperature: float = 1.0,
        sociality: bool = True,
        weight_scale: float = 3.2,
        offdiagonal_scale: float = 1.4,
        degree_prior: float = 5.0,
        prior: str = "auto",
        bridges: bool = True,
        structure: float | str = "auto",
        n_init: int | str = "auto",
        n_smooth: int | str = "auto",
        n_communities: int | None = None,
        max_communities: int | None = None,
        tol: float = 1e-4,
        max_iter: int = 20,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.link = link
        self.penalty = penalty
        self.temperature = temperature
        self.sociality = sociality
        self.weight_scale = weight_scale
        self.offdiagonal_scale = offdiagonal_scale
        self.degree_prior = degree_prior
        self.prior = prior
        self.bridges = bridges
        self.structure = structure
        self.n_init = n_init
        self.n_smooth = n_smooth
        self.n_communities = n_communities
        self.max_communities = max_communities
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    @staticmethod
    def paper(penalty: float = 0.5, n_communities: int = 1, **options: Any) -> PaperKLafter:
        """The algorithm of the paper, nothing added: see ``PaperKLafter``.

        Parameters
        ----------
        penalty : float
            lambda^2, the price of one more community.
        n_communities : int
            How many it starts with.
        **options
            Further parameters of ``PaperKLafter``.
        """
        return PaperKLafter(penalty=penalty, n_communities=n_communities, **options)

    def _check_parameters(self, graph: Graph) -> None:
        check_choice(self, "family", ("bernoulli", "poisson", "gaussian"))
        check_choice(self, "link", ("auto", "logit", "cloglog", "exposure"))
        check_choice(self, "prior", ("auto", "counts", "buffet"))
        check_choice(self, "bridges", (True, False))
        for name in ("temperature", "tol"):
            check_real(self, name, low=0.0)
        check_real(self, "structure", low=0.0, or_else="auto")
        for name in ("weight_scale", "offdiagonal_scale", "degree_prior"):
            check_real(self, name, low=0.0, strict=True)
        check_real(self, "penalty")
        for name, least in (("n_init", 1), ("n_smooth", 0)):
            if getattr(self, name) != "auto":
                check_integer(self, name, least, or_else='"auto"')
        check_integer(self, "max_iter", 1)
        check_integer(self, "n_communities", 1, optional=True)
        check_integer(self, "max_communities", 1, optional=True)
        if graph.n_nodes < 2:
            raise ValueError(f"{type(self).__name__} needs at least two nodes; this graph has {graph.n_nodes}.")
        check_values(FAMILIES[self.family], graph.links.data, type(self).__name__)

    def _link(self, graph: Graph) -> str:
        """The link that fits the family and the size."""
        own = {"bernoulli": "logit", "poisson": "log", "gaussian": "identity"}[self.family]
        if self.link in ("logit", "cloglog"):
            if self.family != "bernoulli":
                raise ValueError(
                    f'link="{self.link}" needs family="bernoulli"; it is {self.family!r}. Use link="auto".'
                )
            own = self.link
        large = graph.n_nodes > SEARCH.effort.dense_limit
        if self.link == "exposure" or (self.link == "auto" and large):
            self._check_sparse(graph)
            return "exposure"
        if not self._may_choose(graph):
            self._check_dense()
        if large:
            check_memory(
                DYAD_BYTES * float(graph.n_nodes) ** 2,
                f"The dense engine on {graph.n_nodes:,} nodes",
                "Use link='exposure' for 0/1 links or counts, or fewer nodes.",
            )
            hours = 0.05 * self._n_runs(graph.n_nodes) * (graph.n_nodes / SEARCH.effort.dense_limit) ** 2
            log.warning(
                "The dense engine will take about %.1f hours on %d nodes; link='exposure' takes minutes.",
                hours,
                graph.n_nodes,
            )
        return own

    def _changed(self, defaults: dict[str, Any]) -> list[str]:
        """Those of some parameters that are not at their defaults, with their values."""
        return [f"{name}={getattr(self, name)!r}" for name, value in defaults.items() if getattr(self, name) != value]

    def _check_sparse(self, graph: Graph) -> None:
        """Refuse what the sparse engine cannot take."""
        if self.family == "gaussian" or graph.covariates:
            raise ValueError(
                f"A graph of {graph.n_nodes} nodes, or link='exposure', uses the sparse engine, which takes 0/1 or "
                "count links and no covariates. Use link='logit' for a smaller graph."
            )
        if changed := self._changed(LOGIT_ONLY):
            raise ValueError(
                f"A graph of {graph.n_nodes} nodes, or link='exposure', uses the sparse engine, which has no use for "
                f"{', '.join(changed)}. Leave {'it at its default' if len(changed) == 1 else 'them at their defaults'} "
                "(a higher penalty gives fewer communities), or use link='logit' for a smaller graph."
            )

    def _check_dense(self) -> None:
        """Refuse what the dense engine has no use for."""
        if changed := self._changed(EXPOSURE_ONLY):
            raise ValueError(
                f"{', '.join(changed)} is for link='exposure', and this fit uses the dense engine. "
                "Leave it at its default, or use link='exposure'."
            )

    def _problem(self, graph: Graph) -> tuple[Problem, float]:
        """The problem in the units of the engine, and the unit of link values."""
        family = FAMILIES["cloglog" if self.link == "cloglog" else self.family]
        unit = 1.0
        if family.quadratic and graph.n_links:
            unit = float(np.sqrt((graph.links.data**2).sum() / max(graph.links.nnz, 1))) or 1.0
            graph = graph.replace(links=graph.links / unit)
        priors = make_priors(self.penalty, self.temperature, self.weight_scale, self.offdiagonal_scale)
        return make_problem(graph, family.law(), priors, sociality=self.sociality), unit

    def _n_runs(self, n_nodes: int, runs: tuple[int, ...] = SEARCH.effort.restarts) -> int:
        """Restarts: predictions gain from each, and small networks can afford them."""
        return by_size(n_nodes, runs) if self.n_init == "auto" else int(self.n_init)

    def _recipe(self, n_nodes: int) -> Recipe:
        most = 2**31 if self.max_communities is None else self.max_communities
        max_draws = max(SEARCH.effort.fewest_draws, SEARCH.effort.kept_nodes // n_nodes)
        n_smooth = by_size(n_nodes, SEARCH.effort.sweeps) if self.n_smooth == "auto" else int(self.n_smooth)
        return Recipe(self.n_communities, most, self.max_iter, self.tol, n_smooth, max_draws)

    def _fit(
        self,
        graph: Graph,
        seeds: np.random.SeedSequence,
        callback: Callback,
        client: Any,
        previous: Graph | None,
    ) -> Fitted:
        link, stop, found = self._link(graph), threading.Event(), None
        if link == "logit" and client is None and self._may_choose(graph):
            if self.warm_start and previous is not None:
                link = "exposure" if isinstance(self.point_, ExposureDraw) else link
            elif found := self._exposure_if_better(graph, seeds, callback, stop):
                link = "exposure"
        point = self._warm_point(graph, previous, link)
        if link == "exposure":
            begin = point if isinstance(point, ExposureDraw) else None
            fitted = self._fit_large(graph, seeds, callback, client, begin, found, stop)
            return fitted.noting(CHOSEN) if found else fitted
        problem, unit = self._problem(graph)
        warm = None
        if isinstance(point, LinearDraw) and previous is not None:
            warm = self._warm_state(graph, previous, point, unit)
        n_runs, recipe = self._n_runs(graph.n_nodes), self._recipe(graph.n_nodes)
        tasks = [
            Task(r, n_runs, seed, warm if r == 0 else None, self._counts(r, warm=r == 0 and warm is not None))
            for r, seed in enumerate(seeds.spawn(n_runs))
        ]
        with announce_compilation():
            job, inward = partial(_job, problem, recipe, callback), partial(_restored, problem)
            kept = run_kept(self._store, "restart", job, tasks, self.n_jobs, client, stop, outward=_bare, inward=inward)
            outcomes = list(kept.values())
            has_price = self.temperature > 0.0 or self.penalty > 0.0  # else more communities are always better
            if self.n_communities is None and has_price and not stop.is_set():
                self._rebuild(
                    tasks,
                    outcomes,
                    seeds.spawn(SEARCH.effort.finalists),
                    partial(rebuilt, recipe, callback),
                    client,
                    stop,
                )
        coarsen = self.n_communities is None and self.temperature > 0.0
        return from_restarts(outcomes, link, unit, seeds.spawn(1)[0], coarsen=coarsen)

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

    def _may_choose(self, graph: Graph) -> bool:
        """Whether ``link="auto"`` may try both links: either engine must be able to, and quick enough."""
        able = self.family == "bernoulli" and not graph.covariates and self.temperature > 0.0
        return (
            self.link == "auto"
            and able
            and graph.n_nodes >= SEARCH.effort.choice_from
            and not self._changed(LOGIT_ONLY)
        )

    def _exposure_if_better(
        self, graph: Graph, seeds: np.random.SeedSequence, callback: Callback, stop: threading.Event
    ) -> Any:
        from klafter.search import choose_link as linking  # the sparse engine, which small networks do without
        from klafter.search.sparse import fit as large

        n_runs, recipe = self._n_runs(graph.n_nodes), self._recipe(graph.n_nodes)

        def tell(progress: Progress) -> Any:
            return callback(progress._replace(stage="choosing", n_runs=n_runs))

        with announce_compilation():
            rival = linking.Rival(self._problem(graph)[0], recipe._replace(n_smooth=0))
            settings = self._sparse_settings()
            if (kept := self._store.get("choice")) is not MISSING:
                return None if kept is None else large.restored(large.problem_of(settings, graph), kept)
            found = linking.search_if_better(graph, settings, rival, seeds, tell, stop)
            if not stop.is_set():
                self._store.put("choice", None if found is None else large.bare(found))
            return found

    def _fit_large(
        self,
        graph: Graph,
        seeds: np.random.SeedSequence,
        callback: Callback,
        client: Any,
        point: ExposureDraw | None,
        found: Any,
        stop: threading.Event,
    ) -> Fitted:
        """One search on a large graph, n_init on a small one; threads work inside each, or a cluster.

        What was ``found`` already is the first.
        """
        from klafter.models import distributed
        from klafter.search.sparse import fit as large  # the sparse engine, which small networks do without

        if client is not None:
            return self._with_posterior(distributed.fit_graph(self, graph, seeds, callback, client), graph)
        n_runs = (
            self._n_runs(graph.n_nodes, SEARCH.effort.sparse_restarts)
            if graph.n_nodes <= SEARCH.effort.several_limit
            else 1
        )
        with announce_compilation():
            tasks = [large.Task(r, n_runs, seed, None if r else point) for r, seed in enumerate(seeds.spawn(n_runs))]
            outcomes = [] if found is None else [found]
            if not outcomes or not stop.is_set():
                settings, store = self._sparse_settings(), self._store
                kept = run_kept(
                    store, "search", partial(_search, settings, graph, callback, store), tasks[len(outcomes) :],
                    stop=stop, outward=large.bare,
                    inward=lambda task, saved: large.restored(large.problem_of(settings, graph), saved),
                )  # fmt: skip
                outcomes += kept.values()
        return self._with_posterior(from_searches(outcomes), graph)

    def _prediction_draws(self) -> Sequence[Draw]:
        """Of the sparse engine, which runs no chain around its optimum, the probabilities of memberships."""
        if not isinstance(self.point_, ExposureDraw):
            return self.draws_
        if self._posterior_draws is None:
            from klafter.search.sparse import fit as large

            draws = [draw for draw in self.draws_ if isinstance(draw, ExposureDraw)]
            self._posterior_draws = large.posterior_draws(self._sparse_settings(), self.graph_, draws)
        return self._posterior_draws

    def _warm_point(self, graph: Graph, previous: Graph | None, link: str) -> Draw | None:
        """The last fit's optimum, if warm_start is set and this engine can begin there; the nodes must be the same."""
        if not self.warm_start or previous is None:
            return None
        if previous.n_nodes != graph.n_nodes or previous.directed != graph.directed:
            old, new = (f"{g.n_nodes} nodes, {'directed' if g.directed else 'undirected'}" for g in (previous, graph))
            raise ValueError(
                f"warm_start needs the nodes of the last fit: it had {old}; this is {new}. Use warm_start=False."
            )
        begin, sparse = self._optimum(), link == "exposure"
        size = begin.memberships.shape[1]
        fits = isinstance(begin, ExposureDraw) == sparse  # a point of the engine that is to begin there
        if fits and not sparse:
            fits = size == self.n_communities if self.n_communities else size <= (self.max_communities or size)
        return begin if fits else None

    def _optimum(self) -> Draw:
        """The cover with the lowest score, which may be finer than the one that is shown."""
        return getattr(self, "finest_", self.point_)

    def _level_attributes(self, level: Level) -> dict[str, Any]:
        """Weights, probabilities and names for the cover of another level of the dense engine."""
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
        """Memberships of the draws that are sweeps of the model itself, see ``known.social_draws``."""
        if self.n_smooth == 0 or self.temperature == 0.0:
            return []
        draws = [draw for draw in self.draws_ if isinstance(draw, LinearDraw)]
        return [draw.memberships for draw in draws if not self.sociality or np.any(draw.sender)]

    def _warm_state(self, graph: Graph, previous: Graph, point: LinearDraw, unit: float) -> State:
        """The last optimum as a start of the dense engine; what it does not know yet begins at 0."""
        z = np.ascontiguousarray(point.memberships.toarray().T.astype(np.uint8))
        sender, receiver = (np.asarray(side) / unit * self.sociality for side in (point.sender, point.receiver))
        known = dict(zip(previous.covariates, np.asarray(point.coefficients)))
        coefficients = np.array([known.get(name, 0.0) for name in graph.covariates]) / unit
        return State(
            z, point.affinities / unit, np.array([point.offset / unit]), sender,
            receiver if graph.directed else sender, coefficients,
        )  # fmt: skip


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


def _search(settings: Any, graph: Graph, callback: Callback, store: Store, task: Any, stop: threading.Event) -> Any:
    """A search that goes on from where it was, and keeps where it stands after every step."""
    from klafter.search.sparse import fit as large

    key = f"step.{task.run}"
    saved = store.get(f"{key}.state")
    stand = None if saved is MISSING else large.Stand(*saved)
    return large.search(settings, graph, callback, task, stop, stand, partial(store.state, key))
