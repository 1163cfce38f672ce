""":class:`LLSFCV` and :class:`JFSCCV`: penalties chosen by folds, all candidates of a fold in common products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from skcamel import memory
from skcamel.arrays import Array
from skcamel.baselines import presets, proximal
from skcamel.baselines.base import TrainingData, half_less, some_rows, with_weight
from skcamel.baselines.jfsc import BaseJFSC
from skcamel.baselines.linear import TUNED, LinearBaseline, authors_cuts
from skcamel.baselines.llsf import BaseLLSF
from skcamel.checks import check_count, check_flag, check_not_negative, check_positive, inner_splits
from skcamel.metrics.conventions import NAMES, choice
from skcamel.selection.search import Scores, candidate_metrics, tabulate

Values = Sequence[float] | None
Grid = dict[str, tuple[float, ...]]
Candidate = dict[str, float]


def powers(base: float, exponents: Iterable[int]) -> tuple[float, ...]:
    """Powers of a base, one for each exponent."""
    return tuple(float(base) ** k for k in exponents)


class _Fold:
    """Rows of a training and a test part."""

    def __init__(self, train: np.ndarray, test: np.ndarray, Y: np.ndarray, weights: np.ndarray | None) -> None:
        self.train, self.test = train, test
        self.relevant, self.weights = Y[test] > 0, None if weights is None else weights[test]

    def metrics(self, scores: np.ndarray, cuts: np.ndarray) -> Scores:
        """The seven metrics of scores (m, q) of the test part."""
        return candidate_metrics(self.relevant, scores[None], cuts, self.weights)[0]


class GridSearch(LinearBaseline):
    """Scores every candidate of a grid in every fold, chooses one and learns with it from all rows.

    A subclass names its grids; their keys are its penalties, given as parameters with an "s" appended. The last of them is
    the penalty of the start, which must be positive.
    """

    GRIDS: ClassVar[dict[str, Grid]]
    grid: str
    cv: int | BaseCrossValidator | Iterable[Any]
    scoring: str
    memory_budget: int
    random_state: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice(self.grid, tuple(self.GRIDS), "grid")
        choice(self.scoring, NAMES, "scoring")
        for name, values in self._axes().items():
            for value in values:
                (check_positive if name in ("rho", "eta") else check_not_negative)(f"{name}s", value)
        check_count("memory_budget", self.memory_budget, otherwise="(bytes)")
        if isinstance(self.cv, str):
            message = f"cv={self.cv!r} is not known; choose a number of folds, a splitter or an iterable of (train, test)."
            raise ValueError(message)  # noqa: TRY004 (a wrong value, as CamelClassifierCV says)

    def _axes(self) -> Grid:
        """Values of each penalty: those given, else those of the named grid."""
        axes = {}
        for name, values in self.GRIDS[self.grid].items():
            given = getattr(self, f"{name}s")
            if given is not None and (isinstance(given, str) or np.ndim(given) != 1 or not len(given)):
                raise ValueError(f"{name}s must be a sequence with at least one value, got {given!r}; None takes those of the grid.")
            axes[name] = values if given is None else tuple(given)
        return axes

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        """Learn with the penalties that were chosen."""
        self._learn_with(X, Y, weights, self.best_params_)

    def _learn_all(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if len(Y) < 2:
            raise ValueError(f"Choosing penalties needs at least 2 rows, got n_samples = {len(Y)}; give them without a search.")
        axes = self._axes()
        candidates = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        folds = [_Fold(train, test, Y, weights) for train, test in inner_splits(self, X, Y, self._target, weights)]
        judge = self._judge_together if self._rule().is_tuned else self._judge_apart
        results, cuts = judge((X, Y, weights), folds, candidates)
        found = tabulate(candidates, results, self.scoring)
        self.cv_results_, self.scoring_ = found.table, found.scoring
        self.best_index_, self.best_score_, self.best_params_ = found.best_index, found.best_score, candidates[found.best_index]
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        X, Y, weights = with_weight(X, Y, weights)
        self._learn(X, Y, weights)
        return self._cuts(X, Y, weights) if cuts is None else cuts[found.best_index]

    def _judge_apart(self, data: TrainingData, folds: list[_Fold], candidates: list[Candidate]) -> tuple[list[list[Scores]], None]:
        """The seven metrics of every candidate in every fold, with fixed cuts or those that its training part gives."""
        results: list[list[Scores]] = [[{} for _ in candidates] for _ in folds]
        for fold, result in zip(folds, results, strict=True):
            train = some_rows(*data, fold.train)
            for k, F, F_train in self._rated(train, data[0][fold.test], candidates):
                cuts = self._rule().cuts(train[1] > 0, train[1]) if F_train is None else authors_cuts(train[1], F_train, train[2])
                result[k] = fold.metrics(half_less(F), cuts)
        return results, None

    def _judge_together(
        self, data: TrainingData, folds: list[_Fold], candidates: list[Candidate]
    ) -> tuple[list[list[Scores]], list[np.ndarray]]:
        """The same with cuts tuned on the held-out scores of all folds, as CAMEL's are on leave-one-out scores; and these cuts."""
        relevant = np.concatenate([fold.relevant for fold in folds])
        memory.require(
            8 * len(candidates) * relevant.size,
            f"Scores of {len(candidates)} candidates for {relevant.shape[0]} rows and {relevant.shape[1]} labels, on which "
            f"threshold={self.threshold!r} is tuned,",
            "Give fewer candidates, or threshold='zero'.",
        )
        scores = [np.empty((len(candidates), *fold.relevant.shape)) for fold in folds]
        for fold, of_fold in zip(folds, scores, strict=True):
            for k, F, _ in self._rated(some_rows(*data, fold.train), data[0][fold.test], candidates):
                of_fold[k] = half_less(F)
        weights = None if data[2] is None else np.concatenate([data[2][fold.test] for fold in folds])
        cuts = [self._rule().cuts(relevant, np.concatenate(parts), weights) for parts in zip(*scores, strict=True)]
        return [
            [fold.metrics(*pair) for pair in zip(of_fold, cuts, strict=True)] for fold, of_fold in zip(folds, scores, strict=True)
        ], cuts

    def _rated(
        self, train: TrainingData, X_test: Array, candidates: list[Candidate]
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray | None]]:
        """Number of each candidate, its F of the test part and, where the authors' rule wants it, of the training part."""
        prepared, problem = self._problem(*train)
        new, known = (presets.scaled(prepared.scale, X) for X in (X_test, train[0]))
        ends = problem.solve_batches(self._penalties(candidates), max_iter=self.max_iter, tol=self.tol, budget=self.memory_budget)
        for index, end in ends:
            for k, W in zip(index.tolist(), end.W.swapaxes(0, 1), strict=True):  # (q, d) of each candidate
                coef, intercept = prepared.weights(W)
                yield k, new @ coef.T + intercept, known @ coef.T + intercept if self.threshold == TUNED else None


class LLSFCV(GridSearch, BaseLLSF):
    """LLSF with its penalties chosen by folds.

    Parameters
    ----------
    alphas, betas, rhos : sequence of floats, default=None
        Values of each penalty; None takes those of `grid`.
    grid : {"coarse", "paper"}, default="coarse"
        "paper": α and β in 2^-10, 2^-9, …, 2^10 and ρ in 0.1, 1, 10, together 1 323 candidates. "coarse": every third power
        from 2^-9 to 2^9 and the same ρ, 147 candidates.
    preset, threshold, threshold_metric, max_iter, tol
        As in :class:`LLSF`, but "common" and "label" are tuned on the scores that the search has of its test parts. Candidates are
        compared with the cuts that they would be deployed with. (The authors stop earlier, at tol=1e-2, while tuning.)
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many folds as in scikit-learn: in the order of the rows, or shuffled where `random_state` is given.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. A criterion that is undefined on every row (a ranking metric with
        one label) gives way to the Hamming loss, and `scoring_` says so.
    memory_budget : int, default=2**25
        Bytes for the working arrays of the candidates that are iterated together; one candidate at least.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`.

    Attributes
    ----------
    alpha_, beta_, rho_ : float
        The choice.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated. Equal scores: the first in the order of the grid.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>, losses negated; with more
        than one fold also std_test_score and split<k>_test_score.

    All other attributes are those of :class:`LLSF`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = LLSFCV(betas=[0.1, 1.0], preset="fair").fit(X, Y)
    >>> len(model.cv_results_["params"]), sorted(model.best_params_)
    (42, ['alpha', 'beta', 'rho'])
    """

    GRIDS: ClassVar[dict[str, Grid]] = {
        "coarse": {"alpha": powers(2, range(-9, 10, 3)), "beta": powers(2, range(-9, 10, 3)), "rho": (0.1, 1.0, 10.0)},
        "paper": {"alpha": powers(2, range(-10, 11)), "beta": powers(2, range(-10, 11)), "rho": (0.1, 1.0, 10.0)},
    }

    def __init__(
        self,
        alphas: Values = None,
        betas: Values = None,
        rhos: Values = None,
        *,
        grid: str = "coarse",
        preset: str = "faithful",
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        max_iter: int = proximal.MAX_ITER,
        tol: float = proximal.TOL,
        cv: int | BaseCrossValidator | Iterable[Any] = 5,
        scoring: str = "average_precision",
        memory_budget: int = proximal.MEMORY_BUDGET,
        random_state: Any = None,
    ) -> None:
        self.alphas = alphas
        self.betas = betas
        self.rhos = rhos
        self.grid = grid
        self.preset = preset
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.scoring = scoring
        self.memory_budget = memory_budget
        self.random_state = random_state


class JFSCCV(GridSearch, BaseJFSC):
    """JFSC with its penalties chosen by folds.

    Parameters
    ----------
    alphas, betas, gammas, etas : sequence of floats, default=None
        Values of each penalty; None takes those of `grid`.
    grid : {"coarse", "paper"}, default="coarse"
        "paper": α, β and γ in 4^-5, 4^-4, …, 4^5 and η in 0.1, 1, 10, together 3 993 candidates. "coarse": every second power
        from 4^-4 to 4^4 and η = 0.1, 125 candidates.
    preset, intercept, threshold, threshold_metric, max_iter, tol
        As in :class:`JFSC`, the tuning of cuts as in :class:`LLSFCV`.
    cv, scoring, memory_budget, random_state
        As in :class:`LLSFCV`.

    Attributes
    ----------
    alpha_, beta_, gamma_, eta_ : float
        The choice.
    best_score_, best_params_, best_index_, scoring_, cv_results_
        As in :class:`LLSFCV`.

    All other attributes are those of :class:`JFSC`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = JFSCCV(alphas=[0.1], betas=[0.0, 0.1], gammas=[0.1, 1.0], cv=3).fit(X, Y)
    >>> model.cv_results_["mean_test_score"].shape, sorted(model.best_params_)
    ((4,), ['alpha', 'beta', 'eta', 'gamma'])
    """

    GRIDS: ClassVar[dict[str, Grid]] = {
        "coarse": {name: powers(4, range(-4, 5, 2)) for name in ("alpha", "beta", "gamma")} | {"eta": (0.1,)},
        "paper": {name: powers(4, range(-5, 6)) for name in ("alpha", "beta", "gamma")} | {"eta": (0.1, 1.0, 10.0)},
    }

    def __init__(
        self,
        alphas: Values = None,
        betas: Values = None,
        gammas: Values = None,
        etas: Values = None,
        *,
        grid: str = "coarse",
        preset: str = "faithful",
        intercept: bool = True,
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        max_iter: int = proximal.MAX_ITER,
        tol: float = proximal.TOL,
        cv: int | BaseCrossValidator | Iterable[Any] = 5,
        scoring: str = "average_precision",
        memory_budget: int = proximal.MEMORY_BUDGET,
        random_state: Any = None,
    ) -> None:
        self.alphas = alphas
        self.betas = betas
        self.gammas = gammas
        self.etas = etas
        self.grid = grid
        self.preset = preset
        self.intercept = intercept
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.scoring = scoring
        self.memory_budget = memory_budget
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("intercept", self.intercept)
