"""What LLSF and JFSC share as estimators: presets of the features, linear scores, the authors' cut, and candidates solved together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skcamel import scaling
from skcamel.arrays import Array, check_device
from skcamel.baselines import proximal
from skcamel.baselines.base import Baseline, TrainingData
from skcamel.baselines.search import Candidate, GridSearch, Rated
from skcamel.checks import check_count, check_not_negative, check_positive
from skcamel.metrics.conventions import choice
from skcamel.selection.thresholds import MODES

PRESETS = ("faithful", "fair")
PRECISIONS: dict[str, type[np.floating]] = {"single": np.float32, "double": np.float64}
N_CUTS = 51
TUNED = "tuned"  # the authors' rule for the cut

Axes = dict[str, tuple[float, ...]]


class Prepared(NamedTuple):
    """Training data as the sequence sees it, and what is needed to score new rows."""

    scale: scaling.Scaling
    X: Array  # (n, d'): columns that are not all zero, with a last one of ones where that is the intercept
    Y: np.ndarray  # (n, q)
    means: tuple[np.ndarray, np.ndarray] | None = None  # (d,) and (q,) where X and Y were centred
    extended: bool = False  # whether the last column is the constant
    used: np.ndarray | None = None  # bool (d,), with the constant: columns that X has; None for all

    def placed(self, W: np.ndarray) -> np.ndarray:
        """Values (..., q, d') of the columns that X has among zeros for all others: (..., q, d)."""
        if self.used is None:
            return W
        whole = np.zeros((*W.shape[:-1], len(self.used)), dtype=W.dtype)
        whole[..., self.used] = W
        return whole

    def weights(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (..., q, d) and intercepts (..., q) for scaled but neither centred nor extended rows, from those of X (..., q, d')."""
        W = self.placed(W)
        if self.means is not None:
            return W, self.means[1] - W @ self.means[0]
        if self.extended:
            return W[..., :-1], W[..., -1]
        return W, np.zeros(W.shape[:-1])


def prepare(preset: str, X: Array, Y: np.ndarray, weights: np.ndarray | None = None, *, intercept: bool) -> Prepared:
    """Training rows X (n, d) and labels Y (n, q) in {0, 1} as a preset sees them; `weights` (n,) count in the means.

    "faithful", as the authors prepared them: rows of unit length; the intercept is a column of ones, penalised like any other.
    "fair", which does not spoil dense sets: columns mapped to [0, 1], which makes sparse rows dense; X and Y are centred, so that
    the intercept is not penalised.
    """
    if preset == "fair" and sparse.issparse(X):
        X = X.toarray()  # so that columns are shifted to start at 0, as dense ones are
    scale = scaling.fitted("unit" if preset == "faithful" else "minmax", X)
    rows = scaled(scale, X)
    if not intercept:
        return _without_zeros(Prepared(scale, rows, Y))
    if preset == "faithful":
        ones = np.ones((X.shape[0], 1))
        extended = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(ones)])) if sparse.issparse(rows) else np.hstack([rows, ones])
        return _without_zeros(Prepared(scale, extended, Y, extended=True))
    x_mean, y_mean = (np.average(part, axis=0, weights=weights) for part in (rows, Y))
    return _without_zeros(Prepared(scale, rows - x_mean, Y - y_mean, (x_mean, y_mean)))


def _without_zeros(prepared: Prepared) -> Prepared:
    """The same without columns that are all zero: their weights start at 0, and no step moves them."""
    used = np.asarray(abs(prepared.X).sum(axis=0)).ravel() > 0
    if used.all() or not used.any():
        return prepared
    return prepared._replace(X=prepared.X[:, used], used=used)


def scaled(scale: scaling.Scaling, X: Array) -> Array:
    """Rows under a fitted scaling.

    The authors of LLSF add machine epsilon to the whole matrix if any row is zero: after scaling to unit length such a
    row holds equal entries, and the others are what they were up to rounding. So only zero rows are touched here.

    >>> scaled(scaling.Scaling("unit"), np.array([[3.0, 4.0], [0.0, 0.0]])).round(3)
    array([[0.6  , 0.8  ],
           [0.707, 0.707]])
    """
    rows = scale(X)
    if scale.name != "unit":
        return rows
    empty = np.asarray(abs(rows).sum(axis=1)).ravel() == 0
    if not empty.any():
        return rows
    entry = 1 / np.sqrt(X.shape[1])
    if sparse.issparse(rows):
        filled = sparse.csr_array(np.where(empty, entry, 0.0)[:, None]) @ sparse.csr_array(np.ones((1, X.shape[1])))
        return sparse.csr_array(rows + filled)
    return np.where(empty[:, None], entry, rows)


@dataclass(eq=False, repr=False)
class LinearBaseline(Baseline):
    """F = X W + b of scaled rows.

    A subclass names its penalties in `PENALTIES`, last that of the start, which must be positive, and makes in `_problem` what it
    learns from.
    """

    _: KW_ONLY
    preset: str = "faithful"
    max_iter: int = proximal.MAX_ITER
    tol: float = proximal.TOL
    THRESHOLDS: ClassVar[tuple[str, ...]] = (*MODES, TUNED)
    PENALTIES: ClassVar[Any]  # a named tuple

    def __sklearn_tags__(self) -> Any:
        """Rows of unit length without intercept cannot tell near from far: dense classes may be scored poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.preset == "faithful"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice(self.preset, PRESETS, "preset")
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, least=0, otherwise="(0 leaves the ridge regression of the start)")
        for name, values in self._axes().items():
            check = check_positive if name.removesuffix("s") == self.PENALTIES._fields[-1] else check_not_negative
            for value in values:
                check(name, value)

    def _axes(self) -> Axes:
        """Values of each penalty, by the name of its parameter."""
        return {name: (value,) for name, value in self._chosen().items()}

    def _chosen(self) -> Candidate:
        """The penalties to learn with."""
        return {name: getattr(self, name) for name in self.PENALTIES._fields}

    def _problem(
        self, X: Array, Y: np.ndarray, weights: np.ndarray | None, arithmetic: proximal.Arithmetic = proximal.DOUBLE
    ) -> tuple[Prepared, proximal.Problem]:
        raise NotImplementedError

    def _solver(self, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """Arguments of the solver: penalties (C,) each, and when to stop."""
        values = (np.array([float(candidate[name]) for candidate in candidates]) for name in self.PENALTIES._fields)
        return {"penalties": self.PENALTIES(*values), "max_iter": self.max_iter, "tol": self.tol}

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        prepared, problem = self._problem(X, filled(Y, weights), weights)
        end = problem.solve(**self._solver([self._chosen()]))
        self.scaling_ = prepared.scale
        self.coef_, self.intercept_ = prepared.weights(end.W[:, 0])
        nothing_known = np.isnan(Y).all(axis=0)
        self.coef_[nothing_known], self.intercept_[nothing_known] = 0.0, 0.0  # labels that are never predicted
        self.n_iter_ = int(end.n_iter[0])

    def _confidences(self, X: Array) -> np.ndarray:
        return scaled(self.scaling_, X) @ self.coef_.T + self.intercept_

    def _cuts(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if self.threshold == TUNED:
            return authors_cuts(Y, self._confidences(X), weights)
        return super()._cuts(X, Y, weights)


@dataclass(eq=False, repr=False)
class LinearSearch(GridSearch, LinearBaseline):
    """A search over penalties; all candidates of a fold are solved in common products."""

    _: KW_ONLY
    precision: str = "single"
    device: str | None = None
    memory_budget: int = proximal.MEMORY_BUDGET
    ADDED: ClassVar = GridSearch.ADDED | {"precision": "double", "device": None}

    def _check_parameters(self) -> None:
        choice(self.precision, tuple(PRECISIONS), "precision")
        check_device(self.device)
        super()._check_parameters()
        check_count("memory_budget", self.memory_budget, otherwise="(bytes)")

    def _rated(self, train: TrainingData, X_test: Array, candidates: Sequence[Candidate]) -> Rated:
        arithmetic = proximal.Arithmetic(PRECISIONS[self.precision], self.device)
        prepared, problem = self._problem(train[0], filled(train[1], train[2]), train[2], arithmetic)
        new, known = (scaled(prepared.scale, X) for X in (X_test, train[0]))
        for index, end in problem.solve_batches(**self._solver(candidates), budget=self.memory_budget):
            for k, W in zip(index.tolist(), end.W.swapaxes(0, 1), strict=True):  # (q, d) of each candidate
                coef, intercept = prepared.weights(W)
                cuts = authors_cuts(train[1], known @ coef.T + intercept, train[2]) if self.threshold == TUNED else None
                yield k, new @ coef.T + intercept, cuts


def filled(Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Labels (n, q) whose unknown entries are the mean of the known ones of the label, 0 where there are none; Y itself if all are known.

    >>> filled(np.array([[1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]]), None)[2]
    array([0.5, 0. ])
    """
    unknown = np.isnan(Y)
    if not unknown.any():
        return Y
    w = ~unknown * (1.0 if weights is None else weights[:, None])
    total = w.sum(axis=0)
    means = (w * np.where(unknown, 0.0, Y)).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(unknown, means, Y)


def authors_cuts(Y: np.ndarray, F: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Cuts of the scores F - 1/2 that decide as F >= τ does, (q,), for the τ of :func:`tuned_cut`."""
    return np.full(Y.shape[1], just_below(tuned_cut(Y, F, weights)))


def just_below(tau: float) -> float:
    """The cut of scores F - 1/2 that the smallest F >= τ exceeds."""
    return float(np.nextafter(tau - 0.5, -np.inf))


def tuned_cut(Y: np.ndarray, F: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The first τ of 51 equally spaced values from 0 to the largest F with the highest example-based F1 of the decisions F >= τ.

    The F1 of a row without labels and without predictions is 1. Where no row has a label there is nothing to tune on, and
    τ is 1/2. Unknown entries of Y (NaN) count nowhere.

    >>> round(tuned_cut(np.array([[1, 0], [1, 1]]), np.array([[0.5, 0.1], [1.0, 0.3]])), 2)
    0.12
    """
    relevant, known = Y > 0, ~np.isnan(Y)
    if not relevant.any():
        return 0.5
    largest = float(F.max(where=known, initial=-np.inf))
    size = relevant.sum(axis=1)

    def f1(tau: float) -> float:
        predicted = (tau <= F) & known
        both, total = (relevant & predicted).sum(axis=1), size + predicted.sum(axis=1)
        return float(np.average(np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0), weights=weights))

    return float(max(np.linspace(0.0, largest, N_CUTS), key=f1))
