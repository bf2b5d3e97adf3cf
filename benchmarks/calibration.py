"""Is what is claimed true? On networks drawn from the model, how often memberships said to be 80% are right.

    python benchmarks/calibration.py [--model klafter] [--networks 200] [--first 0] [--nodes 40] [--name klafter]

Half of the networks have memberships from the Indian buffet, alpha ~ Gamma(1, 1), half from learned counts (2 to 5
communities, any distribution of the number of memberships equally likely; the prior itself would have one or none in
most networks of this size). Scales of affinities, affinities and sociality come from the priors of the model, the
offset is -3. The truth is matched to what is shown as a draw is: a column of `memberships_` is compared with the true
community that it is matched to, one to one, by overlap; where there is none, every membership said to be there is
wrong. Affinities near 0 show nothing in the links, and nothing is claimed of communities that were not found.
Communities are counted once where several have the same members. Writes benchmarks/results/calibration.json, where runs
of other names stay.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np

from klafter import LFRM, Graph, KLafter
from klafter.models.results.matching import average_memberships
from klafter.models.results.posterior import distinct
from klafter.sampling.lfrm import ALPHA_RATE, ALPHA_SHAPE, SCALE_SHAPE

RESULTS = Path(__file__).parent / "results" / "calibration.json"
OFFSET, INSIDE, BETWEEN = -3.0, 3.2, 1.4
MODELS = {"klafter": KLafter, "lfrm": partial(LFRM, init="klafter")}
EDGES = np.array([0.0, 0.02, 0.1, 0.25, 0.4, 0.6, 0.75, 0.85, 0.98, 1.0])

KEPT = ("prior", "seed", "links", "planted", "found", "interval", "seconds")


def draw_buffet(n: int, rng) -> np.ndarray:
    """(n, K) memberships from the Indian buffet with alpha ~ Gamma(1, 1)."""
    columns: list[np.ndarray] = []
    alpha = rng.gamma(ALPHA_SHAPE) / ALPHA_RATE
    for i in range(n):
        for column in columns:
            column[i] = rng.random() < column.sum() / (i + 1)
        columns += [np.arange(n) == i for _ in range(rng.poisson(alpha / (i + 1)))]
    return np.array(columns, float).reshape(len(columns), n).T


def draw_counts(n: int, rng) -> np.ndarray:
    """(n, K) memberships whose numbers, and whose sizes of communities, have any distribution equally likely."""
    k = int(rng.integers(2, 6))
    share, size, z = rng.dirichlet(np.ones(k + 1)), rng.dirichlet(np.ones(k)), np.zeros((n, k))
    for i, m in enumerate(rng.choice(k + 1, n, p=share)):
        z[i, rng.choice(k, m, replace=False, p=size)] = 1.0
    return z[:, z.any(axis=0)]


def draw_network(prior: str, n: int, seed: int) -> tuple[Graph, np.ndarray]:
    """A network, and the memberships it was drawn from."""
    rng = np.random.default_rng(seed)
    z = draw_buffet(n, rng) if prior == "buffet" else draw_counts(n, rng)
    z = z[:, distinct(z)]
    k = z.shape[1]
    inside, between = (scale * np.sqrt(SCALE_SHAPE / rng.gamma(SCALE_SHAPE)) for scale in (INSIDE, BETWEEN))
    w = np.triu(rng.normal(0.0, between, (k, k)), 1)
    w += w.T + np.diag(rng.normal(0.0, inside, k))
    social = rng.normal(size=n)
    x = OFFSET + social[:, None] + social + z @ w @ z.T
    links = np.triu(rng.random((n, n)) < 1 / (1 + np.exp(-x)), 1)
    return Graph(links.astype(float)), z


def measure(name: str, prior: str, n: int, seed: int) -> dict:
    """Claims of one fit and whether they are true."""
    graph, z = draw_network(prior, n, seed)
    model = MODELS[name](random_state=0, prior=prior).fit(graph)
    finest = getattr(model, "finest_", None)
    shown = np.asarray(model.memberships_)
    truth = average_memberships(shown, [z], None if finest is None else finest.memberships.toarray())
    place = np.digitize(model.membership_proba_, EDGES[1:-1])
    low, high = model.n_communities_interval(0.9)
    return {
        "prior": prior,
        "seed": seed,
        "links": graph.n_links,
        "planted": z.shape[1],
        "found": model.n_communities_,
        "interval": [int(low), int(high)],
        "claims": np.bincount(place.ravel(), minlength=len(EDGES) - 1).tolist(),
        "said": np.bincount(place.ravel(), model.membership_proba_.ravel(), len(EDGES) - 1).round(3).tolist(),
        "right": np.bincount(place.ravel(), truth.ravel(), len(EDGES) - 1).astype(int).tolist(),
        "seconds": model.fit_seconds_,
    }


def summary(rows: list[dict]) -> dict:
    """What was said, and how much of it is right, between the edges; how often the interval holds the truth."""
    claims, said, right = (np.sum([row[name] for row in rows], axis=0) for name in ("claims", "said", "right"))
    inside = [row["interval"][0] <= row["planted"] <= row["interval"][1] for row in rows]
    return {
        "networks": len(rows),
        "edges": EDGES.tolist(),
        "claims": claims.tolist(),
        "said": (said / np.maximum(claims, 1)).round(3).tolist(),
        "right": (right / np.maximum(claims, 1)).round(3).tolist(),
        "interval_holds": float(np.mean(inside)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--model", choices=MODELS, default="klafter")
    parser.add_argument("--name", help="of the run in the file; by default that of the model")
    args = parser.parse_args()
    rows: list[dict] = []
    for seed in range(args.first, args.first + args.networks // 2):
        for prior in ("buffet", "counts"):
            rows.append(measure(args.model, prior, args.nodes, seed))
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
    run = {
        "command": " ".join(["python benchmarks/calibration.py", *sys.argv[1:]]),
        **{prior: summary([row for row in rows if row["prior"] == prior]) for prior in ("buffet", "counts")},
        "all": summary(rows),
        "fits": [{key: row[key] for key in KEPT} for row in rows],
    }
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**saved, args.name or args.model: run}) + "\n")
    sys.stdout.write(json.dumps({name: run[name] for name in ("buffet", "counts", "all")}, indent=1) + "\n")


if __name__ == "__main__":
    main()
