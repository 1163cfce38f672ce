"""Parameters of comparison methods chosen by folds: every candidate of a grid is judged, or leaves a race once it is clearly behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from skcamel import memory
from skcamel.arrays import Array
from skcamel.baselines.base import Baseline, TrainingData, half_less, some_rows, tuned_cuts, with_weight
from skcamel.checks import check_positive, inner_splits
from skcamel.metrics import evaluate
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING, choice
from skcamel.metrics.ranking import ranking_rows
from skcamel.selection.combination import standard_errors
from skcamel.selection.search import Scores, candidate_metrics, tabulate

Candidate = Mapping[str, Any]
Rated = Iterator[tuple[int, np.ndarray, np.ndarray | None]]
Folds = list[tuple[np.ndarray, np.ndarray]]  # rows of the training and the test part of each


class Race:
    """Candidates of a search that are not clearly behind: before each fold those leave that trail by too many standard errors.

    The error is that of the mean difference between two candidates over the rows judged so far. Without a limit nobody leaves.

    >>> race = Race(2, "one_error", limit=2.0)
    >>> Y = np.tile([[1.0, 0.0]], (9, 1))
    >>> race.add(0, Y, 1 - Y)
    >>> race.add(1, Y, Y)
    >>> race.end_fold(Y, None)
    >>> race.drop()
    >>> race.left
    [1]
    """

    def __init__(self, n_candidates: int, scoring: str, limit: float | None) -> None:
        self.left = list(range(n_candidates))
        self.scoring, self.limit, self.n_candidates = scoring, limit, n_candidates
        self.weights = np.empty(0)
        self.values: dict[int, list[np.ndarray]] = {k: [] for k in self.left}  # of the rows of each fold, larger is better

    def add(self, k: int, Y: np.ndarray, F: np.ndarray) -> None:
        """Take down what a candidate's F (n, q) of a fold is worth, row by row."""
        if self.limit is not None:
            known = ~np.isnan(Y)
            values = ranking_rows(Y > 0, F, known=None if known.all() else known)[self.scoring]
            self.values[k].append((-1.0 if self.scoring in LOSSES else 1.0) * values)

    def end_fold(self, Y: np.ndarray, weights: np.ndarray | None) -> None:
        """Say what its rows weigh; those that have all or none of their labels count nothing."""
        counted = (Y == 1).any(axis=1) & (Y == 0).any(axis=1)
        self.weights = np.append(self.weights, counted * (1.0 if weights is None else weights))

    def drop(self) -> None:
        """Leave out the candidates that trail by more than the limit."""
        if self.limit is None or not self.weights.any():
            return
        values, share = np.stack([np.concatenate(self.values[k]) for k in self.left]), self.weights / self.weights.sum()
        behind = standard_errors(values[(values @ share).argmax()] - values, share) > self.limit
        self.left = [k for k, leaves in zip(self.left, behind, strict=True) if not leaves]

    def of_the_rest(self, results: list[list[Scores]]) -> list[list[Scores]]:
        """Results of every fold without those of the candidates that left, whose later folds are missing."""
        gone = set(range(self.n_candidates)) - set(self.left)
        return [[dict.fromkeys(NAMES, np.nan) if k in gone else scores for k, scores in enumerate(fold)] for fold in results]


@dataclass(eq=False, repr=False)
class GridSearch(Baseline):
    """Scores every candidate of a grid in every fold, chooses one and learns with it from all rows.

    A subclass names its grids; their keys are its parameters, given with an "s" appended. In `_rated` it solves all candidates of a
    fold, sharing what they have in common.
    """

    _: KW_ONLY
    grid: str = "coarse"
    cv: int | BaseCrossValidator | Iterable[tuple[np.ndarray, np.ndarray]] = 5
    scoring: str = "average_precision"
    race: float | None = None
    random_state: Any = None
    GRIDS: ClassVar[dict[str, Any]]  # of axes, see `_axes`
    ADDED: ClassVar[dict[str, Any]] = {"race": None}  # what stands for a parameter that studies of earlier versions lack

    def _check_parameters(self) -> None:
        choice(self.grid, tuple(self.GRIDS), "grid")
        choice(self.scoring, NAMES, "scoring")
        super()._check_parameters()
        if self.race is not None:
            check_positive("race", self.race)
            if self.scoring not in RANKING:
                message = f"race={self.race!r} compares rows, but scoring={self.scoring!r} is no mean over rows"
                raise ValueError(f"{message}; choose one of {', '.join(RANKING)}, or race=None.")
        if isinstance(self.cv, str):
            message = f"cv={self.cv!r} is not known; choose a number of folds, a splitter or an iterable of (train, test)."
            raise ValueError(message)  # noqa: TRY004 (a wrong value, as CamelClassifierCV says)

    def _axes(self) -> dict[str, tuple[Any, ...]]:
        """Values of each parameter: those given, else those of the named grid."""
        axes = {}
        for penalty, values in self.GRIDS[self.grid].items():
            name = f"{penalty}s"
            given = getattr(self, name)
            if given is not None and (isinstance(given, str) or np.ndim(given) != 1 or not len(given)):
                raise ValueError(f"{name} must be a sequence with at least one value, got {given!r}; None takes those of the grid.")
            axes[name] = values if given is None else tuple(given)
        return axes

    def _chosen(self) -> Candidate:
        return self.best_params_

    def _learn_all(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if len(Y) < 2:
            raise ValueError(f"Choosing penalties needs at least 2 rows, got n_samples = {len(Y)}; give them without a search.")
        candidates = [dict(zip(self.GRIDS[self.grid], values, strict=True)) for values in product(*self._axes().values())]
        folds = inner_splits(self, X, Y, self._target, weights)
        judge = self._judge_together if self._rule().is_tuned else self._judge_apart
        results, cuts = judge((X, Y, weights), folds, candidates)
        found = tabulate(candidates, results, self.scoring)
        self.cv_results_, self.scoring_ = found.table, found.scoring
        self.best_index_, self.best_score_, self.best_params_ = found.best_index, found.best_score, candidates[found.best_index]
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        if cuts is None:
            return super()._learn_all(X, Y, weights)
        self._learn(*with_weight(X, Y, weights))
        return cuts[found.best_index]

    def _judge_apart(self, data: TrainingData, folds: Folds, candidates: Sequence[Candidate]) -> tuple[list[list[Scores]], None]:
        """The seven metrics of every candidate in every fold, with fixed cuts or those that its training part gives."""
        results: list[list[Scores]] = [[{} for _ in candidates] for _ in folds]
        race = Race(len(candidates), self.scoring, self.race)
        for (train, test), result in zip(folds, results, strict=True):
            known, (X, Y, weights) = some_rows(*data, train), some_rows(*data, test)
            for k, F, cuts in self._still_rated(race, known, (X, Y, weights), candidates):
                result[k] = judged(Y, half_less(F), self._rule().cuts(known[1] > 0, known[1]) if cuts is None else cuts, weights)
        return race.of_the_rest(results), None

    def _judge_together(
        self, data: TrainingData, folds: Folds, candidates: Sequence[Candidate]
    ) -> tuple[list[list[Scores]], list[np.ndarray]]:
        """The same with cuts tuned on the held-out scores of all folds, as CAMEL's are on leave-one-out scores; and these cuts."""
        held = [(data[1][test], None if data[2] is None else data[2][test]) for _, test in folds]
        truth = np.concatenate([Y for Y, _ in held])
        memory.require(
            8 * len(candidates) * truth.size,
            f"Scores of {len(candidates)} candidates for {truth.shape[0]} rows and {truth.shape[1]} labels, on which "
            f"threshold={self.threshold!r} is tuned,",
            "Give fewer candidates, or threshold='zero'.",
        )
        scores = [np.zeros((len(candidates), *Y.shape)) for Y, _ in held]
        race = Race(len(candidates), self.scoring, self.race)
        for (train, test), of_fold in zip(folds, scores, strict=True):
            for k, F, _ in self._still_rated(race, some_rows(*data, train), some_rows(*data, test), candidates):
                of_fold[k] = half_less(F)
        weights = None if data[2] is None else data[2][np.concatenate([test for _, test in folds])]
        cuts = [tuned_cuts(self._rule(), truth, np.concatenate(parts), weights) for parts in zip(*scores, strict=True)]
        results = []
        for (Y, of_rows), of_fold in zip(held, scores, strict=True):
            results.append([judged(Y, F, own, of_rows) for F, own in zip(of_fold, cuts, strict=True)])
        return race.of_the_rest(results), cuts

    def _still_rated(self, race: Race, train: TrainingData, test: TrainingData, candidates: Sequence[Candidate]) -> Rated:
        """Those of `_rated` that are still in the race, which the ones that trail leave before a fold begins."""
        race.drop()
        left = race.left
        for k, F, cuts in self._rated(train, test[0], [candidates[i] for i in left]):
            race.add(left[k], test[1], F)
            yield left[k], F, cuts
        race.end_fold(test[1], test[2])

    def _rated(self, train: TrainingData, X_test: Array, candidates: Sequence[Candidate]) -> Rated:
        """Number of each candidate, its F of the test part and, if its rule draws them from F of the training part, its cuts."""
        raise NotImplementedError


def judged(Y: np.ndarray, scores: np.ndarray, cuts: np.ndarray, weights: np.ndarray | None) -> Scores:
    """The seven metrics of scores (n, q) with cuts (q,), over the known entries of Y."""
    unknown = np.isnan(Y)
    if not unknown.any():
        return candidate_metrics(Y > 0, scores[None], cuts, weights)[0]
    return evaluate(Y, scores, scores > cuts, sample_weight=weights)


def powers(base: float, exponents: Iterable[int]) -> tuple[float, ...]:
    """Powers of a base, one for each exponent."""
    return tuple(float(base) ** k for k in exponents)
