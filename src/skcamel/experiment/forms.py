"""Tables ► Markdown, LaTeX or CSV."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from skcamel.checks import choice
from skcamel.experiment.records import csv_text, finite
from skcamel.experiment.tables import Cell, Row, Table, TableSection
from skcamel.text import one_line

FORMS = ("markdown", "latex", "csv")
# What means something to LaTeX, also at the start of a row, and letters that its usual fonts lack
LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
}
LATEX |= {
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "χ": r"$\chi$",
    "²": "$^2$",
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
}
LATEX |= {
    "λ": r"$\lambda$",
    "·": r"$\cdot$",
    "–": "--",
    "−": "$-$",
    "[": "{[}",
    "*": "{*}",
    "|": r"$|$",
}
TEXT_WIDTH = 345  # points, of an article in 10 points, the narrowest page in use
NARROWEST = 100  # points, of a first column that is broken into lines
GAPS = (6, 4, 3, 2)  # points at both sides of a column, the first that fits
MOST_ROWS = 42  # of a printed page
POINTS = {
    letter: width
    for letters, width in (("0123456789", 4.25), (".,:;'| ", 2.6), ("−<>+", 6.7))
    for letter in letters
}


def write_tables(tables: Sequence[Table], form: str) -> str:
    """Write tables one after the other.

    Parameters
    ----------
    tables : sequence of Table
    form : "markdown", "latex" (booktabs) or "csv"
        CSV holds the unrounded figures, one in a row, with a header for each table and an empty
        line between tables; see also
        :func:`csv_files`.

    Examples
    --------
    >>> print(write_tables([Table("Ranks", "metric", ["a_b"], [TableSection("", [("F", [Cell("1.5", True)])])])], "markdown"))
    **Ranks**
    <BLANKLINE>
    | metric |     a_b |
    |:-------|--------:|
    | F      | **1.5** |
    """
    choice(form, FORMS, "form")
    if form == "csv":
        return "\n\n".join(_csv(table).rstrip("\n") for table in tables)
    tables = [_shown(table) for table in tables]
    if form == "markdown":
        return "\n\n".join(map(to_markdown, tables))
    tables = [page for table in tables for page in pages(table)]
    packages = [
        "booktabs",
        *(["graphicx"] if any(fitted(table).shrink for table in tables) else []),
    ]
    labels = (re.sub(r"^table-\d+-", "", name) for name in _names(tables))
    return f"% \\usepackage{{{','.join(packages)}}}\n" + "\n\n".join(map(to_latex, tables, labels))


def csv_files(tables: Sequence[Table]) -> dict[str, str]:
    r"""Names and texts of files, one for each table that holds figures.

    >>> csv_files([Table("Ranks", "", [], [], data=[{"metric": "F1", "rank": 1.5}])])
    {'ranks.csv': 'metric,rank\nF1,1.5\n'}
    """
    filled = [table for table in tables if table.data]
    return {f"{name}.csv": _csv(table) for name, table in zip(_names(filled), filled, strict=True)}


def _csv(table: Table) -> str:
    return csv_text([finite(row) for row in table.data])


def _names(tables: Iterable[Table]) -> list[str]:
    """A name for each table; what occurs again gets a number."""
    seen: Counter[str] = Counter()
    names = []
    for table in tables:
        seen[table.slug] += 1
        names.append(table.slug if seen[table.slug] == 1 else f"{table.slug}-{seen[table.slug]}")
    return names


def _shown(table: Table) -> Table:
    """With every text on one line, safe for a terminal."""

    def row(name: str, cells: Sequence[Cell]) -> Row:
        return one_line(name), [Cell(one_line(cell.text), cell.bold) for cell in cells]

    sections = [
        TableSection(one_line(title), [row(*each) for each in rows])
        for title, rows in table.sections
    ]
    head, notes = ([one_line(text) for text in texts] for texts in (table.head, table.notes))
    return replace(
        table,
        title=one_line(table.title),
        corner=one_line(table.corner),
        head=head,
        sections=sections,
        notes=notes,
    )


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; sections become rows of their own."""
    rows = [[_markdown(table.corner), *map(_markdown, table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_markdown(section.title)}*", *[""] * len(table.head)])
        for name, cells in section.rows:
            rows.append(
                [
                    _markdown(name),
                    *(
                        f"**{_markdown(cell.text)}**" if cell.bold else _markdown(cell.text)
                        for cell in cells
                    ),
                ]
            )
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [
        f"| {' | '.join([f'{name:<{first}}', *(f'{text:>{width}}' for text, width in zip(texts, others, strict=True))])} |"
        for name, *texts in rows
    ]
    rule = (
        "|"
        + "|".join([":" + "-" * (first + 1), *("-" * (width + 1) + ":" for width in others)])
        + "|"
    )
    return "\n".join(
        [
            f"**{_markdown(table.title)}**",
            "",
            lines[0],
            rule,
            *lines[1:],
            *(f"\n{_markdown(note)}" for note in table.notes),
        ]
    )


def _markdown(text: str) -> str:
    """Text with a backslash before what Markdown would read as markup; an underscore inside a word is harmless."""
    return re.sub(r"([\\|*`<>\[\]])", r"\\\1", text)


def to_latex(table: Table, label: str = "") -> str:
    r"""A table environment for the package booktabs that fits ``\textwidth`` of an article; see :func:`fitted`."""
    columns, gap, shrink = fitted(table)
    width = len(table.head) + 1
    title = re.sub(r"^Table \d+: ", "", table.title)  # LaTeX numbers its tables itself
    lines = [
        r"\begin{table}[tbp]",
        r"\centering",
        f"\\caption{{{_latex(title[:1].upper() + title[1:])}}}",
    ]
    lines += [
        f"\\label{{tab:{label or table.slug}}}",
        r"\footnotesize",
        f"\\setlength{{\\tabcolsep}}{{{gap}pt}}",
    ]
    lines += [r"\resizebox{\textwidth}{!}{%"] * shrink + [
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
    ]
    lines.append(_ampersands(table.corner, [Cell(name) for name in table.head]))
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines.append(
                f"\\multicolumn{{{width}}}{{@{{}}l}}{{\\emph{{{_latex(section.title)}}}}} \\\\"
            )
        lines += [_ampersands(name, cells) for name, cells in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}" + "}" * shrink]
    if table.notes:
        lines.append(
            "\\par\\smallskip\\parbox{\\textwidth}{\\scriptsize"
            f" {' '.join(map(_latex, table.notes))}}}"
        )
    return "\n".join([*lines, r"\end{table}"])


def pages(table: Table) -> list[Table]:
    """Tables of at most 42 rows: a section that does not fit begins a new one, and what belongs to a row ("· paper") stays with it.

    >>> long = Table("Ranks", "", [], [TableSection("", [(str(i), []) for i in range(50)])])
    >>> [(page.title, len(page.rows)) for page in pages(long)]
    [('Ranks, part 1', 42), ('Ranks, part 2', 8)]
    """
    parts: list[list[TableSection]] = [[]]
    for section in table.sections:
        if sum(len(rows) for _, rows in parts[-1]) + len(section.rows) > MOST_ROWS and parts[-1]:
            parts.append([])
        blocks: list[list[Row]] = []
        for row in section.rows:
            if row[0].startswith("· ") and blocks:
                blocks[-1].append(row)
            else:
                blocks.append([row])
        parts[-1].append(TableSection(section.title, []))
        for block in blocks:
            if (
                sum(len(rows) for _, rows in parts[-1]) + len(block) > MOST_ROWS
                and parts[-1][-1].rows
            ):
                parts.append([TableSection(section.title, [])])
            parts[-1][-1].rows.extend(block)
    if len(parts) == 1:
        return [table]
    return [
        replace(table, title=f"{table.title}, part {number}", sections=part)
        for number, part in enumerate(parts, 1)
    ]


class Fitted(NamedTuple):
    r"""How a ``tabular`` fits ``\textwidth``: its columns, the space at both sides of them, and whether it must be shrunk."""

    columns: str
    gap: int
    shrink: bool


def fitted(table: Table) -> Fitted:
    r"""Fit a table into the width of an article.

    Widths are estimated for ``\footnotesize`` in Computer Modern. Columns move together, then a
    first column of long text is broken
    into lines where that helps; only what is still too wide is shrunk.

    >>> fitted(Table("", "metric", ["a", "b"], [TableSection("", [("F1", [Cell("0.5"), Cell("0.7", True)])])]))
    Fitted(columns='@{}lrr@{}', gap=6, shrink=False)
    """
    rows = [(table.corner, [Cell(name) for name in table.head]), *table.rows]
    first = max(_points(name) for name, _ in rows)
    others = sum(
        max(_points(cells[i].text, cells[i].bold) for _, cells in rows)
        for i in range(len(table.head))
    )
    rooms = {
        gap: TEXT_WIDTH - others - 2 * gap * len(table.head) for gap in GAPS
    }  # for the first column
    right = "r" * len(table.head)
    for gap, room in rooms.items():
        if first <= room:
            return Fitted(f"@{{}}l{right}@{{}}", gap, shrink=False)
    for gap, room in rooms.items():
        if room >= NARROWEST:
            return Fitted(f"@{{}}p{{{room:.0f}pt}}{right}@{{}}", gap, shrink=False)
    return Fitted(f"@{{}}l{right}@{{}}", GAPS[-1], shrink=True)


def _points(text: str, bold: bool = False) -> float:
    """Width in points, rather too much than too little; see :func:`_latex_cell`."""
    mean, _, std = text.partition("±")
    widths = [
        sum(
            POINTS.get(letter, 6.5 if letter.isupper() or ord(letter) > 255 else 4.5)
            for letter in part
        )
        for part in (mean, std)
    ]
    return widths[0] * (1.15 if bold else 1) + (6 + 0.94 * widths[1] if std else 0)


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _ampersands(name: str, cells: Sequence[Cell]) -> str:
    return " & ".join([_latex(name), *map(_latex_cell, cells)]) + r" \\"


def _latex_cell(cell: Cell) -> str:
    """The mean in bold where it is best, the std after it smaller."""
    mean, _, std = cell.text.partition("±")
    text = f"\\textbf{{{_latex(mean)}}}" if cell.bold else _latex(mean)
    return f"{text}{{\\scriptsize $\\pm${_latex(std)}}}" if std else text
