"""Tables: CSV, TSV and Parquet, with label columns by name, prefix, position or count."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from skcamel.data.arff_header import NUMERAL
from skcamel.data.dataset import Dataset, default_names
from skcamel.data.decimals import numbers
from skcamel.data.errors import DataError
from skcamel.data.parquet import read_parquet, write_parquet
from skcamel.data.sizes import check_claimed_size
from skcamel.data.table_rows import Start, TableRows
from skcamel.data.text import (
    PEAK_OF_CELLS,
    Block,
    LineFile,
    Path_,
    check_peak,
    decoded,
    first_repeated,
    numerals,
    open_lines,
    shortened,
    stem,
    write_lines,
)
from skcamel.text import original_cell, plain_cell

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
LONGEST_RECORD = 2**24  # bytes of one row whose quotes span lines
WRITE_ROWS = 256  # rows made dense at once
COLUMN_BYTES = 600  # of one column at the peak, without its cells: its name, type and place
NEW_LINE = ord("\n")

Labels = str | int | Sequence[str] | Sequence[int]


def read_table(path: Path_, *, labels: Labels, separator: str | None = None, header: bool = True, nominal: str = "index") -> Dataset:
    r"""Read a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv`` or ``.tab``, also compressed as ``.gz``; or ``.parquet``, which needs ``pip install skcamel[parquet]``.
    labels : list of str, str, int or list of int
        The label columns: their names; a prefix of their names; how many of the last columns, or of the first where negative; or
        their positions, from 0.
    separator : str, optional
        One character between cells; by default a comma, or a tab in ``.tsv`` and ``.tab``. A ``.csv`` whose first line has semicolons and
        no comma is separated by them, and commas in its numbers are decimal ones.
    header : bool, default=True
        Whether the first line holds the column names.
    nominal : {"index", "onehot"}, default="index"
        Text columns become one column (YES/NO and TRUE/FALSE as 1/0, else the position among the sorted values), or with "onehot" one
        0/1 column for each of three or more values.

    Returns
    -------
    Dataset
        Columns in the order of the file. Empty cells, ``?``, ``NA`` and ``nan`` are NaN in features and refused in labels. Text columns
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
    if nominal not in ("index", "onehot"):
        raise ValueError(f"nominal must be one of index, onehot, got {nominal!r}.")

    def start(names: Sequence[str], decimal_comma: bool) -> TableRows:
        return TableRows(names, label_columns(names, labels, path), path, decimal_comma=decimal_comma)

    X, Y, feature_names, label_names, dropped, categories = read_rows(path, start, separator=separator, header=header).finish(nominal)
    return Dataset(X, Y, feature_names, label_names, name=stem(path), source=str(path), dropped=dropped, categories=categories)


def read_rows(path: Path_, start: Start, *, separator: str | None = None, header: bool = True) -> TableRows:
    """Read all rows of a table into what `start` makes of the column names and of whether commas are decimal ones."""
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix in PARQUET:
        return read_parquet(Path(path), start)
    if separator is None and suffix not in SEPARATORS:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join([*SEPARATORS, *PARQUET])}. (In Python, separator=… reads others.)"
        )
    return _read_separated(path, start, separator, header)


def label_columns(names: Sequence[str], labels: Labels, path: Path_) -> np.ndarray:
    """Which columns are labels, as a mask.

    Examples
    --------
    >>> label_columns(["a", "b", "c"], 1, "t.csv"), label_columns(["a", "b", "c"], ["b"], "t.csv")
    (array([False, False,  True]), array([False,  True, False]))
    """
    width = len(names)
    positions = _positions(names, labels, path)
    wrong = [position for position in positions if not 0 <= position < width]
    if wrong or not 0 < len(positions) < width:
        asked = f"position {wrong[0]}" if wrong else f"{len(positions)} labels"
        raise DataError(
            f"{str(labels)[:60]!r} as labels asks for {asked}, the table has {width} columns; leave at least one feature.", path=path
        )
    mask = np.zeros(width, dtype=bool)
    mask[positions] = True
    return mask


def _positions(names: Sequence[str], labels: Labels, path: Path_) -> list[int]:
    if isinstance(labels, str):
        found = [position for position, name in enumerate(names) if name.startswith(labels)]
        if not found:
            raise DataError(f"no column begins with {labels!r}; the columns are {shortened(names)}.", path=path)
        return found
    if isinstance(labels, int | np.integer):
        count = min(abs(int(labels)), len(names))
        return list(range(len(names) - count, len(names)) if labels > 0 else range(count))
    wanted = list(labels)
    places = {name: position for position, name in enumerate(names)}
    absent = [name for name in wanted if isinstance(name, str) and name not in places]
    if absent:
        raise DataError(f"no column is called {shortened(absent)}; the columns are {shortened(names)}.", path=path)
    asked = {name for name in wanted if isinstance(name, str)}
    twice = first_repeated(name for name in names if name in asked)
    if twice is not None:
        raise DataError(f"two columns are called {twice[:60]!r}; name labels by position instead.", path=path)
    return [places[label] if isinstance(label, str) else int(label) for label in wanted]


def _read_separated(path: Path_, start: Start, separator: str | None, header: bool) -> TableRows:
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ValueError(f"separator must be one ASCII character, got {separator!r}.")
    rows = None
    with open_lines(path) as file:
        text = _first_record(file) if header else ""
        separator = separator or _separator(path, text)
        names = _header(file, text, separator) if header else None
        for block in _records(file):
            if not block.lines:
                continue
            if names is None:
                line = block.text[: block.text.index(b"\n")]
                _check_width(line.count(separator.encode()) + 1, path)
                names = default_names("column", len(_cells(decoded(block.text), separator, file, block.lines[0])[0]))
            rows = rows or start(names, separator == ";")
            _add(block, rows, separator, file)
        if rows is None:
            raise file.error("no row follows the column names; the file is empty or cut short.")
    return rows


def _first_record(file: LineFile) -> str:
    text = file.readline()
    while text.count(b'"') % 2 and len(text) < LONGEST_RECORD and (line := file.readline()):
        text += line
    return decoded(text).rstrip("\r\n")


def _separator(path: Path_, first: str) -> str:
    """By suffix; a .csv without any comma in its first line may have semicolons, as spreadsheets of many countries write them."""
    by_suffix = SEPARATORS[Path(str(path).removesuffix(".gz")).suffix.lower()]
    outside_quotes = re.sub(r'"[^"]*"', "", first)
    return ";" if by_suffix == "," and "," not in outside_quotes and ";" in outside_quotes else by_suffix


def _header(file: LineFile, text: str, separator: str) -> tuple[str, ...]:
    _check_width(text.count(separator) + 1, file.path)
    names = _cells(text, separator, file, 1)
    if len(names) != 1:
        raise file.error("the first line must hold the column names, in one record; is a quote left open?")
    if len(set(names[0])) < len(names[0]) and all(NUMERAL.fullmatch(name) for name in names[0]):
        raise file.error("the first line holds numbers, not column names; add a line of names. (In Python, header=False does without.)")
    return tuple(original_cell(name) for name in names[0])


def _check_width(width: int, path: Path_) -> None:
    """Refuse columns that the memory cannot hold, before their names are parsed."""
    check_claimed_size(COLUMN_BYTES * width, f"{width} columns", path)


def _records(file: LineFile) -> Iterator[Block]:
    """Blocks that no quoted cell crosses."""
    text, lines = b"", range(0)
    for block in file.blocks():
        text, lines = (text + block.text, [*lines, *block.lines]) if text else block
        if text.count(b'"') % 2 and len(text) < LONGEST_RECORD:
            continue
        yield Block(text, lines)
        text = b""
    if text:
        yield Block(text, lines)


def _cells(text: str, separator: str, file: LineFile, line: int) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return list(reader)
    except csv.Error as error:
        raise file.error(f"{error}; close the quotes of each cell and double those within.", line + max(reader.line_num - 1, 0)) from None


def _add(block: Block, rows: TableRows, separator: str, file: LineFile) -> None:
    """Read a block: at once where all its cells are numbers, else cell by cell."""
    width = len(rows.names)
    if rows.only_numbers and b'"' not in block.text:
        text = block.text.replace(b",", b".") if rows.decimal_comma else block.text
        parsed = numbers(text, separator.encode() + b"\n")
        if parsed is not None and parsed.values.size == width * len(block.lines):
            row_ends = np.flatnonzero(parsed.ends == NEW_LINE)
            if (np.diff(row_ends, prepend=-1) == width).all():
                rows.add(parsed.values.reshape(-1, width), block.lines)
                return
    check_peak(block.text, PEAK_OF_CELLS, file.path)
    records = _cells(decoded(block.text), separator, file, block.lines[0])
    lines = block.lines if len(records) == len(block.lines) else [block.lines[0]] * len(records)  # quoted line feeds: the first line
    for record, line in zip(records, lines):
        if len(record) != width:
            raise file.error(f"{len(record)} cells, the first line has {width}; is a cell with the separator not quoted?", line)
    rows.add_text(dict(enumerate(zip(*records, strict=True))), lines)


def write_table(dataset: Dataset, path: Path_, *, separator: str | None = None) -> None:
    """Write a CSV, TSV or Parquet file: features first, then labels, under their names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        As in :func:`read_table`. The file appears whole or not at all.
    separator : str, optional
        One character between cells; by default by suffix.

    Warns
    -----
    UserWarning
        About what a table cannot hold: which columns are labels, sparse storage, and parts.
    """
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix not in PARQUET and separator is None and suffix not in SEPARATORS:
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join([*SEPARATORS, *PARQUET])}. (In Python, separator=… writes others.)"
        )
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    lost += ["that X is sparse"] if sparse.issparse(dataset.X) else []
    lost += ["train and test parts"] if dataset.train is not None or dataset.test is not None else []
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        write_parquet(dataset, path)
    else:
        write_lines(path, _lines(dataset, separator or SEPARATORS[suffix]))


def _lines(dataset: Dataset, separator: str) -> Iterator[str]:
    yield separator.join(_quoted(plain_cell(name), separator) for name in (*dataset.feature_names, *dataset.label_names)) + "\n"
    for start in range(0, dataset.n, WRITE_ROWS):
        X = dataset.X[start : start + WRITE_ROWS]
        for x, y in zip(X.toarray() if sparse.issparse(X) else X, dataset.Y[start : start + WRITE_ROWS]):
            yield separator.join([*numerals(x, ""), *map(str, y.tolist())]) + "\n"


def _quoted(name: str, separator: str) -> str:
    if name and not re.search(r'["\s]', name) and separator not in name:
        return name
    return '"' + name.replace('"', '""') + '"'
