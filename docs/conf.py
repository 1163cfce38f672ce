"""Settings of the documentation site; `make docs` builds it without a network, strictly."""

import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from sphinx.application import Sphinx  # noqa: E402 - after the path of our extensions

import skcamel  # noqa: E402

# Examples fit few rows of yeast. On their pages the warning would repeat, with local paths.
warnings.filterwarnings("ignore", r"\d+ of \d+ labels are predicted for no training row")

project = "skcamel"
author = "the skcamel developers"
version = release = skcamel.__version__
html_title = project

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "measured",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "sg_execution_times.rst"]
default_role = "literal"  # `name` in docstrings and examples is code, as in Markdown
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # docstrings give types and shapes in words
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1000,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/uses",
    "doc_module": ("skcamel",),
    "image_scrapers": ("matplotlib",),
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "skcamel"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "navbar_center": [],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_persistent": ["search-button"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["pages.html"], "index": []}
html_context = {"default_mode": "auto"}
copyright = "the skcamel developers; BSD 3-Clause licence"


def escaped(
    app: Sphinx, what: str, name: str, subject: object, options: object, lines: list[str]
) -> None:
    """Escape names of fitted attributes, such as alpha_, that reStructuredText takes for links."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "..")):
            lines[k] = re.sub(r"(?<![`.\w])(\w+)_(?![\w`_])", r"\1\_", line)


def foreign(
    app: Sphinx, what: str, name: str, subject: object, skip: bool, options: object
) -> bool | None:
    """Leave out what is inherited from scikit-learn: it is described there."""
    module = getattr(subject, "__module__", None) or ""
    return True if module.startswith("sklearn") else None


def setup(app: Sphinx) -> None:
    """Add the hooks."""
    app.connect("autodoc-process-docstring", escaped, priority=900)
    app.connect("autodoc-skip-member", foreign)
