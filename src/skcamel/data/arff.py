"""ARFF files with many labels: Mulan's, with an XML file of their names, and MEKA's.

Rows of numbers are read by pyarrow's CSV reader, about a megabyte of text at a time, with a number
on each line: a dense row becomes its values, and a sparse row ``{3 1,7 0.5}`` the lines 3, 1, 7,
0.5. Rows with words, quotes or mistakes are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree
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
    rf"@attribute\s+({QUOTED}|[^\s{{]+|\S+)"
    r"(?:\s+(numeric|real|integer|string|date)\b.*|\s*(\{.*\}))",
    re.IGNORECASE | re.DOTALL,
)
DATA_LINE = re.compile(rb"^[ \t]*@data\b[^\n]*\n?", re.IGNORECASE | re.MULTILINE)
ROW = re.compile(rb"^[ \t\r]*([^% \t\r\n](?:[^\n]*\S)?)", re.MULTILINE)  # no comment, not empty
MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)
ESCAPED = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
CELL = re.compile(rf"(?:^|,)(\s*(?:\d+\s+)?(?:{QUOTED}(?=\s*(?:,|\Z))|[^,]*))")
SPARSE_CELL = re.compile(r"(\d{1,9})[ \t]+(.+)", re.ASCII | re.DOTALL)
NO_MARKS = bytes(set(range(256)) - set(b" ,{}\n\r\t'\""))
LINES = bytes.maketrans(b",", b"\n")
SPARSE_MARKS = re.compile(rb"(?:\{(?: (?:, )*+)?\}\n)*+")
WORDS = {"NO": "0.0", "YES": "1.0", "FALSE": "0.0", "TRUE": "1.0"}
LABEL_CODES = {"0.0", "1.0", "-1.0"}
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
    In a sparse row an omitted nominal has its *first* declared value, as ARFF defines it. A feature
    whose declared values are numbers may hold others too.

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
    xml = xml or label_file(arff)
    if not Path(xml).is_file():
        raise DataError(
            f"no label file {Path(xml).name} beside it; give its path as xml=…, or use read_meka if"
            " the labels are counted by -C.",
            path=arff,
        )
    names = {attribute.name for attribute in file.attributes}
    # some label files are padded with spaces
    wanted = {label if label in names else label.strip() for label in read_label_names(xml)}
    absent = sorted(wanted - names)
    if absent:
        raise DataError(
            f"{len(absent)} labels are not attributes of {Path(arff).name}: {shortened(absent)};"
            " are both files of the same release?",
            path=xml,
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
            f" {label_file(path).name} beside it.",
            path=path,
        )
    columns = range(width)
    return _dataset(file, columns[:count] if count > 0 else columns[count:], nominal)


def read_with_labels(path: Path_, labels: Collection[str], features: Collection[str]) -> Dataset:
    """Read an ARFF file in which attributes of these names, if any, are labels.

    `features` are kept even if they identify rows.
    """
    file = ArffFile(path)
    return _dataset(file, file.named(labels), "index", features)


def _dataset(
    file: ArffFile, labels: Sequence[int], nominal: str, keep: Collection[str] = ()
) -> Dataset:
    """Read the rows, and leave out what only names them."""
    if nominal not in NOMINAL_CHOICES:
        raise ValueError(f"nominal must be one of {', '.join(NOMINAL_CHOICES)}, got {nominal!r}.")
    for label in labels:
        file.attributes[label] = file.attributes[label].as_label(file.path)
    label_names = [file.attributes[label].name for label in labels]
    check_different_labels(label_names, file.path)
    table = file.table(labels)
    columns = set(labels)
    Y = dense(table[:, labels])
    Y[Y == -1] = 0
    used: list[int] = []
    dropped: list[str] = []
    for k, attribute in enumerate(file.attributes):
        if k in columns:
            continue
        if attribute.name not in keep and _names_rows(table, k, attribute):
            dropped.append(attribute.name)
        elif attribute.kind != "text":
            used.append(k)
    if not used:
        problem = (
            "no feature is left beside labels and row identifiers; is it the right label file?"
        )
        raise DataError(problem, path=file.path)
    attributes = [file.attributes[k] for k in used]
    X = table[:, used]
    names: Sequence[str] = [attribute.name for attribute in attributes]
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
        categories={a.name: tuple(a.codes) for a in attributes if a.kind in ("words", "positions")},
    )


def _names_rows(table: Any, k: int, attribute: Attribute) -> bool:
    """Whether column k holds texts, or another nominal value in nearly every row."""
    n = table.shape[0]
    fewest = max(3, IDENTIFYING_SHARE * n)
    if n < 2 or len(attribute.codes) < fewest:
        return attribute.kind == "text"
    return len(np.unique(dense(table[:, [k]]))) >= fewest


def _expanded(X: Any, attributes: list[Attribute], path: Path_) -> tuple[Any, list[str]]:
    """X with a 0/1 column for each value of a nominal that has three or more, and all names.

    A missing value is NaN in all of them.
    """
    width = sum(max(1, len(attribute.codes)) for attribute in attributes)
    check_claimed_size(16 * X.shape[0] * width, f"{X.shape[0]} rows x {width} columns", path)
    columns: list[Any] = []
    names: list[str] = []
    for k, attribute in enumerate(attributes):
        values = X[:, [k]]
        if len(attribute.codes) < 3:
            names.append(attribute.name)
        else:
            values = dense(values)
            codes = np.array(list(attribute.codes.values()), dtype=np.float64)
            values = alike(np.where(np.isnan(values), np.nan, values == codes), X)
            names += [f"{attribute.name}={value}" for value in attribute.codes]
        columns.append(values)
    return stacked(columns, axis=1), names


# Header


@lru_cache(maxsize=64)
def kind_and_codes(declared: str) -> tuple[str, dict[str, str]]:
    """Kind of an attribute by its declared type, and the numbers that the values of one stand for.

    Numerals are numbers, YES/NO and TRUE/FALSE are 1/0, others their position in the header.

    >>> kind_and_codes("{4,2}"), kind_and_codes("{red,blue}")
    (('numerals', {'4': '4.0', '2': '2.0'}), ('positions', {'red': '0', 'blue': '1'}))
    """
    if not declared.startswith("{"):
        return ("text" if declared.lower() in ("string", "date") else "numeric"), {}
    values = [unquoted(value) for value in split_cells(declared[1:-1])]
    with suppress(ValueError):
        return "numerals", {value: numeral(value) for value in values}
    with suppress(KeyError):
        return "words", {value: WORDS[value.upper()] for value in values}
    return "positions", {value: str(position) for position, value in enumerate(values)}


def numeral(text: str) -> str:
    """A number in the form of Python, which allows _ inside numbers; ValueError if it is none."""
    return str(float(text.replace("_", "?")))


class Attribute(NamedTuple):
    """A column: `kind` is numeric, text, or that of a nominal, and `codes` are of its values."""

    name: str
    kind: str
    codes: dict[str, str]

    def number(self, cell: str) -> str:
        """Number that a cell stands for; ValueError where the header does not allow it."""
        if cell in self.codes:
            return self.codes[cell]
        if cell == "?":
            return cell
        if self.kind == "text":
            return "0.0"
        with suppress(ValueError):
            number = numeral(cell)
            if self.kind in ("numeric", "numerals") or number in self.codes.values():
                return number
        expected = f"one of {shortened(self.codes)}" if self.codes else "a number or ?"
        raise ValueError(
            f"{cell[:40]!r} for attribute {self.name[:60]!r}; expected {expected}. Correct the"
            " value, or declare it in the header."
        )

    def as_label(self, path: Path_) -> Attribute:
        """The same, that takes its values only; refused if it is no label."""
        codes = {"0": "0.0", "1": "1.0"} if self.kind == "numeric" else self.codes
        if 0 < len(codes) <= 2 and LABEL_CODES.issuperset(codes.values()):
            return Attribute(self.name, "label", codes)
        raise DataError(
            f"label {self.name[:60]!r} has the values {shortened(codes) or 'text'}; a label"
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
        end, self.body = data.span() if data else (len(self.text), len(self.text))
        check_claimed_size(HEADER_RATIO * end, "the attributes of its header", path)
        for row in ROW.finditer(self.text, 0, end):
            line = row[1].decode().strip()
            match = DECLARATION.fullmatch(line)
            if line[:9].lower() == "@relation":
                self.relation = line[9:].strip()
            elif match is None:
                self.refuse(
                    f"{line[:60]!r} is not '@attribute name type' with a type numeric, real,"
                    " integer, string, date or {value,…}. Is this an ARFF file, and are names that"
                    " hold spaces quoted?",
                    row.start(),
                )
            else:
                kind, codes = kind_and_codes(match[2] or match[3])
                self.attributes.append(Attribute(unquoted(match[1]), kind, codes))
        if data is None or not self.attributes:
            self.refuse(
                "no attribute, or no @data behind them; it is truncated or no ARFF file.", end
            )

    def named(self, names: Collection[str]) -> list[int]:
        """Columns of the attributes that have one of these names."""
        return [k for k, attribute in enumerate(self.attributes) if attribute.name in names]

    def refuse(self, message: str, position: int) -> NoReturn:
        """Raise a DataError about the line at a position of the text."""
        line = self.text.count(b"\n", 0, position) + 1
        raise DataError(message, path=self.path, line=line)

    def table(self, labels: Sequence[int]) -> Any:
        """Matrix of all rows and attributes, sparse where the rows are."""
        row = ROW.search(self.text, self.body)
        if row is None:
            self.refuse("no row follows @data; the file is truncated.", self.body - 1)
        self.is_sparse = row[1].startswith(b"{")
        self.width = len(self.attributes)
        self.omitted: dict[int, str] = {}  # columns that hold this where a sparse row omits them
        for k, attribute in enumerate(self.attributes):
            first = next(iter(attribute.codes), "")
            if self.is_sparse and float(attribute.codes.get(first, 0)):
                self.omitted[k] = first
        n = self.text.count(b"\n", self.body) + 1
        n_cells = n + self.text.count(b",", self.body)
        check_memory(CELL_BYTES * n_cells, "Its cells", self.path)
        filled = len(labels) + len(self.omitted)
        what = f"{n} rows x {filled} labels and features whose omitted value is not 0"
        check_claimed_size(LABEL_BYTES * n * filled, what, self.path)
        kinds = {attribute.kind for attribute in self.attributes}
        is_plain = not self.omitted and kinds <= {"numeric", "numerals", "label"}
        blocks: list[Any] = []
        while row:
            start = row.start()
            end = self.text.find(b"\n", start + BLOCK_BYTES) + 1 or len(self.text)
            try:
                if not is_plain:
                    raise ValueError("words")
                block = self._numbers(ROW.findall(self.text, start, end))
                Y = dense(block[:, labels])
                if not ((Y == 0) | (Y == 1) | np.isnan(Y)).all():
                    raise ValueError("labels that are not 0 and 1")
            except ValueError:
                block = self._numbers(self._translated(start, end))
            blocks.append(block)
            row = ROW.search(self.text, end)
        return stacked(blocks)

    def _numbers(self, rows: list[bytes]) -> Any:
        """Matrix of rows that hold numbers alone; ValueError where anything is unusual."""
        block = b"\n".join([*rows, b""])
        marks = block.translate(None, NO_MARKS)
        lines = block.replace(b"{}\n", b"").translate(LINES, b"{}")
        shape = (len(rows), self.width)
        if self.is_sparse:
            if SPARSE_MARKS.fullmatch(marks) is None:
                raise ValueError("cells in another form")
            columns, numbers = parsed(lines, " ", index="int32", number="float64")
            if columns.dtype != np.int32:
                raise ValueError("an index is missing")
            counts = [row.count(b" ") for row in marks.split(b"\n")[:-1]]
            cells = (numbers, (np.repeat(np.arange(len(rows), dtype=np.int32), counts), columns))
            table = sparse.csr_array(cells, shape=shape)  # an index beyond is refused
            if table.nnz < len(numbers):
                raise ValueError("an index occurs twice")
        else:
            if marks.replace(b" ", b"") != (b"," * (self.width - 1) + b"\n") * len(rows):
                raise ValueError("cells in another form")
            (numbers,) = parsed(lines, "\x1f", number="float64")
            table = numbers.reshape(shape)
        return table

    def _translated(self, start: int, end: int) -> list[bytes]:
        """The same rows with numbers for words; a DataError names the first one that is wrong."""
        rows: list[bytes] = []
        for row in ROW.finditer(self.text, start, end):
            try:
                cells = self._cells(row[1].decode().strip())
                numbers = [self.attributes[k].number(cells[k]) for k in cells]
            except ValueError as error:
                self.refuse(str(error), row.start())
            if self.is_sparse:
                numbers = [f"{k} {number}" for k, number in zip(cells, numbers)]
            line = ",".join(numbers)
            rows.append((f"{{{line}}}" if self.is_sparse else line).encode())
        return rows

    def _cells(self, line: str) -> dict[int, str]:
        """Text of each cell of a row by its column; ValueError where it has another form."""
        if not self.is_sparse:
            texts = split_cells(line, self.width)
            if len(texts) != self.width:
                count = line.count(",") + 1
                raise ValueError(f"{count} values, header declares {self.width}; {HINT}")
            return dict(enumerate(map(unquoted, texts)))
        content = line[1:-1].strip()
        if line != f"{{{line[1:-1]}}}":
            raise ValueError(
                f"{line[:40]!r} is not of the form {{index value,…}} of the rows before it; is the"
                " file truncated?"
            )
        cells: dict[int, str] = {}
        for text in split_cells(content, self.width) if content else []:
            match = SPARSE_CELL.fullmatch(text)
            column = int(match[1]) if match else self.width
            if match is None or column >= self.width or column in cells:
                raise ValueError(
                    f"{text[:40]!r} in a sparse row; expected an index from 0 to {self.width - 1},"
                    f" each of them once, a space and a value; {HINT}"
                )
            cells[column] = unquoted(match[2])
        return self.omitted | cells


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


def parsed(lines: bytes, delimiter: str, **types: str) -> list[np.ndarray]:
    """Numbers of columns of these types, NaN for ``?``; ValueError where one is none."""
    csv = pyarrow_module("pyarrow.csv")
    if not lines:
        return [np.empty(0, dtype=kind) for kind in types.values()]
    reading = csv.ReadOptions(column_names=list(types), use_threads=False)
    parsing = csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False)
    converting = csv.ConvertOptions(column_types=types, null_values=["?"])
    source = pyarrow_module().BufferReader(lines)
    table = csv.read_csv(source, reading, parsing, converting)
    return [column.to_numpy() for column in table.columns]


# Label files


def xml_beside(arff: Path_) -> Path:
    """The path of an ARFF file with ``.xml`` in place of its suffix."""
    return Path(arff).with_name(f"{stem(arff)}.xml")


def label_file(arff: Path_) -> Path:
    """Where the label file is expected: beside it, else under its name without ``-train``."""
    beside = xml_beside(arff)
    if beside.is_file():
        return beside
    return beside.with_name(re.sub(r"[-_](train|test)\.xml$", ".xml", beside.name, flags=re.I))


def read_label_names(path: Path_) -> list[str]:
    """Names of all ``label`` elements, nested ones too, in the order of the file."""
    content = whole_content(path)
    names: list[str] = []
    problem = "it names no label"
    try:
        if b"<!DOCTYPE" in content.replace(b"\0", b""):  # entities could fill the memory
            raise ValueError("it has a DOCTYPE, which label files never need; remove it")
        labels = ElementTree.fromstring(content)  # noqa: S314 without a DOCTYPE
        names = [label.attrib["name"] for label in labels.iterfind(".//{*}label")]
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        problem = str(error)[:120]
    if not names:
        raise DataError(
            f'is no label file ({problem}); expected XML: <labels> with one <label name="…"> for'
            " each label.",
            path=path,
        )
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
    """
    clashes = set(dataset.label_names) & set(dataset.feature_names)
    if clashes:
        raise ValueError(
            f"{shortened(sorted(clashes))} name both a feature and a label; Mulan finds labels by"
            " name, rename one of them."
        )
    labels = [f"<label name={quoteattr(name)}></label>\n" for name in dataset.label_names]
    for name, label in zip(dataset.label_names, labels):
        try:
            ElementTree.fromstring(label)  # noqa: S314 (of this data set)
        except (ElementTree.ParseError, UnicodeError):
            raise ValueError(
                f"The label name {name!r:.60} holds a character that XML cannot hold; rename it"
                " before writing."
            ) from None
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    )
    write_meka(dataset, arff)
    write_lines(xml or xml_beside(arff), [head, *labels, "</labels>\n"])


def write_meka(dataset: Dataset, path: Path_) -> None:
    """Write an ARFF file whose relation name ends in ``-C q``, with the labels in front.

    The format holds no train and test parts.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.
    """
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
        for cells in stored_cells(table, " ", "?"):
            yield f"{{{','.join(cells)}}}\n"
    else:
        for row in table:
            yield ",".join(numerals(row, "?")) + "\n"


def quoted(name: str) -> str:
    """Text as ARFF holds it: quoted where it needs to be."""
    if re.fullmatch(r"[A-Za-z0-9_.:/()=<>*+&#-]+", name):
        return name
    return f"'{name.translate(ESCAPED)}'"
