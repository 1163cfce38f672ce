"""CSV, Parquet, spreadsheets and JSON lines ► columns of pyarrow, with cells as in the file.

What the cells mean is decided by :class:`skcamel.data.TablePreparer` alone; here only plain numbers
become a matrix.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import warnings
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from skcamel.arrays import dense
from skcamel.data import DataError, Path_, batches, cells, sheets, sources
from skcamel.data.dataset import Dataset, is_table
from skcamel.data.labels import LabelColumns, take_labels
from skcamel.files import whole_file
from skcamel.text import original_cell, plain_cell

arrow = sources.pyarrow_module()
arrow_csv = sources.pyarrow_module("pyarrow.csv")
compute = sources.pyarrow_module("pyarrow.compute")

BLOCK_BYTES, LARGEST_BLOCK = 2**20, 2**28  # of text that pyarrow parses at once; the longest row
SAMPLE_BYTES = 2**16  # from which the separator is found
ABSENT = "\x1f"  # a separator that no text has, for files of a single column
SEP_LINE = re.compile(rb'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)
JSON_PEAK = 20  # bytes of memory for each byte of JSON, as Python objects
MISSING, PLAIN = arrow.array(sorted(cells.MISSING_FEATURE)), f"^{cells.PLAIN.pattern}$"
ROW_NUMBERS = ("column1", "Unnamed: 0")  # what a first column without a name is called


def read_columns(path: Path_, *, separator: str | None = None, sheet: str | int = 0) -> Any:
    r"""Read any table file, its cells as they are: those of a CSV file are text.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.jsonl`` or ``.ndjson``, also compressed as ``.gz``;
        ``.parquet``, ``.pq``; ``.xlsx``, ``.xlsm``. ``"-"`` is standard input: CSV or JSON lines.
    separator : str, optional
        One character between the cells of a text file; by default it is found among comma,
        semicolon, tab and bar.
    sheet : str or int, default=0
        Name or number of the sheet of a spreadsheet.

    Returns
    -------
    pyarrow.Table
        Columns without a name are called ``columnN``, by their position from 1.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.csv")
    ...     _ = file.write_text("height;code;born\n1,5;007;2001-02-03\nNA;008;\n")
    ...     read_columns(file).to_pydict()
    {'height': ['1,5', 'NA'], 'code': ['007', '008'], 'born': ['2001-02-03', '']}
    """
    if separator is not None and not re.fullmatch(r'[^"\r\n]', separator, re.ASCII):
        raise ValueError(f"separator must be one ASCII character, got {separator!r}.")
    if str(path) == "-":
        content, path = sys.stdin.buffer.read(), sources.STDIN
        suffix = ".jsonl" if content[:1024].lstrip().startswith(b"{") else ".csv"
    else:
        suffix = ".csv" if separator else _known_suffix(path, sources.TABLES)
        if suffix in sources.PARQUET:
            return batches.read_parquet(path)
        content = sources.whole_content(path)
    try:
        if suffix in sources.SHEETS:
            table = _read_sheet(content, path, sheet)
        elif suffix in sources.JSON_LINES:
            table = _read_json_lines(content, path)
        else:
            table = _read_separated(content, path, separator)
    except (arrow.ArrowException, UnicodeEncodeError) as error:
        problem = f"cannot be read ({str(error)[:120]})"
        hint = "is a cell with the separator not quoted, or the file damaged?"
        raise DataError(f"{problem}; {hint}", path=path) from error
    if not table.num_rows:
        raise DataError("holds no row below the column names; is it truncated?", path=path)
    return table


def _known_suffix(path: Path_, known: Sequence[str]) -> str:
    """Suffix of a table; one that names no format is refused."""
    suffix = sources.suffix_of(path)
    if suffix not in known:
        listed = ", ".join(known)
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {listed}. (In Python, separator=…"
            " reads others.)"
        )
    return suffix


def _named(names: Sequence[str], path: Path_) -> list[str]:
    """Names of columns, ``columnN`` where one has none; equal ones are refused."""
    found = [name if name.strip() else f"column{k}" for k, name in enumerate(names, 1)]
    sources.check_different_labels(found, path, "columns")
    return found


# CSV


def _read_separated(content: bytes, path: Path_, separator: str | None) -> Any:
    content = sources.utf8(content, path)
    sep_line = SEP_LINE.match(content)
    if sep_line:
        content = b"\n" + content[sep_line.end() :]
        separator = separator or sep_line[1].decode()
    separator = separator or _separator(content, path)
    first = _first_record(content, separator, path)
    width = len(first)
    sources.check_claimed_size(
        batches.COLUMN_BYTES * width, f"{width} columns", path, size=len(content)
    )
    names = _named([original_cell(name) for name in first], path)
    return _parsed(content, separator, width).slice(1).rename_columns(names)


def _separator(content: bytes, path: Path_) -> str:
    """The separator by which most of the first records are as wide as the very first."""
    text = content[:SAMPLE_BYTES].decode(errors="ignore")
    sample = text.rpartition("\n")[0] or text
    usual = sources.SEPARATORS.get(sources.suffix_of(path), ",")
    agreement: dict[str, tuple[float, int]] = {}
    for separator in (usual, *",;\t|"):
        records = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
        widths = [len(record) for record in records if record] or [0]
        first = widths[0]
        if first > 1:
            agreement[separator] = (widths.count(first) / len(widths), first)
    return max(agreement, key=agreement.__getitem__, default=ABSENT)


def _first_record(content: bytes, separator: str, path: Path_) -> list[str]:
    """The first record; a quote that is left open is refused, as it would hold later rows."""
    may_be_open = content.count(b'"') % 2 == 1
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    records = csv.reader(lines, delimiter=separator, strict=may_be_open)
    first: list[str] = []
    line = 1
    try:
        for record in records:
            first = first or record
            if first and not may_be_open:
                break
            line = records.line_num + 1
    except csv.Error as error:
        problem = "a quote is left open; close the quotes of each cell and double those within"
        raise DataError(f"{problem} ({error}).", path=path, line=line) from None
    if not first:
        problem = "the first line must hold the column names; the file is empty."
        raise DataError(problem, path=path, line=1)
    return first


def _parsed(content: bytes, separator: str, width: int) -> Any:
    """All records as columns of text."""
    types = {f"f{k}": arrow.string() for k in range(width)}
    convert = arrow_csv.ConvertOptions(column_types=types, check_utf8=False)
    # without newlines in cells, threads begin at any line
    parse = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in content)

    def parsed(block_bytes: int, *, use_threads: bool) -> Any:
        size = min(block_bytes, len(content) + 1)
        how = arrow_csv.ReadOptions(
            autogenerate_column_names=True, block_size=size, use_threads=use_threads
        )
        return arrow_csv.read_csv(arrow.BufferReader(content), how, parse, convert)

    try:
        return parsed(BLOCK_BYTES, use_threads=True)
    except arrow.ArrowInvalid:  # a row that is longer than a block, or a wrong one
        return parsed(LARGEST_BLOCK, use_threads=False)  # then its number is known


# Spreadsheets and JSON lines


def _read_sheet(content: bytes, path: Path_, sheet: str | int) -> Any:
    """Columns of a sheet; rows and columns without any cell are left out."""
    rows = [row for row in sheets.sheet_rows(content, path, sheet) if set(row) != {None}]
    columns = [column for column in zip(*rows) if set(column) != {None}]
    if not columns:
        raise DataError("the sheet is empty; name another by sheet=.", path=path)
    names = [cells.as_text(column[0]).strip() for column in columns]
    return _table(names, [column[1:] for column in columns], path)


def _read_json_lines(content: bytes, path: Path_) -> Any:
    """Columns of a file with one JSON object in each line."""
    sources.check_memory(JSON_PEAK * len(content), "Reading it", path)
    rows: list[dict[str, Any]] = []
    for line, text in enumerate(sources.utf8(content, path).split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"is no JSON ({str(error)[:80]}).", path=path, line=line) from None
        if not isinstance(row, dict):
            problem = 'is no object; write one in each line, such as {"height": 1.5}.'
            raise DataError(problem, path=path, line=line)
        rows.append(row)
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    of_column = batches.COLUMN_BYTES + batches.CELL_BYTES * len(rows)
    size = f"{len(rows)} rows x {len(names)} columns"
    sources.check_claimed_size(of_column * len(names), size, path, size=len(content))
    columns = [[row.get(name) for row in rows] for name in names]
    return _table(names, columns, path)


def _table(names: Sequence[str], columns: Sequence[Sequence[Any]], path: Path_) -> Any:
    """A table of Python objects."""
    arrays = [_array(column) for column in columns]
    for name, array in zip(names, arrays):
        batches.check_cells(array, name, path)
    return arrow.Table.from_arrays(arrays, names=_named(names, path))


def _array(column: Sequence[Any]) -> Any:
    """A column of pyarrow from Python objects, None if missing; mixed cells become text."""
    try:
        return arrow.array(column)
    except (arrow.ArrowException, OverflowError):  # also integers that no column of numbers holds
        return arrow.array([_text(cell) for cell in column], arrow.string())


def _text(cell: Any) -> str | None:
    if isinstance(cell, (bool, list, dict)):
        return json.dumps(cell)
    return None if cell is None else cells.as_text(cell)


# Data sets


def read_table(path: Path_, *, labels: LabelColumns, separator: str | None = None) -> Dataset:
    r"""Read a table file.

    Parameters
    ----------
    path : str or path
        As in :func:`read_columns`; needs ``pip install 'skcamel[tables]'``.
    labels : str, list of str, int or list of int
        The label columns, as in :func:`take_labels`: ``"tags"``, ``"a,b"``, ``"topic_*"``, …
    separator : str, optional
        One character between cells; by default it is found among comma, semicolon, tab and bar.

    Returns
    -------
    Dataset
        Columns in the order of the file. Where all of them hold plain numbers, `X` is a matrix,
        NaN for empty cells and words such as ``NA``; a first column without a name that counts the
        rows is left out and listed in `dropped`. Otherwise `X` is a ``pyarrow.Table`` of the cells
        as the file has them, for :class:`TablePreparer`. Missing labels are NaN.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.csv")
    ...     _ = file.write_text("height,tag:calm,tag:sad\n1.5,1,0\n1.7,0,1\n")
    ...     read_table(file, labels="tag:*").label_names
    ('tag:calm', 'tag:sad')
    """
    table = read_columns(path, separator=separator)
    table, found = take_labels(table, labels, path)
    numbers, odd = numbers_of(table, path)
    X = table if odd else numbers
    dropped: tuple[str, ...] = ()
    if not odd and _counts_rows(numbers, table.column_names[0]):
        dropped = (table.column_names[0],)
        X, table = numbers[:, 1:], table.drop_columns(dropped[0])
        problem = f"{Path(path).name}: {dropped[0]!r} left out, as it only numbers the rows."
        warnings.warn(problem, UserWarning, stacklevel=2)
    needs_preparer = bool(odd) or bool(np.isnan(X).any())
    return Dataset(
        X,
        found.Y,
        table.column_names,
        found.names,
        name=sources.stem(path),
        source=str(path),
        dropped=dropped,
        table=table if needs_preparer else None,
    )


def _counts_rows(X: np.ndarray, name: str) -> bool:
    """Whether the first of several columns has no name, and counts the rows from 0 or 1."""
    if name not in ROW_NUMBERS or X.shape[1] < 2:
        return False
    numbers = X[:, 0]
    start = numbers[0]
    return start in (0, 1) and np.array_equal(numbers, start + np.arange(len(X)))


def numbers_of(table: Any, path: Path_) -> tuple[np.ndarray, str]:
    """The cells as a matrix (n, d), NaN if missing; and the first column with others, or ""."""
    sources.check_memory(8 * table.num_rows * table.num_columns, "A matrix of the numbers", path)
    X = np.empty((table.num_rows, table.num_columns))
    for k, name in enumerate(table.column_names):
        numbers = _numbers_at_once(table[name])
        if numbers is None:
            found = cells.Cells.of(table[name])
            of_values = None if found.declared else cells.plain(found.values)
            if of_values is None:
                return X, name
            numbers = of_values[found.codes]
        X[:, k] = numbers
    return X, ""


def _numbers_at_once(column: Any) -> Any:
    """The numbers of a column of texts that hold nothing else; None where cells decide."""
    if not batches.is_text(column.type):
        return None
    texts = compute.ascii_trim_whitespace(column)
    missing = compute.is_in(compute.ascii_lower(texts), value_set=MISSING)
    texts = compute.if_else(missing, None, texts)
    if not compute.all(compute.match_substring_regex(texts, PLAIN)).as_py():
        return None
    return texts.cast(arrow.float64())


def write_table(dataset: Dataset, path: Path_) -> None:
    """Write a CSV, TSV or Parquet file: features first, then labels, under their names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        ``.csv``, ``.tsv`` or ``.tab``, also compressed as ``.gz``; or ``.parquet``. The file
        appears whole or not at all.

    Warns
    -----
    UserWarning
        About what a table cannot hold: which columns are labels, sparse storage, and parts.
    """
    suffix = _known_suffix(path, (*sources.SEPARATORS, *sources.PARQUET))
    lost = f"which columns are labels (the last {dataset.q} here), sparse storage, and parts"
    warnings.warn(f"A table does not hold {lost}.", UserWarning, stacklevel=2)
    table = as_table(dataset, path)
    if suffix in sources.PARQUET:
        with whole_file(path) as file:
            sources.pyarrow_module("pyarrow.parquet").write_table(table, file)
        return
    options = arrow_csv.WriteOptions(delimiter=sources.SEPARATORS[suffix])
    names = [plain_cell(name) for name in table.column_names]  # no formulas for spreadsheets
    with sources.text_file(path) as file:
        arrow_csv.write_csv(table.rename_columns(names), file, options)


def as_table(dataset: Dataset, path: Path_) -> Any:
    """Features and labels of a data set as columns."""
    X = dataset.X
    if is_table(X):
        columns = X.columns
    else:
        sources.check_memory(16 * dataset.n * dataset.d, "A table of the features", path)
        columns = [arrow.array(column, from_pandas=True) for column in dense(X).T]
    labels = [arrow.array(column, arrow.int8(), from_pandas=True) for column in dataset.Y.T]
    names = [*dataset.feature_names, *dataset.label_names]
    return arrow.Table.from_arrays([*columns, *labels], names=names)
