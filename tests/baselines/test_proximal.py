"""LLSF, JFSC and their searches: the literal loops, their laws, and batches as separate fits."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, ShuffleSplit

from reference import proximal as literal
from skcamel.baselines import JFSC, JFSCCV, LLSF, LLSFCV, proximal
from skcamel.baselines.jfsc import RobustRegression, fisher
from skcamel.baselines.llsf import LeastSquares
from skcamel.baselines.proximal import label_distance
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.seven import LOSSES


def problem(n=40, d=6, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.8).astype(float)
    return X, Y, label_distance(Y)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(90, n_features=12, n_classes=5, random_state=0)
    return X[:60], Y[:60], X[60:]


def end_of(X, Y, R, alpha=0.0, beta=0.0, rho=0.1, **options):
    (end,) = LeastSquares(X, Y, R).solve([{"alpha": alpha, "beta": beta, "rho": rho}], **options)
    return end


def solve(*problem, **options):
    return end_of(*problem, **options).W.T


@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from([(12, 3, 2), (6, 20, 3), (6, 9, 3), (10, 4, 1)]),
    alpha=st.sampled_from([0.0, 0.1, 3.0, 500.0]),
    beta=st.sampled_from([0.0, 0.1, 2.0]),
    rho=st.sampled_from([0.1, 10.0]),
)
def test_llsf_is_the_literal_loop(seed, shape, alpha, beta, rho):
    X, Y, R = problem(*shape, seed=seed)
    expected = literal.llsf(X, Y, R, alpha, beta, rho)
    end = end_of(X, Y, R, alpha, beta, rho)
    assert end.n_iter == len(expected) - 1
    np.testing.assert_allclose(end.W.T, expected[-1], atol=1e-9 * max(1.0, abs(expected[-1]).max()))
    np.testing.assert_allclose(R, literal.distance(Y), atol=1e-12)


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


def test_faithful_llsf_is_the_sequence_on_unit_rows(data):
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


# JFSC


def robust(X, Y, alpha=0.0, beta=0.0, gamma=0.0, eta=0.1, *, S=None, **options):
    regression = RobustRegression(X, Y, label_distance(Y), fisher(X, Y) if S is None else S)
    candidate = {"alpha": alpha, "beta": beta, "gamma": gamma, "eta": eta}
    return next(iter(regression.solve([candidate], **options)))


@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from([(12, 3, 2), (6, 20, 3), (10, 4, 1)]),
    alpha=st.sampled_from([0.0, 0.1, 3.0]),
    beta=st.sampled_from([0.0, 0.05, 1.0]),
    gamma=st.sampled_from([0.0, 0.1, 2.0]),
)
def test_jfsc_is_the_literal_loop(seed, shape, alpha, beta, gamma):
    X, Y, _ = problem(*shape, seed=seed)
    S = literal.fisher(X, Y)
    penalties = alpha, beta, gamma, 0.5
    expected = literal.jfsc(X, Y, literal.distance(Y), S, *penalties, max_iter=30, tol=-1.0)[-1]
    W = robust(X, Y, alpha, beta, gamma, 0.5, S=S.T, max_iter=30, tol=-1.0).W.T
    # Power iteration ends at 1e-8; 30 steps of a sequence that may grow carry that on.
    np.testing.assert_allclose(W, expected, atol=1e-4 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("alpha", [0.1, 200.0])
def test_jfsc_stops_where_the_literal_loop_stops(alpha):
    X, Y, _ = problem()
    S = literal.fisher(X, Y)
    end = robust(X, Y, alpha, 0.01, 0.1, 0.1, S=S.T)
    expected = literal.jfsc(X, Y, literal.distance(Y), S, alpha, 0.01, 0.1, 0.1)
    assert end.n_iter == len(expected) - 1 < 101
    np.testing.assert_allclose(end.W.T, expected[-1], rtol=1e-5, atol=1e-5)


def test_the_fisher_term():
    x, y = np.array([[1.0], [3], [0], [0], [3]]), np.array([[1.0], [1], [0], [0], [0]])
    assert fisher(x, y)[0, 0] == pytest.approx(4)
    X, Y, _ = problem()
    s = fisher(X, Y)
    np.testing.assert_allclose(s, literal.fisher(X, Y).T, atol=1e-10)
    np.testing.assert_allclose(fisher(X + 100, Y), s, atol=1e-9)
    np.testing.assert_allclose(fisher(3 * X, Y), 9 * s, atol=1e-9)
    np.testing.assert_allclose(fisher(sparse.csr_array(X), Y), s, atol=1e-10)
    assert not fisher(np.full((40, 2), 0.1), Y).any()
    assert not fisher(X, np.hstack([0 * Y, 0 * Y + 1])).any()


def test_faithful_jfsc_is_the_sequence_on_unit_rows_and_a_constant(data):
    X, Y, new = data
    rows, others = (
        np.column_stack([Z / np.linalg.norm(Z, axis=1)[:, None], np.ones(len(Z))]) for Z in (X, new)
    )
    S = literal.fisher(rows, Y)
    W = literal.jfsc(rows, Y, literal.distance(Y), S, 4**-2, 4**-2, 4**-2, 0.1)[-1]
    model = JFSC().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(new) + 0.5, others @ W, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, W[-1], atol=1e-5)
    assert model.fisher_.shape == model.coef_.shape == (5, 12)


# Searches


def small_llsf(**options):
    return LLSFCV([0.0, 0.5], [0.05, 1.0], [0.1], cv=2, **options)


@pytest.mark.parametrize(("search", "single"), [(LLSFCV, LLSF), (JFSCCV, JFSC)])
@pytest.mark.parametrize("options", [{}, {"preset": "fair"}, {"threshold": "tuned"}], ids=str)
def test_every_candidate_scores_as_a_separate_fit(data, search, single, options):
    X, Y, _ = data
    model = search([0.0, 50.0], [0.01, 1.0], [0.1, 3.0], cv=3, **options).fit(X, Y)
    results = model.cv_results_
    for k, params in enumerate(results["params"]):
        folds = []
        for train, test in KFold(3).split(X):
            fitted = single(**params, **options).fit(X[train], Y[train])
            scores = fitted.decision_function(X[test])
            folds.append(evaluate(Y[test], scores, fitted.predict(X[test])))
        for name in NAMES:
            mean = np.mean([fold[name] for fold in folds]) * (-1 if name in LOSSES else 1)
            assert results[f"mean_test_{name}"][k] == pytest.approx(mean, abs=1e-9), (name, params)
        split = folds[1]["average_precision"]
        assert results["split1_test_score"][k] == pytest.approx(split, abs=1e-9)
    refit = single(**model.best_params_, **options).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), refit.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["llsf", "jfsc"])
@pytest.mark.parametrize("shape", [(60, 12), (20, 70)])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_batches_of_any_size_give_the_weights_of_separate_sequences(
    kind, shape, as_rows, rng, monkeypatch
):
    X = as_rows(rng.normal(size=shape) * (rng.random(shape) < 0.3))
    Y = (rng.random((shape[0], 5)) < 0.3).astype(float)
    R = label_distance(Y)
    candidates = [
        {"alpha": a, "beta": b, "gamma": b, "rho": r, "eta": r}
        for a, b, r in product((0.0, 0.1, 8.0), (0.01, 0.3, 2.0), (0.1, 10.0))
    ]
    problem = LeastSquares(X, Y, R)
    if kind == "jfsc":
        problem = RobustRegression(X, Y, R, fisher(X, Y))
    together = list(problem.solve(candidates))
    assert len({end.n_iter for end in together}) > 2
    monkeypatch.setattr(proximal, "IN_CACHE", 5 * problem.bytes_each)
    parts = list(problem.solve(candidates))
    for candidate, end, part in zip(candidates, together, parts, strict=True):
        (alone,) = problem.solve([candidate])
        assert alone.n_iter == end.n_iter == part.n_iter
        size = max(1.0, np.abs(end.W).max())  # weights may grow without bound
        np.testing.assert_allclose(alone.W, end.W, atol=1e-7 * size)
        np.testing.assert_allclose(part.W, end.W, atol=1e-7 * size)


def test_the_table_has_scikit_learns_form(data):
    X, Y, _ = data
    model = small_llsf(scoring="hamming_loss", preset="fair").fit(X, Y)
    results = model.cv_results_
    np.testing.assert_array_equal(results["mean_test_score"], results["mean_test_hamming_loss"])
    assert (results["mean_test_score"] <= 0).all()
    assert results["rank_test_score"][model.best_index_] == 1
    assert model.best_score_ == results["mean_test_score"].max()
    assert model.best_params_ == results["params"][model.best_index_]
    assert (model.alpha_, model.beta_, model.rho_) == tuple(model.best_params_.values())
    np.testing.assert_array_equal(results["param_beta"], [0.05, 1.0, 0.05, 1.0])
    assert "std_test_score" in results


def test_grids_have_the_sizes_that_the_paper_prints():
    grids = [search.GRIDS[name] for search in (LLSFCV, JFSCCV) for name in ("coarse", "paper")]
    assert [np.prod(list(map(len, grid.values()))) for grid in grids] == [147, 1323, 125, 3993]
    assert LLSFCV.GRIDS["paper"]["alpha"][::10] == (2**-10, 1.0, 2**10)
    assert JFSCCV.GRIDS["paper"]["gamma"][::5] == (4**-5, 1.0, 4**5)


def test_splitters_sparse_rows_and_shuffling(data):
    X, Y, _ = data
    splitter = ShuffleSplit(2, random_state=0)

    def scores(X, **options):
        model = small_llsf().set_params(**options).fit(X, Y)
        return model.cv_results_["mean_test_score"]

    thin = scores(sparse.csr_array(X), cv=splitter)
    np.testing.assert_allclose(scores(X, cv=splitter), thin, atol=1e-9)
    first, again, plain = (scores(X, random_state=seed) for seed in (0, 0, None))
    np.testing.assert_array_equal(first, again)
    assert (first != plain).any()
