"""Threads of one search, and what it remembers from one step to the next.

Work is cut the same way for any number of threads, so the answer does not depend on it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from klafter.search.sparse.refusals import Refusals

BLOCKS = 32  # of nodes: fixed, so that sums do not depend on the number of threads


class ThreadPool:
    """A few threads that run kernels, which release the lock; each has scratch space of its own."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self._own = threading.local()
        self.refused: dict[str, Refusals] = {}  # by move

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def refusals(self, move: str) -> Refusals:
        """What is remembered of a move."""
        return self.refused.setdefault(move, Refusals())

    def map(self, work: Callable, jobs: Iterable) -> list:
        """``work`` of every job, in the order of the jobs."""
        return list(map(work, jobs) if self._pool is None else self._pool.map(work, jobs))

    def blocks(self, work: Callable[[int, int], object], n: int) -> list:
        """``work(low, high)`` of consecutive blocks that cover 0..n."""
        cuts = [n * b // BLOCKS for b in range(BLOCKS + 1)]
        return self.map(lambda cut: work(*cut), [cut for cut in pairwise(cuts) if cut[0] < cut[1]])

    def opener(self, make: Callable) -> Callable:
        """``make``, called once if there is one thread, else whenever what it makes is needed."""
        if self._pool is not None:
            return make
        made = make()
        return lambda: made

    def scratch(self, make: Callable, key):
        """This thread's own scratch space, made on first use."""
        spaces = self._own.__dict__.setdefault("spaces", {})
        if key not in spaces:
            spaces[key] = make()
        return spaces[key]
