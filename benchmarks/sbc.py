"""Simulation-based calibration of all samplers: the rank of the truth among draws of the posterior is uniform.

    python benchmarks/sbc.py [--replicates 1000]

Parameters are drawn from the prior and a network of five nodes from them; a chain that begins at another draw of the
prior gives 19 draws, thinned, and what was drawn first has a rank among them, ties broken at random. If the sampler is
right each of the 20 ranks is equally likely (Talts, Betancourt, Simpson, Vehtari, Gelman 2018); chi-squared says how
unlikely the counts are. Priors and data come from the oracles of the tests. Writes benchmarks/results/sbc.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chisquare

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import oracles_lfrm  # noqa: E402
import oracles_sampling as oracle  # noqa: E402

from klafter.core.families import FAMILIES  # noqa: E402
from klafter.core.problem import make_priors, make_problem  # noqa: E402
from klafter.sampling import epm, irm, lfrm, mmsb  # noqa: E402
from klafter.sampling.mmsb_kernels import Counts  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "sbc.json"
N, DRAWS = 5, 19
HIDDEN = np.zeros((N, N), bool)
HIDDEN[0, 3] = HIDDEN[3, 0] = True
DYADS = oracle.dyads_of(HIDDEN, False)


class Sampler(NamedTuple):
    """A prior, data given parameters, a step given data, and numbers of which the ranks are taken, by name."""

    prior: Callable[[Any], Any]
    data: Callable[[Any, Any], np.ndarray]
    step: Callable[[np.ndarray, Any, Any], Any]
    observe: Callable[[Any, np.ndarray], dict[str, float]]
    thin: int = 10


def ranks(sampler: Sampler, rng) -> dict[str, int]:
    """Of one replicate, for each number."""
    truth = sampler.prior(rng)
    y = sampler.data(truth, rng)
    state, seen = sampler.prior(rng), []
    for t in range(sampler.thin * (DRAWS + 5)):
        state = sampler.step(y, state, rng)
        if t % sampler.thin == sampler.thin - 1 and t >= 5 * sampler.thin:
            seen.append(sampler.observe(state, y))
    answer = {}
    for name, value in sampler.observe(truth, y).items():
        values = np.array([line[name] for line in seen])
        answer[name] = int((values < value).sum() + rng.integers((values == value).sum() + 1))
    return answer


def calibrate(sampler: Sampler, replicates: int, seed: int = 0) -> dict[str, dict[str, Any]]:
    """How often each rank came up, and the probability of counts as uneven."""
    rng = np.random.default_rng(seed)
    rows = [ranks(sampler, rng) for _ in range(replicates)]
    counts = {name: np.bincount([row[name] for row in rows], minlength=DRAWS + 1) for name in rows[0]}
    return {name: {"p": float(chisquare(line).pvalue), "ranks": line.tolist()} for name, line in counts.items()}


# ---- the four models, LFRM with either prior of memberships -----------------------------------------------------


def lfrm_sampler(*, counts: bool) -> Sampler:
    law, scales = FAMILIES["bernoulli"].law(), (3.2, 1.4)
    usual = make_priors(0.5, 1.0, *scales, sociality_scale=0.7, offset_scale=1.0)
    empty = make_problem(oracle.small_graph(np.zeros((N, N)), HIDDEN, False), law, usual, counts=counts)

    def prior(rng):
        drawn = oracles_lfrm.draw_priors(usual, lfrm.SCALE_SHAPE, scales, rng)
        drawn = drawn._replace(penalty=usual.penalty) if counts else drawn
        return lfrm.Chain(oracles_lfrm.draw_state(empty._replace(priors=drawn), rng), drawn, usual)

    def step(y, chain, rng):
        problem = empty._replace(dyads=oracle.small_graph(y, HIDDEN, False).dyads)
        return lfrm.step(problem, chain, rng, learn=True)

    def observe(chain, y):
        state = chain.state
        return {
            "n_communities": len(state.z),
            "memberships": int(state.z.sum()),
            "in_none": int((state.z.sum(axis=0) == 0).sum()) if len(state.z) else N,
            "shared_by_links": float((y * (state.z.T.astype(float) @ state.z)).sum()),
            "precision": chain.priors.diagonal,
            "offset": float(state.offset[0]),
            "sociality": float((state.sender**2).sum()),
            **({} if counts else {"alpha": -chain.priors.penalty}),
        }

    return Sampler(prior, lambda c, rng: oracles_lfrm.draw_data(empty, c.state, HIDDEN, rng), step, observe)


def irm_sampler() -> Sampler:
    engine = irm.IRMEngine(prior=(0.5, 0.8), concentration_prior=(1.5, 1.0))
    return Sampler(
        lambda rng: irm.State(*oracle.irm_prior(N, engine, rng)),
        lambda state, rng: oracle.irm_data(state.blocks, HIDDEN, False, engine, rng),
        lambda y, state, rng: engine.step(oracle.small_graph(y, HIDDEN, False), state, rng),
        lambda state, y: {
            "n_communities": int(state.blocks.max()) + 1,
            "largest": int(np.bincount(state.blocks).max()),
            "concentration": state.concentration,
            "links_inside": float((y * np.equal.outer(state.blocks, state.blocks)).sum()),
        },
    )


def mmsb_sampler() -> Sampler:
    engine = mmsb.MMSBEngine(n_communities=2, alpha_prior=(2.0, 2.0), prior=(0.6, 0.9))

    def step(y, state, rng):
        roles, alpha = state
        counts = Counts(*oracle.role_counts(y, DYADS, roles, N, 2, False))
        moved = engine.step(oracle.small_graph(y, HIDDEN, False), mmsb.State(roles, counts, alpha, False), rng)
        return moved.roles, moved.alpha

    def observe(state, y):
        roles, alpha = state
        shares, role_pairs = oracle.role_counts(y, DYADS, roles, N, 2, False)
        return {"alpha": alpha, "purity": float((shares**2).sum()), "alike": float(np.trace(role_pairs[1]))}

    return Sampler(
        lambda rng: oracle.mmsb_prior(N, DYADS, engine, rng),
        lambda state, rng: oracle.mmsb_data(state[0], DYADS, N, False, engine, rng),
        step,
        observe,
    )


def epm_sampler() -> Sampler:
    engine = epm.EPMEngine(n_communities=2, shape_prior=(3.0, 2.0), rate_prior=(3.0, 2.0), hyper_prior=(3.0, 2.0))

    def prior(rng):
        drawn = oracle.epm_prior(N, engine, rng, 1)
        return epm.State(**{name: part[0] if part.ndim > 1 else float(part[0]) for name, part in drawn.items()})

    def observe(state, y):
        rates = oracle.epm_rates(state.loadings, state.affinities)
        return {
            "rate": float(rates[0, 1]),
            "hidden_rate": float(rates[0, 3]),
            "affinities": float(state.affinities.sum()),
            "weights": float(np.exp(state.log_weights).sum()),
            "inflation": state.inflation,
            "mass": state.mass,
        }

    return Sampler(
        prior,
        lambda state, rng: oracle.epm_data(state, HIDDEN, engine, rng),
        lambda y, state, rng: engine.step(oracle.small_graph(y, HIDDEN, False), state, rng),
        observe,
        thin=40,
    )


SAMPLERS = {
    "LFRM, buffet": lfrm_sampler(counts=False),
    "LFRM, counts": lfrm_sampler(counts=True),
    "IRM": irm_sampler(),
    "MMSB": mmsb_sampler(),
    "EPM": epm_sampler(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    args, found = parser.parse_args(), {}
    for name, sampler in SAMPLERS.items():
        began = time.perf_counter()
        found[name] = calibrate(sampler, args.replicates)
        sys.stdout.write(f"{name}: {time.perf_counter() - began:.0f} s\n")
        sys.stdout.writelines(f"    {number:16} p = {line['p']:.3f}\n" for number, line in found[name].items())
        sys.stdout.flush()
    command = " ".join(["python benchmarks/sbc.py", *sys.argv[1:]])
    RESULTS.write_text(json.dumps({"command": command, "nodes": N, "draws": DRAWS, "samplers": found}) + "\n")


if __name__ == "__main__":
    main()
