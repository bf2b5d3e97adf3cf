"""Checkpointed fits, killed with ``kill -9`` up to three times at random moments, end where uninterrupted ones end."""

from __future__ import annotations

import hashlib
import logging
import random
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.torture.forks import forked
from benchmarks.torture.guard import guarded, part, tell
from klafter.datasets import load_karate, load_les_miserables
from klafter.graph import Graph
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV

CHAINS = {"n_burn": 100, "n_draws": 600, "n_chains": 2, "random_state": 0}
KINDS = ("dense", "sparse", "lfrm", "irm", "mmsb", "epm", "cv", "cluster")


def planted() -> Graph:
    """Five groups that a search on a cluster finds."""
    rng, group = np.random.default_rng(0), np.arange(200) % 5
    links = rng.random((200, 200)) < np.where(group[:, None] == group, 0.4, 0.02)
    return Graph(np.triu(links, 1) + np.triu(links, 1).T)


FITS = {  # on clusters that lose workers
    "shards": lambda: (KLafter(link="exposure", random_state=0, max_iter=3), planted()),
    "restarts": lambda: (
        KLafter(link="logit", n_init=4, n_smooth=10, random_state=0),
        load_les_miserables().binarize(),
    ),
    "chains": lambda: (LFRM(n_burn=100, n_draws=100, n_chains=4, random_state=0), load_les_miserables().binarize()),
}


def make(kind: str) -> tuple:
    """A model and a network; about a second of work."""
    small = KLafter(n_init=2, n_smooth=4)
    models = {
        "dense": KLafter(n_init=4, n_smooth=20, random_state=0),
        "sparse": KLafter(link="exposure", n_init=12, random_state=0),
        "lfrm": LFRM(**{**CHAINS, "n_draws": 900}),
        "irm": IRM(**CHAINS),
        "mmsb": MMSB(n_communities=4, **CHAINS),
        "epm": EPM(**{**CHAINS, "n_draws": 300}),
        "cv": KLafterCV([0.0, 1.0], cv=3, estimator=small, random_state=0),
        "cluster": KLafter(link="exposure", random_state=0, max_iter=3),
    }
    if kind == "cluster":
        return models[kind], planted()
    return models[kind], load_les_miserables().binarize() if kind in ("dense", "sparse") else load_karate()


def fit(kind: str, out: Path, checkpoint: Path | None) -> None:
    """Fit, and write all of what was found in a few characters."""
    model, graph = make(kind)
    how = {} if checkpoint is None else {"checkpoint": checkpoint, "checkpoint_every": 0}
    if kind == "cluster":
        from dask.distributed import Client, LocalCluster

        quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL, "processes": False}
        with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as group, Client(group) as client:
            model.fit(graph, client=client, **how)
    else:
        model.fit(graph, **how)
    memberships = model.memberships_
    found = memberships.toarray() if hasattr(memberships, "toarray") else np.asarray(memberships)
    chances = model.predict_proba(np.column_stack(np.triu_indices(graph.n_nodes, 1)))
    parts = (found.astype(float), chances, np.array(float(getattr(model, "objective_", model.n_communities_))))
    out.write_text(hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest())


class Uninterrupted(dict):
    """What fits without checkpoint and signal find, and their seconds."""

    def __missing__(self, kind: str) -> tuple[str, float]:
        with tempfile.TemporaryDirectory() as name:
            out = Path(name) / "out"
            code, said, seconds = forked(lambda: fit(kind, out, None), Path(name))
            if code:
                raise AssertionError(said[-600:])
            self[kind] = out.read_text(), seconds
        return self[kind]


def trial(number: int, wanted: Uninterrupted) -> None:
    """Kill, kill, kill, and leave alone."""
    rng, kind = random.Random(number), KINDS[number % len(KINDS)]
    result, seconds = wanted[kind]
    kills = resumed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out, checkpoint = folder / "out", folder / "run.ckpt"
        for _ in range(3):
            code, said, _ = forked(lambda: fit(kind, out, checkpoint), folder, rng.uniform(0.02, 0.7) * seconds)
            assert code in (0, -9), said[-600:]
            kills += code == -9
            resumed += code == -9 and checkpoint.exists()
            out.unlink(missing_ok=True)
        code, said, _ = forked(lambda: fit(kind, out, checkpoint), folder)
        tell(kills=kills, resumed=resumed)
        assert code == 0, said[-600:]
        assert out.read_text() == result, "another result"
        left = [path.name for path in folder.iterdir() if path.suffix == ".part"]
        assert not left, left


def run(first: int, last: int) -> None:
    """Trials from one number to another."""
    wanted = Uninterrupted()
    for kind in KINDS[:-1]:  # children find all kernels loaded; threads of a cluster would not survive the fork
        make(kind)[0].fit(make(kind)[1])
    for number in range(first, last):
        guarded(number, KINDS[number % len(KINDS)], lambda number=number: trial(number, wanted), (), limit=400)


if __name__ == "__main__":
    part(run)
