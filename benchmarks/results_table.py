"""Fill the results section of README.md from the saved measurements.

python benchmarks/results_table.py
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def quality() -> list[str]:
    """AUC on clean splits."""
    saved = json.loads((RESULTS / "quality.json").read_text())
    lines = [
        "Link prediction, 20% of the pairs hidden whole, AUC (mean and standard error over seeded splits from 0):",
        "",
    ]
    lines += ["| network | model | splits | AUC | seconds a fit |", "|---|---|---|---|---|"]
    for network, part in saved["networks"].items():
        for label, row in part["summary"].items():
            seconds = [r["cpu"] for r in part["rows"] if r["model"] == label]
            error = f" ± {row['standard_error']:.3f}" if row["standard_error"] is not None else ""
            mean = sum(seconds) / len(seconds)
            lines.append(f"| {network} | {label} | {row['splits']} | {row['auc']:.3f}{error} | {mean:.1f} |")
    return [*lines, "", f"`{saved['command']}`; seconds are CPU time, on a shared machine.", ""]


def scale() -> list[str]:
    """Planted overlapping communities of the sparse engine."""
    rows, commands = [], []
    for name in ("scale.json", "scale_sparse_communities.json"):
        if (RESULTS / name).exists():
            saved = json.loads((RESULTS / name).read_text())
            commands.append(saved["command"])
            rows += saved["fits"]
    if not rows:
        return []
    lines = ["Planted overlapping communities, their number unknown to the search (sparse engine):", ""]
    lines += [
        "| graph | nodes | links | found / planted | average F1 | CPU seconds | peak GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['graph']}, seed {r['seed']} | {r['nodes']:,} | {r['links']:,} | {r['communities']} / {r['planted']} "
            f"| {r['average_f1']:.3f} | {r['cpu_seconds']:.1f} | {r['peak_gb']:.2f} |"
        )
    return [*lines, "", *(f"`{command}`" for command in commands), ""]


def main():
    readme = ROOT / "README.md"
    body = "\n".join(quality() + scale())
    pattern = re.compile(r"(<!-- results -->\n).*?(<!-- /results -->)", re.DOTALL)
    readme.write_text(pattern.sub(lambda m: f"{m[1]}\n{body}\n{m[2]}", readme.read_text()))


if __name__ == "__main__":
    main()
