"""The decorators that kernels wear, and a word to the user while they compile."""

import gc
import logging
import threading
from contextlib import contextmanager
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import event

from klafter.jit.linker import LinkedCompiler
from klafter.jit.plain import unless_plain

log = logging.getLogger("klafter")

SELDOM = 100_000  # new objects before garbage is looked for: at Python's 700 that is a twentieth of compilation


OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"nsz", "contract", "arcp", "reassoc"},  # infinities and NaN keep their meaning
    "_nrt": True,  # else taken over from the first caller
}


@unless_plain
def kernel(function):
    """Compile to machine code on first use, release the lock, and keep the code on disk."""
    return _compiled(njit(cache=True, **OPTIONS)(function))


@unless_plain
def inner(function):
    """A kernel that only other kernels call."""
    compiled = _compiled(njit(pipeline_class=LinkedCompiler, **OPTIONS)(function))
    compiled.targetoptions["no_cpython_wrapper"] = True
    return compiled


def _compiled(dispatcher):
    dispatcher.targetoptions["no_cfunc_wrapper"] = True  # an entry from C, which nobody uses
    dispatcher.get_call_template = partial(_typed_by_kind, dispatcher.get_call_template)
    return dispatcher


def _typed_by_kind(get_call_template, args, kws):
    """A call with a literal, f(view, 0), is one with an integer: else Numba compiles f again for every literal."""
    return get_call_template(
        tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
    )


@unless_plain
def bare(function):
    """An inner kernel that counts no references: many times faster in short calls, but it cannot make arrays.

    Numba counts every array that is taken out of a struct or a tuple, and gives it back, by atomic steps.
    """
    compiled = inner(function)
    compiled.targetoptions["_nrt"] = False
    return compiled


@unless_plain
def inlined(function):
    """A bare kernel that is copied into its callers."""
    compiled = bare(function)
    compiled.targetoptions["forceinline"] = True
    return compiled


class _Compiling(event.Listener):
    """Starts a timer when something is compiled, and lets garbage lie; what is loaded from disk does not count."""

    def __init__(self, timer: threading.Timer) -> None:
        self.timer = timer
        self.begun = False

    def on_start(self, event: event.Event) -> None:
        if not self.begun:
            self.begun = True
            self.timer.start()
            if (often := gc.get_threshold())[0]:
                gc.set_threshold(SELDOM, *often[1:])

    def on_end(self, event: event.Event) -> None:
        pass


@contextmanager
def announce_compilation(seconds: float = 1.5):
    """Say so when compilation takes long: it is done once, for all later runs."""
    timer = threading.Timer(seconds, log.warning, ["Compiling for first use; this happens once and takes a while."])
    timer.daemon = True
    often = gc.get_threshold()
    with event.install_listener("numba:compile", _Compiling(timer)):
        try:
            yield
        finally:
            timer.cancel()
            gc.set_threshold(*often)
