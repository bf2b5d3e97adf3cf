"""Kernel that looks for pairs of communities with links between them that the background explains.

C_kl = sum_{i in k, j in l} rho_ij,   P_kl = T_k R_l - sum_{i in both} t_i r_i - sum_{hidden ij} a_ij
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

import math

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.links import hidden_factor


@bare
def add_between(ws, j, amount, row, sums, touched, number):
    """An amount for every community of j, in a row of sums; those met first are listed. How many are."""
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        l = ws.member[m]
        if sums[2, l] == 0.0:
            sums[2, l] = 1.0
            touched[number] = l
            number += 1
        sums[row, l] += amount
    return number


@kernel
def gaining_pairs(ws, start, node, rho, of_start, of_nodes, first, price, found, gains):
    """Pairs (k, l), k from ``first`` on, whose affinity gains C log(C / (e P)) - C + e P, more than a price.

    ``start``, ``node`` and ``rho`` are links from their sources, and ``of_nodes[of_start[k] : of_start[k + 1]]`` the
    members of k. Fills ``found`` (m, 2) and ``gains`` (m, 3), which are gain, C and P; returns how many there are, and
    the community to go on from where there may be no room for those of another.
    """
    size, n_found, k = len(ws.size), 0, first
    sums, touched = np.zeros((3, size)), np.empty(size, np.int64)
    while k < size and n_found + size <= len(found):
        number = 0
        for v in range(of_start[k], of_start[k + 1]):
            i = np.int64(of_nodes[v])
            for p in range(start[i], start[i + 1]):
                number = add_between(ws, node[p], rho[p], 0, sums, touched, number)
            number = add_between(ws, i, ws.send[i] * ws.receive[i], 1, sums, touched, number)
            for p in range(ws.hidden_start[i], ws.hidden_middle[i]):
                number = add_between(ws, ws.hidden_node[p], hidden_factor(ws, i, p), 1, sums, touched, number)
        for v in range(number):
            l = touched[v]
            count, pairs = sums[0, l], ws.send_sum[k] * ws.receive_sum[l] - sums[1, l]
            sums[0, l], sums[1, l], sums[2, l] = 0.0, 0.0, 0.0
            expected = ws.background * pairs
            if pairs > 0.0 and count > expected and (k < l or (k != l and ws.pair_weight == 1.0)):
                gain = count * math.log(count / expected) - count + expected
                if gain > price:
                    found[n_found, 0], found[n_found, 1] = k, l
                    gains[n_found, 0], gains[n_found, 1], gains[n_found, 2] = gain, count, pairs
                    n_found += 1
        k += 1
    return n_found, k
