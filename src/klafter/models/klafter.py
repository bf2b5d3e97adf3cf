"""K-LAFTER: overlapping communities, their number, and missing links, by small moves that lower one objective."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from klafter.core.draws import Draw, ExposureDraw
from klafter.core.families import FAMILIES, check_values
from klafter.graph import Graph
from klafter.graph.pair_columns import pair_columns
from klafter.jit.compilation import announce_compilation
from klafter.models.base import Run
from klafter.models.checks import (
    MOST,
    MOST_RUNS,
    check_choice,
    check_family,
    check_integer,
    check_nodes,
    check_real,
    check_scale,
)
from klafter.models.engines.dense import DenseFit
from klafter.models.engines.sparse import SparseFit
from klafter.models.paper import PaperKLafter
from klafter.models.results.publish import Fitted
from klafter.models.storage.checkpoint import MISSING
from klafter.search.progress import Callback, Progress

CHOSEN = "Exposure was taken, which describes this network better than logit; link='logit' asks for that."


class KLafter(DenseFit, SparseFit):
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
    attributes : list of names, or mapping of name to "category" or "number", optional
        Attributes of nodes that make links likelier between nodes that are alike: the same category, or numbers that
        are near. Communities are then what attributes do not explain. Text is a category and numbers are numbers
        unless the mapping says otherwise; see ``klafter.graph.pair_columns`` for the columns and for what is unknown.
        Coefficients have the prior N(0, 3^2); sweeps may leave them at 0, which has probability 1/2. Not for
        link="exposure".
    weight_scale, offdiagonal_scale : float
        Standard deviation of affinities inside and between communities. Not for link="exposure".
    degree_prior : float or "auto"
        Weight a of the prior  a sum(t - 1 - log t)  on degree factors, multiplied by temperature (a thousandth is
        left at temperature 0, so that a node without links keeps a factor above 0). "auto" learns it by the score, but
        on a cluster and at temperature 0. For link="exposure" with sociality.
    prior : {"auto", "buffet", "counts"}
        On memberships: the limit of the Indian buffet process, or one that also learns how many communities nodes
        hold. "auto" tries both, and takes the one with the lower score.
    bridges : bool
        Whether the sparse engine, when its search has ended, adds affinities between communities where they lower the
        objective. The dense engine has them all; of a two-mode network the sparse engine has none.
    structure : float or "auto"
        What the structural expert counts beside the model in predictions of links. "auto" learns its weight, that of
        the model, and whether probabilities are too timid: from quick refits to folds of the visible dyads,
        which take up to a third of the time of a default fit, or, of the sparse engine and without sweeps, from visible
        links that each are predicted without themselves. A number is the weight in the mean of log odds; 0 leaves
        the model alone.
    n_init : int or "auto"
        Restarts: the one with the lowest score gives the communities, predictions average all. The best ones,
        two up to 150 nodes and three beyond, go on by row resets and by rebuilding communities. On small networks each
        restart begins several times.
        "auto" makes twelve up to 150 nodes, six up to 500 and three beyond (four with link="exposure"). The sparse
        engine makes one beyond 5,000 nodes.
    n_smooth : int or "auto"
        Sweeps of the posterior that predictions average in each chain of a restart, the scales of affinities and the
        price of communities drawn along; 0 turns them off. They begin with more communities than the optimum has. Up
        to 150 nodes a restart has one chain, every second restart one without sociality, and the search tries once
        more from where those with it end; beyond, every restart has both.
        "auto" makes 120 up to 150 nodes, 60 up to 500 and 50 beyond. Not for link="exposure", which has no sweeps.
    n_communities : int, optional
        Fixes the number of communities; some may still lose all members, which a note says. Not for
        link="exposure".
    max_communities : int, optional
        Most communities to look for; by default as many as nodes. Not for link="exposure".
    tol : float
        Relative fall of the score below which a restart has converged.
    max_iter : int
        Most rounds of moves in a restart.
    warm_start : bool
        Whether the first restart of ``fit`` continues from the last fit's communities, if the link is the same and
        their number is allowed; of the sparse engine with its bridges, if there are any. The nodes must be those of
        the last fit.
    n_jobs : int, optional
        Restarts run side by side: None is 1, -1 all cores. The one search of a large network has threads: None is all
        cores beyond 500,000 links. The result does not depend on it.
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
    degree_prior_ : float or None
        Of the sparse engine: the weight of the prior on degree factors that was used.
    links_shared_ : bool
        Of the sparse engine: whether nodes share their links among their communities, by the score.
    attribute_effects_ : dict of columns, if there are ``attributes``
        ``name``, ``coefficient`` (log odds, or what x is of), ``standard_error``, ``low`` and ``high`` of the 90%
        interval, and ``odds_ratio``. ``pandas.DataFrame(model.attribute_effects_)`` is a table.
    history_ : list of Step(run, step, seconds, objective, n_communities)
    n_iter_ : int
    link_ : str
        The link that was used.
    blend_weights_ : (3,) array
        a, b, c of  log odds = a + b model + c expert,  where refits have learned them (structure="auto").
    labels_in_ : array or None
    labels_ : (n,) array
        One community for each node, see ``partition``.
    stability_ : (K,) array or None
        How well each community was found again by the other restarts.
    graph_ : Graph
        The network of the fit.
    notes_ : list of str
        What the fit decided or warns of, in sentences.
    converged_ : bool
        Whether the restart that gave the communities ended before ``max_iter``.
    fit_seconds_ : float

    Examples
    --------
    >>> import klafter as kl
    >>> from klafter.datasets import load_les_miserables
    >>> model = kl.KLafter(n_init=2, n_smooth=30, random_state=0).fit(load_les_miserables())
    >>> model.n_communities_ >= 2
    True
    """

    converged_: bool
    prior_: str
    links_shared_: bool
    degree_prior_: float | None
    attribute_effects_: dict[str, Any]
    blend_weights_: np.ndarray

    def __init__(
        self,
        *,
        family: str = "bernoulli",
        link: str = "auto",
        penalty: float = 0.0,
        temperature: float = 1.0,
        sociality: bool = True,
        attributes: Any = None,
        weight_scale: float = 3.2,
        offdiagonal_scale: float = 1.4,
        degree_prior: float | str = "auto",
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
        self.attributes = attributes
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

        Returns
        -------
        PaperKLafter
        """
        return PaperKLafter(penalty=penalty, n_communities=n_communities, **options)

    def _check_parameters(self, graph: Graph) -> None:
        check_family(self)
        check_choice(self, "link", ("auto", "logit", "cloglog", "exposure"))
        check_choice(self, "prior", ("auto", "counts", "buffet"))
        for name in ("bridges", "sociality", "warm_start"):
            check_choice(self, name, (True, False))
        for name in ("temperature", "tol"):
            check_real(self, name, low=0.0)
        check_real(self, "structure", low=0.0, or_else="auto")
        for name in ("weight_scale", "offdiagonal_scale"):
            check_scale(self, name)
        check_real(self, "degree_prior", low=0.0, strict=True, or_else="auto")
        check_real(self, "penalty")
        for name, least, most in (("n_init", 1, MOST_RUNS), ("n_smooth", 0, MOST)):
            if not isinstance(getattr(self, name), str) or getattr(self, name) != "auto":
                check_integer(self, name, least, most, or_else='"auto"')
        check_integer(self, "max_iter", 1)
        check_integer(self, "n_communities", 1, optional=True)
        check_integer(self, "max_communities", 1, optional=True)
        check_nodes(self, graph.n_nodes)
        if self.n_communities is not None and self.n_communities > graph.n_nodes:
            raise ValueError(
                f"{type(self).__name__} looks for no more communities than there are nodes, {graph.n_nodes}; "
                f"n_communities is {self.n_communities}. Ask for fewer, or leave it out."
            )
        check_values(FAMILIES[self.family], graph.links.data, type(self).__name__)
        self._covariates(graph)

    def _covariates(self, graph: Graph) -> dict[str, Any]:
        columns = pair_columns(graph, self.attributes)
        if both := [name for name in columns if name in graph.covariates]:
            raise ValueError(f"attributes make a column {both[0]!r}, the name of a covariate. Give that another name.")
        return {**graph.covariates, **columns}

    def _fit(self, graph: Graph, run: Run) -> Fitted:
        link, stop, found, start = self._link(graph), threading.Event(), None, None
        if link == "logit" and run.client is None and self._may_choose(graph):
            if self.warm_start and run.previous is not None:
                link = "exposure" if isinstance(self.point_, ExposureDraw) else link
            else:
                found, start = self._choice(graph, run.seeds, run.callback, stop)
                link = "exposure" if start is None else link
        point = self._warm_point(graph, run.previous, link)
        if link == "exposure":
            begin = point if isinstance(point, ExposureDraw) else None
            fitted = self._fit_sparse(graph, run, begin, found, stop)
            return fitted.noting(CHOSEN) if found else fitted
        outcomes = self._restart_all(graph, run, point, stop, start)
        if found and (below := self._searches_below(outcomes, graph, run, found, stop)):
            return self._of_searches(graph, below).noting(CHOSEN)
        return self._fit_dense(graph, run, link, outcomes, stop)

    def _choice(
        self, graph: Graph, seeds: np.random.SeedSequence, callback: Callback, stop: threading.Event
    ) -> tuple[Any, Any]:
        """What the sparse engine found and, if the dense one is better, where that may go on."""
        from klafter.search import choose_link as linking  # the sparse engine, which small networks do without
        from klafter.search.sparse import fit as sparse_fit

        n_runs, recipe = self._n_runs(graph.n_nodes), self._recipe(graph.n_nodes)

        def report(progress: Progress) -> Any:
            return callback(progress._replace(stage="choosing", n_runs=n_runs))

        with announce_compilation():
            setup = linking.DenseSetup(self._problem(graph)[0], recipe._replace(n_smooth=0))
            settings = self._sparse_settings()
            if (kept := self._store.get("choice")) is not MISSING:
                found, start = kept
                return sparse_fit.restored(sparse_fit.problem_of(settings, graph), found), start
            found, start = linking.choose(graph, settings, setup, seeds, report, stop)
            if not stop.is_set():
                self._store.put("choice", (sparse_fit.bare(found), start))
            return found, start

    def _searches_below(
        self, outcomes: list[Any], graph: Graph, run: Run, found: Any, stop: threading.Event
    ) -> list[Any] | None:
        """All sparse searches, where dense restarts ended close to the first of them and those end below."""
        from klafter.search import choose_link as linking

        least = min(outcome.score for outcome in outcomes)
        if stop.is_set() or not linking.is_close(found, least):
            return None
        seeds = linking.seeds_of_choice(run.seeds)[-1]
        searches = self._search_all(graph, run._replace(seeds=seeds), None, found, stop)
        return searches if min(outcome.score for outcome in searches) < least else None

    def _warm_point(self, graph: Graph, previous: Graph | None, link: str) -> Draw | None:
        """The last fit's optimum, if warm_start is set and this engine can begin there; the nodes must be the same."""
        if not self.warm_start or previous is None:
            return None
        if previous.n_nodes != graph.n_nodes or previous.form != graph.form:
            old, new = (f"{g.n_nodes} nodes, {g.form}" for g in (previous, graph))
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
