"""Do memberships add links, or share those of a node? The exposure model and two others, by score, on one cover each.

    python benchmarks/sharing.py [NETWORK ...]

KLafter's x_ij = t_i t_j (e + sum_k w_k z_ik z_jk) expects more links of nodes in more communities: a degree factor t
has its prior mean, 1, whatever they hold. In graphs of the LFR generator a node has its degree before it has
communities. `smaller factors` has the prior mean 1/m for a node of m communities; `shared links` divides w by m_i m_j.
For each network: F of the cover that KLafter finds and, on LFR graphs, of the true one. Weights are fitted anew for
each, with a plain matrix of links. KLAFTER_DATA names the folder of networks/ and lfr/. Writes
benchmarks/results/sharing.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
from known import read_network
from scipy import sparse
from scipy.special import gammaln

import klafter as kl
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "sharing.json"
DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data"))
NETWORKS = (
    "lfr/lfr_n1000_k20_mu0.3_on10_om4", "lfr/lfr_n1000_k20_mu0.3_on50_om3", "networks/football",
    "networks/ego_facebook_348", "networks/usair", "networks/netscience_seal",
)  # fmt: skip
MODELS = {"as it is": (0.0, 0.0), "smaller factors": (1.0, 0.0), "shared links": (0.0, 1.0)}
DEGREE_PRIOR, ROUNDS = 5.0, 60
HALF_LOG_2_PI = 0.5 * np.log(2 * np.pi)


def score(links: sparse.csr_array, z: np.ndarray, prior_mean: float, shared: float) -> float:
    """F at learned counts, t_i with the prior mean m_i^-prior_mean and w divided by (m_i m_j)^shared."""
    n, a = len(z), DEGREE_PRIOR
    i, j = sparse.triu(links, 1).nonzero()
    m = np.maximum(z.sum(axis=1), 1.0)
    v, b = z / m[:, None] ** shared, m**prior_mean
    both = sparse.csr_array(v[i] * v[j])
    t, w, e = 1.0 / b, np.full(z.shape[1], 0.3), 0.01

    def counts():
        """Expected counts behind the links, by link and in units of u; and x."""
        u = both @ w + e
        x = t[i] * t[j] * u
        mean = x / -np.expm1(-x)
        return mean, mean / u, x

    def pairs():
        inside = ((t @ v) ** 2 - t**2 @ v**2) / 2
        return inside, (t.sum() ** 2 - t @ t) / 2

    def held(mean):
        return np.bincount(i, mean, n) + np.bincount(j, mean, n)

    for _ in range(ROUNDS):
        _, credit, _ = counts()
        inside, everywhere = pairs()
        w, e = (w * (both.T @ credit) + 1) / (inside + 1), (e * credit.sum() + 1) / (everywhere + 1)
        rate = e * (t.sum() - t) + (v * w * (t @ v - t[:, None] * v)).sum(axis=1)
        t = np.sqrt(t * (a + held(counts()[0])) / (a * b + rate))
    mean, credit, x = counts()
    inside, everywhere = pairs()
    fit = e * everywhere + w @ inside - (x + np.log(-np.expm1(-x))).sum()
    rates, behind = np.append(w, e), np.append(w * (both.T @ credit), e * credit.sum())
    evidence = (rates - np.log(rates) + 0.5 * np.log(behind + rates) - HALF_LOG_2_PI).sum()
    evidence += n * (gammaln(a) - a * np.log(a) + a - HALF_LOG_2_PI) + 0.5 * np.log(a + held(mean)).sum()
    return float(fit + a * (t * b - 1 - np.log(t * b)).sum() + evidence + price(z))


def price(z: np.ndarray) -> float:
    """Of a cover, at learned counts; see ``klafter.core.cover_price``."""
    size, m = z.sum(axis=0), z.sum(axis=1)
    n, k, total = len(z), len(size), size.sum()
    numbers = choose(n + k, k) + gammaln(n + 1) - gammaln(np.bincount(m.astype(int)) + 1).sum() - gammaln(k + 1)
    which = choose(total - 1, k - 1) + gammaln(total + 1) - gammaln(size + 1).sum() - gammaln(m + 1).sum()
    return float(numbers + which)


def choose(n: float, k: float) -> float:
    """log C(n, k)."""
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def columns(communities, n: int) -> np.ndarray:
    z = np.zeros((n, len(communities)))
    for k, members in enumerate(communities):
        z[list(members), k] = 1.0
    return z


def measure(name: str) -> dict:
    """Scores of the cover found, and of the true one where a generator made it."""
    path = DATA / name
    graph, truth = read_network(path.parent, path.name)
    graph = kl.Graph(sparse.csr_array((graph.links + graph.links.T) != 0).astype(float))
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    covers = {"found": np.asarray(sparse.csr_array(model.memberships_).toarray(), float)}
    if name.startswith("lfr/"):
        covers["true"] = columns(truth, graph.n_nodes)
    scores = {
        which: {m: round(score(graph.links, z, *how), 1) for m, how in MODELS.items()} for which, z in covers.items()
    }
    return {
        "network": path.name,
        "nodes": graph.n_nodes,
        "in_several": int((covers["found"].sum(axis=1) > 1).sum()),
        **scores,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    args = parser.parse_args()
    rows = []
    for name in args.networks:
        rows.append(measure(name))
        sys.stdout.write(json.dumps(rows[-1]) + "\n")
        sys.stdout.flush()
    write_json(RESULTS, {"command": " ".join(["python benchmarks/sharing.py", *sys.argv[1:]]), "rows": rows})


if __name__ == "__main__":
    main()
