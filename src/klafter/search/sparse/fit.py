"""K-LAFTER on the sparse engine: one search over links, for graphs of any size."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.core.draws import ExposureDraw
from klafter.graph import Graph
from klafter.graph.changes import Change
from klafter.jit.compilation import announce_compilation
from klafter.search.config import SEARCH
from klafter.search.parallel import n_workers
from klafter.search.progress import Progress, Step, iterate
from klafter.search.sparse import engine as sparse
from klafter.search.sparse.affinities import Affinities, as_affinities
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.adapt import adapt
from klafter.search.sparse.moves.anneal import anneal
from klafter.search.sparse.moves.degree_prior import learn_degree_prior
from klafter.search.sparse.moves.learn_counts import learn_counts
from klafter.search.sparse.moves.off_diagonal import refine
from klafter.search.sparse.moves.share import in_shares, without_shares
from klafter.search.sparse.moves.unite import unite
from klafter.search.sparse.refusals import unpacked
from klafter.search.sparse.score import cover_price, given_cover, score
from klafter.search.sparse.state import Problem, State, as_problem, as_state, laid_out, packed, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

THREADED = 1_000_000  # entries of the graph from which a search has threads by default
LEAST_SHRINKAGE = 1e-3  # at temperature 0: without any a node without links would have t = 0, and one alone 0 / 0


NOTHING_REFUSED: Mapping = {}


class Settings(NamedTuple):
    """The parameters of KLafter that this engine uses."""

    family: str
    penalty: float
    temperature: float
    sociality: bool
    degree_prior: float | str
    bridges: bool
    prior: str
    tol: float
    max_iter: int
    n_jobs: int | None


class Task(NamedTuple):
    """One search: its number, its seed, where it begins (None: by itself), and the prior that was learned there."""

    run: int
    n_runs: int
    seed: np.random.SeedSequence
    point: ExposureDraw | None
    degree_prior: float | None = None


class ScoredState(NamedTuple):
    """A state, its score F, and whether the price of the cover is that of learned counts.

    The state of one that a search keeps, while it works on a copy, is packed.
    """

    state: State
    score: float
    counts: bool


class Outcome(NamedTuple):
    """Where a search ended, and how it came there."""

    problem: Problem
    state: State
    history: list[Step]
    converged: bool
    score: float  # F, by which searches and links are compared
    counts: bool  # whether the price of the cover is that of learned counts


class SearchState(NamedTuple):
    """Where a search stands at the end of a step: enough to go on as if nothing had happened."""

    found: ScoredState
    history: list[Step]
    generator: Mapping  # the state of its bit generator
    ended: bool
    partitioned: bool = False  # whether the search began at a partition
    refused: Mapping = NOTHING_REFUSED  # what merges and reassignments lost, packed


def bare(outcome: Outcome) -> tuple:
    """An outcome, of its problem the learned part alone."""
    return (outcome.problem.shrinkage, *outcome[1:])


def restored(problem: Problem, saved: Sequence) -> Outcome:
    """The outcome of which ``saved`` is all but what the graph and the parameters say of the problem."""
    return Outcome(problem._replace(shrinkage=saved[0]), *saved[1:])


def problem_of(settings: Settings, graph: Graph) -> Problem:
    """What the sparse engine is given."""
    prior = SEARCH.sparse.degree_prior if settings.degree_prior == "auto" else settings.degree_prior
    return as_problem(
        graph,
        penalty=settings.penalty,
        temperature=settings.temperature,
        shrinkage=max(settings.temperature * float(prior), LEAST_SHRINKAGE) if settings.sociality else np.inf,
        counts=settings.family == "poisson",
    )


def n_threads(settings: Settings, problem: Problem) -> int:
    """As many as asked for; where nobody asked one, and all processors of a large network, where these help."""
    large = len(problem.node) > THREADED
    return n_workers(-1 if settings.n_jobs is None and large else settings.n_jobs, 64)


def search(
    settings: Settings, graph: Graph, callback, task: Task, stop, resume: SearchState | None = None, keep=None
) -> Outcome:
    """One search: communities, then off-diagonal affinities. From a point with such it goes on with these.

    From ``resume`` it goes on as if it had not been interrupted; ``keep`` is given a way to have one after every step.
    """
    if task.point is not None and task.degree_prior is not None and settings.degree_prior == "auto":
        problem = problem_of(settings._replace(degree_prior=task.degree_prior), graph)
    else:
        problem = problem_of(settings, graph)
    rng, begun = np.random.default_rng(task.seed), time.perf_counter()
    history: list[Step] = [] if resume is None else list(resume.history)
    stop_now = False
    if resume is not None:
        rng.bit_generator.state, begun = resume.generator, begun - history[-1].seconds
    made = max(0, len(history) - 1)  # steps, in an earlier run
    partitioned = resume is not None and resume.partitioned
    with ThreadPool(n_threads(settings, problem)) as pool:
        judge = partial(judged, settings.prior, problem, pool=pool)

        def note(t, found):
            history.append(Step(task.run, t, time.perf_counter() - begun, found.score, len(found.state.size)))

        def step(here):
            there = judge(sparse.step(problem, here.state, rng, pool, regrown=not partitioned))
            return kept(problem, there) if there.score < here.score else here

        def done(t, found):
            nonlocal stop_now
            t, size = made + t + 1, len(found.state.size)
            note(t, found)
            stop_now = bool(
                callback(Progress("search", task.run, task.n_runs, t, settings.max_iter, found.score, size))
            )
            if stop_now and stop is not None:  # the other searches are not to begin
                stop.set()
            early = SEARCH.sparse.anneal_early if partitioned and n_annealings(problem) else 1.0
            ended = history[-2].objective - found.score <= settings.tol * early * abs(found.score)
            if keep is not None and not stop_now:
                refused = {move: some.packed() for move, some in pool.refused.items()}
                keep(lambda: SearchState(found, history, rng.bit_generator.state, ended, partitioned, refused))
            return stop_now or ended

        if resume is not None:
            found = resume.found
            pool.refused = {move: unpacked(some) for move, some in resume.refused.items()}
        else:
            state, partitioned = first_state(settings, problem, task, rng, pool)
            found = kept(problem, judge(state))
            del state
            note(0, found)
        n_steps = 0 if resume is not None and resume.ended else settings.max_iter - made
        found = iterate(step, found, n_steps, done, stop)
        refused = pool.refused
    converged = len(history) <= settings.max_iter
    if not (stop_now or (stop is not None and stop.is_set())):
        with ThreadPool(n_threads(settings, problem)) as pool:  # without the scratch space of births
            pool.refused = refused
            single = task.n_runs == 1
            problem, ends = endings(settings, problem, found, rng, pool, single=single, partitioned=partitioned)
            problem, last = with_degree_prior(settings, problem, min(found, *ends, key=by_score), pool)
            del ends
        if last is not found:
            found = last
            note(len(history), found)
    return Outcome(problem, laid_out(problem, found.state), history, converged, found.score, found.counts)


def with_degree_prior(
    settings: Settings, problem: Problem, here: ScoredState, pool: ThreadPool
) -> tuple[Problem, ScoredState]:
    """The same with the prior on degree factors that fits it, where that is learned and lowers the score."""
    if settings.degree_prior != "auto" or not np.isfinite(problem.shrinkage) or problem.temperature == 0.0:
        return problem, here
    for _ in range(SEARCH.sparse.degree_rounds):
        other, state = learn_degree_prior(problem, laid_out(problem, here.state), pool)
        there = here if other is problem else judged(settings.prior, other, state, pool)
        if there.score >= here.score:
            break
        problem, here = other, kept(other, there)
    return problem, here


def alike(settings: Settings, outcomes: list[Outcome]) -> list[Outcome]:
    """The searches with the prior on degree factors of the best, so that they can be put together."""
    best = min(outcomes, key=lambda outcome: outcome.score).problem
    with ThreadPool(n_threads(settings, best)) as pool:
        return [
            each if each.problem.shrinkage == best.shrinkage else moved(settings, best, each, pool) for each in outcomes
        ]


def moved(settings: Settings, problem: Problem, outcome: Outcome, pool: ThreadPool) -> Outcome:
    """The outcome under another prior on degree factors."""
    found = refitted(settings, problem, outcome.state, pool)
    return outcome._replace(problem=problem, state=found.state, score=found.score, counts=found.counts)


def kept(problem: Problem, found: ScoredState) -> ScoredState:
    """The same in little memory."""
    return found._replace(state=packed(problem, found.state))


def first_state(settings: Settings, problem: Problem, task: Task, rng, pool: ThreadPool) -> tuple[State, bool]:
    """Where a search begins: at the last fit, or by itself; the only one of a large graph perhaps at a partition.

    Also whether it does. Such a search needs no births from the embedding, which are costly there, to end well.
    """
    if task.point is not None:
        return warm(settings, task.point, problem), False
    few = len(problem.node) <= 2 * SEARCH.sparse.partition_links
    if task.n_runs > 1 or problem.n <= SEARCH.effort.several_limit or not few:
        return sparse.init(problem, rng, pool), False
    return sparse.init_large(problem, rng, pool)


def judged(prior: str, problem: Problem, state: State, pool: ThreadPool) -> ScoredState:
    """The score of a state by the prior on covers that is asked for, or by the one with the lower score."""
    value, priors = given_cover(problem, state, pool), {"buffet": [False], "counts": [True], "auto": [False, True]}
    known = priors[prior] if problem.temperature > 0.0 else [False]
    return min((ScoredState(state, value + cover_price(problem, state, c), c) for c in known), key=by_score)


def endings(
    settings: Settings, problem: Problem, found: ScoredState, rng, pool: ThreadPool, *, single: bool, partitioned: bool
) -> tuple[Problem, list[ScoredState]]:
    """Where the search may go from its optimum: off-diagonal affinities, and what is learned of degrees and counts.

    The prior on degree factors is learned here, not before: a light one lets these explain what communities are to.

    The ``single`` search of a fit is annealed, from a partition at once, and may end in no communities; of several that
    is done at the end, since what each found may lower the score together though it does not by itself.
    """
    times, step = n_annealings(problem) if single else 0, partial(sparse.step, regrown=not partitioned)
    times = times + SEARCH.sparse.anneal_again if times and partitioned else times
    judge = partial(judged, settings.prior, problem, pool=pool)
    end = kept(problem, judge(sparse.end(problem, laid_out(problem, found.state), rng, pool, bridges=settings.bridges)))
    if problem.temperature == 0.0:
        return problem, [end, judge(sparse.nothing(problem, pool))]
    first = clearly_lower(settings, found, end)
    learned, here = with_degree_prior(settings, problem, first, pool)
    if learned is not problem and first is not end:
        end = kept(learned, refitted(settings, learned, end.state, pool))
    problem, ends = learned, [here]
    if settings.prior != "buffet":
        at_once = partitioned and times > 0
        ends.append(kept(problem, counts_learned(settings, problem, here.state, rng, pool, step, at_once=at_once)))
    best = united(settings, problem, min(ends, key=by_score), pool)
    for _ in range(times):
        before, best = best.score, min(best, annealed(settings, problem, best, rng, pool, step), key=by_score)
        if partitioned and before - best.score < SEARCH.sparse.anneal_early * settings.tol * abs(best.score):
            break
    nothing = [judged(settings.prior, problem, sparse.nothing(problem, pool), pool)] if single else []
    return problem, [end, *ends, best, *nothing]


def clearly_lower(settings: Settings, found: ScoredState, end: ScoredState) -> ScoredState:
    """From where to go on: where there are affinities between communities, only if these lower the score by much, since
    fewer moves know what to do with them."""
    much = SEARCH.sparse.anneal_early * settings.tol * abs(end.score)
    return end if found.score - end.score > much else found


def refitted(settings: Settings, problem: Problem, state: State, pool: ThreadPool) -> ScoredState:
    """A state with weights that follow another prior on degree factors, and its score by that."""
    return judged(settings.prior, problem, weights(problem, laid_out(problem, state), pool), pool)


def counts_learned(
    settings: Settings, problem: Problem, state: State, rng, pool: ThreadPool, step: Callable, *, at_once: bool
) -> ScoredState:
    """Where learned counts lead. As long as they lower the score by more than the tolerance the other moves may go on
    from there, since nodes joined communities, and counts be learned again; not where annealing follows ``at_once``."""
    before = score(problem, laid_out(problem, state), pool, counts=True)
    state, value = learn_counts(problem, state, pool)
    for _ in range(SEARCH.sparse.cycles if len(state.size) and not at_once else 0):
        if before - value <= settings.tol * abs(value):
            break
        again, there = learn_counts(problem, step(problem, state, rng, pool), pool)
        if there >= value - settings.tol * abs(value):
            break
        before, state, value = value, again, there
    return ScoredState(state, value, True)


def united(settings: Settings, problem: Problem, here: ScoredState, pool: ThreadPool) -> ScoredState:
    """Where merges that the score judges lead, and the counts that are learned after them."""
    judge = partial(judged, settings.prior, problem, pool=pool)
    there = unite(problem, here, judge, pool)
    if there is here or settings.prior == "buffet":
        return there
    return min(there, ScoredState(*learn_counts(problem, there.state, pool), True), key=by_score)


def by_score(found: ScoredState) -> float:
    return found.score


def n_annealings(problem: Problem) -> int:
    """How often a search is annealed: as often as a limit on the work allows."""
    work = SEARCH.sparse.anneal_sweeps * max(len(problem.node) // 2, 1)
    return min(SEARCH.sparse.anneal_rounds, SEARCH.sparse.anneal_links // work)


def annealed(
    settings: Settings, problem: Problem, here: ScoredState, rng, pool: ThreadPool, step: Callable = sparse.step
) -> ScoredState:
    """Where annealing and a round of the other moves lead."""
    state = step(problem, anneal(problem, here.state, rng, pool, counts=here.counts), rng, pool)
    found = judged(settings.prior, problem, state, pool)
    if settings.prior == "buffet":
        return found
    return min(found, ScoredState(*learn_counts(problem, state, pool), True), key=by_score)


def warm(settings: Settings, point: ExposureDraw, problem: Problem) -> State:
    """Where the last fit ended, without communities that have no link left."""
    state = without_shares(problem, state_of(point, problem), ThreadPool(1))
    if not settings.bridges:
        state = state._replace(affinities=as_affinities(state.strength))
    return without_empty(state)


def adapt_to(settings: Settings, point: ExposureDraw, change: Change, rng: np.random.Generator) -> Outcome:
    """Local moves around what changed; of a model with off-diagonal affinities, those that change these too."""
    began = time.perf_counter()
    problem = problem_of(settings, change.graph)
    state = state_of(point, problem)
    with ThreadPool(n_threads(settings, problem)) as pool:
        state = without_shares(problem, state, pool)
        if len(change.nodes) and not state.affinities.diagonal:
            state = refine(problem, state, rng, pool)
        elif len(change.nodes):
            state = adapt(problem, state, change.nodes, rng, pool)
        found = judged(settings.prior, problem, state, pool)
    history = [Step(0, 1, time.perf_counter() - began, found.score, len(state.size))]
    return Outcome(problem, state, history, True, found.score, found.counts)


def posterior_draws(settings: Settings, graph: Graph, draws: list[ExposureDraw], *, counts: bool) -> list[ExposureDraw]:
    """The draws with probabilities for memberships; as they are where the links stayed on a cluster."""
    if not graph.n_links:
        return draws
    problem = problem_of(settings, graph)
    with announce_compilation():
        states = [state_of(draw, problem) for draw in draws]
        posteriors = [membership_posterior(problem, state, counts=counts) for state in states]
        return [sparse.draw(problem, *known) for known in zip(states, posteriors, strict=True)]


def state_of(draw: ExposureDraw, problem: Problem) -> State:
    """The state of which this is the draw, laid out for a problem with the same nodes first."""
    send, receive = draw.send, draw.receive
    if np.isinf(problem.shrinkage):  # sociality may have been switched off
        send = receive = np.ones_like(send)
    state = as_state(problem, draw.memberships, affinities_of(draw, problem), draw.background, send, receive)
    return in_shares(problem, state) if draw.shared else state


def affinities_of(draw: ExposureDraw, problem: Problem) -> Affinities:
    """The affinities of a draw as the engine has them."""
    entries, directed = sp.coo_array(draw.affinities), problem.pair_weight == 1.0
    some = (entries.row != entries.col if directed else entries.row < entries.col) & (entries.data > 0)
    pairs = np.column_stack([entries.row[some], entries.col[some]])
    return as_affinities(draw.affinities.diagonal(), pairs, entries.data[some], directed=directed)
