"""Fits by sums over rows: equal to exact ones where they can be, within the allowed memory."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import skcamel.camel.base
from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors, inspect
from skcamel.camel import landmark, stream
from skcamel.camel.base import SolverWarning

RNG = np.random.default_rng(0)
N, D, Q = 70, 5, 3
X = RNG.normal(size=(N, D))
X[40:50] = X[30:40]  # rows that repeat, some with equal labels
X[:, 4] = RNG.integers(0, 3, N)
Y = (X[:, :Q] + 0.7 * RNG.normal(size=(N, Q)) > 0.3).astype(int)
Y[40:45] = Y[30:35]
NEW = RNG.normal(size=(15, D))
THIN, THIN_NEW = sparse.csr_array(X * (abs(X) > 0.5)), sparse.csr_array(NEW * (abs(NEW) > 0.5))
WEIGHTS = RNG.integers(0, 4, N).astype(np.float64)  # some are 0
ALL = {"solver": "landmark", "n_landmarks": 200}
FEW = {"solver": "landmark", "n_landmarks": 12}
GRID = {"alphas": (0.0, 0.4), "lambda2s": (0.05, 0.5)}
each_weight = pytest.mark.parametrize(
    "weights", [None, WEIGHTS, WEIGHTS / 3], ids=["", "whole weights", "weights"]
)


def assert_same(model, other, new=NEW, atol=1e-8):
    mine, theirs = model.outputs(new), other.outputs(new)
    assert_allclose(mine.scores, theirs.scores, atol=atol)
    assert_array_equal(mine.decisions, theirs.decisions)
    assert_allclose(model.thresholds_, other.thresholds_, atol=atol)
    assert_allclose(model.predict_proba(new), other.predict_proba(new), atol=10 * atol)
    assert_array_equal(model.predict_sets(new, 0.9), other.predict_sets(new, 0.9))
    assert_allclose(model.explain(new).parts, other.explain(new).parts, atol=atol)
    assert_allclose(model.label_correlation_, other.label_correlation_, atol=atol)


@each_weight
@pytest.mark.parametrize("scaling", ["none", "standard", "minmax", "unit", "rank"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "exponential", "linear"])
def test_all_rows_as_landmarks_give_the_exact_solution(kernel, scaling, weights):
    parameters = {"kernel": kernel, "scaling": scaling, "threshold": "label", "alpha": 0.3}
    for rows, new in ((X, NEW),) if scaling == "rank" else ((X, NEW), (THIN, THIN_NEW)):
        exact = CamelClassifier(**parameters).fit(rows, Y, weights)
        assert_same(CamelClassifier(**parameters, **ALL).fit(rows, Y, weights), exact, new)


SEARCHES = {
    "log-odds": {"scores": "log_odds", "bandwidths": (0.5, 1.0)},
    "common": {"threshold": "common", "scoring": "micro_f1", "kernels": ("linear", "laplacian")},
    "folds": {"cv": 3},
    "folds, linear": {"cv": 3, "kernels": ("linear",), "scalings": ("standard",)},
    "combined": {"combine": True, "scalings": ("none", "standard"), "kernels": ("rbf", "linear")},
}


@each_weight
@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_with_all_rows_as_landmarks_finds_the_same(kind, weights):
    exact = CamelClassifierCV(**GRID, **SEARCHES[kind]).fit(X, Y, weights)
    found = CamelClassifierCV(**GRID, **SEARCHES[kind], **ALL).fit(X, Y, weights)
    assert_same(found, exact)
    assert hasattr(found, "members_") or found.best_params_ == pytest.approx(exact.best_params_)
    scores = (own.cv_results_["mean_test_score"] for own in (found, exact))
    assert_allclose(*scores, atol=1e-9)
    assert getattr(found, "estimate_", None) == pytest.approx(getattr(exact, "estimate_", None))


@each_weight
@pytest.mark.parametrize("scaling", ["none", "standard", "unit"])
@pytest.mark.parametrize("solver", ["primal", "landmark"])
def test_the_features_themselves_are_the_exact_linear_kernel(solver, scaling, weights):
    parameters = {"kernel": "linear", "scaling": scaling, "threshold": "common"}
    for rows, new in ((X + 3, NEW + 3), (THIN, THIN_NEW)):
        exact = CamelClassifier(**parameters).fit(rows, Y, weights)
        found = CamelClassifier(solver=solver, n_landmarks=3, **parameters).fit(rows, Y, weights)
        assert found.solver_ == "primal"
        assert found.dual_coef_.shape == (D, Q)
        assert_same(found, exact, new)
        assert_allclose(found.intercept_, exact.intercept_, atol=1e-9)
        assert_allclose(found.b_, exact.b_, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(),
        CamelClassifier(kernel="linear"),
        CamelClassifier(0.0, threshold="label"),
        CamelClassifierCV(**GRID),
    ],
)
def test_label_errors_are_those_of_the_exact_solver(model):
    different = np.r_[:40, 50:N]  # others tie
    rows, labels = X[different], Y[different]
    exact = find_label_errors(rows, labels, model)
    found = find_label_errors(rows, labels, clone(model).set_params(**ALL))
    assert_array_equal(found.rows, exact.rows)
    for name in ("scores", "chance", "base", "own"):
        assert_allclose(getattr(found, name), getattr(exact, name), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "solver"),
    [
        (CamelClassifier(), "landmark"),
        (CamelClassifier(kernel="linear"), "primal"),
        (CamelClassifierCV(**GRID), "landmark"),
        (CamelClassifierCV(**GRID, cv=3, kernels=("linear",)), "primal"),
        (CamelClassifierCV(**GRID, bandwidths=(0.5, 1.0, 2.0), threshold="micro_f1"), "landmark"),
    ],
)
def test_auto_leaves_the_exact_solver_with_one_warning(model, solver, monkeypatch):
    monkeypatch.setattr(skcamel.camel.base, "EXACT_ROWS", 50)
    monkeypatch.setattr(skcamel.camel.base, "EXACT_ROWS_ON_GPU", 60)
    message = r"works with 1,000 landmarks.*would take long for 70 rows"
    with pytest.warns(SolverWarning, match=message) as seen:
        assert clone(model).fit(X, Y).solver_ == solver
    assert len(seen) == 1
    assert clone(model).fit(X[:50], Y[:50]).solver_ == "spectral"


def test_auto_counts_the_bytes_that_are_allowed_and_not_those_that_are_free(monkeypatch):
    message = r"needs \d MiB, and max_memory allows \d MiB"
    with pytest.warns(SolverWarning, match=message) as seen, pytest.raises(MemoryError):
        CamelClassifier(max_memory=2**18).fit(X, Y)
    assert len(seen) == 1
    assert CamelClassifier(max_memory="1GiB").fit(X, Y).solver_ == "spectral"
    monkeypatch.setattr("skcamel.memory.available", lambda device=None: 2**18)
    with pytest.raises(MemoryError, match="solver='landmark'"):
        CamelClassifier().fit(X, Y)


def distinct(rows):
    return {tuple(row) for row in np.round(rows, 9)}


@given(st.integers(2, 60), st.integers(1, 4), st.integers(1, 70), st.integers(0, 99), st.booleans())
def test_a_centre_is_the_mean_of_different_rows_and_none_of_them(n, d, count, seed, coarse):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)).astype(float) if coarse else rng.normal(size=(n, d))
    try:
        found = stream.centres(rows, count, seed)
    except ValueError as error:
        assert coarse
        assert "take landmarks='uniform'" in str(error)  # noqa: PT017
        return
    assert 1 <= len(found) <= count
    assert not distinct(found) & distinct(rows)
    assert (found >= rows.min(axis=0) - 1e-12).all()
    assert (found <= rows.max(axis=0) + 1e-12).all()
    assert_array_equal(stream.centres(sparse.csr_array(rows), count, seed), found)


def test_a_model_of_centres_holds_no_training_row():
    model = CamelClassifier(**FEW | {"landmarks": "kmeans"}, scaling="standard").fit(X, Y)
    assert not distinct(model.X_fit_) & distinct(model._scaling(X))
    words = "centres of clusters, each the mean of at least two rows"
    assert words in str(inspect(model))


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_given_landmarks_are_scaled_with_the_rows(form, kernel):
    options = {"scaling": "standard", "kernel": kernel}
    model = CamelClassifier(solver="landmark", landmarks=form(X[:9]), **options).fit(X, Y)
    assert_allclose(model.X_fit_, model._scaling(X[:9]))
    whole = CamelClassifier(solver="landmark", landmarks=form(X), **options).fit(X, Y)
    exact = CamelClassifier(**options).fit(X, Y)
    assert_allclose(whole.decision_function(NEW), exact.decision_function(NEW), atol=1e-8)


ODD = {
    "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], Y[:2]),
    "constant features": (np.full((N, D), 7.0), Y),
    "nothing but zeros": (np.zeros((N, D)), Y),
    "one row again and again": (np.repeat(X[:1], N, axis=0), Y),
    "constant labels": (X, np.column_stack([np.ones(N), np.zeros(N), Y[:, 0]]).astype(int)),
    "one label": (X, Y[:, :1]),
    "binary y": (X, np.where(Y[:, 0], "yes", "no")),
    "one column": (X[:, :1], Y),
}


@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
@pytest.mark.parametrize(("solver", "kernel"), [("landmark", "rbf"), ("primal", "linear")])
@pytest.mark.parametrize("odd", ODD)
def test_odd_data_give_what_the_exact_solver_gives(odd, solver, kernel):
    rows, labels = ODD[odd]
    exact = CamelClassifier(kernel=kernel).fit(rows, labels)
    found = CamelClassifier(solver=solver, kernel=kernel, n_landmarks=100).fit(rows, labels)
    new = NEW[:, : rows.shape[1]]
    assert_allclose(found.decision_function(new), exact.decision_function(new), atol=1e-8)
    assert_allclose(found.predict_proba(new), exact.predict_proba(new), atol=1e-8)


def test_thresholds_of_a_large_set_come_from_a_sample_and_are_close_to_those_of_all_rows(
    monkeypatch,
):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3))
    labels = (rows[:, :2] + rng.normal(size=(4000, 2)) > (0.5, 2.0)).astype(int)
    model = CamelClassifier(**FEW, threshold="label")
    whole = clone(model).fit(rows, labels)
    monkeypatch.setattr(landmark, "JUDGED_ROWS", 1000)
    part = clone(model).fit(rows, labels)
    assert part.n_judged_ == 1000
    assert_allclose(part.decision_function(rows), whole.decision_function(rows), atol=1e-10)
    assert_allclose(part.thresholds_, whole.thresholds_, atol=0.3)
    assert_allclose(part.predict_proba(rows), whole.predict_proba(rows), atol=0.07)
