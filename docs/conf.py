"""How the site is built: numpydoc for the reference, executed examples, and the help of every command."""

import os
import re
import sys
from pathlib import Path

from klafter import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from commands import write_commands  # noqa: E402

project, author, copyright = "klafter", "The klafter developers", "the klafter developers"
version = release = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "examples"]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "klafter"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False


def find_data() -> Path | None:
    """The folder of the public data files: KLAFTER_DATA, or shared/data beside the repository."""
    named = os.environ.get("KLAFTER_DATA")
    home = Path(named) if named else HERE.parents[1] / "shared" / "data"
    return home if any((home / part / "Protein230.mat").is_file() for part in (".", "raw")) else None


def examples_to_run() -> str:
    """A pattern of examples: all of them where data files are here or can be fetched, else those that need none."""
    scripts = sorted((HERE / "examples").glob("*.py"))
    home = find_data()
    if home is not None:
        os.environ["KLAFTER_DATA"] = str(home)
    if home is not None or os.environ.get("CI"):
        return "|".join(rf"{re.escape(path.name)}$" for path in scripts)
    waiting = [path for path in scripts if "fetch_" in path.read_text(encoding="utf-8")]
    names = ", ".join(path.name for path in waiting)
    print(f"Not run: {names}. Their data files are not here; set KLAFTER_DATA to a folder that holds them.")
    return "|".join(rf"{re.escape(path.name)}$" for path in scripts if path not in waiting)


sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": examples_to_run(),
    "within_subsection_order": "gallery_order.ExampleOrder",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "matplotlib_animations": False,
    "min_reported_time": 1_000,
    "write_computation_times": False,
    "abort_on_example_error": True,
}


def skip_inherited(app, what, name, member, skip, options):
    """Leave out what scikit-learn's base classes add: it is documented there."""
    return True if (getattr(member, "__module__", None) or "").startswith("sklearn") else None


def setup(app):
    """Write the page of commands before Sphinx looks for pages."""
    app.connect("autodoc-skip-member", skip_inherited)
    write_commands(HERE / "generated" / "commands.md")
