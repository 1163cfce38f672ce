"""LLSF: the literal loop, its laws, and the manners of an estimator."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import Lasso
from sklearn.metrics import f1_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import proximal as literal
from skcamel.baselines import LLSF
from skcamel.baselines.llsf import LeastSquares
from skcamel.baselines.proximal import label_distance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def problem(n=40, d=6, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.8).astype(float)
    return X, Y, label_distance(Y)


def end_of(X, Y, R, alpha=0.0, beta=0.0, rho=0.1, **options):
    (end,) = LeastSquares(X, Y, R).solve([{"alpha": alpha, "beta": beta, "rho": rho}], **options)
    return end


def solve(*problem, **options):
    return end_of(*problem, **options).W.T


@parametrize_with_checks([LLSF(), LLSF(preset="fair")])
def test_estimator_check(estimator, check):
    check(estimator)


@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from([(12, 3, 2), (6, 20, 3), (6, 9, 3), (10, 4, 1)]),
    alpha=st.sampled_from([0.0, 0.1, 3.0, 500.0]),
    beta=st.sampled_from([0.0, 0.1, 2.0]),
    rho=st.sampled_from([0.1, 10.0]),
)
def test_it_is_the_literal_loop(seed, shape, alpha, beta, rho):
    X, Y, R = problem(*shape, seed=seed)
    expected = literal.llsf(X, Y, R, alpha, beta, rho)
    end = end_of(X, Y, R, alpha, beta, rho)
    assert end.n_iter == len(expected) - 1
    np.testing.assert_allclose(end.W.T, expected[-1], atol=1e-9 * max(1.0, abs(expected[-1]).max()))
    np.testing.assert_allclose(R, literal.distance(Y), atol=1e-12)


def test_a_the_first_iterate_in_closed_form():
    X, Y, R = problem()
    start, L = literal.ridge(X, Y, 0.7), literal.llsf_step_constant(X, R, 0.3)
    np.testing.assert_allclose(solve(X, Y, R, 0.3, 0.2, 0.7, max_iter=0), start, atol=1e-12)
    first = literal.soft(start + (0.7 * start - 0.3 * start @ R) / L, 0.2 / L)
    np.testing.assert_allclose(solve(X, Y, R, 0.3, 0.2, 0.7, max_iter=1), first, atol=1e-12)


def test_b_without_correlation_it_is_the_lasso():
    X, Y, R = problem()
    W = solve(X, Y, R, beta=3.0, max_iter=20_000, tol=-1.0)
    lasso = Lasso(alpha=3.0 / len(X), fit_intercept=False, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(W.T, lasso.fit(X, Y).coef_, atol=1e-7)


def test_c_without_penalty_of_weights_it_solves_sylvesters_equation():
    X, Y, R = problem(400, 5, 4)
    assert np.linalg.eigvalsh(X.T @ X)[0] + 2.0 * np.linalg.eigvalsh(R)[0] > 0
    expected = linalg.solve_sylvester(X.T @ X, 2.0 * R, X.T @ Y)
    np.testing.assert_allclose(solve(X, Y, R, 2.0, max_iter=20_000, tol=-1.0), expected, atol=1e-8)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(90, n_features=12, n_classes=5, random_state=0)
    return X[:60], Y[:60], X[60:]


@pytest.mark.parametrize("preset", ["faithful", "fair"])
@pytest.mark.parametrize("d", [12, 200])
def test_sparse_rows_and_frames_give_the_same_scores(data, preset, d):
    X, Y, new = data
    extra = np.zeros((90, d - 12))
    X, new = np.hstack([X, extra[:60]]), np.hstack([new, extra[60:]])
    X[3] = new[2] = 0
    expected = LLSF(preset=preset).fit(X, Y).decision_function(new)
    thin = LLSF(preset=preset).fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(new)), expected, atol=1e-9)
    rows, others = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(new).add_prefix("x")
    model = LLSF(preset=preset).fit(rows, pd.DataFrame(Y, columns=list("abcde")))
    np.testing.assert_allclose(model.decision_function(others), expected, atol=1e-12)
    assert set().union(*model.label_sets(others)) <= set("abcde")


def test_the_faithful_preset_is_the_sequence_on_unit_rows(data):
    X, Y, new = data
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    W = literal.llsf(unit, Y, literal.distance(Y), 2**-3, 2**-3, 0.1)[-1]
    F = new / np.linalg.norm(new, axis=1)[:, None] @ W
    model = LLSF().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(new) + 0.5, F, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), F >= 0.5)
    assert not model.intercept_.any()


def test_the_authors_threshold_is_the_first_best_of_51(data):
    X, Y, _ = data
    model = LLSF(threshold="tuned").fit(X, Y)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    F = unit @ model.coef_.T
    grid = np.linspace(0, F.max(), 51)
    f1 = [f1_score(Y, t <= F, average="samples", zero_division=1.0) for t in grid]
    tau = grid[int(np.argmax(f1))]
    np.testing.assert_allclose(model.thresholds_ + 0.5, tau)
    assert tau != pytest.approx(0.5)
    np.testing.assert_array_equal(model.predict(X), tau <= F)
