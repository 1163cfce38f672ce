"""Labels as people keep them: columns of 0 and 1, of words or marks, or one column of lists; in the table itself or in a second one."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import column_names
from skcamel.data import DataError, Path_
from skcamel.data.cells import YES_NO, is_missing, items_of, list_separator
from skcamel.data.sources import (
    check_different_labels,
    check_memory,
    first_repeated,
    shortened,
)

MARKS = frozenset(["x", "✓"])
HINT = (
    "labels are 0 and 1, -1 and +1, yes and no, or x and empty. Are the right columns named as"
    " labels?"
)

LabelColumns = str | int | Sequence[str] | Sequence[int]


class Labels(NamedTuple):
    """Labels of a table, and where they stood in it."""

    names: tuple[str, ...]
    Y: np.ndarray  # (n, q) float64: 1, 0, and NaN where unknown
    columns: tuple[str, ...]  # of the table that they were taken from


class Cells(NamedTuple):
    """The different cells of a column, and which of them each row holds."""

    values: list[Any]  # text, or a tuple of texts where the cell is a list
    codes: np.ndarray  # (n,); -1 where there is no cell

    def row(self, value: Any) -> int:
        """First row, from 1, that holds a value."""
        return int((self.codes == self.values.index(value)).argmax()) + 1

    def each(self, numbers: Sequence[float], missing: float) -> np.ndarray:
        """The number of the value of each row."""
        return np.array([*numbers, missing], dtype=np.float64)[self.codes]


def take_labels(table: Any, labels: LabelColumns, source: Path_) -> tuple[Any, Labels]:
    """Take the labels out of a table.

    Parameters
    ----------
    table : pyarrow.Table or frame of pandas or polars
        n rows.
    labels : str, list of str, int or list of int
        The label columns: a name; names with commas between them, such as ``'a,b'`` or
        ``'a,"b, c"``; a pattern, such as ``"topic_*"``; a list of names and patterns; how many of
        the last columns, or of the first where negative; or positions, from 0. A single column may
        hold lists (``[a, b]``, ``a|b``, ``a;b``, and ``a, b`` where the items come in other
        combinations too), or one word per row: their items are the labels.
    source : str or path
        The file, as shown in messages.

    Returns
    -------
    table : of the same kind
        Without the label columns.
    labels : Labels
        A missing value is unknown (NaN). In a column of written lists an empty cell is an empty
        list: no label.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"x": [1, 2, 3], "tags": ["sea|sun", None, "sun"]})
    >>> rest, labels = take_labels(table, "tags", "holidays.csv")
    >>> labels.names, labels.Y.tolist(), list(rest.columns)
    (('sea', 'sun'), [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]], ['x'])
    """
    columns = label_columns(column_names(table) or [], labels, source)
    return without(table, columns), Labels(*labels_in(table, columns, source), columns)


def label_columns(names: Sequence[str], labels: LabelColumns, source: Path_) -> tuple[str, ...]:
    """Names of the label columns, in the order of the table."""
    wanted: Any = [labels] if isinstance(labels, str) and labels in names else labels
    if isinstance(wanted, str):
        is_count = re.fullmatch(r"-?\d+", wanted)
        wanted = int(wanted) if is_count else _parts(wanted, source)
    if isinstance(wanted, int | np.integer):
        number = int(wanted)
        chosen = list(names[-number:] if number > 0 else names[:-number])
    else:
        chosen = [name for label in wanted for name in _matching(label, names, source)]
    if not 0 < len(set(chosen)) < len(names):
        raise DataError(
            f"{str(labels)[:60]!r} as labels names {len(set(chosen))} of {len(names)} columns; name"
            " at least one, and leave at least one feature.",
            path=source,
        )
    return tuple(name for name in names if name in chosen)


def _parts(text: str, source: Path_) -> list[str]:
    """Names with commas between them; those that hold one stand in double quotes."""
    try:
        parts = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise DataError(
            f"{text[:60]!r} as labels cannot be read ({error}); put names with commas or ends of"
            " line in double quotes.",
            path=source,
        ) from None
    return [part.strip() for record in parts for part in record if part.strip()]


def _matching(wanted: str | int, names: Sequence[str], source: Path_) -> Sequence[str]:
    """The column of a name or at a position, or those that a pattern such as ``topic_*`` means."""
    if not isinstance(wanted, str):
        found = names[wanted : wanted + 1] if wanted >= 0 else ()
        problem = f"no column stands at position {wanted}; the table has {len(names)}, from 0."
    elif wanted in names:
        return [wanted]
    else:
        pattern = re.compile(".*".join(map(re.escape, wanted.split("*"))), re.DOTALL)
        found = list(filter(pattern.fullmatch, names))
        problem = (
            f"no column is called {wanted[:60]!r}; the columns are {shortened(names)}. 'topic_*'"
            " stands for all that begin with topic_."
        )
    if not found:
        raise DataError(problem, path=source)
    return found


def labels_in(
    table: Any, columns: Sequence[str], source: Path_
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values (n, q) of the labels in these columns; where there is one it may hold lists."""
    if len(columns) == 1:
        cells = cells_of(table, columns[0])
        lists = _lists(cells)
        if lists is not None:
            return _of_lists(cells, lists, columns[0], source)
    check_different_labels(columns, source)
    _check_room(len(table), len(columns), source)
    Y = np.empty((len(table), len(columns)))
    for k, name in enumerate(columns):
        Y[:, k] = _two_values(cells_of(table, name), name, source)
    return tuple(columns), Y


def _two_values(cells: Cells, name: str, source: Path_) -> np.ndarray:
    """A label of two values (n,): 1, 0, and NaN where it is missing, but 0 for empty cells beside marks."""
    marked = any(_is_mark(value) for value in cells.values)
    numbers: list[float] = []
    for value in cells.values:
        number = _meaning(value, marked=marked)
        if number not in (-1, 0, 1) and number == number:
            row = cells.row(value)
            problem = f"{str(value)[:40]!r} in column {name[:60]!r}, row {row}"
            raise DataError(f"{problem}; {HINT}", path=source)
        numbers.append(number)
    if -1 in numbers and 0 in numbers:
        raise DataError(
            f"label {name[:60]!r} holds -1 and 0; labels are 0 and 1, or -1 and +1: recode it.",
            path=source,
        )
    return cells.each([max(number, 0.0) for number in numbers], 0.0 if marked else np.nan)


def _is_mark(value: Any) -> bool:
    return isinstance(value, str) and value.casefold() in MARKS


def _meaning(value: Any, *, marked: bool) -> float:
    """What the cell of a label says: 1, 0 or another number, NaN where it is missing; infinity where it says nothing."""
    if _is_mark(value) or (marked and value == ""):
        return float(value != "")
    if isinstance(value, str) and is_missing(value):
        return np.nan
    if marked or not isinstance(value, str):
        return np.inf
    if value.casefold() in YES_NO:
        return YES_NO[value.casefold()]
    try:
        return float(value)
    except ValueError:
        return np.inf


def _lists(cells: Cells) -> list[Sequence[str] | None] | None:
    """The items of each value, None where it is missing; None at all where the column is a label of two values."""
    texts = [value for value in cells.values if isinstance(value, str)]
    if len(texts) < len(cells.values):
        return [None if value == "" else items_of(value, None) for value in cells.values]
    filled = [text for text in texts if not is_missing(text)]
    separator = list_separator(filled)
    if separator == "," and not _items_recur(filled):
        separator = None
    if separator is None and not (filled and all(map(_says_nothing, filled))):
        return None  # also where words stand beside 1 or yes, more likely slips than labels
    items: list[Sequence[str] | None] = []
    for text in texts:
        missing = text != "" and is_missing(text)
        items.append(None if missing else items_of(text, separator))
    return items


def _says_nothing(text: str) -> bool:
    return np.isinf(_meaning(text, marked=False))


def _items_recur(texts: Sequence[str]) -> bool:
    """Whether at least half of the parts between commas stand in other combinations too, unlike those of ``Berlin, DE``."""
    cells = Counter(item for text in texts for item in set(items_of(text, ",")))
    return 2 * sum(count > 1 for count in cells.values()) >= len(cells)


def _of_lists(
    cells: Cells, lists: Sequence[Sequence[str] | None], name: str, source: Path_
) -> tuple[tuple[str, ...], np.ndarray]:
    """Labels that are the items of lists; a list that is missing is unknown, an empty cell among texts is an empty list."""
    names = tuple(sorted({item for items in lists for item in items or ()}))
    if not names:
        raise DataError(
            f"column {name[:60]!r} names no label in any row; is the right column named as labels?",
            path=source,
        )
    _check_room(len(cells.codes), len(names), source)
    places = {item: k for k, item in enumerate(names)}
    rows = np.zeros((len(lists) + 1, len(names)))  # of each value; the last for rows without a cell
    for row, items in zip(rows, lists, strict=False):
        if items is None:
            row[:] = np.nan
        else:
            row[[places[item] for item in items]] = 1
    if any(isinstance(value, tuple) for value in cells.values):
        rows[-1] = np.nan
    return names, rows[cells.codes]


def cells_of(table: Any, name: str) -> Cells:
    """The cells of a column of a pyarrow table or of a frame."""
    cells, codes = _distinct(table, name)
    known: dict[Any, int] = {}
    places = [known.setdefault(_text(cell), len(known)) for cell in cells]
    return Cells(list(known), np.array([*places, -1], dtype=np.int64)[codes])


def _distinct(table: Any, name: str) -> tuple[list[Any], np.ndarray]:
    """Cells of a column as Python objects, and the place of each row among them; -1 for a null. Equal ones come once if that is fast."""
    if hasattr(table, "column_names"):
        column = table.column(name)
        if not hasattr(column.type, "value_type") or hasattr(column.type, "index_type"):
            coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
            codes = np.array(coded.indices.fill_null(-1), dtype=np.int64)
            return coded.dictionary.to_pylist(), codes
        cells = column.to_pylist()
    elif hasattr(table, "iloc"):
        column = table[name].astype(object)
        cells = column.where(column.notna(), None).tolist()
    else:
        cells = table[name].to_list()
    there = np.array([cell is not None for cell in cells], dtype=bool)
    codes = np.where(there, np.cumsum(there) - 1, -1)
    return [cell for cell in cells if cell is not None], codes


def _text(cell: object) -> str | tuple[str, ...]:
    """Text of a cell, a tuple of texts for a list."""
    if isinstance(cell, (list, tuple, set, np.ndarray)):
        return tuple(key_text(item) for item in cell if item is not None)
    return key_text(cell)


def key_text(cell: object) -> str:
    """Text of a cell; whole numbers have no ``.0``."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def without(table: Any, columns: Collection[str]) -> Any:
    """Return the table without these columns, of the same kind."""
    if hasattr(table, "drop_columns"):
        return table.drop_columns(list(columns))
    return table.drop(columns=list(columns)) if hasattr(table, "iloc") else table.drop(columns)


def join_labels(
    table: Any,
    key: str,
    other: Any,
    source: Path_,
    other_source: Path_,
    labels: LabelColumns | None = None,
) -> tuple[Any, Labels]:
    """Find the labels of a table in a second one, by a key column that both have.

    Parameters
    ----------
    table : pyarrow.Table or frame of pandas or polars
        n rows, each with a key of its own.
    key : str
        Name of the key column; keys are compared as text.
    other : pyarrow.Table or frame of pandas or polars
        The key and either label columns, one column of lists, or one label per row, where keys
        repeat.
    source, other_source : str or path
        The two files, as shown in messages.
    labels : optional
        Which of the other columns are labels, as in :func:`take_labels`; by default all are.

    Returns
    -------
    table : the first, as it is
    labels : Labels
        Rows that the second table does not mention are unknown (NaN); where it has a line for each
        label, they have none.

    Examples
    --------
    >>> import pandas as pd
    >>> photos = pd.DataFrame({"id": [7, 8, 9], "x": [0.1, 0.2, 0.3]})
    >>> tags = pd.DataFrame({"id": ["7", "9", "7"], "tag": ["sea", "sun", "sun"]})
    >>> join_labels(photos, "id", tags, "photos.csv", "tags.csv")[1].Y.tolist()
    [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
    """
    own = _keys(table, key, source)
    _check_own_keys(own, key, source)
    places = {text: row for row, text in enumerate(own)}
    keys = _keys(other, key, other_source)
    columns = tuple(name for name in column_names(other) or () if name != key)
    if not columns:
        problem = f"holds no column beside the key {key[:60]!r}; add the labels."
        raise DataError(problem, path=other_source)
    if labels is not None:
        columns = label_columns([key, *columns], labels, other_source)
    for row, text in enumerate(keys, 1):
        if text not in places:
            problem = f"row {row} has the {key[:60]!r} {text[:60]!r}"
            lacking = f"which {os.path.basename(source)} does not have"
            raise DataError(f"{problem}, {lacking}; correct or remove it.", path=other_source)
    names, found = labels_in(other, columns, other_source)
    twice = first_repeated(keys)
    if twice is not None and names == columns:
        raise DataError(f"{key[:60]!r} is {twice[:60]!r} in two rows; keep one.", path=other_source)
    Y = np.full((len(table), len(names)), np.nan if twice is None else 0.0)
    rows = np.array([places[text] for text in keys], dtype=np.int64)
    np.fmax.at(Y, rows, found)  # a label that any row of the key names; unknown only where all are
    return table, Labels(names, Y, ())


def _keys(table: Any, key: str, source: Path_) -> list[str]:
    """The key of each row as text."""
    names = column_names(table) or []
    if key not in names:
        problem = f"no column is called {key[:60]!r}; the columns are {shortened(names)}."
        raise DataError(problem, path=source)
    cells = cells_of(table, key)
    keys = [*cells.values, ""]
    return [str(keys[code]) for code in cells.codes]


def _check_own_keys(keys: Sequence[str], key: str, source: Path_) -> None:
    """Refuse missing and repeated keys."""
    for row, text in enumerate(keys, 1):
        if is_missing(text):
            problem = f"{key[:60]!r} is empty in row {row}; each row needs a key."
            raise DataError(problem, path=source)
    twice = first_repeated(keys)
    if twice is not None:
        first = keys.index(twice) + 1
        second = keys.index(twice, first) + 1
        problem = f"{key[:60]!r} is {twice[:60]!r} in rows {first} and {second}; keep one."
        raise DataError(problem, path=source)


def _check_room(n: int, q: int, source: Path_) -> None:
    check_memory(8 * n * q, f"Room for {n} rows x {q} labels", source)
