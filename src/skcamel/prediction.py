"""What a fitted CAMEL model can do, however its hyper-parameters were found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array, is_tensor, to_device, to_match, to_numpy
from skcamel.explanation import Explanation
from skcamel.inputs import Labels, check_labels, check_memory, check_rows, check_weights, warn_of_constant_labels
from skcamel.kernel import len_of
from skcamel.notebook import collaboration_summary
from skcamel.pushes import cooccurrence, evidence
from skcamel.selection import calibration
from skcamel.selection.search import Data, on_device
from skcamel.training import Model

PREDICT_BLOCK_BYTES = 2**27  # kernel rows of about 128 MiB at a time


class BaseCamel(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """What a fitted CAMEL model can do, however its hyper-parameters were found."""

    ADDED: ClassVar = {"correlation": "paper"}  # parameters that files and studies of earlier versions lack, and what stands for them

    def __sklearn_tags__(self) -> Any:
        """Multi-label, also single-label; sparse rows; pairwise for a precomputed kernel."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = not self._is_pairwise()
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _is_pairwise(self) -> bool:
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram and, after fit, a summary of the collaboration."""
        diagram = super()._repr_html_inner()
        if not hasattr(self, "label_correlation_"):
            return diagram
        alpha = self.alpha_ if hasattr(self, "alpha_") else self.alpha
        return diagram + collaboration_summary(self, alpha)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What Jupyter asks for first."""
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | ({"text/html": self._repr_html_inner()} if "text/html" in bundle else {})

    def _has_probabilities(self) -> bool:
        """Whether this fit gives probabilities: label matrices and binary y, wherever leave-one-out scores exist."""
        if getattr(self, "_target", None) == "multiclass":
            raise AttributeError("Probabilities of a 1-d y with more than two classes are not offered; use decision_function.")
        if hasattr(self, "_target") and self._slopes is None:
            raise AttributeError(
                "Probabilities need leave-one-out scores, which solver='alternating' does not give; use solver='spectral'."
            )
        return hasattr(self, "_target")

    def _checked(self, X: Array, Y: Array, sample_weight: Array | None) -> tuple[Data, Labels]:
        """Training data as the core wants it, rows of weight 0 included."""
        rows = check_rows(self, X, reset=True, pairwise=self._is_pairwise())
        labels = check_labels(Y, rows.shape[0])
        weights = check_weights(sample_weight, rows.shape[0])
        warn_of_constant_labels(labels, weights)
        check_memory(rows, labels.Y.shape[1], self.device)
        X64 = rows.astype(np.float64) if rows.dtype != np.float64 else rows.copy()  # the model outlives the caller's array
        self.cooccurrence_, self.total_weight_ = cooccurrence(labels.Y, weights)
        return Data(X64, labels.Y, weights), labels

    def _store(self, model: Model, labels: Labels, kept: np.ndarray | None) -> None:
        """Set the fitted attributes; arrays are numpy, wherever the fit took place."""
        solution, representation = model.solution, model.representation
        self.classes_, self.label_names_, self._target = labels.classes, labels.names, labels.target
        self.label_correlation_, self.collaboration_ = model.S, model.G
        self.dual_coef_, self.intercept_ = to_numpy(solution.dual_coef), to_numpy(solution.intercept)
        self.A_, self.b_, self.Z_ = to_numpy(solution.A), to_numpy(solution.b), to_numpy(solution.Z)
        self.n_iter_ = solution.n_iter
        if solution.convergence is not None:
            self.convergence_ = to_numpy(solution.convergence)
        elif hasattr(self, "convergence_"):  # of an earlier fit by another solver
            del self.convergence_
        self.bandwidth_ = representation.kernel.bandwidth
        self.thresholds_ = model.cuts
        self.X_fit_ = (
            None if self._is_pairwise() else (representation.X if sparse.issparse(representation.X) else to_numpy(representation.X))
        )
        self._kernel, self._scaling = representation.kernel, representation.scaling
        self._slopes: Any = model.slopes  # None after the alternating solver
        self._kernel_mean, self._lambda2 = to_numpy(solution.kernel_mean), model.lambda2
        self._offset = self.intercept_  # of the kernel as it is computed: the linear one on centred rows
        if self._kernel.name == "linear" and self._scaling.scale is None:
            self.intercept_ = self.intercept_ - self._of_the_shift(self.dual_coef_)
            self.b_ = self.b_ - self._of_the_shift(self.A_ / self._lambda2)
        self._kept = kept if self._is_pairwise() else None  # columns of a kernel matrix whose rows had weight

    def decision_function(self, X: Array) -> Array:
        """Scores f(x)G of every label; a label is predicted where its score exceeds its threshold.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n_train) for a precomputed kernel

        Returns
        -------
        array of shape (m, q), or (m,) after a fit on a binary 1-d y
            float32 for float32 rows, else float64; a tensor on the device of X where X is a tensor.
        """
        return self._answer(self._shaped(self._scores(X)), X)

    def predict(self, X: Array) -> Array:
        """Decisions: int64 {0, 1} of shape (m, q), or classes of shape (m,) after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        scores = self._scores(X)
        if self._target == "multiclass":
            return self._answer(self.classes_[scores.argmax(axis=1)], X)
        positive = self._decide(scores).astype(np.int64)
        if self._target == "binary":  # y may have held one class only
            return self._answer(self.classes_[np.minimum(positive[:, 0], len(self.classes_) - 1)], X)
        return self._answer(positive, X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Array) -> Array:
        """Calibrated probability of every label, above ½ exactly where its score is above 0.

        A logistic link for each label, fitted on the leave-one-out scores of the training rows. It does not depend on the
        thresholds: a tuned threshold may predict a label whose probability is below ½, as it should where F1 counts.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), strictly inside (0, 1); (m, number of classes) after a fit on a binary 1-d y
        """
        p = calibration.probabilities(self._scores(X), self._slopes)
        if self._target == "binary":
            p = np.column_stack([1 - p[:, 0], p[:, 0]]) if len(self.classes_) == 2 else np.ones_like(p)
        return self._answer(p, X)

    def label_sets(self, X: Array) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row; the predicted class after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        check_is_fitted(self)
        if self._target != "matrix":
            return [(str(name),) for name in to_numpy(self.predict(X))]
        return [tuple(self.label_names_[row]) for row in self._decide(self._scores(X))]

    def explain(self, X: Array) -> Explanation:
        """Exact additive parts of every score: the label's own prediction and the push of every other label.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        Explanation
            ``base`` (q,) and ``parts`` (m, q, q) with ``base + parts.sum(axis=1) == decision_function(X)``.
        """
        own = self._deviations(X)
        parts = own[:, :, None] * self.collaboration_
        return Explanation(self._base(), parts, self.label_names_, self.thresholds_, evidence(self), self.correlation)

    def _deviations(self, X: Array) -> np.ndarray:
        """f(x) - f̄ of every row, (m, q): how far the labels' own predictions are from those of the average row."""
        check_is_fitted(self)
        coefficients = self.A_ / self._lambda2  # (n, q), f(x) - f̄ = (k(x) - k̄) A / λ2
        return self._kernel_times(X, coefficients) - self._kernel_mean @ coefficients

    def _of_the_shift(self, coefficients: np.ndarray) -> np.ndarray:
        """What moving the origin added to k(x) @ coefficients of the linear kernel, (q,): the paper's rows are not moved."""
        rows: Any = self.X_fit_
        return self._scaling.shift @ (rows.T @ coefficients)

    def _base(self) -> np.ndarray:
        """Score of the average training row, (q,)."""
        return self._offset + self._kernel_mean @ self.dual_coef_

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

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Where a score exceeds its cut, both in the precision of the scores."""
        return scores > self.thresholds_.astype(scores.dtype)

    def _scores(self, X: Array) -> np.ndarray:
        """Scores as a numpy matrix (m, q)."""
        check_is_fitted(self)
        scores = self._kernel_times(X, self.dual_coef_)
        return _narrowed(scores + self._offset, scores.dtype)

    def _kernel_times(self, X: Array, coefficients: np.ndarray) -> np.ndarray:
        """k(x) @ coefficients for every row, (m, q), in blocks of rows; in the precision of X."""
        rows = check_rows(self, X, reset=False, pairwise=self._is_pairwise())
        train = None if self.X_fit_ is None else on_device(self.X_fit_, self.device)
        coefficients = to_device(coefficients, self.device)
        result = np.empty((rows.shape[0], coefficients.shape[1]), dtype=np.float64)
        for block in self._blocks(rows):
            result[block] = to_numpy(self._kernel(self._like_training_rows(rows[block]), train) @ coefficients)
        return _narrowed(result, rows.dtype)

    def _blocks(self, rows: Array) -> Iterator[slice]:
        size = max(1, PREDICT_BLOCK_BYTES // (8 * len(self.dual_coef_)))
        return (slice(i, i + size) for i in range(0, rows.shape[0], size))

    def _like_training_rows(self, rows: Array) -> Array:
        """New rows scaled, dense or sparse as the training rows are, on the device."""
        rows = rows.astype(np.float64)
        if self._kept is not None:
            rows = rows[:, self._kept]
        rows = self._scaling(rows)
        if sparse.issparse(self.X_fit_):
            rows = sparse.csr_array(rows)
        elif sparse.issparse(rows):
            rows = rows.toarray()
        return on_device(rows, self.device)

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if self._target == "binary" else scores

    def _answer(self, result: np.ndarray, X: Array) -> Array:
        """The result as a tensor where X is one."""
        return to_match(result, X) if is_tensor(X) else result


def _narrowed(scores: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Scores in the precision of the rows; what is too large for it becomes the largest number, not infinity."""
    limit = float(np.finfo(dtype).max)
    return np.clip(scores, -limit, limit).astype(dtype, copy=False)
