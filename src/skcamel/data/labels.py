"""Labels as people keep them: columns of 0 and 1, of words or of marks, or one column of lists."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MultiLabelBinarizer

from skcamel.arrays import column_names
from skcamel.data import DataError, Path_
from skcamel.data.cells import YES_NO, Cell, Cells, as_text, is_missing, items_of, list_separator
from skcamel.data.sources import check_different_labels, check_memory, first_repeated, shortened

MARKS = ("x", "✓")  # where some cells are ticked, nothing means no
NO_LABEL = np.inf  # what a cell means that says nothing about a label

LabelColumns = str | int | Sequence[str]


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
    labels : str, list of str, or int
        The label columns: a name; names with commas between them, such as ``'a,b'`` or
        ``'a,"b, c"``; a pattern, such as ``"topic_*"``; a list of names and patterns; or how many
        of the last columns, or of the first where negative. A single column may hold lists
        (``[a, b]``, ``a|b``, ``a;b``, and ``a, b`` where the items come in other combinations
        too), or one word per row: their items are the labels.
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
    names, Y = labels_in(table, columns, source)
    return without(table, columns), Labels(names, Y, columns)


def without(table: Any, columns: Collection[str]) -> Any:
    """Return the table without these columns, of the same kind."""
    if hasattr(table, "drop_columns"):
        return table.drop_columns(list(columns))
    return table[[name for name in table.columns if name not in columns]]


def label_columns(names: Sequence[str], labels: LabelColumns, source: Path_) -> tuple[str, ...]:
    """Names of the label columns, in the order of the table."""
    wanted = labels
    if isinstance(labels, str):
        wanted = [labels] if labels in names else _number_or_names(labels)
    if isinstance(wanted, int | np.integer):
        wanted = names[-wanted:] if wanted > 0 else names[:-wanted]
    twice = first_repeated(wanted)
    if twice is not None:
        raise DataError(f"{twice!r:.60} is named twice as a label; name it once.", path=source)
    chosen: set[str] = set()
    for name in wanted:
        chosen.update(_matching(name, names, source))
    if not 0 < len(chosen) < len(names):
        problem = f"{str(labels)[:60]!r} as labels names {len(chosen)} of {len(names)} columns"
        hint = "name at least one, and leave at least one feature"
        raise DataError(f"{problem}; {hint}.", path=source)
    return tuple(name for name in names if name in chosen)


def _number_or_names(text: str) -> int | list[str]:
    """A number of columns, or names with commas between them; quotes hold a name with a comma."""
    try:
        return int(text)
    except ValueError:
        lines = text.splitlines(keepends=True)
        names = chain.from_iterable(csv.reader(lines, skipinitialspace=True))
        return [name.strip() for name in names if name.strip()]


def _matching(wanted: str, names: Sequence[str], source: Path_) -> list[str]:
    """The column of a name, or those that a pattern such as ``topic_*`` means."""
    if wanted in names:
        return [wanted]
    text = str(wanted)
    pattern = text.replace("[", "[[]").replace("?", "[?]")  # only the star has a meaning
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        problem = f"no column is called {text!r:.60}; the columns are {shortened(names)}"
        hint = "'topic_*' stands for all that begin with topic_"
        raise DataError(f"{problem}. {hint}.", path=source)
    return found


def labels_in(
    table: Any, columns: Sequence[str], source: Path_, possible: Sequence[str] = ()
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values (n, q) of the labels in these columns.

    Where there is one column it may hold lists, of `possible` labels and others.
    """
    if len(columns) == 1:
        cells = _cells(table[columns[0]])
        lists = _lists(cells.values.tolist())
        if lists is not None:
            names, Y = _of_lists(lists, len(cells.codes), possible, columns[0], source)
            return names, Y[cells.codes]
    check_different_labels(columns, source)
    check_memory(8 * len(table) * len(columns), f"Room for {len(columns)} labels", source)
    Y = np.empty((len(table), len(columns)))
    for k, name in enumerate(columns):
        Y[:, k] = _two_values(_cells(table[name]), name, source)
    return tuple(columns), Y


def _cells(column: Any) -> Cells:
    """Texts and lists; nothing is "", and a word for a missing value stays."""
    cells = Cells.of(column, missing=("",))
    texts = [value if isinstance(value, tuple) else as_text(value) for value in cells.values]
    return replace(cells, values=np.fromiter(texts, dtype=object, count=len(texts)))


def _two_values(cells: Cells, name: str, source: Path_) -> np.ndarray:
    """The labels of a column: 1, 0, NaN if missing; beside marks, nothing is 0."""
    texts = [as_text(value).casefold() for value in cells.values]
    marked = np.isin(texts, MARKS)
    meanings = np.array([_meaning(text) for text in texts])
    if marked.any():
        meanings[marked] = 1.0
        meanings[0] = 0.0
    no = -1 if -1 in meanings else 0
    is_label = np.isin(meanings, [no, 1]) | np.isnan(meanings)
    if not is_label.all():
        odd = int(is_label.argmin())
        row = int((cells.codes == odd).argmax()) + 1
        place = f"{as_text(cells.values[odd])!r:.40} in column {name!r:.60}, row {row}"
        hint = "labels are 0 and 1, -1 and +1, yes and no, or x and empty"
        raise DataError(f"{place}; {hint}. Are the right columns named as labels?", path=source)
    return np.maximum(meanings, 0.0)[cells.codes]


def _meaning(text: str) -> float:
    """What the text of a cell says of a label: a number, NaN if missing, NO_LABEL if nothing."""
    if text in YES_NO:
        return YES_NO[text]
    if is_missing(text):
        return np.nan
    try:
        return float(text)
    except ValueError:
        return NO_LABEL


def _lists(values: Sequence[Cell]) -> list[Sequence[str] | None] | None:
    """The items of each value, None if unknown; None for a column that is a label of two values."""
    texts = [value for value in values if isinstance(value, str)]
    unknown = {text for text in texts if is_missing(text)}
    words = [text for text in texts if text not in unknown]
    separator = list_separator(words)
    if len(texts) == len(values):
        unknown.discard("")  # an empty list
        meanings = [_meaning(word.casefold()) for word in words]
        # beside 1 or yes, words are more likely slips than labels
        are_labels = set(meanings) == {NO_LABEL}
        if separator is None and not are_labels:
            return None
    return [None if value in unknown else items_of(value, separator) for value in values]


def _of_lists(
    lists: Sequence[Sequence[str] | None],
    n: int,
    possible: Sequence[str],
    column: str,
    source: Path_,
) -> tuple[tuple[str, ...], np.ndarray]:
    """Labels that are the items of lists, and their values in each list, NaN if it is unknown."""
    known = [items or () for items in lists]
    if not any(known):
        problem = f"column {column!r:.60} names no label in any row; are the labels elsewhere?"
        raise DataError(problem, path=source)
    binarizer = MultiLabelBinarizer(sparse_output=True).fit([*known, possible])
    names = tuple(binarizer.classes_.tolist())
    check_memory(16 * max(n, len(lists)) * len(names), f"Room for {len(names)} labels", source)
    Y = binarizer.transform(known).toarray().astype(np.float64)
    is_unknown = [items is None for items in lists]
    Y[is_unknown] = np.nan
    return names, Y
