"""The one seam for parallel work: independent jobs, in order, on threads or on a Dask cluster the user brings."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def n_workers(n_jobs: int | None, n_tasks: int) -> int:
    """How many threads to use: None is one, -1 all cores."""
    cores = os.cpu_count() or 1
    asked = 1 if n_jobs is None else n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
    return max(1, min(asked, n_tasks))


def run(
    job: Callable, tasks: Sequence, n_jobs: int | None = None, client=None, stop=None, keep: Callable | None = None
) -> list:
    """``job(task, stop)`` for each task; kernels release the lock, so threads suffice.

    Ctrl-C sets ``stop``: jobs under way return what they have, jobs not begun are left out. ``keep(t, result)`` is
    called as each ends, perhaps from its own thread.
    """
    stop = threading.Event() if stop is None else stop
    if client is not None:
        return _on_cluster(job, tasks, client, keep)
    if keep is not None:
        job, tasks = _kept(job, keep), list(enumerate(tasks))
    workers = n_workers(n_jobs, len(tasks))
    if workers == 1:
        return _in_turn(job, tasks, stop)
    with ThreadPoolExecutor(workers) as pool:
        futures = []
        try:
            futures += [pool.submit(job, task, stop) for task in tasks]
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            stop.set()
            begun = [future for future in futures if not future.cancel()]
            return [future.result() for future in begun]


def of_interrupt(error: BaseException | None) -> bool:
    """Whether it is a Ctrl-C, or what a compiler that met one made of it."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def _kept(job: Callable, keep: Callable) -> Callable:
    def kept(numbered, stop):
        t, task = numbered
        result = job(task, stop)
        try:
            keep(t, result)
        except KeyboardInterrupt:  # the result is there, whether or not it was written
            stop.set()
        return result

    return kept


def _on_cluster(job: Callable, tasks: Sequence, client, keep: Callable | None) -> list:
    """Each result as soon as it is there; what workers took along is asked for again."""
    from klafter.search.cluster.retries import gathered, retry, some_done

    found: dict[int, Any] = {}

    def attempt() -> None:
        left = {client.submit(job, tasks[t], None, pure=False): t for t in range(len(tasks)) if t not in found}
        while left:
            for future in some_done(list(left), client, all_of_them=False):
                t = left.pop(future)
                found[t] = gathered([future], client)[0]
                if keep is not None:
                    keep(t, found[t])

    retry(attempt, client)
    return [found[t] for t in range(len(tasks))]


def _in_turn(job: Callable, tasks: Sequence, stop: threading.Event) -> list:
    """One after the other. Ctrl-C where a job has nothing to return yet keeps what the others found."""
    found: list = []
    for task in tasks:
        try:
            found.append(job(task, stop))
        except BaseException as error:
            if not found or not of_interrupt(error):
                raise
            stop.set()
        if stop.is_set():
            break
    return found
