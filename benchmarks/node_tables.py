"""Tables of two-mode networks, of new nodes and of attributes, from their saved measurements; see results_table.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

WEBS = {
    "southern_women": "women and events",
    "3_arroyo_plant_pollinator_web_elevation_3": "plants and pollinators, Andes",
    "23_bluthgen_plant_ant_web_bluthgen_plant_ant_web": "plants and ants, Borneo",
    "40_elberling_olesen_plant_pollinator_web_elberli": "plants and pollinators, Lapland",
    "261_norwegian_board_of_directors_net2mode_2003_1": "boards and directors 2003",
    "353_norwegian_board_of_directors_net2mode_2011_0": "boards and directors 2011",
}
EFFECTS = {"with effects": "1, 0.5", "strong effects": "2, 1", "no effects": "0, 0"}


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head(*titles: str) -> list[str]:
    return [line(*titles), "|---|" + "---:|" * (len(titles) - 1)]


def mean_and_error(values: Sequence[float], digits: int) -> str:
    """A mean with its sign and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):+.{digits}f} ± {error:.{digits}f}"


def two_mode(records: Mapping[str, Mapping]) -> list[str]:
    """AUC with kinds known and not known, means over splits, and the paired difference."""
    titles = ("network", "nodes", "splits", "possible pairs: kinds known", "not known", "gain")
    lines = head(*titles, "all pairs: kinds known", "not known", "communities")
    gains: dict[str, list[float]] = {"possible pairs": [], "all pairs": []}
    splits = []
    for name, said in WEBS.items():
        if some := [r for r in records.values() if r.get("network") == name]:
            splits.append(len(some))
            mean = {k: float(np.mean([r[k] for r in some])) for k in some[0] if k not in ("network", "split", "code")}
            own = {pairs: [r[f"kinds: {pairs}"] - r[f"no kinds: {pairs}"] for r in some] for pairs in gains}
            for pairs, found in gains.items():
                found.append(float(np.mean(own[pairs])))
            possible, every = ([f"{mean[f'{who}: {p}']:.3f}" for who in ("kinds", "no kinds")] for p in gains)
            counts = f"{mean['kinds: communities']:.1f} / {mean['no kinds: communities']:.1f}"
            gain = mean_and_error(own["possible pairs"], 4)
            lines.append(line(said, f"{mean['nodes']:.0f}", str(len(some)), *possible, gain, *every, counts))
    if not splits:
        return []
    lines.append("")
    for pairs, found in gains.items():
        lines.append(f"Kinds known, minus not known, over {pairs}: {mean_and_error(found, 4)} (error over networks).")
    commands = [f"`python benchmarks/two_mode.py --seeds {min(splits)}`"]
    if max(splits) > min(splits):
        commands.append(f"more splits by `--seeds {max(splits)} --only NETWORK`")
    return [*lines, "", f"{', '.join(commands)}; code {codes(records, 'network')}."]


def kind_pairs(records: Mapping[str, Mapping]) -> list[str]:
    """AUC over possible pairs with the rule of kinds known and not known, and the paired difference."""
    runs = [r for r in records.values() if "seed" in r]
    if not runs:
        return []
    lines = head("nodes", "networks", "links", "AUC: rule known", "not known", "gain", "communities")
    for n in sorted({r["nodes"] for r in runs}):
        some = [r for r in runs if r["nodes"] == n]
        mean = {k: float(np.mean([r[k] for r in some])) for k in some[0] if k != "code"}
        gain = mean_and_error([r["rule: AUC"] - r["no rule: AUC"] for r in some], 4)
        auc = f"{mean['rule: AUC']:.3f}", f"{mean['no rule: AUC']:.3f}"
        counts = f"{mean['rule: communities']:.1f} / {mean['no rule: communities']:.1f}"
        lines.append(line(str(n), str(len(some)), f"{mean['links']:,.0f}", *auc, gain, counts))
    seeds = min(sum(r["nodes"] == n for r in runs) for n in {r["nodes"] for r in runs})
    return [*lines, "", f"`python benchmarks/kind_pairs.py --seeds {seeds}`; code {codes(records, 'seed')}."]


def kind_memory(records: Mapping[str, Mapping]) -> list[str]:
    """What a fit of a network of three kinds takes beyond the graph."""
    return memory(records, 3, "kind_pairs")


def memory(records: Mapping[str, Mapping], n_kinds: int = 2, script: str = "two_mode") -> list[str]:
    """What a fit of a two-mode network takes beyond the graph."""
    rows = sorted((r for r in records.values() if "bytes a link" in r), key=lambda r: r["nodes"])
    if not rows:
        return []
    lines = head("nodes of each kind", "links", "MB beyond the graph", "bytes a link", "communities", "CPU seconds")
    for r in rows:
        more = f"{r['megabytes at most'] - r['megabytes before']:.0f}"
        counts = f"{r['bytes a link']:.0f}", f"{r['communities']:,}", f"{r['cpu seconds']:.0f}"
        lines.append(line(f"{r['nodes'] // n_kinds:,}", f"{r['links']:,}", more, *counts))
    first, last = rows[0], rows[-1]
    grown = (last["megabytes at most"] - first["megabytes at most"]) * 2**20 / (last["links"] - first["links"])
    command = f"`python benchmarks/{script}.py --memory NODES`"
    told = f"From the first line to the last the peak grows by {grown:.0f} bytes a link."
    return [*lines, "", f"{told} {command}, code {rows[-1]['code']}."]


def place(saved: Mapping[str, Mapping]) -> list[str]:
    """AUC of placements beside that of full fits, and what one placement costs."""
    networks = {name.removesuffix(".tsv"): r for name, r in saved.items() if name != "timing"}
    titles = ("network", "nodes", "placed", "AUC placed", "AUC of a full fit", "a full fit gains")
    more = ("with the expert: placed", "full fit", "log loss placed, full fit", "with the expert")
    lines = head(*titles, *more, "milliseconds a placement", "with the expert")
    for name, r in networks.items():
        gain = f"{r['refit'] - r['place']:+.3f} ± {r['error']:.3f}"
        auc = f"{r['place']:.3f}", f"{r['refit']:.3f}"
        sizes = f"{r['nodes']:.0f}", f"{r['newcomers']:.0f}"
        loss = f"{r['place log loss']:.4f}, {r['refit log loss']:.4f}"
        expert = f"{r['place with expert']:.3f}", f"{r['refit with expert']:.3f}"
        expert_loss = f"{r['place with expert log loss']:.4f}, {r['refit with expert log loss']:.4f}"
        time = f"{1000 * r['seconds']:.1f}", f"{1000 * r['seconds with expert']:.0f}"
        lines.append(line(name, *sizes, *auc, gain, *expert, loss, expert_loss, *time))
    large = saved["timing"]
    told = f"One among {large['nodes']:,} nodes takes {1000 * large['seconds']:.1f} ms, the first of a model, which"
    lines += ["", f"{told} sums over the network once, {large['first_seconds']:.2f} s."]
    seeds = min(r["seeds"] for r in networks.values())
    command = f"`python benchmarks/place.py FILE... --seeds {seeds} --timing`"
    return [*lines, "", f"{command}, means over {seeds} seeds, code {codes(saved)}."]


def attributes(saved: Mapping[str, Mapping]) -> list[str]:
    """Lazega's friendships without and with attributes."""
    firm = saved["lazega_friend"]
    lines = head("", "without", "with attributes", "gain")
    for name, words, digits in (("auc", "AUC", 4), ("log_loss", "log loss", 4), ("communities", "communities", 1)):
        part = firm[name]
        values = f"{part['without']:.{digits}f}", f"{part['with']:.{digits}f}"
        lines.append(line(words, *values, f"{part['gain']:+.{digits}f} ± {part['error']:.{digits}f}"))
    return [*lines, "", f"`{firm['command']}`, means over {firm['runs']} splits, code {firm['code']}."]


def planted_attributes(saved: Mapping[str, Mapping]) -> list[str]:
    """Planted networks whose attributes have effects or none."""
    titles = ("true effects of office and age", "networks", "AUC without, with, gain", "log loss without, with, gain")
    lines = head(*titles, "mean effects found", "90% intervals that hold the truth")
    parts = {name: saved[name] for name in EFFECTS if name in saved}
    for name, part in parts.items():
        cells = [
            f"{p['without']:.3f}, {p['with']:.3f}, {p['gain']:+.4f} ± {p['error']:.4f}"
            for p in (part["auc"], part["log_loss"])
        ]
        found = ", ".join(f"{c:.2f}" for c in part["coefficients"])
        held = ", ".join(f"{share:.0%}" for share in part["interval_holds_truth"])
        lines.append(line(EFFECTS[name], str(part["runs"]), *cells, found, held))
    command = ", ".join(dict.fromkeys(f"`{part['command']}`" for part in parts.values()))
    return [*lines, "", f"{command}, code {codes(parts)}."]


def codes(records: Mapping[str, Mapping], having: str = "code") -> str:
    """The codes that records are of."""
    return ", ".join(dict.fromkeys(r["code"] for r in records.values() if having in r))
