"""The page about the reproduction, written from the saved results and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from klafter.evaluation.reproduce import sections
from klafter.evaluation.reproduce.table1 import RESULTS, _path
from klafter.graph.writing import write_text

PARTS = ("table1", "figure1", "table2", "convergence")


def page(results=RESULTS, document=None, *, quick: bool = False) -> str:
    """Write what reproduces, what does not, and why.

    Parameters
    ----------
    results : path
        Folder of the saved results; parts that are not there are named as missing.
    document : path, optional
        File to write, for example ``docs/reproduction.md``.
    quick : bool
        Whether to show the results of quick runs.

    Returns
    -------
    str
        The page in Markdown.
    """
    parts = [sections.opening(quick)]
    for name in PARTS:
        path = _path(results, name, quick)
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
