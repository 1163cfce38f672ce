"""Sparse rows and an array are one matrix: the same products, the same moments, the same models."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from baselines import overlapping
from skcamel.baselines import logistic
from skcamel.baselines.logistic import varying_columns


def rows(seed, n=40, d=7, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3) + rng.integers(2, size=d) * 3.0
    X[:, 2] = 5.0
    return X, rng.integers(4, size=n).astype(float) if weighted else None


@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_moments_of_sparse_rows_are_those_of_the_array(seed, weighted):
    X, w = rows(seed, weighted=weighted)
    ours, expected = varying_columns(sparse.csr_array(X), w), varying_columns(X, w)
    np.testing.assert_array_equal(ours.kept, expected.kept)
    np.testing.assert_allclose(ours.mean, expected.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.spread, expected.spread, rtol=1e-12)


@given(seed=st.integers(0, 10_000))
def test_products_of_sparse_rows_are_those_of_the_array(seed):
    X, _ = rows(seed)
    X[:, 3] = X[:, 3] * (np.arange(40) < 2)
    X = np.hstack([X, np.zeros((40, 40))])  # few entries
    X[np.arange(40), 7 + np.arange(40)] = 1.0
    columns = varying_columns(X)
    few = columns.rows(sparse.csr_array(X))
    A = np.hstack([np.ones((40, 1)), (X[:, columns.kept] - columns.mean) / columns.spread])
    rng = np.random.default_rng(seed)
    W, R = rng.normal(size=(few.shape[1], 3)), rng.normal(size=(len(X), 3))
    assert few.shape == A.shape
    np.testing.assert_allclose(few.times(W), A @ W, atol=1e-11)
    np.testing.assert_allclose(few.back(R), A.T @ R, atol=1e-11)


def test_mostly_empty_arrays_are_worked_on_as_sparse_rows_and_full_sparse_rows_as_an_array():
    full, empty = np.ones((4, 3)) + np.eye(4, 3), np.eye(20)
    assert sparse.issparse(varying_columns(empty).rows(empty).Z)
    assert isinstance(varying_columns(full).rows(sparse.csr_array(full)).Z, np.ndarray)


def test_models_of_sparse_rows_are_those_of_the_array(monkeypatch):
    X, Y = overlapping.make(n=300, d=8)
    X[np.random.default_rng(0).random(X.shape) < 0.9] = 0
    counts = np.random.default_rng(1).integers(3, size=(len(X), 1)).astype(float)
    (few,) = logistic.fit_chains(sparse.csr_array(X), Y, np.array([[2, 0, 3, 1]]), counts, tol=1e-9)
    monkeypatch.setattr(logistic, "SPARSE", 0)
    (many,) = logistic.fit_chains(X, Y, np.array([[2, 0, 3, 1]]), counts, tol=1e-9)
    np.testing.assert_allclose(few.coef, many.coef, atol=1e-4)
