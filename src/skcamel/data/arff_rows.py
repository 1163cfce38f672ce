"""Rows of an ARFF file ► features and labels, dense or sparse, one block of lines at a time.

pyarrow's CSV reader reads the cells: a dense row becomes one line for each value, and a sparse row
``{3 1,7 0.5}`` one line ``index value`` for each cell. Quotes are taken away before; what separates
cells is replaced by stand-ins within them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.attributes import Attribute, Codes
from skcamel.data.sources import (
    Block,
    check_claimed_size,
    check_memory,
    check_room_for_labels,
    decoded,
    pyarrow_module,
    shortened,
)

QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
QUOTED_CELL = re.compile(rf"(?<![^\s,{{])(?:{QUOTED})(?=[ \t\r]*(?:[,}}\n]|\Z))")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
STAND_INS = str.maketrans(", \t\r\n{}'\"", "\x01\x02\x03\x04\x05\x06\x0e\x0f\x10")
STOOD_FOR = {stand_in: letter for letter, stand_in in STAND_INS.items()}
SPACES = re.compile(rb"[ \t\r]{2,}|[\t\r]")
EMPTY_LINES = re.compile(rb"\n\n+")
LINE_PER_CELL = bytes.maketrans(b",", b"\n")
SPARSE_ROW = re.compile(r"\{[^{}]*\}")
SPARSE_CELL = re.compile(r"(\d+) (.+)", re.ASCII | re.DOTALL)
UNKNOWN = -1  # among labels that are bytes
CELL_BYTES = 60  # at the peak for each byte of a block


def protected(text: str) -> str:
    """Text without quotes around its cells; commas, spaces and braces that were quoted have stand-ins."""
    return QUOTED_CELL.sub(lambda cell: unquoted(cell[0]).translate(STAND_INS), text)


def cells(text: str) -> list[str]:
    """Values between commas, without quotes and the spaces around them."""
    return [cell.strip().translate(STOOD_FOR) for cell in protected(text).split(",")]


def unquoted(text: str) -> str:
    """Text without its quotes and escapes."""
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return re.sub(
        r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), text[1:-1], flags=re.DOTALL
    )


class Layout:
    """Which attributes are features and which are labels, and what their values mean.

    `hint` says what to do about a row of the wrong width.
    """

    def __init__(
        self, path: Path_, attributes: tuple[Attribute, ...], is_label: np.ndarray, hint: str
    ) -> None:
        self.path = path
        self.attributes = attributes
        self.hint = hint
        self.width = len(attributes)
        places: dict[tuple[str, tuple[str, ...]], int] = {}
        kind_of = [places.setdefault((a.kind, a.values), len(places)) for a in attributes]
        self.kinds = [Codes(*kind) for kind in places]
        self.kind_of = np.array(kind_of)
        self.codes = [self.kinds[kind] for kind in kind_of]
        self.only_numbers = all(codes.by_number for codes in self.kinds)
        self.omitted = np.array([codes.first for codes in self.codes])
        is_text = np.array([attribute.kind == "text" for attribute in attributes])
        self.features = np.flatnonzero(~is_label & ~is_text)
        self.labels = np.flatnonzero(is_label)
        self.label_names = tuple(attributes[label].name for label in self.labels)
        for label in self.labels.tolist():
            self._check_label(attributes[label], self.codes[label])
        self.signed = np.array([-1.0 in self.codes[label].numbers for label in self.labels], bool)

    def _check_label(self, attribute: Attribute, codes: Codes) -> None:
        numbers = set(codes.numbers)
        is_binary = numbers <= {0, 1} or numbers == {-1, 1}
        if codes.by_position or not is_binary:
            values = shortened(attribute.values) or "text"
            raise DataError(
                f"label {attribute.name[:60]!r} has the values {values}; a label is {{0,1}},"
                " {-1,1}, {NO,YES} or {FALSE,TRUE}: recode it, or keep it as a feature.",
                path=self.path,
            )

    def permits(self, columns: np.ndarray, values: np.ndarray) -> bool:
        """Whether nominals have only declared numbers."""
        kind_of_cell = self.kind_of[columns]
        for kind, codes in enumerate(self.kinds):
            if codes.numbers:
                found = values[kind_of_cell == kind]
                is_declared = np.isin(found, codes.numbers) | np.isnan(found)
                if not is_declared.all():
                    return False
        return True

    def meant(self, columns: np.ndarray, encoded: Any) -> np.ndarray:
        """Numbers that a dictionary array of cells stands for.

        ValueError for a cell that the header does not allow.
        """
        words = [word.translate(STOOD_FOR) for word in encoded.dictionary.to_pylist()]
        words.append("?")
        word_of_cell = encoded.indices.fill_null(len(words) - 1).to_numpy()
        kind_of_cell = self.kind_of[columns]
        values = np.empty(len(columns))
        for kind, codes in enumerate(self.kinds):
            of_kind = kind_of_cell == kind
            used, place = np.unique(word_of_cell[of_kind], return_inverse=True)
            numbers = np.array([codes[words[word]] for word in used.tolist()])
            values[of_kind] = numbers[place]
        return values

    def check(self, column: int, cell: str) -> None:
        """ValueError for a cell that the header does not allow."""
        try:
            self.codes[column][cell]
        except ValueError:
            attribute = self.attributes[column]
            declared = shortened(attribute.values)
            expected = f"one of {declared}" if attribute.kind == "nominal" else "a number or ?"
            raise ValueError(
                f"{cell[:40]!r} for attribute {attribute.name[:60]!r}; expected {expected}. Correct"
                " the value, or declare it in the header."
            ) from None


class Cells(NamedTuple):
    """The cells of some rows, in order."""

    is_sparse: bool
    counts: np.ndarray  # of each row
    columns: np.ndarray
    values: np.ndarray


class Rows:
    """Features and labels of the rows that were read."""

    def __init__(self) -> None:
        self.features: list[Any] = []
        self.labels: list[np.ndarray] = []
        self.n_rows = 0
        self.held = 0  # bytes

    def add(self, block: Block, layout: Layout) -> None:
        """Read a block of lines."""
        check_memory(self.held + CELL_BYTES * len(block.text), "Reading on", layout.path)
        cells_ = read_cells(block, layout)
        self.n_rows += len(cells_.counts)
        if self.features and cells_.is_sparse != sparse.issparse(self.features[0]):
            raise DataError(
                "dense rows and sparse rows {…} in one file; write all in one form.",
                path=layout.path,
                line=block.line(0),
            )
        if cells_.is_sparse:
            check_room_for_labels(self.n_rows, len(layout.labels), layout.path)
            X, Y = self._sparse(cells_, block, layout)
            self.held += X.data.nbytes + X.indices.nbytes
        else:
            values = cells_.values.reshape(-1, layout.width)
            X = values[:, layout.features]
            Y = values[:, layout.labels]
            self.held += X.nbytes
        self.held += Y.size
        self.features.append(X)
        self.labels.append(_as_bytes(Y, block, layout))

    def finish(self) -> tuple[Any, np.ndarray]:
        """X, and Y with NaN where a label is unknown."""
        labels = np.concatenate(self.labels)
        unknown = labels == UNKNOWN
        Y = np.where(unknown, np.nan, labels) if unknown.any() else labels.astype(np.int64)
        if sparse.issparse(self.features[0]):
            return sparse.vstack(self.features, format="csr"), Y
        return np.concatenate(self.features), Y

    def _sparse(
        self, cells_: Cells, block: Block, layout: Layout
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Features and labels of sparse rows."""
        shape = (len(cells_.counts), layout.width)
        starts = np.concatenate([[0], np.cumsum(cells_.counts)])
        stored = sparse.csr_array((cells_.values, cells_.columns, starts), shape=shape)
        if not stored.has_sorted_indices:
            stored = stored.sorted_indices()
        rows = np.repeat(np.arange(shape[0]), cells_.counts)
        twice = (np.diff(rows) == 0) & (np.diff(stored.indices) == 0)
        if twice.any():
            cell = int(twice.argmax())
            problem = f"index {stored.indices[cell]} occurs twice in a row; remove one."
            raise DataError(problem, path=layout.path, line=block.line(rows[cell]))
        X = stored[:, layout.features]
        labels = stored[:, layout.labels].tocoo()
        Y = np.tile(layout.omitted[layout.labels], (shape[0], 1))
        Y[labels.row, labels.col] = labels.data
        omitted = layout.omitted[layout.features]
        filled = np.flatnonzero(omitted)
        if filled.size:
            claimed = f"{self.n_rows} rows x {filled.size} features whose omitted value is not 0"
            check_claimed_size(16 * self.n_rows * filled.size, claimed, layout.path)
            X = _with_omitted(X, filled, omitted[filled])
        X.eliminate_zeros()
        return X, Y


def _with_omitted(X: sparse.csr_array, columns: np.ndarray, values: np.ndarray) -> sparse.csr_array:
    """X with these values in the cells of these columns that it does not store."""
    is_stored = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    rows, missing = np.nonzero(is_stored[:, columns].toarray() == 0)
    more = sparse.csr_array((values[missing], (rows, columns[missing])), shape=X.shape)
    return sparse.csr_array(X + more)


def _as_bytes(Y: np.ndarray, block: Block, layout: Layout) -> np.ndarray:
    """Labels as a byte each."""
    Y[(Y == -1) & layout.signed] = 0
    odd = np.argwhere((Y != 0) & (Y != 1) & ~np.isnan(Y))
    if len(odd):
        row, label = odd[0]
        name = layout.label_names[label]
        raise DataError(
            f"label {name[:60]!r} is {Y[row, label]:g}; labels are 0 or 1. Is the label file of the"
            " same release?",
            path=layout.path,
            line=block.line(row),
        )
    return np.where(np.isnan(Y), UNKNOWN, Y).astype(np.int8)


def read_cells(block: Block, layout: Layout) -> Cells:
    """Cells of a block; quotes and odd spaces are taken away where there are any."""
    found = _split(block.text, layout)
    if found is not None:
        return found
    text = _plain(block.text)
    return _split(text, layout) or _refuse(text, block, layout)


def _plain(text: bytes) -> bytes:
    """Lines without quotes, and without spaces beside commas and braces."""
    text = SPACES.sub(b" ", protected(decoded(text)).encode())
    for mark in (b",", b"{", b"}", b"\n"):
        text = text.replace(b" " + mark, mark).replace(mark + b" ", mark)
    return EMPTY_LINES.sub(b"\n", text.strip(b" ")).removeprefix(b"\n")


def _split(text: bytes, layout: Layout) -> Cells | None:
    """Cells of rows without quotes and odd spaces; None where a cell is not as the header says."""
    if any(mark in text for mark in (b"'", b'"', b"\r")):
        return None
    lines = text.split(b"\n")[:-1]
    counts = np.array([0 if line == b"{}" else line.count(b",") + 1 for line in lines])
    is_sparse = text.startswith(b"{")
    is_whole = _are_braced(lines) if is_sparse else (counts == layout.width).all()
    if not is_whole:
        return None
    try:
        columns, numbers = _numbers(text, len(lines), layout, is_sparse=is_sparse)
    except ValueError:  # ArrowInvalid is one
        return None
    return Cells(is_sparse, counts, columns, numbers)


def _numbers(
    text: bytes, n_rows: int, layout: Layout, *, is_sparse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Column and number of each cell; ValueError where one is not as the header says."""
    arrow = pyarrow_module()
    words = arrow.dictionary(arrow.int32(), arrow.string())
    value_type = arrow.float64() if layout.only_numbers else words
    if is_sparse:
        lines = text.replace(b"{}\n", b"").translate(LINE_PER_CELL, b"{}")
        indices, values = _parsed(lines, [arrow.int64(), value_type])
        columns = indices.to_numpy()
    else:
        (values,) = _parsed(text.translate(LINE_PER_CELL), [value_type])
        columns = np.tile(np.arange(layout.width, dtype=np.int32), n_rows)
    if ((columns < 0) | (columns >= layout.width)).any():
        raise ValueError("an index beyond the header")
    if not layout.only_numbers:
        return columns, layout.meant(columns, values)
    numbers = values.to_numpy(False)
    if not layout.permits(columns, numbers):
        raise ValueError("a value that is not declared")
    return columns, numbers


def _are_braced(lines: list[bytes]) -> bool:
    """Whether each line begins and ends with a brace, and has no other."""
    inner = [line[1:-1] for line in lines if line[:1] == b"{" and line[-1:] == b"}"]
    return len(inner) == len(lines) and not any(b"{" in cells or b"}" in cells for cells in inner)


def _parsed(lines: bytes, types: Sequence[Any]) -> list[Any]:
    """Columns of lines whose cells are separated by spaces; ArrowInvalid where a cell is not of its type."""
    csv, arrow = pyarrow_module("pyarrow.csv"), pyarrow_module()
    if not lines:
        return [arrow.array([], kind) for kind in types]
    names = [str(k) for k in range(len(types))]
    separator = " " if len(types) > 1 else "\x1f"
    table = csv.read_csv(
        arrow.BufferReader(lines),
        csv.ReadOptions(column_names=names, use_threads=False, block_size=len(lines) + 8),
        csv.ParseOptions(
            delimiter=separator, quote_char=False, escape_char=False, ignore_empty_lines=False
        ),
        csv.ConvertOptions(
            column_types=dict(zip(names, types)), null_values=["?"], strings_can_be_null=True
        ),
    )
    return [column.chunk(0) for column in table.columns]


def _refuse(text: bytes, block: Block, layout: Layout) -> NoReturn:
    """Say which line of a block is wrong, and why."""
    split = _sparse_row if text.startswith(b"{") else _dense_row
    message = "a cell after this line holds a character that no value has; remove it."
    wrong = 0
    for row, line in enumerate(decoded(text).split("\n")[:-1]):
        try:
            for column, cell in split(line, layout):
                layout.check(column, cell.translate(STOOD_FOR))
        except ValueError as error:
            message = str(error)
            wrong = row
            break
    raise DataError(message, path=layout.path, line=block.line(wrong))


def _dense_row(line: str, layout: Layout) -> list[tuple[int, str]]:
    """Column and text of each cell of a row ``value,value``."""
    values = line.split(",")
    if len(values) != layout.width:
        raise ValueError(f"{len(values)} values, header declares {layout.width}; {layout.hint}")
    return list(enumerate(values))


def _sparse_row(line: str, layout: Layout) -> list[tuple[int, str]]:
    """Column and text of each cell of a row ``{index value,index value}``."""
    if not SPARSE_ROW.fullmatch(line):
        raise ValueError(
            f"{line[:40]!r} is not of the form {{index value,…}} of the rows before it; is the file"
            " cut short?"
        )
    found: list[tuple[int, str]] = []
    for cell in line[1:-1].split(",") if len(line) > 2 else []:
        match = SPARSE_CELL.fullmatch(cell)
        if match is None:
            raise ValueError(
                f"{cell[:40]!r} in a sparse row; expected an index, a space and a value."
            )
        index, value = match.groups()
        if len(index) > 12 or int(index) >= layout.width:
            raise ValueError(
                f"index {index[:20]}, header declares {layout.width} attributes (0 to"
                f" {layout.width - 1}); {layout.hint}"
            )
        found.append((int(index), value))
    return found
