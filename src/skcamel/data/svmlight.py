"""Multi-label svmlight files: ``1,3 4:0.5``, with or without the first line ``rows features labels`` of extreme classification."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import default_names
from skcamel.data import DataError, Path_
from skcamel.data.attributes import number, numbers
from skcamel.data.dataset import Dataset, parts_of, unknown_entries
from skcamel.data.text import (
    NAME_BYTES,
    PEAK_OF_CELLS,
    Block,
    Growing,
    LineFile,
    check_memory,
    check_peak,
    check_plausible_width,
    check_room_for_labels,
    decoded,
    open_lines,
    stem,
    stored_cells,
    write_lines,
)
from skcamel.text import count

SIZES = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
COMMA, COLON, SPACE, NEW_LINE = b",: \n"
LARGEST_INDEX = 2**53


class Cells(NamedTuple):
    """What lines hold: each label with its row; the number of features in each row, and all of them in order."""

    label_rows: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Rows:
    """Collects the rows of one or more files."""

    def __init__(self) -> None:
        self.parts = [
            Growing(np.int64),
            Growing(np.int64),
            Growing(np.int64),
            Growing(np.int64, later=4),
            Growing(np.float64),
        ]
        self.n_rows = 0

    def add(self, cells: Cells, path: Path_) -> None:
        """Take the rows of a block."""
        for part, values in zip(
            self.parts, cells._replace(label_rows=cells.label_rows + self.n_rows), strict=True
        ):
            part.extend(values, path)
        self.n_rows += len(cells.counts)


def read_svmlight(
    path: Path_,
    *,
    test: Path_ | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | str = "auto",
) -> Dataset:
    r"""Read a multi-label svmlight (libsvm) file; the features are sparse.

    Parameters
    ----------
    path : str or path
        Plain or gzip-compressed. Each line has its labels, separated by commas, then
        ``index:value`` for each stored feature; a line
        without labels begins with a space or with its first feature. A first line of three integers
        gives rows, features and labels.
    test : str or path, optional
        A second file. Its rows follow those of the first, and `train` and `test` tell them apart.
    n_features, n_labels : int, optional
        Sizes, where the last columns may be empty; by default as in the first line, else the
        largest that occurs.
    zero_based : bool or "auto", default="auto"
        Whether counting starts at 0. By default it does under a first line of sizes; without one it
        does, for features and for labels
        apart, where a 0 occurs.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.txt")
    ...     _ = file.write_text("1,3 4:0.5\n 1:1 2:1\n")
    ...     data = read_svmlight(file)
    >>> data
    Dataset(tiny: 2 rows, 4 features, 3 labels, sparse)
    >>> data.Y
    array([[1, 0, 1],
           [0, 0, 0]])
    """
    rows = Rows()
    counts: list[int] = []  # rows of each file
    sizes: list[tuple[int, int, int]] = []
    for part in [path] if test is None else [path, test]:
        stated = _read_rows(part, rows)
        sizes += [stated] if stated else []
        counts.append(rows.n_rows - sum(counts))
    n, cells = rows.n_rows, Cells(*(part.finish() for part in rows.parts))
    if zero_based == "auto":
        label_base, feature_base = (
            0 if sizes or (indices == 0).any() else 1 for indices in (cells.labels, cells.columns)
        )
    else:
        label_base = feature_base = 0 if zero_based else 1
    d = _width(
        cells.columns,
        feature_base,
        n_features,
        max((size[1] for size in sizes), default=None),
        "features",
        path,
    )
    q = _width(
        cells.labels,
        label_base,
        n_labels,
        max((size[2] for size in sizes), default=None),
        "labels",
        path,
    )
    check_room_for_labels(n, q, path)
    Y = np.zeros((n, q), dtype=np.int64)
    Y[cells.label_rows, cells.labels - label_base] = 1
    X = _csr(cells, feature_base, d)
    return Dataset(X, Y, name=stem(path), source=str(path), **parts_of(counts))


def _csr(cells: Cells, base: int, width: int) -> sparse.csr_array:
    indptr = np.concatenate([[0], np.cumsum(cells.counts)])
    index_type = np.int32 if max(width, indptr[-1]) < 2**31 else np.int64
    columns = (cells.columns - base).astype(index_type, copy=False)
    X = sparse.csr_array(
        (cells.values, columns, indptr.astype(index_type)), shape=(len(cells.counts), width)
    )
    X.sort_indices()
    X.eliminate_zeros()
    return X


def _width(
    indices: np.ndarray, base: int, given: int | None, claimed: int | None, what: str, path: Path_
) -> int:
    """Number of columns, from the argument, the first line or the largest index; refused if it is implausible."""
    needed = int(indices.max()) + 1 - base if indices.size else 0
    if indices.size and int(indices.min()) < base:
        raise DataError(
            f"index 0 of {what} in a file counted from 1; count it all from 0 or all from 1. "
            "(In Python, zero_based=True reads it as counted from 0.)",
            path=path,
        )
    stated = given if given is not None else claimed
    if stated is not None and needed > stated:
        said = f"there are {given}" if given is not None else f"the first line says {claimed}"
        raise DataError(
            f"index {needed - 1 + base} of {what} occurs, but {said}; correct it, or the index.",
            path=path,
        )
    width = needed if stated is None else stated
    if width < 1:
        raise DataError(
            f"no {what} in the file; is it a multi-label svmlight file? Pass n_{what} if that is"
            " meant.",
            path=path,
        )
    if given is None:
        check_plausible_width(
            width, indices.size, what, path, f"pass n_{what}={width} if that is meant."
        )
    check_memory(NAME_BYTES * width, f"A list of names for {width} {what}", path)
    return width


def _read_rows(path: Path_, rows: Rows) -> tuple[int, int, int] | None:
    """Add all rows of a file; returns the sizes that its first line states."""
    sizes, begun, before = None, False, rows.n_rows
    with open_lines(path) as file:
        for block in file.blocks(b"#"):
            if not begun:
                begun = True
                sizes, block = _split_sizes(block)
            if block.lines:
                rows.add(_fast(block) or _careful(block, file), path)
        n_rows = rows.n_rows - before
        if not n_rows:
            raise file.error("holds no row; the file is empty or cut short.")
        if sizes and sizes[0] != n_rows:
            raise file.error(
                f"the first line says {sizes[0]} rows, the file has {n_rows}; it is cut short, or"
                " the first line is wrong."
            )
    return sizes


def _split_sizes(block: Block) -> tuple[tuple[int, int, int] | None, Block]:
    first, _, rest = block.text.partition(b"\n")
    match = SIZES.fullmatch(first)
    if match is None:
        return None, block
    return (int(match[1]), int(match[2]), int(match[3])), Block(rest, block.lines[1:])


def _fast(block: Block) -> Cells | None:
    """Read a block of plain numbers at once; None where it must be read line by line."""
    if b"#" in block.text or b"\t" in block.text:
        return None
    parsed = numbers(block.text, b",: \n", missing="nan")
    if parsed is None:
        return None
    ends = parsed.ends
    before = np.concatenate([[NEW_LINE], ends[:-1]])
    is_index, is_value = ends == COLON, before == COLON
    is_label = ~(is_index | is_value | parsed.empty)
    gap_is_bad = (before == COLON) | (before == COMMA) | (ends == COMMA) | (ends == COLON)
    wrong = (
        parsed.empty & gap_is_bad
        | is_index & is_value
        | is_value & (ends == COMMA)
        | is_index & (before == COMMA)
    )
    wrong |= (
        (is_index | is_label) & ~parsed.plain
        | is_label & (before != NEW_LINE) & (before != COMMA)
        | is_label & (ends == COLON)
    )
    indices = parsed.values[is_index | is_label]
    if wrong.any() or (indices.size and indices.max() > LARGEST_INDEX):
        return None
    row = np.cumsum(before == NEW_LINE) - 1
    rows, columns = row[is_index], parsed.values[is_index].astype(np.int64)
    if ((np.diff(columns) <= 0) & (np.diff(rows) == 0)).any():
        return None
    counts = np.bincount(rows, minlength=len(block.lines))
    return Cells(
        row[is_label],
        parsed.values[is_label].astype(np.int64),
        counts,
        columns,
        parsed.values[is_value],
    )


def _careful(block: Block, file: LineFile) -> Cells:
    """Read a block line by line; errors name the line."""
    check_peak(block.text, PEAK_OF_CELLS, file.path)
    labels: list[tuple[int, int]] = []
    stored: list[tuple[int, int, float]] = []
    for row, (line, text) in enumerate(zip(block.lines, block.text.split(b"\n"))):
        fields = decoded(text).partition("#")[0].split()
        if fields and ":" not in fields[0]:
            labels += [
                (row, _index(label, "label", line, file)) for label in fields.pop(0).split(",")
            ]
        cells = sorted(_feature(field, line, file) for field in fields)
        for (index, _), (following, _) in pairwise(cells):
            if index == following:
                raise file.error(f"feature {index} occurs twice in a row; remove one.", line)
        stored += [(row, index, value) for index, value in cells]
    label_rows, label_ids = np.array(labels, dtype=np.int64).reshape(-1, 2).T
    rows, columns = np.array([cell[:2] for cell in stored], dtype=np.int64).reshape(-1, 2).T
    values = np.array([cell[2] for cell in stored], dtype=np.float64)
    return Cells(
        label_rows, label_ids, np.bincount(rows, minlength=len(block.lines)), columns, values
    )


def _feature(field: str, line: int, file: LineFile) -> tuple[int, float]:
    index, _, value = field.partition(":")
    try:
        return _index(index, "feature", line, file), number(value)
    except DataError:
        raise
    except ValueError:
        raise file.error(
            f"{field[:40]!r} is no feature; expected index:value, labels stand first and are"
            " separated by commas.",
            line,
        ) from None


def _index(text: str, what: str, line: int, file: LineFile) -> int:
    whole = re.sub(r"\.0*$", "", text)
    if not (whole.isascii() and whole.isdigit()) or len(whole) > 15:
        cure = (
            "write the numbers of the labels that apply, separated by commas"
            if what == "label"
            else "write index:value"
        )
        raise file.error(f"{text[:40]!r} is no {what} number (0 to {LARGEST_INDEX}); {cure}.", line)
    return int(whole)


def write_svmlight(dataset: Dataset, path: Path_, *, header: bool = True) -> None:
    """Write a multi-label svmlight file.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.
    header : bool, default=True
        With a first line ``rows features labels`` and counting from 0, as in extreme
        classification: all sizes come back. Without it,
        features are counted from 1 and labels from 0, as
        ``sklearn.datasets.load_svmlight_file(multilabel=True)`` reads them.

    Warns
    -----
    UserWarning
        About what the format cannot hold: names, dense storage, parts, and without the first line
        also empty last columns.

    Raises
    ------
    ValueError
        Where labels are unknown: a row lists the labels it has, and all others count as 0.
    """
    unknown = unknown_entries(dataset.Y)
    if unknown is not None:
        raise ValueError(
            f"{count(unknown.nnz, 'label entry', 'label entries')} of this data set cannot be"
            " written: unknown labels (NaN) would become 0 in a svmlight file. Write .arff, which"
            " holds them, or fill them first."
        )
    if not (dataset.n and dataset.d and dataset.q):
        raise ValueError(
            f"A svmlight file needs a row, a feature and a label; this data set has {dataset.n} x"
            f" {dataset.d} and {dataset.q} labels."
        )
    lost = _lost(dataset, header)
    if lost:
        warnings.warn(
            f"svmlight does not hold {', '.join(lost)}; write_mulan does hold names and storage.",
            UserWarning,
            stacklevel=2,
        )
    write_lines(path, _lines(dataset, header))


def _lost(dataset: Dataset, header: bool) -> list[str]:
    """Name what the file will not hold of a data set."""
    X, Y = sparse.csr_array(dataset.X), dataset.Y
    bare = not header
    lost = {
        "the names of features and labels": (
            dataset.feature_names != default_names("f", dataset.d)
            or dataset.label_names != default_names("label", dataset.q)
        ),
        "that X is dense": not sparse.issparse(dataset.X),
        "train and test parts": dataset.train is not None or dataset.test is not None,
        "the last features, which are 0 everywhere": (
            bare and (not X.nnz or X.indices.max() < dataset.d - 1)
        ),
        "the last label, which no row has": bare and not Y[:, -1].any(),
        "the first label, which no row has": bare and not Y[:, 0].any(),
    }
    return [what for what, is_lost in lost.items() if is_lost]


def _lines(dataset: Dataset, header: bool) -> Iterator[str]:
    base = 0 if header else 1
    if header:
        yield f"{dataset.n} {dataset.d} {dataset.q}\n"
    for cells, y in zip(stored_cells(sparse.csr_array(dataset.X), ":", base, "nan"), dataset.Y):
        labels = ",".join(map(str, np.flatnonzero(y).tolist()))
        if not labels and not cells:
            cells = [f"{base}:0"]  # an empty line would not count as a row
        yield f"{labels} {' '.join(cells)}\n"
