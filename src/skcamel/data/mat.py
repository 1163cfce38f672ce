"""Matlab files (version 5 to 7): features and labels under the variable names that multi-label authors use."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from skcamel.data.dataset import Dataset
from skcamel.data.errors import LABEL_BYTES, DataError, check_claimed_size, check_plausible_width
from skcamel.data.mat5 import Variable, variables
from skcamel.data.text import Path_, shortened, stem

WHOLE = (("data", "target"), ("data", "targets"), ("X", "Y"), ("data", "labels"), ("data", "label"), ("features", "labels"), ("fea", "gnd"))
PAIRS = (
    ("train_data", "train_target", "test_data", "test_target"),
    ("X_train", "Y_train", "X_test", "Y_test"),
    ("Xtrain", "Ytrain", "Xtest", "Ytest"),
    ("trainX", "trainY", "testX", "testY"),
    ("train_X", "train_Y", "test_X", "test_Y"),
)


def read_mat(path: Path_, *, features: str | None = None, labels: str | None = None) -> Dataset:
    """Read a Matlab file of version 5 to 7 (not 7.3).

    Parameters
    ----------
    path : str or path
    features, labels : str, optional
        Variables to read. By default the usual names are tried, without regard to case: data and target, X and Y, …, and the four
        of a split: train_data, train_target, test_data, test_target, X_train, ….

    Returns
    -------
    Dataset
        Labels in -1 and +1 become 0 and 1. Matrices are turned where only that gives X and Y the same rows (many authors store
        labels x rows). Where the file has a training and a test part, `train` and `test` tell them apart.

    Examples
    --------
    >>> import tempfile, scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/tiny.mat", {"data": [[0.5, 1], [1, 2], [3, 4]], "target": [[1, -1, -1], [-1, 1, 1]]})
    ...     read_mat(f"{folder}/tiny.mat").Y
    array([[1, 0],
           [0, 1],
           [0, 1]])
    """
    matrices = _variables(path)
    chosen = _chosen(matrices, features, labels, path)
    for name in chosen:
        _check_size(matrices[name], path)
    loaded = {name: _loaded(matrices[name], path) for name in chosen}
    parts = [_oriented(loaded[x], loaded[y], x, y, path) for x, y in zip(chosen[0::2], chosen[1::2])]
    widths = {(X.shape[1], Y.shape[1]) for X, Y in parts}
    if len(widths) > 1:
        raise DataError(f"{', '.join(chosen)} have different numbers of columns; are they parts of one data set?", path=path)
    n, q = sum(X.shape[0] for X, _ in parts), parts[0][1].shape[1]
    check_claimed_size(LABEL_BYTES * n * q, f"{n} rows x {q} labels", path)
    check_plausible_width(parts[0][0].shape[1], sum(_stored(X) for X, _ in parts), "features", path)
    Xs, Ys = [X for X, _ in parts], [_indicator(Y, name, path) for (_, Y), name in zip(parts, chosen[1::2])]
    X = sparse.vstack([sparse.csr_array(X) for X in Xs], format="csr") if any(map(sparse.issparse, Xs)) else np.vstack(Xs)
    first = Ys[0].shape[0]
    train, test = (np.arange(first), np.arange(first, n)) if len(parts) > 1 else (None, None)
    return Dataset(X, np.vstack(Ys), name=stem(path), source=str(path), train=train, test=test)


def _variables(path: Path_) -> dict[str, Variable]:
    """Matrices of numbers by name; their content is not read yet."""
    content = Path(path).read_bytes()
    if content.startswith(b"MATLAB 7.3"):
        raise DataError("is a Matlab 7.3 (HDF5) file; save it in Matlab by save(…, '-v7').", path=path)
    try:
        return {variable.name: variable for variable in variables(content)}
    except (ValueError, zlib.error) as error:
        _refuse(path, error)


def _check_size(variable: Variable, path: Path_) -> None:
    """Refuse a matrix that does not fit, before it is unpacked: as it is stored, as float64, and once more while parts are joined."""
    cells = 0 if variable.is_sparse else variable.shape[0] * variable.shape[1]
    check_claimed_size(
        2 * variable.n_bytes + 16 * cells, f"{variable.shape[0]} x {variable.shape[1]} values of {variable.name[:60]!r}", path
    )


def _loaded(variable: Variable, path: Path_) -> Any:
    try:
        return variable.load()
    except (ValueError, zlib.error) as error:
        _refuse(path, error)


def _refuse(path: Path_, error: BaseException) -> NoReturn:
    detail = (str(error).splitlines() or [""])[0][:120]
    raise DataError(f"is damaged or no Matlab file of version 5 to 7 ({detail}); copy or save it again.", path=path) from error


def _chosen(matrices: dict[str, Variable], features: str | None, labels: str | None, path: Path_) -> tuple[str, ...]:
    """Variables to read: features and labels, for one or two parts."""
    if (features is None) != (labels is None):
        raise ValueError("Name both variables, features=… and labels=…, or neither.")
    own = {name.lower(): name for name in matrices}
    groups = [(features, labels)] if features is not None and labels is not None else [*WHOLE, *PAIRS, *(pair[:2] for pair in PAIRS)]
    for group in groups:
        if all(name in matrices for name in group):
            return group
        if all(name.lower() in own for name in group):
            return tuple(own[name.lower()] for name in group)
    wanted = f"{features!r} and {labels!r}" if features is not None else "data and target, X and Y, train_data and train_target, …"
    found = shortened(matrices, most=8) or "none"
    raise DataError(
        f"no matrices {wanted}; found {found}. Rename two of them so, or in Python: read_mat(path, features=…, labels=…).", path=path
    )


def _oriented(X: Any, Y: Any, x: str, y: str, path: Path_) -> tuple[Any, Any]:
    """Both with instances in rows, turned as little as possible."""
    for turned_x, turned_y in ((X, Y), (X, Y.T), (X.T, Y.T), (X.T, Y)):
        if turned_x.shape[0] == turned_y.shape[0]:
            if not (turned_x.shape[0] and turned_x.shape[1] and turned_y.shape[1]):
                raise DataError(f"{x} is {X.shape} and {y} is {Y.shape}; nothing is in them.", path=path)
            return turned_x, turned_y
    raise DataError(
        f"{x} is {X.shape} and {y} is {Y.shape}; no common number of rows. "
        "Are these the right variables? (In Python, features=… and labels=… name others.)",
        path=path,
    )


def _indicator(Y: Any, name: str, path: Path_) -> np.ndarray:
    """Labels as 0 and 1."""
    Y = Y.toarray() if sparse.issparse(Y) else Y
    relevant = Y == 1
    if not ((relevant | (Y == 0)).all() or (relevant | (Y == -1)).all()):
        found = shortened(np.unique(Y.ravel()[:10_000]))
        raise DataError(
            f"{name} holds {found}; labels are 0 and 1, or -1 and +1. Is it the right variable? (In Python, labels=… names another.)",
            path=path,
        )
    return relevant.astype(np.int64)


def _stored(matrix: Any) -> int:
    return int(matrix.nnz if sparse.issparse(matrix) else matrix.size)
