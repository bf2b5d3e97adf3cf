"""Kernels of the sparse engine: link terms, totals over all pairs, and flips of one membership.

    u_ij = e + sum over shared communities of w_k;  x_ij = t_i r_j u_ij;  a_ij = t_i r_j
    h(y, x) = log(e^x - 1) for binary links, y log x for counts
    Q = -sum_links h(y, x) + e P_all + sum_k [w_k P_k + price(S_k)] + a sum_i (t_i - 1 - log t_i)
    P_k = half (T_k R_k - sum_i t_i r_i z_ik) - sum_{hidden dyads in k} a_ij
    price(S) = lambda^2 + T (log S + log C(N, S))

Each link stands in two rows, so a sum over links is half a sum over entries.
"""

import math

import numpy as np

from klafter.jit.decorators import bare, inlined, kernel

TINY = 1e-300
ENOUGH = 1e-9  # a gain below this is rounding


@inlined
def at_least(x, low):
    """The larger of two numbers; max() of Numba packs them into a tuple, which takes longer to compile."""
    return low if x < low else x


@inlined
def link_chance(counts, x):
    """What the link terms at x have in common: P(link) = 1 - e^-x, or x itself for counts."""
    return at_least(x if counts else -math.expm1(-x), TINY)


@inlined
def link_term(counts, y, x, chance):
    """h(y, x)."""
    return y * math.log(chance) if counts else x + math.log(chance)


@inlined
def link_change(counts, y, x, chance, step):
    """h(y, x + step) - h(y, x)."""
    ratio = link_chance(counts, x + step) / chance
    return y * math.log(ratio) if counts else step + math.log(ratio)


@inlined
def expected_count(counts, y, x, chance):
    """E[m | y] of the Poisson count m behind a link: x / (1 - e^-x), or y itself."""
    return y if counts else at_least(x, TINY) / chance


@bare
def price(ws, s):
    """lambda^2 + T (log S + log C(N, S)) of a community of s; nothing for an empty one."""
    if s == 0:
        return 0.0
    n = ws.n
    ways = math.lgamma(n + 1.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)
    return ws.penalty + ws.temperature * (math.log(s) + ways)


@inlined
def exposure_factor(ws, i, p):
    """a of entry p in the row of i: t_i r_j as source, r_i t_j as target."""
    j = ws.node[p]
    if p < ws.middle[i]:
        return ws.send[i] * ws.receive[j]
    return ws.receive[i] * ws.send[j]


@inlined
def hidden_factor(ws, i, p):
    """a of hidden entry p in the row of i."""
    j = ws.hidden_node[p]
    if p < ws.hidden_middle[i]:
        return ws.send[i] * ws.receive[j]
    return ws.receive[i] * ws.send[j]


@inlined
def common_strength(start, held, member, strength, j, mine):
    """The sum of w_k over the communities of j that are also mine."""
    u = 0.0
    for m in range(start[j], start[j] + held[j]):
        k = member[m]
        if mine[k]:
            u += strength[k]
    return u


@inlined
def shared_strength(ws, j, mine):
    """u_ij = e + sum of w_k over the communities of j that are also mine."""
    return ws.background + common_strength(ws.start, ws.held, ws.member, ws.strength, j, mine)


@bare
def mark_row(ws, i, mine):
    """Set the marks of the communities of i, or clear them the second time."""
    first = ws.start[i]
    for m in range(first, first + ws.held[i]):
        mine[ws.member[m]] ^= True


@bare
def look_ahead(ws, low, high):
    """Read what entries low..high will need of their nodes: such loads wait for memory together, but one after the
    other in a loop with branches. Returns a number that keeps the compiler from leaving them out."""
    node, held, receive, member, start = ws.node, ws.held, ws.receive, ws.member, ws.start
    read = 0.0
    for p in range(low, high):
        j = node[p]
        read += held[j] + receive[j] + member[start[j]]
    return read


@inlined
def tally_flips(ws, i, mine, seen, gain, back, touched):
    """Link terms of the flips of i into its communities and its neighbours', which are marked; returns their number."""
    start, held, member, counts = ws.start, ws.held, ws.member, ws.counts
    strength, background = ws.strength, ws.background
    first, stop = start[i], start[i + 1]
    n_touched = 0 if look_ahead(ws, first, stop) >= 0.0 else -1
    mark_row(ws, i, mine)
    for m in range(first, first + held[i]):
        k = member[m]
        seen[k], gain[k], back[k] = True, 0.0, 0.0
        touched[n_touched] = k
        n_touched += 1
    for p in range(first, stop):
        j = ws.node[p]
        if held[j] == 0:
            continue
        a = exposure_factor(ws, i, p)
        x = a * (background + common_strength(start, held, member, strength, j, mine))
        chance = link_chance(counts, x)
        for m in range(start[j], start[j] + held[j]):
            k = member[m]
            if not seen[k]:
                seen[k], gain[k], back[k] = True, 0.0, 0.0
                touched[n_touched] = k
                n_touched += 1
            step = a * strength[k]
            gain[k] += link_change(counts, ws.value[p], x, chance, -step if mine[k] else step)
    for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
        j = ws.hidden_node[p]
        for m in range(start[j], start[j] + held[j]):
            k = member[m]
            if seen[k]:
                back[k] += hidden_factor(ws, i, p)
    return n_touched


@bare
def best_flip(ws, i, mine, seen, gain, back, touched):
    """The flip of z_ik with the largest gain among i's communities and its neighbours': (k, gain), or (-1, 0).

    gain = sum_{j in N(i), j in k} [h(x + d a w_k) - h(x)]
           - d {w_k (half (t_i R' + r_i T') - hidden) + T log((N - s)/s)},   d = +1 to join, -1 to leave;
    s, T', R' without i. The last member's leaving gives the whole price back.
    """
    n_touched = tally_flips(ws, i, mine, seen, gain, back, touched)
    full = ws.start[i] + ws.held[i] == ws.start[i + 1]
    best, best_gain = -1, ENOUGH
    for m in range(n_touched):
        k = touched[m]
        seen[k] = False
        if not (full and not mine[k]):
            value = gain[k] + flip_rest(ws, i, k, mine[k], back[k])
            if value > best_gain:
                best, best_gain = k, value
    mark_row(ws, i, mine)
    return best, best_gain


@bare
def flip_rest(ws, i, k, inside, back):
    """The part of a flip's gain that is not links: -d {w_k (half (t_i R' + r_i T') - hidden) + T log((N - s)/s)}."""
    t, r, s = ws.send[i], ws.receive[i], ws.size[k]
    if inside and s == 1:  # the last member leaves: the community dies
        return price(ws, s)
    send_sum, receive_sum = ws.send_sum[k], ws.receive_sum[k]
    if inside:
        send_sum, receive_sum, s = send_sum - t, receive_sum - r, s - 1
    pairs = ws.pair_weight * (t * receive_sum + r * send_sum) - back
    rest = ws.strength[k] * pairs + ws.temperature * math.log((ws.n - s) / s)
    return rest if inside else -rest


@bare
def join(ws, i, k):
    """z_ik becomes 1."""
    ws.member[ws.start[i] + ws.held[i]] = k
    ws.held[i] += 1
    ws.size[k] += 1
    ws.send_sum[k] += ws.send[i]
    ws.receive_sum[k] += ws.receive[i]


@bare
def leave(ws, i, k):
    """z_ik becomes 0."""
    start, held, member = ws.start, ws.held, ws.member
    first = start[i]
    last = first + held[i] - 1
    for m in range(first, last + 1):
        if member[m] == k:
            member[m] = member[last]
            break
    held[i] -= 1
    ws.size[k] -= 1
    ws.send_sum[k] -= ws.send[i]
    ws.receive_sum[k] -= ws.receive[i]


@kernel
def flip_sweep_rows(ws, low, high, flags, around):
    """Take the best flips of each flagged node of low..high until none gains; flag neighbours of those that changed.

    With an empty ``around`` nothing is changed: flags stay only where some flip gains. Returns the total gain, the
    exact fall of the objective.
    """
    start, node = ws.start, ws.node
    size = len(ws.size)
    mine, seen = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    gain, back, touched = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    total = 0.0
    for i in range(low, high):
        while flags[i]:
            k, value = best_flip(ws, i, mine, seen, gain, back, touched)
            flags[i] = k >= 0
            if k < 0 or len(around) == 0:
                break
            total += value
            flip(ws, i, k)
            for p in range(start[i], start[i + 1]):
                around[node[p]] = True
    return total


@bare
def flip(ws, i, k):
    """z_ik becomes 1 - z_ik."""
    if holds(ws, i, k):
        leave(ws, i, k)
    else:
        join(ws, i, k)


@bare
def holds(ws, i, k):
    """Whether i is in community k."""
    start, held, member = ws.start, ws.held, ws.member
    first = start[i]
    for m in range(first, first + held[i]):  # noqa: SIM110
        if member[m] == k:
            return True
    return False
