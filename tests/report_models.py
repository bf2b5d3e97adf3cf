"""Fitted models for tests of reports, told their communities instead of searching for them."""

import numpy as np
from scipy import sparse

from klafter.core.draws import LinearDraw
from klafter.graph import Graph
from klafter.models import NetworkModel, Step
from klafter.models.results.publish import Fitted


class Told(NetworkModel):
    """A model that is given its communities."""

    def __init__(self, memberships=None, response="logit", n_runs=2, random_state=0, structure=0.0):
        self.memberships = memberships
        self.response = response
        self.n_runs = n_runs
        self.random_state = random_state
        self.structure = structure

    def _check_parameters(self, graph):
        pass

    def _fit(self, graph, run):
        z = sparse.csr_array(self.memberships, dtype=float)
        w = 4.0 * sparse.eye_array(z.shape[1], format="csr")
        w = w if graph.n_nodes > 2_000 else w.toarray()
        offset = {"logit": -3.0, "exposure": 0.01, "log": -2.0}[self.response]
        point = LinearDraw(z, w, offset)
        return Fitted(
            link=self.response,
            response=self.response,
            point=point,
            draws=[point],
            restarts=[point] * self.n_runs,
            memberships=z if graph.n_nodes > 2_000 else z.toarray().astype(np.int8),
            affinities=w,
            objective=1.0,
            history=[Step(r, t, 0.1 * t, 9.0 - t - r, t) for r in range(self.n_runs) for t in range(4)],
            n_iter=3,
        )

    def get_params(self, deep=True):
        """Without the memberships, which would fill the page."""
        return {"response": self.response, "random_state": self.random_state}


def two_groups(directed=False, labels=None, attributes=None, hidden=None, values=1.0):
    """Two groups of four that share a node, all linked inside; node 7 is alone."""
    z = np.zeros((8, 2), int)
    z[:4, 0] = 1
    z[3:7, 1] = 1
    links = values * ((z @ z.T > 0) & ~np.eye(8, dtype=bool))
    graph = Graph(links, directed=directed, labels=labels, attributes=attributes, hidden=hidden)
    return graph, z


def told(graph, z, **parameters):
    return Told(z, **parameters).fit(graph)
