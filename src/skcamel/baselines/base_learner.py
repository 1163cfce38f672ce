"""A classifier of the user's choice in place of the logistic engine: one clone for each problem."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from skcamel.arrays import Array
from skcamel.baselines.logistic import NotConverged
from skcamel.checks import check_count, check_positive


@contextmanager
def convergence_warning() -> Iterator[None]:
    """Turn the engine's warnings into a single ConvergenceWarning of scikit-learn."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    told = False
    for warning in caught:
        if not issubclass(warning.category, NotConverged):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif not told:
            told = True
            warnings.warn(str(warning.message), ConvergenceWarning, stacklevel=4)


def check_base_estimator(base: Any) -> None:
    """Refuse what cannot be cloned and fitted."""
    if base is not None and (isinstance(base, type) or not (hasattr(base, "fit") and hasattr(base, "predict"))):
        raise TypeError(
            f"base_estimator must be a scikit-learn classifier or None, got {base!r}; pass an instance, as in LogisticRegression(C=1.0)."
        )


def check_solver(max_iter: int, tol: float) -> None:
    """Refuse limits of the logistic solver that make no sense."""
    check_count("max_iter", max_iter)
    check_positive("tol", tol)


def fit_one(base: Any, X: Array, y: np.ndarray, counts: np.ndarray | None = None, weights: np.ndarray | None = None) -> Any:
    """A fitted clone, or the only class of y itself where there is no second one.

    A bootstrap is given by counts, as repeated rows, which every classifier understands; not every one takes weights.
    """
    if counts is not None:
        rows = np.repeat(np.arange(len(y)), counts.astype(int))
        X, y, weights = X[rows], y[rows], None if weights is None else weights[rows]
    if (y == y[0]).all():
        return int(y[0])
    return clone_fitted(base, X, y, weights)


def clone_fitted(base: Any, X: Array, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """A clone fitted on labels in {0, 1}; one that takes no weights is refused where there are some."""
    if weights is None:
        return clone(base).fit(X, y.astype(int))
    if not has_fit_parameter(base, "sample_weight"):
        raise ValueError(
            f"{base!r} takes no sample_weight; choose a classifier that does, or repeat rows, as by numpy.repeat(X, counts, 0)."
        )
    return clone(base).fit(X, y.astype(int), sample_weight=weights)


def positive_probability(model: Any, X: Array) -> np.ndarray:
    """P(y = 1 | row) of a model from :func:`fit_one`, (m,).

    A model without `predict_proba` is asked for its `decision_function` s; 1 / (1 + exp(-s)) keeps the order of the rows and
    puts 1/2 where s is 0. A model without either gives its decisions.
    """
    if isinstance(model, int):
        return np.full(X.shape[0], float(model))
    if hasattr(model, "predict_proba"):
        return class_one(model.predict_proba(X), model.classes_)
    if hasattr(model, "decision_function"):
        return expit(np.asarray(model.decision_function(X), dtype=np.float64))
    return np.asarray(model.predict(X), dtype=np.float64)


def class_one(P: Any, classes: Any) -> np.ndarray:
    """Column of class 1 of probabilities (m, number of classes); zeros where training knew no such class.

    Examples
    --------
    >>> class_one([[0.3, 0.7]], [0, 1]), class_one([[1.0]], [0])
    (array([0.7]), array([0.]))
    """
    where = np.flatnonzero(np.asarray(classes) == 1)
    return np.asarray(P)[:, where[0]] if len(where) else np.zeros(len(P))


def most_probable(model: Any, X: Array) -> np.ndarray:
    """The class of each row, (m,); among equally probable ones the lowest."""
    if isinstance(model, int):
        return np.full(X.shape[0], model)
    for name in ("predict_proba", "decision_function"):
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(X))
            best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
            return np.asarray(model.classes_)[best]
    return np.asarray(model.predict(X))
