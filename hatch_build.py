"""What happens while a package is built: links of the README become absolute, and kernels are compiled if asked for.

Kernels for a generic processor are put into a wheel only where HATCH_BUILD_HOOKS_ENABLE is set (``make wheel``). It is
then one of this Python and platform; where Numba has another version, or the processor lacks a feature, kernels are
compiled at first use as without them.
"""

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

MANYLINUX = "manylinux_2_17"  # nothing is linked to the C library; this is what Numba itself asks for


class ReadmeHook(MetadataHookInterface):
    """The README as a package index shows it."""

    def update(self, metadata):
        """Set the long description; links lead to the branch main of the repository."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = metadata["urls"]["Source"]
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute_links(text, address)}


def absolute_links(text: str, address: str) -> str:
    """Markdown whose links and images within the repository have its address before them."""

    def lead(match: re.Match) -> str:
        place = "raw" if match["image"] else "blob"
        return f"{match['image']}[{match['words']}]({address}/{place}/main/{match['path']})"

    return re.sub(r"(?P<image>!?)\[(?P<words>[^\]]*)\]\((?P<path>(?!https?:|#)[^)]+)\)", lead, text)


class KernelsHook(BuildHookInterface):
    """The build hook that hatchling finds here."""

    def initialize(self, version, build_data):
        """Compile into a folder of these sources, and have the builder take it along; pip asks for that twice."""
        if version == "editable":
            return
        source = Path(self.root) / "src"
        folder = str(Path(self.root) / "build" / f"kernels-{_hash(source)}")
        sys.path.insert(0, str(source))
        import llvmlite.binding as llvm

        from klafter.jit.target import generic_target

        target = generic_target(llvm.get_default_triple())
        if target is None or not target.runs_here():
            raise SystemExit("Kernels for a wheel are compiled on x86-64-v3 or arm64; this machine is neither.")
        chosen = {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features}
        paths = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])  # pip names what is needed there
        places = {"KLAFTER_CACHE_DIR": folder, "PYTHONPATH": paths}
        command = [sys.executable, "-m", "klafter", "warmup", "--quiet"]
        subprocess.run(command, env={**os.environ, **chosen, **places}, check=True)
        build_data["force_include"][folder] = "klafter/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"


def _hash(source: Path) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(source.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_").replace("linux", MANYLINUX)
