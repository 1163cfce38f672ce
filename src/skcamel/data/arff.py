"""ARFF files with many labels: Mulan's, with an XML file of their names, and MEKA's.

Rows of numbers are read by pyarrow's CSV reader, about a megabyte of text at a time, with a number
on each line: a dense row becomes its values, and a sparse row ``{3 1,7 0.5}`` the lines 3, 1, 7,
0.5. Rows with words, quotes or mistakes are read one by one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from skcamel.arrays import alike, dense
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset, stacked
from skcamel.data.sources import (
    LABEL_BYTES,
    check_claimed_size,
    check_different_labels,
    check_memory,
    numerals,
    pyarrow_module,
    shortened,
    stem,
    stored_cells,
    utf8,
    whole_content,
    write_lines,
)

QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
DECLARATION = re.compile(
    rf"@attribute\s+(?P<name>{QUOTED}|[^\s{{]+|\S+)"
    r"(?:\s+(?P<type>numeric|real|integer|string|date)\b.*|\s*\{(?P<values>.*)\})",
    re.IGNORECASE | re.DOTALL,
)
KINDS = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "text",
    "date": "text",
}
DATA_LINE = re.compile(rb"^[ \t]*@data\b[^\n]*\n?", re.IGNORECASE | re.MULTILINE)
ROW_START = re.compile(rb"^[ \t\r]*[^% \t\r\n]", re.MULTILINE)
NO_ROWS = re.compile(rb"\n(?:[ \t\r]*(?:%[^\n]*)?\n)++")  # empty lines and comments
MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)
ESCAPED = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
CELL = re.compile(rf"(?:^|,)(\s*(?:\d+\s+)?(?:{QUOTED}(?=\s*(?:,|\Z))|[^,]*))")
NO_MARKS = bytes(set(range(256)) - set(b" ,{}\n\r\t'\""))
DENSE_LINES = bytes.maketrans(b",", b"\n")
SPARSE_LINES = bytes.maketrans(b", ", b"\n\n")
SPARSE_MARKS = re.compile(rb"(?:\{(?: (?:, )*+)?\}\n)*+")
# XML 1.0 has no way to write these
UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WORDS = {"NO": 0.0, "YES": 1.0, "FALSE": 0.0, "TRUE": 1.0}
LABEL_VALUES = {"0", "1", "-1", "+1", *WORDS}
NOMINAL_CHOICES = ("index", "onehot")
# distinct values per row from which a nominal is an identifier; union files repeat a row or two
IDENTIFYING_SHARE = 0.99
BLOCK_BYTES = 2**20  # of text parsed at once
HEADER_RATIO = 50  # bytes that the attributes take for each byte of the header
CELL_BYTES = 24  # of one cell at the peak
HINT = "is the file whole, or is the matching XML file from the same release?"


def read_mulan(arff: Path_, xml: Path_ | None = None, *, nominal: str = "index") -> Dataset:
    """Read an ARFF file whose labels are named by an XML file, as the Mulan library publishes them.

    Parameters
    ----------
    arff : str or path
        Dense or sparse, plain or gzip-compressed.
    xml : str or path, optional
        Label file; by default the ARFF's name with ``.xml``, also without a trailing ``-train`` or
        ``-test``.
    nominal : {"index", "onehot"}, default="index"
        Nominal features stay one column (numerals as numbers, YES/NO and TRUE/FALSE as 1/0, others
        as their position in the header);
        "onehot" gives those with three or more values one 0/1 column for each value.

    Returns
    -------
    Dataset
        Features and labels in the order of the ARFF, wherever the labels stand. String and date
        attributes, and nominals with one value per row, identify rows: they are left out and listed
        in `dropped`. Missing values (``?``) and unknown labels (``?``) are NaN.

    Raises
    ------
    DataError
        If the files do not fit together; the message names the file, the line and what to do.

    Notes
    -----
    In a sparse row an omitted nominal has its *first* declared value, as ARFF defines it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = Dataset([[0.5], [1.5]], [[1, 0], [0, 1]], name="tiny")
    ...     write_mulan(data, f"{folder}/tiny.arff")
    ...     read_mulan(f"{folder}/tiny.arff")
    Dataset(tiny: 2 rows, 1 feature, 2 labels)
    """
    file = ArffFile(arff)
    found = xml or label_file(arff)
    if found is None:
        raise DataError(
            f"no label file {xml_beside(arff).name} beside it; give its path as xml=…, or use"
            " read_meka if the labels are counted by -C.",
            path=arff,
        )
    names = {attribute.name for attribute in file.attributes}
    labels = read_label_names(found)
    # some label files are padded with spaces
    wanted = {label if label in names else label.strip() for label in labels}
    absent = sorted(wanted - names)
    if absent:
        raise DataError(
            f"{len(absent)} labels are not attributes of {Path(arff).name}: {shortened(absent)};"
            " are both files of the same release?",
            path=found,
        )
    return _dataset(file, file.named(wanted), nominal)


def read_meka(path: Path_, *, nominal: str = "index") -> Dataset:
    """Read an ARFF file of the MEKA library: its relation ``name: -C n`` counts the labels.

    Parameters
    ----------
    path : str or path
        Dense or sparse, plain or gzip-compressed. The first n attributes are labels, with a
        negative n the last ones.
    nominal
        As in :func:`read_mulan`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = Dataset([[0.5], [1.5]], [[1, 0], [0, 1]], name="tiny")
    ...     write_meka(data, f"{folder}/tiny.arff")
    ...     read_meka(f"{folder}/tiny.arff")
    Dataset(tiny: 2 rows, 1 feature, 2 labels)
    """
    file = ArffFile(path)
    width = len(file.attributes)
    counted = MEKA_LABELS.search(file.relation)
    count = int(counted[1]) if counted else 0
    if not 0 < abs(count) < width:
        raise DataError(
            f"the relation {file.relation[:60]!r} has no '-C n' with n between 1 and {width - 1},"
            " MEKA's number of labels; correct it, or put Mulan's label file"
            f" {xml_beside(path).name} beside it.",
            path=path,
        )
    position = np.arange(width)
    is_label = position < count if count > 0 else position >= width + count
    return _dataset(file, is_label, nominal)


def read_with_labels(path: Path_, labels: Collection[str], features: Collection[str]) -> Dataset:
    """Read an ARFF file in which attributes of these names, if any, are labels.

    `features` are kept even if they identify rows.
    """
    file = ArffFile(path)
    return _dataset(file, file.named(labels), "index", features)


def _dataset(
    file: ArffFile, is_label: np.ndarray, nominal: str, keep: Collection[str] = ()
) -> Dataset:
    """Read the rows, and leave out what only names them."""
    if nominal not in NOMINAL_CHOICES:
        raise ValueError(f"nominal must be one of {', '.join(NOMINAL_CHOICES)}, got {nominal!r}.")
    X, Y = file.read(is_label)
    label_names = [file.attributes[column].name for column in np.flatnonzero(is_label)]
    features = [file.attributes[column] for column in file.features]
    used = [k for k, a in enumerate(features) if a.name in keep or not _names_rows(X, k, a)]
    if not used:
        problem = (
            "no feature is left beside labels and row identifiers; is it the right label file?"
        )
        raise DataError(problem, path=file.path)
    if len(used) < len(features):
        X = X[:, used]
    attributes = [features[k] for k in used]
    names = [attribute.name for attribute in attributes]
    known = {*names, *label_names}
    dropped = [attribute.name for attribute in file.attributes if attribute.name not in known]
    categories = {a.name: a.values for a in attributes if not a.holds_numbers}
    if nominal == "onehot":
        X, names = _expanded(X, attributes, file.path)
    return Dataset(
        X,
        Y,
        names,
        label_names,
        name=stem(file.path),
        source=str(file.path),
        dropped=tuple(dropped),
        categories=categories,
    )


def _names_rows(X: Any, k: int, attribute: Attribute) -> bool:
    """Whether column k of X has another nominal value in nearly every row."""
    fewest = IDENTIFYING_SHARE * X.shape[0]
    if X.shape[0] < 2 or len(attribute.values) < max(3, fewest):
        return False
    values = dense(X[:, [k]])
    return len(np.unique(values[~np.isnan(values)])) >= fewest


def _expanded(X: Any, attributes: list[Attribute], path: Path_) -> tuple[Any, list[str]]:
    """X with a 0/1 column for each value of a nominal that has three or more, and all names.

    A missing value is NaN in all of them.
    """
    width = sum(max(1, len(attribute.values)) for attribute in attributes)
    check_claimed_size(16 * X.shape[0] * width, f"{X.shape[0]} rows x {width} columns", path)
    columns: list[Any] = []
    names: list[str] = []
    for k, attribute in enumerate(attributes):
        values = dense(X[:, [k]])
        if len(attribute.values) < 3:
            names.append(attribute.name)
        else:
            values = np.where(np.isnan(values), np.nan, values == list(attribute.codes.values()))
            names += [f"{attribute.name}={value}" for value in attribute.values]
        columns.append(alike(values, X))
    return stacked(columns, axis=1), names


# Header


@lru_cache(maxsize=64)
def feature_codes(values: tuple[str, ...]) -> dict[str, float]:
    """Numbers that the values of a nominal stand for.

    Numerals are numbers, YES/NO and TRUE/FALSE are 1/0, others their position in the header.

    >>> feature_codes(("4", "2")), feature_codes(("red", "blue"))
    ({'4': 4.0, '2': 2.0}, {'red': 0.0, 'blue': 1.0})
    """
    if all(map(NUMERAL.fullmatch, values)):
        codes = [float(value) for value in values]
    elif all(value.upper() in WORDS for value in values):
        codes = [WORDS[value.upper()] for value in values]
    else:
        codes = [float(position) for position in range(len(values))]
    return dict(zip(values, codes))


@dataclass(frozen=True)
class Attribute:
    """A column: `kind` is "numeric", "nominal" or "text"; `values` are those of a nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> dict[str, float]:
        """Numbers that the values stand for."""
        return feature_codes(self.values)

    @cached_property
    def holds_numbers(self) -> bool:
        """Whether each cell is the number that it stands for."""
        return self.kind != "text" and all(map(NUMERAL.fullmatch, self.values))

    def number(self, cell: str) -> float:
        """Number that a cell stands for; ValueError where the header does not allow it."""
        found = self.codes.get(cell)
        if found is not None:
            return found
        if cell == "?":
            return np.nan
        if self.kind == "text":
            return 0.0
        with suppress(ValueError):
            number = float(cell.replace("_", "?"))  # Python allows _ inside numbers
            if self.kind == "numeric" or (self.holds_numbers and number in self.codes.values()):
                return number
        expected = f"one of {shortened(self.values)}" if self.values else "a number or ?"
        raise ValueError(
            f"{cell[:40]!r} for attribute {self.name[:60]!r}; expected {expected}. Correct the"
            " value, or declare it in the header."
        )

    def as_label(self, path: Path_) -> Attribute:
        """The same, with the values 0 and 1 where it is numeric; refused if it is no label."""
        values = self.values
        if self.kind == "numeric":
            values = ("0", "1")
        if 0 < len(values) <= 2 and {value.upper() for value in values} <= LABEL_VALUES:
            return replace(self, kind="nominal", values=values)
        raise DataError(
            f"label {self.name[:60]!r} has the values {shortened(self.values) or 'text'}; a label"
            " is {0,1}, {-1,1}, {NO,YES} or {FALSE,TRUE}: recode it, or keep it as a feature.",
            path=path,
        )


class ArffFile:
    """An ARFF file whose header is read."""

    def __init__(self, path: Path_) -> None:
        self.path = path
        self.text = utf8(whole_content(path), path)
        self.relation = ""
        self.attributes: list[Attribute] = []
        data = DATA_LINE.search(self.text)
        start, self.body = data.span() if data else (len(self.text), len(self.text))
        head = without_comments(self.text[:start])
        check_claimed_size(HEADER_RATIO * len(head), "the attributes of its header", path)
        lines = head.decode().split("\n")[:-1]
        self.first_row = len(lines) + 1  # behind the line @data
        for row, line in enumerate(lines):
            self._declare(line.strip(), row)
        if data is None or not self.attributes:
            problem = "no attribute, or no @data behind them; it is truncated or no ARFF file."
            raise DataError(problem, path=path, line=self.text[:start].count(b"\n") + 1)

    def _declare(self, line: str, row: int) -> None:
        """Take in a line of the header."""
        match = DECLARATION.fullmatch(line)
        if line[:9].lower() == "@relation":
            self.relation = line[9:].strip()
        elif match is None:
            self.refuse(
                f"{line[:60]!r} is not '@attribute name type' with a type numeric, real, integer,"
                " string, date or {value,…}. Is this an ARFF file, and are names that hold spaces"
                " quoted?",
                row,
            )
        else:
            kind = KINDS[match["type"].lower()] if match["type"] else "nominal"
            values = declared_values(match["values"] or "")
            self.attributes.append(Attribute(unquoted(match["name"]), kind, values))

    def named(self, names: Collection[str]) -> np.ndarray:
        """Which attributes have one of these names."""
        return np.array([attribute.name in names for attribute in self.attributes])

    def refuse(self, message: str, row: int) -> NoReturn:
        """Raise a DataError about a line, counted from 0 without comments and empty lines."""
        start = next(islice(ROW_START.finditer(self.text), row, None)).start()
        raise DataError(message, path=self.path, line=self.text.count(b"\n", 0, start) + 1)

    def read(self, is_label: np.ndarray) -> tuple[Any, np.ndarray]:
        """Features and labels of all rows."""
        labels = np.flatnonzero(is_label)
        for label in labels:
            self.attributes[label] = self.attributes[label].as_label(self.path)
        check_different_labels([self.attributes[label].name for label in labels], self.path)
        is_text = np.array([attribute.kind == "text" for attribute in self.attributes])
        self.features = np.flatnonzero(~is_label & ~is_text)
        self.width = len(self.attributes)
        self.binary = [k for k, a in enumerate(self.attributes) if a.codes == {"0": 0, "1": 1}]
        n_numeric = sum(attribute.kind == "numeric" for attribute in self.attributes)
        self.is_plain = len(self.binary) + n_numeric == self.width
        Xs: list[Any] = []
        Ys: list[np.ndarray] = []
        row = self.first_row
        for block in self._blocks():
            if not Xs:
                self.is_sparse = block.lstrip().startswith(b"{")
                self._check_room(labels)
            try:
                table = self._numbers(block)
            except ValueError:
                table = self._words(block, row)
            if self.is_sparse:
                table = self._with_omitted(table)
            Y = dense(table[:, labels])
            Y[Y == -1] = 0
            Ys.append(Y)
            Xs.append(table[:, self.features])
            row += len(Y)
        if not Xs:
            self.refuse("no row follows @data; the file is truncated.", row - 1)
        return stacked(Xs), stacked(Ys)

    def _blocks(self) -> Iterator[bytes]:
        """The text of some rows after the other."""
        start = self.body
        while start < len(self.text):
            end = self.text.find(b"\n", start + BLOCK_BYTES) + 1 or len(self.text)
            block = without_comments(self.text[start:end])
            if block:
                yield block
            start = end

    def _check_room(self, labels: np.ndarray) -> None:
        """Refuse what does not fit, and rows that leave out too many cells."""
        n = self.text.count(b"\n", self.body) + 1
        n_cells = n + self.text.count(b",", self.body)
        check_memory(CELL_BYTES * n_cells, "Its cells", self.path)
        filled = len(labels) + int(np.count_nonzero(self.omitted))
        what = f"{n} rows x {filled} labels and features whose omitted value is not 0"
        check_claimed_size(LABEL_BYTES * n * filled, what, self.path)

    @cached_property
    def omitted(self) -> np.ndarray:
        """Number of each attribute where a sparse row leaves it out: the first of a nominal."""
        return np.array([next(iter(a.codes.values()), 0.0) for a in self.attributes])

    def _numbers(self, block: bytes) -> Any:
        """Matrix of rows that hold numbers alone; ValueError where anything is unusual."""
        marks = block.translate(None, NO_MARKS)
        if self.is_sparse:
            is_usual = SPARSE_MARKS.fullmatch(marks) is not None
            if b"{}" in marks:  # rows without a cell
                block = block.replace(b"{}\n", b"")
            lines = block.translate(SPARSE_LINES, b"{}")
        else:
            row = b"," * (self.width - 1) + b"\n"
            is_usual = marks.replace(b" ", b"") == row * marks.count(b"\n")
            lines = block.translate(DENSE_LINES)
        if not is_usual or not self.is_plain:
            raise ValueError("words, quotes, or cells in another form")
        numbers = parsed(lines)
        if self.is_sparse:
            counts = [row.count(b" ") for row in marks.split(b"\n")[:-1]]
            table = self._sparse(counts, numbers[::2], numbers[1::2])
        else:
            table = numbers.reshape(-1, self.width)
        found = table[:, self.binary]
        found = found.data if self.is_sparse else found
        is_declared = (found == 0) | (found == 1) | np.isnan(found)
        if not is_declared.all():
            raise ValueError("a number that is not declared")
        return table

    def _words(self, block: bytes, first: int) -> Any:
        """Matrix of any rows, cell by cell; a DataError names the first one that is wrong."""
        counts: list[int] = []
        columns: list[int] = []
        numbers: list[float] = []
        for row, line in enumerate(block.decode().split("\n")[:-1], first):
            try:
                cells = self._cells(line.strip())
                numbers += [self.attributes[column].number(cell) for column, cell in cells]
            except ValueError as error:
                self.refuse(str(error), row)
            counts.append(len(cells))
            columns += [column for column, _ in cells]
        if self.is_sparse:
            return self._sparse(counts, np.array(columns), np.array(numbers))
        return np.array(numbers).reshape(-1, self.width)

    def _cells(self, line: str) -> list[tuple[int, str]]:
        """Column and text of each cell of a row; ValueError where it has another form."""
        if not self.is_sparse:
            texts = split_cells(line, self.width)
            if len(texts) != self.width:
                count = line.count(",") + 1
                raise ValueError(f"{count} values, header declares {self.width}; {HINT}")
            return list(enumerate(map(unquoted, texts)))
        content = line[1:-1].strip()
        if line != f"{{{line[1:-1]}}}":
            raise ValueError(
                f"{line[:40]!r} is not of the form {{index value,…}} of the rows before it; is the"
                " file truncated?"
            )
        cells: dict[int, str] = {}
        for text in split_cells(content, self.width) if content else []:
            index, _, cell = text.replace("\t", " ").partition(" ")
            column = int(index[:9]) if index.isdecimal() else self.width
            if column >= self.width or column in cells or not cell:
                raise ValueError(
                    f"{text[:40]!r} in a sparse row; expected an index from 0 to {self.width - 1},"
                    f" each of them once, a space and a value; {HINT}"
                )
            cells[column] = unquoted(cell.strip())
        return list(cells.items())

    def _sparse(self, counts: Sequence[int], columns: np.ndarray, numbers: np.ndarray) -> Any:
        """Sparse matrix of all attributes; ValueError where an index is none, or stands twice."""
        is_index = (columns >= 0) & (columns < self.width) & (columns % 1 == 0)
        starts = np.concatenate([[0], np.cumsum(counts)])
        if not is_index.all():
            raise ValueError("a cell without an index of the header")
        cells = (numbers, columns.astype(np.int32), starts)
        table = sparse.csr_array(cells, shape=(len(counts), self.width))
        table.sum_duplicates()
        if table.nnz < len(numbers):
            raise ValueError("an index occurs twice")
        return table

    def _with_omitted(self, table: sparse.csr_array) -> sparse.csr_array:
        """Sparse rows with the first value of nominals where they store none."""
        if not self.omitted.any():
            return table
        is_stored = table.copy()
        is_stored.data[:] = 1
        ones = sparse.csr_array(np.ones((table.shape[0], 1)))
        everywhere = ones @ sparse.csr_array(self.omitted[None, :])
        return table + everywhere - everywhere.multiply(is_stored)


def without_comments(text: bytes) -> bytes:
    """Lines that each end in a line feed, without comments and empty ones."""
    text = text.replace(b"\r\n", b"\n") + b"\n"
    return NO_ROWS.sub(b"\n", b"\n" + text)[1:]


@lru_cache(maxsize=64)
def declared_values(text: str) -> tuple[str, ...]:
    """Values between the braces of a nominal attribute."""
    if not text.strip():
        return ()
    return tuple(map(unquoted, split_cells(text)))


def split_cells(text: str, most: int = -1) -> list[str]:
    """Cells between commas, some more than `most` at the most, with their quotes."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",", most)]
    found = islice(CELL.finditer(text), most + 1 if most >= 0 else None)
    return [cell[1].strip() for cell in found]


def unquoted(text: str) -> str:
    """Text without its quotes and escapes."""
    if text[:1] not in ("'", '"') or not re.fullmatch(QUOTED, text, re.DOTALL):
        return text

    def meant(escape: re.Match[str]) -> str:
        return ESCAPES.get(escape[1], escape[1])

    return ESCAPE.sub(meant, text[1:-1])


def parsed(lines: bytes) -> np.ndarray:
    """Numbers that stand on a line each, NaN for ``?``; ValueError where one is none."""
    arrow = pyarrow_module()
    csv = pyarrow_module("pyarrow.csv")
    size = len(lines) + 8
    reading = csv.ReadOptions(column_names=["number"], use_threads=False, block_size=size)
    parsing = csv.ParseOptions(
        delimiter="\x1f", quote_char=False, escape_char=False, ignore_empty_lines=False
    )
    types = {"number": arrow.float64()}
    converting = csv.ConvertOptions(column_types=types, null_values=["?"])
    table = csv.read_csv(arrow.BufferReader(lines), reading, parsing, converting)
    return table["number"].chunk(0).to_numpy(False)


# Label files


def xml_beside(arff: Path_) -> Path:
    """Where the label file of an ARFF file is expected: the same name, ending in ``.xml``."""
    return Path(arff).with_name(f"{stem(arff)}.xml")


def label_file(arff: Path_) -> Path | None:
    """The label file beside an ARFF file, also under its name without ``-train`` or ``-test``."""
    beside = xml_beside(arff)
    shared = re.sub(r"[-_](train|test)(?=\.xml$)", "", beside.name, flags=re.IGNORECASE)
    candidates = (beside, beside.with_name(shared))
    return next((file for file in candidates if file.is_file()), None)


def read_label_names(path: Path_) -> list[str]:
    """Names of all ``label`` elements, nested ones too, in the order of the file.

    A document type is refused: label files have none, and its entities could fill the memory or
    read other files.
    """
    names: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "label":
            if "name" not in attributes:
                raise ValueError("a <label> has no name")
            names.append(attributes["name"])

    def refuse(*_: object) -> None:
        raise ValueError("it has a DOCTYPE, which label files never need; remove it")

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    content = whole_content(path)
    try:
        parser.Parse(content, True)
        if not names:
            raise ValueError("it names no label")
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DataError(
            f"is no label file ({str(error)[:120]}); expected XML: <labels> with one"
            ' <label name="…"> for each label.',
            path=path,
            line=parser.CurrentLineNumber,
        ) from None
    return names


# Writing


def write_mulan(dataset: Dataset, arff: Path_, xml: Path_ | None = None) -> None:
    """Write an ARFF file, dense or sparse as X is, and the XML file of label names.

    Parameters
    ----------
    dataset : Dataset
    arff : str or path
        As :func:`write_meka` writes it: labels come first, which Mulan finds by name.
    xml : str or path, optional
        By default the ARFF's name with ``.xml``.

    Warns
    -----
    UserWarning
        Where the data set has train and test parts, which the format cannot hold.
    """
    clashes = set(dataset.label_names) & set(dataset.feature_names)
    if clashes:
        raise ValueError(
            f"{shortened(sorted(clashes))} name both a feature and a label; Mulan finds labels by"
            " name, rename one of them."
        )
    unwritable = [name for name in dataset.label_names if UNWRITABLE.search(name)]
    if unwritable:
        raise ValueError(
            f"The label name {unwritable[0]!r} holds a character that XML cannot hold; rename it"
            " before writing."
        )
    labels = [f"<label name={quoteattr(name)}></label>\n" for name in dataset.label_names]
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    )
    write_meka(dataset, arff)
    write_lines(xml_beside(arff) if xml is None else xml, [head, *labels, "</labels>\n"])


def write_meka(dataset: Dataset, path: Path_) -> None:
    """Write an ARFF file whose relation name ends in ``-C q``, with the labels in front.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.

    Warns
    -----
    UserWarning
        Where the data set has train and test parts, which the format cannot hold.
    """
    if dataset.train is not None or dataset.test is not None:
        warnings.warn(
            "ARFF does not hold train and test parts; write each part to a file of its own.",
            UserWarning,
            stacklevel=2,
        )
    write_lines(path, _lines(dataset))


def _lines(dataset: Dataset) -> Iterator[str]:
    name = MEKA_LABELS.sub("", dataset.name) or "data"
    yield f"@relation {quoted(f'{name}: -C {dataset.q}')}\n\n"
    for label in dataset.label_names:
        yield f"@attribute {quoted(label)} {{0,1}}\n"
    for feature in dataset.feature_names:
        yield f"@attribute {quoted(feature)} numeric\n"
    yield "\n@data\n"
    table = stacked([alike(dataset.Y, dataset.X), dataset.X], axis=1)
    if sparse.issparse(table):
        for cells in stored_cells(table, " ", 0, "?"):
            yield f"{{{','.join(cells)}}}\n"
    else:
        for row in table:
            yield ",".join(numerals(row, "?")) + "\n"


def quoted(name: str) -> str:
    """Text as ARFF holds it: quoted where it needs to be."""
    if re.fullmatch(r"[A-Za-z0-9_.:/()=<>*+&#-]+", name):
        return name
    return f"'{name.translate(ESCAPED)}'"
