"""What the decorators of kernels promise."""

import gc
import signal
import sys
import time
from contextlib import nullcontext

import numpy as np
import oracles
import pytest
from numba import njit
from numba.core import event
from numba.core.caching import NullCache
from numba.core.errors import NumbaError

from klafter.core.workspace import open_workspace
from klafter.jit.compilation import announce_compilation, interrupts_wait
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


def test_garbage_waits_while_a_kernel_is_compiled():
    seen = []

    @kernel
    def slow(x):
        return np.zeros(x)[0]

    slow._cache = NullCache()  # compiled in an earlier run or not, it is compiled now

    class Watch(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    with event.install_listener("numba:run_pass", Watch()):
        slow(2)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_what_a_kernel_takes_from_numba_is_linked_to_it_and_nothing_else_is_made_so():
    @kernel
    def within(x):
        return np.full(x, 3.0).sum()

    @njit
    def outside(x):
        return within(x) + np.full(x, 4.0).sum()

    codegen = within._compiler.targetdescr.target_context.codegen()
    kind = codegen._library_class
    assert within(2) == 6.0
    assert codegen._library_class is kind
    assert outside(2) == 14.0


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_waits_until_a_kernel_is_compiled(times):
    before, done = signal.getsignal(signal.SIGINT), []

    @interrupts_wait()
    def compile():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        done.append("compiled")

    with pytest.raises(KeyboardInterrupt):
        compile()
    assert done == ["compiled"] * (times == 1)
    assert signal.getsignal(signal.SIGINT) is before


def test_compiling_a_kernel_is_undisturbed(monkeypatch):
    from klafter.jit import decorators

    seen = []
    monkeypatch.setattr(decorators, "interrupts_wait", lambda: seen.append(True) or nullcontext())

    @decorators.kernel
    def double(x):
        return 2 * x

    assert double(3) == 6
    assert seen


@kernel
def draw(rng):
    return rng.random() + rng.integers(0, 10) + rng.standard_normal()


def test_a_generator_is_received_without_any_python(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    draw(np.random.default_rng(0))
    monkeypatch.setattr("ctypes.cast", interrupted)
    for source in (np.random.PCG64, np.random.MT19937, np.random.Philox):
        rng, same = np.random.Generator(source(1)), np.random.Generator(source(1))
        assert draw(rng) == same.random() + same.integers(0, 10) + same.standard_normal()
        assert rng.bit_generator.random_raw() == same.bit_generator.random_raw()
