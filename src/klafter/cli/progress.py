"""A bar with time left while a model is fitted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from klafter.cli.screen import Remarks

# how far a run is when a stage begins, and when it ends
STAGES = {
    "choosing": (0.0, 0.0),
    "search": (0.0, 0.5),
    "smoothing": (0.5, 0.95),
    "rebuilding": (0.95, 1.0),
    "refits": (1.0, 1.0),
}


class Meter:
    """How far a fit is, from what its callback is told; runs may go side by side."""

    def __init__(self, advance=None):
        self._advance = advance
        self._runs: dict[int, float] = {}
        self._lock = threading.Lock()

    def __call__(self, progress) -> None:
        if self._advance is None:
            return
        begin, end = STAGES.get(progress.stage, (0.0, 1.0))
        share = begin + (end - begin) * progress.step / max(progress.n_steps, 1)
        with self._lock:
            self._runs[progress.run] = max(share, self._runs.get(progress.run, 0.0))
            done = sum(self._runs.values()) / max(progress.n_runs, 1)
            self.at(
                done, f"{progress.stage}, {progress.run + 1} of {progress.n_runs}, {progress.n_communities} communities"
            )

    def at(self, done: float | None, text: str) -> None:
        """Move the bar to a share of the whole; None when nobody knows how far the whole is."""
        if self._advance is not None:
            self._advance(None if done is None else min(done, 1.0), text)


@contextmanager
def watched(quiet: bool) -> Iterator[Meter]:
    """A callback for ``fit`` that draws a bar on a terminal, and does nothing in a pipe."""
    remarks = Remarks(quiet)
    log = logging.getLogger("klafter")
    log.addHandler(remarks)
    log.propagate = False
    try:
        if remarks.mute:
            yield Meter()
        else:
            yield from _bar(remarks.console)
    finally:
        log.removeHandler(remarks)
        log.propagate = True


def seconds_left(done: float | None, passed: float, compiling: float) -> float | None:
    """At the speed so far; compilation, which comes once, does not count. None while nothing is known."""
    if not done or passed <= compiling:
        return None
    return (passed - compiling) * (1 - done) / done


def clock_face(seconds: float | None) -> str:
    """Hours, minutes and seconds."""
    if seconds is None:
        return "-:--:--"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _bar(console) -> Iterator[Meter]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from klafter.jit.compilation import compile_clock

    columns = (
        BarColumn(30),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]} left,"),
        TimeElapsedColumn(),
        TextColumn("passed: {task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar, compile_clock() as compiling:
        task, begun = bar.add_task("starting", total=1.0, left=clock_face(None)), time.perf_counter()

        def advance(done: float | None, text: str) -> None:
            left = clock_face(seconds_left(done, time.perf_counter() - begun, compiling.seconds))
            bar.update(task, total=None if done is None else 1.0, completed=done, description=text, left=left)

        yield Meter(advance)
