"""``klafter demo``: the whole path on the characters of a novel, without a download."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klafter.cli.fitting import run_fit, write_report
from klafter.cli.looking import NUMBER, show_communities, show_explanation
from klafter.cli.screen import Quiet, say, show_table
from klafter.cli.sentences import Interrupted, Mistake


def demo(
    folder: Annotated[Path, typer.Option(help="Where the model and the page go.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Find the circles of Les Misérables: communities, missing links and why, and a page to look at.

    **Examples**

    `klafter demo`

    `klafter demo --folder /tmp/novel`
    """
    from klafter.cli.facts import describe_communities, graph_sentence
    from klafter.datasets import load_les_miserables
    from klafter.models import KLafter

    folder.mkdir(parents=True, exist_ok=True)
    graph = load_les_miserables()
    say(f"Les Misérables: characters, linked when they meet in a chapter. {graph_sentence(graph)}", "bold")
    model = KLafter(random_state=0)
    interrupted = run_fit(model, graph, quiet)
    model.save(folder / "model.npz")
    say(f"Found {model.n_communities_} overlapping communities in {model.fit_seconds_:.1f} s.")
    show_communities(describe_communities(model), sorted(model.unassigned(), key=str), 12)
    show_links(model)
    page = try_report(model, folder / "report.html")
    say(f"Written: {folder / 'model.npz'}{f' and {page}' if page else ''}.")
    say(f"Next: {f'open {page}, ' if page else ''}klafter explain {folder / 'model.npz'} Valjean Javert, or your own")
    say("network: klafter fit friends.tsv -o friends.npz")
    if interrupted:
        raise Interrupted(f"Interrupted; the best so far is in {folder / 'model.npz'}.")


def show_links(model) -> None:
    """The likeliest missing links, and why the first."""
    links = model.top_links(8)
    rows = [(a, b, f"{p:.2f}") for a, b, p in links]
    show_table(
        "The likeliest links that the novel does not have", [("node", {}), ("node", {}), ("probability", NUMBER)], rows
    )
    if links:
        show_explanation(model.explain(*links[0][:2]))


def try_report(model, path: Path) -> Path | None:
    """Write the page if reports are installed; say so if not."""
    try:
        write_report(model, path)
    except Mistake as reason:
        say(str(reason))
        return None
    return path
