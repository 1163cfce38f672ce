""":class:`CamelClassifierCV`: hyper-parameters chosen inside the training rows, a whole grid from one decomposition."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold, check_cv

from skcamel import correlation
from skcamel.arrays import Array
from skcamel.inputs import Labels, unchanged_on_error
from skcamel.metrics.conventions import LOSSES, NAMES, choice
from skcamel.parameters import check_bandwidth, check_in_unit_interval, check_kernel, check_positive, check_scaling, check_shared_parameters
from skcamel.prediction import BaseCamel
from skcamel.selection.results import tabulate
from skcamel.selection.search import (
    Data,
    Decomposed,
    Grid,
    Scores,
    represent,
    score_fold,
    score_leave_one_out,
)
from skcamel.selection.thresholds import Rule
from skcamel.training import finish_spectral, learn_correlation

log = logging.getLogger("skcamel")

PAPER_ALPHAS = tuple(round(0.1 * k, 1) for k in range(11))
PAPER_LAMBDA2S = (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1.0)


class Progress(NamedTuple):
    """What a callback is told after every block of candidates."""

    done: int  # candidates scored so far, over all folds
    total: int
    best_score: float  # so far, larger is better; of the last fold where folds are used


class CamelClassifierCV(BaseCamel):
    """CAMEL with its hyper-parameters chosen by exact leave-one-out or by folds.

    One eigendecomposition scores every α, λ1 and λ2 (of a fold, or of all rows for leave-one-out); only kernels,
    bandwidths and scalings cost another one.

    Parameters
    ----------
    alphas : sequence of floats in [0, 1], default=PAPER_ALPHAS
    lambda1s : sequence of floats > 0, default=(1.0,)
    lambda2s : sequence of floats > 0, default=PAPER_LAMBDA2S
    bandwidths : sequence of floats > 0, default=(1.0,)
        Multiples of the mean distance.
    kernels : sequence, default=("rbf",)
        Kernels as in :class:`CamelClassifier`.
    scalings : sequence, default=("none",)
        Scalings as in :class:`CamelClassifier`.
    cv : "loo", int, splitter or iterable of (train, test), default="loo"
        "loo" is exact leave-one-out with S and σ held. An int means that many folds as in scikit-learn: in the order of
        the rows, or shuffled where `random_state` is given.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. A criterion that is undefined on every row (a ranking
        metric with one label) gives way to the Hamming loss, and `scoring_` says so.
    threshold, threshold_metric, sparsity, correlation, max_iter, tol, device
        As in :class:`CamelClassifier`. Candidates are compared with the cuts that they would be deployed with.
    callback : callable, default=None
        Called with a :class:`Progress` whenever candidates have been scored. The logger "skcamel" tells the same.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`.

    Attributes
    ----------
    alpha_, lambda1_, lambda2_, kernel_, scaling_, bandwidth_, bandwidth_multiplier_
        The choice; bandwidth_ is σ itself.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated. Equal scores: the first in the order of the grid.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>, losses negated; with
        folds also std_test_score and split<k>_test_score.

    All other attributes are those of :class:`CamelClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = CamelClassifierCV(scalings=("none", "standard")).fit(X, Y)
    >>> len(model.cv_results_["params"]), sorted(model.best_params_)
    (154, ['alpha', 'bandwidth', 'kernel', 'lambda1', 'lambda2', 'scaling'])
    """

    def __init__(
        self,
        alphas: Sequence[float] = PAPER_ALPHAS,
        lambda1s: Sequence[float] = (1.0,),
        lambda2s: Sequence[float] = PAPER_LAMBDA2S,
        bandwidths: Sequence[float] = (1.0,),
        kernels: Sequence[str | Callable[[Array, Array], Array]] = ("rbf",),
        scalings: Sequence[str] = ("none",),
        *,
        cv: str | int | BaseCrossValidator | Iterable[Any] = "loo",
        scoring: str = "average_precision",
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        sparsity: float = 0.01,
        correlation: str = "paper",
        max_iter: int = 10_000,
        tol: float = 1e-6,
        device: str | None = None,
        callback: Callable[[Progress], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.alphas = alphas
        self.lambda1s = lambda1s
        self.lambda2s = lambda2s
        self.bandwidths = bandwidths
        self.kernels = kernels
        self.scalings = scalings
        self.cv = cv
        self.scoring = scoring
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.sparsity = sparsity
        self.correlation = correlation
        self.max_iter = max_iter
        self.tol = tol
        self.device = device
        self.callback = callback
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        return "precomputed" in tuple(self.kernels)

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Score every candidate, choose one, and fit it on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`CamelClassifier.fit`. Weights also weight the selection; leave-one-out takes one unit of weight
            away, so that integer weights equal repeated rows.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            grid = self._checked_grid()
            data, labels = self._checked(X, y, sample_weight)
            if len(data.Y) < 2:
                raise ValueError(f"Choosing hyper-parameters needs at least 2 rows, got n_samples = {len(data.Y)}; use CamelClassifier.")
            kept_data, kept = data.with_weight(self._is_pairwise())
            S = learn_correlation(self, kept_data)
            if isinstance(self.cv, str):
                results, decomposed = self._leave_one_out(kept_data, grid, S)
            else:
                results, decomposed = self._folds(data, labels, grid), None
            best = self._choose(results, grid)
            chosen = self._decomposed(best, decomposed, kept_data)
            G = correlation.collaboration(S, self.alpha_)
            penalties = {"lambda1": self.lambda1_, "lambda2": self.lambda2_}
            self._store(finish_spectral(chosen, kept_data, S, G, self._rule(), **penalties), labels, kept)
        return self

    def _check_parameters(self) -> None:
        self._checked_grid()

    def _checked_grid(self) -> Grid:
        check_shared_parameters(self)
        choice(self.scoring, NAMES, "scoring")
        for name in ("alphas", "lambda1s", "lambda2s", "bandwidths", "kernels", "scalings"):
            values = getattr(self, name)
            if isinstance(values, str) or np.ndim(values) != 1 or not len(values):
                raise ValueError(f"{name} must be a sequence with at least one value, got {getattr(self, name)!r}.")
        for alpha in self.alphas:
            check_in_unit_interval("alphas", alpha)
        for name, check in (("lambda1s", check_positive), ("lambda2s", check_positive), ("bandwidths", check_bandwidth)):
            for value in getattr(self, name):
                check(name, value)
        for kernel in self.kernels:
            check_kernel(kernel)
            for scaling in self.scalings:
                check_scaling(scaling, kernel)
        if self._is_pairwise() and len(self.kernels) > 1:
            raise ValueError(f"kernels={tuple(self.kernels)!r} mixes 'precomputed' with kernels of features; give it alone.")
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback must be a function of one Progress or None, got {self.callback!r}.")
        if isinstance(self.cv, str) and self.cv != "loo":
            raise ValueError(f"cv={self.cv!r} is not known; choose 'loo', a number of folds, a splitter or an iterable of (train, test).")
        return Grid(*(tuple(getattr(self, name)) for name in ("alphas", "lambda1s", "lambda2s", "bandwidths", "kernels", "scalings")))

    def _leave_one_out(self, data: Data, grid: Grid, S: np.ndarray) -> tuple[list[list[Scores]], Decomposed | None]:
        """Results of all candidates in one "fold", and the last decomposition, most often the only one."""
        results: list[Scores] = []
        total = len(grid.candidates())
        last = None
        for decomposed, scored in score_leave_one_out(data, grid, S, self._rule(), self.device):
            results += scored
            self._tell(results, len(results), total)
            if len(results) == total:
                last = decomposed
            del decomposed  # its memory is wanted for the next one
        return [results], last

    def _folds(self, data: Data, labels: Labels, grid: Grid) -> list[list[Scores]]:
        """Results of all candidates in each fold; S, σ and scaling are learned in the training part alone."""
        splits = self._splits(data, labels)
        total = len(splits) * len(grid.candidates())
        folds: list[list[Scores]] = []
        for train_rows, test_rows in splits:
            train, test = data.rows(train_rows, train_rows if self._is_pairwise() else None), data.rows(test_rows)
            if self._is_pairwise():
                test = data.rows(test_rows, train_rows)
            train, kept = train.with_weight(self._is_pairwise())
            if kept is not None and self._is_pairwise():
                test = Data(test.X[:, kept], test.Y, test.weights)
            S = learn_correlation(self, train)
            results: list[Scores] = []
            for scored in score_fold(train, test, grid, S, self._rule(), self.device):
                results += scored
                self._tell(results, sum(map(len, folds)) + len(results), total)
            folds.append(results)
        return folds

    def _splits(self, data: Data, labels: Labels) -> list[tuple[np.ndarray, np.ndarray]]:
        is_matrix = labels.target == "matrix"
        y = labels.Y if is_matrix else labels.Y.argmax(axis=1) if labels.target == "multiclass" else labels.Y[:, 0]
        if isinstance(self.cv, Integral) and self.random_state is not None:
            splitter = (KFold if is_matrix else StratifiedKFold)(int(self.cv), shuffle=True, random_state=self.random_state)
        else:
            splitter = check_cv(self.cv, y, classifier=not is_matrix)
        splits = [(np.arange(len(y))[train], np.arange(len(y))[test]) for train, test in splitter.split(data.X, y)]
        if not splits or not all(len(train) and len(test) for train, test in splits):
            raise ValueError("cv gave no split, or one without training or test rows; it must give at least one (train, test) pair.")
        return splits

    def _choose(self, folds: list[list[Scores]], grid: Grid) -> dict[str, Any]:
        """Fill cv_results_ and the attributes of the choice."""
        found = tabulate(grid.candidates(), folds, self.scoring, split_scores=not isinstance(self.cv, str))
        self.cv_results_, self.scoring_ = found.table, found.scoring
        self.best_index_, self.best_score_ = found.best_index, found.best_score
        self.best_params_ = found.table["params"][found.best_index]
        self.alpha_, self.lambda1_, self.lambda2_, self.kernel_, self.scaling_, self.bandwidth_multiplier_ = (
            self.best_params_[key] for key in ("alpha", "lambda1", "lambda2", "kernel", "scaling", "bandwidth")
        )
        return self.best_params_

    def _decomposed(self, best: dict[str, Any], last: Decomposed | None, data: Data) -> Decomposed:
        """The decomposition of the choice: the last one if that was it, else computed anew rather than keeping all."""
        grid = Grid((), (), (), (best["bandwidth"],), (best["kernel"],), (best["scaling"],))
        candidates = self.cv_results_["params"]
        keys = ("bandwidth", "kernel", "scaling")
        if last is not None and all(candidates[-1][key] == best[key] for key in keys):
            return last
        return next(represent(data, grid, self.device))

    def _rule(self) -> Rule:
        return Rule(self.threshold, self.threshold_metric)

    def _tell(self, results: list[Scores], done: int, total: int) -> None:
        name = self.scoring
        scores = [-r[name] if name in LOSSES else r[name] for r in results]
        best = max((s for s in scores if s == s), default=float("nan"))
        log.info("%d of %d candidates scored, best %s so far %.4f", done, total, name, best)
        if self.callback is not None:
            self.callback(Progress(done, total, best))
