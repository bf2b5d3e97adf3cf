"""The row of a node: x_ij for every j, rebuilt when node i is visited, and what a shift of the row costs.

Loss splits into the part of a non-link on every observed dyad and a correction on the links:
    sum_j loss(y_ij, x_ij) = sum_j loss(0, x_ij) + sum_{links} [loss(y_ij, x_ij) - loss(0, x_ij)]
An unobserved j carries e^x = 0 and seen = 0, which takes it out of every sum without a branch. Of a logistic row e^x
alone is kept, as long as none of it had to be clipped: then ``base[1]`` is 0, and x and seen are not to be read. Of a
family that declares neither what a non-link costs nor what a link adds, every dyad is summed by itself.
"""

import numpy as np

from klafter.core.exp_predictor import load_exp, log_product, log_quotient, log_sum, sum_predictors
from klafter.core.families import loss
from klafter.core.responses import CLIP
from klafter.core.workspace import SAFE
from klafter.jit.decorators import bare, inlined


@inlined
def within(law, x):
    """x, without the rounding that would make a sum of nonnegative terms negative."""
    return max(x, 0.0) if law.nonnegative else x


@bare
def plain_loss(law, row, steps, k, d):
    """sum over observed j of loss(0, x_j + d step_j), term by term."""
    total = 0.0
    for j in range(row.x.size):
        if row.seen[j] != 0.0:
            total += loss(law, 0.0, within(law, row.x[j] + d * steps[k, j]))
    return total


@bare
def each_loss(law, row, links, i, first):
    """sum over observed j >= first of loss(y_ij, x_j), term by term. Links are in the order of their nodes."""
    total, t, stop = 0.0, links.start[i], links.start[i + 1]
    for j in range(first, row.x.size):
        while t < stop and links.node[t] < j:
            t += 1
        if row.seen[j] != 0.0:
            y = links.value[t] if t < stop and links.node[t] == j else 0.0
            total += loss(law, y, within(law, row.x[j]))
    return total


@bare
def each_rise(law, row, links, i, steps, k, d):
    """sum over observed j of loss(y_ij, x_j + d step_j) - loss(y_ij, x_j), term by term."""
    total, t, stop = 0.0, links.start[i], links.start[i + 1]
    for j in range(row.x.size):
        while t < stop and links.node[t] < j:
            t += 1
        if row.seen[j] != 0.0 and steps[k, j] != 0.0:
            y = links.value[t] if t < stop and links.node[t] == j else 0.0
            total += loss(law, y, within(law, row.x[j] + d * steps[k, j])) - loss(law, y, within(law, row.x[j]))
    return total


@bare
def nonlink_loss(law, row, first):
    """sum over observed j >= first of loss(0, x_j); 0 where the family does not split, and it is not used."""
    x, e, seen = row.x[first:], row.e[first:], row.seen[first:]
    if law.logistic and row.base[1] == 0.0:
        return log_sum(e)
    total = 0.0
    if not law.splits:
        return total
    for j in range(x.size):
        if law.exponential:
            total += e[j]
        elif law.quadratic:
            total += seen[j] * (0.5 * law.precision * x[j] ** 2 - 0.5 * np.log(law.precision))
        elif law.linear:
            total += seen[j] * x[j]
        elif seen[j] != 0.0:
            total += loss(law, 0.0, within(law, x[j]))
    return total


@inlined
def shifted_nonlink_loss(law, row, steps, factors, k, d):
    """sum over observed j of loss(0, x_j + d step_j), the steps in row k and e^step in the same row of the factors."""
    x, e, seen, _ = row
    total = 0.0
    if not (law.exponential or law.quadratic or law.linear):
        return plain_loss(law, row, steps, k, d)
    if law.exponential:
        for j in range(e.size):
            total += e[j] * (factors[k, j] if d > 0 else 1.0 / factors[k, j])
        return total
    for j in range(x.size):
        there = x[j] + d * steps[k, j]
        if law.quadratic:
            total += seen[j] * (0.5 * law.precision * there * there - 0.5 * np.log(law.precision))
        else:
            total += seen[j] * there
    return total


@inlined
def link_term(law, y, x):
    """loss(y, x) - loss(0, x): the correction that a link makes."""
    if law.quadratic:
        return law.precision * (0.5 * y * y - y * x)
    if law.linear_links:
        return -y * x
    return loss(law, y, within(law, x)) - loss(law, 0.0, within(law, x))


@bare
def shift_loss(law, row, links, i, steps, factors, k, d):
    """Rise of the loss of node i's row when x_j moves by d step_j."""
    if not law.splits:
        return each_rise(law, row, links, i, steps, k, d)
    start, node, value = links
    rise = shifted_nonlink_loss(law, row, steps, factors, k, d) - row.base[0]
    for t in range(start[i], start[i + 1]):
        j = node[t]
        if law.linear_links and not law.quadratic:
            rise -= value[t] * d * steps[k, j]
        else:
            x = row.x[j]
            rise += link_term(law, value[t], x + d * steps[k, j]) - link_term(law, value[t], x)
    return rise


@inlined
def shift_exp(row, links, i, steps, factors, k, d):
    """The same for the logistic loss where no x was clipped, from e^x alone."""
    rise = (log_product(row.e, factors, k) if d > 0 else log_quotient(row.e, factors, k)) - row.base[0]
    for t in range(links.start[i], links.start[i + 1]):
        rise -= links.value[t] * d * steps[k, links.node[t]]
    return rise


@bare
def shift_row(law, row, step, factor, d):
    """Move the row by d step."""
    x, e = row.x, row.e
    clipped = row.base[1] != 0.0
    if not law.logistic or clipped:
        for j in range(x.size):
            x[j] += d * step[j]
    if clipped and (law.logistic or law.exponential):
        exponentiate(row, 0)
    elif d > 0:
        for j in range(e.size):
            e[j] *= factor[j]
    else:
        for j in range(e.size):
            e[j] /= factor[j]
    row.base[0] = nonlink_loss(law, row, 0)


@bare
def exponentiate(row, first):
    """e^x where observed, for j >= first, noting whether some x had to be clipped."""
    x, e, seen, base = row
    base[1] = 0.0
    for j in range(first, x.size):
        e[j] = seen[j] * np.exp(min(max(x[j], -CLIP), CLIP))
        if abs(x[j]) > CLIP:
            base[1] = 1.0


@bare
def load_row(ws, i, row):
    """The dyads of node i with every j (incoming ones when the row is for those)."""
    load_tail(ws, i, row, 0)


@bare
def load_tail(ws, i, row, first):
    """The part of the row from j = first on: a sum over all dyads needs each undirected one once."""
    law, e = ws.law, row.e[first:]
    max_effect = load_exp(ws, i, first, row.base[2] != 0.0, e)
    unsafe = max_effect > SAFE or ws.coefficients.size > 0
    row.base[1] = 0.0
    if law.logistic and not unsafe:
        row.base[0] = log_sum(e)
        return
    load_x(ws, i, row, first)
    if unsafe and (law.logistic or law.exponential):
        exponentiate(row, first)
    row.base[0] = nonlink_loss(law, row, first)


@bare
def load_x(ws, i, row, first):
    """x itself, and which dyads were observed."""
    x, seen, z = row.x[first:], row.seen[first:], ws.z
    observed, covariates, which = ws.seen_out[i, first:], ws.covariates_out, ws.which_out
    effect, own, other = ws.effect_out, ws.sender, ws.receiver[first:]
    if row.base[2] != 0.0:
        observed, covariates, which = ws.seen_in[i, first:], ws.covariates_in, ws.which_in
        effect, own, other = ws.effect_in, ws.receiver, ws.sender[first:]
    constant = ws.offset[0] + own[i]
    for j in range(x.size):
        x[j] = constant + other[j]
        seen[j] = observed[j]
    for k in range(z.shape[0]):
        if z[k, i]:
            effect_k = effect[k, first:]
            for j in range(x.size):
                x[j] += effect_k[j]
    for t in range(covariates.start[i], covariates.start[i + 1]):
        row.x[covariates.node[t]] += ws.coefficients[which[t]] * covariates.value[t]


@inlined
def x_of(law, row, j):
    """x of an observed dyad of a row that was loaded."""
    return np.log(row.e[j]) if law.logistic and row.base[1] == 0.0 else row.x[j]


@bare
def load_rows(ws, i):
    """Both rows of node i, in the arrays of the workspace."""
    load_row(ws, i, ws.out)
    if ws.directed:
        load_row(ws, i, ws.into)


@bare
def row_loss(law, row, links, i, first):
    """sum over observed j >= first of loss(y_ij, x_ij), of a row that was loaded from there."""
    if not law.splits:
        return each_loss(law, row, links, i, first)
    total = row.base[0]
    if law.logistic and row.base[1] == 0.0:
        return total - sum_predictors(row.e, links, i, first)
    for t in range(links.start[i], links.start[i + 1]):
        if links.node[t] >= first:
            total += link_term(law, links.value[t], x_of(law, row, links.node[t]))
    return total


@inlined
def mark(rows, i, marks, sign):
    """Write the row's values into marks, or wipe them out again (sign 0)."""
    start, node, value = rows
    for t in range(start[i], start[i + 1]):
        marks[node[t]] = sign * value[t]
