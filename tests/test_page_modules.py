"""The JavaScript of the page: modules whose names fit together, and the one script they become."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from javascript import BROWSER, read_module
from report_models import told, two_groups

from klafter.report.facts import gather
from klafter.report.html import bundle, render

PAGE = Path(str(files("klafter.report") / "page"))
MODULES = {path.name: read_module(path.read_text(encoding="utf-8")) for path in sorted(PAGE.glob("*.js"))}
ESLINT = Path(__file__).resolve().parents[1] / "eslint.config.mjs"


@pytest.fixture
def folder(tmp_path):
    def write(**modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("name", MODULES)
def test_imported_names_are_exported_by_their_module(name):
    wrong = {each: file for each, file in MODULES[name].imports.items() if each not in MODULES[file].exports}
    assert wrong == {}


@pytest.mark.parametrize("name", MODULES)
def test_nothing_undefined_is_used(name):
    assert MODULES[name].undefined() == set()


@pytest.mark.parametrize("name", MODULES)
def test_imported_and_declared_names_are_used(name):
    module = MODULES[name]
    assert set(module.imports) - module.used == set()
    text = (PAGE / name).read_text(encoding="utf-8")
    private = [each for each in module.top if each not in module.exports]
    assert [each for each in private if len(re.findall(rf"(?<![\w$]){re.escape(each)}(?![\w$])", text)) < 2] == []


def test_exported_names_are_imported_somewhere():
    wanted = {(file, name) for module in MODULES.values() for name, file in module.imports.items()}
    assert {(file, name) for file, module in MODULES.items() for name in module.exports} - wanted == set()


def test_modules_share_no_names_because_they_will_share_a_scope():
    names = [name for module in MODULES.values() for name in module.top]
    assert sorted(names) == sorted(set(names))


def test_imports_hide_no_names_of_their_module():
    assert [file for file, module in MODULES.items() if set(module.imports) & set(module.top)] == []


def test_eslint_and_the_tests_know_the_same_names_of_the_browser():
    listed = re.search(r"const browser = \[(.*?)\]", ESLINT.read_text(encoding="utf-8"), re.S).group(1)
    assert set(re.findall(r'"(\w+)"', listed)) == BROWSER


def test_the_script_of_the_page_holds_every_module_and_imports_nothing():
    script = bundle(PAGE)
    assert not re.search(r"^\s*(import|export)\b", script, re.M)
    for name in MODULES:
        lines = (PAGE / name).read_text(encoding="utf-8").splitlines()
        kept = [line.removeprefix("export ") for line in lines if not line.startswith("import ")]
        assert "\n".join(kept) in script


def test_the_page_has_one_script_beside_its_data():
    scripts = re.findall(r"<script([^>]*)>", render(gather(told(*two_groups()))))
    assert scripts == [' type="application/json" id="data"', ' type="module"']


def test_a_module_comes_after_those_it_imports_and_once(folder):
    texts = {
        "main": 'import { two } from "./a.js";\nimport { one } from "./b.js";\ntwo(one);\n',
        "a": 'import { one } from "./b.js";\nexport const two = (x) => x + one;\n',
        "b": "export const one = 1;\n",
    }
    assert bundle(folder(**texts)) == "const one = 1;\n\nconst two = (x) => x + one;\n\ntwo(one);\n"


def test_imports_in_a_circle_are_refused(folder):
    texts = {
        "main": 'import { a } from "./a.js";\n',
        "a": 'import { b } from "./b.js";\nexport const a = 1;\n',
        "b": 'import { a } from "./a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(ValueError, match=r"a\.js imports b\.js imports a\.js: move what they share"):
        bundle(folder(**texts))


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("const f = (a) => a + b;", {"b"}),
        ("const f = (a) => `${a} and ${g(`${h}`)}`;", {"g", "h"}),
        ("const { a, b: c = d } = {}; a(b, c);", {"b", "d"}),
        ("for (const [a, b] of x) a(b);", {"x"}),
        ("class A { go(a = z, { b }) { return a + b + this.c; } }", {"z"}),
        ("function f(a, ...rest) { return { a, key: rest, other }; }", {"other"}),
        ("const s = 'no' + \"no\"; // no names\n/* no names */ const t = s.length ? s : t.no;", set()),
        ('import { a } from "./a.js";\nexport const b = () => a(c);\n', {"c"}),
    ],
)
def test_the_reader_of_modules_sees_what_is_missing(text, missing):
    assert read_module(text).undefined() == missing
