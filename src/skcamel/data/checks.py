"""Defects that a data set can have without any reader noticing, each with what it does and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.data.features import as_features, constant_columns, non_finite_cells, row_kinds
from skcamel.data.indicators import as_indicators
from skcamel.data.leakage import Shift, features_like_labels, features_like_labels_only_in, features_of_rows, shifted_block

NAMED = 5  # indices or names that a message lists before it says how many more there are


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing to know about a data set.

    Attributes
    ----------
    code : str
        Which check it comes from.
    severity : {"error", "warning", "info"}
        error: results on this data mean little; warning: they may mislead; info: legal, but worth knowing.
    message : str
        What was found, why it matters, what to do.
    where : int array
        Indices: of rows, of labels, of features, or pairs of them, one per row, as the message says.
    """

    code: str
    severity: str
    message: str
    where: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        """Return the message after its severity."""
        return f"{self.severity}: {self.message}  [{self.code}]"


@dataclass(frozen=True)
class _Data:
    """What every check looks at."""

    X: Any  # float64 array or CSR
    Y: sparse.csr_array
    counts: np.ndarray  # (q,) rows of each label
    kinds: np.ndarray  # (n,) equal where feature rows are equal
    train: np.ndarray | None
    test: np.ndarray | None
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]


def check_dataset(
    X: Any,
    Y: Array | None = None,
    *,
    train: Array | None = None,
    test: Array | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> list[Finding]:
    """Look for defects in a data set, the gravest first.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n, d); or a Dataset, which brings all the rest
    Y : labels of shape (n, q) in {0, 1}, {-1, +1} or bool
    train, test : row numbers or masks, default=None
        Parts to compare with each other.
    label_names, feature_names : sequences of str, default=None
        For the messages.

    Returns
    -------
    list of Finding
        Empty if nothing was found. Codes: ``non-finite``, ``label-in-features``, ``shifted-labels``, ``leaked-labels``,
        ``train-test-overlap``, ``empty-labels``, ``full-labels``, ``duplicate-labels``, ``opposite-labels``,
        ``contradicting-rows``, ``constant-features``, ``unlabelled-rows``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(0, 3, size=40)]
    >>> X = np.column_stack([rng.normal(size=40), Y[:, 1]])
    >>> for finding in check_dataset(X, Y):
    ...     print(finding)
    error: 1 feature repeats a label (f2 = label2): whatever is trained on it is given the answer; drop that feature.  [label-in-features]
    """
    if Y is None:
        if not hasattr(X, "Y"):
            raise ValueError("check_dataset needs the labels: call check_dataset(X, Y), or give a Dataset.")
        return check_dataset(X.X, X.Y, train=X.train, test=X.test, label_names=X.label_names, feature_names=X.feature_names)
    features, labels = as_features(X), as_indicators(Y)
    (n, d), q = features.shape, labels.shape[1]
    if labels.shape[0] != n:
        raise ValueError(f"Y has {labels.shape[0]} rows but X has {n}; each row of X needs one row of labels.")
    data = _Data(
        features,
        labels,
        np.bincount(labels.indices, minlength=q),
        row_kinds(features),
        _part(train, n, "train"),
        _part(test, n, "test"),
        tuple(feature_names) if feature_names is not None else tuple(f"f{k + 1}" for k in range(d)),
        tuple(label_names) if label_names is not None else tuple(f"label{j + 1}" for j in range(q)),
    )
    grave = {"error": 0, "warning": 1, "info": 2}
    return sorted((finding for check in _CHECKS for finding in check(data)), key=lambda finding: grave[finding.severity])


def _non_finite(data: _Data) -> Iterator[Finding]:
    cells = non_finite_cells(data.X)
    if len(cells):
        row, column = cells[0]
        yield Finding(
            "non-finite",
            "warning",
            f"{_count(len(cells), 'cell')} of X {_are(len(cells))} NaN or infinite, the first in row {row}, "
            f"feature {data.feature_names[column]}: kernels refuse them; impute them (sklearn.impute) or drop those rows.",
            cells,
        )


def _label_in_features(data: _Data) -> Iterator[Finding]:
    n = data.X.shape[0]
    whole = features_like_labels(data.X, data.Y, np.arange(n))
    if len(whole):
        yield Finding(
            "label-in-features",
            "error",
            f"{_repeat(len(whole), 'a label')} ({_pairs(data, whole)}): whatever is trained on "
            f"{'it' if len(whole) == 1 else 'them'} is given the answer; drop {'that feature' if len(whole) == 1 else 'those features'}.",
            whole,
        )
    for part, rows in (("first", np.arange(n // 2)), ("second", np.arange(n // 2, n))):
        found = features_like_labels_only_in(data.X, data.Y, rows)
        known = set(map(tuple, whole.tolist()))
        half = np.array([pair for pair in found.tolist() if tuple(pair) not in known], dtype=np.int64).reshape(-1, 2)
        if len(half):
            yield Finding(
                "label-in-features",
                "error",
                f"{_repeat(len(half), 'a label')} in the {part} half of the rows only ({_pairs(data, half)}): "
                "two files with different columns were probably joined; compare the columns of both halves, and drop what is no feature.",
                half,
            )


def _shifted_labels(data: _Data) -> Iterator[Finding]:
    boundaries = [int(part.min()) for part in (data.train, data.test) if part is not None and len(part) and part.min() > 0]
    shift = shifted_block(data.Y, boundaries)
    if shift is None:
        return
    rows = np.arange(shift.start, shift.stop)
    yield Finding(
        "shifted-labels",
        "error",
        f"In rows {shift.start} to {shift.stop - 1} the labels stand {_count(abs(shift.columns), 'column')} too far to the "
        f"{'left' if shift.columns > 0 else 'right'}: label frequencies there agree with the other rows' at that shift (correlation "
        f"{shift.agreement:.3f}) and not in place ({shift.in_place:.3f}), so a column means two different labels; "
        "rebuild the set from its parts, or use a repaired version.",
        rows,
    )
    yield from _leaked_labels(data, shift, rows)


def _leaked_labels(data: _Data, shift: Shift, rows: np.ndarray) -> Iterator[Finding]:
    leaked = features_of_rows(data.X, rows)
    if len(leaked):
        yield Finding(
            "leaked-labels",
            "error",
            f"{_count(len(leaked), 'feature')} ({_names(data.feature_names, leaked)}) with values almost only in "
            f"rows {shift.start} to {shift.stop - 1}, whose labels are shifted by {abs(shift.columns)}: "
            "probably labels that slid among the features; drop them.",
            leaked,
        )


def _overlap(data: _Data) -> Iterator[Finding]:
    if data.train is None or data.test is None:
        return
    both = np.intersect1d(data.train, data.test)
    if len(both):
        yield Finding(
            "train-test-overlap",
            "error",
            f"{_count(len(both), 'row')} of {len(data.test)} test rows {_are(len(both))} in the training part too (row {_list(both)}): "
            "the test is too easy; take them out of one part.",
            both,
        )
    others = np.setdiff1d(data.test, both)
    copies = others[np.isin(data.kinds[others], data.kinds[data.train])]
    if len(copies):
        yield Finding(
            "train-test-overlap",
            "warning",
            f"{_count(len(copies), 'test row')} of {len(data.test)} {_have(len(copies))} the features of a training row "
            f"(row {_list(copies)}): the test is easier than new data; remove duplicates, or split with groups=.",
            copies,
        )


def _constant_labels(data: _Data) -> Iterator[Finding]:
    n = data.Y.shape[0]
    for code, labels, what in (
        ("empty-labels", np.flatnonzero(data.counts == 0), "no positive row"),
        ("full-labels", np.flatnonzero((data.counts == n) & (n > 0)), "every row as positive"),
    ):
        if len(labels):
            yield Finding(
                code,
                "warning",
                f"{_count(len(labels), 'label')} ({_names(data.label_names, labels)}) {_have(len(labels))} {what}: "
                "nothing can be learned, and macro averages depend on a convention; leave it out, or say how it counts.",
                labels,
            )


def _equal_labels(data: _Data) -> Iterator[Finding]:
    together = (data.Y.T @ data.Y).tocoo()
    a, b, shared = together.row, together.col, together.data
    equal = (a < b) & (shared == data.counts[a]) & (shared == data.counts[b])
    opposite = _opposite_pairs(data.counts, data.Y.shape[0], set(zip(a.tolist(), b.tolist(), strict=True)))
    for how, code, pairs in (
        ("equal", "duplicate-labels", np.column_stack([a[equal], b[equal]])),
        ("opposite", "opposite-labels", opposite),
    ):
        if len(pairs):
            yield Finding(code, "warning", _of_label_pairs(data, pairs, how), pairs)


def _opposite_pairs(counts: np.ndarray, n: int, together: set[tuple[int, int]]) -> np.ndarray:
    """Labels that never meet and between them have every row; constant labels are left to their own check."""
    with_count: dict[int, list[int]] = {}
    for j, count in enumerate(counts.tolist()):
        with_count.setdefault(count, []).append(j)
    pairs = [
        (a, b)
        for a, count in enumerate(counts.tolist())
        if 0 < count < n
        for b in with_count.get(n - count, ())
        if a < b and (a, b) not in together
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _contradictions(data: _Data) -> Iterator[Finding]:
    sets = row_kinds(data.Y)
    order = np.lexsort((sets, data.kinds))
    differs = (np.diff(data.kinds[order]) == 0) & (np.diff(sets[order]) != 0)
    rows = np.flatnonzero(np.isin(data.kinds, data.kinds[order[1:]][differs]))
    if len(rows):
        yield Finding(
            "contradicting-rows",
            "info",
            f"{_count(len(rows), 'row')} ({_list(rows)}) share their features with a row of other labels: "
            "no method can get all of them right; merge them, or keep them as noise.",
            rows,
        )


def _constant_features(data: _Data) -> Iterator[Finding]:
    constant = constant_columns(data.X)
    if len(constant):
        yield Finding(
            "constant-features",
            "info",
            f"{_count(len(constant), 'feature')} ({_names(data.feature_names, constant)}) {_have(len(constant))} the same value "
            "in every row: standardising divides by zero there; drop them (sklearn.feature_selection.VarianceThreshold).",
            constant,
        )


def _unlabelled(data: _Data) -> Iterator[Finding]:
    rows = np.flatnonzero(np.diff(data.Y.indptr) == 0)
    if len(rows):
        yield Finding(
            "unlabelled-rows",
            "info",
            f"{_count(len(rows), 'row')} ({_list(rows)}) {_have(len(rows))} no label: "
            "ranking metrics skip them or count them by convention; make sure that none means 'none' and not 'unknown'.",
            rows,
        )


_CHECKS = (
    _non_finite,
    _label_in_features,
    _shifted_labels,
    _overlap,
    _constant_labels,
    _equal_labels,
    _contradictions,
    _constant_features,
    _unlabelled,
)


def _part(rows: Array | None, n: int, name: str) -> np.ndarray | None:
    """Row numbers, from row numbers or a mask."""
    if rows is None:
        return None
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (n,):
        return np.flatnonzero(given)
    if given.ndim != 1 or (len(given) and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n)):
        raise ValueError(
            f"{name} must hold row numbers from 0 to {n - 1}, or be a mask of {n} rows; got shape {given.shape}, {given.dtype}."
        )
    return given.astype(np.int64)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _repeat(number: int, what: str) -> str:
    return f"{_count(number, 'feature')} {'repeats' if number == 1 else 'repeat'} {what}"


def _list(indices: np.ndarray) -> str:
    more = f" and {len(indices) - NAMED} more" if len(indices) > NAMED else ""
    return ", ".join(map(str, indices[:NAMED].tolist())) + more


def _names(names: tuple[str, ...], indices: np.ndarray) -> str:
    more = f" and {len(indices) - NAMED} more" if len(indices) > NAMED else ""
    return ", ".join(names[k] for k in indices[:NAMED].tolist()) + more


def _pairs(data: _Data, pairs: np.ndarray) -> str:
    more = f" and {len(pairs) - NAMED} more" if len(pairs) > NAMED else ""
    return ", ".join(f"{data.feature_names[k]} = {data.label_names[j]}" for k, j in pairs[:NAMED].tolist()) + more


def _of_label_pairs(data: _Data, pairs: np.ndarray, how: str) -> str:
    more = f" and {len(pairs) - NAMED} more" if len(pairs) > NAMED else ""
    named = ", ".join(f"{data.label_names[a]} and {data.label_names[b]}" for a, b in pairs[:NAMED].tolist())
    found = f"{_count(len(pairs), 'pair')} of labels ({named}{more}) {_are(len(pairs))} {how} in every row"
    return f"{found}: one of the two is redundant; drop it."
