"""Fits on Dask clusters that find communities, while workers are killed, the scheduler goes, or memory is short.

The answer is that of an undisturbed cluster, or a sentence.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import threading
import time
import warnings

from scipy import sparse

from benchmarks.torture.fits import FITS
from benchmarks.torture.guard import guarded, part, tell
from klafter.search.cluster import dask_executor, retries

KINDS = (*["workers killed"] * 8, "scheduler restarted", "little memory")
STALL, PATIENCE = 4, 30  # seconds that a fit waits here for work and for workers, so that losses are soon noticed
SECONDS = 360  # after which a process begins no further trial, so that what it found is saved
WALL = 300  # seconds after which a fit hangs; they take ten to sixty
KILLS = 12  # workers at most that a fit loses
SENTENCES = (RuntimeError, ValueError)
QUIET = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}


def answer(name: str, client) -> tuple:
    """All that a fit found, which has to be communities."""
    model, graph = FITS[name]()
    model.fit(graph, client=client)
    assert model.n_communities_ > 1, "no communities"
    return float(model.objective_), sparse.csr_array(model.memberships_).toarray().tobytes()


class Killer:
    """Kills workers of a cluster at random moments, from a thread of its own."""

    def __init__(self, client, rng: random.Random) -> None:
        self.client, self.rng, self.kills, self.over = client, rng, 0, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while self.kills < KILLS and not self.over.wait(self.rng.uniform(0.1, 2.0)):
            pids = list(self.client.run(os.getpid, on_error="ignore").values())
            most = len(pids) - 1  # the last worker stays: a new one takes a while
            for pid in self.rng.sample(pids, self.rng.randint(1, most)) if most > 0 else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1

    def __enter__(self) -> Killer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


def with_kills(rng: random.Random, name: str, wanted: tuple) -> None:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=4, processes=True, **QUIET) as group, Client(group) as client:
        with Killer(client, rng) as killer:
            found = answer(name, client)
        tell(kills=killer.kills)
        assert found == wanted, "another answer"


def with_restart(rng: random.Random, name: str, wanted: tuple) -> None:
    """The scheduler forgets everything it knew, as after a restart of its process."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, processes=True, **QUIET) as group, Client(group) as client:
        timer = threading.Timer(rng.uniform(0.2, 3.0), client.restart)
        timer.start()
        try:
            found = answer(name, client)
        finally:
            timer.join()
        tell(restarts=1)
        assert found == wanted, "another answer"


def with_little_memory(rng: random.Random, name: str, wanted: tuple) -> None:
    from dask.distributed import Client, LocalCluster

    limit = f"{rng.choice((150, 200, 250, 400))}MB"
    with LocalCluster(n_workers=2, processes=True, memory_limit=limit, **QUIET) as group, Client(group) as client:
        assert answer(name, client) == wanted, "another answer"


def fork_workers() -> None:
    """Workers from a process that has loaded all they need: kills then meet the work, not its beginning."""
    import dask

    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    from distributed.utils import get_mp_context

    get_mp_context().set_forkserver_preload(["distributed", "benchmarks.torture.loaded"])


def run(first: int, last: int) -> None:
    """Trials from one number to another."""
    fork_workers()
    from dask.distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    retries.STALL = dask_executor.STALL = STALL
    retries.PATIENCE = PATIENCE
    names, wanted, end = list(FITS), {}, time.monotonic() + SECONDS
    trials = {"workers killed": with_kills, "scheduler restarted": with_restart, "little memory": with_little_memory}
    for number in range(first, last):
        if number > first and time.monotonic() > end:
            break
        kind, name = KINDS[number % len(KINDS)], names[number % len(names)]
        if name not in wanted:
            with LocalCluster(n_workers=1, processes=False, **QUIET) as group, Client(group) as client:
                wanted[name] = answer(name, client)

        def act(kind=kind, name=name, number=number):
            try:
                trials[kind](random.Random(number), name, wanted[name])
            except SENTENCES:
                tell(sentences=1)
                raise

        guarded(number, f"{name}, {kind}", act, SENTENCES, limit=120, wall=WALL)


if __name__ == "__main__":
    part(run)
