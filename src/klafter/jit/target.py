"""What machine code is made for: this processor, or the plainer one that wheels are built for."""

from __future__ import annotations

import sys
from typing import NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numba
from numba import config


class Target(NamedTuple):
    """A processor as LLVM names it, and what it must be able to do."""

    cpu: str
    features: str

    def runs_here(self) -> bool:
        """Whether this machine has all its features."""
        has = llvm.get_host_cpu_features()
        return all(has.get(feature.removeprefix("+"), False) for feature in self.features.split(",") if feature)


# x86-64-v3: the processors of Intel since 2013 and of AMD since 2015
_V3 = "avx,avx2,bmi,bmi2,cx16,f16c,fma,fxsr,lzcnt,movbe,popcnt,sahf,sse,sse2,sse3,sse4.1,sse4.2,ssse3,xsave"
GENERIC = {
    "x86_64": Target("x86-64-v3", "+" + _V3.replace(",", ",+")),
    "aarch64": Target("generic", "+neon"),
    "arm64": Target("generic", "+neon"),
}


def generic_target(triple: str) -> Target | None:
    """The processor that wheels for this architecture are compiled for."""
    return GENERIC.get(triple.partition("-")[0])


def toolchain() -> tuple[str, ...]:
    """What made the code, and how: code of another Python, Numba or LLVM is never loaded."""
    settings = (vars(config)[name] for name in ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML"))
    return (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag, *map(str, settings))
