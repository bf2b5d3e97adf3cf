"""The decorators that kernels wear."""

import logging
import threading
from contextlib import contextmanager

from numba import njit

log = logging.getLogger("klafter")
_warm = False

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"nsz", "contract", "arcp", "reassoc"},  # infinities and NaN keep their meaning
}


def kernel(function):
    """Compile to machine code on first use, release the lock, and keep the code on disk."""
    return njit(**_OPTIONS)(function)


def inlined(function):
    """A kernel pasted into its callers: a call would count references on every array it is handed."""
    return njit(inline="always", **_OPTIONS)(function)


@contextmanager
def announce_compilation(seconds: float = 1.5):
    """Say so when the first kernels of this process take long: they are being compiled, once for all later runs."""
    global _warm
    if _warm:
        yield
        return
    timer = threading.Timer(seconds, log.warning, ["Compiling for first use; this happens once and takes a while."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _warm = True
