"""What the decorators of kernels promise."""

import gc
import sys
import time

import numpy as np
import oracles
import pytest
from numba import njit
from numba.core.errors import NumbaError

from klafter.core.workspace import open_workspace
from klafter.jit.compilation import announce_compilation
from klafter.jit.decorators import bare, inner, kernel


@inner
def double(x):
    return 2 * x


@kernel
def thrice(n):
    return double(0) + double(1) + double(n)


def test_a_literal_does_not_compile_a_kernel_again():
    assert thrice(3) == 8
    assert len(double.signatures) <= 1  # none where `thrice` came from the cache


@bare
def first_weight(ws):
    return ws.w[0, 0]


@kernel
def read_often(ws, times):
    total = 0.0
    for _ in range(times):
        total += first_weight(ws)
    return total


def test_a_bare_kernel_reads_a_view_and_leaves_its_references_as_they_were():
    _, problem, state = oracles.draw_case(0, "bernoulli")
    ws = open_workspace(problem, state)
    before = sys.getrefcount(state.w)
    total = read_often(ws, 100)
    after = sys.getrefcount(state.w)
    assert total == pytest.approx(100 * state.w[0, 0])
    assert after == before


def test_a_bare_kernel_that_makes_an_array_is_refused():
    @bare
    def make(n):
        return np.empty(n)[0]

    @kernel
    def call(n):
        return make(n)

    with pytest.raises(NumbaError):
        call(3)


def test_code_that_is_only_linked_is_not_made_twice():
    assert thrice(3) == 8
    for result in double.overloads.values():
        assert result.library.get_pointer_to_function(result.fndesc.mangled_name) == 0


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


def test_garbage_waits_while_something_is_compiled():
    often = gc.get_threshold()
    slow = njit(lambda x: x + 2)
    with announce_compilation():
        assert gc.get_threshold() == often
        slow(1)
        assert gc.get_threshold()[0] > often[0]
    assert gc.get_threshold() == often
