"""The package works as plain Python too."""

import json
import os
import subprocess
import sys

import pytest

from klafter import KLafter
from klafter.datasets import load_karate

SETTINGS = {"n_init": 1, "n_smooth": 4, "max_iter": 2, "random_state": 0}
PLAIN = """
import json, sys
from klafter import KLafter
from klafter.core.workspace import open_workspace
from klafter.datasets import load_karate

assert type(open_workspace).__name__ == "function", "kernels are compiled"
model = KLafter(**json.loads(sys.argv[1])).fit(load_karate())
print(json.dumps([float(model.objective_), model.n_communities_]))
"""


@pytest.mark.parametrize("link", ["logit", "exposure"])
def test_plain_python_fits_as_compiled_kernels_do(link):
    settings = {**SETTINGS, "link": link}
    command = [sys.executable, "-c", PLAIN, json.dumps(settings)]
    plain = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert plain.returncode == 0, plain.stderr
    objective, n_communities = json.loads(plain.stdout)
    model = KLafter(**settings).fit(load_karate())
    assert objective == pytest.approx(model.objective_, rel=1e-6)
    assert n_communities == model.n_communities_
