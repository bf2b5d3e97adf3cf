"""The command line as a program: pipes, interrupts, start-up."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import klafter
from klafter.cli import SELDOM

PROGRAM = [sys.executable, "-c", "from klafter.cli import main; main()"]
HEAVY = ("numpy", "scipy", "numba", "sklearn", "networkx", "pandas", "bokeh")


def run(*words, **options):
    return subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300, **options)


def test_help_loads_nothing_heavy():
    code = "import sys\nfrom klafter.cli.app import app\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_a_command_that_begins_hears_ctrl_c_before_it_loads_anything():
    code = "import sys; before = set(sys.modules); import klafter.cli; print(*set(sys.modules) - before)"
    where = {"PYTHONPATH": str(Path(klafter.__file__).parents[1])}
    loaded = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=where)
    assert not {"typing", "re", "importlib.util", "contextlib"} & set(loaded.stdout.split())


LOADED = """
import sys
from klafter.cli import main
try:
    main()
finally:
    awake = [name for name, module in sys.modules.items() if type(module).__name__ != "LazyModule"]
    print(*awake, file=sys.stderr)
"""
UNUSED = ("scipy.stats", "scipy.spatial", "networkx", "dask", "matplotlib", "sklearn.linear_model", "sklearn.neighbors")


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (("fit", "karate", "--restarts", "1", "-o", "m.npz"), UNUSED),
        (("communities", "saved.npz"), (*UNUSED, "pandas", "sklearn.tree")),
        (("look", "links.tsv"), (*UNUSED, "pandas", "sklearn", "numba")),
    ],
    ids=["fit", "communities", "look"],
)
def test_a_command_loads_nothing_that_it_does_not_use(tmp_path, words, unused):
    (tmp_path / "links.tsv").write_text("a\tb\nb\tc\n")
    if "saved.npz" in words:
        klafter.KLafter(n_init=1, n_smooth=0, random_state=0).fit(klafter.datasets.load_karate()).save(
            tmp_path / "saved.npz"
        )
    command = [sys.executable, "-c", LOADED, *words]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert not set(unused) & set(result.stderr.split())


def test_a_pipe_is_quiet_json_parses_and_no_checkpoint_is_left(tmp_path):
    kept = ["--checkpoint", tmp_path / "run.ckpt", "--checkpoint-every", 0]
    result = run("fit", "karate", "--restarts", 2, "--smooth", 2, "--json", "-o", tmp_path / "m.npz", *kept)
    assert result.returncode == 0
    assert result.stderr == ""
    assert json.loads(result.stdout)["graph"]["nodes"] == 34
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("quiet", [False, True])
def test_what_a_fit_warns_of_is_told_in_pipes_too(tmp_path, quiet):
    """Once each: a batch job has no terminal, and whoever asked for quiet wants to know of errors all the same."""
    told = (
        "import logging\nfrom klafter.cli import main\nfrom klafter.models import IRM\nfit = IRM.fit\n"
        "def warned(self, *words, **options):\n    log = logging.getLogger('klafter')\n"
        "    log.warning('IRM will take about 2 days.')\n    log.warning('Compiling.', extra={'passing': True})\n"
        "    log.error('run.ckpt could not be written.')\n    return fit(self, *words, **options)\n"
        "IRM.fit = warned\nmain()\n"
    )
    words = ["fit", "karate", "--model", "irm", "--set", "n_burn=2", "--set", "n_draws=2", *["-q"] * quiet]
    program = [sys.executable, "-c", told, *words]
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    told = (
        ["run.ckpt could not be written."]
        if quiet
        else ["IRM will take about 2 days.", "run.ckpt could not be written."]
    )
    assert result.stderr.splitlines() == told


def test_a_fit_with_its_defaults_and_its_page(tmp_path):
    links = [f"{person},{film}" for person in "abcdef" for film in (("x", "y") if person < "d" else ("v", "w"))]
    (tmp_path / "seen.csv").write_text("\n".join(["person,film", *links]) + "\n")
    result = run("fit", "seen.csv", "--bipartite", "--jobs", 4, "-o", "m.npz", "--report", "m.html", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "m.html").exists()


def test_a_mistake_exits_with_2_and_one_line(tmp_path):
    result = run("fit", "nowhere.tsv", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_a_reader_that_goes_away_is_no_error():
    command = (
        f'{sys.executable} -c "from klafter.cli import main; main()" datasets --json | true; echo ${{PIPESTATUS[0]}}'
    )
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert result.stdout.strip() in ("0", "141")
    assert result.stderr == ""


# presses Ctrl-C once, in the middle of the fit
IMPATIENT = """
import os, signal
from klafter.cli import main, progress

def press(self, told):
    if told.step >= 2 and not pressed:
        pressed.append(True)
        os.kill(os.getpid(), signal.SIGINT)

pressed = []
progress.Meter.__call__ = press
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_saves_the_best_so_far(tmp_path, jobs):
    words = ["fit", "les_miserables", "--restarts", "60", "--smooth", "10", "--jobs", str(jobs), "-o", "m.npz"]
    program = [sys.executable, "-c", IMPATIENT, *words, "--json"]
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 130, result.stderr
    assert json.loads(result.stdout)["interrupted"] is True
    assert result.stderr == "klafter: Interrupted; the best so far is in m.npz.\n"
    assert klafter.load(tmp_path / "m.npz").graph_.n_nodes == 77


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_ctrl_c_that_python_swallowed_is_heard_all_the_same(tmp_path):
    swallowing = "class Gone:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\n"
    code = swallowing + IMPATIENT.replace("os.kill(os.getpid(), signal.SIGINT)", "Gone()")
    program = [
        sys.executable,
        "-c",
        code,
        "fit",
        "les_miserables",
        "--restarts",
        "5000",
        "--jobs",
        "1",
        "-o",
        "m.npz",
        "--json",
    ]
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 130, result.stderr
    assert json.loads(result.stdout)["interrupted"] is True


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_in_an_update_ends_watch_after_it(tmp_path):
    model = klafter.KLafter(link="logit", n_init=2, n_smooth=5, random_state=0)
    model.fit(klafter.datasets.load_les_miserables()).save(tmp_path / "m.npz")
    program = [sys.executable, "-c", IMPATIENT, "watch", "-", "-m", "m.npz", "--batch", "1", "--json"]
    stream = "".join(f"new{i}\tValjean\n" for i in range(30))
    result = subprocess.run(program, cwd=tmp_path, input=stream, capture_output=True, text=True, timeout=300)
    assert result.returncode == 130, result.stderr
    assert result.stderr == "klafter: Interrupted; m.npz holds what was read up to line 1.\n"
    assert json.loads(result.stdout)["nodes_added"] == 1
    assert klafter.load(tmp_path / "m.npz").graph_.n_nodes == 78


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_before_the_fit_is_a_sentence(tmp_path):
    early = (
        "import os, signal\nfrom klafter.cli import main\nfrom klafter.models import KLafter\n"
        "KLafter.fit = lambda *words, **options: os.kill(os.getpid(), signal.SIGINT)\nmain()\n"
    )
    program = [sys.executable, "-c", early, "fit", "karate", "-o", "m.npz"]
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 130
    assert result.stderr == "klafter: Interrupted before there was anything to save.\n"
    assert not (tmp_path / "m.npz").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_inside_a_compiler_is_no_fault_of_klafter(tmp_path):
    wrapped = (
        "import os, signal\nfrom klafter.cli import main\nfrom klafter.models import KLafter\n"
        "def fit(*words, **options):\n    try:\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n        raise SystemError('returned a result with an exception set')\n"
        "KLafter.fit = fit\nmain()\n"
    )
    program = [sys.executable, "-c", wrapped, "fit", "karate", "-o", "m.npz"]
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 130
    assert result.stderr == "klafter: Interrupted before there was anything to save.\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_comparison_says_how_to_go_on(tmp_path):
    once = (
        "import os, signal\nfrom klafter.cli import main\nfrom klafter.models import IRM\nfit, fits = IRM.fit, []\n"
        "def slow(self, *words, **options):\n    fits.append(self)\n    if len(fits) == 2:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n    return fit(self, *words, **options)\nIRM.fit = slow\nmain()\n"
    )
    words = ["compare", "karate", "--models", "irm", "--splits", "2", "--results", "runs.json", "--json"]
    result = subprocess.run([sys.executable, "-c", once, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (130, "")
    assert "what is done is in runs.json, and the same command goes on from there" in result.stderr
    again = run(*words, cwd=tmp_path)
    assert again.returncode == 0
    assert len(json.loads(again.stdout)["records"]) == 10


def test_what_is_seldom_needed_waits_and_still_works():
    code = (
        "import sys\nfrom klafter.cli import SELDOM, main\nsys.argv = ['klafter', 'datasets']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import sklearn.base, scipy.stats\n"
        "print([type(sys.modules[name]).__name__ for name in SELDOM])\n"
        "print(round(scipy.stats.norm.cdf(0.0), 1), type(scipy.stats).__name__)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-2:] == [str(["LazyModule"] * len(SELDOM)), "0.5 module"]


def begin(words, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "klafter", *map(str, words)],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_keep_the_best_so_far_and_the_checkpoint(tmp_path, number, code):
    words = ["fit", "les_miserables", "--restarts", 400, "--checkpoint", "run.ckpt", "--checkpoint-every", 0]
    running = begin([*words, "--binarize", "--jobs", 1], tmp_path)
    limit = time.monotonic() + 120
    while not (tmp_path / "run.ckpt").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == code
    assert "Interrupted; the best so far is in model.npz. The same command goes on from run.ckpt." in said
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.npz", "run.ckpt"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_traceback_during_start_up(tmp_path, number):
    for pause in (0.1, 0.25, 0.5, 0.8):
        running = begin(["fit", "karate"], tmp_path)
        time.sleep(pause)
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
        assert "Traceback" not in said or pause < 0.2, said  # before that Python itself is starting
        assert running.returncode in (128 + number, -number)


def test_a_second_signal_leaves_at_once(tmp_path):
    running = begin(["fit", "karate", "--restarts", 500, "--jobs", 1], tmp_path)
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    running.communicate(timeout=20)
    assert time.monotonic() - begun < 5
    assert running.returncode in (130, 143)
