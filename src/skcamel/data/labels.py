"""Labels as people keep them: columns of 0 and 1, of words or marks, or one column of lists; in the table itself or in a second one."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from skcamel.data import DataError, Path_
from skcamel.data.cells import YES_NO, items_of, list_separator, missing_spellings
from skcamel.data.text import (
    check_claimed_size,
    check_different_labels,
    check_memory,
    first_repeated,
    shortened,
)

GAPS = frozenset(missing_spellings())
MARKS = frozenset(["x", "✓"])
CURE = (
    "labels are 0 and 1, -1 and +1, yes and no, or x and empty. Are the right columns named as"
    " labels?"
)

LabelColumns = str | int | Sequence[str] | Sequence[int]


class Labels(NamedTuple):
    """Labels of a table, and where they stood in it."""

    names: tuple[str, ...]
    Y: np.ndarray  # (n, q) float64: 1, 0, and NaN where unknown
    columns: tuple[str, ...]  # of the table that they were taken from


def take_labels(table: Any, labels: LabelColumns, source: Path_) -> tuple[Any, Labels]:
    """Take the labels out of a table.

    Parameters
    ----------
    table : pyarrow.Table or frame of pandas or polars
        n rows.
    labels : list of str, str, int or list of int
        The label columns: their names; a prefix of their names; how many of the last columns, or of
        the first where negative; or
        their positions, from 0. A single column may hold lists (``[a, b]``, ``a|b``, ``a;b`` or
        ``a, b``), or one word per row:
        their items are the labels.
    source : str or path
        The file, as shown in messages.

    Returns
    -------
    table : of the same kind
        Without the label columns.
    labels : Labels
        A gap is unknown (NaN). In a column of written lists an empty cell is an empty list: no
        label.

    Examples
    --------
    >>> import pandas as pd
    >>> rest, labels = take_labels(pd.DataFrame({"x": [1, 2, 3], "tags": ["sea|sun", None, "sun"]}), ["tags"], "holidays.csv")
    >>> labels.names, labels.Y.tolist(), list(rest.columns)
    (('sea', 'sun'), [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]], ['x'])
    """
    names = column_names(table)
    columns = tuple(name for name, flag in zip(names, label_columns(names, labels, source)) if flag)
    return without(table, columns), Labels(*labels_in(table, columns, source), columns)


def labels_in(
    table: Any, columns: Sequence[str], source: Path_
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values (n, q) of the labels in these columns; where there is one it may hold lists."""
    if len(columns) == 1:
        return label_matrix(cells_of(table, columns[0]), columns[0], source)
    check_different_labels(columns, source)
    _check_room(len(table), len(columns), source)
    Y = np.empty((len(table), len(columns)))
    for k, name in enumerate(columns):
        Y[:, k] = label_vector(cells_of(table, name), name, source)
    return tuple(columns), Y


def label_matrix(cells: np.ndarray, name: str, source: Path_) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values (n, q) of the labels in one column: a label of two values, or lists of labels."""
    lists = item_lists(cells, name, source)
    if lists is None:
        return (name,), label_vector(cells, name, source)[:, None]
    names = tuple(sorted({item for items in lists for item in items or ()}))
    if not names:
        raise no_label(name, source)
    _check_room(len(lists), len(names), source)
    places = {item: k for k, item in enumerate(names)}
    Y = np.zeros((len(lists), len(names)))
    for row, items in enumerate(lists):
        if items is None:
            Y[row] = np.nan
        else:
            Y[row, [places[item] for item in items]] = 1
    return names, Y


def no_label(name: str, source: Path_) -> DataError:
    """Refuse lists without items."""
    return DataError(
        f"column {name[:60]!r} names no label in any row; is the right column named as labels?",
        path=source,
    )


def label_vector(cells: np.ndarray, name: str, source: Path_) -> np.ndarray:
    """A label of two values (n,): 1, 0, and NaN for gaps; `cells` are numbers, or objects with None for gaps."""
    if cells.dtype.kind == "O":
        cells = _numbered(cells, name, source)
    check_two_values(cells, name, source)
    negative = cells == -1
    if negative.any() and (cells == 0).any():
        raise two_codings(name, source)
    return np.where(negative, 0.0, cells)


def check_two_values(cells: np.ndarray, name: str, source: Path_, first: int = 0) -> None:
    """Refuse numbers that are no labels; `first` is the row of the first cell, from 0."""
    odd = np.flatnonzero(~(np.isin(cells, (-1, 0, 1)) | np.isnan(cells)))
    if odd.size:
        raise DataError(
            f"label {name[:60]!r} is {cells[odd[0]]:g} in row {first + odd[0] + 1}; {CURE}",
            path=source,
        )


def two_codings(name: str, source: Path_) -> DataError:
    """Refuse a label of three values."""
    return DataError(
        f"label {name[:60]!r} holds -1 and 0; labels are 0 and 1, or -1 and +1: recode it.",
        path=source,
    )


def _numbered(cells: np.ndarray, name: str, source: Path_) -> np.ndarray:
    """Words and marks as numbers; NaN for gaps, but 0 for empty cells beside marks."""
    texts = [None if cell is None else key_text(cell) for cell in cells]
    known, wrong = meanings({text for text in texts if text is not None})
    if wrong:
        row, text = next((row, text) for row, text in enumerate(texts, 1) if text in wrong)
        raise wrong_word(text, name, row, source)
    return np.array([known[text or ""] for text in texts], dtype=np.float64)


def meanings(found: Collection[str]) -> tuple[dict[str, float], set[str]]:
    """What each of the texts of a label of two values means, 1, 0 or NaN, gaps among them; and those that mean nothing.

    Examples
    --------
    >>> known, wrong = meanings(["x"])
    >>> known["x"], known[""], wrong
    (1.0, 0.0, set())
    """
    marks = {text for text in found if text.casefold() in MARKS}
    values = {text: _meaning(text) for text in set(found) - marks - GAPS}
    wrong = {text for text, value in values.items() if value is None} or (
        marks if values else set()
    )
    said = {text: value for text, value in values.items() if value is not None}
    return {
        **dict.fromkeys(GAPS, np.nan),
        **said,
        **dict.fromkeys(marks, 1.0),
        "": 0.0 if marks else np.nan,
    }, wrong


def wrong_word(text: str, name: str, row: int, source: Path_) -> DataError:
    """Refuse a cell that means neither yes nor no."""
    return DataError(f"{text[:40]!r} in column {name[:60]!r}, row {row}; {CURE}", path=source)


def _meaning(text: str) -> float | None:
    """1, 0 or another number; None where the text means neither."""
    if text.casefold() in YES_NO:
        return YES_NO[text.casefold()]
    try:
        return float(text)
    except ValueError:
        return None


def item_lists(cells: np.ndarray, name: str, source: Path_) -> list[Sequence[str] | None] | None:
    """Items of each cell, None for gaps; None at all where the column does not hold lists or words, but a label of two values."""
    if cells.dtype.kind != "O":
        return None
    filled = [
        cell
        for cell in cells
        if cell is not None and not (isinstance(cell, str) and cell.strip() in GAPS)
    ]
    if any(_is_list(cell) for cell in filled):
        return [None if cell is None else _items_of(cell) for cell in cells]
    items = written_lists({key_text(cell) for cell in filled})
    return (
        None if items is None else [items["" if cell is None else key_text(cell)] for cell in cells]
    )


def written_lists(texts: Collection[str]) -> dict[str, Sequence[str] | None] | None:
    """Items of each of the texts of a column, gaps among them; None at all where it is a label of two values."""
    separator = list_separator(texts)
    if separator is None and (
        not texts or any(_meaning(text) is not None or text.casefold() in MARKS for text in texts)
    ):
        return None  # also where words stand beside 1 or yes, more likely slips than labels
    items: dict[str, Sequence[str] | None] = {text: items_of(text, separator) for text in texts}
    return (
        items | dict.fromkeys(GAPS, None) | {"": ()}
    )  # nothing written is no label, a word for a gap is unknown


def _is_list(cell: object) -> bool:
    return isinstance(cell, (list, tuple, set, np.ndarray))


def _items_of(cell: Any) -> list[str]:
    return (
        [key_text(item) for item in cell if item is not None]
        if _is_list(cell)
        else [key_text(cell)]
    )


def join_labels(
    table: Any, key: str, other: Any, source: Path_, other_source: Path_
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
    for frame, path in ((table, source), (other, other_source)):
        if key not in column_names(frame):
            raise DataError(
                f"no column is called {key[:60]!r}; the columns are"
                f" {shortened(column_names(frame))}.",
                path=path,
            )
    places = _places(keys_of(table, key), key, source)
    theirs = keys_of(other, key)
    columns = tuple(name for name in column_names(other) if name != key)
    if not columns:
        raise DataError(
            f"holds no column beside the key {key[:60]!r}; add the labels.", path=other_source
        )
    unknown = next((row for row, text in enumerate(theirs) if text not in places), None)
    if unknown is not None:
        problem = (
            f"row {unknown + 1} has the {key[:60]!r} {theirs[unknown][:60]!r}, which"
            f" {os.path.basename(source)} does not have"
        )
        raise DataError(f"{problem}; correct or remove it.", path=other_source)
    names, found = labels_in(other, columns, other_source)
    rows = np.array([places[text] for text in theirs], dtype=np.int64)
    twice = first_repeated(theirs)
    if twice is not None and names == columns:
        raise DataError(f"{key[:60]!r} is {twice[:60]!r} in two rows; keep one.", path=other_source)
    Y = np.full((len(table), len(names)), np.nan if twice is None else 0.0)
    np.fmax.at(Y, rows, found)  # a label that any row of the key names; unknown only where all are
    return table, Labels(names, Y, ())


def _places(texts: list[str], key: str, source: Path_) -> dict[str, int]:
    """Row of each key; empty and repeated ones are refused."""
    places: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text in GAPS:
            raise DataError(
                f"{key[:60]!r} is empty in row {row + 1}; each row needs a key.", path=source
            )
        if text in places:
            raise DataError(
                f"{key[:60]!r} is {text[:60]!r} in rows {places[text] + 1} and {row + 1}; keep"
                " one.",
                path=source,
            )
        places[text] = row
    return places


def label_columns(names: Sequence[str], labels: LabelColumns, path: Path_) -> np.ndarray:
    """Which columns are labels, as a mask."""
    width = len(names)
    positions = _positions(names, labels, path)
    wrong = [position for position in positions if not 0 <= position < width]
    if wrong or not 0 < len(positions) < width:
        asked = f"position {wrong[0]}" if wrong else f"{len(positions)} labels"
        raise DataError(
            f"{str(labels)[:60]!r} as labels asks for {asked}, the table has {width} columns; leave"
            " at least one feature.",
            path=path,
        )
    mask = np.zeros(width, dtype=bool)
    mask[positions] = True
    return mask


def _positions(names: Sequence[str], labels: LabelColumns, path: Path_) -> list[int]:
    if isinstance(labels, str):
        found = [position for position, name in enumerate(names) if name.startswith(labels)]
        if not found:
            raise DataError(
                f"no column begins with {labels!r}; the columns are {shortened(names)}.", path=path
            )
        return found
    if isinstance(labels, int | np.integer):
        count = min(abs(int(labels)), len(names))
        return list(range(len(names) - count, len(names)) if labels > 0 else range(count))
    wanted = list(labels)
    places = {name: position for position, name in enumerate(names)}
    absent = [name for name in wanted if isinstance(name, str) and name not in places]
    if absent:
        raise DataError(
            f"no column is called {shortened(absent)}; the columns are {shortened(names)}.",
            path=path,
        )
    return [places[label] if isinstance(label, str) else int(label) for label in wanted]


def _check_room(n: int, q: int, source: Path_) -> None:
    if os.path.isfile(source):
        check_claimed_size(8 * n * q, f"{n} rows x {q} labels", source)
    else:
        check_memory(8 * n * q, f"Room for {n} rows x {q} labels", source)


def column_names(table: Any) -> list[str]:
    """Column names of a pyarrow table or of a frame."""
    return [str(name) for name in getattr(table, "column_names", None) or table.columns]


def without(table: Any, columns: Collection[str]) -> Any:
    """Return the table without these columns, of the same kind."""
    left = set(columns)
    kept = [position for position, name in enumerate(column_names(table)) if name not in left]
    return (
        table.iloc[:, kept]
        if hasattr(table, "iloc")
        else table.select(kept)
        if hasattr(table, "column_names")
        else table[:, kept]
    )


def cells_of(table: Any, name: str) -> np.ndarray:
    """Cells of one column (n,): float64 with NaN for gaps where they are numbers, else objects with None for gaps."""
    if hasattr(table, "iloc"):  # pandas
        column = table.iloc[:, column_names(table).index(name)]
        if getattr(column.dtype, "kind", "O") in "iufb":
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif hasattr(table, "column_names"):  # pyarrow
        return arrow_cells(table.column(name))
    elif table[name].dtype.is_numeric() or str(table[name].dtype) == "Boolean":  # polars
        return table[name].cast(float).fill_null(float("nan")).to_numpy()
    return _objects(objects_of(table, name))


def arrow_cells(column: Any) -> np.ndarray:
    """Do the same for a column of pyarrow."""
    import pyarrow as arrow

    kind = column.type
    if arrow.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if arrow.types.is_boolean(kind):
        column, kind = column.cast(arrow.int8()), arrow.int8()
    if arrow.types.is_null(kind):
        return np.full(len(column), np.nan)
    if (
        arrow.types.is_integer(kind)
        or arrow.types.is_floating(kind)
        or arrow.types.is_decimal(kind)
    ):
        return np.array(column.cast(arrow.float64(), safe=False), dtype=np.float64)
    return _objects(column.to_pylist())


def objects_of(table: Any, name: str) -> list[Any]:
    """Cells of one column as Python objects, None for gaps."""
    if not hasattr(table, "iloc"):
        return (
            table.column(name).to_pylist()
            if hasattr(table, "column_names")
            else table[name].to_list()
        )
    cells = table.iloc[:, column_names(table).index(name)].astype(object)
    return [
        None if gap is True else cell for cell, gap in zip(cells.tolist(), cells.isna().tolist())
    ]


def keys_of(table: Any, name: str) -> list[str]:
    """Keys as text, whole numbers without ``.0``; "" for gaps."""
    return [
        "" if cell is None or cell != cell else key_text(cell) for cell in objects_of(table, name)
    ]


def key_text(cell: object) -> str:
    """Text of a cell; whole numbers have no ``.0``."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _objects(cells: Sequence[object]) -> np.ndarray:
    """Lists as cells, not as further dimensions."""
    return np.fromiter(cells, dtype=object, count=len(cells))
