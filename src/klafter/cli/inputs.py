"""What commands are given: graphs, models, pairs of nodes, and places to write to. Checked before work begins."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klafter.cli.sentences import Mistake, did_you_mean

if TYPE_CHECKING:
    from klafter.graph import Graph
    from klafter.models import NetworkModel

PREFIX = "dataset:"
MOST_TEXT = 100_000_000  # characters of pairs on stdin


def load_graph(name: str, directed: bool | None = None, read: list[str] | None = None, **options) -> Graph:
    """A graph from a file, or a data set when there is no such file; `read` has more options, as NAME=VALUE."""
    options = {"directed": directed, **options, **check_reading(parse_settings(read or [], "--read"))}
    directed = options.pop("directed")
    if not name.startswith(PREFIX):
        check_readable(name)
    if name and Path(name).exists() and not name.startswith(PREFIX):
        from klafter.graph import read_graph

        return read_graph(name, directed=directed, **options)
    from klafter.datasets import DATASETS, load_dataset

    known = name.removeprefix(PREFIX)
    if known not in DATASETS:
        raise no_such_file(name, DATASETS)
    weight = options.pop("weight", "auto")
    if options or weight not in ("auto", None):
        option = next(iter(options), "weight").replace("two_mode", "bipartite").replace("_", "-")
        raise Mistake(f"{known} is a data set, which is read in one way; --{option} goes with a file.")
    graph = load_dataset(known) if weight == "auto" else load_dataset(known).binarize()
    if directed is None or directed == graph.directed:
        return graph
    return graph.replace(directed=True) if directed else graph.symmetrize()


def check_readable(name: str, what: str = "a file of links") -> None:
    """Refuse by name what is there but is no file; what is not there may be the name of a data set."""
    from klafter.graph.places import no_file

    if name and (found := no_file(name)):
        raise Mistake(f"{name} is {found}; name {what}.")


def no_such_file(name: str, datasets: Iterable[str] = ()) -> Mistake:
    """That there is neither file nor data set of a name, and which ones are spelled like it."""
    known, folder = name.removeprefix(PREFIX), Path(name).parent
    what = "data set" if name.startswith(PREFIX) else "file and no data set" if datasets else "file"
    files = [] if name.startswith(PREFIX) or not folder.is_dir() else [str(path) for path in folder.iterdir()]
    where = "; klafter datasets lists the data sets" if datasets else ""
    return Mistake(f"There is no {what} {known!r}{where}.{did_you_mean(known, [*datasets, *files])}")


def parse_settings(settings: list[str], option: str = "--set") -> dict[str, Any]:
    """``name=value`` as parameters; a value is JSON, or text."""
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise Mistake(f"{option} needs NAME=VALUE; this is {setting!r}.")
        try:
            found[name] = json.loads({"True": "true", "False": "false", "None": "null"}.get(value, value))
        except json.JSONDecodeError:
            found[name] = {"yes": True, "no": False, "none": None, r"\t": "\t"}.get(value, value)
    return found


def parse_attributes(text: str | None) -> dict[str, str | None] | None:
    """``office,age,code:category`` as what ``KLafter`` takes; ``:category`` or ``:number`` says what values are."""
    if text is None:
        return None
    found: dict[str, str | None] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        name, colon, kind = word.rpartition(":")
        told = bool(colon) and kind in ("category", "number")
        found[name if told else word] = kind if told else None
    if not found:
        raise Mistake("--attributes needs names of attributes, such as office,age; this names none.")
    return found


def check_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Options of ``read_graph``, refused by name where it has none such."""
    if options:
        from inspect import signature

        from klafter.graph import read_graph

        known = [name for name in signature(read_graph).parameters if name != "path"]
        unknown = [name for name in options if name not in known]
        if unknown:
            raise Mistake(
                f"A graph is read with {', '.join(known)}; {unknown[0]!r} is none of them."
                + did_you_mean(unknown[0], known)
            )
    return options


def load_model(path: Path, level: int | None = None) -> NetworkModel:
    """A model that ``klafter fit`` wrote, with so many communities if one of its levels has them."""
    from klafter.models import load

    model = load(path)
    return model if level is None else model.at_level(level)


def check_output(path: Path, *sources: str | Path | None) -> Path:
    """A place that can be written to, and where nothing comes from that is read."""
    from klafter.graph.writing import check_place

    check_place(path)
    if path.exists() and any(Path(source).exists() and path.samefile(source) for source in sources if source):
        raise Mistake(f"{path} is the file that is read; choose another name for the output.")
    return path


def check_outputs(outputs: dict[str, Path | None], *sources: str | Path | None) -> None:
    """Places for what a command writes, by what that is: each as in ``check_output``, and no two are one."""
    taken: dict[str, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        other = taken.setdefault(os.path.realpath(check_output(path, *sources)), what)
        if other != what:
            raise Mistake(f"{path} is to be the {other} and the {what}; choose another name for one of them.")


def save_model(model: Any, path: Path) -> None:
    """Save what took long to find: elsewhere, if it cannot be where it was asked for."""
    try:
        model.save(path)
    except OSError as error:
        spare = _elsewhere(model)
        raise type(error)(f"{error} The model is in {spare}." if spare else str(error)) from error


def _elsewhere(model: Any) -> str | None:
    """A new file that holds a model, in the folder for temporary ones; None where there is no room either."""
    with suppress(OSError):
        handle, spare = tempfile.mkstemp(prefix="klafter-", suffix=".npz")
        os.close(handle)
        try:
            model.save(spare)
            return spare
        except OSError:
            os.unlink(spare)
    return None


def find_pairs(graph: Graph, words: list[str]) -> list[tuple]:
    """The pairs that arguments mean: a file, - for stdin, nodes two by two, or "a b" in each argument."""
    if len(words) == 1 and words[0] == "-":
        return read_pairs(graph, _stdin_lines(), "stdin")
    if len(words) == 1 and Path(words[0]).is_file():
        return read_pairs(graph, text_lines(Path(words[0])), words[0])
    nodes = [_is_node(graph, word) for word in words]
    if len(words) == 1 and not nodes[0]:
        check_readable(words[0], "a file of pairs, or two nodes")
    # each argument is a pair, unless some are nodes, or look like misspelt ones
    if len(words) == 1 or (not any(nodes) and all(any(mark in word for mark in " ,;\t") for word in words)):
        return [find_pair(graph, _two_nodes(graph, word)) for word in words]
    if len(words) % 2:
        raise Mistake(f"Nodes make pairs two by two; these are {len(words)}, and {words[-1]!r} has no partner.")
    return [find_pair(graph, words[k : k + 2]) for k in range(0, len(words), 2)]


def find_node(graph: Graph, name: str):
    """The label of a node, spelled as the graph spells it."""
    try:
        return graph.label(graph.index(name))
    except KeyError as error:
        raise Mistake(error.args[0]) from None


def find_pair(graph: Graph, names: list[str]) -> tuple:
    """Two different nodes."""
    a, b = find_node(graph, names[0]), find_node(graph, names[1])
    if a == b:
        raise Mistake(f"A link needs two nodes; both are {a!r}.")
    return a, b


def _two_nodes(graph: Graph, text: str) -> list[str]:
    """Two names in one argument: parted by a comma or tab, or wherever blanks leave two nodes that exist."""
    for delimiter in "\t,;":
        if text.count(delimiter) == 1:
            return [part.strip() for part in text.split(delimiter)]
    words = text.split()
    splits = [[" ".join(words[:k]), " ".join(words[k:])] for k in range(1, len(words))]
    good = [split for split in splits if all(_is_node(graph, name) for name in split)]
    if not splits or (not good and _is_node(graph, text)):
        raise Mistake(f"{text!r} is neither a file nor two nodes.")
    return good[0] if good else splits[0]


def _is_node(graph: Graph, name: str) -> bool:
    try:
        graph.index(name)
    except KeyError:
        return False
    return True


def _stdin_lines() -> list[str]:
    text = sys.stdin.read(MOST_TEXT)
    if len(text) == MOST_TEXT:
        raise Mistake(f"stdin goes on for more than {MOST_TEXT:,} characters; write fewer pairs at a time.")
    return text.splitlines()


def text_lines(path: Path) -> list[str]:
    """The lines of a file of text: UTF-8, UTF-16 with its mark, or else as Windows writes it."""
    if not path.exists() and not path.is_symlink():
        raise no_such_file(str(path))
    check_readable(str(path), "a file of pairs")
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").splitlines()
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace").splitlines()


def read_pairs(graph: Graph, lines: list[str], source: str) -> list[tuple]:
    """Two nodes a line, parted by a tab, comma, semicolon or blanks; a first line that names no nodes is a header."""
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and line.lstrip()[0] not in "#%"]
    if not rows:
        raise Mistake(f"{source} holds no pairs; write two nodes on each line.")
    delimiter = next((d for d in "\t,;" if d in rows[0][1]), None)
    pairs = [(number, _fields(line, delimiter)) for number, line in rows]
    first = pairs[0][1]
    if len(pairs) > 1 and not any(_is_node(graph, name) for name in first[:2]):
        pairs = pairs[1:]
    return [_pair_of_line(graph, fields, f"{source}, line {number}") for number, fields in pairs]


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [])]


def _pair_of_line(graph: Graph, fields: list[str], place: str) -> tuple:
    if len(fields) < 2:
        raise Mistake(f"{place}: found {len(fields)} name, but a pair is two nodes.")
    try:
        return find_pair(graph, fields)
    except Mistake as error:
        raise Mistake(f"{place}: {error}") from None
