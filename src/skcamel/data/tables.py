"""Table files ► cells as the file has them, in columns of pyarrow: CSV of any usual dialect, Parquet, spreadsheets, JSON lines.

What the cells mean is decided by :class:`skcamel.data.TablePreparer` alone; here only plain numbers become a matrix.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from skcamel.arrays import default_names, dense
from skcamel.data import DataError, Path_
from skcamel.data.cells import MISSING
from skcamel.data.dataset import Dataset, is_table
from skcamel.data.labels import LabelColumns, key_text, take_labels
from skcamel.data.sources import (
    JSON_LINES,
    PARQUET,
    SEPARATORS,
    SHEETS,
    STDIN,
    TABLES,
    check_claimed_size,
    check_memory,
    first_repeated,
    pyarrow_module,
    stem,
    suffix_of,
    text_file,
    utf8,
    whole_content,
)
from skcamel.files import whole_file
from skcamel.text import original_cell, plain_cell

if TYPE_CHECKING:
    import pyarrow

BLOCK_BYTES, LARGEST_BLOCK = 2**20, 2**28  # of text that pyarrow parses at once; the longest row
SAMPLE_BYTES, SAMPLE_RECORDS = 2**16, 50  # from which the separator is found
ABSENT = "\x1f"  # a separator that no text has, for files of a single column
SEP_LINE = re.compile(rb'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)
CODE = r"^[+-]?0[0-9xX]"  # 007 names something, as long as nobody says that it is a number
OPEN_QUOTE = "a quote is left open; close the quotes of each cell and double those within."
JSON_PEAK = 20  # bytes of memory for each byte of JSON, as Python objects
COLUMN_BYTES = 12_000  # of memory for one column, without its cells
CELL_BYTES = 10  # of a Parquet cell, with room to grow
WRITE_ROWS = 2**12  # made dense at once
ROW_NUMBERS = ("column1", "Unnamed: 0")  # what a first column without a name is called
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_columns(
    path: Path_, *, separator: str | None = None, header: bool = True, sheet: str | int = 0
) -> pyarrow.Table:
    r"""Read any table file, its cells as they are: those of a CSV file are text.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.jsonl`` or ``.ndjson``, also compressed as ``.gz``;
        ``.parquet``, ``.pq``; ``.xlsx``, ``.xlsm``. ``"-"`` is standard input: CSV, JSON lines,
        Parquet or a spreadsheet, as its first bytes say.
    separator : str, optional
        One character between the cells of a text file; by default it is found among comma,
        semicolon, tab and bar.
    header : bool, default=True
        Whether the first line holds the column names.
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
        content, path = sys.stdin.buffer.read(), STDIN
        suffix = _suffix_of_content(content)
    else:
        suffix, content = _known_suffix(path, separator, TABLES), whole_content(path)
    arrow = pyarrow_module()
    try:
        if suffix in PARQUET:
            table = _read_parquet(content, path)
        elif suffix in SHEETS:
            table = _read_sheet(content, path, header, sheet)
        elif suffix in JSON_LINES:
            table = _read_json_lines(content, path)
        else:
            table = _read_separated(content, path, separator, header)
    except (arrow.ArrowException, UnicodeEncodeError) as error:
        raise DataError(
            f"cannot be read ({str(error)[:120]}); is it damaged, or another kind of file?",
            path=path,
        ) from error
    if not table.num_rows:
        raise DataError("holds no row.", path=path)
    return table


def _known_suffix(path: Path_, separator: str | None, known: Sequence[str]) -> str:
    """Suffix of a table; one that names no format is refused unless a separator is given."""
    suffix = suffix_of(path)
    if separator is not None:
        return ".csv"
    if suffix not in known:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join(known)}. (In Python,"
            " separator=… takes others.)"
        )
    return suffix


def _suffix_of_content(content: bytes) -> str:
    """Suffix that a file of this content would have."""
    for start, suffix in ((b"PAR1", ".parquet"), (b"PK\x03\x04", ".xlsx")):
        if content.startswith(start):
            return suffix
    return ".jsonl" if content[:1024].lstrip().startswith(b"{") else ".csv"


def named(names: Sequence[str], path: Path_, line: int | None = None) -> list[str]:
    """Names of columns, ``columnN`` where one has none; equal ones are refused."""
    found = [name if name.strip() else f"column{k}" for k, name in enumerate(names, 1)]
    twice = first_repeated(found)
    if twice is not None:
        problem = f"two columns are called {twice[:60]!r}; rename one, or add a line of names."
        raise DataError(problem, path=path, line=line)
    return found


def _check_width(width: int, content: bytes, path: Path_) -> None:
    check_claimed_size(COLUMN_BYTES * width, f"{width} columns", path, size=len(content))


# CSV


def _read_separated(
    content: bytes, path: Path_, separator: str | None, header: bool
) -> pyarrow.Table:
    content = utf8(content, path)
    sep_line = SEP_LINE.match(content)
    if sep_line:
        content = b"\n" + content[sep_line.end() :]
        separator = separator or sep_line[1].decode()
    separator = separator or _separator(content, path)
    first = _first_record(content, separator, path)
    _check_width(len(first), content, path)
    table = _cells(content, separator, len(first), path)
    _check_last_quote(content, table, path)
    if not header:
        return table.rename_columns(default_names("column", len(first)))
    table = table.slice(1)
    if not table.num_rows:
        problem = "no row follows the column names; the file is empty or cut short."
        raise DataError(problem, path=path, line=_line(content, len(content)))
    table = table.rename_columns(named([original_cell(name) for name in first], path, 1))
    compute = pyarrow_module("pyarrow.compute")
    if first[1:] and not first[-1].strip() and compute.all(compute.equal(table[-1], "")).as_py():
        return table.select(table.column_names[:-1])  # each line merely ends in a separator
    return table


def _line(content: bytes, place: int) -> int:
    """Number of the line at a place, from 1."""
    return content.count(b"\n", 0, place) + 1


def _separator(content: bytes, path: Path_) -> str:
    """The separator by which most of the first records have the width of the first one, above one cell."""
    sample = content[:SAMPLE_BYTES].decode(errors="ignore")
    if len(content) > SAMPLE_BYTES and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    best, most = ABSENT, 0.0
    for separator in (SEPARATORS.get(suffix_of(path), ","), *",;\t|"):
        share = _agreement(sample, separator)
        if share > most:
            best, most = separator, share
    return best


def _agreement(sample: str, separator: str) -> float:
    """The share of records of the commonest width, and 1 more where the first one has it; 0 for a single cell."""
    widths: list[int] = []
    with suppress(csv.Error):  # what was read until then counts
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            widths += [len(record)] if record else []
    width, times = Counter(widths[:SAMPLE_RECORDS]).most_common(1)[0] if widths else (0, 0)
    if width < 2:
        return 0.0
    return times / min(len(widths), SAMPLE_RECORDS) + (widths[0] == width)


def _first_record(content: bytes, separator: str, path: Path_) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    try:
        for record in csv.reader(lines, delimiter=separator, strict=True):
            if record:
                return record
    except csv.Error as error:
        raise DataError(f"{error}; {OPEN_QUOTE}", path=path, line=1) from None
    problem = "the first line must hold the column names; the file is empty."
    raise DataError(problem, path=path, line=1)


def _cells(content: bytes, separator: str, width: int, path: Path_) -> pyarrow.Table:
    """All records as columns of text."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    types = {f"f{k}": arrow.string() for k in range(width)}
    convert = reader.ConvertOptions(column_types=types, check_utf8=False)
    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    problem = ""
    for block in (BLOCK_BYTES, min(len(content) + 1, LARGEST_BLOCK)):
        first = block == BLOCK_BYTES
        how = reader.ReadOptions(
            autogenerate_column_names=True, block_size=block, use_threads=first
        )
        parse = reader.ParseOptions(
            delimiter=separator,
            newlines_in_values=b'"' in content,  # without, threads begin at any line
            invalid_row_handler=None if first else note,
        )
        try:
            return reader.read_csv(arrow.BufferReader(content), how, parse, convert)
        except arrow.ArrowInvalid as error:  # a wrong row, or one that is longer than a block
            problem = str(error)
    if wrong:
        raise _ragged(wrong[0], content, path)
    if "straddl" in problem:
        problem = f"a row is longer than {LARGEST_BLOCK >> 20} MiB; is a quote left open?"
    raise DataError(problem[:200], path=path)


def _ragged(row: Any, content: bytes, path: Path_) -> DataError:
    """Refuse a row that has more or fewer cells than the first one."""
    start = row.text.encode()[:SAMPLE_BYTES]
    end = rb"\r?$" if len(start) < SAMPLE_BYTES else b""
    place = re.compile(rb"^" + re.escape(start) + end, re.MULTILINE).search(content)
    problem = (
        f"{row.actual_columns} cells, the first line has {row.expected_columns}; is a cell with the"
        " separator not quoted?"
    )
    if row.text.count('"') % 2:
        problem = OPEN_QUOTE
    return DataError(problem, path=path, line=_line(content, place.start()) if place else None)


def _check_last_quote(content: bytes, table: pyarrow.Table, path: Path_) -> None:
    """Refuse a last cell whose quotes are not closed: it would hold all the rows behind them."""
    if content.count(b'"') % 2 == 0:
        return
    cell = table.column(table.num_columns - 1)[-1].as_py().rstrip("\r\n")
    end = content.rstrip(b"\r\n")
    before = end.removesuffix(cell.replace('"', '""').encode())
    if before.endswith(b'"') and not (cell == "" and before.endswith(b'""')):
        raise DataError(OPEN_QUOTE, path=path, line=_line(content, len(before)))


# Parquet


@contextmanager
def open_parquet(source: Any, path: Path_, size: int) -> Iterator[Any]:
    """Open a Parquet file of `size` bytes; equal texts are read once. Damage becomes a DataError, also that found later."""
    arrow, parquet = pyarrow_module(), pyarrow_module("pyarrow.parquet")
    most = {"thrift_container_size_limit": max(size, 1), "thrift_string_size_limit": max(size, 1)}
    try:
        with parquet.ParquetFile(source, **most) as file:
            schema = file.schema_arrow
        what = f"{len(schema)} columns"
        check_claimed_size(COLUMN_BYTES * len(schema), what, path, size=size)
        named(schema.names, path)
        texts = [field.name for field in schema if is_text(field.type)]
        with parquet.ParquetFile(source, read_dictionary=texts, **most) as file:
            yield file
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise damaged_parquet(error, path) from error


def damaged_parquet(error: Exception, path: Path_) -> DataError:
    """The refusal of a Parquet file that cannot be read."""
    problem = f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again."
    return DataError(problem, path=path)


def declared_bytes(file: Any) -> dict[float, str]:
    """What all of a Parquet file takes at the peak, as it declares: the cells, and what is unpacked."""
    declared, width = file.metadata, len(file.schema_arrow)
    unpacked = sum(declared.row_group(k).total_byte_size for k in range(declared.num_row_groups))
    return {
        CELL_BYTES * declared.num_rows * width: f"{declared.num_rows} rows x {width} columns",
        2 * unpacked: f"{unpacked} unpacked bytes",
    }


def _read_parquet(content: bytes, path: Path_) -> pyarrow.Table:
    source = pyarrow_module().py_buffer(content)
    with open_parquet(source, path, len(content)) as file:
        for needed, what in declared_bytes(file).items():
            check_claimed_size(needed, what, path, size=len(content))
        return plain_columns(file.read(), path, len(content))


def plain_columns(table: pyarrow.Table, path: Path_, size: int) -> pyarrow.Table:
    """Columns of a Parquet file of `size` bytes, without dictionaries of texts and without the index of pandas."""
    columns = {
        name: _plain_column(column, name, path, size)
        for name, column in zip(table.column_names, table.columns)
        if not PANDAS_INDEX.fullmatch(name)
    }
    return pyarrow_module().table(columns)


def _plain_column(column: Any, name: str, path: Path_, size: int) -> Any:
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    types, kind = arrow.types, column.type
    if types.is_dictionary(kind) and (is_text(kind.value_type) or _is_bytes(kind.value_type)):
        lengths = [
            compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks
        ]
        needed = 2 * sum(compute.sum(part).as_py() or 0 for part in lengths)
        check_claimed_size(needed, f"the texts of {name[:60]!r}", path, size=size)
        column, kind = column.cast(kind.value_type), kind.value_type
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if types.is_nested(kind.value_type if is_list else kind):
        raise DataError(
            f"column {name[:60]!r} holds {str(kind)[:60]}; give each of its parts a column of its"
            " own.",
            path=path,
        )
    if not _is_bytes(kind):
        return column
    try:
        return column.cast(arrow.string())
    except arrow.ArrowInvalid:
        problem = f"column {name[:60]!r} holds bytes that are no text; remove it."
        raise DataError(problem, path=path) from None


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is one of texts."""
    return str(kind) in ("string", "large_string", "string_view")


def _is_bytes(kind: Any) -> bool:
    return "binary" in str(kind)


# Spreadsheets and JSON lines


def _read_sheet(content: bytes, path: Path_, header: bool, sheet: str | int) -> pyarrow.Table:
    """Columns of a sheet; rows and columns without any cell are left out."""
    from skcamel.data.sheets import sheet_rows

    rows = [row for row in sheet_rows(content, path, sheet) if any(cell != "" for cell in row)]
    columns = [column for column in zip(*rows) if any(cell != "" for cell in column)]
    if not columns:
        raise DataError("the sheet is empty; name another by sheet=.", path=path)
    names: Sequence[str] = default_names("column", len(columns))
    if header:
        names = named([key_text(column[0]) for column in columns], path)
        columns = [column[1:] for column in columns]
    arrays = [array_of([None if cell == "" else cell for cell in column]) for column in columns]
    return pyarrow_module().Table.from_arrays(arrays, names=list(names))


def _read_json_lines(content: bytes, path: Path_) -> pyarrow.Table:
    """Columns of a file with one JSON object in each line."""
    check_memory(JSON_PEAK * len(content), "Reading it", path)
    rows: list[dict[str, Any]] = []
    for line, text in enumerate(utf8(content, path).split(b"\n"), 1):
        if text.strip():
            rows.append(_json_object(text, path, line))
    keys = list(dict.fromkeys(key for row in rows for key in row))
    _check_width(len(keys), content, path)
    cells = f"{len(rows)} rows x {len(keys)} columns"
    check_claimed_size(16 * len(rows) * len(keys), cells, path, size=len(content))
    arrays = [array_of([row.get(key) for row in rows]) for key in keys]
    return pyarrow_module().Table.from_arrays(arrays, names=named(keys, path))


def _json_object(text: bytes, path: Path_, line: int) -> dict[str, Any]:
    """A row whose values are cells or lists of cells."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"is no JSON ({str(error)[:80]}); write one object in each line."
        raise DataError(problem, path=path, line=line) from None
    if not isinstance(row, dict):
        problem = f"holds {str(row)[:40]!r}; write one object in each line"
        raise DataError(f'{problem}, such as {{"height": 1.5}}.', path=path, line=line)
    for key, value in row.items():
        items = value if isinstance(value, list) else ()
        if any(isinstance(item, (dict, list)) for item in items) or isinstance(value, dict):
            problem = (
                f"{key[:60]!r} holds an object or a list of lists; give each of its parts a key of"
                " its own."
            )
            raise DataError(problem, path=path, line=line)
    return row


def array_of(cells: Sequence[Any]) -> Any:
    """A column of pyarrow from Python objects, None for missing ones; cells of several kinds become text."""
    arrow = pyarrow_module()
    kinds = {type(cell) for cell in cells if cell is not None}
    try:
        if kinds == {int, float}:
            return arrow.array([None if cell is None else float(cell) for cell in cells])
        if kinds == {datetime.date, datetime.datetime}:
            return arrow.array(cells, arrow.timestamp("us"))
        if len(kinds) <= 1:
            return arrow.array(cells)
    except (arrow.ArrowException, OverflowError):
        pass  # lists of several kinds, and integers that no column of numbers holds
    texts = [None if cell is None else _cell_text(cell) for cell in cells]
    return arrow.array(texts, arrow.string())


def _cell_text(cell: object) -> str:
    """Text of a cell beside cells of another kind."""
    return json.dumps(cell) if isinstance(cell, (bool, list)) else key_text(cell)


# Data sets


def read_table(
    path: Path_, *, labels: LabelColumns, separator: str | None = None, header: bool = True
) -> Dataset:
    r"""Read a table file.

    Parameters
    ----------
    path : str or path
        As in :func:`read_columns`; needs ``pip install skcamel[tables]``.
    labels : str, list of str, int or list of int
        The label columns, as in :func:`take_labels`: ``"tags"``, ``"a,b"``, ``"topic_*"``, …
    separator : str, optional
        One character between cells; by default it is found among comma, semicolon, tab and bar.
    header : bool, default=True
        Whether the first line holds the column names.

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
    table = read_columns(path, separator=separator, header=header)
    table, found = take_labels(table, labels, path)
    X = numbers_of(table, path)
    dropped: list[str] = table.column_names[:1]
    if X is None or dropped[0] not in ROW_NUMBERS or not header or not _counts_rows(X):
        dropped = []
    else:
        X, table = X[:, 1:], table.drop_columns(dropped)
        problem = f"{Path(path).name}: {dropped[0]!r} left out, as it only numbers the rows."
        warnings.warn(problem, UserWarning, stacklevel=2)
    needs_preparer = X is None or bool(np.isnan(X).any())
    return Dataset(
        table if X is None else X,
        found.Y,
        table.column_names,
        found.names,
        name=stem(path),
        source=str(path),
        dropped=tuple(dropped),
        table=table if needs_preparer else None,
    )


def _counts_rows(X: np.ndarray) -> bool:
    """Whether the first of several columns counts the rows from 0 or 1."""
    first = X[:, 0]
    return (
        X.shape[1] > 1
        and first[0] in (0, 1)
        and bool((first == first[0] + np.arange(len(X))).all())
    )


def numbers_of(table: pyarrow.Table, path: Path_) -> np.ndarray | None:
    """The cells as a matrix (n, d) where all are plain numbers or missing, else None."""
    check_memory(8 * table.num_rows * table.num_columns, "A matrix of the numbers", path)
    X = np.empty((table.num_rows, table.num_columns))
    for k, column in enumerate(table.columns):
        numbers = column_numbers(column)
        if numbers is None:
            return None
        X[:, k] = numbers
    return X


def column_numbers(column: Any) -> np.ndarray | None:
    """The cells of a column as float64 (n,), NaN for missing ones; None where one is no plain number."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    types, kind = arrow.types, column.type
    if is_text(kind):
        column = compute.utf8_trim_whitespace(column)
        missing = compute.is_in(compute.utf8_lower(column), value_set=arrow.array(list(MISSING)))
        column = compute.if_else(missing, None, column)
        if compute.any(compute.match_substring_regex(column, CODE)).as_py():
            return None
    elif types.is_boolean(kind):
        column = column.cast(arrow.int8())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return np.full(len(column), np.nan) if types.is_null(kind) else None
    try:
        return np.array(column.cast(arrow.float64(), safe=False), dtype=np.float64)
    except arrow.ArrowInvalid:
        return None


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
    suffix = _known_suffix(path, separator, (*SEPARATORS, *PARQUET))
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    if sparse.issparse(dataset.X):
        lost.append("that X is sparse")
    if dataset.train is not None or dataset.test is not None:
        lost.append("train and test parts")
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        table = pyarrow_module().concat_tables(_parts(dataset))
        with whole_file(path) as file:
            pyarrow_module("pyarrow.parquet").write_table(table, file)
    else:
        with text_file(path) as file:
            _write_separated(dataset, file, separator or SEPARATORS[suffix])


def _write_separated(dataset: Dataset, file: Any, separator: str) -> None:
    """Write rows as text, under names that no spreadsheet takes for a formula."""
    writer, parts = pyarrow_module("pyarrow.csv"), _parts(dataset)
    first = next(parts)
    head = first.rename_columns([plain_cell(name) for name in first.column_names])
    options = writer.WriteOptions(delimiter=separator)
    with writer.CSVWriter(file, head.schema, write_options=options) as written:
        written.write_table(head)
        for part in parts:
            written.write_table(part.rename_columns(head.column_names))


def _parts(dataset: Dataset) -> Iterator[pyarrow.Table]:
    """Features and labels of some rows after the other as columns."""
    arrow, X = pyarrow_module(), dataset.X
    names = [*dataset.feature_names, *dataset.label_names]
    kind = arrow.int8()
    for start in range(0, max(dataset.n, 1), WRITE_ROWS):
        rows = slice(start, start + WRITE_ROWS)
        if is_table(X):
            columns = X.slice(start, WRITE_ROWS).columns
        else:
            columns = [arrow.array(column, from_pandas=True) for column in dense(X[rows]).T]
        labels = [arrow.array(column, kind, from_pandas=True) for column in dataset.Y[rows].T]
        yield arrow.Table.from_arrays([*columns, *labels], names=names)
