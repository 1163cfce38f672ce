"""Directive `measured`: bars of figures from `benchmarks/results.md`, with the command behind them.

Its argument is a section of the results; each line of its body is "short name = name of a row";
`axis` describes what is drawn, `log` makes the axis logarithmic.
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
    for part in re.split(r"^## ", text, flags=re.MULTILINE):
        if part.startswith(f"{section}\n"):
            return {row["what"]: (float(row["value"]), row["unit"]) for row in ROW.finditer(part)}
    return {}


def size(value: float, logarithmic: bool) -> float:
    """Length of a bar, before it is scaled."""
    return max(math.log10(value) + 1, 0) if logarithmic else value


def drawing(bars: list[tuple[str, float, str]], axis: str, logarithmic: bool) -> str:
    """Bars in the colour of the text around them, so that they follow a dark page."""
    longest = max(size(value, logarithmic) for _, value, _ in bars)
    scale = (WIDTH - NAMES - 110) / longest
    lines, spoken = [], []
    for place, (name, value, kind) in enumerate(bars):
        y = STEP * place
        length = scale * size(value, logarithmic)
        figure = f"{value:g} {'times' if kind == 'x' else kind}"
        spoken.append(f"{name} {figure}")
        lines += [
            f'<text x="{NAMES - 10}" y="{y + 20}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{NAMES}" y="{y + 4}" width="{length:.1f}" height="{STEP - 10}"/>',
            f'<text x="{NAMES + length + 8:.1f}" y="{y + 20}">{escape(figure)}</text>',
        ]
    label = escape(f"{axis}: {'; '.join(spoken)}", quote=True)
    box = f"0 0 {WIDTH} {STEP * len(bars)}"
    opening = f'<svg class="measured" viewBox="{box}" role="img" aria-label="{label}">'
    return "".join([opening, *lines, "</svg>"])


class Measured(SphinxDirective):
    """Bars, what they mean, and the command."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012 - docutils declares it so
        "axis": directives.unchanged_required,
        "log": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Draw the rows that the body names; a row that is not there is an error."""
        self.env.note_dependency(str(RESULTS))
        known = figures(RESULTS.read_text(encoding="utf-8"), self.arguments[0])
        bars = []
        for line in self.content:
            name, _, what = line.partition(" = ")
            if what not in known:
                problem = f"has no row {what!r} in section {self.arguments[0]!r}."
                raise self.error(f"benchmarks/results.md {problem}")
            bars.append((name, *known[what]))
        axis = self.options["axis"]
        svg = nodes.raw("", drawing(bars, axis, "log" in self.options), format="html")
        caption = nodes.paragraph("", f"{axis}. Made by ", classes=["caption"])
        command = nodes.literal("", f"python -m benchmarks {self.arguments[0]}")
        caption += [command, nodes.Text(".")]
        return [svg, caption]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
