"""Grid ► representations: training rows as each kernel sees them, decomposed once for all α, λ1 and λ2."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, product
from operator import itemgetter
from typing import Any

import numpy as np

from skcamel.arrays import Array, one_thread_for_small, to_device, to_match
from skcamel.camel import correlation, kernel, landmark, scaling, spectral, unknown
from skcamel.camel.landmark import Sample
from skcamel.camel.source import Source
from skcamel.camel.stream import Stream, begin
from skcamel.checks import check_positive, choice
from skcamel.rows import alike, on_device

log = logging.getLogger("skcamel")


@dataclass(frozen=True)
class Data:
    """Checked training data, always on the CPU."""

    X: Array  # (n, d) float64, numpy or CSR; (n, n) for a precomputed kernel; any floats where rows are summed up
    Y: Array  # (n, q) float64 in {-1, +1}, NaN where unknown; int8 where rows are summed up
    weights: np.ndarray | None  # (n,)
    groups: np.ndarray | None = None  # (n,) whole numbers; rows of one group leave together

    @cached_property
    def is_complete(self) -> bool:
        """Whether all labels are known."""
        return self.Y.dtype.kind == "i" or not np.isnan(self.Y).any()

    @property
    def counts(self) -> np.ndarray | None:
        """Weights of rows (n,) or None; if labels are unknown, those of entries (n, q), 0 where unknown."""
        if self.is_complete:
            return self.weights
        return ~np.isnan(self.Y) * (np.ones(len(self.Y)) if self.weights is None else self.weights)[:, None]

    def rows(self, index: np.ndarray, columns: np.ndarray | None = None) -> Data:
        """Some of the rows; of a kernel matrix also the `columns` that belong to training rows."""
        X = self.X[index] if columns is None else self.X[index][:, columns]
        weights = None if self.weights is None else self.weights[index]
        return Data(X, self.Y[index], weights, None if self.groups is None else self.groups[index])

    def with_weight(self, pairwise: bool) -> tuple[Data, np.ndarray | None]:
        """The rows that have weight, and their indices (None where all have)."""
        if self.weights is None or self.weights.all():
            return self, None
        kept = np.flatnonzero(self.weights)
        return self.rows(kept, kept if pairwise else None), kept


def judged_by(sample: Sample, groups: np.ndarray | None = None) -> Data:
    """A sample of rows as the data that candidates are judged by."""
    return Data(sample.X, sample.Y.astype(np.float64), None if (sample.weights == 1).all() else sample.weights, groups)


Place = tuple[str, Any, float]  # scaling, kernel, multiple of the mean distance


@dataclass(frozen=True)
class Grid:
    """All candidates, in the order in which equal scores are decided."""

    alphas: Sequence[float]
    lambda1s: Sequence[float]
    lambda2s: Sequence[float]
    places: Sequence[Place] = (("none", "rbf", 1.0),)
    bandwidth: float | None = None  # σ itself, in place of multiples of the mean distance

    @property
    def width(self) -> int:
        """Candidates of one representation."""
        return len(self.alphas) * len(self.lambda1s) * len(self.lambda2s)

    def __len__(self) -> int:
        return len(self.places) * self.width

    def penalties(self, unit: float = 1.0) -> list[tuple[float, float]]:
        """Pairs (λ1, λ2), λ2 in this unit."""
        return [(lambda1, lambda2 * unit) for lambda1, lambda2 in product(self.lambda1s, self.lambda2s)]

    def candidates(self, place: Place, bandwidth: float = 1.0, unit: float = 1.0) -> list[dict[str, Any]]:
        """Parameters of each candidate of a representation, as :class:`skcamel.CamelClassifier` takes them: σ itself, not its multiple."""
        named = {"scaling": place[0], "kernel": place[1], "bandwidth": bandwidth}
        return [
            named | {"alpha": alpha, "lambda1": lambda1, "lambda2": lambda2}
            for alpha, (lambda1, lambda2) in product(self.alphas, self.penalties(unit))
        ]

    def for_rows(self, *, are_sparse: bool) -> Grid:
        """Without rank scaling if rows are sparse, which it would make dense, unless nothing else is left."""
        fit = tuple(place for place in self.places if place[0] != "rank")
        return replace(self, places=fit) if are_sparse and fit else self

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
    """Training rows, or landmarks, as the kernel sees them; none where the features themselves are meant."""

    scaling: scaling.Scaling
    kernel: kernel.Kernel
    rows: Array | None  # (n, d) scaled, numpy or CSR
    X: Array | None  # the same on the device

    def unit(self, spectrum: spectral.Spectrum) -> float:
        """What λ2 is measured in: 1, and for the linear kernel its mean eigenvalue, which grows with the features."""
        if self.kernel.name != "linear":
            return 1.0
        if isinstance(spectrum, landmark.Summary):
            return float(spectrum.values.sum()) / spectrum.weight or 1.0
        return kernel.mean_eigenvalue(self.X, spectrum.weights)

    def kernel_rows(self, X: Array, device: Any) -> Array:
        """Kernel between other rows X (m, d), not yet scaled, and the training rows: (m, n)."""
        rows = on_device(alike(self.scaling(X), self.rows), device)
        return rows if self.X is None else self.kernel(rows, self.X)


Decomposed = tuple[Representation, spectral.Spectrum]


def represent(data: Data | Source, grid: Grid, device: Any) -> Iterator[Decomposed]:
    """Every representation of the grid, decomposed; distances are computed once for neighbours that differ in bandwidth alone."""
    return _by_sums(data, grid) if isinstance(data, Source) else _exactly(data, grid, device)


def representation_of(stream: Stream) -> Representation:
    """What is left of the rows that were summed up."""
    return Representation(stream.scaling, stream.features.kernel, stream.landmarks, stream.features.landmarks)


def _by_sums(source: Source, grid: Grid) -> Iterator[Decomposed]:
    """Each by one pass over the rows."""
    survey = source.survey
    for scaling_name, name, multiple in grid.places:
        log.info("sums over %d rows: scaling=%s kernel=%s bandwidth=%g", survey.n_rows, scaling_name, name, multiple)
        options: dict[str, Any] = {
            "multiple": multiple,
            "bandwidth": grid.bandwidth,
            "n_rows": survey.n_rows,
            "lambda2": min(grid.lambda2s),
        }
        stream = source.streamed(begin(scaling_name, name, survey.sample, source.by, **options))
        yield representation_of(stream), stream.summary(survey.judged)


def _exactly(data: Data, grid: Grid, device: Any) -> Iterator[Decomposed]:
    weights = None if data.weights is None else to_device(data.weights, device)
    for representation, K in kernel_matrices(data, grid, device):
        own = representation.scaling.name, representation.kernel.name, representation.kernel.bandwidth
        log.info("decompose: scaling=%s kernel=%s bandwidth=%g n=%d", *own, len(K))
        yield representation, spectral.decompose(K, weights)


def kernel_matrices(data: Data, grid: Grid, device: Any) -> Iterator[tuple[Representation, Array]]:
    """Every representation of the grid with its kernel matrix (n, n), free to be overwritten."""
    options: dict[str, Any] = {"weights": None if data.weights is None else to_device(data.weights, device)}
    for scaling_name, of_scaling in groupby(grid.places, itemgetter(0)):
        plain = scaling.fitted(scaling_name, data.X, data.weights)
        for name, of_kernel in groupby(of_scaling, itemgetter(1)):
            scaler, rows = rows_for(name, plain, data.X)
            X = on_device(rows, device)
            multiples = [multiple for _, _, multiple in of_kernel]
            options["rounding"] = scaler.rounding(X.shape[1])
            if grid.bandwidth is None:
                kernels = kernel.fitted_many(name, X, multiples, **options)
            else:
                kernels = (kernel.fitted(name, X, bandwidth=sigma, **options) for sigma in [grid.bandwidth])
            for fitted, K in _quiet(kernels):
                yield Representation(scaler, fitted, rows, X), K


def represent_ahead(data: Data | Source, grid: Grid, device: Any) -> Iterator[Decomposed]:
    """The same; a device works on the first representation while the caller does something else on the CPU."""
    made = represent(data, grid, device)
    if device is None or isinstance(data, Source):
        return made
    pool = ThreadPoolExecutor(1)
    started = [pool.submit(next, made)]
    pool.shutdown(wait=False)

    def resumed() -> Iterator[Decomposed]:
        yield started.pop().result()  # and nobody keeps it
        yield from made

    return resumed()


def all_candidates(data: Data | Source, grid: Grid, device: Any) -> list[dict[str, Any]]:
    """Parameters of every candidate, where all rows set σ and the unit of λ2."""
    found: list[dict[str, Any]] = []
    for place in grid.places:
        if isinstance(data, Source):
            bandwidth, unit = _units_of_sums(data, grid, place, device)
        else:
            bandwidth, unit = _units(data, place, device)
        found += grid.candidates(place, bandwidth, unit)
    return found


def _units(data: Data, place: Place, device: Any) -> tuple[float, float]:
    """σ, and what λ2 is measured in."""
    scaling_name, name, multiple = place
    if name != "linear" and name not in kernel.RADIAL:
        return 1.0, 1.0
    weights = None if data.weights is None else to_device(data.weights, device)
    scaler, rows = rows_for(name, scaling.fitted(scaling_name, data.X, data.weights), data.X)
    X = on_device(rows, device)
    if name == "linear":
        return 1.0, kernel.mean_eigenvalue(X, weights)
    return multiple * kernel.mean_distance(name, X, weights=weights, rounding=scaler.rounding(X.shape[1])), 1.0


def _units_of_sums(source: Source, grid: Grid, place: Place, device: Any) -> tuple[float, float]:
    """The same for a fit by sums."""
    if place[1] == "linear":
        ((representation, spectrum),) = represent(source, replace(grid, places=(place,)), device)
        return representation.kernel.bandwidth, representation.unit(spectrum)
    survey, lambda2 = source.survey, min(grid.lambda2s)
    stream = begin(place[0], place[1], survey.sample, source.by, multiple=place[2], n_rows=survey.n_rows, lambda2=lambda2)
    return stream.features.kernel.bandwidth, 1.0


def rows_for(name: Any, plain: scaling.Scaling, X: Array) -> tuple[scaling.Scaling, Array]:
    """Training rows as the kernel of that name wants them, around the origin if it is made of inner products, and their scaling."""
    scaler = plain.centred(X.astype(np.float64)) if name in kernel.BY_PRODUCT else plain
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


@dataclass(frozen=True)
class Problem:
    """Labels in the eigenbasis of one representation, and the module that solves for them."""

    representation: Representation
    spectrum: spectral.Spectrum
    data: Data  # all rows, or those of a sample where rows are summed up

    @cached_property
    def solver(self) -> Any:
        """:mod:`skcamel.camel.spectral`, or a module with the same functions."""
        if isinstance(self.spectrum, landmark.Summary):
            return landmark
        return spectral if self.data.is_complete else unknown

    @property
    def solver_name(self) -> str:
        """What users call the solver."""
        if not isinstance(self.spectrum, landmark.Summary):
            return "spectral"
        return "primal" if self.representation.rows is None else "landmark"

    @cached_property
    def targets(self) -> spectral.Targets | Array:
        """What the solver takes, where the spectrum lives: projected labels, or labels (n, q) with NaN for `unknown`."""
        if isinstance(self.spectrum, landmark.Summary):
            return self.spectrum.targets
        Y = to_match(self.data.Y, self.spectrum.values)
        return spectral.project(self.spectrum, Y) if self.data.is_complete else Y

    def leave_one_out(
        self, bases: Sequence[spectral.LabelBasis], penalties: Sequence[tuple[float, float]]
    ) -> Iterator[tuple[int, int, Array]]:
        """Number of the basis, that of (λ1, λ2), and scores (n, q) of the rows; those of a group are left out together."""
        return self.solver.leave_one_out(self.spectrum, self.targets, bases, penalties, self.data.groups)

    def held_out(
        self, bases: Sequence[spectral.LabelBasis], penalties: Sequence[tuple[float, float]], K: Array
    ) -> Iterator[tuple[int, int, Array]]:
        """The same for other rows, from their kernel K (m, n) with the training rows or landmarks."""
        return self.solver.held_out(self.spectrum, self.targets, bases, penalties, K)

    def solve(
        self, basis: spectral.LabelBasis, penalty: tuple[float, float], scores: Array | None = None
    ) -> tuple[spectral.Solution, Array]:
        """The solution for one (G, λ1, λ2), and leave-one-out scores (n, q), unless they are known and exact."""
        lambda1, lambda2 = penalty
        if self.solver is unknown:
            return unknown.solve(self.spectrum, self.targets, basis, lambda1=lambda1, lambda2=lambda2)
        if scores is None:
            ((_, _, scores),) = self.leave_one_out([basis], [penalty])
        return self.solver.solve_in(self.spectrum, self.targets, basis, lambda1=lambda1, lambda2=lambda2), scores


def label_bases(S: Array, alphas: Sequence[float]) -> list[Any]:
    """The label basis of every α, decomposed on the CPU, which is idle and as fast as a GPU here."""
    with one_thread_for_small(len(S)):
        return [spectral.label_basis(correlation.collaboration(S, alpha)) for alpha in alphas]


def check_place(name: str, scaling_name: Any, kernel_name: Any, bandwidth: Any, otherwise: str = "") -> None:
    """Refuse a scaling or a kernel that does not exist, any scaling of a kernel matrix, and a bandwidth whose square is no number."""
    if not callable(kernel_name) and kernel_name not in kernel.NAMES:
        raise ValueError(f"kernel={kernel_name!r} is not known; choose one of {', '.join(map(repr, kernel.NAMES))} or give a function.")
    choice(scaling_name, scaling.NAMES, "scaling")
    if kernel_name == "precomputed" and scaling_name != "none":
        raise ValueError(f"scaling={scaling_name!r} needs features, and kernel='precomputed' has none; use scaling='none'.")
    check_positive(name, bandwidth, otherwise)
    if not 1e-100 < float(bandwidth) < 1e100:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {bandwidth!r}.")
