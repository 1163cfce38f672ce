"""Grid ► results: every candidate scored by exact leave-one-out or by folds, one decomposition for all α, λ1 and λ2."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from skcamel import correlation, kernel, scaling
from skcamel.arrays import Array, to_device, to_match
from skcamel.metrics.conventions import LOSSES, NAMES
from skcamel.metrics.decision import count, decision_metrics
from skcamel.metrics.ranking import ranking_metrics
from skcamel.selection.thresholds import Rule
from skcamel.solve import spectral

log = logging.getLogger("skcamel")
Scores = dict[str, float]


@dataclass(frozen=True)
class Data:
    """Checked training data, always on the CPU."""

    X: Array  # (n, d) float64, numpy or CSR; (n, n) for a precomputed kernel
    Y: np.ndarray  # (n, q) float64 in {-1, +1}
    weights: np.ndarray | None  # (n,)

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


@dataclass(frozen=True)
class Grid:
    """All candidates, in the order in which equal scores are decided."""

    alphas: Sequence[float]
    lambda1s: Sequence[float]
    lambda2s: Sequence[float]
    bandwidths: Sequence[float]
    kernels: Sequence[str | Callable[[Array, Array], Array]]
    scalings: Sequence[str]

    @property
    def penalties(self) -> list[tuple[float, float]]:
        """Pairs (λ1, λ2)."""
        return list(product(self.lambda1s, self.lambda2s))

    def multipliers(self, name: Any) -> Sequence[float]:
        """Bandwidth multipliers of one kernel; a kernel without bandwidth has the first alone."""
        return self.bandwidths if name in kernel.RADIAL else self.bandwidths[:1]

    def candidates(self) -> list[dict[str, Any]]:
        """One mapping of parameters per candidate."""
        return [
            {"scaling": s, "kernel": k, "bandwidth": m, "alpha": a, "lambda1": l1, "lambda2": l2}
            for s, k in product(self.scalings, self.kernels)
            for m, a, (l1, l2) in product(self.multipliers(k), self.alphas, self.penalties)
        ]


@dataclass(frozen=True)
class Representation:
    """Training rows as the kernel sees them."""

    scaling: scaling.Scaling
    kernel: kernel.Kernel
    X: Array  # (n, d) scaled, on the device

    def kernel_rows(self, X: Array, device: Any) -> Array:
        """Kernel between other rows X (m, d), not yet scaled, and the training rows: (m, n)."""
        return self.kernel(on_device(self.scaling(X), device), self.X)


Decomposed = tuple[Representation, spectral.Spectrum]


def represent(data: Data, grid: Grid, device: Any) -> Iterator[Decomposed]:
    """Every scaling, kernel and bandwidth of the grid, decomposed; distances are computed once for all bandwidths."""
    weights = None if data.weights is None else to_device(data.weights, device)
    for scaling_name in grid.scalings:
        plain = scaling.fitted(scaling_name, data.X, data.weights)
        for name in grid.kernels:
            scaler, X = rows_for(name, plain, data.X, device)
            rounding = scaler.rounding(X.shape[1])
            for fitted, K in _quiet(kernel.fitted_many(name, X, grid.multipliers(name), weights=weights, rounding=rounding)):
                log.info("decompose: scaling=%s kernel=%s bandwidth=%g n=%d", scaling_name, name, fitted.bandwidth, len(K))
                yield Representation(scaler, fitted, X), spectral.decompose(K, weights)


def rows_for(name: Any, plain: scaling.Scaling, X: Array, device: Any) -> tuple[scaling.Scaling, Array]:
    """Training rows as the kernel of that name wants them, on the device, and the scaling that makes others like them."""
    scaler = plain.centred(X) if name in kernel.BY_PRODUCT else plain
    return scaler, on_device(scaler(X), device)


def _quiet(kernels: Iterator[tuple[kernel.Kernel, Array]]) -> Iterator[tuple[kernel.Kernel, Array]]:
    """Without warnings of overflow: the decomposition refuses a matrix that is not finite, and says what to do."""
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


def score_leave_one_out(data: Data, grid: Grid, S: Array, rule: Rule, device: Any) -> Iterator[tuple[Decomposed, list[Scores]]]:
    """For each representation, the metrics of its candidates by exact leave-one-out."""
    for representation, spectrum in represent(data, grid, device):
        Y = to_match(data.Y, spectrum.values)
        weights = spectrum.weights
        targets = spectral.project(spectrum, Y)
        bases = label_bases(to_match(S, Y), grid.alphas)
        scored = (
            candidate_metrics(Y > 0, scores, rule.cuts(Y > 0, scores, weights), weights)
            for _, _, scores in spectral.leave_one_out(spectrum, targets, bases, grid.penalties)
        )
        yield (representation, spectrum), list(scored)
        del representation, spectrum, targets, scored  # before the next kernel matrix is made


def score_fold(train: Data, test: Data, grid: Grid, S: Array, rule: Rule, device: Any) -> Iterator[list[Scores]]:
    """For each representation, the metrics of its candidates on the test part, as refitting each would give them."""
    relevant = to_device(test.Y, device) > 0
    test_weights = None if test.weights is None else to_device(test.weights, device)
    for representation, spectrum in represent(train, grid, device):
        Y = to_match(train.Y, spectrum.values)
        targets = spectral.project(spectrum, Y)
        bases = label_bases(to_match(S, Y), grid.alphas)
        K = representation.kernel_rows(test.X, device)
        cuts = _fold_cuts(spectrum, targets, bases, grid.penalties, rule)
        held_out = spectral.held_out(spectrum, targets, bases, grid.penalties, K)
        yield [candidate_metrics(relevant, scores, cut, test_weights) for (_, _, scores), cut in zip(held_out, cuts, strict=True)]
        del representation, spectrum, targets, K, cuts, held_out


def _fold_cuts(
    spectrum: spectral.Spectrum,
    targets: spectral.Targets,
    bases: Sequence[spectral.LabelBasis],
    penalties: list[tuple[float, float]],
    rule: Rule,
) -> Iterable[Array]:
    """Cuts of every candidate: tuned ones need the leave-one-out scores of the training part."""
    relevant = targets.Y > 0
    if not rule.is_tuned:
        return [rule.cuts(relevant, targets.Y)] * (len(bases) * len(penalties))
    loo = spectral.leave_one_out(spectrum, targets, bases, penalties)
    return (rule.cuts(relevant, scores, spectrum.weights) for _, _, scores in loo)


def label_bases(S: Array, alphas: Sequence[float]) -> list[spectral.LabelBasis]:
    """The label basis of every α."""
    return [spectral.label_basis(correlation.collaboration(S, alpha)) for alpha in alphas]


def candidate_metrics(relevant: Array, scores: Array, cuts: Array, weights: Array | None) -> Scores:
    """The seven metrics of one candidate."""
    values = ranking_metrics(relevant, scores, weights=weights)
    return values | decision_metrics(count(relevant, scores > cuts, weights))


def greater_is_better(results: Sequence[Scores]) -> dict[str, np.ndarray]:
    """Every metric over all candidates, losses negated."""
    return {name: np.array([-r[name] if name in LOSSES else r[name] for r in results]) for name in NAMES}
