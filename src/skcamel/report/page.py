"""Sections ► one HTML file that needs nothing else: escaped, and the same for the same input.

A page is a tree of blocks; ``static/page.html`` says how each kind looks. Text goes through Jinja's
autoescape. A drawing of matplotlib becomes an SVG element whose text is text and whose colours a
page can replace. The content security policy names the digests of the one script and the one style
sheet, so that nothing else could run.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import skcamel
from skcamel.files import whole_file
from skcamel.plots.canvas import INK, LINE, MUTED, NEEDED, UP
from skcamel.text import count, listed

STATIC = Path(__file__).parent / "static"
NAMED = 8  # of many names
SVG, XLINK_HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
# The font comes from the page; what remains of a style becomes attributes, which a content
# security policy lets pass and a style sheet can override.
LEFT_TO_THE_PAGE = ("font-family", "font-style", "font-variant", "font-stretch")
STYLE = {
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": INK,
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "axes.edgecolor": LINE,
    "axes.prop_cycle": f"cycler(color=['{UP}'])",
    "legend.frameon": False,
    "axes.labelcolor": MUTED,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "legend.labelcolor": INK,
}


class Column(NamedTuple):
    """A column of a table: its head, how many digits its numbers have, and what its head means.

    Examples
    --------
    >>> Column("F1", 3).text(0.5), Column("F1", 3).text(float("nan")), Column("name").text("sea")
    ('0.500', '–', 'sea')
    """

    title: str
    digits: int | None = None  # None: text
    note: str = ""
    numeric: bool = False  # text that begins with a number, such as a mean with its std

    def text(self, value: Any) -> str:
        """Show a cell."""
        if self.digits is None:
            return str(value)
        if not math.isfinite(value):
            return "–"
        return f"{value:,.{self.digits}f}"


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Facts(NamedTuple):
    """Names with what they are, side by side."""

    pairs: Sequence[tuple[str, str]]


class Table(NamedTuple):
    """A table that can be sorted, and searched if it is long."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    best: Collection[tuple[int, int]] = ()  # (row, column) of bold cells
    links: Sequence[str] = ()  # for each row what its first cell leads to


class Drawing(NamedTuple):
    """An SVG element with a title and what it shows."""

    title: str
    svg: str
    caption: str


class Sum(NamedTuple):
    """Named amounts, the last of which is the sum of the others."""

    title: str
    lines: Sequence[tuple[str, float]]


class Details(NamedTuple):
    """Lines of text that are shown on request."""

    title: str
    text: str


class Option(NamedTuple):
    """One of several things to look at."""

    id: str
    title: str
    blocks: Sequence[Any]


class Choice(NamedTuple):
    """Several things of which the reader chooses one; the first is shown first."""

    label: str
    options: Sequence[Option]


class Side(NamedTuple):
    """Blocks side by side where there is room, perhaps under a heading."""

    blocks: Sequence[Any]
    title: str = ""


class Section(NamedTuple):
    """One idea: an id, a title, what the navigation calls it, and blocks."""

    name: str
    title: str
    short: str
    blocks: Sequence[Any]


class Page(NamedTuple):
    """A title, the answer to a reader's first question, more findings, and sections."""

    title: str
    answer: str
    findings: Sequence[str]
    sections: Sequence[Section]


def some(names: Sequence[str], noun: str) -> str:
    """How many there are, and their names, the first of many.

    Examples
    --------
    >>> some(["sea", "sun"], "label")
    '2 labels: sea and sun'
    """
    return f"{count(len(names), noun)}: {listed(names, NAMED)}"


def svg_of(draw: Callable[[Any], object], size: tuple[float, float], *, name: str, alt: str) -> str:
    """Let `draw` draw on axes of `size` inches, and return the SVG element.

    Parameters
    ----------
    draw : callable
        Takes matplotlib axes.
    size : pair of floats
        Width and height in inches.
    name : str
        Different for each drawing of a page: what it defines is named after it.
    alt : str
        What the drawing shows, for those who cannot see it.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    text = io.StringIO()
    with rc_context({**STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the browser has fonts for more letters
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    # matplotlib wrote this text a line above; nobody else had a hand in it
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314
    for part in root[:2]:  # metadata, and a style for all pages
        root.remove(part)
    for element in root.iter():
        _clean(element)
    root.attrib |= {"role": "img", "aria-label": alt, "width": f"{96 * size[0]:.0f}"}
    del root.attrib["height"]
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element) -> None:
    """Drop namespaces, names of groups and blanks; turn the style into attributes."""
    element.tag = element.tag.removeprefix(SVG)
    element.text = (element.text or "").strip() or None
    element.tail = None
    if element.tag == "g":
        element.attrib.pop("id", None)
    if XLINK_HREF in element.attrib:
        element.set("href", element.attrib.pop(XLINK_HREF))
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = declaration.strip().partition(": ")
        if value and key not in LEFT_TO_THE_PAGE:
            element.set(key, value)


def write(page: Page, path: str | os.PathLike[str]) -> None:
    """Write the page; the file appears whole or not at all."""
    html = render(page).encode(errors="replace")  # half a character in a name must not fail
    with whole_file(path) as file:
        file.write(html)


def render(page: Page) -> str:
    """HTML text of the page."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Pages need: pip install 'skcamel[report]'") from error
    templates = Environment(
        loader=FileSystemLoader(STATIC),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (
        (STATIC / name).read_text(encoding="utf-8") for name in ("style.css", "page.js")
    )
    template = templates.get_template("page.html")
    return template.render(
        page=page,
        style=style,
        script=script,
        policy=policy(style, script),
        version=skcamel.__version__,
    )


def policy(style: str, script: str) -> str:
    """Content security policy: nothing from outside, and only this script and style sheet."""
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
