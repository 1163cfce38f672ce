"""Multi-label svmlight files: ``1,3 4:0.5``, also with a first line ``rows features labels``.

scikit-learn reads the rows. Its reader names no line, so the first wrong one is found by parts.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

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
    n, d, q = map(int, first.groups()) if first else (None, None, None)
    X, labels = _rows(content[first.end() :] if first else content, path, 1 + bool(first))
    found = len(labels)
    if n not in (None, found) or not found:
        raise DataError(
            f"the file has {found} rows, {n or 'some'} expected; it is empty or truncated, or"
            " its first line is wrong.",
            path=path,
            line=max(1, content.count(b"\n")),
        )
    bases = zero_based if isinstance(zero_based, tuple) else (zero_based, zero_based)
    if first:
        bases = tuple(True if base == "auto" else base for base in bases)
    every = np.fromiter(chain.from_iterable(labels), dtype=np.int64)
    indices, d, of_features = _columns(X.indices, bases[0], n_features or d, path)
    every, q, of_labels = _columns(every, bases[1], n_labels or q, path)
    check_claimed_size(LABEL_BYTES * found * q, f"{found} rows x {q} labels", path)
    Y = np.zeros((found, q), dtype=np.int64)
    Y[np.repeat(np.arange(found), list(map(len, labels))), every] = 1
    X = sparse.csr_array((X.data, indices, X.indptr), shape=(found, d))
    base = (of_features, of_labels)
    return Dataset(X, Y, name=stem(path), source=str(path), zero_based=base)


def _columns(
    indices: np.ndarray, zero_based: bool | str, width: int | None, path: Path_
) -> tuple[np.ndarray, int, bool]:
    """Indices from 0 on, the number of columns, and whether counting started at 0."""
    is_zero_based = 0 in indices if zero_based == "auto" else bool(zero_based)
    first = 0 if is_zero_based else 1
    least = indices.min(initial=first)
    most = indices.max(initial=first - 1)
    width = width or int(most) - first + 1
    check_claimed_size(NAME_BYTES * width, f"{width} columns", path)
    if width == 0 or least < first or most >= width + first:
        raise DataError(
            f"its indices of features or labels run from {least} to {most}, for {width} columns"
            f" counted from {first}; is it a multi-label svmlight file? In Python, n_features=,"
            " n_labels= and zero_based= say how it counts.",
            path=path,
        )
    return indices - first, width, is_zero_based


def _rows(text: bytes, path: Path_, first_line: int) -> tuple[Any, list[tuple[float, ...]]]:
    """Features and labels of all rows; a DataError names the first line that cannot be read."""
    with suppress(ValueError, OverflowError):
        return _parsed(text)
    lines = text.split(b"\n")
    row = 0
    problem = ""
    for size in (1000, 1):
        try:
            for start in range(row, len(lines), size):
                row = start
                _parsed(b"\n".join(lines[start : start + size]))
        except (ValueError, OverflowError) as error:
            problem = str(error)
    raise DataError(
        f"{lines[row].decode()[:40]!r} cannot be read ({problem[:80]}); expected the numbers of"
        " labels, separated by commas, then index:value by ascending index.",
        path=path,
        line=first_line + row,
    )


def _parsed(text: bytes) -> tuple[Any, list[tuple[float, ...]]]:
    """Features and labels of all rows; ValueError where a line is wrong."""
    from sklearn.datasets import load_svmlight_file  # slow to import

    if not text.strip():
        return sparse.csr_array((0, 0)), []
    X, labels = load_svmlight_file(io.BytesIO(text), multilabel=True, zero_based=True)
    different = np.array(list(set(chain.from_iterable(labels))))
    if not ((different >= 0) & (different % 1 == 0) & (different < 2**53)).all():
        raise ValueError("a label is no whole number from 0 on")
    return X, labels


def write_svmlight(dataset: Dataset, path: Path_) -> None:
    """Write a multi-label svmlight file with a first line ``rows features labels``.

    It counts from 0, as in extreme classification. Names, dense storage, and train and test parts
    are lost; :func:`write_mulan` holds names and storage.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.

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
    lines = [f"{dataset.n} {dataset.d} {dataset.q}\n"]
    for cells, y in zip(stored_cells(sparse.csr_array(dataset.X), ":", "nan"), dataset.Y):
        labels = ",".join(map(str, np.flatnonzero(y).tolist()))
        # an empty line would not count as a row
        lines.append(f"{labels} {' '.join(cells) if labels or cells else '0:0'}\n")
    write_lines(path, lines)
