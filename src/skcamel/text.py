"""Text from files, made safe for terminals and spreadsheets, and small words for sentences.

A terminal obeys the control characters in a name. A spreadsheet takes some text for formulas and
runs them, so every writer of CSV passes names through :func:`plain_cell`, and every reader of those
files takes it back by :func:`original_cell`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What begins a formula, also in its full-width form, behind characters that spreadsheets skip.
# Apostrophes in front of it count too, else a reader could not know whether one was added.
_FORMULA = re.compile(
    r"'*[\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|'*[\t\r\n]"
)
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def one_line(text: str) -> str:
    r"""`text` with an escape for each character that a terminal does not show.

    These are controls, ends of line, direction marks and half characters.

    Examples
    --------
    >>> one_line("sea\x1b[31m\n")
    'sea\\x1b[31m\\n'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable(text: str) -> str:
    r"""`text` of several lines, each as :func:`one_line` writes it.

    Examples
    --------
    >>> printable("sea\n\u202esun")
    'sea\n\\u202esun'
    """
    return "\n".join(map(one_line, text.split("\n")))


def plain_cell(text: str) -> str:
    r"""`text` such that no spreadsheet runs it: a formula gets an apostrophe in front.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("\n@SUM(A1)"), plain_cell("-0.5"), plain_cell("sea")
    ("'=1+1", "'\n@SUM(A1)", '-0.5', 'sea')
    """
    if _is_formula(text):
        return f"'{text}"
    return text


def original_cell(cell: str) -> str:
    """Text of which :func:`plain_cell` made `cell`.

    Examples
    --------
    >>> original_cell("'=1+1"), original_cell("'tis")
    ('=1+1', "'tis")
    """
    if cell.startswith("'") and _is_formula(cell[1:]):
        return cell[1:]
    return cell


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMERAL.fullmatch(text) is None


def count(number: float, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2000, "row"), count(0, "push", "pushes")
    ('1 row', '2,000 rows', '0 pushes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def file_size(n_bytes: float) -> str:
    """A number of bytes in words.

    Examples
    --------
    >>> file_size(900), file_size(59_300), file_size(123_456_789)
    ('1 kB', '59 kB', '123.5 MB')
    """
    if n_bytes >= 1e5:
        return f"{n_bytes / 1e6:,.1f} MB"
    return f"{n_bytes / 1e3:.0f} kB"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names for a sentence; where there are more than `most`, the first of them and how many more.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], 2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return ", ".join(names[:-2]) + ", " * (len(names) > 2) + " and ".join(names[-2:])


def sampled_words(n: int, n_rows: int) -> str:
    """Say from how many rows of a table its columns were learned.

    Examples
    --------
    >>> sampled_words(50_000, 10_000_000)
    'Columns were prepared from a sample of 50,000 of 10,000,000 rows.'
    """
    return f"Columns were prepared from a sample of {n:,} of {n_rows:,} rows."
