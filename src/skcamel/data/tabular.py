"""Tables: CSV, TSV and Parquet, with label columns by name, prefix, position or count."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.data.arff_header import NUMERAL
from skcamel.data.dataset import Dataset, default_names
from skcamel.data.decimals import numbers
from skcamel.data.errors import DataError
from skcamel.data.table_rows import Columns, TableRows
from skcamel.data.text import Block, LineFile, Path_, decoded, numerals, open_lines, shortened, stem, write_lines
from skcamel.files import whole_file

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
LONGEST_RECORD = 2**24  # bytes of one row whose quotes span lines
WRITE_ROWS = 256  # rows made dense at once
BATCH_CELLS = 2**18  # of a Parquet file
NEW_LINE = ord("\n")

Labels = str | int | Sequence[str] | Sequence[int]
Start = Callable[[Sequence[str], bool], TableRows]


def read_table(path: Path_, *, labels: Labels, separator: str | None = None, header: bool = True, nominal: str = "index") -> Dataset:
    r"""Read a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv`` or ``.tab``, also compressed as ``.gz``; or ``.parquet``, which needs ``pip install skcamel[parquet]``.
    labels : list of str, str, int or list of int
        The label columns: their names; a prefix of their names; how many of the last columns, or of the first where negative; or
        their positions, from 0.
    separator : str, optional
        One character between cells; by default a comma, or a tab in ``.tsv`` and ``.tab``. A ``.csv`` whose first line has semicolons and
        no comma is separated by them, and commas in its numbers are decimal ones.
    header : bool, default=True
        Whether the first line holds the column names.
    nominal : {"index", "onehot"}, default="index"
        Text columns become one column (YES/NO and TRUE/FALSE as 1/0, else the position among the sorted values), or with "onehot" one
        0/1 column for each of three or more values.

    Returns
    -------
    Dataset
        Columns in the order of the file. Empty cells, ``?``, ``NA`` and ``nan`` are NaN in features and refused in labels. Text columns
        with one value per row identify rows, and a first column without a name that counts from 0 or 1 numbers them: they are left
        out and listed in `dropped`. The values of other text columns are in `categories`.

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
    if nominal not in ("index", "onehot"):
        raise ValueError(f"nominal must be one of index, onehot, got {nominal!r}.")

    def start(names: Sequence[str], decimal_comma: bool) -> TableRows:
        return TableRows(names, label_columns(names, labels, path), path, decimal_comma=decimal_comma)

    X, Y, feature_names, label_names, dropped, categories = read_rows(path, start, separator=separator, header=header).finish(nominal)
    return Dataset(X, Y, feature_names, label_names, name=stem(path), source=str(path), dropped=dropped, categories=categories)


def read_rows(path: Path_, start: Start, *, separator: str | None = None, header: bool = True) -> TableRows:
    """Read all rows of a table into what `start` makes of the column names and of whether commas are decimal ones."""
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix in PARQUET:
        return _read_parquet(Path(path), start)
    if separator is None and suffix not in SEPARATORS:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join([*SEPARATORS, *PARQUET])}. (In Python, separator=… reads others.)"
        )
    return _read_separated(path, start, separator, header)


def label_columns(names: Sequence[str], labels: Labels, path: Path_) -> np.ndarray:
    """Which columns are labels, as a mask.

    Examples
    --------
    >>> label_columns(["a", "b", "c"], 1, "t.csv"), label_columns(["a", "b", "c"], ["b"], "t.csv")
    (array([False, False,  True]), array([False,  True, False]))
    """
    width = len(names)
    positions = _positions(names, labels, path)
    wrong = [position for position in positions if not 0 <= position < width]
    if wrong or not 0 < len(positions) < width:
        asked = f"position {wrong[0]}" if wrong else f"{len(positions)} labels"
        raise DataError(
            f"{str(labels)[:60]!r} as labels asks for {asked}, the table has {width} columns; leave at least one feature.", path=path
        )
    mask = np.zeros(width, dtype=bool)
    mask[positions] = True
    return mask


def _positions(names: Sequence[str], labels: Labels, path: Path_) -> list[int]:
    if isinstance(labels, str):
        found = [position for position, name in enumerate(names) if name.startswith(labels)]
        if not found:
            raise DataError(f"no column begins with {labels!r}; the columns are {shortened(names)}.", path=path)
        return found
    if isinstance(labels, int | np.integer):
        count = min(abs(int(labels)), len(names))
        return list(range(len(names) - count, len(names)) if labels > 0 else range(count))
    wanted = list(labels)
    absent = [name for name in wanted if isinstance(name, str) and name not in names]
    if absent:
        raise DataError(f"no column is called {shortened(absent)}; the columns are {shortened(names)}.", path=path)
    twice = [name for name in wanted if isinstance(name, str) and list(names).count(name) > 1]
    if twice:
        raise DataError(f"two columns are called {twice[0]!r}; name labels by position instead.", path=path)
    return [list(names).index(label) if isinstance(label, str) else int(label) for label in wanted]


def _read_separated(path: Path_, start: Start, separator: str | None, header: bool) -> TableRows:
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ValueError(f"separator must be one ASCII character, got {separator!r}.")
    rows = None
    with open_lines(path) as file:
        text = _first_record(file) if header else ""
        separator = separator or _separator(path, text)
        names = _header(file, text, separator) if header else None
        for block in _records(file):
            if not block.lines:
                continue
            if names is None:
                first = next(csv.reader([decoded(block.text[: block.text.index(b"\n")])], delimiter=separator))
                names = default_names("column", len(first))
            rows = rows or start(names, separator == ";")
            _add(block, rows, separator, file)
        if rows is None:
            raise file.error("no row follows the column names; the file is empty or cut short.")
    return rows


def _first_record(file: LineFile) -> str:
    text = file.readline()
    while text.count(b'"') % 2 and len(text) < LONGEST_RECORD and (line := file.readline()):
        text += line
    return decoded(text).rstrip("\r\n")


def _separator(path: Path_, first: str) -> str:
    """By suffix; a .csv without any comma in its first line may have semicolons, as spreadsheets of many countries write them."""
    by_suffix = SEPARATORS[Path(str(path).removesuffix(".gz")).suffix.lower()]
    outside_quotes = re.sub(r'"[^"]*"', "", first)
    return ";" if by_suffix == "," and "," not in outside_quotes and ";" in outside_quotes else by_suffix


def _header(file: LineFile, text: str, separator: str) -> tuple[str, ...]:
    names = _cells(text, separator, file, 1)
    if len(names) != 1:
        raise file.error("the first line must hold the column names, in one record; is a quote left open?")
    if len(set(names[0])) < len(names[0]) and all(NUMERAL.fullmatch(name) for name in names[0]):
        raise file.error("the first line holds numbers, not column names; add a line of names. (In Python, header=False does without.)")
    return tuple(names[0])


def _records(file: LineFile) -> Iterator[Block]:
    """Blocks that no quoted cell crosses."""
    text, lines = b"", range(0)
    for block in file.blocks():
        text, lines = (text + block.text, [*lines, *block.lines]) if text else block
        if text.count(b'"') % 2 and len(text) < LONGEST_RECORD:
            continue
        yield Block(text, lines)
        text = b""
    if text:
        yield Block(text, lines)


def _cells(text: str, separator: str, file: LineFile, line: int) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return list(reader)
    except csv.Error as error:
        raise file.error(f"{error}; close the quotes of each cell and double those within.", line + max(reader.line_num - 1, 0)) from None


def _add(block: Block, rows: TableRows, separator: str, file: LineFile) -> None:
    """Read a block: at once where all its cells are numbers, else cell by cell."""
    width = len(rows.names)
    if rows.only_numbers and b'"' not in block.text:
        text = block.text.replace(b",", b".") if rows.decimal_comma else block.text
        parsed = numbers(text, separator.encode() + b"\n")
        if parsed is not None and parsed.values.size == width * len(block.lines):
            row_ends = np.flatnonzero(parsed.ends == NEW_LINE)
            if (np.diff(row_ends, prepend=-1) == width).all():
                rows.add(parsed.values.reshape(-1, width), block.lines)
                return
    records = _cells(decoded(block.text), separator, file, block.lines[0])
    lines = block.lines if len(records) == len(block.lines) else [block.lines[0]] * len(records)  # quoted line feeds: the first line
    for record, line in zip(records, lines):
        if len(record) != width:
            raise file.error(f"{len(record)} cells, the first line has {width}; is a cell with the separator not quoted?", line)
    rows.add_text(records, lines)


def _read_parquet(path: Path, start: Start) -> TableRows:
    parquet, arrow = pyarrow()
    with path.open("rb"):  # a missing file is no damage
        pass
    try:
        with parquet.ParquetFile(path) as file:
            names = [str(name) for name in file.schema_arrow.names]
            rows = start(names, False)
            used = rows.is_label | rows.is_feature
            first = 1
            for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // max(1, len(names)))):
                columns = [_values(column, arrow) if use else [] for column, use in zip(batch.columns, used, strict=True)]
                rows.add_columns(columns, range(first, first + batch.num_rows))
                first += batch.num_rows
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise DataError(f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.", path=path) from error
    if first == 1:
        raise DataError("holds no row.", path=path)
    return rows


def _values(column: Any, arrow: Any) -> Columns:
    """One column as numbers, with NaN for null, or as text."""
    types = arrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_boolean(column.type):
        column = column.cast(arrow.int8())
    if types.is_integer(column.type) or types.is_floating(column.type):
        return column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_null(column.type):
        return ["" if value is None else value for value in column.to_pylist()]
    raise arrow.ArrowInvalid(f"a column of type {column.type}; convert it to numbers or text")


def pyarrow() -> tuple[Any, Any]:
    """Import the modules ``pyarrow.parquet`` and ``pyarrow``, or say how to get them."""
    try:
        return import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install skcamel[parquet]") from None


def write_table(dataset: Dataset, path: Path_, *, separator: str | None = None) -> None:
    """Write a CSV, TSV or Parquet file: features first, then labels, under their names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        As in :func:`read_table`. The file appears whole or not at all.
    separator : str, optional
        One character between cells; by default by suffix.

    Warns
    -----
    UserWarning
        About what a table cannot hold: which columns are labels, sparse storage, and parts.
    """
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix not in PARQUET and separator is None and suffix not in SEPARATORS:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join([*SEPARATORS, *PARQUET])}. (In Python, separator=… writes others.)"
        )
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    lost += ["that X is sparse"] if sparse.issparse(dataset.X) else []
    lost += ["train and test parts"] if dataset.train is not None or dataset.test is not None else []
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        _write_parquet(dataset, path)
    else:
        write_lines(path, _lines(dataset, separator or SEPARATORS[suffix]))


def _write_parquet(dataset: Dataset, path: Path_) -> None:
    parquet, arrow = pyarrow()
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    columns = [arrow.array(column) for column in X.T] + [arrow.array(column) for column in dataset.Y.T.astype(np.int8)]
    table = arrow.Table.from_arrays(columns, names=[*dataset.feature_names, *dataset.label_names])
    with whole_file(path) as file:
        parquet.write_table(table, file)


def _lines(dataset: Dataset, separator: str) -> Iterator[str]:
    yield separator.join(_quoted(name, separator) for name in (*dataset.feature_names, *dataset.label_names)) + "\n"
    for start in range(0, dataset.n, WRITE_ROWS):
        X = dataset.X[start : start + WRITE_ROWS]
        for x, y in zip(X.toarray() if sparse.issparse(X) else X, dataset.Y[start : start + WRITE_ROWS]):
            yield separator.join([*numerals(x, ""), *map(str, y.tolist())]) + "\n"


def _quoted(name: str, separator: str) -> str:
    if name and not re.search(r'["\s]', name) and separator not in name:
        return name
    return '"' + name.replace('"', '""') + '"'
