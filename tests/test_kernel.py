"""Kernels against loops over pairs of rows."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import kernel as literal
from skcamel.arrays import to_numpy
from skcamel.camel import kernel

RADIAL = ("rbf", "laplacian", "exponential")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*RADIAL, "linear"])
def test_matrices_and_bandwidths_are_those_of_loops_over_different_rows(
    name, weighted, rng, xp, monkeypatch
):
    X, new = rng.normal(size=(9, 4)), rng.normal(size=(5, 4))
    X[3] = X[5]  # equal rows count, at distance 0
    copies = rng.integers(1, 4, size=9) if weighted else np.ones(9, dtype=int)
    weights = xp(copies * 1.0) if weighted else None
    multipliers, mean = (0.5, 1.0, 2.0), literal.mean_distance(name, np.repeat(X, copies, axis=0))
    found = kernel.fitted_many(name, xp(X), multipliers, weights=weights)
    for multiplier, (fitted, K) in zip(multipliers, found, strict=name != "linear"):
        if name != "linear":
            assert fitted.bandwidth == pytest.approx(multiplier * mean, rel=1e-12)
        assert_allclose(to_numpy(K), literal.matrix(name, X, X, fitted.bandwidth), atol=1e-12)
        expected = literal.matrix(name, new, X, fitted.bandwidth)
        assert_allclose(to_numpy(fitted(xp(new), xp(X))), expected, atol=1e-12)
    monkeypatch.setattr(kernel, "BLOCK_ROWS", 2)
    if name != "linear":
        assert kernel.mean_distance(name, xp(X), weights=weights) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("name", RADIAL)
def test_equal_rows_are_at_distance_exactly_0_far_from_the_origin(name, rng):
    X = np.repeat(1e4 + rng.normal(size=(10, 40)), 3, axis=0)
    D = kernel.distances(name, X, X)
    equal = np.kron(np.eye(10), np.ones((3, 3))) > 0
    assert (D[equal] == 0).all()
    assert (D[~equal] > 1).all()


# Sparse rows


@pytest.mark.parametrize(
    ("width", "density", "share"), [(30, 0.3, 0.0), (30, 0.3, 2.0), (10**7, 3e-6, kernel.THIN)]
)
def test_l1_distances_of_sparse_rows_need_no_dense_rows(width, density, share, rng, monkeypatch):
    """By entries, by columns, or as the library chooses."""
    monkeypatch.setattr(kernel, "THIN", share)
    options = {"density": density, "rng": rng, "format": "csr"}
    rows, others = (sparse.random_array((n, width), **options) for n in (32, 15))
    used = np.union1d(rows.indices, others.indices)
    for second in (others, rows):
        apart = abs(rows[:, used].toarray()[:, None] - second[:, used].toarray()).sum(axis=2)
        assert_allclose(kernel.distances("laplacian", rows, second), apart, atol=1e-12)


FORMS = {
    "dense": np.asarray,
    "binary": lambda X: (X > 0) * 1.0,
    "sparse": lambda X: sparse.csr_array(X * (X > 0)),
    "thin": lambda X: sparse.csr_array(X * (X > 2)),
    "thin binary": lambda X: sparse.csr_array((X > 2) * 1.0),
}


@pytest.mark.parametrize(
    ("name", "form"), [*product(["laplacian"], FORMS), *product(["linear"], list(FORMS)[1:])]
)
def test_a_row_has_the_same_bits_alone_and_among_others(name, form, rng):
    rows, train = (FORMS[form](rng.normal(size=(n, 40))) for n in (32, 30))
    K = kernel.Kernel(name, 5.0)(rows, train)
    for i in range(len(K)):
        assert_array_equal(kernel.Kernel(name, 5.0)(rows[i : i + 1], train)[0], K[i])


def test_threads_do_not_change_the_bits_of_l1_distances(rng, monkeypatch):
    X1, X2 = rng.normal(size=(50, 4)), rng.normal(size=(20, 4))
    alone = kernel.distances("laplacian", X1, X2)
    monkeypatch.setattr(kernel, "SOON_DONE", 0)
    monkeypatch.setattr(kernel, "allowed_threads", lambda: 3)
    assert_array_equal(kernel.distances("laplacian", X1, X2), alone)
