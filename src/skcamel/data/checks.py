"""Defects of a data set that no reader notices: what each one does, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, default_names
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
HARDLY_RELATED = 0.5  # correlation of a feature and a label
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
    features, labels = as_features(X), as_labels(Y)
    (n, d), q = features.shape, labels.shape[1]
    check_same_rows(features, labels)
    data = _Checked(
        features,
        (labels == 1).astype(np.float64),
        (labels == labels).astype(np.float64),
        row_kinds(features),
        row_numbers(train, n, "train"),
        row_numbers(test, n, "test"),
        default_names("f", d) if feature_names is None else tuple(feature_names),
        default_names("label", q) if label_names is None else tuple(label_names),
    )
    checks = (
        _non_finite,
        _label_in_features,
        _overlap,
        _constant_labels,
        _equal_labels,
        _equal_rows,
        _features,
        _unlabelled,
    )
    found = [finding for check in checks for finding in check(data)]
    return sorted(found, key=lambda finding: GRAVITY.index(finding.severity))


def _listed(words: Sequence[object]) -> str:
    """The first words, and how many more there are."""
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(map(str, words[:NAMED])) + more


def _names(names: Sequence[str], which: np.ndarray) -> str:
    return _listed([names[k] for k in which.tolist()])


def _non_finite(data: _Checked) -> Iterator[Finding]:
    if sparse.issparse(data.X):
        stored = data.X.tocoo()
        bad = ~np.isfinite(stored.data)
        cells = np.column_stack([stored.row[bad], stored.col[bad]])
        infinite = int(np.isinf(stored.data).sum())
    else:
        cells = np.argwhere(~np.isfinite(data.X))
        infinite = int(np.isinf(data.X).sum())
    if len(cells):
        row, column = cells[0]
        yield Finding(
            "non-finite",
            "warning",
            f"{count(len(cells) - infinite, 'missing cell')} and {infinite} infinite in X, the first"
            f" in row {row}, feature {data.feature_names[column]}: kernels refuse them; impute them"
            " (sklearn.impute) or drop those rows.",
            cells,
        )


def _label_in_features(data: _Checked) -> Iterator[Finding]:
    n = data.X.shape[0]
    whole = _features_like_labels(data, np.arange(n))
    halves = {"first": np.arange(n // 2), "second": np.arange(n // 2, n)}
    found = [("", whole)]
    for part, rows in halves.items():
        pairs = _unrelated_elsewhere(data, _features_like_labels(data, rows), rows)
        new = [pair for pair in pairs.tolist() if pair not in whole.tolist()]
        where = f" in the {part} half of the rows only"
        found.append((where, np.array(new, dtype=np.int64).reshape(-1, 2)))
    for where, pairs in found:
        if not len(pairs):
            continue
        named = [f"{data.feature_names[k]} = {data.label_names[j]}" for k, j in pairs.tolist()]
        repeats = "1 feature repeats" if len(pairs) == 1 else f"{len(pairs)} features repeat"
        hint = (
            "two files with different columns were probably joined; compare the columns of both"
            " halves, and drop what is no feature."
            if where
            else "whatever is trained on it is given the answer; drop it."
        )
        message = f"{repeats} a label{where} ({_listed(named)}): {hint}"
        yield Finding("label-in-features", "error", message, pairs)


def _overlap(data: _Checked) -> Iterator[Finding]:
    if data.train is None or data.test is None:
        return
    both = np.intersect1d(data.train, data.test)
    others = np.setdiff1d(data.test, both)
    copies = others[np.isin(data.kinds[others], data.kinds[data.train])]
    if len(both):
        yield Finding(
            "train-test-overlap",
            "error",
            f"{len(both)} of {len(data.test)} test rows also in the training part (row"
            f" {_listed(both.tolist())}): the test is too easy; take them out of one part.",
            both,
        )
    if len(copies):
        yield Finding(
            "train-test-overlap",
            "warning",
            f"{len(copies)} of {len(data.test)} test rows with the features of a training row (row"
            f" {_listed(copies.tolist())}): the test is easier than new data; remove duplicates, or"
            " split with groups=.",
            copies,
        )


def _constant_labels(data: _Checked) -> Iterator[Finding]:
    positives, known = data.ones.sum(axis=0), data.known.sum(axis=0)
    kinds = (
        ("empty-labels", "no positive row", positives == 0),
        ("full-labels", "every row positive", (positives == known) & (positives > 0)),
    )
    for code, what, is_constant in kinds:
        labels = np.flatnonzero(is_constant)
        if len(labels):
            yield Finding(
                code,
                "warning",
                f"{count(len(labels), 'label')} with {what} ({_names(data.label_names, labels)}):"
                " nothing can be learned, and macro averages depend on a convention; leave it out,"
                " or state the convention.",
                labels,
            )


def _equal_labels(data: _Checked) -> Iterator[Finding]:
    some_unknown = not data.known.all()
    fewest = FEWEST_POSITIVES if some_unknown else 1  # constant labels have their own check
    equal, opposite = _alike(data.ones, data.known, data.ones, data.known, fewest)
    rows = "every row that knows both" if some_unknown else "every row"
    for how, code, found in (
        ("equal", "duplicate-labels", equal),
        ("opposite", "opposite-labels", opposite),
    ):
        pairs = found[found[:, 0] < found[:, 1]]
        if len(pairs):
            named = [f"{data.label_names[i]} and {data.label_names[j]}" for i, j in pairs.tolist()]
            yield Finding(
                code,
                "warning",
                f"{count(len(pairs), 'pair')} of labels {how} in {rows} ({_listed(named)}): one of"
                " the two is redundant; drop it.",
                pairs,
            )


def _equal_rows(data: _Checked) -> Iterator[Finding]:
    n_kinds = int(data.kinds.max(initial=-1)) + 1
    cells = (np.ones(len(data.kinds)), (data.kinds, np.arange(len(data.kinds))))
    of_kind = sparse.csr_array(cells, shape=(n_kinds, len(data.kinds)))
    zeros = data.known - data.ones
    clashes = ((of_kind @ data.ones) * (of_kind @ zeros)).any(
        axis=1
    )  # an unknown label clashes not
    contradicting = np.flatnonzero(clashes[data.kinds])
    wholes = row_kinds(data.kinds[:, None], data.ones - (1 - data.known))
    copies = np.setdiff1d(np.arange(len(wholes)), np.unique(wholes, return_index=True)[1])
    if len(copies):
        yield Finding(
            "copied-rows",
            "info",
            f"{count(len(copies), 'row')} with features and labels of an earlier row"
            f" ({_listed(copies.tolist())}): leave-one-out and folds then judge on rows that were"
            " seen, and are too good; drop copies, or keep them together by groups.",
            copies,
        )
    if len(contradicting):
        yield Finding(
            "contradicting-rows",
            "info",
            f"{count(len(contradicting), 'row')} ({_listed(contradicting.tolist())}) share their"
            " features with a row of other labels: no method can get all of them right; merge them,"
            " or keep them as noise.",
            contradicting,
        )


def _features(data: _Checked) -> Iterator[Finding]:
    constant = constant_columns(data.X)
    if len(constant):
        yield Finding(
            "constant-features",
            "info",
            f"{count(len(constant), 'feature')} with the same value in every row"
            f" ({_names(data.feature_names, constant)}): standardising divides by zero there; drop"
            " them (sklearn.feature_selection.VarianceThreshold).",
            constant,
        )
    named = [k for k, name in enumerate(data.feature_names) if GROUP_NAME.fullmatch(name)]
    groups = np.array([k for k in named if _repeats(data.X, k)], dtype=np.int64)
    if len(groups):
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
    values = X[:, [k]].toarray().ravel() if sparse.issparse(X) else X[:, k]
    distinct = np.unique(values)
    return bool((distinct % 1 == 0).all()) and 2 < len(distinct) <= len(values) / 2


def _unlabelled(data: _Checked) -> Iterator[Finding]:
    rows = np.flatnonzero(~data.ones.any(axis=1) & data.known.any(axis=1))
    if len(rows):
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


def _alike(
    columns: Any,
    known_columns: np.ndarray | None,
    labels: np.ndarray,
    known: np.ndarray,
    fewest: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (column, label) that are equal, and those that are opposite, in all rows that know both; (pairs, 2) each.

    Only labels with at least so many positives and negatives among those rows tell. All columns are
    known if `known_columns` is None.
    """
    both = columns.T @ labels  # rows with a one in the column and in the label
    marked = columns.T @ known
    positives, rows = labels.sum(axis=0), known.sum(axis=0)
    if known_columns is not None:
        positives, rows = known_columns.T @ labels, known_columns.T @ known
    tells = np.minimum(positives, rows - positives) >= fewest
    equal = tells & (both == marked) & (both == positives)
    opposite = tells & (both == 0) & (marked + positives == rows)
    return np.argwhere(equal), np.argwhere(opposite)


def _features_like_labels(data: _Checked, rows: np.ndarray) -> np.ndarray:
    """Pairs (feature, label) where a two-valued feature is equal or opposite to a label in the given rows that know it, (pairs, 2)."""
    indicators, columns = _two_valued(data.X, rows)
    found = _alike(indicators, None, data.ones[rows], data.known[rows], FEWEST_POSITIVES)
    pairs = np.concatenate(found)
    pairs[:, 0] = columns[pairs[:, 0]]
    return np.unique(pairs, axis=0)


def _unrelated_elsewhere(data: _Checked, pairs: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Pairs (feature, label) that are hardly related in the other rows.

    A feature that predicts a label everywhere, with a few exceptions, is a good feature and not
    meant.
    """
    others = np.setdiff1d(np.arange(len(data.ones)), rows)
    kept: list[list[int]] = []
    for feature, label in pairs.tolist():
        judged = others[data.known[others, label] > 0]
        values = data.X[judged][:, [feature]]
        values = values.toarray() if sparse.issparse(values) else values
        if abs(_correlation(values.ravel(), data.ones[judged, label])) <= HARDLY_RELATED:
            kept.append([feature, label])
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def _two_valued(X: Array, rows: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Ones where a two-valued feature has one of its values, zeros where it has the other; and the columns of X they come from."""
    if not len(rows):
        return sparse.csr_array((0, 0)), np.arange(0)
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
    chosen.data = (chosen.data == marked[chosen.indices]).astype(np.float64)
    chosen.eliminate_zeros()
    return chosen, columns


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation, 0 where one side is constant."""
    if not len(a) or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
