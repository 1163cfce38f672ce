"""What the methods share: checks, scores F - 1/2, and thresholds tuned on inner folds."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy import ndarray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import has_fit_parameter

from skcamel.arrays import Array, MaybeArray, dense
from skcamel.camel.outputs import MultiLabelClassifier, Outputs
from skcamel.camel.thresholds import WORDS, check_threshold, is_tuned, thresholds
from skcamel.checks import (
    check_groups,
    check_labels,
    check_rows,
    check_weights,
    unchanged_on_error,
    warn_of_constant_labels,
)

SMALLEST = float(np.finfo(np.float64).tiny)  # of the positive numbers that lose no digits
INNER_FOLDS = 5


class Training(NamedTuple):
    """What a method learns from."""

    X: Array  # (n, d)
    Y: ndarray  # (n, q) in {0, 1}, NaN where unknown
    weights: ndarray | None  # (n,)
    groups: ndarray | None = None  # (n,)

    def rows(self, which: ndarray) -> Training:
        """Some of the rows, by numbers or as a mask."""
        if which.dtype == bool and which.all():
            return self
        weights = None if self.weights is None else self.weights[which]
        groups = None if self.groups is None else self.groups[which]
        return Training(self.X[which], self.Y[which], weights, groups)

    def with_weight(self) -> Training:
        """The rows that have weight."""
        return self if self.weights is None else self.rows(self.weights > 0)


@dataclass(eq=False, repr=False)  # fields are the parameters, as in its subclasses
class Baseline(MultiLabelClassifier):
    """A method that rates labels by F (m, q); its scores are F - 1/2.

    A subclass checks its parameters in `_check_parameters`, learns in `_learn(data)` from float64
    rows (array or CSR) with positive weights or None, and answers with F in `_confidences(X)`.
    """

    _: KW_ONLY
    threshold: float | str | Array = "zero"
    THRESHOLDS: ClassVar[tuple[str, ...]] = WORDS
    PROBABILISTIC: ClassVar[bool] = False  # whether F is a probability
    TAKES_UNKNOWN: ClassVar[bool] = False  # whether labels may be unknown (NaN)

    def __sklearn_tags__(self) -> Any:
        """Multi-label; sparse rows."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_threshold(self.threshold, self.THRESHOLDS)

    def _learn(self, data: Training) -> None:
        raise NotImplementedError

    def _confidences(self, X: Array) -> ndarray:
        raise NotImplementedError

    def _has_probabilities(self) -> bool:
        """Not for a 1-d y of several classes, where F does not add up to one."""
        return self.PROBABILISTIC and getattr(self, "_target", "multiclass") != "multiclass"

    def fit(
        self,
        X: Array,
        y: Array,
        sample_weight: MaybeArray = None,
        groups: MaybeArray = None,
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d)
        y : array, sparse matrix or frame of shape (n, q)
            Labels Y in {0, 1} or {-1, +1}; column names of a frame are kept. A 1-d y of classes is
            accepted too. NaN, None or NA marks unknown labels; what a method makes of them stands
            in its notes. A label without a known entry is never predicted.
        sample_weight : array of shape (n,), default=None
            An integer weight equals that many copies of the row, except for what is drawn at
            random: bootstrap samples and folds. Penalties and tolerances are measured against these
            copies, so give numbers near 1.
        groups : array of shape (n,), default=None
            Rows of a group stay in one inner fold where thresholds or penalties are chosen.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            rows = check_rows(self, X, reset=True, pairwise=False)
            labels = check_labels(y, rows.shape[0])
            weights = check_weights(sample_weight, rows.shape[0])
            unknown = np.isnan(labels.Y)
            if unknown.any() and not self.TAKES_UNKNOWN:
                raise ValueError(
                    f"Y has {unknown.sum()} unknown entries (NaN), and {type(self).__name__} needs"
                    " every label of a row; drop those rows, or use BinaryRelevance, which learns"
                    " each label from the rows where it is known."
                )
            warn_of_constant_labels(labels, weights)
            self.classes_ = labels.classes
            self.label_names_ = labels.names
            self._target = labels.target
            relevant = labels.Y > 0
            if groups is not None:
                groups = check_groups(groups, relevant)
            Y = np.where(unknown, np.nan, relevant)
            found = self._learn_all(Training(rows.astype(np.float64), Y, weights, groups))
            self.thresholds_ = np.where(unknown.all(axis=0), np.maximum(found, 0.0), found)
        return self

    def _learn_all(self, data: Training) -> ndarray:
        """Learn from the rows that have weight, and return the thresholds, (q,)."""
        data = data.with_weight()
        self._learn(data)
        return self._thresholds(data)

    def _thresholds(self, data: Training) -> ndarray:
        """Thresholds of the labels, (q,); tuned ones come from the scores of inner folds."""
        scores = data.Y
        if is_tuned(self.threshold):
            scores = self._left_out_scores(data)
        known = ~np.isnan(data.Y)
        weights = data.weights
        if not known.all():
            weights = known * (1.0 if weights is None else weights[:, None])
        return thresholds(self.threshold, data.Y > 0, np.where(known, scores, 0.0), weights)

    def _left_out_scores(self, data: Training) -> ndarray:
        """Score of every row by a model that learned without its fold, (n, q)."""
        n = len(data.Y) if data.groups is None else len(np.unique(data.groups))
        if n < 2:
            raise ValueError(
                f"threshold={self.threshold!r} is tuned on inner folds, which need at least 2 rows"
                f" or groups, got n_samples = {n}; use threshold='zero'."
            )
        seed = getattr(self, "random_state", None)
        if seed is None:
            seed = 0
        kind = KFold if data.groups is None else GroupKFold
        folds = kind(min(INNER_FOLDS, n), shuffle=True, random_state=seed)
        scores = np.empty(data.Y.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all rows has warned
            for train, test in folds.split(data.Y, groups=data.groups):
                model = copy(self)
                model._learn(data.rows(train))
                scores[test] = model._scores_of(model._confidences(data.X[test]))
        return scores

    def _scores_of(self, F: ndarray) -> ndarray:
        return in_order(F) if self._has_probabilities() else half_less(F)

    def _outputs(self, X: Array) -> Outputs:
        rows = check_rows(self, X, reset=False, pairwise=False)
        F = self._confidences(rows.astype(np.float64))
        link = None
        if self._has_probabilities():
            link = partial(_given, F)
        scores = self._scores_of(F)
        answers = (self.thresholds_, self.label_names_, self.classes_, self._target)
        return Outputs(scores, *answers, link)


def _given(F: ndarray, _scores: ndarray) -> ndarray:
    """Probabilities as they are: scores hold fewer digits."""
    return F


@dataclass(eq=False, repr=False)
class WithThresholds(Baseline):
    """One classifier for all labels together, such as a forest, with thresholds as other methods.

    The estimator has a `predict_proba` for label matrices, in any form of scikit-learn, or sparse
    as in scikit-multilearn.

    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> forest = ExtraTreesClassifier(10, random_state=0)
    >>> WithThresholds(forest, threshold="macro_f1").fit(X, Y).predict(X).shape
    (60, 3)
    """

    estimator: Any
    PROBABILISTIC = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator must be a classifier with predict_proba, got {self.estimator!r}; pass"
                " an instance, as in ExtraTreesClassifier(500), or use BinaryRelevance, which"
                " needs no probabilities."
            )

    def _learn(self, data: Training) -> None:
        y = data.Y[:, 0] if data.Y.shape[1] == 1 else data.Y
        self.estimator_ = clone_fitted(self.estimator, data.X, y, data.weights)

    def _confidences(self, X: Array) -> ndarray:
        given = self.estimator_.predict_proba(X)
        if isinstance(given, list):
            pairs = zip(given, self.estimator_.classes_, strict=True)
            return np.column_stack([class_one(P, classes) for P, classes in pairs])
        if len(self.label_names_) == 1:
            return class_one(given, self.estimator_.classes_)[:, None]
        return np.asarray(dense(given))


def half_less(F: ndarray) -> ndarray:
    """Scores F - 1/2; 0 becomes the smallest positive number.

    >>> half_less(np.array([0.25, 0.5, 1.0])) > 0
    array([False,  True,  True])
    """
    scores = F - 0.5
    scores[scores == 0] = SMALLEST
    return scores


def in_order(P: ndarray) -> ndarray:
    """Scores P - 1/2 in the order of the probabilities P: 1e-12 log(2P) is added.

    Else small ones would all be rounded to -1/2.

    >>> np.argsort(in_order(np.array([1e-20, 1e-30, 0.0, 0.5])))
    array([2, 1, 0, 3])
    """
    return half_less(P) + 1e-12 * np.log(2 * np.maximum(P, SMALLEST))


def beside(X: Array, columns: ndarray) -> Array:
    """Rows with columns appended; sparse rows stay sparse."""
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(columns)], format="csr")
    return np.hstack([X, columns])


def clone_fitted(base: Any, X: Array, y: ndarray, weights: ndarray | None) -> Any:
    """A clone fitted on labels in {0, 1}; ValueError if there are weights and it takes none."""
    given = {}
    if weights is not None:
        given["sample_weight"] = weights
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"{base!r} takes no sample_weight; choose a classifier that does, or repeat rows,"
                " as by numpy.repeat(X, counts, 0)."
            )
    return clone(base).fit(X, y.astype(int), **given)


def class_one(P: Any, classes: Any) -> ndarray:
    """Column of class 1 of probabilities (m, number of classes); zeros without such a class.

    >>> class_one([[0.3, 0.7]], [0, 1]), class_one([[1.0]], [0])
    (array([0.7]), array([0.]))
    """
    where = np.flatnonzero(np.asarray(classes) == 1)
    if not len(where):
        return np.zeros(len(P))
    return np.asarray(P)[:, where[0]]
