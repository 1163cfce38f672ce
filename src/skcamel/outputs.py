"""Scores ► decisions, probabilities, label sets and ranks, all from one evaluation of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skcamel.parameters import check_count


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a fitted model says of some rows.

    Parameters
    ----------
    scores : float array of shape (m, q)
        Higher is more likely.
    thresholds : array of shape (q,)
        Cut of each label.
    label_names : array of shape (q,)
    classes : array
        ``arange(q)`` for label matrices, the classes of a 1-d y.
    target : {"matrix", "binary", "multiclass"}
        What the model was fitted on; a binary 1-d y has q = 1.
    link : callable, default=None
        Scores (m, q) ► probabilities (m, q), above ½ only where a score is above 0; None where the model has none.

    Examples
    --------
    >>> names = np.array(["sea", "sun"], dtype=object)
    >>> found = Outputs(np.array([[0.2, -0.3], [0.4, 0.9]]), np.zeros(2), names, np.arange(2), "matrix")
    >>> found.decisions.tolist(), found.label_sets, found.ranks.tolist(), found.top(1).tolist()
    ([[1, 0], [1, 1]], [('sea',), ('sea', 'sun')], [[1, 2], [2, 1]], [[0], [1]])
    """

    scores: np.ndarray
    thresholds: np.ndarray
    label_names: np.ndarray
    classes: np.ndarray
    target: str
    link: Callable[[np.ndarray], np.ndarray] | None = None

    @cached_property
    def decisions(self) -> np.ndarray:
        """1 where a score exceeds its cut, both in the precision of the scores: int64 (m, q); of exclusive classes the best one alone."""
        if self.target == "multiclass":
            return (np.arange(self.scores.shape[1]) == self.scores.argmax(axis=1)[:, None]).astype(np.int64)
        return (self.scores > self.thresholds.astype(self.scores.dtype)).astype(np.int64)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probability of every label, (m, q)."""
        if self.link is None:
            raise AttributeError("These scores have no probabilities; ask the model's predict_proba why.")
        return self.link(self.scores)

    @property
    def label_sets(self) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row; the predicted class after a fit on a 1-d y."""
        if self.target != "matrix":
            return [(str(name),) for name in self.predictions]
        return [tuple(self.label_names[row]) for row in self.decisions.astype(bool)]

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of every label, int64 (m, q): 1 for the highest score, the first of equal labels before the others."""
        return np.argsort(self._order, axis=1).astype(np.int64) + 1

    def top(self, k: int) -> np.ndarray:
        """Positions of the `k` labels with the highest scores, highest first: int64 (m, k)."""
        check_count("k", k)
        if k > self.scores.shape[1]:
            raise ValueError(f"k={k} labels were asked for, the model has {self.scores.shape[1]}; give k <= {self.scores.shape[1]}.")
        return self._order[:, :k]

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(-self.scores, axis=1, kind="stable").astype(np.int64)

    @property
    def predictions(self) -> np.ndarray:
        """What `predict` answers: the decisions, or classes (m,) after a fit on a 1-d y."""
        if self.target == "matrix":
            return self.decisions
        best = self.decisions.argmax(axis=1) if self.target == "multiclass" else self.decisions[:, 0]
        return self.classes[np.minimum(best, len(self.classes) - 1)]  # y may have held one class only

    @property
    def decision_values(self) -> np.ndarray:
        """What `decision_function` answers: the scores, (m,) after a fit on a binary 1-d y."""
        return self.scores[:, 0] if self.target == "binary" else self.scores

    @property
    def class_probabilities(self) -> np.ndarray:
        """What `predict_proba` answers: the probabilities, (m, number of classes) after a fit on a binary 1-d y."""
        p = self.probabilities
        if self.target != "binary":
            return p
        if len(self.classes) == 1:
            return np.ones_like(p)
        half = p.dtype.type(0.5)
        against = np.where((p == half) & (self.scores > 0), np.nextafter(half, 0 * half), 1 - p)  # a tie with a score goes to the second
        return np.hstack([against, p])
