"""Scores ► decisions, probabilities, label sets and ranks, from one evaluation of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array, by_name, to_match, to_numpy
from skcamel.camel.distributed import by_partition
from skcamel.camel.link import SetThresholds
from skcamel.checks import check_labels, check_number
from skcamel.metrics.seven import best_labels
from skcamel.names import without

NO_SETS = (
    "Prediction sets come from leave-one-out scores, which this model does not have; use"
    " CamelClassifier or CamelClassifierCV."
)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Everything that a fitted model predicts for some rows.

    Parameters
    ----------
    scores : float array of shape (m, q)
        Higher is more likely.
    thresholds : array of shape (q,)
        Threshold of each label.
    label_names : array of shape (q,)
    classes : array
        ``arange(q)`` for label matrices, the classes of a 1-d y.
    target : {"matrix", "binary", "multiclass"}
        What the model was fitted on; a binary 1-d y has q = 1.
    link : callable, default=None
        Scores (m, q) ► probabilities (m, q); None where the model has none.
    set_thresholds : SetThresholds or str
        Thresholds of prediction sets; the reason where the model has none.

    Examples
    --------
    >>> names = np.array(["sea", "sun"], dtype=object)
    >>> scores = np.array([[0.2, -0.3], [0.4, 0.9]])
    >>> found = Outputs(scores, np.zeros(2), names, np.arange(2), "matrix")
    >>> found.decisions.tolist(), found.label_sets, found.ranks.tolist(), found.top(1).tolist()
    ([[1, 0], [1, 1]], [('sea',), ('sea', 'sun')], [[1, 2], [2, 1]], [[0], [1]])
    """

    scores: Array
    thresholds: Array
    label_names: Array
    classes: Array
    target: str
    link: Callable[[Array], Array] | None = None
    set_thresholds: SetThresholds | str = NO_SETS

    @cached_property
    def decisions(self) -> Array:
        """1 where a score exceeds its threshold, int64 (m, q); the best of exclusive classes."""
        if self.target == "multiclass":
            return np.eye(self.scores.shape[1], dtype=np.int64)[self.scores.argmax(axis=1)]
        return (self.scores > self.thresholds.astype(self.scores.dtype)).astype(np.int64)

    @cached_property
    def probabilities(self) -> Array:
        """Probability of every label, (m, q)."""
        if self.link is None:
            raise AttributeError(
                "These scores have no probabilities; the model's predict_proba explains why."
            )
        return self.link(self.scores)

    def sets(self, confidence: float = 0.9) -> Array:
        """Prediction sets, int8 (m, q); see :meth:`MultiLabelClassifier.predict_sets`."""
        if isinstance(self.set_thresholds, str):
            raise AttributeError(self.set_thresholds)  # noqa: TRY004 (as for predict_proba)
        return self.set_thresholds.answers(self.probabilities, self.decisions, confidence)

    @property
    def label_sets(self) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row; the class after a fit on a 1-d y."""
        if self.target != "matrix":
            return [(str(name),) for name in self.predictions]
        return [tuple(self.label_names[row]) for row in self.decisions.astype(bool)]

    @cached_property
    def ranks(self) -> Array:
        """Rank of every label, int64 (m, q): 1 for the highest score; ties in their order."""
        return np.argsort(best_labels(self.scores, self.scores.shape[1]), axis=1) + 1

    def top(self, k: int) -> Array:
        """Positions of the `k` labels with the highest scores, highest first: int64 (m, k)."""
        check_number("k", k, 1, whole=True)
        q = self.scores.shape[1]
        if k > q:
            raise ValueError(f"k={k} labels were asked for, the model has {q}; give k <= {q}.")
        return best_labels(self.scores, k)

    @property
    def predictions(self) -> Array:
        """What `predict` returns: the decisions, or classes (m,) after a fit on a 1-d y."""
        if self.target == "matrix":
            return self.decisions
        if self.target == "multiclass":
            best = self.decisions.argmax(axis=1)
        else:
            best = self.decisions[:, 0]
        return self.classes[np.minimum(best, len(self.classes) - 1)]  # there may be one class

    @property
    def decision_values(self) -> Array:
        """What `decision_function` returns: the scores, (m,) after a fit on a binary 1-d y."""
        if self.target == "binary":
            return self.scores[:, 0]
        return self.scores

    @property
    def class_probabilities(self) -> Array:
        """Probabilities as `predict_proba` returns them, (m, number of classes) for a binary y."""
        p = self.probabilities
        if self.target != "binary":
            return p
        if len(self.classes) == 1:
            return np.ones_like(p)
        is_tie = (p == 0.5) & (self.scores > 0)  # by rounding, and the second class is predicted
        return np.hstack([1 - p - is_tie * np.finfo(p.dtype).epsneg, p])


class MultiLabelClassifier(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """An estimator that scores labels; subclasses have `_outputs` and `_has_probabilities`."""

    threshold: Any  # parameter of every subclass

    def _has_probabilities(self) -> bool:
        return False

    def outputs(self, X: Array) -> Outputs:
        """Scores, decisions, probabilities, label sets and ranks from one evaluation of the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n_train) for a precomputed kernel

        Returns
        -------
        Outputs
            With numpy arrays, also where X is a tensor. Scores of CAMEL are f(x)G or log-odds, as
            its parameter `scores` says; float32 for float32 rows, else float64. Those of the
            comparison methods are F - 1/2, or the smallest positive number where F is 1/2, for they
            predict a label then.
        """
        check_is_fitted(self)
        return self._outputs(X)

    def _outputs(self, X: Array) -> Outputs:
        raise NotImplementedError

    @by_partition
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

    @by_partition
    def predict(self, X: Array) -> Array:
        """Decisions: int64 {0, 1} of shape (m, q), or classes of shape (m,) after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        return to_match(self.outputs(X).predictions, X)

    @available_if(methodcaller("_has_probabilities"))
    @by_partition
    def predict_proba(self, X: Array) -> Array:
        """Probability of every label: the share of rows like this one that have it.

        It does not depend on the thresholds: a tuned threshold may predict a label whose
        probability is below ½, as it should where F1 counts.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), or (m, number of classes) after a fit on a binary 1-d y

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from skcamel import CamelClassifier
        >>> X, Y = make_multilabel_classification(100, n_classes=3, random_state=0)
        >>> CamelClassifier().fit(X[:80], Y[:80]).predict_proba(X[80:82]).round(1).tolist()
        [[0.6, 0.9, 0.7], [0.3, 0.9, 0.4]]
        """
        return to_match(self.outputs(X).class_probabilities, X)

    @without(coverage="predict_sets(X, confidence=0.9) makes two promises over all labels together")
    @by_partition
    def predict_sets(self, X: Array, confidence: float = 0.9) -> Array:
        """Answer yes, no or open, such that both answers are seldom wrong.

        Two promises hold for all labels together: of the yes answers about `confidence` are right,
        and of the labels that rows have at most about 1 - `confidence` have a no. A yes is always
        predicted, a no never.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        confidence : float in (0, 1], default=0.9
            Raising it only turns answers into open ones; 1 leaves all open. It is rounded up to
            three digits.

        Returns
        -------
        int8 array of shape (m, q), or (m,) after a fit on a binary 1-d y
            1 yes, 0 no, -1 open.

        Raises
        ------
        AttributeError
            Where the model has no leave-one-out scores: after the alternating solver, and for the
            comparison methods.

        Notes
        -----
        A predicted label is a yes if its probability is at least the lowest t for which the promise
        holds among the training rows, each scored by the model without it and linked by rows
        without it, with a margin of 1.28 standard errors. A label that is not predicted is a no
        below the highest t for which the other promise holds. The promises are for new rows of the
        same kind, and for all labels together: a rare label may be missed every time. ``skcamel
        evaluate --confidence 0.9`` shows the rates of each label.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from skcamel import CamelClassifier
        >>> X, Y = make_multilabel_classification(300, n_classes=3, random_state=0)
        >>> model = CamelClassifier(scaling="standard").fit(X[:200], Y[:200])
        >>> model.predict_sets(X[200:203], confidence=0.9).tolist()
        [[0, -1, 1], [0, -1, -1], [0, -1, -1]]
        """
        found = self.outputs(X)
        answers = found.sets(confidence)
        return to_match(answers[:, 0] if found.target == "binary" else answers, X)

    def label_sets(self, X: Array) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row; the predicted class after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        return self.outputs(X).label_sets

    @by_partition
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
        """Share of rows whose known labels are all right (scikit-learn's subset accuracy).

        Labels may be in {-1, +1} too.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        y : array of shape (m, q) or (m,)
            NaN where a label is unknown; rows of which nothing is known do not count. Columns with
            the names of the fit may stand in any order.
        sample_weight : array of shape (m,), default=None
        """
        found = self.outputs(X)
        if self._target != "matrix":
            return float(
                accuracy_score(y, to_match(found.predictions, X), sample_weight=sample_weight)
            )
        P = found.decisions
        Y = check_labels(by_name(y, self.label_names_), len(P)).Y
        if Y.shape != P.shape:
            raise ValueError(
                f"y has {Y.shape[1]} labels but the model {P.shape[1]}; give one column for each"
                " label of the model."
            )
        unknown = np.isnan(Y)
        is_right = (unknown | ((Y > 0) == P)).all(axis=1)
        if sample_weight is None:
            weights = np.ones(len(P))
        else:
            weights = np.asarray(to_numpy(sample_weight))
        return float(np.average(is_right, weights=np.where(unknown.all(axis=1), 0.0, weights)))
