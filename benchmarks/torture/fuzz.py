"""Graph files and model files with bytes changed, read by processes that may be lost, and odd graphs for all models."""

from __future__ import annotations

import io
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import mmwrite, savemat

LIMIT = 5  # seconds for a file
WORDS = [
    *(
        b"0",
        b"-1",
        b"999999999999",
        b"1e999",
        b"nan",
        b"\0",
        b"\xff\xfe",
        b'"',
        b"\n",
        b"\t",
        b",",
        b"'",
        b";",
        b"%",
        b"#",
    ),
    *(b"*Vertices 9999999", b"<!ENTITY a 'b'>", b"[" * 2000, b" " * 5000, b"]", b"}"),
]  # what has hurt before


class SlowError(Exception):
    """More than LIMIT seconds."""


def alarm(number, frame):
    raise SlowError


def seeds() -> dict[str, bytes]:
    """A good file of every format."""
    import klafter
    from klafter.datasets import load_karate

    folder, graph = Path(tempfile.mkdtemp()), load_karate()
    for suffix in (".graphml", ".gexf", ".json", ".csv", ".tsv"):
        klafter.write_graph(graph, folder / f"g{suffix}")
    sparse.save_npz(folder / "g.npz", graph.links)
    sparse.save_npz(folder / "c.npz", graph.links, compressed=False)
    savemat(folder / "g.mat", {"a": sparse.csc_matrix(graph.links)})
    mmwrite(folder / "g.mtx", sparse.coo_matrix(graph.links))
    (folder / "g.net").write_bytes(b'*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 1\n2 3 2\n')
    (folder / "g.dl").write_bytes(b"dl n=3 format=edgelist1\nlabels:\na,b,c\ndata:\n1 2 1\n2 3 1\n")
    (folder / "g.gml").write_bytes(b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
    (folder / "m.txt").write_bytes(b"0 1 0\n1 0 1\n0 1 0\n")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes with some of them flipped, cut out, repeated or replaced by what has hurt before."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        place, kind = rng.randrange(len(found) + 1), rng.randrange(5)
        if kind == 0 and found:
            found[place % len(found)] = rng.randrange(256)
        elif kind == 1:
            del found[place : place + rng.randint(1, 30)]
        elif kind == 2:
            found[place:place] = rng.choice(WORDS)
        elif kind == 3:
            found[place:place] = found[place : place + rng.randint(1, 200)]
        else:
            found = found[: max(1, place)]
    return bytes(found)


def read_graphs(first: int, last: int) -> None:
    """Read changed files; a line of JSON for each that was neither read nor refused in a sentence."""
    import klafter
    from klafter.graph import GraphFileError

    good, folder = seeds(), Path(tempfile.mkdtemp())
    for number in range(first, last):
        rng = random.Random(number)
        name = sorted(good)[number % len(good)]
        path = folder / name
        path.write_bytes(changed(good[name], rng))
        guarded(number, name, lambda path=path: klafter.read_graph(path), (GraphFileError,))


def load_models(first: int, last: int) -> None:
    """Load changed models and ask those that are taken."""
    from klafter.datasets import load_karate
    from klafter.models import IRM, KLafter, ModelFileError, load

    folder, good = Path(tempfile.mkdtemp()), {}
    for name, model in {
        "dense": KLafter(n_init=1, n_smooth=3, random_state=0),
        "sparse": KLafter(link="exposure", n_init=1, random_state=0),
        "irm": IRM(n_burn=5, n_draws=5, random_state=0),
    }.items():
        model.fit(load_karate()).save(folder / f"{name}.npz")
        with np.load(folder / f"{name}.npz") as file:
            good[name] = {key: file[key] for key in file.files}
    for number in range(first, last):
        rng, name = random.Random(number), list(good)[number % 3]
        path = folder / "changed.npz"
        path.write_bytes(changed_model(good[name], rng))
        guarded(number, name, lambda path=path: ask(load(path)), (ModelFileError,))


def changed_model(arrays: dict[str, np.ndarray], rng: random.Random) -> bytes:
    """A model in whose arrays or header some bytes are others: the zip around them is whole, so that they are seen."""
    parts, name = dict(arrays), rng.choice(sorted(arrays))
    data = bytearray(parts[name].tobytes())
    for _ in range(rng.randint(1, 4)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    if name == "header" and rng.random() < 0.5:
        data = bytearray(changed(bytes(data), rng))
    size = parts[name].dtype.itemsize
    found = np.frombuffer(bytes(data[: len(data) // size * size]), parts[name].dtype)
    parts[name] = found.reshape(parts[name].shape) if found.size == parts[name].size else found
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def ask(model) -> None:
    """Every method of a model that reads."""
    p = model.predict_proba(np.array([[0, 1], [2, 30]]))
    if not ((p >= 0) & (p <= 1)).all():
        raise AssertionError(f"probabilities {p}")
    model.communities(), model.unassigned(), model.partition(), model.first_choices(), model.levels()
    model.top_links(3), model.surprising_links(3), model.n_communities_interval(), repr(model), model._repr_html_()
    model.explain(*(model.graph_.label(i) for i in (0, 1)))


def guarded(number: int, name: str, action, sentences: tuple) -> None:
    """Do something within LIMIT seconds; what ends otherwise than well or in a sentence is printed."""
    print(json.dumps({"at": number}), flush=True)
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(LIMIT)
    try:
        action()
    except sentences:
        pass
    except BaseException as error:
        said = {"number": number, "kind": name, "error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps({**said, "where": traceback.format_exc()[-400:]}), flush=True)
    finally:
        signal.alarm(0)


def odd_graphs() -> dict:
    """Graphs that few people have."""
    n, rng = 12, np.random.default_rng(0)
    star = np.zeros((n, n))
    star[0, 1:] = 1
    hub = np.triu(rng.random((40, 40)) < 0.05, 1) * 1.0
    hub[0, 1:] = 1
    chain = np.eye(n, k=1)
    return {
        "two": np.array([[0, 1.0], [0, 0]]), "two apart": np.zeros((2, 2)), "nobody": np.zeros((n, n)), "star": star,
        "clique": np.triu(np.ones((n, n)), 1), "hub": hub, "chain": chain,
        "tiny": chain * 1e-300, "huge": chain * 1e300, "mixed": chain * np.logspace(-40, 40, n),
        "counts": chain * 2.0**60,
    }  # fmt: skip


def try_odd(first: int, last: int) -> None:
    """All models on odd graphs with none, half or all of the dyads hidden: an answer in [0, 1] or a sentence."""
    import klafter
    from klafter.models import EPM, IRM, LFRM, MMSB, KLafter

    short = {"n_burn": 3, "n_draws": 3, "random_state": 0}
    models = {
        "klafter": lambda f: KLafter(family=f, n_init=1, n_smooth=2, random_state=0),
        "exposure": lambda f: KLafter(family=f, link="exposure", n_init=1, random_state=0),
        "lfrm": lambda f: LFRM(family=f, **short),
        "irm": lambda f: IRM(family=f, **short),
        "mmsb": lambda f: MMSB(n_communities=2, **short),
        "epm": lambda f: EPM(family=f, **short),
    }
    families, shares = ("bernoulli", "poisson", "gaussian"), (0.0, 0.5, 1.0)
    cases = list(product(odd_graphs().items(), models.items(), families, shares, (False, True)))
    for number in range(first, min(last, len(cases))):
        (title, links), (name, make), family, share, directed = cases[number]

        def answer(links=links, make=make, family=family, share=share, directed=directed):
            n = len(links)
            hidden = np.triu(np.random.default_rng(0).random((n, n)) < share, 1)
            graph = klafter.Graph(links if directed else links + links.T, directed=directed, hidden=hidden)
            p = make(family).fit(graph).predict_proba(np.array([[0, 1], [1, 0]]))
            if not ((p >= 0) & (p <= 1)).all():
                raise AssertionError(f"probabilities {p}")

        guarded(number, f"{title}, {name}, {family}, {share}, {directed}", answer, (ValueError,))


PARTS = {"graph files": read_graphs, "model files": load_models, "odd graphs": try_odd}


def main() -> None:
    """``python -m benchmarks.torture.fuzz PART FIRST LAST``, a process that may be lost."""
    part, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    import warnings

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    begun = time.perf_counter()
    PARTS[part](first, last)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"memory": memory, "seconds": time.perf_counter() - begun}), flush=True)


if __name__ == "__main__":
    main()
