"""``klafter fit``: from a network to a model."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any, NamedTuple

import typer

from klafter.cli import RECEIVED, completion
from klafter.cli.inputs import check_outputs, parse_attributes, parse_settings, save_model
from klafter.cli.progress import watched
from klafter.cli.reading import GraphName, Reading, print_graph, with_reading
from klafter.cli.screen import Json, Quiet, counted, print_json, say
from klafter.cli.sentences import Interrupted, Mistake, did_you_mean
from klafter.models.interrupt import Interrupt

MODELS = {"klafter": "KLafter", "paper": "PaperKLafter", "lfrm": "LFRM", "irm": "IRM", "mmsb": "MMSB", "epm": "EPM"}
FAMILIES = completion.one_of("bernoulli", "poisson", "gaussian")
WITHOUT_GAUSSIAN = ("IRM", "EPM")
SEARCH = "What to look for"
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keep what is found on the way here; the same command goes on from there.")
]
CheckpointEvery = Annotated[float, typer.Option(min=0.0, help="Seconds between two writes of it, at least.")]


class CheckpointOptions(NamedTuple):
    """The checkpoint of a command."""

    path: Path | None
    every: float

    def options(self) -> dict[str, Any]:
        """What ``fit`` is told of it."""
        return {} if self.path is None else {"checkpoint": self.path, "checkpoint_every": self.every}

    def sentence(self) -> str:
        """That an interrupted command can go on."""
        kept = self.path is not None and self.path.exists()
        return f" The same command goes on from {self.path}." if kept else ""

    def remove(self) -> None:
        """The result is saved: the checkpoint has done its work."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


@with_reading
def fit(
    graph: GraphName,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.npz"),
    report: Annotated[Path | None, typer.Option(help="Also write a page to look at.")] = None,
    model: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(MODELS)}.", rich_help_panel=SEARCH, autocompletion=completion.one_of(*MODELS)
        ),
    ] = "klafter",
    family: Annotated[
        str | None,
        typer.Option(
            help="bernoulli (0/1), poisson (counts) or gaussian.", rich_help_panel=SEARCH, autocompletion=FAMILIES
        ),
    ] = None,
    penalty: Annotated[float | None, typer.Option(help="Price of one more community.", rich_help_panel=SEARCH)] = None,
    communities: Annotated[
        int | None,
        typer.Option(help="Fix their number; for a limit use --set max_communities=4.", rich_help_panel=SEARCH),
    ] = None,
    restarts: Annotated[int | None, typer.Option(help="Starts of the search.", rich_help_panel=SEARCH)] = None,
    smooth: Annotated[int | None, typer.Option(help="Sweeps that predictions average.", rich_help_panel=SEARCH)] = None,
    attributes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Attributes of nodes that explain links, communities the rest.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter.", rich_help_panel=SEARCH),
    ] = None,
    checkpoint: Checkpoint = None,
    checkpoint_every: CheckpointEvery = 60.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    jobs: Annotated[int, typer.Option(help="Restarts side by side; -1 for all cores. The result is the same.")] = -1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the communities of a network and save them as a model.

    Ctrl-C stops early and saves the best so far. With --checkpoint the same command goes on from there.

    **Examples**

    `klafter fit friends.tsv -o friends.npz`

    `klafter fit karate --report karate.html`

    `klafter fit friends.tsv --nodes people.csv --attributes office,age`

    `klafter fit emails.csv --directed --family poisson --jobs 1`

    `klafter fit proteins.tsv --hidden untested.tsv --seed 1 --json`
    """
    check_outputs({"model": output, "page": report, "checkpoint": checkpoint}, *reading.files(graph))
    if report is not None:
        report_function(report)
    given: dict[str, Any] = {
        "family": family,
        "penalty": penalty,
        "n_communities": communities,
        "n_init": restarts,
        "n_smooth": smooth,
        "attributes": parse_attributes(attributes),
    }
    parameters = {**given, "n_jobs": jobs, "random_state": seed, **parse_settings(option or [])}
    estimator = make_model(model, parameters)
    network = reading.network(graph)
    check_values(network, estimator)
    keeping = CheckpointOptions(checkpoint, checkpoint_every)
    interrupted = run_fit(estimator, network, quiet or as_json, keeping)
    save_model(estimator, output)
    if report is not None:
        write_report(estimator, report)
    print_result(estimator, graph, output, report, interrupted, as_json, quiet)
    if interrupted:
        raise Interrupted(f"Interrupted; the best so far is in {output}.{keeping.sentence()}")
    keeping.remove()


def make_model(name: str, parameters: dict[str, Any]):
    """The estimator of that name; a parameter it does not have is refused by name."""
    from klafter import models

    kind = getattr(models, MODELS.get(name, ""), None)
    if kind is None:
        there = [known for known, title in MODELS.items() if hasattr(models, title)]
        raise Mistake(f"There is no model {name!r}; choose one of {', '.join(there)}.{did_you_mean(name, there)}")
    known = kind().get_params(deep=False)
    # how many run side by side changes no result: a model that runs alone is not told
    given = {k: v for k, v in parameters.items() if v is not None and (k != "n_jobs" or k in known)}
    unknown = [key for key in given if key not in known]
    if unknown:
        raise Mistake(
            f"{kind.__name__} has no parameter {unknown[0]!r}; it has {', '.join(known)}."
            + did_you_mean(unknown[0], known)
        )
    return kind(**given)


def check_values(graph, model, *, chosen: bool = True) -> None:
    """Weights need a family that has them: said here in the words of the command line.

    ``chosen`` is whether the command has an option for the family.
    """
    values, family = graph.links.data, getattr(model, "family", "bernoulli")
    whole = bool(((values > 0) & (values == values.round())).all())
    if not len(values) or family == "gaussian" or (whole if family == "poisson" else (values == 1).all()):
        return
    name, cures = type(model).__name__, []
    if chosen and hasattr(model, "family"):
        cures += ["--family poisson for counts"] if whole else []
        cures += ["--family gaussian for real values"] if name not in WITHOUT_GAUSSIAN else []
    rule = "1, 2, 3, ..." if family == "poisson" else "1"
    span = f"The links of this graph have values from {values.min():g} to {values.max():g}, not just {rule}"
    raise Mistake(f"{span}; use {', '.join(cures)}{', or ' if cures else ''}--binarize.")


def run_fit(model, graph, quiet: bool, keeping: CheckpointOptions | None = None) -> bool:
    """Fit with a bar; True if Ctrl-C cut it short."""
    keeping = keeping or CheckpointOptions(None, 60.0)
    with watched(quiet) as meter, Interrupt(bool(RECEIVED)) as interrupt:
        try:
            model.fit(graph, callback=interrupt.ends(meter), **keeping.options())
        except BaseException as error:
            # compilers wrap a Ctrl-C that reaches them in errors of their own
            if interrupt.happened or isinstance(error, KeyboardInterrupt):
                raise Interrupted(f"Interrupted before there was anything to save.{keeping.sentence()}") from None
            raise
    return interrupt.happened


def report_function(path: Path):
    """``klafter.report.report``, or a sentence that says what it needs, or what is wrong with the path."""
    try:
        from klafter.report.html import check_page, report
    except ImportError as error:
        raise Mistake(f"Reports need more than is installed ({error}): pip install 'klafter[report]'.") from error
    check_page(path)
    return report


def write_report(model, path: Path, title: str | None = None) -> None:
    """The page of a model."""
    report_function(path)(model, path, title=title)


def print_result(
    model, source: str, output: Path, report: Path | None, interrupted: bool, as_json: bool, quiet: bool
) -> None:
    """What came out, and what to do next."""
    from klafter.cli.facts import describe_fit, describe_graph
    from klafter.models.results.effects import effect_words

    result = describe_fit(model)
    if as_json:
        files = {"model": str(output), "report": None if report is None else str(report)}
        print_json({"graph": describe_graph(model.graph_), "fit": result, "files": files, "interrupted": interrupted})
        return
    if quiet:
        return
    print_graph(source, model.graph_)
    alone = f", {counted(result['unassigned'], 'node')} in none" if result["unassigned"] else ""
    say(f"{counted(result['communities'], 'community')}{alone}, found in {result['seconds']:.1f} s.", "bold")
    for line in effect_words(getattr(model, "attribute_effects_", {"name": []})):
        say(line)
    for note in result["notes"]:
        say(note)
    say(f"Saved in {output}{f', the page in {report}' if report else ''}.")
    if not interrupted:
        say(f"Next: klafter communities {quote(str(output))}, or klafter predict {quote(str(output))} --top 20")
