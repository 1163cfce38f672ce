"""S solves q lassos, as in the paper and centred: KKT conditions, and scikit-learn's descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso

from skcamel.arrays import to_numpy
from skcamel.camel import correlation

LABELS = arrays(
    float, st.tuples(st.integers(1, 25), st.integers(1, 9)), elements=st.sampled_from([-1, 1])
)
both = pytest.mark.parametrize("is_centred", [False, True])


def uneven(rng, n, q):
    """Labels of very different frequency that depend on each other."""
    hidden = rng.normal(size=(n, q)) + rng.normal(size=(n, 1))
    return np.where(hidden > np.quantile(hidden, np.linspace(0.05, 0.97, q)), 1.0, -1.0)


def centred(Y, weights=None, *, is_centred=True):
    return Y - np.average(Y, axis=0, weights=weights) if is_centred else Y


def violation_of(Y, S, strength=0.01):
    """KKT violation of every column in units of its penalty, from the labels themselves."""
    q = Y.shape[1]
    worst = np.zeros(q)
    for j in range(q):
        others = [i for i in range(q) if i != j]
        penalty = strength * max((abs(Y[:, i] @ Y[:, j]) for i in others), default=0)
        for i in others:
            gradient = Y[:, i] @ (Y @ S[:, j] - Y[:, j])
            excess = max(0, abs(gradient) - penalty)
            if S[i, j]:
                excess = abs(gradient + penalty * np.sign(S[i, j]))
            worst[j] = max(worst[j], excess / max(penalty, 1e-10 * len(Y)))
    return worst


@both
@given(LABELS)
def test_any_labels_get_a_certified_solution_with_an_exact_zero_diagonal(is_centred, Y):
    found = correlation.learn(Y, centred=is_centred)
    assert (np.diag(found.S) == 0).all()
    assert float(found.violation.max()) <= 1e-6
    assert violation_of(centred(Y, is_centred=is_centred), found.S).max() <= 1e-5
    if is_centred:
        constant = (Y[:1] == Y).all(axis=0)
        assert (found.S[constant] == 0).all()
        assert (found.S[:, constant] == 0).all()


def lasso(Y, j, penalty, *, intercept):
    """Coefficients of all labels, by scikit-learn's coordinate descent."""
    others = np.arange(Y.shape[1]) != j
    theirs = np.zeros(Y.shape[1])
    if penalty > 0:
        model = Lasso(penalty / len(Y), fit_intercept=intercept, tol=1e-14, max_iter=1_000_000)
        theirs[others] = model.fit(Y[:, others], Y[:, j]).coef_
    return theirs


CASES = {
    "plain": lambda Y: Y,
    "equal": lambda Y: np.column_stack([Y, Y[:, 1], Y[:, -1]]),
    "opposite": lambda Y: np.column_stack([-Y[:, 2], Y, -Y[:, 1], Y[:, 1]]),
    "constant": lambda Y: np.column_stack([np.ones(len(Y)), Y, -np.ones(len(Y)), np.ones(len(Y))]),
    "more labels than rows": lambda Y: Y[:6],
}


@both
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("strength", [0.01, 0.3])
def test_S_is_the_lasso_of_each_label(kind, strength, is_centred, rng, xp):
    Y = CASES[kind](uneven(rng, 120, 7))
    found = correlation.learn(xp(Y), centred=is_centred, strength=strength)
    S, penalty = to_numpy(found.S), to_numpy(found.penalty)
    assert to_numpy(found.violation).max() <= 1e-6
    columns = [lasso(Y, j, penalty[j], intercept=is_centred) for j in range(Y.shape[1])]
    theirs, Yc = np.column_stack(columns), centred(Y, is_centred=is_centred)

    def objective(S):
        return 0.5 * ((Yc @ S - Yc) ** 2).sum(axis=0) + penalty * abs(S).sum(axis=0)

    assert_allclose(objective(S), objective(theirs), rtol=1e-6, atol=1e-9)
    assert_allclose(Yc @ S, Yc @ theirs, atol=1e-4)  # unique where S is not
    if kind == "plain":
        assert_allclose(S, theirs, atol=1e-6 if is_centred else 1e-8)
        assert_array_equal(S == 0, theirs == 0)


def test_the_penalty_is_a_share_of_the_one_that_kills_the_column(rng):
    Y = uneven(rng, 60, 5)
    assert (correlation.learn(Y, strength=0.999).S != 0).any(axis=0).all()
    twice = np.column_stack([Y, Y])
    for strength in (1.0, 3.0):
        assert (correlation.learn(Y, strength=strength).S == 0).all()
        assert (correlation.learn(twice, strength=strength).S == 0).all()
        assert (correlation.learn(twice, strength=strength, centred=True).S == 0).all()


def test_equal_opposite_and_empty_labels_share_evenly():
    first, last = np.array([1.0, 1, -1, -1]), np.array([1.0, -1, 1, 1])
    Y = np.column_stack([first, first, -first, -np.ones(4), -np.ones(4), last])
    S = correlation.learn(Y, strength=0.01).S
    assert_allclose(S[:3, :3], 0.99 / 2 * np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 0]]))
    assert_allclose(S[3:5, 3:5], [[0, 0.99], [0.99, 0]])


@both
def test_an_opposite_label_has_the_opposite_signs(is_centred, rng):
    Y = np.column_stack([uneven(rng, 70, 5), np.ones(70)])
    signs = np.array([1, -1, 1, 1, -1, -1])
    S = correlation.learn(Y, centred=is_centred).S
    turned = correlation.learn(Y * signs, centred=is_centred).S
    assert_allclose(turned, signs[:, None] * S * signs, atol=1e-9)


@pytest.mark.parametrize("value", [1.0, -1.0])
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 0.7, 70)], ids=["", "weights"])
def test_a_constant_label_changes_nothing_else_in_centred_fits(value, weights, rng):
    Y = uneven(rng, 70, 5)
    S = correlation.learn(Y, centred=True, weights=weights).S
    wider = correlation.learn(np.insert(Y, 2, value, axis=1), centred=True, weights=weights)
    assert_allclose(wider.S, np.insert(np.insert(S, 2, 0, axis=0), 2, 0, axis=1), atol=1e-12)
    assert wider.penalty[2] == wider.violation[2] == 0


def test_signs_of_centred_pushes_follow_what_the_labels_do_where_the_papers_do_not(rng):
    """One of six labels in each row: none goes with another, yet the paper's form pushes all up."""
    Y = np.where(np.arange(6) == rng.integers(6, size=600)[:, None], 1.0, -1.0)
    off = ~np.eye(6, dtype=bool)
    assert (correlation.learn(Y).S[off] > 0).all()
    assert (correlation.learn(Y, centred=True).S[off] < 0).all()
