"""Rows of an ARFF file ► features and labels, dense or sparse, one bounded block of lines at a time.

Each block is first tried as a whole, by :func:`skcamel.data.attributes.numbers`. A block that holds
anything but numbers in the expected
places is read again row by row: slower, but with quotes and nominal values, and errors name their
line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NoReturn

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.attributes import (
    Attribute,
    feature_codes,
    label_codes,
    number,
    numbers,
    refuse_label,
    table_of_numbers,
)
from skcamel.data.text import (
    LABEL_BYTES,
    PEAK_OF_CELLS,
    Block,
    Growing,
    check_claimed_size,
    check_peak,
    check_room_for_labels,
    decoded,
    shortened,
)

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
VALUE = re.compile(
    rf"\s*(?P<value>(?:{QUOTED})(?=\s*(?:,|\Z))|[^,]*)\s*(?:,|\Z)", re.DOTALL
)  # always matches, in linear time
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
UNKNOWN = -1  # among labels that are bytes
UNUSED = 0.0  # stands for every value of a text attribute, which is dropped
NEW_LINE, SPACE = b"\n "
FILLED_CELLS = 2**18  # omitted cells that are filled in at once

Cells = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # cells per row, and all columns and values in order


def cells(text: str) -> list[str]:
    """Text between commas, still quoted, without the spaces around it; commas within quotes do not count."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    found: list[str] = []
    position = 0
    while (match := VALUE.match(text, position)) is not None:
        found.append(match["value"].strip())
        position = match.end()
        if position == len(text) and not match[0].endswith(","):
            break
    return found


def unquoted(text: str) -> str:
    """Text without its quotes and escapes."""
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(
            r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), text[1:-1], flags=re.DOTALL
        )
    return text


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
        return np.flatnonzero(
            ~self.is_label & np.array([attribute.kind != "text" for attribute in self.attributes])
        )

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
        return np.array(
            [
                decode(attribute.values[0]) if attribute.values else 0.0
                for attribute, decode in pairs
            ]
        )

    def permits(self, columns: np.ndarray | None, values: np.ndarray) -> bool:
        """Whether nominals have only declared values; `values` is a table, or one value for each of `columns`."""
        if columns is None:
            return all(
                _only(values[:, positions], allowed) for allowed, positions in self.allowed.items()
            )
        groups = self.group[columns]
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups, np.arange(len(self.allowed) + 1), sorter=order)
        return all(
            _only(values[order[start:end]], allowed)
            for allowed, (start, end) in zip(self.allowed, pairwise(ends.tolist()))
        )

    @cached_property
    def group(self) -> np.ndarray:
        """Number of each column's entry in `allowed`; -1 for columns that may hold any number."""
        group = np.full(self.width, -1)
        for k, columns in enumerate(self.allowed.values()):
            group[columns] = k
        return group


def _only(values: np.ndarray, allowed: tuple[float, ...]) -> bool:
    """Whether all values are allowed or missing."""
    return bool((np.isin(values, allowed) | np.isnan(values)).all())


def _decoder(
    attribute: Attribute, is_label: bool, path: Path_
) -> tuple[Callable[[str], float], bool]:
    """Text of one value ► number, with KeyError or ValueError if the header forbids it; and whether the text is that number."""
    if attribute.kind == "text":
        if is_label:
            raise DataError(
                f"label {attribute.name[:60]!r} is a string attribute; labels are {{0,1}}. Is the"
                " label file of the same release?",
                path=path,
            )
        return (lambda _: UNUSED), False
    if attribute.kind == "numeric":
        return (lambda text: float("nan") if text == "?" else number(text)), True
    codes = label_codes(attribute.values) if is_label else feature_codes(attribute.values)
    if codes is None:
        found = f"label {attribute.name[:60]!r} has the values {shortened(attribute.values)}"
        raise DataError(
            f"{found}; a label is {{0,1}}, {{-1,1}}, {{NO,YES}} or {{FALSE,TRUE}}: recode it, or"
            " keep it as a feature.",
            path=path,
        )
    plain = bool(codes.by_number) and all(
        written == code for written, code in codes.by_number.items()
    )
    return codes.__getitem__, plain


def layout_of(
    attributes: tuple[Attribute, ...], is_label: np.ndarray, path: Path_, cure: str
) -> Layout:
    """Decide how each column is read."""
    known: dict[
        tuple[str, tuple[str, ...], bool], tuple[Callable[[str], float], bool]
    ] = {}  # most columns are of one type
    types = [
        (attribute.kind, attribute.values, flag)
        for attribute, flag in zip(attributes, is_label.tolist())
    ]
    for attribute, type_ in zip(attributes, types):
        if type_ not in known:
            known[type_] = _decoder(attribute, type_[2], path)
    only_numbers = all(plain for _, plain in known.values())
    groups: dict[tuple[str, ...], list[int]] = {}
    for position, attribute in enumerate(attributes):
        if only_numbers and attribute.kind == "nominal":
            groups.setdefault(attribute.values, []).append(position)
    allowed = {
        tuple(float(value) for value in values): np.array(columns)
        for values, columns in groups.items()
    }
    return Layout(
        path,
        attributes,
        is_label,
        [known[type_][0] for type_ in types],
        only_numbers,
        allowed,
        cure,
    )


def _is_odd(labels: np.ndarray) -> np.ndarray:
    """Which labels are neither 0 nor 1 nor unknown."""
    return (labels != 0) & (labels != 1) & ~np.isnan(labels)


def _coded(labels: np.ndarray) -> np.ndarray:
    """Labels as a byte each."""
    return np.where(np.isnan(labels), UNKNOWN, labels).astype(np.int8)


def _decoded(labels: np.ndarray) -> np.ndarray:
    """Labels from bytes: int64, or float64 with NaN where some are unknown."""
    unknown = labels == UNKNOWN
    return (
        np.where(unknown, np.nan, labels) if unknown.any() else labels.astype(np.int64, copy=False)
    )


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
            table = np.array(
                [
                    _dense_row(decoded(line), number, layout)
                    for number, line in zip(block.lines, lines)
                ]
            )
        labels = table[:, layout.labels]
        odd = np.argwhere(_is_odd(labels))
        if len(odd):
            row, label = odd[0]
            _refuse_odd_label(labels[row, label], row, label, block, layout)
        self.features.extend(table[:, layout.features], layout.path)
        self.labels.extend(_coded(labels), layout.path)
        return len(table)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Y of all rows."""
        return self.features.finish(), _decoded(self.labels.finish())


class SparseRows:
    """Collects rows of the form ``{index value,…}``."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.counts = Growing(np.int64, later=8)  # features stored in each row
        self.indices = Growing(np.int32)
        self.values = Growing(np.float64)
        self.label_cells = (
            Growing(np.int64),
            Growing(np.int32),
            Growing(np.int8),
        )  # rows, labels, values
        self.n_rows = 0

    def add(self, block: Block) -> int:
        """Read a block; returns its number of rows."""
        layout = self.layout
        counts, columns, values = _sparse_block(block, layout) or _sparse_lines(block, layout)
        n_rows = self.n_rows + len(counts)
        check_room_for_labels(n_rows, len(layout.labels), layout.path)
        rows = np.repeat(np.arange(len(counts)), counts)
        position = layout.position
        of_label = layout.is_label[columns]
        of_feature = ~of_label & (position[columns] >= 0)
        label_rows, labels, label_values = (
            rows[of_label],
            position[columns[of_label]],
            values[of_label],
        )
        odd = np.flatnonzero(_is_odd(label_values))
        if odd.size:
            _refuse_odd_label(
                label_values[odd[0]], label_rows[odd[0]], labels[odd[0]], block, layout
            )
        for part, found in zip(
            self.label_cells, (label_rows + self.n_rows, labels, _coded(label_values))
        ):
            part.extend(found, layout.path)
        self._add_features(
            len(counts), rows[of_feature], position[columns[of_feature]], values[of_feature]
        )
        self.n_rows = n_rows
        return len(counts)

    def _add_features(
        self, n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> None:
        """Take the cells of `n` rows, a bounded number of rows at a time where omitted cells are to be filled in."""
        path, defaults = self.layout.path, self.layout.defaults[self.layout.features]
        filled = np.flatnonzero(defaults)
        claimed = f"{self.n_rows + n} rows x {len(filled)} features whose omitted value is not 0"
        check_claimed_size(
            16 * (self.n_rows + n) * len(filled), claimed, path
        )  # 12 that stay, and room to grow
        step = max(1, FILLED_CELLS // len(filled)) if filled.size else n
        for first in range(0, n, step):
            part = slice(*np.searchsorted(rows, (first, first + step)))
            found = _with_defaults(
                min(step, n - first), rows[part] - first, columns[part], values[part], defaults
            )
            for growing, cells_ in zip((self.counts, self.indices, self.values), found):
                growing.extend(cells_, path)

    def finish(self) -> tuple[sparse.csr_array, np.ndarray]:
        """X and Y of all rows."""
        layout, n = self.layout, self.n_rows
        Y = np.empty((n, len(layout.labels)), dtype=np.int64)
        Y[:] = layout.defaults[layout.labels]
        label_rows, labels, values = (part.finish() for part in self.label_cells)
        Y[label_rows, labels] = values
        indptr = np.concatenate([[0], np.cumsum(self.counts.finish())])
        indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
        X = sparse.csr_array(
            (self.values.finish(), self.indices.finish(), indptr), shape=(n, len(layout.features))
        )
        X.eliminate_zeros()
        return X, _decoded(Y)


def _with_defaults(
    n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, defaults: np.ndarray
) -> Cells:
    """Cells per row, columns and values of `n` rows, together with omitted cells whose value is not 0."""
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
    table = table_of_numbers(text, b",", len(block.lines), layout.width)
    return table if table is not None and layout.permits(None, table) else None


def _dense_row(line: str, number: int, layout: Layout) -> list[float]:
    found = cells(line.strip())
    if line.lstrip().startswith("{"):
        raise DataError(
            "a sparse row {…} among dense rows; write all rows in one form.",
            path=layout.path,
            line=number,
        )
    if len(found) != layout.width:
        raise DataError(
            f"{len(found)} values, header declares {layout.width}; {layout.cure}",
            path=layout.path,
            line=number,
        )
    if "'" in line or '"' in line:
        found = [unquoted(cell) for cell in found]
    try:
        return [decode(cell) for decode, cell in zip(layout.decoders, found)]
    except (KeyError, ValueError):
        _refuse_first_bad(list(enumerate(found)), number, layout)


def _sparse_block(block: Block, layout: Layout) -> Cells | None:
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
    filled = ~parsed.empty if blank.size else slice(None)
    kept, values, plain = ends[filled], parsed.values[filled], parsed.plain[filled]
    if (
        len(kept) % 2
        or (kept[0::2] != SPACE).any()
        or (kept[1::2] == SPACE).any()
        or not plain[0::2].all()
    ):
        return None
    counts = (
        np.diff(np.flatnonzero(ends == NEW_LINE), prepend=-1) // 2
    )  # an empty row has one token, and that is empty
    columns, values = values[0::2], values[1::2]
    if (columns >= layout.width).any():
        return None
    columns = columns.astype(np.int64)
    return (
        (counts, columns, values)
        if _ascending(counts, columns) and layout.permits(columns, values)
        else None
    )


def _ascending(counts: np.ndarray, columns: np.ndarray) -> bool:
    """Whether the columns of each row grow."""
    begins = np.zeros(len(columns) + 1, dtype=bool)
    begins[np.cumsum(counts)] = True
    return bool((begins[1:-1] | (columns[1:] > columns[:-1])).all())


def _sparse_lines(block: Block, layout: Layout) -> Cells:
    """Read what :func:`_sparse_block` does not, row by row."""
    check_peak(block.text, PEAK_OF_CELLS, layout.path)
    rows = [
        _sparse_row(decoded(line), number, layout)
        for number, line in zip(block.lines, block.text.split(b"\n"))
    ]
    counts = np.array([len(columns) for columns, _ in rows], dtype=np.int64)
    columns = np.array([column for columns, _ in rows for column in columns], dtype=np.int64)
    return (
        counts,
        columns,
        np.array([value for _, values in rows for value in values], dtype=np.float64),
    )


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
            raise DataError(
                f"{cell[:40]!r} in a sparse row; expected an index, a space and a value.",
                path=layout.path,
                line=number,
            )
        if len(index) > 12 or int(index) >= layout.width:
            problem = (
                f"index {index[:20]}, header declares {layout.width} attributes (0 to"
                f" {layout.width - 1}); {layout.cure}"
            )
            raise DataError(problem, path=layout.path, line=number)
        pairs.append((int(index), unquoted(value)))
    pairs.sort(key=itemgetter(0))
    columns = [column for column, _ in pairs]
    if len(set(columns)) < len(columns):
        twice = next(column for column, other in pairwise(columns) if column == other)
        raise DataError(
            f"index {twice} occurs twice in a row; remove one.", path=layout.path, line=number
        )
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
            expected = (
                f"one of {shortened(attribute.values)}"
                if attribute.kind == "nominal"
                else "a number or ?"
            )
            found = f"{value[:40]!r} for attribute {attribute.name[:60]!r}"
            raise DataError(
                f"{found}; expected {expected}. Correct the value, or declare it in the header.",
                path=layout.path,
                line=number,
            ) from None
    raise AssertionError("one of the values is bad")  # pragma: no cover


def _refuse_odd_label(value: float, row: int, label: int, block: Block, layout: Layout) -> NoReturn:
    name = layout.attributes[layout.labels[label]].name
    refuse_label(
        value,
        name,
        "labels are 0 or 1. Is the label file of the same release?",
        layout.path,
        block.lines[row],
    )
