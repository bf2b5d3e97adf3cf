"""Predictions of links as methods of all models: averages over draws, combined with the structural expert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from klafter.core.draws import Draw
from klafter.core.responses import RESPONSES, Response
from klafter.graph import Graph
from klafter.graph.units import list_links
from klafter.models.checks import check_count
from klafter.models.interop.exports import Exports, links_frame
from klafter.models.interop.placement import are_rows_of_nodes, score_newcomers
from klafter.models.results.levels import Packed
from klafter.prediction.ranking import best_pairs, near_of
from klafter.prediction.structure import STEADY, Blend, Expert, Weights, blended, fit_expert
from klafter.search.blas import one_blas_thread

if TYPE_CHECKING:
    import pandas

    from klafter.prediction.explain import Explanation

BEYOND = 2.0  # times the largest count seen, up to which a draw on the log scale is believed


class Predictions(Exports):
    """What a fitted model says of dyads."""

    point_: Draw
    draws_: Sequence[Draw]
    memberships_: Any
    response_: str
    precision_: float

    def _predictors(self, pairs: np.ndarray) -> Iterator[np.ndarray]:
        """x of each pair under each draw."""
        covariates = self._covariates(self.graph_).values()
        for draw in self._prediction_draws():
            yield draw.predictor(pairs, covariates)

    def _covariates(self, graph: Graph) -> dict[str, Any]:
        """What is known of each dyad, by name: covariates of the graph, and columns that a model makes of attributes.

        Each is to be indexed by ``[i, j]``, or by ``[rows]``.
        """
        return dict(graph.covariates)

    def _prediction_draws(self) -> Sequence[Draw]:
        """The draws that predictions average."""
        return self.draws_

    def _response(self) -> Response:
        """What x means."""
        return RESPONSES[self.response_]

    def _forget(self) -> None:
        """What was worked out since the last fit is not of the next."""
        self._coarser: Packed | None = None
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
        if are_rows_of_nodes(self.graph_, pairs):
            raise ValueError(
                f"Predictions are of pairs of nodes; this is a matrix of shape {pairs.shape}, with the links of "
                f"{pairs.shape[0]} nodes. Use klafter.models.LinkClassifier, whose samples are pairs, for scores of "
                "predictions, and model.place for new nodes."
            )
        return self.graph_.pair_indices(pairs)

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list of pairs of node labels

        Returns
        -------
        ndarray of shape (m,)
            0 for a node and itself, and for two nodes of kinds that may not be linked, as one kind in two modes.
        """
        return self._probability(self._pairs(pairs))

    def _probability(self, pairs: np.ndarray) -> np.ndarray:
        possible = self.graph_.is_possible(pairs)
        some = pairs if possible.all() else pairs[possible]
        p = np.zeros(len(pairs))
        p[possible] = self._with_structure(self._own_probability(some), some)
        return p

    def _own_probability(self, pairs: np.ndarray) -> np.ndarray:
        """The model's probability, without the structural expert."""
        response, total = self._response(), np.zeros(len(pairs))
        for x in self._predictors(pairs):
            total += response.probability(x, self.precision_)
        return total / len(self.draws_)

    def _own_rows(self, rows: np.ndarray) -> np.ndarray:
        """The same of all dyads of some nodes, (len(rows), n)."""
        response, covariates = self._response(), self._covariates(self.graph_).values()
        total = np.zeros((len(rows), self.graph_.n_nodes))
        for draw in self._prediction_draws():
            total += response.probability(draw.predictor_rows(rows, covariates), self.precision_)
        return total / len(self.draws_)

    def _with_structure(self, p: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """The probabilities shown, from the model's own and the structural expert."""
        return blended(p, self._blend(pairs))

    @one_blas_thread()
    def _blend(self, pairs: np.ndarray, links: sparse.csr_array | None = None) -> Blend | None:
        """How model and structural expert make log odds, if the expert is asked and has links to learn from.

        With ``links`` pairs are those of another network, about which the expert says what it learned in this one.
        """
        if self.structure == 0 or not len(pairs):
            return None
        if self._expert is None:
            self._expert = fit_expert(self.graph_, np.random.default_rng(0))
        if self._expert is None:
            return None
        if self.structure == "auto" and self._weights is None:
            self._weights = self._blend_weights(self._expert)
        expert = self._expert if links is None else self._expert.amid(links)
        if self.structure != "auto" or self._weights is None:
            return expert.mean(pairs, STEADY if self.structure == "auto" else self.structure)
        return expert.blend(pairs, self._weights)

    def _blend_weights(self, expert: Expert) -> tuple[Weights, Weights] | None:
        """Those found on folds, or on visible pairs; None where draws are too few to tell."""
        if hasattr(self, "blend_weights_"):
            return expert.beside(Weights(*self.blend_weights_.tolist()))
        from klafter.prediction.left_out import left_out_log_odds

        own = left_out_log_odds(self, expert.sample.pairs, expert.sample.linked)
        return None if own is None else expert.combine(own)

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
        total[~self.graph_.is_possible(pairs)] = 0.0
        return total / len(self.draws_)

    def score(self, pairs: Any, values: Any = None) -> float:
        """Mean log likelihood of link values at pairs that the model has not seen.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list of pairs of node labels
            Without values: an (m, n_nodes) matrix with the links of nodes that were not in the network, as folds of
            nodes in ``cross_val_score`` give them. Each is placed by half of its dyads to predict the other half.
            One value for each of its rows, the ``y`` of ``cross_val_score``, is ignored as ``fit`` ignores it.
        values : (m,) array
            Link values of pairs.

        Returns
        -------
        float
        """
        check_is_fitted(self, "draws_")
        if values is None or are_rows_of_nodes(self.graph_, pairs):
            return score_newcomers(self, pairs)
        pairs, values = self.graph_.check_possible(self._pairs(pairs)), np.asarray(values, float)
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
    def top_links(self, n: int = ..., *, hidden_only: bool = ..., as_frame: Literal[True]) -> pandas.DataFrame: ...

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
        pairs, _ = list_links(self.graph_)
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
        covariates, rng = self._covariates(self.graph_).values(), np.random.default_rng(random_state)
        return simulate(self.point_, self.response_, self.precision_, self.graph_, covariates, rng)

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
        >>> model = kl.KLafter(n_init=1, n_smooth=30, structure=0.5, random_state=0)
        >>> told = model.fit(load_karate()).explain(0, 33)
        >>> abs(sum(value for _, value in told.parts) - told.log_odds) < 1e-9
        True
        >>> sorted(told.totals)
        ['communities', 'neighbourhood', 'offset', 'sociality']
        """
        from klafter.prediction.explain import explain

        return explain(self, self.graph_.check_possible(self._pairs([(i, j)])))[0]
