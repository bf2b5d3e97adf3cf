"""The decorators that kernels wear."""

from numba import njit

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
