"""Tables by kept readers: CSV and Parquet by pyarrow, spreadsheets by calamine, JSON lines; and a Dataset of their columns.

What is here is what the readers do not do: the encoding and the dialect of a CSV file, sizes that are checked before they are believed,
and messages that say what to do.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import json
import re
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.data import DataError, Path_
from skcamel.data.columns import NUMERAL, WORDS, Attribute, check_nominal, feature_codes, finished, number
from skcamel.data.dataset import Dataset
from skcamel.data.labels import GAPS, LabelColumns, Labels, arrow_cells, key_text, take_labels
from skcamel.data.text import (
    VALUE_BYTES,
    check_claimed_size,
    check_memory,
    first_repeated,
    numerals,
    open_lines,
    shortened,
    stem,
    write_lines,
)
from skcamel.files import whole_file
from skcamel.rows import default_names
from skcamel.text import original_cell, plain_cell

if TYPE_CHECKING:
    import pyarrow

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
JSON_LINES = (".jsonl", ".ndjson")
KNOWN, WRITTEN = (*SEPARATORS, *PARQUET, *SHEETS, *JSON_LINES), (*SEPARATORS, *PARQUET)
STDIN = "standard input"  # as messages name it

BLOCK_BYTES = 2**20  # of text that one thread of pyarrow parses; longer rows take larger blocks
LARGEST_BLOCK = 2**28
ABSENT = "\x1f"  # a separator that no text has, for files of a single column
READ_BYTES = 2**22  # unpacked or decoded at once
SAMPLE_BYTES = 2**16  # from which the separator is found; no cell of it is too long for the csv module
SAMPLE_RECORDS = 50
COMMA_BYTES = 2**20  # in which decimal commas are looked for
PEAK_OF_TEXT, PEAK_OF_JSON = 4, 20  # bytes at the peak for each byte of a file: its text and the columns, or Python objects
COLUMN_BYTES = 12_000  # that pyarrow takes for one column while it finds the type, without the cells
CELL_BYTES = 10  # that stay of a Parquet cell, with room to grow
SHEET_CELL_BYTES = 100  # of a cell of a spreadsheet, in calamine and as a Python object
WRITE_ROWS = 256  # rows made dense at once

SEP_LINE = re.compile(rb'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)
LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")
DECIMAL_COMMA = re.compile(r'(?:^|[;\t|\r\n"])[ ]*([+-]?\d*,\d+)(?:[eE][+-]?\d+)?[ ]*(?=$|[;\t|\r\n"])')
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
FAR_CELL = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
NEGATIVE_ZERO = {"-0": "-0.0"}  # as an integer it would lose its sign
ROW_NUMBERS = ("column1", "Unnamed: 0")  # what a first column without a name is called
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
Categories = Mapping[str, tuple[str, ...]]


def read_columns(
    path: Path_, *, separator: str | None = None, header: bool = True, as_text: Collection[str] = (), sheet: str | int = 0
) -> pyarrow.Table:
    r"""Read any table file: one column of a type for each column of the file.

    A whole column decides its type. Cells of CSV files that look like gaps (``NA``, ``?``, ``-`` …) are null in columns of numbers and
    dates, and stay as they are in columns of text. Codes such as ``00123`` are text.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.jsonl`` or ``.ndjson``, also compressed as ``.gz``; ``.parquet``, ``.pq``; ``.xlsx``, ``.xlsm``,
        ``.xls``, ``.ods``. ``"-"`` is standard input: CSV, JSON lines, Parquet or a spreadsheet, as its first bytes tell.
    separator : str, optional
        One character between the cells of a text file; by default it is found among comma, semicolon, tab and bar.
    header : bool, default=True
        Whether the first line holds the column names.
    as_text : collection of str
        Columns that are text whatever they look like.
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
    {'height': [1.5, None], 'code': ['007', '008'], 'born': [datetime.date(2001, 2, 3), None]}
    """
    return _read(path, separator, header, as_text, sheet, plain=False)


def read_plain(path: Path_, *, separator: str | None = None, header: bool = True, as_text: Collection[str] = ()) -> pyarrow.Table:
    """Read the same, but dates and truth values of a text file stay text, and equal texts of a Parquet file are kept once."""
    return _read(path, separator, header, as_text, 0, plain=True)


def _read(path: Path_, separator: str | None, header: bool, as_text: Collection[str], sheet: str | int, *, plain: bool) -> pyarrow.Table:
    arrow = pyarrow_module()
    check_separator(separator)
    if str(path) == "-":
        content = sys.stdin.buffer.read()
        source, kind = STDIN, _kind_of(content)
    else:
        source, kind, content = path, _suffix(path, separator, "reads"), None
        Path(path).stat()  # a missing file is no damage
    try:
        if kind in PARQUET:
            table = _parquet(content, source, as_text, plain=plain)
        elif kind in SHEETS:
            table = _spreadsheet(content, source, header, as_text, sheet)
        else:
            content = _content(source) if content is None else content
            if kind in JSON_LINES:
                table = _json_lines(content, source, as_text)
            else:
                table = _separated(content, source, separator, header, as_text, plain=plain)
    except arrow.ArrowException as error:
        raise DataError(f"cannot be read ({str(error)[:120]}); is it damaged, or another kind of file?", path=source) from error
    if not table.num_rows:
        raise DataError("holds no row.", path=source)
    return table


def pyarrow_module(name: str = "pyarrow") -> Any:
    """``pyarrow`` or one of its modules, or how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError("Tables need pyarrow: pip install skcamel[tables]") from None


def check_separator(separator: str | None) -> None:
    """Refuse what cannot separate cells."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ValueError(f"separator must be one ASCII character, got {separator!r}.")


def _suffix(path: Path_, separator: str | None, does: str, known: Sequence[str] = KNOWN) -> str:
    """Suffix of a table; one that names no format is refused unless a separator is given."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    if separator is None and suffix not in known:
        raise ValueError(f"{Path(path).name} ends in {suffix!r}; known are {', '.join(known)}. (In Python, separator=… {does} others.)")
    return suffix if separator is None else ".csv"


def _kind_of(content: bytes) -> str:
    """Suffix that a stream without a name would have."""
    known = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}
    return known.get(content[:4]) or (".jsonl" if content[:1024].lstrip().startswith(b"{") else ".csv")


def _content(path: Path_) -> bytes:
    """Whole text of a file, unpacked; its memory is asked for before it is taken."""
    size = Path(path).stat().st_size
    check_memory(PEAK_OF_TEXT * size, "Reading it", path)
    with open_lines(path) as file:
        if not file.packed:
            return file.stream.read(size or -1)  # of a known size, it never stands there twice; a pipe has none
        parts: list[bytes] = []
        while part := file.stream.read(READ_BYTES):
            parts.append(part)
            check_memory((PEAK_OF_TEXT - 1) * len(part), "Reading on", path)
        return b"".join(parts)


# Text files


class _Dialect(NamedTuple):
    separator: str
    decimal_point: str
    start: int  # where the rows begin


def _separated(content: bytes, path: Path_, separator: str | None, header: bool, as_text: Collection[str], *, plain: bool) -> pyarrow.Table:
    """Columns of a text file."""
    arrow = pyarrow_module()
    content = _utf8(content, path)
    line = SEP_LINE.match(content)
    start = line.end() if line else 0
    separator = separator or (line.group(1).decode() if line else _separator(content, start, path))
    first = _line(content, start)
    found, start = _header(content, start, separator, path) if header else (_numbered_names(content, start, separator, path), start)
    names = named(found, path, first)
    if re.compile(rb"\S").search(content, start) is None:
        raise DataError("no row follows the column names; the file is empty or cut short.", path=path, line=_line(content, start))
    decimal_comma = separator != "," and _has_decimal_commas(content, start)
    dialect = _Dialect(separator, "," if decimal_comma else ".", start)
    table = _parse(content, names, dialect, as_text, path)
    if b'"' in content and content.count(b'"') % 2:
        _check_closed(content, table, dialect, path)
    integers = [field.name for field in table.schema if arrow.types.is_integer(field.type)]
    others = [field.name for field in table.schema if plain and _is_odd(field.type)]
    suspects = others + (integers if integers and _has_leading_zeros(content, start, separator) else [])
    if suspects:
        arrow.default_memory_pool().release_unused()
        texts = _parse(content, names, dialect, suspects, path, suspects)
        odd = set(others)
        kept = {name: texts.column(name) for name in suspects if name in odd or _holds_codes(texts.column(name))}
        table = arrow.Table.from_arrays([kept.get(name, column) for name, column in zip(names, table.columns)], names=names)
    trailing = len(names) > 1 and not found[-1].strip() and arrow.types.is_null(table.schema.types[-1])  # each line ends in a separator
    return table.select(range(len(names) - 1)) if trailing else table


def _is_odd(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return types.is_temporal(kind) or types.is_boolean(kind)


def _utf8(content: bytes, path: Path_) -> bytes:
    """The same text as UTF-8 without a byte order mark."""
    marks = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    mark = next((mark for mark in marks if content.startswith(mark)), b"")
    encodings = [marks[mark]] if mark else ["utf-8", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            if encoding != "utf-8":
                content = content[len(mark) :].decode(encoding).encode()
            elif not content.isascii():
                _check_utf8(content)
                content = content.removeprefix(mark)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise DataError(f"begins like {encodings[0].upper()} text and is not; save it again as UTF-8.", path=path)
    if b"\0" in content:
        raise DataError(
            "holds zero bytes; is it a text file? Save it as CSV in UTF-8.", path=path, line=_line(content, content.index(b"\0"))
        )
    return content


def _check_utf8(content: bytes) -> None:
    """Decode piece by piece, so that the whole text never stands there twice."""
    decoder, whole = codecs.getincrementaldecoder("utf-8")(), memoryview(content)
    for start in range(0, len(content), READ_BYTES):
        decoder.decode(whole[start : start + READ_BYTES], final=start + READ_BYTES >= len(content))


def _separator(content: bytes, start: int, path: Path_) -> str:
    """The separator by which the first records have the width of the first one, more than one cell, most often."""
    sample = content[start : start + SAMPLE_BYTES].decode(errors="ignore")
    if len(content) - start > SAMPLE_BYTES and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    by_suffix = SEPARATORS.get(Path(str(path).lower().removesuffix(".gz")).suffix, ",")
    order = sorted(",;\t|", key=by_suffix.__ne__)
    best = max(order, key=lambda separator: _agreement(sample, separator))
    if _agreement(sample, best) > (False, 0.0):
        return best
    return next((separator for separator in order if separator.encode() not in content), ABSENT)  # a single column


def _agreement(sample: str, separator: str) -> tuple[bool, float]:
    """Whether the first record has the commonest width, above one, and the share of the records that have it."""
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
    return (widths[0] == width, times / len(widths)) if width > 1 else (False, 0.0)


def _records(content: bytes, start: int, separator: str, path: Path_) -> Iterator[tuple[list[str], int]]:
    """Records from `start` on that are not blank, and where each ends."""
    end = start

    def lines() -> Iterator[str]:
        nonlocal end
        for line in LINE.finditer(content, start):
            end = line.end()
            yield line.group().decode()

    reader = csv.reader(lines(), delimiter=separator, strict=True)
    try:
        yield from ((record, end) for record in reader if record)
    except csv.Error as error:
        raise DataError(f"{error}; close the quotes of each cell and double those within.", path=path, line=_line(content, start)) from None


def _header(content: bytes, start: int, separator: str, path: Path_) -> tuple[list[str], int]:
    """Column names as they stand there, and where the rows begin."""
    _check_first_width(content, start, separator, path)
    record, end = next(_records(content, start, separator, path), (None, start))
    if record is None:
        raise DataError("the first line must hold the column names; the file is empty.", path=path, line=1)
    if len(set(record)) < len(record) and all(NUMERAL.fullmatch(name) for name in record):
        cure = "add a line of names. (In Python, header=False does without.)"
        raise DataError(f"the first line holds numbers, not column names; {cure}", path=path, line=_line(content, start))
    return [original_cell(name) for name in record], end


def _numbered_names(content: bytes, start: int, separator: str, path: Path_) -> list[str]:
    _check_first_width(content, start, separator, path)
    first = next(_records(content, start, separator, path), None)
    return list(default_names("column", len(first[0]) if first else 0))


def _check_first_width(content: bytes, start: int, separator: str, path: Path_) -> None:
    """Refuse columns that the memory cannot hold, before their names are parsed."""
    end = content.find(b"\n", start)
    _check_width(content.count(separator.encode(), start, end if end >= 0 else len(content)) + 1, len(content), path)


def _check_width(width: int, size: int, path: Path_) -> None:
    check_claimed_size(COLUMN_BYTES * width, f"{width} columns", path, size=size)


def named(names: Sequence[str], path: Path_, line: int | None = None) -> list[str]:
    """Names of columns, ``columnN`` where one has none; equal ones are refused."""
    found = [name if name.strip() else f"column{position}" for position, name in enumerate(names, 1)]
    twice = first_repeated(found)
    if twice is not None:
        raise DataError(f"two columns are called {twice[:60]!r}; rename one.", path=path, line=line)
    return found


def _has_decimal_commas(content: bytes, start: int) -> bool:
    """Whether a cell looks like 12,5: a comma in a number that does not only part thousands."""
    if content.find(b",", start) < 0:
        return False
    sample = content[start : start + COMMA_BYTES].decode(errors="ignore")
    return any(not THOUSANDS.fullmatch(number) for number in DECIMAL_COMMA.findall(sample))


def _has_leading_zeros(content: bytes, start: int, separator: str) -> bool:
    """Whether any cell may begin like 007 or 0x1F; cells of text count too."""
    codes = np.frombuffer(content, dtype=np.uint8)
    before = np.zeros(256, dtype=bool)
    before[list(separator.encode() + b'\r\n" ')] = True
    behind = np.zeros(256, dtype=bool)
    behind[list(b"0123456789xX")] = True
    for first in range(max(start - 1, 0), len(codes), BLOCK_BYTES):
        part = codes[first : first + BLOCK_BYTES + 2]
        zeros = np.flatnonzero(part[1:-1] == ord("0"))
        if (before[part[zeros]] & behind[part[zeros + 2]]).any():
            return True
    return False


def _holds_codes(column: Any) -> bool:
    """Whether a cell of these whole numbers begins like 007 or 0x1F."""
    compute = pyarrow_module("pyarrow.compute")
    cells = compute.utf8_trim_whitespace(column)
    return bool(compute.any(compute.and_(compute.starts_with(cells, "0"), compute.not_equal(cells, "0"))).as_py())


def _parse(
    content: bytes, names: list[str], dialect: _Dialect, as_text: Collection[str], path: Path_, only: Collection[str] = ()
) -> pyarrow.Table:
    """Rows of a text file, read by pyarrow."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    wrong: list[Any] = []

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    quoted = b'"' in content  # without quotes, threads can begin at any line
    rows = arrow.py_buffer(content).slice(dialect.start)
    threads = len(content) > BLOCK_BYTES
    texts = dict.fromkeys(as_text, arrow.string())

    def call(read: Any, types: Mapping[str, Any], block: int, *, threads: bool, handler: Callable[[Any], str] | None = None) -> Any:
        return read(
            arrow.BufferReader(rows),
            read_options=reader.ReadOptions(column_names=names, block_size=block, use_threads=threads),
            parse_options=reader.ParseOptions(delimiter=dialect.separator, newlines_in_values=quoted, invalid_row_handler=handler),
            convert_options=reader.ConvertOptions(
                null_values=list(GAPS),
                true_values=["true", "True", "TRUE"],  # 0 and 1 are numbers
                false_values=["false", "False", "FALSE"],
                strings_can_be_null=False,
                decimal_point=dialect.decimal_point,
                column_types=types,
                include_columns=list(only),
            ),
        )

    if threads and not only:  # where the types of the first block fit all, nothing is kept to try others
        try:
            with call(reader.open_csv, texts, BLOCK_BYTES, threads=False) as stream:
                types = {field.name: field.type for field in stream.schema if not arrow.types.is_null(field.type)}
            return call(reader.read_csv, types, BLOCK_BYTES, threads=True)
        except arrow.ArrowInvalid:
            pass
    try:
        return call(reader.read_csv, texts, BLOCK_BYTES, threads=threads)
    except arrow.ArrowInvalid:
        pass  # a row that is longer than a block, or a wrong one
    try:  # in one thread: rows are numbered, and no foreign thread calls Python
        return call(reader.read_csv, texts, min(len(content) + 1, LARGEST_BLOCK), threads=False, handler=refuse)
    except arrow.ArrowInvalid as error:
        if wrong:
            raise _ragged(wrong[0], content, dialect.start, path) from None
        if "straddl" in str(error):
            raise DataError(f"a row is longer than {LARGEST_BLOCK >> 20} MiB; is a quote left open?", path=path) from None
        raise


def _ragged(row: Any, content: bytes, start: int, path: Path_) -> DataError:
    """Refuse a row that has more or fewer cells than there are columns."""
    text = row.text.encode()
    end = rb"(?![^\r\n])" if len(text) < SAMPLE_BYTES else b""
    place = re.compile(rb"(?<![^\r\n])" + re.escape(text[:SAMPLE_BYTES]) + end).search(content, start)
    line = _line(content, place.start()) if place else None
    if row.text.count('"') % 2:
        return DataError("a quote is left open; close the quotes of each cell and double those within.", path=path, line=line)
    cure = "is a cell with the separator not quoted?"
    return DataError(f"{row.actual_columns} cells, the first line has {row.expected_columns}; {cure}", path=path, line=line)


def _check_closed(content: bytes, table: pyarrow.Table, dialect: _Dialect, path: Path_) -> None:
    """Refuse a last cell whose quotes are not closed: it would hold all the rows behind them."""
    last = table.column(table.num_columns - 1)[-1].as_py()
    tail = content.rstrip(b"\r\n")
    begin = len(tail)
    for _ in range(1 + (last.rstrip("\r\n").count("\n") if isinstance(last, str) else 0)):
        begin = tail.rfind(b"\n", 0, begin)
    line = _line(content, begin + 1)
    try:
        for _ in csv.reader(io.StringIO(tail[begin + 1 :].decode(), newline=""), delimiter=dialect.separator, strict=True):
            pass
    except csv.Error:
        raise DataError("a quote is left open; close the quotes of each cell and double those within.", path=path, line=line) from None


def _line(content: bytes, place: int) -> int:
    """Number of the line at a place, from 1."""
    return content.count(b"\n", 0, place) + 1


# Other files


def _parquet(content: bytes | None, path: Path_, as_text: Collection[str], *, plain: bool) -> pyarrow.Table:
    """Columns of a Parquet file; what it declares is checked before it is read."""
    arrow, parquet = pyarrow_module(), pyarrow_module("pyarrow.parquet")
    size = Path(path).stat().st_size if content is None else len(content)
    options: dict[str, Any] = {"thrift_container_size_limit": max(size, 1), "thrift_string_size_limit": max(size, 1)}  # nothing is longer
    source = Path(path) if content is None else arrow.BufferReader(content)
    try:
        with parquet.ParquetFile(source, **options) as file:
            _check_declared(file, size, path)
            texts = [str(field.name) for field in file.schema_arrow if _is_text(field.type)]
            named(file.schema_arrow.names, path)
        source = Path(path) if content is None else arrow.BufferReader(content)
        with parquet.ParquetFile(source, read_dictionary=texts, **options) as file:
            table = file.read()
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise DataError(f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.", path=path) from error
    names = named(table.column_names, path)
    kept = [position for position, name in enumerate(names) if not PANDAS_INDEX.fullmatch(name)]
    columns = [_decoded(table.column(k), names[k], size, path, plain=plain, as_text=names[k] in as_text) for k in kept]
    return arrow.Table.from_arrays(columns, names=[names[k] for k in kept])


def _check_declared(file: Any, size: int, path: Path_) -> None:
    """Refuse sizes that do not fit, before anything is unpacked."""
    declared, n_columns = file.metadata, len(file.schema_arrow)
    n_rows = declared.num_rows
    unpacked = sum(declared.row_group(k).total_byte_size for k in range(declared.num_row_groups))
    _check_width(n_columns, size, path)
    check_claimed_size(CELL_BYTES * n_rows * n_columns, f"{n_rows} rows x {n_columns} columns", path, size=size)
    check_claimed_size(2 * unpacked, f"{unpacked} unpacked bytes", path, size=size)


def _decoded(column: Any, name: str, size: int, path: Path_, *, plain: bool, as_text: bool) -> Any:
    """A column of Parquet in one of few types; equal texts are kept once where it is `plain`."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    types = arrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    lists = types.is_list(kind) or types.is_large_list(kind)
    if types.is_nested(kind.value_type if lists else kind):
        raise DataError(f"column {name[:60]!r} holds {str(kind)[:60]}; give each of its parts a column of its own.", path=path)
    is_text = _is_text(kind)
    if types.is_dictionary(column.type) and not (plain and is_text):
        lengths = [compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks] if is_text else []
        check_claimed_size(2 * sum(compute.sum(part).as_py() or 0 for part in lengths), f"the texts of {name[:60]!r}", path, size=size)
        column = column.cast(kind)
    if types.is_decimal(kind) or types.is_float16(kind):
        column = column.cast(arrow.float64())
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        try:
            column = column.cast(arrow.string())
        except arrow.ArrowInvalid:
            raise DataError(f"column {name[:60]!r} holds bytes that are no text; remove it.", path=path) from None
    elif (is_text and column.type == kind and kind != arrow.string()) or (as_text and not is_text):
        column = column.cast(arrow.string())
    return column


def _spreadsheet(content: bytes | None, path: Path_, header: bool, as_text: Collection[str], sheet: str | int) -> pyarrow.Table:
    """Columns of a sheet; rows and columns without any cell are left out."""
    arrow = pyarrow_module()
    try:
        calamine = import_module("python_calamine")
    except ImportError:
        raise ImportError("Spreadsheets need python-calamine: pip install skcamel[tables]") from None
    _check_sheets(Path(path) if content is None else io.BytesIO(content), path)
    try:
        book = calamine.CalamineWorkbook.from_object(str(path) if content is None else io.BytesIO(content))
        found = book.get_sheet_by_index(sheet) if isinstance(sheet, int) else book.get_sheet_by_name(sheet)
        rows = found.to_python()
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise DataError(
            f"no sheet {sheet!r} can be read ({str(error)[:120]}); name one by sheet=, or save the file again.", path=path
        ) from error
    rows = [row for row in rows if any(cell != "" for cell in row)]
    kept = [column for column in zip(*rows) if any(cell != "" for cell in column)]
    if not kept:
        raise DataError("the sheet is empty; name another by sheet=.", path=path)
    names = named([key_text(column[0]) for column in kept], path) if header else list(default_names("column", len(kept)))
    cells = [[None if cell == "" else cell for cell in column[1 if header else 0 :]] for column in kept]
    return arrow.Table.from_arrays([array_of(column, as_text=name in as_text) for name, column in zip(names, cells)], names=names)


def _check_sheets(file: Path | io.BytesIO, path: Path_) -> None:
    """Refuse a workbook whose cells lie so far apart that the whole sheet does not fit: calamine makes room for all between them."""
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(item.compress_size for item in archive.infolist())
            check_claimed_size(sum(item.file_size for item in archive.infolist()), "its unpacked sheets", path, size=size)
            for item in archive.infolist():
                if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", item.filename):
                    continue
                width = height = 0
                with archive.open(item) as stream:
                    tail = b""
                    while part := stream.read(READ_BYTES):
                        cells = FAR_CELL.findall(tail + part)
                        tail = part[-32:]
                        width = max([width, *(_column_number(letters) for letters in {letters for letters, _ in cells})])
                        height = max([height, *(int(row) for _, row in cells)])
                check_claimed_size(SHEET_CELL_BYTES * width * height, f"{height} rows x {width} columns", path, size=size)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return  # .xls is no archive; calamine says what is wrong with a damaged one


def _column_number(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _json_lines(content: bytes, path: Path_, as_text: Collection[str]) -> pyarrow.Table:
    """Columns of a file with one JSON object in each line."""
    arrow = pyarrow_module()
    check_memory(PEAK_OF_JSON * len(content), "Reading it", path)
    rows: list[dict[str, Any]] = []
    keys: dict[str, None] = {}
    for at, line in enumerate(_utf8(content, path).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"is no JSON ({str(error)[:80]}); write one object in each line.", path=path, line=at) from None
        if not isinstance(row, dict):
            raise DataError(f'holds {str(row)[:40]!r}; write one object in each line, such as {{"height": 1.5}}.', path=path, line=at)
        nested = next((key for key, value in row.items() if _is_nested(value)), None)
        if nested is not None:
            cure = "give each of its parts a key of its own."
            raise DataError(f"{nested[:60]!r} holds an object or a list of lists; {cure}", path=path, line=at)
        rows.append(row)
        keys.update(dict.fromkeys(row))
    _check_width(len(keys), len(content), path)
    check_claimed_size(16 * len(rows) * len(keys), f"{len(rows)} rows x {len(keys)} columns", path, size=len(content))
    columns = [array_of([row.get(key) for row in rows], as_text=key in as_text) for key in keys]
    return arrow.Table.from_arrays(columns, names=named(list(keys), path))


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value))


def array_of(cells: Sequence[Any], *, as_text: bool = False) -> Any:
    """A column of pyarrow from Python objects, None for gaps; cells of several kinds become text, whole floats without ``.0``."""
    arrow = pyarrow_module()
    filled = [cell for cell in cells if cell is not None and cell == cell and not (isinstance(cell, str) and cell.strip() in GAPS)]
    kinds = {type(cell) for cell in filled}
    if as_text or not kinds:
        pass
    elif kinds == {bool}:
        return arrow.array([cell if isinstance(cell, bool) else None for cell in cells], arrow.bool_())
    elif kinds <= {int, float}:
        numbers = [None if isinstance(cell, str) or cell != cell else cell for cell in cells]
        whole = all(isinstance(cell, int) or cell.is_integer() for cell in filled) and all(abs(cell) < 2**53 for cell in filled)
        return arrow.array(numbers, arrow.int64() if whole else arrow.float64())
    elif kinds <= {datetime.date, datetime.datetime}:
        moments = [np.datetime64(cell, "us") if isinstance(cell, datetime.date) else None for cell in cells]
        return arrow.array(moments, arrow.timestamp("us"))
    elif kinds == {list}:
        return arrow.array(
            [None if not isinstance(cell, list) else [cell_text(item) for item in cell if item is not None] for cell in cells],
            arrow.list_(arrow.string()),
        )
    if not kinds and all(cell is None for cell in cells):
        return arrow.nulls(len(cells))
    return arrow.array([None if cell is None or cell != cell else cell_text(cell) for cell in cells], arrow.string())


def cell_text(cell: object) -> str:
    """Text of a cell beside cells of another kind."""
    if isinstance(cell, (bool, list)):
        return json.dumps(cell)
    return str(cell) if not isinstance(cell, float) else key_text(cell)


# A Dataset


def read_table(path: Path_, *, labels: LabelColumns, separator: str | None = None, header: bool = True, nominal: str = "index") -> Dataset:
    r"""Read a table file as numbers.

    Parameters
    ----------
    path : str or path
        As in :func:`read_columns`; needs ``pip install skcamel[tables]``.
    labels : list of str, str, int or list of int
        The label columns: their names; a prefix of their names; how many of the last columns, or of the first where negative; or
        their positions, from 0. A single column may hold lists of labels, as in ``take_labels``.
    separator : str, optional
        One character between cells; by default it is found among comma, semicolon, tab and bar.
    header : bool, default=True
        Whether the first line holds the column names.
    nominal : {"index", "onehot"}, default="index"
        Text columns become one column (YES/NO and TRUE/FALSE as 1/0, else the position among the sorted values), or with "onehot" one
        0/1 column for each of three or more values.

    Returns
    -------
    Dataset
        Columns in the order of the file. Gaps (empty cells, ``?``, ``NA``, ``-`` …) are NaN in features and refused in labels. Text columns
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
    check_nominal(nominal)
    table, taken = take_labels(read_plain(path, separator=separator, header=header), labels, path)
    Y = known_labels(taken, path)
    X, attributes = features(table, path)
    own = attributes
    if header and attributes[0].name in ROW_NUMBERS:
        X, own = _without_row_numbers(X, attributes)
    X, names, kept = finished(X, own, nominal, path, (), "are the right columns named as labels?")
    left = {id(attribute) for attribute in kept}
    dropped = [attribute.name for attribute in attributes if id(attribute) not in left]
    categories = {attribute.name: attribute.values for attribute in kept if attribute.kind == "nominal"}
    _warn(dropped, [name for name, values in categories.items() if _is_arbitrary(values)], nominal, path)
    return Dataset(X, Y, names, taken.names, name=stem(path), source=str(path), dropped=tuple(dropped), categories=categories)


def known_labels(labels: Labels, path: Path_) -> np.ndarray:
    """Labels as int64 (n, q); unknown ones are refused."""
    unknown = np.argwhere(np.isnan(labels.Y))
    if len(unknown):
        row, label = unknown[0]
        name = labels.names[label] if labels.names == labels.columns else labels.columns[0]
        raise DataError(
            f"label {name[:60]!r} is missing in row {row + 1}; remove the row, or write 0 where 'not given' means 'not relevant'.",
            path=path,
        )
    return labels.Y.astype(np.int64)


def features(table: pyarrow.Table, path: Path_, categories: Categories | None = None) -> tuple[np.ndarray, list[Attribute]]:
    """X (n, d) and what its columns are: numbers, or text by the number of its value.

    With `categories` it is known which columns are text and what values they have: other values are refused, and so is text in
    other columns.
    """
    n, d = table.num_rows, table.num_columns
    check_memory(8 * n * d, f"Room for {n} rows x {d} columns", path)
    X = np.empty((n, d))
    attributes = []
    for k, (name, column) in enumerate(zip(table.column_names, table.columns)):
        known = None if categories is None else categories.get(name, ())
        X[:, k], values = _coded(column, name, known, path)
        attributes.append(Attribute(name, "numeric") if values is None else Attribute(name, "nominal", values))
    return X, attributes


def _coded(column: Any, name: str, known: tuple[str, ...] | None, path: Path_) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column as float64 (n,), NaN for gaps; and the values of its text, None where it holds numbers."""
    types = pyarrow_module("pyarrow.types")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_nested(kind):
        raise DataError(f"column {name[:60]!r} holds lists; name it as labels, or make a column for each item.", path=path)
    if not (known or types.is_temporal(kind) or _is_text(kind)):
        return arrow_cells(column), None
    codes, found = _distinct(column, path)
    filled = [value for value in found if value not in GAPS]
    if not known and (known is None or filled):
        try:
            return np.array([np.nan if value in GAPS else number(value) for value in found] + [np.nan])[codes], None
        except ValueError:
            if known is not None:
                row, value = _first(codes, found, [value for value in filled if not _is_number(value)])
                problem = f"{value[:40]!r} in column {name[:60]!r}, row {row}, which holds numbers"
                raise DataError(f"{problem}; correct the cell, or leave it empty.", path=path) from None
    values = known or tuple(sorted(set(filled)))
    unknown = [value for value in filled if value not in values] if known else []
    if unknown:  # giving it a number would not mean what the known ones mean
        row, value = _first(codes, found, unknown)
        raise DataError(
            f"{value[:40]!r} in column {name[:60]!r}, row {row}, which had the values {shortened(values, 8)}; "
            "write one of these, or fit again with rows that have it.",
            path=path,
        )
    numbers = feature_codes(values)
    return np.array([np.nan if value in GAPS else numbers[value] for value in found] + [np.nan])[codes], values


def _distinct(column: Any, path: Path_) -> tuple[np.ndarray, list[str]]:
    """Position of the value of each cell (n,), -1 for null, and the values, stripped; two of them may be equal then."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    if not arrow.types.is_dictionary(column.type):
        column = (column if _is_text(column.type) else column.cast(arrow.string())).dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    codes = np.array(column.indices.fill_null(-1), dtype=np.int64)
    used, places = np.unique(codes, return_inverse=True)
    nulls = int(used.size > 0 and used[0] < 0)
    values = column.dictionary.take(arrow.array(used[nulls:]))
    size = VALUE_BYTES * len(values) + (compute.sum(compute.binary_length(values)).as_py() or 0)
    check_claimed_size(size, "the texts in its columns", path)
    return places - nulls, ["" if value is None else value.strip() for value in values.to_pylist()]


def _first(codes: np.ndarray, found: list[str], wrong: Collection[str]) -> tuple[int, str]:
    """Row, from 1, and value of the first cell that is among the wrong ones."""
    row = int(np.isin(codes, [k for k, value in enumerate(found) if value in set(wrong)]).argmax())
    return row + 1, found[codes[row]]


def _is_text(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


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
        ``.csv``, ``.tsv`` or ``.tab``, also compressed as ``.gz``; or ``.parquet``. The file appears whole or not at all.
    separator : str, optional
        One character between cells; by default by suffix.

    Warns
    -----
    UserWarning
        About what a table cannot hold: which columns are labels, sparse storage, and parts.
    """
    suffix = _suffix(path, separator, "writes", WRITTEN)
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    lost += ["that X is sparse"] if sparse.issparse(dataset.X) else []
    lost += ["train and test parts"] if dataset.train is not None or dataset.test is not None else []
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        _write_parquet(dataset, path)
    else:
        write_lines(path, _lines(dataset, separator or SEPARATORS[suffix]))


def _lines(dataset: Dataset, separator: str) -> Iterator[str]:
    yield separator.join(_quoted(plain_cell(name), separator) for name in (*dataset.feature_names, *dataset.label_names)) + "\n"
    for start in range(0, dataset.n, WRITE_ROWS):
        X = dataset.X[start : start + WRITE_ROWS]
        for x, y in zip(X.toarray() if sparse.issparse(X) else X, dataset.Y[start : start + WRITE_ROWS]):
            yield separator.join([*(NEGATIVE_ZERO.get(cell, cell) for cell in numerals(x, "")), *map(str, y.tolist())]) + "\n"


def _quoted(name: str, separator: str) -> str:
    if name and not re.search(r'["\s]', name) and separator not in name:
        return name
    return '"' + name.replace('"', '""') + '"'


def _write_parquet(dataset: Dataset, path: Path_) -> None:
    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    memory.require(8.0 * dataset.n * dataset.d, "A dense table of the features", "Write .arff or .svm instead, which hold sparse ones.")
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    columns = [arrow.array(column) for column in X.T] + [arrow.array(column) for column in dataset.Y.T.astype(np.int8)]
    table = arrow.Table.from_arrays(columns, names=[*dataset.feature_names, *dataset.label_names])
    with whole_file(path) as file:
        parquet.write_table(table, file)


def _without_row_numbers(X: np.ndarray, attributes: list[Attribute]) -> tuple[np.ndarray, list[Attribute]]:
    """X and its attributes without a first column that has no name and counts the rows, as data frames write it."""
    is_index = len(X) > 1 and (np.diff(X[:, 0]) == 1).all() and X[0, 0] in (0, 1)
    return (X[:, 1:], attributes[1:]) if is_index else (X, attributes)


def _is_arbitrary(values: tuple[str, ...]) -> bool:
    """Whether the numbers of these values are mere positions; those of yes and no, and of numerals, are not."""
    codes = feature_codes(values)
    words = {value.upper() for value in values}
    return not codes.by_number and not any(words <= set(meaning) for meaning in WORDS)


def _warn(dropped: list[str], coded: list[str], nominal: str, path: Path_) -> None:
    said = [f"{shortened(dropped)} left out, as it only numbers or names the rows"] if dropped else []
    if coded and nominal == "index":
        said.append(
            f"text in {shortened(coded)} is numbered in the order of its sorted values; where that means nothing, "
            "make it a 0/1 column for each value (nominal='onehot', command line: fit --nominal onehot)"
        )
    if said:
        warnings.warn(f"{Path(path).name}: {'; '.join(said)}.", UserWarning, stacklevel=3)
