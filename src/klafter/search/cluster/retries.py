"""Work that a cluster lost, when workers died or its scheduler began anew, is asked for again, a few times."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, TypeVar

ATTEMPTS = 5  # at work whose worker died
STALL, PATIENCE = 20, 300  # seconds that work may wait with no worker at it, and that the cluster may have no worker
LOOK = 2  # seconds of waiting after which workers that are needed are looked for

Found = TypeVar("Found")


def retry(attempt: Callable[[], Found], client: Any, lost: Callable[[], None] = lambda: None) -> Found:
    """What ``attempt`` gives, tried again where workers ended and Dask itself cannot recover what they had."""
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except Exception as error:
            if not is_loss(error):
                raise
            last = error
        lost()
        if number < ATTEMPTS - 1:
            time.sleep(2.0**number)  # until the cluster knows which workers are gone
            _await_workers(client)
    raise RuntimeError(
        f"The cluster lost the same work {ATTEMPTS} times, so the fit cannot go on. Workers may need more memory: "
        "their logs say why they ended. With checkpoint= a fit goes on from where it was."
    ) from last


def is_loss(error: Exception) -> bool:
    """Whether work was lost because workers ended. A closing worker or scheduler raises a bare Exception."""
    from distributed import KilledWorker

    return type(error) is Exception or isinstance(error, (CancelledError, KilledWorker, OSError))


def some_done(futures: list[Any], client: Any, *, all_of_them: bool, needed: list[str] | None = None) -> set[Any]:
    """Futures that are done; an error if nothing is at work on them, as when what they need died with a worker, or if
    one of the workers that alone may do them is gone. Nobody waits for ever: after ``PATIENCE`` seconds in which no
    worker computes, work that is with one counts as lost."""
    from distributed import wait

    waited = idle = 0
    while True:
        patience = STALL if needed is None else LOOK
        try:
            done = wait(
                futures, timeout=patience, return_when="ALL_COMPLETED" if all_of_them else "FIRST_COMPLETED"
            ).done
            return set(done)
        except TimeoutError:
            waited += patience
            if needed is not None and not set(needed) <= set(client.nthreads()):
                raise CancelledError("A worker that had shards is gone.") from None
            if waited < STALL:
                continue
            if not any(client.processing().values()):
                raise CancelledError(f"No worker was at work for {STALL} s.") from None
            idle = 0 if _computes(client) else idle + waited
            waited = 0
            if idle >= PATIENCE:
                raise CancelledError(f"No worker computed anything for {idle} s.") from None


def _computes(client: Any) -> bool:
    """Whether a worker has a task on a thread. One that is paused for want of memory, or waits for what a dead one had,
    keeps tasks that it never begins; a worker that does not answer does not compute either."""

    async def stacks() -> Any:
        return await client.scheduler.call_stack(keys=None)

    try:
        return any(client.sync(stacks, callback_timeout=STALL).values())
    except (TimeoutError, OSError):
        return False


def gathered(futures: list[Any], client: Any, *, needed: list[str] | None = None) -> list[Any]:
    """Results of futures. A worker may die after it is done and before its result is here: then Dask's own gathering
    waits for a second time, which may be for ever, so that is left to ``some_done``."""

    async def results() -> list[Any] | None:
        task = asyncio.ensure_future(client.gather(futures, asynchronous=True))
        while not (await asyncio.wait({task}, timeout=LOOK))[0]:
            if any(future.status == "pending" for future in futures):
                task.cancel()
                return None
        return list(task.result())

    while True:
        some_done(futures, client, all_of_them=True, needed=needed)
        found = client.sync(results)
        if found is not None:
            return found


def _await_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise RuntimeError(
            f"The cluster has had no worker for {PATIENCE} s, so the fit cannot go on. Start workers and fit again."
        ) from None
