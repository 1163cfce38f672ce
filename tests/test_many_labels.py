"""Many labels: S by active sets, the label side without a decomposition of G, sparse labels, and answers in blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.linear_model import Lasso

from skcamel import active_set, correlation


def tagged(rng, n, q):
    """Labels in {0, 1} of which many are rare, and some go together; two are equal, two opposite, and one is empty."""
    Y = (rng.random((n, q)) < rng.uniform(0.02, 0.5, q)).astype(float)
    for i in range(0, q - 1, 3):
        Y[:, i] = np.maximum(Y[:, i] * (rng.random(n) < 0.5), Y[:, i + 1] * (rng.random(n) < 0.6))
    Y[:, q // 2] = Y[:, 0]
    Y[:, q // 2 + 1] = 1 - Y[:, 1]
    Y[:, -1] = 0
    return Y


def gram_of(Y, weights=None, *, centred):
    present = sparse.csr_array(Y)
    weighted = present if weights is None else sparse.diags_array(weights) @ present
    total = float(len(Y) if weights is None else weights.sum())
    return active_set.gram_of_counts(sparse.csr_array(present.T @ weighted), total, centred=centred), total


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("strength", [0.003, 0.01, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_active_sets_give_the_S_of_the_dense_solver(rng, centred, strength, weighted):
    Y = tagged(rng, 300, 24)
    weights = rng.integers(1, 4, 300) * 0.5 if weighted else None
    C, total = gram_of(Y, weights, centred=centred)
    found = active_set.learn(C, total, strength=strength)
    wanted = correlation.learn(2 * Y - 1, centred=centred, strength=strength, weights=weights, tol=1e-10, max_iter=100_000)
    assert found.violation.max() < 1e-10
    assert found.S.format == "csc"
    np.testing.assert_allclose(found.penalty, wanted.penalty, rtol=1e-10)
    np.testing.assert_allclose(found.S.toarray(), wanted.S, atol=1e-8)


def test_a_matrix_instead_of_counts_gives_the_same(rng):
    Y = tagged(rng, 200, 15)
    C, total = gram_of(Y, centred=True)
    dense = active_set.gram_of_matrix(correlation.gram(2 * Y - 1, centred=True))
    for strength in (0.01, "noise"):
        one, other = (active_set.learn(gram, total, strength=strength).S.toarray() for gram in (C, dense))
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_noise_is_the_lasso_of_standardised_labels_in_units_of_the_labels(rng):
    n, q = 400, 14
    Y = tagged(rng, n, q)[:, [0, 1, 2, 3, 4, 5, 9, 10, 11]]  # none equal, none constant
    q = Y.shape[1]
    C, total = gram_of(Y, centred=True)
    found = active_set.learn(C, total)
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0) / n**0.5
    R = Z.T @ Z
    np.fill_diagonal(R, 0)
    penalty = np.maximum(0.01 * abs(R).max(axis=0), (2 * np.log(q) / n) ** 0.5)
    np.testing.assert_allclose(found.penalty, penalty, rtol=1e-12)
    wanted = np.zeros((q, q))
    for j in range(q):
        others = np.arange(q) != j
        lasso = Lasso(alpha=penalty[j] / n, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(Z[:, others], Z[:, j])
        wanted[others, j] = lasso.coef_ * Y[:, j].std() / Y[:, others].std(axis=0)
    np.testing.assert_allclose(found.S.toarray(), wanted, atol=1e-8)


@given(arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(1, 9)), elements=st.integers(0, 1)), st.sampled_from([0.01, 0.3, "noise"]))
def test_any_labels_get_a_certified_S_with_a_zero_diagonal(Y, strength):
    C, total = gram_of(Y.astype(float), centred=True)
    found = active_set.learn(C, total, strength=strength)
    S = found.S.toarray()
    assert (np.diag(S) == 0).all()
    assert found.violation.max() <= 1e-6
    C, lengths = correlation.gram(2.0 * Y - 1, centred=True), np.ones(Y.shape[1])
    if strength == "noise":
        lengths = np.sqrt(np.diag(C)) + (np.diag(C) == 0)
    R, S = C / np.outer(lengths, lengths), S * lengths[:, None] / lengths
    assert (correlation.kkt_violation(R, S, found.penalty) <= 1e-6 * np.maximum(found.penalty, 1e-9)).all()


@pytest.mark.parametrize("strength", [0.01, "noise"])
def test_a_permutation_of_the_labels_permutes_S(rng, strength):
    Y = tagged(rng, 300, 21)
    order = rng.permutation(21)
    (C, total), (D, _) = gram_of(Y, centred=True), gram_of(Y[:, order], centred=True)
    S, T = (active_set.learn(gram, total, strength=strength).S.toarray() for gram in (C, D))
    np.testing.assert_allclose(T, S[np.ix_(order, order)], atol=1e-9)


def test_a_column_whose_active_sets_go_round_in_circles_is_solved_all_the_same(monkeypatch, rng):
    Y = tagged(rng, 300, 24)
    C, total = gram_of(Y, centred=True)
    wanted = active_set.learn(C, total, strength=0.01)
    monkeypatch.setattr(active_set, "MOST_ROUNDS", 1)
    found = active_set.learn(C, total, strength=0.01)
    assert found.violation.max() < 1e-8
    np.testing.assert_allclose(found.S.toarray(), wanted.S.toarray(), atol=1e-8)


def test_auto_is_the_papers_penalty_for_few_labels_and_noise_for_many():
    assert active_set.resolved("auto", correlation.MANY) == 0.01
    assert active_set.resolved("auto", correlation.MANY + 1) == "noise"
    assert active_set.resolved(0.2, correlation.MANY + 1) == 0.2
