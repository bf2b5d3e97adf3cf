"""Graph files of all formats with bytes changed: read, or refused in a sentence, in bounded time and memory."""

from __future__ import annotations

import gzip
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import mmwrite, savemat

import klafter
from benchmarks.torture.changes import changed, changed_inside
from benchmarks.torture.guard import guarded, part
from klafter.datasets import load_karate
from klafter.graph import GraphFileError

TEXTS = {
    "g.net": b'*Vertices 3\n1 "a" 0.1 0.2 ic Red\n2 "b"\n3 "c"\n*Edges\n1 2 1\n2 3 2\n*Arcslist\n1 2 3\n',
    "m.net": b"*Vertices 3\n*Matrix\n0 1 0\n1 0 1\n0 1 0\n",
    "g.paj": b'*Network one\n*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2 1\n*Network two\n*Vertices 2\n*Edges\n1 2\n',
    "edges.dl": b"dl n=3 format=edgelist1\nlabels:\na,b,c\ndata:\n1 2 1\n2 3 1\n",
    "nodes.dl": b"dl n=3 format=nodelist1\nlabels embedded\ndata:\na b c\nb c\n",
    "full.dl": b"dl n=2 nm=2 format=fullmatrix\nlabels:\na b\nmatrix labels:\nx y\ndata:\n0 1 1 0 1 0 0 1\n",
    "two.dl": b"dl nr=2 nc=3 format=fullmatrix\ndata:\n0 1 1\n1 0 0\n",
    "g.gml": b'graph [ directed 1 node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 weight 2.5 ] ]',
    "m.txt": b"0 1 0\n1 0 1\n0 1 0\n",
    "named.csv": b",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
    "blanks.txt": b"# nodes: 5\n# directed: yes\nann  bob  2.5\nbob eve 1\n",
    "german.csv": b"Person;Freund;Gewicht\nann;bob;1,5\nbob;eve;2,25\n",
    "quoted.csv": b'source,target,weight\n"a, b",c,1\n"say ""hi""",c,2\n',
    "typed.csv": b"Source,Target,Type,Weight\n1,2,Undirected,1\n2,3,Directed,2\n",
    "snap.txt": b"# Nodes: 4 Edges: 3\n0\t1\n1\t2\n2\t3\n",
    "wide.txt": "a\tb\nb\tc\n".encode("utf-16"),
    "latin.csv": "Zoé;Jérôme\nJérôme;Anaïs\n".encode("cp1252"),
    "tagged.json": b'{"directed": true, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}',
}  # fmt: skip


def seeds() -> dict[str, bytes]:
    """A good file of every format."""
    folder, graph = Path(tempfile.mkdtemp()), load_karate()
    for suffix in (".graphml", ".gexf", ".json", ".csv", ".tsv"):
        klafter.write_graph(graph, folder / f"g{suffix}")
    sparse.save_npz(folder / "g.npz", graph.links)
    sparse.save_npz(folder / "c.npz", sparse.csc_array(graph.links), compressed=False)
    sparse.save_npz(folder / "o.npz", sparse.coo_array(graph.links), compressed=False)
    sparse.save_npz(folder / "b.npz", sparse.bsr_array(graph.links), compressed=False)
    sparse.save_npz(folder / "d.npz", sparse.dia_array(np.eye(5, k=1)), compressed=False)
    dense = graph.links.toarray()
    savemat(folder / "g.mat", {"a": sparse.csc_matrix(graph.links)})
    savemat(folder / "p.mat", {"a": dense, "b": sparse.csc_matrix(dense)}, do_compression=True)
    savemat(folder / "four.mat", {"a": dense, "s": sparse.csc_matrix(np.eye(4, k=1))}, format="4")
    mmwrite(folder / "g.mtx", sparse.coo_matrix(graph.links))
    mmwrite(folder / "array.mtx", dense[:6, :6])
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text)
    _write_tables(folder)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return found | {f"{name}.gz": gzip.compress(found[name]) for name in ("g.tsv", "g.graphml", "g.mtx")}


def _write_tables(folder: Path) -> None:
    import pandas as pd

    links = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"], "weight": [1.0, 2.0, 3.5]})
    with pd.ExcelWriter(folder / "g.xlsx") as book:
        links.to_excel(book, sheet_name="edges", index=False)
        pd.DataFrame({"id": ["a", "b"], "age": [1, 2]}).to_excel(book, sheet_name="nodes", index=False)
    links.to_parquet(folder / "g.parquet")
    links.to_feather(folder / "g.feather")


def change(name: str) -> Callable[[bytes, random.Random], bytes]:
    """How a file is changed: archives also inside, packed files before they are packed."""

    def packed(data: bytes, rng: random.Random) -> bytes:
        return gzip.compress(changed(gzip.decompress(data), rng))

    inside = {".npz": changed_inside, ".xlsx": changed_inside, ".gz": packed}.get(Path(name).suffix, changed)
    return lambda data, rng: (inside if rng.random() < 0.7 else changed)(data, rng)


def read(path: Path) -> None:
    """Read a file, and look at every part of what was read."""
    graph = klafter.read_graph(path)
    links, n = graph.links, graph.n_nodes
    assert links.shape == graph.hidden.shape == (n, n)
    assert np.isfinite(links.data).all()
    assert len({graph.label(i) for i in range(n)}) == n, "equal names"
    assert all(isinstance(note, str) for note in graph.notes)
    if n < 100:
        klafter.write_graph(graph, path.with_suffix(".out.json"))
        assert (klafter.read_graph(path.with_suffix(".out.json")).links != links).nnz == 0


def run(first: int, last: int) -> None:
    """Read changed files from one number to another."""
    good, folder = seeds(), Path(tempfile.mkdtemp())
    for number in range(first, last):
        name = sorted(good)[number % len(good)]
        path, data = folder / name, change(name)(good[name], random.Random(number))
        path.write_bytes(data)
        guarded(number, name, lambda path=path: read(path), (GraphFileError,), size=len(data))
        path.unlink()


if __name__ == "__main__":
    part(run)
