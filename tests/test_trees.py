"""Randomised trees: what each node asks follows from its rows, and together they rank as scikit-learn's do."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.tree import ExtraTreeClassifier

from klafter.prediction.tree_kernels import add_votes, grow_tree
from klafter.prediction.trees import LEAF, Trees

SEEDS = range(6)


def draw_rows(seed, n=240, n_features=6):
    """Rows of numbers and of few values, one of them constant, and which of the rows are links."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, n_features)).astype(np.float32)
    rows[:, 1], rows[:, 2] = np.round(rows[:, 1]), 1.0
    linked = rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * rows[:, 0] - rows[:, 1] * rows[:, 3]))
    return rows, linked.astype(np.int64)


def grown(rows, linked, bag, n_tried, rng):
    return grow_tree(np.ascontiguousarray(rows.T), linked, bag.copy(), LEAF, n_tried, rng)


def leaf_of(tree, row):
    t = 0
    while tree.feature[t] >= 0:
        t = tree.left[t] + int(row[tree.feature[t]] > tree.threshold[t])
    return t


@pytest.mark.parametrize("n_tried", [3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_leaves_hold_what_they_were_grown_from(seed, n_tried):
    rows, linked = draw_rows(seed)
    bag = np.random.default_rng(seed).choice(len(rows), 150, replace=False)
    tree = grown(rows, linked, bag, n_tried, np.random.default_rng(seed))
    leaves = np.array([leaf_of(tree, rows[r]) for r in bag])
    for leaf in set(leaves.tolist()):
        assert (leaves == leaf).sum() >= LEAF
        assert tree.share[leaf] == linked[bag[leaves == leaf]].mean()
    assert len(set(leaves.tolist())) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_of_two_kinds_sorts_better_than_those_of_other_features(seed):
    """Of features with two values every cut is the same one: the best of them is known."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((100, 5)) < 0.5).astype(np.float32)
    linked = np.where(rng.random(100) < 0.2, rng.random(100) < 0.5, rows[:, 3] > 0).astype(np.int64)

    def impurity(column):
        sides = [linked[column == value] for value in (0, 1)]
        return sum(len(side) * side.mean() * (1.0 - side.mean()) for side in sides)

    tree = grown(rows, linked, np.arange(100), 5, rng)
    assert tree.feature[0] == np.argmin([impurity(column) for column in rows.T])


def test_votes_are_those_of_the_leaves():
    rows, linked = draw_rows(0)
    tree = grown(rows, linked, np.arange(150), 3, np.random.default_rng(0))
    votes, which = np.full(len(rows), 0.5), np.array([3, 200, 239])
    add_votes(tree, rows, which, votes)
    expected = np.full(len(rows), 0.5)
    expected[which] += [tree.share[leaf_of(tree, rows[r])] for r in which]
    assert (votes == expected).all()


@pytest.mark.parametrize("linked", [np.zeros(40), np.arange(40) % 2])
def test_rows_that_cannot_be_told_apart_are_one_leaf(linked):
    rows = np.ones((40, 3), np.float32)
    tree = grown(rows, linked.astype(np.int64), np.arange(40), 2, np.random.default_rng(0))
    assert tree.feature[0] == -1
    assert tree.share[0] == linked.mean()


def test_trees_rank_as_those_of_scikit_learn():
    scores = []
    for seed in range(8):
        (rows, linked), (asked, truth) = draw_rows(seed, n=600), draw_rows(seed + 100, n=600)
        theirs = [
            ExtraTreeClassifier(min_samples_leaf=LEAF, max_features=0.5, random_state=t).fit(rows, linked)
            for t in range(60)
        ]
        votes = np.mean([tree.predict_proba(asked)[:, 1] for tree in theirs], axis=0)
        ours = [grown(rows, linked, np.arange(len(rows)), 3, np.random.default_rng(t)) for t in range(60)]
        own = np.zeros(len(asked))
        for tree in ours:
            add_votes(tree, asked, np.arange(len(asked)), own)
        scores.append([roc_auc_score(truth, own), roc_auc_score(truth, votes)])
    one, other = np.array(scores).T
    assert abs((one - other).mean()) < 0.003


def test_what_is_left_out_was_not_seen():
    """Of rows without any meaning those that saw a row would know its kind."""
    rng = np.random.default_rng(0)
    features, linked = rng.standard_normal((300, 4)), (rng.random(300) < 0.3).astype(float)
    assert abs(roc_auc_score(linked, Trees(features, linked, 60).left_out) - 0.5) < 0.1
    assert roc_auc_score(linked, Trees(features, linked, 60).log_odds(features)) > 0.7
