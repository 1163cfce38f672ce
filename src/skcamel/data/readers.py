"""Any table file ► columns of pyarrow: text files by :mod:`skcamel.data.separated`, Parquet, spreadsheets by calamine, JSON lines.

Sizes that a file declares are checked before they are believed.
"""

from __future__ import annotations

import datetime
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skcamel.arrays import default_names
from skcamel.data import DataError, Path_
from skcamel.data.labels import GAPS, key_text
from skcamel.data.separated import (
    READ_BYTES,
    SEPARATORS,
    check_separator,
    check_width,
    is_text,
    named,
    pyarrow_module,
    read_separated,
    utf8,
)
from skcamel.data.text import check_claimed_size, check_memory, open_lines

if TYPE_CHECKING:
    import pyarrow

PARQUET = (".parquet", ".pq")
SHEETS = (
    ".xlsx",
    ".xlsm",
)  # calamine reads others too, and aborts the process on some damaged ones
JSON_LINES = (".jsonl", ".ndjson")
KNOWN = (*SEPARATORS, *PARQUET, *SHEETS, *JSON_LINES)
STDIN = "standard input"  # as messages name it
PEAK_OF_TEXT, PEAK_OF_JSON = (
    4,
    20,
)  # bytes at the peak for each byte of a file: its text and the columns, or Python objects
CELL_BYTES = 10  # that stay of a Parquet cell, with room to grow
SHEET_CELL_BYTES = 100  # of a cell of a spreadsheet, in calamine and as a Python object
FAR_CELL = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_columns(
    path: Path_,
    *,
    separator: str | None = None,
    header: bool = True,
    as_text: Collection[str] = (),
    sheet: str | int = 0,
) -> pyarrow.Table:
    r"""Read any table file: one column of a type for each column of the file.

    A whole column decides its type. Cells of CSV files that look like gaps (``NA``, ``?``, ``-`` …)
    are null in columns of numbers and
    dates, and stay as they are in columns of text. Codes such as ``00123`` are text.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.jsonl`` or ``.ndjson``, also compressed as ``.gz``;
        ``.parquet``, ``.pq``; ``.xlsx``, ``.xlsm``.
        ``"-"`` is standard input: CSV, JSON lines, Parquet or a spreadsheet, as its first bytes
        tell.
    separator : str, optional
        One character between the cells of a text file; by default it is found among comma,
        semicolon, tab and bar.
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


def read_plain(
    path: Path_, *, separator: str | None = None, header: bool = True, as_text: Collection[str] = ()
) -> pyarrow.Table:
    """Read the same, but dates and truth values of a text file stay text, and equal texts of a Parquet file are kept once."""
    return _read(path, separator, header, as_text, 0, plain=True)


def read_text(
    content: bytes, source: str, *, as_text: Collection[str] = (), plain: bool = False
) -> pyarrow.Table:
    r"""Read the text of a CSV file that is in memory; errors call it `source`.

    Parameters
    ----------
    content : bytes
    source : str
        What messages call it; never opened.
    as_text : collection of str
        As in :func:`read_columns`.
    plain : bool, default=False
        As :func:`read_plain` reads.

    Examples
    --------
    >>> read_text(b"height;code\n1,5;007\n", "the body").to_pydict()
    {'height': [1.5], 'code': ['007']}
    """
    return _read_as(".csv", content, source, None, True, as_text, 0, plain=plain)


def _read(
    path: Path_,
    separator: str | None,
    header: bool,
    as_text: Collection[str],
    sheet: str | int,
    *,
    plain: bool,
) -> pyarrow.Table:
    check_separator(separator)
    if str(path) == "-":
        content = sys.stdin.buffer.read()
        source, kind = STDIN, _kind_of(content)
    else:
        source, kind, content = path, suffix_of(path, separator, "reads"), None
        Path(path).stat()  # a missing file is no damage
    return _read_as(kind, content, source, separator, header, as_text, sheet, plain=plain)


def _read_as(
    kind: str,
    content: bytes | None,
    source: Path_,
    separator: str | None,
    header: bool,
    as_text: Collection[str],
    sheet: str | int,
    *,
    plain: bool,
) -> pyarrow.Table:
    """Read a table of a kind, by suffix, from its bytes, or from the file where there are none."""
    arrow = pyarrow_module()
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
                table = read_separated(content, source, separator, header, as_text, plain=plain)
    except arrow.ArrowException as error:
        raise DataError(
            f"cannot be read ({str(error)[:120]}); is it damaged, or another kind of file?",
            path=source,
        ) from error
    if not table.num_rows:
        raise DataError("holds no row.", path=source)
    return table


def suffix_of(path: Path_, separator: str | None, does: str, known: Sequence[str] = KNOWN) -> str:
    """Suffix of a table; one that names no format is refused unless a separator is given."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    if separator is None and suffix not in known:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join(known)}. (In Python,"
            f" separator=… {does} others.)"
        )
    return suffix if separator is None else ".csv"


def _kind_of(content: bytes) -> str:
    """Suffix that a stream without a name would have."""
    known = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}
    return known.get(content[:4]) or (
        ".jsonl" if content[:1024].lstrip().startswith(b"{") else ".csv"
    )


def _content(path: Path_) -> bytes:
    """Whole text of a file, unpacked; its memory is asked for before it is taken."""
    size = Path(path).stat().st_size
    check_memory(PEAK_OF_TEXT * size, "Reading it", path)
    with open_lines(path) as file:
        if not file.packed:
            return file.stream.read(
                size or -1
            )  # of a known size, it never stands there twice; a pipe has none
        parts: list[bytes] = []
        while part := file.stream.read(READ_BYTES):
            parts.append(part)
            check_memory((PEAK_OF_TEXT - 1) * len(part), "Reading on", path)
        return b"".join(parts)


def _parquet(
    content: bytes | None, path: Path_, as_text: Collection[str], *, plain: bool
) -> pyarrow.Table:
    """Columns of a Parquet file; what it declares is checked before it is read."""
    size = Path(path).stat().st_size if content is None else len(content)
    with open_parquet(path, content) as file:
        for needed, what in declared_bytes(file).items():
            check_claimed_size(needed, what, path, size=size)
        table = file.read()
    return decoded_columns(table, as_text, path, plain=plain, size=size)


@contextmanager
def open_parquet(path: Path_, content: bytes | None = None, **more: Any) -> Iterator[Any]:
    """Open a Parquet file; equal texts are read once. Damage becomes a DataError, also that found later, while it is read."""
    arrow, parquet = pyarrow_module(), pyarrow_module("pyarrow.parquet")
    size = Path(path).stat().st_size if content is None else len(content)
    options: dict[str, Any] = {
        "thrift_container_size_limit": max(size, 1),
        "thrift_string_size_limit": max(size, 1),
    }  # nothing is longer
    try:
        with parquet.ParquetFile(
            Path(path) if content is None else arrow.BufferReader(content), **options
        ) as file:
            check_width(len(file.schema_arrow), size, path)
            texts = [str(field.name) for field in file.schema_arrow if is_text(field.type)]
            named(file.schema_arrow.names, path)
        source = Path(path) if content is None else arrow.BufferReader(content)
        with parquet.ParquetFile(source, read_dictionary=texts, **options, **more) as file:
            yield file
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise DataError(
            f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.",
            path=path,
        ) from error


def declared_bytes(file: Any) -> dict[float, str]:
    """What all of a Parquet file takes at the peak, as it declares: the cells, and what is unpacked."""
    declared, n_columns = file.metadata, len(file.schema_arrow)
    unpacked = sum(declared.row_group(k).total_byte_size for k in range(declared.num_row_groups))
    cells = CELL_BYTES * declared.num_rows * n_columns
    return {
        cells: f"{declared.num_rows} rows x {n_columns} columns",
        2 * unpacked: f"{unpacked} unpacked bytes",
    }


def decoded_columns(
    table: pyarrow.Table, as_text: Collection[str], path: Path_, *, plain: bool, size: int
) -> pyarrow.Table:
    """Columns of a Parquet file, of `size` bytes, in one of few types each, without the index of pandas."""
    arrow = pyarrow_module()
    names = named(table.column_names, path)
    kept = [position for position, name in enumerate(names) if not PANDAS_INDEX.fullmatch(name)]
    columns = [
        _decoded(table.column(k), names[k], size, path, plain=plain, as_text=names[k] in as_text)
        for k in kept
    ]
    return arrow.Table.from_arrays(columns, names=[names[k] for k in kept])


def _decoded(column: Any, name: str, size: int, path: Path_, *, plain: bool, as_text: bool) -> Any:
    """A column of Parquet in one of few types; equal texts are kept once where it is `plain`."""
    arrow, compute = pyarrow_module(), pyarrow_module("pyarrow.compute")
    types = arrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    lists = types.is_list(kind) or types.is_large_list(kind)
    if types.is_nested(kind.value_type if lists else kind):
        raise DataError(
            f"column {name[:60]!r} holds {str(kind)[:60]}; give each of its parts a column of its"
            " own.",
            path=path,
        )
    words = is_text(kind)
    if types.is_dictionary(column.type) and not (plain and words):
        lengths = (
            [compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
            if words
            else []
        )
        check_claimed_size(
            2 * sum(compute.sum(part).as_py() or 0 for part in lengths),
            f"the texts of {name[:60]!r}",
            path,
            size=size,
        )
        column = column.cast(kind)
    if types.is_decimal(kind) or types.is_float16(kind):
        column = column.cast(arrow.float64())
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        try:
            column = column.cast(arrow.string())
        except arrow.ArrowInvalid:
            raise DataError(
                f"column {name[:60]!r} holds bytes that are no text; remove it.", path=path
            ) from None
    elif (words and column.type == kind and kind != arrow.string()) or (
        as_text and not words and not lists
    ):
        column = column.cast(arrow.string())
    return column


def _spreadsheet(
    content: bytes | None, path: Path_, header: bool, as_text: Collection[str], sheet: str | int
) -> pyarrow.Table:
    """Columns of a sheet; rows and columns without any cell are left out."""
    arrow = pyarrow_module()
    try:
        calamine = import_module("python_calamine")
    except ImportError:
        raise ImportError(
            "Spreadsheets need python-calamine: pip install skcamel[tables]"
        ) from None
    _check_sheets(Path(path) if content is None else io.BytesIO(content), path)
    try:
        book = calamine.CalamineWorkbook.from_object(
            str(path) if content is None else io.BytesIO(content)
        )
        found = (
            book.get_sheet_by_index(sheet)
            if isinstance(sheet, int)
            else book.get_sheet_by_name(sheet)
        )
        rows = found.to_python()
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise DataError(
            f"no sheet {sheet!r} can be read ({str(error)[:120]}); name one by sheet=, or save the"
            " file again.",
            path=path,
        ) from error
    rows = [row for row in rows if any(cell != "" for cell in row)]
    kept = [column for column in zip(*rows) if any(cell != "" for cell in column)]
    if not kept:
        raise DataError("the sheet is empty; name another by sheet=.", path=path)
    names = (
        named([key_text(column[0]) for column in kept], path)
        if header
        else list(default_names("column", len(kept)))
    )
    cells = [
        [None if cell == "" else cell for cell in column[1 if header else 0 :]] for column in kept
    ]
    return arrow.Table.from_arrays(
        [array_of(column, as_text=name in as_text) for name, column in zip(names, cells)],
        names=names,
    )


def _check_sheets(file: Path | io.BytesIO, path: Path_) -> None:
    """Refuse a workbook whose cells lie so far apart that the whole sheet does not fit: calamine makes room for all between them."""
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(item.compress_size for item in archive.infolist())
            check_claimed_size(
                sum(item.file_size for item in archive.infolist()),
                "its unpacked sheets",
                path,
                size=size,
            )
            for item in archive.infolist():
                if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", item.filename):
                    continue
                width = height = 0
                with archive.open(item) as stream:
                    tail = b""
                    while part := stream.read(READ_BYTES):
                        cells = FAR_CELL.findall(tail + part)
                        tail = part[-32:]
                        width = max(
                            [
                                width,
                                *(
                                    _column_number(letters)
                                    for letters in {letters for letters, _ in cells}
                                ),
                            ]
                        )
                        height = max([height, *(int(row) for _, row in cells)])
                check_claimed_size(
                    SHEET_CELL_BYTES * width * height,
                    f"{height} rows x {width} columns",
                    path,
                    size=size,
                )
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return  # calamine says what is wrong with a damaged one


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
    for at, line in enumerate(utf8(content, path).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"is no JSON ({str(error)[:80]}); write one object in each line.",
                path=path,
                line=at,
            ) from None
        if not isinstance(row, dict):
            raise DataError(
                f'holds {str(row)[:40]!r}; write one object in each line, such as {{"height":'
                " 1.5}.",
                path=path,
                line=at,
            )
        nested = next((key for key, value in row.items() if _is_nested(value)), None)
        if nested is not None:
            cure = "give each of its parts a key of its own."
            raise DataError(
                f"{nested[:60]!r} holds an object or a list of lists; {cure}", path=path, line=at
            )
        rows.append(row)
        keys.update(dict.fromkeys(row))
    check_width(len(keys), len(content), path)
    check_claimed_size(
        16 * len(rows) * len(keys),
        f"{len(rows)} rows x {len(keys)} columns",
        path,
        size=len(content),
    )
    columns = [array_of([row.get(key) for row in rows], as_text=key in as_text) for key in keys]
    return arrow.Table.from_arrays(columns, names=named(list(keys), path))


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value)
    )


def array_of(cells: Sequence[Any], *, as_text: bool = False) -> Any:
    """A column of pyarrow from Python objects, None for gaps; cells of several kinds become text, whole floats without ``.0``."""
    arrow = pyarrow_module()
    filled = [
        cell
        for cell in cells
        if cell is not None
        and cell == cell
        and not (isinstance(cell, str) and cell.strip() in GAPS)
    ]
    kinds = {type(cell) for cell in filled}
    if as_text or not kinds:
        pass
    elif kinds == {bool}:
        return arrow.array(
            [cell if isinstance(cell, bool) else None for cell in cells], arrow.bool_()
        )
    elif kinds <= {int, float}:
        numbers = [None if isinstance(cell, str) or cell != cell else cell for cell in cells]
        whole = all(isinstance(cell, int) or cell.is_integer() for cell in filled) and all(
            abs(cell) < 2**53 for cell in filled
        )
        return arrow.array(numbers, arrow.int64() if whole else arrow.float64())
    elif kinds <= {datetime.date, datetime.datetime}:
        moments = [
            np.datetime64(cell, "us") if isinstance(cell, datetime.date) else None for cell in cells
        ]
        return arrow.array(moments, arrow.timestamp("us"))
    elif kinds == {list}:
        return arrow.array(
            [
                (
                    None
                    if not isinstance(cell, list)
                    else [cell_text(item) for item in cell if item is not None]
                )
                for cell in cells
            ],
            arrow.list_(arrow.string()),
        )
    if not kinds and all(cell is None for cell in cells):
        return arrow.nulls(len(cells))
    return arrow.array(
        [None if cell is None or cell != cell else cell_text(cell) for cell in cells],
        arrow.string(),
    )


def cell_text(cell: object) -> str:
    """Text of a cell beside cells of another kind."""
    if isinstance(cell, (bool, list)):
        return json.dumps(cell)
    return str(cell) if not isinstance(cell, float) else key_text(cell)
