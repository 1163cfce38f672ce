"""S solves q lassos: certified by the KKT conditions, and by scikit-learn's coordinate descent; as in the paper, and centred."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso

from skcamel.arrays import to_numpy
from skcamel.camel import correlation


def signs(rng, n, q):
    return np.where(rng.normal(size=(n, q)) + rng.normal(size=(n, 1)) > 0.5, 1.0, -1.0)


def objective(Y, S, penalty):
    return 0.5 * ((Y @ S - Y) ** 2).sum(axis=0) + penalty * abs(S).sum(axis=0)


@given(
    arrays(
        np.int8, st.tuples(st.integers(1, 25), st.integers(1, 9)), elements=st.sampled_from([-1, 1])
    )
)
def test_any_labels_get_a_certified_solution_with_an_exact_zero_diagonal(Y):
    found = correlation.learn(Y.astype(float))
    assert (np.diag(found.S) == 0).all()
    assert float(found.violation.max()) <= 1e-6
    C = Y.astype(float).T @ Y
    assert (
        correlation.kkt_violation(C, found.S, found.penalty)
        <= 1e-6 * np.maximum(found.penalty, 1e-300)
    ).all()


def test_S_agrees_with_coordinate_descent(rng, xp):
    Y = signs(rng, 200, 12)
    found = correlation.learn(xp(Y))
    S, penalty = to_numpy(found.S), to_numpy(found.penalty)
    for j in range(12):
        others = np.arange(12) != j
        lasso = Lasso(alpha=penalty[j] / 200, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(
            Y[:, others], Y[:, j]
        )
        assert_allclose(S[others, j], lasso.coef_, atol=1e-8)
        assert_array_equal(S[others, j] == 0, lasso.coef_ == 0)


def test_the_penalty_is_a_share_of_the_one_that_kills_the_column(rng):
    Y = signs(rng, 60, 5)
    assert (correlation.learn(Y, strength=0.999).S != 0).any(axis=0).all()
    twice = np.column_stack([Y, Y])
    for strength in (1.0, 3.0):
        assert (correlation.learn(Y, strength=strength).S == 0).all()
        assert (correlation.learn(twice, strength=strength).S == 0).all()
        assert (correlation.learn(twice, strength=strength, centred=True).S == 0).all()


def test_one_label_and_orthogonal_labels_have_no_correlation():
    assert correlation.learn(np.ones((3, 1))).S.tolist() == [[0.0]]
    orthogonal = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert (correlation.learn(orthogonal).S == 0).all()


def test_integer_weights_equal_repeated_rows(rng):
    Y = signs(rng, 40, 5)
    weights = rng.integers(1, 4, size=40)
    weighted = correlation.learn(Y, weights=weights.astype(float)).S
    assert_allclose(weighted, correlation.learn(np.repeat(Y, weights, axis=0)).S, atol=1e-10)


def test_too_few_iterations_show_in_the_certificate(rng):
    Y = signs(rng, 100, 20)
    found = correlation.learn(Y, max_iter=2)
    assert found.n_iter == 2
    assert float(found.violation.max()) > 1e-6


def test_equal_opposite_and_empty_labels_share_evenly():
    Y = np.array(
        [
            [1.0, 1, -1, -1, -1, 1],
            [1, 1, -1, -1, -1, -1],
            [-1, -1, 1, -1, -1, 1],
            [-1, -1, 1, -1, -1, 1],
        ]
    )
    S = correlation.learn(Y, strength=0.01).S
    assert_allclose(S[:3, :3], 0.99 / 2 * np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 0]]))
    assert_allclose(S[3:5, 3:5], [[0, 0.99], [0.99, 0]])


def centred(Y, weights=None):
    return Y - np.average(Y, axis=0, weights=weights)


def violation_of(Y, S, strength=0.01, weights=None):
    """KKT violation of every column in units of its penalty, from the labels themselves."""
    Yc = centred(Y, weights)
    D = np.ones(len(Y)) if weights is None else weights
    q = Y.shape[1]
    worst = np.zeros(q)
    for j in range(q):
        others = [i for i in range(q) if i != j]
        penalty = strength * max((abs(D * Yc[:, i] @ Yc[:, j]) for i in others), default=0)
        for i in others:
            gradient = D * Yc[:, i] @ (Yc @ S[:, j] - Yc[:, j])
            gap = (
                abs(gradient + penalty * np.sign(S[i, j]))
                if S[i, j]
                else max(0, abs(gradient) - penalty)
            )
            worst[j] = max(worst[j], gap / max(penalty, 1e-10 * len(Y)))
    return worst


LABELS = arrays(
    np.int8, st.tuples(st.integers(1, 25), st.integers(1, 9)), elements=st.sampled_from([-1, 1])
)


@given(LABELS)
def test_any_centred_labels_get_a_certified_solution_and_constant_ones_none(Y):
    Y = Y.astype(float)
    found = correlation.learn(Y, centred=True)
    assert float(found.violation.max()) <= 1e-6
    assert violation_of(Y, found.S).max() <= 1e-5
    constant = (Y[:1] == Y).all(axis=0)
    assert (found.S[constant] == 0).all()
    assert (found.S[:, constant] == 0).all()
    assert (np.diag(found.S) == 0).all()


def lasso_with_intercept(Y, j, penalty):
    """Coefficients of all labels, by scikit-learn's coordinate descent."""
    others = np.arange(Y.shape[1]) != j
    theirs = np.zeros(Y.shape[1])
    if penalty > 0:
        model = Lasso(
            alpha=penalty / len(Y), fit_intercept=True, tol=1e-14, max_iter=1_000_000
        ).fit(Y[:, others], Y[:, j])
        theirs[others] = model.coef_
    return theirs


def uneven(rng, n, q):
    """Labels of very different frequency that depend on each other."""
    hidden = rng.normal(size=(n, q)) + rng.normal(size=(n, 1))
    return np.where(hidden > np.quantile(hidden, np.linspace(0.05, 0.97, q)), 1.0, -1.0)


CENTRED = {
    "plain": lambda Y: Y,
    "equal": lambda Y: np.column_stack([Y, Y[:, 1], Y[:, -1]]),
    "opposite": lambda Y: np.column_stack([-Y[:, 2], Y, -Y[:, 1], Y[:, 1]]),
    "constant": lambda Y: np.column_stack([np.ones(len(Y)), Y, -np.ones(len(Y)), np.ones(len(Y))]),
    "more labels than rows": lambda Y: Y[:6],
}


@pytest.mark.parametrize("kind", CENTRED)
@pytest.mark.parametrize("strength", [0.01, 0.3])
def test_centred_S_is_the_lasso_with_an_intercept(kind, strength, rng, xp):
    Y = CENTRED[kind](uneven(rng, 120, 7))
    found = correlation.learn(xp(Y), centred=True, strength=strength)
    S, penalty = to_numpy(found.S), to_numpy(found.penalty)
    assert to_numpy(found.violation).max() <= 1e-6
    Yc = centred(Y)
    theirs = np.column_stack([lasso_with_intercept(Y, j, penalty[j]) for j in range(Y.shape[1])])
    assert_allclose(objective(Yc, S, penalty), objective(Yc, theirs, penalty), rtol=1e-6, atol=1e-9)
    assert_allclose(Yc @ S, Yc @ theirs, atol=1e-4)  # unique where S is not
    if kind == "plain":
        assert_allclose(S, theirs, atol=1e-6)


@given(LABELS, st.randoms(use_true_random=False))
def test_the_order_of_labels_and_rows_does_not_matter_to_centred_fits(Y, random):
    Y = Y.astype(float)
    rows, labels = list(range(len(Y))), list(range(Y.shape[1]))
    random.shuffle(rows)
    random.shuffle(labels)
    S = correlation.learn(Y, centred=True).S
    again = correlation.learn(Y[rows][:, labels], centred=True).S
    assert_allclose(centred(Y)[:, labels] @ again, centred(Y) @ S[:, labels], atol=1e-5)


@pytest.mark.parametrize("is_centred", [False, True])
def test_an_opposite_label_has_the_opposite_signs(is_centred, rng):
    Y = np.column_stack([uneven(rng, 70, 5), np.ones(70)])
    signs = np.array([1, -1, 1, 1, -1, -1])
    S = correlation.learn(Y, centred=is_centred).S
    assert_allclose(
        correlation.learn(Y * signs, centred=is_centred).S, signs[:, None] * S * signs, atol=1e-9
    )


@pytest.mark.parametrize("value", [1.0, -1.0])
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 0.7, 70)])
def test_a_constant_label_changes_nothing_else_in_centred_fits(value, weights, rng):
    Y = uneven(rng, 70, 5)
    S = correlation.learn(Y, centred=True, weights=weights).S
    wider = correlation.learn(np.insert(Y, 2, value, axis=1), centred=True, weights=weights)
    expected = np.insert(np.insert(S, 2, 0, axis=0), 2, 0, axis=1)
    assert_allclose(wider.S, expected, atol=1e-12)
    assert (wider.S[2] == 0).all()
    assert (wider.S[:, 2] == 0).all()
    assert wider.penalty[2] == wider.violation[2] == 0


def test_signs_of_centred_pushes_follow_what_the_labels_do_where_the_papers_do_not(rng):
    """One of six labels in each row, as in data of scenes: none goes with another, yet uncentred labels push each other up."""
    Y = np.where(np.arange(6) == rng.integers(6, size=600)[:, None], 1.0, -1.0)
    off = ~np.eye(6, dtype=bool)
    assert (correlation.learn(Y).S[off] > 0).all()
    assert (correlation.learn(Y, centred=True).S[off] < 0).all()
