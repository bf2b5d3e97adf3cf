"""The JavaScript modules of the page as one script: a page opened from disk may not import other files.

The rule is small enough to do without a bundler. Modules have only imports of the form

    import { name, other } from "./module.js";

each on a line of its own, and export only by writing ``export`` before a declaration. The script is the text of all
modules, each after those it imports, without the import lines and the words ``export``. The modules then share one
scope, so no two may declare the same name at their top level, and imports may not go in a circle.
"""

from __future__ import annotations

import re

IMPORT = re.compile(r'^import \{ ([\w$, ]+) \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|let|function|class)\b)", re.MULTILINE)


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
