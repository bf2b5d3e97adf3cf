"""What the decorators of kernels promise."""

import time

from numba import njit

from klafter.core.kernel import announce_compilation, inner, kernel


@inner
def double(x):
    return 2 * x


@kernel
def thrice(n):
    return double(0) + double(1) + double(n)


def test_a_literal_does_not_compile_a_kernel_again():
    assert thrice(3) == 8
    assert len(double.signatures) <= 1  # none where `thrice` came from the cache


def test_compilation_is_announced_and_slow_work_is_not(caplog):
    slow = njit(lambda x: x + 1)
    with announce_compilation(seconds=0.0):
        time.sleep(0.2)
    assert not caplog.records
    with announce_compilation(seconds=0.0):
        slow(1)
        time.sleep(0.2)
    with announce_compilation(seconds=0.0):
        slow(2)
        time.sleep(0.2)
    assert [record.getMessage()[:9] for record in caplog.records] == ["Compiling"]
