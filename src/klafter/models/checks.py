"""Parameters checked at the door: the value, the rule, the cure."""

import os
import reprlib
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from klafter.core.families import FAMILIES

SOURCES = (type(None), np.random.RandomState, np.random.Generator, type(np.random))  # of seeds; the last as in sklearn
LEAST_SCALE, MOST_SCALE = 1e-6, 1e6
MOST, MOST_RUNS = 1_000_000, 10_000  # that anybody counts to; of whole fits, chains and starts


def _refuse(model: object, name: str, rule: str) -> NoReturn:
    value = reprlib.repr(getattr(model, name))  # which cuts what is long
    raise ValueError(f"{type(model).__name__} needs {name} to be {rule}; it is {value}.")


def check_choice(model: object, name: str, choices: Collection[Any]) -> None:
    value = getattr(model, name)
    if isinstance(value, np.ndarray) or value not in choices:
        _refuse(model, name, "one of " + ", ".join(repr(choice) for choice in choices))


def check_family(model: object) -> None:
    """Any family will do, but for those that are links of 0/1 values, which ``link`` chooses."""
    check_choice(model, "family", [name for name in FAMILIES if name not in ("exposure", "cloglog")])


def check_integer(
    model: object, name: str, low: int, high: int = MOST, *, optional: bool = False, or_else: str = "None"
) -> None:
    value = getattr(model, name)
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        others = f" or {or_else}" if optional or or_else != "None" else ""
        _refuse(model, name, f"a whole number of at least {low} and at most {high:,}{others}")


def check_real(
    model: object,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    strict: bool = False,
    or_else: str | None = None,
) -> None:
    value = getattr(model, name)
    if isinstance(value, str) and value == or_else:
        return
    if not _is_finite(value) or not low <= value <= high or (strict and value == low):
        bound = "" if low == -np.inf else f" {'above' if strict else 'of at least'} {low:g}"
        bound += "" if high == np.inf else f" and at most {high:g}"
        _refuse(model, name, f"a finite number{bound}{'' if or_else is None else f' or {or_else!r}'}")


def check_scale(model: object, name: str) -> None:
    """A standard deviation of affinities: sums of squares beyond these bounds lose all that links say."""
    check_real(model, name, 0.0, MOST_SCALE, strict=True)
    check_real(model, name, LEAST_SCALE, MOST_SCALE)


def _is_finite(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # a whole number beyond 1.8e308
        return False


def check_running(model: object) -> None:
    """How a fit is run: workers and seed, for those that have them."""
    jobs, seed = getattr(model, "n_jobs", None), getattr(model, "random_state", None)
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs == 0):
        _refuse(model, "n_jobs", "a whole number from 1, -1 for all cores, or None for one")
    if isinstance(seed, SOURCES):
        return
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        _refuse(model, "random_state", "a whole number of at least 0 or None")


def check_nodes(model: object, n_nodes: int) -> None:
    """A dyad needs two."""
    if n_nodes < 2:
        raise ValueError(f"{type(model).__name__} needs at least two nodes; this graph has {n_nodes}. Add nodes.")


def check_count(n: Any, name: str, high: float = np.inf) -> int:
    """How many are asked for."""
    if isinstance(n, bool) or not isinstance(n, Integral) or not 0 <= int(n) <= high:
        most = "" if high == np.inf else f" and at most {high:,}"
        raise ValueError(f"{name} needs n to be a whole number of at least 0{most}; it is {reprlib.repr(n)}.")
    return int(n)


def check_memory(needed: float, what: str, cure: str) -> None:
    """Refuse what the memory of this machine cannot hold, before it is taken."""
    there = machine_memory()
    if needed > there:
        gigabytes = f"{needed / 2**30:,.0f} GB of memory; there are {there / 2**30:,.0f}"
        raise MemoryError(f"{what} needs about {gigabytes}. {cure}")


def machine_memory() -> float:
    """Bytes of memory that this machine has, or a container grants; without end where nobody says."""
    try:
        whole = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            return min(whole, float(file.read()))
    except (OSError, ValueError):
        return whole
