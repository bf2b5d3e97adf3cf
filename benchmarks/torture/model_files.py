"""Model files with bytes or parts changed: refused in a sentence, or models whose every method answers."""

from __future__ import annotations

import io
import json
import random
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.torture.changes import changed
from benchmarks.torture.guard import guarded, part
from klafter.datasets import load_florentine_families, load_karate
from klafter.graph import Graph
from klafter.graph.fingerprint import fingerprint
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, load, predictions
from klafter.prediction.structure import Expert, fit_expert
from klafter.report import report

SHORT = {"n_burn": 5, "n_draws": 5, "n_chains": 2, "random_state": 0}
VALUES = (None, True, 0, 1, -1, 3, 2**40, 0.5, -1e300, 1e999, "", "linear", "x" * 50, [], [1, 2], {}, {"plain": 1})
SELDOM = 20  # a page is written of one model in so many, and links come to it


def seeds() -> dict[str, dict[str, np.ndarray]]:
    """The arrays of a good file of every kind of model."""
    families, folder = load_florentine_families(), Path(tempfile.mkdtemp())
    counts = Graph(families.links * 3.0)
    models = {
        "dense": KLafter(n_init=2, n_smooth=3, random_state=0).fit(load_karate()),
        "sparse": KLafter(link="exposure", n_init=1, random_state=0).fit(families),
        "counts": KLafter(family="poisson", n_init=1, random_state=0).fit(counts),
        "gaussian": KLafter(family="gaussian", n_init=1, n_smooth=2, random_state=0).fit(counts),
        "lfrm": LFRM(**SHORT).fit(families),
        "irm": IRM(**SHORT).fit(families),
        "mmsb": MMSB(n_communities=3, **SHORT).fit(families),
        "epm": EPM(**SHORT).fit(families),
    }
    found = {}
    for name, model in models.items():
        model.save(folder / "m.npz")
        with np.load(folder / "m.npz") as file:
            found[name] = {key: file[key] for key in file.files}
    return found


def changed_model(arrays: dict[str, np.ndarray], rng: random.Random) -> bytes:
    """A whole archive of which one array, or a part of the header, is another."""
    parts = dict(arrays)
    name = "header" if rng.random() < 0.5 else rng.choice(sorted(arrays))
    if name == "header" and rng.random() < 0.8:
        header = json.loads(parts[name].tobytes())
        for _ in range(rng.choice((1, 1, 2, 4))):
            change_inside(header, rng)
        parts[name] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    else:
        parts[name] = changed_array(parts[name], rng)
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def change_inside(value: Any, rng: random.Random) -> None:
    """Replace, take away or repeat something inside nested lists and dictionaries."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.8:
        change_inside(value[key], rng)
    elif rng.random() < 0.8:
        value[key] = deepcopy(rng.choice(VALUES))
    elif isinstance(value, dict) or rng.random() < 0.5:
        del value[key]
    else:
        value.append(deepcopy(value[key]))


def changed_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Other bytes, another length, another type or another shape."""
    kind = rng.randrange(4)
    if kind == 0 and array.size:
        return array.ravel()[: rng.randrange(array.size)]
    if kind == 1 and array.dtype.kind in "iuf":
        return array.astype(rng.choice((np.int8, np.float32, np.complex128, np.uint64, bool)))
    if kind == 2 and array.size:
        found = array.copy()
        found.flat[rng.randrange(array.size)] = rng.choice((0, 1, -1, 100, 2**31 - 1)) % 128
        return found
    data, size = changed(array.tobytes(), rng), array.dtype.itemsize
    found = np.frombuffer(data[: len(data) // size * size], array.dtype)
    return found.reshape(array.shape) if found.size == array.size else found


def ask(path: Path, number: int) -> None:
    """Load a model and call its every method that needs no other package."""
    model = load(path)
    pairs = [(model.graph_.label(i), model.graph_.label(j)) for i, j in ((0, 1), (2, 3))]
    for chances in (model.predict_proba(pairs), model.predict_proba(np.array([[0, 1], [1, 0]]))):
        assert ((chances >= 0) & (chances <= 1)).all(), f"probabilities {chances}"
    model.predict(pairs), model.score(pairs, [1, 0]), model.transform(model.graph_), model.sample(0)
    model.communities(), model.communities_frame(), model.unassigned(), model.partition(), model.first_choices()
    levels = model.levels()
    if levels:
        model.at_level(levels[0].n_communities)
    model.top_links(3), model.surprising_links(3), model.n_communities_interval(), model.get_feature_names_out()
    model.explain(*pairs[0]), model.place([pairs[0][0]]), model.to_frame(), model.to_networkx()
    repr(model), model._repr_html_()
    if hasattr(model, "diagnostics"):
        model.diagnostics()
    model.save(path)
    load(path)
    if number % SELDOM == 0:
        report(model, path.with_suffix(".html"))
        if hasattr(model, "partial_fit"):
            model.partial_fit([pairs[0]])


class Experts(dict):
    """One structural expert for each network, which alone it learns from: the same for most changed files."""

    def __call__(self, graph: Graph, rng: np.random.Generator) -> Expert | None:
        key = fingerprint(graph)
        if key not in self:
            self[key] = fit_expert(graph, rng)
        return self[key]


def run(first: int, last: int) -> None:
    """Ask changed models from one number to another."""
    predictions.fit_expert = Experts()
    good, path = seeds(), Path(tempfile.mkdtemp()) / "m.npz"
    for number, arrays in enumerate(good.values()):  # what is whole answers everything
        np.savez(path, **arrays)
        ask(path, number)
    for number in range(first, last):
        rng, name = random.Random(number), list(good)[number % len(good)]
        path.write_bytes(changed_model(good[name], rng))
        size = path.stat().st_size
        guarded(number, name, lambda number=number: ask(path, number), (ValueError,), size=size)


if __name__ == "__main__":
    part(run)
