"""The tables of README.md and docs, from the saved measurements.

    python benchmarks/results_table.py            print them
    python benchmarks/results_table.py --write    put them between the markers of the pages

A page marks the place of a table with <!-- results: NAME --> and <!-- /results -->. Measurements whose file is listed
in results/earlier.json, unchanged since, were made by earlier code, and their tables say so.
"""

import argparse
import hashlib
import json
import re
from pathlib import Path

import node_tables

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
LARGE = 1_000_000  # nodes from which memory is that of the graph
PLACE = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- /results -->)", re.DOTALL)


def fingerprint(name: str) -> str:
    """What a saved file holds, in short."""
    return hashlib.sha256((RESULTS / name).read_bytes()).hexdigest()[:16]


def earlier(*names: str) -> list[str]:
    """A sentence if one of the saved files is of earlier code."""
    listed = json.loads((RESULTS / "earlier.json").read_text())
    old = [name for name in names if (RESULTS / name).exists() and listed["files"].get(name) == fingerprint(name)]
    return [listed["sentence"], ""] if old else []


def of(name: str):
    """Lines that a saved file makes: none without it, and a sentence at their end if it is of earlier code."""

    def decorated(make):
        def lines() -> list[str]:
            path = RESULTS / name
            return [*make(json.loads(path.read_text())), "", *earlier(name)] if path.exists() else []

        return lines

    return decorated


def bar(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def head(*titles: str) -> list[str]:
    """The head of a table."""
    return [bar(*titles), "|" + "---|" * len(titles)]


@of("communities.json")
def communities(saved) -> list[str]:
    """Known communities, KLafter beside rivals: means over networks, for each kind of them."""
    found = {(row["method"], row["network"]): row for row in saved["rows"] if row["runs"]}
    networks = list(dict.fromkeys(network for _, network in found))
    kinds = {
        "labelled": [name for name in networks if not name.startswith(("lfr_", "amazon"))],
        "LFR": [name for name in networks if name.startswith("lfr_")],
        "Amazon": [name for name in networks if name.startswith("amazon")],
    }
    every = [name for names in kinds.values() for name in names]
    methods = [m for m in dict.fromkeys(m for m, _ in found) if all((m, x) in found for x in every)]
    parts = {kind: names for kind, names in kinds.items() if names}
    words = {"labelled": "with labels", "Amazon": "subset of Amazon"}
    sizes = ", ".join(f"{len(names)} {words.get(kind, kind)}" for kind, names in parts.items())
    seeds = max(row["runs"] for row in saved["rows"])
    told = f"{seeds} seeds each" if seeds > 1 else "one seed each"
    lines = [f"Known communities, their number unknown to all methods; means over networks ({sizes}; {told}):", ""]
    titles = [f"{kind}: {name}" for kind in parts for name in ("ONMI", "average F1", "in a community")]
    lines += head("method", *titles, "CPU s")

    def mean(method: str, names: list[str], measure: str) -> float:
        return sum(found[method, name][measure] for name in names) / len(names)

    first = next(iter(parts.values()))
    for method in sorted(methods, key=lambda method: -mean(method, first, "onmi")):
        cells = [
            f"{mean(method, names, measure):.3f}"
            for names in parts.values()
            for measure in ("onmi", "average_f1", "coverage")
        ]
        seconds = mean(method, every, "cpu_seconds")
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seconds:.1f} |")
    note = f" {saved['note']}." if "note" in saved else ""
    return [*lines, "", f"`{saved['command']}`.{note}"]


@of("quality.json")
def quality(saved) -> list[str]:
    """AUC on clean splits."""
    lines = [
        "Link prediction, 20% of the pairs hidden whole, AUC (mean and standard error over seeded splits from 0):",
        "",
    ]
    lines += head("network", "model", "splits", "AUC", "seconds a fit")
    for network, part in saved["networks"].items():
        for label, row in part["summary"].items():
            seconds = [r["cpu"] for r in part["rows"] if r["model"] == label]
            error = f" ± {row['standard_error']:.3f}" if row["standard_error"] is not None else ""
            mean = sum(seconds) / len(seconds)
            lines.append(f"| {network} | {label} | {row['splits']} | {row['auc']:.3f}{error} | {mean:.1f} |")
    return [
        *lines,
        "",
        f"{made_by(saved['networks'].values())}; seconds are CPU time, on a shared machine.",
    ]


def made_by(parts) -> str:
    """The commands that measured some parts, and the code they are of."""
    commands = ", ".join(dict.fromkeys(f"`{part['command']}`" for part in parts))
    return f"{commands}, code {', '.join(dict.fromkeys(part['code'] for part in parts))}"


@of("remaining.json")
def remaining(saved) -> list[str]:
    """What predictions lack."""
    parts = saved["networks"]
    title = "links whose less linked node has so many visible links"
    lines = [
        "What is missed, on folds inside the training parts (36% hidden in all): links of nodes seen with few others.",
        "",
        *head(title, *(f"{name}: share, their AUC, of what is missed" for name in parts)),
    ]
    for least in next(iter(parts.values()))["by_visible_links"]:
        rows = [part["by_visible_links"][least] for part in parts.values()]
        cells = [f"{r['share_of_links']:.0%}, {r['auc']:.3f}, {r['share_of_what_is_missed']:.0%}" for r in rows]
        lines.append(bar(least, *cells))
    lines += ["", *head("restarts and sweeps", *(f"{n}: AUC, CPU s" for n in parts))]
    for name in next(iter(parts.values()))["settings"]:
        rows = [part["settings"][name] for part in parts.values()]
        lines.append(f"| {name} | " + " | ".join(f"{r['auc']:.4f}, {r['cpu_seconds']:.1f}" for r in rows) + " |")
    return [*lines, "", f"`{saved['command']}`"]


@of("siblings.json")
def siblings(saved) -> list[str]:
    """The five systems on the same splits."""
    rows = saved["auc"]
    networks = list(dict.fromkeys(key.split(" / ")[0] for key in rows))
    models = sorted(dict.fromkeys(key.split(" / ")[1] for key in rows), key=lambda name: ("structure" in name, name))
    lines = [
        "The five systems on the same clean splits, AUC and seconds a fit, the structural expert only where named "
        "(`docs/reproduction.md` gives it to all); LFRM, IRM, MMSB and EPM were measured with an earlier version:",
        "",
    ]
    lines += head("model", *networks)
    for model in models:
        cells = [rows.get(f"{network} / {model}") for network in networks]
        shown = [
            f"{r['mean']:.3f} ± {r['standard_error']:.3f} ({r['seconds']:.0f} s){'*' if r['symmetrised'] else ''}"
            if r
            else "not run"
            for r in cells
        ]
        lines.append(bar(model, *shown))
    command = "python benchmarks/siblings.py auc --splits 10"
    return [
        *lines,
        "",
        f"`{command}`; seconds are wall time on a shared core. * on the symmetrised graph.",
    ]


def sampler_speed() -> list[str]:
    """Sweeps of the four samplers, and LFRM from three starts."""
    path = RESULTS / "siblings.json"
    saved = json.loads(path.read_text()) if path.exists() else {}
    lines = []
    if "speed" in saved:
        part = saved["speed"]
        sizes = part["sizes"]
        lines += ["Sweeps per second of the samplers on planted networks, and how the cost of a sweep grows:", ""]
        lines += head("model", *(f"N = {n:,}" for n in sizes), "cost")
        for name, row in part["growth"].items():
            rates = " | ".join(f"{rate:.0f}" for rate in row["sweeps_per_second"])
            lines.append(f"| {name} | {rates} | N^{row['power_of_n']:.2f} |")
        chain, large = part["nips234_lfrm"], part["large_epm"]
        lines += [
            "",
            f"A sweep of LFRM is {part['plain']['ratio']:.0f} times as fast as in plain NumPy (Protein230); 1000 "
            f"sweeps on NIPS234 take {chain['seconds_of_1000_sweeps']:.0f} s. A sweep of EPM on "
            f"{large['nodes']:,} nodes and {large['links']:,} links takes {large['seconds_of_a_sweep']:.2f} s.",
            "`python benchmarks/siblings.py speed`",
            "",
        ]
    if (RESULTS / "affinities.json").exists():
        part = json.loads((RESULTS / "affinities.json").read_text())
        rates = [
            f"{row['slices']['median_ess_per_second']:.0f} against {row['polya_gamma']['median_ess_per_second']:.0f} "
            f"on {network}"
            for network, row in part["networks"].items()
        ]
        lines += [
            f"Effective samples of W a second, slices against Polya-Gamma: {', '.join(rates)}.",
            f"`{part['command']}`",
            "",
        ]
    if "starts" in saved:
        lines += [
            "What a start saves LFRM: AUC (mean of the later half of the sweeps) and log posterior of one chain:",
            "",
        ]
        lines += head("network, start", "after about 10 sweeps", "about 100", "at the end")
        for name, curve in saved["starts"].items():
            cells = []
            for wanted in (10, 100, curve["sweeps"][-1]):
                t = min(range(len(curve["sweeps"])), key=lambda t: abs(curve["sweeps"][t] - wanted))
                cells.append(
                    f"{curve['auc'][t]:.3f}, {curve['log_posterior'][t]:.0f} "
                    f"({curve['sweeps'][t]:.0f} sweeps, {curve['seconds'][t]:.1f} s)"
                )
            lines.append(bar(name.replace(" / ", ", "), *cells))
        command = "`python benchmarks/siblings.py starts --splits 3 --sweeps 600`"
        lines += ["", f"{command}; curves in `benchmarks/results/lfrm_starts.png`.", ""]
    return lines


@of("speed.json")
def speed(saved) -> list[str]:
    """A fit against plain NumPy, and the first start."""
    lines = [
        "One restart without smoothing, against the same search on plain NumPy kernels (same path, same objective):",
        "",
    ]
    lines += head("network", "compiled, CPU s", "NumPy, CPU s", "ratio", "default fit, CPU s")
    for network, r in saved["networks"].items():
        ratio = f"{r['plain_numpy']:.1f} | {r['ratio']:.0f}"
        lines.append(f"| {network} | {r['single_fit']:.2f} | {ratio} | {r['default_fit']:.1f} |")
    starts = saved["starts"]
    lines += [
        "",
        f"`klafter fit` on Karate: {starts['first_fit']:.0f} s the first time, with compilation; "
        f"{starts['later_fit']:.1f} s later; {starts['later_fit_without_smoothing']:.1f} s with one restart and no "
        "smoothing.",
    ]
    return [*lines, "", f"`{saved['command']}`"]


def scale() -> list[str]:
    """Planted overlapping communities of the sparse engine."""
    lines, commands = [], []
    for name in ("scale.json", "scale_large.json", "scale_sparse_communities.json"):
        if (RESULTS / name).exists():
            saved = json.loads((RESULTS / name).read_text())
            commands.append(" ".join([f"`{saved['command']}`.", *earlier(name)[:1], *saved.get("notes", [])]))
            lines += [scale_line(row) for row in saved["fits"]]
    if not lines:
        return []
    return [
        "Planted overlapping communities, their number unknown to the search (sparse engine):",
        "",
        *head("graph", "nodes", "links", "found / planted", "average F1", "CPU seconds", "peak GB", "bytes a link"),
        *lines,
        "",
        *(part for command in commands for part in (command, "")),
    ]


def scale_line(r: dict) -> str:
    """One fit of that table; bytes a link count the graph, but not the library and what it compiled."""
    memory = f"{r['bytes_a_link']:.0f}" if r["nodes"] >= LARGE and "bytes_a_link" in r else ""
    return (
        f"| {r['graph']}, seed {r['seed']} | {r['nodes']:,} | {r['links']:,} | {r['communities']} / {r['planted']} "
        f"| {r['average_f1']:.4f} | {r['cpu_seconds']:.1f} | {r['peak_gb']:.2f} | {memory} |"
    )


@of("planted.json")
def planted(saved) -> list[str]:
    """Planted communities of small networks, default fits."""
    lines = ["Planted communities of small networks, `KLafter()`, fresh seeds; average F1 of each fit:", ""]
    lines += head("network", "link", "found / planted", "average F1", "CPU seconds")
    for network in dict.fromkeys(row["network"] for row in saved["fits"]):
        rows = [row for row in saved["fits"] if row["network"] == network]
        cells = [
            ", ".join(dict.fromkeys(row["link"] for row in rows)),
            ", ".join(f"{row['found']} / {row['planted']}" for row in rows),
            ", ".join(f"{row['f1']:.3f}" for row in rows),
            ", ".join(f"{row['cpu_seconds']:.0f}" for row in rows),
        ]
        lines.append(bar(network, *cells))
    return [*lines, "", f"`{saved['command']}`; CPU seconds on a busy machine."]


@of("networks.json")
def real(saved) -> list[str]:
    """Real networks of the sparse engine, beside rivals."""
    lines = head("network", "tool", "CPU s", "peak GB", "communities", "AUC", "F1")
    for fit in sorted(saved["fits"], key=lambda fit: (fit["links"], fit["network"], fit["tool"] != "KLafter")):
        if "failed" in fit:
            cells = [fit["failed"], "", "", "", ""]
        else:
            auc = ", ".join(f"{v:.3f}" + (f" ({how})" if len(fit["auc"]) > 1 else "") for how, v in fit["auc"].items())
            f1 = f"{fit['average_f1_to_labels']:.2f}" if "average_f1_to_labels" in fit else ""
            cells = [f"{fit['cpu_seconds']:.1f}", f"{fit['peak_gb']:.2f}", str(fit["communities"]), auc, f1]
        lines.append(f"| {fit['network']} | {fit['tool']} | " + " | ".join(cells) + " |")
    return [*lines]


@of("features.json")
def features(saved) -> list[str]:
    """What tools do on small networks whose answer is known."""
    titles = {
        "overlap": "shared nodes put into both of two groups",
        "overlap_among_others": "the same beside nodes in neither",
        "number": "four groups found to be four",
        "chance": "nothing found in links by chance",
        "roles": "two sides that link only across",
        "seed": "same seed, same answer",
    }
    lines = head("tool", *titles.values())
    for tool, row in saved["rows"].items():
        lines.append(f"| {tool} | " + " | ".join(f"{row[name]:.0%}" for name in titles) + " |")
    told = f"`{saved['command']}`; shares over {saved['seeds']} seeds, defaults, the number of groups told to nobody."
    return [*lines, "", told]


TORTURES = {
    "checkpointed fits": "fits with a checkpoint, killed by `kill -9` and called again: the same result, bit by bit",
    "resumed commands": "`tune`, `compare` and `reproduce`, killed by `kill -9` and called again: the same results",
    "killed writers": "commands ended while they write over a good file: it is whole, and nothing is left behind",
    "graph files": "changed graph files of all formats: read, or refused in a sentence",
    "guided graph files": "the same, atheris keeping what reaches new lines of the readers",
    "model files": "changed model files, then every method: refused, or an answer",
    "odd graphs": "odd graphs, all models, families and directions: an answer in [0, 1] or a sentence",
    "Dask clusters": "fits on clusters that lose workers, restart, run short of memory: the same answer or a sentence",
    "determinism": "all models with other jobs, hash seeds, threads, lines, processes: the same answer to the last bit",
}


@of("torture.json")
def torture(saved) -> list[str]:
    """What was tried by ``make torture``, and what came of it."""
    titles = ("tried", "kills", "good", "mended on the way", "memory", "last of them, with code")
    lines = [f"| | {' | '.join(titles)} |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, words in TORTURES.items():
        if not (part := saved.get(name)):
            lines.append(f"| {words} | 0 | | | | | |")
            continue
        counts = [part["tried"], part.get("kills"), part["good"], len(part.get("mended", []))]
        cells = ["" if count is None else f"{count:,}" for count in counts]
        codes = ", ".join(f"{count:,} {code}" for code, count in part.get("code", {}).items())
        lines.append(f"| {words} | {' | '.join(cells)} | {part['memory']:,} MB | {codes} |")
    if guided := saved.get("guided graph files"):
        lines += [
            "",
            f"atheris reached {guided['covered']:,} places of the readers in {guided['seconds'] / 60:.0f} minutes.",
        ]
    clusters = saved.get("Dask clusters", {})
    if clusters.get("kills"):
        restarts, ended = clusters.get("restarts", 0), clusters.get("sentences", 0)
        lines += ["", f"Of the fits on clusters {ended} ended in a sentence; schedulers began anew {restarts} times."]
    if "determinism" in saved:
        lines += ["", f"Determinism: {saved['determinism']['cases']} fits of eleven models in 14 ways were compared."]
    cost = json.loads((RESULTS / "checkpoint_overhead.json").read_text())["models"]
    most = max(cost, key=lambda name: cost[name]["share"])
    told = f"{cost[most]['share']:.1%} of the time of the processor ({most})"
    return [*lines, "", f"Checkpoints that are written at every chance, not once a minute, cost at most {told}."]


@of("level_rules.json")
def level_rules(saved) -> list[str]:
    """Three rules of the level shown first."""
    rules = [name for name in saved["rows"][0] if name not in ("network", "seed")]
    lines = [
        "Known communities at the level that three rules show first, ONMI and average F1, means over networks:",
        "",
    ]
    lines += head("networks", "fits", *rules)
    for title, lfr in (("labelled", False), ("LFR, 150 nodes", True)):
        own = [row for row in saved["rows"] if row["network"].startswith("degree") == lfr]
        for seed in sorted({row["seed"] for row in own}):
            some = [row for row in own if row["seed"] == seed]
            cells = [[sum(row[rule][m] for row in some) / len(some) for m in ("onmi", "f1")] for rule in rules]
            told = " | ".join(f"{onmi:.3f}, {f1:.3f}" for onmi, f1 in cells)
            lines.append(f"| {title}, seed {seed} | {len(some)} | {told} |")
    return [*lines, "", f"`{saved['command']}`"]


@of("shared_links.json")
def shared_links(saved) -> list[str]:
    """Communities before and after nodes may share their links."""
    rows, names = saved["rows"], list(dict.fromkeys(row["network"] for row in saved["rows"]))
    lines = ["Default fits, means over seeds; without shared links, and by the score's choice:", ""]
    lines += head("network", "fits", "ONMI", "average F1", "in none", "communities", "score", "chosen")
    for name in names:
        own = [row for row in rows if row["network"] == name]
        if "n_init" in own[0]:
            continue
        cells = [
            ", ".join(f"{sum(row[when][what] for row in own) / len(own):.{digits}f}" for when in ("before", "after"))
            for what, digits in (("onmi", 3), ("f1", 3), ("none", 2), ("communities", 1), ("score", 0))
        ]
        lines.append(f"| {name} | {len(own)} | " + " | ".join(cells) + f" | {sum(row['shared'] for row in own)} |")
    real = [row for row in rows if "n_init" in row]
    if real:
        chosen = ", ".join(row["network"] for row in real if row["shared"]) or "none"
        cost = max(row["cpu_of_asking"] / row["cpu_seconds"] for row in real)
        networks = ", ".join(row["network"] for row in real)
        told = f'(one search, `link="exposure"`): chosen on {chosen}; to ask takes at most {cost:.1%} of a fit.'
        lines += ["", f"Real networks, {networks} {told}"]
    return [*lines, "", f"`{saved['command']}`"]


@of("link_choice.json")
def link_choice(saved) -> list[str]:
    """What the score chooses, beside either link when it is asked for."""
    found = {(row["network"], row["asked"]): row for row in saved["rows"]}
    lines = ["ONMI, and the score in nats:", ""]
    lines += head("network", "chosen", "auto", "logit", "exposure")
    for name in dict.fromkeys(name for name, _ in found):
        rows = [found.get((name, asked)) for asked in ("auto", "logit", "exposure")]
        cells = [f"{row['onmi']:.3f}, {row['score']:,.0f}" if row else "" for row in rows]
        lines.append(bar(name, rows[0]["link"], *cells))
    return [*lines, "", f"`{saved['command']}`, code {saved['rows'][-1]['code']}."]


@of("by_size.json")
def by_size(saved) -> list[str]:
    """Time and F1 of default fits by number of nodes, beside rivals."""
    saved = saved["records"]
    methods = list(dict.fromkeys(record["method"] for record in saved.values()))
    lines = ["| nodes | links | " + " | ".join(f"{method}, CPU s | F1" for method in methods) + " |"]
    lines.append("|---:|---:|" + "---:|---:|" * len(methods))
    for n in sorted({record["nodes"] for record in saved.values()}):
        rows = [saved.get(f"{method}, {n}") for method in methods]
        cells = [f"{row['cpu']:.3g} | {row['f1']:.3f}" if row else " | " for row in rows]
        lines.append(f"| {n:,} | {next(row['links'] for row in rows if row):,} | " + " | ".join(cells) + " |")
    return lines


def records(make):
    """A table of measurements that can be resumed, from their file."""
    return lambda saved: make(saved["records"])


TABLES = {
    "two_mode": of("two_mode.json")(records(node_tables.two_mode)),
    "two_mode_memory": of("two_mode.json")(records(node_tables.memory)),
    "kind_pairs": of("kind_pairs.json")(records(node_tables.kind_pairs)),
    "kind_memory": of("kind_pairs.json")(records(node_tables.kind_memory)),
    "place": of("place.json")(node_tables.place),
    "attributes": of("attributes.json")(node_tables.attributes),
    "planted_attributes": of("attributes.json")(node_tables.planted_attributes),
    "by_size": by_size,
    "torture": torture,
    "features": features,
    "communities": communities,
    "link_choice": link_choice,
    "shared_links": shared_links,
    "level_rules": level_rules,
    "quality": quality,
    "remaining": remaining,
    "siblings": siblings,
    "samplers": sampler_speed,
    "speed": speed,
    "planted": planted,
    "scale": scale,
    "real": real,
}
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("results", "scale", "comparison", "reliability", "score", "speed")),
    *(f"docs/{name}.md" for name in ("two_mode", "attributes", "api")),
    "paper/paper.md",
)


def filled(text: str) -> str:
    """A page with the tables at their marked places."""
    return PLACE.sub(lambda m: "\n".join([m[1], *TABLES[m[2]]()]).rstrip("\n") + f"\n\n{m[3]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace the tables of the pages")
    if not parser.parse_args().write:
        print("\n".join(line for table in TABLES.values() for line in table()))
        return
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
