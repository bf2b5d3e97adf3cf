"""One chain: sweeps of an engine through the one loop, the draws it keeps, and where it stands.

Draws are thinned as they come: every ``stride``-th sweep after the burn-in is kept, and when there are more than
``max_draws`` every other one is let go and the stride doubles. What is kept depends only on how many sweeps were made,
so a chain that is stopped and continued keeps what an uninterrupted one keeps, and memory does not grow with sweeps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from klafter.core.draws import Draw
from klafter.graph import Graph
from klafter.search.progress import Progress, iterate

log = logging.getLogger("klafter")
LONG = 3600.0  # seconds: a chain that would take longer says so
TRIAL = 5  # sweeps before the duration is guessed; the first may compile


class Recipe(NamedTuple):
    """How a chain is run: its engine, which of the engine's densities is traced, and for how long."""

    engine: Any
    density: str
    n_burn: int
    n_draws: int
    max_draws: int


class Task(NamedTuple):
    """One chain to run: its number, its seed, and the chain to continue (None: begin)."""

    run: int
    n_runs: int
    seed: np.random.SeedSequence
    chain: Chain | None


@dataclass
class Chain:
    """Where a chain stands, and what it has seen."""

    run: int
    state: Any
    generator: Mapping  # the state of its bit generator
    start_seconds: float
    n_burned: int = 0
    density: list[float] = field(default_factory=list)
    n_communities: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    stride: int = 1
    best: Any = None  # the state of highest density after the burn-in
    best_density: float = -np.inf

    @property
    def n_sampled(self) -> int:
        """Sweeps after the burn-in."""
        return len(self.density) - self.n_burned

    def copy(self) -> Chain:
        """A chain that can go on without changing this one."""
        lists: dict[str, Any] = {name: value.copy() for name, value in vars(self).items() if isinstance(value, list)}
        return replace(self, **lists)

    @property
    def peak(self) -> tuple[float, Any]:
        """The highest density after the burn-in and its state, or where a chain without draws stands."""
        return (self.best_density, self.best) if self.draws else ((self.density or [-np.inf])[-1], self.state)

    def kept(self, recipe: Recipe, graph: Graph) -> list[Draw]:
        """The draws, or the last state of a chain that has none yet."""
        return self.draws or [recipe.engine.draw(graph, self.state)]


def run_chain(graph: Graph, recipe: Recipe, callback, task: Task, stop, keep=None) -> Chain:
    """Begin or continue a chain; Ctrl-C, or a callback that returns True, ends all chains where they are.

    ``keep`` is given the chain after every sweep.
    """
    rng = np.random.default_rng(task.seed)
    chain = begin(graph, recipe, task, rng) if task.chain is None else resume(task.chain, rng)
    burn = 0 if chain.n_sampled else max(0, recipe.n_burn - chain.n_burned)
    n_steps, first = burn + recipe.n_draws, len(chain.density)
    clock = time.perf_counter()

    def sweep(state):
        nonlocal clock
        clock = time.perf_counter()
        return recipe.engine.step(graph, state, rng)

    def done(t, state):
        record(graph, recipe, chain, state, time.perf_counter() - clock, burning=t < burn)
        chain.generator = rng.bit_generator.state
        _warn_if_long(chain, t, n_steps)
        stage = "burn-in" if t < burn else "sampling"
        value, size = -chain.density[-1], chain.n_communities[-1]
        finished = callback(Progress(stage, task.run, task.n_runs, first + t + 1, first + n_steps, value, size))
        if finished and stop is not None:
            stop.set()
        if keep is not None:
            keep(chain)
        return finished

    iterate(sweep, chain.state, n_steps, done, stop)
    return chain


def begin(graph: Graph, recipe: Recipe, task: Task, rng) -> Chain:
    """A chain at its first state."""
    started = time.perf_counter()
    state = recipe.engine.init(graph, rng)
    return Chain(task.run, state, rng.bit_generator.state, time.perf_counter() - started)


def resume(chain: Chain, rng) -> Chain:
    """A copy of the chain, and the generator put where the chain left it."""
    rng.bit_generator.state = chain.generator
    return chain.copy()


def record(graph: Graph, recipe: Recipe, chain: Chain, state, seconds: float, burning: bool) -> None:
    """Note a sweep: traces, and after the burn-in the best state and the draw if its turn has come."""
    engine = recipe.engine
    density = getattr(engine, recipe.density)(graph, state)
    if burning:
        chain.n_burned += 1
    else:
        if density > chain.best_density or chain.best is None:
            chain.best, chain.best_density = state, density
        if chain.n_sampled % chain.stride == 0:
            chain.draws.append(engine.draw(graph, state))
        if len(chain.draws) > recipe.max_draws:
            chain.draws, chain.stride = chain.draws[::2], 2 * chain.stride
    chain.density.append(density)
    chain.n_communities.append(int(engine.communities(state).any(axis=0).sum()))
    chain.seconds.append(seconds)
    chain.state = state


def _warn_if_long(chain: Chain, t: int, n_steps: int) -> None:
    if t + 1 == TRIAL and (ahead := (n_steps - TRIAL) * float(np.median(chain.seconds[-TRIAL:]))) > LONG:
        log.warning(
            "Chain %d will take about %.1f hours. Ctrl-C keeps what was sampled, and warm_start=True continues it.",
            chain.run, ahead / 3600,
        )  # fmt: skip
