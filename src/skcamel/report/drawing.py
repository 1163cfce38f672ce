"""A drawing of matplotlib ► an SVG element whose text is text and whose colours a page can replace."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from skcamel.plots.canvas import INK, LINE, MUTED, NEEDED, UP

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
