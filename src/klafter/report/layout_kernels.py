"""The arithmetic of the force layout. Positions are (2, n); links and memberships are row pointers and columns.

Loops over nodes stand where array expressions would do: they compile in a third of the time.
"""

import math

import numpy as np

from klafter.jit.decorators import bare, kernel

GRAVITY = 0.12
TOGETHER = 1.5  # pull of a node's communities beside that of one link
CLOSE = 0.01  # squared distance below which repulsion grows no further
WALK = 30  # steps of the walk whose slow directions are the start


@bare
def set_centres(x, members, centre, size):
    """The mean position of the members of each community."""
    start, community = members
    centre[:] = 0.0
    size[:] = 0.0
    for i in range(x.shape[1]):
        for at in range(start[i], start[i + 1]):
            k = community[at]
            size[k] += 1.0
            for c in range(2):
                centre[c, k] += x[c, i]
    for k in range(len(size)):
        for c in range(2):
            centre[c, k] /= max(size[k], 1.0)


@bare
def mean_of(x, rows, i, c):
    """The mean of x over the columns of row i, coordinate c; zero for an empty row."""
    start, column = rows
    total = 0.0
    for at in range(start[i], start[i + 1]):
        total += x[c, column[at]]
    return total / max(start[i + 1] - start[i], 1)


@bare
def orthonormalise(x):
    """Centre both coordinates and make them orthonormal; one that vanishes stays zero."""
    n = x.shape[1]
    for c in range(2):
        total, product, square = 0.0, 0.0, 0.0
        for i in range(n):
            total += x[c, i]
        for i in range(n):
            x[c, i] -= total / n
            product += x[0, i] * x[c, i]
        for i in range(n):
            x[c, i] -= product * x[0, i] if c == 1 else 0.0
            square += x[c, i] * x[c, i]
        for i in range(n):
            x[c, i] = x[c, i] / math.sqrt(square) if square > 1e-18 else 0.0


@bare
def add_repulsion(x, mass, force):
    """f_i += sum_j m_i m_j (x_i - x_j) / |x_i - x_j|^2."""
    a, b = x[0], x[1]
    for i in range(len(mass)):
        right, up = 0.0, 0.0
        for j in range(len(mass)):
            dx, dy = a[i] - a[j], b[i] - b[j]
            weight = mass[j] / max(dx * dx + dy * dy, CLOSE)
            right += weight * dx
            up += weight * dy
        force[0, i] += mass[i] * right
        force[1, i] += mass[i] * up


@bare
def walk(x, links, members, centre, size, then):
    """From x, one step along links and through communities; both directions made orthonormal."""
    set_centres(x, members, centre, size)
    for i in range(x.shape[1]):
        alone = members[0][i + 1] == members[0][i]
        for c in range(2):
            together = x[c, i] if alone else mean_of(centre, members, i, c)
            then[c, i] = 0.5 * x[c, i] + 0.25 * mean_of(x, links, i, c) + 0.25 * together
    orthonormalise(then)


@bare
def set_forces(x, links, members, centre, size, mass, force):
    """The force on each node, over the sum of the weights of its attractions."""
    set_centres(x, members, centre, size)
    force[:] = 0.0
    add_repulsion(x, mass, force)
    for i in range(x.shape[1]):
        degree = links[0][i + 1] - links[0][i]
        pull = TOGETHER * mass[i] if members[0][i + 1] > members[0][i] else 0.0
        gravity = GRAVITY * mass[i]
        for c in range(2):
            near, together = mean_of(x, links, i, c), mean_of(centre, members, i, c)
            force[c, i] += degree * (near - x[c, i]) + pull * (together - x[c, i]) - gravity * x[c, i]
            force[c, i] /= degree + pull + gravity + 1.0


@bare
def step(x, force, longest):
    """Move each node by its force, but no further than ``longest``."""
    for i in range(x.shape[1]):
        length = math.sqrt(force[0, i] ** 2 + force[1, i] ** 2)
        share = min(1.0, longest / max(length, 1e-12))
        for c in range(2):
            x[c, i] += share * force[c, i]


@kernel
def lay_out(x, noise, links, members, n_communities, n_steps):
    """A layout from random positions x: slow directions of a walk, some noise, and steps that grow shorter."""
    n = x.shape[1]
    centre, size = np.zeros((2, n_communities)), np.zeros(n_communities)
    force, mass = np.zeros((2, n)), np.zeros(n)
    for i in range(n):
        mass[i] = math.sqrt(1.0 + links[0][i + 1] - links[0][i])
    for _ in range(WALK):
        walk(x, links, members, centre, size, force)
        x, force = force, x
    for i in range(n):
        for c in range(2):
            x[c, i] = math.sqrt(n) * (math.sqrt(n) * x[c, i] / 2.0 + noise[c, i])
    for t in range(n_steps):
        set_forces(x, links, members, centre, size, mass, force)
        step(x, force, 0.6 * math.sqrt(n) * (1.0 - t / n_steps) ** 1.5)
    return x
