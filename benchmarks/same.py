"""Do twenty fits find the same as before, to the last digit? The check for changes that should change no result.

    python benchmarks/same.py --save before.json                    before the change
    python benchmarks/same.py --against before.json                 after it; ends with 1 where anything differs
    python benchmarks/same.py --against before.json --only counts two_mode

Fits with their defaults and one seed, of both engines: directed, counts, real numbers, hidden dyads, two kinds of
nodes, covariates, attributes, affinities between communities. A record has the link, the prior, the score F, the
communities and the probabilities of a few pairs, so that sweeps and expert count too. Digits are those of one machine
and its libraries: compare records of the same one. All of it takes about two minutes of one core.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import klafter as kl
from klafter import datasets
from klafter.evaluation.saved import Saved
from klafter.graph.writing import write_json

Case = tuple[Callable[[], kl.Graph], dict[str, Any]]
EXPOSURE = {"link": "exposure"}
PAIRS = 24  # whose probabilities are compared


def planted(n: int, k: int, **options: Any) -> kl.Graph:
    """Communities that the dense engine describes."""
    return datasets.make_lfrm(n, k, random_state=0, **options)[0]


def sparse(n: int, degree: float = 12.0, size: int = 25, **options: Any) -> kl.Graph:
    """Communities that the sparse engine describes."""
    return datasets.make_overlapping(n, mean_degree=degree, community_size=size, random_state=0, **options)[0]


def hiding(graph: kl.Graph) -> kl.Graph:
    """A tenth of the dyads is unknown."""
    return kl.split_dyads(graph, 0.1, random_state=0)[0]


def counted(graph: kl.Graph) -> kl.Graph:
    """Links that were seen once or several times."""
    links = graph.links.copy()
    links.data[:] = 1 + (links.nonzero()[0] + links.nonzero()[1]) % 3
    return graph.replace(links=links)


def described(n: int) -> kl.Graph:
    """A covariate of pairs, and an attribute of nodes, beside the links."""
    near = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 5.0)
    return planted(n, 3).replace(covariates={"near": near}, attributes={"office": [f"o{i % 4}" for i in range(n)]})


def bipartite(n: int, groups: int) -> kl.Graph:
    """Two kinds of nodes in groups of both."""
    group = np.arange(n) % groups
    rate = np.where(group[:, None] == group, 0.4, 0.02)
    return kl.Graph.from_biadjacency(np.random.default_rng(0).random((n, n)) < rate)


def facing(directed: bool) -> kl.Graph:
    """Sets of nodes that link to each other and hardly inside: affinities between communities."""
    group = np.arange(120) // 20
    towards = group[:, None] == group ^ 1
    drawn = np.random.default_rng(0).random((120, 120)) < np.where(towards, 0.4, 0.01)
    np.fill_diagonal(drawn, False)
    return kl.Graph((drawn if directed else np.triu(drawn) | np.triu(drawn).T).astype(float), directed=directed)


CASES: dict[str, Case] = {
    "karate": (datasets.load_karate, {}),
    "planted": (lambda: planted(60, 3), {}),
    "directed": (lambda: planted(50, 3, directed=True), {}),
    "counts": (lambda: counted(planted(50, 3)), {"family": "poisson"}),
    "directed_counts": (lambda: counted(planted(40, 2, directed=True)), {"family": "poisson"}),
    "values": (lambda: planted(40, 2, family="gaussian"), {"family": "gaussian"}),
    "hidden": (lambda: hiding(planted(50, 3)), {}),
    "hidden_directed": (lambda: hiding(planted(40, 2, directed=True)), {}),
    "two_mode": (datasets.load_southern_women, {}),
    "covariates": (lambda: described(40), {}),
    "attributes": (lambda: described(40), {"attributes": ["office"]}),
    "cloglog": (datasets.load_karate, {"link": "cloglog"}),
    "either_link": (lambda: sparse(310), {}),
    "large": (lambda: sparse(2_510, 10.0, 25, memberships=(1, 1)), {}),
    "exposure": (datasets.load_les_miserables, EXPOSURE),
    "exposure_directed": (lambda: facing(True), EXPOSURE),
    "exposure_bridges": (lambda: facing(False), EXPOSURE),
    "exposure_counts": (lambda: counted(sparse(200)), {**EXPOSURE, "family": "poisson"}),
    "exposure_hidden": (lambda: hiding(sparse(200)), EXPOSURE),
    "exposure_two_mode": (lambda: bipartite(60, 4), EXPOSURE),
}


def record(name: str) -> dict[str, Any]:
    """What one fit found."""
    make, options = CASES[name]
    graph = make()
    model = kl.KLafter(random_state=0, n_jobs=1, **options).fit(graph)
    pairs = np.random.default_rng(0).integers(graph.n_nodes, size=(PAIRS, 2))
    return {
        "link": model.link_,
        "prior": model.prior_,
        "objective": float(model.objective_),
        "communities": [sorted(map(str, members)) for members in model.communities()],
        "probabilities": [float(p) for p in model.predict_proba(pairs)],
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What two records of a fit do not share, in words."""
    found = [f"{key} {before[key]}, now {after[key]}" for key in ("link", "prior") if before[key] != after[key]]
    if before["objective"] != after["objective"]:
        change = after["objective"] - before["objective"]
        found.append(f"objective {before['objective']!r}, now {after['objective']!r} ({change:+.3g})")
    if before["communities"] != after["communities"]:
        sizes = [len(each["communities"]) for each in (before, after)]
        found.append(f"communities differ ({sizes[0]}, now {sizes[1]})")
    if before["probabilities"] != after["probabilities"]:
        found.append("probabilities differ")
    return found


def compare(name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Say whether a fit found the same."""
    found = differences(before, after)
    print(f"{name}: {'; '.join(found) or 'the same'}", flush=True)
    return not found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep what is found")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with what was kept")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="FIT", help=", ".join(CASES))
    args = parser.parse_args(arguments)
    if not (args.save or args.against):
        parser.error("give --save FILE, --against FILE, or both")
    if args.against and not args.against.exists():
        parser.error(f"{args.against} does not exist: --save it with the code as it was")
    before, after, same = Saved(args.against), Saved(), True
    for name in args.only:
        begun = time.process_time()
        after.add(name, record(name))
        if args.against is None:
            print(f"{name}: {after[name]['objective']!r}, {time.process_time() - begun:.1f} CPU s", flush=True)
        elif name not in before:
            print(f"{name}: not in {args.against}", flush=True)
            same = False
        else:
            same &= compare(name, before[name], after[name])
    if args.save:
        write_json(args.save, {"records": after})
    return 0 if same else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.exit(main())
