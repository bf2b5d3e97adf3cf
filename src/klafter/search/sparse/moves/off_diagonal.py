"""Off-diagonal affinities: births and deaths of single ones, and the search that takes them in turns with other moves.

Where the responsibilities of the background for the links between two communities sum to C, and it expects e V there,
an affinity between the two gains at least C log(C / (e V)) - C + e V. If that is below the price for every pair,
nothing else is done. Otherwise affinities are taken by their exact gain.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, check_claim, is_accepted
from klafter.search.sparse.affinities import NO_PAIRS, find, keep_pairs, off_diagonal_pairs, with_pairs
from klafter.search.sparse.exchange import members_of
from klafter.search.sparse.kernels.between import gaining_pairs
from klafter.search.sparse.kernels.off_diagonal import best_affinity
from klafter.search.sparse.moves.birth import background_responsibility, births
from klafter.search.sparse.moves.death import deaths
from klafter.search.sparse.moves.flip import flip_sweep
from klafter.search.sparse.moves.merge import merges, reassigns
from klafter.search.sparse.moves.off_diagonal_split import background_split, off_diagonal_splits
from klafter.search.sparse.state import Problem, State, copy_state, n_alive, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, off_diagonal_price, weights
from klafter.search.sparse.workspace import open_workspace

BISECTIONS = 30  # of the interval in which the best affinity lies
FOUND_AT_ONCE = 10_000  # pairs that are found at a time, beside those of one community


def off_diagonal_search(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> State:
    """The state with off-diagonal affinities, or as it was if none lowers Q."""
    trial = copy_state(state)
    trial.size_at_split[:] = 0
    responsibility = link_responsibility(problem, trial, pool)
    split = background_split(problem, trial, responsibility)
    if split is not None and objective(problem, split, pool) < objective(problem, trial, pool):
        trial = split
    else:
        trial, made = off_diagonal_splits(problem, trial, responsibility)
        if made == 0 and len(promising(problem, trial, responsibility)[0]) == 0:
            return state
    trial = refine(problem, trial, rng, pool)
    return state if trial.affinities.diagonal else trial


def refine(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> State:
    """Rounds of splits, affinities, weights and flips and, when these gain little, of all other moves, in place.

    It ends where all other moves and the rounds after them gain little too.
    """
    settings, value, last = SEARCH.off_diagonal, np.inf, np.inf
    most = settings.entries // max(len(problem.node), 1)
    for _ in range(int(np.clip(most, settings.fewest_rounds, settings.rounds))):
        state = off_diagonal_round(problem, state, pool)
        before, value = value, objective(problem, state, pool)
        little = settings.gain * abs(value)
        if before - value <= little:
            if last - value <= little:
                break
            last = value
            state, made = exchanges(problem, state, rng, pool)
            if made == 0:
                break
    return best_affinities(problem, state, NO_PAIRS, np.zeros(0), pool)


def off_diagonal_round(problem: Problem, state: State, pool: ThreadPool) -> State:
    """Splits, then births and deaths of affinities, then weights and flips."""
    responsibility = link_responsibility(problem, state, pool)
    state, made = off_diagonal_splits(problem, state, responsibility)
    responsibility = link_responsibility(problem, state, pool) if made else responsibility
    state = best_affinities(problem, state, *promising(problem, state, responsibility), pool)
    return flip_sweep(problem, weights(problem, state, pool), pool)


def exchanges(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> tuple[State, int]:
    """Births of communities, and other moves of those that changed since they were last split; at last any deaths."""
    state, made = births(problem, state, rng, pool)
    state = without_empty(state)
    for move in (merges, reassigns, deaths):
        state, more = move(problem, state, pool, local=True)
        state, made = without_empty(state), made + more
    if made == 0:
        state, made = deaths(problem, state, pool)
    return without_empty(state), made


def promising(problem: Problem, state: State, responsibility: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """New pairs of communities whose affinity gains by the bound above, the best first, and a guess of its value.

    h(x + a b) - h(x) >= log(1 + b/u) >= rho log(1 + b/e) with rho = e/u, so b = C/V - e gains it. A link of two nodes
    that are both in both communities counts twice, which is too much; these leave little of it to the background.
    """
    found, gains = gaining(problem, state, responsibility)
    gain, count, pairs = gains.T
    best = np.lexsort((*found.T[::-1], -gain))
    found, guess = found[best], (count / pairs - state.background)[best]
    code = np.array([len(state.size), 1])
    new = ~np.isin(found @ code, off_diagonal_pairs(state.affinities) @ code)
    return found[new], guess[new]


def gaining(problem: Problem, state: State, responsibility: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Pairs k, l of communities that gain more than their price by that bound; gain, C and P_kl of each.

    The sums of all pairs that links lead between would need more memory than the links.
    """
    price, size, inside = off_diagonal_price(problem, len(state.size)), len(state.size), members_of(problem, state)
    ws, first, parts = open_workspace(problem, state), 0, [(np.zeros((0, 2), np.int64), np.zeros((0, 3)))]
    links = responsibility.indptr.astype(np.int64), responsibility.indices, responsibility.data
    while first < size:
        found, gains = np.empty((size + FOUND_AT_ONCE, 2), np.int64), np.empty((size + FOUND_AT_ONCE, 3))
        number, first = gaining_pairs(ws, *links, *inside, first, price, found, gains)
        parts.append((found[:number], gains[:number]))
    found, gains = (np.concatenate(column) for column in zip(*parts))
    return found, gains


def link_responsibility(problem: Problem, state: State, pool: ThreadPool) -> sparse.csr_array:
    """rho of every link from its source."""
    responsibility, _ = background_responsibility(problem, state, pool)
    if problem.pair_weight < 1.0:
        whole = np.int32 if len(problem.node) < 2**31 else np.int64  # as the nodes, of which there would be a copy else
        return sparse.csr_array(
            (responsibility, problem.node, problem.start.astype(whole)), shape=(problem.n, problem.n)
        )
    row = np.repeat(np.arange(problem.n), np.diff(problem.start))
    source = np.arange(len(responsibility)) < problem.middle[row]
    return sparse.csr_array((responsibility[source], (row[source], problem.node[source])), shape=(problem.n, problem.n))


def best_affinities(problem: Problem, state: State, pairs: np.ndarray, guess: np.ndarray, pool: ThreadPool) -> State:
    """Every off-diagonal affinity, old and of new pairs, at its best value, one after the other; those that gain less
    than their price end."""
    price = off_diagonal_price(problem, n_alive(state))
    old, hint = off_diagonal_pairs(state.affinities), np.concatenate([guess, np.zeros(len(state.affinities.value))])
    state = state._replace(affinities=with_pairs(state.affinities, pairs, directed=problem.pair_weight == 1.0))
    inside, affinities, ws = members_of(problem, state), state.affinities, open_workspace(problem, state)
    for (k, l), guessed in zip(np.concatenate([pairs, old]).tolist(), hint):
        place = find(affinities, k, l)
        best, gain = best_affinity(ws, inside.of(k), k, l, affinities.value[place], guessed, BISECTIONS)
        affinities.value[place] = 0.0
        if is_accepted(gain - price):
            without = objective(problem, state, pool) if CHECKED else 0.0
            affinities.value[place] = best
            if CHECKED:
                check_claim("off_diagonal", without, gain - price, objective(problem, state, pool))
    return state._replace(affinities=keep_pairs(affinities, affinities.value > 0))
