"""How a package is built: links of the README become absolute, and kernels are compiled and travel along.

KLAFTER_KERNELS says which kernels for a generic processor are put into a wheel, which is then one of this Python and
platform: those of a ``first`` fit (what ``pip install .`` does, quietly without where it is not possible), ``all``
(``make wheel``) or ``none`` (a wheel for all platforms). Where Numba has another version than the wheel was built with,
or the processor lacks a feature, kernels are compiled at first use as without them.

pip asks this file, which asks hatchling, so that what compiles is there for wheels and not for editable installs.
"""

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

from hatchling import build
from hatchling.build import *  # noqa: F403  (what pip asks for)
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

WANTED = os.environ.get("KLAFTER_KERNELS", "first")
MANYLINUX = "manylinux_2_17"  # nothing is linked to the C library; this is what Numba itself asks for


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What hatchling needs; to compile kernels, also what the package needs when it runs."""
    needs = list(build.get_requires_for_build_wheel(config_settings))
    if WANTED == "none":
        return needs
    return needs + tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


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
        if version == "editable" or WANTED == "none":
            return
        folder = Path(self.root) / "build" / f"kernels-{WANTED}-{_hash(Path(self.root) / 'src')}"
        try:
            _compile(Path(self.root) / "src", folder)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            if WANTED == "all":
                raise SystemExit(f"Kernels could not be compiled ({error}).") from error
            return
        build_data["force_include"][str(folder)] = "klafter/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"


def _compile(source: Path, folder: Path) -> None:
    """Put compiled kernels into a folder."""
    sys.path.insert(0, str(source))
    import llvmlite.binding as llvm

    from klafter.jit.target import generic_target

    target = generic_target(llvm.get_default_triple())
    if target is None or not target.runs_here():
        raise OSError("only x86-64-v3 and arm64 can, and this machine is neither")
    chosen = {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features}
    paths = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])  # pip names what is needed there
    places = {"KLAFTER_CACHE_DIR": str(folder), "PYTHONPATH": paths}
    command = [sys.executable, "-m", "klafter", "warmup", "--quiet", *(["--first"] if WANTED == "first" else [])]
    subprocess.run(command, env={**os.environ, **chosen, **places}, check=True, capture_output=WANTED == "first")


def _hash(source: Path) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(source.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_").replace("linux", MANYLINUX)
