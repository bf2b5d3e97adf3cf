"""What all five models share: fit at the door, one loop for steps, and predictions as averages over draws."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, logsumexp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from klafter.core.draws import Draw
from klafter.core.responses import RESPONSES, Response
from klafter.graph import Graph, as_graph
from klafter.graph.convert import is_foreign_graph, without_weights
from klafter.models.checks import check_count, check_running
from klafter.models.interop.exports import Exports
from klafter.models.interop.tables import links_frame
from klafter.models.results.levels import Level, at_level, find_level, unpack
from klafter.models.results.places import Choice, first_choices, places
from klafter.models.results.publish import Fitted, publish
from klafter.models.results.stability import community_stability, hide_links, mean_best_f1
from klafter.models.storage.checkpoint import Store, opened
from klafter.prediction.ranking import best_pairs, near_of
from klafter.prediction.structure import STEADY, Blend, Expert, Weights, fit_expert
from klafter.search.blas import one_blas_thread
from klafter.search.progress import Callback, Step

if TYPE_CHECKING:
    from klafter.prediction.explain import Explanation

BEYOND = 2.0  # times the largest count seen, up to which a draw on the log scale is believed


class NetworkModel(Exports):
    """Base of the estimators. A subclass finds a ``Fitted`` in ``_fit``; the rest is here."""

    graph_: Graph
    point_: Draw
    draws_: Sequence[Draw]
    memberships_: Any
    membership_proba_: Any
    n_communities_: int
    n_communities_posterior_: dict[str, Any]
    community_names_: list[str]
    affinities_: Any
    objective_: float
    history_: list[Step]
    n_iter_: int
    notes_: list[str]
    link_: str
    fit_seconds_: float
    labels_in_: np.ndarray | None
    response_: str
    precision_: float
    _store = Store()  # what a fit keeps, see ``klafter.models.storage.checkpoint``

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        hidden: Any = None,
        covariates: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
        client: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Fit the model to a network.

        Parameters
        ----------
        X : Graph, numpy or scipy.sparse matrix, networkx or igraph graph, or pandas, polars or Arrow table of links
            The network. Every dyad that is neither a link nor hidden was observed not to be one. Weights of a networkx
            or igraph graph are ignored, with a note, unless the family is one of counts or real values.
        y : ignored
        hidden : (m, 2) pairs or (n, n) pattern, optional
            Dyads that nobody observed.
        covariates : mapping of name to (n, n) array, optional
            What is known of each dyad.
        callback : callable, optional
            Called with a ``Progress`` after every step; returning True stops the fit and keeps the best so far.
        client : dask.distributed.Client, optional
            Runs restarts or chains on a cluster.
        checkpoint : path, optional
            A file that keeps what restarts, chains and folds have found. The same call after a crash, a kill or Ctrl-C
            goes on from there, to the result of an uninterrupted fit; other data or parameters are refused. The file
            stays when the fit has ended.
        checkpoint_every : float
            Seconds between two writes of it, at least; never so few that writing takes more than 2% of the time.

        Returns
        -------
        self
        """
        started = time.perf_counter()
        previous = getattr(self, "graph_", None)
        if not isinstance(X, Graph):
            X = self._validate_matrix(X)
        graph = as_graph(X, hidden=hidden, covariates=covariates)
        if is_foreign_graph(X) and getattr(self, "family", "bernoulli") == "bernoulli":
            graph = without_weights(graph)
        check_running(self)
        self._check_parameters(graph)
        with (
            one_blas_thread(),
            opened(checkpoint, self, graph, self._seeds(), checkpoint_every) as (self._store, seeds),
        ):
            fitted = self._fit(graph, seeds, callback or (lambda progress: None), client, previous)
        self._store = Store()
        with one_blas_thread():
            publish(self, graph, fitted, time.perf_counter() - started)
        return self

    def _validate_matrix(self, X: Any) -> Any:
        """numpy input is checked as scikit-learn does it, so that its messages are the familiar ones."""
        if isinstance(X, (list, tuple, np.ndarray)):
            from sklearn.utils.validation import validate_data

            _refuse_names(X)
            # of NaN a graph says more: what nobody observed is hidden
            finite = {"ensure_all_finite": False}
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2, **finite)
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"A network needs a square matrix of links; this one has shape {X.shape}.")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.non_deterministic = False
        return tags

    def _seeds(self) -> np.random.SeedSequence:
        """The root of all randomness of a fit."""
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return np.random.SeedSequence(self.random_state)
        return np.random.SeedSequence(check_random_state(self.random_state).randint(2**31))

    # ---- prediction ---------------------------------------------------------------------------------------------

    def _predictors(self, pairs: np.ndarray) -> Iterator[np.ndarray]:
        """x of each pair under each draw."""
        covariates = list(self.graph_.covariates.values())
        for draw in self._prediction_draws():
            yield draw.predictor(pairs, covariates)

    def _prediction_draws(self) -> Sequence[Draw]:
        """The draws that predictions average."""
        return self.draws_

    def _response(self) -> Response:
        """What x means."""
        return RESPONSES[self.response_]

    def _forget(self) -> None:
        """What was worked out for predictions is of an earlier fit."""
        self._expert: Expert | None = None
        self._weights: tuple[Weights, Weights] | None = None
        self._posterior_draws: Sequence[Draw] | None = None
        self._matched: list[np.ndarray] | None = None
        self.__dict__.pop("_exposure_sums", None)

    def _matches(self) -> list[np.ndarray]:
        """The numbers that the communities of each draw have among those of the model."""
        from klafter.prediction.explain import match_communities

        if self._matched is None:
            self._matched = match_communities(self.memberships_, self.draws_)
        return self._matched

    def _pairs(self, pairs: Any) -> np.ndarray:
        check_is_fitted(self, "draws_")
        return self.graph_.pair_indices(pairs)

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list of pairs of node labels

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._probability(self._pairs(pairs))

    def _probability(self, pairs: np.ndarray) -> np.ndarray:
        return self._with_structure(self._own_probability(pairs), pairs)

    def _own_probability(self, pairs: np.ndarray) -> np.ndarray:
        """The model's probability, without the structural expert."""
        response, total = self._response(), np.zeros(len(pairs))
        for x in self._predictors(pairs):
            total += response.probability(x, self.precision_)
        return total / len(self.draws_)

    def _own_rows(self, rows: np.ndarray) -> np.ndarray:
        """The same of all dyads of some nodes, (len(rows), n)."""
        response, covariates = self._response(), list(self.graph_.covariates.values())
        total = np.zeros((len(rows), self.graph_.n_nodes))
        for draw in self._prediction_draws():
            total += response.probability(draw.predictor_rows(rows, covariates), self.precision_)
        return total / len(self.draws_)

    def _with_structure(self, p: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """The probabilities shown, from the model's own and the structural expert."""
        blend = self._blend(pairs)
        return p if blend is None else np.asarray(expit(blend.log_odds(logit(np.clip(p, 1e-12, 1 - 1e-12)))))

    def _blend(self, pairs: np.ndarray) -> Blend | None:
        """How model and structural expert make log odds, if the expert is asked and has links to learn from."""
        if self.structure == 0 or not len(pairs):
            return None
        if self._expert is None:
            self._expert = fit_expert(self.graph_, np.random.default_rng(0))
        if self._expert is None:
            return None
        if self.structure != "auto":
            return self._expert.mean(pairs, self.structure)
        if self._weights is None:
            from klafter.prediction.left_out import left_out_log_odds

            own = left_out_log_odds(self, self._expert.sample.pairs, self._expert.sample.linked)
            if own is None:
                return self._expert.mean(pairs, STEADY)
            self._weights = self._expert.combine(own)
        return self._expert.blend(pairs, self._weights)

    def predict(self, pairs: Any) -> np.ndarray:
        """Expected link value of each pair: the probability for 0/1 links, else the mean count or weight.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list of pairs of node labels

        Returns
        -------
        ndarray of shape (m,)

        Notes
        -----
        No draw of a count's logarithm counts for more than twice the largest count that was seen: where nothing was
        observed the mean of such draws would be that of the largest of them.
        """
        pairs = self._pairs(pairs)
        response, total = self._response(), np.zeros(len(pairs))
        if response.binary:
            return self._probability(pairs)
        most = BEYOND * max(1.0, self.graph_.links.data.max(initial=0.0)) if response.logarithmic else np.inf
        for x in self._predictors(pairs):
            total += np.minimum(response.mean(x), most)
        return total / len(self.draws_)

    def score(self, pairs: Any, values: Any = None) -> float:
        """Mean log likelihood of link values at pairs that the model has not seen.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list of pairs of node labels
        values : (m,) array
            Their link values.

        Returns
        -------
        float
        """
        if values is None:
            raise ValueError("score needs the pairs and their link values: model.score(held.pairs, held.values).")
        pairs, values = self._pairs(pairs), np.asarray(values, float)
        if values.shape != (len(pairs),) or not len(pairs) or not np.isfinite(values).all():
            raise ValueError(
                f"score needs one finite link value for each pair; there are {len(pairs)} pairs, and values of shape "
                f"{values.shape}{'' if np.isfinite(values).all() else ', some of them NaN or infinite'}."
            )
        if self._response().binary:
            p = np.clip(self._probability(pairs), 1e-12, 1 - 1e-12)
            return float(np.mean(np.where(values > 0, np.log(p), np.log1p(-p))))
        density = self._response().log_density
        logs = np.array([density(values, x, self.precision_) for x in self._predictors(pairs)])
        return float(np.mean(logsumexp(logs, axis=0) - np.log(len(logs))))

    @overload
    def top_links(
        self, n: int = ..., *, hidden_only: bool = ..., as_frame: Literal[False] = ...
    ) -> list[tuple[Any, Any, float]]: ...

    @overload
    def top_links(self, n: int = ..., *, hidden_only: bool = ..., as_frame: bool) -> Any: ...

    def top_links(self, n: int = 20, *, hidden_only: bool = False, as_frame: bool = False) -> Any:
        """The likeliest dyads that are not known to be linked, best first.

        Parameters
        ----------
        n : int
            How many.
        hidden_only : bool
            Whether only hidden dyads are asked about.
        as_frame : bool
            Whether to give a pandas table with columns source, target and probability.

        Returns
        -------
        list of (node, node, probability), or DataFrame
        """
        check_is_fitted(self, "draws_")
        n = check_count(n, "top_links")
        own, rows, finish = self._own_probability, self._own_rows, self._with_structure
        pairs, p = best_pairs(own, rows, finish, self.graph_, near_of(self), n, hidden_only)
        found = [(self.graph_.label(i), self.graph_.label(j), float(q)) for (i, j), q in zip(pairs.tolist(), p)]
        return links_frame(found) if as_frame else found

    def surprising_links(self, n: int = 20) -> list[tuple[Any, Any, float]]:
        """The observed links that the model finds least likely, first the least.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of (node, node, probability)
        """
        check_is_fitted(self, "draws_")
        n = check_count(n, "surprising_links")
        links = self.graph_.links.tocoo()
        keep = np.ones(links.nnz, bool) if self.graph_.directed else links.row < links.col
        pairs = np.column_stack([links.row[keep], links.col[keep]]).astype(np.int64)
        p = self._probability(pairs)
        order = np.argsort(p, kind="stable")[:n]
        return [
            (self.graph_.label(i), self.graph_.label(j), float(p[t])) for t, (i, j) in zip(order, pairs[order].tolist())
        ]

    def sample(self, random_state: Any = None) -> Graph:
        """A network from the fitted model (its point estimate), without hidden dyads.

        Parameters
        ----------
        random_state : int, optional
            Seed.

        Returns
        -------
        Graph
        """
        from klafter.prediction.simulate import simulate

        check_is_fitted(self, "draws_")
        return simulate(self.point_, self.response_, self.precision_, self.graph_, np.random.default_rng(random_state))

    def explain(self, i: Any, j: Any) -> Explanation:
        """Which pairs of communities, and what else, make the link from i to j likely or not.

        Parameters
        ----------
        i, j : rows, or node labels

        Returns
        -------
        Explanation
            Parts that add up to the log odds of what ``predict_proba`` says, and how much of these is due to
            communities, to sociality and to the neighbourhood.

        Examples
        --------
        >>> import klafter as kl
        >>> from klafter.datasets import load_karate
        >>> told = kl.KLafter(n_init=1, n_smooth=30, random_state=0).fit(load_karate()).explain(0, 33)
        >>> abs(sum(value for _, value in told.parts) - told.log_odds) < 1e-9
        True
        >>> sorted(told.totals)
        ['communities', 'neighbourhood', 'offset', 'sociality']
        """
        from klafter.prediction.explain import explain

        return explain(self, self._pairs([(i, j)]))[0]

    # ---- communities --------------------------------------------------------------------------------------------

    def communities(self, level: int | None = None, *, threshold: float | None = None) -> list[set[Any]]:
        """The members of each community, as sets of node labels.

        Parameters
        ----------
        level : int, optional
            How many communities to show: one of those of ``levels()``. Default: ``memberships_``.
        threshold : float, optional
            Members are instead those whose ``membership_proba_`` is at least this; some communities may have none.
        """
        check_is_fitted(self, "memberships_")
        found = self.memberships_ if level is None else at_level(self.levels(), level)
        if threshold is not None:
            found = self._above(threshold, level)
        columns = sparse.csr_array(sparse.csr_array(found).T)
        return [{self.graph_.label(int(i)) for i in columns.indices[a:b]} for a, b in pairwise(columns.indptr)]

    def _above(self, threshold: float, level: int | None) -> Any:
        """Which memberships are at least so probable."""
        if not 0 < threshold <= 1:
            raise ValueError(
                f"communities needs a threshold above 0 and at most 1; it is {threshold!r}. Use threshold=0.5."
            )
        if level is not None:
            raise ValueError(
                "communities takes a level or a threshold, not both: probabilities are those of the level shown first."
            )
        return self.membership_proba_ >= threshold

    def partition(self) -> dict[Any, int]:
        """One community for every node: a dict from its label to the number of the community.

        Of the communities that it holds the most probable one; a node in none is where it would go first. Without
        communities all are in 0.
        """
        return {self.graph_.label(i): int(k) for i, k in enumerate(self.labels_)}

    @property
    def labels_(self) -> np.ndarray:
        """The numbers of ``partition()``, by rows, as scikit-learn's clusterers have them."""
        if not hasattr(self, "memberships_"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet, so it has no labels_. Call fit first.")
        return places(self.graph_, self.memberships_, self.membership_proba_)

    def first_choices(self) -> list[Choice]:
        """Where each node in no community would go first, and how probable that is.

        Returns
        -------
        list of Choice(node, community, probability, share)
            ``probability`` that it is a member of this community; ``share``, were it in exactly one community, the
            probability that it is this one. In the order of the nodes; empty where there are no communities.
        """
        check_is_fitted(self, "memberships_")
        return first_choices(self.graph_, self.memberships_, self.membership_proba_)

    @property
    def stability_(self) -> np.ndarray | None:
        """How well each community was found again by the other restarts or chains, from 0 to 1; None without others.

        The F1 of its members with those of its best match in another restart, averaged over the others.
        """
        if not hasattr(self, "memberships_"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet, so it has no stability_.")
        return community_stability(self.memberships_, self.restarts_)

    def stability(self, n: int = 5, *, drop: float = 0.05, random_state: int = 0) -> np.ndarray:
        """How well each community is found again without some of the links, from 0 to 1.

        Every refit is a whole fit, with the parameters and the seed of this model: it takes ``n`` times as long.

        Parameters
        ----------
        n : int
            Refits.
        drop : float
            Share of the links, chosen at random for each refit, that it does not observe.
        random_state : int
            Seed of that choice.

        Returns
        -------
        ndarray of shape (K,), one for each community
            The F1 of its members with those of its best match in a refit, averaged over refits.
        """
        check_is_fitted(self, "memberships_")
        n = check_count(n, "stability")
        if not 0 < drop < 1:
            raise ValueError(f"stability needs drop to be a share of the links between 0 and 1; it is {drop!r}.")
        rng = np.random.default_rng(random_state)
        fits = [clone(self).fit(hide_links(self.graph_, drop, rng)) for _ in range(n)]
        return mean_best_f1(self.memberships_, [fit.memberships_ for fit in fits])

    def n_communities_interval(self, level: float = 0.9) -> tuple[int, int]:
        """The least and the most communities, between which so much of ``n_communities_posterior_`` lies.

        Parameters
        ----------
        level : float
            Between 0 and 1; as much is left out below as above.
        """
        check_is_fitted(self, "memberships_")
        if not 0 < level < 1:
            raise ValueError(f"n_communities_interval needs a level between 0 and 1; it is {level!r}. Use 0.9.")
        sizes = self.n_communities_posterior_["n_communities"]
        reached = np.cumsum(self.n_communities_posterior_["probability"])
        low, high = (np.searchsorted(reached, (1 + side * level) / 2 - 1e-9) for side in (-1, 1))
        return int(sizes[low]), int(sizes[min(high, len(sizes) - 1)])

    def levels(self) -> list[Level]:
        """The cover with the lowest score and the coarser ones that merging its communities leads to, finest first.

        Of models that know one cover only, that one.
        """
        check_is_fitted(self, "memberships_")
        if hasattr(self, "levels_"):
            return unpack(self.levels_)
        return [Level(self.n_communities_, self.objective_, (), sparse.csr_array(self.memberships_), True)]

    def at_level(self, n_communities: int) -> Self:
        """This model with the communities of another of its ``levels()``, for all that is said of communities.

        Weights are fitted to them; predictions stay those of all draws.

        Parameters
        ----------
        n_communities : int
            How many communities the level has.
        """
        levels = self.levels()
        t = find_level(levels, n_communities)
        other = copy(self)
        if not levels[t].shown:
            for name, value in self._level_attributes(levels[t]).items():
                setattr(other, name, value)
            other.levels_ = {**self.levels_, "shown": t}
        return other

    def _level_attributes(self, level: Level) -> dict[str, Any]:
        """Fitted attributes of another level, by name."""
        raise NotImplementedError

    def unassigned(self) -> set[Any]:
        """Nodes in no community: sociality alone explains them. ``first_choices()`` says where they would go."""
        check_is_fitted(self, "memberships_")
        alone = np.asarray(self.memberships_.sum(axis=1)).ravel() == 0
        return {self.graph_.label(int(i)) for i in np.flatnonzero(alone)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file of arrays and JSON; read it with ``klafter.load``.

        Parameters
        ----------
        path : path of the file
        """
        from klafter.models.storage.files import save

        check_is_fitted(self, "draws_")
        save(self, path)

    def _repr_html_(self) -> str:
        from klafter.models.notebook import describe

        return describe(self)

    def _fit(
        self,
        graph: Graph,
        seeds: np.random.SeedSequence,
        callback: Callback,
        client: Any,
        previous: Graph | None,
    ) -> Fitted:
        raise NotImplementedError

    def _check_parameters(self, graph: Graph) -> None:
        raise NotImplementedError


def _refuse_names(X: Any) -> None:
    """A list of pairs of names looks like a matrix of text."""
    first = X[0] if len(X) else ()
    if isinstance(X, (list, tuple)) and isinstance(first, (list, tuple)) and any(isinstance(v, str) for v in first):
        raise ValueError(
            f"A network is a matrix of links, not a list of pairs such as {first!r}. "
            "Use pandas.DataFrame(pairs, columns=['source', 'target']) or networkx.Graph(pairs)."
        )
