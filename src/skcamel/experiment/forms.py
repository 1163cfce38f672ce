"""A table ► text: terminal, Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from skcamel.experiment.records import csv_text
from skcamel.experiment.tables import Cell, Section, Table
from skcamel.metrics.conventions import choice
from skcamel.text import one_line

FORMS = ("terminal", "markdown", "latex", "csv", "json")
# What means something to LaTeX, and letters that its usual fonts lack
LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "χ": r"$\chi$",
    "²": "$^2$",
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
    "λ": r"$\lambda$",
    "·": r"$\cdot$",
    "–": "--",
    "−": "$-$",
}


def write_tables(tables: Sequence[Table], form: str, *, width: int | None = None) -> str:
    """Write tables one after the other.

    Parameters
    ----------
    tables : sequence of Table
    form : "terminal", "markdown", "latex" (booktabs), "csv" or "json"
        The last two hold the unrounded figures, one row or mapping for each. CSV has one header for each table, with an empty
        line between them.
    width : int, default=None
        Columns of the terminal: wider tables are split between data sets. None: never.

    Examples
    --------
    >>> print(write_tables([Table("Ranks", "metric", ["a_b"], [Section("", [("F", [Cell("1.5", True)])])])], "markdown"))
    **Ranks**
    <BLANKLINE>
    | metric |     a_b |
    |:-------|--------:|
    | F      | **1.5** |
    """
    choice(form, FORMS, "form")
    if form == "json":
        return json.dumps([{"title": t.title, "notes": t.notes, "rows": [_finite(row) for row in t.data]} for t in tables], indent=1)
    if form != "csv":
        tables = [_shown(table) for table in tables]
    if form == "terminal":
        return "\n".join(to_terminal(table, width) for table in tables)
    write = {"markdown": to_markdown, "latex": to_latex, "csv": to_csv}[form]
    return "\n\n".join(write(table) for table in tables)


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; sections become rows of their own."""
    rows = [[_markdown(table.corner), *map(_markdown, table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_markdown(section.title)}*", *[""] * len(table.head)])
        rows += [
            [_markdown(name), *(f"**{_markdown(c.text)}**" if c.bold else _markdown(c.text) for c in cells)] for name, cells in section.rows
        ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [_pipes(row, widths) for row in rows]
    rule = "|" + "|".join([":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
    notes = [f"\n{_markdown(note)}" for note in table.notes]
    return "\n".join([f"**{_markdown(table.title)}**", "", lines[0], rule, *lines[1:], *notes])


def to_latex(table: Table) -> str:
    r"""A table environment for the package booktabs: ``\usepackage{booktabs}``."""
    width = len(table.head) + 1
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_latex(table.title)}}}", f"\\begin{{tabular}}{{l{'r' * len(table.head)}}}"]
    lines += [r"\toprule", _ampersands(table.corner, [Cell(name) for name in table.head])]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines += [f"\\multicolumn{{{width}}}{{c}}{{{_latex(section.title)}}} \\\\", f"\\cmidrule{{1-{width}}}"]
        lines += [_ampersands(name, cells) for name, cells in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}", *(f"\\par\\footnotesize {_latex(note)}" for note in table.notes), r"\end{table}"]
    return "\n".join(lines)


def to_csv(table: Table) -> str:
    """The unrounded figures; what is undefined is empty."""
    return csv_text([_finite(row) for row in table.data]).rstrip("\n")


def to_terminal(table: Table, width: int | None = None) -> str:
    """Draw a table with rich; bold where it goes to a terminal, of `width` columns, else a star beside the best figures."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    styled = width is not None
    starred = not styled and any(cell.bold for section in table.sections for _, cells in section.rows for cell in cells)
    text = io.StringIO()
    console = Console(file=text, width=width or 10_000, highlight=False, force_terminal=styled, color_system="standard" if styled else None)
    console.print(Text(table.title, style="bold"))
    for part in _parts(table, width):
        drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
        drawing.add_column(Text(table.corner), no_wrap=width is None)
        for name in [table.head[i] for i in part]:
            drawing.add_column(Text(name), justify="right", no_wrap=True)
        for section in table.sections:
            if section.title:
                drawing.add_row(Text(section.title, style="italic"))
            for name, cells in section.rows:
                drawing.add_row(
                    Text(name),
                    *(Text(_starred(cells[i]) if starred else cells[i].text, style="bold" if cells[i].bold else "") for i in part),
                )
            drawing.add_section()
        console.print(drawing)
    for note in [*table.notes, *(["* marks what is bold."] if starred else [])]:
        console.print(Text(note))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _shown(table: Table) -> Table:
    """With every text on one line, as a terminal can show it."""

    def row(name: str, cells: Sequence[Cell]) -> tuple[str, list[Cell]]:
        return one_line(name), [Cell(one_line(cell.text), cell.bold) for cell in cells]

    sections = [Section(one_line(title), [row(*each) for each in rows]) for title, rows in table.sections]
    head, notes = ([one_line(text) for text in texts] for texts in (table.head, table.notes))
    return Table(one_line(table.title), one_line(table.corner), head, sections, notes, table.data)


def _parts(table: Table, width: int | None) -> list[range]:
    """Columns that fit beside each other."""
    if width is None or not table.head:
        return [range(len(table.head))]
    rows = [(name, cells) for section in table.sections for name, cells in section.rows]
    names = [table.corner, *(name for name, _ in rows), *(section.title for section in table.sections)]
    first = min(max(map(len, names)), width // 2)
    widths = [max([len(name), *(len(cells[i].text) for _, cells in rows)]) + 3 for i, name in enumerate(table.head)]
    parts, used = [range(0)], width  # as if a first part were full
    for i, needed in enumerate(widths):
        if used + needed > width:
            parts, used = [*parts, range(i, i)], first + 2
        parts[-1], used = range(parts[-1].start, i + 1), used + needed
    return parts[1:]


def _starred(cell: Cell) -> str:
    return cell.text + (" *"[cell.bold])


def _pipes(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}" for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"| {' | '.join([first, *others])} |"


def _markdown(text: str) -> str:
    """Text with a backslash before what Markdown would read as markup; an underscore inside a word is harmless."""
    return re.sub(r"([\\|*`<>\[\]])", r"\\\1", text)


def _markdown_cell(cell: Cell) -> str:
    return f"**{_markdown(cell.text)}**" if cell.bold else _markdown(cell.text)


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _latex_cell(cell: Cell) -> str:
    return f"\\textbf{{{_latex(cell.text)}}}" if cell.bold else _latex(cell.text)


def _ampersands(name: str, cells: Sequence[Cell]) -> str:
    return " & ".join([_latex(name), *map(_latex_cell, cells)]) + r" \\"


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """With None for NaN and infinity, which JSON lacks."""
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
