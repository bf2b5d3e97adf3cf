"""The first minute: ``klafter demo``, the whole path on a novel, and ``klafter warmup``, which compiles beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klafter.cli.fitting import run_fit, write_report
from klafter.cli.inspect_model import NUMBER, show_communities, show_explanation
from klafter.cli.screen import Json, Quiet, counted, print_json, say, show_table
from klafter.cli.sentences import Interrupted, Mistake


def demo(
    folder: Annotated[Path, typer.Option(help="Where the model and the page go.")] = Path("demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the circles of Les Misérables: communities, missing links and why, and a page to look at.

    **Examples**

    `klafter demo`

    `klafter demo --folder novel`

    `klafter demo --json`
    """
    from klafter.cli.facts import describe_communities, describe_fit, describe_graph, graph_sentence
    from klafter.datasets import load_les_miserables
    from klafter.models import KLafter

    folder.mkdir(parents=True, exist_ok=True)
    path, graph, model = folder / "model.npz", load_les_miserables(), KLafter(random_state=0)
    if not as_json:
        say(f"Les Misérables: characters, linked when they meet in a chapter. {graph_sentence(graph)}", "bold")
    interrupted = run_fit(model, graph, quiet or as_json)
    model.save(path)
    page: Path | None = folder / "report.html"
    reason = ""
    try:
        write_report(model, folder / "report.html", "The characters of Les Misérables")
    except Mistake as error:  # reports are not installed
        page, reason = None, str(error)
    if as_json:
        files = {"model": str(path), "report": None if page is None else str(page)}
        found = {"graph": describe_graph(graph), "fit": describe_fit(model), "communities": describe_communities(model)}
        print_json({**found, "files": files, "interrupted": interrupted})
    else:
        print_story(model, path, page, reason)
    if interrupted:
        raise Interrupted(f"Interrupted; the best so far is in {path}.")


def print_story(model, path: Path, page: Path | None, reason: str) -> None:
    """Communities, missing links and why, and what to do next."""
    from klafter.cli.facts import describe_communities, in_order

    say(f"Found {model.n_communities_} overlapping communities in {model.fit_seconds_:.1f} s.")
    show_communities(
        describe_communities(model), in_order(model.unassigned()), 12, {c.node: c for c in model.first_choices()}
    )
    show_links(model)
    if reason:
        say(reason)
    say(f"Written: {path}{f' and {page}' if page else ''}.")
    say(f"Next: {f'open {page}, ' if page else ''}klafter explain {path} Valjean Javert, or your own")
    say("network: klafter fit friends.tsv -o friends.npz")


def show_links(model) -> None:
    """The likeliest missing links, and why the first."""
    links = model.top_links(8)
    rows = [(a, b, f"{p:.2f}") for a, b, p in links]
    show_table(
        "The likeliest links that the novel does not have", [("node", {}), ("node", {}), ("probability", NUMBER)], rows
    )
    if links:
        show_explanation(model.explain(*links[0][:2]), model.community_names_)


def warmup(
    clear: Annotated[bool, typer.Option("--clear", help="Delete the compiled kernels instead, to free space.")] = False,
    first: Annotated[bool, typer.Option("--first", help="Only what a first fit and its page need.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compile everything now, so that no later fit waits for it: for images, servers, and before a lecture.

    Compiled code goes to the user's cache folder, or to the folder that KLAFTER_CACHE_DIR names.

    **Examples**

    `klafter warmup`

    `KLAFTER_CACHE_DIR=/opt/klafter klafter warmup --quiet`

    `klafter warmup --clear`
    """
    from klafter.cli.progress import watched
    from klafter.jit.cache import clear_entries, count_entries, folders
    from klafter.warmup import FIRST, STEPS

    folder = folders()[0]
    if clear:
        done = f"Deleted {counted(clear_entries(folder), 'compiled kernel')} from {folder}."
    else:
        with watched(quiet or as_json) as meter:
            names = FIRST if first else tuple(STEPS)
            for i, name in enumerate(names):
                meter.at(i / len(names), name)
                STEPS[name]()
        done = f"{counted(count_entries(folder), 'compiled kernel')} in {folder}."
    if as_json:
        print_json({"folder": str(folder), "kernels": count_entries(folder)})
    elif not quiet:
        say(done)
