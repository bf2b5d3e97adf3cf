"""The report: one page that opens from disk and loads nothing from any network.

Its JavaScript modules become one script, since a page opened from disk may not import other files. Modules have only
imports of the form

    import { name, other } from "./module.js";

each on a line of its own, and export only by writing ``export`` before a declaration. The script is the text of all
modules, each after those it imports, without the import lines and the words ``export``. The modules then share one
scope, so no two may declare the same name at their top level, and imports may not go in a circle.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from klafter.graph.writing import check_place, write_text
from klafter.report.facts import Facts, gather
from klafter.report.network import MEMBERS

IMPORT = re.compile(r'^import \{ ([\w$, ]+) \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|let|function|class)\b)", re.MULTILINE)


def report(model, path, *, held=None, title: str | None = None) -> Path:
    """Write the report of a fitted model as one page.

    Parameters
    ----------
    model : fitted estimator
    path : path of the page to write; an old one is replaced only when the new one is complete
    held : (pairs, values), optional
        Held-out dyads, such as those of ``split_dyads``: adds how well they were predicted.
    title : str, optional

    Returns
    -------
    Path

    Examples
    --------
    >>> import klafter as kl
    >>> from klafter.datasets import load_karate
    >>> model = kl.KLafter(n_init=2, n_smooth=10, random_state=0).fit(load_karate())
    >>> report(model, "karate.html").name  # doctest: +SKIP
    'karate.html'
    """
    check_page(path)
    write_text(path, render(gather(model, held, title)))
    return Path(path)


def check_page(path) -> None:
    """Refuse a place that cannot be written to, or a name under which nothing would open the page."""
    if Path(path).suffix.lower() not in (".html", ".htm", ""):
        raise ValueError(
            f"A report is a web page, which {Path(path).name!r} does not say. Use a name that ends in .html; a browser "
            "prints it as PDF."
        )
    check_place(path)


def render(facts: Facts) -> str:
    """The page as text."""
    home = files("klafter.report")
    parts = {
        "TITLE": escape(facts.title),
        "STYLE": (home / "frame" / "style.css").read_text(encoding="utf-8"),
        "SCRIPT": bundle(home / "page"),
        "DATA": as_json(facts),
    }
    text = (home / "frame" / "template.html").read_text(encoding="utf-8")
    head, *rest = text.split("{{")
    return head + "".join(parts[name] + tail for name, tail in (piece.split("}}", 1) for piece in rest))


def as_json(facts: Facts) -> str:
    """The facts as JSON that is safe inside a script element, whatever labels hold."""
    short = [
        dataclasses.replace(c, members=c.members[:MEMBERS], tightness=[], shared_with=c.shared_with[:12])
        for c in facts.communities
    ]  # what the page does not show is left out, so that a large graph makes a small page
    plain = _plain(dataclasses.replace(facts, communities=short))
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _plain(value):
    """Dataclasses, arrays and numbers as JSON knows them: booleans eight to a byte, numbers with six digits."""
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, (list, tuple)):
        return value if set(map(type, value)) <= {int, str} else [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        packed = np.packbits(value) if value.dtype == bool else value.astype(np.uint8)
        return base64.b64encode(packed.tobytes()).decode("ascii")
    if isinstance(value, np.generic):
        return _plain(value.item())
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def _short(number: float) -> float | int | None:
    """Six digits; whole numbers without a point; nothing for what is not finite."""
    if not math.isfinite(number):
        return None
    number = float(f"{number:.6g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def bundle(folder, first: str = "main.js") -> str:
    """One script that does what the module ``first`` and all it imports do."""
    texts: dict[str, str] = {}
    _read_in_order(folder, first, texts, ())
    return "\n".join(EXPORT.sub("", IMPORT.sub("", text)) for text in texts.values())


def _read_in_order(folder, name: str, texts: dict[str, str], importers: tuple[str, ...]) -> None:
    """Add a module to ``texts``, after everything it imports."""
    text = (folder / name).read_text(encoding="utf-8")
    importers = (*importers, name)
    for _, needed in IMPORT.findall(text):
        if needed in importers:
            circle = " imports ".join([*importers[importers.index(needed) :], needed])
            raise ValueError(f"{circle}: move what they share to a module of its own.")
        if needed not in texts:
            _read_in_order(folder, needed, texts, importers)
    texts[name] = text
