"""Edge lists in partitions, of Dask or Parquet, made into shards by the workers that read them."""

from __future__ import annotations

from itertools import pairwise
from operator import getitem

import numpy as np

from klafter.search.cluster import shards as at
from klafter.search.cluster.dask_executor import placed
from klafter.search.cluster.retries import gathered, retry
from klafter.search.sparse.state import Problem


def extent(table, client) -> tuple[list, int, int]:
    """The partitions as futures, the number of nodes and the number of lines."""
    if len(table.columns) < 2:
        raise ValueError(f"A table of links needs two columns of nodes; this has {list(table.columns)}.")
    for name in table.columns[:2]:
        if table.dtypes[name].kind not in "iu":
            raise ValueError(
                f"A Dask table of links needs nodes numbered from 0; column {name!r} holds {table.dtypes[name]}. "
                "Number the nodes first."
            )
    parts = client.compute(table.to_delayed())
    found = retry(lambda: gathered([client.submit(_extent, part, pure=False) for part in parts], client), client)
    low, high = min(f[0] for f in found), max(f[1] for f in found)
    if low < 0 or high < 1:
        raise ValueError(f"A Dask table of links needs nodes numbered from 0; these go from {low} to {high}.")
    return parts, high + 1, sum(f[2] for f in found)


def _extent(part) -> tuple[int, int, int]:
    ends = part.iloc[:, :2].to_numpy()
    return (int(ends.min()), int(ends.max()), len(ends)) if len(ends) else (0, 0, 0)


def shuffle(parts: list, frame: Problem, bounds: np.ndarray, counts: bool, client) -> list:
    """One shard of rows for each range of nodes; pieces go from worker to worker."""
    cut = [client.submit(_cut, part, bounds, counts, pure=False) for part in parts]
    own = [[client.submit(getitem, pieces, s, pure=False) for pieces in cut] for s in range(len(bounds) - 1)]
    about = tuple(frame), counts
    return placed(client, shard_of_pieces, [(about, a, b, some) for (a, b), some in zip(pairwise(bounds), own)])


def _cut(part, bounds: np.ndarray, counts: bool) -> list[np.ndarray]:
    """The links of a partition seen from both ends, by the shard of the near end: columns near, far, value."""
    ends = part.iloc[:, :2].to_numpy().astype(np.int64)
    value = part.iloc[:, 2].to_numpy(float) if counts and part.shape[1] > 2 else np.ones(len(ends))
    apart = ends[:, 0] != ends[:, 1]
    near, far = np.concatenate([ends[apart], ends[apart][:, ::-1]]).T
    rows = np.column_stack([near, far, np.tile(value[apart], 2)])
    shard = np.searchsorted(bounds, near, side="right") - 1
    order = np.argsort(shard, kind="stable")
    return np.split(rows[order], np.searchsorted(shard[order], np.arange(1, len(bounds) - 1)))


def shard_of_pieces(about: tuple, low: int, high: int, pieces: list[np.ndarray]) -> at.Shard:
    """The rows of nodes low..high from the pieces of all partitions; a link given twice counts once, or adds up."""
    frame, counts = about
    near, far, value = np.concatenate(pieces).T
    width = Problem(*frame).n
    key, which = np.unique((near.astype(np.int64) - low) * width + far.astype(np.int64), return_inverse=True)
    total = np.bincount(which, value, len(key)) if counts else np.ones(len(key))
    length = np.bincount(key // width, minlength=high - low)
    links = at.Partners(length, length, key % width)
    return at.make_shard(Problem(*frame), at.Rows(np.arange(low, high), links, total, at.no_partners(high - low)))


def shard_of_rows(frame: tuple, nodes, links, value, hidden) -> at.Shard:
    """The shard of rows that were cut by the client."""
    return at.make_shard(Problem(*frame), at.Rows(nodes, at.Partners(*links), value, at.Partners(*hidden)))


def degrees(shards: list, client) -> tuple[np.ndarray, float]:
    """Neighbours of each node, and the number of links."""
    found = retry(lambda: gathered([client.submit(_degrees, shard, pure=False) for shard in shards], client), client)
    return np.concatenate([degree for degree, _ in found]), sum(value for _, value in found) / 2


def _degrees(shard: at.Shard) -> tuple[np.ndarray, float]:
    return np.diff(shard.problem.start).astype(np.int32), float(shard.problem.value.sum())
