"""Tables that are not text, as text: Excel workbooks through openpyxl, Parquet and Arrow files through pyarrow."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from klafter.graph.archives import ArchiveError, check_zip
from klafter.graph.io.errors import GraphFileError, misread, none_of, one_of, quote
from klafter.graph.io.files import read_all
from klafter.graph.io.tables.column_names import simplified

EXCEL = (".xlsx", ".xlsm")
COLUMNAR = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_LINKS = ("edges", "links", "edgelist", "ties", "kanten", "liens", "aretes", "enlaces", "aristas", "archi", "arestas")
_NODES = ("nodes", "vertices", "actors", "attributes", "knoten", "akteure", "noeuds", "sommets", "nodos", "nodi", "nos")


_ERRORS = frozenset({"#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NULL!", "#NUM!"})


class Sheet(NamedTuple):
    """A table as comma-separated UTF-8, one line for each of its rows, and what has to be said of it."""

    data: bytes
    notes: list[str]


def is_sheet(path: Path) -> bool:
    """Whether a file is a workbook or a table of columns."""
    return path.suffix.lower() in (*EXCEL, *COLUMNAR)


def read_sheet(path: Path, sheet: str | int | None = None, nodes: bool = False) -> Sheet:
    """One table of a file: the sheet asked for, or the one of links, or of `nodes`, or the first."""
    return _read_excel(path, sheet, nodes) if path.suffix.lower() in EXCEL else _read_columns(path)


def _needs(library: str, path: Path, extra: str) -> GraphFileError:
    found, rule = f"a {path.suffix} file", f"it is read by {library}, which is not installed"
    return misread(found, rule, f"pip install 'klafter[{extra}]', or save it as CSV")


def _open_book(path: Path) -> Any:
    data = read_all(path)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise _needs("openpyxl", path, "excel") from None
    if not data.startswith(b"PK"):
        raise misread("no Excel data", "the name ends in .xlsx", "save it again as .xlsx or CSV")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_zip(archive, len(data))
    except ArchiveError as error:
        raise misread(f"that {error}", "a workbook is little larger", "save it as .csv") from None
    return load_workbook(io.BytesIO(data), read_only=True, data_only=True)


def _read_excel(path: Path, sheet: str | int | None, nodes: bool) -> Sheet:
    book = _open_book(path)
    names = book.sheetnames
    chosen = _choose(names, sheet, nodes)
    rows = [[_cell(value) for value in row] for row in book[chosen].iter_rows(values_only=True)]
    book.close()
    for line, row in enumerate(rows, 1):
        if wrong := _ERRORS.intersection(row):
            raise misread(f"the error {min(wrong)}", "formulas must have values", "correct it in the workbook", line)
    rows, notes = _without_margins(rows)
    if not rows:
        raise misread(f"nothing in the sheet {quote(chosen)}", "a graph needs links", "name another")
    if len(names) > 1 and not nodes:
        notes.insert(0, one_of("sheet", chosen, (name for name in names if name != chosen), "sheet"))
    return Sheet(as_csv(rows), notes)


def node_sheet(path: Path) -> str | None:
    """The sheet of nodes in a workbook, by its name."""
    book = _open_book(path)
    names = list(book.sheetnames)
    book.close()
    return next((name for name in names if simplified(name) in _NODES), None)


def _choose(names: list[str], sheet: str | int | None, nodes: bool) -> str:
    if sheet is None:
        wanted = _NODES if nodes else _LINKS
        rest = [name for name in names if nodes or simplified(name) not in _NODES]
        return next((name for name in names if simplified(name) in wanted), (rest or names)[0])
    if sheet in names:
        return str(sheet)
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise none_of("sheets", names, f"sheet={sheet!r}", "name another, or give its number from 1")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat().removesuffix("T00:00:00")
    return " ".join(str(value).split())


def _without_margins(rows: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Columns with something in them; a title above the table is left out and told, and lines keep their numbers."""
    titles = []
    for k, row in enumerate(rows[:-1]):
        if sum(map(bool, row)) > 1:
            break
        below = next((later for later in rows[k + 1 :] if any(later)), [])
        if sum(map(bool, row)) == 1 and sum(map(bool, below)) != 1:
            titles.append(next(filter(None, row)))
            rows[k] = []
    full = [k for k in range(max(map(len, rows), default=0)) if any(len(row) > k and row[k] for row in rows)]
    kept = [[row[k] if len(row) > k else "" for k in full] if any(row) else [] for row in rows]
    return kept, [f"Left out above the table: {', '.join(map(quote, titles))}."] if titles else []


def as_csv(rows: Iterable[list[str]]) -> bytes:
    """Rows as comma-separated text; a row that would look like a comment stands in quotation marks."""
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        (quoted if row and row[0][:1] in ("#", "%") else plain).writerow(row)
    return text.getvalue().encode()


def _read_columns(path: Path) -> Sheet:
    data = read_all(path)
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
        from pyarrow import feather, parquet
    except ImportError:
        raise _needs("pyarrow", path, "tables") from None
    source = pyarrow.BufferReader(data)
    if data.startswith(b"PAR1"):
        table = parquet.read_table(source)
    elif data.startswith((b"ARROW1", b"FEA1")):
        table = feather.read_table(source)
    else:
        table = pyarrow.ipc.open_stream(source).read_all()
    table.validate(full=True)  # Arrow follows the offsets of a file wherever they lead
    table = _flat(table)
    for style in ("none", "needed"):  # quotation marks cost time and are seldom needed
        text = io.BytesIO()
        try:
            arrow_csv.write_csv(table, text, arrow_csv.WriteOptions(quoting_style=style))
            break
        except pyarrow.ArrowInvalid:
            continue
    return Sheet(text.getvalue(), [])


def _flat(table: Any) -> Any:
    """Dictionary columns as plain ones; the index that pandas wrote has no name."""
    import pyarrow

    columns = [table[name] for name in table.column_names]
    plain = [c.cast(c.type.value_type) if pyarrow.types.is_dictionary(c.type) else c for c in columns]
    names = ["" if name.startswith("__index_level") else name for name in table.column_names]
    order = sorted(range(len(names)), key=lambda k: names[k] != "")
    return pyarrow.table([plain[k] for k in order], names=[names[k] for k in order])
