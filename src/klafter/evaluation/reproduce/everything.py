"""All of the paper's tables and figures, and the page about them, written from saved results and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from klafter.evaluation.baselines import BASELINES
from klafter.evaluation.reproduce import sections
from klafter.evaluation.reproduce.convergence import convergence
from klafter.evaluation.reproduce.figure1 import FULL, figure1
from klafter.evaluation.reproduce.published import NETWORKS
from klafter.evaluation.reproduce.systems import SYSTEMS
from klafter.evaluation.reproduce.table1 import LEVELS, RESULTS, n_tasks, result_path, table1
from klafter.evaluation.reproduce.table2 import table2
from klafter.graph.writing import write_text

PARTS = ("table1", "figure1", "table2", "convergence")


def everything(
    quick: bool = False,
    results=RESULTS,
    *,
    document=None,
    data_home=None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
) -> dict:
    """Measure Table 1, Figure 1, Table 2 and the convergence claims, and write the page about them.

    ``document`` is where the page goes, ``docs/reproduction.md`` for example; None writes none.
    """
    shared = {"data_home": data_home, "callback": callback}
    content = {
        "table2": table2(quick, results, data_home=data_home, n_jobs=n_jobs),
        "figure1": figure1(quick, results, **shared),
        "convergence": convergence(quick, results, **shared),
        "table1": table1(quick, results, n_jobs=n_jobs, **shared),
    }
    if document is not None:
        page(results, document, quick=quick)
    return content


def page(results=RESULTS, document=None, *, quick: bool = False) -> str:
    """What reproduces, what does not, and why, in Markdown; written to a file if ``document`` names one.

    Parts whose results are not saved are named as missing.
    """
    parts = [sections.opening(quick)]
    for name in PARTS:
        path = result_path(results, name, quick)
        if path.exists():
            parts.append(getattr(sections, name)(json.loads(path.read_text(encoding="utf-8"))))
        else:
            command = f"klafter reproduce {name}{' --quick' if quick else ''}"
            parts.append(f"## {sections.HEADINGS[name]}\n\nNot measured yet: run `{command}`.")
    parts.append(sections.REASONS)
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    if document is not None:
        Path(document).parent.mkdir(parents=True, exist_ok=True)
        write_text(document, text)
    return text


def n_records(part: str, quick: bool = False) -> int:
    """About how many times a part calls back, for bars that show the time left.

    Examples
    --------
    >>> n_records("figure1"), n_records("table2")
    (15, 0)
    """
    splits = 1 if quick else 5
    numbers = {
        "table1": n_tasks(quick) * splits * (len(LEVELS) * len(SYSTEMS) + len(BASELINES)),
        "figure1": splits * len(FULL),
        "convergence": len(NETWORKS),
    }
    return sum(numbers.values()) if part == "all" else numbers.get(part, 0)
