"""Scalings against scikit-learn's, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from skcamel.camel import scaling


@pytest.fixture
def X(rng):
    X = rng.normal(size=(12, 4)) * [1, 10, 100, 0] + [0, 5, 0, 3]
    X[2] = 0
    X[:, 3] = 3  # constant
    return X


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("unit", Normalizer())],
)
def test_they_equal_scikit_learns_and_new_rows_are_scaled_by_the_training_rows(name, theirs, X):
    found = scaling.fitted(name, X)
    assert_allclose(found(X), theirs.fit_transform(X), atol=1e-12)
    assert_allclose(found(X + 1), theirs.transform(X + 1), atol=1e-12)
    assert scaling.fitted("none", X)(X) is X


@pytest.mark.parametrize("name", ["standard", "minmax", "rank"])
def test_weights_equal_repetition(name, X, rng):
    weights = rng.integers(1, 4, size=len(X))
    repeated = scaling.fitted(name, np.repeat(X, weights, axis=0))
    assert_allclose(scaling.fitted(name, X, weights.astype(float))(X), repeated(X), atol=1e-12)


def test_a_small_spread_far_from_zero_is_still_a_spread(rng):
    X = 1e9 + rng.normal(size=(50, 1))
    assert scaling.fitted("standard", X)(X).std() == pytest.approx(1)


def tied(seed, n=30, d=3):
    """Columns with many ties, with some, and without."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * np.array([1.0, 5.0, 1e6])[:d]).round()


def interpolated(x, column):
    """Level of one value, literally: between the nearest training values on both sides."""
    levels = (rankdata(column, method="average") - 0.5) / len(column)
    x = min(max(x, column.min()), column.max())
    below, above = column[column <= x].max(), column[column >= x].min()
    low, high = (levels[column == value][0] for value in (below, above))
    return low if below == above else low + (x - below) / (above - below) * (high - low)


@given(seed=st.integers(0, 10_000))
def test_ranks_are_those_of_scipy_and_new_values_lie_between_their_neighbours(seed):
    X = tied(seed)
    new = 2 * tied(seed + 1) + 0.3
    ranks = scaling.fitted("rank", X)
    assert_array_equal(ranks(X), (rankdata(X, method="average", axis=0) - 0.5) / len(X))
    literal = [[interpolated(x, column) for x, column in zip(row, X.T, strict=True)] for row in new]
    assert_allclose(ranks(new), literal, atol=1e-14)


@given(seed=st.integers(0, 10_000))
def test_ranks_of_the_training_rows_ignore_any_increasing_map_of_a_column_and_the_order_of_rows(
    seed,
):
    X = tied(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    expected = scaling.fitted("rank", X)(X)
    mapped = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, np.arctan(X[:, 2] / 1e6)])
    assert_array_equal(scaling.fitted("rank", mapped)(mapped), expected)
    assert_array_equal(scaling.fitted("rank", X[order])(X), expected)
