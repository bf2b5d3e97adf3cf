"""Progress of a search or a chain: the line of history it leaves, what a callback receives, and the loop of steps."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias


class Step(NamedTuple):
    """A line of ``history_``: which restart or chain, which step of it, and where it stood."""

    run: int
    step: int
    seconds: float
    objective: float
    n_communities: int


class Progress(NamedTuple):
    """What a callback receives; returning True stops the fit, which keeps the best so far."""

    stage: str
    run: int
    n_runs: int
    step: int
    n_steps: int
    objective: float
    n_communities: int


Callback: TypeAlias = Callable[[Progress], Any]


def iterate(step: Callable, state, n_steps: int, done: Callable, stop) -> Any:
    """The loop: ``state = step(state)`` until ``done(t, state)``, the limit, or Ctrl-C, which keeps the last state."""
    for t in range(n_steps):
        try:
            state = step(state)
            finished = done(t, state)
        except KeyboardInterrupt:
            if stop is None:
                raise
            stop.set()
            break
        if finished or (stop is not None and stop.is_set()):
            break
    return state
