""":class:`CamelClassifierCV`: hyper-parameters chosen by leave-one-out, or by folds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator

from skcamel import memory, presets
from skcamel.arrays import Array, MaybeArray, Params
from skcamel.camel import kernel, link, stream, thresholds
from skcamel.camel.base import (
    OF_EVERY_MODEL,
    OF_ONE_MODEL,
    OF_SOME_FITS,
    BaseCamel,
    learn_correlation,
)
from skcamel.camel.classifier import CamelClassifier
from skcamel.camel.representation import (
    Data,
    Grid,
    Model,
    all_candidates,
    check_place,
    label_bases,
    represent,
)
from skcamel.camel.search import (
    Scores,
    combine,
    larger_is_better,
    score_fold,
    search,
    tabulate,
    usable,
)
from skcamel.checks import (
    Labels,
    check_at_least,
    check_number,
    choice,
    inner_splits,
    unchanged_on_error,
)
from skcamel.metrics.seven import NAMES

log = logging.getLogger("skcamel")

PAPER_ALPHAS = tuple(round(0.1 * k, 1) for k in range(11))
PAPER_LAMBDA2S = (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1.0)


# What a model file holds beside; see `OF_EVERY_MODEL`.
OF_A_SEARCH: Params = {
    "cv_results_": dict,
    "best_score_": float,
    "best_params_": dict,
    "scoring_": str,
}
OF_ONE_CHOICE: Params = {
    "best_index_": int,
    "scaling_": str,
    "kernel_": str,
    "alpha_": float,
    "lambda1_": float,
    "lambda2_": float,
    "bandwidth_multiplier_": float,
}
OF_A_COMBINATION: Params = {
    "members_": [CamelClassifier],
    "weights_": ("m",),
    "_constant": ("q",),
}
MOST_PLACES = 10_000  # representations in a model file: to check them takes time
OF_CHECKS = (
    "n_features_in_",
    "feature_names_in_",
    "cooccurrence_",
    "total_weight_",
    "known_together_",
)
OF_MEMBERS = (
    "sparsity",
    "correlation",
    "max_iter",
    "tol",
    "device",
    "solver",
    "n_landmarks",
    "landmarks",
    "max_memory",
    "random_state",
)


class Progress(NamedTuple):
    """Progress of a search, after every block of candidates."""

    done: int  # candidates scored so far, over all folds
    total: int
    best_score: float  # so far, larger is better; of the last fold where folds are used


class CamelClassifierCV(BaseCamel):
    """CAMEL with its hyper-parameters chosen by exact leave-one-out or by folds.

    One eigendecomposition scores every α, λ1 and λ2 (of a fold, or of all rows for leave-one-out);
    only kernels, bandwidths and scalings cost another one.

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
    representations : sequence of (scaling, kernel, multiple of the mean distance), default=None
        What to try in place of the product of scalings, kernels and bandwidths.
    combine : bool, default=False
        Whether scores are ȳ + Σ w_r (f_r(x) - ȳ) over representations, w ≥ 0 by least squares on
        leave-one-out scores. Each takes part with its candidate of least squared error and α ≤ ½,
        but for standardised columns of sparse rows.
    cv : "loo", int, splitter or iterable of (train, test), default="loo"
        "loo" is exact leave-one-out with S and σ fixed. An int means that many folds as in
        scikit-learn: in the order of the rows, or shuffled where `random_state` is set.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. A criterion that is undefined on
        every row (a ranking metric with one label) gives way to the Hamming loss, and `scoring_`
        says so.
    scores, threshold, miss_cost
        As in :class:`CamelClassifier`. Candidates are compared by the printed scores; by a metric
        of decisions with the thresholds that they would have, else `cv_results_` shows decisions at
        0.
    sparsity, correlation, solver, n_landmarks, landmarks, max_memory, max_iter, tol, device
        As in :class:`CamelClassifier`.
    callback : callable, default=None
        Called with a :class:`Progress` whenever candidates have been scored, which the logger
        "skcamel" reports too.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`; else as in :class:`CamelClassifier`.

    Attributes
    ----------
    alpha_, lambda1_, lambda2_, kernel_, scaling_, bandwidth_, bandwidth_multiplier_
        The choice; bandwidth_ is σ itself. Not set where models are combined.
    members_, weights_ : list of CamelClassifier, array
        Where models are combined, those with a weight above 0, and their weights. The link takes
        the weighted sum of the members' scores, plus (1 - Σ w) ȳ.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated, and the first of equal candidates is the best.
        ``CamelClassifier(**best_params_)`` with the other settings of the search gives the fitted
        model again. Where models are combined, `best_params_` lists weights and the parameters of
        the members, `best_score_` is that of the combination, and there is no `best_index_`.
    estimate_ : dict
        The seven metrics of this model by leave-one-out; not set with folds. Slightly optimistic,
        for hyper-parameters, weights and thresholds were chosen on the same rows.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>,
        losses negated; with folds also std_test_score and split<k>_test_score.

    Notes
    -----
    All other attributes are those of :class:`CamelClassifier`.

    Where labels are unknown (NaN), criteria, thresholds and weights count known entries: rows rank
    their known labels, and macro-F1 is the mean over labels that some row knows. Every candidate
    fills the unknown entries itself, to two or three digits for the comparison; the best one is
    then solved exactly.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = CamelClassifierCV(scalings=("none", "standard")).fit(X, Y)
    >>> len(model.cv_results_["params"]), sorted(model.best_params_)
    (154, ['alpha', 'bandwidth', 'kernel', 'lambda1', 'lambda2', 'scaling'])
    """

    stored: ClassVar[Params] = (
        OF_EVERY_MODEL | OF_ONE_MODEL | OF_A_SEARCH | OF_ONE_CHOICE | OF_A_COMBINATION
    )
    optional = (*OF_SOME_FITS, *OF_ONE_MODEL, *OF_ONE_CHOICE, *OF_A_COMBINATION)

    def __init__(
        self,
        alphas: Sequence[float] = PAPER_ALPHAS,
        lambda1s: Sequence[float] = (1.0,),
        lambda2s: Sequence[float] = PAPER_LAMBDA2S,
        bandwidths: Sequence[float] = (1.0,),
        kernels: Sequence[kernel.Name] = ("rbf",),
        scalings: Sequence[str] = ("none",),
        *,
        representations: Sequence[stream.Place] | None = None,
        combine: bool = False,
        cv: str | int | BaseCrossValidator | Iterable[Any] = "loo",
        scoring: str = "average_precision",
        scores: str = "paper",
        threshold: float | str | Array = "zero",
        miss_cost: float | dict[str, float] | None = None,
        sparsity: float = 0.01,
        correlation: str = "paper",
        solver: str = "auto",
        n_landmarks: int = 1000,
        landmarks: str | Array = "uniform",
        max_memory: int | str | None = None,
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
        self.representations = representations
        self.combine = combine
        self.cv = cv
        self.scoring = scoring
        self.scores = scores
        self.threshold = threshold
        self.miss_cost = miss_cost
        self.sparsity = sparsity
        self.correlation = correlation
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.max_memory = max_memory
        self.max_iter = max_iter
        self.tol = tol
        self.device = device
        self.callback = callback
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        if self.representations is None:
            kernels = list(self.kernels)
        else:
            kernels = [entry[1] for entry in self.representations if len(entry) == 3]
        return any(isinstance(kernel, str) and kernel == "precomputed" for kernel in kernels)

    @classmethod
    def from_preset(cls, preset: str, *, prepared: bool = False, **overrides: Any) -> Self:
        """An unfitted estimator with the parameters of a preset, some of them overridden.

        Parameters
        ----------
        preset : {"quick", "paper", "best"}
            "quick": a few representations, a coarse grid, tuned thresholds; seconds for thousands
            of rows. "paper": as printed. "best": twelve representations, combined, and tuned
            thresholds.
        prepared : bool, default=False
            Whether the rows come out of a :class:`skcamel.data.TablePreparer`, whose columns are
            not to be scaled.
        **overrides
            Parameters of the class.

        Examples
        --------
        >>> model = CamelClassifierCV.from_preset("quick", scoring="macro_f1")
        >>> model.threshold, model.scoring
        ('micro_f1', 'macro_f1')
        """
        parameters = dict(presets.PRESETS[choice(preset, tuple(presets.PRESETS), "preset")])
        if prepared:
            parameters["representations"] = presets.PREPARED[preset]
        return cls(**(parameters | overrides))

    def fit(
        self, X: Array, y: Array, sample_weight: MaybeArray = None, groups: MaybeArray = None
    ) -> Self:
        """Score every candidate, choose one or combine some, and fit on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`CamelClassifier.fit`. Weights also weight the selection; leave-one-out
            takes one unit of weight away, so that integer weights equal repeated rows.
        groups : array of shape (n,), default=None
            Which rows belong together, such as those of one person: they are left out together,
            exactly, and a group leaves with all its weight. A splitter in `cv` gets them as in
            scikit-learn: ``cv=GroupKFold(5)``.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            grid = self._grid()
            if groups is not None and isinstance(self.cv, Integral):
                raise ValueError(
                    f"groups were given, but cv={self.cv!r} does not use them; use cv='loo', or a"
                    " splitter that does, such as cv=GroupKFold(5)."
                )
            self._reset()
            # members have solutions and scaled rows, and each α a basis of labels
            members = len(grid.places) * self.combine
            alive = memory.EXACT._replace(
                scores=memory.EXACT.scores + 6 * members,
                pairs=memory.EXACT.pairs + 2 * len(grid.alphas),
                copies=memory.EXACT.copies + members,
            )
            whole, labels = self._checked(X, y, sample_weight, groups, alive)
            data = whole.with_weight()
            judged = data.judged
            if len(judged.Y) < 2:
                raise ValueError(
                    "Choosing hyper-parameters needs at least 2 rows with weight, got n_samples ="
                    f" {len(judged.Y)}; use CamelClassifier."
                )
            if sparse.issparse(whole.X):
                grid = grid.for_sparse_rows()
            S = learn_correlation(self, data)
            self.scoring_ = usable(self.scoring, judged.Y, judged.weights)
            if isinstance(self.cv, str):
                found = search(
                    represent(data, grid, self.device),
                    grid,
                    S,
                    self.scoring_,
                    device=self.device,
                    threshold=self.threshold,
                    combine=self.combine,
                    progress=lambda scored: self._report(scored, 0, grid.size),
                )
                models = found.models
                results = tabulate(found.params, [found.metrics], self.scoring_, split_scores=False)
            else:
                candidates = all_candidates(data, grid, self.device)
                folds = self._folds(whole, labels, grid)
                results = tabulate(candidates, folds, self.scoring_)
                chosen = grid.only(results.best_index)
                (problem,) = represent(data, chosen, self.device)
                models = [problem.solve(label_bases(S, chosen.alphas, self.device))]
            self.cv_results_ = results.table
            if self.combine:
                self._store_combination(judged, models, S, labels)
            else:
                self._store_choice(judged, models[0], S, labels)
                self.best_index_ = results.best_index
                self.best_score_ = results.best_score
                place = grid.places[results.best_index * len(grid.places) // grid.size]
                self.bandwidth_multiplier_ = place[2]
        return self

    def _store_choice(self, judged: Data, model: Model, S: Array, labels: Labels) -> None:
        """Set the best model as this one."""
        decisions = link.learn_decisions(self, judged, labels, model.scores)
        if not isinstance(self.cv, str):  # folds give estimates
            decisions.pop("estimate_")
            decisions.pop("label_estimates_", None)
        self._store(model, S, decisions, labels)
        self.best_params_ = model.params
        for name in ("alpha", "lambda1", "lambda2", "kernel", "scaling"):
            setattr(self, f"{name}_", model.params[name])

    def _store_combination(
        self, judged: Data, models: Sequence[Model], S: Array, labels: Labels
    ) -> None:
        """Set the models with a weight above 0 as fitted estimators, and what the sum needs."""
        combined = combine(judged, [model.scores for model in models])
        live = combined.weights > 0
        self.weights_ = combined.weights[live]
        self._constant = combined.constant
        self.label_correlation_ = S
        self.n_iter_ = 1
        self.members_: list[CamelClassifier] = []
        shared = {key: getattr(self, key) for key in OF_MEMBERS}
        params = []
        for index in np.flatnonzero(live).tolist():
            model = models[index]
            member = CamelClassifier(**model.params, **shared)
            for key in OF_CHECKS:
                if hasattr(self, key):
                    setattr(member, key, getattr(self, key))
            member._store(model, S, {"thresholds_": np.zeros(len(labels.names))}, labels)
            self.members_.append(member)
            params.append(model.params)
        self.best_params_ = {"weights": self.weights_.tolist(), "members": params}
        self._store_decisions(link.learn_decisions(self, judged, labels, combined.scores), labels)
        self.best_score_ = larger_is_better(self.scoring_, self.estimate_[self.scoring_])

    def _check_parameters(self) -> None:
        self._grid()

    def check_stored(self) -> None:
        """Refuse a search of a model file that no fit gives."""
        n_places = len(self.kernels) * len(self.scalings) * len(self.bandwidths)
        if max(n_places, len(self.representations or ())) > MOST_PLACES:
            raise ValueError(
                f"kernels, scalings and bandwidths are more than {MOST_PLACES} together"
            )
        super().check_stored()
        choice(self.scoring_, NAMES, "scoring_")
        needed = {*OF_A_COMBINATION}
        if not self.combine:
            needed = {*OF_ONE_MODEL, *OF_ONE_CHOICE} - {*OF_SOME_FITS}
        if missing := sorted(name for name in needed if not hasattr(self, name)):
            raise ValueError(f"{', '.join(missing)} missing")
        candidates = len(self.cv_results_["params"])
        lengths = {len(column) for column in self.cv_results_.values()}
        if lengths != {candidates} or getattr(self, "best_index_", 0) not in range(candidates):
            raise ValueError(
                f"cv_results_ must have {candidates} entries in each column, and best_index_ one of"
                " them"
            )
        weights = getattr(self, "weights_", np.ones(1))
        n_members = len(getattr(self, "members_", weights))
        if hasattr(self, "members_") != self.combine or n_members != len(weights):
            raise ValueError("members_ belong to combine=True, with a weight each")
        check_at_least(self, weights_=0)

    def _grid(self) -> Grid:
        """All candidates, or a refusal of a parameter."""
        choice(self.scoring, NAMES, "scoring")
        axes = ("scalings", "kernels", "bandwidths")
        if self.representations is not None:
            axes = ("representations",)
        for name in ("alphas", "lambda1s", "lambda2s", *axes):
            values = getattr(self, name)
            if isinstance(values, str) or not np.ndim(values) or not len(values):
                raise ValueError(
                    f"{name} must be a sequence with at least one value, got {values!r}."
                )
        for alpha in self.alphas:
            check_number("alphas", alpha, 0, 1)
        for name in ("lambda1s", "lambda2s"):
            for value in getattr(self, name):
                check_number(name, value, above=True)
        places = self._checked_places()
        kernels = [kernel for _, kernel, _ in places]
        if "precomputed" in kernels and len(set(kernels)) > 1:
            raise ValueError(
                f"kernels={kernels!r} mixes 'precomputed' with kernels of features; give it alone."
            )
        self._check_shared_parameters(kernels)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(
                f"callback must be a function of one Progress or None, got {self.callback!r}."
            )
        choice(self.combine, (True, False), "combine")
        if self.combine and not isinstance(self.cv, str):
            raise ValueError(
                "combine=True learns its weights on leave-one-out scores, not on folds; use"
                " cv='loo'."
            )
        if isinstance(self.cv, str) and self.cv != "loo":
            raise ValueError(
                f"cv={self.cv!r} is not known; choose 'loo', a number of folds, a splitter or an"
                " iterable of (train, test)."
            )
        if self.solver == "alternating":
            raise ValueError(
                "solver='alternating' (Algorithm 1) solves one candidate; use CamelClassifier, or"
                " solver='auto'."
            )
        return Grid(tuple(self.alphas), tuple(self.lambda1s), tuple(self.lambda2s), tuple(places))

    def _checked_places(self) -> list[stream.Place]:
        """All representations, or a refusal of a parameter."""
        if self.representations is None:
            places: list[stream.Place] = []
            for place in product(self.scalings, self.kernels, self.bandwidths):
                check_place("bandwidths", place)
                _, name, multiple = place
                if name in kernel.RADIAL or multiple == self.bandwidths[0]:
                    places.append(place)
            return places
        for entry in self.representations:
            if isinstance(entry, str) or not hasattr(entry, "__len__") or len(entry) != 3:
                raise ValueError(
                    f"representations holds {entry!r}; each must be (scaling, kernel, multiple of"
                    " the mean distance)."
                )
            check_place("representations", tuple(entry))
        return [tuple(entry) for entry in self.representations]

    def _folds(self, data: Data, labels: Labels, grid: Grid) -> list[list[Scores]]:
        """Results of all candidates in each fold; S, σ and scaling come from its training part."""
        splits = inner_splits(self, data.X, labels.Y, labels.target, groups=data.groups)
        threshold = self.threshold
        if self.scoring not in thresholds.METRICS and thresholds.is_tuned(threshold):
            threshold = "zero"
        folds: list[list[Scores]] = []
        for train_rows, test_rows in splits:
            columns = None
            if self._is_pairwise():
                columns = train_rows
            train = data.rows(train_rows, columns).with_weight()
            if len(train.Y) == 0:
                raise ValueError(
                    f"All training rows of fold {len(folds)} have the weight 0; leave rows without"
                    " weight out, or shuffle the folds: cv=KFold(5, shuffle=True)."
                )
            test = data.rows(test_rows, columns)
            if data.source is not None:
                train = train.summed(data.source.by)
            S = learn_correlation(self, train)
            results: list[Scores] = []
            for scored in score_fold(train, test, grid, S, threshold, self.device):
                results += scored
                self._report(results, len(folds) * grid.size, len(splits) * grid.size)
            folds.append(results)
        return folds

    def _report(self, results: list[Scores], before: int, total: int) -> None:
        """Report how many candidates have been scored, and the best score of this fold."""
        done = before + len(results)
        values = [larger_is_better(self.scoring, scores[self.scoring]) for scores in results]
        best = max((value for value in values if value > -np.inf), default=float("nan"))
        log.info("%d of %d candidates scored, best %s so far %.4f", done, total, self.scoring, best)
        if self.callback is not None:
            self.callback(Progress(done, total, best))
