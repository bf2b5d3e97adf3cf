"""Where the time of a first fit goes: seconds of the compiler's steps for every kernel, with an empty cache.

``python benchmarks/compilation.py`` fits Karate and saves a table beside the other results. Seconds are those of the
processor, of each step without the steps inside of it. ``types``, ``lowering`` and ``other_passes`` are Numba's own in
Python; ``text`` reads what they wrote into LLVM, ``first`` optimises each function alone, ``link`` joins a kernel with
what it calls, ``optimise`` and ``code`` are LLVM's on all of it.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "compilation.json"
STEPS = {
    "add_ir_module": "text",
    "_optimize_functions": "first",
    "finalize": "link",
    "_get_module_for_linking": "link",
    "_optimize_final_module": "optimise",
}
PASSES = {"nopython_type_inference": "types", "native_lowering": "lowering"}


class Table:
    """Seconds and counts by function and step."""

    def __init__(self) -> None:
        self.seconds: dict[str, Counter[str]] = defaultdict(Counter)
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.inside = [0.0]

    def measure(self, owner: type, attribute: str, name: Callable[..., tuple[str, str]]) -> None:
        """Replace a method by one that is timed; ``name`` tells function and step from its arguments."""
        method = getattr(owner, attribute)

        def timed(*args: Any, **options: Any) -> Any:
            begun = time.process_time()
            self.inside.append(0.0)
            try:
                return method(*args, **options)
            finally:
                spent, within = time.process_time() - begun, self.inside.pop()
                self.inside[-1] += spent
                function, step = name(*args)
                self.seconds[function][step] += spent - within
                self.counts[function][step] += 1

        setattr(owner, attribute, timed)


def install(table: Table) -> None:
    """Time the steps of Numba's compiler."""
    from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
    from numba.core.compiler_machinery import PassManager

    for attribute, step in STEPS.items():
        table.measure(CPUCodeLibrary, attribute, lambda library, *_, step=step: (library.name, step))
    table.measure(JITCodeLibrary, "_finalize_specific", lambda library: (library.name, "code"))
    table.measure(
        PassManager, "_runPass", lambda _, __, what, state: (_name(state), PASSES.get(what.name(), "other_passes"))
    )


def _name(state: Any) -> str:
    return str(state.func_id.func_qualname)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KLAFTER_CACHE_DIR"] = folder
        table = Table()
        install(table)
        from klafter.datasets import load_karate
        from klafter.models import KLafter

        KLafter(random_state=0, n_jobs=1).fit(load_karate())
    total: Counter[str] = Counter()
    for steps in table.seconds.values():
        total.update(steps)
    functions = {
        name: {
            "seconds": {step: round(value, 2) for step, value in steps.items() if value >= 0.005},
            "variants": table.counts[name]["types"],
        }
        for name, steps in sorted(table.seconds.items(), key=lambda item: -sum(item[1].values()))
    }
    result = {
        "command": "python benchmarks/compilation.py, one core",
        "cpu_seconds_of_the_process": round(time.process_time(), 1),
        "cpu_seconds": {step: round(value, 2) for step, value in total.most_common()},
        "typed": sum(counts["types"] for counts in table.counts.values()),
        "made_into_machine_code": sum(counts["code"] for counts in table.counts.values()),
        "functions": functions,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
