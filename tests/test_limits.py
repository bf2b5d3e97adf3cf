"""Numbers that nobody means end in a sentence, before memory or days are taken."""

import numpy as np
import pytest

from klafter import datasets
from klafter.datasets import load_florentine_families
from klafter.evaluation import compare
from klafter.graph.splits import DyadKFold
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV, PaperKLafter

COUNTS = [
    (KLafter, ("n_init", "n_smooth", "n_communities", "max_communities", "max_iter")),
    (PaperKLafter, ("n_communities", "max_iter", "patience")),
    (LFRM, ("n_burn", "n_draws", "n_chains", "max_draws")),
    (IRM, ("n_burn", "n_draws", "n_chains", "max_draws", "n_moves")),
    (MMSB, ("n_burn", "n_draws", "n_chains", "max_draws", "n_communities")),
    (EPM, ("n_burn", "n_draws", "n_chains", "max_draws", "n_communities")),
]
SHORT = {"n_init": 1, "n_smooth": 1}


@pytest.mark.parametrize("value", [10**7, 10**9, 10**30])
@pytest.mark.parametrize(("make", "name"), [(make, name) for make, names in COUNTS for name in names])
def test_counts_of_what_takes_time_are_bounded(make, name, value):
    with pytest.raises(ValueError, match=rf"{name} to be a whole number of at least \d and at most 1"):
        make(**{name: value}).fit(load_florentine_families())


@pytest.mark.parametrize("value", [10**9, 10**30])
def test_jobs_and_seeds_may_be_any_number(value):
    graph = load_florentine_families()
    model = KLafter(**SHORT, n_jobs=value, random_state=value).fit(graph)
    assert model.top_links(value) == model.top_links(1000)


@pytest.mark.parametrize("value", [10**9, 10**30])
def test_folds_refits_and_splits_are_bounded(value):
    graph = load_florentine_families()
    with pytest.raises(ValueError, match="folds from 2 to 10,000"):
        KLafterCV([0.0], cv=value).fit(graph)
    with pytest.raises(ValueError, match="at most 10,000"):
        next(DyadKFold(value).split(graph))
    with pytest.raises(ValueError, match="at most 10,000"):
        KLafter(**SHORT, random_state=0).fit(graph).stability(value)
    with pytest.raises(ValueError, match="at most 10,000"):
        compare(KLafter(**SHORT), graph, splits=value)


@pytest.mark.parametrize("name", ["make_lfrm", "make_irm", "make_mmsb", "make_epm"])
@pytest.mark.parametrize("size", [{"n": 10**9}, {"k": 10**9}, {"n": 0}, {"n": 10**30}])
def test_generators_of_every_dyad_are_bounded(name, size):
    with pytest.raises(ValueError, match=f"{name} draws every dyad"):
        getattr(datasets, name)(**size)


@pytest.mark.parametrize("how", [{"n": 10**12}, {"n": 10**30}])
@pytest.mark.parametrize("make", [datasets.make_overlapping, datasets.make_lfr])
def test_generators_of_links_tell_the_memory_that_they_need(make, how):
    with pytest.raises(MemoryError, match="Ask for fewer nodes"):
        make(**how)


def test_memberships_of_a_generator_count_as_nodes():
    with pytest.raises(MemoryError, match="om"):
        datasets.make_lfr(1000, om=10**12, on=5)
    assert np.isfinite(datasets.make_overlapping(1000, community_size=10**9)[0].links.data).all()


@pytest.mark.parametrize("n", [-1, 2.5, "all"])
def test_a_placement_is_asked_for_a_whole_number_of_links(n):
    found = KLafter(**SHORT, random_state=0).fit(load_florentine_families()).place(["Medici"])
    with pytest.raises(ValueError, match="top_links needs n to be a whole number of at least 0"):
        found.top_links(n)
