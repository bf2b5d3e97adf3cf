"""How what only kernels call is compiled: typed and lowered, and left to its callers from there.

Numba optimises every function together with all that it calls, and makes machine code of it, at every level of calls
again. What is never called from Python needs neither: it is optimised and becomes machine code inside of its callers.
That goes for inner kernels, and for all that a kernel takes from Numba itself, as ``np.zeros``.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class LinkedLibrary(JITCodeLibrary):
    """Code to be linked into other code, never to be called by itself."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """Nothing runs here that would need its environment."""


@contextmanager
def new_libraries(codegen: Any, kind: type[JITCodeLibrary]) -> Iterator[None]:
    """Let what is compiled meanwhile become libraries of this kind; the lock of Numba's compiler is held."""
    before = codegen._library_class
    codegen._library_class = kind
    try:
        yield
    finally:
        codegen._library_class = before


@contextmanager
def garbage_waits() -> Iterator[None]:
    """Look for no garbage meanwhile: what a compiler makes lives until it is done, and looking took a tenth of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class LinkedCompiler(Compiler):
    """Numba's compiler, except for what becomes of the code."""

    def compile_extra(self, func):
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class KernelCompiler(Compiler):
    """Numba's compiler for what Python calls: all that it calls in turn is linked to it."""

    def compile_extra(self, func):
        codegen = self.state.targetctx.codegen()
        self.state.library = JITCodeLibrary(codegen, func.__qualname__)
        self.state.library.enable_object_caching()
        with garbage_waits(), new_libraries(codegen, LinkedLibrary):
            return super().compile_extra(func)
