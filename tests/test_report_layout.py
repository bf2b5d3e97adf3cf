"""The force layout: its forces are those of the formula, and drawings are legible."""

import numpy as np
import pytest
from report_models import two_groups
from scipy import sparse

from klafter.datasets import make_overlapping
from klafter.jit.decorators import kernel
from klafter.models.results.cover import as_cover
from klafter.report.communities import community_table
from klafter.report.layout import _drawn_in, _rows, force_layout, separate, spacing
from klafter.report.layout_kernels import CLOSE, GRAVITY, TOGETHER, orthonormalise, set_forces, walk
from klafter.report.network import MEMBERS, draw_members


@kernel
def force_of(x, links, members, centre, size, mass):
    force = np.empty_like(x)
    set_forces(x, links, members, centre, size, mass, force)
    return force


@kernel
def walked(x, links, members, centre, size):
    then = np.empty_like(x)
    walk(x, links, members, centre, size, then)
    return then


@kernel
def make_orthonormal(x):
    orthonormalise(x)


def draw_case(seed, n=12, k=3):
    """Positions, two of them too close, symmetric links and memberships, the last two nodes without any."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    x[1] = x[0] + 1e-3
    a = np.triu(rng.random((n, n)) < 0.3, 1)
    z = rng.random((n, k)) < 0.4
    a[:, -2:], z[-2:] = False, False
    return x, (a | a.T).astype(float), z.astype(float)


def mean_centres(x, z):
    """For each node the mean of the centres of its communities, or its own place."""
    centres = [x[z[:, k] > 0].mean(axis=0) if z[:, k].any() else np.zeros(2) for k in range(z.shape[1])]
    return np.array(
        [np.mean([centres[k] for k in np.flatnonzero(row)], axis=0) if row.any() else x[i] for i, row in enumerate(z)]
    )


def plain_forces(x, a, z):
    """The formula of the module, node by node, over the weights of the attractions."""
    degree, centres = a.sum(axis=1), mean_centres(x, z)
    mass = np.sqrt(1 + degree)
    pull = TOGETHER * mass * z.any(axis=1)
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = sum(a[i, j] * (x[j] - x[i]) for j in range(len(x)))
        out[i] += pull[i] * (centres[i] - x[i]) - GRAVITY * mass[i] * x[i]
        for j in range(len(x)):
            gap = x[i] - x[j]
            out[i] += mass[i] * mass[j] * gap / max(gap @ gap, CLOSE)
    return out / (degree + pull + GRAVITY * mass + 1)[:, None]


def workspace(x, a, z):
    links, members = _rows(sparse.csr_array(a)), _rows(sparse.csr_array(z))
    return np.ascontiguousarray(x.T), links, members, np.empty((2, z.shape[1])), np.empty(z.shape[1])


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_those_of_the_formula(seed):
    x, a, z = draw_case(seed)
    found = force_of(*workspace(x, a, z), np.sqrt(1 + a.sum(axis=1))).T
    assert found == pytest.approx(plain_forces(x, a, z))


@pytest.mark.parametrize("seed", range(4))
def test_the_start_walks_along_links_and_through_communities(seed):
    x, a, z = draw_case(seed)
    then = walked(*workspace(x, a, z))
    step = x / 2 + a @ x / np.maximum(a.sum(axis=1), 1)[:, None] / 4 + mean_centres(x, z) / 4
    step -= step.mean(axis=0)
    assert then @ then.T == pytest.approx(np.eye(2))
    assert then.sum(axis=1) == pytest.approx(np.zeros(2))
    assert then.T @ (then @ step) == pytest.approx(step)


def test_a_direction_that_vanishes_stays_zero():
    x = np.array([[1.0, 3.0], [2.0, 6.0]])
    make_orthonormal(x)
    assert x == pytest.approx(np.array([[-1.0, 1.0], [0.0, 0.0]]) / np.sqrt(2))


def test_layout_keeps_communities_together_and_apart():
    block = np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20)
    z = np.kron(np.eye(2), np.ones((10, 1)))
    x = force_layout(sparse.csr_array(block), sparse.csr_array(z))
    inside = np.linalg.norm(x[:10] - x[:10].mean(axis=0), axis=1).max()
    assert np.linalg.norm(x[:10].mean(axis=0) - x[10:].mean(axis=0)) > 1.5 * inside
    assert np.array_equal(x, force_layout(sparse.csr_array(block), sparse.csr_array(z)))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_layout_of_very_small_graphs(n):
    x = force_layout(sparse.csr_array((n, n)), sparse.csr_array((n, 0)))
    assert x.shape == (n, 2)
    assert np.isfinite(x).all()


def test_separate_moves_nodes_apart():
    x = np.random.default_rng(0).normal(size=(60, 2))
    radii = np.full(60, 0.2 * spacing(x))
    y = separate(x, radii)
    gaps = np.linalg.norm(y[:, None] - y[None], axis=2) + np.eye(60)
    assert gaps.min() > 1.9 * radii[0]


def test_members_of_a_community_are_drawn_apart_within_a_byte():
    graph, truth = make_overlapping(n=400, community_size=120, mean_degree=10, random_state=0)
    communities = community_table(graph, as_cover(truth.memberships))
    for community, drawn in zip(communities, draw_members(graph, communities), strict=True):
        places = np.column_stack([drawn.x, drawn.y]).astype(float)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(len(places))
        assert len(places) == min(community.size, MEMBERS)
        assert (places.min(), places.max()) == (0, 255)
        assert gaps.min() > 2 * drawn.radius


def test_a_community_of_one_and_an_empty_one_are_drawn():
    graph, _ = two_groups()
    alone, empty = draw_members(graph, community_table(graph, sparse.csr_array(([1.0], ([0], [0])), shape=(8, 2))))
    assert (alone.x.tolist(), alone.y.tolist(), alone.links) == ([0], [0], [])
    assert (len(empty.x), empty.links) == (0, [])


def test_a_drawing_lies_flat_and_leaves_the_corner_of_the_buttons_free():
    n = 30
    chain = sparse.csr_array(np.eye(n, k=1))
    x = force_layout(chain, sparse.csr_array((n, 0)))
    wide, high = np.ptp(x, axis=0)
    assert wide > high
    free = [np.linalg.norm(x - corner, axis=1).min() for corner in (x.max(axis=0), [x[:, 0].min(), x[:, 1].max()])]
    assert free[0] >= free[1]


def test_nodes_far_out_come_nearer_and_stay_in_order():
    x = np.column_stack([np.r_[np.linspace(0.1, 1, 20), 3.0, 9.0, 40.0], np.zeros(23)])
    r = np.linalg.norm(_drawn_in(x), axis=1)
    assert (np.diff(r) > 0).all()
    assert r[:15] == pytest.approx(x[:15, 0])
    assert r[-1] < 6
