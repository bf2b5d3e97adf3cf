"""Which column of a table holds the values of links, and what is to be asked about columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from klafter.graph.io.errors import quote
from klafter.graph.io.tables.column_names import role, weight_column
from klafter.graph.io.tables.values import are_times, is_readable

NEIGHBOURS = "Column 3 holds names of nodes as well and was left out; a line is read as one link."


def column_of(rows: list[list[str]], k: int) -> list[str]:
    """The fields of a column, where lines have it."""
    return [row[k] for row in rows if len(row) > k]


def answers(names: Sequence[str], rows: list[list[str]], taken: tuple[int, int]) -> tuple[int | None, list[str]]:
    """A column of two values beside nearly all pairs there are: who is linked, and who is not.

    Values that are not 0 and 1 stop the read where weights are read.
    """
    if not _are_all_pairs([(row[taken[0]], row[taken[1]]) for row in rows if len(row) > max(taken)]):
        return None, []
    others = [k for k in range(len(names)) if k not in taken]
    binary = [k for k in others if len({field.casefold() for field in column_of(rows, k)}) == 2]
    if len(binary) != 1:
        return None, []
    values = " and ".join(sorted(set(column_of(rows, binary[0])))[:2])
    said = f"Column {quote(names[binary[0]])} has {values} for nearly all pairs and says who is linked"
    return binary[0], [f"{said}; pass weight=None if not."]


def _are_all_pairs(pairs: list[tuple[str, str]]) -> bool:
    """Whether nearly every pair of a source is there; the lines of the last source may be cut off."""
    nodes = {name for pair in pairs for name in pair}
    sources = {source for source, _ in pairs}
    for known in (sources, sources - {pairs[-1][0]}) if pairs else ():
        n, m = len(nodes), len(known)
        touching = {frozenset(pair) for pair in pairs if pair[0] in known and pair[0] != pair[1]}
        if n > 3 and m > 1 and len(touching) >= 0.8 * (m * (n - m) + m * (m - 1) / 2):
            return True
    return False


def unused_numbers(names: Sequence[str], rows: list[list[str]], taken: tuple[int, int]) -> list[str]:
    """A question for each column of numbers that no name calls something else."""
    found = []
    for k, name in enumerate(names):
        fields = [field for field in column_of(rows, k) if field]
        unsure = k not in taken and name and role(name) not in ("other", "time")
        if unsure and fields and all(map(is_readable, fields)):
            found.append(f"Column {quote(name)} holds numbers; pass weight={name!r} if these are weights.")
    return found


def _neighbours_note(rows: list[list[str]], names: Sequence[str]) -> list[str]:
    """That a third column names nodes as well, as in lists of neighbours."""
    third = set(column_of(rows, 2)) - {""}
    if names or not third & {field for row in rows for field in row[:2]}:
        return []
    return [NEIGHBOURS]


def find_weights(
    weight: str | int | None, names: Sequence[str], rows: list[list[str]], columns: int, taken: tuple[int, int]
) -> tuple[int | None, list[str]]:
    """The column of weights, -1 if the one asked for is missing, and what has to be said of it."""
    if weight is None:
        return None, []
    if weight != "auto":
        name = str(weight).lower()
        return (weight if isinstance(weight, int) else names.index(name) if name in names else -1), []
    third = max(taken) + 1
    found = weight_column(names, taken) if names else (third if columns > third else None)
    if found is None:
        return None, []
    fields = [field for field in column_of(rows, found) if field]
    numeric = any(map(is_readable, fields))
    called = f"Column {quote(names[found]) if names else found + 1}"
    # one number among the fields is enough: then text beside it is an error, not a name
    if not numeric:
        said = f"{called} holds no numbers and was not taken for weights; pass weight= to name another."
        return None, [said] if names and rows else _neighbours_note(rows, names)
    if not names and are_times(fields):
        said = f"{called} looks like times, from {min(fields)} to {max(fields)}, and was left out"
        return None, [f"{said}; pass weight={found} if these are weights."]
    return found, []
