"""The whole dense search against itself on plain NumPy kernels: from the same seed, the same path."""

import sys
from pathlib import Path

import numpy as np
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import empty_state, make_priors, make_problem
from klafter.datasets import make_lfrm
from klafter.search.dense import engine as dense
from klafter.search.moves.row_reset import resets
from klafter.search.starts import neighbourhoods

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
plain = pytest.importorskip("plain", reason="benchmarks/ is not beside tests/")


@pytest.mark.parametrize("directed", [False, True])
def test_compiled_and_plain_search_take_the_same_path(directed):
    graph, _ = make_lfrm(n=30, k=3, directed=directed, random_state=0)
    graph = graph.hide([(0, 1), (2, 5), (7, 3)])
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(-2.0, 1.0, 3.2, 1.4))

    def search():
        rng = np.random.default_rng(0)
        state, values = dense.init(problem, rng, neighbourhoods(problem, 4, rng)), []
        value = dense.score(problem, state)
        for _ in range(2):
            state, value = dense.step(problem, state, value, rng)
            state, value = resets(problem, state, value, rng)
            values += [value, dense.score(problem, state)]
        return state, values

    quick, values = search()
    with plain.plain_kernels():
        slow, slow_values = search()
    assert values == pytest.approx(slow_values, rel=1e-6)
    assert (quick.z == slow.z).all()


def test_plain_kernels_refuse_the_price_of_covers_they_do_not_know():
    graph, _ = make_lfrm(n=10, k=2, random_state=0)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(), counts=True)
    with plain.plain_kernels(), pytest.raises(ValueError, match="Use counts=False"):
        dense.score(problem, empty_state(problem))
