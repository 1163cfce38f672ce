"""Sums over rows: the same however they are taken, and leave-one-out from them equals refits without the row."""

from dataclasses import replace

import numpy as np
import pytest

from skcamel.camel import landmark, spectral
from skcamel.camel.kernel import Kernel
from skcamel.camel.landmark import Block

RNG = np.random.default_rng(0)
N, D, Q = 40, 3, 3
X = RNG.normal(size=(N, D))
Y = np.where(X[:, :Q] + RNG.normal(size=(N, Q)) > 0.3, 1.0, -1.0)
G = 0.6 * np.eye(Q) + RNG.normal(size=(Q, Q)) / 5
Z = np.concatenate([X[:7], RNG.normal(size=(4, D)), X[:1]])  # one of them twice
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(1, 4, N).astype(np.float64),
    "any": RNG.random(N) * 2 + 0.1,
}
PENALTIES = [(1.0, 0.1), (0.3, 2.0), (5.0, 0.004)]
KERNELS = {
    "rbf": Kernel("rbf", 1.7),
    "laplacian": Kernel("laplacian", 3.0),
    "linear": Kernel("linear"),
    "columns": None,
}


def made(kind, xp, of_blocks=False):
    kernel = KERNELS[kind]
    if kernel is None:
        return landmark.Features(Kernel("linear"), None, xp(X[:5].mean(axis=0)))
    return replace(landmark.features(kernel, xp(Z), n_rows=N, lambda2=0.1), of_blocks=of_blocks)


def as_block(xp, rows, weights):
    return Block(xp(X[rows]), xp(Y[rows]), None if weights is None else xp(weights[rows]))


def summary_of(of, xp, weights, size=9):
    blocks = [lambda i=i: as_block(xp, slice(i, i + size), weights) for i in range(0, N, size)]
    return landmark.summarise(
        of, landmark.moments(of, blocks, Q), as_block(xp, slice(None), weights)
    )


def phi(of, rows):
    """Features of rows, (m, r), as numpy."""
    if of.landmarks is None:
        return rows
    whitening = np.asarray(of.whitening)
    return np.asarray(of.kernel(rows, np.asarray(of.landmarks))) @ whitening


def ridge(F, t, w, rho, at):
    """Slow literal oracle: weighted ridge regression with a free intercept, by least squares; predictions of the rows `at`."""
    root = np.sqrt(w)[:, None]
    A = np.vstack(
        [
            root * np.column_stack([F, np.ones(len(F))]),
            np.column_stack([rho**0.5 * np.eye(F.shape[1]), np.zeros(F.shape[1])]),
        ]
    )
    solution = np.linalg.lstsq(A, np.append(root[:, 0] * t, np.zeros(F.shape[1])), rcond=None)[0]
    return at @ solution[:-1] + solution[-1]


def predictions(F, w, penalty, at):
    basis = spectral.label_basis(G)
    rho = basis.ridges(*penalty)
    return (
        np.column_stack([ridge(F, Y @ basis.R[:, c], w, rho[c], at) for c in range(len(rho))])
        @ basis.R.T
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("kind", "of_blocks"),
    [(kind, b) for kind in KERNELS for b in (False, True) if kind != "columns" or not b],
)
def test_the_solution_and_leave_one_out_equal_literal_fits(kind, of_blocks, weights, xp):
    of, w = made(kind, xp, of_blocks), WEIGHTS[weights]
    summary, basis = summary_of(of, xp, w), spectral.label_basis(xp(G))
    F, unit = phi(of, X), np.ones(N) if w is None else np.minimum(w, 1.0)
    counts = np.ones(N) if w is None else w
    scores = list(landmark.leave_one_out(summary, summary.targets, [basis], PENALTIES))
    for p, (lambda1, lambda2) in enumerate(PENALTIES):
        solution = landmark.solve_in(
            summary, summary.targets, basis, lambda1=lambda1, lambda2=lambda2
        )
        K = X if of.landmarks is None else np.asarray(of.kernel(X, np.asarray(of.landmarks)))
        fitted = K @ np.asarray(solution.dual_coef) + np.asarray(solution.intercept)
        np.testing.assert_allclose(fitted, predictions(F, counts, (lambda1, lambda2), F), atol=1e-9)
        assert solution.Z is None
        for i in (0, 17, 39):
            left = counts - unit * (np.arange(N) == i)
            np.testing.assert_allclose(
                np.asarray(scores[p])[i],
                predictions(F, left, (lambda1, lambda2), F[i : i + 1])[0],
                atol=1e-9,
            )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("of_blocks", [False, True])
def test_moments_are_sums_whatever_the_blocks_and_threads(weights, of_blocks):
    of, w = made("rbf", np.array, of_blocks), WEIGHTS[weights]
    counts = np.ones(N) if w is None else w
    K = of.kernel(X, Z) - of.origin
    k, y = K @ of.whitening if of_blocks else K, np.column_stack([Y, np.ones(N)])
    expected = (k.T * counts) @ k, (k.T * counts) @ y, counts @ K, counts @ y
    for size, threads in ((1, 1), (7, 3), (N, 2), (5, 99)):
        blocks = [
            lambda i=i, size=size: as_block(np.array, slice(i, i + size), w)
            for i in range(0, N, size)
        ]
        found = landmark.moments(of, blocks, Q, threads=threads)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
        again = landmark.moments(of, blocks, Q, threads=threads)
        assert all(
            (mine == theirs).all() for mine, theirs in zip(found, again, strict=True)
        )  # to the last bit


def test_an_error_in_a_thread_comes_out():
    def broken():
        raise ArithmeticError("here")

    good = [lambda: as_block(np.array, slice(0, 9), None)] * 5
    with pytest.raises(ArithmeticError, match="here"):
        landmark.moments(made("rbf", np.array), [*good, broken], Q, threads=2)


def smooth():
    """Rows in 3 dimensions under a wide kernel: eigenvalues of K_ZZ fall to rounding."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, size=(3000, 3))
    labels = np.where(np.sin(3 * rows) + 0.3 * rng.normal(size=(3000, 3)) > 0, 1.0, -1.0)
    return rows, labels, rows[:200], Kernel("rbf", 1.5)


def test_the_guard_whitens_where_sums_of_kernels_would_lose_their_digits():
    rows, labels, some, kernel = smooth()
    of = landmark.features(kernel, some, n_rows=3000, lambda2=1e-4)
    assert of.of_blocks
    basis = spectral.label_basis(np.eye(3))
    rho = float(basis.ridges(1.0, 1e-4)[0])
    F = kernel(rows, some) @ of.whitening
    expected = np.column_stack(
        [ridge(F, labels[:, j], np.ones(3000), rho, F[:50]) for j in range(3)]
    )  # never squares F
    errors = {}
    for of_blocks in (True, False):
        own = replace(of, of_blocks=of_blocks)
        block = Block(rows, labels, None)
        summary = landmark.summarise(
            own,
            landmark.moments(own, [lambda block=block: block], 3),
            Block(rows[:50], labels[:50], None),
        )
        fitted = (
            summary.rows @ (summary.targets.projected / (summary.values[:, None] + rho))
            + summary.targets.mean
        )
        errors[of_blocks] = abs(fitted - expected).max()
    assert errors[True] < 1e-6
    assert errors[False] > 100 * errors[True]


def test_equal_landmarks_and_landmarks_at_the_origin_are_no_trouble():
    for kernel, some in (
        (Kernel("rbf"), np.repeat(X[:1], 4, axis=0)),
        (Kernel("linear"), np.zeros((3, D))),
    ):
        of = landmark.features(kernel, some, n_rows=N, lambda2=0.1)
        block = Block(X, Y, None)
        summary = landmark.summarise(
            of, landmark.moments(of, [lambda block=block: block], Q), block
        )
        assert np.isfinite(summary.rows).all()
        assert (summary.values >= 0).all()


def test_one_row_leaves_nothing_to_learn_from():
    of, block = made("columns", np.array), Block(X[:1], Y[:1], None)
    summary = landmark.summarise(of, landmark.moments(of, [lambda: block], Q), block)
    (scores,) = landmark.leave_one_out(
        summary, summary.targets, [spectral.label_basis(np.eye(Q))], [(1.0, 0.1)]
    )
    np.testing.assert_array_equal(scores, 0.0)


def test_kernels_that_are_not_finite_or_not_definite_are_refused():
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        landmark.features(Kernel("linear"), X * 1e200, n_rows=N, lambda2=0.1)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        landmark.features(Kernel(lambda A, B: -(A @ B.T)), X, n_rows=N, lambda2=0.1)
    of, block = made("columns", np.array), Block(X * 1e200, Y, None)
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        landmark.summarise(of, landmark.moments(of, [lambda: block], Q), block)
