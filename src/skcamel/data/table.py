"""Tables as numbers: a Dataset of the columns of a table file, and a table file of a Dataset."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.data import DataError, Path_
from skcamel.data.attributes import WORDS, Attribute, check_nominal, feature_codes, finished, number
from skcamel.data.dataset import Dataset
from skcamel.data.labels import GAPS, LabelColumns, arrow_cells, take_labels
from skcamel.data.readers import PARQUET, read_plain, suffix_of
from skcamel.data.separated import SEPARATORS, is_text, pyarrow_module
from skcamel.data.text import (
    VALUE_BYTES,
    check_claimed_size,
    check_memory,
    numerals,
    shortened,
    stem,
    write_lines,
)
from skcamel.files import whole_file
from skcamel.text import plain_cell

if TYPE_CHECKING:
    import pyarrow

WRITE_ROWS = 256  # rows made dense at once
NEGATIVE_ZERO = {"-0": "-0.0"}  # as an integer it would lose its sign
ROW_NUMBERS = ("column1", "Unnamed: 0")  # what a first column without a name is called
Categories = Mapping[str, tuple[str, ...]]


def read_table(
    path: Path_,
    *,
    labels: LabelColumns,
    separator: str | None = None,
    header: bool = True,
    nominal: str = "index",
) -> Dataset:
    r"""Read a table file as numbers.

    Parameters
    ----------
    path : str or path
        As in :func:`read_columns`; needs ``pip install skcamel[tables]``.
    labels : list of str, str, int or list of int
        The label columns: their names; a prefix of their names; how many of the last columns, or of
        the first where negative; or
        their positions, from 0. A single column may hold lists of labels, as in ``take_labels``.
    separator : str, optional
        One character between cells; by default it is found among comma, semicolon, tab and bar.
    header : bool, default=True
        Whether the first line holds the column names.
    nominal : {"index", "onehot"}, default="index"
        Text columns become one column (YES/NO and TRUE/FALSE as 1/0, else the position among the
        sorted values), or with "onehot" one
        0/1 column for each of three or more values.

    Returns
    -------
    Dataset
        Columns in the order of the file. Gaps (empty cells, ``?``, ``NA``, ``-`` …) are NaN, in
        labels too: unknown. Text columns
        with one value per row identify rows, and a first column without a name that counts from 0
        or 1 numbers them: they are left
        out and listed in `dropped`. The values of other text columns are in `categories`. Where
        there are words or gaps, `table`
        holds the cells themselves.

    Warns
    -----
    UserWarning
        Where columns are left out, and where numbers stand for text that has no order of its own.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.csv")
    ...     _ = file.write_text("height,tag:calm,tag:sad\n1.5,1,0\n1.7,0,1\n")
    ...     read_table(file, labels="tag:").label_names
    ('tag:calm', 'tag:sad')
    """
    check_nominal(nominal)
    table, taken = take_labels(read_plain(path, separator=separator, header=header), labels, path)
    X, attributes = features(table, path)
    own = attributes
    if header and attributes[0].name in ROW_NUMBERS:
        X, own = _without_row_numbers(X, attributes)
    X, names, kept = finished(X, own, nominal, path, (), "are the right columns named as labels?")
    left = {id(attribute) for attribute in kept}
    used = [k for k, attribute in enumerate(attributes) if id(attribute) in left]
    dropped = [attribute.name for attribute in attributes if id(attribute) not in left]
    categories = {
        attribute.name: attribute.values for attribute in kept if attribute.kind == "nominal"
    }
    words = [name for name, values in categories.items() if _is_arbitrary(values)]
    _warn(dropped, words, nominal, path)
    cells = table.select(used) if words or np.isnan(X).any() else None
    facts: dict[str, Any] = {
        "name": stem(path),
        "source": str(path),
        "dropped": tuple(dropped),
        "categories": categories,
    }
    return Dataset(X, taken.Y, names, taken.names, table=cells, **facts)


def features(
    table: pyarrow.Table, path: Path_, categories: Categories | None = None, size: int | None = None
) -> tuple[np.ndarray, list[Attribute]]:
    """X (n, d) and what its columns are: numbers, or text by the number of its value.

    With `categories` it is known which columns are text and what values they have: other values are
    refused, and so is text in
    other columns. `size` is that of the file in bytes, where `path` is no file.
    """
    n, d = table.num_rows, table.num_columns
    check_memory(8 * n * d, f"Room for {n} rows x {d} columns", path)
    X = np.empty((n, d))
    attributes = []
    for k, (name, column) in enumerate(zip(table.column_names, table.columns)):
        known = None if categories is None else categories.get(name, ())
        X[:, k], values = _coded(column, name, known, path, size)
        attributes.append(
            Attribute(name, "numeric") if values is None else Attribute(name, "nominal", values)
        )
    return X, attributes


def _coded(
    column: Any, name: str, known: tuple[str, ...] | None, path: Path_, size: int | None
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column as float64 (n,), NaN for gaps; and the values of its text, None where it holds numbers."""
    types = pyarrow_module("pyarrow.types")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_nested(kind):
        raise DataError(
            f"column {name[:60]!r} holds lists; name it as labels, or make a column for each item.",
            path=path,
        )
    if not (known or types.is_temporal(kind) or is_text(kind)):
        return arrow_cells(column), None
    codes, found = _distinct(column, path, size)
    filled = [value for value in found if value not in GAPS]
    if not known and (known is None or filled):
        try:
            return (
                np.array(
                    [np.nan if value in GAPS else number(value) for value in found] + [np.nan]
                )[codes],
                None,
            )
        except ValueError:
            if known is not None:
                row, value = _first(
                    codes, found, [value for value in filled if not _is_number(value)]
                )
                problem = f"{value[:40]!r} in column {name[:60]!r}, row {row}, which holds numbers"
                raise DataError(
                    f"{problem}; correct the cell, or leave it empty.", path=path
                ) from None
    values = known or tuple(sorted(set(filled)))
    unknown = [value for value in filled if value not in values] if known else []
    if unknown:  # giving it a number would not mean what the known ones mean
        row, value = _first(codes, found, unknown)
        raise DataError(
            f"{value[:40]!r} in column {name[:60]!r}, row {row}, which had the values"
            f" {shortened(values, 8)}; write one of these, or fit again with rows that have it.",
            path=path,
        )
    numbers = feature_codes(values)
    return (
        np.array([np.nan if value in GAPS else numbers[value] for value in found] + [np.nan])[
            codes
        ],
        values,
    )


def _distinct(column: Any, path: Path_, file_size: int | None) -> tuple[np.ndarray, list[str]]:
    """Position of the value of each cell (n,), -1 for null, and the values, stripped; two of them may be equal then."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    if not arrow.types.is_dictionary(column.type):
        column = (
            column if is_text(column.type) else column.cast(arrow.string())
        ).dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    codes = np.array(column.indices.fill_null(-1), dtype=np.int64)
    used, places = np.unique(codes, return_inverse=True)
    nulls = int(used.size > 0 and used[0] < 0)
    values = column.dictionary.take(arrow.array(used[nulls:]))
    size = VALUE_BYTES * len(values) + (compute.sum(compute.binary_length(values)).as_py() or 0)
    check_claimed_size(size, "the texts in its columns", path, size=file_size)
    return places - nulls, ["" if value is None else value.strip() for value in values.to_pylist()]


def _first(codes: np.ndarray, found: list[str], wrong: Collection[str]) -> tuple[int, str]:
    """Row, from 1, and value of the first cell that is among the wrong ones."""
    row = int(np.isin(codes, [k for k, value in enumerate(found) if value in set(wrong)]).argmax())
    return row + 1, found[codes[row]]


def _is_number(value: str) -> bool:
    try:
        number(value)
    except ValueError:
        return False
    return True


def write_table(dataset: Dataset, path: Path_, *, separator: str | None = None) -> None:
    """Write a CSV, TSV or Parquet file: features first, then labels, under their names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        ``.csv``, ``.tsv`` or ``.tab``, also compressed as ``.gz``; or ``.parquet``. The file
        appears whole or not at all.
    separator : str, optional
        One character between cells; by default by suffix.

    Warns
    -----
    UserWarning
        About what a table cannot hold: which columns are labels, sparse storage, and parts.
    """
    suffix = suffix_of(path, separator, "writes", (*SEPARATORS, *PARQUET))
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    lost += ["that X is sparse"] if sparse.issparse(dataset.X) else []
    lost += (
        ["train and test parts"] if dataset.train is not None or dataset.test is not None else []
    )
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        _write_parquet(dataset, path)
    else:
        write_lines(path, _lines(dataset, separator or SEPARATORS[suffix]))


def _lines(dataset: Dataset, separator: str) -> Iterator[str]:
    yield (
        separator.join(
            _quoted(plain_cell(name), separator)
            for name in (*dataset.feature_names, *dataset.label_names)
        )
        + "\n"
    )
    for start in range(0, dataset.n, WRITE_ROWS):
        X = dataset.X[start : start + WRITE_ROWS]
        for x, y in zip(
            X.toarray() if sparse.issparse(X) else X, dataset.Y[start : start + WRITE_ROWS]
        ):
            yield (
                separator.join(
                    [*(NEGATIVE_ZERO.get(cell, cell) for cell in numerals(x, "")), *numerals(y, "")]
                )
                + "\n"
            )


def _quoted(name: str, separator: str) -> str:
    if name and not re.search(r'["\s]', name) and separator not in name:
        return name
    return '"' + name.replace('"', '""') + '"'


def _write_parquet(dataset: Dataset, path: Path_) -> None:
    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    memory.require(
        8.0 * dataset.n * dataset.d,
        "A dense table of the features",
        "Write .arff or .svm instead, which hold sparse ones.",
    )
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    columns = [arrow.array(column) for column in X.T] + [
        arrow.array(column, arrow.int8(), from_pandas=True) for column in dataset.Y.T
    ]
    table = arrow.Table.from_arrays(columns, names=[*dataset.feature_names, *dataset.label_names])
    with whole_file(path) as file:
        parquet.write_table(table, file)


def _without_row_numbers(
    X: np.ndarray, attributes: list[Attribute]
) -> tuple[np.ndarray, list[Attribute]]:
    """X and its attributes without a first column that has no name and counts the rows, as data frames write it."""
    is_index = len(X) > 1 and (np.diff(X[:, 0]) == 1).all() and X[0, 0] in (0, 1)
    return (X[:, 1:], attributes[1:]) if is_index else (X, attributes)


def _is_arbitrary(values: tuple[str, ...]) -> bool:
    """Whether the numbers of these values are mere positions; those of yes and no, and of numerals, are not."""
    codes = feature_codes(values)
    words = {value.upper() for value in values}
    return not codes.by_number and not any(words <= set(meaning) for meaning in WORDS)


def _warn(dropped: list[str], coded: list[str], nominal: str, path: Path_) -> None:
    name = Path(path).name
    if dropped:
        warnings.warn(
            f"{name}: {shortened(dropped)} left out, as it only numbers or names the rows.",
            UserWarning,
            stacklevel=3,
        )
    if coded and nominal == "index":
        told = (
            f"text in {shortened(coded)} is numbered in the order of its sorted values; where that"
            " means nothing, make it a 0/1 column"
        )
        cure = (
            "for each value (nominal='onehot'; 'skcamel fit', 'skcamel study' and TablePreparer"
            " do so)"
        )
        warnings.warn(f"{name}: {told} {cure}.", UserWarning, stacklevel=3)
