"""The batched engine stands at the optimum that scikit-learn finds one target at a time."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import check_grad
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import BinaryRelevance, logistic
from skcamel.baselines.lbfgs import SEPARATED, loss_and_residual
from skcamel.data import load_dataset


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_is_scikit_learns_to_one_in_a_million(seed):
    X, Y = overlapping.make(seed=seed, n=200, d=12)
    model = logistic.fit_logistic(X, Y)
    live, mean, spread = literal.standardised(X)
    Z = (X - mean) / spread
    for j, y in enumerate(Y.T):
        theirs = LogisticRegression(C=5e7, tol=1e-10, max_iter=10_000).fit(Z, y)
        best = literal.objective(Z, y, theirs.intercept_[0], theirs.coef_[0])
        ours = literal.objective(Z, y, model.intercept[j], model.coef[:, j])
        assert ours <= best * (1 + 1e-6)
        np.testing.assert_allclose(model.ending.objective[j], ours, rtol=1e-10)


@pytest.mark.data
def test_the_optimum_of_every_yeast_label_is_reached_at_the_default_tolerance():
    dataset = load_dataset("yeast")
    usual, strict = BinaryRelevance().fit(dataset.X, dataset.Y), logistic.fit_logistic(dataset.X, dataset.Y, tol=1e-10)
    np.testing.assert_allclose(usual.model_.ending.objective, strict.ending.objective, rtol=1e-6)


def test_the_gradient_vanishes_at_the_fit():
    X, Y = overlapping.make()
    model = logistic.fit_logistic(X, Y, tol=1e-9)
    residual = model.probabilities(X) - Y
    gradient = model.columns.standardised(X).T @ residual + 2 * logistic.RIDGE * model.coef
    assert abs(gradient).max() <= 1e-8 * len(X)


def test_expected_positives_are_the_counted_ones():
    X, Y = overlapping.make()
    np.testing.assert_allclose(logistic.fit_logistic(X, Y, tol=1e-6).probabilities(X).sum(axis=0), Y.sum(axis=0), atol=1e-5 * len(X))


@settings(max_examples=15, deadline=None)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-50, 50), feature=st.integers(0, 5))
def test_probabilities_do_not_depend_on_units(scale, shift, feature):
    X, Y = overlapping.make(n=80)
    other = X.copy()
    other[:, feature] = other[:, feature] * scale + shift
    before, after = logistic.fit_logistic(X, Y), logistic.fit_logistic(other, Y)
    np.testing.assert_allclose(after.probabilities(other), before.probabilities(X), atol=1e-6)


def class_probabilities(model, X):
    """P(class | row) of models of several classes, (m, B, K): the last class has the margin 0."""
    margins = model.columns.margins(X, model.coef, model.intercept).reshape(len(X), -1, model.n_classes - 1)
    return softmax(np.concatenate([margins, np.zeros((*margins.shape[:2], 1))], axis=2), axis=2)


def test_softmax_reaches_scikit_learns_probabilities():
    X, Y = overlapping.make(n=300)
    codes = np.column_stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2] + 2 * Y[:, 3]]).astype(int)
    model = logistic.fit_softmax(X, codes, 4)
    live, mean, spread = literal.standardised(X)
    for j in range(2):
        theirs = LogisticRegression(C=5e7, tol=1e-10, max_iter=10_000).fit((X - mean) / spread, codes[:, j])
        np.testing.assert_allclose(class_probabilities(model, X)[:, j], theirs.predict_proba((X - mean) / spread), atol=2e-3)


def test_two_classes_by_softmax_are_the_binary_model():
    X, Y = overlapping.make()
    binary = logistic.fit_logistic(X, Y, tol=1e-8).probabilities(X)
    two_classes = logistic.fit_softmax(X, (1 - Y).astype(int), 2)
    np.testing.assert_allclose(class_probabilities(two_classes, X)[:, :, 0], binary, atol=2e-3)


def bags(X, n_chains, seed=0):
    rng = np.random.default_rng(seed)
    return rng.multinomial(len(X), np.full(len(X), 1 / len(X)), size=n_chains).T.astype(float)


def test_counts_equal_repeated_rows():
    X, Y = overlapping.make()
    counts = bags(X, 1)
    rows = np.repeat(np.arange(len(X)), counts[:, 0].astype(int))
    order = np.array([[2, 0, 3, 1]])
    (weighted,) = logistic.fit_chains(X, Y, order, counts, tol=1e-9)
    (repeated,) = logistic.fit_chains(X[rows], Y[rows], order, tol=1e-9)
    np.testing.assert_allclose(weighted.columns.spread, repeated.columns.spread)
    np.testing.assert_allclose(weighted.chain_probabilities(X, order[0]), repeated.chain_probabilities(X, order[0]), atol=1e-6)


def test_a_chain_target_sees_the_earlier_labels_only():
    X, Y = overlapping.make()
    order = np.array([2, 0, 3, 1])
    (chain,) = logistic.fit_chains(X, Y, order[None], tol=1e-8)
    width = X.shape[1]
    for place, j in enumerate(order):
        assert not chain.coef[width + order[place:], j].any()
        alone = logistic.fit_logistic(np.hstack([X, Y[:, order[:place]]]), Y[:, [j]], tol=1e-8)
        seen = np.concatenate([np.arange(width), width + order[:place]])
        np.testing.assert_allclose(chain.coef[seen, j], alone.coef[:, 0], atol=1e-5)


@pytest.mark.parametrize("memory", [logistic.BUDGET, 100_000])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_chains_in_one_batch_are_the_chains_one_by_one(memory, is_sparse):
    X, Y = overlapping.make(n=300)
    if is_sparse:
        X[np.random.default_rng(0).random(X.shape) < 0.9] = 0
        X = sparse.csr_array(X)
    orders, counts = np.array([[2, 0, 3, 1], [0, 1, 2, 3], [3, 1, 0, 2]]), bags(X.toarray() if is_sparse else X, 3)
    together = logistic.fit_chains(X, Y, orders, counts, tol=1e-7, memory=memory)
    for c, order in enumerate(orders):
        (alone,) = logistic.fit_chains(X, Y, orders[[c]], counts[:, [c]], tol=1e-7)
        np.testing.assert_allclose(together[c].ending.objective, alone.ending.objective, rtol=1e-7)
        np.testing.assert_allclose(together[c].chain_probabilities(X, order), alone.chain_probabilities(X, order), atol=1e-5)


@pytest.mark.data
def test_links_of_yeast_reach_their_optimum_at_the_default_tolerance():
    dataset = load_dataset("yeast")
    X, Y = dataset.X, np.asarray(dataset.Y, dtype=float)
    orders, counts = np.array([np.random.default_rng(c).permutation(Y.shape[1]) for c in range(3)]), bags(X, 3)
    usual, strict = (logistic.fit_chains(X, Y, orders, counts, tol=tol) for tol in (logistic.TOLERANCE, 1e-8))
    found, best = (np.concatenate([chain.ending.objective for chain in chains]) for chains in (usual, strict))
    overlaps = best > 300  # of about 1000 to 1600 without features: no separable direction left
    assert overlaps.sum() > 20
    np.testing.assert_allclose(found[overlaps], best[overlaps], rtol=1e-6)


def test_columns_and_targets_constant_in_one_bag_only_count_in_the_others():
    X, Y = overlapping.make()
    X[:, 0], Y[:, 1] = 0, 0
    X[:40, 0], Y[::4, 1] = np.random.default_rng(0).normal(size=40), 1
    counts = bags(X, 2)
    counts[:40, 0] = 0
    counts[Y[:, 1] == 1, 0] = 0
    without, with_both = logistic.fit_chains(X, Y, np.array([[1, 0, 2, 3]] * 2), counts, tol=1e-8)
    kept = list(without.columns.kept)
    assert not without.coef[[kept.index(0), kept.index(X.shape[1] + 1)]].any()
    assert (without.chain_probabilities(X, np.arange(4))[:, 1] == 0).all()
    assert with_both.coef[kept.index(0)].all()
    assert np.isfinite(with_both.intercept).all()


def test_separable_rows_end_without_a_warning_and_on_their_right_side(rng):
    X = rng.normal(size=(40, 60))
    Y = (rng.random((40, 5)) < 0.4).astype(float)
    model = logistic.fit_logistic(X, Y)
    assert (model.ending.objective <= SEPARATED).all()
    assert model.ending.converged.all()
    np.testing.assert_array_equal(model.probabilities(X) >= 0.5, Y == 1)


def test_nearly_separable_rows_end_too():
    X = np.array([[0.0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]])  # the second column occurs with positives only
    y = np.array([[0.0], [1], [1], [0], [1], [1]])
    model = logistic.fit_logistic(X, y)
    assert model.ending.converged.all()
    assert (model.probabilities(X)[4:] > 0.99).all()


def test_the_limit_of_steps_gives_one_warning():
    X, Y = overlapping.make()
    with pytest.warns(logistic.NotConverged, match="4 of 4 logistic problems did not reach their tolerance in 2 steps") as caught:
        model = logistic.fit_logistic(X, Y, max_iter=2, memory=1)
    assert len(caught) == 1
    assert (model.ending.n_iter == 2).all()


def test_constant_targets_have_certain_probabilities():
    X, Y = overlapping.make()
    Y[:, 0], Y[:, 2] = 0, 1
    P = logistic.fit_logistic(X, Y).probabilities(X)
    assert (P[:, 0] == 0).all()
    assert (P[:, 2] == 1).all()
    only_constant = logistic.fit_logistic(X, Y[:, [0, 2]])
    np.testing.assert_array_equal(only_constant.probabilities(X), Y[:, [0, 2]])


def test_constant_columns_are_dropped():
    X, Y = overlapping.make()
    wide = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    model = logistic.fit_logistic(wide, Y)
    assert list(model.columns.kept) == list(range(1, 1 + X.shape[1]))
    np.testing.assert_allclose(model.probabilities(wide), logistic.fit_logistic(X, Y).probabilities(X), atol=1e-9)


def test_rows_without_any_varying_column_give_the_share_of_positives():
    P = logistic.fit_logistic(np.ones((5, 2)), np.array([[1.0], [0], [0], [0], [1]])).probabilities(np.ones((1, 2)))
    np.testing.assert_allclose(P, 0.4, atol=1e-4)


def test_results_do_not_depend_on_the_batches():
    X, Y = overlapping.make()
    together, apart = logistic.fit_logistic(X, Y), logistic.fit_logistic(X, Y, memory=1)
    np.testing.assert_allclose(together.probabilities(X), apart.probabilities(X), atol=1e-4)


def test_the_memory_budget_is_kept():
    X, Y = overlapping.make(n=2000, d=10, q=60)
    budget = 4 * 2**20
    tracemalloc.start()
    logistic.fit_logistic(X, Y, memory=10 * budget)
    _, generous = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    logistic.fit_logistic(X, Y, memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    of_data = 5 * X.nbytes + 2 * Y.nbytes
    assert peak - before <= budget + of_data
    assert generous > 1.5 * peak


def test_chains_keep_to_the_memory_budget():
    X, Y = overlapping.make(n=2000, d=10, q=12)
    orders, counts, budget = np.tile(np.arange(12), (5, 1)), bags(X, 5), 4 * 2**20
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    logistic.fit_chains(X, Y, orders, counts, memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    of_data = 5 * X.nbytes + 5 * Y.nbytes + 2 * len(X) * orders.size * 8  # targets and weights of all links
    assert peak - before <= budget + of_data


def test_sparse_new_rows_give_the_probabilities_of_dense_ones():
    X, Y = overlapping.make()
    X[abs(X) < 1] = 0
    model = logistic.fit_logistic(X, Y)
    np.testing.assert_allclose(model.probabilities(sparse.csr_array(X)), model.probabilities(X), atol=1e-10)


@pytest.mark.parametrize("n_free", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_residual_is_the_derivative_of_the_loss(n_free, weighted, rng):
    targets = np.zeros((1, n_free))
    targets[0, 0] = 1
    weights = np.array([[2.5]]) if weighted else None
    z = rng.normal(size=n_free)
    error = check_grad(
        lambda z: loss_and_residual(z[None], targets, weights, n_free)[0][0],
        lambda z: loss_and_residual(z[None], targets, weights, n_free)[1][0],
        z,
    )
    assert error < 1e-6


@pytest.mark.parametrize("n_free", [1, 2])
def test_huge_margins_do_not_overflow(n_free):
    margins = np.tile([[1e4], [-1e4]], (1, n_free))
    loss, residual = loss_and_residual(margins, np.zeros_like(margins), None, n_free)
    assert np.isfinite(loss).all()
    assert np.isfinite(residual).all()
