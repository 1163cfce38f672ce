"""Defects of a data set that no reader notices: what each one does, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, default_names
from skcamel.data.dataset import (
    Dataset,
    as_features,
    as_indicators,
    check_same_rows,
    row_kinds,
    row_numbers,
    unknown_entries,
)
from skcamel.data.statistics import constant_columns, label_counts
from skcamel.data.text import counted

NAMED = 5  # indices or names that a message lists
GRAVITY = ("error", "warning", "info")
FEWEST_POSITIVES = 5  # and negatives of a label: with fewer, it may equal a feature by chance
HARDLY_RELATED = 0.5  # correlation of a feature and a label


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing to know about a data set.

    Attributes
    ----------
    code : str
        Which check it comes from.
    severity : {"error", "warning", "info"}
        error: results on this data mean little; warning: they may mislead; info: legal, but worth
        knowing.
    message : str
        What was found, why it matters, what to do.
    where : int array
        Indices: of rows, of labels, of features, or pairs of them, one per row, as the message
        says.
    """

    code: str
    severity: str
    message: str
    where: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}  [{self.code}]"


Parts = tuple[str, str, str, np.ndarray]  # of a Finding


@dataclass(frozen=True)
class _Checked:
    """What every check looks at."""

    X: Array  # float64 array or CSR
    Y: sparse.csr_array  # ones where a label is known to be relevant
    unknown: sparse.csr_array | None  # ones where it is not known; None where all are
    counts: np.ndarray  # (q,) rows of each label
    kinds: np.ndarray  # (n,) equal where feature rows are equal
    train: np.ndarray | None
    test: np.ndarray | None
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]


def check_dataset(
    X: Array | Dataset,
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
    Y : labels of shape (n, q) in {0, 1}, {-1, +1} or bool, NaN where unknown
    train, test : row numbers or masks, default=None
        Parts to compare with each other.
    label_names, feature_names : sequences of str, default=None
        For the messages.

    Returns
    -------
    list of Finding
        Empty if nothing was found. Codes: ``non-finite``, ``label-in-features``,
        ``train-test-overlap``,
        ``empty-labels``, ``full-labels``, ``duplicate-labels``, ``opposite-labels``,
        ``contradicting-rows``,
        ``constant-features``, ``unlabelled-rows``, ``unknown-labels``.

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
        if not isinstance(X, Dataset):
            raise ValueError(
                "check_dataset needs the labels: call check_dataset(X, Y), or give a Dataset."
            )
        return check_dataset(
            X.X,
            X.Y,
            train=X.train,
            test=X.test,
            label_names=X.label_names,
            feature_names=X.feature_names,
        )
    features, labels = as_features(X), as_indicators(Y)
    (n, d), q = features.shape, labels.shape[1]
    check_same_rows(features, labels)
    data = _Checked(
        features,
        labels,
        unknown_entries(Y),
        label_counts(labels),
        row_kinds(features),
        row_numbers(train, n, "train"),
        row_numbers(test, n, "test"),
        default_names("f", d) if feature_names is None else tuple(feature_names),
        default_names("label", q) if label_names is None else tuple(label_names),
    )
    found = [Finding(*parts) for check in _CHECKS for parts in check(data)]
    return sorted(found, key=lambda finding: GRAVITY.index(finding.severity))


def _non_finite(data: _Checked) -> Iterator[Parts]:
    if sparse.issparse(data.X):
        stored = data.X.tocoo()
        bad = ~np.isfinite(stored.data)
        cells = np.column_stack([stored.row[bad], stored.col[bad]])
    else:
        cells = np.argwhere(~np.isfinite(data.X))
    if len(cells):
        row, column = cells[0]
        said = (
            f"{counted(len(cells), 'cell')} of X {_verb(cells, 'is', 'are')} NaN or infinite, the"
            f" first in row {row}, feature {data.feature_names[column]}: kernels refuse them;"
            " impute them (sklearn.impute) or drop those rows."
        )
        yield "non-finite", "warning", said, cells


def _label_in_features(data: _Checked) -> Iterator[Parts]:
    n = data.X.shape[0]

    def repeating(pairs: np.ndarray, where: str = "") -> str:
        named = _listed(
            [f"{data.feature_names[k]} = {data.label_names[j]}" for k, j in pairs.tolist()]
        )
        return (
            f"{counted(len(pairs), 'feature')} {_verb(pairs, 'repeats', 'repeat')} a label{where}"
            f" ({named})"
        )

    whole = features_like_labels(data.X, data.Y, np.arange(n), data.unknown)
    if len(whole):
        it, that = _verb(whole, "it", "them"), _verb(whole, "that feature", "those features")
        yield (
            "label-in-features",
            "error",
            f"{repeating(whole)}: whatever is trained on {it} is given the answer; drop {that}.",
            whole,
        )
    known = set(map(tuple, whole.tolist()))
    for part, rows in (("first", np.arange(n // 2)), ("second", np.arange(n // 2, n))):
        found = features_like_labels_only_in(data.X, data.Y, rows, data.unknown)
        half = np.array(
            [pair for pair in found.tolist() if tuple(pair) not in known], dtype=np.int64
        ).reshape(-1, 2)
        if len(half):
            said = (
                f"{repeating(half, f' in the {part} half of the rows only')}: two files with"
                " different columns were probably joined; compare the columns of both halves, and"
                " drop what is no feature."
            )
            yield "label-in-features", "error", said, half


def _overlap(data: _Checked) -> Iterator[Parts]:
    if data.train is None or data.test is None:
        return
    both = np.intersect1d(data.train, data.test)
    if len(both):
        said = (
            f"{counted(len(both), 'row')} of {len(data.test)} test rows {_verb(both, 'is', 'are')}"
            f" in the training part too (row {_listed(both.tolist())}): the test is too easy; take"
            " them out of one part."
        )
        yield "train-test-overlap", "error", said, both
    others = np.setdiff1d(data.test, both)
    copies = others[np.isin(data.kinds[others], data.kinds[data.train])]
    if len(copies):
        said = (
            f"{counted(len(copies), 'test row')} of {len(data.test)} {_verb(copies, 'has', 'have')}"
            f" the features of a training row (row {_listed(copies.tolist())}): the test is easier"
            " than new data; remove duplicates, or split with groups=."
        )
        yield "train-test-overlap", "warning", said, copies


def _constant_labels(data: _Checked) -> Iterator[Parts]:
    known = data.Y.shape[0] - (0 if data.unknown is None else label_counts(data.unknown))
    for code, labels, what in (
        ("empty-labels", np.flatnonzero(data.counts == 0), "no positive row"),
        (
            "full-labels",
            np.flatnonzero((data.counts == known) & (data.counts > 0)),
            "every row as positive",
        ),
    ):
        if len(labels):
            said = (
                f"{counted(len(labels), 'label')} ({_listed(data.label_names, labels)})"
                f" {_verb(labels, 'has', 'have')} {what}: nothing can be learned, and macro"
                " averages depend on a convention; leave it out, or state the convention."
            )
            yield code, "warning", said, labels


def _equal_labels(data: _Checked) -> Iterator[Parts]:
    own = _Known(data.Y, data.unknown)
    equal, opposite = _alike(
        own, own, 1 if data.unknown is None else FEWEST_POSITIVES
    )  # constant labels are left to their own check
    every = "every row" if data.unknown is None else "every row that knows both"
    for how, code, found in (
        ("equal", "duplicate-labels", equal),
        ("opposite", "opposite-labels", opposite),
    ):
        pairs = found[found[:, 0] < found[:, 1]]
        if len(pairs):
            named = _listed(
                [f"{data.label_names[i]} and {data.label_names[j]}" for i, j in pairs.tolist()]
            )
            said = (
                f"{counted(len(pairs), 'pair')} of labels ({named}) {_verb(pairs, 'is', 'are')}"
                f" {how} in {every}"
            )
            yield code, "warning", f"{said}: one of the two is redundant; drop it.", pairs


def _contradictions(data: _Checked) -> Iterator[Parts]:
    if data.unknown is None:
        sets = row_kinds(data.Y)
        order = np.lexsort((sets, data.kinds))
        differs = (np.diff(data.kinds[order]) == 0) & (np.diff(sets[order]) != 0)
        rows = np.flatnonzero(np.isin(data.kinds, data.kinds[order[1:]][differs]))
    else:  # an unknown label contradicts nothing
        zeros = sparse.csr_array(1 - (data.Y + data.unknown).toarray())
        of_kind = sparse.csr_array(
            (np.ones(len(data.kinds), dtype=np.int64), (data.kinds, np.arange(len(data.kinds))))
        )
        clashes = (of_kind @ data.Y).multiply(of_kind @ zeros)  # (kinds, q)
        rows = np.flatnonzero(np.asarray(clashes.sum(axis=1)).ravel()[data.kinds] > 0)
    if len(rows):
        said = (
            f"{counted(len(rows), 'row')} ({_listed(rows.tolist())}) share their features with a"
            " row of other labels: no method can get all of them right; merge them, or keep them"
            " as noise."
        )
        yield "contradicting-rows", "info", said, rows


def _constant_features(data: _Checked) -> Iterator[Parts]:
    constant = constant_columns(data.X)
    if len(constant):
        said = (
            f"{counted(len(constant), 'feature')} ({_listed(data.feature_names, constant)})"
            f" {_verb(constant, 'has', 'have')} the same value in every row: standardising divides"
            " by zero there; drop them (sklearn.feature_selection.VarianceThreshold)."
        )
        yield "constant-features", "info", said, constant


def _unlabelled(data: _Checked) -> Iterator[Parts]:
    judged = True if data.unknown is None else np.diff(data.unknown.indptr) < data.Y.shape[1]
    rows = np.flatnonzero((np.diff(data.Y.indptr) == 0) & judged)
    if len(rows):
        said = (
            f"{counted(len(rows), 'row')} ({_listed(rows.tolist())}) {_verb(rows, 'has', 'have')}"
            " no label: ranking metrics skip them or count them by convention; make sure that no"
            " label means 'none' and not 'unknown'."
        )
        yield "unlabelled-rows", "info", said, rows


def _unknown_labels(data: _Checked) -> Iterator[Parts]:
    if data.unknown is None:
        return
    entries = np.argwhere(data.unknown.toarray())
    row, label = entries[0]
    share = len(entries) / (data.Y.shape[0] * data.Y.shape[1])
    said = (
        f"{counted(len(entries), 'cell')} of Y ({share:.1%}) {_verb(entries, 'is', 'are')} unknown,"
        f" the first in row {row}, label {data.label_names[label]}: methods learn from the known"
        " ones, and metrics count these alone; write 0 where 'not given' means 'not relevant'."
    )
    yield "unknown-labels", "info", said, entries


_CHECKS: tuple[Callable[[_Checked], Iterator[Parts]], ...] = (
    _non_finite,
    _label_in_features,
    _overlap,
    _constant_labels,
    _equal_labels,
    _contradictions,
    _constant_features,
    _unlabelled,
    _unknown_labels,
)


def _verb(found: np.ndarray, one: str, many: str) -> str:
    return one if len(found) == 1 else many


def _listed(words: Sequence[object], which: np.ndarray | None = None) -> str:
    """The first words, or those at the places `which`, and how many more there are."""
    chosen = words if which is None else [words[k] for k in which.tolist()]
    more = f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else ""
    return ", ".join(map(str, chosen[:NAMED])) + more


def _alike(columns: _Known, labels: _Known, fewest: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (column, label) that are equal, and those that are opposite, in all rows that know both; (pairs, 2) each.

    Only labels with at least so many positives and negatives among those rows tell.
    """
    n, marked, positives = (
        labels.ones.shape[0],
        label_counts(columns.ones),
        label_counts(labels.ones),
    )
    shared = _crossed(columns.ones, labels.ones)  # (columns, labels)
    marked_unknown, unknown_positive = (
        _crossed(columns.ones, labels.unknown),
        _crossed(columns.unknown, labels.ones),
    )
    gaps, both_unknown = (
        (0 if columns.unknown is None else label_counts(columns.unknown)),
        _crossed(columns.unknown, labels.unknown),
    )
    known = n - (
        np.zeros_like(positives) if labels.unknown is None else label_counts(labels.unknown)
    )
    equal, opposite = list[tuple[int, int]](), list[tuple[int, int]]()
    for j in np.flatnonzero(np.minimum(positives, known - positives) >= fewest).tolist():
        rows = (
            known[j] - gaps + _column(both_unknown, j)
        )  # that know both; from here on one number for each column, or for all
        has, marks = (
            positives[j] - _column(unknown_positive, j),
            marked - _column(marked_unknown, j),
        )
        both, tells = _column(shared, j), np.minimum(has, rows - has) >= fewest
        equal += [(k, j) for k in np.flatnonzero(tells & (both == marks) & (both == has)).tolist()]
        opposite += [
            (k, j) for k in np.flatnonzero(tells & (both == 0) & (marks + has == rows)).tolist()
        ]
    return np.array(sorted(equal), dtype=np.int64).reshape(-1, 2), np.array(
        sorted(opposite), dtype=np.int64
    ).reshape(-1, 2)


@dataclass(frozen=True)
class _Known:
    """Columns of ones and zeros, some of them unknown."""

    ones: sparse.csr_array  # (n, k)
    unknown: sparse.csr_array | None = None  # (n, k), ones where nothing is known

    def rows(self, rows: np.ndarray) -> _Known:
        """Some of the rows."""
        return _Known(self.ones[rows], None if self.unknown is None else self.unknown[rows])


def _crossed(
    columns: sparse.csr_array | None, labels: sparse.csr_array | None
) -> sparse.csc_array | None:
    """In how many rows each of the columns and each of the labels has a one, (columns, labels); None where one side has none at all."""
    return None if columns is None or labels is None else sparse.csc_array(columns.T @ labels)


def _column(counts: sparse.csc_array | None, j: int) -> Any:
    """A column of counts, or 0."""
    if counts is None:
        return 0
    column, stored = (
        np.zeros(counts.shape[0], dtype=np.int64),
        slice(counts.indptr[j], counts.indptr[j + 1]),
    )
    column[counts.indices[stored]] = counts.data[stored]
    return column


def features_like_labels(
    X: Array, Y: sparse.csr_array, rows: np.ndarray, unknown: sparse.csr_array | None = None
) -> np.ndarray:
    """Pairs (feature, label) where a two-valued feature is equal or opposite to a label in the given rows that know it, (pairs, 2).

    Labels with fewer than 5 positives or 5 negatives there are left out: equality would be chance.
    """
    indicators, columns = _two_valued(X, rows)
    pairs = np.concatenate(
        _alike(_Known(indicators), _Known(Y, unknown).rows(rows), FEWEST_POSITIVES)
    )
    pairs[:, 0] = columns[pairs[:, 0]]
    return np.unique(pairs, axis=0)


def features_like_labels_only_in(
    X: Array, Y: sparse.csr_array, rows: np.ndarray, unknown: sparse.csr_array | None = None
) -> np.ndarray:
    """Pairs (feature, label) that are equal or opposite in the given rows and hardly related in the others that know it, (pairs, 2).

    A feature that predicts a label everywhere, with a few exceptions, is a good feature and not
    meant.
    """
    pairs = features_like_labels(X, Y, rows, unknown)
    others = np.setdiff1d(np.arange(Y.shape[0]), rows)
    features, labels = (
        part.toarray() if sparse.issparse(part) else part
        for part in (X[others][:, pairs[:, 0]], Y[others][:, pairs[:, 1]])
    )
    known = (
        np.ones(labels.shape, dtype=bool)
        if unknown is None
        else unknown[others][:, pairs[:, 1]].toarray() == 0
    )
    related = [
        abs(_correlation(feature[kept], label[kept].astype(np.float64))) if kept.any() else 0.0
        for feature, label, kept in zip(features.T, labels.T, known.T, strict=True)
    ]
    return pairs[np.array(related, dtype=np.float64) <= HARDLY_RELATED]


def _two_valued(X: Array, rows: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Ones where a two-valued feature has one of its values, zeros where it has the other; and the columns of X they come from."""
    if not len(rows):
        return sparse.csr_array((0, 0), dtype=np.int64), np.arange(0)
    part = sparse.csr_array(X[rows])
    low, high = (
        np.asarray(extreme.toarray()).ravel() for extreme in (part.min(axis=0), part.max(axis=0))
    )
    is_third = (part.data != low[part.indices]) & (part.data != high[part.indices])
    thirds = np.bincount(part.indices, weights=is_third, minlength=part.shape[1])
    has_zeros = np.bincount(part.indices, minlength=part.shape[1]) < len(rows)
    zero_is_third = (low != 0) & (high != 0) & has_zeros
    columns = np.flatnonzero((thirds == 0) & ~zero_is_third & (low < high))
    marked = np.where(high != 0, high, low)[columns]  # a value that is stored
    chosen = sparse.csr_array(part[:, columns])
    chosen.data = (chosen.data == marked[chosen.indices]).astype(np.int64)
    chosen.eliminate_zeros()
    return chosen, columns


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation, 0 where one side is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
