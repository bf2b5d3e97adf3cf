"""Linear algebra on one thread while a fit runs or the structural expert learns: its matrices are small.

Threads that wait cost more than they do: the eigenvalues of a small matrix take BLAS some forty times the processor
seconds on two threads that they take on one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_limiting = threading.Lock()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, unless a fit on another thread did: the limit is one of the whole process.

    The fit that set the limit also restores what was there.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()
