"""Small files that once crashed a process, ate its memory or never ended, each made here."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import savemat


def npz(**parts) -> bytes:
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def csr(**changes) -> bytes:
    """A matrix of three nodes as scipy.sparse.save_npz writes it, with parts changed."""
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array([3, 3]),
        "data": np.ones(2),
        "indices": np.array([1, 2], np.int32),
        "indptr": np.array([0, 1, 2, 2], np.int32),
    }
    return npz(**{**parts, **changes})


def mat(before: list[int], after: list[int]) -> bytes:
    """A file of a sparse matrix of four nodes, in which some whole numbers are replaced."""
    file = io.BytesIO()
    savemat(file, {"a": sparse.csc_matrix(np.eye(4, k=1))})
    good, bad = (np.array(numbers, np.int32).tobytes() for numbers in (before, after))
    assert file.getvalue().count(good) == 1
    return file.getvalue().replace(good, bad)


def claimed(shape: str) -> bytes:
    """An array that says it is larger than it is."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    array = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + b"\0" * 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("shape.npy", array)
    return file.getvalue()


def feather(offsets: list[int]) -> bytes:
    """Links of which the names of one end stand where the offsets say."""
    import pyarrow as pa
    from pyarrow.feather import write_feather

    ends = pa.py_buffer(np.array(offsets, np.int32).tobytes())
    source, file = pa.StringArray.from_buffers(len(offsets) - 1, ends, pa.py_buffer(b"abc")), pa.BufferOutputStream()
    write_feather(pa.table({"source": source, "target": ["b", "c", "d"]}), file, compression="uncompressed")
    return file.getvalue().to_pybytes()


def zip_bomb(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"\0" * size)
    return file.getvalue()


def mat_bomb(size: int) -> bytes:
    packer, block, parts = zlib.compressobj(9), b"\0" * 2**20, size // 2**20
    first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = first + first[2:] * (
        parts - 1
    )  # without the header; whoever unpacks it is past the limit long before the end
    head = b"MATLAB 5.0 MAT-file".ljust(124) + (0x0100).to_bytes(2, "little") + b"IM"
    return head + (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + packed


LAUGHS = """<?xml version="1.0" encoding="{}"?>
<!DOCTYPE graphml [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<graphml><graph edgedefault="undirected"><node id="&b;"/></graph></graphml>"""
MARKET = b"%%MatrixMarket matrix coordinate real general\n"
BIG = 600 * 2**20

FILES = {
    "backwards.npz": lambda: csr(indptr=np.array([0, 2, 1, 2], np.int32)),
    "pointers.npz": lambda: csr(indptr=np.array([0, 1, 2, 2_000_000], np.int32)),
    "negative.npz": lambda: csr(indices=np.array([1, -2_000_000], np.int32)),
    "outside.npz": lambda: csr(indices=np.array([1, 2_000_000_000], np.int32)),
    "short.npz": lambda: csr(indptr=np.array([0, 2], np.int32)),
    "empty_pointers.npz": lambda: csr(indptr=np.array([], np.int32), data=np.ones(0), indices=np.array([], np.int32)),
    "no_entries.npz": lambda: csr(
        shape=np.array([40_000_000] * 2), data=np.ones(0), indices=np.array([], np.int32), indptr=np.zeros(4, np.int32)
    ),
    "float_indices.npz": lambda: csr(indices=np.array([1.0, np.nan])),
    "odd_format.npz": lambda: csr(format=np.array(b"lil")),
    "claimed.npz": lambda: claimed("(1000000000000, 1000)"),
    "negative_shape.npz": lambda: claimed("(-5,)"),
    "bomb.npz": lambda: zip_bomb(BIG),
    "coo.npz": lambda: npz(
        format=np.array(b"coo"), shape=np.array([3, 3]), data=np.ones(1),
        row=np.array([7_000_000], np.int32), col=np.array([1], np.int32),
    ),
    "pointers.mat": lambda: mat([0, 0, 1, 2, 3], [0, 0, 1_000_000, 2, 3]),
    "indices.mat": lambda: mat([0, 1, 2, 0, 5], [0, 1_000_000, 2, 0, 5]),
    "bomb.mat": lambda: mat_bomb(BIG),
    "vertices.net": lambda: b"*Vertices 50000000\n*Edges\n1 2\n",
    "nodes.dl": lambda: b"dl n=49000000 format=edgelist1\ndata:\n1 2 1\n",
    "matrices.dl": lambda: b"dl n=2 nm=99999999999 format=fullmatrix\ndata:\n0 1 1 0\n",
    "announced.txt": lambda: b"# Nodes: 49000000 Edges: 1\n1 2\n2 3\n",
    "empty.mtx": lambda: MARKET + b"49000000 49000000 0\n",
    "outside.mtx": lambda: MARKET + b"3 3 1\n2000000 2 1.0\n",
    "entries.mtx": lambda: MARKET + b"3 3 4000000000\n1 2 1.0\n",
    "laughs.graphml": lambda: LAUGHS.format("utf-8").encode(),
    "laughs16.graphml": lambda: LAUGHS.format("utf-16").encode("utf-16"),
    "laughs037.graphml": lambda: LAUGHS.format("cp037").encode("cp037"),
    "deep.json": lambda: b"[" * 200_000,
    "deep_nodes.json": lambda: b'{"nodes":' + b"[" * 100_000 + b"]" * 100_000 + b',"links":[]}',
    "wild_offset.feather": lambda: feather([0, 1, 2**31 - 5, 3]),
    "bomb.txt.gz": lambda: gzip.compress(b"a b\n" * 2**20, 9) * (BIG // 2**22),
}  # fmt: skip


def _offset(arrays: dict[str, np.ndarray], header: dict) -> None:
    """Counts that no generator of random numbers can draw."""
    header["fitted"]["point_"]["draw"][2] = {"plain": 200.0}
    header["fitted"]["draws_"]["draws"][2] = {"plain": 200.0}


def _fitted(**parts) -> object:
    return lambda arrays, header: header["fitted"].update(parts)


# what is changed in the arrays and the header of a good model of counts; each once failed when a method was asked
MODELS = {
    "truth_values.npz": lambda arrays, header: arrays.update(
        {"point_.sender": arrays["point_.sender"].astype(bool), "point_.receiver": arrays["point_.receiver"] > 0}
    ),
    "narrow.npz": lambda arrays, header: arrays.update(
        {"finest_.affinities": arrays["finest_.affinities"].astype(np.float32)}
    ),
    "many_counts.npz": _offset,
    "merged.npz": lambda arrays, header: arrays.update({"levels_.merged": np.zeros((0, 2), int)}),
    "levels.npz": lambda arrays, header: arrays.update({"levels_.n_communities": np.array([10**6])}),
    "names.npz": lambda arrays, header: header["fitted"]["community_names_"]["plain"].__setitem__(0, ["a"]),
    "sociality.npz": lambda arrays, header: header["parameters"].update(sociality="x" * 50),
    "seed.npz": lambda arrays, header: header["parameters"].update(random_state="linear"),
    "nameless.npz": lambda arrays, header: header["graph"]["labels"].__setitem__(3, None),
    "seconds.npz": lambda arrays, header: header["fitted"].pop("fit_seconds_"),
    "graph.npz": _fitted(graph_={"plain": 1}),
    "another_link.npz": _fitted(link_={"plain": "exposure"}, response_={"plain": "exposure"}),
    "number_of_roles.npz": _fitted(n_roles_={"plain": -1}),
    "posterior.npz": lambda arrays, header: arrays.update(
        {"n_communities_posterior_.probability": -arrays["n_communities_posterior_.probability"]}
    ),
    "history.npz": lambda arrays, header: arrays.update({"history_": np.full_like(arrays["history_"], np.nan)}),
}


def make_model(folder: Path, name: str, good: dict[str, np.ndarray]) -> Path:
    """A model file like a good one, of which something is changed."""
    arrays, header = dict(good), json.loads(good["header"].tobytes())
    MODELS[name](arrays, header)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    (folder / name).write_bytes(npz(**arrays))
    return folder / name


def make(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(FILES[name]())
    return path
