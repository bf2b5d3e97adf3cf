"""Which communities pay for their weights."""

import numpy as np
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.graph import Graph
from klafter.search.dense.score import everyone, is_handful
from klafter.search.descend import paying


@pytest.mark.parametrize(("n", "marks"), [(49, is_handful), (50, everyone)])
def test_all_communities_pay_for_their_weights_from_fifty_nodes_on(n, marks):
    problem = make_problem(Graph(np.zeros((n, n))), FAMILIES["bernoulli"].law(), make_priors())
    assert paying(problem) is marks
