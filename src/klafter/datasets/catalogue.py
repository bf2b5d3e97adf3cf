"""The table of data sets: what each is, whose it is, and the call that loads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from klafter.datasets.bundled import load_florentine_families, load_karate, load_les_miserables, load_southern_women
from klafter.datasets.lazega import fetch_lazega
from klafter.datasets.nips import fetch_nips234
from klafter.datasets.protein import fetch_protein230
from klafter.graph import Graph


class DatasetInfo(NamedTuple):
    """One data set: its size, its origin, and how to load it."""

    name: str
    title: str
    n_nodes: int
    n_links: int
    directed: bool
    values: str  # "0/1" or "counts"
    licence: str
    citation: str
    load: Callable[..., Graph]
    files: tuple[str, ...] = ()  # empty: comes with networkx

    @property
    def downloaded(self) -> bool:
        """Whether the data set is downloaded on first use."""
        return bool(self.files)


_BUNDLED = "BSD-3-Clause (networkx)"
_LAZEGA = "none stated; free for research with citation"
_LAZEGA_BOOK = "Lazega (2001), The Collegial Phenomenon, Oxford University Press"
_NIPS = "Chechik, NIPS 1-17 data; Miller, Griffiths, Jordan (2009), NIPS"
_NIPS_FILES = ("nips17.authors", "nips17.authors.key")
_ZACHARY = "Zachary (1977), Journal of Anthropological Research 33"
_BREIGER = "Breiger, Pattison (1986), Social Networks 8"
_BUTLAND = "Butland et al. (2005), Nature 433; Zhou (2015), AISTATS"
_PAJ = ("Lazega-Law-Firm.paj", "ELattr.dat")

DATASETS = {
    info.name: info
    for info in (
        DatasetInfo("karate", "Members of a karate club", 34, 78, False, "0/1", _BUNDLED, _ZACHARY, load_karate),
        DatasetInfo(
            "les_miserables", "Characters of Les Miserables", 77, 254, False, "0/1", _BUNDLED,
            "Knuth (1993), The Stanford GraphBase", load_les_miserables,
        ),
        DatasetInfo(
            "les_miserables_counts", "Characters of Les Miserables, chapters", 77, 254, False, "counts", _BUNDLED,
            "Knuth (1993), The Stanford GraphBase", partial(load_les_miserables, weighted=True),
        ),
        DatasetInfo(
            "florentine_families", "Marriages in Renaissance Florence", 15, 20, False, "0/1", _BUNDLED,
            _BREIGER, load_florentine_families,
        ),
        DatasetInfo(
            "southern_women", "Women and the events they attended", 32, 89, False, "0/1", _BUNDLED,
            "Davis, Gardner, Gardner (1941), Deep South", load_southern_women,
        ),
        DatasetInfo(
            "lazega_advice", "Lawyers, who asks whom for advice", 71, 892, True, "0/1", _LAZEGA, _LAZEGA_BOOK,
            partial(fetch_lazega, "advice"), _PAJ,
        ),
        DatasetInfo(
            "lazega_work", "Lawyers, who works with whom", 71, 378, False, "0/1", _LAZEGA, _LAZEGA_BOOK,
            partial(fetch_lazega, "work"), ("ELwork.dat", "ELattr.dat"),
        ),
        DatasetInfo(
            "lazega_friend", "Lawyers, who sees whom as a friend", 71, 575, True, "0/1", _LAZEGA, _LAZEGA_BOOK,
            partial(fetch_lazega, "friend"), _PAJ,
        ),
        DatasetInfo(
            "protein230", "Interactions of E. coli proteins", 230, 695, False, "0/1", "MIT (EPM)", _BUTLAND,
            fetch_protein230, ("Protein230.mat",),
        ),
        DatasetInfo(
            "nips234", "NIPS 1-17 co-authors", 234, 598, False, "0/1", "none stated", _NIPS, fetch_nips234, _NIPS_FILES,
        ),
        DatasetInfo(
            "nips234_counts", "NIPS 1-17 co-authors, joint papers", 234, 598, False, "counts", "none stated", _NIPS,
            partial(fetch_nips234, counts=True), _NIPS_FILES,
        ),
    )
}  # fmt: skip


def list_datasets() -> list[DatasetInfo]:
    """All real data sets, those that need no download first.

    Returns
    -------
    list of DatasetInfo

    Examples
    --------
    >>> [info.name for info in list_datasets()][:2]
    ['karate', 'les_miserables']
    """
    return sorted(DATASETS.values(), key=lambda info: info.downloaded)


def load_dataset(name: str, *, data_home=None) -> Graph:
    """A data set by its name in the table.

    Parameters
    ----------
    name : str
        One of those of ``list_datasets()``.
    data_home : path, optional
        The folder of downloads; default: ``KLAFTER_DATA``, or the user's cache folder.

    Returns
    -------
    Graph

    Examples
    --------
    >>> load_dataset("karate")
    Graph(34 nodes, 78 links, undirected)
    """
    if name not in DATASETS:
        raise ValueError(f"There is no data set {name!r}. These exist: {', '.join(DATASETS)}.")
    info = DATASETS[name]
    return info.load(data_home=data_home) if info.downloaded else info.load()
