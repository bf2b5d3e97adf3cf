"""Graphs that few people have, for all models, families and directions: an answer in [0, 1] or a sentence."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import sparse

from benchmarks.torture.guard import guarded, part
from klafter import Graph
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter
from klafter.models.paper import PaperKLafter

SHORT = {"n_burn": 2, "n_draws": 2, "n_chains": 1, "random_state": 0}
FAMILIES, SHARES, SECONDS = ("bernoulli", "poisson", "gaussian"), (0.0, 0.5, 0.95, 1.0), 120
MANY = 1000  # nodes from which only the few dyads of a sample are hidden
MODELS = {
    "KLafter": lambda f: KLafter(family=f, n_init=1, n_smooth=2, random_state=0),
    "KLafter, cloglog": lambda f: KLafter(family=f, link="cloglog", n_init=1, n_smooth=2, random_state=0),
    "KLafter, exposure": lambda f: KLafter(family=f, link="exposure", n_init=1, random_state=0),
    "PaperKLafter": lambda f: PaperKLafter(max_iter=2, random_state=0),
    "LFRM": lambda f: LFRM(family=f, **SHORT),
    "IRM": lambda f: IRM(family=f, **SHORT),
    "MMSB": lambda f: MMSB(n_communities=2, **SHORT),
    "EPM": lambda f: EPM(family=f, **SHORT),
}


def star(n: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))


def odd_graphs() -> dict[str, sparse.csr_array]:
    """Links from lower to higher numbers."""
    n, rng = 12, np.random.default_rng(0)
    hub = np.triu(rng.random((40, 40)) < 0.05, 1) * 1.0
    hub[0, 1:] = 1
    chain = np.eye(n, k=1)
    apart = np.kron(np.eye(2), np.triu(np.ones((6, 6)), 1))
    small = {
        "two": np.array([[0, 1.0], [0, 0]]), "two apart": np.zeros((2, 2)), "one": np.zeros((1, 1)),
        "nobody": np.zeros((n, n)), "clique": np.triu(np.ones((n, n)), 1), "two cliques": apart, "hub": hub,
        "chain": chain, "one link": np.eye(n, k=n - 1), "halves": chain * 0.5, "negative": -chain,
        "tiny": chain * 1e-300, "small": chain * 1e-40, "large": chain * 1e40, "huge": chain * 1e300,
        "mixed": chain * np.logspace(-40, 40, n), "very mixed": chain * np.logspace(-300, 300, n),
        "counts": chain * 2.0**60, "many counts": chain * 1e9, "one heavy": chain + np.eye(n, k=3) * 1e8,
    }  # fmt: skip
    large = {"singletons": sparse.csr_array((100_000, 100_000)), "star": star(12), "large star": star(3000)}
    return {name: sparse.csr_array(links) for name, links in small.items()} | large


def hidden_dyads(n: int, share: float) -> sparse.csr_array:
    """About a share of all dyads; of large graphs a sample."""
    rng = np.random.default_rng(0)
    if n <= MANY:
        return sparse.csr_array(np.triu(rng.random((n, n)) < share, 1))
    some = np.sort(rng.integers(0, n, (int(share * n), 2)), axis=1)
    some = np.unique(some[some[:, 0] < some[:, 1]], axis=0)
    return sparse.csr_array((np.ones(len(some), bool), some.T), shape=(n, n))


def answer(links: sparse.csr_array, make, family: str, share: float, directed: bool) -> None:
    """Fit, and look at some predictions."""
    n = links.shape[0]
    whole = links if directed else links + links.T
    graph = Graph(whole, directed=directed, hidden=hidden_dyads(n, share))
    model = make(family).fit(graph)
    chances = model.predict_proba(np.array([[0, 1], [1, 0], [0, n - 1]]))
    assert ((chances >= 0) & (chances <= 1)).all(), f"probabilities {chances}"
    model.top_links(2), model.communities(), model.unassigned(), repr(model)


def run(first: int, last: int) -> bool:
    """Cases from one number to another, and whether these were the last."""
    cases = list(product(odd_graphs().items(), MODELS.items(), FAMILIES, SHARES, (False, True)))
    for number in range(first, min(last, len(cases))):
        (title, links), (name, make), family, share, directed = cases[number]
        kind = f"{title}, {name}, {family}, {share:.0%} hidden, {'directed' if directed else 'undirected'}"

        def act(links=links, make=make, family=family, share=share, directed=directed):
            answer(links, make, family, share, directed)

        guarded(number, kind, act, (ValueError, MemoryError), limit=SECONDS)
    return last >= len(cases)


if __name__ == "__main__":
    part(run)
