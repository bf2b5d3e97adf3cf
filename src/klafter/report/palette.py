"""Colours that colour-blind readers can tell apart: Okabe and Ito's, then darker and paler ones."""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A800")
# of middle lightness, so that they stand out on white and on black
MORE = ("#B5446E", "#5B9F3D", "#7A6FD0", "#A9744F", "#EE8F80", "#7FA8D1", "#3BB3A0", "#B66DD6", "#8C9A3B", "#D98CB3")
COLOURS = (*OKABE_ITO, *MORE)
NOBODY = "#9AA0A6"  # nodes in no community


def community_colours(sizes) -> list[str]:
    """A colour for each community, the most distinct ones for the largest; beyond seventeen they repeat."""
    order = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))
    colours = [""] * len(order)
    for rank, k in enumerate(order):
        colours[k] = COLOURS[rank % len(COLOURS)]
    return colours
