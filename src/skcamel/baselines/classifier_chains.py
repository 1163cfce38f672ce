"""Ensemble of classifier chains: each label is learnt from the features and the labels before it, in many orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.baselines.base import LogisticBaseline, convergence_warning, fit_one, positive_probability
from skcamel.baselines.logistic import Logistic, beside, fit_chains
from skcamel.checks import check_count, check_flag

TOGETHER = 2**20  # rows times links up to which members are solved as one batch; beyond, the work outweighs the overhead


@dataclass(frozen=True)
class Chain:
    """One member: the order of its labels, and a model for each link."""

    order: np.ndarray  # (q,) label numbers
    links: Logistic | list[Any]

    def probabilities(self, X: Array) -> np.ndarray:
        """P of every label, (m, q), in the order of the label numbers."""
        if isinstance(self.links, Logistic):
            return self.links.chain_probabilities(X, self.order)
        P = np.empty((X.shape[0], len(self.order)))
        for s, link in enumerate(self.links):
            earlier = (P[:, self.order[:s]] >= 0.5).astype(np.float64)
            P[:, self.order[s]] = positive_probability(link, beside(X, earlier))
        return P


@dataclass(eq=False, repr=False)
class EnsembleOfClassifierChains(LogisticBaseline):
    """Classifier chains over random label orders and bootstrap samples, averaged (ECC).

    Parameters
    ----------
    n_estimators : int, default=30
        Number of chains.
    base_estimator : classifier, default=None
        As in :class:`BinaryRelevance`, cloned for each link; by default all links of many chains are solved together.
    combine : {"confidence", "vote"}, default="confidence"
        F is the mean of the members' probabilities, or of their decisions.
    bootstrap : bool, default=True
        Each member learns from n rows drawn with replacement; else from all rows.
    order : sequence of int, default=None
        One order of the labels for all members; None: a random one for each.
    random_state : int, RandomState or None, default=None
    n_jobs : int, default=None
        Groups of members fitted at the same time, in threads; a group is one batch of the logistic solver, and on small data
        all members are one group. With a `base_estimator` each member is a group. The numbers do not depend on it.
    threshold, threshold_metric, max_iter, tol
        As in :class:`BinaryRelevance`.

    Attributes
    ----------
    estimators_ : list of Chain
        Each with its `order`.
    n_iter_ : int
        Steps of the slowest link; 1 with a `base_estimator`.

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    Links learn from the true values of the earlier labels and predict from the earlier predictions, 1 where p >= 1/2. So
    all links of all chains are known before the first is solved, and those of many members are solved as one batch. Repeated
    rows of a bag enter once, with their count times their `sample_weight` as weight. Columns and labels that are constant in a
    bag are dropped there.

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
    combine: str = "confidence"
    bootstrap: bool = True
    order: Sequence[int] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    PROBABILISTIC: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators)
        check_flag("bootstrap", self.bootstrap)
        if self.n_jobs is not None:
            check_count("n_jobs", self.n_jobs, least=-(10**6), otherwise="or None")
        if self.combine not in ("confidence", "vote"):
            raise ValueError(f"combine must be 'confidence' or 'vote', got {self.combine!r}.")

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        orders, counts = self._plans(*Y.shape)
        size = max(1, TOGETHER // Y.size) if self.base_estimator is None else 1
        groups = [slice(start, start + size) for start in range(0, self.n_estimators, size)]
        with convergence_warning():
            fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._chains)(X, Y, orders[group], None if counts is None else counts[:, group], weights) for group in groups
            )
        self.estimators_ = [chain for chains in fitted for chain in chains]
        self._votes = self.combine == "vote"
        steps = [chain.links.ending.n_iter.max(initial=1) for chain in self.estimators_ if isinstance(chain.links, Logistic)]
        self.n_iter_ = int(max(steps, default=1))

    def _plans(self, n_rows: int, n_labels: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Orders (C, q) and row counts (n, C) of the members, drawn before the work is shared out."""
        random, fixed = check_random_state(self.random_state), self.order
        if fixed is not None and not np.array_equal(np.sort(_numbers(fixed)), np.arange(n_labels)):
            raise ValueError(f"order must hold each of the numbers 0 to {n_labels - 1} once, got {fixed!r}.")
        orders = np.empty((self.n_estimators, n_labels), dtype=int)
        counts = np.empty((n_rows, self.n_estimators)) if self.bootstrap else None
        for member in range(self.n_estimators):
            if counts is not None:
                counts[:, member] = np.bincount(random.randint(n_rows, size=n_rows), minlength=n_rows)
            orders[member] = random.permutation(n_labels) if fixed is None else fixed
        return orders, counts

    def _chains(self, X: Array, Y: np.ndarray, orders: np.ndarray, counts: np.ndarray | None, weights: np.ndarray | None) -> list[Chain]:
        if self.base_estimator is None:
            if weights is not None:
                counts = weights[:, None] * (np.ones((1, len(orders))) if counts is None else counts)
            links = fit_chains(X, Y, orders, counts, tol=self.tol, max_iter=self.max_iter)
        else:
            of_members = [None] * len(orders) if counts is None else counts.T
            links = [self._foreign_links(X, Y[:, order], bag, weights) for order, bag in zip(orders, of_members, strict=True)]
        return [Chain(order, of_chain) for order, of_chain in zip(orders, links, strict=True)]

    def _foreign_links(self, X: Array, in_order: np.ndarray, counts: np.ndarray | None, weights: np.ndarray | None) -> list[Any]:
        base = self.base_estimator
        return [fit_one(base, beside(X, in_order[:, :s]), in_order[:, s], counts, weights) for s in range(in_order.shape[1])]

    def _confidences(self, X: Array) -> np.ndarray:
        F = np.zeros((X.shape[0], len(self.label_names_)))
        for chain in self.estimators_:
            P = chain.probabilities(X)
            F += P >= 0.5 if self._votes else P
        return F / len(self.estimators_)


def _numbers(order: Any) -> np.ndarray:
    """An order as integers; empty where it holds anything else."""
    numbers = np.array([] if isinstance(order, str) else order)
    return numbers if numbers.dtype.kind in "iu" and numbers.ndim == 1 else np.empty(0, dtype=int)
