"""JFSC: the literal loop, its laws, and the manners of an estimator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import proximal as literal
from skcamel.baselines import JFSC
from skcamel.baselines.jfsc import RobustRegression, fisher
from skcamel.baselines.proximal import label_distance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def problem(n=40, d=6, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.8).astype(float)


def end_of(X, Y, alpha=0.0, beta=0.0, gamma=0.0, eta=0.1, *, S=None, **options):
    regression = RobustRegression(X, Y, label_distance(Y), fisher(X, Y) if S is None else S)
    (end,) = regression.solve(
        [{"alpha": alpha, "beta": beta, "gamma": gamma, "eta": eta}], **options
    )
    return end


def solve(*problem, **options):
    return end_of(*problem, **options).W.T


@parametrize_with_checks([JFSC(), JFSC(preset="fair"), JFSC(intercept=False)])
def test_estimator_check(estimator, check):
    check(estimator)


@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from([(12, 3, 2), (6, 20, 3), (10, 4, 1)]),
    alpha=st.sampled_from([0.0, 0.1, 3.0]),
    beta=st.sampled_from([0.0, 0.05, 1.0]),
    gamma=st.sampled_from([0.0, 0.1, 2.0]),
)
def test_it_is_the_literal_loop(seed, shape, alpha, beta, gamma):
    X, Y = problem(*shape, seed=seed)
    S = literal.fisher(X, Y)
    penalties = alpha, beta, gamma, 0.5
    expected = literal.jfsc(X, Y, literal.distance(Y), S, *penalties, max_iter=30, tol=-1.0)[-1]
    W = solve(X, Y, alpha, beta, gamma, 0.5, S=S.T, max_iter=30, tol=-1.0)
    # Power iteration ends at 1e-8; 30 steps of a sequence that may grow carry that on.
    np.testing.assert_allclose(W, expected, atol=1e-4 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("alpha", [0.1, 200.0])
def test_it_stops_where_the_literal_loop_stops(alpha):
    X, Y = problem()
    S = literal.fisher(X, Y)
    end = end_of(X, Y, alpha, 0.01, 0.1, 0.1, S=S.T)
    expected = literal.jfsc(X, Y, literal.distance(Y), S, alpha, 0.01, 0.1, 0.1)
    assert end.n_iter == len(expected) - 1 < 101
    np.testing.assert_allclose(end.W.T, expected[-1], rtol=1e-5, atol=1e-5)
    J = literal.jfsc_objective(X, Y, literal.distance(Y), S, expected[-1], alpha, 0.01, 0.1)
    np.testing.assert_allclose(end.value, J, rtol=1e-6)


def test_a_the_fisher_term():
    x, y = np.array([[1.0], [3], [0], [0], [3]]), np.array([[1.0], [1], [0], [0], [0]])
    assert fisher(x, y)[0, 0] == pytest.approx(4)
    X, Y = problem()
    s = fisher(X, Y)
    np.testing.assert_allclose(s, literal.fisher(X, Y).T, atol=1e-10)
    np.testing.assert_allclose(fisher(X + 100, Y), s, atol=1e-9)
    np.testing.assert_allclose(fisher(3 * X, Y), 9 * s, atol=1e-9)
    np.testing.assert_allclose(fisher(sparse.csr_array(X), Y), s, atol=1e-10)
    assert not fisher(np.full((40, 2), 0.1), Y).any()
    assert not fisher(X, np.hstack([0 * Y, 0 * Y + 1])).any()


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(90, n_features=12, n_classes=5, random_state=0)
    return X[:60], Y[:60], X[60:]


def test_the_faithful_preset_is_the_sequence_on_unit_rows_and_a_constant(data):
    X, Y, new = data
    rows, others = (
        np.hstack([Z / np.linalg.norm(Z, axis=1)[:, None], np.ones((len(Z), 1))]) for Z in (X, new)
    )
    S = literal.fisher(rows, Y)
    W = literal.jfsc(rows, Y, literal.distance(Y), S, 4**-2, 4**-2, 4**-2, 0.1)[-1]
    model = JFSC().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(new) + 0.5, others @ W, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, W[-1], atol=1e-5)
    assert model.fisher_.shape == model.coef_.shape == (5, 12)
