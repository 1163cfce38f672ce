"""Defects of a data set that no reader notices: what each one does, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, default_names, dense
from skcamel.data.dataset import (
    Dataset,
    as_features,
    as_labels,
    check_same_rows,
    row_kinds,
    row_numbers,
)
from skcamel.data.statistics import constant_columns
from skcamel.text import count

NAMED = 5  # indices or names that a message lists
GRAVITY = ("error", "warning", "info")
FEWEST_POSITIVES = 5  # and negatives of a label: with fewer, it may equal a feature by chance
BLOCK = 256  # features compared with the labels at a time
GROUP_NAME = re.compile(
    r"(.*[\W_])?(group|patient|customer|client|user|subject|person|author|speaker|household|session"
    r"|document|doc|batch|site)([\W_]*(id|no|nr|number|key|name))?|.+[\W_]id",
    re.IGNORECASE,
)


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


@dataclass(frozen=True)
class _Checked:
    """What every check looks at."""

    X: Array  # float64 array or CSR
    ones: np.ndarray  # (n, q) 1 where a label is known to be relevant
    known: np.ndarray  # (n, q) 1 where a label is known
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
        ``train-test-overlap``, ``empty-labels``, ``full-labels``, ``duplicate-labels``,
        ``opposite-labels``, ``copied-rows``, ``contradicting-rows``, ``group-columns``,
        ``constant-features``, ``unlabelled-rows``, ``unknown-labels``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(0, 3, size=40)]
    >>> X = np.column_stack([rng.normal(size=40), Y[:, 1]])
    >>> for finding in check_dataset(X, Y):
    ...     print(finding)
    error: 1 feature repeats a label (f2 = label2): whatever is trained on it is given the answer; drop it.  [label-in-features]
    """
    if isinstance(X, Dataset) and Y is None:
        train, test, label_names, feature_names = X.train, X.test, X.label_names, X.feature_names
        X, Y = X.X, X.Y
    if Y is None:
        raise ValueError(
            "check_dataset needs the labels: call check_dataset(X, Y), or give a Dataset."
        )
    features = as_features(X)
    labels = as_labels(Y)
    check_same_rows(features, labels)
    n, d = features.shape
    q = labels.shape[1]
    data = _Checked(
        features,
        (labels == 1).astype(np.float64),
        (labels == labels).astype(np.float64),
        row_kinds(features),
        row_numbers(train, n, "train"),
        row_numbers(test, n, "test"),
        tuple(default_names("f", d) if feature_names is None else feature_names),
        tuple(default_names("label", q) if label_names is None else label_names),
    )
    found: list[Finding] = []
    for check in (
        _non_finite,
        _label_in_features,
        _overlap,
        _constant_labels,
        _equal_labels,
        _equal_rows,
        _features,
        _unlabelled,
    ):
        found += [finding for finding in check(data) if len(finding.where)]
    return sorted(found, key=lambda finding: GRAVITY.index(finding.severity))


def _listed(words: Sequence[object]) -> str:
    """The first words, and how many more there are."""
    text = ", ".join(map(str, words[:NAMED]))
    more = len(words) - NAMED
    return f"{text} and {more} more" if more > 0 else text


def _names(names: Sequence[str], which: np.ndarray) -> str:
    return _listed([names[k] for k in which.tolist()])


def _non_finite(data: _Checked) -> Iterator[Finding]:
    if sparse.issparse(data.X):
        stored = data.X.tocoo()
        places = np.column_stack([stored.row, stored.col])
        cells = places[~np.isfinite(stored.data)]
    else:
        cells = np.argwhere(~np.isfinite(data.X))
    if len(cells):
        row, column = cells[0]
        yield Finding(
            "non-finite",
            "warning",
            f"{count(len(cells), 'cell')} of X missing or infinite, the first in row {row}, feature"
            f" {data.feature_names[column]}: kernels refuse them; impute them (sklearn.impute) or"
            " drop those rows.",
            cells,
        )


def _label_in_features(data: _Checked) -> Iterator[Finding]:
    pairs = _features_like_labels(data)
    named = [f"{data.feature_names[k]} = {data.label_names[j]}" for k, j in pairs.tolist()]
    repeats = "1 feature repeats" if len(pairs) == 1 else f"{len(pairs)} features repeat"
    yield Finding(
        "label-in-features",
        "error",
        f"{repeats} a label ({_listed(named)}): whatever is trained on it is given the answer; drop"
        " it.",
        pairs,
    )


def _features_like_labels(data: _Checked) -> np.ndarray:
    """Pairs (feature, label) where a two-valued feature is equal or opposite to a label in the rows that know it, (pairs, 2)."""
    found = [np.empty((0, 2), dtype=np.int64)]
    for first in range(0, data.X.shape[1], BLOCK):
        values = dense(data.X[:, first : first + BLOCK])
        is_high = values == values.max(axis=0, initial=-np.inf)
        is_low = values == values.min(axis=0, initial=np.inf)
        columns = np.flatnonzero((is_high | is_low).all(axis=0) & ~is_high.all(axis=0))
        marks = is_high[:, columns].astype(np.float64)
        equal, opposite = _alike(marks, np.ones_like(marks), data, FEWEST_POSITIVES)
        pairs = np.argwhere(equal | opposite)
        pairs[:, 0] = first + columns[pairs[:, 0]]
        found.append(pairs)
    return np.concatenate(found)


def _alike(
    columns: np.ndarray, known: np.ndarray, data: _Checked, fewest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which columns are equal, and which opposite, to which labels in all rows that know both, (columns, q) each.

    Only labels with at least so many positives and negatives among those rows count.
    """
    both = columns.T @ data.ones  # rows with a one in the column and in the label
    ones = columns.T @ data.known
    positives = known.T @ data.ones
    rows = known.T @ data.known
    counts = np.minimum(positives, rows - positives) >= fewest
    equal = counts & (both == ones) & (both == positives)
    opposite = counts & (both == 0) & (ones + positives == rows)
    return equal, opposite


def _overlap(data: _Checked) -> Iterator[Finding]:
    if data.train is None or data.test is None:
        return
    both = np.intersect1d(data.train, data.test)
    others = np.setdiff1d(data.test, both)
    copies = others[np.isin(data.kinds[others], data.kinds[data.train])]
    yield Finding(
        "train-test-overlap",
        "error",
        f"{len(both)} of {len(data.test)} test rows also in the training part (row"
        f" {_listed(both.tolist())}): the test is too easy; take them out of one part.",
        both,
    )
    yield Finding(
        "train-test-overlap",
        "warning",
        f"{len(copies)} of {len(data.test)} test rows with the features of a training row (row"
        f" {_listed(copies.tolist())}): the test is easier than new data; remove duplicates, or"
        " split with groups=.",
        copies,
    )


def _constant_labels(data: _Checked) -> Iterator[Finding]:
    positives = data.ones.sum(axis=0)
    is_full = (positives > 0) & (positives == data.known.sum(axis=0))
    for code, what, labels in (
        ("empty-labels", "no positive row", np.flatnonzero(positives == 0)),
        ("full-labels", "every row positive", np.flatnonzero(is_full)),
    ):
        yield Finding(
            code,
            "warning",
            f"{count(len(labels), 'label')} with {what} ({_names(data.label_names, labels)}):"
            " nothing can be learned, and macro averages depend on a convention; leave it out, or"
            " state the convention.",
            labels,
        )


def _equal_labels(data: _Checked) -> Iterator[Finding]:
    some_unknown = not data.known.all()
    fewest = FEWEST_POSITIVES if some_unknown else 1  # constant labels have their own check
    rows = "every row that knows both" if some_unknown else "every row"
    equal, opposite = _alike(data.ones, data.known, data, fewest)
    for how, code, alike in (
        ("equal", "duplicate-labels", equal),
        ("opposite", "opposite-labels", opposite),
    ):
        pairs = np.argwhere(np.triu(alike, 1))
        named = [f"{data.label_names[i]} and {data.label_names[j]}" for i, j in pairs.tolist()]
        yield Finding(
            code,
            "warning",
            f"{count(len(pairs), 'pair')} of labels {how} in {rows} ({_listed(named)}): one of the"
            " two is redundant; drop it.",
            pairs,
        )


def _equal_rows(data: _Checked) -> Iterator[Finding]:
    n = len(data.kinds)
    wholes = row_kinds(data.kinds[:, None], data.ones - (1 - data.known))
    first_of_each = np.unique(wholes, return_index=True)[1]
    copies = np.setdiff1d(np.arange(n), first_of_each)
    yield Finding(
        "copied-rows",
        "info",
        f"{count(len(copies), 'row')} with features and labels of an earlier row"
        f" ({_listed(copies.tolist())}): leave-one-out and folds then judge on rows that were seen,"
        " and are too good; drop copies, or keep them together by groups.",
        copies,
    )
    of_kind = sparse.csr_array((np.ones(n), data.kinds, np.arange(n + 1)), shape=(n, n)).T
    zeros = data.known - data.ones
    clashes = (of_kind @ data.ones) * (of_kind @ zeros)  # unknown labels contradict nothing
    rows = np.flatnonzero(clashes.any(axis=1)[data.kinds])
    yield Finding(
        "contradicting-rows",
        "info",
        f"{count(len(rows), 'row')} ({_listed(rows.tolist())}) share their features with a row of"
        " other labels: no method can get all of them right; merge them, or keep them as noise.",
        rows,
    )


def _features(data: _Checked) -> Iterator[Finding]:
    constant = constant_columns(data.X)
    yield Finding(
        "constant-features",
        "info",
        f"{count(len(constant), 'feature')} with the same value in every row"
        f" ({_names(data.feature_names, constant)}): standardising divides by zero there; drop them"
        " (sklearn.feature_selection.VarianceThreshold).",
        constant,
    )
    named = [k for k, name in enumerate(data.feature_names) if GROUP_NAME.fullmatch(name)]
    groups = np.array([k for k in named if _repeats(data.X, k)], dtype=np.int64)
    yield Finding(
        "group-columns",
        "info",
        f"{count(len(groups), 'feature')} with the name of a group and values that repeat"
        f" ({_names(data.feature_names, groups)}): rows of one group are alike, so estimates on"
        " single rows are too good; fit with groups of this column, and drop it as a feature.",
        groups,
    )


def _repeats(X: Array, k: int) -> bool:
    """Whether a column has whole numbers, and each of them in two rows or more on average."""
    distinct = np.unique(dense(X[:, [k]]))
    are_whole = bool((distinct % 1 == 0).all())
    return are_whole and 2 < len(distinct) <= X.shape[0] / 2


def _unlabelled(data: _Checked) -> Iterator[Finding]:
    rows = np.flatnonzero(~data.ones.any(axis=1) & data.known.any(axis=1))
    yield Finding(
        "unlabelled-rows",
        "info",
        f"{count(len(rows), 'row')} without a label ({_listed(rows.tolist())}): ranking metrics"
        " skip them or count them by convention; make sure that no label means 'none' and not"
        " 'unknown'.",
        rows,
    )
    entries = np.argwhere(data.known == 0)
    if len(entries):
        row, label = entries[0]
        yield Finding(
            "unknown-labels",
            "info",
            f"{count(len(entries), 'cell')} of Y ({len(entries) / data.known.size:.1%}) unknown, the"
            f" first in row {row}, label {data.label_names[label]}: methods learn from the known"
            " ones, and metrics count these alone; write 0 where 'not given' means 'not relevant'.",
            entries,
        )
