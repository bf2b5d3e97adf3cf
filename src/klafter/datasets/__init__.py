"""Networks to work with: ``load_*`` comes with networkx, ``fetch_*`` is downloaded once, ``make_*`` is simulated.

The simulated ones return the graph and its ``Truth``.
"""

from klafter.datasets.bundled import load_florentine_families, load_karate, load_les_miserables, load_southern_women
from klafter.datasets.catalogue import DATASETS, DatasetInfo, list_datasets, load_dataset
from klafter.datasets.lazega import fetch_lazega
from klafter.datasets.lfr import make_lfr
from klafter.datasets.nips import fetch_nips234
from klafter.datasets.planted import make_overlapping
from klafter.datasets.protein import fetch_protein230
from klafter.datasets.simulated import make_epm, make_irm, make_lfrm, make_mmsb
from klafter.datasets.truth import Truth

__all__ = [
    "DATASETS",
    "DatasetInfo",
    "Truth",
    "fetch_lazega",
    "fetch_nips234",
    "fetch_protein230",
    "list_datasets",
    "load_dataset",
    "load_florentine_families",
    "load_karate",
    "load_les_miserables",
    "load_southern_women",
    "make_epm",
    "make_irm",
    "make_lfr",
    "make_lfrm",
    "make_mmsb",
    "make_overlapping",
]
