"""Table files ► cells as the file has them, in columns of pyarrow: CSV of any usual dialect, Parquet, spreadsheets, JSON lines.

What the cells mean is decided by :class:`skcamel.data.TablePreparer` alone; here only plain numbers become a matrix.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import default_names
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
    pyarrow_module,
    suffix_of,
    utf8,
    whole_content,
)
from skcamel.data.text import (
    check_claimed_size,
    check_memory,
    first_repeated,
    shortened,
    stem,
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
        content, source = sys.stdin.buffer.read(), STDIN
        suffix = _suffix_of_content(content)
    else:
        suffix, source = _known_suffix(path, separator, TABLES), path
        content = whole_content(path)
    return read_content(content, source, suffix, separator=separator, header=header, sheet=sheet)


def read_content(
    content: bytes,
    source: Path_,
    suffix: str = ".csv",
    *,
    separator: str | None = None,
    header: bool = True,
    sheet: str | int = 0,
) -> pyarrow.Table:
    r"""Read a table that is in memory, as the file of a suffix would be; errors call it `source`.

    Examples
    --------
    >>> read_content(b"height;code\n1,5;007\n", "the request").to_pydict()
    {'height': ['1,5'], 'code': ['007']}
    """
    arrow = pyarrow_module()
    try:
        if suffix in PARQUET:
            table = _read_parquet(content, source)
        elif suffix in SHEETS:
            table = _read_sheet(content, source, header, sheet)
        elif suffix in JSON_LINES:
            table = _read_json_lines(content, source)
        else:
            table = _read_separated(content, source, separator, header)
    except (arrow.ArrowException, UnicodeEncodeError) as error:
        raise DataError(
            f"cannot be read ({str(error)[:120]}); is it damaged, or another kind of file?",
            path=source,
        ) from error
    if not table.num_rows:
        raise DataError("holds no row.", path=source)
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
    if content.startswith(b"PAR1"):
        return ".parquet"
    if content.startswith(b"PK\x03\x04"):
        return ".xlsx"
    return ".jsonl" if content[:1024].lstrip().startswith(b"{") else ".csv"


def named(names: Sequence[str], path: Path_, line: int | None = None) -> list[str]:
    """Names of columns, ``columnN`` where one has none; equal ones are refused."""
    found = [name if name.strip() else f"column{k}" for k, name in enumerate(names, 1)]
    twice = first_repeated(found)
    if twice is not None:
        raise DataError(f"two columns are called {twice[:60]!r}; rename one.", path=path, line=line)
    return found


def _check_width(width: int, content: bytes, path: Path_) -> None:
    check_claimed_size(COLUMN_BYTES * width, f"{width} columns", path, size=len(content))


# CSV


class _Text(NamedTuple):
    """A text file in UTF-8, and how it is written."""

    content: bytes
    start: int  # of the rows and their header, behind a line such as "sep=;"
    separator: str
    path: Path_

    def line(self, place: int) -> int:
        """Number of the line at a place, from 1."""
        return self.content.count(b"\n", 0, place) + 1

    def records(self) -> Iterator[list[str]]:
        """Records that are not blank."""
        stream = io.BytesIO(self.content)
        stream.seek(self.start)
        lines = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield from filter(None, csv.reader(lines, delimiter=self.separator, strict=True))
        except csv.Error as error:
            line = self.line(self.start)
            raise DataError(f"{error}; {OPEN_QUOTE}", path=self.path, line=line) from None


def _read_separated(
    content: bytes, path: Path_, separator: str | None, header: bool
) -> pyarrow.Table:
    content = utf8(content, path)
    sep_line = SEP_LINE.match(content)
    start = sep_line.end() if sep_line else 0
    if separator is None:
        separator = sep_line[1].decode() if sep_line else _separator(content, start, path)
    text = _Text(content, start, separator, path)
    first: list[str] = next(text.records(), [])
    _check_width(len(first), content, path)
    if not first:
        problem = "the first line must hold the column names; the file is empty."
        raise DataError(problem, path=path, line=1)
    table = _cells(text, len(first))
    _check_last_quote(text, table)
    if not header:
        return table.rename_columns(default_names("column", len(first)))
    _check_header(first, text)
    table = table.slice(1)
    if not table.num_rows:
        problem = "no row follows the column names; the file is empty or cut short."
        raise DataError(problem, path=path, line=text.line(len(content)))
    names = named([original_cell(name) for name in first], path, text.line(start))
    table = table.rename_columns(names)
    compute = pyarrow_module("pyarrow.compute")
    if (
        len(names) > 1
        and not first[-1].strip()
        and compute.all(compute.equal(table[-1], "")).as_py()
    ):
        return table.select(names[:-1])  # each line merely ends in a separator
    return table


def _separator(content: bytes, start: int, path: Path_) -> str:
    """The separator by which most of the first records have the width of the first one, above one cell."""
    sample = content[start : start + SAMPLE_BYTES].decode(errors="ignore")
    if len(content) - start > SAMPLE_BYTES and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    usual = SEPARATORS.get(suffix_of(path), ",")
    best, most = ABSENT, 0.0
    for separator in (usual, *",;\t|"):
        share = _agreement(sample, separator)
        if share > most:
            best, most = separator, share
    return best


def _agreement(sample: str, separator: str) -> float:
    """The share of records that are as wide as the first one; less where it is not the commonest width, 0 for a single cell."""
    widths: list[int] = []
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if record:
                widths.append(len(record))
            if len(widths) == SAMPLE_RECORDS:
                break
    except csv.Error:
        pass  # what was read until then counts
    width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    if width < 2:
        return 0.0
    share = times / len(widths)
    return 1 + share if widths[0] == width else share


def _cells(text: _Text, width: int) -> pyarrow.Table:
    """All records as columns of text."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    rows = arrow.py_buffer(text.content).slice(text.start)
    convert = reader.ConvertOptions(
        column_types={f"f{k}": arrow.string() for k in range(width)}, check_utf8=False
    )
    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    def read(block_size: int, *, use_threads: bool, handler: Any = None) -> pyarrow.Table:
        return reader.read_csv(
            arrow.BufferReader(rows),
            reader.ReadOptions(
                autogenerate_column_names=True, block_size=block_size, use_threads=use_threads
            ),
            reader.ParseOptions(
                delimiter=text.separator,
                newlines_in_values=b'"' in text.content,  # without, threads begin at any line
                invalid_row_handler=handler,
            ),
            convert,
        )

    try:
        return read(BLOCK_BYTES, use_threads=True)
    except arrow.ArrowInvalid:
        pass  # a row that is longer than a block, or a wrong one: again, in one thread
    try:
        return read(min(len(rows) + 1, LARGEST_BLOCK), use_threads=False, handler=note)
    except arrow.ArrowInvalid as error:
        if wrong:
            raise _ragged(wrong[0], text) from None
        if "straddl" in str(error):
            problem = f"a row is longer than {LARGEST_BLOCK >> 20} MiB; is a quote left open?"
            raise DataError(problem, path=text.path) from None
        raise


def _ragged(row: Any, text: _Text) -> DataError:
    """Refuse a row that has more or fewer cells than the first one."""
    start = row.text.encode()[:SAMPLE_BYTES]
    end = rb"\r?$" if len(start) < SAMPLE_BYTES else b""
    place = re.compile(rb"^" + re.escape(start) + end, re.MULTILINE).search(
        text.content, text.start
    )
    problem = (
        f"{row.actual_columns} cells, the first line has {row.expected_columns}; is a cell with the"
        " separator not quoted?"
    )
    return DataError(
        OPEN_QUOTE if row.text.count('"') % 2 else problem,
        path=text.path,
        line=None if place is None else text.line(place.start()),
    )


def _check_last_quote(text: _Text, table: pyarrow.Table) -> None:
    """Refuse a last cell whose quotes are not closed: it would hold all the rows behind them."""
    if text.content.count(b'"') % 2 == 0:
        return
    cell = table.column(table.num_columns - 1)[-1].as_py().rstrip("\r\n")
    end = text.content.rstrip(b"\r\n")
    before = end.removesuffix(cell.replace('"', '""').encode())
    if before.endswith(b'"') and not (cell == "" and before.endswith(b'""')):
        raise DataError(OPEN_QUOTE, path=text.path, line=text.line(len(before)))


def _check_header(names: Sequence[str], text: _Text) -> None:
    """Refuse a first record of numbers of which some are equal."""
    if len(set(names)) < len(names) and all(map(_is_number, names)):
        raise DataError(
            "the first line holds numbers, not column names; add a line of names. (In Python,"
            " header=False does without.)",
            path=text.path,
            line=text.line(text.start),
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Parquet


@contextmanager
def open_parquet(source: Any, path: Path_, size: int) -> Iterator[Any]:
    """Open a Parquet file of `size` bytes; equal texts are read once. Damage becomes a DataError, also that found later."""
    arrow, parquet = pyarrow_module(), pyarrow_module("pyarrow.parquet")
    most = {"thrift_container_size_limit": max(size, 1), "thrift_string_size_limit": max(size, 1)}
    try:
        with parquet.ParquetFile(source, **most) as file:
            schema = file.schema_arrow
            check_claimed_size(
                COLUMN_BYTES * len(schema), f"{len(schema)} columns", path, size=size
            )
            named(schema.names, path)
            texts = [field.name for field in schema if is_text(field.type)]
        with parquet.ParquetFile(source, read_dictionary=texts, **most) as file:
            yield file
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise DataError(
            f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.",
            path=path,
        ) from error


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
    """Columns of a Parquet file of `size` bytes, without dictionaries and without the index of pandas."""
    arrow, names = pyarrow_module(), named(table.column_names, path)
    columns = {
        name: _plain_column(column, name, path, size)
        for name, column in zip(names, table.columns)
        if not PANDAS_INDEX.fullmatch(name)
    }
    return arrow.table(columns)


def _plain_column(column: Any, name: str, path: Path_, size: int) -> Any:
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    types, kind = arrow.types, column.type
    if types.is_dictionary(kind) and is_text(kind.value_type):
        lengths = [
            compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks
        ]
        needed = 2 * sum(compute.sum(part).as_py() or 0 for part in lengths)
        check_claimed_size(needed, f"the texts of {name[:60]!r}", path, size=size)
        return column.cast(arrow.string())
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if types.is_nested(kind.value_type if is_list else kind):
        raise DataError(
            f"column {name[:60]!r} holds {str(kind)[:60]}; give each of its parts a column of its"
            " own.",
            path=path,
        )
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        try:
            return column.cast(arrow.string())
        except arrow.ArrowInvalid:
            problem = f"column {name[:60]!r} holds bytes that are no text; remove it."
            raise DataError(problem, path=path) from None
    return column


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is one of texts."""
    types = pyarrow_module().types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


# Spreadsheets and JSON lines


def _read_sheet(content: bytes, path: Path_, header: bool, sheet: str | int) -> pyarrow.Table:
    """Columns of a sheet; rows and columns without any cell are left out."""
    from skcamel.data.sheets import sheet_rows

    rows = [row for row in sheet_rows(content, path, sheet) if any(cell != "" for cell in row)]
    columns = [column for column in zip(*rows) if any(cell != "" for cell in column)]
    if not columns:
        raise DataError("the sheet is empty; name another by sheet=.", path=path)
    if header:
        names = named([key_text(column[0]) for column in columns], path)
        columns = [column[1:] for column in columns]
    else:
        names = list(default_names("column", len(columns)))
    arrays = [array_of([None if cell == "" else cell for cell in column]) for column in columns]
    return pyarrow_module().Table.from_arrays(arrays, names=names)


def _read_json_lines(content: bytes, path: Path_) -> pyarrow.Table:
    """Columns of a file with one JSON object in each line."""
    check_memory(JSON_PEAK * len(content), "Reading it", path)
    rows: list[dict[str, Any]] = []
    keys: dict[str, None] = {}
    for line, text in enumerate(utf8(content, path).split(b"\n"), 1):
        if text.strip():
            row = _json_object(text, path, line)
            rows.append(row)
            keys.update(dict.fromkeys(row))
    _check_width(len(keys), content, path)
    cells = f"{len(rows)} rows x {len(keys)} columns"
    check_claimed_size(16 * len(rows) * len(keys), cells, path, size=len(content))
    arrays = [array_of([row.get(key) for row in rows]) for key in keys]
    return pyarrow_module().Table.from_arrays(arrays, names=named(list(keys), path))


def _json_object(text: bytes, path: Path_, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"is no JSON ({str(error)[:80]}); write one object in each line."
        raise DataError(problem, path=path, line=line) from None
    if not isinstance(row, dict):
        raise DataError(
            f'holds {str(row)[:40]!r}; write one object in each line, such as {{"height": 1.5}}.',
            path=path,
            line=line,
        )
    for key, value in row.items():
        if is_nested(value):
            problem = f"{key[:60]!r} holds an object or a list of lists"
            advice = "give each of its parts a key of its own."
            raise DataError(f"{problem}; {advice}", path=path, line=line)
    return row


def is_nested(value: object) -> bool:
    """Whether a value of JSON is neither a cell nor a list of cells."""
    if isinstance(value, list):
        return any(isinstance(item, (dict, list)) for item in value)
    return isinstance(value, dict)


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
    names: list[str] = table.column_names
    dropped: list[str] = []
    if X is None:
        X = table
    elif header and len(names) > 1 and names[0] in ROW_NUMBERS and _counts_rows(X[:, 0]):
        X, dropped = X[:, 1:], names[:1]
        warnings.warn(
            f"{Path(path).name}: {shortened(dropped)} left out, as it only numbers the rows.",
            UserWarning,
            stacklevel=2,
        )
    names = names[len(dropped) :]
    facts: dict[str, Any] = {"name": stem(path), "source": str(path), "dropped": tuple(dropped)}
    cells = table.drop_columns(dropped) if is_table(X) or np.isnan(X).any() else None
    return Dataset(X, found.Y, names, found.names, table=cells, **facts)


def _counts_rows(column: np.ndarray) -> bool:
    return len(column) > 1 and column[0] in (0, 1) and bool((np.diff(column) == 1).all())


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
    with whole_file(path) as file:
        if suffix in PARQUET:
            table = pyarrow_module().concat_tables(_parts(dataset))
            pyarrow_module("pyarrow.parquet").write_table(table, file)
        elif str(path).lower().endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                _write_separated(dataset, packed, separator or SEPARATORS[suffix])
        else:
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
        if isinstance(X, np.ndarray):
            columns = [arrow.array(column, from_pandas=True) for column in X[rows].T]
        elif sparse.issparse(X):
            columns = [arrow.array(column, from_pandas=True) for column in X[rows].toarray().T]
        else:
            columns = X.slice(start, WRITE_ROWS).columns
        labels = [arrow.array(column, kind, from_pandas=True) for column in dataset.Y[rows].T]
        yield arrow.Table.from_arrays([*columns, *labels], names=names)
