"""Kernels against loops over pairs of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import kernel as literal
from skcamel.arrays import to_numpy
from skcamel.camel import kernel

FEW = 16  # new rows
RADIAL = ("rbf", "laplacian", "exponential")


@pytest.mark.parametrize("name", [*RADIAL, "linear"])
def test_matrices_equal_the_loops(name, rng, xp):
    X1, X2 = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    K = kernel.Kernel(name, 1.7)(xp(X1), xp(X2))
    assert_allclose(to_numpy(K), literal.matrix(name, X1, X2, 1.7), atol=1e-12)


@pytest.mark.parametrize("name", RADIAL)
def test_bandwidth_is_the_mean_distance_of_different_rows(name, rng, xp):
    X = rng.normal(size=(9, 4))
    X[3] = X[5]  # equal rows count, at distance 0
    fitted, K = next(kernel.fitted_many(name, xp(X)))
    assert fitted.bandwidth == pytest.approx(literal.mean_distance(name, X), rel=1e-12)
    assert_allclose(to_numpy(K), literal.matrix(name, X, X, fitted.bandwidth), atol=1e-12)


@pytest.mark.parametrize("name", RADIAL)
def test_weighted_bandwidth_equals_repetition(name, rng, xp):
    X, weights = rng.normal(size=(8, 3)), rng.integers(1, 4, size=8)
    weighted, _ = next(kernel.fitted_many(name, xp(X), weights=xp(weights.astype(float))))
    assert weighted.bandwidth == pytest.approx(
        literal.mean_distance(name, np.repeat(X, weights, axis=0)), rel=1e-12
    )


@pytest.mark.parametrize("X", [np.ones((1, 2)), np.ones((4, 2))])
def test_no_spread_means_bandwidth_1(X):
    assert next(kernel.fitted_many("rbf", X))[0].bandwidth == 1.0


@pytest.mark.parametrize("name", [*RADIAL, "linear"])
@pytest.mark.parametrize("binary", [False, True])
def test_sparse_rows_give_the_same_matrix(name, binary, rng):
    X = (
        rng.integers(0, 2, size=(20, 6)).astype(float)
        if binary
        else rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.4)
    )
    fitted, K = next(kernel.fitted_many(name, X))
    fitted_sparse, K_sparse = next(kernel.fitted_many(name, sparse.csr_array(X)))
    assert fitted_sparse.bandwidth == pytest.approx(fitted.bandwidth)
    assert_allclose(K_sparse, K, atol=1e-12)


@pytest.mark.parametrize("name", RADIAL)
def test_equal_rows_are_at_distance_exactly_0_far_from_the_origin(name, rng):
    X = np.repeat(1e4 + rng.normal(size=(10, 40)), 3, axis=0)
    D = kernel.distances(name, X, X)
    equal = np.kron(np.eye(10), np.ones((3, 3))) > 0
    assert (D[equal] == 0).all()
    assert (D[~equal] > 1).all()


def test_one_distance_matrix_serves_all_bandwidths(rng):
    X = rng.normal(size=(12, 3))
    for fitted, K in kernel.fitted_many("laplacian", X, (0.5, 1.0, 2.0)):
        assert_allclose(K, literal.matrix("laplacian", X, X, fitted.bandwidth), atol=1e-12)


def test_a_function_with_the_wrong_shape_is_refused(rng):
    with pytest.raises(ValueError, match=r"returned shape \(2, 2\); it must return \(5, 5\)"):
        next(kernel.fitted_many(lambda *_: np.eye(2), rng.normal(size=(5, 2))))


def test_l1_distances_of_wide_sparse_rows_need_no_dense_rows(rng):
    rows = [sparse.random_array((n, 10**7), density=3e-6, rng=rng, format="csr") for n in (20, 15)]
    used = np.union1d(rows[0].indices, rows[1].indices)
    for first, second in (rows, (rows[0], rows[0])):
        D = kernel.distances("laplacian", first, second)
        assert_allclose(
            D,
            abs(first[:, used].toarray()[:, None] - second[:, used].toarray()).sum(axis=2),
            atol=1e-12,
        )


FORMS = {
    "dense": np.asarray,
    "binary": lambda X: (X > 0) * 1.0,
    "sparse": lambda X: sparse.csr_array(X * (X > 0)),
    "thin": lambda X: sparse.csr_array(X * (X > 2)),
    "thin binary": lambda X: sparse.csr_array((X > 2) * 1.0),
}


@pytest.mark.parametrize(
    ("name", "form"),
    [("laplacian", form) for form in FORMS]
    + [("linear", form) for form in FORMS if form != "dense"],
)
def test_a_row_has_the_same_bits_alone_and_among_others(name, form, rng):
    rows, train = (FORMS[form](rng.normal(size=(n, 40))) for n in (2 * FEW, 30))
    K = kernel.Kernel(name, 5.0)(rows, train)
    for i in range(len(K)):
        assert_array_equal(kernel.Kernel(name, 5.0)(rows[i : i + 1], train)[0], K[i])


def test_threads_do_not_change_the_bits_of_l1_distances(rng, monkeypatch):
    X1, X2 = rng.normal(size=(50, 4)), rng.normal(size=(20, 4))
    alone = kernel.distances("laplacian", X1, X2)
    monkeypatch.setattr(kernel, "SOON_DONE", 0)
    monkeypatch.setattr(kernel, "allowed_threads", lambda: 3)
    assert_array_equal(kernel.distances("laplacian", X1, X2), alone)


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_entries_and_columns_of_sparse_rows_have_one_distance(share, rng, monkeypatch):
    X1, X2 = (
        sparse.random_array((n, 30), density=0.3, rng=rng, format="csr") for n in (2 * FEW, 25)
    )
    monkeypatch.setattr(kernel, "THIN", share)
    expected = abs(X1.toarray()[:, None] - X2.toarray()).sum(axis=2)
    assert_allclose(kernel.distances("laplacian", X1, X2), expected, atol=1e-12)
