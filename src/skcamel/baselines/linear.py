"""What LLSF and JFSC share as estimators: features, scores, the authors' threshold, a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import ndarray
from scipy import sparse

from skcamel import checks
from skcamel.arrays import Array, check_device
from skcamel.baselines.base import Baseline, Training, beside, half_less
from skcamel.baselines.proximal import MAX_ITER, TOL, End, Problem, label_distance
from skcamel.camel import scaling
from skcamel.camel.search import Scores, candidate_metrics, tabulate, usable
from skcamel.camel.thresholds import WORDS, is_tuned, thresholds
from skcamel.metrics import NAMES

PRESETS = ("faithful", "fair")
N_THRESHOLDS = 51
TUNED = "tuned"  # the authors' rule

Values = Sequence[float] | None
Axes = dict[str, tuple[float, ...]]
Candidate = Mapping[str, Any]


def powers(base: float, exponents: Sequence[int], names: Sequence[str]) -> Axes:
    """The same powers as values of each penalty.

    >>> powers(2, range(-1, 2), ("alpha",))
    {'alpha': (0.5, 1.0, 2.0)}
    """
    return dict.fromkeys(names, tuple(float(base) ** k for k in exponents))


class Solution(NamedTuple):
    """A linear model of scaled rows."""

    scale: scaling.Scaling
    coef: ndarray  # (q, d)
    intercept: ndarray  # (q,)
    n_iter: int

    def rated(self, X: Array) -> ndarray:
        """F of rows, (m, q)."""
        return scaled(self.scale, X) @ self.coef.T + self.intercept


class Prepared(NamedTuple):
    """Training data as the sequence sees it."""

    scale: scaling.Scaling
    X: Array  # (n, d), or (n, d + 1) with a last column of ones where that is the intercept
    Y: ndarray  # (n, q)
    means: tuple[ndarray, ndarray] | None = None  # (d,) and (q,) where X and Y were centred
    extended: bool = False  # whether the last column is the constant

    def solution(self, end: End) -> Solution:
        """The model of scaled rows that are neither centred nor extended."""
        W = end.W
        intercept = np.zeros(len(W))
        if self.means is not None:
            x_mean, y_mean = self.means
            intercept = y_mean - W @ x_mean
        if self.extended:
            intercept = W[:, -1]
            W = W[:, :-1]
        return Solution(self.scale, W, intercept, end.n_iter)


def prepare(preset: str, data: Training, *, intercept: bool) -> Prepared:
    """Training rows X (n, d) and labels Y (n, q) in {0, 1} as a preset sees them.

    "faithful", as the authors prepared them: rows of unit length; the intercept is a column of
    ones, penalised like any other. "fair", which does not spoil dense sets: columns mapped to
    [0, 1], which makes sparse rows dense; X and Y are centred, so that the intercept is not
    penalised.
    """
    X, Y, weights, _ = data
    if preset == "fair" and sparse.issparse(X):
        X = X.toarray()  # so that columns are shifted to start at 0, as dense ones are
    scale = scaling.fitted("unit" if preset == "faithful" else "minmax", X)
    rows = scaled(scale, X)
    if not intercept:
        return Prepared(scale, rows, Y)
    if preset == "fair":
        x_mean = np.average(rows, axis=0, weights=weights)
        y_mean = np.average(Y, axis=0, weights=weights)
        return Prepared(scale, rows - x_mean, Y - y_mean, (x_mean, y_mean))
    return Prepared(scale, beside(rows, np.ones((X.shape[0], 1))), Y, extended=True)


def scaled(scale: scaling.Scaling, X: Array) -> Array:
    """Rows under a fitted scaling.

    The authors of LLSF add machine epsilon to the whole matrix if any row is zero: after scaling to
    unit length such a row holds equal entries, and the others are what they were up to rounding.
    So only zero rows are touched here.

    >>> scaled(scaling.Scaling("unit"), np.array([[3.0, 4.0], [0.0, 0.0]])).round(3)
    array([[0.6  , 0.8  ],
           [0.707, 0.707]])
    """
    rows = scale(X)
    empty = np.asarray(abs(rows).sum(axis=1)).ravel() == 0
    if scale.name != "unit" or not empty.any():
        return rows
    filling = np.outer(empty, np.full(X.shape[1], 1 / np.sqrt(X.shape[1])))
    return rows + sparse.csr_array(filling)


@dataclass(eq=False, repr=False)
class LinearBaseline(Baseline):
    """F = X W + b of scaled rows.

    A subclass says in `PROBLEM` and `_problem` what it learns from. The penalty of the start must
    be positive.
    """

    _: KW_ONLY
    preset: str = "faithful"
    max_iter: int = MAX_ITER
    tol: float = TOL
    THRESHOLDS = (*WORDS, TUNED)
    PROBLEM: ClassVar[type[Problem]]

    def __sklearn_tags__(self) -> Any:
        """Unit rows do not distinguish near from far: dense classes may be scored poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.preset == "faithful"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checks.choice(self.preset, PRESETS, "preset")
        checks.check_number("tol", self.tol, above=True)
        hint = "(0 leaves the ridge regression of the start)"
        checks.check_number("max_iter", self.max_iter, 0, whole=True, otherwise=hint)
        for name, values in self._axes().items():
            of_the_ridge = name.removesuffix("s") == self.PROBLEM.PENALTIES[-1]
            for value in values:
                checks.check_number(name, value, above=of_the_ridge)

    def _axes(self) -> Axes:
        """Values of each penalty, by the name of its parameter."""
        return {name: (value,) for name, value in self._chosen().items()}

    def _chosen(self) -> Candidate:
        """The penalties to learn with."""
        return {name: getattr(self, name) for name in self.PROBLEM.PENALTIES}

    @property
    def intercept(self) -> bool:
        """Whether there is one; a parameter of JFSC."""
        return self.preset == "fair"

    def _problem(self, prepared: Prepared, data: Training, device: Any) -> Problem:
        raise NotImplementedError

    def _solutions(
        self, data: Training, candidates: Sequence[Candidate], device: Any = None
    ) -> Iterator[Solution]:
        """The model of each candidate."""
        prepared = prepare(self.preset, data, intercept=self.intercept)
        self.label_distance_ = label_distance(data.Y, data.weights)
        problem = self._problem(prepared, data, device)
        for end in problem.solve(candidates, max_iter=self.max_iter, tol=self.tol):
            yield prepared.solution(end)

    def _learn(self, data: Training) -> None:
        (found,) = self._solutions(data, [self._chosen()])
        self.scaling_ = found.scale
        self.coef_ = found.coef
        self.intercept_ = found.intercept
        self.n_iter_ = found.n_iter

    def _confidences(self, X: Array) -> ndarray:
        return Solution(self.scaling_, self.coef_, self.intercept_, self.n_iter_).rated(X)

    def _thresholds(self, data: Training) -> ndarray:
        if self.threshold == TUNED:
            return authors_threshold(data.Y, self._confidences(data.X), data.weights)
        return super()._thresholds(data)


@dataclass(eq=False, repr=False)
class LinearSearch(LinearBaseline):
    """Scores every candidate of a grid in every fold, and learns with the best from all rows.

    A subclass names its grids; their keys are its parameters, given with an "s" appended.
    """

    _: KW_ONLY
    grid: str = "coarse"
    cv: Any = 5
    scoring: str = "average_precision"
    random_state: Any = None
    device: str | None = None
    GRIDS: ClassVar[dict[str, Axes]]

    def _check_parameters(self) -> None:
        checks.choice(self.grid, tuple(self.GRIDS), "grid")
        checks.choice(self.scoring, NAMES, "scoring")
        if self.device is not None:
            check_device(self.device)
        super()._check_parameters()

    def _axes(self) -> Axes:
        """Values of each penalty: those given, else those of the named grid."""
        axes = {}
        for penalty, usual in self.GRIDS[self.grid].items():
            name = f"{penalty}s"
            values = getattr(self, name)
            if values is None:
                values = usual
            elif isinstance(values, str) or np.ndim(values) != 1 or not len(values):
                raise ValueError(
                    f"{name} must be a sequence with at least one value, got {values!r}; None takes"
                    " those of the grid."
                )
            axes[name] = tuple(values)
        return axes

    def _chosen(self) -> Candidate:
        return self.best_params_

    def _learn_all(self, data: Training) -> ndarray:
        X, Y, weights, groups = data
        names = self.PROBLEM.PENALTIES
        every = product(*self._axes().values())
        candidates = [dict(zip(names, values, strict=True)) for values in every]
        results = []
        for train, test in checks.inner_splits(self, X, Y, self._target, weights, groups):
            results.append(self._judged(data.rows(train), data.rows(test), candidates))
        self.scoring_ = usable(self.scoring, 2 * Y - 1, weights)
        found = tabulate(candidates, results, self.scoring_)
        self.cv_results_, self.best_index_, self.best_score_ = found
        self.best_params_ = candidates[self.best_index_]
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        return super()._learn_all(data)

    def _judged(
        self, known: Training, new: Training, candidates: Sequence[Candidate]
    ) -> list[Scores]:
        """The seven metrics of each candidate in a fold, at fixed thresholds or the authors'."""
        relevant = new.Y > 0
        fixed = "zero" if is_tuned(self.threshold) else self.threshold
        at = thresholds(fixed, relevant, new.Y)
        results: list[Scores] = []
        for found in self._solutions(known, candidates, self.device):
            if self.threshold == TUNED:
                at = authors_threshold(known.Y, found.rated(known.X), known.weights)
            scores = half_less(found.rated(new.X))
            results += candidate_metrics(relevant, scores[None], at, new.weights)
        return results


def authors_threshold(Y: ndarray, F: ndarray, weights: ndarray | None = None) -> ndarray:
    """Thresholds of the scores F - 1/2 that decide as F >= τ does, (q,), for the authors' τ.

    τ is the first of 51 equally spaced values from 0 to the largest F with the highest
    example-based F1. The F1 of a row without labels and without predictions is 1. Where no row has
    a label τ is 1/2.

    >>> Y, F = np.array([[1, 0], [1, 1]]), np.array([[0.5, 0.1], [1.0, 0.3]])
    >>> (authors_threshold(Y, F) + 0.5).round(2)
    array([0.12, 0.12])
    """
    relevant = Y > 0
    size = relevant.sum(axis=1)

    def f1(tau: float) -> float:
        predicted = tau <= F
        both = (relevant & predicted).sum(axis=1)
        total = size + predicted.sum(axis=1)
        of_rows = np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0)
        return float(np.average(of_rows, weights=weights))

    tau = 0.5
    if relevant.any():
        tau = float(max(np.linspace(0.0, F.max(), N_THRESHOLDS), key=f1))
    return np.full(Y.shape[1], np.nextafter(tau - 0.5, -np.inf))
