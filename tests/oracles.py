"""Slow and obvious oracles of the objective: every dyad of an N x N array, every term as the formula has it."""

from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln

from klafter.core.families import FAMILIES, Law
from klafter.core.problem import State, make_priors, make_problem
from klafter.graph import Graph
from klafter.jit.decorators import kernel


class Case(NamedTuple):
    """A random problem with a random state."""

    graph: Graph
    problem: object
    state: State


def case_options(*names, covariates=2, temperatures=(0.0, 0.5, 1.0), least=0, most=4):
    """Options of ``draw_case`` as a strategy of hypothesis; those in ``names`` are switches."""
    from hypothesis import strategies as st

    switches = {name: st.booleans() for name in ("directed", "sociality", *names)}
    numbers = {"seed": st.integers(0, 10_000), "covariates": st.integers(0, covariates), "k": st.integers(least, most)}
    return st.fixed_dictionaries({**numbers, **switches, "temperature": st.sampled_from(temperatures)})


def every_family(options, examples):
    """A decorator: the test runs for each family on random cases."""
    import pytest
    from hypothesis import given, settings

    def decorated(test):
        tried = settings(max_examples=examples, deadline=None, derandomize=True)(given(options=options)(test))
        return pytest.mark.parametrize("family", FAMILIES)(tried)

    return decorated


def draw_case(
    seed, family, *, directed=False, temperature=1.0, sociality=True, offset=True, counts=False, covariates=1, n=7, k=3,
    hidden=0.2,
) -> Case:  # fmt: skip
    """A small graph with hidden dyads, and parameters that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    both = (lambda a: a) if directed else (lambda a: np.triu(a, 1) + np.triu(a, 1).T)
    y = both(draw_values(family, (n, n), rng))
    v = {f"v{p}": both(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.6)) for p in range(covariates)}
    positive = family == "exposure"
    if positive:
        v = {name: np.abs(matrix) for name, matrix in v.items()}
    np.fill_diagonal(y, 0.0)
    for matrix in v.values():
        np.fill_diagonal(matrix, 0.0)
    graph = Graph(y, directed=directed, hidden=both(rng.random((n, n)) < hidden).astype(bool), covariates=v)
    law = FAMILIES[family].law(1.7 if family == "gaussian" else 1.0)
    priors = make_priors(0.7, temperature, 2.0, 1.2, 0.9, 1.5, 4.0)
    problem = make_problem(graph, law, priors, offset=offset, sociality=sociality, counts=counts)
    return Case(graph, problem, draw_state(problem, k, covariates, rng))


def draw_values(family, shape, rng) -> np.ndarray:
    """Link values that the family allows, a good part of them 0."""
    linked = rng.random(shape) < 0.4
    if family == "poisson":
        return linked * rng.integers(1, 5, shape).astype(float)
    return linked * (rng.normal(1.0, 1.0, shape) if family == "gaussian" else 1.0)


def draw_state(problem, k, n_covariates, rng) -> State:
    """Parameters at random; positive where the family needs it; no community is empty."""
    n, directed = problem.dyads.n, problem.dyads.directed
    fold = np.abs if problem.lower == 0.0 else (lambda a: a)
    z = (rng.random((k, n)) < 0.4).astype(np.uint8)
    z[np.arange(k), rng.integers(0, n, k)] = 1
    w = fold(rng.normal(size=(k, k)))
    w = w if directed else np.triu(w) + np.triu(w, 1).T
    sender = fold(rng.normal(size=n)) * problem.has_sociality
    receiver = fold(rng.normal(size=n)) * problem.has_sociality if directed else sender
    offset = (fold(rng.normal(size=1)) + 0.01) * problem.has_offset
    return State(z, w, offset, sender, receiver, fold(rng.normal(size=n_covariates)))


# The objective, term by term


def counted(graph: Graph) -> np.ndarray:
    """Which dyads are summed: observed ones, each unordered pair once when undirected."""
    n = graph.n_nodes
    seen = ~graph.hidden.toarray().astype(bool) & ~np.eye(n, dtype=bool)
    return seen if graph.directed else np.triu(seen)


def predictors(graph: Graph, state: State) -> np.ndarray:
    """x_ij = b + s_i + r_j + z_i' W z_j + g' v_ij for all i and j."""
    z = state.z.T.astype(float)
    x = state.offset[0] + state.sender[:, None] + state.receiver[None, :] + z @ state.w @ z.T
    for g, v in zip(state.coefficients, graph.covariates.values()):
        x = x + g * v.toarray()
    return x


def losses(family: str, y, x, precision: float = 1.0) -> np.ndarray:
    """Minus the log likelihood of each dyad, up to a term in y alone."""
    if family == "bernoulli":
        return np.logaddexp(0.0, x) - y * x
    if family == "poisson":
        return np.exp(x) - y * x
    if family == "gaussian":
        return 0.5 * precision * (y - x) ** 2 - 0.5 * np.log(precision)
    if family == "cloglog":
        return np.where(y > 0, -np.log(-np.expm1(-np.exp(x))), np.exp(x))
    if family == "exposure":
        return np.where(y > 0, -np.log(-np.expm1(-np.maximum(x, 1e-12))), x)
    raise ValueError(family)


def curvatures(family: str, y, x, precision: float = 1.0) -> np.ndarray:
    """Second derivatives of the losses in x."""
    if family == "bernoulli":
        return expit(x) * expit(-x)
    if family == "poisson":
        return np.exp(x)
    if family == "gaussian":
        return np.full_like(x, precision)
    if family == "cloglog":
        m = np.exp(x)
        return np.where(y > 0, m * np.exp(-m) / -np.expm1(-m) * (m / -np.expm1(-m) - 1.0), m)
    if family == "exposure":
        return np.where(y > 0, 0.25 / np.sinh(np.maximum(x, 1e-12) / 2.0) ** 2, 0.0)
    raise ValueError(family)


def name_of(law: Law) -> str:
    return next(f.name for f in FAMILIES.values() if f.code == law.code)


def data_loss(graph: Graph, law: Law, state: State) -> float:
    """The loss over all observed dyads."""
    x = predictors(graph, state)
    return float(losses(name_of(law), graph.links.toarray(), x, law.precision)[counted(graph)].sum())


def log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def cover_price(z: np.ndarray, counts: bool) -> float:
    """Minus the log prior probability of (K, n) memberships, none of them empty: the buffet's, or by learned counts."""
    (k, n), s, m = z.shape, z.sum(axis=1).astype(float), z.sum(axis=0)
    if not counts:
        return float((np.log(s) + log_choose(n, s)).sum())
    if k == 0:
        return 0.0
    e, holding = m.sum(), np.bincount(m)
    numbers = log_choose(n + k, k) + gammaln(n + 1) - gammaln(holding + 1).sum()
    which = log_choose(e - 1, k - 1) + gammaln(e + 1) - gammaln(s + 1).sum() - gammaln(m + 1).sum()
    return float(numbers + which - gammaln(k + 1))


def prior_loss(graph: Graph, priors, state: State, counts: bool = False) -> float:
    """lambda^2 K and T times the rest; communities without members cost nothing."""
    alive = state.z.any(axis=1)
    z, w = state.z[alive], state.w[np.ix_(alive, alive)]
    total = priors.penalty * len(z) + priors.temperature * cover_price(z, counts)
    for k, m in product(range(len(z)), repeat=2):
        if graph.directed or k <= m:
            total += 0.5 * (priors.diagonal if k == m else priors.offdiagonal) * w[k, m] ** 2
    total += 0.5 * priors.sociality * (state.sender**2).sum()
    if graph.directed:
        total += 0.5 * priors.sociality * (state.receiver**2).sum()
    total += 0.5 * priors.coefficient * (state.coefficients**2).sum()
    return float(total + 0.5 * priors.offset * state.offset[0] ** 2)


def objective(graph: Graph, problem, state: State) -> float:
    """Q."""
    return data_loss(graph, problem.law, state) + prior_loss(graph, problem.priors, state, problem.counts)


# Free parameters as one vector


def pack(problem, state: State) -> np.ndarray:
    """W (its upper triangle when undirected), b, s, r and g where they are free."""
    directed = problem.dyads.directed
    parts = [state.w.ravel() if directed else state.w[np.triu_indices(len(state.w))], state.coefficients]
    parts += [state.offset] * problem.has_offset + [state.sender] * problem.has_sociality
    parts += [state.receiver] * (problem.has_sociality and directed)
    return np.concatenate(parts)


def unpack(problem, state: State, theta) -> State:
    """The state with the free parameters replaced."""
    k, n, directed = len(state.w), problem.dyads.n, problem.dyads.directed
    w, rest = np.zeros((k, k)), list(theta)
    for a, b in product(range(k), repeat=2):
        if directed or a <= b:
            w[a, b] = rest.pop(0)
            if not directed:
                w[b, a] = w[a, b]

    def take(m):
        part = np.array(rest[:m], float)
        del rest[:m]
        return part

    coefficients = take(len(state.coefficients))
    offset = take(1) if problem.has_offset else state.offset
    sender = take(n) if problem.has_sociality else state.sender
    receiver = take(n) if problem.has_sociality and directed else (state.receiver if directed else sender)
    return State(state.z, w, offset, sender, receiver, coefficients)


def weight_pairs(problem, k: int) -> list:
    """The communities of each free entry of W, in the order of ``pack``."""
    return [(a, b) for a, b in product(range(k), repeat=2) if problem.dyads.directed or a <= b]


def precisions(problem, k: int) -> np.ndarray:
    """Of the prior of each free parameter, in the order of ``pack``."""
    priors, n = problem.priors, problem.dyads.n
    w = np.where(np.eye(k, dtype=bool), priors.diagonal, priors.offdiagonal)
    n_covariates = int(problem.dyads.which_out.max(initial=-1)) + 1
    social = np.full(n, priors.sociality)
    state = State(np.zeros((k, n)), w, [priors.offset], social, social, np.full(n_covariates, priors.coefficient))
    return pack(problem, state)


def reaches(graph: Graph, problem, state: State) -> np.ndarray:
    """What one unit of each free parameter adds to each counted dyad: (parameters, dyads)."""
    theta = pack(problem, state)

    def x(theta):
        return predictors(graph, unpack(problem, state, theta))[counted(graph)]

    here = x(np.zeros(len(theta)))
    return np.array([x(unit) - here for unit in np.eye(len(theta))]).reshape(len(theta), len(here))


def hessian(graph: Graph, problem, state: State) -> np.ndarray:
    """Of the loss, without priors, in the free parameters."""
    y, x = (a[counted(graph)] for a in (graph.links.toarray(), predictors(graph, state)))
    a = reaches(graph, problem, state)
    return (a * curvatures(name_of(problem.law), y, x, problem.law.precision)) @ a.T


# The score


def evidences(graph: Graph, problem, state: State) -> np.ndarray:
    """T/2 log(1 + h / precision) of each free parameter, h the curvature of the loss along it.

    Where two nodes are both in k and in l, and links have no direction, w_kl reaches their dyad twice: it counts as two
    dyads, 2 h, where the Hessian has 4 h (``diagonal_evidence``).
    """
    y, x = (a[counted(graph)] for a in (graph.links.toarray(), predictors(graph, state)))
    a = reaches(graph, problem, state)
    a[len(weight_pairs(problem, len(state.w))) :] **= 2
    return _log_ratios(problem, a @ curvatures(name_of(problem.law), y, x, problem.law.precision), len(state.w))


def evidence(graph: Graph, problem, state: State) -> float:
    """Their sum."""
    return float(evidences(graph, problem, state).sum())


def diagonal_evidence(graph: Graph, problem, state: State) -> float:
    """The sum with the diagonal of the Hessian as it is."""
    return float(_log_ratios(problem, np.diag(hessian(graph, problem, state)), len(state.w)).sum())


def _log_ratios(problem, curvature, k) -> np.ndarray:
    t = problem.priors.temperature
    return 0.5 * t * np.log1p(curvature / precisions(problem, k)) if t > 0.0 else np.zeros(len(curvature))


def full_evidence(graph: Graph, problem, state: State) -> float:
    """The same with the determinant of the whole Hessian."""
    t, precision = problem.priors.temperature, precisions(problem, len(state.w))
    ratio = hessian(graph, problem, state) / precision + np.eye(len(precision))
    return 0.5 * t * float(np.linalg.slogdet(ratio)[1]) if t > 0.0 else 0.0


def score(graph: Graph, problem, state: State) -> float:
    """F: Q and the evidence."""
    return objective(graph, problem, state) + evidence(graph, problem, state)


def gradient(f, theta, step=1e-6) -> np.ndarray:
    """Central differences."""
    shifts = step * np.eye(len(theta))
    return np.array([(f(theta + d) - f(theta - d)) / (2 * step) for d in shifts])


def column_sets(n: int, size: int) -> np.ndarray:
    """All sets of so many different non-empty communities of n nodes, (sets, size, n)."""
    columns = [c for c in product((0, 1), repeat=n) if any(c)]
    chosen = list(combinations(columns, size))
    return np.array(chosen, np.uint8).reshape(len(chosen), size, n)


def design(graph: Graph, z: np.ndarray, offset: bool) -> np.ndarray:
    """What one unit of each free w_kl (and of b) adds to each counted dyad: (sets, dyads, parameters)."""
    i, j = np.nonzero(counted(graph))
    u = z.astype(float)
    columns = []
    for k, m in product(range(z.shape[1]), repeat=2):
        if graph.directed or k == m:
            columns.append(u[:, k, i] * u[:, m, j])
        elif k < m:
            columns.append(u[:, k, i] * u[:, m, j] + u[:, m, i] * u[:, k, j])
    columns += [np.ones((len(z), len(i)))] * offset
    return np.stack(columns, axis=2) if columns else np.zeros((len(z), len(i), 0))


def modes(graph: Graph, problem, z: np.ndarray, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """The W (and b) of least Q of 0/1 links, and that Q up to the price of Z, for many sets of communities at once.

    By damped Newton steps.
    """
    a, y = design(graph, z, problem.has_offset), graph.links.toarray()[counted(graph)]
    precision = precisions(problem, z.shape[1])

    def value(theta):
        x = np.einsum("sdm,sm->sd", a, theta)
        return (np.logaddexp(0.0, x) - y * x).sum(axis=1) + 0.5 * (precision * theta**2).sum(axis=1)

    theta = np.zeros((len(z), a.shape[2]))
    here = value(theta)
    for _ in range(steps if a.shape[2] else 0):
        p = expit(np.einsum("sdm,sm->sd", a, theta))
        slope = np.einsum("sdm,sd->sm", a, p - y) + precision * theta
        curve = np.einsum("sdm,sd,sdk->smk", a, p * (1 - p), a) + np.diag(precision)
        move = np.linalg.solve(curve, slope[..., None])[..., 0]
        for shrink in (1.0, 0.25, 0.05):
            trial = theta - shrink * move
            better = value(trial) < here
            theta[better] = trial[better]
            move[better] = 0.0
        here = value(theta)
    return theta, here


def least_scores(graph: Graph, problem, z: np.ndarray) -> np.ndarray:
    """F where W (and b) minimise Q of 0/1 links, for each of many sets of communities: see ``score``."""
    theta, here = modes(graph, problem, z)
    a, priors = design(graph, z, problem.has_offset), problem.priors
    p = expit(np.einsum("sdm,sm->sd", a, theta))
    known = np.einsum("sdm,sd->sm", a, p * (1 - p)) / precisions(problem, z.shape[1])  # b reaches each dyad once
    price = [priors.penalty * len(cover) + priors.temperature * cover_price(cover, problem.counts) for cover in z]
    return here + 0.5 * priors.temperature * np.log1p(known).sum(axis=1) + price


def exhaustive_search(graph: Graph, problem, most: int) -> tuple[float, np.ndarray]:
    """The least F of all sets of up to so many communities, and its (K, n) memberships."""
    best, where = np.inf, None
    for size in range(most + 1):
        z = column_sets(graph.n_nodes, size)
        values = least_scores(graph, problem, z)
        if values.min() < best:
            best, where = float(values.min()), z[values.argmin()]
    return best, where


def at_mode(graph: Graph, problem, state: State) -> State:
    """The state with its free parameters where Q is least, by scipy's general optimiser."""
    theta = pack(problem, state)
    if not len(theta):
        return state

    def q(theta):
        return objective(graph, problem, unpack(problem, state, theta))

    return unpack(problem, state, minimize(q, theta, tol=1e-9).x)


def polished(graph: Graph, problem, z: np.ndarray) -> float:
    """F of given memberships where scipy's general optimiser finds Q least."""
    k, n = z.shape
    state = State(z, np.zeros((k, k)), np.zeros(1), np.zeros(n), np.zeros(n), np.zeros(0))
    return score(graph, problem, at_mode(graph, problem, state))


# The Indian buffet


def left_ordered(z: np.ndarray) -> tuple:
    """The equivalence class of (K, n) memberships: columns as tuples, sorted."""
    return tuple(sorted(tuple(column.tolist()) for column in z if column.any()))


@kernel
def derived(ws):
    """What a workspace holds beside the state: sizes, effects and their exponentials, both ways."""
    return (
        ws.size, ws.n_held, ws.n_holding, ws.held_total,
        ws.effect_out, ws.effect_in, ws.exp_out, ws.exp_in, ws.exp_sender, ws.exp_receiver,
    )  # fmt: skip


def is_fresh(ws, state) -> bool:
    """Whether what a workspace holds is what one would derive now."""
    z, held = state.z.astype(float), state.z.sum(axis=0, dtype=np.int64)
    out, into = state.w @ z, state.w.T @ z
    numbers = np.array([held.sum(), z.any(axis=1).sum()])
    fresh = (
        z.sum(axis=1),
        held,
        np.bincount(held, minlength=len(z) + 2),
        numbers,
        out,
        into,
        np.exp(out),
        np.exp(into),
        np.exp(state.sender),
        np.exp(state.receiver),
    )
    return all(np.allclose(*pair, rtol=1e-8, atol=1e-9) for pair in zip(derived(ws), fresh))
