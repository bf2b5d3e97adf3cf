"""Adjacency matrices with or without names: square ones have one kind of nodes, rectangular ones two."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.assemble import plural
from klafter.graph.convert import as_graph
from klafter.graph.graph import Graph
from klafter.graph.io.errors import misencoded, misread, quote
from klafter.graph.io.files import ReadOptions, check_size
from klafter.graph.io.matrix_checks import every_pair, missing_code, same_nodes, total_line, weights_note
from klafter.graph.io.names import plain_labels
from klafter.graph.io.tables.column_names import simplified
from klafter.graph.io.tables.edge_fields import Block, cut_block
from klafter.graph.io.tables.edge_list import Opened
from klafter.graph.io.tables.matrix_layout import MARKS, MatrixLayout
from klafter.graph.io.tables.table_layout import Layout, cut, is_comment
from klafter.graph.io.tables.values import MISSING, to_number
from klafter.graph.io.tables.words import number_words
from klafter.graph.kinds.modes import with_kinds
from klafter.graph.kinds.names import NAMES, names_apart

TOTALS = frozenset({"sum", "total", "totals", "summe", "gesamt", "somme", "suma", "totale", "somma", "soma", "totaal"})


class Matrix(NamedTuple):
    """Values by row and column, NaN where nobody observed; names where there are any."""

    values: sparse.csr_array
    down: tuple[str, ...]
    across: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_matrix(table: Opened) -> Matrix:
    """The matrix that a table of text holds."""
    shape = table.matrix
    assert shape is not None
    header = ("",) * bool(shape.column_names)
    layout = Layout(shape.delimiter, shape.columns, header, 0, 1, None, skips_empty=shape.row_names)
    width = shape.columns - shape.dropped - shape.row_names
    down: list[str] = []
    parts = [sparse.csr_array((0, width))]
    counts: Counter[str] = Counter()
    for block in table.blocks:
        fields, _ = cut_block(block, layout)
        words, number = number_words([fields])
        texts = _decode(words, block.encoding)
        number = number.reshape(-1, shape.columns)
        if shape.row_names:
            down += [texts[k] for k in number[:, 0]]
        body = number[:, int(shape.row_names) : shape.columns - shape.dropped]
        used, where = np.unique(body, return_inverse=True)
        found = np.array([_value(texts[k], shape, block) for k in used])
        parts.append(sparse.csr_array(found[where].reshape(body.shape)))
        for k, times in zip(used, np.bincount(where.ravel(), minlength=len(used)).tolist()):
            counts[_form(texts[k])] += times
    values = sparse.csr_array(sparse.vstack(parts, format="csr"))
    return Matrix(values, tuple(down), shape.column_names, (*table.notes, *_said(counts)))


def _decode(words: list[bytes], encoding: str) -> list[str]:
    try:
        return [word.decode(encoding) for word in words]
    except UnicodeDecodeError:
        raise misencoded("other bytes", encoding, b"\n".join(words)) from None


def _value(field: str, shape: MatrixLayout, block: Block) -> float:
    low = field.lower()
    if low in MARKS:
        return MARKS[low]
    if low in MISSING:
        return np.nan
    try:
        value = to_number(field, shape.decimal)
    except ValueError:
        value = np.inf
    if np.isfinite(value):
        return value
    lines = block.data.decode(block.encoding, "replace").split("\n")
    fits = (
        k for k, line in enumerate(lines, block.line) if not is_comment(line) and field in cut(line, shape.delimiter)
    )
    raise misread(f"the value {quote(field)}", "a matrix holds finite numbers", "correct it", next(fits, None))


def _form(text: str) -> str:
    if text.lower() in MARKS:
        return "marked" if text else "blank"
    return "comma" if "," in text else "plain"


def _said(counts: Counter[str]) -> list[str]:
    found = []
    if counts["blank"]:
        found.append(f"{counts['blank']:,} empty cells read as 0.")
    if counts["marked"]:
        found.append(f"{counts['marked']:,} cells with a mark such as x or yes read as 1 or 0.")
    if counts["comma"]:
        found.append("Values have decimal commas.")
    return found


def matrix_graph(matrix: Matrix, options: ReadOptions) -> Graph:
    """The graph of a matrix: one kind of nodes if it is square or its names are the same, otherwise two."""
    two_mode = options.two_mode
    matrix = _same_names(_without_totals(matrix), two_mode)
    rows, columns = matrix.values.shape
    check_size(max(rows, columns))
    for names, place in ((matrix.down, "down the side"), (matrix.across, "across the top")):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise misread(f"{quote(twice)} twice {place}", "names must differ", "rename one")
        if "" in names:
            found, rule = f"no name {place}", "rows and columns of a matrix with names have one each"
            raise misread(found, rule, "name it, or delete it if it holds sums")
        total = next((name for name in names if simplified(name) in TOTALS), None)
        if total is not None:
            raise misread(f"{quote(total)} {place}", "sums are no node", "delete its row and column, or rename it")
    down, across = set(matrix.down), set(matrix.across)
    if two_mode is None:
        two_mode = not (down and down <= across) if down and across else rows != columns
    if two_mode:
        both = sorted(down & across)
        if both and not options.two_mode:
            found = f"{quote(both[0])} both down the side and across the top"
            raise misread(found, "two kinds of nodes need different names", "rename one, or pass two_mode=True")
        return _two_mode(matrix, options.weight)
    if down and across and not down <= across:
        only = next(name for name in matrix.down if name not in across)
        rule, cure = "names down the side must stand across the top", "pass two_mode=True if these are two kinds"
        raise misread(f"{quote(only)} only down the side", rule, cure)
    if not (down and across) and rows != columns:
        rule, cure = "links among one kind of nodes need a square", "pass two_mode=True or name rows and columns"
        raise misread(f"{rows} rows and {columns} columns", rule, cure)
    return _one_mode(matrix, options.directed, options.weight)


def _without_totals(matrix: Matrix) -> Matrix:
    """The matrix without a last row and column that are the sums of the others."""
    values, down, across = matrix.values, matrix.down, matrix.across
    row, column = total_line(values), total_line(sparse.csr_array(values.T))
    if not (row or column):
        return matrix
    called = [repr(names[-1]) if names and names[-1] else "" for names in (down, across)]
    lines = [f"{kind} {name}".strip() for kind, name in zip(("row", "column"), called)]
    said = " and the last ".join(line for line, found in zip(lines, (row, column)) if found)
    values = values[: values.shape[0] - row, : values.shape[1] - column]
    note = f"Left out: the last {said}, the sums of the others."
    return Matrix(
        sparse.csr_array(values), down[: len(down) - row], across[: len(across) - column], (*matrix.notes, note)
    )


def _same_names(matrix: Matrix, two_mode: bool | None) -> Matrix:
    """The matrix with the names of its rows across the top, if both are the same nodes."""
    if two_mode or not (matrix.down and matrix.across):
        return matrix
    reason = same_nodes(matrix.values, matrix.down, matrix.across)
    if not reason:
        return matrix
    said = f"The names across the top, such as {quote(matrix.across[0])}, are of the same nodes ({reason})"
    return matrix._replace(across=matrix.down, notes=(*matrix.notes, f"{said}; pass two_mode=True if not."))


def _one_mode(matrix: Matrix, directed: bool | None, weight: str | int | None) -> Graph:
    names = matrix.across or matrix.down
    n = matrix.values.shape[1]
    place = np.arange(n)
    if matrix.across and matrix.down:
        at = {name: k for k, name in enumerate(names)}
        place = np.array([at[name] for name in matrix.down])
    links, unseen = _placed(matrix.values, place, n)
    silent = np.setdiff1d(np.arange(n), place)
    graph = as_graph(links, directed=True if len(silent) and directed is None else None)
    reason = "as stated" if directed is not None else _reason(graph, links)
    if directed is not None and directed != graph.directed:
        graph = graph.replace(directed=True) if directed else graph.symmetrize()
    asked = np.ones(n, bool)
    asked[silent] = False
    hidden = unseen + sparse.csr_array(np.broadcast_to(~asked[:, None], (n, n))) if len(silent) else unseen
    kind = f"{'directed' if graph.directed else 'undirected'} ({reason})"
    size = f"a square matrix {'with' if names else 'without'} names"
    notes = [
        *matrix.notes,
        f"Read as {size}: {n:,} nodes and {graph.n_links:,} {plural('link', graph.n_links)}, {kind}.",
    ]
    if weight is not None:
        notes += [*weights_note(graph.links.data), *filter(None, [missing_code(graph.links.data), every_pair(links)])]
    loops = int(np.count_nonzero(links.diagonal()))
    notes += [f"{loops:,} self-link{'s' * (loops > 1)} dropped."] * bool(loops)
    graph = graph.binarize() if weight is None else graph
    if len(silent):
        notes.append(
            f"Only across the top: {len(silent):,} {plural('name', len(silent))}; what they would say is hidden."
        )
    if hidden.nnz:
        graph = graph.replace(hidden=hidden)
    if graph.n_hidden:
        notes.append(f"Hidden for want of a value: {graph.n_hidden:,} {plural('pair', graph.n_hidden)}.")
    return graph.replace(labels=plain_labels(list(names)) if names else None, notes=notes)


def _placed(values: sparse.csr_array, place: np.ndarray, n: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Observed values and unobserved dyads, with rows at their places."""
    coo = sparse.coo_array(values)
    row, column, unknown = place[coo.row], coo.col, np.isnan(coo.data)
    seen = ~unknown
    links = sparse.csr_array((coo.data[seen], (row[seen], column[seen])), shape=(n, n))
    links.eliminate_zeros()
    return links, sparse.csr_array((np.ones(unknown.sum(), bool), (row[unknown], column[unknown])), shape=(n, n))


def _reason(graph: Graph, links: sparse.csr_array) -> str:
    if graph.directed:
        apart = int((links != links.T.tocsr()).nnz) // 2
        return (
            f"the two halves differ in {apart:,} {plural('pair', apart)}; pass directed=False if order does not matter"
        )
    row, column = links.nonzero()
    both = bool((row < column).any() and (row > column).any())
    return "it is symmetric" if both else "only one half is filled; pass directed=True if order matters"


def _two_mode(matrix: Matrix, weight: str | int | None) -> Graph:
    rows, columns = matrix.values.shape
    down = matrix.down or tuple(f"r{k}" for k in range(1, rows + 1))
    across = matrix.across or tuple(f"c{k}" for k in range(1, columns + 1))
    coo = sparse.coo_array(matrix.values)
    n, unknown = rows + columns, np.isnan(coo.data)
    seen = ~unknown & (coo.data != 0)
    links = sparse.csr_array((coo.data[seen], (coo.row[seen], rows + coo.col[seen])), shape=(n, n))
    unseen = np.column_stack([coo.row[unknown], rows + coo.col[unknown]])
    labels = [name for side in names_apart(down, across) for name in side]
    graph = Graph(links, labels=labels, hidden=unseen)
    said = f"Read as a matrix of two modes: {rows:,} rows, {columns:,} columns and {graph.n_links:,} links"
    graph = graph.replace(notes=[*matrix.notes, f"{said}; pass two_mode=False if both are the same nodes."])
    if weight is None:
        return with_kinds(graph.binarize(), np.arange(n) >= rows, NAMES)
    values = graph.links.data
    graph = graph.replace(notes=[*graph.notes, *weights_note(values), *filter(None, [missing_code(values)])])
    return with_kinds(graph, np.arange(n) >= rows, NAMES)
