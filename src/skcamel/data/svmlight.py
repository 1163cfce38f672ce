"""Multi-label svmlight files: ``1,3 4:0.5``, also with a first line ``rows features labels``.

scikit-learn reads the rows. Its reader names no line, so the first wrong one is found by halving.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import default_names
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset
from skcamel.data.sources import (
    LABEL_BYTES,
    NAME_BYTES,
    check_claimed_size,
    check_memory,
    stem,
    stored_cells,
    utf8,
    whole_content,
    write_lines,
)
from skcamel.text import count

SIZES = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*(?:\n|\Z)")
CELL_BYTES = 32  # of one stored feature at the peak
Base = bool | str | tuple[bool | str, bool | str]


class Rows(NamedTuple):
    """Rows of a file; indices count as they do there."""

    X: sparse.csr_array
    labels: np.ndarray  # of all rows
    counts: np.ndarray  # of the labels of each row


def read_svmlight(
    path: Path_,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: Base = "auto",
) -> Dataset:
    r"""Read a multi-label svmlight (libsvm) file; the features are sparse.

    Parameters
    ----------
    path : str or path
        Plain or gzip-compressed. Each line has its labels, separated by commas, then
        ``index:value`` for each stored feature; a line
        without labels begins with a space or with its first feature. A first line of three integers
        gives rows, features and labels.
    n_features, n_labels : int, optional
        Sizes, where the last columns may be empty; by default as in the first line, else the
        largest that occurs.
    zero_based : bool, "auto", or a pair of these for features and for labels, default="auto"
        Whether counting starts at 0. By default it does under a first line of sizes; without one it
        does, for features and for labels apart, where a 0 occurs. The result has the answer as
        `zero_based`: give it to read another file for the same model.

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
    content = utf8(whole_content(path), path)
    check_memory(CELL_BYTES * content.count(b":"), "Its cells", path)
    first = SIZES.match(content)
    start = 0
    sizes = [0, 0, 0]
    if first:
        start = first.end()
        sizes = [int(size) for size in first.groups()]
    rows = _rows(content[start:], path, first_line=1 + bool(first))
    n = len(rows.counts)
    expected = sizes[0] if first else max(n, 1)
    if n != expected:
        raise DataError(
            f"the file has {n} rows, {expected} expected; it is empty or truncated, or"
            " its first line is wrong.",
            path=path,
            line=max(1, content.count(b"\n")),
        )
    bases = zero_based if isinstance(zero_based, tuple) else (zero_based, zero_based)
    indices, d, of_features = _columns(rows.X.indices, bases[0], n_features, sizes[1], path)
    labels, q, of_labels = _columns(rows.labels, bases[1], n_labels, sizes[2], path)
    check_claimed_size(LABEL_BYTES * n * q, f"{n} rows x {q} labels", path)
    X = sparse.csr_array((rows.X.data, indices, rows.X.indptr), shape=(n, d))
    Y = np.zeros((n, q), dtype=np.int64)
    row_of_label = np.repeat(np.arange(n), rows.counts)
    Y[row_of_label, labels] = 1
    base = (of_features, of_labels)
    return Dataset(X, Y, name=stem(path), source=str(path), zero_based=base)


def read_pair(train: Path_, test: Path_) -> list[Dataset]:
    """A training and a test file with the same columns; the first one says how both count."""
    first = read_svmlight(train)
    base = first.zero_based or "auto"
    second = read_svmlight(test, zero_based=base)
    d = max(first.d, second.d)
    q = max(first.q, second.q)
    return [
        read_svmlight(path, n_features=d, n_labels=q, zero_based=base) for path in (train, test)
    ]


def _columns(
    indices: np.ndarray, zero_based: bool | str, given: int | None, stated: int, path: Path_
) -> tuple[np.ndarray, int, bool]:
    """Indices from 0 on, the number of columns, and whether counting started at 0."""
    is_zero_based = bool(zero_based)
    if zero_based == "auto":
        is_zero_based = stated > 0 or 0 in indices
    columns = indices if is_zero_based else indices - 1
    needed = int(columns.max(initial=-1)) + 1
    width = given or stated or needed
    if given is None:
        check_claimed_size(NAME_BYTES * width, f"{width} columns", path)
    if width < max(needed, 1) or columns.min(initial=0) < 0:
        least = indices.min(initial=1)
        most = indices.max(initial=0)
        counted = "0" if is_zero_based else "1"
        raise DataError(
            f"its indices of features or labels run from {least} to {most}, for {width} columns"
            f" counted from {counted}; is it a multi-label svmlight file? In Python, n_features=,"
            " n_labels= and zero_based= say how it counts.",
            path=path,
        )
    return columns, width, is_zero_based


def _rows(text: bytes, path: Path_, first_line: int) -> Rows:
    """All rows; a DataError names the first line that cannot be read."""
    try:
        return _parsed(text)
    except (ValueError, OverflowError):
        lines = text.split(b"\n")
    first, last = 0, len(lines)  # of the lines among which the first wrong one is
    problem = ""
    while last - first > 1 or not problem:
        middle = max((first + last) // 2, first + 1)
        try:
            _parsed(b"\n".join(lines[first:middle]))
            first = middle
        except (ValueError, OverflowError) as error:
            last = middle
            problem = str(error)
    raise DataError(
        f"{lines[first].decode()[:40]!r} cannot be read ({problem[:80]}); expected the numbers of"
        " labels, separated by commas, then index:value by ascending index.",
        path=path,
        line=first_line + first,
    )


def _parsed(text: bytes) -> Rows:
    """Rows of a text; ValueError where a line is wrong."""
    from sklearn.datasets import load_svmlight_file  # slow to import

    if not text.strip():
        return Rows(sparse.csr_array((0, 0)), np.empty(0, dtype=np.int64), np.empty(0, dtype=int))
    X, of_rows = load_svmlight_file(io.BytesIO(text), multilabel=True, zero_based=True)
    labels = np.fromiter(chain.from_iterable(of_rows), dtype=np.float64)
    if not ((labels >= 0) & (labels % 1 == 0) & (labels < 2**53)).all():
        raise ValueError("a label is no whole number from 0 on")
    counts = np.array([len(of_row) for of_row in of_rows])
    return Rows(sparse.csr_array(X), labels.astype(np.int64), counts)


def write_svmlight(dataset: Dataset, path: Path_, *, header: bool = True) -> None:
    """Write a multi-label svmlight file.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.
    header : bool, default=True
        With a first line ``rows features labels`` and counting from 0, as in extreme
        classification: all sizes come back. Without it, features are counted from 1 and labels
        from 0, as ``sklearn.datasets.load_svmlight_file(multilabel=True)`` reads them.

    Warns
    -----
    UserWarning
        About what the format cannot hold: names, dense storage, parts. Without the first line it
        loses empty last columns too.

    Raises
    ------
    ValueError
        Where labels are unknown: a row lists the labels it has, and all others count as 0.
    """
    n_unknown = int(np.isnan(dataset.Y).sum())
    if n_unknown:
        raise ValueError(
            f"{count(n_unknown, 'label entry', 'label entries')} of this data set cannot be"
            " written: unknown labels (NaN) would become 0 in a svmlight file. Write .arff, which"
            " holds them, or fill them first."
        )
    names = (*dataset.feature_names, *dataset.label_names)
    numbers = (*default_names("f", dataset.d), *default_names("label", dataset.q))
    has_parts = dataset.train is not None or dataset.test is not None
    if names != numbers or has_parts or not sparse.issparse(dataset.X):
        warnings.warn(
            "svmlight does not hold names of features and labels, dense storage, and train and test"
            " parts; write_mulan does hold names and storage.",
            UserWarning,
            stacklevel=2,
        )
    write_lines(path, _lines(dataset, header=header))


def _lines(dataset: Dataset, *, header: bool) -> Iterator[str]:
    base = 0 if header else 1
    if header:
        yield f"{dataset.n} {dataset.d} {dataset.q}\n"
    rows = stored_cells(sparse.csr_array(dataset.X), ":", base, "nan")
    for cells, y in zip(rows, dataset.Y):
        relevant = np.flatnonzero(y).tolist()
        labels = ",".join(map(str, relevant))
        if not labels and not cells:
            cells = [f"{base}:0"]  # an empty line would not count as a row
        yield f"{labels} {' '.join(cells)}\n"
