"""Compiles the kernels for a generic processor while a wheel is built, and puts them into it.

Only where HATCH_BUILD_HOOKS_ENABLE is set (``make wheel``). The wheel is then one of this Python and platform; where
Numba has another version, or the processor lacks a feature, kernels are compiled at first use as without them.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MANYLINUX = "manylinux_2_17"  # nothing is linked to the C library; this is what Numba itself asks for


class KernelsHook(BuildHookInterface):
    """The build hook that hatchling finds here."""

    def initialize(self, version, build_data):
        """Compile into a temporary folder, and have the builder take it along."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        source = str(Path(self.root) / "src")
        sys.path.insert(0, source)
        import llvmlite.binding as llvm

        from klafter.jit.target import generic_target

        target = generic_target(llvm.get_default_triple())
        if target is None or not target.runs_here():
            raise SystemExit("Kernels for a wheel are compiled on x86-64-v3 or arm64; this machine is neither.")
        chosen = {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features}
        places = {"KLAFTER_CACHE_DIR": self._folder.name, "PYTHONPATH": source}
        command = [sys.executable, "-m", "klafter", "warmup", "--quiet"]
        subprocess.run(command, env={**os.environ, **chosen, **places}, check=True)
        build_data["force_include"][self._folder.name] = "klafter/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"

    def finalize(self, version, build_data, artifact_path):
        """Free the space."""
        if version != "editable":
            self._folder.cleanup()


def _platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_").replace("linux", MANYLINUX)
