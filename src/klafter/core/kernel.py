"""The one decorator that all kernels wear."""

from numba import njit


def kernel(function):
    """Compile to machine code on first use, release the lock, and keep the code on disk."""
    return njit(cache=True, nogil=True, fastmath={"nsz", "contract", "arcp", "reassoc"}, error_model="numpy")(function)
