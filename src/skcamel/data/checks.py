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
from skcamel.data.dataset import Dataset, as_features, row_kinds

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
        Indices from 0: of rows, of labels, of features, or pairs of them, one per row. The message
        counts rows from 1.
    """

    code: str
    severity: str
    message: str
    where: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}  [{self.code}]"


def check_dataset(X: Array | Dataset, Y: Array | None = None, **more: Any) -> list[Finding]:
    """Look for defects in a data set, the gravest first.

    Parameters
    ----------
    X : Dataset; or array, sparse matrix or frame of shape (n, d)
    Y : labels of shape (n, q) in {0, 1}, {-1, +1} or bool, NaN where unknown
    **more
        With X and Y, what a :class:`Dataset` takes too: `train` and `test`, parts that are
        compared with each other; `feature_names` and `label_names`, for the messages.

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
    data = X if isinstance(X, Dataset) else Dataset(X, Y, **more)
    features = as_features(data.X)
    is_unknown = np.isnan(data.Y)
    truth = np.where(is_unknown, 0, 2 * data.Y - 1.0)  # (n, q) 1, -1, and 0 where unknown
    kinds = row_kinds(features)
    places = {
        "unknown-labels": np.argwhere(is_unknown),
        "non-finite": non_finite_cells(features),
        "group-columns": _groups(features, data.feature_names),
        **_in_features(features, truth),
        **_in_parts(data, kinds),
        **_in_labels(truth),
        **_in_rows(truth, kinds),
    }
    texts = json.loads(FINDINGS.read_text(encoding="utf-8"))
    findings: list[Finding] = []
    for code, text in texts.items():
        where = np.asarray(places.get(code, ()), dtype=np.int64)
        if len(where):
            listed = _listed(where, text["place"], data)
            message = f"{text['what']}: {len(where):,} ({listed}). {text['advice']}"
            findings.append(Finding(code, text["severity"], message, where))
    return findings


def _listed(places: np.ndarray, kinds: Sequence[str], data: Dataset) -> str:
    """The first places, each a row, the name of a feature or label, or two of these."""
    names = {"feature": data.feature_names, "label": data.label_names, "row": range(1, data.n + 1)}
    shown: list[str] = []
    for place in places.reshape(-1, len(kinds))[:NAMED].tolist():
        words = [f"{kind} {names[kind][k]}" for kind, k in zip(kinds, place)]
        shown.append(" and ".join(words))
    more = ", …" * (len(places) > NAMED)
    base = "; the first row is 1" * ("row" in kinds)
    return ", ".join(shown) + more + base


def non_finite_cells(X: Array) -> np.ndarray:
    """Rows and columns of the missing and infinite values of X (n, d), row by row, (k, 2)."""
    if not sparse.issparse(X):
        return np.argwhere(~np.isfinite(X))
    cells = X.tocoo()
    places = np.column_stack([cells.row, cells.col])
    return places[~np.isfinite(cells.data)]


def _in_features(X: Array, truth: np.ndarray) -> dict[str, Any]:
    """Features that repeat a label, and those that are constant."""
    constant: list[int] = []
    repeating = [np.empty((0, 2), dtype=np.int64)]
    for start in range(0, X.shape[1], BLOCK):
        values = dense(X[:, start : start + BLOCK])
        is_high = values == values.max(axis=0)
        is_low = values == values.min(axis=0)
        columns = np.flatnonzero((is_low != is_high).all(axis=0))  # of two values
        signs = np.where(is_high[:, columns], 1.0, -1.0)
        features, labels = np.nonzero(_likeness(signs, truth, FEWEST))
        repeating.append(np.column_stack([start + columns[features], labels]))
        has_one = (is_low & is_high).all(axis=0)
        constant += (start + np.flatnonzero(has_one)).tolist()
    return {"label-in-features": np.concatenate(repeating), "constant-features": constant}


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
    wholes = row_kinds(np.column_stack([kinds, truth]))
    _, first = np.unique(wholes, return_index=True)
    highest = np.zeros_like(truth)  # of each kind of row
    lowest = np.zeros_like(truth)
    np.maximum.at(highest, kinds, truth)
    np.minimum.at(lowest, kinds, truth)
    clashes = (highest - lowest == 2).any(axis=1)
    is_empty = truth.any(axis=1) & (truth <= 0).all(axis=1)
    return {
        "copied-rows": np.setdiff1d(np.arange(len(kinds)), first),
        "contradicting-rows": np.flatnonzero(clashes[kinds]),
        "unlabelled-rows": np.flatnonzero(is_empty),
    }
