"""What every setting of the search is worth: each turned off, or halved, and doubled, on a fixed set of networks.

    python benchmarks/ablate.py [--minutes 45] [--only dense.sweeps ...]     measure; goes on where it was interrupted
    python benchmarks/ablate.py --table [--write docs/settings.md]             the table, printed or put into the page

Networks are read from the folders networks, lfr and corpus in KLAFTER_DATA, and planted by our own generators. Where
communities are known the cover is compared with them (F1); else a tenth of the dyads is hidden and predicted (AUC).
Each variant has a process of its own, see ``klafter.search.config``. Writes benchmarks/results/ablate.json, a record
for each variant and network: objective_, F1 or AUC, and CPU seconds, averaged over seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from known import read_network
from sklearn.metrics import roc_auc_score

import klafter as kl
from klafter.datasets import make_lfrm, make_overlapping
from klafter.evaluation import average_f1
from klafter.evaluation.saved import Saved
from klafter.search.config import VARIABLE, SearchConfig, changed, descriptions, values

RESULTS = Path(__file__).parent / "results" / "ablate.json"
DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data"))
BEGIN, END = "<!-- table: benchmarks/ablate.py -->", "<!-- end of table -->"

QUICK = {"link": "logit", "n_init": 2, "n_smooth": 20}
WHOLE = {"link": "logit"}
EXPOSURE = {"link": "exposure", "n_init": 1}
EITHER = {"link": "auto", "n_init": 1}
ANT, STREAM, NEMATODE, BOARD = (
    "23_bluthgen_plant_ant_web_bluthgen_plant_ant_web",
    "67_freshwater_stream_webs_suttonsp",
    "357_p_pacificus_nematode_2013_worm_p_pacificus_n",
    "137_norwegian_board_of_directors_net1mode_2002_1",
)
FILES = {
    "karate": "networks/karate", "polbooks": "networks/polbooks", "football": "networks/football",
    "aucs": "networks/aucs", "ants": f"corpus/{ANT}", "stream": f"corpus/{STREAM}", "nematode": f"corpus/{NEMATODE}",
    "board": f"corpus/{BOARD}", "lfr_two": "lfr/lfr_n1000_k20_mu0.3_on10_om2",
    "lfr_half": "lfr/lfr_n1000_k10_mu0.3_on50_om2", "lfr_28": "networks/lfr_overlap_n1000_k28",
}  # fmt: skip


def facing(directed: bool, n: int = 240, size: int = 40):
    """Six sets of nodes, each linked to the other of its pair and hardly inside, and who is in which."""
    group = np.arange(n) // size
    towards = group[:, None] == group ^ 1
    rate = np.where(towards & (group[:, None] < group) if directed else towards, 0.4, 0.01)
    y = np.random.default_rng(1).random((n, n)) < rate
    y = y & ~np.eye(n, dtype=bool) if directed else np.triu(y, 1)
    return kl.Graph(y.astype(float), directed=directed), [set(np.flatnonzero(group == k)) for k in range(n // size)]


PLANTED = {
    "planted": lambda: make_lfrm(100, 5, random_state=1),
    "planted_sparse": lambda: make_overlapping(2_000, mean_degree=10.0, community_size=50, random_state=1),
    "facing": lambda: facing(False),
    "facing_directed": lambda: facing(True),
}
SMALL = ("planted", "karate", "polbooks", "football", "aucs", "nematode", "stream", "ants")
SPARSE = ("planted_sparse", "lfr_two", "lfr_half", "football", "ants", "board")
SETS = {  # of each group of settings: networks, how they are fitted, and seeds
    "effort": (("karate", "aucs", "nematode"), WHOLE, 1),
    "link": (("board",), EITHER, 2),
    "restart": (SMALL, QUICK, 2),
    "dense": (SMALL, QUICK, 2),
    "sparse": (SPARSE, EXPOSURE, 1),
    "off_diagonal": (("football", "ants", "board", "stream", "facing", "facing_directed", "lfr_28"), EXPOSURE, 2),
    "levels": (SMALL, QUICK, 2),
    "cluster": ((), {}, 0),
}
FOR_LARGE = {  # settings that none of these networks is large enough for, or that only online fits and values have
    "effort.dense_limit", "effort.choice_from", "effort.hundreds", "effort.sparse_restarts", "effort.several_limit",
    "effort.kept_nodes", "restart.rebuild_nodes", "restart.binary_steps", "sparse.hub",
    "sparse.changed_ends", "sparse.large", "sparse.uneven", "sparse.merge_all", "sparse.merge_from",
    "sparse.regrow_limit", "off_diagonal.entries", "off_diagonal.fewest_rounds",
}  # fmt: skip


def scaled(value, factor: float):
    """The value times a factor, as a number of the same kind."""
    if isinstance(value, (tuple, list)):
        return [scaled(each, factor) for each in value]
    return max(int(value * factor), 1) if isinstance(value, int) else value * factor


def variants(name: str) -> list:
    """Other values of a setting: off, or half of it, and twice as much."""
    if name in FOR_LARGE or name.startswith("cluster."):
        return []
    value, off = values(SearchConfig())[name], descriptions()[name]["off"]
    first = scaled(value, 0.5) if off is None else off
    both = [list(first) if isinstance(first, tuple) else first, scaled(value, 2.0)]
    same = list(value) if isinstance(value, tuple) else value
    return [other for place, other in enumerate(both) if other != same and other not in both[:place]]


def network(name: str):
    """A graph and its communities, none where these are not known."""
    if name in PLANTED:
        graph, planted = PLANTED[name]()
        return graph, planted.communities() if hasattr(planted, "communities") else planted
    path = DATA / FILES[name]
    return read_network(path.parent, path.name)


def fit(name: str, options: dict, seed: int) -> dict[str, float]:
    """Score, F1 or AUC, and CPU seconds of one fit."""
    (graph, truth), held = network(name), None
    if not truth:
        graph, held = kl.split_dyads(graph, 0.1, random_state=seed)
    begun = time.process_time()
    model = kl.KLafter(random_state=seed, n_jobs=1, **options).fit(graph)
    record = {"seconds": time.process_time() - begun, "score": float(model.objective_)}
    if held is None:
        record["f1"] = float(average_f1(truth, model.communities()))
    else:
        record["auc"] = float(roc_auc_score(held.values > 0, model.predict_proba(held.pairs)))
    return record


def measure(group: str) -> None:
    """Print a record for every network of a group, as JSON, in the settings of this process."""
    names, options, seeds = SETS[group]
    fit("karate", options, 0)  # kernels are loaded, or compiled
    for name in names:
        fits = [fit(name, options, seed) for seed in range(seeds)]
        record = {key: float(np.mean([each[key] for each in fits])) for key in fits[0]}
        print(json.dumps([name, record]), flush=True)


def run(group: str, changes: dict, label: str, saved: Saved) -> None:
    """One variant in a process of its own; networks that are saved already are not fitted again if all are."""
    names = SETS[group][0]
    if all(f"{label} on {group} {name}" in saved for name in names):
        return
    environment = {**os.environ, VARIABLE: json.dumps(changes)}
    done = subprocess.run(
        [sys.executable, __file__, "--measure", group], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{label} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return
    for line in done.stdout.splitlines():
        name, record = json.loads(line)
        saved.add(f"{label} on {group} {name}", record)


def sweep(saved: Saved, only: list[str], minutes: float) -> None:
    """Every variant that is not saved yet: the first of every setting, then the second."""
    end, names = time.monotonic() + 60 * minutes, [name for name in values(SearchConfig()) if not only or name in only]
    for group in dict.fromkeys(name.split(".")[0] for name in names):
        run(group, {}, "default", saved)
    for turn in range(2):
        for name in names:
            if time.monotonic() > end:
                return
            for other in variants(name)[turn : turn + 1]:
                run(name.split(".")[0], {name: other}, f"{name}={json.dumps(other)}", saved)


def change_of(saved: Saved, name: str, other) -> dict[str, float] | None:
    """The change that another value brings: nats of score a network, F1 and AUC, and CPU as a ratio."""
    group, label = name.split(".")[0], f"{name}={json.dumps(other)}"
    pairs = [(f"default on {group} {network}", f"{label} on {group} {network}") for network in SETS[group][0]]
    if not pairs or any(new not in saved for _, new in pairs):
        return None
    change = {
        key: [saved[new][key] - saved[old][key] for old, new in pairs if key in saved[old]]
        for key in ("score", "f1", "auc")
    }
    seconds = [sum(saved[key]["seconds"] for key in column) for column in zip(*pairs)]
    means = {key: float(np.mean(each)) if each else np.nan for key, each in change.items()}
    return {**means, "cpu": seconds[1] / seconds[0]}


def shown(value) -> str:
    """A value as the table has it."""
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(shown, value)) + ")"
    return "none" if isinstance(value, int) and value >= 2**31 else f"{value:g}" if value < 1e6 else f"{value:,}"


def table(saved: Saved) -> list[str]:
    """A line for every setting and variant."""
    lines = [
        "| setting | value | what it does | at | score | F1 | AUC | CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, value in values(SearchConfig()).items():
        head = f"| {name} | {shown(value)} | {descriptions()[name]['does']}"
        found = [(other, change_of(saved, name, other)) for other in variants(name)]
        rows = [(shown(other), change) for other, change in found if change is not None]
        for other, change in rows:
            numbers = (
                f"{change['score']:+.2f} | {_number(change['f1'])} | {_number(change['auc'])} | {change['cpu']:.2f}"
            )
            lines.append(f"{head} | {other} | {numbers} |")
        if not rows:
            lines.append(f"{head} | not measured here | | | | |")
    return lines


def _number(change: float) -> str:
    return "" if np.isnan(change) else f"{change:+.3f}"


def write_table(path: Path, lines: list[str]) -> None:
    """Put the table between its two marks in a page."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=45.0, help="begin no further variant after so many")
    parser.add_argument("--only", nargs="*", default=[], metavar="SETTING", help="these settings alone")
    parser.add_argument("--table", action="store_true", help="the table of what is saved")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into a page")
    parser.add_argument("--measure", choices=SETS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    changed(SearchConfig(), {name: values(SearchConfig()).get(name, 0) for name in args.only})  # refuses unknown names
    saved = Saved(RESULTS)
    if args.table and args.write:
        write_table(args.write, table(saved))
    elif args.table:
        print("\n".join(table(saved)))
    else:
        sweep(saved, args.only, args.minutes)


if __name__ == "__main__":
    main()
