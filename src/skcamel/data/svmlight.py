"""Multi-label svmlight files: ``1,3 4:0.5``, with or without the first line ``rows features labels`` of extreme classification."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from skcamel.arrays import default_names
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset, parts_of
from skcamel.data.sources import (
    BYTE_ORDER_MARK,
    NAME_BYTES,
    check_memory,
    check_plausible_width,
    check_room_for_labels,
    decoded,
    first_repeated,
    stem,
    stored_cells,
    whole_content,
    write_lines,
)
from skcamel.text import count

SIZES = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*(?:\n|\Z)")
INDEX = re.compile(r"\d{1,9}(?:\.0*)?", re.ASCII)
LARGEST_INDEX = 10**9
PEAK_OF_TEXT = 8  # bytes at the peak for each byte of text
Base = bool | str | tuple[bool | str, bool | str]


class Rows(NamedTuple):
    """What a file holds; indices count as they do there."""

    X: sparse.csr_array
    labels: np.ndarray
    n_labels: list[int]  # of each row
    sizes: tuple[int, int, int] | None  # of the first line


def read_svmlight(
    path: Path_,
    *,
    test: Path_ | None = None,
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
    test : str or path, optional
        A second file. Its rows follow those of the first, and `train` and `test` tell them apart.
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
    paths = [path] if test is None else [path, test]
    parts = [_read_rows(part) for part in paths]
    counts = [part.X.shape[0] for part in parts]
    n = sum(counts)
    widest = max(part.X.shape[1] for part in parts)
    for part in parts:
        part.X.resize(part.X.shape[0], widest)
    rows = sparse.vstack([part.X for part in parts], format="csr")
    labels = np.concatenate([part.labels for part in parts])
    n_labels_of_rows = np.concatenate([part.n_labels for part in parts])
    sizes = [part.sizes for part in parts if part.sizes is not None]
    bases = zero_based if isinstance(zero_based, tuple) else (zero_based, zero_based)
    feature_base = _base(bases[0], rows.indices, has_sizes=bool(sizes))
    label_base = _base(bases[1], labels, has_sizes=bool(sizes))
    feature_sizes = [size[1] for size in sizes]
    label_sizes = [size[2] for size in sizes]
    d = _width(rows.indices, feature_base, n_features, feature_sizes, "features", path)
    q = _width(labels, label_base, n_labels, label_sizes, "labels", path)
    check_room_for_labels(n, q, path)
    Y = np.zeros((n, q), dtype=np.int64)
    Y[np.repeat(np.arange(n), n_labels_of_rows), labels - label_base] = 1
    X = sparse.csr_array((rows.data, rows.indices - feature_base, rows.indptr), shape=(n, d))
    return Dataset(
        X,
        Y,
        name=stem(path),
        source=str(path),
        zero_based=(feature_base == 0, label_base == 0),
        **parts_of(counts),
    )


def _base(zero_based: bool | str, indices: np.ndarray, *, has_sizes: bool) -> int:
    """Index of the first column."""
    if zero_based == "auto":
        zero_based = has_sizes or 0 in indices
    return 0 if zero_based else 1


def _width(
    indices: np.ndarray, base: int, given: int | None, stated: list[int], what: str, path: Path_
) -> int:
    """Number of columns, from the argument, the first line or the largest index; refused if it is implausible."""
    needed = int(indices.max(initial=base - 1)) + 1 - base
    if base and 0 in indices:
        raise DataError(
            f"index 0 of {what} in a file counted from 1; count it all from 0 or all from 1. "
            "(In Python, zero_based=True reads it as counted from 0.)",
            path=path,
        )
    if given is None:
        width = max(stated, default=needed)
        said = f"the first line says {width}"
        hint = f"pass n_{what}={width} if that is meant."
        check_plausible_width(width, indices.size, what, path, hint)
    else:
        width = given
        said = f"there are {given}"
    if needed > width:
        raise DataError(
            f"index {needed - 1 + base} of {what} occurs, but {said}; correct it, or the index.",
            path=path,
        )
    if width < 1:
        raise DataError(
            f"no {what} in the file; is it a multi-label svmlight file? Pass n_{what} if that is"
            " meant.",
            path=path,
        )
    check_memory(NAME_BYTES * width, f"A list of names for {width} {what}", path)
    return width


def _read_rows(path: Path_) -> Rows:
    """All rows of a file."""
    content = whole_content(path).removeprefix(BYTE_ORDER_MARK)
    check_memory(PEAK_OF_TEXT * len(content), "Reading it", path)
    first = SIZES.match(content)
    body = content[first.end() :] if first else content
    try:
        X, labels, counts = _parsed(body)
    except (ValueError, OverflowError):
        X, labels, counts = _parsed(_tidy(body, path, 2 if first else 1))
    n = len(counts)
    sizes = (int(first[1]), int(first[2]), int(first[3])) if first else None
    problem = ""
    if not n:
        problem = "holds no row; the file is empty or cut short."
    elif sizes is not None and sizes[0] != n:
        problem = (
            f"the first line says {sizes[0]} rows, the file has {n}; it is cut short, or the first"
            " line is wrong."
        )
    if problem:
        last_line = max(1, len(content.splitlines()))
        raise DataError(problem, path=path, line=last_line)
    return Rows(X, labels, counts, sizes)


def _parsed(text: bytes) -> tuple[sparse.csr_array, np.ndarray, list[int]]:
    """Features, all labels in order and their number in each row; ValueError where a line is odd or damaged."""
    if not text.strip():
        return sparse.csr_array((0, 0)), np.empty(0, dtype=np.int64), []
    if b"qid" in text or b"_" in text:
        raise ValueError("what is no index must not be read as one, or skipped")
    X, labels = load_svmlight_file(io.BytesIO(text), multilabel=True, zero_based=True)
    numbers = np.fromiter(chain.from_iterable(labels), dtype=np.float64)
    if not ((numbers >= 0) & (numbers < LARGEST_INDEX) & (numbers % 1 == 0)).all():
        raise ValueError("a label is no index")
    return sparse.csr_array(X), numbers.astype(np.int64), [len(of_row) for of_row in labels]


def _tidy(text: bytes, path: Path_, first: int) -> bytes:
    """Lines without comments and with sorted features; an error names the first wrong line."""
    lines: list[str] = []
    for number, line in enumerate(text.split(b"\n"), first):
        try:
            lines.append(_tidy_line(decoded(line)))
        except ValueError as error:
            raise DataError(str(error), path=path, line=number) from None
    return "\n".join(lines).encode()


def _tidy_line(line: str) -> str:
    fields = line.partition("#")[0].split()
    labels = "" if not fields or ":" in fields[0] else fields.pop(0)
    if labels:
        for label in labels.split(","):
            _index(label, "label", "write the numbers of the labels, separated by commas")
    cells = {_index_of(field): field.partition(":")[2] for field in fields}
    if len(cells) < len(fields):
        twice = first_repeated(str(_index_of(field)) for field in fields)
        raise ValueError(f"feature {twice} occurs twice in a row; remove one.")
    return " ".join([labels, *(f"{column}:{cells[column]}" for column in sorted(cells))])


def _index_of(field: str) -> int:
    """Index of a cell ``index:value``."""
    index, _, value = field.partition(":")
    column = _index(index, "feature", "write index:value")
    try:
        float(value.replace("_", "?"))
    except ValueError:
        raise ValueError(
            f"{field[:40]!r} is no feature; expected index:value, labels stand first and are"
            " separated by commas."
        ) from None
    return column


def _index(text: str, what: str, hint: str) -> int:
    if not INDEX.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no {what} number (0 to {LARGEST_INDEX - 1}); {hint}.")
    return int(text.partition(".")[0])


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
    n_unknown = int(np.isnan(dataset.Y).sum())
    if n_unknown:
        raise ValueError(
            f"{count(n_unknown, 'label entry', 'label entries')} of this data set cannot be"
            " written: unknown labels (NaN) would become 0 in a svmlight file. Write .arff, which"
            " holds them, or fill them first."
        )
    if not (dataset.n and dataset.d and dataset.q):
        raise ValueError(
            f"A svmlight file needs a row, a feature and a label; this data set has {dataset.n} x"
            f" {dataset.d} and {dataset.q} labels."
        )
    X = sparse.csr_array(dataset.X)
    names = (dataset.feature_names, dataset.label_names)
    numbers = (default_names("f", dataset.d), default_names("label", dataset.q))
    ends_full = header or (X[:, [-1]].nnz and dataset.Y[:, [0, -1]].any(axis=0).all())
    lost = {
        "the names of features and labels": names != numbers,
        "that X is dense": not sparse.issparse(dataset.X),
        "train and test parts": dataset.train is not None or dataset.test is not None,
        "empty last features, and empty first and last labels": not ends_full,
    }
    listed = ", ".join(what for what, is_lost in lost.items() if is_lost)
    if listed:
        warnings.warn(
            f"svmlight does not hold {listed}; write_mulan does hold names and storage.",
            UserWarning,
            stacklevel=2,
        )
    write_lines(path, _lines(dataset, X, header=header))


def _lines(dataset: Dataset, X: sparse.csr_array, *, header: bool) -> Iterator[str]:
    base = 0 if header else 1
    if header:
        yield f"{dataset.n} {dataset.d} {dataset.q}\n"
    for cells, y in zip(stored_cells(X, ":", base, "nan"), dataset.Y):
        labels = ",".join(map(str, np.flatnonzero(y).tolist()))
        if not labels and not cells:
            cells = [f"{base}:0"]  # an empty line would not count as a row
        yield f"{labels} {' '.join(cells)}\n"
