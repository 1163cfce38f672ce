"""Defects of a data set that no reader notices: what each one does, and what to do about it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, dense
from skcamel.data.dataset import Dataset, as_features, as_labels, row_kinds

NAMED = 5  # places that a message lists
FEWEST = 5  # positives, and negatives: with fewer, a label may equal a feature by chance
BLOCK = 256  # features looked at together
GROUP_NAME = re.compile(
    r"(.*[\W_])?(group|patient|customer|client|user|subject|person|author|speaker|household|session"
    r"|document|doc|batch|site)([\W_]*(id|no|nr|number|key|name))?|.+[\W_]id",
    re.IGNORECASE,
)
# Of each code the severity, what names a place, what was found, and what it means.
FINDINGS = Path(__file__).with_name("findings.json")


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
        What was found, how often and where, why it matters, what to do.
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
        ``train-test-overlap``, ``train-test-copies``, ``empty-labels``, ``full-labels``,
        ``duplicate-labels``, ``opposite-labels``, ``copied-rows``, ``contradicting-rows``,
        ``group-columns``, ``constant-features``, ``unlabelled-rows``, ``unknown-labels``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(0, 3, size=40)]
    >>> X = np.column_stack([rng.normal(size=40), Y[:, 1]])
    >>> (finding,) = check_dataset(X, Y)
    >>> finding.code, finding.message[:63]
    ('label-in-features', 'features that repeat a label: 1 (feature f2 and label label2). ')
    """
    if isinstance(X, Dataset):
        data = X
    elif Y is None:
        raise ValueError("check_dataset needs the labels: check_dataset(X, Y), or a Dataset.")
    else:
        names = (feature_names or (), label_names or ())
        data = Dataset(X, as_labels(Y), *names, train=train, test=test)
    features = as_features(data.X)
    is_unknown = np.isnan(data.Y)
    truth = np.where(is_unknown, 0, 2 * data.Y - 1.0)  # (n, q) 1, -1, and 0 where unknown
    kinds = row_kinds(features)
    found: dict[str, Any] = {"unknown-labels": np.argwhere(is_unknown)}
    found["non-finite"] = non_finite_cells(features)
    found |= _in_features(data, features, truth)
    found["group-columns"] = _groups(features, data.feature_names)
    found |= _in_parts(data, kinds)
    found |= _in_labels(truth)
    found |= _in_rows(truth, kinds)
    texts = json.loads(FINDINGS.read_text(encoding="utf-8"))
    findings: list[Finding] = []
    for code, text in texts.items():
        places = np.asarray(found.get(code, ()), dtype=np.int64)
        if len(places):
            listed = _listed(places, text["place"], data)
            message = f"{text['what']}: {len(places):,} ({listed}). {text['advice']}"
            findings.append(Finding(code, text["severity"], message, places))
    return findings


def _listed(places: np.ndarray, kinds: Sequence[str], data: Dataset) -> str:
    """The first places, each a row, the name of a feature or label, or two of these."""
    names = {"feature": data.feature_names, "label": data.label_names, "row": range(data.n)}
    shown: list[str] = []
    first = places[:NAMED].reshape(-1, len(kinds))
    for place in first.tolist():
        words = [f"{kind} {names[kind][k]}" for kind, k in zip(kinds, place)]
        shown.append(" and ".join(words))
    if len(places) > NAMED:
        shown.append("…")
    return ", ".join(shown)


def non_finite_cells(X: Array) -> np.ndarray:
    """Rows and columns of the missing and infinite values of X (n, d), row by row, (k, 2)."""
    if not sparse.issparse(X):
        return np.argwhere(~np.isfinite(X))
    cells = X.tocoo()
    odd = ~np.isfinite(cells.data)
    rows, columns = cells.row[odd], cells.col[odd]
    return np.column_stack([rows, columns])


def _in_features(data: Dataset, X: Array, truth: np.ndarray) -> dict[str, Any]:
    """Features that repeat a label, and those that are constant."""
    constant: list[int] = []
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for start in range(0, data.d, BLOCK):
        values = dense(X[:, start : start + BLOCK])
        is_low = values == values.min(axis=0)
        is_high = values == values.max(axis=0)
        has_one = (is_low & is_high).all(axis=0)
        has_two = (is_low | is_high).all(axis=0)
        constant += (start + np.flatnonzero(has_one)).tolist()
        columns = np.flatnonzero(has_two & ~has_one)
        signs = np.where(is_high[:, columns], 1.0, -1.0)
        places = np.argwhere(_likeness(signs, truth, FEWEST))
        places[:, 0] = start + columns[places[:, 0]]
        pairs.append(places)
    return {"label-in-features": np.concatenate(pairs), "constant-features": constant}


def _groups(X: Array, names: Sequence[str]) -> list[int]:
    """Features with the name of a group, and whole numbers that repeat."""
    found: list[int] = []
    for k, name in enumerate(names):
        if GROUP_NAME.fullmatch(name):
            different = np.unique(dense(X[:, [k]]))
            are_whole = bool((different % 1 == 0).all())
            if are_whole and 2 < len(different) <= X.shape[0] / 2:
                found.append(k)
    return found


def _likeness(columns: np.ndarray, truth: np.ndarray, fewest: int) -> np.ndarray:
    """Which columns (n, c) of 1, -1 and 0 equal a label in all rows that know both, (c, q).

    1 where they do, -1 where they are opposite. Only labels with so many positives and negatives in
    these rows count, for others it is 0.
    """
    in_column = abs(columns).T
    known = in_column @ abs(truth)
    positives = in_column @ (truth > 0)
    counts = np.minimum(positives, known - positives) >= fewest
    agreement = columns.T @ truth
    is_whole = abs(agreement) == known
    return np.where(counts & is_whole, np.sign(agreement), 0)


def _in_parts(data: Dataset, kinds: np.ndarray) -> dict[str, Any]:
    """Test rows that are training rows, or copies of some."""
    if data.train is None or data.test is None:
        return {}
    both = np.intersect1d(data.train, data.test)
    others = np.setdiff1d(data.test, both)
    copies = others[np.isin(kinds[others], kinds[data.train])]
    return {"train-test-overlap": both, "train-test-copies": copies}


def _in_labels(truth: np.ndarray) -> dict[str, Any]:
    """Labels that are constant, equal or opposite."""
    has_yes = (truth > 0).any(axis=0)
    has_no = (truth < 0).any(axis=0)
    fewest = 1 if truth.all() else FEWEST  # few rows that know both may agree by chance
    alike = np.triu(_likeness(truth, truth, fewest), 1)
    is_full = has_yes & ~has_no
    return {
        "empty-labels": np.flatnonzero(~has_yes),
        "full-labels": np.flatnonzero(is_full),
        "duplicate-labels": np.argwhere(alike > 0),
        "opposite-labels": np.argwhere(alike < 0),
    }


def _in_rows(truth: np.ndarray, kinds: np.ndarray) -> dict[str, Any]:
    """Rows that are copies, that contradict others, and that have no label."""
    wholes = row_kinds(kinds[:, None], truth)
    _, first = np.unique(wholes, return_index=True)
    rows = np.arange(len(kinds))
    has_yes = np.zeros(truth.shape, dtype=bool)  # of each kind of row
    has_no = np.zeros_like(has_yes)
    np.logical_or.at(has_yes, kinds, truth > 0)
    np.logical_or.at(has_no, kinds, truth < 0)
    clashes = np.flatnonzero((has_yes & has_no).any(axis=1))
    has_known = truth.any(axis=1)
    is_empty = has_known & (truth <= 0).all(axis=1)
    return {
        "copied-rows": np.setdiff1d(rows, first),
        "contradicting-rows": np.flatnonzero(np.isin(kinds, clashes)),
        "unlabelled-rows": np.flatnonzero(is_empty),
    }
