"""scikit-learn shells around the core: :class:`CamelClassifier`, and what it shares with its cross-validated sister.

They check, call, and store; the algebra is in `correlation`, `kernel`, `solve` and `selection`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcamel import correlation, kernel, scaling
from skcamel.arrays import Array, check_device, is_tensor, to_device, to_match, to_numpy
from skcamel.explanation import Explanation
from skcamel.inputs import Labels, check_labels, check_memory, check_rows, check_weights, unchanged_on_error
from skcamel.selection import calibration, thresholds
from skcamel.selection.search import Data, Representation, on_device
from skcamel.selection.thresholds import Rule
from skcamel.solve import alternating, spectral
from skcamel.solve.problem import Solution

SOLVERS = ("auto", "spectral", "alternating")
PREDICT_BLOCK_BYTES = 2**27  # kernel rows of about 128 MiB at a time


@dataclass(frozen=True)
class Model:
    """Everything a fit found out, before it is stored in attributes."""

    representation: Representation
    S: np.ndarray
    G: np.ndarray
    lambda2: float
    solution: Solution
    cuts: np.ndarray
    slopes: np.ndarray | None


class BaseCamel(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """What a fitted CAMEL model can do, however its hyper-parameters were found."""

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

    def _has_probabilities(self) -> bool:
        """Whether this fit gives probabilities: label matrices and binary y, wherever leave-one-out scores exist."""
        return getattr(self, "_target", "multiclass") != "multiclass" and self._slopes is not None

    def _checked(self, X: Array, Y: Array, sample_weight: Array | None) -> tuple[Data, Labels]:
        """Training data as the core wants it, rows of weight 0 included."""
        rows = check_rows(self, X, reset=True, pairwise=self._is_pairwise())
        labels = check_labels(Y, rows.shape[0])
        weights = check_weights(sample_weight, rows.shape[0])
        check_memory(rows.shape[0], self.device)
        X64 = rows.astype(np.float64) if rows.dtype != np.float64 else rows.copy()  # the model outlives the caller's array
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
        self.bandwidth_ = representation.kernel.bandwidth
        self.thresholds_ = model.cuts
        self.X_fit_ = None if self._is_pairwise() else (representation.X if sparse.issparse(representation.X) else to_numpy(representation.X))
        self._kernel, self._scaling, self._slopes = representation.kernel, representation.scaling, model.slopes
        self._kernel_mean, self._lambda2 = to_numpy(solution.kernel_mean), model.lambda2
        self._kept = kept if self._is_pairwise() else None  # columns of a kernel matrix whose rows had weight

    def _check_loaded(self) -> None:
        """Raise where attributes from a file do not belong together; half a model is none."""
        n, q = self.dual_coef_.shape
        shapes = {
            "intercept_": (q,),
            "A_": (n, q),
            "b_": (q,),
            "Z_": (n, q),
            "thresholds_": (q,),
            "label_names_": (q,),
            "label_correlation_": (q, q),
            "collaboration_": (q, q),
            "_kernel_mean": (n,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has shape {getattr(self, name).shape}, {shape} is needed")
        if self.X_fit_ is not None and self.X_fit_.shape != (n, self.n_features_in_):
            raise ValueError(f"X_fit_ has shape {self.X_fit_.shape}, {(n, self.n_features_in_)} is needed")
        needed = ("classes_", "n_iter_", "bandwidth_", "_target", "_kernel", "_scaling", "_slopes", "_lambda2", "_kept")
        if missing := [name for name in needed if not hasattr(self, name)]:
            raise ValueError(f"{', '.join(missing)} missing")

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
        if self._target == "binary":
            return self._answer(self.classes_[positive[:, 0]], X)
        return self._answer(positive, X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Array) -> Array:
        """Probability of every label, above ½ exactly where it is predicted.

        A logistic link for each label, fitted on the leave-one-out scores of the training rows and passing through the
        label's threshold. With the threshold 0 it is calibrated. Under tuned thresholds it is not, and cannot be: a cut
        that maximises F1 lies where the label is improbable, and the link calls that place ½.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), strictly inside (0, 1); (m, 2) after a fit on a binary 1-d y
        """
        p = calibration.probabilities(self._scores(X), self.thresholds_, self._slopes)
        return self._answer(np.column_stack([1 - p[:, 0], p[:, 0]]) if self._target == "binary" else p, X)

    def label_sets(self, X: Array) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        positive = self._decide(self._scores(X))
        return [tuple(self.label_names_[row]) for row in positive]

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
        check_is_fitted(self)
        coefficients = self.A_ / self._lambda2  # (n, q), f(x) - f̄ = (k(x) - k̄) A / λ2
        own = self._kernel_times(X, coefficients) - self._kernel_mean @ coefficients  # (m, q)
        base = self.intercept_ + self._kernel_mean @ self.dual_coef_
        return Explanation(base, own[:, :, None] * self.collaboration_, self.label_names_, self.thresholds_)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Where a score exceeds its cut, both in the precision of the scores."""
        return scores > self.thresholds_.astype(scores.dtype)

    def _scores(self, X: Array) -> np.ndarray:
        """Scores as a numpy matrix (m, q)."""
        check_is_fitted(self)
        scores = self._kernel_times(X, self.dual_coef_)
        return (scores + self.intercept_).astype(scores.dtype)

    def _kernel_times(self, X: Array, coefficients: np.ndarray) -> np.ndarray:
        """k(x) @ coefficients for every row, (m, q), in blocks of rows; in the precision of X."""
        rows = check_rows(self, X, reset=False, pairwise=self._is_pairwise())
        train = None if self.X_fit_ is None else on_device(self.X_fit_, self.device)
        coefficients = to_device(coefficients, self.device)
        result = np.empty((rows.shape[0], coefficients.shape[1]), dtype=np.float64)
        for block in self._blocks(rows):
            result[block] = to_numpy(self._kernel(self._like_training_rows(rows[block]), train) @ coefficients)
        return result.astype(rows.dtype, copy=False)

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


class CamelClassifier(BaseCamel):
    """Collaboration based multi-label learning: kernel ridge regression in which predictions of labels help each other.

    The final prediction of a label is (1 - α) times its own plus α times a sparse combination of the others, learned
    from the labels (problem 3 of the paper); the training problem (equation 7) is solved for these final predictions.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.5
        Degree of collaboration; 0 makes labels independent.
    lambda1 : float > 0, default=1.0
        Weight of fitting the final predictions.
    lambda2 : float > 0, default=0.1
        Weight of the ridge penalty.
    kernel : {"rbf", "laplacian", "exponential", "linear", "precomputed"} or callable, default="rbf"
        A callable takes two row matrices and returns their kernel matrix.
    bandwidth : "mean" or float > 0, default="mean"
        σ of the radial kernels; "mean" is the mean distance between training rows, as in the paper.
    scaling : {"none", "standard", "minmax", "unit"}, default="none"
        Scaling of the features (of the rows for "unit"), learned in fit and kept with the model.
    sparsity : float > 0, default=0.01
        Penalty of the label correlation, as a share of the one that makes it vanish.
    solver : {"auto", "spectral", "alternating"}, default="auto"
        See :func:`choose_solver`. "alternating" is the paper's Algorithm 1.
    max_iter : int, default=10_000
        Most iterations of the label correlation and of the alternating solver.
    tol : float, default=1e-6
        Tolerance of both: KKT violation in units of the penalty, and ||ΔZ|| / ||Z||.
    threshold : {"zero", "common", "label"} or float, default="zero"
        Cut between scores and decisions: the paper's 0, one tuned cut, one tuned cut per label, or a number. Tuned on
        exact leave-one-out scores; cuts of rare labels are drawn towards the common cut.
    threshold_metric : {"micro_f1", "macro_f1", "hamming_loss"}, default=None
        What tuned cuts aim at; None: micro_f1 for "common", macro_f1 for "label".
    device : str, default=None
        "cuda" computes on a GPU by torch; None on the CPU by numpy.
    random_state : int or RandomState, default=None
        Without effect: no step of these solvers is random.

    Attributes
    ----------
    label_correlation_ : array of shape (q, q)
        S; column j says which labels reconstruct label j.
    collaboration_ : array of shape (q, q)
        G = (1 - α) I + α S.
    dual_coef_, intercept_ : arrays of shape (n, q) and (q,)
        Scores are k(x) @ dual_coef_ + intercept_.
    A_, b_, Z_ : arrays of shape (n, q), (q,), (n, q)
        The paper's variables.
    bandwidth_ : float
        σ; 1 for kernels without one.
    thresholds_ : array of shape (q,)
    n_iter_ : int
        Alternations, 1 for the direct solver.
    convergence_ : array of shape (n_iter_,)
        ||ΔZ|| of each alternation; only with the alternating solver.
    label_names_ : array of shape (q,)
    classes_ : array
        ``arange(q)`` for label matrices, the classes of a 1-d y.
    X_fit_ : array or CSR matrix of shape (n, d)
        Training rows, scaled; None for a precomputed kernel.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    skcamel.CamelClassifierCV : chooses alpha, lambda2 and more by exact leave-one-out.

    References
    ----------
    L. Feng, B. An, S. He: Collaboration based Multi-Label Learning. AAAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=3, random_state=0)
    >>> model = CamelClassifier(alpha=0.3, scaling="standard").fit(X[:80], Y[:80])
    >>> model.predict(X[80:]).shape, model.label_sets(X[80:82])
    ((20, 3), [('label0', 'label1'), ('label0',)])
    """

    def __init__(
        self,
        alpha: float = 0.5,
        lambda1: float = 1.0,
        lambda2: float = 0.1,
        *,
        kernel: str | Callable[[Array, Array], Array] = "rbf",
        bandwidth: float | str = "mean",
        scaling: str = "none",
        sparsity: float = 0.01,
        solver: str = "auto",
        max_iter: int = 10_000,
        tol: float = 1e-6,
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scaling = scaling
        self.sparsity = sparsity
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.device = device
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn label correlations and the classifier.

        Parameters
        ----------
        X : array, CSR matrix, frame or tensor of shape (n, d); the kernel matrix (n, n) for kernel="precomputed"
        y : array, sparse matrix, frame or tensor of shape (n, q)
            Labels Y in {0, 1} or {-1, +1}; column names of a frame are kept. A 1-d y of classes is accepted too.
        sample_weight : array of shape (n,), default=None
            An integer weight equals that many copies of the row.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            data, labels = self._checked(X, y, sample_weight)
            data, kept = data.with_weight(self._is_pairwise())
            S = learn_correlation(self, data)
            G = correlation.collaboration(S, self.alpha)
            fit = fit_alternating if choose_solver(self.solver) == "alternating" else fit_spectral
            self._store(fit(self, data, S, G), labels, kept)
        return self

    def _check_parameters(self) -> None:
        check_shared_parameters(self)
        check_in_unit_interval("alpha", self.alpha)
        check_positive("lambda1", self.lambda1)
        check_positive("lambda2", self.lambda2)
        check_kernel(self.kernel)
        check_scaling(self.scaling, self.kernel)
        if self.bandwidth != "mean":
            check_positive("bandwidth", self.bandwidth, "or 'mean'")
        if choose_solver(self.solver) == "alternating" and self._rule().is_tuned:
            raise ValueError(f"threshold={self.threshold!r} is tuned on leave-one-out scores, which only solver='spectral' gives; use that solver.")

    def _rule(self) -> Rule:
        return Rule(self.threshold, self.threshold_metric)


def choose_solver(solver: str) -> str:
    """The solver that `solver` stands for.

    "auto" is "spectral": it is exact, costs one eigendecomposition, and one run of the alternation costs more. The
    alternation is for readers of the paper who want to see it converge.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is not known; choose one of {', '.join(map(repr, SOLVERS))}.")
    return "spectral" if solver == "auto" else solver


def learn_correlation(estimator: Any, data: Data) -> np.ndarray:
    """S of the training labels, with a warning where its certificate misses the tolerance."""
    found = correlation.learn(data.Y, strength=estimator.sparsity, weights=data.weights, tol=estimator.tol, max_iter=estimator.max_iter)
    worst = float(found.violation.max())
    if worst > estimator.tol:
        warnings.warn(
            f"Label correlation stopped after {found.n_iter} iterations with a KKT violation of {worst:.1e} of the penalty, above "
            f"tol={estimator.tol:.1e}; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return found.S


def fit_spectral(estimator: CamelClassifier, data: Data, S: np.ndarray, G: np.ndarray) -> Model:
    """Exact fit of one candidate."""
    representation = _represent(estimator, data, decompose=True)
    penalties = {"lambda1": estimator.lambda1, "lambda2": estimator.lambda2}
    return finish_spectral(representation, data, S, G, estimator._rule(), **penalties)


def finish_spectral(representation: Representation, data: Data, S: np.ndarray, G: np.ndarray, rule: Rule, *, lambda1: float, lambda2: float) -> Model:
    """Solution, cuts and probabilities from a decomposition."""
    spectrum = representation.spectrum
    Y, G_there = to_match(data.Y, spectrum.values), to_match(G, spectrum.values)
    targets = spectral.project(spectrum, Y)
    solution = spectral.solve(spectrum, targets, G_there, lambda1=lambda1, lambda2=lambda2)
    ((_, _, loo),) = spectral.leave_one_out(spectrum, targets, [spectral.label_basis(G_there)], [(lambda1, lambda2)])
    cuts = rule.cuts(Y > 0, loo, spectrum.weights)
    slopes = calibration.slopes(Y > 0, loo, cuts, spectrum.weights)
    return Model(representation, S, G, lambda2, solution, to_numpy(cuts), to_numpy(slopes))


def fit_alternating(estimator: CamelClassifier, data: Data, S: np.ndarray, G: np.ndarray) -> Model:
    """Fit by Algorithm 1, with a warning where it stops early."""
    representation = _represent(estimator, data, decompose=False)
    K = representation.spectrum
    weights = None if data.weights is None else to_match(data.weights, K)
    Y = to_match(data.Y, K)
    solution = alternating.solve(
        K,
        Y,
        to_match(G, K),
        lambda1=estimator.lambda1,
        lambda2=estimator.lambda2,
        weights=weights,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
    )
    relative = float(solution.convergence[-1]) / max(float(np.linalg.norm(to_numpy(solution.Z))), 1e-300)
    if relative > estimator.tol:
        warnings.warn(
            f"Algorithm 1 stopped after {solution.n_iter} alternations with ||ΔZ|| / ||Z|| = {relative:.1e}, above tol={estimator.tol:.1e}; "
            "raise max_iter or use solver='spectral', which is exact.",
            ConvergenceWarning,
            stacklevel=3,
        )
    cuts = to_numpy(estimator._rule().cuts(Y > 0, Y))
    return Model(representation, S, G, estimator.lambda2, solution, cuts, None)


def _represent(estimator: CamelClassifier, data: Data, *, decompose: bool) -> Representation:
    """The one representation of a plain fit; without `decompose` the kernel matrix stands in for its spectrum."""
    scaler = scaling.fitted(estimator.scaling, data.X, data.weights)
    X = on_device(scaler(data.X), estimator.device)
    weights = None if data.weights is None else to_device(data.weights, estimator.device)
    fitted, K = kernel.fitted(estimator.kernel, X, bandwidth=estimator.bandwidth, weights=weights)
    return Representation(scaler, fitted, X, spectral.decompose(K, weights) if decompose else K)


def check_shared_parameters(estimator: Any) -> None:
    """Parameters that both estimators have."""
    check_positive("sparsity", estimator.sparsity)
    check_positive("tol", estimator.tol)
    check_positive("max_iter", estimator.max_iter)
    mode = estimator.threshold
    if not (mode in thresholds.MODES if isinstance(mode, str) else isinstance(mode, Real) and np.isfinite(mode)):
        raise ValueError(f"threshold={mode!r} is not known; choose 'zero', 'common', 'label' or a number.")
    if estimator.threshold_metric not in (None, *thresholds.METRICS):
        raise ValueError(f"threshold_metric={estimator.threshold_metric!r} is not known; choose one of {', '.join(thresholds.METRICS)}.")
    check_device(estimator.device)


def check_positive(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is not a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a number > 0{' ' + otherwise if otherwise else ''}, got {value!r}.")


def check_in_unit_interval(name: str, value: Any) -> None:
    """Refuse what is not a number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}.")


def check_kernel(name: Any) -> None:
    """Refuse unknown kernels."""
    if not callable(name) and name not in kernel.NAMES:
        raise ValueError(f"kernel={name!r} is not known; choose one of {', '.join(map(repr, kernel.NAMES))} or give a function.")


def check_scaling(name: Any, kernel_name: Any) -> None:
    """Refuse unknown scalings, and any scaling of a kernel matrix."""
    if name not in scaling.NAMES:
        raise ValueError(f"scaling={name!r} is not known; choose one of {', '.join(map(repr, scaling.NAMES))}.")
    if kernel_name == "precomputed" and name != "none":
        raise ValueError(f"scaling={name!r} cannot be applied to a kernel matrix; scale the features before computing it, with scaling='none'.")
