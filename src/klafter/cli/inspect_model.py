"""``klafter communities``, ``predict`` and ``explain``: what a model found."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from klafter.cli.inputs import find_pair, find_pairs, load_model, parse_settings
from klafter.cli.screen import Column, Json, counted, print_json, quoted, say, show_table
from klafter.cli.sentences import Mistake

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that klafter fit wrote.")]
NUMBER: dict[str, Any] = {"justify": "right", "no_wrap": True}
PARTS = 20  # of an explanation on the screen
VALUES = 3  # over-represented ones of a community on the screen


def communities(
    model: Model,
    members: Annotated[int, typer.Option(min=0, help="Members to name for each; 0 for all.")] = 12,
    level: Annotated[int | None, typer.Option(min=1, help="How many communities to show, coarser or finer.")] = None,
    as_json: Json = False,
) -> None:
    """Show who belongs together: largest community first, tightest members first.

    A member with a star is in other communities as well. Behind a node in none stands the community that it would join
    first, and how probable it is that it is a member.

    **Examples**

    `klafter communities friends.npz`

    `klafter communities friends.npz --members 0`

    `klafter communities friends.npz --level 3`

    `klafter communities friends.npz --json > communities.json`
    """
    from klafter.cli.facts import describe_communities, in_order

    fitted = load_model(model, level)
    found, alone = describe_communities(fitted), in_order(fitted.unassigned())
    choices = {choice.node: choice for choice in fitted.first_choices()}
    if as_json:
        first = [choices[label]._asdict() for label in alone if label in choices]
        print_json({"communities": found, "unassigned": alone, "first_choices": first})
        return
    show_communities(found, alone, members, choices)


def place(
    model: Model,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Nodes that the newcomer links to.")],
    unlinked: Annotated[list[str] | None, typer.Option(help="A node that it does not link to, once for each.")] = None,
    only: Annotated[bool, typer.Option("--only", help="It links to nobody else.")] = False,
    linked_by: Annotated[
        list[str] | None, typer.Option(help="Of a directed network, a node that links to it, once for each.")
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An attribute of it, where the model uses them.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Its kind, in a network of several kinds of nodes, where its links leave more.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Likely further links to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Place a node that was not in the network, from its links, without fitting again.

    **Examples**

    `klafter place friends.npz ann bob eve`

    `klafter place friends.npz ann bob --unlinked dan --unlinked zoe --json`

    `klafter place advice.npz ann --linked-by bob --linked-by eve`
    """
    fitted = load_model(model)
    try:
        known = parse_settings(attribute or [], "--attribute")
        rest = "others" if only else unlinked
        found = fitted.place(nodes, rest, linked_by=linked_by or None, attributes=known, kind=kind)
    except (KeyError, ValueError) as wrong:
        raise Mistake(str(wrong.args[0])) from None
    listed = [
        {"number": k, "name": fitted.community_names_[k], "probability": float(p), "member": bool(found.memberships[k])}
        for k, p in sorted(enumerate(found.probabilities.tolist()), key=lambda each: -each[1])
    ]
    links = [{"node": node, "probability": p} for node, p in found.top_links(top)]
    if as_json:
        print_json({"communities": listed, "links": links})
        return
    home = ", ".join(map(quoted, found.communities))
    say(f"In {home}." if home else "In no community.")
    columns: list[Column] = [("community", NUMBER), ("name", {}), ("probability", NUMBER)]
    rows = [(item["number"], item["name"], f"{item['probability']:.3f}") for item in listed[:PARTS]]
    if rows:
        show_table("Communities", columns, rows)
    if links:
        likely = [(str(item["node"]), f"{item['probability']:.3f}") for item in links]
        show_table("Likely links", [("node", {}), ("probability", NUMBER)], likely)


def show_communities(found: list, alone: list, members: int, choices: dict | None = None) -> None:
    """The table of communities, and where those in none would go."""
    common = any(item["over_represented"] for item in found)
    columns: list[Column] = [
        ("community", NUMBER),
        ("name", {}),
        ("size", NUMBER),
        ("density", NUMBER),
        *([("over-represented", {})] if common else []),
        ("members, * also elsewhere", {}),
    ]
    rows = [
        (
            item["number"],
            item["name"],
            item["size"],
            "-" if item["density"] is None else f"{item['density']:.2f}",
            *([name_values(item["over_represented"])] if common else []),
            name_kinds(item, members),
        )
        for item in found
    ]
    if found:
        show_table(counted(len(found), "community"), columns, rows)
    else:
        say("No communities: how much each node links in general explains this network best.")
    if alone:
        choices = choices or {}
        names = {item["number"]: item["name"] for item in found}
        first = {label: f" (first {quoted(names[c.community])}, {c.probability:.0%})" for label, c in choices.items()}
        shown = alone[: 2 * members] if members else alone
        more = f" and {len(alone) - len(shown)} more" if len(shown) < len(alone) else ""
        say(f"In none, {len(alone)}: {', '.join(quoted(label) + first.get(label, '') for label in shown)}{more}")


def name_values(found: list[dict[str, Any]]) -> str:
    """Attribute values that members hold more often than chance gives: of members, and of all nodes."""
    return "; ".join(
        f"{e['attribute']} {e['value']}: {e['inside']} of {e['members']}, overall {e['total']} of {e['known']}"
        for e in found[:VALUES]
    )


def name_kinds(item: dict[str, Any], most: int) -> str:
    """The members of a community, of a two-mode network those of each kind by themselves."""
    if "members_by_kind" not in item:
        return name_members(item["members"], most, item["shared"])
    kinds = item["members_by_kind"].items()
    return "; ".join(f"{kind}: {name_members(names, most, item['shared'])}" for kind, names in kinds if names)


def name_members(names: list, most: int, starred: Collection = ()) -> str:
    """Some names, a star on those that are also elsewhere, and how many more there are."""
    starred = set(starred)
    shown = names[:most] if most else names
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return ", ".join(f"{quoted(name)}*" if name in starred else quoted(name) for name in shown) + more


def predict(
    model: Model,
    pairs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAIRS]", help='Nodes two by two, "a b", a file with two nodes a line, or - for stdin.'
        ),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="The likeliest links nobody has seen.")] = None,
    hidden_only: Annotated[bool, typer.Option("--hidden-only", help="With --top: only among hidden pairs.")] = False,
    as_json: Json = False,
) -> None:
    """Say how likely links are.

    **Examples**

    `klafter predict friends.npz ann bob`

    `klafter predict friends.npz "Ann Lee" Bo Cem "Dan Ray"`

    `klafter predict friends.npz pairs.tsv --json`

    `klafter predict friends.npz --top 20`
    """
    if bool(pairs) == (top is not None):
        raise Mistake("Give pairs of nodes, or --top N for the likeliest links nobody has seen.")
    if hidden_only and top is None:
        raise Mistake("--hidden-only goes with --top N: the likeliest links among the hidden pairs.")
    from klafter.core.responses import RESPONSES

    fitted = load_model(model)
    if top is not None:
        rows = fitted.top_links(top, hidden_only=hidden_only)
        asked = [(a, b) for a, b, _ in rows]
        probabilities = [p for _, _, p in rows]
    else:
        asked = find_pairs(fitted.graph_, pairs or [])
        probabilities = fitted.predict_proba(asked).tolist()
    counts = not RESPONSES[fitted.response_].binary
    means = fitted.predict(asked).tolist() if counts and asked else []
    if as_json:
        keys = ["source", "target", "probability", *(["value"] if counts else [])]
        print_json([dict(zip(keys, row)) for row in _rows(asked, probabilities, means)])
        return
    if not asked:
        say("No pair is hidden in this network." if hidden_only else "Every pair of this network is linked.")
        return
    ends: list[Column] = [("from", {}), ("to", {})] if fitted.graph_.directed else [("node", {}), ("node", {})]
    columns = [*ends, ("probability", NUMBER), *([("expected value", NUMBER)] if counts else [])]
    title = "The likeliest missing links" if top is not None else "Predicted links"
    table = [(*row[:2], *(f"{number:#.4g}" for number in row[2:])) for row in _rows(asked, probabilities, means)]
    show_table(title, columns, table)


def _rows(pairs, probabilities, means) -> list[tuple]:
    return [(*pair, proba, *means[t : t + 1]) for t, (pair, proba) in enumerate(zip(pairs, probabilities))]


def explain(
    model: Model,
    a: Annotated[str, typer.Argument(metavar="A", help="A node; the sender if links have directions.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another node.")],
    as_json: Json = False,
) -> None:
    """Say why a link is likely or not: which communities speak for it and which against.

    **Examples**

    `klafter explain friends.npz ann bob`

    `klafter explain novel.npz "Jean Valjean" Javert --json`
    """
    fitted = load_model(model)
    first, second = find_pair(fitted.graph_, [a, b])
    found = fitted.explain(first, second)
    if as_json:
        parts = [{"what": what, "value": value} for what, value in found.parts]
        known = fitted.graph_.links[fitted.graph_.index(first), fitted.graph_.index(second)]
        odds = {"probability": found.probability, "log_odds": found.log_odds}
        print_json({"source": first, "target": second, **odds, "link": known, "parts": parts, "totals": found.totals})
        return
    show_explanation(found, fitted.community_names_, "to" if fitted.graph_.directed else "-")


def show_explanation(found, names: Sequence[str] = (), between: str = "-") -> None:
    """The parts of one predicted link, what they add up to, and how much of that each kind has."""
    columns = [("for or against", NUMBER), ("what", {})]
    rows = [(f"{value:+.2f}", with_names(what, names)) for what, value in found.largest(PARTS)]
    pair = f"{quoted(found.source)} {between} {quoted(found.target)}"
    show_table(f"{pair}: probability of a link {found.probability:.3f}", columns, rows)
    totals = ", ".join(f"{kind} {value:+.2f}" for kind, value in found.totals.items())
    say(f"These add up to {found.log_odds:+.2f}, the log odds of that probability: {totals}.")


def with_names(text: str, names: Sequence[str]) -> str:
    """A part of an explanation with the names of communities behind their numbers."""
    return re.sub(
        r"community (\d+)",
        lambda found: f"{found[0]} ({names[k]})" if (k := int(found[1])) < len(names) and names[k] else found[0],
        text,
    )
