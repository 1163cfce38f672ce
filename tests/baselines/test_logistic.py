"""The batched engine stands at the optimum that scikit-learn finds one target at a time."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import logistic
from skcamel.baselines.base import Training


def fit_logistic(X, Y, **options):
    return logistic.fit_logistic(Training(X, Y, None), **options)


def standardised(X):
    live, mean, spread = literal.standardised(X)
    return (X[:, live] - mean) / spread


@pytest.mark.parametrize("kind", ["overlapping", "nearly separable", "separable"])
def test_it_stops_where_scikit_learn_stops(kind):
    """Where classes can be separated there is no optimum: start, steps and stop make the model."""
    d = {"overlapping": 10, "nearly separable": 60, "separable": 130}[kind]
    X, Y = overlapping.make(n=120, d=d)
    model, Z = fit_logistic(X, Y), standardised(X)
    theirs = [LogisticRegression(C=5e7, max_iter=1000).fit(Z, y) for y in Y.T]
    np.testing.assert_array_equal(model.n_iter, [one.n_iter_[0] for one in theirs])
    weights = np.column_stack([np.append(one.intercept_, one.coef_) for one in theirs])
    np.testing.assert_allclose(model.coef, weights, rtol=1e-3, atol=1e-3 * abs(weights).max())


def test_a_chain_target_sees_the_earlier_labels_only():
    X, Y = overlapping.make()
    order = np.array([2, 0, 3, 1])
    (chain,) = logistic.fit_chains(X, Y, order[None], np.ones((len(X), 1)), tol=1e-8)
    width = X.shape[1]
    for place, j in enumerate(order):
        assert not chain.coef[1 + width + order[place:], j].any()
        alone = fit_logistic(np.hstack([X, Y[:, order[:place]]]), Y[:, [j]], tol=1e-8)
        seen = np.concatenate([np.arange(1 + width), 1 + width + order[:place]])
        np.testing.assert_allclose(chain.coef[seen, j], alone.coef[:, 0], atol=1e-5)


@pytest.mark.parametrize("budget", [logistic.BUDGET, 100_000])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_chains_in_one_batch_are_the_chains_one_by_one(budget, is_sparse, monkeypatch):
    monkeypatch.setattr(logistic, "BUDGET", budget)
    X, Y = overlapping.make(n=300)
    if is_sparse:
        X[np.random.default_rng(0).random(X.shape) < 0.9] = 0
        X = sparse.csr_array(X)
    orders = np.array([[2, 0, 3, 1], [0, 1, 2, 3], [3, 1, 0, 2]])
    shares = np.full(300, 1 / 300)
    counts = np.random.default_rng(0).multinomial(300, shares, size=3).T.astype(float)
    together = logistic.fit_chains(X, Y, orders, counts, tol=1e-7)
    for c in range(3):
        (alone,) = logistic.fit_chains(X, Y, orders[[c]], counts[:, [c]], tol=1e-7)
        np.testing.assert_allclose(together[c].probabilities(X), alone.probabilities(X), atol=1e-5)


def test_the_memory_budget_is_kept(monkeypatch):
    X, Y = overlapping.make(n=2000, d=10, q=60)
    generous = fit_logistic(X, Y)
    monkeypatch.setattr(logistic, "BUDGET", 4 * 2**20)
    tracemalloc.start()
    model = fit_logistic(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= logistic.BUDGET + 5 * X.nbytes + 3 * Y.nbytes
    np.testing.assert_allclose(model.probabilities(X), generous.probabilities(X), atol=1e-6)
