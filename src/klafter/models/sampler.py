"""What the four samplers share: chains side by side, thinned draws, traces, diagnostics, warm starts."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from klafter.core.families import BINARIZE, FAMILIES, check_values
from klafter.graph import Graph
from klafter.jit.compilation import announce_compilation
from klafter.models.base import NetworkModel, Run
from klafter.models.checks import MOST, MOST_RUNS, check_choice, check_integer, check_memory, check_nodes, check_real
from klafter.models.costs import announce, workers
from klafter.models.results.publish import Fitted, from_chains
from klafter.models.storage.checkpoint import MISSING, Store, run_kept
from klafter.sampling.chain import Chain, Recipe, Task, run_chain
from klafter.sampling.diagnostics import complaint, summarise

log = logging.getLogger("klafter")
CURE = "KLafter takes large networks with its sparse engine; fewer nodes, sweeps or chains take less."
COUNTS_CURE = f'family="poisson" for counts, or {BINARIZE}'


class Sampled(NetworkModel):
    """What samplers find besides; a class of its own because annotations of ``Sampler`` are parameters."""

    trace_: dict[str, np.ndarray]
    sweep_seconds_: np.ndarray
    n_burned_: np.ndarray
    diagnostics_: dict[str, dict[str, float]]
    chains_: list[Chain]


@dataclass(kw_only=True, eq=False, repr=False)
class Sampler(Sampled):
    """Base of LFRM, IRM, MMSB and EPM: a subclass gives its parameters and an engine, the rest is here.

    Each of ``n_chains`` chains owns its seed, makes ``n_burn`` + ``n_draws`` sweeps, and keeps at most ``max_draws``
    of its draws, evenly thinned, so memory does not grow with sweeps (traces hold a few numbers a sweep). Predictions
    average the link probability over the draws of all chains. The sweep of highest log posterior after the burn-in,
    of all chains, gives the communities. Ctrl-C keeps what was sampled. When chains disagree (R-hat above 1.05) or are
    worth fewer than ten independent draws each, a warning says so and what to do; it stays in ``notes_``.

    Parameters
    ----------
    n_burn : int
        Sweeps of each chain before the first draw.
    n_draws : int
        Sweeps of each chain after the burn-in.
    n_chains : int
        Chains, each from its own start. Four, of which R-hat can be told, share the draws that predictions average.
    max_draws : int
        Most draws that a chain keeps for predictions.
    structure : float or "auto"
        Weight, in log odds, of the structural expert in predictions, learned if "auto"; 0 turns it off.
    warm_start : bool
        Whether ``fit``, called again on the same graph, continues each chain for another ``n_draws`` sweeps.
    n_jobs : int, optional
        Chains run side by side: None is 1, -1 all cores. The result does not depend on it.
    random_state : int, optional
        The same seed gives the same result.

    Attributes
    ----------
    trace_ : dict of (n_chains, n_sweeps) arrays
        The log posterior (EPM: the log likelihood) and the number of communities after each sweep, burn-in included;
        NaN beyond the end of a chain that was stopped.
    sweep_seconds_ : (n_chains, n_sweeps) array
        Time of each sweep.
    n_burned_ : (n_chains,) array
        Sweeps of each chain that were burn-in.
    diagnostics_ : dict of dict
        ``ess`` and ``r_hat`` of each trace, see ``diagnostics``.
    chains_ : list of Chain
        Where each chain stopped; not saved to files.
    membership_proba_ : (n, K) array
        How often the draws have each membership, their communities matched to those of ``memberships_`` by overlap.
    n_communities_posterior_ : dict of arrays ``n_communities`` and ``probability``
        How often the sweeps after the burn-in have so many communities; see ``n_communities_interval``.
    memberships_, affinities_, n_communities_
        Of the best sweep.
    history_, labels_in_
        As in ``KLafter``.
    objective_ : float
        Minus the highest log posterior (EPM: log likelihood).
    n_iter_ : int
        Sweeps of the longest chain.
    """

    n_burn: int = 250
    n_draws: int = 125
    n_chains: int = 4
    max_draws: int = 50
    structure: float | str = 0.0
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None

    _density = "log_posterior"  # what the trace holds, a method of the engine
    _dyad_bytes = 0.0  # memory for each dyad, of engines that look at all

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """Effective sample size and R-hat of each trace after the burn-in.

        Returns
        -------
        dict
            For each trace ``ess``, the effective number of independent draws, and ``r_hat``, how much chains
            disagree: above 1.01 they need more sweeps; NaN with one chain.
        """
        check_is_fitted(self, "trace_")
        return {name: dict(line) for name, line in self.diagnostics_.items()}

    # ---- fitting ------------------------------------------------------------------------------------------------

    def _choose(self, graph: Graph, seed: np.random.SeedSequence) -> dict[str, Any]:
        """What a model takes from the data before its chains begin, published with what they find."""
        return {}

    def _engine(self, graph: Graph, chosen: dict[str, Any]) -> Any:
        """The engine of this model."""
        raise NotImplementedError

    def _observed(self, graph: Graph) -> Graph:
        """The graph as the engine sees it."""
        return graph

    def _precision(self, engine: Any, states: list[Any]) -> float:
        return 1.0

    def _size(self, graph: Graph) -> float:
        """How many communities a chain is thought to have, to tell what it takes."""
        return 10.0

    def _sweep_seconds(self, graph: Graph) -> float:
        """About how long a sweep takes."""
        raise NotImplementedError

    def _draw_bytes(self, graph: Graph) -> float:
        """Memory of one draw."""
        size = self._size(graph)
        return 8.0 * size * (graph.n_nodes + size)

    def _on(self, graph: Graph) -> str:
        return f"{type(self).__name__} on {graph.n_nodes:,} nodes"

    def _announce(self, graph: Graph) -> None:
        """Say what takes long, refuse what memory cannot hold."""
        sweeps = self.n_chains * (self.n_burn + self.n_draws) / workers(self.n_jobs, self.n_chains)
        kept = self.n_chains * min(self.n_draws, self.max_draws) + 2
        n_bytes = kept * self._draw_bytes(graph) + self._dyad_bytes * float(graph.n_nodes) ** 2
        announce(self._on(graph), sweeps * self._sweep_seconds(graph), n_bytes, CURE)

    def _fit(self, graph: Graph, run: Run) -> Fitted:
        self._announce(graph)
        *chain_seeds, spare = run.seeds.spawn(self.n_chains + 1)
        before = {chain.run: chain for chain in self.chains_} if self.warm_start and run.previous is not None else {}
        with announce_compilation():
            chosen = self._choose(graph, spare)
            engine, observed = self._engine(graph, chosen), self._observed(graph)
            self._check_engine(engine, before)
            recipe = Recipe(engine, self._density, self.n_burn, self.n_draws, self.max_draws)
            tasks = [Task(r, self.n_chains, seed, before.get(r)) for r, seed in enumerate(chain_seeds)]
            job = partial(run_chain, observed, recipe, run.callback)
            if run.client is None:
                job = partial(_continued, job, recipe, self._store)
            kept = run_kept(
                self._store, "chain", job, tasks, self.n_jobs, run.client,
                outward=vars, inward=lambda task, saved: Chain(**saved),
            )  # fmt: skip
            chains = list(kept.values())
        self._last_engine = engine
        precision = self._precision(engine, [chain.peak[1] for chain in chains])
        return self._diagnosed(from_chains(observed, recipe, chains, precision, **chosen), chains)

    def _diagnosed(self, fitted: Fitted, chains: list[Chain]) -> Fitted:
        """The same with its diagnostics, and a warning when they are poor."""
        found = summarise(
            {
                self._density: [chain.density[chain.n_burned :] for chain in chains],
                "n_communities": [chain.n_communities[chain.n_burned :] for chain in chains],
            }
        )
        fitted = replace(fitted, more={**fitted.more, "diagnostics": found})
        if (words := complaint(found, len(chains))) is None:
            return fitted
        cure = f"Fit again with warm_start=True to go on, or with n_burn={2 * self.n_burn}, n_draws={2 * self.n_draws}."
        log.warning("%s %s", words, cure, extra={"passing": True})  # the fit's notes have it
        return fitted.noting(f"{words} {cure}")

    def _check_engine(self, engine: Any, before: dict[int, Chain]) -> None:
        if before and engine != self._last_engine:
            raise ValueError(
                f"{type(self).__name__}(warm_start=True) continues chains of the same model, and its parameters have "
                "changed. Use warm_start=False."
            )

    def _check_parameters(self, graph: Graph) -> None:
        check_integer(self, "n_burn", 0)
        for name, most in (("n_draws", MOST), ("n_chains", MOST_RUNS), ("max_draws", MOST)):
            check_integer(self, name, 1, most)
        check_real(self, "structure", low=0.0, or_else="auto")
        check_choice(self, "warm_start", (True, False))
        check_nodes(self, graph.n_nodes)
        check_memory(self._dyad_bytes * float(graph.n_nodes) ** 2, self._on(graph), CURE)
        if self.warm_start and hasattr(self, "graph_"):
            self._check_warm_start(graph)

    def _check_warm_start(self, graph: Graph) -> None:
        name = f"{type(self).__name__}(warm_start=True)"
        if not hasattr(self, "chains_"):
            raise ValueError(f"{name} has no chains to continue: files do not keep them. Use warm_start=False.")
        if not _same_graph(graph, self.graph_):
            raise ValueError(
                f"{name} continues chains on the graph of the last fit, and this is another one. Use warm_start=False."
            )
        if self.n_chains < len(self.chains_):
            raise ValueError(
                f"{name} continues the {len(self.chains_)} chains of the last fit; n_chains is {self.n_chains}. "
                f"Use warm_start=False, or n_chains={len(self.chains_)}."
            )


def _continued(job: Any, recipe: Recipe, store: Store, task: Task, stop: Any) -> Chain:
    """A chain that goes on from the sweep that was kept last, and keeps where it stands after every sweep."""
    key = f"chain.{task.run}"
    saved = store.get(f"{key}.state")
    graph, _, callback = job.args
    if saved is not MISSING:
        chain = Chain(**saved)
        task = task._replace(chain=chain)
        recipe = recipe._replace(n_draws=recipe.n_draws - chain.n_sampled)
    return run_chain(graph, recipe, callback, task, stop, lambda chain: store.state(key, lambda: vars(chain)))


def check_prior(model: object, name: str) -> None:
    """Refuse what is not a pair of positive numbers."""
    value = getattr(model, name)
    try:
        good = len(value) == 2 and all(np.isfinite(v) and v > 0 for v in value)
    except TypeError:
        good = False
    if not good:
        raise ValueError(f"{type(model).__name__} needs {name} to be two positive numbers; it is {value!r}.")


def check_links(model: object, graph: Graph, family: str, cure: str) -> None:
    """Refuse link values that the family cannot have produced, with a cure that this model offers."""
    check_values(FAMILIES[family], graph.links.data, type(model).__name__, f"Use {cure}.")


def _same_graph(a: Graph, b: Graph) -> bool:
    if a is b:
        return True
    if a.n_nodes != b.n_nodes or a.directed != b.directed or list(a.covariates) != list(b.covariates):
        return False
    if any(not np.array_equal(getattr(a.dyads, part), getattr(b.dyads, part)) for part in ("kind", "linkable")):
        return False
    pairs = [(a.links, b.links), (a.hidden, b.hidden), *zip(a.covariates.values(), b.covariates.values())]
    return all((one != other).nnz == 0 for one, other in pairs)
