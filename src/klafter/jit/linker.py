"""How what only kernels call is compiled: typed and lowered, and left to its callers from there.

Numba optimises every function together with all that it calls, and makes machine code of it, at every level of calls
again. What is never called from Python needs neither: it is optimised and becomes machine code inside of its callers.
That goes for inner kernels, and for all that a kernel takes from Numba itself, as ``np.zeros``.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import parse_bitcode
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


class KernelLibrary(JITCodeLibrary):
    """Machine code that Python calls. What LLVM reads of it stays unread on disk until other code is linked to it."""

    _bitcode = b""

    def serialize_using_object_code(self):
        self._ensure_finalized()
        module = self._get_module_for_linking()
        symbols = (symbol for symbols in (module.functions, module.global_variables) for symbol in symbols)
        defined = [symbol.name for symbol in symbols if not symbol.is_declaration]
        return self.name, defined, self._get_compiled_object(), module.as_bitcode()

    @classmethod
    def _unserialize(cls, codegen, state):
        name, defined, machine_code, bitcode = state
        self = codegen.create_library(name)
        self._bitcode = bitcode
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(defined)
        return self

    def _get_module_for_linking(self):
        if self._bitcode and self._shared_module is None:
            self._shared_module = parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()


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
        self.state.library = KernelLibrary(codegen, func.__qualname__)
        self.state.library.enable_object_caching()
        with garbage_waits(), new_libraries(codegen, LinkedLibrary):
            return super().compile_extra(func)
