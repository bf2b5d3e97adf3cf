"""The paper's five systems side by side: clean-split AUC, speed, and what a K-LAFTER start saves LFRM.

    python benchmarks/siblings.py                                 everything (hours)
    python benchmarks/siblings.py auc --splits 2 --networks protein230 --models IRM EPM
    python benchmarks/siblings.py speed --sizes 230 500
    python benchmarks/siblings.py starts --splits 1 --sweeps 50

KLAFTER_DATA names the folder of the public data files. Results go to benchmarks/results/siblings.json; each part
replaces only its own entries. The curves of the third part also go to lfrm_starts.png.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from plain_lfrm import PlainLFRM

from klafter.core.responses import RESPONSES
from klafter.datasets import fetch_lazega, fetch_nips234, fetch_protein230, make_overlapping
from klafter.evaluation import link_measures
from klafter.graph import Graph, split_dyads
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter
from klafter.sampling.irm import IRMEngine
from klafter.sampling.lfrm_engine import LFRMEngine
from klafter.sampling.mmsb import MMSBEngine

RESULTS = Path(__file__).resolve().parent / "results"
NETWORKS = {
    "advice": partial(fetch_lazega, "advice"),
    "work": partial(fetch_lazega, "work"),
    "friend": partial(fetch_lazega, "friend"),
    "protein230": fetch_protein230,
    "nips234": fetch_nips234,
}
# Table 1 of Arora et al. (IJCAI 2018); its splits leave the mirror of a hidden entry visible, ours do not
PUBLISHED = {
    "MMSB": {"advice": 0.813, "work": 0.844, "friend": 0.846, "nips234": 0.871},
    "EPM": {"protein230": 0.952, "nips234": 0.947},
    "IRM": {"advice": 0.796, "work": 0.826, "friend": 0.821, "protein230": 0.934, "nips234": 0.948},
    "LFRM": {"advice": 0.815, "work": 0.741, "friend": 0.806, "protein230": 0.892, "nips234": 0.951},
    "KLafter": {"advice": 0.864, "work": 0.833, "friend": 0.829, "protein230": 0.958, "nips234": 0.966},
}
MODELS = {
    "IRM": lambda seed: IRM(n_chains=2, random_state=seed),
    "MMSB": lambda seed: MMSB(n_communities="auto", n_chains=2, random_state=seed),
    "EPM": lambda seed: EPM(random_state=seed),
    "LFRM": lambda seed: LFRM(n_chains=4, init="irm", random_state=seed),
    "KLafter": lambda seed: KLafter(random_state=seed),
}


# ---- AUC --------------------------------------------------------------------------------------------------------


def auc(options) -> dict:
    """Tie-averaged ROC AUC over all hidden dyads of clean splits, a fifth hidden."""
    table: dict = {}
    for network in options.networks:
        graph = NETWORKS[network]()
        for name in options.models:
            symmetrised = name == "EPM" and graph.directed
            runs = [auc_of(name, graph.symmetrize() if symmetrised else graph, s) for s in range(options.splits)]
            for label in runs[0]:
                scores, seconds = np.array([run[label] for run in runs]).T
                table[f"{network} / {label}"] = row = {
                    "auc": scores.tolist(),
                    "mean": scores.mean(),
                    "standard_error": scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None,
                    "seconds": seconds.mean(),
                    "published": PUBLISHED.get(name.split(" ")[0], {}).get(network),
                    "symmetrised": symmetrised,
                    "model": repr(MODELS[name](None)),
                }
                show_auc(network, label, row)
    return table


def auc_of(name: str, graph: Graph, seed: int) -> dict[str, tuple[float, float]]:
    """AUC and seconds of one fit; where the model has the structural expert, without it and with it."""
    train, held = split_dyads(graph, random_state=seed)
    started = time.perf_counter()
    model = MODELS[name](seed).fit(train)
    seconds = time.perf_counter() - started
    answer = {}
    if model.structure:
        answer[f"{name} + structure"] = link_measures(held.values, model.predict_proba(held.pairs))["roc_auc"], seconds
        model.structure = 0.0
    answer[name] = link_measures(held.values, model.predict_proba(held.pairs))["roc_auc"], seconds
    return answer


def show_auc(network: str, name: str, row: dict) -> None:
    published = "" if row["published"] is None else f"   published {row['published']:.3f} (other protocol)"
    note = "   symmetrised graph" if row["symmetrised"] else ""
    print(f"{network:12} {name:20} {row['mean']:.3f}   {row['seconds']:6.1f} s a fit{published}{note}", flush=True)


# ---- speed ------------------------------------------------------------------------------------------------------


def engines() -> dict:
    return {
        "LFRM": LFRMEngine(start="irm"),
        "IRM": IRMEngine(),
        "MMSB": MMSBEngine(10),
        "EPM": EPM()._engine(None, None),
    }


def speed(options) -> dict:
    """Sweeps per second and how cost grows, the plain sweep, 1000 sweeps on NIPS234, and a large graph."""
    result: dict = {"growth": {}, "sizes": options.sizes}
    for name in [name for name in options.models if name in engines()]:
        cost = [sweep_seconds(engines()[name], planted(n), options.timed) for n in options.sizes]
        power = float(np.polyfit(np.log(options.sizes), np.log(cost), 1)[0]) if len(cost) > 1 else None
        result["growth"][name] = {"sweeps_per_second": [1 / c for c in cost], "power_of_n": power}
        rates = ", ".join(f"{1 / c:.1f} at N = {n}" for n, c in zip(options.sizes, cost))
        print(f"{name:6} sweeps per second: {rates}; cost grows as N^{power:.2f}" if power else f"{name} {rates}")
    result["plain"] = against_plain(options)
    result["nips234_lfrm"] = long_chain(options)
    result["large_epm"] = large_epm(options)
    return result


def planted(n: int) -> Graph:
    """The same mean degree and the same number of communities at every size."""
    return make_overlapping(n, mean_degree=6.0, community_size=max(2, n // 10), random_state=0)[0]


def sweep_seconds(engine, graph: Graph, n_sweeps: int, warm_up: int = 5) -> float:
    """Median time of a sweep after a few."""
    rng, times = np.random.default_rng(0), []
    state = engine.init(graph, rng)
    for _ in range(warm_up + n_sweeps):
        started = time.perf_counter()
        state = engine.step(graph, state, rng)
        times.append(time.perf_counter() - started)
    return float(np.median(times[warm_up:]))


def against_plain(options) -> dict:
    """Compiled and plain sweeps of LFRM from the same state of Protein230."""
    graph, engine, rng = fetch_protein230(), LFRMEngine(start="irm"), np.random.default_rng(0)
    state = engine.init(graph, rng)
    for _ in range(30):
        state = engine.step(graph, state, rng)
    plain = PlainLFRM(graph, state.state, state.priors, rng)
    slow, fast = [], []
    for _ in range(2):
        started = time.perf_counter()
        plain.sweep()
        slow.append(time.perf_counter() - started)
    for _ in range(options.timed):
        started = time.perf_counter()
        engine.step(graph, state, rng)
        fast.append(time.perf_counter() - started)
    answer = {"plain": min(slow), "compiled": float(np.median(fast)), "ratio": min(slow) / float(np.median(fast))}
    print(f"LFRM sweep on Protein230: {answer['ratio']:.0f} times as fast as plain NumPy ({answer['plain']:.2f} s)")
    return answer


def long_chain(options) -> dict:
    """1000 sweeps of LFRM on NIPS234, or fewer scaled up."""
    model = LFRM(n_burn=0, n_draws=options.sweeps, init="irm", random_state=0).fit(fetch_nips234())
    seconds = model.fit_seconds_ * 1000 / options.sweeps
    print(f"LFRM on NIPS234: {seconds:.0f} s for 1000 sweeps (measured on {options.sweeps})")
    return {"seconds_of_1000_sweeps": seconds, "measured_sweeps": options.sweeps}


def large_epm(options) -> dict:
    """EPM on 10,000 nodes and about 100,000 links."""
    graph = make_overlapping(10_000, mean_degree=20.0, community_size=500, random_state=0)[0]
    seconds = sweep_seconds(EPM()._engine(graph, None), graph, options.timed)
    print(f"EPM on {graph}: {seconds:.2f} s a sweep")
    return {"nodes": graph.n_nodes, "links": graph.n_links, "seconds_of_a_sweep": seconds}


# ---- starts of LFRM ---------------------------------------------------------------------------------------------


def starts(options) -> dict:
    """Log posterior and AUC (averaged over the later half of the sweeps) against seconds, start included."""
    table: dict = {}
    networks = [name for name in options.networks if name in ("protein230", "nips234")]
    for network in networks:
        for start in ("random", "irm", "klafter"):
            curve(planted(40), start, 0, 2)  # compiles, so that seconds are the chain's own
            curves = [curve(NETWORKS[network](), start, seed, options.sweeps) for seed in range(options.splits)]
            rows = np.mean(curves, axis=0)
            columns = ("sweeps", "seconds", "log_posterior", "auc")
            table[f"{network} / {start}"] = {name: rows[:, c].tolist() for c, name in enumerate(columns)}
            for sweeps, seconds, density, score in rows:
                line = f"{sweeps:5.0f} sweeps {seconds:7.1f} s   log posterior {density:9.1f}   AUC {score:.3f}"
                print(f"{network:12} {start:8} {line}", flush=True)
    draw_starts(table, networks)
    return table


def curve(graph: Graph, start: str, seed: int, n_sweeps: int) -> list[list[float]]:
    """(sweeps, seconds, log posterior, AUC) at about ten points of one chain."""
    train, held = split_dyads(graph, random_state=seed)
    engine, rng = LFRMEngine(start=start), np.random.default_rng(seed)
    looks = set(np.unique(np.geomspace(1, n_sweeps, 10).astype(int)).tolist())
    started = time.perf_counter()
    state = engine.init(train, rng)
    seconds, rows, seen = time.perf_counter() - started, [], []
    for t in range(1, n_sweeps + 1):
        started = time.perf_counter()
        state = engine.step(train, state, rng)
        seconds += time.perf_counter() - started
        x = engine.draw(train, state).predictor(held.pairs)
        seen.append(RESPONSES[engine.response].probability(x).astype(np.float32))
        if t in looks:
            p = np.mean(seen[t // 2 :], axis=0, dtype=float)
            score = link_measures(held.values, p)["roc_auc"]
            rows.append([t, seconds, engine.log_posterior(train, state), score])
    return rows


def draw_starts(table: dict, networks: list[str]) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(9, 3.2 * len(networks)), layout="constrained")
    axes = figure.subplots(len(networks), 2, squeeze=False)
    for row, network in zip(axes, networks):
        for axis, what in zip(row, ("log_posterior", "auc")):
            for start in ("random", "irm", "klafter"):
                line = table[f"{network} / {start}"]
                axis.plot(line["seconds"], line[what], marker=".", label=start)
            axis.set(xscale="log", xlabel="seconds", ylabel=what.replace("_", " "), title=network)
        row[1].legend(title="start of LFRM")
    figure.savefig(RESULTS / "lfrm_starts.png", dpi=150)


# ---- the command ------------------------------------------------------------------------------------------------

PARTS = {"auc": auc, "speed": speed, "starts": starts}


def store(part: str, found: dict) -> None:
    """Put the entries found into the results, leaving others alone."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "siblings.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    results.setdefault(part, {}).update(found)
    path.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[230, 500, 1000, 2000])
    parser.add_argument("--sweeps", type=int, default=1000, help="of LFRM on NIPS234, and in the curves of starts")
    parser.add_argument("--timed", type=int, default=20, help="sweeps that are timed")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; choose from {', '.join(PARTS)}")
        store(part, PARTS[part](options))


if __name__ == "__main__":
    main()
