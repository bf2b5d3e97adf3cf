"""Kernels of shards: sweeps of flips against what is frozen elsewhere, what changes do to the terms of links, and the
rows that go to others."""

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.flips import best_flip, flip_scratch
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    clear_row_effect,
    exposure_factor,
    flip,
    hidden_factor,
    is_symmetric,
    link_mean,
    link_term,
    pair_affinity,
)
from klafter.search.sparse.kernels.totals import first_above


@kernel
def sweep_rows(ws, own, flags, turns):
    """Flips of the flagged nodes 0..own until none gains, then of own nodes around those that changed, and so on.

    Returns the fall of the objective if nothing changes elsewhere. ``flags`` are left as they were after the last turn.
    """
    scratch, total = flip_scratch(ws), 0.0
    around = np.zeros(own, np.bool_)
    for _ in range(turns):
        around[:] = False
        moved = False
        for i in range(own):
            while flags[i]:
                k, value = best_flip(ws, i, scratch)
                if k < 0:
                    break
                total += value
                flip(ws, i, k)
                moved = True
                for p in range(ws.start[i], ws.start[i + 1]):
                    if ws.node[p] < own:
                        around[ws.node[p]] = True
        flags[:] = around
        if not moved:
            break
    return total


@kernel
def rows_near(ws, own, changed):
    """Nodes 0..own that changed or have a linked or hidden partner that changed."""
    near, number = np.empty(own, np.int64), 0
    for i in range(own):
        found = changed[i]
        if not found:
            for p in range(ws.start[i], ws.start[i + 1]):
                if changed[ws.node[p]]:
                    found = True
                    break
        if not found:
            for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
                found |= changed[ws.hidden_node[p]]
        if found:
            near[number] = i
            number += 1
    return near[:number].copy()


@kernel
def touched_fit(ws, near, changed):
    """sum_links h + sum_hidden x over some rows, of dyads with an end that changed; half for each entry."""
    out, total = np.zeros(len(ws.size)), 0.0
    into = out if is_symmetric(ws) else np.zeros(len(ws.size))
    for v in range(len(near)):
        i = near[v]
        add_row_effect(ws, i, out, into)
        for p in range(ws.start[i], ws.start[i + 1]):
            if changed[i] or changed[ws.node[p]]:
                u = pair_affinity(ws, ws.node[p], out if p < ws.middle[i] else into)
                x = exposure_factor(ws, i, p) * u
                total += 0.5 * link_term(ws.counts, ws.value[p], x, link_mean(ws.counts, x))
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            if changed[i] or changed[ws.hidden_node[p]]:
                u = pair_affinity(ws, ws.hidden_node[p], out if p < ws.hidden_middle[i] else into)
                total += 0.5 * hidden_factor(ws, i, p) * u
        clear_row_effect(ws, i, out, into)
    return total


@kernel
def hidden_rows(ws, own, rates):
    """What hidden dyads take from the rates of degree factors of nodes 0..own: as source, and as target."""
    out = np.zeros(len(ws.size))
    into = out if is_symmetric(ws) else np.zeros(len(ws.size))
    for i in range(own):
        add_row_effect(ws, i, out, into)
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            j = ws.hidden_node[p]
            if p < ws.hidden_middle[i]:
                rates[0, i] += ws.receive[j] * pair_affinity(ws, j, out)
            else:
                rates[1, i] += ws.send[j] * pair_affinity(ws, j, into)
        clear_row_effect(ws, i, out, into)


@kernel
def flat_rows(start, held, member, nodes):
    """The communities of some nodes, row after row."""
    total = 0
    for v in range(len(nodes)):
        total += held[nodes[v]]
    flat, at = np.empty(total, np.int32), 0
    for v in range(len(nodes)):
        first = start[nodes[v]]
        for m in range(first, first + held[nodes[v]]):
            flat[at] = member[m]
            at += 1
    return flat


@kernel
def changed_rows(start, held, member, old_start, old_held, old_member):
    """Which rows hold other communities than before, or the same in another order."""
    changed = np.zeros(len(held), np.bool_)
    for i in range(len(held)):
        changed[i] = held[i] != old_held[i]
        for m in range(min(held[i], old_held[i])):
            if member[start[i] + m] != old_member[old_start[i] + m]:
                changed[i] = True
                break
    return changed


@bare
def place_of(low, own, away, node):
    """The place of a node among own nodes from ``low`` on, or among others in order; -1 if it is in neither."""
    if low <= node < low + own:
        return np.int64(node - low)
    first = first_above(away, np.int64(0), np.int64(len(away)), node)
    return own + first if first < len(away) and away[first] == node else np.int64(-1)


@kernel
def places_of(low, own, away, nodes):
    """The places of some nodes; -1 for those that are in neither."""
    places = np.empty(len(nodes), np.int64)
    for v in range(len(nodes)):
        places[v] = place_of(low, own, away, nodes[v])
    return places


@kernel
def write_rows(places, held, flat, start, state_held, state_member, changed):
    """Replace the rows of some places, and flag them; False, and nothing done, if one has no room."""
    for v in range(len(places)):
        i = places[v]
        if i >= 0 and held[v] > start[i + 1] - start[i]:
            return False
    at = 0
    for v in range(len(places)):
        i = places[v]
        if i >= 0:
            changed[i], state_held[i] = True, held[v]
            for m in range(held[v]):
                state_member[start[i] + m] = flat[at + m]
        at += held[v]
    return True


@kernel
def inside_rows(start, middle, node, value, rows, mark, with_value):
    """Entries of some rows whose other end has a mark >= 0, by that mark: lengths, those as source, ends, values."""
    length, source = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    total = 0
    for v in range(len(rows)):
        for p in range(start[rows[v]], start[rows[v] + 1]):
            if mark[node[p]] >= 0:
                length[v] += 1
                source[v] += p < middle[rows[v]]
        total += length[v]
    ends, values, at = np.empty(total, np.int32), np.empty(total if with_value else 0), 0
    for v in range(len(rows)):
        for p in range(start[rows[v]], start[rows[v] + 1]):
            if mark[node[p]] >= 0:
                ends[at] = mark[node[p]]
                if with_value:
                    values[at] = value[p]
                at += 1
    return length, source, ends, values
