"""Settings of the search: one place, one name, one value."""

import dataclasses
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from klafter.models.engines.choice import by_size
from klafter.search.config import SEARCH, SearchConfig, changed, descriptions, from_environment, values

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))


def test_every_setting_says_what_it_does():
    assert list(descriptions()) == list(values(SearchConfig()))
    assert all(about["does"] for about in descriptions().values())


@pytest.mark.parametrize(("n", "chosen"), [(1, "a"), (150, "a"), (151, "b"), (500, "b"), (501, "c")])
def test_of_three_numbers_the_size_chooses(n, chosen):
    assert by_size(n, ("a", "b", "c")) == chosen


def test_settings_cannot_be_assigned():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SEARCH.dense.sweeps = 4


def test_the_environment_changes_settings():
    config = from_environment('{"dense.sweeps": 5, "effort.restarts": [1, 2, 3]}')
    assert config.dense.sweeps == 5
    assert config.effort.restarts == (1, 2, 3)
    assert changed(config, {"dense.sweeps": 3, "effort.restarts": SearchConfig().effort.restarts}) == SearchConfig()
    assert from_environment(None) == from_environment("") == SearchConfig()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"dense.swoops": 1}', "no setting 'dense.swoops'; it has effort.dense_limit"),
        ('{"dense.sweeps": [1]}', "'dense.sweeps' is 3"),
        ('{"dense.sweeps": "4"}', "'dense.sweeps' is 3"),
        ("dense.sweeps=4", "names and values as JSON"),
        ("[1]", "names and values as JSON"),
    ],
)
def test_what_the_environment_cannot_ask_for(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        from_environment(text)


def test_no_constant_of_the_search_has_two_values():
    found = defaultdict(set)
    for path in (ROOT / "src/klafter/search").rglob("*.py"):
        for names, value in re.findall(r"^([A-Z][A-Z_, ]+) = ([^#\n]+)", path.read_text(), re.M):
            for number, name in enumerate(names.split(",")):
                found[name.strip()].add((path.name, number, value.strip()))
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert not twice


def test_numbers_outside_the_settings_say_why_they_are_there():
    numbers = re.compile(r"^[A-Z][A-Z_, ]+ = \(?[-\d][^#\n]*$", re.M)
    found = {path.name: numbers.findall(path.read_text()) for path in (ROOT / "src/klafter/search").rglob("*.py")}
    assert not {name: some for name, some in found.items() if some}


def test_the_page_has_every_setting_with_its_value():
    ablate = pytest.importorskip("ablate", reason="benchmarks/ is not beside tests/")
    lines = (ROOT / "docs/settings.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in lines if re.match(r"\| \w+\.", line)]
    wanted = [[n, ablate.shown(v), descriptions()[n]["does"]] for n, v in values(SearchConfig()).items()]
    assert list(map(list, dict.fromkeys(map(tuple, rows)))) == wanted


def test_variants_of_a_setting_are_settings_too():
    ablate = pytest.importorskip("ablate", reason="benchmarks/ is not beside tests/")
    assert set(ablate.SETS) == {field.name for field in dataclasses.fields(SearchConfig)}
    assert set(values(SearchConfig())) > ablate.FOR_LARGE
    for name in values(SearchConfig()):
        for other in ablate.variants(name):
            assert values(changed(SearchConfig(), {name: other}))[name] != values(SearchConfig())[name]
