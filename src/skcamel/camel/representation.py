"""Grid ► representations: training rows as each kernel sees them, decomposed once."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import (
    EPS,
    Array,
    MaybeArray,
    Params,
    alike,
    one_thread,
    to_device,
    to_match,
    to_numpy,
)
from skcamel.camel import correlation, kernel, landmark, scaling, spectral, stream, unknown
from skcamel.checks import check_number, choice

log = logging.getLogger("skcamel")
ROUNDING = 1e-4  # of lambda2: where it is larger, exact scores lose more than four digits


class RoundingWarning(UserWarning):
    """The kernel matrix is so large that its rounding is not small beside the penalty."""


class Data(NamedTuple):
    """Checked training data, always on the CPU."""

    # (n, d) float64, numpy or CSR; (n, n) for a precomputed kernel; any floats where rows are
    # summed up
    X: Array
    Y: Array  # (n, q) float64 in {-1, +1}, NaN where unknown; int8 where rows are summed up
    weights: Array  # (n,)
    groups: MaybeArray = None  # (n,) whole numbers; rows of one group leave together
    source: Any = None  # Source of sums over rows, in place of a kernel matrix

    @property
    def is_complete(self) -> bool:
        """Whether all labels are known."""
        return self.Y.dtype.kind == "i" or not np.isnan(self.Y).any()

    @property
    def counts(self) -> tuple[Array, float]:
        """Weight of the rows that have both labels (q, q), and of all rows."""
        if self.source is None:
            return correlation.cooccurrence(self.Y, self.weights)
        return self.source.survey.counts

    @property
    def judged(self) -> Data:
        """Rows that judge candidates: all, or a sample where rows are summed up."""
        if self.source is None:
            return self
        sample = self.source.survey.judged
        return Data(sample.X, sample.Y.astype(np.float64), sample.weights, self.groups)

    def truth(self, like: Array) -> tuple[Array, Array]:
        """Which labels are relevant, and weights of entries, 0 where unknown, (n, q), as `like`."""
        weights = self.weights[:, None] * ~np.isnan(self.Y)
        return to_match(self.Y, like) > 0, to_match(weights, like)

    def rows(self, index: Array, columns: MaybeArray = None) -> Data:
        """Some of the rows; of a kernel matrix also the `columns` that belong to training rows."""
        X = self.X[index]
        if columns is not None:
            X = X[:, columns]
        groups = self.groups
        if groups is not None:
            groups = groups[index]
        return Data(X, self.Y[index], self.weights[index], groups)

    def with_weight(self) -> Data:
        """The rows that have weight."""
        if self.weights.all():
            return self
        return self.rows(np.flatnonzero(self.weights))._replace(source=self.source)

    def summed(self, by: stream.Streaming) -> Data:
        """The same with these rows as the source of sums."""
        rows = self.with_weight()
        return self._replace(
            source=stream.Source(lambda: [landmark.Block(rows.X, rows.Y, rows.weights)], by)
        )


class Grid(NamedTuple):
    """All candidates, in the order in which equal scores are decided."""

    alphas: Sequence[float]
    lambda1s: Sequence[float]
    lambda2s: Sequence[float]
    places: Sequence[stream.Place] = (("none", "rbf", 1.0),)
    bandwidth: float | None = None  # σ itself, in place of multiples of the mean distance
    # whether λ2 of the linear kernel counts mean eigenvalues, which grow with the features
    relative: bool = True

    @property
    def size(self) -> int:
        """Number of candidates."""
        return math.prod(map(len, self[:4]))

    def params(self, representation: Representation, spectrum: Any = None) -> list[Params]:
        """Parameters of each candidate, as :class:`skcamel.CamelClassifier` takes them."""
        kernel = representation.kernel
        unit = 1.0
        if self.relative and kernel.name == "linear":
            unit = float(spectrum.values.sum()) / spectrum.weight or 1.0
        return [
            {
                "scaling": representation.scaling.name,
                "kernel": kernel.name,
                "bandwidth": kernel.bandwidth,
                "alpha": alpha,
                "lambda1": lambda1,
                "lambda2": unit * lambda2,
            }
            for alpha, lambda1, lambda2 in product(self.alphas, self.lambda1s, self.lambda2s)
        ]

    def for_sparse_rows(self) -> Grid:
        """Without rank scaling, which would make rows dense, unless nothing else is left."""
        suitable = tuple(place for place in self.places if place[0] != "rank")
        return self._replace(places=suitable or self.places)

    def only(self, index: int) -> Grid:
        """The grid of one candidate alone."""
        axes = ("places", "alphas", "lambda1s", "lambda2s")
        candidates = list(product(*(getattr(self, axis) for axis in axes)))
        chosen: Any = {axis: (value,) for axis, value in zip(axes, candidates[index], strict=True)}
        return self._replace(**chosen)


class Representation(NamedTuple):
    """Training rows, or landmarks, as the kernel sees them; none for solver="primal"."""

    scaling: scaling.Scaling
    kernel: kernel.Kernel
    rows: MaybeArray  # (n, d) scaled, numpy or CSR
    X: MaybeArray  # the same on the device

    def kernel_rows(self, X: Array, device: Any) -> Array:
        """Kernel between other rows X (m, d), not yet scaled, and the training rows: (m, n)."""
        rows = to_device(alike(self.scaling(X), self.rows), device)
        if self.X is None:
            return rows
        return self.kernel(rows, self.X)


class Model(NamedTuple):
    """A candidate that was solved."""

    params: Params
    representation: Representation
    G: Array  # (q, q)
    solution: spectral.Solution
    scores: Array  # (n, q) by leave-one-out
    solver: str


class Problem(NamedTuple):
    """One representation, decomposed, with its candidates and the module that solves for them."""

    representation: Representation
    spectrum: Any  # Spectrum, or Summary where rows are summed up
    # what the solver takes, where the spectrum lives: projected labels, or labels (n, q) with NaN
    # for `unknown`
    targets: Any
    data: Data  # rows that judge candidates
    grid: Grid
    solver: Any  # :mod:`skcamel.camel.spectral`, or a module with the same functions
    solver_name: str  # what users call it
    params: list[Params]  # of each candidate

    @property
    def penalties(self) -> list[tuple[float, float]]:
        """Pairs (λ1, λ2) of the candidates of each α."""
        n_pairs = len(self.params) // len(self.grid.alphas)
        return [(params["lambda1"], params["lambda2"]) for params in self.params[:n_pairs]]

    def leave_one_out(self, bases: spectral.Bases) -> Iterator[Array]:
        """Scores (n, q) for each candidate without the row or its group; a basis for each α."""
        return self.solver.leave_one_out(
            self.spectrum, self.targets, bases, self.penalties, self.data.groups
        )

    def held_out(self, bases: spectral.Bases, X: Array, device: Any) -> Iterator[Array]:
        """Scores (m, q) of other rows X (m, d), not yet scaled, for each candidate."""
        K = self.representation.kernel_rows(X, device)
        return self.solver.held_out(self.spectrum, self.targets, bases, self.penalties, K)

    def solve(self, bases: spectral.Bases, index: int = 0, scores: MaybeArray = None) -> Model:
        """One candidate solved; its leave-one-out scores (n, q) are computed unless passed."""
        spectrum, targets = self.spectrum, self.targets
        basis = bases[index * len(bases) // len(self.params)]
        params = self.params[index]
        lambda1 = params["lambda1"]
        lambda2 = params["lambda2"]
        solution = self.solver.solve_in(spectrum, targets, basis, lambda1=lambda1, lambda2=lambda2)
        if self.solver is unknown:
            solution, scores = solution
        if scores is None:
            penalties = [(lambda1, lambda2)]
            (scores,) = self.solver.leave_one_out(
                spectrum, targets, [basis], penalties, self.data.groups
            )
        largest = float(max(spectrum.values[-1:], default=0.0))  # there may be one row
        share = EPS * largest / lambda2
        allowed = ROUNDING
        if self.solver is landmark and self.data.groups is None:
            allowed = 1.0  # a large group may leave directions in which no other row lies
        if share > allowed:
            warnings.warn(
                f"The kernel matrix is so large (its greatest eigenvalue is {largest:.1e}) that its"
                f" rounding is {share:.1g} times lambda2={lambda2:g}: scores lose digits, or are"
                " noise. Scale the features (scaling='standard'), give smaller weights, or raise"
                " lambda2.",
                RoundingWarning,
                stacklevel=3,
            )
        G = to_numpy(basis.G)
        return Model(params, self.representation, G, solution, scores, self.solver_name)


def represent(data: Data, grid: Grid, device: Any) -> Iterator[Problem]:
    """Every representation of the grid, decomposed, with the rows that judge candidates."""
    if data.source is not None:
        survey = data.source.survey
        for place in grid.places:
            log.info("sums over %d rows: scaling=%s kernel=%s bandwidth=%g", survey.n_rows, *place)
            started = stream.begin(
                place,
                survey.sample,
                data.source.by,
                bandwidth=grid.bandwidth,
                n_rows=survey.n_rows,
                lambda2=min(grid.lambda2s),
            )
            yield summed_up(data.source.streamed(started), data, grid)
        return
    weights = to_device(data.weights, device)
    for representation, K in kernel_matrices(data, grid, device):
        log.info(
            "decompose: scaling=%s kernel=%s bandwidth=%g n=%d",
            representation.scaling.name,
            *representation.kernel,
            len(K),
        )
        spectrum = spectral.decompose(K, weights)
        solver: Any = spectral
        targets: Any = to_match(data.Y, spectrum.values)
        if data.is_complete:
            targets = spectral.project(spectrum, targets)
        else:
            solver = unknown
        params = grid.params(representation, spectrum)
        yield Problem(representation, spectrum, targets, data, grid, solver, "spectral", params)
        del spectrum, targets, K  # before the next kernel matrix is made


def summed_up(seen: stream.Stream, data: Data, grid: Grid) -> Problem:
    """The problem in what is left of rows that were summed up, with a sample of them."""
    judged = data.judged
    spectrum = seen.summary(judged.X, judged.Y, judged.weights)
    features = seen.features
    representation = Representation(
        seen.scaling, features.kernel, seen.landmarks, features.landmarks
    )
    name = "landmark"
    if seen.landmarks is None:
        name = "primal"
    params = grid.params(representation, spectrum)
    return Problem(representation, spectrum, spectrum.targets, judged, grid, landmark, name, params)


def kernel_matrices(data: Data, grid: Grid, device: Any) -> Iterator[tuple[Representation, Array]]:
    """Every representation of the grid with its kernel matrix (n, n), free to be overwritten.

    Distances are computed once for neighbours that differ in bandwidth alone.
    """
    weights = to_device(data.weights, device)
    for (scaling_name, name), places in groupby(grid.places, itemgetter(0, 1)):
        scaler = scaling.fitted(
            scaling_name, data.X, data.weights, centred=name in kernel.BY_PRODUCT
        )
        rows = scaler(data.X)
        X = to_device(rows, device)
        fitted = kernel.fitted_many(
            name,
            X,
            [multiple for _, _, multiple in places],
            sigma=grid.bandwidth,
            weights=weights,
        )
        for fitted_kernel, K in fitted:
            yield Representation(scaler, fitted_kernel, rows, X), K


def all_candidates(data: Data, grid: Grid, device: Any) -> list[Params]:
    """Parameters of every candidate, where all rows set σ and the unit of λ2."""
    found: list[Params] = []
    for place in grid.places:
        alone = grid._replace(places=(place,))
        if data.source is not None or place[1] == "linear":
            (problem,) = represent(data, alone, device)
            found += problem.params
        else:
            ((representation, _),) = kernel_matrices(data, alone, device)
            found += alone.params(representation)
    return found


def label_bases(S: Array, alphas: Sequence[float], device: Any) -> list[spectral.LabelBasis]:
    """The label basis of every α on the device, decomposed on the CPU, which is as fast."""
    found = []
    with one_thread(len(S)):
        for alpha in alphas:
            basis = spectral.label_basis(correlation.collaboration(S, alpha))
            found.append(spectral.LabelBasis(*(to_device(part, device) for part in basis)))
    return found


def check_place(name: str, place: stream.Place, otherwise: str = "") -> None:
    """Refuse an unknown scaling, kernel or bandwidth, and any scaling of a kernel matrix."""
    scaling_name, kernel_name, bandwidth = place
    if not callable(kernel_name) and kernel_name not in kernel.NAMES:
        raise ValueError(
            f"kernel={kernel_name!r} is not known; choose one of"
            f" {', '.join(map(repr, kernel.NAMES))} or give a function."
        )
    choice(scaling_name, scaling.NAMES, "scaling")
    if kernel_name == "precomputed" and scaling_name != "none":
        raise ValueError(
            f"scaling={scaling_name!r} needs features, and kernel='precomputed' has none; use"
            " scaling='none'."
        )
    check_number(name, bandwidth, above=True, otherwise=otherwise)
    if not 1e-100 < float(bandwidth) < 1e100:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {bandwidth!r}.")
