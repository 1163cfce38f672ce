"""A path ► the reader or the writer of its format; whole texts in UTF-8; and what a file may claim.

What a file claims is compared with its own size and with the memory that this process may still
use.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

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
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ENCODINGS = ("utf-8-sig", "cp1252", "latin-1")  # of other texts; the first that fits
STDIN = "standard input"  # as messages name it
GZIP_MAGIC = b"\x1f\x8b"
READ_BYTES = 2**22  # unpacked at once
PEAK_OF_TEXT = 4  # bytes of memory for each byte of a text and its columns
# bytes that a file may claim for what it packs or does not store, however small it is;
CLAIMED_ALWAYS = 2**29
CLAIMED_RATIO = 512  # or this many times its size on disk
LABEL_BYTES = 24  # of one label at the peak
NAME_BYTES = 150  # of a short text in a tuple and in a set, on top of its characters


def pyarrow_module(name: str = "pyarrow") -> Any:
    """``pyarrow`` or one of its modules, or how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            "Tables and ARFF files need pyarrow: pip install 'skcamel[tables]'"
        ) from None


# Formats


def suffix_of(path: Path_) -> str:
    """The suffix in lower case, before an optional ``.gz``."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def stem(path: Path_) -> str:
    """File name without ``.gz`` and without the suffix before it."""
    return Path(re.sub(r"\.gz$", "", Path(path).name, flags=re.IGNORECASE)).stem


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
        A second ARFF file with the same columns. Its rows follow those of the first, and `train`
        and `test` name their rows.

    Returns
    -------
    Dataset
    """
    from skcamel.data import arff, mat, svmlight, tables
    from skcamel.data.dataset import joined

    kind = format_of(path)
    beside = arff.label_file(path)
    if beside.is_file():
        xml = xml or beside
    if test is not None and kind == "arff":
        # the label file of the first names the labels of both
        return joined(*(read_dataset(file, xml=xml, nominal=nominal) for file in (path, test)))
    if test is not None:
        problem = "only ARFF takes a second file; put all rows into one file."
        raise DataError(problem, path=path)
    if kind == "mat":
        return mat.read_mat(path)
    if kind == "svmlight":
        return svmlight.read_svmlight(path)
    if kind == "arff":
        if xml is None:
            return arff.read_meka(path, nominal=nominal)
        return arff.read_mulan(path, xml, nominal=nominal)
    if labels is None:
        raise DataError(
            "a table does not say which columns are labels; name them by labels= (command line:"
            " --labels).",
            path=path,
        )
    return tables.read_table(path, labels=labels)


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
    from skcamel.data import arff, svmlight, tables

    path = Path(path)
    kind = format_of(path)
    if kind == "mat":
        problem = "Matlab files are read, not written; write .arff, .csv or .svm instead."
        raise DataError(problem, path=path)
    if kind == "arff" and not meka:
        arff.write_mulan(dataset, path)
        return path, arff.xml_beside(path)
    writers = {
        "arff": arff.write_meka,
        "svmlight": svmlight.write_svmlight,
        "table": tables.write_table,
    }
    writers[kind](dataset, path)
    return (path,)


# Texts


def whole_content(path: Path_) -> bytes:
    """All bytes of a file, unpacked where the first two say that it is compressed by gzip."""
    size = Path(path).stat().st_size
    check_memory(PEAK_OF_TEXT * size, "Reading it", path)
    with Path(path).open("rb") as raw:
        if raw.peek(2)[:2] != GZIP_MAGIC:  # a pipe cannot be wound back
            return raw.read(size or -1)
        content = bytearray()
        try:
            with gzip.GzipFile(fileobj=raw) as packed:
                while part := packed.read(READ_BYTES):
                    content += part
                    check_claimed_size(PEAK_OF_TEXT * len(content), "its unpacked lines", path)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                f"the compressed file is damaged or truncated ({error}); download or copy it"
                " again.",
                path=path,
            ) from error
    return bytes(content)


def utf8(content: bytes, path: Path_) -> bytes:
    """A text as UTF-8 without a byte order mark."""
    if not content.isascii():
        content = _decoded(content, path).encode()
    if b"\0" in content:
        raise DataError(
            "holds zero bytes; is it a text file? Save it again as UTF-8.",
            path=path,
            line=content.count(b"\n", 0, content.index(b"\0")) + 1,
        )
    return content


def _decoded(content: bytes, path: Path_) -> str:
    """A text in the encoding of its mark, else in the first that fits."""
    encodings = ["utf-16"] if content[:2] in UTF16_MARKS else ENCODINGS
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    raise DataError("begins like UTF-16 text and is not; save it again as UTF-8.", path=path)


@contextmanager
def text_file(path: Path_) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed by a name in ``.gz``; it appears whole or not at all."""
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


def numerals(values: np.ndarray, missing: str) -> list[str]:
    """Shortest text that gives the same double for each value; `missing` for NaN.

    A trailing ``.0`` is left out.
    """
    return [
        repr(value).removesuffix(".0") if value == value else missing for value in values.tolist()
    ]


def stored_cells(X: Any, separator: str, missing: str) -> Iterator[list[str]]:
    """Text of the cells that each row of a CSR matrix stores: column, separator, value."""
    for start, stop in pairwise(X.indptr.tolist()):
        columns = X.indices[start:stop].tolist()
        values = numerals(X.data[start:stop], missing)
        yield [f"{column}{separator}{value}" for column, value in zip(columns, values)]


# Words of messages


def shortened(words: Iterable[object], most: int = 4) -> str:
    """First few of `words`, quoted, for messages."""
    shown = [repr(str(word)[:60])[:80] for word in words]  # repr writes some characters as ten
    if len(shown) > most:
        shown[most:] = ["…"]
    return ", ".join(shown)


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice, or None."""
    counts = Counter(names)
    return next((name for name in counts if counts[name] > 1), None)


def check_different_labels(names: Iterable[str], path: Path_, what: str = "labels") -> None:
    """Refuse two labels, or other things, of one name."""
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"two {what} are called {twice[:60]!r}; rename one.", path=path)


# What a file claims


def check_memory(needed: float, what: str, path: Path_) -> None:
    """Refuse what takes more bytes than this process may still use."""
    try:
        memory.require(
            needed, what, "Keep a part of its rows or columns, or give this process more memory."
        )
    except MemoryError as error:
        raise DataError(str(error), path=path) from None


def check_proportion(needed: float, what: str, path: Path_, size: int | None = None) -> None:
    """Refuse what a file claims where it is out of proportion to its size; `what` is in plural.

    `size` is that of the file, where it has no name to look it up.
    """
    size = os.path.getsize(path) if size is None else size
    if needed > max(CLAIMED_ALWAYS, CLAIMED_RATIO * size):
        raise DataError(
            f"{what} need {memory.gib(needed)}, out of proportion to a file of its size; keep a"
            " part of them, or unpack it first.",
            path=path,
        )


def check_claimed_size(needed: float, what: str, path: Path_, *, size: int | None = None) -> None:
    """Refuse what a file claims before it is allocated: out of proportion, or too much to fit."""
    check_proportion(needed, what, path, size)
    check_memory(needed, f"Room for {what}", path)
