"""What both CAMEL estimators share: check the input, store a model, predict for new rows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skcamel import memory
from skcamel.arrays import (
    Array,
    MaybeArray,
    Params,
    alike,
    check_device,
    is_lazy,
    slices,
    to_device,
    to_numpy,
)
from skcamel.camel import (
    attribution,
    correlation,
    distributed,
    explanation,
    kernel,
    link,
    outputs,
    representation,
    scaling,
    stream,
    thresholds,
)
from skcamel.checks import (
    SMALLEST_DIVISOR,
    Labels,
    check_at_least,
    check_groups,
    check_labels,
    check_number,
    check_rows,
    check_weights,
    choice,
    seed_of,
    warn_of_constant_labels,
)
from skcamel.metrics.seven import NAMES


class OverflowedRowError(ValueError):
    """A row has features so large that it has no scores; `row` is its number, from 0."""

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(
            f"Row {row} of X (from 0) has features so large that its scores are no numbers; are"
            " they in the units of the fit?"
        )


class SolverWarning(UserWarning):
    """solver="auto" does not take the exact solver."""


SOLVERS = ("auto", "spectral", "landmark", "primal", "alternating")
SCORES = ("paper", "log_odds")
BY_LEAVE_ONE_OUT = (
    "leave-one-out scores, which Algorithm 1 (solver='alternating') does not give; use"
    " solver='spectral'."
)
OF_A_MEMBER = (
    "This model is a member of a combination, which alone has probabilities and prediction sets."
)
# that "auto" decomposes at most: minutes for one representation
EXACT_ROWS = 10_000
EXACT_ROWS_ON_GPU = 40_000
# kernel rows at a time: few enough to stay near the processor, enough for fast products
PREDICT_BYTES = 2**22
PREDICT_ROWS = 256
# What a model file holds of a fitted model, in the words of `skcamel.model_file.state`: of every
# one, and of one that is not combined.
OF_EVERY_MODEL: Params = {
    "n_features_in_": int,
    "feature_names_in_": ("d", str),
    "label_names_": ("q", str),
    "classes_": np.ndarray,
    "_target": str,
    "scores_": str,
    "thresholds_": ("q", float),
    "n_iter_": int,
    "total_weight_": float,
    "cooccurrence_": ("q", "q"),
    "known_together_": ("q", "q"),
    "label_correlation_": ("q", "q"),
    "link_slopes_": ("q",),
    "link_offsets_": ("q",),
    "set_thresholds_": link.SetThresholds,
    "estimate_": dict,
    "label_estimates_": dict,
    "n_judged_": int,
    "input_columns_": dict,
    "label_columns_": [str],
}
OF_ONE_MODEL: Params = {
    "solver_": str,
    "dual_coef_": ("n", "q"),
    "intercept_": ("q",),
    "_offset": ("q",),
    "A_": ("n", "q"),
    "b_": ("q",),
    "Z_": ("n", "q"),
    "convergence_": ("i",),
    "collaboration_": ("q", "q"),
    "bandwidth_": float,
    "X_fit_": ("n", "d", sparse.csr_array, None),
    "_kernel": kernel.Kernel,
    "_kernel_mean": ("n",),
    "_row_shares": ("n",),
    "_scaling": scaling.Scaling,
    "_lambda2": float,
}
OF_SOME_FITS = (
    "feature_names_in_",
    "known_together_",
    "link_slopes_",
    "link_offsets_",
    "set_thresholds_",
    "estimate_",
    "label_estimates_",
    "n_judged_",
    "input_columns_",
    "label_columns_",
    "Z_",
    "convergence_",
    "_row_shares",
)
NEEDED_BY = {  # what has the first has the second
    "link_slopes_": "link_offsets_",
    "link_offsets_": "link_slopes_",
    "set_thresholds_": "link_slopes_",
    "estimate_": "n_judged_",
    "label_estimates_": "estimate_",
}
LEAST = {
    "n_features_in_": 1,
    "n_iter_": 0,
    "n_judged_": 0,
    "link_slopes_": 1e-300,
    "cooccurrence_": 0,
    "known_together_": 0,
    "total_weight_": SMALLEST_DIVISOR,
    "bandwidth_": SMALLEST_DIVISOR,
    "_lambda2": SMALLEST_DIVISOR,
    "_row_shares": SMALLEST_DIVISOR,
}
LABEL_FIGURES = ("f1", "positives", "precision", "recall", "rows")


class BaseCamel(outputs.MultiLabelClassifier):
    """What a fitted CAMEL model can do, however its hyper-parameters were found."""

    scores: str  # parameters of both
    miss_cost: Any
    stored: ClassVar[Params]
    optional: ClassVar[tuple[str, ...]] = OF_SOME_FITS

    def __sklearn_tags__(self) -> Any:
        """Multi-label; pairwise for a precomputed kernel, which is not sparse."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = not self._is_pairwise()
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _is_pairwise(self) -> bool:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model: rows may have been summed up without one."""
        return hasattr(self, "label_correlation_")

    def _reset(self) -> None:
        """Drop what an earlier fit found out."""
        for key in vars(self).keys() & {*self.stored, "_stream"}:
            delattr(self, key)

    def check_stored(self) -> None:
        """Refuse parameters and attributes of a model file that no fit gives."""
        if self.device is not None and re.fullmatch(r"cpu|cuda(:\d{1,2})?", self.device) is None:
            raise ValueError(f"device must be cpu or cuda, got {self.device!r:.80}")
        parameters = self.get_params(deep=False) | {"device": None}  # which this machine may lack
        type(self)(**parameters)._check_parameters()
        seed_of(self.random_state)
        choice(self.scores_, SCORES, "scores_")
        if self.scores_ == "log_odds" and not hasattr(self, "link_slopes_"):
            raise ValueError("scores_='log_odds' needs link_slopes_")
        check_at_least(self, **LEAST)
        for first, other in NEEDED_BY.items():
            if hasattr(self, first) and not hasattr(self, other):
                raise ValueError(f"{first} needs {other}")
        self._check_stored_labels()
        if hasattr(self, "_kernel"):
            self._check_stored_rows()

    def _check_stored_labels(self) -> None:
        """As many labels as the classes call for, and figures of each."""
        q = len(self.label_names_)
        classes = self.classes_.ravel().tolist()
        if self._target == "matrix":
            fits = self.classes_.dtype.kind == "i" and classes == list(range(q))
        elif self._target == "binary":
            fits = q == 1 and len(classes) in (1, 2)
        else:
            fits = self._target == "multiclass" and q == len(classes) > 2
        if not fits or self.classes_.shape != (len(set(classes)),):
            raise ValueError(
                f"classes_ and label_names_ do not belong together: {len(classes)} and {q} for the"
                f" target {self._target!r}"
            )
        estimate = getattr(self, "estimate_", dict.fromkeys(NAMES, 0.0))
        kinds = set(map(type, estimate.values()))
        if estimate.keys() != set(NAMES) or kinds != {float}:
            raise ValueError(f"estimate_ must hold a number for each of {', '.join(NAMES)}")
        figures = getattr(self, "label_estimates_", dict.fromkeys(LABEL_FIGURES, np.zeros(q)))
        are_sound = all(_are_figures(values, q) for values in figures.values())
        if figures.keys() != set(LABEL_FIGURES) or not are_sound:
            raise ValueError(
                f"label_estimates_ must hold {q} numbers from 0 on as each of"
                f" {', '.join(LABEL_FIGURES)}"
            )

    def _check_stored_rows(self) -> None:
        """Training rows or landmarks, which a precomputed kernel and plain features do not have."""
        n = len(self.dual_coef_)
        d = self.n_features_in_
        name = self._kernel.name
        is_primal = choice(self.solver_, SOLVERS[1:], "solver_") == "primal"
        is_pairwise = name == "precomputed"
        has_rows = self.X_fit_ is not None
        fits = is_pairwise == self._is_pairwise() and has_rows != (is_pairwise or is_primal)
        if not has_rows:
            fits = fits and n == d
        if is_primal:
            fits = fits and name == "linear"
        if is_pairwise:
            fits = fits and self._scaling.name == "none"
        if not fits or self.bandwidth_ != self._kernel.bandwidth:
            raise ValueError(
                f"_kernel, bandwidth_, X_fit_ and {n} coefficients do not belong together, for"
                f" {d} features"
            )

    def _has_probabilities(self) -> bool:
        """Whether this fit gives probabilities: with leave-one-out scores, of two classes."""
        if not hasattr(self, "_target"):
            return False
        if self._target == "multiclass":
            raise AttributeError(
                "Scores of more than two classes are not calibrated; use decision_function, not"
                " predict_proba."
            )
        if hasattr(self, "link_slopes_"):
            return True
        if self.solver_ == "alternating":
            raise AttributeError(f"Probabilities need {BY_LEAVE_ONE_OUT}")
        raise AttributeError(OF_A_MEMBER)

    def _check_shared_parameters(self, kernels: Sequence[Any]) -> None:
        """Refuse parameters that do not exist, with kernels of these names."""
        for name in ("sparsity", "tol"):
            check_number(name, getattr(self, name), above=True)
        for name in ("max_iter", "n_landmarks"):
            check_number(name, getattr(self, name), 1, whole=True)
        choice(self.correlation, correlation.KINDS, "correlation")
        choice(self.scores, SCORES, "scores")
        choice(self.solver, SOLVERS, "solver")
        if isinstance(self.landmarks, str):
            choice(self.landmarks, stream.CHOICES, "landmarks")
        thresholds.check_threshold(self.threshold)
        costs: list[Any] = []
        if isinstance(self.miss_cost, Mapping):
            costs = list(self.miss_cost.values())
        elif self.miss_cost is not None:
            costs = [self.miss_cost]
        for cost in costs:
            check_number(
                "miss_cost", cost, above=True, otherwise="or a mapping from labels to such numbers"
            )
        if self.device is not None:
            check_device(self.device)
        if self.max_memory is not None:
            try:
                memory.as_bytes(self.max_memory)
            except ValueError as error:
                raise ValueError(f"max_memory: {error}") from error
        if self.solver in ("landmark", "primal") and "precomputed" in kernels:
            raise ValueError(
                f"solver={self.solver!r} sums up features, and a kernel matrix has none; use"
                " solver='spectral'."
            )
        if self.solver == "primal" and any(name != "linear" for name in kernels):
            raise ValueError(
                "solver='primal' works in the features themselves; use kernel='linear', or"
                " solver='landmark'."
            )

    def _checked(
        self,
        X: Array,
        Y: Array,
        sample_weight: MaybeArray,
        groups: MaybeArray = None,
        alive: memory.Alive = memory.EXACT,
    ) -> tuple[representation.Data, Labels]:
        """Training data as the core takes them, rows of weight 0 included.

        Where there is no matrix of rows, the data have a source of sums over rows in its place.
        """
        if is_lazy(X) or isinstance(X, stream.Batches):
            data, labels = distributed.elsewhere(self, X, Y, sample_weight, groups)
        else:
            rows = check_rows(self, X, reset=True, pairwise=self._is_pairwise())
            labels = check_labels(Y, rows.shape[0])
            weights = check_weights(sample_weight, rows.shape[0])
            if weights is None:
                weights = np.ones(rows.shape[0])
            if self._is_pairwise() and not weights.all():
                raise ValueError(
                    f"Row {weights.argmin()} has the weight 0; leave it out of the kernel matrix,"
                    " its column too."
                )
            warn_of_constant_labels(labels, weights)
            if groups is not None:
                groups = check_groups(groups, labels.Y)
            data = representation.Data(rows, labels.Y, weights, groups)
            if self._sums_up(data, alive):
                data, labels = distributed.in_memory(self, data, labels)
            else:
                memory.check_memory(data.X, data.Y.shape[1], self.device, alive)
                if not sparse.issparse(data.X):  # the model outlives the caller's array
                    data = data._replace(X=np.array(data.X, dtype=np.float64, order="C"))
        self.cooccurrence_, self.total_weight_ = data.counts
        if not data.is_complete:
            known = ~np.isnan(data.Y)
            self.known_together_, _ = correlation.cooccurrence(known, data.weights)
        return data, labels

    def _sums_up(self, data: representation.Data, alive: memory.Alive) -> bool:
        """Whether rows are summed up: as `solver` has it, or where "auto" finds them too many.

        "auto" depends on the sizes, `max_memory` and the device alone, so that the same data give
        the same model whatever else the machine does. It warns.
        """
        solver = self.solver
        if not data.is_complete and solver not in ("auto", "spectral"):
            raise ValueError(
                f"solver={solver!r} takes complete labels, and some of Y are unknown (NaN); use"
                " solver='spectral'."
            )
        if solver != "auto":
            return solver in ("landmark", "primal")
        if not data.is_complete or self._is_pairwise():
            return False
        n, q = data.Y.shape
        most = EXACT_ROWS
        if str(self.device) not in ("None", "cpu"):
            most = EXACT_ROWS_ON_GPU
        needed = alive.bytes(n, q)
        allowed = needed
        if self.max_memory is not None:
            allowed = memory.as_bytes(self.max_memory)
        if n > most:
            reason = f"would take long for {n:,} rows"
        elif needed > allowed:
            reason = f"needs {memory.gib(needed)}, and max_memory allows {memory.gib(allowed)}"
        else:
            return False
        warnings.warn(
            f"solver='auto' works with {self.n_landmarks:,} landmarks, or for the linear kernel"
            f" with the columns: the exact one {reason}. Choose solver='landmark', 'primal' or"
            " 'spectral' to decide yourself; more landmarks (n_landmarks) are more accurate.",
            SolverWarning,
            stacklevel=5,
        )
        return True

    def _store(
        self, model: representation.Model, S: Array, decisions: Params, labels: Labels
    ) -> None:
        """Set what scores are computed from, as numpy arrays, and how predictions follow."""
        solution = model.solution
        fitted = model.representation
        self.label_correlation_ = S
        self.collaboration_ = model.G
        self.dual_coef_ = to_numpy(solution.dual_coef)
        self.A_ = to_numpy(solution.A)
        for name in ("Z", "convergence"):
            if getattr(solution, name) is not None:
                setattr(self, f"{name}_", to_numpy(getattr(solution, name)))
        self.n_iter_ = solution.n_iter
        self.solver_ = model.solver
        self.bandwidth_ = fitted.kernel.bandwidth
        self.X_fit_: Array = None if self._is_pairwise() else fitted.rows
        self._kernel = fitted.kernel
        self._scaling = fitted.scaling
        self._kernel_mean = to_numpy(solution.kernel_mean)
        weights = to_numpy(solution.weights)
        if (weights != weights[0]).any():
            self._row_shares = weights / weights.sum()
        self._lambda2 = model.params["lambda2"]
        # of the kernel as it is computed: the linear one on rows moved to the origin
        self._offset = to_numpy(solution.intercept)
        along = np.zeros(len(self.dual_coef_))  # the paper's rows are not moved
        if self._kernel.name == "linear" and self._scaling.scale is None:
            along = self._scaling.shift
            if self.X_fit_ is not None:
                along = self.X_fit_ @ along
        self.intercept_ = self._offset - along @ self.dual_coef_
        self.b_ = to_numpy(solution.b) - along @ (self.A_ / self._lambda2)
        self._store_decisions(decisions, labels)

    def _store_decisions(self, decisions: Params, labels: Labels) -> None:
        """Set how predictions follow from scores."""
        self.classes_ = labels.classes
        self.label_names_ = labels.names
        self._target = labels.target
        self.scores_ = "paper"
        for name, value in decisions.items():
            setattr(self, name, value)

    @property
    def probability_thresholds_(self) -> Array:
        """Thresholds as probabilities, (q,)."""
        if self._link() is None:
            raise AttributeError(
                "This model has no probabilities; thresholds_ are those of its scores."
            )
        return self._probabilities(self.thresholds_)

    def _link(self) -> link.Link | None:
        if hasattr(self, "link_slopes_"):
            return link.Link(self.link_slopes_, self.link_offsets_)
        return None

    def _outputs(self, X: Array) -> outputs.Outputs:
        rows = check_rows(self, X, reset=False, pairwise=self._is_pairwise())
        scores, members = self._terms()
        for weight, member in members:
            of_member = member._kernel_times(rows, member.dual_coef_) + member._offset
            scores = scores + weight * of_member
        sets = getattr(self, "set_thresholds_", OF_A_MEMBER)
        if getattr(self, "solver_", None) == "alternating":
            sets = f"Prediction sets need {BY_LEAVE_ONE_OUT}"
        if self._target == "multiclass":
            sets = (
                "Of more than two classes each row has exactly one, so there are no prediction"
                " sets; use decision_function."
            )
        return outputs.Outputs(
            _narrowed(scores, rows.dtype),
            self.thresholds_,
            self.label_names_,
            self.classes_,
            self._target,
            self._probabilities if self._link() else None,
            sets,
        )

    def _probabilities(self, scores: Array) -> Array:
        """Probabilities (m, q) of scores."""
        linked = self._link()
        if linked is not None and self.scores_ == "paper":
            log_odds = linked.log_odds(scores.astype(np.float64))
            scores = _narrowed(log_odds, scores.dtype)
        return link.probabilities(scores)

    def weighted_members(self) -> list[tuple[float, BaseCamel]]:
        """Weights and models whose scores add up to this model's, before the link.

        That is the model itself, unless a search combined several.
        """
        check_is_fitted(self)
        if hasattr(self, "members_"):
            return list(zip(self.weights_.tolist(), self.members_, strict=True))
        return [(1.0, self)]

    def _terms(self) -> tuple[Any, list[tuple[Any, BaseCamel]]]:
        """A constant and weighted models, whose scores add up to this model's.

        Constant and weights are those of all labels, or (q,).
        """
        members: list[tuple[Any, BaseCamel]] = [*self.weighted_members()]
        linked = self._link()
        constant = getattr(self, "_constant", 0.0)  # of a combination
        if linked is not None and self.scores_ == "log_odds":
            constant = linked.log_odds(constant)
            members = [(weight * linked.slope, member) for weight, member in members]
        return constant, members

    def explain(
        self, X: Array, *, features: bool = False, sources: Sequence[Hashable] | None = None
    ) -> explanation.Explanation:
        """Exact additive parts of every score, by labels and, with `features`, also by columns.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        features : bool, default=False
            Whether to share the scores by columns too, as Shapley values: what a column adds when
            it becomes known, averaged over all orders in which columns may become known. It takes
            the kernels "rbf", "laplacian" or "linear".
        sources : sequence of d names or ints, default=None
            Which source each column comes from; columns of one source are taken together, as those
            of one encoded text are. None: each column by itself.

        Returns
        -------
        Explanation
            ``base`` (q,) and ``parts`` (m, q, q) with ``base + parts.sum(axis=1) ==
            decision_function(X)``: the part of the label's own prediction, and the push of every
            other label. With ``features=True`` also ``feature_base`` (q,) and ``features`` (m, G,
            q) with ``feature_base + features.sum(axis=1) == decision_function(X)``.

        Notes
        -----
        Where a column is not known it is drawn from its values in the training rows, by weight,
        apart from the other columns; from those of the landmarks, if the model has landmarks.
        Columns of one source are drawn together, from 2,000 of the rows where more than 4,000 were
        fitted. With ``scaling="unit"`` rows are divided by their length first: the columns are
        those of the divided row.

        Examples
        --------
        >>> from skcamel import CamelClassifier
        >>> X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
        >>> model = CamelClassifier(lambda2=0.01).fit(X, X[:, :1] > 0)
        >>> found = model.explain(X[2:3], features=True, sources=["size", "colour", "colour"])
        >>> [f"{name} {value:.2f}" for name, value in found.column_values(0, 0, k=1)]
        ['size 0.88']
        """
        if sources is not None and not features:
            raise ValueError(
                "sources says which columns belong together, and no columns are asked for; give"
                " features=True as well."
            )
        rows = check_rows(self, X, reset=False, pairwise=self._is_pairwise())
        by_column: dict[str, Array] = {}
        if features:
            by_column = self._by_column(rows, sources)
        parts: Any = 0.0
        for weight, member in self._terms()[1]:
            # f(x) - f̄ = (k(x) - k̄) A / λ2, (m, q)
            coefficients = member.A_ / member._lambda2
            average = member._kernel_mean @ coefficients
            deviations = member._kernel_times(rows, coefficients) - average
            parts = parts + weight * (deviations[:, :, None] * member.collaboration_)
        return explanation.Explanation(
            self.base_scores_,
            parts,
            self.label_names_,
            self.thresholds_,
            explanation.evidence(self),
            self.correlation,
            target=self._target,
            **by_column,
        )

    def _by_column(self, rows: Array, sources: Sequence[Hashable] | None) -> dict[str, Array]:
        """Columns of an :class:`Explanation`: values, scores where none is known, and names."""
        base, members = self._terms()
        attribution.check_kernels([member._kernel for _, member in members])
        names = getattr(self, "feature_names_in_", None)
        names, columns = attribution.column_groups(rows.shape[1], sources, names)
        values: Any = 0.0
        for weight, member in members:
            of_member, absent = attribution.shapley(
                member._kernel,
                alike(member._scaling(rows), member.X_fit_),
                member.X_fit_,
                weight * member.dual_coef_,
                columns,
                mean=member._kernel_mean,
                weights=getattr(member, "_row_shares", None),
            )
            values = values + of_member
            base = base + absent + weight * member._offset
        return {"features": values, "feature_base": base, "feature_names": names}

    @property
    def base_scores_(self) -> Array:
        """Scores of the average training row, (q,)."""
        base, members = self._terms()
        for weight, member in members:
            base = base + weight * (member._offset + member._kernel_mean @ member.dual_coef_)
        return base

    def _kernel_times(self, rows: Array, coefficients: Array) -> Array:
        """k(x) @ coefficients of every checked row, (m, q), in blocks of rows."""
        train = to_device(self.X_fit_, self.device)
        fitted = representation.Representation(self._scaling, self._kernel, self.X_fit_, train)
        coefficients = to_device(coefficients, self.device)
        found = np.empty((rows.shape[0], coefficients.shape[1]))
        size = max(PREDICT_ROWS, PREDICT_BYTES // (8 * len(coefficients)))
        if sparse.issparse(rows):  # each block costs a transpose of the training rows
            size *= 16
        for some in slices(rows.shape[0], size):
            K = fitted.kernel_rows(rows[some], self.device)
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                found[some] = to_numpy(K @ coefficients)
        is_finite = np.isfinite(found).all(axis=1)
        if not is_finite.all():
            raise OverflowedRowError(int(is_finite.argmin()))
        return found


def learn_correlation(estimator: Any, data: representation.Data) -> Array:
    """S of the training labels, with a warning where its certificate misses the tolerance."""
    found = correlation.learn(
        data.counts if data.is_complete else data.Y,
        weights=data.weights,
        centred=estimator.correlation == "centred",
        strength=estimator.sparsity,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
    )
    worst = float(found.violation.max())
    if worst > estimator.tol:
        warnings.warn(
            f"Label correlation stopped after {found.n_iter} iterations with a KKT violation of"
            f" {worst:.1e} of the penalty, above tol={estimator.tol:.1e}; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return found.S


def _are_figures(values: Any, q: int) -> bool:
    """Whether these are q numbers from 0 on, NaN where undefined, of a model file."""
    if getattr(values, "dtype", None) != np.float64 or values.shape != (q,):
        return False
    return not ((values < 0) | (values == np.inf)).any()


def _narrowed(scores: Array, dtype: np.dtype[Any]) -> Array:
    """Scores in the precision of the rows; what is too large becomes the largest number."""
    limit = float(np.finfo(dtype).max)
    return np.clip(scores, -limit, limit).astype(dtype, copy=False)
