"""Fits on Dask clusters that find communities, while workers are killed, the scheduler goes, or memory is short.

The answer is that of an undisturbed cluster, or a sentence.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import warnings

from benchmarks.torture.fits import planted
from benchmarks.torture.guard import guarded, part, tell
from klafter.models import KLafter

KINDS = ("workers killed", "workers killed", "workers killed", "scheduler restarted", "little memory")
KILLS = 4  # workers at most that a fit loses
QUIET = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}


def fit(client, callback=None) -> KLafter:
    model = KLafter(link="exposure", random_state=0, max_iter=3)
    return model.fit(planted(), client=client, callback=callback)


def answer(model: KLafter) -> tuple:
    return float(model.objective_), model.memberships_.toarray().tobytes()


class Killer:
    """Kills a worker of a cluster at random moments, from a thread of its own."""

    def __init__(self, client, rng: random.Random) -> None:
        self.client, self.rng, self.kills, self.over = client, rng, 0, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while self.kills < KILLS and not self.over.wait(self.rng.uniform(0.2, 3.0)):
            pids = list(self.client.run(os.getpid, on_error="ignore").values())
            if len(pids) > 1:  # the last worker stays: a new one takes a while
                os.kill(self.rng.choice(pids), signal.SIGKILL)
                self.kills += 1

    def __enter__(self) -> Killer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


def with_kills(rng: random.Random, wanted: tuple) -> None:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=3, processes=True, **QUIET) as group, Client(group) as client:
        with Killer(client, rng) as killer:
            found = answer(fit(client))
        tell(kills=killer.kills)
        assert found == wanted, "another answer"


def with_restart(rng: random.Random, wanted: tuple) -> None:
    """The scheduler forgets everything it knew, as after a restart of its process."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, processes=True, **QUIET) as group, Client(group) as client:
        timer = threading.Timer(rng.uniform(0.2, 3.0), client.restart)
        timer.start()
        try:
            found = answer(fit(client))
        finally:
            timer.join()
        tell(restarts=1)
        assert found == wanted, "another answer"


def with_little_memory(rng: random.Random, wanted: tuple) -> None:
    from dask.distributed import Client, LocalCluster

    limit = f"{rng.choice((150, 200, 250, 400))}MB"
    with LocalCluster(n_workers=2, processes=True, memory_limit=limit, **QUIET) as group, Client(group) as client:
        assert answer(fit(client)) == wanted, "another answer"


def run(first: int, last: int) -> None:
    """Trials from one number to another."""
    from dask.distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    with LocalCluster(n_workers=1, processes=False, **QUIET) as group, Client(group) as client:
        model = fit(client)
        assert model.n_communities_ == 5
        wanted = answer(model)
    trials = {"workers killed": with_kills, "scheduler restarted": with_restart, "little memory": with_little_memory}
    for number in range(first, last):
        kind = KINDS[number % len(KINDS)]

        def act(kind=kind, number=number):
            trials[kind](random.Random(number), wanted)

        guarded(number, kind, act, (RuntimeError, ValueError), limit=120)


if __name__ == "__main__":
    part(run)
