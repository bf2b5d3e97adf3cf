"""Model files: one ``.npz`` of arrays with a JSON header. No pickles, so a file from a stranger is only data."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.graph import Graph
from klafter.graph.archives import check_compressed, read_arrays
from klafter.graph.places import no_file
from klafter.graph.writing import write_file
from klafter.models.checks import check_running
from klafter.models.results.names import name_communities
from klafter.models.results.posterior import fill_in
from klafter.models.storage.fitted import RULES, check_fitted

FORMAT, VERSION = "klafter model", 3
Header: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, np.ndarray]
CLASSES = ("KLafter", "PaperKLafter", "LFRM", "IRM", "MMSB", "EPM")
DAMAGES = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError)
DRAWS: dict[str, type[Draw]] = {"linear": LinearDraw, "exposure": ExposureDraw}


class ModelFileError(ValueError):
    """A file that is not a model of klafter, or a damaged one."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    arrays: dict[str, np.ndarray] = {}
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "fitted": {},
    }
    _pack_graph(model.graph_, arrays, header)
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and name not in ("graph_", "labels_in_", "chains_"):
            header["fitted"][name] = _pack(name, value, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    write_file(path, lambda file: np.savez_compressed(file, allow_pickle=False, **arrays))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model written by ``model.save``.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    KLafter, KLafterCV, LFRM, IRM, MMSB, EPM or PaperKLafter
        As it was saved; a ``ModelFileError`` says what is wrong with a file that holds none.

    Examples
    --------
    >>> import klafter as kl
    >>> kl.load("nowhere.npz")
    Traceback (most recent call last):
    klafter.models.storage.files.ModelFileError: There is no file nowhere.npz.
    """
    path = Path(path)
    data = _content(path)
    try:
        arrays = read_arrays(data)
        header = json.loads(arrays["header"].tobytes().decode())
        if header["format"] != FORMAT or not isinstance(header["version"], int):
            raise KeyError("format")
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a klafter model, or it is damaged. Save the model again.") from error
    if header["version"] > VERSION:
        raise ModelFileError(f"{path} was written by a newer klafter (format {header['version']}). Update klafter.")
    try:
        return _rebuild(header, arrays)
    except DAMAGES as error:
        raise ModelFileError(f"{path} is a klafter model, but parts of it are missing or damaged.") from error


def _content(path: Path) -> bytes:
    if (found := no_file(path)) is not None:
        what = f"{path} is {found}, and a model is read from a file that klafter wrote. Name one."
        raise ModelFileError(what if found else f"There is no file {path}.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} could not be read: {error.strerror}. Check that you may read it.") from error


def _rebuild(header: Header, arrays: Arrays) -> Any:
    from klafter import models

    if header["class"] not in CLASSES:
        raise KeyError(header["class"])
    model = getattr(models, header["class"])(**header["parameters"])
    graph = _unpack_graph(arrays, header)
    check_running(model)
    with suppress(MemoryError):  # a machine that has more may have fitted it
        model._check_parameters(graph)
    model.graph_ = graph
    model.labels_in_ = model.graph_.labels
    model._forget()
    for name, recipe in header["fitted"].items():
        if name not in RULES:
            raise KeyError(name)
        setattr(model, name, _unpack(recipe, arrays))
    if header["version"] == 1 and header["class"] == "KLafter" and model.link_ == "exposure":
        model.point_ = _with_background(model.point_, model.graph_.directed)
        model.draws_ = [_with_background(draw, model.graph_.directed) for draw in model.draws_]
        model.restarts_ = model.draws_
    if header["version"] == 1 and "fit_seconds_" not in header["fitted"]:
        model.fit_seconds_ = 0.0
    fill_in(model)
    if not hasattr(model, "community_names_"):
        model.community_names_ = name_communities(model.graph_, model.memberships_)
    check_fitted(model)
    return model


def _with_background(draw: LinearDraw, directed: bool) -> ExposureDraw:
    """A draw of the sparse engine in files of version 1.

    The background was a last community of all, whose loadings are t; directed, r followed with a second set.
    """
    loadings, scale = sparse.csr_array(draw.memberships), sparse.csr_array(draw.affinities)
    middle = scale.shape[0] // 2
    scale = sparse.csr_array(scale[:middle, middle:]) if directed else scale
    k = scale.shape[0] - 1
    send = loadings[:, [k]].toarray().ravel()
    receive = loadings[:, [2 * k + 1]].toarray().ravel() if directed else send
    z = sparse.csr_array(loadings[:, :k])
    z.data[:] = 1.0
    return ExposureDraw(z, sparse.csr_array(scale[:k, :k]), float(scale[k, k]), send, receive)


def _plain(value: Any) -> Any:
    """A parameter as JSON; models inside models and generators are named, not stored."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None), dict)) else None


def _pack(name: str, value: Any, arrays: Arrays) -> Header:
    """How to find a fitted attribute again; arrays go to ``arrays``."""
    if kind := _kind(value):
        return {"draw": [_pack(f"{name}.{field}", part, arrays) for field, part in value._asdict().items()], "of": kind}
    if isinstance(value, list) and value and (kind := _kind(value[0])):
        return {**_pack_draws(name, value, arrays), "of": kind}
    if isinstance(value, list) and value and hasattr(value[0], "_fields"):
        arrays[name] = np.array([tuple(line) for line in value], float)
        return {"steps": name}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        arrays.update({f"{name}/data": csr.data, f"{name}/indices": csr.indices, f"{name}/indptr": csr.indptr})
        return {"sparse": name, "shape": list(csr.shape)}
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, dict):
        return {"dict": {str(k): _pack(f"{name}.{k}", v, arrays) for k, v in value.items()}}
    return {"plain": _plain(value)}


def _kind(value: Any) -> str | None:
    """What kind of draw this is, if it is one."""
    return next((name for name, draw in DRAWS.items() if isinstance(value, draw)), None)


def _draw_of(recipe: Header) -> type[Draw]:
    """The kind of a draw; in files of version 1 all are linear."""
    return DRAWS[recipe.get("of", "linear")]


def _unpack(recipe: Header, arrays: Arrays) -> Any:
    if "draw" in recipe:
        return _draw_of(recipe)(*(_unpack(part, arrays) for part in recipe["draw"]))
    if "draws" in recipe:
        columns = [_unpack_column(part, arrays, recipe["n"]) for part in recipe["draws"]]
        return [_draw_of(recipe)(*values) for values in zip(*columns)]
    if "steps" in recipe:
        from klafter.search.progress import Step

        return [Step(int(a), int(b), float(c), float(d), int(e)) for a, b, c, d, e in arrays[recipe["steps"]]]
    if "sparse" in recipe:
        name = recipe["sparse"]
        parts = arrays[f"{name}/data"], arrays[f"{name}/indices"], arrays[f"{name}/indptr"]
        return _csr(parts, recipe["shape"])
    if "array" in recipe:
        return arrays[recipe["array"]]
    if "dict" in recipe:
        return {k: _unpack(v, arrays) for k, v in recipe["dict"].items()}
    return recipe["plain"]


def _csr(parts: tuple[np.ndarray, np.ndarray, np.ndarray], shape: Sequence[int]) -> sparse.csr_array:
    """A matrix whose every index is looked at: SciPy's compiled code would follow a wrong one anywhere."""
    rows, columns = shape
    data, indices, indptr = parts
    check_compressed(data, indices, indptr, rows, columns)
    csr = sparse.csr_array(parts, shape=(rows, columns))
    csr.sort_indices()
    if not csr.has_canonical_format:
        raise ValueError("an entry stands twice")
    return csr


def _pack_draws(name: str, draws: list[Draw], arrays: Arrays) -> Header:
    """Many draws as a few long arrays: one member of a zip file each would be slow."""
    parts = []
    for field in draws[0]._fields:
        values = [getattr(draw, field) for draw in draws]
        parts.append(_pack_column(f"{name}.{field}", values, arrays))
    return {"draws": parts, "n": len(draws)}


def _pack_column(name: str, values: list[Any], arrays: Arrays) -> Header:
    if values[0] is None:
        return {"plain": None}
    if not isinstance(values[0], np.ndarray) and not sparse.issparse(values[0]):
        arrays[name] = np.array(values, float)
        return {"scalars": name}
    if sparse.issparse(values[0]):
        csrs = [sparse.csr_array(value) for value in values]
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}/{part}"] = np.concatenate([getattr(csr, part) for csr in csrs])
        return {"matrices": name, "shapes": [list(csr.shape) for csr in csrs], "sizes": [csr.nnz for csr in csrs]}
    arrays[name] = np.concatenate([value.ravel() for value in values])
    return {"blocks": name, "shapes": [list(value.shape) for value in values]}


def _unpack_column(recipe: Header, arrays: Arrays, n: int) -> list[Any]:
    if "scalars" in recipe:
        return list(arrays[recipe["scalars"]].tolist())
    if "blocks" in recipe:
        ends = np.cumsum([int(np.prod(shape)) for shape in recipe["shapes"]])
        pieces = np.split(arrays[recipe["blocks"]], ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, recipe["shapes"])]
    if "matrices" in recipe:
        name, shapes = recipe["matrices"], recipe["shapes"]
        ends = np.cumsum(recipe["sizes"])[:-1]
        rows = np.cumsum([shape[0] + 1 for shape in shapes])[:-1]
        parts = zip(
            np.split(arrays[f"{name}/data"], ends),
            np.split(arrays[f"{name}/indices"], ends),
            np.split(arrays[f"{name}/indptr"], rows),
        )
        return [_csr(piece, shape) for piece, shape in zip(parts, shapes)]
    return [recipe["plain"]] * n


def _pack_graph(graph: Graph, arrays: Arrays, header: Header) -> None:
    header["graph"] = {
        "directed": graph.directed,
        "links": _pack("graph.links", graph.links, arrays),
        "hidden": _pack("graph.hidden", graph.hidden, arrays),
        "labels": None if graph.labels is None else [_label(label) for label in graph.labels.tolist()],
        "attributes": {k: [_plain(x) for x in v.tolist()] for k, v in graph.attributes.items()},
        "covariates": {k: _pack(f"graph.covariates.{k}", v, arrays) for k, v in graph.covariates.items()},
        "kinds": None if graph.kinds is None else graph.kinds.tolist(),
        "kind_pairs": graph.kind_pairs,
    }


def _label(label: Any) -> Any:
    """A label as JSON, refused where it would come back as another."""
    if isinstance(label, tuple):
        return [_label(part) for part in label]
    if not isinstance(label, (str, int, float, bool, type(None))):
        kind = type(label).__name__
        raise ValueError(
            f"A file keeps labels that are text, numbers or tuples; {label!r} is {kind}. Rename the nodes."
        )
    return label


def _as_label(label: Any) -> Any:
    """JSON has no tuples, and a list cannot be a label."""
    return tuple(map(_as_label, label)) if isinstance(label, list) else label


def _unpack_graph(arrays: Arrays, header: Header) -> Graph:
    part = header["graph"]
    return Graph(
        _unpack(part["links"], arrays),
        directed=part["directed"],
        hidden=_unpack(part["hidden"], arrays),
        labels=None if part["labels"] is None else [_as_label(label) for label in part["labels"]],
        attributes=part["attributes"],
        covariates={k: _unpack(v, arrays) for k, v in part["covariates"].items()},
        kinds=part.get("kinds"),
        kind_pairs=part.get("kind_pairs"),
    )
