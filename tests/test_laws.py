"""What must not change the answers of a search, from its choice to probabilities and thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcamel import CamelClassifierCV

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning"
)  # of labels that are constant, or that no row gets
N, D, Q = 60, 4, 3
NEW = np.random.default_rng(99).normal(size=(7, D))


def problem(seed):
    """Rows, labels of which the last is noise, and the estimator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    Y = (X @ rng.normal(size=(D, Q)) + rng.normal(size=(N, Q)) > 0.5).astype(float)
    Y[:, -1] = rng.random(N) < 0.3
    return rng, X, Y


def fitted(preset, X, Y, weights=None, groups=None):
    return CamelClassifierCV.from_preset(preset, lambda2s=(0.1, 1.0), alphas=(0.0, 0.5)).fit(
        X, Y, weights, groups
    )


def assert_same(one, other, new=NEW, of_other=NEW, labels=slice(None)):
    """The same log-odds and thresholds of two models, the second with labels in another order."""
    assert_allclose(
        other.decision_function(of_other), one.decision_function(new)[:, labels], atol=1e-6
    )
    assert_allclose(other.thresholds_, one.thresholds_[labels], atol=1e-6)


@settings(max_examples=4)
@pytest.mark.parametrize("preset", ["quick", "best"])
@given(seed=st.integers(0, 10_000))
def test_orders_of_rows_labels_and_columns_change_nothing(preset, seed):
    rng, X, Y = problem(seed)
    straight = fitted(preset, X, Y)
    rows, labels, columns = rng.permutation(N), rng.permutation(Q), rng.permutation(D)
    assert_same(straight, fitted(preset, X[rows], Y[rows]))
    assert_same(straight, fitted(preset, X, Y[:, labels]), labels=labels)
    assert_same(straight, fitted(preset, X[:, columns], Y), of_other=NEW[:, columns])


@settings(max_examples=6)
@pytest.mark.parametrize("preset", ["quick", "best"])
@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.4]))
def test_integer_weights_equal_copies(preset, seed, missing):
    rng, X, Y = problem(seed)
    Y[rng.random(Y.shape) < missing] = np.nan
    weights = rng.integers(1, 4, size=N)
    copies = np.repeat(np.arange(N), weights)
    assert_same(fitted(preset, X, Y, weights), fitted(preset, X[copies], Y[copies]))


@pytest.mark.parametrize("preset", ["quick", "best"])
def test_one_label_constant_labels_and_rows_without_a_known_label_are_legal(preset):
    _, X, Y = problem(1)
    assert fitted(preset, X, Y[:, :1]).predict(NEW).shape == (7, 1)
    constant = np.hstack([Y, np.zeros((N, 1)), np.ones((N, 1))])
    answers = fitted(preset, X, constant)
    assert (answers.predict(NEW)[:, -2:] == [0, 1]).all()
    assert (answers.predict_proba(NEW)[:, -2:].argmax(axis=1) == 1).all()
    partly = Y.copy()
    partly[:5] = np.nan
    assert np.isfinite(fitted(preset, X, partly).decision_function(NEW)).all()
