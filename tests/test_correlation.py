"""S solves q lassos: certified by the KKT conditions, and by scikit-learn's coordinate descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import Lasso

from skcamel import correlation
from skcamel.arrays import to_numpy


def signs(rng, n, q):
    return np.where(rng.normal(size=(n, q)) + rng.normal(size=(n, 1)) > 0.5, 1.0, -1.0)


def objective(Y, S, penalty):
    return 0.5 * ((Y @ S - Y) ** 2).sum(axis=0) + penalty * abs(S).sum(axis=0)


@given(arrays(np.int8, st.tuples(st.integers(1, 25), st.integers(1, 9)), elements=st.sampled_from([-1, 1])))
def test_any_labels_get_a_certified_solution_with_an_exact_zero_diagonal(Y):
    found = correlation.learn(Y.astype(float))
    assert (np.diag(found.S) == 0).all()
    assert float(found.violation.max()) <= 1e-6
    C = Y.astype(float).T @ Y
    assert (correlation.kkt_violation(C, found.S, found.penalty) <= 1e-6 * np.maximum(found.penalty, 1e-300)).all()


def test_S_agrees_with_coordinate_descent(rng, xp):
    Y = signs(rng, 200, 12)
    found = correlation.learn(xp(Y))
    S, penalty = to_numpy(found.S), to_numpy(found.penalty)
    for j in range(12):
        others = np.arange(12) != j
        lasso = Lasso(alpha=penalty[j] / 200, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(Y[:, others], Y[:, j])
        np.testing.assert_allclose(S[others, j], lasso.coef_, atol=1e-8)
        np.testing.assert_array_equal(S[others, j] == 0, lasso.coef_ == 0)


def test_the_penalty_is_a_share_of_the_one_that_kills_the_column(rng):
    Y = signs(rng, 60, 5)
    assert (correlation.learn(Y, strength=0.999).S != 0).any(axis=0).all()
    assert (correlation.learn(Y, strength=1.0).S == 0).all()


@pytest.mark.parametrize("kind", ["duplicate", "negated", "constant", "more labels than rows"])
def test_where_S_is_not_unique_its_objective_is_still_optimal(kind, rng):
    Y = signs(rng, 6 if kind == "more labels than rows" else 50, 8)
    if kind == "duplicate":
        Y[:, 3] = Y[:, 1]
    if kind == "negated":
        Y[:, 3] = -Y[:, 1]
    if kind == "constant":
        Y[:, 2], Y[:, 5] = 1, -1
    found = correlation.learn(Y)
    assert float(found.violation.max()) <= 1e-6
    for j in range(8):
        others = np.arange(8) != j
        lasso = Lasso(alpha=found.penalty[j] / len(Y), fit_intercept=False, tol=1e-12, max_iter=100_000).fit(Y[:, others], Y[:, j])
        theirs = np.zeros(8)
        theirs[others] = lasso.coef_
        optimum = 0.5 * ((Y @ theirs - Y[:, j]) ** 2).sum() + found.penalty[j] * abs(theirs).sum()
        assert objective(Y, found.S, found.penalty)[j] <= optimum * (1 + 1e-6)


def test_one_label_and_orthogonal_labels_have_no_correlation():
    assert correlation.learn(np.ones((3, 1))).S.tolist() == [[0.0]]
    orthogonal = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert (correlation.learn(orthogonal).S == 0).all()


def test_columns_reconstruct_and_labels_permute(rng):
    Y = signs(rng, 80, 6)
    order = rng.permutation(6)
    S = correlation.learn(Y).S
    np.testing.assert_allclose(correlation.learn(Y[:, order]).S, S[np.ix_(order, order)], atol=1e-9)


def test_integer_weights_equal_repeated_rows(rng):
    Y = signs(rng, 40, 5)
    weights = rng.integers(1, 4, size=40)
    weighted = correlation.learn(Y, weights=weights.astype(float)).S
    np.testing.assert_allclose(weighted, correlation.learn(np.repeat(Y, weights, axis=0)).S, atol=1e-10)


def test_too_few_iterations_show_in_the_certificate(rng):
    Y = signs(rng, 100, 20)
    found = correlation.learn(Y, max_iter=2)
    assert found.n_iter == 2
    assert float(found.violation.max()) > 1e-6


def test_collaboration_mixes_identity_and_correlation():
    S = np.array([[0.0, 0.5], [0.2, 0.0]])
    np.testing.assert_allclose(correlation.collaboration(S, 0.4), [[0.6, 0.2], [0.08, 0.6]])


def test_two_thousand_labels_are_solved(rng):
    """Rare labels, some of them repeated; the longest of these tests, since each iteration is a product of 2000 x 2000."""
    Y = np.where(rng.random((1500, 2000)) < 0.02, 1.0, -1.0)
    Y[:, 1990:] = Y[:, :10]
    found = correlation.learn(Y)
    assert float(found.violation.max()) <= 1e-6
    assert (np.diag(found.S) == 0).all()
    assert (found.S != 0).any(axis=0).all()


@pytest.mark.parametrize("strength", [1e-4, 0.1, 0.5, 0.9])
def test_weak_and_strong_penalties_need_few_iterations(strength, rng):
    found = correlation.learn(np.where(rng.random((300, 60)) < 0.05, 1.0, -1.0), strength=strength)
    assert float(found.violation.max()) <= 1e-6
    assert found.n_iter < 2000


def test_equal_opposite_and_empty_labels_share_evenly():
    Y = np.array([[1.0, 1, -1, -1, -1, 1], [1, 1, -1, -1, -1, -1], [-1, -1, 1, -1, -1, 1], [-1, -1, 1, -1, -1, 1]])
    S = correlation.learn(Y, strength=0.01).S
    np.testing.assert_allclose(S[:3, :3], 0.99 / 2 * np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 0]]))
    np.testing.assert_allclose(S[3:5, 3:5], [[0, 0.99], [0.99, 0]])


def test_labels_that_are_orthogonal_up_to_rounding_stay_uncorrelated():
    Y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert (correlation.learn(Y, weights=np.full(4, 0.1)).S == 0).all()
