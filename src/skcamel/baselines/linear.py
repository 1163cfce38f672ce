"""What LLSF and JFSC share as estimators: presets of the features, linear scores, the authors' threshold, candidates solved together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator

from skcamel import memory
from skcamel.arrays import Array, check_device
from skcamel.baselines.base import (
    Baseline,
    TrainingData,
    half_less,
    known_thresholds,
    some_rows,
    with_weight,
)
from skcamel.baselines.proximal import MAX_ITER, TOL, Problem
from skcamel.camel import scaling
from skcamel.camel.search import Scores, candidate_metrics, tabulate, usable
from skcamel.camel.thresholds import WORDS, is_tuned
from skcamel.checks import check_number, choice, inner_splits
from skcamel.metrics import evaluate
from skcamel.metrics.conventions import NAMES

PRESETS = ("faithful", "fair")
N_CUTS = 51
TUNED = "tuned"  # the authors' rule

Axes = dict[str, tuple[float, ...]]
Candidate = Mapping[str, Any]
Folds = list[tuple[np.ndarray, np.ndarray]]  # rows of the training and the test part of each
Judged = tuple[
    list[list[Scores]], list[np.ndarray]
]  # metrics of each candidate in each fold; tuned thresholds of each candidate


class Prepared(NamedTuple):
    """Training data as the sequence sees it, and what is needed to score new rows."""

    scale: scaling.Scaling
    # (n, d'): columns that are not all zero, with a last one of ones where that is the intercept
    X: Array
    Y: np.ndarray  # (n, q)
    means: tuple[np.ndarray, np.ndarray] | None = None  # (d,) and (q,) where X and Y were centred
    extended: bool = False  # whether the last column is the constant
    used: np.ndarray | None = None  # bool (d,), with the constant: columns that X has; None for all

    def placed(self, W: np.ndarray) -> np.ndarray:
        """Values (q, d') of the columns that X has among zeros for all others: (q, d)."""
        if self.used is None:
            return W
        whole = np.zeros((len(W), len(self.used)))
        whole[:, self.used] = W
        return whole

    def weights(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (q, d) and intercepts (q,) for scaled but neither centred nor extended rows, from those of X (q, d')."""
        W = self.placed(W)
        if self.means is not None:
            return W, self.means[1] - W @ self.means[0]
        if self.extended:
            return W[:, :-1], W[:, -1]
        return W, np.zeros(len(W))


def prepare(
    preset: str, X: Array, Y: np.ndarray, weights: np.ndarray | None = None, *, intercept: bool
) -> Prepared:
    """Training rows X (n, d) and labels Y (n, q) in {0, 1} as a preset sees them; `weights` (n,) count in the means.

    "faithful", as the authors prepared them: rows of unit length; the intercept is a column of
    ones, penalised like any other.
    "fair", which does not spoil dense sets: columns mapped to [0, 1], which makes sparse rows
    dense; X and Y are centred, so that
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
        extended = (
            sparse.csr_array(sparse.hstack([rows, sparse.csr_array(ones)]))
            if sparse.issparse(rows)
            else np.hstack([rows, ones])
        )
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

    The authors of LLSF add machine epsilon to the whole matrix if any row is zero: after scaling to
    unit length such a
    row holds equal entries, and the others are what they were up to rounding. So only zero rows are
    touched here.

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
        filled = sparse.csr_array(np.where(empty, entry, 0.0)[:, None]) @ sparse.csr_array(
            np.ones((1, X.shape[1]))
        )
        return sparse.csr_array(rows + filled)
    return np.where(empty[:, None], entry, rows)


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
    THRESHOLDS: ClassVar[tuple[str, ...]] = (*WORDS, TUNED)
    PROBLEM: ClassVar[type[Problem]]

    def __sklearn_tags__(self) -> Any:
        """Rows of unit length without intercept cannot tell near from far: dense classes may be scored poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.preset == "faithful"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice(self.preset, PRESETS, "preset")
        check_number("tol", self.tol, above=True)
        check_number(
            "max_iter",
            self.max_iter,
            0,
            whole=True,
            otherwise="(0 leaves the ridge regression of the start)",
        )
        for name, values in self._axes().items():
            of_the_ridge = name.removesuffix("s") == self.PROBLEM.PENALTIES[-1]
            for value in values:
                check_number(name, value, above=of_the_ridge)

    def _axes(self) -> Axes:
        """Values of each penalty, by the name of its parameter."""
        return {name: (value,) for name, value in self._chosen().items()}

    def _chosen(self) -> Candidate:
        """The penalties to learn with."""
        return {name: getattr(self, name) for name in self.PROBLEM.PENALTIES}

    def _problem(
        self, X: Array, Y: np.ndarray, weights: np.ndarray | None, device: Any = None
    ) -> tuple[Prepared, Problem]:
        raise NotImplementedError

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        prepared, problem = self._problem(X, filled(Y, weights), weights)
        (end,) = problem.solve([self._chosen()], max_iter=self.max_iter, tol=self.tol)
        self.scaling_ = prepared.scale
        self.coef_, self.intercept_ = prepared.weights(end.W)
        nothing_known = np.isnan(Y).all(axis=0)
        self.coef_[nothing_known], self.intercept_[nothing_known] = (
            0.0,
            0.0,
        )  # labels that are never predicted
        self.n_iter_ = end.n_iter

    def _confidences(self, X: Array) -> np.ndarray:
        return scaled(self.scaling_, X) @ self.coef_.T + self.intercept_

    def _cuts(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if self.threshold == TUNED:
            return authors_cuts(Y, self._confidences(X), weights)
        return super()._cuts(X, Y, weights)


@dataclass(eq=False, repr=False)
class LinearSearch(LinearBaseline):
    """Scores every candidate of a grid of penalties in every fold, chooses one and learns with it from all rows.

    A subclass names its grids; their keys are its parameters, given with an "s" appended.
    """

    _: KW_ONLY
    grid: str = "coarse"
    cv: int | BaseCrossValidator | Iterable[tuple[np.ndarray, np.ndarray]] = 5
    scoring: str = "average_precision"
    random_state: Any = None
    device: str | None = None
    GRIDS: ClassVar[dict[str, Axes]]

    def _check_parameters(self) -> None:
        choice(self.grid, tuple(self.GRIDS), "grid")
        choice(self.scoring, NAMES, "scoring")
        if self.device is not None:
            check_device(self.device)
        super()._check_parameters()
        if isinstance(self.cv, str):
            message = (
                f"cv={self.cv!r} is not known; choose a number of folds, a splitter or an iterable"
                " of (train, test)."
            )
            raise ValueError(message)  # noqa: TRY004 (a wrong value, as CamelClassifierCV says)

    def _axes(self) -> Axes:
        """Values of each penalty: those given, else those of the named grid."""
        axes = {}
        for penalty, values in self.GRIDS[self.grid].items():
            name = f"{penalty}s"
            given = getattr(self, name)
            if given is not None and (
                isinstance(given, str) or np.ndim(given) != 1 or not len(given)
            ):
                raise ValueError(
                    f"{name} must be a sequence with at least one value, got {given!r}; None takes"
                    " those of the grid."
                )
            axes[name] = values if given is None else tuple(given)
        return axes

    def _chosen(self) -> Candidate:
        return self.best_params_

    def _learn_all(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if len(Y) < 2:
            raise ValueError(
                f"Choosing penalties needs at least 2 rows, got n_samples = {len(Y)}; give them"
                " without a search."
            )
        candidates = [
            dict(zip(self.PROBLEM.PENALTIES, values, strict=True))
            for values in product(*self._axes().values())
        ]
        folds = inner_splits(self, X, Y, self._target, weights)
        tuned = is_tuned(self.threshold) and self.threshold != TUNED
        results, cuts = (self._judge_together if tuned else self._judge_apart)(
            (X, Y, weights), folds, candidates
        )
        self.scoring_ = usable(self.scoring, 2 * Y - 1, weights)
        found = tabulate(candidates, results, self.scoring_)
        self.cv_results_ = found.table
        self.best_index_, self.best_score_, self.best_params_ = (
            found.best_index,
            found.best_score,
            candidates[found.best_index],
        )
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        if not tuned:
            return super()._learn_all(X, Y, weights)
        self._learn(*with_weight(X, Y, weights))
        return cuts[found.best_index]

    def _judge_apart(
        self, data: TrainingData, folds: Folds, candidates: Sequence[Candidate]
    ) -> Judged:
        """The seven metrics of every candidate in every fold, with fixed thresholds or those that its training part gives."""
        results = []
        for train, test in folds:
            known, (X, Y, weights) = some_rows(*data, train), some_rows(*data, test)
            fixed = (
                None
                if self.threshold == TUNED
                else known_thresholds(self.threshold, known[1], known[1], None)
            )
            rated = self._rated(known, X, candidates)
            results.append(
                [
                    judged(Y, half_less(F), cuts if fixed is None else fixed, weights)
                    for F, cuts in rated
                ]
            )
        return results, []

    def _judge_together(
        self, data: TrainingData, folds: Folds, candidates: Sequence[Candidate]
    ) -> Judged:
        """The same with thresholds tuned on the held-out scores of all folds, as CAMEL's are on leave-one-out scores; and these."""
        held = [some_rows(*data, test) for _, test in folds]
        truth = np.concatenate([Y for _, Y, _ in held])
        memory.require(
            8 * len(candidates) * truth.size,
            f"Scores of {len(candidates)} candidates for {truth.shape[0]} rows and {truth.shape[1]}"
            f" labels, on which threshold={self.threshold!r} is tuned,",
            "Give fewer candidates, or threshold='zero'.",
        )
        scores = []
        for (train, _), (X, *_) in zip(folds, held, strict=True):
            scores.append(
                [half_less(F) for F, _ in self._rated(some_rows(*data, train), X, candidates)]
            )
        weights = None if data[2] is None else data[2][np.concatenate([test for _, test in folds])]
        cuts = [
            known_thresholds(self.threshold, truth, np.concatenate(parts), weights)
            for parts in zip(*scores, strict=True)
        ]
        results = []
        for (_, Y, of_rows), of_fold in zip(held, scores, strict=True):
            results.append(
                [judged(Y, F, own, of_rows) for F, own in zip(of_fold, cuts, strict=True)]
            )
        return results, cuts

    def _rated(
        self, train: TrainingData, X_test: Array, candidates: Sequence[Candidate]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """F of the test part by each candidate, and the authors' thresholds, from F of the training part, where they are asked for."""
        X, Y, weights = train
        prepared, problem = self._problem(X, filled(Y, weights), weights, self.device)
        new, known = scaled(prepared.scale, X_test), scaled(prepared.scale, X)
        for end in problem.solve(candidates, max_iter=self.max_iter, tol=self.tol):
            coef, intercept = prepared.weights(end.W)
            cuts = (
                authors_cuts(Y, known @ coef.T + intercept, weights)
                if self.threshold == TUNED
                else np.empty(0)
            )
            yield new @ coef.T + intercept, cuts


def judged(
    Y: np.ndarray, scores: np.ndarray, cuts: np.ndarray, weights: np.ndarray | None
) -> Scores:
    """The seven metrics of scores (n, q) with thresholds (q,), over the known entries of Y."""
    if np.isnan(Y).any():
        return evaluate(Y, scores, scores > cuts, sample_weight=weights)
    return candidate_metrics(Y > 0, scores[None], cuts, weights)[0]


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
    """Thresholds of the scores F - 1/2 that decide as F >= τ does, (q,), for the τ of :func:`tuned_cut`."""
    return np.full(Y.shape[1], just_below(tuned_cut(Y, F, weights)))


def just_below(tau: float) -> float:
    """The threshold of scores F - 1/2 that the smallest F >= τ exceeds."""
    return float(np.nextafter(tau - 0.5, -np.inf))


def tuned_cut(Y: np.ndarray, F: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The first τ of 51 equally spaced values from 0 to the largest F with the highest example-based F1 of the decisions F >= τ.

    The F1 of a row without labels and without predictions is 1. Where no row has a label there is
    nothing to tune on, and
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
        return float(
            np.average(np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0), weights=weights)
        )

    return float(max(np.linspace(0.0, largest, N_CUTS), key=f1))
