"""Table files larger than memory ► batches of rows; several files are one table, and each column has one type for all cells of all files.

A Parquet file says what its columns hold. For a text file one pass finds it out block by block, by the rules of
:mod:`skcamel.data.separated`: the types that fit all blocks are those that the whole file has. So nothing depends on where a batch ends.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skcamel.data import DataError, Path_
from skcamel.data.readers import PARQUET, PEAK_OF_TEXT, declared_bytes, decoded_columns, open_parquet, suffix_of
from skcamel.data.separated import (
    LARGEST_BLOCK,
    READ_BYTES,
    SEPARATORS,
    Dialect,
    Head,
    check_closed,
    columns_in,
    has_rows,
    head_of,
    holds_codes,
    is_too_long,
    options_of,
    pyarrow_module,
    too_long,
    utf8,
    wrong_width,
)
from skcamel.data.text import check_proportion, open_lines, shortened

if TYPE_CHECKING:
    import pyarrow

KNOWN = (*SEPARATORS, *PARQUET)
BATCH_ROWS = 2**16
PIECE_ROWS = 2**20  # of row groups that are read in one go
TEXT_BLOCK = 2**22  # bytes of text that become one batch; longer rows take larger blocks
PACKED_RATIO = 4  # by which a compressed text grows, more or less
NOT_CP1252 = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
UNITS = ("s", "ms", "us", "ns")


class Form(NamedTuple):
    """How a text file is written."""

    head: Head
    mark: int  # bytes of its byte order mark
    encoding: str
    quoted: bool
    block: int  # bytes, at least those of its longest row


@dataclass(frozen=True)
class Piece:
    """Rows of one file that are read in one go."""

    file: int  # its number among the files
    path: str
    first: int = 0  # its first row, from 0
    groups: tuple[int, ...] = ()  # of a Parquet file
    form: Form | None = None  # of a text file


@dataclass(frozen=True)
class Files:
    r"""Files with the same columns, as one table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"a.csv": "size,kind\n1,x\n2,y\n", "b.csv": "kind,size\n007,2.5\n"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     files = opened([f"{folder}/a.csv", f"{folder}/b.csv"])
    ...     [rows.table.to_pylist() for piece in files.pieces for rows in files.batches(piece)]
    [[{'size': 1.0, 'kind': 'x'}, {'size': 2.0, 'kind': 'y'}], [{'size': 2.5, 'kind': '007'}]]
    """

    paths: tuple[str, ...]
    schema: pyarrow.Schema
    pieces: tuple[Piece, ...]
    as_text: tuple[str, ...] = ()

    def batches(self, piece: Piece, rows: int = BATCH_ROWS) -> Iterator[TableRows]:
        """Batches of at most so many rows, none of them empty."""
        at = piece.first
        for table in _parquet(piece, self.as_text, rows) if piece.form is None else _text(piece.path, piece.form, self.schema):
            columns = [_cast(table.column(field.name), field.type) for field in self.schema]
            whole = pyarrow_module().Table.from_arrays(columns, schema=self.schema)
            for start in range(0, whole.num_rows, rows):
                part = whole.slice(start, rows)
                yield TableRows(part, piece.file, piece.path, at)
                at += part.num_rows


class TableRows(NamedTuple):
    """A batch, and where it stands."""

    table: pyarrow.Table
    file: int
    path: str
    first: int  # row of the file, from 0


def opened(paths: Sequence[Path_], as_text: Collection[str] = ()) -> Files:
    """What files hold: Parquet and text files, also compressed; columns named in `as_text` are text whatever they look like."""
    arrow = pyarrow_module()
    names = [os.fspath(path) for path in paths]
    pieces: list[Piece] = []
    kinds: dict[str, Any] = {}
    for number, path in enumerate(names):
        if suffix_of(path, None, "reads") not in KNOWN:
            raise DataError(f"is read as a whole only; save it as {', '.join(KNOWN)} to read it in batches.", path=path)
        Path(path).stat()  # a missing file is no damage
        own, found = _pieces_of_parquet(number, path, as_text) if _is_parquet(path) else _pieces_of_text(number, path, as_text)
        _check_columns(kinds or own, own, names[0], path)
        kinds = {name: joined(kind, own[name], name, path) for name, kind in (kinds or own).items()}
        pieces += found
    if not pieces:
        raise DataError("holds no row." if len(names) == 1 else "neither it nor the others hold a row.", path=names[0])
    return Files(tuple(names), arrow.schema(list(kinds.items())), tuple(pieces), tuple(as_text))


def in_one_piece(path: Path_) -> float:
    """Bytes that it takes at the peak to read a file as a whole."""
    if _is_parquet(path):
        with open_parquet(path) as file:
            return max(declared_bytes(file))
    packed = str(path).lower().endswith(".gz")
    return PEAK_OF_TEXT * Path(path).stat().st_size * (PACKED_RATIO if packed else 1)


def is_streamable(path: Path_) -> bool:
    """Whether a file of this name can be read in batches."""
    return Path(str(path).lower().removesuffix(".gz")).suffix in KNOWN


def joined(first: Any, second: Any, name: str, path: Path_) -> Any:
    """The type of pyarrow that holds the cells of both: numbers with numbers, dates with dates, else text."""
    arrow = pyarrow_module()
    types = arrow.types
    if first == second or types.is_null(second):
        return first
    if types.is_null(first):
        return second
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in (first, second)):
        whole = all(types.is_integer(kind) and kind != arrow.uint64() for kind in (first, second))
        return arrow.int64() if whole else arrow.float64()
    zones = {getattr(kind, "tz", None) for kind in (first, second)}
    if len(zones) == 1 and all(types.is_date(kind) or types.is_timestamp(kind) for kind in (first, second)):
        return arrow.timestamp(max((getattr(kind, "unit", "s") for kind in (first, second)), key=UNITS.index), zones.pop())
    if types.is_nested(first) or types.is_nested(second):
        cure = "write it alike everywhere."
        raise DataError(f"column {name[:60]!r} holds {str(second)[:60]} here and {str(first)[:60]} before; {cure}", path=path)
    return arrow.string()


def _cast(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind, safe=False)


def _is_parquet(path: Path_) -> bool:
    return Path(str(path).lower()).suffix in PARQUET


def _check_columns(first: Mapping[str, Any], own: Mapping[str, Any], first_path: str, path: str) -> None:
    """Refuse a file that lacks a column of another."""
    for names, others, lacking, other in ((own, first, path, first_path), (first, own, first_path, path)):
        if absent := [name for name in others if name not in names]:
            which = f"the column{'s' * (len(absent) > 1)} {shortened(absent, 8)} of {Path(other).name}"
            raise DataError(f"lacks {which}; files of one table have the same columns, in any order.", path=lacking)


def _pieces_of_parquet(number: int, path: str, as_text: Collection[str]) -> tuple[dict[str, Any], list[Piece]]:
    """Columns with their types, and row groups in pieces; what the file declares is held against its size."""
    size = Path(path).stat().st_size
    with open_parquet(path) as file:
        for needed, what in declared_bytes(file).items():
            check_proportion(needed, what, path, size)
        empty = decoded_columns(file.schema_arrow.empty_table(), as_text, path, plain=False, size=size)
        counts = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
    pieces: list[Piece] = []
    groups: list[int] = []
    first = held = 0
    for k, count in enumerate(counts):
        groups.append(k)
        held += count
        if held >= PIECE_ROWS or (held and k == len(counts) - 1):
            pieces.append(Piece(number, path, first, tuple(groups)))
            first, held = first + held, 0
            groups.clear()
    return dict(zip(empty.column_names, empty.schema.types, strict=True)), pieces


def _parquet(piece: Piece, as_text: Collection[str], rows: int) -> Iterator[pyarrow.Table]:
    arrow, size = pyarrow_module(), Path(piece.path).stat().st_size
    with open_parquet(piece.path, pre_buffer=False, buffer_size=READ_BYTES) as file:
        for batch in file.iter_batches(rows, row_groups=list(piece.groups), use_threads=False):
            yield decoded_columns(arrow.Table.from_batches([batch]), as_text, piece.path, plain=False, size=size)


def _pieces_of_text(number: int, path: str, as_text: Collection[str]) -> tuple[dict[str, Any], list[Piece]]:
    """Columns with their types, from a pass over all rows; a file is one piece."""
    arrow = pyarrow_module()
    form, is_filled, tail = _form(path)
    if not is_filled:
        return dict.fromkeys(form.head.names, arrow.null()), []
    while True:
        try:
            kinds, last = _kinds(path, form, as_text)
            break
        except arrow.ArrowInvalid as error:
            if not is_too_long(error):
                raise DataError(f"cannot be read ({str(error)[:120]}); is it damaged, or another kind of file?", path=path) from error
            if form.block >= LARGEST_BLOCK:
                raise too_long(path) from None
            form = form._replace(block=8 * form.block)
    if tail:
        try:
            check_closed(tail, last, form.head.dialect, path)
        except DataError as error:  # its line is one of the tail
            raise DataError(error.message, path=path) from None
    kept = [form.head.names[k] for k in columns_in(form.head, list(kinds.values())[-1])]
    return {name: kinds[name] for name in kept}, [Piece(number, path, form=form)]


def _form(path: str) -> tuple[Form, bool, bytes]:
    """How a text file is written, whether it has rows, and its last part where a quote may be left open in it."""
    with open_lines(path) as file:
        first = file.stream.read(READ_BYTES)
        marks = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
        mark = next((mark for mark in marks if first.startswith(mark)), b"")
        wide = marks.get(mark, "").startswith("utf-16")
        decoder, candidates, quotes, part, tail = codecs.getincrementaldecoder("utf-8")(), ["utf-8", "cp1252", "latin-1"], 0, first, b""
        while part:
            if not wide and b"\0" in part:
                raise DataError("holds zero bytes; is it a text file? Save it as CSV in UTF-8.", path=path)
            quotes += part.count(b'"')
            if candidates[0] == "utf-8" and not _decodes(decoder, part):
                candidates.remove("utf-8")
            if "cp1252" in candidates and any(odd in part for odd in NOT_CP1252):
                candidates.remove("cp1252")
            tail = (tail + part)[-READ_BYTES:]
            part = file.stream.read(READ_BYTES)
        if candidates[0] == "utf-8" and not wide and not _decodes(decoder, b"", final=True):
            candidates.remove("utf-8")
    encoding = marks[mark] if wide else candidates[0]
    start = first[len(mark) :].decode(encoding, "ignore").encode()
    if len(first) == READ_BYTES and b"\n" in start:
        start = start[: start.rindex(b"\n") + 1]
    head = head_of(utf8(start, path), path)
    is_filled = len(first) == READ_BYTES or has_rows(start, head.dialect.start)
    end = tail.decode(encoding, "ignore").encode() if quotes % 2 else b""
    return Form(head, len(mark), encoding, quotes > 0, TEXT_BLOCK), is_filled, end


def _decodes(decoder: codecs.IncrementalDecoder, part: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(part, final)
    except UnicodeDecodeError:
        return False
    return True


def _kinds(path: str, form: Form, as_text: Collection[str]) -> tuple[dict[str, Any], pyarrow.Table]:
    """Types that fit all cells of a text file, and its last block; whole numbers among which codes such as 007 stand are text."""
    arrow = pyarrow_module()
    texts = arrow.schema([(name, arrow.string()) for name in form.head.names])
    kinds = dict.fromkeys(form.head.names, arrow.null()) | dict.fromkeys(as_text, arrow.string())
    codes: set[str] = set()
    block = texts.empty_table()
    for block in _text(path, form, texts):
        typed = _retyped(block, form, [name for name, kind in kinds.items() if kind != arrow.string()])
        for name, kind in zip(typed.column_names, typed.schema.types, strict=True):
            kinds[name] = joined(kinds[name], kind, name, path)
            if name not in codes and arrow.types.is_integer(kind) and holds_codes(block.column(name)):
                codes.add(name)
    is_code = {name for name in codes if arrow.types.is_integer(kinds[name])}
    return {name: arrow.string() if name in is_code else kinds[name] for name in form.head.names}, block


def _retyped(block: pyarrow.Table, form: Form, names: Sequence[str]) -> pyarrow.Table:
    """Columns of text in the types that pyarrow.csv finds in their cells."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    if not names:
        return block.select([])
    file = arrow.BufferOutputStream()
    reader.write_csv(block.select(list(names)), file, reader.WriteOptions(include_header=False, quoting_style="all_valid"))
    content = file.getvalue()
    dialect = Dialect(",", form.head.dialect.decimal_point, 0)
    options = options_of(names, dialect, {}, quoted=True, threads=False, block=content.size + 1)
    return reader.read_csv(arrow.BufferReader(content), **options)


def _text(path: str, form: Form, schema: pyarrow.Schema) -> Iterator[pyarrow.Table]:
    """Blocks of a text file in these types; a row of another width is refused by its number."""
    arrow, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
    wrong: list[Any] = []

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    kinds = {field.name: field.type for field in schema}
    options = options_of(
        form.head.names, form.head.dialect, kinds, quoted=form.quoted, threads=False, block=form.block, only=schema.names, handler=refuse
    )
    try:
        with _rows_of(path, form) as stream, reader.open_csv(stream, **options) as blocks:
            for block in blocks:
                yield arrow.Table.from_batches([block])
    except arrow.ArrowInvalid:
        if not wrong:
            raise
        raise DataError(f"row {wrong[0].number}: {wrong_width(wrong[0])}", path=path) from None


@contextmanager
def _rows_of(path: str, form: Form) -> Iterator[Any]:
    """A stream of the rows of a text file, unpacked and in UTF-8."""
    arrow = pyarrow_module()
    with open_lines(path) as file:
        stream = arrow.PythonFile(file.stream, mode="r") if file.packed else arrow.OSFile(path)
        stream.read(form.mark)
        if form.encoding != "utf-8":
            stream = arrow.transcoding_input_stream(stream, form.encoding, "utf-8")
        stream.read(form.head.dialect.start)
        yield stream
