"""A model and labelled rows ► its outputs, how good they are, and what simple methods reach."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel.arrays import default_names, order_by_name
from skcamel.baselines import BinaryRelevance
from skcamel.camel.outputs import Outputs
from skcamel.checks import check_labels
from skcamel.data import Dataset
from skcamel.data.pipeline import final, prepared, transformers
from skcamel.metrics import evaluate, report
from skcamel.text import count

FOLDS = 5  # of the logistic baseline
MOST_WORK = 50_000_000  # rows x features x labels for which it is fitted; some ten seconds
BY_POSITION = "Names of labels or features differ from those of the model: matched by position."


class Quality(NamedTuple):
    """How good some decisions are."""

    metrics: Mapping[str, float]  # the seven
    labels: Mapping[str, np.ndarray]  # positives, precision, recall, f1 and others; (q,) each
    precision: float  # share of the decisions for a label that are right, over all labels
    recall: float  # share of the labels of the rows that are predicted


def quality(metrics: Mapping[str, float], labels: Mapping[str, np.ndarray]) -> Quality:
    """Sum up figures of labels."""
    right = np.nan_to_num(labels["recall"] * labels["positives"])
    predicted = labels.get("predicted")
    if predicted is None:
        predicted = right / np.where(right > 0, labels["precision"], 1.0)
    precision = right.sum() / max(predicted.sum(), 1e-300)
    recall = right.sum() / max(labels["positives"].sum(), 1e-300)
    return Quality(metrics, labels, float(precision), float(recall))


def judged(truth: np.ndarray, scores: np.ndarray, decisions: np.ndarray) -> Quality:
    """Judge scores and decisions, (m, q) each, by the truth; NaN where that is unknown."""
    rows = list(report(truth, decisions))
    keys = ("positives", "predicted", "precision", "recall", "f1")
    labels = {key: np.array([row[key] for row in rows], dtype=np.float64) for key in keys}
    return quality(evaluate(truth, scores, decisions), labels)


class Evaluated(NamedTuple):
    """A model applied to rows whose labels are in the order of the model."""

    given: Any  # the rows as they came
    rows: Any  # the rows as the final estimator sees them
    truth: np.ndarray  # (m, q) in 0 and 1; NaN where unknown
    outputs: Outputs
    name: str
    note: str  # how labels and features were matched, where it needs saying
    ids: list[str]  # columns that name the rows
    features: Sequence[str]  # names of the columns of a matrix
    unit: str  # what scores are

    @property
    def known(self) -> np.ndarray:
        """Which labels are known, (m, q)."""
        return ~np.isnan(self.truth)

    @property
    def described(self) -> str:
        """The rows in words."""
        rows = count(len(self.truth), "row")
        return f"{rows} of {self.name}" if self.name else rows

    def mean_of(self, values: np.ndarray) -> np.ndarray:
        """Mean of values (m, q) over the rows that know the label, (q,); NaN where none does."""
        return np.ma.array(values, mask=~self.known).mean(axis=0).filled(np.nan)

    def cells(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Cells of some rows of a frame or matrix, by the names of their columns."""
        given: Any = self.given
        if hasattr(given, "iloc"):
            return given.iloc[rows].to_dict("records")
        if hasattr(given, "to_pylist"):
            return given.take(rows).to_pylist()
        if hasattr(given, "to_dicts"):
            return given[rows].to_dicts()
        if not hasattr(given, "shape"):  # texts
            return [{"text": given[row]} for row in rows]
        part = sparse.csr_array(given[rows]).toarray()
        return [dict(zip(self.features, row, strict=True)) for row in part.tolist()]

    def title(self, row: int) -> str:
        """The number of a row, from 1, and its id where it has one."""
        (cells,) = self.cells([row])
        return ", ".join([f"row {row + 1}", *(str(cells[name]) for name in self.ids)])


def evaluated(model: Any, data: Any) -> Evaluated:
    """Apply a fitted model to a Dataset, or to a pair (X, Y) of whatever the model takes.

    Labels, and features of a Dataset, are matched by name, else by position.
    """
    estimator: Any = final(model)
    names = [str(name) for name in estimator.label_names_]
    features = getattr(estimator, "feature_names_in_", None)
    by_name = True
    if isinstance(data, Dataset):
        given, by_name = _features_of(model, data)
        Y, theirs = data.Y, list(data.label_names)
    else:
        given, Y = data
        theirs = [str(name) for name in getattr(Y, "columns", names)]
    rows = prepared(model, given)
    outputs = estimator.outputs(rows)
    classes = None if outputs.target == "matrix" else outputs.classes
    signs = check_labels(Y, rows.shape[0], classes=classes).Y
    truth = np.where(np.isnan(signs), np.nan, signs > 0)
    if truth.shape[1] != len(names):
        raise ValueError(
            f"The data has {truth.shape[1]} labels but the model {len(names)}; give the data that"
            " the model was made for."
        )
    order = order_by_name(theirs, names)
    if order is not None:
        truth = truth[:, order]
    note = "" if by_name and order is not None else BY_POSITION
    ids = [name for step in transformers(model) for name in getattr(step, "id_columns_", ())]
    if features is None:
        features = default_names("f", np.shape(given)[-1])
    name = getattr(data, "name", "")
    unit = "log-odds" if estimator.scores_ == "log_odds" else "score"
    return Evaluated(given, rows, truth, outputs, name, note, ids, features, unit)


def _features_of(model: Any, dataset: Dataset) -> tuple[Any, bool]:
    """Rows of a Dataset as the model takes them, and whether their columns have its names.

    A Pipeline that was fitted on a frame gets one: its steps may choose columns by name.
    """
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return dataset.X, True
    order = order_by_name(list(dataset.feature_names), list(known))
    X = dataset.X if order is None else dataset.X[:, order]
    if model is not final(model) and not sparse.issparse(X):
        import pandas as pd

        X = pd.DataFrame(X, columns=known)
    return X, order is not None


def rival_of(found: Evaluated) -> Quality | None:
    """What logistic regression reaches on the same rows; None where it was not fitted."""
    scores = _logistic_scores(found)
    if scores is None:
        return None
    decisions = scores > 0
    if found.outputs.target == "multiclass":  # the best alone
        decisions = scores == scores.max(axis=1, keepdims=True)
    return judged(found.truth, scores, decisions.astype(np.int64))


def _logistic_scores(found: Evaluated) -> np.ndarray | None:
    """Scores of logistic regression, one for each label, in cross-validation on the same rows.

    None where that would take long, or where there are too few rows.
    """
    m, q = found.truth.shape
    if m < 2 * FOLDS or m * found.rows.shape[1] * q > MOST_WORK:
        return None
    X = found.rows if sparse.issparse(found.rows) else np.asarray(found.rows)
    model = make_pipeline(
        StandardScaler(with_mean=False), BinaryRelevance(base_estimator=LogisticRegression())
    )
    scores = np.empty((m, q))
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(scores):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that a fold lacks are no news here
            model.fit(X[train], found.truth[train])
        scores[test] = model.decision_function(X[test]).reshape(len(test), q)
    return scores
