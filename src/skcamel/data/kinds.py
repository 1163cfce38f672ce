"""Which kind a column is, by what all its cells say together; and why it is left out where it is no feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from skcamel.data import cells
from skcamel.data.cells import Column
from skcamel.data.parts import (
    CYCLES,
    Category,
    Flag,
    LeftOut,
    Moment,
    Number,
    Part,
    Read,
    Steps,
    Tags,
    Text,
    gaps_of,
    moments_of,
    numbers_of,
    place_in,
    vectorizer,
)

MOST_VALUES = 100  # of a category that have a column of their own
MOST_WORDS = 10_000  # of a text column
MANY_TEXTS = 30  # from which a word in one of them alone does not count: it is like no other row
MOSTLY = 0.95  # of the cells of a column that make it one of numbers; the others count as gaps
FEW_ROWS = 8  # below, nothing tells an identifier from a value
FEW_GAPS = 5  # below, gaps tell nothing
ID_NAME = re.compile(
    r"(?i:(?:^|[\W_])(?:id|ids|uuid|guid|key|nr|no|number|index|row|pk)$|^(?:id|index|key|nr)(?:[\W_]|$))|[a-z](?:Id|ID|Nr|No)$"
)


def part_of(
    name: str,
    column: Column,
    forced: str | None,
    labels: np.ndarray | None,
    *,
    comma: bool,
    ranks: bool,
) -> Part:
    """What becomes of a column.

    Parameters
    ----------
    name : str
    column : Column
    forced : str or None
        The parameter of ``TablePreparer`` that names the column, if one does.
    labels : array of shape (n, q) or None
        Labels in 0 and 1, which say whether gaps carry information.
    comma : bool
        Whether numbers in the table have decimal commas; decides what may be read in two ways.
    ranks : bool
        Whether numbers become ranks.
    """
    part = (
        _forced(name, column, forced, comma=comma, ranks=ranks)
        if forced
        else _by_evidence(name, column, comma=comma, ranks=ranks)
    )
    if isinstance(part, LeftOut):
        return part
    gaps = without_value(part.read(column))
    return replace(part, gaps=int(gaps.sum()), gap=_carry_information(gaps, labels))


def without_value(read: Read) -> np.ndarray:
    """Cells that a part had to fill, (n,) bool: gaps, and numbers or dates that are none; an unseen category is a value."""
    return read.gaps if sparse.issparse(read.entries) else read.gaps | read.odd


def has_decimal_commas(column: Column) -> bool:
    """Whether the cells are numbers that must have decimal commas."""
    if column.codes is None or not column.values or column.has_lists:
        return False
    how, share = cells.numerals(column.values, column.counts)
    return how.decimal == "comma" and share >= MOSTLY


def _forced(name: str, column: Column, kind: str, *, comma: bool, ranks: bool) -> Part:
    if kind == "drop":
        return LeftOut(name, why="dropped", reason="as asked for")
    if kind == "id":
        return LeftOut(name, why="id", reason="names the rows, as asked for")
    if kind == "text":
        return _text(name, column.as_text())
    if kind == "category":
        return _category(name, column.as_text())
    if kind == "number":
        return _number(name, column, comma=comma, ranks=ranks)
    moment = _moment(name, column, day_first=comma, mostly=True)
    if moment is None:
        raise ValueError(
            f"date names {name!r:.80}, whose cells hold no two different dates; take it as text or"
            " category, or drop it."
        )
    return moment


def _by_evidence(name: str, column: Column, *, comma: bool, ranks: bool) -> Part:
    gaps = gaps_of(column, cells.MISSING)
    if gaps.all():
        return LeftOut(name, why="empty", reason="every cell is empty")
    if column.dates is not None:
        return _moment(name, column) or _constant(name)
    if column.numbers is not None:
        return _of_numbers(name, column.numbers, column, comma=comma, ranks=ranks)
    if column.has_lists:
        return _tags(name, column, None)
    if len(column.values) == 1 and not gaps.any():
        return _constant(name)
    words = cells.yes_no(column.values)
    if words is not None and len(column.values) > 1:
        yes, no = words
        return Flag(name, yes=yes, no=no)
    how, share = cells.numerals(column.values, column.counts, comma=comma)
    if share >= MOSTLY and not cells.are_codes(column.values):
        return _of_numbers(name, numbers_of(column, how), column, comma=comma, ranks=ranks)
    return _moment(name, column, day_first=comma) or _of_words(name, column)


def _constant(name: str) -> LeftOut:
    return LeftOut(name, why="constant", reason="one value in every row")


def _of_numbers(
    name: str, numbers: np.ndarray, column: Column, *, comma: bool, ranks: bool
) -> Part:
    """A number, yes and no, an identifier or a constant."""
    given = numbers[~np.isnan(numbers)]
    different = np.unique(given)
    if len(different) == 1 and len(given) == len(numbers):
        return _constant(name)
    if len(different) == len(numbers) >= FEW_ROWS and (different == np.round(different)).all():
        counting = len(different) > 0.5 * (
            different[-1] - different[0] + 1
        )  # with gaps, for some rows may be kept aside
        if counting or ID_NAME.search(name):
            why = (
                "counts the rows"
                if counting
                else "different in every row and named like an identifier"
            )
            return LeftOut(name, why="id", reason=f"{why}; --number {name} keeps it")
    if different.tolist() == [0, 1]:
        return Flag(name)
    return _number(name, column, comma=comma, ranks=ranks)


def _number(name: str, column: Column, *, comma: bool, ranks: bool) -> Number:
    how = cells.Numerals("point", "")
    if column.codes is not None:
        how, _ = cells.numerals(column.values, column.counts, comma=comma)
    numbers = numbers_of(column, how)
    given = numbers[~np.isnan(numbers)]
    if not len(given):
        raise ValueError(
            f"number names {name!r:.80}, of which no cell is a number; take it as text or category,"
            " or drop it."
        )
    odd = int((np.isnan(numbers) & ~gaps_of(column, cells.MISSING_OR_NONE)).sum())
    return Number(
        name,
        how.decimal,
        how.unit,
        float(np.median(given)),
        Steps.of(given) if ranks else None,
        odd,
    )


def _moment(
    name: str, column: Column, *, day_first: bool = False, mostly: bool = False
) -> Moment | None:
    """A date; None where a cell is none, or all hold the same. `mostly`: in the order that most cells have."""
    order: str | None = "year first"
    if column.codes is not None:
        values = [value for value in column.values if isinstance(value, str)]
        order = cells.date_order(values, day_first=day_first)
        if order is None and mostly:
            order = max(
                cells.DATES, key=lambda own: (~np.isnat(cells.moments_of(values, own))).sum()
            )
    if order is None:
        return None
    moments = moments_of(column, order)
    seconds = np.sort(moments[~np.isnat(moments)].astype(np.int64))
    cycles = tuple(cycle for cycle in CYCLES if len(np.unique(place_in(cycle, seconds))) > 1)
    trend = len(seconds) > 0 and order != "time of day" and seconds[0] < seconds[-1]
    if not cycles and not trend:
        return None
    return Moment(
        name,
        order,
        int(seconds[len(seconds) // 2]),
        Steps.of(seconds.astype(np.float64)) if trend else None,
        cycles,
    )


def _of_words(name: str, column: Column) -> Part:
    """Tags, an identifier, text or a category."""
    values, counts = column.values, column.counts
    n, different = counts.sum(), len(values)
    separator = cells.list_separator(values)
    if separator is not None and _are_tags(
        [cells.items_of(value, separator) for value in values], counts
    ):
        return _tags(name, column, separator)
    words = np.average([len(value.split()) for value in values], weights=counts)
    unspaced = _has_no_blanks(values)
    numbered = (
        len({re.sub(r"\d+", "", value) for value in values}) <= 0.05 * different
    )  # Patient 1, Patient 2, …
    if different >= 0.99 * n >= FEW_ROWS and (numbered or (words < 1.1 and not unspaced)):
        return LeftOut(
            name,
            why="id",
            reason=f"different in every row; --text {name} or --category {name} keeps it",
        )
    varied = (
        (words >= 1.5 and different > 0.6 * n)
        or (words >= 3 and different > 0.3 * n)
        or (words >= 6 and different > 20)
    )
    if n >= FEW_ROWS and (varied or (unspaced and different > 0.6 * n)):
        return _text(name, column)
    return _category(name, column)


def _has_no_blanks(values: Sequence[str]) -> bool:
    """Whether this is writing without blanks between words, such as Chinese, Japanese or Thai."""
    sample = "".join(values[:200])
    return sum(character > "\u0e00" and character.isalpha() for character in sample) > 0.5 * len(
        sample
    )


def _are_tags(held: Sequence[tuple[str, ...]], counts: np.ndarray) -> bool:
    """Whether cells are lists of few different short items, not sentences with commas."""
    sizes = np.array([len(items) for items in held])
    different = {item for items in held for item in items}
    short = sum(len(item.split()) <= 3 for item in different) >= 0.95 * len(different)
    return bool(
        short
        and counts[sizes > 1].sum() >= 0.2 * counts.sum()
        and len(different) <= max(counts @ sizes / 3, 3)
    )


def _tags(name: str, column: Column, separator: str | None) -> Tags:
    counts: dict[str, int] = {}
    for value, count in zip(column.values, column.counts.tolist()):
        for item in cells.items_of(value, separator):
            counts[item] = counts.get(item, 0) + count
    return Tags(name, *_frequent(counts, len(column)), separator=separator or "")


def _category(name: str, column: Column) -> Category:
    return Category(name, *_frequent(dict(zip(column.values, column.counts.tolist())), len(column)))


def _frequent(counts: Mapping[str, int], n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Values with a column of their own and rare ones, sorted: rare are those in fewer than three rows or half a percent of them."""
    by_count = sorted(counts, key=lambda value: (-counts[value], value))
    least = max(3, n / 200) if n >= 30 else 1
    n_frequent = min(sum(counts[value] >= least for value in by_count), MOST_VALUES)
    if (
        n_frequent == 0 or len(by_count) - n_frequent == 1
    ):  # then all would be alike, or one value a group
        n_frequent = min(len(by_count), MOST_VALUES)
    return tuple(sorted(by_count[:n_frequent])), tuple(sorted(by_count[n_frequent:]))


def _text(name: str, column: Column) -> Part:
    """What TfidfVectorizer learns from all rows, though each different text is read once."""
    analyzer = "char" if _has_no_blanks(column.values) else "word"
    wordless = LeftOut(name, why="empty", reason="its texts hold no word")
    counter = vectorizer(analyzer, use_idf=False, norm=None)
    try:
        times = counter.fit_transform(column.values)  # (texts, words)
    except ValueError:
        return wordless
    rows = column.counts  # (texts,)
    n, with_word = rows.sum(), (times > 0).T @ rows
    enough = np.flatnonzero(with_word >= (2 if n >= MANY_TEXTS else 1))
    kept = np.sort(enough[np.argsort(-(times.T @ rows)[enough], kind="stable")[:MOST_WORDS]])
    if not len(kept):
        return wordless
    words = counter.get_feature_names_out()[kept]
    return Text(name, tuple(map(str, words)), np.log((1 + n) / (1 + with_word[kept])) + 1, analyzer)


def _carry_information(gaps: np.ndarray, labels: np.ndarray | None) -> bool:
    """Whether at least five cells are gaps, and five are not, and one of the labels goes with them beyond chance (5 % for all labels)."""
    n, n_gaps = len(gaps), int(gaps.sum())
    if min(n_gaps, n - n_gaps) < FEW_GAPS:
        return False
    if labels is None:
        return True
    share = labels.mean(axis=0)
    by_chance = -ndtri(0.025 / labels.shape[1]) * np.sqrt(
        share * (1 - share) * (1 / n_gaps + 1 / (n - n_gaps))
    )
    apart = abs(labels[gaps].mean(axis=0) - labels[~gaps].mean(axis=0))
    return bool((apart > by_chance)[by_chance > 0].any())
