"""Odds e^x: of Bernoulli dyads nothing else need be known, as long as no x is so large that it must be clipped.

A sum of log(1 + e^x) is the logarithm of a product, and a community multiplies the odds of its members' dyads.
"""

import numpy as np

from klafter.core.workspace import SAFE
from klafter.jit.decorators import bare, inlined

BLOCK = 512  # factors of 1 + e^x multiplied before one logarithm is taken
HUGE = 1e150  # two products below it do not overflow together


@inlined
def log_product(e, factors, k):
    """sum_j log(1 + e_j f_j) with row k of the factors, one logarithm for a block of terms."""
    total = 0.0
    for start in range(0, e.size, BLOCK):
        stop = min(start + BLOCK, e.size)
        some, f, p = e[start:stop], factors[k, start:stop], 1.0
        for j in range(some.size):
            p *= 1.0 + some[j] * f[j]
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for j in range(some.size):
                total += np.log1p(some[j] * f[j])
    return total


@inlined
def log_quotient(e, factors, k):
    """sum_j log(1 + e_j / f_j)."""
    total = 0.0
    for start in range(0, e.size, BLOCK):
        stop = min(start + BLOCK, e.size)
        some, f, p = e[start:stop], factors[k, start:stop], 1.0
        for j in range(some.size):
            p *= 1.0 + some[j] / f[j]
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for j in range(some.size):
                total += np.log1p(some[j] / f[j])
    return total


@bare
def log_sum(e):
    """sum_j log(1 + e_j)."""
    total = 0.0
    for start in range(0, e.size, BLOCK):
        some, p = e[start : min(start + BLOCK, e.size)], 1.0
        for j in range(some.size):
            p *= 1.0 + some[j]
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for j in range(some.size):
                total += np.log1p(some[j])
    return total


@bare
def sum_predictors(e, links, i, first):
    """sum of x over the links of i with j >= first, all of value 1, one logarithm for many."""
    total, p = 0.0, 1.0
    for t in range(links.start[i], links.start[i + 1]):
        if links.node[t] >= first:
            p *= e[links.node[t]]
            if p < 1.0 / HUGE or p > HUGE:
                total += np.log(p)
                p = 1.0
    return total + np.log(p)


@bare
def load_exp(ws, i, first, incoming, e):
    """The odds of node i's dyads from j = first on, 0 where not observed; returns how far effects may take x.

    Loops run over slices from 0 on: one that begins at a variable is not vectorised.
    """
    scale, z, exps, max_effect = np.exp(ws.offset[0]), ws.z, ws.exp_in if incoming else ws.exp_out, 0.0
    if incoming:
        fill(ws.seen_in[i, first:], ws.exp_sender[first:], scale * ws.exp_receiver[i], e)
    else:
        fill(ws.seen_out[i, first:], ws.exp_receiver[first:], scale * ws.exp_sender[i], e)
    for k in range(z.shape[0]):
        if z[k, i]:
            max_effect += ws.max_effect[k]
            multiply(e, exps[k, first:])
    return max_effect


@inlined
def fill(seen, others, factor, e):
    for j in range(e.size):
        e[j] = factor * others[j] * seen[j]


@inlined
def multiply(e, factors):
    for j in range(e.size):
        e[j] *= factors[j]


@bare
def all_exp_safe(ws):
    """Whether the odds of all dyads are to be had: Bernoulli links, no covariates, no x that must be clipped."""
    if not ws.law.logistic or ws.coefficients.size > 0:
        return False
    for i in range(ws.n):
        max_effect = 0.0
        for k in range(ws.z.shape[0]):
            max_effect += ws.z[k, i] * ws.max_effect[k]
        if max_effect > SAFE:
            return False
    return True


@bare
def sum_exp_losses(ws, e):
    """The loss over all dyads, from their odds; e is scratch space for a row."""
    total = 0.0
    for i in range(ws.n):
        first = 0 if ws.directed else i + 1
        load_exp(ws, i, first, False, e[first:])
        total += log_sum(e[first:]) - sum_predictors(e, ws.links_out, i, first)
    return total
