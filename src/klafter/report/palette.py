"""Colours that colour-blind readers can tell apart: six of Okabe and Ito's, then those farthest from all before them.

The rest was chosen one by one among colours of middle lightness, which stand out on white and on black, each as far as
possible from its predecessors in the least favourable of usual, red-blind and green-blind eyes.
"""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
MORE = (
    "#B0B060", "#905030", "#207070", "#8090F0", "#10C0D0", "#D06060", "#706090", "#A08040", "#E09090", "#3060C0",
    "#B04070",
)  # fmt: skip
COLOURS = (*OKABE_ITO, *MORE)
NOBODY = "#9AA0A6"  # nodes in no community


def community_colours(sizes) -> list[str]:
    """A colour for each community, the most distinct ones for the largest; beyond seventeen they repeat."""
    order = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))
    colours = [""] * len(order)
    for rank, k in enumerate(order):
        colours[k] = COLOURS[rank % len(COLOURS)]
    return colours
