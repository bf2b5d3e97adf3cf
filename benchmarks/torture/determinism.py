"""The same seed gives the same answer, to the last bit, whatever the jobs, hash seeds, threads, lines and processes.

Each trial is a process that fits all models in another way; what it finds is compared with the first.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.torture.guard import guarded, part, tell
from klafter import Graph, read_graph
from klafter.datasets import load_karate, load_les_miserables
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV, load
from klafter.models.paper import PaperKLafter

CHAINS = {"n_burn": 10, "n_draws": 20, "n_chains": 4, "random_state": 0}
MODELS = {
    "KLafter": (KLafter(n_init=4, n_smooth=6, random_state=0), "novel"),
    "KLafter, cloglog": (KLafter(link="cloglog", n_init=2, n_smooth=6, random_state=0), "karate"),
    "KLafter, exposure": (KLafter(link="exposure", n_init=4, random_state=0), "novel"),
    "KLafter, poisson": (KLafter(family="poisson", n_init=2, n_smooth=6, random_state=0), "counts"),
    "KLafter, gaussian": (KLafter(family="gaussian", n_init=2, n_smooth=6, random_state=0), "counts"),
    "PaperKLafter": (PaperKLafter(max_iter=20, random_state=0), "karate"),
    "KLafterCV": (KLafterCV([0.0, 1.0], cv=2, estimator=KLafter(n_init=2, n_smooth=2), random_state=0), "karate"),
    "LFRM": (LFRM(**CHAINS), "karate"),
    "IRM": (IRM(**CHAINS), "karate"),
    "MMSB": (MMSB(n_communities=3, **CHAINS), "karate"),
    "EPM": (EPM(**CHAINS), "karate"),
}
WAYS: list[dict[str, str]] = [
    {},
    *({"jobs": jobs} for jobs in ("1", "2", "4", "8")),
    *({"PYTHONHASHSEED": seed} for seed in ("0", "1", "4242")),
    *({"OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n} for n in ("2", "4")),
    *({"lines": seed} for seed in ("1", "2", "3")),
    {"saved": "yes"},
]


def network(name: str, lines: str | None) -> Graph:
    """A network read from a list of links, in order or shuffled."""
    graph = load_karate() if name == "karate" else load_les_miserables()
    graph = graph.binarize() if name == "novel" else graph
    rows, columns = np.triu(graph.links.toarray()).nonzero()
    text = [f"{graph.label(i)}\t{graph.label(j)}\t{graph.links[i, j]:g}\n" for i, j in zip(rows, columns)]
    if lines is not None:
        text = np.random.default_rng(int(lines)).permutation(text).tolist()
    path = Path(tempfile.mkdtemp()) / "links.tsv"
    path.write_text("source\ttarget\tweight\n" + "".join(text), encoding="utf-8")
    return read_graph(path, directed=False)


def digest(model) -> str:
    """All that a model says, in a few characters; nodes by their names."""
    graph = model.graph_
    pairs = np.column_stack(np.triu_indices(graph.n_nodes, 1))
    found = [model.predict_proba(pairs).tobytes(), np.float64(model.n_communities_).tobytes()]
    found += [np.asarray(model.predict(pairs)).tobytes(), str(sorted(map(sorted, model.communities()))).encode()]
    found += [str(model.partition()).encode(), str(model.top_links(10)).encode()]
    return hashlib.sha256(b"".join(found)).hexdigest()[:16]


def fit_all(way: dict[str, str]) -> dict[str, str]:
    """Digests of all models, fitted in one way."""
    found = {}
    for name, (model, data) in MODELS.items():
        if "jobs" in way and "n_jobs" in model.get_params():
            model.set_params(n_jobs=int(way["jobs"]))
        model.fit(network(data, way.get("lines")))
        if "saved" in way:
            path = Path(tempfile.mkdtemp()) / "m.npz"
            model.save(path)
            model = load(path)
        found[name] = digest(model)
    return found


def in_process(way: dict[str, str]) -> dict[str, str]:
    """The same in a process of its own, to which some of the way belongs."""
    words = [sys.executable, "-m", "benchmarks.torture.determinism", json.dumps(way)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **way})
    assert done.returncode == 0, done.stderr[-600:]
    return json.loads(done.stdout.splitlines()[-1])


def compare(way: dict[str, str], wanted: dict[str, str]) -> None:
    found = in_process(way)
    tell(cases=len(found))
    others = [name for name in wanted if found[name] != wanted[name]]
    assert not others, f"{way}: another answer of {', '.join(others)}"


def run(first: int, last: int) -> bool:
    """Ways from one number to another, and whether these were the last."""
    wanted = in_process({})
    for number in range(first, min(last, len(WAYS))):
        way = WAYS[number]
        guarded(number, json.dumps(way), lambda way=way: compare(way, wanted), ())
    return last >= len(WAYS)


if __name__ == "__main__":
    if sys.argv[1].startswith("{"):
        print(json.dumps(fit_all(json.loads(sys.argv[1]))))
    else:
        part(run)
