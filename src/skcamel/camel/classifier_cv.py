""":class:`CamelClassifierCV`: hyper-parameters chosen inside the training rows, a whole grid from one decomposition."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator

from skcamel.arrays import Array, to_numpy
from skcamel.camel.base import BaseCamel, check_solver, choose_solver, seed_of
from skcamel.camel.candidates import Results, Scores, score_fold, tabulate
from skcamel.camel.classifier import CamelClassifier
from skcamel.camel.combination import Combination, Judge
from skcamel.camel.learning import (
    Answering,
    Held,
    Model,
    estimated,
    learn_correlation,
    learn_to_answer,
    warn_of_filling,
    warn_of_rounding,
)
from skcamel.camel.parameters import Alive, check_places, check_shared_parameters
from skcamel.camel.representation import Data, Decomposed, Grid, Place, all_candidates, judged_by, places, represent, represent_ahead
from skcamel.camel.search import ZERO, Chosen, Found, Winner, larger_is_better, search, usable
from skcamel.camel.source import Batches, Source, counts_of, label_sums
from skcamel.camel.stream import Streaming
from skcamel.checks import Labels, check_flag, check_in_unit_interval, check_positive, inner_splits, unchanged_on_error
from skcamel.metrics.conventions import LOSSES, NAMES, choice
from skcamel.presets import PREPARED, PRESETS
from skcamel.rows import is_lazy

log = logging.getLogger("skcamel")

SHORTLIST_ALIVE = 32  # n x q matrices of candidates whose cuts are tuned
PAPER_ALPHAS = tuple(round(0.1 * k, 1) for k in range(11))
PAPER_LAMBDA2S = (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1.0)


# What a fit sets beside names that end in "_", and what it knows of the data alone
OF_CHECKS = ("n_features_in_", "feature_names_in_", "cooccurrence_", "total_weight_", "known_together_")


class Progress(NamedTuple):
    """What a callback is told after every block of candidates."""

    done: int  # candidates scored so far, over all folds
    total: int
    best_score: float  # so far, larger is better; of the last fold where folds are used
    rows: int = 0  # summed up so far for the representation in work, where there are too many for a matrix; then nothing else is told
    of_rows: int = 0


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
    representations : sequence of (scaling, kernel, multiple of the mean distance), default=None
        What to try in place of the product of scalings, kernels and bandwidths.
    combine : bool, default=False
        Whether scores are ȳ + Σ w_r (f_r(x) - ȳ) over representations, w ≥ 0 by least squares on leave-one-out scores. Each takes
        part with its candidate of least squared error and α ≤ ½, but for standardised columns of sparse rows. Where that is a
        standard error worse than the best candidate of the first representation, by `scoring` if that ranks labels and else by
        average precision, this one alone answers. If log-odds a_j · score + b_j, fitted label by label on leave-one-out scores, rank
        labels better by the same metric on rows that did not set them, these are the scores.
    cv : "loo", int, splitter or iterable of (train, test), default="loo"
        "loo" is exact leave-one-out with S and σ held. An int means that many folds as in scikit-learn: in the order of
        the rows, or shuffled where `random_state` is given.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. A criterion that is undefined on every row (a ranking
        metric with one label) gives way to the Hamming loss, and `scoring_` says so.
    threshold, threshold_metric, sparsity, correlation, max_iter, tol, device
        As in :class:`CamelClassifier`. Candidates are compared with the cuts that they would be deployed with; under "auto" they
        are listed with the cut 0, and those that lead are tried with tuned cuts, judged on rows that did not set them.
    callback : callable, default=None
        Called with a :class:`Progress` whenever candidates have been scored. The logger "skcamel" tells the same.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`.

    Attributes
    ----------
    alpha_, lambda1_, lambda2_, kernel_, scaling_, bandwidth_, bandwidth_multiplier_
        The choice; bandwidth_ is σ itself. Not set where models are combined.
    members_, weights_ : list of CamelClassifier, array
        The models that are combined, those with weight 0 left out, and their weights. Scores are the weighted sum of the members'
        scores, plus (1 - Σ w) ȳ. Set where `combine` is.
    scales_ : array of shape (q,)
        a, by which the weighted sum is multiplied; all 1 where scores are not made log-odds. Set where `combine` is.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated. Equal scores: the first in the order of the grid. Parameters are those of
        :class:`CamelClassifier`, with σ as bandwidth: where models are not combined, ``CamelClassifier(**best_params_)`` with the other
        settings of the search gives the fitted model again. Where they are, the score is that of the combination, and the parameters
        are those of the best single candidate.
    estimate_ : dict
        The seven metrics of this model by leave-one-out, with its cuts; not set with folds. Slightly optimistic: hyper-parameters,
        weights and cuts were chosen on the same rows.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>, losses negated; with
        folds also std_test_score and split<k>_test_score.

    Notes
    -----
    All other attributes are those of :class:`CamelClassifier`.

    Where labels are unknown (NaN), criteria, cuts and weights count known entries: rows rank their known labels, and macro-F1 is the
    mean over labels that some row knows. Every candidate fills the unknown entries itself, to two or three digits for the comparison; the
    winner is then solved exactly. Folds are judged as refits would be. Leave-one-out is no longer exact: a row that is left
    out has helped to fill the others, which is accounted for on average over the rows of a label.

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
        representations: Sequence[Place] | None = None,
        combine: bool = False,
        cv: str | int | BaseCrossValidator | Iterable[Any] = "loo",
        scoring: str = "average_precision",
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
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
        self.threshold = threshold
        self.threshold_metric = threshold_metric
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
            return "precomputed" in tuple(self.kernels)
        return any(len(entry) == 3 and isinstance(entry[1], str) and entry[1] == "precomputed" for entry in self.representations)

    @classmethod
    def from_preset(cls, preset: str, *, prepared: bool = False, **overrides: Any) -> Self:
        """An estimator, not yet fitted, with the parameters of a preset and whatever is given beside it.

        Parameters
        ----------
        preset : {"quick", "paper", "best"}
            "quick": a few representations, a coarse grid, tuned cuts; seconds for thousands of rows. "paper": as printed.
            "best": twelve representations, combined, and tuned cuts.
        prepared : bool, default=False
            Whether the rows come out of a :class:`skcamel.data.TablePreparer`: then the preset's representations are replaced by such
            as leave the scale of the columns alone.
        **overrides
            Parameters of the class.

        Examples
        --------
        >>> model = CamelClassifierCV.from_preset("quick", scoring="macro_f1")
        >>> model.threshold, model.scoring
        ('auto', 'macro_f1')
        """
        parameters = dict(PRESETS[choice(preset, tuple(PRESETS), "preset")])
        if prepared:
            parameters["representations"] = PREPARED[preset]
        return cls(**(parameters | overrides))

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None, groups: Array | None = None) -> Self:
        """Score every candidate, choose one, and fit it on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`CamelClassifier.fit`. Weights also weight the selection; leave-one-out takes one unit of weight
            away, so that integer weights equal repeated rows.
        groups : array of shape (n,), default=None
            Which rows belong together, such as those of one person, for a splitter in `cv` that keeps them on one side of every
            split: ``cv=GroupKFold(5)``. Tuned cuts and probabilities still come from leaving out one row at a time.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit_together({self.scoring: self}, X, y, sample_weight, groups)
        return self

    def fit_each(self, X: Array, y: Array, sample_weight: Array | None = None, groups: Array | None = None) -> dict[str, Self]:
        """A fitted estimator for each of the seven metrics as `scoring`, from one pass over the candidates.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in :meth:`fit`. This estimator itself is left as it is.

        Returns
        -------
        dict
            Metric ► what ``clone(self).set_params(scoring=metric).fit(X, y)`` gives.
        """
        each = {name: clone(self).set_params(scoring=name) for name in NAMES}
        clone(self)._fit_together(each, X, y, sample_weight, groups)
        return each

    def _fit_together(
        self, models: Mapping[str, Self], X: Array, y: Array, sample_weight: Array | None, groups: Array | None = None
    ) -> None:
        """Check, represent, select, solve, store; models that differ in their criterion alone share all but the last."""
        grid = self._checked_grid()
        self._forget()
        if groups is not None and (isinstance(self.cv, str) or not hasattr(self.cv, "split")):
            given = f"cv={self.cv!r}" if isinstance(self.cv, str | Integral) else "a cv that lists its splits"
            raise ValueError(f"groups were given, but {given} does not use them; give a splitter that does, such as cv=GroupKFold(5).")
        whole, labels, source = self._checked(X, y, sample_weight, self._alive(len(models)))
        if (is_lazy(X) or isinstance(X, Batches)) and not isinstance(self.cv, str):
            raise ValueError("Candidates for Dask collections are judged by leave-one-out of a sample, not by folds; use cv='loo'.")
        data, kept = whole.with_weight(self._is_pairwise())
        n_rows = data.Y.shape[0] if source is None else source.survey.n_rows
        if n_rows < 2:
            raise ValueError(f"Choosing hyper-parameters needs at least 2 rows with weight, got n_samples = {n_rows}; use CamelClassifier.")
        grid = grid.for_rows(are_sparse=sparse.issparse(whole.X))
        represented = represent_ahead(source or data, grid, self.device) if isinstance(self.cv, str) else iter(())
        S = learn_correlation(self, data if source is None else source.survey.counts)
        data = data if source is None else judged_by(source.survey.judged)
        if isinstance(self.cv, str):
            chosen = self._by_leave_one_out(tuple(models), represented, data, grid, S)
        else:
            folds = self._folds(whole, labels, grid, groups, None if source is None else source.by)
            chosen = self._by_folds(tuple(models), folds, source or data, data, grid, S)
        held = [Held(own.scores, own.rule or self._rule(), own.results.scoring) for own in chosen]
        answering = learn_to_answer(held, data, self._seed())
        for model, own, answers, estimate in zip(models.values(), chosen, answering, estimated(held, answering, data), strict=True):
            self._hand_on(model)
            model._choose(own.results, estimate, grid)
            model._finish(own, answers, data, S, labels, kept)

    def _hand_on(self, model: BaseCamel) -> None:
        """Give another model what the checks found out; of an earlier fit nothing is left."""
        known = {key: self.__dict__[key] for key in OF_CHECKS if key in self.__dict__}
        model._forget()
        model.__dict__ |= known

    def _alive(self, n_models: int) -> Alive:
        """What the fit of so many models holds: also scores of a shortlist, solutions and scaled rows of models, bases of labels."""
        usual = Alive()
        shortlist = SHORTLIST_ALIVE if self.threshold == "auto" else 0
        held = 2 * (n_models - 1) + (len(self._places()) if self.combine else 0)
        return Alive(scores=usual.scores + shortlist + 6 * held, pairs=usual.pairs + 2 * len(self.alphas), copies=usual.copies + held)

    def _by_leave_one_out(
        self, names: Sequence[str], represented: Iterable[Decomposed], data: Data, grid: Grid, S: np.ndarray
    ) -> list[Chosen]:
        """For each criterion the table and the winner, or the members with their weights, all from one pass."""
        used = [usable(name, data.Y, data.weights) for name in names]
        found = self._search(represented, data, grid, S, tuple(dict.fromkeys(used)))
        judge = Judge.of(data, found.winners[used[0]].scores, self._seed()) if self.combine else None
        members = Combination(judge, [member.scores for member in found.members]) if judge is not None and found.members else None
        together = None if members is None else members.combined()
        chosen: list[Chosen] = []
        for criterion in used:
            winner = found.winners[criterion]
            table = tabulate(found.params, [found.metrics], criterion, split_scores=False)
            if not self.combine:
                table = table._replace(best_index=winner.index, best_score=winner.score)
            if members is None or members.is_worse_than(winner.scores, criterion):
                own = Chosen(table, [(1.0, winner)], winner.scores, None if self.combine else winner.rule)
            else:
                own = Chosen(table, members.live(found.members), together, shift=to_numpy(members.shift))
            link = None if judge is None else judge.link(own.scores, criterion)
            chosen.append(own if link is None else own.linked(*link))
        return chosen

    def _by_folds(
        self, names: Sequence[str], folds: list[list[Scores]], fitted: Data | Source, judged: Data, grid: Grid, S: np.ndarray
    ) -> list[Chosen]:
        """For each criterion the table of the folds, and the winner fitted on all rows."""
        candidates = all_candidates(fitted, grid, self.device)
        chosen: list[Chosen] = []
        for name in names:
            results = tabulate(candidates, folds, name)
            only = grid.only(results.best_index)
            found = self._search(represent(fitted, only, self.device), judged, only, S, (results.scoring,))
            winner = found.winners[results.scoring]
            chosen.append(Chosen(results, [(1.0, winner)], winner.scores, winner.rule))
        return chosen

    def _search(self, represented: Iterable[Decomposed], data: Data, grid: Grid, S: np.ndarray, criteria: Sequence[str]) -> Found:
        def tell(found: Found) -> None:
            if isinstance(self.cv, str):  # folds have told already
                self._tell(found.metrics, len(found.metrics), len(grid))

        return search(represented, data, grid, S, self._rule(), criteria, seed=self._seed(), combine=self.combine, tell=tell)

    def _finish(self, chosen: Chosen, answering: Answering, data: Data, S: np.ndarray, labels: Labels, kept: np.ndarray | None) -> None:
        """Store the winner or the members."""
        if not self.combine:
            ((_, winner),) = chosen.winners
            self._store(_model(winner, S, answering), labels, kept)
            return
        self.weights_ = np.array([weight for weight, _ in chosen.winners])
        self.scales_ = np.broadcast_to(chosen.scales, len(labels.names)).copy()
        self.members_: list[CamelClassifier] = []
        of_members = learn_to_answer([Held(winner.scores, ZERO) for _, winner in chosen.winners], data)
        for (_, winner), answers in zip(chosen.winners, of_members, strict=True):
            member = self._member(winner)
            self._hand_on(member)
            member._store(_model(winner, S, replace(answers, reference=None)), labels, kept)  # the combination holds its own
            self.members_.append(member)
        self._shift = np.broadcast_to(self.scales_ * self.weights_.sum() * chosen.shift, len(labels.names)).copy()
        self._store_answering(answering, S, labels)

    def _member(self, winner: Winner) -> CamelClassifier:
        """An estimator with the parameters of a candidate, ready to be told its solution."""
        shared = {key: getattr(self, key) for key in ("sparsity", "correlation", "max_iter", "tol", "device")}
        shared |= {key: getattr(self, key) for key in ("solver", "n_landmarks", "landmarks", "max_memory", "random_state")}
        return CamelClassifier(**winner.params, **shared)

    def _seed(self) -> int:
        """Deals the rows on which rules for the cuts are judged; the same from one fit to the next."""
        return seed_of(self.random_state)

    def _check_parameters(self) -> None:
        self._checked_grid()

    def _checked_grid(self) -> Grid:
        check_shared_parameters(self)
        choice(self.scoring, NAMES, "scoring")
        tried = self._places()
        product = ("bandwidths", "kernels", "scalings") if self.representations is None else ()
        for name in ("alphas", "lambda1s", "lambda2s", *product):
            values = getattr(self, name)
            if isinstance(values, str) or np.ndim(values) != 1 or not len(values):
                raise ValueError(f"{name} must be a sequence with at least one value, got {getattr(self, name)!r}.")
        for alpha in self.alphas:
            check_in_unit_interval("alphas", alpha)
        for name in ("lambda1s", "lambda2s"):
            for value in getattr(self, name):
                check_positive(name, value)
        check_places("bandwidths" if self.representations is None else "representations", tried)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback must be a function of one Progress or None, got {self.callback!r}.")
        check_flag("combine", self.combine)
        if self.combine and not isinstance(self.cv, str):
            raise ValueError("combine=True learns its weights on leave-one-out scores, not on folds; use cv='loo'.")
        if isinstance(self.cv, str) and self.cv != "loo":
            raise ValueError(f"cv={self.cv!r} is not known; choose 'loo', a number of folds, a splitter or an iterable of (train, test).")
        if choose_solver(self.solver) == "alternating":
            raise ValueError("solver='alternating' (Algorithm 1) solves one candidate; use CamelClassifier, or solver='auto'.")
        check_solver(self.solver, [name for _, name, _ in tried])
        return Grid(tuple(self.alphas), tuple(self.lambda1s), tuple(self.lambda2s), tried)

    def _places(self) -> tuple[Place, ...]:
        """The representations to try: those given, or the product of scalings, kernels and bandwidths."""
        if self.representations is None:
            product: tuple[Any, ...] = self.scalings, self.kernels, self.bandwidths
            return places(*map(tuple, product)) if all(np.ndim(values) == 1 for values in product) else ()
        if isinstance(self.representations, str) or not hasattr(self.representations, "__len__") or not len(self.representations):
            raise ValueError(f"representations must be a sequence with at least one entry or None, got {self.representations!r}.")
        for entry in self.representations:
            if isinstance(entry, str) or not hasattr(entry, "__len__") or len(entry) != 3:
                raise ValueError(f"representations holds {entry!r}; each must be (scaling, kernel, multiple of the mean distance).")
        return tuple((scaling, kernel, multiple) for scaling, kernel, multiple in self.representations)

    def _folds(self, data: Data, labels: Labels, grid: Grid, groups: Array | None, by: Streaming | None) -> list[list[Scores]]:
        """Results of all candidates in each fold; S, σ and scaling are learned in the training part alone."""
        splits = inner_splits(self, data.X, labels.Y, labels.target, groups=groups)
        total = len(splits) * len(grid)
        folds: list[list[Scores]] = []
        for train_rows, test_rows in splits:
            train, test = data.rows(train_rows, train_rows if self._is_pairwise() else None), data.rows(test_rows)
            if self._is_pairwise():
                test = data.rows(test_rows, train_rows)
            train, kept = train.with_weight(self._is_pairwise())
            if kept is not None and self._is_pairwise():
                test = Data(test.X[:, kept], test.Y, test.weights)
            S = learn_correlation(self, train if by is None else counts_of(label_sums(train.Y, train.weights)))
            results: list[Scores] = []
            for scored in score_fold(train, test, grid, S, self._rule(), self.device, by):
                results += scored
                self._tell(results, sum(map(len, folds)) + len(results), total)
            folds.append(results)
        return folds

    def _choose(self, found: Results, estimate: Scores, grid: Grid) -> None:
        """Set cv_results_ and the attributes of the choice."""
        if isinstance(self.cv, str):
            self.estimate_ = estimate
        self.cv_results_, self.scoring_ = found.table, found.scoring
        self.best_index_, self.best_score_ = found.best_index, found.best_score
        if self.combine:
            self.best_score_ = larger_is_better(found.scoring, estimate[found.scoring])
        self.best_params_ = found.table["params"][found.best_index]
        if self.combine:
            return
        for name in ("alpha", "lambda1", "lambda2", "kernel", "scaling"):
            setattr(self, f"{name}_", self.best_params_[name])
        self.bandwidth_multiplier_ = grid.places[found.best_index // grid.width][2]

    def _tell_rows(self, done: int, total: int) -> None:
        """Say how many rows have been summed up for the representation that is in work."""
        if self.callback is not None:
            self.callback(Progress(0, 0, float("nan"), done, total))

    def _tell(self, results: list[Scores], done: int, total: int) -> None:
        name = self.scoring
        scores = [-r[name] if name in LOSSES else r[name] for r in results]
        best = max((s for s in scores if s == s), default=float("nan"))
        log.info("%d of %d candidates scored, best %s so far %.4f", done, total, name, best)
        if self.callback is not None:
            self.callback(Progress(done, total, best))


def _model(winner: Winner, S: np.ndarray, answering: Answering) -> Model:
    lambda2 = winner.params["lambda2"]
    warn_of_rounding(winner.largest, lambda2)
    warn_of_filling(winner.solution)
    return Model(winner.representation, S, winner.G, lambda2, winner.solution, answering, winner.solver)
