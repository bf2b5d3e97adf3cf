"""The table of a comparison: means and standard errors over splits, and paired differences against the best."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from klafter.graph.writing import jsonable, write_json

COLUMNS = {  # what each measure is called in the table, and its digits
    "roc_auc": ("AUC", 3),
    "average_precision": ("AP", 3),
    "log_loss": ("log loss", 4),
    "slope": ("slope", 2),
    "expected": ("expected / observed", 2),
    "seconds": ("seconds", 1),
    "n_communities": ("communities", 1),
}


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` measured.

    ``records`` has one dictionary for each model and split; ``rows`` sums them up, best AUC first.
    """

    records: Sequence[dict] = field(repr=False)
    title: str = ""

    @property
    def rows(self) -> list[dict]:
        """One dictionary for each model: each measure, its standard error (``*_se``), and the paired difference."""
        names = list(dict.fromkeys(record["model"] for record in self.records))
        rows = [self._row(name) for name in names]
        rows.sort(key=lambda row: -row["roc_auc"] if math.isfinite(row["roc_auc"]) else math.inf)
        for row in rows:
            row["difference"], row["difference_se"] = self.difference(row["model"], rows[0]["model"])
        return rows

    def values(self, model: str, measure: str = "roc_auc") -> dict[int, float]:
        """The measure of a model on each split.

        Parameters
        ----------
        model : str
            Its name in the table.
        measure : str
            Which column.

        Returns
        -------
        dict of split to value
        """
        return {r["split"]: r[measure] for r in self.records if r["model"] == model}

    def difference(self, model: str, other: str, measure: str = "roc_auc") -> tuple[float, float]:
        """Mean of model minus other over the splits that both have, and its standard error.

        Parameters
        ----------
        model, other : str
            Their names in the table.
        measure : str
            Which column.

        Returns
        -------
        (float, float)
            The mean over splits, and its standard error.

        Examples
        --------
        >>> records = [{"model": m, "split": s, "roc_auc": a} for m, s, a in
        ...            [("a", 0, 0.9), ("a", 1, 0.8), ("b", 0, 0.8), ("b", 1, 0.7)]]
        >>> [round(number, 3) for number in Comparison(records).difference("b", "a")]
        [-0.1, 0.0]
        """
        mine, theirs = self.values(model, measure), self.values(other, measure)
        return mean_and_error([mine[split] - theirs[split] for split in mine if split in theirs])

    def _row(self, name: str) -> dict:
        mine = [record for record in self.records if record["model"] == name]
        row: dict = {"model": name, "baseline": mine[0].get("baseline", False), "splits": len(mine)}
        for measure in COLUMNS:
            row[measure], row[f"{measure}_se"] = mean_and_error([r.get(measure, math.nan) for r in mine])
        return row

    def cells(self, measures: Sequence[str] | None = None) -> list[list[str]]:
        """The table as text, header first; of some measures, or of all.

        Parameters
        ----------
        measures : sequence of str, optional
            Which columns; default: all.

        Returns
        -------
        list of rows of text
        """
        shown = list(COLUMNS) if measures is None else measures
        header = ["model", *(COLUMNS[m][0] for m in shown), "AUC against the best"]
        cells = [
            [
                row["model"],
                *(with_error(row[m], row[f"{m}_se"], COLUMNS[m][1]) for m in shown),
                "best" if i == 0 else with_error(row["difference"], row["difference_se"], 3, sign=True),
            ]
            for i, row in enumerate(self.rows)
        ]
        return [header, *cells]

    def to_markdown(self) -> str:
        """The table in Markdown.

        Returns
        -------
        str
        """
        header, *body = [[cell.replace("|", "\\|") for cell in row] for row in self.cells()]
        title = f"{self.title}\n\n" if self.title else ""
        return f"{title}{markdown_table(header, body)}\n"

    def to_json(self, path=None) -> str:
        """The rows and the records as JSON text, written to a file if a path is given.

        Parameters
        ----------
        path : path, optional
            A file to write it to as well.

        Returns
        -------
        str
        """
        content = {"title": self.title, "rows": self.rows, "records": list(self.records)}
        if path is not None:
            write_json(path, content)
        return json.dumps(jsonable(content), indent=1)

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in cells
        ]
        return "\n".join(([self.title] if self.title else []) + [line.rstrip() for line in lines])

    def _repr_html_(self) -> str:
        header, *body = self.cells()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        return f"<table><caption>{escape(self.title)}</caption><tr>{head}</tr>{rows}</table>"


def mean_and_error(values) -> tuple[float, float]:
    """Mean and standard error of the finite values; NaN where there are too few."""
    finite = np.asarray([value for value in values if math.isfinite(value)], float)
    if not len(finite):
        return math.nan, math.nan
    return float(finite.mean()), float(finite.std(ddof=1) / np.sqrt(len(finite))) if len(finite) > 1 else math.nan


def with_error(value: float, error: float, digits: int, *, sign: bool = False) -> str:
    """A number with its standard error, or a dash.

    Examples
    --------
    >>> with_error(0.95123, 0.004, 3), with_error(float("nan"), 0.0, 3)
    ('0.951 ± 0.004', '-')
    """
    if not math.isfinite(value):
        return "-"
    number = f"{value:{'+' if sign else ''}.{digits}f}"
    return f"{number} ± {error:.{digits}f}" if math.isfinite(error) else number


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
