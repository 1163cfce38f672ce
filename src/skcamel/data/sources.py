"""A path ► the reader or the writer of its format; the text of a file in blocks of lines or whole, unpacked, in UTF-8.

What a file claims is compared with its own size and with the memory that this process may still use.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np

from skcamel import memory
from skcamel.data import DataError, Path_
from skcamel.files import whole_file

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset
    from skcamel.data.labels import LabelColumns

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
SHEETS = (".xlsx", ".xlsm")  # the reader takes others too, and aborts on some damaged ones
JSON_LINES = (".jsonl", ".ndjson")
TABLES = (*SEPARATORS, *PARQUET, *SHEETS, *JSON_LINES)
FORMATS = {
    ".arff": "arff",
    **dict.fromkeys(TABLES, "table"),
    ".mat": "mat",
    **dict.fromkeys((".svm", ".svmlight", ".libsvm", ".txt"), "svmlight"),
}
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
ENCODINGS = ("utf-8", "cp1252", "latin-1")  # of a text without a mark; the first that fits
STDIN = "standard input"  # as messages name it
READ_BYTES = 2**22  # unpacked or decoded at once
PEAK_OF_TEXT = 4  # bytes of memory for each byte of a text and its columns
MEKA_RELATION = re.compile(rb"@relation\b.*-C\s*-?\d", re.IGNORECASE)
BLOCK_BYTES = 2**20  # text parsed at once
UNPACKED_ALWAYS = 2**26  # bytes that a compressed file may unpack to, however small it is;
UNPACKED_RATIO = 100  # or this many times its size on disk
MOST_EMPTY = 6  # blocks in a row that hold nothing but comments
LONGEST_LINE = 2**26  # bytes; a longer line is no data file, or one made to fill the memory
# columns; more are believed where the file stores at least one value for 64 of them
ALWAYS_PLAUSIBLE = 2**20
# bytes that a file may claim for cells that it does not store, however small it is,
CLAIMED_ALWAYS = 2**29
CLAIMED_RATIO = 512  # or this many times its size on disk
LABEL_BYTES = 12  # of one label at the peak: eight that stay, and four while they are checked
NAME_BYTES = 150  # of a short text in a tuple and in a set, on top of its characters
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = codecs.BOM_UTF8


def pyarrow_module(name: str = "pyarrow") -> Any:
    """``pyarrow`` or one of its modules, or how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            "Tables and ARFF files need pyarrow: pip install skcamel[tables]"
        ) from None


def suffix_of(path: Path_) -> str:
    """The suffix in lower case, before an optional ``.gz``."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def format_of(path: Path_) -> str:
    """``"arff"``, ``"table"``, ``"mat"`` or ``"svmlight"``, by the suffix.

    Examples
    --------
    >>> format_of("emotions.arff.gz"), format_of("mine.csv")
    ('arff', 'table')
    """
    suffix = suffix_of(path)
    if suffix not in FORMATS:
        raise DataError(
            f"the suffix {suffix!r} names no known format; known are {', '.join(FORMATS)}, each"
            " also with .gz.",
            path=path,
        )
    return FORMATS[suffix]


def read_dataset(
    path: Path_,
    *,
    xml: Path_ | None = None,
    labels: LabelColumns | None = None,
    nominal: str = "index",
    test: Path_ | None = None,
) -> Dataset:
    """Read a file of any known format.

    Parameters
    ----------
    path : str or path
        ``.arff`` with a Mulan XML beside it, or of MEKA (``-C n`` in its relation); a table, such
        as ``.csv``, ``.parquet``, ``.xlsx``; ``.mat``; ``.svm``, ``.svmlight``, ``.libsvm``,
        ``.txt``. Text files also gzipped.
    xml : str or path, default=None
        Mulan label file. None: the one of the same name beside the ARFF, if there is one.
    labels : optional
        Label columns of a table; see ``read_table``.
    nominal : {"index", "onehot"}, default="index"
        Nominals of an ARFF file; see ``read_mulan``.
    test : str or path, default=None
        A second file, ARFF or svmlight. Its rows follow those of the first, and `train` and `test`
        tell them apart.

    Returns
    -------
    Dataset
    """
    kind = format_of(path)
    if test is not None and kind not in ("arff", "svmlight"):
        problem = "only ARFF and svmlight take a second file; put the rows of both into one file."
        raise DataError(problem, path=path)
    if kind == "table":
        from skcamel.data.tables import read_table

        if labels is None:
            raise DataError(
                "a table does not say which columns are labels; name them by labels= (command line:"
                " --labels).",
                path=path,
            )
        return read_table(path, labels=labels)
    if kind == "mat":
        from skcamel.data.mat import read_mat

        return read_mat(path)
    if kind == "svmlight":
        from skcamel.data.svmlight import read_svmlight

        return read_svmlight(path, test=test)
    return _read_arff(Path(path), xml, nominal, test)


def _read_arff(path: Path, xml: Path_ | None, nominal: str, test: Path_ | None) -> Dataset:
    from skcamel.data.arff import read_meka, read_mulan

    beside = [file for file in label_files(path) if file.is_file()]
    if xml is not None or beside:
        return read_mulan(path, xml or beside[0], nominal=nominal, test=test)
    with open_lines(path) as file:
        head = file.stream.read(1 << 16)
    if MEKA_RELATION.search(head):
        return read_meka(path, nominal=nominal, test=test)
    raise DataError(
        f"no {xml_beside(path).name} lies beside it and its relation has no -C n, so its labels are"
        " unknown; give the XML file by xml= (command line: --xml).",
        path=path,
    )


def write_dataset(dataset: Dataset, path: Path_, *, meka: bool = False) -> tuple[Path, ...]:
    """Write a file in the format that its suffix names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        ``.arff`` (Mulan, with the XML beside it), ``.csv``, ``.tsv``, ``.parquet``, ``.svm``,
        ``.svmlight``, ``.libsvm``, ``.txt``.
    meka : bool, default=False
        Write ``.arff`` in MEKA's form, one file.

    Returns
    -------
    tuple of Path
        The files written.
    """
    path, kind = Path(path), format_of(path)
    if kind == "mat":
        problem = "Matlab files are read, not written; write .arff, .csv or .svm instead."
        raise DataError(problem, path=path)
    if kind == "table":
        from skcamel.data.tables import write_table

        write_table(dataset, path)
    elif kind == "svmlight":
        from skcamel.data.svmlight import write_svmlight

        write_svmlight(dataset, path)
    elif meka:
        from skcamel.data.arff import write_meka

        write_meka(dataset, path)
    else:
        from skcamel.data.arff import write_mulan

        write_mulan(dataset, path)
        return path, xml_beside(path)
    return (path,)


def whole_content(path: Path_) -> bytes:
    """All bytes of a file, unpacked; their memory is asked for before it is taken."""
    size = Path(path).stat().st_size
    check_memory(PEAK_OF_TEXT * size, "Reading it", path)
    with open_lines(path) as file:
        if not file.packed:  # a pipe has no size
            return file.stream.read(size or -1)
        parts: list[bytes] = []
        while part := file.stream.read(READ_BYTES):
            parts.append(part)
            check_memory((PEAK_OF_TEXT - 1) * len(part), "Reading on", path)
        return b"".join(parts)


def utf8(content: bytes, path: Path_) -> bytes:
    """A text as UTF-8 without a byte order mark."""
    mark = next((mark for mark in BYTE_ORDER_MARKS if content.startswith(mark)), b"")
    encodings = (BYTE_ORDER_MARKS[mark],) if mark else ENCODINGS
    fitting = next((name for name in encodings if _fits(content, name)), None)
    if fitting is None:
        raise DataError(
            f"begins like {encodings[0].upper()} text and is not; save it again as UTF-8.",
            path=path,
        )
    content = content.removeprefix(mark)
    if fitting != "utf-8":
        content = content.decode(fitting).encode()
    if b"\0" in content:
        raise DataError(
            "holds zero bytes; is it a text file? Save it as CSV in UTF-8.",
            path=path,
            line=content.count(b"\n", 0, content.index(b"\0")) + 1,
        )
    return content


def _fits(content: bytes, encoding: str) -> bool:
    """Whether a text can be decoded, tried piece by piece so that it never stands there twice."""
    if encoding == "utf-8" and content.isascii():
        return True
    decoder, whole = codecs.getincrementaldecoder(encoding)(), memoryview(content)
    try:
        for start in range(0, len(content), READ_BYTES):
            decoder.decode(whole[start : start + READ_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


class Block(NamedTuple):
    """Whole data lines of a file, each ended by a line feed, without empty lines and comments."""

    text: bytes
    lines: bytes  # with them
    first: int  # number of the first of these in the file
    comment: bytes

    def line(self, row: int) -> int:
        """Line in the file of a row of `text`, from 0."""
        kept = [
            number
            for number, line in enumerate(self.lines.split(b"\n"), self.first)
            if line.strip() and not line.lstrip().startswith(self.comment)
        ]
        return kept[row]

    def after(self, n_bytes: int) -> Block:
        """What follows so many bytes of `text`, which end in a line feed."""
        row = self.text[:n_bytes].count(b"\n")
        number = self.line(row - 1) + 1
        rest = self.lines.split(b"\n", number - self.first)[-1]
        return Block(self.text[n_bytes:], rest, number, self.comment)


class LineFile:
    """A text file read once, from front to back, by blocks of lines; messages show `path`."""

    def __init__(self, path: Path_, stream: BinaryIO, *, packed: bool = False) -> None:
        self.path = path
        self.stream = stream
        self.packed = packed  # what the stream gives is longer than the file
        self.line = 0  # number of lines read

    def blocks(self, comment: bytes) -> Iterator[Block]:
        """Remaining lines without empty ones and those that begin with `comment`, about a megabyte at a time."""
        n_empty = 0
        skipped = re.compile(rb"\n(?:[ \t\r]*(?:" + comment + rb"[^\n]*)?\n)+")
        while lines := self.stream.read(BLOCK_BYTES):
            if not lines.endswith(b"\n"):
                lines += self.stream.readline(LONGEST_LINE)
            first = self.line + 1
            self.line += lines.count(b"\n")
            if not lines.endswith(b"\n"):
                lines += b"\n"
                self.line += 1
            if len(lines) > LONGEST_LINE:
                raise self.error(
                    f"the line is longer than {LONGEST_LINE >> 20} MiB; is this a text file?"
                )
            if first == 1:
                lines = lines.removeprefix(BYTE_ORDER_MARK)
            text = lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines
            if comment in text or b"\n\n" in text:
                text = skipped.sub(b"\n", b"\n" + text)
            text = text.removeprefix(b"\n")
            n_empty = 0 if text else n_empty + 1
            if n_empty > MOST_EMPTY:
                raise self.error("comments and empty lines without end; is this a data file?")
            if text:
                yield Block(text, lines, first, comment)

    def error(self, message: str, line: int | None = None) -> DataError:
        """DataError about a line, by default the last one read."""
        return DataError(message, path=self.path, line=line or max(self.line, 1))


class _Unpacked(gzip.GzipFile):
    """What a compressed file holds, as long as it is in proportion to its size."""

    def __init__(self, path: Path_, raw: BinaryIO) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self.path, self.done = path, 0
        self.most = max(UNPACKED_ALWAYS, UNPACKED_RATIO * os.fstat(raw.fileno()).st_size)

    def read(self, size: int | None = -1) -> bytes:
        """Read, count, and stop where it is too much."""
        content = super().read(size)
        self.done += len(content)
        if self.done > self.most:
            raise DataError(
                f"unpacks to more than {memory.gib(self.most)}, out of proportion to its size; if"
                " that is meant, unpack it first.",
                path=self.path,
            )
        return content


@contextmanager
def open_lines(path: Path_) -> Iterator[LineFile]:
    """Open a plain or gzip-compressed file; its first two bytes tell which. Damage of the compression becomes a DataError."""
    with Path(path).open("rb") as raw:
        packed = raw.peek(2)[:2] == GZIP_MAGIC  # a pipe cannot be wound back
        stream = io.BufferedReader(_Unpacked(path, raw), BLOCK_BYTES) if packed else raw
        lines = LineFile(path, stream, packed=packed)
        try:
            yield lines
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise lines.error(
                f"the compressed file is damaged or cut short ({error}); download or copy it again."
            ) from error


@contextmanager
def text_file(path: Path_) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed where the name ends in ``.gz``; it appears whole or not at all."""
    with whole_file(path) as file:
        if Path(path).suffix.lower() == ".gz":
            # without name and time: the same bytes on every day
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file


def write_lines(path: Path_, lines: Iterable[str]) -> None:
    """Write text as UTF-8, as :func:`text_file` does."""
    with text_file(path) as file:
        file.writelines(line.encode() for line in lines)


def decoded(text: bytes) -> str:
    """UTF-8 where it is, else Latin-1, which older tools wrote."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def stem(path: Path_) -> str:
    """File name without ``.gz`` and without the suffix before it."""
    return Path(re.sub(r"\.gz$", "", Path(path).name, flags=re.IGNORECASE)).stem


def xml_beside(arff: Path_) -> Path:
    """Where the label file of an ARFF file is expected: the same name, ending in ``.xml``."""
    return Path(arff).with_name(f"{stem(arff)}.xml")


def label_files(arff: Path_) -> list[Path]:
    """Where it is looked for: there, and under the name without a trailing ``-train`` or ``-test``."""
    beside = xml_beside(arff)
    shared = re.sub(r"[-_](train|test)(?=\.xml$)", "", beside.name, flags=re.IGNORECASE)
    if shared == beside.name:
        return [beside]
    return [beside, beside.with_name(shared)]


def shortened(words: Iterable[object], most: int = 4) -> str:
    """First few of `words`, quoted, for messages."""
    shown = [repr(str(word)[:60])[:80] for word in words]  # repr writes some characters as ten
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))


def counted(number: int, noun: str) -> str:
    """``1 label``, ``2 labels``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that stood there before, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def check_different_labels(names: Iterable[str], path: Path_) -> None:
    """Refuse two labels of one name."""
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"two labels are called {twice[:60]!r}; rename one.", path=path)


def numerals(values: np.ndarray, missing: str) -> list[str]:
    """Shortest text that gives the same double for each of `values`, without a trailing ``.0``; `missing` for NaN."""
    return [
        repr(value).removesuffix(".0") if value == value else missing for value in values.tolist()
    ]


def stored_cells(X: Any, separator: str, first: int, missing: str) -> Iterator[list[str]]:
    """The text ``column separator value`` of each cell that a CSR matrix stores, row by row; columns are counted from `first`."""
    for start, stop in pairwise(X.indptr.tolist()):
        columns = (X.indices[start:stop] + first).tolist()
        values = numerals(X.data[start:stop], missing)
        yield [f"{column}{separator}{value}" for column, value in zip(columns, values)]


def check_memory(needed: float, what: str, path: Path_) -> None:
    """Refuse work on a file that needs more bytes than this process may still use; see :func:`skcamel.memory.require`."""
    try:
        memory.require(
            needed, what, "Keep a part of its rows or columns, or give this process more memory."
        )
    except MemoryError as error:
        raise DataError(str(error), path=path) from None


def check_claimed_size(needed: float, what: str, path: Path_, *, size: int | None = None) -> None:
    """Refuse what a file claims, before it is allocated: where it is out of proportion to the size of the file, or does not fit.

    `needed` are the bytes at the peak; `what` is in plural. `size` is that of the file, where it
    has no name to look it up.
    """
    check_proportion(needed, what, path, size)
    check_memory(needed, f"Room for {what}", path)


def check_proportion(needed: float, what: str, path: Path_, size: int | None = None) -> None:
    """Refuse what a file claims where it is out of proportion to its size; `what` is in plural."""
    size = os.path.getsize(path) if size is None else size
    if needed > max(CLAIMED_ALWAYS, CLAIMED_RATIO * size):
        raise DataError(
            f"{what} need {memory.gib(needed)}, out of proportion to a file of its size; keep a"
            " part of them.",
            path=path,
        )


def check_room_for_labels(n: int, q: int, path: Path_) -> None:
    """Refuse label matrices that a file claims and that do not fit."""
    check_claimed_size(LABEL_BYTES * n * q, f"{n} rows x {q} labels", path)


def check_plausible_width(
    width: int, stored: int, what: str, path: Path_, cure: str = "is the file damaged?"
) -> None:
    """Refuse numbers of columns that no real file of so few values has: each column needs a name."""
    if width > max(ALWAYS_PLAUSIBLE, 64 * stored):
        raise DataError(f"{width} {what}, but only {stored} stored in the file; {cure}", path=path)
