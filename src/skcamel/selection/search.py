"""Grid ► results: every candidate scored by exact leave-one-out or by folds, one decomposition for all α, λ1 and λ2."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from skcamel import correlation, kernel, scaling
from skcamel.arrays import Array, cast, is_tensor, namespace, one_thread_for_small, to_device, to_match, to_numpy
from skcamel.metrics import Counts, count, decision_metrics, f1_of
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING
from skcamel.metrics.ranking import ranking_metrics, ranking_rows
from skcamel.selection.thresholds import Rule, lowered
from skcamel.solve import spectral, unknown

STACK_BYTES = 2**28  # scores that a GPU judges at a time
log = logging.getLogger("skcamel")
Scores = dict[str, float]


@dataclass(frozen=True)
class Data:
    """Checked training data, always on the CPU."""

    X: Array  # (n, d) float64, numpy or CSR; (n, n) for a precomputed kernel
    Y: np.ndarray  # (n, q) float64 in {-1, +1}, NaN where unknown
    weights: np.ndarray | None  # (n,)

    @cached_property
    def is_complete(self) -> bool:
        """Whether all labels are known."""
        return not np.isnan(self.Y).any()

    @property
    def counts(self) -> np.ndarray | None:
        """What criteria and cuts count by: the weights (n,) or, if labels are unknown, those of entries (n, q), 0 where unknown."""
        if self.is_complete:
            return self.weights
        return ~np.isnan(self.Y) * (np.ones(len(self.Y)) if self.weights is None else self.weights)[:, None]

    def rows(self, index: np.ndarray, columns: np.ndarray | None = None) -> Data:
        """Some of the rows; of a kernel matrix also the `columns` that belong to training rows."""
        X = self.X[index] if columns is None else self.X[index][:, columns]
        return Data(X, self.Y[index], None if self.weights is None else self.weights[index])

    def with_weight(self, pairwise: bool) -> tuple[Data, np.ndarray | None]:
        """The rows that have weight, and their indices (None where all have)."""
        if self.weights is None or self.weights.all():
            return self, None
        kept = np.flatnonzero(self.weights)
        return self.rows(kept, kept if pairwise else None), kept


Place = tuple[str, Any, float]  # scaling, kernel, multiple of the mean distance


@dataclass(frozen=True)
class Grid:
    """All candidates, in the order in which equal scores are decided."""

    alphas: Sequence[float]
    lambda1s: Sequence[float]
    lambda2s: Sequence[float]
    places: Sequence[Place] = (("none", "rbf", 1.0),)

    @property
    def width(self) -> int:
        """Candidates of one representation."""
        return len(self.alphas) * len(self.lambda1s) * len(self.lambda2s)

    def __len__(self) -> int:
        return len(self.places) * self.width

    def penalties(self, unit: float = 1.0) -> list[tuple[float, float]]:
        """Pairs (λ1, λ2), λ2 in this unit."""
        return [(lambda1, lambda2 * unit) for lambda1, lambda2 in product(self.lambda1s, self.lambda2s)]

    def candidates(self, place: Place, unit: float = 1.0) -> list[dict[str, Any]]:
        """One mapping of parameters for each candidate of a representation."""
        named = dict(zip(("scaling", "kernel", "bandwidth"), place, strict=True))
        return [
            named | {"alpha": alpha, "lambda1": lambda1, "lambda2": lambda2}
            for alpha, (lambda1, lambda2) in product(self.alphas, self.penalties(unit))
        ]

    def for_rows(self, X: Array) -> Grid:
        """Without rank scaling if rows are sparse, which it would make dense, unless nothing else is left."""
        fit = tuple(place for place in self.places if place[0] != "rank")
        return replace(self, places=fit) if hasattr(X, "toarray") and fit else self

    def only(self, index: int) -> Grid:
        """The grid of one candidate alone."""
        place, within = divmod(index, self.width)
        alpha, (lambda1, lambda2) = list(product(self.alphas, self.penalties()))[within]
        return Grid((alpha,), (lambda1,), (lambda2,), (self.places[place],))


def places(scalings: Sequence[str], kernels: Sequence[Any], bandwidths: Sequence[float]) -> tuple[Place, ...]:
    """Every scaling with every kernel and every bandwidth; a kernel without bandwidth comes with the first alone.

    >>> places(["none"], ["rbf", "linear"], [0.5, 1.0])
    (('none', 'rbf', 0.5), ('none', 'rbf', 1.0), ('none', 'linear', 0.5))
    """
    return tuple(
        (scaling_name, name, multiple)
        for scaling_name, name in product(scalings, kernels)
        for multiple in (bandwidths if name in kernel.RADIAL else bandwidths[:1])
    )


@dataclass(frozen=True)
class Representation:
    """Training rows as the kernel sees them."""

    scaling: scaling.Scaling
    kernel: kernel.Kernel
    rows: Array  # (n, d) scaled, numpy or CSR
    X: Array  # the same on the device

    def unit(self, weights: Array | None) -> float:
        """What λ2 is measured in: 1, and for the linear kernel its mean eigenvalue, which grows with the features."""
        return kernel.mean_eigenvalue(self.X, weights) if self.kernel.name == "linear" else 1.0

    def kernel_rows(self, X: Array, device: Any) -> Array:
        """Kernel between other rows X (m, d), not yet scaled, and the training rows: (m, n)."""
        return self.kernel(on_device(self.scaling(X), device), self.X)


Decomposed = tuple[Representation, spectral.Spectrum]


def represent(data: Data, grid: Grid, device: Any) -> Iterator[Decomposed]:
    """Every representation of the grid, decomposed; distances are computed once for neighbours that differ in bandwidth alone."""
    weights = None if data.weights is None else to_device(data.weights, device)
    for scaling_name, of_scaling in groupby(grid.places, itemgetter(0)):
        plain = scaling.fitted(scaling_name, data.X, data.weights)
        for name, of_kernel in groupby(of_scaling, itemgetter(1)):
            scaler, rows = rows_for(name, plain, data.X)
            X = on_device(rows, device)
            multiples = [multiple for _, _, multiple in of_kernel]
            rounding = scaler.rounding(X.shape[1])
            for fitted, K in _quiet(kernel.fitted_many(name, X, multiples, weights=weights, rounding=rounding)):
                log.info("decompose: scaling=%s kernel=%s bandwidth=%g n=%d", scaling_name, name, fitted.bandwidth, len(K))
                yield Representation(scaler, fitted, rows, X), spectral.decompose(K, weights)


def represent_ahead(data: Data, grid: Grid, device: Any) -> Iterator[Decomposed]:
    """The same; a device works on the first representation while the caller does something else on the CPU."""
    made = represent(data, grid, device)
    if device is None:
        return made
    pool = ThreadPoolExecutor(1)
    started = [pool.submit(next, made)]
    pool.shutdown(wait=False)

    def resumed() -> Iterator[Decomposed]:
        yield started.pop().result()  # and nobody keeps it
        yield from made

    return resumed()


def all_candidates(data: Data, grid: Grid, device: Any) -> list[dict[str, Any]]:
    """Parameters of every candidate; λ2 of linear kernels in numbers."""
    weights = None if data.weights is None else to_device(data.weights, device)
    found: list[dict[str, Any]] = []
    for place in grid.places:
        unit = 1.0
        if place[1] == "linear":
            scaler, rows = rows_for("linear", scaling.fitted(place[0], data.X, data.weights), data.X)
            unit = Representation(scaler, kernel.Kernel("linear"), rows, on_device(rows, device)).unit(weights)
        found += grid.candidates(place, unit)
    return found


def rows_for(name: Any, plain: scaling.Scaling, X: Array) -> tuple[scaling.Scaling, Array]:
    """Training rows as the kernel of that name wants them, and the scaling that makes others like them."""
    scaler = plain.centred(X) if name in kernel.BY_PRODUCT else plain
    return scaler, scaler(X)


def _quiet(kernels: Iterator[tuple[kernel.Kernel, Array]]) -> Iterator[tuple[kernel.Kernel, Array]]:
    """Silence warnings of overflow: the decomposition refuses a matrix that is not finite, and says what to do."""
    while True:
        with np.errstate(over="ignore", invalid="ignore"):
            following = next(kernels, None)
        if following is None:
            return
        yield following
        del following


def on_device(X: Array, device: Any) -> Array:
    """Rows ready for the kernel: sparse ones stay sparse on the CPU and are made dense for a device."""
    if device is None:
        return X
    return to_device(X.toarray() if hasattr(X, "toarray") else X, device)


def score_fold(train: Data, test: Data, grid: Grid, S: np.ndarray, rule: Rule, device: Any) -> Iterator[list[Scores]]:
    """For each representation, the metrics of its candidates on the test part, as refitting each would give them."""
    relevant = to_device(test.Y, device) > 0
    counts = None if test.counts is None else to_device(test.counts, device)
    for representation, spectrum in represent(train, grid, device):
        penalties = grid.penalties(representation.unit(spectrum.weights))
        bases = [basis.to_match(spectrum.values) for basis in label_bases(S, grid.alphas)]
        K = representation.kernel_rows(test.X, device)
        targets = targets_of(spectrum, train)
        cuts = _fold_cuts(spectrum, targets, train, bases, penalties, rule)
        solver = spectral if train.is_complete else unknown
        held_out = solver.held_out(spectrum, targets, bases, penalties, K)
        yield [candidate_metrics(relevant, scores[None], cut, counts)[0] for (_, _, scores), cut in zip(held_out, cuts, strict=True)]
        del representation, spectrum, targets, K, cuts, held_out  # before the next kernel matrix is made


def _fold_cuts(
    spectrum: spectral.Spectrum,
    targets: spectral.Targets | Array,
    train: Data,
    bases: Sequence[spectral.LabelBasis],
    penalties: list[tuple[float, float]],
    rule: Rule,
) -> Iterable[Array]:
    """Cuts of every candidate: tuned ones need the leave-one-out scores of the training part."""
    relevant = to_match(train.Y, spectrum.values) > 0
    if not rule.is_tuned:
        return [rule.cuts(relevant, spectrum.values)] * (len(bases) * len(penalties))
    counts = None if train.counts is None else to_match(train.counts, relevant)
    solver = spectral if train.is_complete else unknown
    return (rule.cuts(relevant, scores, counts) for _, _, scores in solver.leave_one_out(spectrum, targets, bases, penalties))


def targets_of(spectrum: spectral.Spectrum, data: Data) -> spectral.Targets | Array:
    """What the solver takes, where the spectrum lives: projected labels for `spectral`, labels (n, q) with NaN for `unknown`."""
    Y = to_match(data.Y, spectrum.values)
    return spectral.project(spectrum, Y) if data.is_complete else Y


def label_bases(S: np.ndarray, alphas: Sequence[float]) -> list[spectral.LabelBasis]:
    """The label basis of every α, decomposed on the CPU, which is idle and as fast as a GPU here."""
    with one_thread_for_small(len(S)):
        return [spectral.label_basis(correlation.collaboration(S, alpha)) for alpha in alphas]


def stacks(scores: Iterable[Array]) -> Iterator[Array]:
    """Scores (n, q) of some candidates as (c, n, q): one at a time on the CPU, for the cache; many on a GPU, which is slow to start.

    Threads would gain nothing here: those of BLAS still wait for the next product while the scores are sorted.
    """
    waiting = iter(scores)
    for first in waiting:
        size = max(1, STACK_BYTES // (8 * math.prod(first.shape))) if is_tensor(first) else 1
        some = [first, *islice(waiting, size - 1)]
        yield namespace(first).stack(some) if len(some) > 1 else first[None]


def candidate_metrics(relevant: Array, scores: Array, cuts: Array, weights: Array | None) -> list[Scores]:
    """The seven metrics of c candidates: scores (c, n, q), relevance bool (n, q), cuts (q,) or (c, 1, q).

    Weights are (n,) or None, or those of entries (n, q), 0 where labels are unknown.
    """
    xp = namespace(scores)
    if weights is not None and weights.ndim == 2:
        values = _of_known_entries(relevant, scores, scores > cuts, weights)
    else:
        values = ranking_metrics(relevant, scores, weights=weights) | decision_metrics(count(relevant, scores > cuts, weights))
    columns = to_numpy(xp.stack([values[name] for name in NAMES])).T.tolist()  # one transfer from a device
    return [dict(zip(NAMES, column, strict=True)) for column in columns]


def _of_known_entries(relevant: Array, scores: Array, decided: Array, weights: Array) -> dict[str, Array]:
    """The seven metrics where weights of entries (n, q) are 0 for unknown labels.

    Rows rank their known labels alone, and count where these are neither all relevant nor all irrelevant. Macro-F1 is the mean over
    the labels that some row knows. Where nothing is known all are NaN.
    """
    xp = namespace(scores)
    known = weights > 0
    if not bool(known.any()):
        return dict.fromkeys(NAMES, xp.nan * scores[:, 0, 0])
    c, (n, q) = len(scores), weights.shape
    shape = (c * n, q)
    per_row = ranking_rows(*(xp.reshape(x, shape) for x in (xp.broadcast_to(relevant, scores.shape), lowered(scores, known))))
    of_rows, total = (xp.sum(cast(x, "float64"), axis=1) for x in (known, relevant))  # (n,) each
    counted = (total > 0) & (total < of_rows)
    w = xp.where(counted, xp.amax(weights, axis=1), 0.0)
    corrections = {  # positions among all labels ► among known ones
        "coverage": q / xp.clip(of_rows, 1, None),
        "ranking_loss": total * (q - total) / xp.clip(total * (of_rows - total), 1, None),
    }
    values = {}
    for name in RANKING:
        own = xp.reshape(cast(per_row[name], "float64"), (c, n)) * corrections.get(name, 1.0)
        values[name] = own @ w / xp.sum(w) if bool(counted.any()) else xp.nan * own[:, 0]
    both, predicted, positives = (xp.sum(weights * x, axis=-2) for x in (relevant & decided, decided, relevant))
    tallies = Counts(both, predicted - both, positives - both, float(xp.sum(weights)) / q)
    some = xp.any(known, axis=0)
    return values | decision_metrics(tallies) | {"macro_f1": xp.mean(f1_of(tallies)[:, some], axis=1)}


class Results(NamedTuple):
    """What a search reports."""

    table: dict[str, Any]  # as `cv_results_`
    best_index: int
    best_score: float
    scoring: str  # the criterion that was used


def tabulate(
    candidates: Sequence[Mapping[str, Any]], folds: Sequence[Sequence[Scores]], scoring: str, *, split_scores: bool = True
) -> Results:
    """Table of all candidates from the parameters of each, and for each fold the seven metrics of each; the first of equal ones is best.

    If the criterion `scoring` is undefined on every row (a ranking metric with one label), the Hamming loss decides.
    `split_scores` adds the score of every fold to the table; leave-one-out has none.

    >>> fold = [dict.fromkeys(NAMES, 0.5), dict.fromkeys(NAMES, 0.7)]
    >>> found = tabulate([{"alpha": 1.0}, {"alpha": 2.0}], [fold, fold], "micro_f1")
    >>> found.best_index, found.table["rank_test_score"].tolist(), found.table["mean_test_one_error"].tolist()
    (1, [2, 1], [-0.5, -0.7])
    """
    greater_is_better = {name: np.array([[-r[name] if name in LOSSES else r[name] for r in fold] for fold in folds]) for name in NAMES}
    means = {name: _mean(values) for name, values in greater_is_better.items()}
    used = "hamming_loss" if np.isnan(means[scoring]).all() else scoring
    scores = np.where(np.isnan(means[used]), -np.inf, means[used])
    table: dict[str, Any] = {"params": [dict(candidate) for candidate in candidates]}
    table |= {f"param_{key}": _column([candidate[key] for candidate in candidates]) for key in candidates[0]}
    table |= {"mean_test_score": means[used], "rank_test_score": rankdata(-scores, method="min").astype(np.int32)}
    table |= {f"mean_test_{name}": means[name] for name in NAMES}
    if split_scores:
        table |= {f"split{k}_test_score": values for k, values in enumerate(greater_is_better[used])}
        table["std_test_score"] = np.std(greater_is_better[used], axis=0)
    best = int(scores.argmax())
    return Results(table, best, float(means[used][best]), used)


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean over the folds (k, candidates) in which the metric is defined."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.where(count > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _column(values: list[Any]) -> np.ndarray:
    """An array of numbers where all are numbers, else of objects."""
    numeric = all(isinstance(value, int | float) for value in values)
    column = np.empty(len(values), dtype=float if numeric else object)
    column[:] = values
    return column
