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

from klafter.core.kernel import kernel
from klafter.search.sparse_parallel import inner

TINY = 1e-300
ENOUGH = 1e-9  # a gain below this is rounding


@inner
def link_chance(counts, x):
    """What the link terms at x have in common: P(link) = 1 - e^-x, or x itself for counts."""
    return max(x if counts else -math.expm1(-x), TINY)


@inner
def link_term(counts, y, x, chance):
    """h(y, x)."""
    return y * math.log(chance) if counts else x + math.log(chance)


@inner
def link_change(counts, y, x, chance, step):
    """h(y, x + step) - h(y, x)."""
    ratio = link_chance(counts, x + step) / chance
    return y * math.log(ratio) if counts else step + math.log(ratio)


@inner
def expected_count(counts, y, x, chance):
    """E[m | y] of the Poisson count m behind a link: x / (1 - e^-x), or y itself."""
    return y if counts else max(x, TINY) / chance


@kernel
def price(problem, s):
    """lambda^2 + T (log S + log C(N, S)) of a community of s; nothing for an empty one."""
    if s == 0:
        return 0.0
    n = problem.n
    ways = math.lgamma(n + 1.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)
    return problem.penalty + problem.temperature * (math.log(s) + ways)


@inner
def exposure_factor(problem, state, i, p):
    """a of entry p in the row of i: t_i r_j as source, r_i t_j as target."""
    j = problem.node[p]
    if p < problem.middle[i]:
        return state.send[i] * state.receive[j]
    return state.receive[i] * state.send[j]


@inner
def hidden_factor(problem, state, i, p):
    """a of hidden entry p in the row of i."""
    j = problem.hidden_node[p]
    if p < problem.hidden_middle[i]:
        return state.send[i] * state.receive[j]
    return state.receive[i] * state.send[j]


@inner
def shared_strength(problem, state, j, mine):
    """u_ij = e + sum of w_k over the communities of j that are also mine."""
    u = state.background
    first = problem.start[j]
    for m in range(first, first + state.held[j]):
        k = state.member[m]
        if mine[k]:
            u += state.strength[k]
    return u


@inner
def mark_row(problem, state, i, mine, on):
    """Set or clear the marks of the communities of i."""
    first = problem.start[i]
    for m in range(first, first + state.held[i]):
        mine[state.member[m]] = on


@inner
def look_ahead(problem, state, low, high):
    """Read what entries low..high will need of their nodes: such loads wait for memory together, but one after the
    other in a loop with branches. Returns a number that keeps the compiler from leaving them out."""
    read = 0.0
    for p in range(low, high):
        j = problem.node[p]
        read += state.held[j] + state.receive[j] + state.member[problem.start[j]]
    return read


@kernel
def best_flip(problem, state, i, mine, seen, gain, back, touched):
    """The flip of z_ik with the largest gain among i's communities and its neighbours': (k, gain), or (-1, 0).

    gain = sum_{j in N(i), j in k} [h(x + d a w_k) - h(x)]
           - d {w_k (half (t_i R' + r_i T') - hidden) + T log((N - s)/s)},   d = +1 to join, -1 to leave;
    s, T', R' without i. The last member's leaving gives the whole price back.
    """
    first, stop = problem.start[i], problem.start[i + 1]
    n_touched = 0 if look_ahead(problem, state, first, stop) >= 0.0 else -1
    mark_row(problem, state, i, mine, True)
    for m in range(first, first + state.held[i]):
        k = state.member[m]
        seen[k], gain[k], back[k] = True, 0.0, 0.0
        touched[n_touched] = k
        n_touched += 1
    for p in range(first, stop):
        j = problem.node[p]
        if state.held[j] == 0:
            continue
        a = exposure_factor(problem, state, i, p)
        x = a * shared_strength(problem, state, j, mine)
        chance = link_chance(problem.counts, x)
        for m in range(problem.start[j], problem.start[j] + state.held[j]):
            k = state.member[m]
            if not seen[k]:
                seen[k], gain[k], back[k] = True, 0.0, 0.0
                touched[n_touched] = k
                n_touched += 1
            step = a * state.strength[k]
            gain[k] += link_change(problem.counts, problem.value[p], x, chance, -step if mine[k] else step)
    for p in range(problem.hidden_start[i], problem.hidden_start[i + 1]):
        j = problem.hidden_node[p]
        for m in range(problem.start[j], problem.start[j] + state.held[j]):
            k = state.member[m]
            if seen[k]:
                back[k] += hidden_factor(problem, state, i, p)
    full = first + state.held[i] == stop
    best, best_gain = -1, ENOUGH
    for m in range(n_touched):
        k = touched[m]
        seen[k] = False
        if not (full and not mine[k]):
            value = gain[k] + flip_rest(problem, state, i, k, mine[k], back[k])
            if value > best_gain:
                best, best_gain = k, value
    mark_row(problem, state, i, mine, False)
    return best, best_gain


@inner
def flip_rest(problem, state, i, k, inside, back):
    """The part of a flip's gain that is not links: -d {w_k (half (t_i R' + r_i T') - hidden) + T log((N - s)/s)}."""
    t, r, s = state.send[i], state.receive[i], state.size[k]
    if inside and s == 1:  # the last member leaves: the community dies
        return price(problem, 1)
    send_sum, receive_sum = state.send_sum[k], state.receive_sum[k]
    if inside:
        send_sum, receive_sum, s = send_sum - t, receive_sum - r, s - 1
    pairs = problem.half * (t * receive_sum + r * send_sum) - back
    rest = state.strength[k] * pairs + problem.temperature * math.log((problem.n - s) / s)
    return rest if inside else -rest


@kernel
def join(problem, state, i, k):
    """z_ik becomes 1."""
    state.member[problem.start[i] + state.held[i]] = k
    state.held[i] += 1
    state.size[k] += 1
    state.send_sum[k] += state.send[i]
    state.receive_sum[k] += state.receive[i]


@inner
def leave(problem, state, i, k):
    """z_ik becomes 0."""
    first = problem.start[i]
    last = first + state.held[i] - 1
    for m in range(first, last + 1):
        if state.member[m] == k:
            state.member[m] = state.member[last]
            break
    state.held[i] -= 1
    state.size[k] -= 1
    state.send_sum[k] -= state.send[i]
    state.receive_sum[k] -= state.receive[i]


@kernel
def score_rows(problem, state, low, high, flags):
    """Keep the flags of low..high only where some flip gains. The state is read, not changed."""
    size = len(state.size)
    mine, seen = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    gain, back, touched = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    for i in range(low, high):
        if flags[i]:
            k, _ = best_flip(problem, state, i, mine, seen, gain, back, touched)
            flags[i] = k >= 0


@kernel
def settle_rows(problem, state, flags, around):
    """Take the best flips of each flagged node until none gains; flag the neighbours of those that changed.

    Returns the total gain, the exact fall of the objective.
    """
    size = len(state.size)
    mine, seen = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    gain, back, touched = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    total = 0.0
    for i in range(problem.n):
        if not flags[i]:
            continue
        k, value = best_flip(problem, state, i, mine, seen, gain, back, touched)
        if k >= 0:
            for p in range(problem.start[i], problem.start[i + 1]):
                around[problem.node[p]] = True
        while k >= 0:
            total += value
            flip(problem, state, i, k)
            k, value = best_flip(problem, state, i, mine, seen, gain, back, touched)
    return total


@kernel
def flip(problem, state, i, k):
    """z_ik becomes 1 - z_ik."""
    if holds(problem, state, i, k):
        leave(problem, state, i, k)
    else:
        join(problem, state, i, k)


@inner
def holds(problem, state, i, k):
    """Whether i is in community k."""
    first = problem.start[i]
    for m in range(first, first + state.held[i]):  # noqa: SIM110
        if state.member[m] == k:
            return True
    return False
