"""Results and states of fits as JSON and bytes, and back to the last bit. No pickles: classes come from a closed list.

An array that appears twice comes back as one: engines ask whether senders and receivers are the same.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy import sparse

CLASSES = frozenset(
    {
        "klafter.core.draws.ExposureDraw",
        "klafter.core.draws.LinearDraw",
        "klafter.core.problem.Priors",
        "klafter.core.problem.State",
        "klafter.sampling.epm.State",
        "klafter.sampling.irm.State",
        "klafter.sampling.lfrm_engine.LFRMState",
        "klafter.sampling.mmsb.State",
        "klafter.sampling.mmsb_kernels.Counts",
        "klafter.search.progress.Step",
        "klafter.search.sparse.affinities.Affinities",
        "klafter.search.sparse.fit.ScoredState",
        "klafter.search.sparse.fit.SearchState",
        "klafter.search.sparse.state.State",
    }
)
PLAIN = (bool, int, float, str, type(None))
KINDS = "biuf"  # of arrays: truth values, whole numbers, real numbers


class Packer:
    """Collects the bytes of arrays while values become JSON."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._known: dict[int, tuple[np.ndarray, int]] = {}  # the array is held, so that its id stays its own

    @property
    def data(self) -> bytes:
        """The bytes of all arrays."""
        return b"".join(self._parts)

    def pack(self, value: Any) -> Any:
        """A value as JSON that refers to ``data``."""
        if type(value) in PLAIN:
            return {"v": value}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"s": value.dtype.str, "v": value.item()}
        if sparse.issparse(value):
            csr = sparse.csr_array(value)
            return {"c": [self._array(part) for part in (csr.data, csr.indices, csr.indptr)], "shape": list(csr.shape)}
        if hasattr(value, "_fields"):
            return {"n": _name(type(value)), "p": [self.pack(part) for part in value]}
        if isinstance(value, dict):
            return {"d": {key: self.pack(part) for key, part in value.items()}}
        if isinstance(value, (list, tuple)):
            if all(type(part) in PLAIN for part in value):
                return {"v": list(value)}
            return {"l": [self.pack(part) for part in value]}
        raise TypeError(f"A checkpoint cannot keep a {type(value).__name__}.")

    def _array(self, array: np.ndarray) -> Any:
        if array.dtype.kind not in KINDS:
            raise TypeError(f"A checkpoint cannot keep arrays of {array.dtype}.")
        order: Literal["F", "C"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        if id(array) not in self._known:
            self._known[id(array)] = array, self._size
            self._parts.append(array.tobytes(order))
            self._size += array.nbytes
        return {"a": self._known[id(array)][1], "t": array.dtype.str, "shape": list(array.shape), "o": order}


def _name(kind: type) -> str:
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name not in CLASSES:
        raise TypeError(f"A checkpoint cannot keep a {name}.")
    return name


def unpack(recipe: Any, data: bytes) -> Any:
    """The value that ``Packer.pack`` was given; tuples without names come back as lists."""
    return _Unpacker(data).unpack(recipe)


class _Unpacker:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[tuple[Any, ...], np.ndarray] = {}

    def unpack(self, recipe: Any) -> Any:
        if "s" in recipe:
            return np.dtype(recipe["s"]).type(recipe["v"])
        if "v" in recipe:
            return recipe["v"]
        if "a" in recipe:
            return self._array(recipe)
        if "c" in recipe:
            csr = sparse.csr_array(tuple(self._array(part) for part in recipe["c"]), shape=tuple(recipe["shape"]))
            csr.check_format(full_check=True)
            return csr
        if "n" in recipe:
            module, _, name = recipe["n"].rpartition(".")
            if recipe["n"] not in CLASSES:
                raise KeyError(recipe["n"])
            return getattr(import_module(module), name)(*(self.unpack(part) for part in recipe["p"]))
        if "d" in recipe:
            return {key: self.unpack(part) for key, part in recipe["d"].items()}
        return [self.unpack(part) for part in recipe["l"]]

    def _array(self, recipe: Any) -> np.ndarray:
        start, dtype, shape = recipe["a"], np.dtype(recipe["t"]), tuple(recipe["shape"])
        key = start, recipe["t"], shape, recipe["o"]
        if key not in self._known:
            if dtype.kind not in KINDS or not all(type(side) is int and side >= 0 for side in (start, *shape)):
                raise ValueError("array")
            count = int(np.prod(shape, dtype=object))
            if start + count * dtype.itemsize > len(self._data):
                raise ValueError("array")
            flat = np.frombuffer(self._data, dtype, count, start).copy()
            self._known[key] = flat.reshape(shape, order=recipe["o"])
        return self._known[key]
