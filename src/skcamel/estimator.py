"""What every estimator of this package answers, whatever it learned: all answers come from one evaluation of its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array, to_match
from skcamel.inputs import check_labels
from skcamel.kernel import len_of
from skcamel.outputs import Outputs
from skcamel.selection.thresholds import Rule


def _offers_probabilities(estimator: Any) -> bool:
    return estimator._has_probabilities()


class MultiLabelClassifier(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """An estimator that scores labels; a subclass gives `outputs`, and says in `_has_probabilities` whether they have any."""

    threshold: Any  # parameters of every subclass
    threshold_metric: str | None

    def __sklearn_tags__(self) -> Any:
        """Multi-label, also single-label; sparse rows."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = True
        return tags

    def _has_probabilities(self) -> bool:
        return False

    def _rule(self) -> Rule:
        return Rule(self.threshold, self.threshold_metric)

    def outputs(self, X: Array) -> Outputs:
        """Scores, decisions, probabilities, label sets and ranks from one evaluation of the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n_train) for a precomputed kernel

        Returns
        -------
        Outputs
            With numpy arrays, also where X is a tensor.
        """
        raise NotImplementedError

    def decision_function(self, X: Array) -> Array:
        """Scores of every label; a label is predicted where its score exceeds its threshold.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n_train) for a precomputed kernel

        Returns
        -------
        array of shape (m, q), or (m,) after a fit on a binary 1-d y
            A tensor on the device of X where X is a tensor.
        """
        return to_match(self.outputs(X).decision_values, X)

    def predict(self, X: Array) -> Array:
        """Decisions: int64 {0, 1} of shape (m, q), or classes of shape (m,) after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        return to_match(self.outputs(X).predictions, X)

    @available_if(_offers_probabilities)
    def predict_proba(self, X: Array) -> Array:
        """Probability of every label, above ½ only where its score is above 0.

        It does not depend on the thresholds: a tuned threshold may predict a label whose probability is below ½, as it should
        where F1 counts.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), or (m, number of classes) after a fit on a binary 1-d y
        """
        return to_match(self.outputs(X).class_probabilities, X)

    def label_sets(self, X: Array) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row; the predicted class after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        return self.outputs(X).label_sets

    def top_k(self, X: Array, k: int) -> Array:
        """Positions of the `k` labels with the highest scores, highest first: int64 (m, k).

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        k : int
            At most the number of labels.
        """
        return to_match(self.outputs(X).top(k), X)

    def score(self, X: Array, y: Array, sample_weight: Array | None = None) -> float:
        """Share of rows whose labels are all right (scikit-learn's subset accuracy), also for labels in {-1, +1}.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        y : array of shape (m, q) or (m,)
        sample_weight : array of shape (m,), default=None
        """
        check_is_fitted(self)
        if self._target == "matrix":
            y = (check_labels(y, len_of(y)).Y > 0).astype(np.int64)
        return super().score(X, y, sample_weight=sample_weight)
