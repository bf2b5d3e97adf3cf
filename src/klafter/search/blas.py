"""Linear algebra on one thread while a fit runs: its matrices are small, and threads that wait cost more than they do.

The eigenvalues of a small matrix take BLAS some forty times the processor seconds on two threads that they take on one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_running: list[Any] = []  # a token for each fit under way, which may be several: the limit is one of the whole process
_limit: list[Any] = []


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; the last fit that leaves puts back what there was before the first."""
    token = object()
    with _lock:
        if not _running:
            _limit.append(_libraries().limit(limits=1, user_api="blas"))
        _running.append(token)
    try:
        yield
    finally:
        with _lock:
            _running.remove(token)
            if not _running:
                _limit.pop().restore_original_limits()
