"""Sparse rows and an array are one matrix: the same products, the same moments, the same models."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from baselines import overlapping
from skcamel.baselines import logistic
from skcamel.baselines.logistic import DenseDesign, SparseDesign, design, varying_columns


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


@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_products_of_sparse_rows_are_those_of_the_array(seed, weighted):
    X, w = rows(seed, weighted=weighted)
    columns = varying_columns(X)
    few, many = SparseDesign(columns, sparse.csr_array(X)), DenseDesign(columns.standardised(X))
    rng = np.random.default_rng(seed)
    W, R = rng.normal(size=(few.shape[1], 3)), rng.normal(size=(len(X), 3))
    assert few.shape == many.shape
    np.testing.assert_allclose(few.times(W), many.A @ W, atol=1e-11)
    np.testing.assert_allclose(few.back(R), many.A.T @ R, atol=1e-11)
    np.testing.assert_allclose(few.gram(w), many.gram(w), atol=1e-10)
    np.testing.assert_allclose(few.rows(np.array([3, 1])), many.A[[3, 1]], atol=1e-12)


def test_mostly_empty_arrays_are_worked_on_as_sparse_rows_and_full_sparse_rows_as_an_array():
    full, empty = np.ones((4, 3)) + np.eye(4, 3), np.eye(20)
    assert isinstance(design(varying_columns(empty), empty), SparseDesign)
    assert isinstance(design(varying_columns(full), sparse.csr_array(full)), DenseDesign)


def test_models_of_sparse_rows_are_those_of_the_array(monkeypatch):
    X, Y = overlapping.make(n=300, d=8)
    X[np.random.default_rng(0).random(X.shape) < 0.9] = 0
    counts = np.random.default_rng(1).integers(3, size=(len(X), 1)).astype(float)
    (few,) = logistic.fit_chains(sparse.csr_array(X), Y, np.array([[2, 0, 3, 1]]), counts, tol=1e-9)
    monkeypatch.setattr(logistic, "design", lambda columns, rows: DenseDesign(columns.standardised(rows)))
    (many,) = logistic.fit_chains(X, Y, np.array([[2, 0, 3, 1]]), counts, tol=1e-9)
    np.testing.assert_allclose(few.ending.objective, many.ending.objective, rtol=1e-8)
    np.testing.assert_allclose(few.coef, many.coef, atol=1e-4)
