"""Checkpoints: a fit that is killed goes on from where it was, to the result it would have had.

A fit is a sequence of seeded tasks: restarts, chains, folds. What each has found is kept as soon as it is there; long
tasks also keep where they stand at safe points, the ends of sweeps and rounds, random numbers included. A file that
holds these is replaced at most every ``every`` seconds, and so seldom that writing takes below 2% of the time.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from klafter import __version__
from klafter.graph import Graph
from klafter.graph.archives import read_arrays
from klafter.graph.fingerprint import fingerprint
from klafter.graph.pair_columns import asked_kinds
from klafter.graph.writing import check_place, write_file
from klafter.models.storage.packing import Packer, unpack
from klafter.search.parallel import run

log = logging.getLogger("klafter")
FORMAT, VERSION = "klafter checkpoint", 3
RARELY = 50.0  # times as long as a write takes is waited until the next: 2% of the time
SAME_RESULT = ("n_jobs", "warm_start")  # parameters that may change from one run to the next
MISSING = object()


class CheckpointError(ValueError):
    """A file that is no checkpoint, or the checkpoint of another fit."""


class Store:
    """What a fit keeps, in memory; nothing where no checkpoint was asked for."""

    def get(self, key: str) -> Any:
        """What was kept under a key, or ``MISSING``."""
        return MISSING

    def put(self, key: str, value: Any) -> None:
        """Keep what a task has found."""

    def state(self, key: str, value: Callable[[], Any]) -> None:
        """Keep where a task stands, if it is time to write."""

    def within(self, name: str) -> Store:
        """The same store for a fit inside this one."""
        return self


class Checkpoint(Store):
    """A store in a file.

    Parameters
    ----------
    path : path
        Is read if it is there, and refused if it is that of another fit.
    description : dict
        Model, parameters and data, by which a checkpoint is told from others.
    every : float
        Seconds between two writes, at least.
    """

    def __init__(self, path: str | os.PathLike[str], description: dict[str, Any], every: float) -> None:
        self.path, self.every = path, every
        self._entries: dict[str, tuple[Any, bytes]] = {}
        self._lock = threading.RLock()
        self._changed = self._told = False
        check_place(path)
        self.description = self._read(description) if os.path.exists(path) else description
        self._next = time.monotonic() + every

    def get(self, key: str) -> Any:
        if key not in self._entries:
            return MISSING
        try:
            return unpack(*self._entries[key])
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
            raise CheckpointError(_damaged(self.path)) from error

    def put(self, key: str, value: Any) -> None:
        entry = _packed(value)
        with self._lock:
            self._entries[key] = entry
            self._entries.pop(f"{key}.state", None)
            self._changed = True
            if time.monotonic() >= self._next:
                self.write()

    def state(self, key: str, value: Callable[[], Any]) -> None:
        if time.monotonic() < self._next:
            return
        entry = _packed(value())
        with self._lock:
            self._entries[f"{key}.state"] = entry
            self._changed = True
            self.write()

    def within(self, name: str) -> Store:
        return _Within(self, name)

    def write(self) -> None:
        """Write what has changed since the last time. A fit is worth more than its checkpoint, and goes on without."""
        with self._lock:
            if not self._changed:
                return
            begun = time.monotonic()
            header: dict[str, Any] = {**self.description, "entries": {}}
            parts, start = [], 0
            for key, (recipe, data) in self._entries.items():
                header["entries"][key] = {"recipe": recipe, "start": start, "size": len(data)}
                parts.append(data)
                start += len(data)
            arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
            arrays["data"] = np.frombuffer(b"".join(parts), np.uint8)
            try:
                write_file(self.path, lambda file: np.savez(file, allow_pickle=False, **arrays))
                self._changed = False
            except OSError as error:  # a full disk may have room again at the next time
                if not self._told:
                    log.error("%s The fit goes on.", error)
                self._told = True
            ended = time.monotonic()
            self._next = ended + max(self.every, RARELY * (ended - begun))

    def _read(self, description: dict[str, Any]) -> dict[str, Any]:
        """The description in the file, if it is that of this fit, and its entries."""
        try:
            with open(self.path, "rb") as file:
                arrays = read_arrays(file.read())
            header, data = json.loads(arrays["header"].tobytes()), arrays["data"].tobytes()
            if header["format"] != FORMAT:
                raise KeyError("format")
            entries = {
                key: (entry["recipe"], data[entry["start"] : entry["start"] + entry["size"]])
                for key, entry in header.pop("entries").items()
            }
        except (KeyError, ValueError, OSError, TypeError, AttributeError, RecursionError) as error:
            raise CheckpointError(_damaged(self.path)) from error
        self._refuse_others(header, description)
        self._entries = entries
        return dict(header)

    def _refuse_others(self, found: dict[str, Any], asked: dict[str, Any]) -> None:
        for name, what in (("version", "format"), ("klafter", "klafter"), ("model", "model")):
            if found.get(name) != asked[name]:
                raise CheckpointError(
                    f"{self.path} is a checkpoint of {what} {found.get(name)}; this is {asked[name]}. {CURE}"
                )
        theirs, ours = found["parameters"], asked["parameters"]
        for name in sorted({*theirs, *ours}):
            if theirs.get(name) != ours.get(name):
                raise CheckpointError(
                    f"{self.path} is a checkpoint of a fit with {name}={theirs.get(name)!r}; "
                    f"this fit has {name}={ours.get(name)!r}. {CURE}"
                )
        if found["data"] != asked["data"]:
            raise CheckpointError(f"{self.path} is a checkpoint of a fit to other data. {CURE}")


CURE = "Give another name, or delete the file to begin anew."


class _Within(Store):
    def __init__(self, outer: Store, name: str) -> None:
        self._outer, self._name = outer, name

    def get(self, key: str) -> Any:
        return self._outer.get(f"{self._name}.{key}")

    def put(self, key: str, value: Any) -> None:
        self._outer.put(f"{self._name}.{key}", value)

    def state(self, key: str, value: Callable[[], Any]) -> None:
        self._outer.state(f"{self._name}.{key}", value)

    def within(self, name: str) -> Store:
        return _Within(self, name)


@contextmanager
def opened(
    checkpoint: Any, model: Any, graph: Graph, seeds: np.random.SeedSequence, every: float, *, data: str | None = None
) -> Iterator[tuple[Store, np.random.SeedSequence]]:
    """The store of a fit and the root of its randomness, which a fit without a seed finds in its checkpoint.

    ``data`` tells the links from others where the graph does not hold them.
    """
    if checkpoint is None or isinstance(checkpoint, Store):
        yield checkpoint or Store(), seeds
        return
    if not every >= 0:
        raise ValueError(f"checkpoint_every is a number of seconds from 0; it is {every!r}. Use 60.")
    if getattr(model, "warm_start", False) and hasattr(model, "graph_"):
        raise ValueError("A checkpoint is of a fit that begins anew; warm_start=True goes on. Use one of the two.")
    store = Checkpoint(checkpoint, describe(model, graph, seeds, data), every)
    try:
        yield store, np.random.SeedSequence(store.description["entropy"])
    finally:
        store.write()


def describe(model: Any, graph: Graph, seeds: np.random.SeedSequence, data: str | None = None) -> dict[str, Any]:
    """By what a checkpoint is told from others."""
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in SAME_RESULT}
    described = json.loads(json.dumps(parameters, default=_described))
    used = getattr(getattr(model, "estimator", None) or model, "attributes", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "klafter": __version__,
        "model": type(model).__name__,
        "parameters": described,
        "data": data or fingerprint(graph, asked_kinds(used)),
        "entropy": seeds.entropy,
    }


def _described(value: Any) -> Any:
    """A parameter that is no plain value: estimators and splitters by what they are made of."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return type(value).__name__
    known = value.get_params(deep=False) if hasattr(value, "get_params") else getattr(value, "__dict__", str(value))
    return [type(value).__name__, known]


def run_kept(
    store: Store,
    name: str,
    job: Callable[..., Any],
    tasks: Sequence[Any],
    n_jobs: int | None = None,
    client: Any = None,
    stop: threading.Event | None = None,
    *,
    outward: Callable[[Any], Any] = lambda result: result,
    inward: Callable[[Any, Any], Any] = lambda task, kept: kept,
) -> dict[int, Any]:
    """``run``, but for tasks whose results the store has; by the numbers of tasks, fewer when stopped.

    ``outward`` makes of a result what is kept, ``inward`` of a task and what was kept the result.
    """
    stop = threading.Event() if stop is None else stop
    kept = {t: store.get(f"{name}.{t}") for t in range(len(tasks))}
    found = {t: inward(tasks[t], value) for t, value in kept.items() if value is not MISSING}
    left = [t for t in range(len(tasks)) if t not in found]

    def keep(k: int, result: Any) -> None:
        if not stop.is_set() and result is not None:
            store.put(f"{name}.{left[k]}", outward(result))

    if left:
        results = run(job, [tasks[t] for t in left], n_jobs, client, stop, keep)
        found.update(zip(left, results))
    return dict(sorted(found.items()))


def _packed(value: Any) -> tuple[Any, bytes]:
    packer = Packer()
    recipe = packer.pack(value)
    return recipe, packer.data


def _damaged(path: str | os.PathLike[str]) -> str:
    return f"{path} is not a checkpoint of klafter, or it is damaged. {CURE}"
