"""The process in which atheris reads changed files: ``python -m benchmarks.torture.guided`` starts it."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["klafter.graph.io", "klafter.graph.archives"]):
    from benchmarks.torture.graph_files import read, seeds
from klafter.graph import GraphFileError

NAMES = sorted(seeds())
PLACE = Path(tempfile.mkdtemp())


def trial(data: bytes) -> None:
    """Read a file; all but a sentence is a crash."""
    if not data:
        return
    path = PLACE / NAMES[data[0] % len(NAMES)]
    path.write_bytes(data[1:])
    try:
        read(path)
    except GraphFileError as error:
        if not str(error).strip().endswith((".", ")", "?", "!")):
            raise AssertionError("no sentence") from error
    finally:
        os.unlink(path)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    logging.disable(logging.CRITICAL)
    atheris.Setup(sys.argv, trial)
    atheris.Fuzz()
