"""Tables: CSV and TSV, with label columns by name, prefix, position or count; each column is numbers or text, as its first cell says."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.columns import (
    NUMERAL,
    WORDS,
    Attribute,
    check_nominal,
    feature_codes,
    finished,
    names_of,
    number,
    refuse_label,
    table_of_numbers,
)
from skcamel.data.dataset import Dataset
from skcamel.data.text import (
    LABEL_BYTES,
    PEAK_OF_CELLS,
    VALUE_BYTES,
    Block,
    Growing,
    LineFile,
    Tally,
    check_claimed_size,
    check_different_labels,
    check_peak,
    decoded,
    first_repeated,
    numerals,
    open_lines,
    shortened,
    stem,
    write_lines,
)
from skcamel.rows import default_names
from skcamel.text import original_cell, plain_cell

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
LONGEST_RECORD = 2**24  # bytes of one row whose quotes span lines
WRITE_ROWS = 256  # rows made dense at once
COLUMN_BYTES = 600  # of one column at the peak, without its cells: its name, type and place
MISSING = frozenset(["", "?", "NA", "N/A", "nan", "NaN", "NAN", "null"])
LABEL_WORDS = {word: value for words in WORDS for word, value in words.items()}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")

LabelColumns = str | int | Sequence[str] | Sequence[int]
Categories = Mapping[str, tuple[str, ...]]
Start = Callable[[Sequence[str], bool], "TableRows"]  # column names, and whether commas are decimal ones ► what collects the rows


def read_table(path: Path_, *, labels: LabelColumns, separator: str | None = None, header: bool = True, nominal: str = "index") -> Dataset:
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
    check_nominal(nominal)

    def start(names: Sequence[str], decimal_comma: bool) -> TableRows:
        return TableRows(names, label_columns(names, labels, path), path, decimal_comma=decimal_comma)

    X, Y, feature_names, label_names, dropped, categories = read_rows(path, start, separator=separator, header=header).finish(nominal)
    return Dataset(X, Y, feature_names, label_names, name=stem(path), source=str(path), dropped=dropped, categories=categories)


def read_rows(path: Path_, start: Start, *, separator: str | None = None, header: bool = True) -> TableRows:
    """Read all rows of a table into what `start` makes of the column names and of whether commas are decimal ones."""
    if _suffix(path, separator, "reads") in PARQUET:
        from skcamel.data.parquet import read_parquet

        return read_parquet(Path(path), start)
    return _read_separated(path, start, separator, header)


def _suffix(path: Path_, separator: str | None, does: str) -> str:
    """Suffix of a table; one that names no format is refused unless a separator is given."""
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if separator is None and suffix not in (*SEPARATORS, *PARQUET):
        raise ValueError(
            f"{Path(path).name} ends in {suffix!r}; known are {', '.join([*SEPARATORS, *PARQUET])}. (In Python, separator=… {does} others.)"
        )
    return suffix


def label_columns(names: Sequence[str], labels: LabelColumns, path: Path_) -> np.ndarray:
    """Which columns are labels, as a mask."""
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


def _positions(names: Sequence[str], labels: LabelColumns, path: Path_) -> list[int]:
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
    by_suffix = SEPARATORS[_suffix(path, None, "reads")]
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
    if not rows.text and b'"' not in block.text:
        text = block.text.replace(b",", b".") if rows.decimal_comma else block.text
        table = table_of_numbers(text, separator.encode(), len(block.lines), width, gaps=True)
        if table is not None:
            rows.add_numbers(table, block.lines)
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
    suffix = _suffix(path, separator, "writes")
    lost = [f"which columns are labels (the last {dataset.q} here)"]
    lost += ["that X is sparse"] if sparse.issparse(dataset.X) else []
    lost += ["train and test parts"] if dataset.train is not None or dataset.test is not None else []
    warnings.warn(f"A table does not hold {', '.join(lost)}.", UserWarning, stacklevel=2)
    if suffix in PARQUET:
        from skcamel.data.parquet import write_parquet

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


class TableRows:
    """Collects the rows of a table.

    Parameters
    ----------
    names, is_label : of all columns
    path : path
        As shown in messages.
    is_feature : ndarray of bool, optional
        By default all but the labels; the cells of other columns are not looked at.
    categories : mapping from name to values, optional
        The text columns and their values, where they are known beforehand: the others are numbers, and no column is dropped.
    decimal_comma : bool, default=False
        Whether ``1,5`` is a number.
    """

    def __init__(
        self,
        names: Sequence[str],
        is_label: np.ndarray,
        path: Path_,
        *,
        is_feature: np.ndarray | None = None,
        categories: Categories | None = None,
        decimal_comma: bool = False,
    ) -> None:
        self.names, self.is_label, self.path = list(names), is_label, path
        self.is_feature = ~is_label if is_feature is None else is_feature
        self.categories, self.decimal_comma = categories, decimal_comma
        self.text: dict[int, dict[str, int]] = {}  # text columns: their values, numbered as they come
        self.known = is_label.copy()  # columns of which it is known whether they are text
        self.features = Growing(np.float64, int(self.is_feature.sum()))
        self.labels = Growing(np.int8, int(is_label.sum()), later=LABEL_BYTES)
        self.tally = Tally("the texts in its columns")
        self.label_names = tuple(name for name, flag in zip(self.names, is_label) if flag)
        check_different_labels(self.label_names, path)
        if categories is not None:
            self.known[:] = True
            for position in np.flatnonzero(self.is_feature).tolist():
                if self.names[position] in categories:
                    self.text[position] = {value: code for code, value in enumerate(categories[self.names[position]])}

    def add_numbers(self, table: np.ndarray, lines: Sequence[int]) -> None:
        """Take rows of numbers."""
        self.known[:] = True
        self._add(table, lines)

    def add_text(self, columns: Mapping[int, Sequence[str]], lines: Sequence[int], table: np.ndarray | None = None) -> None:
        """Take rows of which some columns, by position, are cells of text; the other columns are in `table`, if there are such."""
        if table is None:
            table = np.full((len(lines), len(self.names)), np.nan)
        for position, column in columns.items():
            if self.is_label[position] or self.is_feature[position]:
                table[:, position] = self._numbers(position, column, lines)
        self._add(table, lines)

    def _numbers(self, position: int, column: Sequence[str], lines: Sequence[int]) -> list[float]:
        cells = [cell.strip() for cell in column]
        if not self.known[position]:
            first = next((cell for cell in cells if cell not in MISSING), None)
            if first is not None:
                self.known[position] = True
                if not _is_number(self._with_point(first)):
                    self.text[position] = {}
        if position in self.text:
            codes = self.text[position]
            if self.categories is not None:
                self._check_values(position, cells, lines)
            before = len(codes)
            numbered = [np.nan if cell in MISSING else codes.setdefault(cell, len(codes)) for cell in cells]
            new = islice(reversed(codes), len(codes) - before)
            self.tally.add(sum(VALUE_BYTES + len(value) for value in new), self.path)
            return numbered
        return [self._number(cell, position, line) for cell, line in zip(cells, lines)]

    def _check_values(self, position: int, cells: list[str], lines: Sequence[int]) -> None:
        """Refuse values that have no number: giving them one would not mean what the known ones mean."""
        for cell, line in zip(cells, lines):
            if cell not in self.text[position] and cell not in MISSING:
                raise DataError(
                    f"{cell[:40]!r} in column {self.names[position][:60]!r}, which had the values {shortened(self.text[position], 8)}; "
                    "write one of these, or fit again with rows that have it.",
                    path=self.path,
                    line=line,
                )

    def _with_point(self, cell: str) -> str:
        return cell.replace(",", ".") if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell) else cell

    def _number(self, cell: str, position: int, line: int) -> float:
        if cell in MISSING:
            return np.nan
        if self.is_label[position] and cell.upper() in LABEL_WORDS:
            return LABEL_WORDS[cell.upper()]
        try:
            return number(self._with_point(cell))
        except ValueError:
            problem = f"{cell[:40]!r} in column {self.names[position][:60]!r}, which holds numbers"
            raise DataError(f"{problem}; correct the cell, or leave it empty.", path=self.path, line=line) from None

    def _add(self, table: np.ndarray, lines: Sequence[int]) -> None:
        labels = table[:, self.is_label]
        odd = np.argwhere(~np.isin(labels, (-1, 0, 1)))
        if len(odd):
            row, column = odd[0]
            cure = "labels are 0 and 1, or -1 and +1. Are the right columns named as labels?"
            refuse_label(labels[row, column], self.label_names[column], cure, self.path, lines[row])
        self.labels.extend(labels, self.path)
        self.features.extend(table[:, self.is_feature], self.path)

    def finish(self, nominal: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[str, ...], tuple[str, ...], Categories]:
        """X, Y, names of features, of labels and of dropped columns, and the values of text columns.

        Warns where columns are dropped, and where numbers stand for text that has no order.
        """
        X = self.features.finish()
        attributes = [self._attribute(position, X, k) for k, position in enumerate(np.flatnonzero(self.is_feature).tolist())]
        own, keep = attributes, () if self.categories is None else names_of(attributes)
        if self.categories is None and self.is_feature[0]:
            X, own = _without_row_numbers(X, attributes)
        X, names, kept = finished(X, own, nominal, self.path, keep, "are the right columns named as labels?")
        left = {id(attribute) for attribute in kept}
        dropped = [attribute.name for attribute in attributes if id(attribute) not in left]
        categories = {attribute.name: attribute.values for attribute in kept if attribute.kind == "nominal"}
        self._warn(dropped, [name for name, values in categories.items() if _is_arbitrary(values)], nominal)
        return X, self.finish_labels(), tuple(names), self.label_names, tuple(dropped), categories

    def _warn(self, dropped: list[str], coded: list[str], nominal: str) -> None:
        if self.categories is not None:
            return
        said = [f"{shortened(dropped)} left out, as it only numbers or names the rows"] if dropped else []
        if coded and nominal == "index":
            said.append(
                f"text in {shortened(coded)} is numbered in the order of its sorted values; where that means nothing, "
                "make it a 0/1 column for each value (nominal='onehot', command line: fit --nominal onehot)"
            )
        if said:
            warnings.warn(f"{Path(self.path).name}: {'; '.join(said)}.", UserWarning, stacklevel=4)

    def _attribute(self, position: int, X: np.ndarray, k: int) -> Attribute:
        """Attribute of the feature at `position`, column `k` of X; the numbers of text are put into the order of the sorted values."""
        if position not in self.text:
            return Attribute(self.names[position], "numeric")
        values = tuple(sorted(self.text[position]) if self.categories is None else self.text[position])
        codes = feature_codes(values)
        by_number = np.array([codes[value] for value in self.text[position]])
        column = X[:, k]
        filled = ~np.isnan(column)
        column[filled] = by_number[column[filled].astype(np.int64)]
        return Attribute(self.names[position], "nominal", values)

    def finish_labels(self) -> np.ndarray:
        """LabelColumns in -1 and +1 as 0 and 1; a label with -1 and 0 is refused."""
        Y = self.labels.finish()
        negative = (Y == -1).any(axis=0)
        mixed = np.flatnonzero(negative & (Y == 0).any(axis=0))
        if mixed.size:
            name = self.label_names[mixed[0]][:60]
            raise DataError(f"label {name!r} holds -1 and 0; labels are 0 and 1, or -1 and +1: recode it.", path=self.path)
        return (Y == 1).astype(np.int64)


def _without_row_numbers(X: np.ndarray, attributes: list[Attribute]) -> tuple[np.ndarray, list[Attribute]]:
    """X and its attributes without a first column that has no name and counts the rows, as data frames write it."""
    is_index = attributes[0].name.strip() in ("", "Unnamed: 0") and len(X) > 1 and (np.diff(X[:, 0]) == 1).all() and X[0, 0] in (0, 1)
    return (X[:, 1:], attributes[1:]) if is_index else (X, attributes)


def _is_arbitrary(values: tuple[str, ...]) -> bool:
    """Whether the numbers of these values are mere positions; those of yes and no, and of numerals, are not."""
    codes = feature_codes(values)
    words = {value.upper() for value in values}
    return not codes.by_number and not any(words <= set(meaning) for meaning in WORDS)


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True
