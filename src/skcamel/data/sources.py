"""A path ► the reader or the writer of its format, and the text of a file: unpacked, in UTF-8, within the memory that is left."""

from __future__ import annotations

import codecs
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skcamel.data import DataError, Path_
from skcamel.data.text import check_memory, label_files, open_lines, xml_beside

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
    marks = [mark for mark in BYTE_ORDER_MARKS if content.startswith(mark)]
    mark = marks[0] if marks else b""
    encodings = (BYTE_ORDER_MARKS[mark],) if marks else ENCODINGS
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
