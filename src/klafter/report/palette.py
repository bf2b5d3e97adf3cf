"""Colours that colour-blind readers can tell apart: Okabe and Ito's, then darker and paler ones."""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A800")
# after Paul Tol's muted and light schemes
MORE = ("#882255", "#117733", "#332288", "#AA9944", "#EE8866", "#77AADD", "#661100", "#44BB99", "#AA4499", "#6699CC")
COLOURS = (*OKABE_ITO, *MORE)
NOBODY = "#9AA0A6"  # nodes in no community


def community_colours(sizes) -> list[str]:
    """A colour for each community, the most distinct ones for the largest; beyond seventeen they repeat."""
    order = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))
    colours = [""] * len(order)
    for rank, k in enumerate(order):
        colours[k] = COLOURS[rank % len(COLOURS)]
    return colours
