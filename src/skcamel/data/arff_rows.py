"""Rows of an ARFF file ► features and labels, dense or sparse, one bounded block of lines at a time.

Each block is first tried as a whole, by :mod:`skcamel.data.decimals`. A block that holds anything but numbers in the expected
places is read again row by row, which is slower, knows quotes and nominal values, and names the line of an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from skcamel.data.arff_header import Attribute, cells, decoder, is_identity, unquoted
from skcamel.data.decimals import numbers
from skcamel.data.errors import LABEL_BYTES, DataError, check_claimed_size
from skcamel.data.growing import Growing
from skcamel.data.text import PEAK_OF_CELLS, Block, Path_, check_peak, decoded, shortened

NEW_LINE, SPACE = b"\n "
FILLED_CELLS = 2**18  # omitted cells that are filled in at once


@dataclass(frozen=True)
class Layout:
    """Which attributes are features and which are labels, and what their values mean."""

    path: Path_
    attributes: tuple[Attribute, ...]
    is_label: np.ndarray  # (width,) bool
    decoders: list[Callable[[str], float]]
    only_numbers: bool  # every value is written as the number it means
    allowed: dict[tuple[float, ...], np.ndarray]  # numbers that a nominal may take ► its columns
    cure: str  # what to do about a row of the wrong width

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.attributes)

    @cached_property
    def features(self) -> np.ndarray:
        """Columns that are features."""
        return np.flatnonzero(~self.is_label & np.array([attribute.kind != "text" for attribute in self.attributes]))

    @cached_property
    def labels(self) -> np.ndarray:
        """Columns that are labels."""
        return np.flatnonzero(self.is_label)

    @cached_property
    def position(self) -> np.ndarray:
        """Place of each column among the features or among the labels; -1 for text."""
        position = np.full(self.width, -1)
        position[self.features] = np.arange(len(self.features))
        position[self.labels] = np.arange(len(self.labels))
        return position

    @cached_property
    def defaults(self) -> np.ndarray:
        """Value of each column where a sparse row leaves it out: 0, or the first declared value of a nominal."""
        pairs = zip(self.attributes, self.decoders)
        return np.array([decode(attribute.values[0]) if attribute.values else 0.0 for attribute, decode in pairs])

    @cached_property
    def feature_defaults(self) -> np.ndarray:
        """Those of the features."""
        return self.defaults[self.features]

    def permits(self, columns: np.ndarray | None, values: np.ndarray) -> bool:
        """Whether nominals have only declared values; `values` is a table, or one value for each of `columns`."""
        if columns is None:
            return all(_only(values[:, positions], allowed) for allowed, positions in self.allowed.items())
        groups = self.group[columns]
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups, np.arange(len(self.allowed) + 1), sorter=order)
        return all(_only(values[order[start:end]], allowed) for allowed, (start, end) in zip(self.allowed, pairwise(ends.tolist())))

    @cached_property
    def group(self) -> np.ndarray:
        """Number of each column's entry in `allowed`; -1 for columns that may hold any number."""
        group = np.full(self.width, -1)
        for number, columns in enumerate(self.allowed.values()):
            group[columns] = number
        return group


def _only(values: np.ndarray, allowed: tuple[float, ...]) -> bool:
    """Whether all values are allowed or missing."""
    return bool((np.isin(values, allowed) | np.isnan(values)).all())


def layout_of(attributes: tuple[Attribute, ...], is_label: np.ndarray, path: Path_, cure: str) -> Layout:
    """Decide how each column is read."""
    flags = is_label.tolist()
    groups: dict[tuple[str, ...], list[int]] = {}
    known: dict[tuple[str, tuple[str, ...], bool], tuple[Callable[[str], float], bool]] = {}  # most columns are of one type
    types = [(attribute.kind, attribute.values, flag) for attribute, flag in zip(attributes, flags)]
    for attribute, type_ in zip(attributes, types):
        if type_ not in known:
            known[type_] = decoder(attribute, type_[2], path), is_identity(attribute, type_[2])
    decoders = [known[type_][0] for type_ in types]
    only_numbers = all(plain for _, plain in known.values())
    for position, attribute in enumerate(attributes):
        if attribute.kind == "nominal":
            groups.setdefault(attribute.values, []).append(position)
    allowed = {tuple(float(value) for value in values): np.array(columns) for values, columns in groups.items()} if only_numbers else {}
    return Layout(path, attributes, is_label, decoders, only_numbers, allowed, cure)


class DenseRows:
    """Collects rows of the form ``value,value,…``."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.features = Growing(np.float64, len(layout.features))
        self.labels = Growing(np.int8, len(layout.labels), later=LABEL_BYTES)

    def add(self, block: Block) -> int:
        """Read a block; returns its number of rows."""
        layout = self.layout
        table = _dense_block(block, layout)
        if table is None:
            check_peak(block.text, PEAK_OF_CELLS, layout.path)
            lines = block.text.split(b"\n")[:-1]
            table = np.array([_dense_row(decoded(line), number, layout) for number, line in zip(block.lines, lines)])
        _check_labels(table[:, layout.labels], block, layout)
        self.features.extend(table[:, layout.features], layout.path)
        self.labels.extend(table[:, layout.labels], layout.path)
        return len(table)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Y of all rows."""
        return self.features.finish(), self.labels.finish().astype(np.int64)


class SparseRows:
    """Collects rows of the form ``{index value,…}``."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.counts = Growing(np.int64, later=8)  # features stored in each row
        self.indices = Growing(np.int32)
        self.values = Growing(np.float64)
        self.label_cells = Growing([("row", np.int64), ("label", np.int32), ("value", np.int8)])
        self.n_rows = 0

    def add(self, block: Block) -> int:
        """Read a block; returns its number of rows."""
        layout = self.layout
        counts, columns, values = _sparse_block(block, layout) or _sparse_lines(block, layout)
        n_rows = self.n_rows + len(counts)
        n_labels = len(layout.labels)
        check_claimed_size(LABEL_BYTES * n_rows * n_labels, f"{n_rows} rows x {n_labels} labels", layout.path)
        rows = np.repeat(np.arange(len(counts)), counts)
        position = layout.position
        of_label = layout.is_label[columns]
        of_feature = ~of_label & (position[columns] >= 0)
        cells_ = rows[of_label], position[columns[of_label]], values[of_label]
        _check_label_cells(*cells_, block, layout)
        labels = np.empty(len(cells_[0]), dtype=self.label_cells.values.dtype)
        labels["row"], labels["label"], labels["value"] = cells_[0] + self.n_rows, cells_[1], cells_[2]
        self.label_cells.extend(labels, layout.path)
        self._add_features(len(counts), rows[of_feature], position[columns[of_feature]], values[of_feature])
        self.n_rows = n_rows
        return len(counts)

    def _add_features(self, n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Take the cells of `n` rows, a bounded number of rows at a time where omitted cells are to be filled in."""
        path, filled = self.layout.path, np.flatnonzero(self.layout.feature_defaults)
        claimed = f"{self.n_rows + n} rows x {len(filled)} features whose omitted value is not 0"
        check_claimed_size(16 * (self.n_rows + n) * len(filled), claimed, path)  # 12 that stay, and room to grow
        step = max(1, FILLED_CELLS // len(filled)) if filled.size else n
        for first in range(0, n, step):
            part = slice(*np.searchsorted(rows, (first, first + step)))
            counts, own_columns, own_values = _with_defaults(
                min(step, n - first), rows[part] - first, columns[part], values[part], self.layout.feature_defaults
            )
            self.counts.extend(counts, path)
            self.indices.extend(own_columns, path)
            self.values.extend(own_values, path)

    def finish(self) -> tuple[Any, np.ndarray]:
        """X and Y of all rows."""
        layout, n = self.layout, self.n_rows
        Y = np.empty((n, len(layout.labels)), dtype=np.int64)
        Y[:] = layout.defaults[layout.labels]
        cells_ = self.label_cells.finish()
        Y[cells_["row"], cells_["label"]] = cells_["value"]
        indptr = np.concatenate([[0], np.cumsum(self.counts.finish())])
        indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
        X = sparse.csr_array((self.values.finish(), self.indices.finish(), indptr), shape=(n, len(layout.features)))
        X.eliminate_zeros()
        return X, Y


def _with_defaults(
    n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, defaults: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells per row, columns and values of `n` rows, with those that a row omits and whose value then is not 0."""
    filled = np.flatnonzero(defaults)
    if filled.size:
        place = np.full(len(defaults), -1)
        place[filled] = np.arange(len(filled))
        omitted = np.ones((n, len(filled)), dtype=bool)
        given = place[columns] >= 0
        omitted[rows[given], place[columns[given]]] = False
        more_rows, more = np.nonzero(omitted)
        rows, columns = np.concatenate([rows, more_rows]), np.concatenate([columns, filled[more]])
        values = np.concatenate([values, defaults[filled[more]]])
        order = np.lexsort((columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
    return np.bincount(rows, minlength=n), columns, values


def _dense_block(block: Block, layout: Layout) -> np.ndarray | None:
    """All values of a block of plain numbers, or None where it must be read row by row."""
    text = block.text
    if not layout.only_numbers or b"'" in text or b'"' in text:
        return None
    if b", " in text[: text.index(b"\n")]:
        text = text.replace(b", ", b",")
    parsed = numbers(text, b",\n")
    if parsed is None or parsed.empty.any() or parsed.values.size != layout.width * len(block.lines):
        return None
    row_ends = np.flatnonzero(parsed.ends == NEW_LINE)
    if (np.diff(row_ends, prepend=-1) != layout.width).any():
        return None
    table = parsed.values.reshape(-1, layout.width)
    return table if layout.permits(None, table) else None


def _dense_row(line: str, number: int, layout: Layout) -> list[float]:
    found = cells(line.strip())
    if line.lstrip().startswith("{"):
        raise DataError("a sparse row {…} among dense rows; write all rows in one form.", path=layout.path, line=number)
    if len(found) != layout.width:
        raise DataError(f"{len(found)} values, header declares {layout.width}; {layout.cure}", path=layout.path, line=number)
    if "'" in line or '"' in line:
        found = [unquoted(cell) for cell in found]
    try:
        return [decode(cell) for decode, cell in zip(layout.decoders, found)]
    except (KeyError, ValueError):
        _refuse_first_bad(list(enumerate(found)), number, layout)


def _sparse_block(block: Block, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Cells per row, columns and values of a block of plain numbers, or None where it must be read row by row."""
    text, n_rows = block.text, len(block.lines)
    if not layout.only_numbers or b"'" in text or b'"' in text:
        return None
    first = text[: text.index(b"\n")]
    if b", " in first or b"{ " in first or b" }" in first:
        text = text.replace(b", ", b",").replace(b"{ ", b"{").replace(b" }", b"}")
    bare = text.translate(None, b"{}")
    opened, closed = text.count(b"\n{") + text.startswith(b"{"), text.count(b"}\n")
    braced = opened == closed == n_rows and len(text) - len(bare) == 2 * n_rows
    parsed = numbers(bare, b" ,\n") if braced else None
    if parsed is None:
        return None
    ends, blank = parsed.ends, np.flatnonzero(parsed.empty)
    if (ends[blank] != NEW_LINE).any() or (ends[blank[blank > 0] - 1] != NEW_LINE).any():
        return None
    kept = ends[~parsed.empty] if blank.size else ends
    values = parsed.values[~parsed.empty] if blank.size else parsed.values
    plain = parsed.plain[~parsed.empty] if blank.size else parsed.plain
    if len(kept) % 2 or (kept[0::2] != SPACE).any() or (kept[1::2] == SPACE).any() or not plain[0::2].all():
        return None
    counts = np.diff(np.flatnonzero(ends == NEW_LINE), prepend=-1) // 2  # an empty row has one token, and that is empty
    columns, values = values[0::2], values[1::2]
    if (columns >= layout.width).any():
        return None
    columns = columns.astype(np.int64)
    return (counts, columns, values) if _ascending(counts, columns) and layout.permits(columns, values) else None


def _ascending(counts: np.ndarray, columns: np.ndarray) -> bool:
    """Whether the columns of each row grow."""
    begins = np.zeros(len(columns) + 1, dtype=bool)
    begins[np.cumsum(counts)] = True
    return bool((begins[1:-1] | (columns[1:] > columns[:-1])).all())


def _sparse_lines(block: Block, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read what :func:`_sparse_block` does not, row by row."""
    check_peak(block.text, PEAK_OF_CELLS, layout.path)
    rows = [_sparse_row(decoded(line), number, layout) for number, line in zip(block.lines, block.text.split(b"\n"))]
    counts = np.array([len(columns) for columns, _ in rows], dtype=np.int64)
    columns = np.array([column for columns, _ in rows for column in columns], dtype=np.int64)
    return counts, columns, np.array([value for _, values in rows for value in values], dtype=np.float64)


def _sparse_row(line: str, number: int, layout: Layout) -> tuple[list[int], list[float]]:
    text = line.strip()
    if not (text.startswith("{") and text.endswith("}")):
        problem = "is not of the form {index value,…} of the rows before it; is the file cut short?"
        raise DataError(f"{text[:40]!r} {problem}", path=layout.path, line=number)
    text = text[1:-1].strip()
    pairs: list[tuple[int, str]] = []
    for cell in cells(text) if text else []:
        index, value = cell.split(maxsplit=1) if len(cell.split(maxsplit=1)) == 2 else (cell, "")
        if not (index.isascii() and index.isdigit()) or not value:
            raise DataError(f"{cell[:40]!r} in a sparse row; expected an index, a space and a value.", path=layout.path, line=number)
        if len(index) > 12 or int(index) >= layout.width:
            problem = f"index {index[:20]}, header declares {layout.width} attributes (0 to {layout.width - 1}); {layout.cure}"
            raise DataError(problem, path=layout.path, line=number)
        pairs.append((int(index), unquoted(value)))
    pairs.sort(key=lambda pair: pair[0])
    columns = [column for column, _ in pairs]
    if len(set(columns)) < len(columns):
        twice = next(column for column, other in pairwise(columns) if column == other)
        raise DataError(f"index {twice} occurs twice in a row; remove one.", path=layout.path, line=number)
    try:
        return columns, [layout.decoders[column](value) for column, value in pairs]
    except (KeyError, ValueError):
        _refuse_first_bad(pairs, number, layout)


def _refuse_first_bad(pairs: list[tuple[int, str]], number: int, layout: Layout) -> NoReturn:
    """Say which value of a row its attribute does not allow."""
    for column, value in pairs:
        try:
            layout.decoders[column](value)
        except (KeyError, ValueError):
            attribute = layout.attributes[column]
            expected = f"one of {shortened(attribute.values)}" if attribute.kind == "nominal" else "a number or ?"
            found = f"{value[:40]!r} for attribute {attribute.name[:60]!r}"
            raise DataError(
                f"{found}; expected {expected}. Correct the value, or declare it in the header.", path=layout.path, line=number
            ) from None
    raise AssertionError("one of the values is bad")  # pragma: no cover


def _check_labels(labels: np.ndarray, block: Block, layout: Layout) -> None:
    odd = (labels != 0) & (labels != 1)
    if odd.any():
        row, label = np.argwhere(odd)[0]
        _refuse_label(labels[row, label], layout.attributes[layout.labels[label]].name, layout.path, block.lines[row])


def _check_label_cells(rows: np.ndarray, labels: np.ndarray, values: np.ndarray, block: Block, layout: Layout) -> None:
    odd = np.flatnonzero((values != 0) & (values != 1))
    if odd.size:
        first = odd[0]
        _refuse_label(values[first], layout.attributes[layout.labels[labels[first]]].name, layout.path, block.lines[rows[first]])


def _refuse_label(value: float, name: str, path: Path_, line: int) -> NoReturn:
    if np.isnan(value):
        problem = f"label {name[:60]!r} is missing (?); remove the row, or write 0 where 'not given' means 'not relevant'."
    else:
        problem = f"label {name[:60]!r} is {value:g}; labels are 0 or 1. Is the label file of the same release?"
    raise DataError(problem, path=path, line=line)
