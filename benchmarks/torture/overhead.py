"""``python -m benchmarks.torture.overhead``: what checkpoints cost, in seconds of the processor, if always written.

By default a file is written once a minute, so this is the most they can cost.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.torture.__main__ import RESULTS
from klafter.datasets import load_les_miserables
from klafter.graph.writing import write_json
from klafter.models import EPM, IRM, LFRM, KLafter
from klafter.models.storage import checkpoint

CHAINS = {"n_burn": 300, "n_draws": 300, "n_chains": 2, "random_state": 0}
MODELS = {
    "KLafter": KLafter(n_init=8, n_smooth=20, random_state=0),
    "KLafter, exposure": KLafter(link="exposure", n_init=20, random_state=0),
    "LFRM": LFRM(**CHAINS),
    "IRM": IRM(**CHAINS),
    "EPM": EPM(**CHAINS),
}


class Clock:
    """Seconds inside a function."""

    def __init__(self, function) -> None:
        self.function, self.seconds, self.calls = function, 0.0, 0

    def __call__(self, *args):
        begun = time.process_time()
        try:
            return self.function(*args)
        finally:
            self.seconds += time.process_time() - begun
            self.calls += 1


def main() -> None:
    """Fit each model twice, the first time to load its kernels, and save the shares."""
    graph, found = load_les_miserables().binarize(), {}
    for name, model in MODELS.items():
        model.fit(graph)
        pack, write = Clock(checkpoint._packed), Clock(checkpoint.write_file)
        checkpoint._packed, checkpoint.write_file = pack, write
        begun = time.process_time()
        model.fit(graph, checkpoint=Path(tempfile.mkdtemp()) / "run.ckpt", checkpoint_every=0)
        seconds = time.process_time() - begun
        checkpoint._packed, checkpoint.write_file = pack.function, write.function
        share = (pack.seconds + write.seconds) / seconds
        found[name] = {"seconds": round(seconds, 3), "writes": write.calls, "share": round(share, 4)}
        print(name, found[name], flush=True)
    words = {"command": "python -m benchmarks.torture.overhead"}
    write_json(RESULTS.with_name("checkpoint_overhead.json"), {**words, "models": found})


if __name__ == "__main__":
    main()
