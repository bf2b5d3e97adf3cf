"""Which link describes a network of 0/1 links better, asked where either engine has an answer in seconds or minutes.

At temperature 1 both objectives are minus the log of a posterior over the same links, and with Laplace's price for what
each leaves free, minus the log of how probable the network is. Around its optimum the dense engine also draws, which
mends what its optimum has too much: it is left only where the sparse one is well ahead.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from klafter.core.problem import Problem, State
from klafter.graph import Graph
from klafter.search.dense.score import score
from klafter.search.descend import Recipe, Task
from klafter.search.restart import restart
from klafter.search.sparse import fit as large

AHEAD = 0.96  # of what the dense engine takes, which the sparse one must stay below
CHOICE = (1_000_000,)


class Rival(NamedTuple):
    """What a restart of the dense engine needs."""

    problem: Problem
    recipe: Recipe


def search_if_better(
    graph: Graph, settings: large.Settings, rival: Rival, seeds, callback, stop
) -> large.Outcome | None:
    """What the sparse engine finds, if that describes the network clearly better than the dense one, or Ctrl-C came."""
    first, second = np.random.SeedSequence(seeds.entropy, spawn_key=CHOICE).spawn(2)  # restarts have the others
    found = large.search(settings, graph, callback, large.Task(0, 1, first, None), stop)
    if stop.is_set():
        return found
    dense = restart(rival.problem, rival.recipe, Task(0, 1, second, None), callback, stop)
    if stop.is_set() or described_by_exposure(found) < AHEAD * described_by_logit(dense.problem, dense.state):
        return found
    return None


def described_by_logit(problem: Problem, state: State) -> float:
    """Q and the price of W, b and sociality."""
    return score(problem, state)


def described_by_exposure(outcome: large.Outcome) -> float:
    """Q and the price of strengths, background and degree factors: log(1 + counts / a) / 2 for each of the latter."""
    problem = outcome.problem
    links = problem.value.sum() / 2.0
    priced = 0.5 * (len(outcome.state.size) + 1) * np.log(max(links, 1.0))
    if np.isfinite(problem.shrinkage):
        ends = [problem.start[:-1], problem.start[1:]]
        if problem.pair_weight == 1.0:  # as source, and as target
            ends.insert(1, problem.middle)
        for low, high in pairwise(ends):
            priced += 0.5 * np.log1p((high - low) / problem.shrinkage).sum()
    return float(outcome.history[-1].objective + problem.temperature * priced)
