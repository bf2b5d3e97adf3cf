"""The command line, run in this process: results, JSON, sentences and exit codes."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import klafter
from klafter.cli import app as cli_app
from klafter.cli.facts import in_order
from klafter.cli.fitting import MODELS
from klafter.cli.inspect_model import name_members, show_communities
from klafter.cli.progress import clock_face, seconds_left
from klafter.cli.screen import column_widths, plain
from klafter.models import Choice, KLafter, load

HOSTILE = "[red]x[/red]"
BELL = "evil\x1b[31m\x07\u202ename"


def run(*words, **options):
    """The result of a command."""
    return CliRunner().invoke(cli_app.app, [str(word) for word in words], prog_name="klafter", **options)


def sentence(result, code=2):
    """The one line on stderr of a command that failed."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("klafter: ")
    assert "Traceback" not in result.stderr
    return lines[0].removeprefix("klafter: ")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two cliques of four that share a node, as a file, and a model of them."""
    place = tmp_path_factory.mktemp("cli")
    cliques = [["ann", "bob", "cem", "Jean Valjean"], ["Jean Valjean", HOSTILE, BELL, ":smile:"]]
    links = [f"{a}\t{b}" for group in cliques for i, a in enumerate(group) for b in group[:i]]
    (place / "friends.tsv").write_text("\n".join(links) + "\n", encoding="utf-8")
    quick = ["--restarts", 1, "--smooth", 3, "--communities", 2]
    result = run("fit", place / "friends.tsv", "-o", place / "m.npz", *quick, "--json")
    assert result.exit_code == 0, result.output
    (place / "fit.json").write_text(result.stdout, encoding="utf-8")
    return place


def test_bare_command_shows_what_to_do_next():
    result = run()
    assert result.exit_code == 0
    assert "klafter demo" in result.stdout
    assert "klafter fit" in result.stdout


def test_version():
    assert run("--version").stdout == f"klafter {klafter.__version__}\n"


@pytest.mark.parametrize("command", [c.__name__ for group in cli_app.COMMANDS.values() for c in group])
def test_help_of_every_command_has_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples" in result.stdout
    assert f"klafter {command}" in result.stdout


def test_fit_tells_programs_what_it_found(folder):
    document = json.loads((folder / "fit.json").read_text())
    assert document["graph"]["nodes"] == 7
    assert document["graph"]["links"] == 12
    assert document["fit"]["parameters"]["n_communities"] == 2
    assert document["interrupted"] is False
    assert klafter.load(folder / "m.npz").graph_.n_nodes == 7


def test_fit_is_the_same_for_the_same_seed_and_for_more_jobs(tmp_path):
    words = ["fit", "florentine_families", "--restarts", 2, "--smooth", 0, "--json", "-o", tmp_path / "m.npz"]
    one = json.loads(run(*words).stdout)["fit"]["objective"]
    two = json.loads(run(*words, "--jobs", 2).stdout)["fit"]["objective"]
    assert one == two


def test_fit_says_what_is_next_and_quiet_says_nothing(tmp_path):
    words = ["fit", "dataset:karate", "--restarts", 1, "--smooth", 0, "--set", "max_iter=2", "-o", tmp_path / "m.npz"]
    told = run(*words)
    assert "34 nodes, 78 links" in told.stdout
    assert "Next: klafter communities" in told.stdout
    assert told.stderr == ""
    assert run(*words, "--quiet").output == ""


def test_communities(folder):
    document = json.loads(run("communities", folder / "m.npz", "--json").stdout)
    model = klafter.load(folder / "m.npz")
    found = {frozenset(item["members"]) for item in document["communities"]}
    assert found == {frozenset(members) for members in model.communities()}
    assert all(item["size"] == len(item["members"]) for item in document["communities"])
    assert all(item["name"] == model.community_names_[item["number"]] for item in document["communities"])
    assert set(document["unassigned"]) == model.unassigned()
    assert [choice["node"] for choice in document["first_choices"]] == document["unassigned"]
    assert all(0 <= choice["probability"] <= 1 for choice in document["first_choices"])


def test_behind_a_node_in_none_stands_its_first_choice(capsys):
    choice = Choice("hal", 1, 0.123, 0.9)
    found = [{"number": 1, "name": "a", "size": 1, "density": None, "members": ["a"], "shared": []}]
    found[0]["over_represented"] = []
    show_communities(found, ["hal", "ida"], 12, {"hal": choice})
    assert "In none, 2: hal (first a, 12%), ida" in capsys.readouterr().out


def test_hostile_names_are_shown_as_text(folder):
    shown = (
        run("communities", folder / "m.npz", "--members", 0).stdout
        + run("predict", folder / "m.npz", "--top", 9).stdout
    )
    assert HOSTILE in shown
    assert ":smile:" in shown
    assert "evil[31mname" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert plain("a\x1b[2J\x9b1mb\r\nc") == "a[2J1mb  c"


def test_tables_fit_the_terminal(folder):
    for words in (["communities", folder / "m.npz"], ["datasets"], ["predict", folder / "m.npz", "--top", 5]):
        lines = run(*words, env={"COLUMNS": "60"}).stdout.splitlines()
        assert max(map(len, lines)) <= 60


def test_predict_takes_pairs_in_many_forms(folder, tmp_path):
    model = klafter.load(folder / "m.npz")
    expected = pytest.approx(model.predict_proba([("ann", "Jean Valjean")])[0])
    (tmp_path / "pairs.csv").write_text('source,target\nann,"Jean Valjean"\nbob,cem\n', encoding="utf-8")
    forms = (["ann Jean Valjean"], ["ann", "Jean Valjean"], ["ann,Jean Valjean"], [tmp_path / "pairs.csv"])
    for words in forms:
        rows = json.loads(run("predict", folder / "m.npz", *words, "--json").stdout)
        assert rows[0]["source"] == "ann"
        assert rows[0]["probability"] == expected
    assert len(rows) == 2
    piped = run("predict", folder / "m.npz", "-", "--json", input="ann\tJean Valjean\n")
    assert json.loads(piped.stdout)[0]["probability"] == expected


def test_predict_takes_several_pairs(folder):
    model = klafter.load(folder / "m.npz")
    expected = model.predict_proba([("ann", "Jean Valjean"), ("bob", "cem")]).tolist()
    for words in (["ann", "Jean Valjean", "bob", "cem"], ["ann,Jean Valjean", "bob cem"]):
        rows = json.loads(run("predict", folder / "m.npz", *words, "--json").stdout)
        assert [row["probability"] for row in rows] == pytest.approx(expected)
    assert "'cem' has no partner" in sentence(run("predict", folder / "m.npz", "ann", "bob", "cem"))
    assert "no node 'bop'" in sentence(run("predict", folder / "m.npz", "ann", "bop"))


def test_directed_links_have_a_sender_and_a_receiver(folder, tmp_path):
    quick = ["--directed", "--restarts", 1, "--smooth", 0, "--quiet", "-o", tmp_path / "d.npz"]
    assert run("fit", folder / "friends.tsv", *quick).exit_code == 0
    assert re.search(r"from +to +probability", run("predict", tmp_path / "d.npz", "ann", "bob").stdout)
    assert "ann to bob: " in run("explain", tmp_path / "d.npz", "ann", "bob").stdout
    assert re.search(r"node +node +probability", run("predict", folder / "m.npz", "ann", "bob").stdout)
    assert "ann - bob: " in run("explain", folder / "m.npz", "ann", "bob").stdout


def test_names_of_communities_with_commas_are_quoted(folder):
    assert klafter.load(folder / "m.npz").place(["ann", "bob", "cem"]).communities
    assert re.match(r'In "[^"]+, [^"]+"', run("place", folder / "m.npz", "ann", "bob", "cem").stdout)


def test_misspelt_names_are_suggested(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert sentence(run("fit", "karat")).endswith("Did you mean karate?")
    assert sentence(run("fit", "dataset:les_miserable")).split("Did you mean ")[1].startswith("les_miserables")
    assert sentence(run("fit", "freinds.tsv")).endswith("Did you mean friends.tsv?")
    assert sentence(run("look", "freinds.tsv")).endswith("Did you mean friends.tsv?")
    assert sentence(run("fit", "karate", "--model", "irn")).endswith("Did you mean irm?")
    assert sentence(run("fit", "karate", "--set", "penalti=1")).endswith("Did you mean penalty?")
    assert sentence(run("fit", "friends.tsv", "--read", "encodin=x")).endswith("Did you mean encoding?")
    assert "--directed" in sentence(run("fit", "karate", "--directd"))
    assert "'fit'" in sentence(run("fitt", "karate"))


@pytest.mark.parametrize("command", ["fit", "tune", "compare", "look"])
def test_a_graph_is_read_with_the_same_options_everywhere(command):
    shown = run(command, "--help", env={"COLUMNS": "200"}).stdout
    assert all(option in shown for option in ("--directed", "--weight", "--nodes", "--header", "--sheet", "--read"))
    assert command == "look" or "--hidden" in shown


def test_what_was_read_is_told_by_every_command(tmp_path):
    path = tmp_path / "friends.csv"
    links = [(a, b) for group in ("abcd", "defg") for a in group for b in group if a < b]
    path.write_text("Von;Nach\n" + "".join(f"{a}1;{b}1\n" for a, b in links))
    (tmp_path / "hidden.txt").write_text("a1 b1\n")
    words = ["--directed", "--hidden", tmp_path / "hidden.txt"]
    told = run("compare", path, "--splits", 1, *words).stdout
    assert "say --no-header if not" in " ".join(told.split())
    document = json.loads(
        run("tune", path, "--penalties", 0, "--folds", 2, "-o", tmp_path / "m", "--json", *words).stdout
    )
    assert (document["graph"]["directed"], document["graph"]["hidden_dyads"]) == (True, 1)


def test_options_of_files_do_not_go_with_data_sets(tmp_path):
    assert "--header goes with a file" in sentence(run("fit", "karate", "--header"))
    quick = ["--restarts", 1, "--smooth", 0, "--json", "-o", tmp_path / "m.npz"]
    assert run("fit", "les_miserables_counts", "--weight", "none", *quick).exit_code == 0


def test_look_says_what_would_be_read(tmp_path):
    path = tmp_path / "amis.csv"
    path.write_bytes("Personne;Ami;Depuis\nZoé;Luc;2001\nLuc;Anne;1999\n".encode("cp1252"))
    told = " ".join(run("look", path).stdout.split())
    assert "source (personne)" in told
    assert "To check:" in told
    assert "say --no-header if not" in told
    assert "read as cp1252, such as 'Zoé'; say --read encoding=" in told
    document = json.loads(run("look", path, "--no-header", "--weight", "none", "--json").stdout)
    assert document["graph"]["nodes"] == 5
    assert document["rows"][0] == ["Personne", "Ami", "Depuis"]
    again = " ".join(run("look", path, "--no-header", "--weight", "none", "--directed").stdout.split())
    assert "--directed --no-header --weight none -o model.npz" in again
    ones = " ".join(run("look", path, "--weight", "2", "--binarize").stdout.split())
    assert "--binarize --weight 2 -o model.npz" in ones
    assert "is a folder" in sentence(run("look", tmp_path))


def test_top_links_are_missing_ones(folder):
    rows = json.loads(run("predict", folder / "m.npz", "--top", 4, "--json").stdout)
    graph = klafter.load(folder / "m.npz").graph_
    assert len(rows) == 4
    assert all(graph.links[graph.index(row["source"]), graph.index(row["target"])] == 0 for row in rows)
    assert [row["probability"] for row in rows] == sorted((row["probability"] for row in rows), reverse=True)


def test_counts_have_expected_values(tmp_path):
    words = ["--family", "poisson", "--restarts", 1, "--smooth", 0, "--set", "max_iter=2", "-q"]
    assert run("fit", "les_miserables_counts", *words, "-o", tmp_path / "m.npz").exit_code == 0
    row = json.loads(run("predict", tmp_path / "m.npz", "Valjean Javert", "--json").stdout)[0]
    assert row["value"] > 1
    assert 0 < row["probability"] <= 1


def test_explain(folder):
    document = json.loads(run("explain", folder / "m.npz", "ann", "bob", "--json").stdout)
    assert document["link"] == 1
    assert document["parts"]
    assert "probability of a link" in run("explain", folder / "m.npz", "ann", "bob").stdout


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "csv", "json"])
def test_export(folder, tmp_path, suffix):
    path, model = tmp_path / f"out.{suffix}", folder / "m.npz"
    if suffix in ("graphml", "gexf"):  # which cannot keep the bell in a name
        assert "control character" in sentence(run("export", model, path))
        model = tmp_path / "m.npz"
        run("fit", "florentine_families", "--restarts", 1, "--smooth", 0, "-o", model)
    assert run("export", model, path).exit_code == 0
    assert path.stat().st_size > 0
    if suffix in ("graphml", "gexf"):
        assert klafter.read_graph(path).n_links == klafter.load(model).graph_.n_links


def test_hidden_pairs_are_hidden(folder, tmp_path):
    (tmp_path / "hidden.txt").write_text("ann bob\nann cem\n")
    words = ["--hidden", tmp_path / "hidden.txt", "--restarts", 1, "--smooth", 0, "--json", "-o", tmp_path / "h.npz"]
    result = run("fit", folder / "friends.tsv", *words)
    assert json.loads(result.stdout)["graph"]["hidden_dyads"] == 2
    assert klafter.load(tmp_path / "h.npz").graph_.n_links == 10


def test_datasets():
    names = [row["name"] for row in json.loads(run("datasets", "--json").stdout)]
    assert "karate" in names
    assert "karate" in run("datasets").stdout


@pytest.mark.slow
def test_tune_and_compare(tmp_path, monkeypatch):
    words = ["tune", "florentine_families", "--penalties", "0,9", "--folds", 2, "-o", tmp_path / "t.npz", "--json"]
    document = json.loads(run(*words).stdout)
    assert document["best"]["penalty"] in (0, 9)
    assert klafter.load(tmp_path / "t.npz").graph_.n_nodes == 15
    rows = json.loads(run("compare", "florentine_families", "--splits", 1, "--json").stdout)["rows"]
    assert {"KLafter", "degree product"} <= {row["model"] for row in rows}


MISTAKES = {
    "no file and no data set": ["fit", "nowhere.tsv"],
    "no data set": ["fit", "dataset:nowhere"],
    "Missing argument": ["fit"],
    "No such option": ["fit", "karate", "--frobnicate"],
    "No such command": ["frobnicate"],
    "no model": ["fit", "karate", "--model", "magic"],
    "no parameter 'frob'": ["fit", "karate", "--set", "frob=1"],
    "NAME=VALUE": ["fit", "karate", "--set", "frob"],
    "needs family": ["fit", "karate", "--family", "cauchy"],
    "--family poisson": ["fit", "les_miserables_counts"],
    "no folder": ["fit", "karate", "-o", "nowhere/m.npz"],
    "There is no file": ["communities", "nowhere.npz"],
    "--top N": ["predict", "m.npz"],
    "no node 'zoe'": ["explain", "m.npz", "ann", "zoe"],
    "two nodes; both": ["explain", "m.npz", "ann", "ann"],
    "neither a file nor two nodes": ["predict", "m.npz", "ann"],
    "'Jean Valjean' is neither a file": ["predict", "m.npz", "Jean Valjean"],
    "Did you mean 'Jean Valjean'": ["explain", "m.npz", "ann", "JEAN VALJEAN"],
    "this one as --nodes, or say --bipartite": ["fit", "people.csv"],
    "line 2: There is no node": ["predict", "m.npz", "wrong.tsv"],
    "is the file that is read": ["fit", "friends.tsv", "-o", "friends.tsv"],
    "h.tsv is the file that is read": ["fit", "friends.tsv", "--hidden", "h.tsv", "-o", "h.tsv"],
    "people.csv is the file that is read": ["tune", "friends.tsv", "--nodes", "people.csv", "-o", "people.csv"],
    "to be the model and the page": ["fit", "friends.tsv", "-o", "new.html", "--report", "./new.html"],
    "to be the model and the checkpoint": ["fit", "friends.tsv", "-o", "new.npz", "--checkpoint", "new.npz"],
    "new.npz is to be the model": ["tune", "friends.tsv", "-o", "new.npz", "--checkpoint", "new.npz"],
    "wrong.tsv is a file; name a folder": ["reproduce", "--results", "wrong.tsv"],
    "There is no folder": ["reproduce", "--document", "nowhere/page.md"],
    "goes with --top N": ["predict", "m.npz", "ann bob", "--hidden-only"],
    "'enc' is none of them": ["fit", "friends.tsv", "--read", "enc=latin-1"],
    "--read needs NAME=VALUE": ["compare", "friends.tsv", "--read", "latin-1"],
    "is not a klafter model": ["communities", "friends.tsv"],
    "friends.tsv": ["fit", "friends.tsv", "--nodes", "nowhere.tsv"],
    "ends in '.xyz'": ["export", "m.npz", "out.xyz"],
    "is a folder": ["fit", "."],
}


@pytest.mark.parametrize("part", MISTAKES)
def test_mistakes_are_one_sentence(folder, monkeypatch, part):
    monkeypatch.chdir(folder)
    (folder / "wrong.tsv").write_text("ann\tbob\nann\tzoe\n")
    (folder / "h.tsv").write_text("ann\tbob\n")
    (folder / "people.csv").write_text("id,label,group\n1,ann,a\n2,bob,b\n3,cem,a\n")
    found = sentence(run(*MISTAKES[part]))
    assert part in found or part == "friends.tsv"


def test_a_model_that_cannot_be_where_it_was_asked_for_is_elsewhere(folder, tmp_path, monkeypatch):
    def gone(self, path):
        if Path(path) == asked:
            raise OSError(f"{path} could not be written: the disk is full.")
        save(self, path)

    asked, save = tmp_path / "m.npz", KLafter.save
    monkeypatch.setattr(KLafter, "save", gone)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = sentence(run("fit", folder / "friends.tsv", "--restarts", 1, "--smooth", 0, "-q", "-o", asked))
    (spare,) = tmp_path.iterdir()
    assert said.endswith(f"the disk is full. The model is in {spare}.")
    assert load(spare).graph_.n_nodes == load(folder / "m.npz").graph_.n_nodes


def test_where_no_place_is_left_the_sentence_is_of_the_one_asked_for(folder, tmp_path, monkeypatch):
    def gone(self, path):
        raise OSError(f"{path} could not be written: the disk is full.")

    monkeypatch.setattr(KLafter, "save", gone)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = sentence(run("fit", folder / "friends.tsv", "--restarts", 1, "--smooth", 0, "-q", "-o", tmp_path / "m.npz"))
    assert said.endswith("m.npz could not be written: the disk is full.")
    assert not list(tmp_path.iterdir())


def test_bad_file_names_file_and_line(tmp_path):
    (tmp_path / "bad.csv").write_text("source,target,weight\na,b,1\nb,c,\x1b[31mmany\n")
    found = sentence(run("fit", tmp_path / "bad.csv"))
    assert "bad.csv, line 3" in found
    assert "\x1b" not in found


def test_a_fault_of_ours_is_a_sentence_too(folder, monkeypatch):
    def broken(model):
        raise RuntimeError("oops\nagain")

    monkeypatch.setattr("klafter.cli.facts.describe_communities", broken)
    assert "oops again" in sentence(run("communities", folder / "m.npz"), code=1)


def test_a_report_that_fails_leaves_nothing_behind(folder, tmp_path, monkeypatch):
    def no_report(path):
        raise ValueError("no report today")

    monkeypatch.setattr("klafter.cli.export.report_function", no_report)
    assert "no report today" in sentence(run("report", folder / "m.npz", "-o", tmp_path / "page.html"))
    assert not list(tmp_path.iterdir())


def test_report_is_a_page(folder, tmp_path):
    assert run("report", folder / "m.npz", "-o", tmp_path / "page.html").exit_code == 0
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:500].lower()


def test_completion_proposes_names_and_files(tmp_path, monkeypatch):
    from klafter.cli import completion

    monkeypatch.chdir(tmp_path)
    (tmp_path / "karneval.tsv").write_text("a b\n")
    (tmp_path / "kars").mkdir()
    assert completion.graphs("kar") == ["karate", "karneval.tsv", "kars/"]
    assert completion.one_of("irm", "lfrm")("i") == ["irm"]
    assert completion.some_of("irm", "lfrm")("irm,") == ["irm,lfrm"]


@pytest.mark.parametrize("command", [c.__name__ for group in cli_app.COMMANDS.values() for c in group])
def test_every_command_has_examples_and_json(command):
    shown = run(command, "--help").stdout
    assert f"klafter {command}" in shown.split("Examples")[1]
    assert "--json" in shown


def test_the_shell_completes(folder):
    words = {"COMP_WORDS": "klafter fit --model ir", "COMP_CWORD": "3", "_KLAFTER_COMPLETE": "complete_bash"}
    assert run(env=words).stdout.split() == ["irm"]


def test_report_and_export_as_json(folder, tmp_path):
    told = json.loads(run("report", folder / "m.npz", "-o", tmp_path / "r.html", "--title", "T", "--json").stdout)
    assert told == {"file": str(tmp_path / "r.html"), "bytes": (tmp_path / "r.html").stat().st_size}
    assert "<title>T</title>" in (tmp_path / "r.html").read_text()
    told = json.loads(run("export", folder / "m.npz", tmp_path / "m.csv", "--json").stdout)
    assert told["communities"] == 2


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_fitted_from_the_shell(tmp_path, model):
    quick = {"klafter": "n_init=1", "paper": "max_iter=2"}.get(model, "n_burn=2")
    fewer = [] if model in ("klafter", "paper") else ["--set", "n_draws=2"]
    result = run("fit", "karate", "--model", model, "--set", quick, *fewer, "-o", tmp_path / "m.npz")
    assert result.exit_code == 0, result.output
    assert klafter.load(tmp_path / "m.npz").graph_.n_nodes == 34


def test_what_was_read_is_told_once_and_in_words_of_the_shell(tmp_path):
    (tmp_path / "two.tsv").write_text("a\tb\n")
    told = run("fit", tmp_path / "two.tsv", "--restarts", 1, "--smooth", 0, "-o", tmp_path / "m.npz").stdout
    assert told.count("1 link") == told.count("2 nodes and") == 1
    assert "say --directed if order matters" in " ".join(told.split())
    assert "1 links" not in told


def test_the_reader_takes_any_option_from_the_shell(tmp_path):
    (tmp_path / "cafe.tsv").write_bytes(b"caf\x81\tbar\nbar\tclub\n")
    assert "say --read encoding=latin-1" in sentence(run("fit", tmp_path / "cafe.tsv"))
    (tmp_path / "cafe.tsv").write_bytes("café\tbar\nbar\tclub\n".encode("latin-1"))
    options = ["--read", "encoding=latin-1", "--read", "directed=yes", "--restarts", 1, "--smooth", 0]
    assert run("fit", tmp_path / "cafe.tsv", *options, "-o", tmp_path / "m.npz").exit_code == 0
    graph = klafter.load(tmp_path / "m.npz").graph_
    assert (graph.directed, graph.labels.tolist()) == (True, ["bar", "café", "club"])


def test_values_that_are_no_counts_are_told_in_words_of_the_shell(tmp_path):
    (tmp_path / "g.tsv").write_text("a\tb\t-1\nb\tc\t2\n")
    found = sentence(run("fit", tmp_path / "g.tsv", "--family", "poisson"))
    assert "values from -1 to 2, not just 1, 2, 3, ...; use --family gaussian" in found
    assert "poisson" not in sentence(run("fit", tmp_path / "g.tsv"))


def test_cures_for_values_are_options_that_the_command_has(tmp_path):
    graph = tmp_path / "g.tsv"
    graph.write_text("a\tb\t3\nb\tc\t2\n")
    assert sentence(run("fit", graph)).endswith(
        "use --family poisson for counts, --family gaussian for real values, or --binarize."
    )
    assert sentence(run("fit", graph, "--model", "irm")).endswith("use --family poisson for counts, or --binarize.")
    assert sentence(run("fit", graph, "--model", "mmsb")).endswith("not just 1; use --binarize.")
    assert sentence(run("compare", graph)).endswith("not just 1; use --binarize.")
    directed = ("--directed", "--binarize", "--model", "epm")
    assert sentence(run("fit", graph, *directed)).endswith("Use --read directed=false.")


def test_no_hidden_pair_is_a_sentence(folder):
    assert (
        run("predict", folder / "m.npz", "--top", 3, "--hidden-only").stdout == "No pair is hidden in this network.\n"
    )


def test_an_explanation_says_what_its_parts_are(folder):
    told = " ".join(run("explain", folder / "m.npz", "ann", "bob").stdout.split())
    assert re.search(r"These add up to [+-]\d\.\d\d, the log odds of that probability: offset [+-]\d", told)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_comparison_fits_the_screen(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    told = run("compare", "karate", "--models", "paper", "--splits", 2).stdout
    assert max(map(len, told.splitlines())) <= width
    assert all(words in told for words in ("AUC", "against", "best"))
    assert width == 60 or "allocation" in told


def test_columns_fold_between_words_and_never_vanish():
    texts = [["name", "resource allocation"], ["number", "0.9 ± 0.1"]]
    assert column_widths(texts, [False, True], 40) == [19, 9]
    assert column_widths(texts, [False, True], 22) == [13, 9]
    assert column_widths(texts, [False, True], 20) == [11, 9]
    assert column_widths(texts, [False, False], 9) == [5, 4]


def test_numbers_are_sorted_by_size():
    assert in_order({10, 9, "b", 2, "a"}) == [2, 9, 10, "a", "b"]


def test_misspelt_options_get_suggestions():
    assert sentence(run("fit", "karate", "--penality", "1")).endswith("Did you mean --penalty?")
    assert "Did you mean --no-header" in sentence(run("look", "x.csv", "--no-heder"))


@pytest.mark.parametrize("command", ["fit", "tune", "compare", "look", "communities", "predict", "watch", "demo"])
def test_flags_take_no_value_in_help(command):
    shown = run(command, "--help", env={"COLUMNS": "120", "TERMINAL_WIDTH": "120"}).stdout
    assert "--json" in shown
    assert "<bool>" not in shown
    assert "{" not in shown.split("Usage:")[1].splitlines()[0]


@pytest.mark.parametrize("command", ["fit", "tune", "compare", "look"])
def test_options_of_reading_stand_wherever_a_graph_is_read(command):
    shown = run(command, "--help", env={"COLUMNS": "120", "TERMINAL_WIDTH": "120"}).stdout
    assert all(f"--{name}" in shown for name in ("directed", "weight", "nodes", "hidden", "header", "sheet"))


def test_names_are_quoted_where_a_list_would_mislead():
    shown = name_members(["Ann Lee", "Smith, John", "star*", ""], 0, ["Ann Lee", "Smith, John"])
    assert shown == 'Ann Lee*, "Smith, John"*, "star*", ""'


def test_over_represented_values_stand_in_the_table_with_their_base_rate(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    value = {"attribute": "office", "value": "Rome", "inside": 3, "members": 4, "total": 5, "known": 9, "q": 0.01}
    item = {"number": 0, "name": "Rome", "size": 4, "density": 0.5, "members": ["a"], "shared": []}
    show_communities([{**item, "over_represented": [value]}], [], 12)
    shown = " ".join(capsys.readouterr().out.split())
    assert "office Rome: 3 of 4, overall 5 of 9" in shown


def test_time_left_does_not_count_compilation():
    assert seconds_left(0.5, 70.0, 60.0) == pytest.approx(10.0)
    assert seconds_left(None, 70.0, 60.0) is None
    assert seconds_left(0.0, 70.0, 60.0) is None
    assert clock_face(3_725) == "1:02:05"


def test_gexf_has_colours_positions_and_names(tmp_path):
    import networkx as nx

    from klafter.datasets import load_karate
    from klafter.models import KLafter

    model = KLafter(n_init=1, n_smooth=0, random_state=0).fit(load_karate())
    model.save(tmp_path / "karate.npz")
    assert run("export", tmp_path / "karate.npz", tmp_path / "karate.gexf").exit_code == 0
    found = nx.read_gexf(tmp_path / "karate.gexf")
    looks = [found.nodes[node] for node in found]
    assert all({"color", "position", "size"} <= set(look["viz"]) for look in looks)
    assert len({(look["viz"]["position"]["x"], look["viz"]["position"]["y"]) for look in looks}) == 34
    colours = {look["community"]: tuple(look["viz"]["color"][part] for part in "rgb") for look in looks}
    assert len(set(colours.values())) == len(colours)
    assert {look["community_name"] for look in looks} >= set(model.community_names_)


@pytest.mark.parametrize("command", ["fit", "place", "predict", "explain", "export", "watch", "look"])
def test_usage_has_no_braces(command):
    usage = next(line for line in run(command, "--help").output.splitlines() if "Usage" in line)
    assert not set("{}") & set(usage)
