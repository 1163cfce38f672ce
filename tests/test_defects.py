"""One test for each defect of the core that was found, and for what stands near it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors
from skcamel.camel import landmark, spectral
from skcamel.camel.kernel import Kernel
from skcamel.camel.representation import RoundingWarning
from skcamel.camel.scaling import NAMES as SCALINGS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, :3] + RNG.normal(size=(60, 3)) > 0).astype(int)
TRIED = [("none", "rbf", 1.0), ("standard", "laplacian", 0.5), ("unit", "linear", 1.0)]
each_solver = pytest.mark.parametrize("solver", ["spectral", "landmark", "primal"])


def made(solver, **parameters):
    return CamelClassifier(
        kernel="linear" if solver == "primal" else "rbf", solver=solver, **parameters
    )


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e7, 1e10])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_sums_never_returns_the_truth(scale, weighted):
    """With more columns than rows 1 - h and the residual cancelled, and every label was known."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 60)) * scale
    labels = np.where(rng.random((40, 4)) < 0.4, 1.0, -1.0)
    weights = rng.choice([0.5, 1.0, 3.0], 40) if weighted else np.ones(40)
    basis = spectral.label_basis(0.7 * np.eye(4) + 0.05)
    centred = rows - np.average(rows, axis=0, weights=weights)
    spectrum = spectral.decompose(centred @ centred.T, weights)
    targets = spectral.project(spectrum, labels)
    (exact,) = spectral.leave_one_out(spectrum, targets, [basis], [(1.0, 0.1)])
    of = landmark.Features(Kernel("linear"), None, rows.mean(axis=0))
    block = landmark.Block(rows, labels, weights)
    summary = landmark.summarise(of, landmark.moments(of, [lambda: block], 4), block)
    (found,) = landmark.leave_one_out(summary, summary.targets, [basis], [(1.0, 0.1)])
    assert_allclose(found, exact, atol=1e-6)
    # of rows that weigh more a copy is left
    assert np.median(abs(found - labels)[weights <= 1]) > 0.1


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e4, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("solver", ["spectral", "primal"])
@pytest.mark.parametrize(
    "groups", [np.arange(60), np.arange(60) % 7, np.maximum(np.arange(60) - 54, 0)[::-1]]
)
def test_leave_one_out_is_that_of_refits_or_a_warning_says_that_it_is_not(scale, solver, groups):
    """Refits by least squares that never square X."""
    rows, signs = scale * X, 2.0 * Y - 1
    expected = np.empty(Y.shape)
    for out in (groups == group for group in np.unique(groups)):
        mean, middle = rows[~out].mean(axis=0), signs[~out].mean(axis=0)
        system = np.vstack([rows[~out] - mean, np.sqrt(0.2) * np.eye(4)])
        targets = np.vstack([signs[~out] - middle, np.zeros((4, 3))])
        solution = np.linalg.lstsq(system, targets, rcond=None)[0]
        expected[out] = (rows[out] - mean) @ solution + middle
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = CamelClassifier(alpha=0.0, kernel="linear", solver=solver)
        found = find_label_errors(rows, Y, model, groups=groups)
    if not any(issubclass(own.category, RoundingWarning) for own in seen):
        assert_allclose(found.scores, (signs * expected)[found.rows, found.labels], atol=1e-3)
    assert scale > 1e3 or not seen


@pytest.mark.parametrize("solver", ["spectral", "primal"])
def test_nothing_is_learned_from_no_other_row(solver):
    model = CamelClassifier(kernel="linear", solver=solver)
    with pytest.warns(UserWarning, match="nothing can be learned"):
        model.fit(X[:1], Y[:1])
    assert model.estimate_["hamming_loss"] == Y[:1].mean()  # the score of a row is 0 without it


@pytest.mark.parametrize("kind", ["uniform", "kmeans"])
def test_a_random_state_is_honoured_whatever_its_kind(kind):
    def landmarks(state):
        options = {"n_landmarks": 5, "landmarks": kind, "random_state": state}
        return CamelClassifier(solver="landmark", **options).fit(X, Y).X_fit_

    one, other = landmarks(np.random.RandomState(1)), landmarks(np.random.RandomState(2))
    assert not np.array_equal(one, other)
    assert_array_equal(one, landmarks(np.random.RandomState(1)))
    assert_array_equal(landmarks(None), landmarks(None))
    assert_array_equal(landmarks(3), landmarks(np.int64(3)))
    assert not np.array_equal(landmarks(3), landmarks(4))


def test_batches_under_a_random_state_are_the_sample_of_all_rows():
    how = {"solver": "landmark", "landmarks": X[:9], "bandwidth": 2.0, "threshold": "label"}
    model = CamelClassifier(**how, random_state=np.random.RandomState(0))
    for start in range(0, 60, 20):
        model.partial_fit(X[start : start + 20], Y[start : start + 20])
    assert_allclose(model.thresholds_, CamelClassifier(**how).fit(X, Y).thresholds_, atol=1e-8)


ODD_NAMES = ("column_names", "columns", "iloc", "index", "T", "shape", "dtype", "values", "toarray")


@pytest.mark.parametrize("name", [*ODD_NAMES, "to_numpy", "chunks", "compute", "schema", ""])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_may_have_any_name(name, frame):
    rows = frame(dict(zip([name, "b", "c", "d"], X.T, strict=True)))
    labels = frame(dict(zip([name, "sea", "sun"], Y.T, strict=True)))
    for model in (CamelClassifier(), CamelClassifierCV((0.5,)), made("landmark", n_landmarks=9)):
        assert model.fit(rows, labels).predict(rows).shape == Y.shape
        assert model.label_names_.tolist() == [name, "sea", "sun"]


@pytest.mark.parametrize("jitter", [0.0, 1e-12, 1e-9])
def test_combined_models_of_constant_rows_have_weights_of_order_one(jitter):
    """The weights were quotients of rounding errors, 9e13."""
    rows = 1 + jitter * RNG.normal(size=(30, 3))
    labels = (RNG.random((30, 3)) < 0.4).astype(int)
    model = CamelClassifierCV.from_preset("best").fit(rows, labels)
    assert model.weights_.max() <= 2
    scores, reasons = model.decision_function(rows), model.explain(rows)
    if not jitter:
        assert_array_equal(scores, scores[:1].repeat(30, axis=0))
    assert_allclose(reasons.base + reasons.parts.sum(axis=1), scores, atol=1e-9)


@each_solver
@pytest.mark.parametrize("scores", ["paper", "log_odds"])
@pytest.mark.parametrize(("q", "sparsity"), [(1, 0.01), (2, 1.0)])
def test_labels_that_no_prediction_reaches_have_the_score_0(solver, scores, q, sparsity):
    model = made(solver, alpha=1, sparsity=sparsity, scores=scores).fit(X, Y[:, :q])
    answers = model.outputs(X)
    assert_array_equal(answers.scores, answers.scores[:1].repeat(60, axis=0))
    if scores == "paper":
        assert_array_equal(answers.scores, 0.0)
        assert not model.predict(X).any()
    assert_allclose(model.explain(X).scores, answers.scores, atol=1e-12)
    assert np.isfinite(answers.probabilities).all()


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_a_search_counts_rows_with_weight(solver):
    with pytest.raises(ValueError, match="needs at least 2 rows with weight, got n_samples = 1"):
        CamelClassifierCV(solver=solver).fit(X, Y, sample_weight=np.eye(60)[3])
    weights = (np.arange(60) < 20) * 1.0  # the first of three folds has no other row
    grid = {"alphas": (0.0, 0.5), "lambda2s": (0.1,), "solver": solver, "n_landmarks": 9}
    with pytest.raises(
        ValueError, match=r"All training rows of fold 0 have the weight 0; leave .*"
    ):
        CamelClassifierCV(**grid, cv=3).fit(X, Y, sample_weight=weights)
    folds = KFold(3, shuffle=True, random_state=0)
    model = CamelClassifierCV(**grid, cv=folds).fit(X, Y, sample_weight=weights)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


def test_a_batch_without_weight_changes_nothing():
    model, nothing = CamelClassifier(solver="landmark", n_landmarks=9), np.zeros(60)
    with pytest.raises(ValueError, match="All weights in sample_weight are zero, and no row came"):
        model.partial_fit(X, Y, sample_weight=nothing)
    before = model.partial_fit(X, Y).decision_function(X)
    after = model.partial_fit(X, Y, sample_weight=nothing).decision_function(X)
    assert_array_equal(after, before)


SIZES = st.sampled_from([0.0, 1.0, 1e155, 1e200, 1e308, 1.79e308, -1.79e308])
LARGE = st.lists(SIZES, min_size=4, max_size=4)
ANSWERS = ("decision_function", "predict_proba", "predict_sets", "predict")


@settings(max_examples=10)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "exponential", "linear"])
@pytest.mark.parametrize("scaling", SCALINGS)
@given(st.sampled_from(["spectral", "landmark"]), LARGE, st.sampled_from(ANSWERS))
def test_rows_that_overflow_get_numbers_or_are_refused_by_number(
    kernel, scaling, solver, row, method
):
    model = CamelClassifier(kernel=kernel, scaling=scaling, solver=solver, n_landmarks=9).fit(X, Y)
    rows = np.vstack([X[:1], row])
    try:
        found = np.asarray(getattr(model, method)(rows))
    except ValueError as error:
        message = "Row 1 of X (from 0) has features so large that its scores are no numbers"
        assert str(error).startswith(message)  # noqa: PT017
        return
    assert np.isfinite(found).all()
    assert_allclose(found[0], np.asarray(getattr(model, method)(X[:1]))[0], atol=1e-9)


@pytest.mark.parametrize("scoring", ["average_precision", "coverage", "macro_f1"])
def test_the_best_score_of_a_combination_is_that_of_the_combination(scoring):
    options = {"representations": TRIED, "combine": True, "scoring": scoring}
    weights, groups = RNG.integers(1, 4, 60), np.arange(60) % 20
    for extra in ({}, {"sample_weight": weights}, {"groups": groups}):
        model = CamelClassifierCV(**options).fit(X, Y, **extra)
        sign = -1 if scoring == "coverage" else 1
        assert model.best_score_ == pytest.approx(sign * model.estimate_[scoring], abs=1e-12)
