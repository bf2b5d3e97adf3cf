"""Communities as methods of all models: members, partitions, levels, and how certain they are."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from klafter.models.checks import MOST_RUNS, check_count
from klafter.models.interop.exports import Exports
from klafter.models.results.levels import Level, Packed, at_level, find_level, unpack
from klafter.models.results.places import Choice, first_choices, places
from klafter.models.results.stability import community_stability, hide_links, mean_best_f1


class Communities(Exports):
    """What a fitted model says of communities and their members."""

    memberships_: Any
    n_communities_: int
    n_communities_posterior_: dict[str, Any]
    objective_: float
    restarts_: Any
    levels_: dict[str, Any]

    def communities(self, level: int | None = None, *, threshold: float | None = None) -> list[set[Any]]:
        """The members of each community, as sets of node labels.

        Parameters
        ----------
        level : int, optional
            How many communities to show: one of those of ``levels()``. Default: ``memberships_``.
        threshold : float, optional
            Members are instead those whose ``membership_proba_`` is at least this; some communities may have none.

        Returns
        -------
        list of sets, in the order of the columns of ``memberships_``
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

        Returns
        -------
        dict of label to number
        """
        check_is_fitted(self, "memberships_")
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

    def unassigned(self) -> set[Any]:
        """Nodes in no community: sociality alone explains them. ``first_choices()`` says where they would go.

        Returns
        -------
        set of labels
        """
        check_is_fitted(self, "memberships_")
        alone = np.asarray(self.memberships_.sum(axis=1)).ravel() == 0
        return {self.graph_.label(int(i)) for i in np.flatnonzero(alone)}

    def levels(self) -> list[Level]:
        """The cover with the lowest score and the coarser ones that merging its communities leads to, finest first.

        Of models that know one cover only, that one. On the sparse engine they are worked out when they are first
        asked for; of large networks the finest is followed by the coarsest ones alone.

        Returns
        -------
        list of Level(n_communities, score, merged, memberships, shown)
        """
        check_is_fitted(self, "memberships_")
        if (packed := self._packed_levels()) is not None:
            return unpack(packed)
        return [Level(self.n_communities_, self.objective_, (), sparse.csr_array(self.memberships_), True)]

    def at_level(self, n_communities: int) -> Self:
        """This model with the communities of another of its ``levels()``, for all that is said of communities.

        Weights are fitted to them; predictions stay those of all draws.

        Parameters
        ----------
        n_communities : int
            How many communities the level has.

        Returns
        -------
        The model itself where that level is shown, else a copy.
        """
        levels = self.levels()
        t = find_level(levels, n_communities)
        other = copy(self)
        if not levels[t].shown:
            for name, value in self._level_attributes(levels[t]).items():
                setattr(other, name, value)
            other.levels_ = {**(self._packed_levels() or {}), "shown": t}
        return other

    def _packed_levels(self) -> Packed | None:
        """The levels as arrays, see ``results.levels.pack``; None where there is one only."""
        return getattr(self, "levels_", None)

    def _knows_levels(self) -> bool:
        """Whether ``levels()`` has nothing to work out."""
        return True

    def _level_attributes(self, level: Level) -> dict[str, Any]:
        """Fitted attributes of another level, by name."""
        raise NotImplementedError

    def n_communities_interval(self, level: float = 0.9) -> tuple[int, int]:
        """The least and the most communities, between which so much of ``n_communities_posterior_`` lies.

        Parameters
        ----------
        level : float
            Between 0 and 1; as much is left out below as above.

        Returns
        -------
        (int, int)
        """
        check_is_fitted(self, "memberships_")
        if not 0 < level < 1:
            raise ValueError(f"n_communities_interval needs a level between 0 and 1; it is {level!r}. Use 0.9.")
        sizes = self.n_communities_posterior_["n_communities"]
        reached = np.cumsum(self.n_communities_posterior_["probability"])
        low, high = (np.searchsorted(reached, (1 + side * level) / 2 - 1e-9) for side in (-1, 1))
        return int(sizes[low]), int(sizes[min(high, len(sizes) - 1)])

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
        n = check_count(n, "stability", MOST_RUNS)
        if not 0 < drop < 1:
            raise ValueError(f"stability needs drop to be a share of the links between 0 and 1; it is {drop!r}.")
        rng = np.random.default_rng(random_state)
        alone = {"structure": 0.0} if "structure" in self.get_params(deep=False) else {}
        fits = [clone(self).set_params(**alone).fit(hide_links(self.graph_, drop, rng)) for _ in range(n)]
        return mean_best_f1(self.memberships_, [fit.memberships_ for fit in fits])
