"""Text in CSV files: spreadsheets take some of it for formulas and run them, so such cells get an apostrophe in front.

Every writer of CSV passes names and other text through :func:`plain_cell`, and every reader of those files takes it back by
:func:`original_cell`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# What begins a formula, also in its full-width form, behind characters that spreadsheets skip. Apostrophes in front of it count too,
# else nobody could tell on reading whether one was added.
_FORMULA = re.compile(r"'*[\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|'*[\t\r\n]")
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def plain_cell(text: str) -> str:
    r"""`text` such that no spreadsheet runs it; numerals stay as they are.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("\n@SUM(A1)"), plain_cell("-0.5"), plain_cell("sea")
    ("'=1+1", "'\n@SUM(A1)", '-0.5', 'sea')
    """
    return f"'{text}" if _is_formula(text) else text


def original_cell(cell: str) -> str:
    """Text of which :func:`plain_cell` made `cell`.

    Examples
    --------
    >>> original_cell("'=1+1"), original_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table, name of the column ► value, with both such that no spreadsheet runs them; what is no text stays as it is.

    Examples
    --------
    >>> plain_row({"=a": "@b", "c": -1.5})
    {"'=a": "'@b", 'c': -1.5}
    """
    return {plain_cell(name): plain_cell(value) if isinstance(value, str) else value for name, value in row.items()}


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMERAL.fullmatch(text) is None
