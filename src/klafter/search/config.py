"""All settings that steer the search: each has one name, one value, and one line that says what it does.

What belongs here decides what is tried: how often it begins, which moves it tries, how many, and when it gives
up. What stays where it is used decides only how exact a number is, or how much memory it takes: tolerances that stand
for rounding, steps of convex solvers (Newton, L-BFGS, power iteration), sizes of buffers, time limits of a cluster, and
the algorithm of the paper, which is fixed. Parameters of ``KLafter`` are parameters, not settings.

``KLAFTER_SEARCH='{"dense.reset_rounds": 0}'`` in the environment changes settings for a whole process: a switch for
research, by which ``benchmarks/ablate.py`` measures what each changes. Kernels receive settings as arguments, so code
that was compiled before stays right.
"""

import json
import os
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

VARIABLE = "KLAFTER_SEARCH"


def setting(value: Any, does: str, off: Any = None) -> Any:
    """A setting, what it does, and the value at which it does nothing, where there is one."""
    return field(default=value, metadata={"does": does, "off": off})


@dataclass(frozen=True)
class Effort:
    """Which engine, how many restarts, and what is kept of them, by the number of nodes."""

    dense_limit: int = setting(2_500, "nodes up to which the dense engine is taken: some minutes")
    choice_from: int = setting(300, "nodes from which both links are tried", 100_000)
    dozens: int = setting(150, "nodes up to which the first of three numbers holds")
    hundreds: int = setting(500, "nodes up to which the second of three numbers holds")
    restarts: tuple[int, ...] = setting((12, 6, 3), "restarts of the dense engine: dozens, hundreds of nodes, beyond")
    sweeps: tuple[int, ...] = setting((120, 60, 50), "sweeps of a chain of a restart: dozens, hundreds, beyond")
    sparse_restarts: tuple[int, ...] = setting((6, 6, 4), "restarts of the sparse engine: dozens, hundreds, beyond")
    several_limit: int = setting(5_000, "nodes up to which the sparse engine makes all its restarts")
    finalists: tuple[int, ...] = setting((2, 3, 3), "best restarts whose communities are rebuilt, likewise")
    fewest_draws: int = setting(60, "draws of a restart that are kept, at least")
    kept_nodes: int = setting(50_000, "nodes of all draws of a restart together")


@dataclass(frozen=True)
class ChooseLink:
    """The choice between logit and exposure."""

    close: float = setting(
        0.02, "share of the score by which a link may be behind after one search, and is given more", 0.0
    )
    far: float = setting(0.1, "share by which it is behind after its first sweeps, and given up", 1e300)
    steps: int = setting(4, "steps like its last that must bring logit below exposure, or it is given up", 0)
    sweeps: int = setting(
        16, "falls like that of its first sweeps that must bring logit below where it is not close", 2**31
    )


@dataclass(frozen=True)
class Restart:
    """A restart of the dense engine: where it begins, and where it begins again."""

    smooth_penalty: float = setting(-2.0, "penalty on the way to a richer state, and at which sweeps begin", 0.0)
    cooling: float = setting(0.5, "share of the temperature on the way to a richer state", 1.0)
    burn_in: int = setting(6, "one smoothing sweep in so many is not kept: the first ones", 2**31)
    steps: int = setting(
        12, "steps like its last that must bring a descent below the best so far, or it is given up", 2**31
    )
    affinity_share: float = setting(
        0.25, "share of the affinities between communities that a smoothing sweep draws", 1.0
    )
    binary_steps: int = setting(3, "first steps on which link values are only large or small", 0)
    partition_nodes: int = setting(400, "nodes times starts at partitions", 0)
    fewest_partitions: int = setting(2, "starts at partitions, at least, up to hundreds of nodes", 0)
    most_partitions: int = setting(8, "starts at partitions, at most")
    partition_spread: float = setting(1.5, "s: resolutions of partitions lie between 2^-s and 2^s", 0.0)
    fine_partitions: tuple[float, float] = setting(
        (0.5, 2.5), "the same powers of 2 beyond hundreds of nodes, where every restart begins at a partition"
    )
    rebuilds: int = setting(40, "tries to rebuild communities", 0)
    rebuild_nodes: int = setting(300, "nodes up to which all these tries are made")
    rebuild_patience: int = setting(15, "tries in vain after which rebuilding ends")


@dataclass(frozen=True)
class Dense:
    """Moves of the dense engine."""

    sweeps: int = setting(3, "rounds of flips and weights between moves")
    row_sweeps: int = setting(20, "sweeps over one row before the next node has its turn")
    iterations: int = setting(15, "L-BFGS iterations between two rounds of flips")
    polish: int = setting(2, "rounds of weights and flips before a move is judged")
    polish_loss: float = setting(40.0, "nats that the first of these may lose, or there is no other", 1e300)
    birth_rounds: int = setting(6, "rounds of births in a step", 0)
    birth_sweeps: int = setting(4, "sweeps that fit the weights and revise the members of a birth")
    birth_share: float = setting(0.25, "births in a round, as a share of the communities there are", 0.0)
    bipartite_every: int = setting(
        3, "one seed in so many lends its partners to a community without links inside", 2**31
    )
    merge_likeness: float = setting(0.1, "overlap or attraction from which a merge is tried", 2.0)
    split_members: int = setting(4, "members of a community that may be split", 2**31)
    death_large: float = setting(
        0.15, "share of the nodes from which a death leaves its links to the other weights", 1.0
    )
    death_near: float = setting(20.0, "rise up to which a death is tried again with new weights everywhere", 0.0)
    death_near_share: float = setting(0.05, "the same as a share of the score, for large communities", 0.0)
    reset_rounds: int = setting(6, "rounds of row resets before and inside rebuilding", 0)
    reset_starts: int = setting(3, "communities that may be the first a reset row joins", 1)
    rebuild_beside: int = setting(2, "communities given up beside the first, at most", 0)
    rebuild_near: float = setting(150.0, "rise from which a rebuilding is given up before all nodes take part")


@dataclass(frozen=True)
class Sparse:
    """Moves of the sparse engine."""

    cycles: int = setting(12, "cycles of all moves and of learning counts, at most", 0)
    count_rounds: int = setting(6, "rounds of flips at learned counts", 0)
    flip_rounds: int = setting(4, "rounds of flips between two steps of weights")
    weight_rounds: int = setting(2, "steps of weights between two sweeps of flips")
    embedding_rounds: int = setting(3, "rounds of births from the embedding at the start", 0)
    background_discount: float = setting(0.1, "share of the background at which such births are judged", 1.0)
    degree_prior: float = setting(5.0, "weight of the prior on degree factors where a search begins that learns it")
    degree_rounds: int = setting(4, "times in a row that it is learned, and other weights after it, at most", 0)
    degree_priors: tuple[float, float] = setting((1.0, 10.0), "least and largest weight of the prior on degree factors")
    partition_densities: tuple[float, ...] = setting(
        (0.004, 0.03, 0.25), "densities of groups at which a large search may begin, until the score rises"
    )
    partition_links: int = setting(2_000_000, "links up to which it may", 0)
    partition_trials: int = setting(64, "communities of which a split is tried to see whether births found unions")
    partition_unions: float = setting(0.2, "share of these that splits, from which partitions are tried", 1.0)
    walk_size: int = setting(10, "nodes of a walk from which a birth grows")
    hub: int = setting(200_000, "links that a step of a walk may look at")
    embedding_size: int = setting(80, "nodes of the embedding from which a birth grows")
    embedding_steps: int = setting(8, "steps of the walks of the embedding")
    embedding_width: int = setting(128, "columns of the embedding")
    growth: float = setting(1.5, "factor between two sets on the path of a birth")
    early: int = setting(7, "sets on that path before it may end for want of gain")
    birth_batch: int = setting(16, "seeds grown against the same state")
    birth_patience: int = setting(64, "seeds in a row without a birth, at least")
    birth_rounds: int = setting(8, "rounds of flips and weights on the subgraph of a birth", 0)
    exchange_rounds: int = setting(12, "rounds of flips and weights on the subgraph of other proposals", 0)
    disjoint_turns: int = setting(4, "turns in which no two exchanges share a community", 0)
    changed_ends: float = setting(0.5, "changed links for a member that make an update look at a community again")
    unexplained: float = setting(0.5, "responsibility of the background that makes a link unexplained", 0.0)
    overlap: float = setting(0.15, "share of the smaller community in the larger from which a merge is tried", 1.0)
    partners: int = setting(4, "communities that share the members of one that is given up", 0)
    uneven: int = setting(8, "times the smaller beyond which a large community is not merged with it")
    large: int = setting(600, "members of such a large community")
    merge_loss: float = setting(50.0, "nats that a merge may lose after its first round and still be improved", 1e300)
    refusal_nats: float = setting(
        3.0,
        "nats for each membership that changed, by which a merge or reassignment may have lost to be tried again",
        1e300,
    )
    merge_from: float = setting(0.01, "share of the objective below which a step's fall must be before merges", 1.0)
    merge_all: int = setting(300, "communities beyond which only those that changed are merged again")
    split_edge: float = setting(0.54, "eigenvalue for a split, in units of that of a random graph")
    split_certain: float = setting(0.485, "eigenvalue that is enough for a split")
    split_members: int = setting(6, "members of a community that may be split", 2**31)
    reset_communities: int = setting(12, "communities that a reset row may be tried in", 0)
    least_gain: float = setting(1e-4, "share of the objective that a round, or a perturbation, must gain")
    even_rounds: int = setting(8, "rounds of flips with equal degree factors", 0)
    free_rounds: int = setting(4, "rounds of flips with free degree factors after these", 0)
    regrow_share: int = setting(50, "one community in so many is regrown at a time")
    regrow_patience: int = setting(4, "trials in vain before regrowing the largest ends", 0)
    regrow_limit: int = setting(1_000, "communities beyond which none is regrown", 0)
    regrow_small: float = setting(0.7, "of the median size: communities that may be pieces of one", 0.0)
    anneal_rounds: int = setting(4, "times that the only search of a fit is annealed at its end, at most", 0)
    anneal_links: int = setting(10_000_000, "links of all sweeps of annealing together")
    anneal_sweeps: int = setting(50, "sweeps of an annealing, at most")
    anneal_each: int = setting(4_000_000, "links of the sweeps of one annealing together, beyond its fewest sweeps")
    anneal_fewest: int = setting(20, "sweeps of an annealing, however many links there are")
    anneal_early: float = setting(
        10.0, "times tol that a step's fall must be below, where a search from a partition is annealed after it", 1.0
    )
    anneal_again: int = setting(
        1, "times more that such a search is annealed, if the last lowered the score by as much", 0
    )
    anneal_heat: float = setting(2.0, "its first temperature, in units of T")
    share_close: float = setting(0.01, "share of the score by which a cover may be behind with shared links at first")
    share_rounds: int = setting(12, "rounds of rows and weights where nodes share their links, at most", 0)
    share_deaths: int = setting(2_000_000, "links of the network times communities that are tried to end there", 0)
    unite_links: int = setting(2_000_000, "links of the network times merges that the score judges", 0)
    combine_rounds: int = setting(12, "times that the best search is annealed, alone or with communities of others", 0)


@dataclass(frozen=True)
class OffDiagonal:
    """Affinities between communities in the sparse engine."""

    rounds: int = setting(20, "rounds of all moves with affinities, at most")
    fewest_rounds: int = setting(4, "the same on large graphs")
    entries: int = setting(1_500_000, "entries of the graph in all rounds together")
    gain: float = setting(1e-5, "share of the objective that another round must gain")
    clearly: float = setting(1.5, "times as strong between two parts as inside, where links have no direction")
    background: float = setting(0.5, "share of the links that the background explains before it is split", 2.0)
    background_rest: float = setting(1e-3, "share of itself that it keeps")


@dataclass(frozen=True)
class Levels:
    """Coarser covers, and which is shown first."""

    all_pairs: int = setting(12, "communities up to which all pairs are tried")
    nearest: int = setting(4, "partners of each that are tried beyond")
    kept: int = setting(2_500_000, "links and memberships of all levels of the sparse engine that are kept")


@dataclass(frozen=True)
class Cluster:
    """Rounds of the sparse engine over shards."""

    seeds: int = setting(24, "seeds of a shard in one round of births, at least")
    seed_nodes: int = setting(150, "nodes to a seed, where that makes more seeds")
    pieces: float = setting(0.5, "of the strength inside two births, between them, that makes one of them wait", 1e9)
    group: int = setting(32, "communities to a neighbourhood, at least")
    flip_rounds: int = setting(12, "rounds of flips")
    sweep_turns: int = setting(4, "sweeps of a shard over its own nodes in one round of flips")
    birth_flips: int = setting(3, "rounds of flips after births", 0)
    background: float = setting(0.5, "share of the links that the background explains before births at a share of it")


@dataclass(frozen=True)
class SearchConfig:
    """Every setting that steers the search, in groups."""

    effort: Effort = Effort()
    link: ChooseLink = ChooseLink()
    restart: Restart = Restart()
    dense: Dense = Dense()
    sparse: Sparse = Sparse()
    off_diagonal: OffDiagonal = OffDiagonal()
    levels: Levels = Levels()
    cluster: Cluster = Cluster()


def values(config: SearchConfig) -> dict[str, Any]:
    """Every setting by its full name, such as "dense.sweeps"."""
    return {f"{group}.{name}": value for group, some in asdict(config).items() for name, value in some.items()}


def descriptions() -> dict[str, dict[str, Any]]:
    """What every setting ``does``, and the value at which it is ``off`` (None: there is none)."""
    groups = ((group.name, fields(group.type)) for group in fields(SearchConfig))  # type: ignore[arg-type]
    return {f"{group}.{each.name}": dict(each.metadata) for group, some in groups for each in some}


def changed(config: SearchConfig, changes: dict[str, Any]) -> SearchConfig:
    """The settings with other values for some."""
    known = values(config)
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"The search has no setting {name!r}; it has {', '.join(known)}.")
        if isinstance(known[name], tuple) != isinstance(value, (list, tuple)) or isinstance(value, str):
            raise ValueError(f"The setting {name!r} is {known[name]!r}; {value!r} is not of that kind. Give another.")
        group, own = name.split(".")
        value = tuple(value) if isinstance(value, list) else value
        config = replace(config, **{group: replace(getattr(config, group), **{own: value})})
    return config


def from_environment(text: str | None) -> SearchConfig:
    """The settings, with the changes that the environment variable asks for."""
    if not text:
        return SearchConfig()
    try:
        changes = json.loads(text)
    except ValueError:
        changes = None
    if not isinstance(changes, dict):
        raise ValueError(f'{VARIABLE} must be names and values as JSON, such as {{"dense.sweeps": 4}}; it is {text!r}.')
    return changed(SearchConfig(), changes)


SEARCH = from_environment(os.environ.get(VARIABLE))
