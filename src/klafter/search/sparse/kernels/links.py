"""Terms of single dyads, what a node's affinities add up to, and changes of one membership.

    u_ij = e + sum_{k in z_i, l in z_j} L_kl;  x_ij = t_i r_j u_ij;  a_ij = t_i r_j
    h(y, x) = log(e^x - 1) for binary links, y log x for counts
    Q = -sum_links h(y, x) + e P_all + sum_k [w_k P_k + price(S_k)] + sum_{k, l} [L_kl P_kl + price of one]
        + a sum_i (t_i - 1 - log t_i)
    P_k  = half (T_k R_k - sum_i t_i r_i z_ik) - sum_{hidden dyads in k} a_ij
    P_kl = T_k R_l - sum_i t_i r_i z_ik z_il - sum_{hidden ij} a_ij z_ik z_jl
    price(S) = lambda^2 + T (log S + log C(N, S))

Each link stands in two rows, so a sum over links is half a sum over entries. The effect of a row,
sum_{k in z_i} L_kl for every l, is added up once: then a link costs the communities of its other end.
"""

import math

from klafter.jit.decorators import bare, inlined

TINY = 1e-300  # keeps logarithms and quotients finite
UNDERFLOW, OVERFLOW = 1e-150, 1e150  # between them two factors neither vanish nor overflow together
ENOUGH = 1e-9  # a gain below this is rounding


@inlined
def at_least(x, low):
    """The larger of two numbers; max() of Numba packs them into a tuple, which takes longer to compile."""
    return low if x < low else x


@inlined
def link_probability(x):
    """1 - e^-x = 2 t / (1 + t) with t = tanh(x/2), below 1 by its continued fraction: as exact as expm1, and faster."""
    if x < 1.0:
        y = 0.5 * x
        z = y * y
        p = y * (135135.0 + z * (17325.0 + z * (378.0 + z)))
        return 2.0 * p / (p + 135135.0 + z * (62370.0 + z * (3150.0 + 28.0 * z)))
    return 1.0 - math.exp(-x)


@inlined
def link_mean(counts, x):
    """E[y] at x: P(link) = 1 - e^-x, or x itself for counts."""
    return at_least(x if counts else link_probability(x), TINY)


@inlined
def link_term(counts, y, x, mean):
    """h(y, x)."""
    return y * math.log(mean) if counts else x + math.log(mean)


@inlined
def link_change(counts, y, x, mean, step):
    """h(y, x + step) - h(y, x)."""
    ratio = link_mean(counts, x + step) / mean
    return y * math.log(ratio) if counts else step + math.log(ratio)


@inlined
def expected_count(counts, y, x, mean):
    """E[m | y] of the Poisson count m behind a link: x / (1 - e^-x), or y itself."""
    return y if counts else at_least(x, TINY) / mean


@bare
def price(ws, s):
    """lambda^2 + T (log S + log C(N, S)) of a community of s; nothing for an empty one."""
    if s == 0:
        return 0.0
    n = ws.n
    ways = math.lgamma(n + 1.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)
    return ws.penalty + ws.temperature * (math.log(s) + ways)


@bare
def one_more_price(ws, m):
    """The price of holding m + 1 communities instead of m, whichever they are."""
    last = len(ws.count_price) - 1
    return ws.count_price[min(m + 1, last)] - ws.count_price[min(m, last)]


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


@bare
def n_hidden_partners(ws, i):
    """How many of the hidden entries of i have different nodes: half, where the same nodes are hidden both ways."""
    low, middle, high = ws.hidden_start[i], ws.hidden_middle[i], ws.hidden_start[i + 1]
    if middle - low != high - middle:
        return high - low
    same = True
    for p in range(middle - low):
        same &= ws.hidden_node[low + p] == ws.hidden_node[middle + p]
    return middle - low if same else high - low


@inlined
def hidden_factors(ws, i, p, partners):
    """a of hidden entry p in the row of i and, of a node that is hidden both ways, of the other entry too."""
    j, low = ws.hidden_node[p], ws.hidden_start[i]
    if low + partners < ws.hidden_start[i + 1]:
        return ws.send[i] * ws.receive[j] + ws.receive[i] * ws.send[j]
    return hidden_factor(ws, i, p)


@inlined
def is_symmetric(ws):
    """Whether rows and columns of L are the same."""
    return ws.diagonal or ws.pair_weight < 1.0


@bare
def add_row_effect(ws, i, out, into):
    """Add sum_{k in z_i} L_kl to out_l, and L_lk to into_l; these are one array where L is symmetric."""
    first, strength, both = ws.start[i], ws.strength, not is_symmetric(ws)
    for m in range(first, first + ws.held[i]):
        k = ws.member[m]
        out[k] += strength[k]
        if both:
            into[k] += strength[k]
        if not ws.diagonal:
            for q in range(ws.row_start[k], ws.row_start[k + 1]):
                out[ws.row_other[q]] += ws.off_diagonal[ws.row_place[q]]
            if both:
                for q in range(ws.column_start[k], ws.column_start[k + 1]):
                    into[ws.column_other[q]] += ws.off_diagonal[ws.column_place[q]]


@bare
def clear_row_effect(ws, i, out, into):
    """Set the effect of row i back to 0."""
    first = ws.start[i]
    for m in range(first, first + ws.held[i]):
        k = ws.member[m]
        out[k], into[k] = 0.0, 0.0
        if not ws.diagonal:
            for q in range(ws.row_start[k], ws.row_start[k + 1]):
                out[ws.row_other[q]] = 0.0
            for q in range(ws.column_start[k], ws.column_start[k + 1]):
                into[ws.column_other[q]] = 0.0


@inlined
def pair_affinity(ws, j, row_effect):
    """u_ij = e + sum of the effect of row i over the communities of j."""
    start, held, member = ws.start, ws.held, ws.member
    u = 0.0
    for m in range(start[j], start[j] + held[j]):
        u += row_effect[member[m]]
    return ws.background + u


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
def may_link_own_kind(ws, i):
    """Whether i may be linked to nodes of its own kind."""
    return len(ws.kind) == 0 or ws.linkable[ws.kind[i], ws.kind[i]]


@bare
def seen_sum(ws, i, by_kind, k, as_source):
    """The part of a sum by kind, in its row k, that i may be linked to, or from."""
    mine, total = ws.kind[i], 0.0
    for c in range(len(ws.linkable)):
        if ws.linkable[mine, c] if as_source else ws.linkable[c, mine]:
            total += by_kind[k, c]
    return total


@bare
def add_to_kind(ws, i, send, receive, by_kind):
    """Add to the sums of t and of r of some nodes, (2, kinds)."""
    by_kind[0, ws.kind[i]] += send
    by_kind[1, ws.kind[i]] += receive


@bare
def permitted_pairs(ws, by_kind):
    """sum of t_i r_j over pairs of nodes that kinds permit, from the sums of both by kind."""
    total = 0.0
    for c in range(len(ws.linkable)):
        for d in range(len(ws.linkable)):
            if ws.linkable[c, d]:
                total += by_kind[0, c] * by_kind[1, d]
    return total


@bare
def pairs_with(ws, i, t, r, inside, by_kind):
    """t_i R + r_i T of some nodes, from their sums by kind, without i if that is among them."""
    itself = inside and may_link_own_kind(ws, i)
    receive, send = seen_sum(ws, i, by_kind, 1, True), seen_sum(ws, i, by_kind, 0, False)
    return t * (receive - (r if itself else 0.0)) + r * (send - (t if itself else 0.0))


@inlined
def receivers(ws, i, k):
    """R_k of those members that i may have links to, itself among them if it may be linked to its own kind."""
    return ws.receive_sum[k] if len(ws.kind) == 0 else seen_sum(ws, i, ws.receive_by_kind, k, True)


@inlined
def senders(ws, i, k):
    """T_k of those members that may have links to i."""
    return ws.send_sum[k] if len(ws.kind) == 0 else seen_sum(ws, i, ws.send_by_kind, k, False)


@inlined
def add_by_kind(ws, i, k, send, receive):
    """Add to the sums of the kind of i in community k."""
    if len(ws.kind) > 0:
        ws.send_by_kind[k, ws.kind[i]] += send
        ws.receive_by_kind[k, ws.kind[i]] += receive


@bare
def join(ws, i, k):
    """z_ik becomes 1."""
    ws.member[ws.start[i] + ws.held[i]] = k
    ws.held[i] += 1
    ws.size[k] += 1
    ws.send_sum[k] += ws.send[i]
    ws.receive_sum[k] += ws.receive[i]
    add_by_kind(ws, i, k, ws.send[i], ws.receive[i])


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
    add_by_kind(ws, i, k, -ws.send[i], -ws.receive[i])


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
