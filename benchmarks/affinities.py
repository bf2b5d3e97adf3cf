"""How W should be drawn in LFRM: slices along lines against Polya-Gamma augmentation, by effective samples per second.

    python benchmarks/affinities.py [--networks nips234 protein230] [--draws 600]

Memberships and sociality stand still at a K-LAFTER fit; both samplers draw W and the offset from the same posterior.
Needs the extras ``bench`` and ``mcmc``. Results go to benchmarks/results/affinities.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from polyagamma import random_polyagamma
from scipy import sparse

from klafter.core.families import FAMILIES
from klafter.core.problem import copy_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.datasets import load_dataset
from klafter.jit.decorators import kernel
from klafter.models import KLafter
from klafter.sampling.diagnostics import effective_sample_size
from klafter.sampling.lfrm import start
from klafter.sampling.weights_kernels import draw_affinities, draw_offset
from klafter.search.dense.engine import init

RESULTS = Path(__file__).parent / "results" / "affinities.json"


@kernel
def draw(ws, rng):
    """W and b once each."""
    draw_affinities(ws, rng)
    draw_offset(ws, rng)


def slices(problem, state, n_draws: int, rng):
    """W by slices, b by a Metropolis step."""
    state = copy_state(state)
    rows, columns = np.triu_indices(len(state.z))
    ws = open_workspace(problem, state)
    draw(ws, rng)
    begun = time.process_time()
    found = []
    for _ in range(n_draws):
        ws = open_workspace(problem, state)
        draw(ws, rng)
        found.append(np.append(state.w[rows, columns], state.offset))
    return np.array(found), time.process_time() - begun


def augmented(problem, state, n_draws: int, rng):
    """W and b together, given a Polya-Gamma variable for every dyad."""
    n, k = problem.dyads.n, len(state.z)
    first, second = np.triu_indices(n, 1)
    z = state.z.astype(float)
    reach = [z[a, first] * z[b, second] + (a != b) * z[b, first] * z[a, second] for a in range(k) for b in range(a, k)]
    design = sparse.csr_array(np.column_stack([*reach, np.ones(len(first))]))
    links = problem.dyads.links_out
    y = np.zeros((n, n))
    for i in range(n):
        y[i, links.node[links.start[i] : links.start[i + 1]]] = 1.0
    kappa, fixed = y[first, second] - 0.5, state.sender[first] + state.sender[second]
    precision = np.full((k, k), problem.priors.offdiagonal)
    np.fill_diagonal(precision, problem.priors.diagonal)
    prior = np.diag(np.append(precision[np.triu_indices(k)], problem.priors.offset))
    theta = np.append(state.w[np.triu_indices(k)], state.offset)
    begun, found = time.process_time(), []
    for _ in range(n_draws):
        omega = random_polyagamma(1.0, design @ theta + fixed, random_state=rng)
        curve = (design.T @ sparse.diags_array(omega) @ design).toarray() + prior
        root = np.linalg.cholesky(curve)
        mean = np.linalg.solve(curve, design.T @ (kappa - omega * fixed))
        theta = mean + np.linalg.solve(root.T, rng.standard_normal(len(theta)))
        found.append(theta)
    return np.array(found), time.process_time() - begun


def compare(network: str, n_draws: int) -> dict:
    graph = load_dataset(network)
    model = KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(0.0, 1.0, 3.2, 1.4))
    rng = np.random.default_rng(0)
    state = start(problem, init(problem, rng, np.ascontiguousarray(model.memberships_.T.astype(np.uint8)))).state
    row = {"communities": len(state.z)}
    for name, sampler in (("slices", slices), ("polya_gamma", augmented)):
        draws, seconds = sampler(problem, state, n_draws, rng)
        kept = draws[n_draws // 5 :]
        sizes = np.array([effective_sample_size(kept[None, :, t]) for t in range(kept.shape[1])])
        row[name] = {
            "milliseconds_a_draw": 1e3 * seconds / n_draws,
            "median_ess_per_second": float(np.median(sizes) / (0.8 * seconds)),
            "least_ess_per_second": float(sizes.min() / (0.8 * seconds)),
            "mean": kept.mean(axis=0).tolist(),
        }
    gap = np.abs(np.array(row["slices"].pop("mean")) - np.array(row["polya_gamma"].pop("mean")))
    return {**row, "largest_gap_of_means": float(gap.max())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["nips234", "protein230"])
    parser.add_argument("--draws", type=int, default=600)
    options = parser.parse_args()
    content = {"command": " ".join(["python benchmarks/affinities.py", *sys.argv[1:]])}
    content["networks"] = {network: compare(network, options.draws) for network in options.networks}
    print(json.dumps(content, indent=1))
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
