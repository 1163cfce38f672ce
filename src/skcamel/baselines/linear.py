"""What LLSF and JFSC share as estimators: presets of the features, linear scores, and a cut that is fixed or tuned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines import presets, proximal
from skcamel.baselines.base import Baseline
from skcamel.metrics.conventions import choice
from skcamel.parameters import as_number, check_count, check_positive

N_CUTS = 51


class Problem(Protocol):
    """Training data ready for any number of candidates."""

    def solve(self, penalties: Any, *, max_iter: int, tol: float) -> proximal.Run:
        """All candidates in one batch."""
        ...

    def solve_batches(self, penalties: Any, *, max_iter: int, tol: float, budget: int) -> Iterator[tuple[np.ndarray, proximal.Run]]:
        """Candidates in batches of bounded memory."""
        ...


class LinearBaseline(Baseline):
    """Scores F = X W + b of scaled rows; a label is predicted where F reaches the cut τ.

    A subclass has the parameters preset, threshold, max_iter and tol, says in `_problem` what is learned from, and in
    `_penalties` how candidates are written as arrays.
    """

    preset: str
    threshold: float | str
    max_iter: int
    tol: float

    def __sklearn_tags__(self) -> Any:
        """Rows of unit length without intercept cannot tell near from far: dense classes may be scored poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.preset == "faithful"
        return tags

    def _check_shared(self) -> None:
        choice(self.preset, presets.NAMES, "preset")
        check_threshold(self.threshold)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, least=0, otherwise="(0 leaves the ridge regression of the start)")

    def _problem(self, X: Array, Y: np.ndarray) -> tuple[presets.Prepared, Problem]:
        raise NotImplementedError

    def _penalties(self, candidates: Sequence[Mapping[str, float]]) -> Any:
        raise NotImplementedError

    def _learn_with(self, X: Array, Y: np.ndarray, penalties: Mapping[str, float]) -> None:
        """Store the weights that one candidate learns from rows X and labels Y in {0, 1}, and the cut."""
        prepared, problem = self._problem(X, Y)
        end = problem.solve(self._penalties([penalties]), max_iter=self.max_iter, tol=self.tol)
        self.scaling_ = prepared.scale
        self.coef_, self.intercept_ = prepared.weights(end.W[:, 0])
        self.n_iter_ = int(end.n_iter[0])
        self.threshold_ = cut(self.threshold, Y, self._outputs(X))

    def _outputs(self, X: Array) -> np.ndarray:
        return presets.scaled(self.scaling_, X) @ self.coef_.T + self.intercept_

    def _cut(self) -> float:
        return self.threshold_


def columns(kind: Any, candidates: Sequence[Mapping[str, float]]) -> Any:
    """A named tuple of arrays (C,) from one mapping per candidate."""
    return kind(*(np.array([float(candidate[name]) for candidate in candidates]) for name in kind._fields))


def check_threshold(threshold: Any) -> None:
    """Refuse what is neither "tuned" nor a finite number."""
    if not np.isfinite(as_number(threshold)) and not (isinstance(threshold, str) and threshold == "tuned"):
        raise ValueError(f"threshold={threshold!r} is not known; choose 'tuned' or a number.")


def cut(threshold: float | str, Y: np.ndarray, F: np.ndarray) -> float:
    """The cut τ: as given, or tuned on training labels Y (n, q) in {0, 1} and their scores F (n, q)."""
    return tuned_cut(Y, F) if isinstance(threshold, str) else float(threshold)


def tuned_cut(Y: np.ndarray, F: np.ndarray) -> float:
    """The first of 51 equally spaced values from 0 to the largest score with the highest example-based F1.

    The F1 of a row without labels and without predictions is 1. Where no row has a label there is nothing to tune on, and
    the cut is 1/2.

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
    return float(cuts[int(np.argmax([_example_f1(relevant, size, value <= F) for value in cuts]))])


def _example_f1(relevant: np.ndarray, size: np.ndarray, predicted: np.ndarray) -> float:
    both, total = (relevant & predicted).sum(axis=1), size + predicted.sum(axis=1)
    return float(np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0).mean())
