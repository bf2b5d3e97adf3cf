"""Measures of overlapping communities: by hand, against cdlib's numbers, and against slow and obvious oracles."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import sparse

from klafter.evaluation import (
    agreement,
    average_f1,
    community_measures,
    coverage,
    matched_f1,
    omega_index,
    onmi,
    stability,
)

# covers with ONMI (max) and omega as cdlib 0.4.1 gives them
CDLIB = {
    "overlap": (
        [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]], [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]],
        0.7156251153092934, 0.7058823529411765,
    ),
    "one big": (
        [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9]], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [9]],
        0.3726071827572394, 0.5161290322580646,
    ),
    "coarse": (
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]],
        0.2877664099472583, 0.4210526315789474,
    ),
    "nested": (
        [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3], [4, 5]], [[0, 1, 2, 3], [2, 3, 4, 5], [6, 7]],
        0.4664348621541713, -0.12820512820512822,
    ),
    "complement": (
        [[0], [1, 2, 3, 4, 5, 6, 7, 8, 9]], [[0, 1], [2, 3, 4, 5, 6, 7, 8, 9]],
        0.37260718275723953, 0.5161290322580646,
    ),
    "random": (
        [
            [1, 4, 6, 8, 12, 13, 15, 16], [1, 2, 4, 6, 11, 12, 15, 16, 18], [2, 3, 4, 9, 14, 17],
            [3, 5, 9, 11, 13, 15, 17], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 18],
            [12, 13, 14, 15, 16, 17, 18, 19],
        ],
        [
            [0, 1, 6, 8, 11, 12, 14, 15, 16, 17, 18, 19], [2, 3, 7, 8, 9, 10, 12, 14, 15, 18, 19],
            [1, 2, 4, 8, 10, 13, 15, 16, 19], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18], [1, 3, 5, 7, 9, 11, 13, 15, 17, 19],
        ],
        0.16983167208727573, 0.034149141147050276,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CDLIB)
def test_onmi_and_omega_equal_those_of_cdlib(case):
    x, y, information, agreement = CDLIB[case]
    assert onmi(x, y) == pytest.approx(information)
    assert onmi(y, x) == pytest.approx(information)
    assert omega_index(x, y) == pytest.approx(agreement)


def test_onmi_by_hand():
    # four quarters against two halves: H(X) = 4 H(1/4), H(Y) = 2, each joint entropy 3/2
    h = 2 - 0.75 * np.log2(3)
    information = (4 * (h - 0.5) + 2 * (1 - (1.5 - h))) / 2
    assert onmi([{0, 1}, {2, 3}, {4, 5}, {6, 7}], [{0, 1, 2, 3}, {4, 5, 6, 7}]) == pytest.approx(information / (4 * h))


def test_omega_by_hand():
    # 6 pairs; x joins 01, 23; y joins 01 only: 5 agree; expected (2 * 1 + 4 * 5) / 36
    assert omega_index([{0, 1}, {2, 3}], [{0, 1}], n_nodes=4) == pytest.approx((5 / 6 - 22 / 36) / (1 - 22 / 36))


def test_f1_by_hand():
    truth, found = [{1, 2, 3, 4}, {4, 5, 6}], [{1, 2, 3}, {4, 5, 6, 7}, {8}]
    best_of_truth, best_of_found = [6 / 7, 6 / 7], [6 / 7, 6 / 7, 0]
    assert average_f1(truth, found) == pytest.approx((np.mean(best_of_truth) + np.mean(best_of_found)) / 2)
    assert matched_f1(truth, found) == pytest.approx(2 * (6 / 7) / 3)
    # both found communities resemble the first true one best, but only one may have it
    assert matched_f1([{1, 2, 3}, {3, 9}], [{1, 2, 3}, {1, 2, 3, 9}]) == pytest.approx((1 + 4 / 6) / 2)


def random_cover(rng, n, k):
    z = rng.random((n, k)) < rng.uniform(0.05, 0.9, k)
    z[0] = True  # nobody empty
    return z


def sets_of(z):
    return [set(np.flatnonzero(column).tolist()) for column in z.T]


def naive_f1(a, b):
    return 2 * len(a & b) / (len(a) + len(b))


def naive_matched(x, y):
    small, large = sorted((x, y), key=len)
    best = max(sum(naive_f1(a, b) for a, b in zip(small, chosen)) for chosen in permutations(large, len(small)))
    return best / len(large)


def naive_omega(x, y, n):
    counts = np.array([[sum({i, j} <= c for c in cover) for cover in (x, y)] for i, j in combinations(range(n), 2)])
    observed = np.mean(counts[:, 0] == counts[:, 1])
    expected = sum(np.mean(counts[:, 0] == t) * np.mean(counts[:, 1] == t) for t in range(counts.max() + 1))
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def naive_onmi(x, y, n):
    def h(count):
        return -count / n * np.log(count / n) if count else 0.0

    def entropy(c):
        return h(len(c)) + h(n - len(c))

    def given(c, d):
        a, b, e, f = n - len(c | d), len(d - c), len(c - d), len(c & d)
        return h(a) + h(b) + h(e) + h(f) - entropy(d) if h(a) + h(f) >= h(b) + h(e) else entropy(c)

    h_x, h_y = sum(map(entropy, x)), sum(map(entropy, y))
    known = sum(entropy(c) - min(given(c, d) for d in y) for c in x) + sum(
        entropy(d) - min(given(d, c) for c in x) for d in y
    )
    return known / 2 / max(h_x, h_y)


@pytest.mark.parametrize("seed", range(8))
def test_all_measures_equal_their_oracles(seed, monkeypatch):
    monkeypatch.setattr(agreement, "CHUNK", 50)
    rng = np.random.default_rng(seed)
    n = 30
    zx, zy = random_cover(rng, n, 4), random_cover(rng, n, 5)
    x, y = sets_of(zx), sets_of(zy)
    best = [[max(naive_f1(a, b) for b in q) for a in p] for p, q in ((x, y), (y, x))]
    measures = community_measures(zx, sparse.csr_array(zy))
    assert measures["average_f1"] == pytest.approx(np.mean([np.mean(b) for b in best]))
    assert measures["matched_f1"] == pytest.approx(naive_matched(x, y))
    assert measures["omega"] == pytest.approx(naive_omega(x, y, n))
    assert measures["onmi"] == pytest.approx(naive_onmi(x, y, n))
    assert measures["coverage"] == pytest.approx(zy.any(axis=1).mean())
    assert (measures["n_communities"], measures["n_true"]) == (5, 4)
    assert community_measures(x, y, n_nodes=n) == pytest.approx(measures)
    assert community_measures(zx, y) == pytest.approx(measures)


@pytest.mark.parametrize("seed", range(4))
def test_a_cover_agrees_with_itself_in_any_order(seed):
    rng = np.random.default_rng(seed)
    z = random_cover(rng, 40, 6)
    measures = community_measures(z, z[:, rng.permutation(6)])
    assert [measures[m] for m in ("average_f1", "matched_f1", "onmi", "omega")] == pytest.approx([1, 1, 1, 1])


def test_any_labels():
    x, y = [{"ann", "bob"}, {"eve"}], [{"bob", "ann"}, {"eve", "joe"}]
    assert average_f1(x, y) == pytest.approx((1 + 2 / 3) / 2)
    assert onmi(x, y) == pytest.approx(onmi([{0, 1}, {2}], [{0, 1}, {2, 3}]))
    assert coverage(x, n_nodes=6) == 0.5


def test_empty_covers():
    some = [{0, 1}, {2}]
    for measure in (average_f1, matched_f1, onmi):
        assert measure([], []) == 1.0
        assert measure(some, []) == 0.0
        assert measure(some, [set(), set()]) == 0.0
    assert omega_index([], [], n_nodes=3) == 1.0
    assert omega_index(some, [], n_nodes=3) == pytest.approx(0.0)
    assert coverage([], n_nodes=3) == 0.0
    assert coverage([]) == 0.0
    assert onmi([{0, 1}], [{0, 1}]) == 1.0


def test_nodes_in_no_community_count():
    assert onmi([{0, 1}], [{0, 1, 2}], n_nodes=100) > onmi([{0, 1}], [{0, 1, 2}], n_nodes=4)
    assert coverage(np.array([[1, 0], [0, 0]])) == 0.5


def test_stability_over_restarts():
    one, other = [{1, 2}], [{1, 2, 3, 4}]
    assert stability([one, one, one]) == 1.0
    assert stability([one, one, other]) == pytest.approx((1 + 2 * 2 / 3) / 3)
    with pytest.raises(ValueError, match="two or more; there are 1"):
        stability([one])


def test_wrong_covers_are_told_at_the_door():
    with pytest.raises(ValueError, match=r"same nodes; these arrays have \[3, 4\] rows"):
        average_f1(np.ones((3, 1)), np.ones((4, 1)))
    with pytest.raises(ValueError, match="holds node 'ann'; with 3 nodes"):
        average_f1(np.ones((3, 1)), [{"ann"}])
    with pytest.raises(ValueError, match="holds node 7; with 4 nodes"):
        onmi([{0, 1}], [{7}], n_nodes=4)
    with pytest.raises(ValueError, match="3 different nodes, more than n_nodes=2"):
        onmi([{"a", "b"}], [{"c"}], n_nodes=2)


def test_hundreds_of_communities(monkeypatch):
    rng = np.random.default_rng(0)
    n, k = 20_000, 200
    node, community = np.repeat(np.arange(n), 2), rng.integers(k, size=2 * n)
    z = sparse.csr_array((np.ones(2 * n), (node, community)), shape=(n, k))
    other = sparse.csr_array((np.ones(2 * n), (node, (community + (rng.random(2 * n) < 0.1)) % k)), shape=(n, k))
    measures = community_measures(z, other)
    assert 0.88 < measures["average_f1"] < 0.92
    assert "omega" in measures
    from klafter.evaluation import communities

    monkeypatch.setattr(communities, "OMEGA_LIMIT", 1000)
    assert "omega" not in community_measures(z, other)
