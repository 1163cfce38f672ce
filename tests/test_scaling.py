"""Scalings against scikit-learn's, and their laws."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from skcamel import kernel, scaling


@pytest.fixture
def X(rng):
    X = rng.normal(size=(12, 4)) * [1, 10, 100, 0] + [0, 5, 0, 3]
    X[2] = 0
    X[:, 3] = 3  # constant
    return X


def test_they_equal_scikit_learns(X):
    np.testing.assert_allclose(scaling.fitted("standard", X)(X), StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(scaling.fitted("minmax", X)(X), MinMaxScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(scaling.fitted("unit", X)(X), normalize(X), atol=1e-12)
    assert scaling.fitted("none", X)(X) is X


def test_new_rows_are_scaled_by_the_training_rows(X):
    new = X + 1
    np.testing.assert_allclose(scaling.fitted("standard", X)(new), StandardScaler().fit(X).transform(new), atol=1e-12)


@pytest.mark.parametrize("name", ["standard", "minmax", "unit"])
@pytest.mark.parametrize("kernel_name", ["rbf", "laplacian", "exponential"])
def test_sparse_rows_stay_sparse_and_give_the_same_kernel(name, kernel_name, X):
    X = X * (abs(X) > 1)
    dense, thin = scaling.fitted(name, X), scaling.fitted(name, sparse.csr_array(X))
    scaled = thin(sparse.csr_array(X))
    assert sparse.issparse(scaled)
    np.testing.assert_allclose(kernel.fitted(kernel_name, scaled)[1], kernel.fitted(kernel_name, dense(X))[1], atol=1e-10)


@pytest.mark.parametrize("name", ["standard", "minmax"])
def test_weights_equal_repetition(name, X, rng):
    weights = rng.integers(1, 4, size=len(X))
    weighted, repeated = scaling.fitted(name, X, weights.astype(float)), scaling.fitted(name, np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-12)


def test_a_small_spread_far_from_zero_is_still_a_spread(rng):
    X = 1e9 + rng.normal(size=(50, 1))
    assert scaling.fitted("standard", X)(X).std() == pytest.approx(1)


def test_sparse_and_dense_new_rows_are_understood_by_both(X):
    for name in ("standard", "minmax", "unit"):
        dense = scaling.fitted(name, X)
        scaled = dense(sparse.csr_array(X))
        np.testing.assert_allclose(scaled.toarray() if sparse.issparse(scaled) else scaled, dense(X), atol=1e-12)
        thin = scaling.fitted(name, sparse.csr_array(X))
        np.testing.assert_allclose(thin(X), thin(sparse.csr_array(X)).toarray(), atol=1e-12)
