"""Formulas of the pages have a form that needs no connection."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def formulas(page: Path) -> list[str]:
    """What stands between dollars outside of code."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL) + re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", text)


def test_the_site_loads_no_script_for_formulas():
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert 'html_math_renderer = "mathml"' in settings
    assert "mathjax" not in settings


def test_every_formula_has_mathml():
    pytest.importorskip("docutils", reason="docutils is not installed: pip install klafter[docs]")
    pytest.importorskip("latex2mathml", reason="latex2mathml is not installed: pip install klafter[docs]")
    as_mathml = runpy.run_path(str(DOCS / "mathml.py"))["as_mathml"]
    found = [as_mathml(formula.strip(), "inline") for page in DOCS.glob("*.md") for formula in formulas(page)]
    assert len(found) > 30
    with pytest.raises(ValueError, match="No MathML"):
        as_mathml(r"a \unheardof b", "inline")
