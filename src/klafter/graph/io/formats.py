"""Other people's formats: GraphML, GML, GEXF and JSON through networkx; MatrixMarket, .npz and .mat."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph.archives import ArchiveError, check_compressed, read_arrays, sparse_matrix
from klafter.graph.convert import as_graph, from_networkx
from klafter.graph.graph import Graph
from klafter.graph.io.errors import misread, one_of, quote
from klafter.graph.io.files import ReadOptions, check_size, read_all, read_text
from klafter.graph.io.json_links import parse
from klafter.graph.io.mat import read_matrices
from klafter.graph.io.matrix_checks import weights_note
from klafter.graph.io.names import plain_labels


def read_xml(path: Path, options: ReadOptions) -> Graph:
    """GraphML or GEXF."""
    import networkx as nx

    data = read_all(path)
    _refuse_entities(data)
    read = nx.read_gexf if b"<gexf" in data[:4096] else nx.read_graphml
    return _adopt(read(io.BytesIO(data)), options)


def _refuse_entities(data: bytes) -> None:
    """Entities, which can grow without bound, are declared before the first element, in whatever encoding."""
    from xml.parsers import expat

    class Seen(Exception):
        pass

    def entity(*declared: object) -> None:
        raise misread("XML entities", "graph files need none", "remove the <!DOCTYPE> part")

    def element(*found: object) -> None:
        raise Seen

    parser = expat.ParserCreate()
    parser.EntityDeclHandler, parser.StartElementHandler = entity, element
    with suppress(Seen, expat.ExpatError):  # errors are said by whoever reads it
        parser.Parse(data, True)


def read_gml(path: Path, options: ReadOptions) -> Graph:
    """GML, also where links repeat or nodes have no or equal labels."""
    import networkx as nx

    text = read_text(path, options.encoding)
    if not re.search(r"\bmultigraph\s+1", text):
        text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1", text, count=1)
    try:
        found = nx.parse_gml(text)
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        found = nx.parse_gml(text, label="id")
    return _adopt(found, options)


def read_json(path: Path, options: ReadOptions) -> Graph:
    """Nodes and links as `write_graph`, networkx, D3 and Cytoscape write them, or records; hidden dyads too."""
    import networkx as nx

    document = parse(read_text(path, options.encoding))
    ordered = options.directed if document.directed is None else document.directed
    found = (nx.MultiDiGraph if ordered else nx.MultiGraph)()
    found.graph.update(document.about)
    found.add_nodes_from(document.nodes)
    found.add_edges_from(document.links)
    graph = _adopt(found, options)
    if document.directed is None and options.directed is None:
        said = "(the file says nothing of it; pass directed=True if order matters)"
        graph = graph.replace(notes=[note.replace("(as stated)", said) for note in graph.notes])
    return graph.hide(document.hidden) if document.hidden else graph


def _adopt(found: Any, options: ReadOptions) -> Graph:
    check_size(len(found))
    named = "weight" if options.weight == "auto" else options.weight
    if named not in (None, "weight") and not any(named in known for *_, known in found.edges(data=True)):
        raise misread(f"no {quote(str(named))} on links", f"weight={named!r} must be one", "name another")
    graph = from_networkx(found, options.directed, named)
    # XML knows only text: numbers are numbers again
    return graph.replace(labels=plain_labels([str(node) for node in found]))


def read_matrix_market(path: Path, options: ReadOptions) -> Graph:
    """MatrixMarket; its header is checked before anything is allocated."""
    from scipy.io import mminfo

    directed = options.directed
    data = read_all(path)
    rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(data))
    if rows != columns and layout != "coordinate":
        found, rule = f"{rows} x {columns} without coordinates", "links of one kind of nodes need a square matrix"
        raise misread(found, rule, "write a matrix of two kinds with coordinates")
    check_size(max(rows, columns), content=len(data))
    least = entries * (4 if layout == "coordinate" else 1)
    if least > len(data) or field == "complex":
        found = "complex numbers" if field == "complex" else f"{entries:,} entries announced and far fewer given"
        raise misread(found, "links are real and all present", "write the file again")
    if directed is None and symmetry == "symmetric":
        directed = False
    try:
        matrix = _market_matrix(data, (rows, columns), entries, layout, field, symmetry)
    except ArchiveError as error:
        raise misread(str(error), "links are real and all present", "write it again") from None
    return _from_matrix(matrix, directed, options.weight)


def _market_matrix(
    data: bytes, shape: tuple[int, int], entries: int, layout: str, field: str, symmetry: str
) -> sparse.coo_array:
    """The matrix of a file whose header says how it is laid out; square unless it has coordinates.

    Every index is looked at: SciPy's reader follows damaged ones into foreign memory.
    """
    lines = [line for line in data.splitlines() if line.strip() and not line.lstrip().startswith(b"%")]
    try:
        numbers = np.array([float(word) for line in lines[1:] for word in line.split()])
    except ValueError as error:
        raise ArchiveError(f"{str(error)[:60]}") from None
    if layout != "coordinate":
        return _full(numbers, shape[0], symmetry)
    width = 2 if field == "pattern" else 3
    if len(numbers) != entries * width:
        raise ArchiveError(f"{entries:,} entries announced and others given")
    table = numbers.reshape(-1, width)
    ends = table[:, :2]
    if not ((ends >= 1) & (ends <= shape) & (ends == np.floor(ends))).all():
        raise ArchiveError(f"rows and columns that are not whole numbers from 1 to {shape[0]} and {shape[1]}")
    row, column = ends.T.astype(np.int64) - 1
    return _both(row, column, table[:, 2] if width == 3 else np.ones(len(table)), shape, symmetry)


def _full(numbers: np.ndarray, n: int, symmetry: str) -> sparse.coo_array:
    """Columns one after the other; of a symmetric matrix from the diagonal down."""
    column, row = np.triu_indices(n, {"symmetric": 0, "skew-symmetric": 1}.get(symmetry, -n))
    if len(numbers) != len(row):
        raise ArchiveError(f"{len(numbers):,} values for {len(row):,} places")
    return _both(row, column, numbers, (n, n), symmetry)


def _both(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int], symmetry: str
) -> sparse.coo_array:
    if symmetry in ("symmetric", "skew-symmetric"):
        apart = row != column
        sign = 1.0 if symmetry == "symmetric" else -1.0
        row, column = np.append(row, column[apart]), np.append(column, row[apart])
        value = np.append(value, sign * value[apart])
    return sparse.coo_array((value, (row, column)), shape=shape)


def read_npz(path: Path, options: ReadOptions) -> Graph:
    """A sparse matrix written by scipy.sparse.save_npz."""
    data = read_all(path)
    if not data.startswith(b"PK"):
        rule, cure = "an .npz file is an archive of arrays", "save a sparse matrix with scipy.sparse.save_npz"
        raise misread("something else", rule, cure)
    rule, cure = "it should come from scipy.sparse.save_npz", "save a sparse matrix with it"
    try:
        parts = read_arrays(data)
        if "shape" not in parts or "format" not in parts:
            raise misread(f"the arrays {', '.join(map(quote, parts))}", rule, cure)
        check_size(int(max(parts["shape"].ravel())), content=len(data))
        return _from_matrix(sparse_matrix(parts), options.directed, options.weight)
    except (ArchiveError, KeyError, IndexError, TypeError) as error:
        said = f"that {error}" if isinstance(error, ArchiveError) else "that parts are missing"
        raise misread(said, rule, cure) from None


def read_mat(path: Path, options: ReadOptions) -> Graph:
    """A square matrix of a MATLAB file, else a rectangular one; `relation` is its name if there are several."""
    data, relation = read_all(path), options.relation
    if data[:8] == b"\x89HDF\r\n\x1a\n" or b"MATLAB 7.3" in data[:128]:
        raise misread("MATLAB 7.3 data", "version 7 or older is read", "save with '-v7'")
    try:
        held = _old_mat(data) if 0 in data[:4] else read_matrices(data)
    except ArchiveError as error:
        rule, cure = "a MATLAB file holds matrices of numbers", "save the adjacency matrix again, with '-v7'"
        raise misread(f"that {error}", rule, cure) from None
    matrices = {k: v for k, v in held.items() if not k.startswith("__") and _is_matrix(v)}
    squares = {k: v for k, v in matrices.items() if v.shape[0] == v.shape[1]}
    found = {k: _checked(v) for k, v in (squares or matrices).items()}
    if not found or (relation is not None and relation not in found):
        listed = f"the matrices {', '.join(map(quote, found))}" if found else "no matrix"
        rule = "links need one" if relation is None else f"relation={relation!r} must be one"
        raise misread(listed, rule, "save the adjacency matrix")
    name, *others = [relation, *(set(found) - {relation})] if relation else list(found)
    graph = _from_matrix(found[name], options.directed, options.weight)
    said = f"Read the matrix {name!r}."
    if others and not relation:
        said = one_of("matrix", name, others, "relation")
    return graph.replace(notes=[said, *graph.notes])


def _old_mat(data: bytes) -> dict[str, Any]:
    """Version 4, which begins with a small number and not with words."""
    from scipy.io import loadmat

    return dict(loadmat(io.BytesIO(data)))


def _checked(matrix: Any) -> Any:
    """A matrix whose every index is looked at: compiled code would follow a wrong one anywhere."""
    if not sparse.issparse(matrix):
        return matrix
    try:
        if matrix.format == "coo":
            sparse.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        else:
            lines, width = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
            check_compressed(matrix.data, matrix.indices, matrix.indptr, lines, width)
    except ValueError as error:
        raise misread(f"a damaged matrix ({error})", "every index is in it", "save it again") from None
    return matrix


def _is_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2 and value.dtype.kind in "biuf" and min(value.shape) > 1


def _from_matrix(matrix: Any, directed: bool | None, weight: str | int | None) -> Graph:
    check_size(max(matrix.shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two_mode = matrix.shape[0] != matrix.shape[1]
        graph = as_graph(matrix, directed=directed, two_mode=two_mode)
    loops = 0 if two_mode else int(np.count_nonzero(matrix.diagonal()))
    graph = graph.binarize() if weight is None else graph
    notes = [f"{graph.count_nodes()} and {graph.n_links:,} links, {graph.form}."]
    notes += weights_note(graph.links.data)
    if loops:
        notes.append(f"{loops:,} self-link{'s' * (loops > 1)} dropped.")
    return graph.replace(notes=notes)
