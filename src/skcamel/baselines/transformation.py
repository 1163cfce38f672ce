"""Binary relevance, classifier chains and RAkEL: they turn the problem into ordinary ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy import ndarray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.baselines.base import Baseline, Training, class_one, clone_fitted
from skcamel.baselines.logistic import (
    MAX_ITER,
    SOLVED,
    TOLERANCE,
    Chain,
    Logistic,
    fit_chains,
    fit_logistic,
    fit_softmax,
)
from skcamel.checks import check_number, choice

# Rows times links up to which members are solved as one batch; beyond, work outweighs the overhead
TOGETHER = 2**20
DENSE_DRAW = 4  # up to four times as many sets as are wanted, all are listed


Models = list[tuple[list[int], Any]]  # numbers of labels or sets, and what answers for them


@dataclass(eq=False, repr=False)
class LogisticBaseline(Baseline):
    """A method whose models are logistic."""

    _: KW_ONLY
    max_iter: int = MAX_ITER
    tol: float = TOLERANCE

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("max_iter", self.max_iter, 1, whole=True)
        check_number("tol", self.tol, above=True)

    def _count_steps(self, models: Iterable[Any]) -> None:
        """Store the steps of the slowest model, and warn if some reached the limit."""
        steps: list[int] = []
        for model in models:
            if isinstance(model, SOLVED):
                steps.extend(model.n_iter)
        self.n_iter_ = int(max(steps, default=1))
        late = sum(count >= self.max_iter for count in steps)
        if late:
            warnings.warn(
                f"{late} of {len(steps)} logistic models did not reach their tolerance in"
                f" {self.max_iter} steps. Predictions are usable; raise max_iter or tol to silence"
                " this.",
                ConvergenceWarning,
                stacklevel=5,
            )


@dataclass(eq=False, repr=False)
class BinaryRelevance(LogisticBaseline):
    """One unregularised logistic regression for each label (BR).

    Parameters
    ----------
    base_estimator : classifier, default=None
        Any scikit-learn classifier, cloned for each label. None: logistic regression with ridge
        1e-8 on standardised columns, all labels solved together. Without `predict_proba`,
        1 / (1 + exp(-s)) of the `decision_function` s stands for the probability.
    threshold : {"zero", "micro_f1", "macro_f1", "hamming_loss"}, float or array, default="zero"
        Where scores F - 1/2 become decisions: at 0, at thresholds of the labels that are best for a
        metric on the scores of 5 shuffled inner folds, those of rare labels drawn to the one that
        is best for all, or at one number for all or for each.
    max_iter : int, default=1000
        Limit of the steps of the logistic solver.
    tol : float, default=1e-4
        A logistic model is done when no entry of the gradient of its mean loss exceeds `tol`.

    Attributes
    ----------
    thresholds_ : array of shape (q,)
        Thresholds; a label is predicted where its score exceeds its own.
    n_iter_ : int
        Steps of the slowest label; 1 with a `base_estimator`.
    label_names_ : array of shape (q,)
    classes_ : array
        Label numbers, or the classes of a 1-d y.
    n_features_in_ : int
    feature_names_in_ : array of shape (d,)

    Notes
    -----
    A label is learned from the rows where it is known, as by a fit on these rows alone. A label
    with one class in training gets that class with probability 1. Where a label can be separated by
    the features its weights would grow for ever; start, steps and stop are those of scikit-learn's
    ``LogisticRegression(C=5e7)`` on standardised columns.

    Examples
    --------
    >>> from skcamel.baselines import BinaryRelevance
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [1, 1], [0, 1], [1, 1]]
    >>> BinaryRelevance().fit(X, Y).predict_proba(X).round(2)
    array([[0.2 , 1.  ],
           [0.39, 1.  ],
           [0.61, 1.  ],
           [0.8 , 1.  ]])
    """

    base_estimator: Any = None
    PROBABILISTIC = True
    TAKES_UNKNOWN = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        base = self.base_estimator
        if isinstance(base, type) or not (base is None or hasattr(base, "predict")):
            raise TypeError(
                f"base_estimator must be a scikit-learn classifier or None, got {base!r}; "
                "pass an instance, as in LogisticRegression(C=1.0)."
            )

    def _learn(self, data: Training) -> None:
        self.estimators_: Models = []
        known = ~np.isnan(data.Y)
        for labels in alike(column.tobytes() for column in known.T):
            rows = known[:, labels[0]]
            own = data.rows(rows)._replace(Y=data.Y[rows][:, labels])
            if self.base_estimator is None:
                model = fit_logistic(own, tol=self.tol, max_iter=self.max_iter) if rows.any() else 0
                self.estimators_.append((labels, model))
                continue
            for place, label in enumerate(labels):
                target = own._replace(Y=own.Y[:, [place]])
                self.estimators_.append(([label], fit_one(self.base_estimator, target)))
        self._count_steps(model for _, model in self.estimators_)

    def _confidences(self, X: Array) -> ndarray:
        F = np.empty((X.shape[0], len(self.label_names_)))
        for labels, model in self.estimators_:
            F[:, labels] = positive_probability(model, X)
        return F


@dataclass(eq=False, repr=False)
class EnsembleOfClassifierChains(LogisticBaseline):
    """Classifier chains over random label orders and bootstrap samples, averaged (ECC).

    Parameters
    ----------
    n_estimators : int, default=30
        Number of chains.
    bootstrap : bool, default=True
        Each member learns from n rows drawn with replacement; else from all rows.
    random_state : int, RandomState or None, default=None
    threshold, max_iter, tol
        As in :class:`BinaryRelevance`.

    Attributes
    ----------
    estimators_ : list of Chain
        Each with its `order`.
    n_iter_ : int
        Steps of the slowest link.

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    F is the mean of the members' probabilities. Links learn from the true values of the earlier
    labels and predict from the earlier predictions, 1 where p >= 1/2. So all links of all chains
    are known before the first is solved, and those of many members are solved as one batch.
    Repeated rows of a bag enter once, with their count times their `sample_weight` as weight.
    Columns and labels that are constant in a bag are dropped there.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.baselines import EnsembleOfClassifierChains
    >>> X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
    >>> model = EnsembleOfClassifierChains(5, random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 3)
    """

    n_estimators: int = 30
    _: KW_ONLY
    bootstrap: bool = True
    random_state: Any = None
    PROBABILISTIC = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        choice(self.bootstrap, (True, False), "bootstrap")

    def _learn(self, data: Training) -> None:
        orders, counts = self._plans(*data.Y.shape)
        if data.weights is not None:
            counts *= data.weights[:, None]
        size = max(1, TOGETHER // data.Y.size)
        self.estimators_: list[Chain] = []
        for first in range(0, self.n_estimators, size):
            group = slice(first, first + size)
            bags = counts[:, group]
            self.estimators_ += fit_chains(
                data.X, data.Y, orders[group], bags, tol=self.tol, max_iter=self.max_iter
            )
        self._count_steps(self.estimators_)

    def _plans(self, n_rows: int, n_labels: int) -> tuple[ndarray, ndarray]:
        """Orders (C, q) and row counts (n, C) of the members, drawn before the work is split."""
        random = check_random_state(self.random_state)
        orders = np.empty((self.n_estimators, n_labels), dtype=int)
        counts = np.ones((n_rows, self.n_estimators))
        for member in range(self.n_estimators):
            if self.bootstrap:
                bag = random.randint(n_rows, size=n_rows)
                counts[:, member] = np.bincount(bag, minlength=n_rows)
            orders[member] = random.permutation(n_labels)
        return orders, counts

    def _confidences(self, X: Array) -> ndarray:
        F = np.zeros((X.shape[0], len(self.label_names_)))
        for chain in self.estimators_:
            F += chain.probabilities(X)
        return F / len(self.estimators_)


@dataclass(eq=False, repr=False)
class RAkEL(LogisticBaseline):
    """Random k-labelsets, overlapping: models predict patterns of k labels, and these vote.

    Parameters
    ----------
    k : int, default=3
        Labels in a set; at most q are used, which gives a single label powerset.
    n_estimators : int, default=None
        Number of sets; None: 2q. Never more than the C(q, k) sets that exist.
    random_state : int, RandomState or None, default=None
    threshold, max_iter, tol
        As in :class:`BinaryRelevance`.

    Attributes
    ----------
    labelsets_ : array of shape (M, k)
        The sets: distinct, drawn uniformly.
    patterns_ : list of arrays of shape (number of patterns, k)
        The patterns of each set that occur in training, by ascending code Σ_i bit_i 2^i. No other
        is ever predicted.
    n_iter_ : int
        Steps of the slowest model.

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    Each set is a multinomial logistic regression on patterns; sets with equally many patterns are
    solved together. F is the share of votes for a label among the sets that hold it, 0 for a label
    in no set. A set votes for its most probable pattern; among equals, for the one with the lowest
    code. At threshold 0, half of the votes predict a label. F takes few values, so ranking metrics
    depend much on the rule for ties.

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
        check_number("k", self.k, 1, whole=True)
        if self.n_estimators is not None:
            check_number("n_estimators", self.n_estimators, 1, whole=True, otherwise="or None")

    def _learn(self, data: Training) -> None:
        q = data.Y.shape[1]
        wanted = 2 * q if self.n_estimators is None else self.n_estimators
        random = check_random_state(self.random_state)
        self.labelsets_ = draw_labelsets(q, min(self.k, q), wanted, random)
        powersets = [label_powerset(data.Y[:, labels]) for labels in self.labelsets_]
        self.patterns_ = [patterns for patterns, _ in powersets]
        codes = np.column_stack([codes for _, codes in powersets])
        self._models: Models = []
        for sets in alike(map(len, self.patterns_)):
            n_patterns = len(self.patterns_[sets[0]])
            model = None
            if n_patterns > 1:
                own = data._replace(Y=codes[:, sets])
                model = fit_softmax(own, n_patterns, tol=self.tol, max_iter=self.max_iter)
            self._models.append((sets, model))
        self._count_steps(model for _, model in self._models)

    def _confidences(self, X: Array) -> ndarray:
        votes = np.zeros((X.shape[0], len(self.label_names_)))
        counts = np.zeros(votes.shape[1])
        for sets, model in self._models:
            best = np.zeros((X.shape[0], len(sets)), dtype=int)
            if model is not None:
                best = model.most_probable(X)
            for m, codes in zip(sets, best.T, strict=True):
                votes[:, self.labelsets_[m]] += self.patterns_[m][codes]
                counts[self.labelsets_[m]] += 1
        return votes / np.maximum(counts, 1)


def draw_labelsets(q: int, k: int, wanted: int, random: np.random.RandomState) -> ndarray:
    """Distinct k-subsets of range(q), uniform among such collections, at most all: (M, k).

    If few more exist than are wanted, all are listed and shuffled; else repeats are rare, and drawn
    again.
    """
    total = math.comb(q, k)
    wanted = min(wanted, total)
    if total <= DENSE_DRAW * wanted:
        every = np.array(list(combinations(range(q), k)))
        return every[random.permutation(total)[:wanted]]
    drawn: dict[Hashable, None] = {}
    while len(drawn) < wanted:  # at least three in four draws are new
        drawn[tuple(sorted(random.choice(q, k, replace=False).tolist()))] = None
    return np.array(list(drawn))


def label_powerset(Y: ndarray) -> tuple[ndarray, ndarray]:
    """Patterns in the rows of Y (n, k), by ascending code Σ_i bit_i 2^i, and each row's place.

    >>> patterns, codes = label_powerset(np.array([[0, 1], [1, 0], [0, 1]]))
    >>> patterns.tolist(), codes.tolist()
    ([[1, 0], [0, 1]], [1, 0, 1])
    """
    reversed_patterns, codes = np.unique(Y[:, ::-1].astype(np.int64), axis=0, return_inverse=True)
    return reversed_patterns[:, ::-1], codes.ravel()


def alike(keys: Iterable[Hashable]) -> list[list[int]]:
    """Positions of equal keys.

    >>> alike("aba")
    [[0, 2], [1]]
    """
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def fit_one(base: Any, data: Training) -> Any:
    """A clone fitted on the only column of Y, or the class itself where it has only one."""
    y = data.Y[:, 0]
    if not len(y):
        return 0
    if (y == y[0]).all():
        return int(y[0])
    return clone_fitted(base, data.X, y, data.weights)


def positive_probability(model: Any, X: Array) -> ndarray:
    """P(y = 1 | row), (m, number of targets), of a logistic model or one from :func:`fit_one`.

    Without `predict_proba` it is the sigmoid of the `decision_function`, and without either the
    decisions.
    """
    if isinstance(model, int):
        return np.full((X.shape[0], 1), float(model))
    if isinstance(model, Logistic):
        return model.probabilities(X)
    if hasattr(model, "predict_proba"):
        return class_one(model.predict_proba(X), model.classes_)[:, None]
    if hasattr(model, "decision_function"):
        return expit(np.asarray(model.decision_function(X), dtype=np.float64))[:, None]
    return np.asarray(model.predict(X), dtype=np.float64)[:, None]
