"""CSV and TSV of any usual dialect by way of pyarrow: the encoding, the separator, decimal commas and codes such as 007 are found first."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skcamel.arrays import default_names
from skcamel.data import DataError, Path_
from skcamel.data.attributes import NUMERAL
from skcamel.data.labels import GAPS
from skcamel.data.text import check_claimed_size, first_repeated
from skcamel.text import original_cell

if TYPE_CHECKING:
    import pyarrow

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
BLOCK_BYTES = 2**20  # of text that one thread of pyarrow parses; longer rows take larger blocks
LARGEST_BLOCK = 2**28
ABSENT = "\x1f"  # a separator that no text has, for files of a single column
READ_BYTES = 2**22  # unpacked or decoded at once
SAMPLE_BYTES = (
    2**16
)  # from which the separator is found; no cell of it is too long for the csv module
SAMPLE_RECORDS = 50
COMMA_BYTES = 2**20  # in which decimal commas are looked for
COLUMN_BYTES = (
    12_000  # that pyarrow takes for one column while it finds the type, without the cells
)
SEP_LINE = re.compile(rb'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)
LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")
DECIMAL_COMMA = re.compile(
    r'(?:^|[;\t|\r\n"])[ ]*([+-]?\d*,\d+)(?:[eE][+-]?\d+)?[ ]*(?=$|[;\t|\r\n"])'
)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def pyarrow_module(name: str = "pyarrow") -> Any:
    """``pyarrow`` or one of its modules, or how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            "Tables and ARFF files need pyarrow: pip install skcamel[tables]"
        ) from None


def check_separator(separator: str | None) -> None:
    """Refuse what cannot separate cells."""
    if separator is not None and (
        len(separator) != 1 or not separator.isascii() or separator in '"\r\n'
    ):
        raise ValueError(f"separator must be one ASCII character, got {separator!r}.")


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is one of texts."""
    types = pyarrow_module("pyarrow.types")
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


class Dialect(NamedTuple):
    """How a text file is written."""

    separator: str
    decimal_point: str
    start: int  # where the rows begin, in bytes of the text as UTF-8


class Head(NamedTuple):
    """What the first lines of a text file say."""

    found: list[str]  # column names as they stand there
    names: list[str]  # of the columns
    dialect: Dialect


def options_of(
    names: Sequence[str],
    dialect: Dialect,
    types: Mapping[str, Any],
    *,
    quoted: bool,
    threads: bool,
    block: int,
    only: Collection[str] = (),
    handler: Callable[[Any], str] | None = None,
) -> dict[str, Any]:
    """What pyarrow.csv is told: gaps, truth values, the dialect, and types; columns without one get one from their cells."""
    reader = pyarrow_module("pyarrow.csv")
    return {
        "read_options": reader.ReadOptions(
            column_names=list(names), block_size=block, use_threads=threads
        ),
        "parse_options": reader.ParseOptions(
            delimiter=dialect.separator, newlines_in_values=quoted, invalid_row_handler=handler
        ),
        "convert_options": reader.ConvertOptions(
            null_values=list(GAPS),
            true_values=["true", "True", "TRUE"],  # 0 and 1 are numbers
            false_values=["false", "False", "FALSE"],
            strings_can_be_null=False,
            decimal_point=dialect.decimal_point,
            column_types=types,
            include_columns=list(only),
        ),
    }


class _Rows(NamedTuple):
    content: bytes
    names: list[str]  # of the columns
    dialect: Dialect

    def read(
        self,
        read: Any,
        types: Mapping[str, Any],
        *,
        threads: bool,
        block: int | None = None,
        **more: Any,
    ) -> Any:
        """What `read` of pyarrow.csv makes of the rows."""
        arrow = pyarrow_module()
        quoted = b'"' in self.content  # without quotes, threads can begin at any line
        options = options_of(
            self.names,
            self.dialect,
            types,
            quoted=quoted,
            threads=threads,
            block=block or BLOCK_BYTES,
            **more,
        )
        return read(
            arrow.BufferReader(arrow.py_buffer(self.content).slice(self.dialect.start)), **options
        )


def read_separated(
    content: bytes,
    path: Path_,
    separator: str | None,
    header: bool,
    as_text: Collection[str],
    *,
    plain: bool,
) -> pyarrow.Table:
    """Columns of a text file."""
    content = utf8(content, path)
    head = head_of(content, path, separator, header=header)
    if not has_rows(content, head.dialect.start):
        line = _line(content, head.dialect.start)
        raise DataError(
            "no row follows the column names; the file is empty or cut short.", path=path, line=line
        )
    table = _typed(_Rows(content, head.names, head.dialect), as_text, path, plain=plain)
    if b'"' in content and content.count(b'"') % 2:
        check_closed(content, table, head.dialect, path)
    return table.select(columns_in(head, table.schema.types[-1]))


def head_of(
    content: bytes, path: Path_, separator: str | None = None, *, header: bool = True
) -> Head:
    """Column names and dialect, from the text of a file, or from its first lines."""
    line = SEP_LINE.match(content)
    start = line.end() if line else 0
    separator = separator or (line.group(1).decode() if line else _separator(content, start, path))
    first = _line(content, start)
    found, start = (
        _header(content, start, separator, path)
        if header
        else (_numbered_names(content, start, separator, path), start)
    )
    decimal_comma = separator != "," and _has_decimal_commas(content, start)
    return Head(
        found, named(found, path, first), Dialect(separator, "," if decimal_comma else ".", start)
    )


def has_rows(content: bytes, start: int) -> bool:
    """Whether anything but blanks follows."""
    return re.compile(rb"\S").search(content, start) is not None


def columns_in(head: Head, last: Any) -> range:
    """Columns that the file means, given the type of the last: it is none where each line merely ends in a separator."""
    trailing = (
        len(head.names) > 1
        and not head.found[-1].strip()
        and pyarrow_module("pyarrow.types").is_null(last)
    )
    return range(len(head.names) - trailing)


def _typed(rows: _Rows, as_text: Collection[str], path: Path_, *, plain: bool) -> pyarrow.Table:
    """Columns in types that fit all their cells; codes such as 007 are text, and dates and truth values where it is `plain`."""
    arrow = pyarrow_module()
    has_codes = cache(
        partial(_has_leading_zeros, rows.content, rows.dialect)
    )  # asked only where there are whole numbers

    def is_doubtful(kind: Any) -> bool:
        return (plain and _is_odd(kind)) or (arrow.types.is_integer(kind) and has_codes())

    table, settled = _by_first_block(rows, as_text, is_doubtful) or (
        _parse(rows, as_text, path),
        (),
    )
    doubtful = {
        field.name: field.type
        for field in table.schema
        if field.name not in settled and is_doubtful(field.type)
    }
    if not doubtful:
        return table
    arrow.default_memory_pool().release_unused()
    texts = _parse(rows, doubtful, path, doubtful)
    kept = {
        name: texts.column(name)
        for name, kind in doubtful.items()
        if _is_odd(kind) or holds_codes(texts.column(name))
    }
    return arrow.Table.from_arrays(
        [kept.get(name, column) for name, column in zip(rows.names, table.columns)],
        names=rows.names,
    )


def _by_first_block(
    rows: _Rows, as_text: Collection[str], is_doubtful: Callable[[Any], bool]
) -> tuple[pyarrow.Table, Collection[str]] | None:
    """Columns in the types of the first block, so that nothing is kept to try others; None where another block does not fit them.

    Those of a doubtful type are read as text at once, and settled here; their names come second.
    """
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    if len(rows.content) <= BLOCK_BYTES:
        return None
    try:
        with rows.read(
            reader.open_csv, dict.fromkeys(as_text, arrow.string()), threads=False
        ) as stream:
            kinds = {
                field.name: field.type
                for field in stream.schema
                if not arrow.types.is_null(field.type)
            }
        doubtful = {name for name, kind in kinds.items() if is_doubtful(kind)}
        columns = rows.read(
            reader.read_csv, kinds | dict.fromkeys(doubtful, arrow.string()), threads=True
        ).columns
        for position, name in enumerate(rows.names):
            if name in doubtful and arrow.types.is_integer(kinds[name]):
                columns[position] = _settled(
                    columns[position], rows.dialect.decimal_point
                )  # frees its text before the next is converted
    except arrow.ArrowInvalid:
        return None
    return arrow.Table.from_arrays(columns, names=rows.names), doubtful


def _is_odd(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return types.is_temporal(kind) or types.is_boolean(kind)


def utf8(content: bytes, path: Path_) -> bytes:
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
        raise DataError(
            f"begins like {encodings[0].upper()} text and is not; save it again as UTF-8.",
            path=path,
        )
    if b"\0" in content:
        raise DataError(
            "holds zero bytes; is it a text file? Save it as CSV in UTF-8.",
            path=path,
            line=_line(content, content.index(b"\0")),
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
    return ABSENT  # a single column


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


def _records(
    content: bytes, start: int, separator: str, path: Path_
) -> Iterator[tuple[list[str], int]]:
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
        raise DataError(
            f"{error}; close the quotes of each cell and double those within.",
            path=path,
            line=_line(content, start),
        ) from None


def _header(content: bytes, start: int, separator: str, path: Path_) -> tuple[list[str], int]:
    """Column names as they stand there, and where the rows begin."""
    _check_first_width(content, start, separator, path)
    record, end = next(_records(content, start, separator, path), (None, start))
    if record is None:
        raise DataError(
            "the first line must hold the column names; the file is empty.", path=path, line=1
        )
    if len(set(record)) < len(record) and all(NUMERAL.fullmatch(name) for name in record):
        cure = "add a line of names. (In Python, header=False does without.)"
        raise DataError(
            f"the first line holds numbers, not column names; {cure}",
            path=path,
            line=_line(content, start),
        )
    return [original_cell(name) for name in record], end


def _numbered_names(content: bytes, start: int, separator: str, path: Path_) -> list[str]:
    _check_first_width(content, start, separator, path)
    first = next(_records(content, start, separator, path), None)
    return list(default_names("column", len(first[0]) if first else 0))


def _check_first_width(content: bytes, start: int, separator: str, path: Path_) -> None:
    """Refuse columns that the memory cannot hold, before their names are parsed."""
    end = content.find(b"\n", start)
    check_width(
        content.count(separator.encode(), start, end if end >= 0 else len(content)) + 1,
        len(content),
        path,
    )


def check_width(width: int, size: int, path: Path_) -> None:
    """Refuse columns that a file of so many bytes cannot have, or that do not fit."""
    check_claimed_size(COLUMN_BYTES * width, f"{width} columns", path, size=size)


def named(names: Sequence[str], path: Path_, line: int | None = None) -> list[str]:
    """Names of columns, ``columnN`` where one has none; equal ones are refused."""
    found = [
        name if name.strip() else f"column{position}" for position, name in enumerate(names, 1)
    ]
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


def _has_leading_zeros(content: bytes, dialect: Dialect) -> bool:
    """Whether any cell may begin like 007 or 0x1F; cells of text count too."""
    codes = np.frombuffer(content, dtype=np.uint8)
    before = np.zeros(256, dtype=bool)
    before[list(dialect.separator.encode() + b'\r\n" ')] = True
    behind = np.zeros(256, dtype=bool)
    behind[list(b"0123456789xX")] = True
    for first in range(max(dialect.start - 1, 0), len(codes), BLOCK_BYTES):
        part = codes[first : first + BLOCK_BYTES + 2]
        zeros = np.flatnonzero(part[1:-1] == ord("0"))
        if (before[part[zeros]] & behind[part[zeros + 2]]).any():
            return True
    return False


def _settled(texts: Any, decimal_point: str) -> Any:
    """Numbers, as pyarrow.csv finds them in the texts of a column of which some are whole; the texts if one is no number or a code."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    whole = _cast(texts, arrow.int64())
    if whole is None:  # a gap, blanks around a number, or another type
        filled = compute.if_else(
            compute.is_in(texts, value_set=arrow.array(list(GAPS))), None, texts
        )
        filled = compute.ascii_trim(filled, characters=" \t")
        whole = _cast(filled, arrow.int64())
        if whole is None:
            if decimal_point == ",":
                filled = compute.replace_substring(
                    compute.replace_substring(filled, ".", "?"), ",", "."
                )
            numbers = _cast(filled, arrow.float64())
            return texts if numbers is None else numbers
    return texts if holds_codes(texts) else whole


def _cast(texts: Any, kind: Any) -> Any:
    """The same column in another type, or None where a cell does not fit it."""
    try:
        return texts.cast(kind)
    except pyarrow_module().ArrowInvalid:
        return None


def holds_codes(column: Any) -> bool:
    """Whether a cell of these whole numbers begins like 007 or 0x1F."""
    compute = pyarrow_module("pyarrow.compute")
    cells = compute.utf8_trim_whitespace(column)
    return bool(
        compute.any(
            compute.and_(compute.starts_with(cells, "0"), compute.not_equal(cells, "0"))
        ).as_py()
    )


def _parse(
    rows: _Rows, as_text: Collection[str], path: Path_, only: Collection[str] = ()
) -> pyarrow.Table:
    """Columns whose types pyarrow finds in all their cells."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    texts = dict.fromkeys(as_text, arrow.string())
    wrong: list[Any] = []

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    try:
        return rows.read(reader.read_csv, texts, threads=len(rows.content) > BLOCK_BYTES, only=only)
    except arrow.ArrowInvalid:
        pass  # a row that is longer than a block, or a wrong one
    try:  # in one thread: rows are numbered, and no foreign thread calls Python
        block = min(len(rows.content) + 1, LARGEST_BLOCK)
        return rows.read(
            reader.read_csv, texts, threads=False, block=block, only=only, handler=refuse
        )
    except arrow.ArrowInvalid as error:
        if wrong:
            raise _ragged(wrong[0], rows.content, rows.dialect.start, path) from None
        if is_too_long(error):
            raise too_long(path) from None
        raise


def is_too_long(error: Exception) -> bool:
    """Whether pyarrow failed at a row that is longer than a block."""
    return "straddl" in str(error)


def too_long(path: Path_) -> DataError:
    """Refuse a row that is longer than any."""
    return DataError(
        f"a row is longer than {LARGEST_BLOCK >> 20} MiB; is a quote left open?", path=path
    )


def _ragged(row: Any, content: bytes, start: int, path: Path_) -> DataError:
    """Refuse a row that has more or fewer cells than there are columns."""
    text = row.text.encode()
    end = rb"(?![^\r\n])" if len(text) < SAMPLE_BYTES else b""
    place = re.compile(rb"(?<![^\r\n])" + re.escape(text[:SAMPLE_BYTES]) + end).search(
        content, start
    )
    return DataError(
        wrong_width(row), path=path, line=_line(content, place.start()) if place else None
    )


def wrong_width(row: Any) -> str:
    """What is wrong with a row that pyarrow refuses."""
    if row.text.count('"') % 2:
        return "a quote is left open; close the quotes of each cell and double those within."
    return (
        f"{row.actual_columns} cells, the first line has {row.expected_columns}; is a cell with the"
        " separator not quoted?"
    )


def check_closed(content: bytes, table: pyarrow.Table, dialect: Dialect, path: Path_) -> None:
    """Refuse a last cell whose quotes are not closed: it would hold all the rows behind them."""
    last = table.column(table.num_columns - 1)[-1].as_py()
    tail = content.rstrip(b"\r\n")
    begin = len(tail)
    for _ in range(1 + (last.rstrip("\r\n").count("\n") if isinstance(last, str) else 0)):
        begin = tail.rfind(b"\n", 0, begin)
    line = _line(content, begin + 1)
    try:
        for _ in csv.reader(
            io.StringIO(tail[begin + 1 :].decode(), newline=""),
            delimiter=dialect.separator,
            strict=True,
        ):
            pass
    except csv.Error:
        raise DataError(
            "a quote is left open; close the quotes of each cell and double those within.",
            path=path,
            line=line,
        ) from None


def _line(content: bytes, place: int) -> int:
    """Number of the line at a place, from 1."""
    return content.count(b"\n", 0, place) + 1
