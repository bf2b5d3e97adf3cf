"""The decorators of kernels."""

from functools import partial
from typing import Any

from numba import njit, types

import klafter.jit.generators  # noqa: F401  (what it registers)
from klafter.jit.cache import KernelCache
from klafter.jit.compilation import interrupts_wait
from klafter.jit.linker import KernelCompiler, LinkedCompiler
from klafter.jit.plain import unless_plain

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"nsz", "contract", "arcp", "reassoc"},  # infinities and NaN keep their meaning
    "_nrt": True,  # else taken over from the first caller
}


@unless_plain
def kernel(function):
    """Compile to machine code on first use, release the lock, and keep the code on disk."""
    compiled = _compiled(njit(pipeline_class=KernelCompiler, **OPTIONS)(function))
    compiled._cache = KernelCache(function)
    return compiled


@unless_plain
def inner(function):
    """A kernel that only other kernels call."""
    compiled = _compiled(njit(pipeline_class=LinkedCompiler, **OPTIONS)(function))
    compiled.targetoptions["no_cpython_wrapper"] = True
    return compiled


def _compiled(dispatcher):
    dispatcher.targetoptions["no_cfunc_wrapper"] = True  # an entry from C, never used
    dispatcher.compile = partial(_undisturbed, dispatcher.compile)
    dispatcher.get_call_template = partial(_typed_by_kind, dispatcher.get_call_template)
    return dispatcher


def _undisturbed(compile, sig):
    """Compile or load a kernel while Ctrl-C waits."""
    with interrupts_wait():
        return compile(sig)


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
