"""Truth: what a simulated graph was drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw
from klafter.core.responses import RESPONSES


@dataclass(frozen=True)
class Truth:
    """Memberships and parameters of a simulated graph.

    Attributes
    ----------
    memberships : (n, K) csr_array of 0/1
        Who belongs to which community. Where the model has shares or loadings instead (MMSB, EPM), the communities
        that carry at least a fifth of a node; ``parameters.memberships`` holds the shares.
    parameters : Draw
        The linear predictor's parameters: memberships, affinities, offset, in the model's own scale.
    response : str
        Name of the response that turned the predictor into link values.
    precision : float
        Of Gaussian values.
    """

    memberships: sparse.csr_array
    parameters: Draw
    response: str
    precision: float = 1.0

    @property
    def n_communities(self) -> int:
        """How many communities there are."""
        return self.memberships.shape[1]

    def communities(self) -> list[set[int]]:
        """The members of each community, as sets of rows.

        Returns
        -------
        list of sets
        """
        columns = sparse.csc_array(self.memberships)
        return [set(rows.tolist()) for rows in np.split(columns.indices, columns.indptr[1:-1])]

    def predict_proba(self, pairs) -> np.ndarray:
        """The true probability of a link for each of (m, 2) pairs: what no model can beat.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows

        Returns
        -------
        (m,) array
        """
        x = self.parameters.predictor(np.asarray(pairs).reshape(-1, 2))
        return RESPONSES[self.response].probability(x, precision=self.precision)
