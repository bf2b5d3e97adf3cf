"""Colours that stay apart for readers who see fewer of them, and that show on white and on black."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from klafter.report.palette import COLOURS, NOBODY, community_colours

# Viénot, Brettel and Mollon (1999): what is left of linear red, green and blue
EYES = {
    "usual": np.eye(3),
    "protanopia": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranopia": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(colour, eyes="usual"):
    """CIE Lab of a colour as these eyes see it."""
    xyz = TO_XYZ @ np.clip(EYES[eyes] @ linear(colour), 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a, b, eyes):
    return float(np.linalg.norm(lab(a, eyes) - lab(b, eyes)))


def contrast(colour, ground):
    light, dark = sorted((float(TO_XYZ[1] @ linear(c)) + 0.05 for c in (colour, ground)), reverse=True)
    return light / dark


@pytest.mark.parametrize("eyes", EYES)
def test_any_two_can_be_told_apart(eyes):
    assert min(distance(a, b, eyes) for a, b in combinations(COLOURS, 2)) > 11


@pytest.mark.parametrize("eyes", EYES)
def test_those_of_the_largest_communities_differ_most(eyes):
    assert min(distance(a, b, eyes) for a, b in combinations(COLOURS[:6], 2)) > 16


@pytest.mark.parametrize("eyes", EYES)
def test_neighbours_in_rank_can_be_told_apart(eyes):
    """Largest communities come first, and the eye compares a colour with those beside it in the legend."""
    assert min(distance(a, b, eyes) for a, b in pairwise(COLOURS)) > 18


@pytest.mark.parametrize("ground", ["#ffffff", "#1b1f23"])
def test_they_show_on_white_and_on_black(ground):
    assert min(contrast(colour, ground) for colour in (*COLOURS, NOBODY)) > 2.1


def test_the_largest_communities_get_the_first_colours():
    assert community_colours([3, 9, 5]) == [COLOURS[2], COLOURS[0], COLOURS[1]]
    assert len(set(COLOURS)) == len(COLOURS)
