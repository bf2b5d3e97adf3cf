"""Small fits that compile every kernel, so that later ones find them: for images, servers and wheels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def default_fit() -> None:
    """A fit as ``klafter fit`` does it, and what is asked of the model."""
    from klafter.datasets import load_karate
    from klafter.models import KLafter

    model = KLafter(n_init=2, n_smooth=6, random_state=0).fit(load_karate())
    model.top_links(3)
    model.membership_proba_.sum()


def other_values() -> None:
    """Directed graphs, counts, real values, hidden dyads and a warm start."""
    from klafter.datasets import make_lfrm
    from klafter.models import KLafter

    for family in ("bernoulli", "poisson", "gaussian"):
        graph, _ = make_lfrm(n=20, k=2, directed=True, family=family, random_state=0)
        model = KLafter(family=family, n_init=1, n_smooth=4, random_state=0)
        model.fit(graph.hide([(0, 1)]))
    model.set_params(warm_start=True).fit(graph)


def large_graphs() -> None:
    """The sparse engine."""
    from klafter.datasets import make_overlapping
    from klafter.models import KLafter

    graph, _ = make_overlapping(600, community_size=60, random_state=0)
    model = KLafter(link="exposure", random_state=0).fit(graph)
    model.partial_fit([(0, 1), (0, 2)])
    model.top_links(3)


def siblings() -> None:
    """The models that are fitted by sampling."""
    from klafter.datasets import load_karate
    from klafter.models import EPM, IRM, LFRM, MMSB

    for kind in (LFRM, IRM, MMSB, EPM):
        kind(n_burn=2, n_draws=2, random_state=0).fit(load_karate())


def pages() -> None:
    """The layout of the report."""
    from klafter.datasets import load_karate
    from klafter.report.layout import force_layout

    force_layout(load_karate().links, np.ones((34, 1)), n_steps=1)


STEPS: dict[str, Callable[[], None]] = {
    "the default fit": default_fit,
    "directed graphs, counts and real values": other_values,
    "large graphs": large_graphs,
    "LFRM, IRM, MMSB and EPM": siblings,
    "pages": pages,
}
FIRST = ("the default fit", "pages")  # what a first fit and its page need
