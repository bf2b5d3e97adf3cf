"""Table 1: AUC of the systems on five networks, on clean splits and on the paper's protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from klafter.datasets import load_dataset
from klafter.evaluation.compare import compare
from klafter.evaluation.reproduce.published import NETWORKS, published
from klafter.evaluation.reproduce.systems import SYSTEMS, systems
from klafter.evaluation.saved import write_json
from klafter.graph import Graph, split_dyads

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

    Parameters
    ----------
    quick : bool
        One split, short chains, one restart: to see that it works, not for claims.
    results : path
        Folder of the results.
    networks, names : sequence of str
        Networks and systems to run.
    fractions : sequence of float
        Shares hidden: the paper's text says 20%, its caption 50% for Lazega.
    splits : int, optional
        Default five, one when quick.
    data_home : path, optional
        Folder of the data files.
    n_jobs : int, optional
        Chains and restarts side by side.
    callback : callable, optional
        Called with every run; returning True ends the table with what there is.

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
        able, refused = able_to_fit(contestants, split_dyads(graph, fraction, protocol)[0])
        found = compare(
            able, graph, protocol, splits, fraction,
            structure=LEVELS, results=_path(results, "table1_runs", quick), callback=told,
        )  # fmt: skip
        rows = [{**row, "published": published(row["model"], network)} for row in found.rows]
        tables.append(
            {"network": network, "protocol": protocol, "fraction": fraction, "rows": rows, "refused": refused}
        )
    content = {"quick": quick, "splits": splits, "missing": missing, "settings": _settings(contestants)}
    content["tables"] = tables
    write_json(_path(results, "table1", quick), content)
    return content


def able_to_fit(contestants: dict, train: Graph) -> tuple[dict, dict[str, str]]:
    """The models that take this graph, and what the others say; EPM, for one, takes no directed graph."""
    able, refused = {}, {}
    for name, model in contestants.items():
        try:
            model._check_parameters(train)
            able[name] = model
        except ValueError as reason:
            refused[name] = str(reason)
    return able, refused


def _tasks(networks: Sequence[str], quick: bool) -> list[tuple[str, str, float]]:
    """Network, protocol, share hidden."""
    tasks = [(network, protocol, 0.2) for network in networks for protocol in ("clean", "entries")]
    halves = [(n, protocol, 0.5) for n in networks if n.startswith("lazega") for protocol in ("clean", "entries")]
    return tasks if quick else tasks + halves


def n_tasks(quick: bool) -> int:
    """Tables that make up Table 1."""
    return len(_tasks(NETWORKS, quick))


def _settings(contestants: dict) -> dict[str, str]:
    return {name: " ".join(repr(model).split()) for name, model in contestants.items()}


def _path(results, name: str, quick: bool) -> Path:
    """Quick results never take the place of full ones."""
    return Path(results) / f"{name}{'_quick' if quick else ''}.json"
