"""``klafter tune`` and ``compare``: how good models are on links they have not seen."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from klafter.cli import completion
from klafter.cli.fitting import (
    FAMILIES,
    MODELS,
    Checkpoint,
    CheckpointEvery,
    CheckpointOptions,
    check_values,
    make_model,
    run_fit,
)
from klafter.cli.inputs import check_output, check_outputs, save_model
from klafter.cli.progress import watched
from klafter.cli.reading import GraphName, Reading, print_graph, with_reading
from klafter.cli.screen import Column, Json, Quiet, console, counted, print_json, say, show_table
from klafter.cli.sentences import Interrupted, Mistake

PROTOCOLS = completion.one_of("clean", "entries")
COMPARED = ("clean", "entries", "unguarded", "balanced", "degree-corrected")
WIDE = 100  # letters of a screen on which all columns are shown: in a narrower one each would have four
ESSENTIAL = ("roc_auc", "average_precision", "log_loss", "seconds", "n_communities")
Jobs = Annotated[int | None, typer.Option(help="Fits side by side; -1 for all cores.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]


def numbers(text: str) -> list[float]:
    """Numbers parted by commas."""
    try:
        return [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise Mistake(f"Numbers are parted by commas, such as 0.5,1,2; this is {text!r}.") from None


@with_reading
def tune(
    graph: GraphName,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the best model goes.")] = Path("model.npz"),
    penalties: Annotated[str, typer.Option(help="Prices of one more community to try.")] = "-1,0,1,3",
    temperatures: Annotated[str | None, typer.Option(help="Temperatures to try.")] = None,
    weight_scales: Annotated[str | None, typer.Option(help="Scales of affinities inside to try.")] = None,
    offdiagonal_scales: Annotated[str | None, typer.Option(help="Scales of affinities between to try.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the dyads, each hidden once.")] = 5,
    family: Annotated[str, typer.Option(help="bernoulli, poisson or gaussian.", autocompletion=FAMILIES)] = "bernoulli",
    checkpoint: Checkpoint = None,
    checkpoint_every: CheckpointEvery = 60.0,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose the penalty, and more if you like, by hiding parts of the network; save the best model.

    **Examples**

    `klafter tune friends.tsv -o friends.npz`

    `klafter tune karate --penalties=-1,0,2 --folds 3 --json`

    `klafter tune karate --penalties 0 --temperatures 0.7,1 --weight-scales 1,3`
    """
    from klafter.cli.facts import describe_graph
    from klafter.models import KLafter, KLafterCV

    check_outputs({"model": output, "checkpoint": checkpoint}, *reading.files(graph))
    network = reading.network(graph)
    check_values(network, KLafter(family=family))
    if not (as_json or quiet):
        print_graph(graph, network)
    texts = {"temperatures": temperatures, "weight_scales": weight_scales, "offdiagonal_scales": offdiagonal_scales}
    grids: dict[str, Any] = {name: numbers(text) for name, text in texts.items() if text is not None}
    how: dict[str, Any] = {"cv": folds, "n_jobs": jobs, "random_state": seed}
    search = KLafterCV(numbers(penalties), **grids, estimator=KLafter(family=family), **how)
    keeping = CheckpointOptions(checkpoint, checkpoint_every)
    interrupted = run_fit(search, network, quiet or as_json, keeping)
    save_model(search, output)
    table = search.cv_results_
    keys = ("mean_test_score", "std_error", "n_folds", "eliminated", "rank_test_score")
    rows = [{**setting, **{key: table[key][i] for key in keys}} for i, setting in enumerate(table["params"])]
    if as_json:
        best = {"best": search.best_params_, "score": search.best_score_, "communities": search.n_communities_}
        ended = {"settings": rows, "file": str(output), "interrupted": interrupted}
        print_json({"graph": describe_graph(network), **best, **ended})
    elif not quiet:
        show_settings(rows, search, output)
    if interrupted:
        raise Interrupted(f"Interrupted; the best so far is in {output}.{keeping.sentence()}")
    keeping.remove()


def show_settings(rows: list[dict], search, output: Path) -> None:
    """The table of settings, and the best."""
    tried = list(search.best_params_)
    names = [*(name.replace("_", " ") for name in tried), "AUC", "error", "folds", "rank"]
    keys = [*tried, "mean_test_score", "std_error", "n_folds", "rank_test_score"]
    columns: list[Column] = [(name, {"justify": "right"}) for name in names]
    show_table("Settings on hidden links", columns, [[f"{row[key]:.4g}" for key in keys] for row in rows])
    best = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in search.best_params_.items())
    say(f"Best: {best}; {counted(search.n_communities_, 'community')}, saved in {output}.")
    say(f"Next: klafter communities {quote(str(output))}, or klafter predict {quote(str(output))} --top 20")


@with_reading
def compare(
    graph: GraphName,
    reading: Reading,
    models: Annotated[
        str, typer.Option(help=f"Parted by commas: {','.join(MODELS)}.", autocompletion=completion.some_of(*MODELS))
    ] = "klafter",
    splits: Annotated[int, typer.Option(min=1, help="Times to hide links.")] = 5,
    fraction: Annotated[float, typer.Option(help="Share of the dyads to hide.")] = 0.2,
    protocol: Annotated[
        str, typer.Option(help=f"What is hidden: {', '.join(COMPARED)}.", autocompletion=completion.one_of(*COMPARED))
    ] = "clean",
    results: Annotated[Path | None, typer.Option(help="Keep runs in this JSON file and go on from it.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare models, and trivial baselines, on the same hidden links.

    **Examples**

    `klafter compare friends.tsv --models klafter,irm --splits 10`

    `klafter compare karate --results karate.json --json`
    """
    from klafter.cli.facts import describe_graph
    from klafter.evaluation import BASELINES
    from klafter.evaluation import compare as run_comparison

    if results is not None:
        check_output(results, *reading.files(graph))
    chosen = [make_model(name.strip(), {"n_jobs": jobs}) for name in models.split(",")]
    network = reading.network(graph)
    for model in chosen:
        check_values(network, model, chosen=False)
    if not (as_json or quiet):
        print_graph(graph, network)
    total, done = splits * (len(chosen) + len(BASELINES)), 0
    with watched(quiet or as_json) as meter:

        def count(record: dict) -> None:
            nonlocal done
            done += 1
            meter.at(done / total, f"{record['model']}, split {record['split']}")

        try:
            found = run_comparison(
                chosen, network, protocol, splits, fraction, random_state=seed, results=results, callback=count
            )
        except KeyboardInterrupt:
            raise Interrupted(interrupted_sentence(results)) from None
    if as_json:
        read_as = {"graph": describe_graph(network), "title": found.title}
        print_json({**read_as, "rows": found.rows, "records": list(found.records)})
        return
    header, *body = found.cells(None if console().width >= WIDE else ESSENTIAL)
    show_table(found.title, [(header[0], {}), *((name, {"justify": "right"}) for name in header[1:])], body)


def interrupted_sentence(results: Path | None) -> str:
    """What an interrupted comparison leaves behind."""
    if results is None:
        return "Interrupted; with --results FILE what is done is kept, and the same command goes on from there."
    if not results.exists():
        return "Interrupted before there was anything to save."
    return f"Interrupted; what is done is in {results}, and the same command goes on from there."
