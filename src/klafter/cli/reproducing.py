"""``klafter reproduce``: the tables and the figure of Arora et al. (IJCAI 2018) again."""

from __future__ import annotations

from inspect import signature
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from klafter.cli import completion
from klafter.cli.inputs import check_output
from klafter.cli.progress import watched
from klafter.cli.screen import Json, Quiet, print_json, say
from klafter.cli.sentences import Mistake, did_you_mean

PARTS = ("all", "table1", "table2", "figure1", "convergence")


def reproduce(
    part: Annotated[
        str,
        typer.Argument(metavar="PART", help=f"One of {', '.join(PARTS)}.", autocompletion=completion.one_of(*PARTS)),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="One split and short chains: minutes, not hours.")] = False,
    results: Annotated[Path, typer.Option(help="Folder of results; what is there is not run again.")] = Path("results"),
    document: Annotated[Path | None, typer.Option(help="Also write a page about them, in Markdown.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with the data files, instead of a download.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Chains and restarts side by side.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the paper's tables and figure again, on its protocol and on clean splits.

    **Examples**

    `klafter reproduce table1 --quick`

    `klafter reproduce --document reproduction.md --jobs -1`
    """
    from klafter.evaluation import reproduce as paper
    from klafter.graph.places import no_file

    if part not in PARTS:
        raise Mistake(
            f"There is no part {part!r} of the paper here; choose one of {', '.join(PARTS)}.{did_you_mean(part, PARTS)}"
        )
    for folder, what in ((results, "the results"), (data, "the data files")):
        if folder is not None and (found := no_file(folder)) not in ("", "a folder"):
            raise Mistake(f"{folder} is {found or 'a file'}; name a folder for {what}.")
    if document is not None:
        check_output(document)
    results.mkdir(parents=True, exist_ok=True)
    measure = getattr(paper, part)
    with watched(quiet or as_json) as meter:
        done, total = count(1), paper.n_records(part, quick)

        def count_record(record) -> None:
            number = next(done)
            meter.at(min(number / total, 0.99) if total else None, f"{number} done: {_line(record)}")

        options = {"data_home": data, "n_jobs": jobs, "callback": count_record}
        known = signature(measure).parameters
        content = measure(quick, results, **{name: value for name, value in options.items() if name in known})
    if document is not None:
        paper.page(results, document, quick=quick)
    if as_json:
        print_json(content)
    elif not quiet:
        say(f"Results are in {results}{f', the page in {document}' if document else ''}.")


def _line(record) -> str:
    """What was just measured, in a few words."""
    names = ("network", "model", "split", "name")
    return ", ".join(str(record[name]) for name in names if name in record) if isinstance(record, dict) else str(record)
