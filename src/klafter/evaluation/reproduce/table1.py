"""Table 1: AUC of the systems on five networks, on clean splits and on the paper's protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from klafter.datasets import load_dataset
from klafter.evaluation.compare import compare
from klafter.evaluation.reproduce.published import NETWORKS, published
from klafter.evaluation.reproduce.systems import SYSTEMS, systems
from klafter.graph import Graph, as_graph, split_dyads
from klafter.graph.units import link_units
from klafter.graph.writing import write_json

RESULTS = "benchmarks/results"
LEVELS = (0.0, 0.5)  # weights of the structural expert: to none, to all


def table1(
    quick: bool = False,
    results=RESULTS,
    *,
    networks: Sequence[str] = NETWORKS,
    names: Sequence[str] = SYSTEMS,
    fractions: Sequence[float] = (0.2, 0.5),
    splits: int | None = None,
    data_home=None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
) -> dict:
    """Measure Table 1 and save it as ``table1.json``; single runs go to ``table1_runs.json`` as they are made.

    ``names`` are systems, ``fractions`` shares hidden: the paper's text says 20%, its caption 50% for Lazega.

    Returns
    -------
    dict
        ``tables``: for each network, protocol and share hidden the rows of a ``Comparison`` with the published AUC;
        ``missing``: systems that this installation does not have.
    """
    splits = splits or (1 if quick else 5)
    contestants, missing = systems(quick, n_jobs, names)
    stopped: list[bool] = []

    def told(record):
        stopped.append(bool(callback and callback(record)))
        return stopped[-1]

    tables = []
    for network, protocol, fraction in _tasks(networks, quick):
        if fraction not in fractions:
            continue
        if stopped and stopped[-1]:
            break
        graph = load_dataset(network, data_home=data_home)
        able, refused, symmetrised = able_to_fit(contestants, split_dyads(graph, fraction, protocol)[0])
        found = compare(
            able, graph, protocol, splits, fraction,
            structure=LEVELS, results=result_path(results, "table1_runs", quick), callback=told,
        )  # fmt: skip
        rows = [
            {**row, "published": published(row["model"], network), "aucs": list(found.values(row["model"]).values())}
            for row in found.rows
        ]
        facts = {"rows": rows, "refused": refused, "symmetrised": symmetrised}
        if protocol == "clean":
            facts["kept"] = kept_by_guard(graph, fraction, splits)
        tables.append({"network": network, "protocol": protocol, "fraction": fraction, **facts})
    settings = {name: " ".join(repr(model).split()) for name, model in contestants.items()}
    content = {"quick": quick, "splits": splits, "missing": missing, "settings": settings}
    content["tables"] = tables
    write_json(result_path(results, "table1", quick), content)
    return content


class Symmetrised(BaseEstimator):
    """A model fitted to the symmetrised graph; a dyad is hidden where either direction is.

    Parameters
    ----------
    estimator : model
        The model of undirected graphs.
    structure : float or "auto"
        Weight of its structural expert.
    random_state : int, optional
        Its seed.

    Examples
    --------
    >>> from klafter.models import EPM
    >>> arcs = Graph(np.diag(np.ones(5), 1), directed=True)
    >>> model = Symmetrised(EPM(n_communities=2, n_burn=5, n_draws=5, n_chains=1), random_state=0).fit(arcs)
    >>> model.predict_proba([[0, 1], [1, 0]]).shape
    (2,)
    """

    def __init__(self, estimator: Any, *, structure: float | str = 0.0, random_state: int | None = None):
        self.estimator = estimator
        self.structure = structure
        self.random_state = random_state

    def _ready(self) -> Any:
        return clone(self.estimator).set_params(structure=self.structure, random_state=self.random_state)

    def _check_parameters(self, graph: Graph) -> None:
        self._ready()._check_parameters(graph.symmetrize())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the links in either direction."""
        self.fitted_ = self._ready().fit(as_graph(X).symmetrize())
        self.n_communities_ = self.fitted_.n_communities_
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked, the same in both directions."""
        self.fitted_.set_params(structure=self.structure)
        return np.asarray(self.fitted_.predict_proba(pairs))


def able_to_fit(contestants: dict, train: Graph) -> tuple[dict, dict[str, str], list[str]]:
    """The models that take this graph, what the others say, and who takes it only with every link both ways."""
    able, refused, symmetrised = {}, {}, []
    for name, model in contestants.items():
        reason = _refusal(model, train)
        if reason and train.directed and not _refusal(both := Symmetrised(model), train):
            model, reason = both, ""
            symmetrised.append(name)
        if reason:
            refused[name] = reason
        else:
            able[name] = model
    return able, refused, symmetrised


def kept_by_guard(graph: Graph, fraction: float, splits: int) -> dict[str, float]:
    """Linked dyads that were to be hidden, and how many of them stay visible as a node would lose all links; means.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> kept_by_guard(load_karate(), 0.2, 2)["drawn"]
    16
    """
    drawn, hidden = round(fraction * len(link_units(graph))), []
    for split in range(splits):
        held = split_dyads(graph, fraction, "clean", split)[1]
        hidden.append(len({tuple(sorted(pair)) for pair in held.pairs[held.values != 0].tolist()}))
    return {"drawn": drawn, "kept": float(drawn - np.mean(hidden))}


def _refusal(model, train: Graph) -> str:
    """Why a model does not take a graph; nothing if it does."""
    try:
        model._check_parameters(train)
    except ValueError as reason:
        return str(reason)
    return ""


def _tasks(networks: Sequence[str], quick: bool) -> list[tuple[str, str, float]]:
    """Network, protocol, share hidden."""
    tasks = [(network, protocol, 0.2) for network in networks for protocol in ("clean", "entries")]
    halves = [(n, protocol, 0.5) for n in networks if n.startswith("lazega") for protocol in ("clean", "entries")]
    return tasks if quick else tasks + halves


def n_tasks(quick: bool) -> int:
    """Tables that make up Table 1."""
    return len(_tasks(NETWORKS, quick))


def result_path(results, name: str, quick: bool) -> Path:
    """Quick results never take the place of full ones."""
    return Path(results) / f"{name}{'_quick' if quick else ''}.json"
