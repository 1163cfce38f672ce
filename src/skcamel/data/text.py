"""Files ► blocks of whole lines, and lines ► files that appear whole or not at all; gzip is read and written transparently."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from skcamel import memory
from skcamel.data.errors import DataError
from skcamel.data.sizes import check_claimed_size
from skcamel.files import whole_file

BLOCK_BYTES = 2**17  # text parsed at once: temporaries stay within about 10 MB and in cache
PEAK_OF_NUMBERS, PEAK_OF_CELLS = 24, 80  # bytes at the peak for each byte of text that is parsed: all at once, or cell by cell
UNPACKED_ALWAYS = 2**26  # bytes that a compressed file may unpack to, however small it is;
UNPACKED_RATIO = 100  # or this many times its size on disk
LONGEST_LINE = 2**26  # bytes; a longer line is no data file, or one made to fill the memory
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Path_ = str | os.PathLike[str]


class Block(NamedTuple):
    """Whole data lines, each ended by a line feed, and their line numbers in the file."""

    text: bytes
    lines: range | list[int]


class LineFile:
    """A text file read once, from front to back, by lines or by blocks of lines.

    Parameters
    ----------
    path : path
        As shown in messages.
    stream : binary stream
    """

    def __init__(self, path: Path_, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        self.line = 0  # number of lines read

    def readline(self) -> bytes:
        """Next line, with its line feed; b"" at the end."""
        line = self.stream.readline(LONGEST_LINE)
        self.line += 1
        if len(line) == LONGEST_LINE:
            raise self.error(f"the line is longer than {LONGEST_LINE >> 20} MiB; is this a text file?")
        return line.removeprefix(BYTE_ORDER_MARK) if self.line == 1 else line

    def blocks(self, comment: bytes | None = None) -> Iterator[Block]:
        """Remaining lines without empty ones and those that begin with `comment`, about a hundred kilobytes at a time."""
        while text := self.stream.read(BLOCK_BYTES):
            first = self.line + 1
            self.line += text.count(b"\n")
            if not text.endswith(b"\n"):
                text += self.readline()
            check_peak(text, PEAK_OF_NUMBERS, self.path)
            if first == 1:
                text = text.removeprefix(BYTE_ORDER_MARK)
            if b"\r" in text:
                text = text.replace(b"\r\n", b"\n")
            if not text.endswith(b"\n"):
                text += b"\n"
            if (comment is not None and comment in text) or b"\n\n" in text or text.startswith(b"\n"):
                yield _without_comments(text, first, comment)
            else:
                yield Block(text, range(first, self.line + 1))

    def error(self, message: str, line: int | None = None) -> DataError:
        """DataError about a line, by default the last one read."""
        return DataError(message, path=self.path, line=line or max(self.line, 1))


def check_peak(text: bytes, per_byte: int, path: Path_) -> None:
    """Ask for the memory that a block takes while it is parsed; blocks of the usual size are granted unasked."""
    if len(text) > 2 * BLOCK_BYTES:
        check_claimed_size(per_byte * len(text), f"lines of {memory.gib(len(text))}", path)


def _without_comments(text: bytes, first: int, comment: bytes | None) -> Block:
    numbered = enumerate(text.split(b"\n")[:-1], first)
    kept = [(number, line) for number, line in numbered if line.strip() and not (comment and line.lstrip().startswith(comment))]
    return Block(b"".join(line + b"\n" for _, line in kept), [number for number, _ in kept])


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
                f"unpacks to more than {memory.gib(self.most)}, out of proportion to its size; if that is meant, unpack it first.",
                path=self.path,
            )
        return content


@contextmanager
def open_lines(path: Path_) -> Iterator[LineFile]:
    """Open a plain or gzip-compressed file; damage of the compression becomes a DataError. No other function opens compressed ones.

    Parameters
    ----------
    path : str or path
        Compression is told by the first two bytes, not by the name.
    """
    with Path(path).open("rb") as raw:
        packed = raw.peek(2)[:2] == GZIP_MAGIC  # a pipe cannot be wound back
        stream = io.BufferedReader(_Unpacked(path, raw), BLOCK_BYTES) if packed else raw
        lines = LineFile(path, stream)
        try:
            yield lines
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise lines.error(f"the compressed file is damaged or cut short ({error}); download or copy it again.") from error


def decoded(text: bytes) -> str:
    r"""UTF-8 where it is, else Latin-1, which older tools wrote.

    Examples
    --------
    >>> decoded(b"caf\xe9") == decoded("café".encode()) == "café"
    True
    """
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def stem(path: Path_) -> str:
    """File name without ``.gz`` and without the suffix before it.

    Examples
    --------
    >>> stem("folder/yeast.arff.gz")
    'yeast'
    """
    return Path(Path(path).name.removesuffix(".gz")).stem


def shortened(words: Iterable[object], most: int = 4) -> str:
    """First few of `words`, quoted, for messages.

    Examples
    --------
    >>> shortened(["a", "b", "c"], most=2)
    "'a', 'b', …"
    """
    shown = [repr(str(word)[:60])[:80] for word in words]  # repr writes some characters as ten
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that stood there before, or None.

    Examples
    --------
    >>> first_repeated(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def write_lines(path: Path_, lines: Iterable[str]) -> None:
    """Write text as UTF-8, compressed where the name ends in ``.gz``; the file appears whole or not at all."""
    with whole_file(path) as file:
        if Path(path).suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:  # the same bytes on every day
                packed.writelines(line.encode() for line in lines)
        else:
            file.writelines(line.encode() for line in lines)


def numeral(value: float) -> str:
    """Shortest text that gives the same double, without a trailing ``.0``.

    Examples
    --------
    >>> numeral(1.0), numeral(0.1), numeral(-0.0)
    ('1', '0.1', '-0')
    """
    return repr(value).removesuffix(".0")


def numerals(values: np.ndarray, missing: str) -> list[str]:
    """Text of each of `values`, with `missing` for NaN."""
    return [numeral(value) if value == value else missing for value in values.tolist()]
