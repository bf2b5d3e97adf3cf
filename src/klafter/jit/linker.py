"""How kernels that only other kernels call are compiled: typed and lowered, and left to their callers from there.

Numba optimises every function together with all that it calls, and makes machine code of it, at every level of calls
again. What is never called from Python needs neither: it is optimised and becomes machine code inside of its callers.
"""

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


class LinkedCompiler(Compiler):
    """Numba's compiler, except for what becomes of the code."""

    def compile_extra(self, func):
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)
