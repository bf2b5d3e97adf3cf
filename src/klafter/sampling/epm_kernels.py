"""Kernels of the edge partition model: latent counts on links, node loadings, community weights."""

# ruff: noqa: E741 - k and l are communities, as in the papers

from math import exp, expm1, log, log1p

import numpy as np

from klafter.jit.decorators import kernel

VANISHED = 1e-40  # an affinity below this is set to 0: no uniform number of 53 bits could ever pick it


@kernel
def positive_poisson(rate, rng):
    """A Poisson count given that it is not 0: the first arrival falls in (0, rate), the others after it."""
    first = -log1p(rng.random() * expm1(-rate))
    return 1 + rng.poisson(max(rate - first, 0.0))


@kernel
def tables(count, mass, rng):
    """CRT(m, r) = sum_{t = 0 .. m - 1} Bernoulli(r / (r + t)); the first customer always opens a table."""
    if count <= 0:
        return 0
    opened = 1
    for t in range(1, count):
        if rng.random() * (mass + t) < mass:
            opened += 1
    return opened


@kernel
def pick(weight, total, rng):
    """An index drawn in proportion to weight."""
    left = rng.random() * total
    last = 0
    for k in range(len(weight)):
        if weight[k] > 0.0:
            left, last = left - weight[k], k
            if left < 0.0:
                break
    return last


@kernel
def split_tokens(links, phi, effects, affinities, binary, rng):
    """Latent counts of all links over (k, l) in proportion to phi_ik L_kl phi_jl: by node m_ik and by pair m_kl."""
    n, n_roles = phi.shape
    by_node, by_pair = np.zeros((n, n_roles), np.int64), np.zeros((n_roles, n_roles), np.int64)
    first, second = np.zeros(n_roles), np.zeros(n_roles)
    for i in range(n):
        for p in range(links.start[i], links.start[i + 1]):
            j = links.node[p]
            if j < i:
                continue
            rate = 0.0
            for k in range(n_roles):
                first[k] = phi[i, k] * effects[j, k]
                rate += first[k]
            count = positive_poisson(rate, rng) if binary else int(links.value[p])
            for _ in range(count):
                k = pick(first, rate, rng)
                total = 0.0
                for l in range(n_roles):
                    second[l] = affinities[k, l] * phi[j, l]
                    total += second[l]
                l = pick(second, total, rng)
                by_node[i, k] += 1
                by_node[j, l] += 1
                by_pair[min(k, l), max(k, l)] += 1
    return by_node, by_pair


@kernel
def draw_loadings(dyads, by_node, affinities, phi, shape, rate, priors, rng):
    """Node by node a_i (phi_i integrated out), phi_i ~ Gamma(a_i + m_ik, c_i + s_k), then c_i; all in place.

    s_k = sum over observed j of (phi_j L)_k, of kinds that i may be linked to. Columns beyond those of
    ``affinities`` have no weight: s_k = 0.
    """
    n, n_roles = phi.shape
    n_active = affinities.shape[0]
    hidden, kind, n_kinds = dyads.hidden_out, dyads.kind, len(dyads.linkable)
    others, exposure, total = np.zeros(n_active), np.zeros(n_roles), np.zeros((max(n_kinds, 1), n_active))
    for i in range(n):
        mine = kind[i] if n_kinds > 0 else 0
        for k in range(n_active):
            total[mine, k] += phi[i, k]
    for i in range(n):
        mine = kind[i] if n_kinds > 0 else 0
        for k in range(n_active):
            total[mine, k] -= phi[i, k]
            others[k] = total[0, k] if n_kinds == 0 else 0.0
        for c in range(n_kinds):
            if dyads.linkable[mine, c]:
                for k in range(n_active):
                    others[k] += total[c, k]
        for p in range(hidden.start[i], hidden.start[i + 1]):
            for k in range(n_active):
                others[k] -= phi[hidden.node[p], k]
        seats, log_q = 0, 0.0
        for k in range(n_active):
            s = 0.0
            for l in range(n_active):
                s += affinities[k, l] * others[l]
            exposure[k] = max(s, 0.0)
            seats += tables(by_node[i, k], shape[i], rng)
            log_q -= log1p(exposure[k] / rate[i])
        shape[i] = max(rng.standard_gamma(priors[0] + seats) / (priors[1] - log_q), 1e-300)
        load = 0.0
        for k in range(n_roles):
            tokens = by_node[i, k] if k < n_active else 0
            phi[i, k] = rng.standard_gamma(shape[i] + tokens) / (rate[i] + exposure[k])
            load += phi[i, k]
        for k in range(n_active):
            total[mine, k] += phi[i, k]
        rate[i] = max(rng.standard_gamma(priors[2] + n_roles * shape[i]) / (priors[3] + load), 1e-300)


@kernel
def log_gamma_draw(shape, rng):
    """The logarithm of a Gamma(shape, 1) draw, exact for shapes near 0 where the draw itself vanishes."""
    if shape >= 0.1:
        return log(rng.standard_gamma(shape))
    return log(rng.standard_gamma(shape + 1.0)) + log(1.0 - rng.random()) / shape


@kernel
def draw_weights(by_pair, theta, precision, mass, inflation, shape, rate, priors, log_weight, rng):
    """r_k ~ Gamma(shape + tables, rate - sum_l R_l ln p_kl) with R_l = r_l, R_k = xi; then xi; L integrated out.

    ``shape`` is gamma_0 / K and ``rate`` c_0; ``log_weight`` (ln r_k) changes in place; the new xi is returned.
    """
    n_roles = len(mass)
    for k in range(n_roles):
        seats, cost = 0, 0.0
        for l in range(n_roles):
            other = inflation if l == k else mass[l]
            seats += tables(by_pair[min(k, l), max(k, l)], mass[k] * other, rng)
            cost += other * log1p(theta[k, l] / precision)
        log_weight[k] = log_gamma_draw(shape + seats, rng) - log(rate + cost)
        mass[k] = exp(log_weight[k])
    seats, cost = 0, 0.0
    for k in range(n_roles):
        seats += tables(by_pair[k, k], inflation * mass[k], rng)
        cost += mass[k] * log1p(theta[k, k] / precision)
    return max(rng.standard_gamma(priors[0] + seats) / (priors[1] + cost), 1e-300)


@kernel
def draw_affinities(by_pair, theta, precision, mass, inflation, rng):
    """L_kl ~ Gamma(m_kl + r_k R_l, rate e + theta_kl), symmetric."""
    n_roles = len(mass)
    out = np.zeros((n_roles, n_roles))
    for k in range(n_roles):
        for l in range(k, n_roles):
            shape = mass[k] * (inflation if l == k else mass[l]) + by_pair[k, l]
            value = rng.standard_gamma(shape) / (precision + theta[k, l])
            out[k, l] = out[l, k] = value if value > VANISHED else 0.0
    return out
