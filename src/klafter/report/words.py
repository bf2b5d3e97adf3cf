"""What was found, in a paragraph that can be pasted into a paper."""

from __future__ import annotations

import numpy as np

from klafter import __version__
from klafter.models.results.effects import effect_words
from klafter.report.communities import Community
from klafter.report.fit import Count, Run

NAMED = 6  # communities that are described one by one
MASS = 0.9  # of the interval of the number of communities


def summary_sentences(model, communities: list[Community], runs: list[Run], counts: list[Count]) -> list[str]:
    """Network, method, communities, and how far to trust them; a sentence or two each."""
    return [
        _network(model.graph_),
        _method(model, communities, runs),
        *_attributes(model),
        *_communities(model, communities),
        *_trust(model, communities, runs, counts),
    ]


def _network(graph) -> str:
    kind = "directed links" if graph.directed else "links across" if graph.second_kind is not None else "links"
    share = f" (density {graph.n_links / graph.n_dyads:.2g})" if graph.n_dyads else ""
    data = graph.links.data
    valued = len(data) and (data != 1).any()
    share += f", with values from {data.min():.3g} to {data.max():.3g}" if valued else ""
    hidden = f"; {graph.n_hidden:,} pairs were not observed" if graph.n_hidden else ""
    return f"The network has {graph.count_nodes()} and {graph.n_links:,} {kind}{share}{hidden}."


def _method(model, communities: list[Community], runs: list[Run]) -> str:
    link = f" with the {model.link_} link" if getattr(model, "link_", None) else ""
    seed = getattr(model, "random_state", None)
    how = [f"{len(runs)} runs"] if len(runs) > 1 else []
    how += [] if seed is None else [f"seed {seed}"]
    found = f"{_number(len(communities), 'community', 'communities')}" if communities else "no communities"
    tool = f"{type(model).__name__}{link} (klafter {__version__}{''.join(f', {part}' for part in how)})"
    return f"{tool} found {found}{_coarser(model, runs)}."


def _attributes(model) -> list[str]:
    """How much attributes count, if any were used."""
    effects = getattr(model, "attribute_effects_", None)
    if effects is None:
        return []
    return [
        f"Attributes count beside communities, which are what they do not explain: {'; '.join(effect_words(effects))}."
    ]


def _coarser(model, runs: list[Run]) -> str:
    """Of how many finer communities those of a coarser level are made."""
    finest = next((run.n_found for run in runs if run.chosen), 0)
    levels = getattr(model, "levels_", None)
    return f", merged from the {finest} of the finest level" if levels and levels["shown"] and finest else ""


def _communities(model, communities: list[Community]) -> list[str]:
    if not communities:
        return ["How much each node links in general explains the network."]
    order = sorted(communities, key=lambda c: (-c.size, c.number))
    if len(order) > NAMED:
        sizes = [c.size for c in order]
        words = f"They have {min(sizes):,} to {max(sizes):,} members (median {np.median(sizes):g})."
    else:
        words = f"{'It is' if len(order) == 1 else 'They are'} {_listed([_described(c) for c in order])}."
    return [words, _places(model, len(communities))]


def _described(community: Community) -> str:
    """A community by its name, its size and what its members have in common."""
    name = community.name or f"community {community.number}"
    facts = [_number(community.size, "member", "members")]
    if community.enriched:
        e = community.enriched[0]
        facts.append(f"{e.attribute} {e.value}: {e.inside} of {e.members}, overall {e.total} of {e.known}")
    return f"“{name}” ({'; '.join(facts)})"


def _places(model, k: int) -> str:
    """How many nodes are in several communities, and in none."""
    held = np.asarray((model.memberships_ != 0).sum(axis=1)).ravel()
    several, none = int((held > 1).sum()), int((held == 0).sum())
    if k == 1:
        return f"{_are(none)} not in it." if none else "All nodes are in it."
    alone = f"{none:,} in none" if none else "all are in at least one"
    return f"{_are(several)} in more than one community, {alone}."


def _are(n: int) -> str:
    return "No node is" if n == 0 else "1 node is" if n == 1 else f"{n:,} nodes are"


def _trust(model, communities: list[Community], runs: list[Run], counts: list[Count]) -> list[str]:
    said = []
    found = [run.n_found for run in runs]
    if len(found) > 1:
        span = f"{min(found)} to {max(found)} communities"
        span = _number(found[0], "community", "communities") if min(found) == max(found) else span
        said.append(f"The runs found {span} at their finest level")
    if counts:
        low, high = model.n_communities_interval(MASS)
        said.append(f"the posterior of their number, small ones counted, has {MASS:.0%} between {low} and {high}")
    stable = [c.stability for c in communities if c.stability is not None]
    if stable:
        said.append(f"a community was found again by the other runs with a mean F1 of {np.mean(stable):.2f}")
    return [f"{'; '.join(said)}."] if said else []


def _number(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
