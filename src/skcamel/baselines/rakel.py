"""RAkEL: votes of label powersets over random small sets of labels."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.baselines.base import LogisticBaseline, convergence_warning, fit_one, most_probable
from skcamel.baselines.logistic import Softmax, fit_softmax
from skcamel.checks import check_count

DENSE_DRAW = 4  # where fewer than four times as many sets exist as are wanted, all of them are listed


@dataclass(eq=False, repr=False)
class RAkEL(LogisticBaseline):
    """Random k-labelsets, overlapping: every model predicts a pattern of k labels, and the patterns vote.

    Parameters
    ----------
    k : int, default=3
        Labels in a set; at most q are used, which gives a single label powerset.
    n_estimators : int, default=None
        Number of sets; None: 2q. Never more than the C(q, k) sets that exist.
    base_estimator : classifier, default=None
        As in :class:`BinaryRelevance`, cloned for each set, with one class for each pattern. None: multinomial logistic
        regression, all sets with equally many patterns solved together.
    random_state : int, RandomState or None, default=None
    threshold, threshold_metric, max_iter, tol
        As in :class:`BinaryRelevance`.

    Attributes
    ----------
    labelsets_ : array of shape (M, k)
        The sets: distinct, drawn uniformly.
    patterns_ : list of arrays of shape (number of patterns, k)
        The patterns of each set that occur in training, by ascending code Σ_i bit_i 2^i. No other is ever predicted.
    n_iter_ : int
        Steps of the slowest model; 1 with a `base_estimator`.

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    F is the share of the sets with a label that vote for it, 0 for a label in no set. A set votes for its most probable
    pattern, the one with the lowest code among equals. Half of the votes suffice for a prediction at cut 0. F takes few values, so
    the rule for ties decides much of the ranking metrics.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.baselines import RAkEL
    >>> X, Y = make_multilabel_classification(80, n_classes=4, random_state=0)
    >>> RAkEL(random_state=0).fit(X, Y).labelsets_.shape
    (4, 3)
    """

    k: int = 3
    n_estimators: int | None = None
    _: KW_ONLY
    random_state: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("k", self.k)
        if self.n_estimators is not None:
            check_count("n_estimators", self.n_estimators, otherwise="or None")

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        q = Y.shape[1]
        wanted = 2 * q if self.n_estimators is None else self.n_estimators
        self.labelsets_ = draw_labelsets(q, min(self.k, q), wanted, check_random_state(self.random_state))
        powersets = [label_powerset(Y[:, labels]) for labels in self.labelsets_]
        self.patterns_ = [patterns for patterns, _ in powersets]
        codes = np.column_stack([codes for _, codes in powersets])
        self._models: list[tuple[list[int], Any]]  # the sets that a model answers for, and the model
        if self.base_estimator is None:
            with convergence_warning():
                self._models = self._batched(X, codes, weights)
        else:
            self._models = [([m], fit_one(self.base_estimator, X, code, weights=weights)) for m, code in enumerate(codes.T)]
        steps = [model.ending.n_iter.max(initial=1) for _, model in self._models if isinstance(model, Softmax)]
        self.n_iter_ = int(max(steps, default=1))

    def _batched(self, X: Array, codes: np.ndarray, weights: np.ndarray | None) -> list[tuple[list[int], Any]]:
        """One fit for all sets with the same number of patterns."""
        groups = defaultdict(list)
        for m, patterns in enumerate(self.patterns_):
            groups[len(patterns)].append(m)
        return [
            (sets, fit_softmax(X, codes[:, sets], n_patterns, weights, tol=self.tol, max_iter=self.max_iter) if n_patterns > 1 else 0)
            for n_patterns, sets in groups.items()
        ]

    def _confidences(self, X: Array) -> np.ndarray:
        votes, counts = np.zeros((X.shape[0], len(self.label_names_))), np.zeros(len(self.label_names_))
        for sets, model in self._models:
            best = model.most_probable(X) if isinstance(model, Softmax) else most_probable(model, X)[:, None]
            for position, m in enumerate(sets):
                column = best[:, min(position, best.shape[1] - 1)]
                votes[:, self.labelsets_[m]] += self.patterns_[m][column]
                counts[self.labelsets_[m]] += 1
        return votes / np.maximum(counts, 1)


def draw_labelsets(q: int, k: int, wanted: int, random: np.random.RandomState) -> np.ndarray:
    """Distinct k-subsets of range(q), uniform among all such collections: (min(wanted, C(q, k)), k), ascending rows.

    Where few more exist than are wanted, they are listed and shuffled; else repeats are rare and drawn again.
    """
    total = math.comb(q, k)
    wanted = min(wanted, total)
    if total <= DENSE_DRAW * wanted:
        return np.array(list(combinations(range(q), k)))[random.permutation(total)[:wanted]]
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < wanted:  # at least three in four draws are new
        drawn[tuple(sorted(random.choice(q, k, replace=False).tolist()))] = None
    return np.array(list(drawn))


def label_powerset(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Patterns that occur in the rows of Y (n, k), by ascending code Σ_i bit_i 2^i, and each row's place among them.

    Examples
    --------
    >>> patterns, codes = label_powerset(np.array([[0, 1], [1, 0], [0, 1]]))
    >>> patterns.tolist(), codes.tolist()
    ([[1, 0], [0, 1]], [1, 0, 1])
    """
    reversed_patterns, codes = np.unique(Y[:, ::-1].astype(np.int64), axis=0, return_inverse=True)
    return reversed_patterns[:, ::-1], codes.ravel()
