"""Directive `measured`: bars of figures from `benchmarks/results.md`, with the command that made them. No figure is typed.

Its argument is a section of the results; each line of its body is "short name = name of a row"; `axis` tells what is drawn,
`log` asks for a logarithmic axis.
"""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.md"
ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<value>-?[\d.e+-]+) (?P<unit>[^|]*?) ?\|", re.MULTILINE
)
NAMES, WIDTH, STEP = 290, 720, 34  # units of the drawing: of the column of names, of all, of a bar


def figures(text: str, section: str) -> dict[str, tuple[float, str]]:
    r"""Numbers and units of a section, by what was measured.

    >>> figures("## a\n| x / y | 1.5 x | ≤ 2 | ok |\n## b\n| z | 3 s |  |  |", "a")
    {'x / y': (1.5, 'x')}
    """
    found = next(
        (
            part
            for part in re.split(r"^## ", text, flags=re.MULTILINE)
            if part.startswith(f"{section}\n")
        ),
        "",
    )
    return {row["what"]: (float(row["value"]), row["unit"]) for row in ROW.finditer(found)}


def drawing(bars: list[tuple[str, float, str]], axis: str, logarithmic: bool) -> str:
    """Bars in the colour of the text around them, so that they follow a dark page."""
    size = (lambda value: max(math.log10(value) + 1, 0)) if logarithmic else (lambda value: value)
    unit = (WIDTH - NAMES - 110) / max(size(value) for _, value, _ in bars)
    lines = []
    for place, (name, value, kind) in enumerate(bars):
        y = STEP * place
        lines.append(f'<text x="{NAMES - 10}" y="{y + 20}" text-anchor="end">{escape(name)}</text>')
        lines.append(
            f'<rect x="{NAMES}" y="{y + 4}" width="{unit * size(value):.1f}" height="{STEP - 10}"/>'
        )
        lines.append(
            f'<text x="{NAMES + unit * size(value) + 8:.1f}" y="{y + 20}">{value:g} {escape("times" if kind == "x" else kind)}</text>'
        )
    spoken = escape(
        f"{axis}: " + "; ".join(f"{name} {value:g} {kind}" for name, value, kind in bars),
        quote=True,
    )
    box = f"0 0 {WIDTH} {STEP * len(bars)}"
    return f'<svg class="measured" viewBox="{box}" role="img" aria-label="{spoken}">{"".join(lines)}</svg>'


class Measured(SphinxDirective):
    """Bars, what they mean, and the command."""

    required_arguments = 1
    has_content = True
    option_spec = {"axis": directives.unchanged_required, "log": directives.flag}  # noqa: RUF012 - docutils declares it so

    def run(self) -> list[nodes.Node]:
        """Draw the rows that the body names; a row that is not there is an error."""
        self.env.note_dependency(str(RESULTS))
        known = figures(RESULTS.read_text(encoding="utf-8"), self.arguments[0])
        bars = []
        for line in self.content:
            name, _, what = line.partition(" = ")
            if what not in known:
                raise self.error(
                    f"benchmarks/results.md has no row {what!r} in section {self.arguments[0]!r}."
                )
            bars.append((name, *known[what]))
        command = nodes.literal("", f"python -m benchmarks {self.arguments[0]}")
        caption = nodes.paragraph(
            "",
            "",
            nodes.Text(f"{self.options['axis']}. Made by "),
            command,
            nodes.Text("."),
            classes=["caption"],
        )
        return [
            nodes.raw(
                "", drawing(bars, self.options["axis"], "log" in self.options), format="html"
            ),
            caption,
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
