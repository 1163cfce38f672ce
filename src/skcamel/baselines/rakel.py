"""RAkEL: votes of label powersets over random small sets of labels."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.baselines.base import Baseline
from skcamel.baselines.base_learner import check_base_estimator, check_solver, convergence_warning, fit_one, most_probable
from skcamel.baselines.logistic import Softmax, fit_softmax
from skcamel.checks import check_count

DENSE_DRAW = 4  # where fewer than four times as many sets exist as are wanted, all of them are listed


class RAkEL(Baseline):
    """Random k-labelsets, overlapping: every model predicts a pattern of k labels, and the patterns vote.

    Parameters
    ----------
    k : int, default=3
        Labels in a set; at most q are used, which gives a single label powerset.
    n_estimators : int, default=None
        Number of sets; None: 2q. Never more than the C(q, k) sets that exist.
    base_estimator : classifier, default=None
        Any scikit-learn classifier, cloned for each set, which then has one class for each pattern. None: multinomial
        logistic regression with ridge 1e-8 on standardised columns, all sets with equally many patterns solved together.
    threshold : {"zero", "common", "label"} or float, default="zero"
        Cut between scores F - 1/2 and decisions: 0, one tuned cut, one tuned cut per label, or a number. Tuned on the scores of
        5 shuffled inner folds; cuts of rare labels are drawn towards the common cut.
    threshold_metric : {"micro_f1", "macro_f1", "hamming_loss"}, default=None
        What tuned cuts aim at; None: micro_f1 for "common", macro_f1 for "label".
    random_state : int, RandomState or None, default=None
    max_iter : int, default=1000
        Limit of the steps of the logistic solver.
    tol : float, default=1e-4
        A logistic model is done when no entry of its gradient exceeds `tol` times the number of rows.

    Attributes
    ----------
    thresholds_ : array of shape (q,)
        Cuts; a label is predicted where its score exceeds its cut.
    labelsets_ : array of shape (M, k)
        The sets: distinct, drawn uniformly.
    patterns_ : list of arrays of shape (number of patterns, k)
        The patterns of each set that occur in training, by ascending code Σ_i bit_i 2^i. No other is ever predicted.
    n_iter_ : int
        Steps of the slowest model; 1 with a `base_estimator`.
    label_names_ : array of shape (q,)
    classes_ : array
        Label numbers, or the classes of a 1-d y.
    n_features_in_ : int
    feature_names_in_ : array of shape (d,)

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

    def __init__(
        self,
        k: int = 3,
        n_estimators: int | None = None,
        *,
        base_estimator: Any = None,
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        random_state: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
    ) -> None:
        self.k = k
        self.n_estimators = n_estimators
        self.base_estimator = base_estimator
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_base_estimator(self.base_estimator)
        check_solver(self.max_iter, self.tol)
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

    Examples
    --------
    >>> draw_labelsets(4, 3, 8, np.random.RandomState(0)).shape
    (4, 3)
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
