"""Formulas as MathML, written at build time: no script, no font, no network, and accessible."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

# Browsers know lengths, not the names that MathML once had for them.
WIDTHS = {"thinmathspace": "0.167em", "mediummathspace": "0.222em", "thickmathspace": "0.278em"}

# Of norms and absolute values: the same size on both sides.
BARS = ("&#x02016;", "&#x0007C;")
FIXED = 'stretchy="false" lspace="0" rspace="0"'


def mathml(latex: str, display: str) -> str:
    r"""A formula as an element `math`.

    >>> mathml(r"a\thinspace b", "inline").count("0.167em")
    1
    """
    text = convert(latex.strip(), display=display)
    for name, width in WIDTHS.items():
        text = text.replace(name, width)
    for bar in BARS:
        text = text.replace(f"<mo>{bar}</mo>", f"<mo {FIXED}>{bar}</mo>")
    return text


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula of a sentence."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula that stands by itself; a wide one scrolls, with the keyboard too."""
    box = '<div class="formula" tabindex="0" role="group" aria-label="formula">'
    self.body.append(f"{box}{mathml(node.astext(), 'block')}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
