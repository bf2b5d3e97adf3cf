"""Time against links on logarithmic axes, from the saved measurements of scale.py; the slope is that of large graphs.

python benchmarks/scale_figure.py
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scale import LARGE

HERE = Path(__file__).parent


def main() -> None:
    saved = [json.loads((HERE / "results" / name).read_text()) for name in ("scale.json", "scale_large.json")]
    planted = [row for facts in saved for row in facts["fits"] if row["graph"] == "planted"]
    links, cpu, wall = np.array([[row["links"], row["cpu_seconds"], row["seconds"]] for row in planted]).T
    large = links >= LARGE
    slope, level = np.polyfit(np.log(links[large]), np.log(cpu[large]), 1)
    figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
    line = np.array([links[large].min(), links.max()])
    axes.loglog(line, np.exp(level) * line**slope, color="#999999", lw=1, label=f"links to the power of {slope:.2f}")
    axes.loglog(links, cpu, "o", color="#0072b2", label="CPU seconds")
    axes.loglog(links, wall, "s", mfc="none", color="#d55e00", label="seconds, two cores")
    for x, y, row in zip(links, cpu, planted):
        axes.annotate(f"F1 {row['average_f1']:.3f}", (x, y), textcoords="offset points", xytext=(8, -12), fontsize=8)
    axes.set(xlabel="links", ylabel="time of a fit", title="Planted overlapping communities, their number unknown")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE.parent / "docs" / "images" / "scale.png", dpi=150)


if __name__ == "__main__":
    main()
