"""What LLSF and JFSC share as estimators: presets of the features, linear scores, and their authors' rule for the cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines import presets, proximal
from skcamel.baselines.base import Baseline
from skcamel.checks import check_count, check_positive
from skcamel.metrics.conventions import choice
from skcamel.selection.thresholds import MODES

N_CUTS = 51
TUNED = "tuned"  # the authors' rule for the cut


class Problem(Protocol):
    """Training data ready for any number of candidates."""

    def solve(self, penalties: Any, *, max_iter: int, tol: float) -> proximal.Run:
        """All candidates in one batch."""
        ...

    def solve_batches(self, penalties: Any, *, max_iter: int, tol: float, budget: int) -> Iterator[tuple[np.ndarray, proximal.Run]]:
        """Candidates in batches of bounded memory."""
        ...


class LinearBaseline(Baseline):
    """F = X W + b of scaled rows.

    A subclass has the parameters preset, max_iter and tol, says in `_problem` what is learned from, and in `_penalties` how
    candidates are written as arrays.
    """

    THRESHOLDS: ClassVar[tuple[str, ...]] = (*MODES, TUNED)
    preset: str
    max_iter: int
    tol: float

    def __sklearn_tags__(self) -> Any:
        """Rows of unit length without intercept cannot tell near from far: dense classes may be scored poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.preset == "faithful"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice(self.preset, presets.NAMES, "preset")
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, least=0, otherwise="(0 leaves the ridge regression of the start)")

    def _problem(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> tuple[presets.Prepared, Problem]:
        raise NotImplementedError

    def _penalties(self, candidates: Sequence[Mapping[str, float]]) -> Any:
        raise NotImplementedError

    def _learn_with(self, X: Array, Y: np.ndarray, weights: np.ndarray | None, penalties: Mapping[str, float]) -> None:
        """Store the weights that one candidate learns from rows X and labels Y in {0, 1}."""
        prepared, problem = self._problem(X, Y, weights)
        end = problem.solve(self._penalties([penalties]), max_iter=self.max_iter, tol=self.tol)
        self.scaling_ = prepared.scale
        self.coef_, self.intercept_ = prepared.weights(end.W[:, 0])
        self.n_iter_ = int(end.n_iter[0])

    def _confidences(self, X: Array) -> np.ndarray:
        return presets.scaled(self.scaling_, X) @ self.coef_.T + self.intercept_

    def _cuts(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if self.threshold == TUNED:
            return authors_cuts(Y, self._confidences(X), weights)
        return super()._cuts(X, Y, weights)


def columns(kind: Any, candidates: Sequence[Mapping[str, float]]) -> Any:
    """A named tuple of arrays (C,) from one mapping per candidate."""
    return kind(*(np.array([float(candidate[name]) for candidate in candidates]) for name in kind._fields))


def authors_cuts(Y: np.ndarray, F: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Cuts of the scores F - 1/2 that decide as F >= τ does, (q,), for the τ of :func:`tuned_cut`."""
    return np.full(Y.shape[1], just_below(tuned_cut(Y, F, weights)))


def just_below(tau: float) -> float:
    """The cut of scores F - 1/2 that the smallest F >= τ exceeds.

    Examples
    --------
    >>> just_below(0.75) < 0.25, bool(np.nextafter(just_below(0.75), 1) == 0.25)
    (True, True)
    """
    return float(np.nextafter(tau - 0.5, -np.inf))


def tuned_cut(Y: np.ndarray, F: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The first τ of 51 equally spaced values from 0 to the largest F with the highest example-based F1 of the decisions F >= τ.

    The F1 of a row without labels and without predictions is 1. Where no row has a label there is nothing to tune on, and
    τ is 1/2.

    Examples
    --------
    >>> round(tuned_cut(np.array([[1, 0], [1, 1]]), np.array([[0.5, 0.1], [1.0, 0.3]])), 2)
    0.12
    """
    relevant = Y > 0
    if not relevant.any():
        return 0.5
    size = relevant.sum(axis=1)
    cuts = np.linspace(0.0, float(F.max()), N_CUTS)
    return float(cuts[int(np.argmax([_example_f1(relevant, size, value <= F, weights) for value in cuts]))])


def _example_f1(relevant: np.ndarray, size: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    both, total = (relevant & predicted).sum(axis=1), size + predicted.sum(axis=1)
    return float(np.average(np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0), weights=weights))
