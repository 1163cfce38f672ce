"""Sums over rows are the same however taken; what follows from them equals literal fits."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcamel.camel import landmark, spectral
from skcamel.camel.kernel import Kernel
from skcamel.camel.landmark import Block
from solve.problems import scores_of

RNG = np.random.default_rng(0)
N, D, Q = 40, 3, 3
X = RNG.normal(size=(N, D))
Y = np.where(X[:, :Q] + RNG.normal(size=(N, Q)) > 0.3, 1.0, -1.0)
G = 0.6 * np.eye(Q) + RNG.normal(size=(Q, Q)) / 5
Z = np.concatenate([X[:7], RNG.normal(size=(4, D)), X[:1]])  # one of them twice
WEIGHTS = {
    "none": np.ones(N),
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


def in_blocks(xp, weights, size):
    w = xp(weights)

    def block(i):
        rows = slice(i, i + size)
        return Block(xp(X[rows]), xp(Y[rows]), w[rows])

    return [lambda i=i: block(i) for i in range(0, N, size)]


def summarised(of, block):
    moments = landmark.moments(of, [lambda: block], block.Y.shape[1])
    return landmark.summarise(of, moments, block)


def ridge(F, t, w, rho, at):
    """Literal oracle: weighted ridge regression with a free intercept; predictions of rows `at`."""
    root, width = np.sqrt(w)[:, None], F.shape[1]
    rows = root * np.column_stack([F, np.ones(len(F))])
    penalty = np.column_stack([rho**0.5 * np.eye(width), np.zeros(width)])
    wanted = np.append(root[:, 0] * t, np.zeros(width))
    solution = np.linalg.lstsq(np.vstack([rows, penalty]), wanted, rcond=None)[0]
    return at @ solution[:-1] + solution[-1]


def predictions(F, w, penalty, at):
    basis = spectral.label_basis(G)
    rho = basis.ridges(*penalty)
    parts = [ridge(F, Y @ basis.R[:, c], w, rho[c], at) for c in range(len(rho))]
    return np.column_stack(parts) @ basis.R.T


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("kind", "of_blocks"),
    [*product(("rbf", "laplacian", "linear"), (False, True)), ("columns", False)],
)
def test_the_solution_and_leave_one_out_equal_literal_fits(kind, of_blocks, weights, xp):
    of, w = made(kind, xp, of_blocks), WEIGHTS[weights]
    moments = landmark.moments(of, in_blocks(xp, w, 9), Q)
    summary = landmark.summarise(of, moments, in_blocks(xp, w, N)[0]())
    basis = spectral.label_basis(xp(G))
    K = X if of.landmarks is None else np.asarray(of.kernel(X, np.asarray(of.landmarks)))
    F = X if of.landmarks is None else K @ np.asarray(of.whitening)
    scores = list(landmark.leave_one_out(summary, summary.targets, [basis], PENALTIES))
    for penalty, left_out in zip(PENALTIES, scores, strict=True):
        options = {"lambda1": penalty[0], "lambda2": penalty[1]}
        solution = landmark.solve_in(summary, summary.targets, basis, **options)
        fitted = scores_of(solution, K)
        assert_allclose(fitted, predictions(F, w, penalty, F), atol=1e-9)
        assert solution.Z is None
        for i in (0, 17, 39):  # without one unit of its weight, or all where it has less
            rest = w - np.minimum(w, 1.0) * (np.arange(N) == i)
            wanted = predictions(F, rest, penalty, F[i : i + 1])[0]
            assert_allclose(np.asarray(left_out)[i], wanted, atol=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("of_blocks", [False, True])
def test_moments_are_sums_whatever_the_blocks_and_threads(weights, of_blocks):
    of, w = made("rbf", np.array, of_blocks), WEIGHTS[weights]
    K = of.kernel(X, Z) - of.origin
    k, y = K @ of.whitening if of_blocks else K, np.column_stack([Y, np.ones(N)])
    expected = (k.T * w) @ k, (k.T * w) @ y, w @ K, w @ y
    for size, threads in ((1, 1), (7, 3), (N, 2), (5, 99)):
        blocks = in_blocks(np.array, w, size)
        found = landmark.moments(of, blocks, Q, threads=threads)
        again = landmark.moments(of, blocks, Q, threads=threads)
        for mine, repeated, theirs in zip(found, again, expected, strict=True):
            assert_allclose(mine, theirs, atol=1e-12)
            assert_array_equal(mine, repeated)  # to the last bit


def test_an_error_in_a_thread_comes_out():
    def broken():
        raise ArithmeticError("here")

    blocks = [*in_blocks(np.array, WEIGHTS["none"], 9), broken]
    with pytest.raises(ArithmeticError, match="here"):
        landmark.moments(made("rbf", np.array), blocks, Q, threads=2)


def test_the_guard_whitens_where_sums_of_kernels_would_lose_their_digits():
    """Rows in 3 dimensions under a wide kernel: eigenvalues of K_ZZ fall to rounding."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, size=(3000, 3))
    labels = np.where(np.sin(3 * rows) + 0.3 * rng.normal(size=(3000, 3)) > 0, 1.0, -1.0)
    of = landmark.features(Kernel("rbf", 1.5), rows[:200], n_rows=3000, lambda2=1e-4)
    assert of.of_blocks
    rho = float(spectral.label_basis(np.eye(3)).ridges(1.0, 1e-4)[0])
    F = of.kernel(rows, rows[:200]) @ of.whitening
    parts = [ridge(F, labels[:, j], np.ones(3000), rho, F[:50]) for j in range(3)]
    errors = {}
    for of_blocks in (True, False):
        summary = summarised(replace(of, of_blocks=of_blocks), Block(rows, labels, np.ones(3000)))
        scale = summary.values[:, None] + rho
        fitted = summary.rows[:50] @ (summary.targets.projected / scale) + summary.targets.mean
        errors[of_blocks] = abs(fitted - np.column_stack(parts)).max()  # which never squares F
    assert errors[True] < 1e-6
    assert errors[False] > 100 * errors[True]
