"""CamelClassifier as its users meet it: inputs, outputs, solvers, thresholds, probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError

from skcamel import CamelClassifier
from skcamel.metrics import macro_f1, micro_f1


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(
        120, n_features=8, n_classes=5, n_labels=2, random_state=0
    )
    return X[:80], Y[:80], X[80:]


def test_scores_decisions_and_names_agree(data):
    X, Y, new = data
    model = CamelClassifier(threshold="label").fit(X, Y)
    scores, decisions = model.decision_function(new), model.predict(new)
    assert scores.shape == decisions.shape == (40, 5)
    assert decisions.dtype == np.int64
    assert_array_equal(decisions, scores > model.thresholds_)
    assert model.label_sets(new) == [
        tuple(f"label{j + 1}" for j in np.flatnonzero(row)) for row in decisions
    ]
    assert_array_equal(model.classes_, np.arange(5))
    assert (model.n_iter_, model.n_features_in_) == (1, 8)


def test_every_form_of_labels_means_the_same(data):
    X, Y, new = data
    expected = CamelClassifier().fit(X, Y).decision_function(new)
    names = ["sea", "sun", "sand", "snow", "city"]
    forms = [
        Y.astype(bool),
        Y.astype(float),
        2 * Y - 1,
        Y.tolist(),
        sparse.csr_array(Y),
        sparse.csc_matrix(2 * Y - 1),
    ]
    forms += [
        pd.DataFrame(Y, columns=names),
        pl.DataFrame(Y, schema=names),
        pd.DataFrame(Y, columns=names).astype("boolean").astype(object),
    ]
    for form in forms:
        model = CamelClassifier().fit(X, form)
        assert_allclose(model.decision_function(new), expected, atol=1e-11)
        assert set(np.unique(model.predict(new))) <= {0, 1}
        if hasattr(form, "columns"):
            assert list(model.label_names_) == names


def test_frames_keep_feature_names_and_order(data):
    X, Y, new = data
    columns = [f"f{k}" for k in range(8)]
    for frame in (pd.DataFrame, pl.DataFrame):
        model = CamelClassifier().fit(frame(dict(zip(columns, X.T, strict=True))), Y)
        assert list(model.feature_names_in_) == columns
        assert_array_equal(
            model.predict(frame(dict(zip(columns, new.T, strict=True)))),
            CamelClassifier().fit(X, Y).predict(new),
        )
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame(dict(zip(columns[::-1], new.T, strict=True))))


def test_float32_rows_give_float32_scores(data):
    X, Y, new = data
    model = CamelClassifier(threshold="label").fit(X.astype(np.float32), Y)
    scores = model.decision_function(new.astype(np.float32))
    assert scores.dtype == np.float32
    assert model.dual_coef_.dtype == np.float64
    assert_array_equal(
        model.predict(new.astype(np.float32)), scores > model.thresholds_.astype(np.float32)
    )
    assert_allclose(scores, CamelClassifier().fit(X, Y).decision_function(new), atol=1e-4)
    probabilities = model.predict_proba(new.astype(np.float32))
    assert probabilities.dtype == np.float32
    assert_allclose(probabilities, model.predict_proba(new), atol=1e-4)


def test_integer_weights_equal_repeated_rows_in_everything(data, rng):
    X, Y, new = data
    weights = rng.integers(0, 4, size=len(X))
    options = {"scaling": "standard", "threshold": "label", "kernel": "laplacian"}
    weighted = CamelClassifier(**options).fit(X, Y, sample_weight=weights)
    repeated = CamelClassifier(**options).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)
    )
    assert_allclose(weighted.label_correlation_, repeated.label_correlation_, atol=1e-10)
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-12)
    assert_allclose(weighted.thresholds_, repeated.thresholds_, atol=1e-9)
    assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-9)
    assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new), atol=1e-8)


def test_a_function_is_a_kernel(data):
    X, Y, new = data
    by_function = CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y)
    assert_allclose(
        by_function.decision_function(new),
        CamelClassifier(kernel="linear").fit(X, Y).decision_function(new),
        atol=1e-9,
    )


def test_the_alternating_solver_records_its_convergence_and_ends_at_the_closed_form(data):
    X, Y, new = data
    exact = CamelClassifier(alpha=0.2).fit(X, Y)
    loop = CamelClassifier(alpha=0.2, solver="alternating", tol=1e-10).fit(X, Y)
    assert loop.n_iter_ == len(loop.convergence_) > 1
    assert (np.diff(loop.convergence_) < 0).all()
    assert_allclose(loop.decision_function(new), exact.decision_function(new), atol=1e-7)
    assert not hasattr(exact, "convergence_")
    assert not hasattr(
        CamelClassifier(0.2, solver="alternating").fit(X, Y).set_params(solver="auto").fit(X, Y),
        "convergence_",
    )
    assert not hasattr(loop, "predict_proba")
    assert_allclose(loop.explain(new).scores, loop.decision_function(new), atol=1e-9)


def test_stopping_early_warns_with_residual_tolerance_and_remedy(data, rng):
    X, Y, _ = data
    with pytest.warns(
        ConvergenceWarning,
        match=r"after 3 alternations .* above tol=1.0e-06; raise max_iter or use solver='spectral'",
    ):
        CamelClassifier(solver="alternating", max_iter=3, sparsity=1.0).fit(X, Y)
    with pytest.warns(
        ConvergenceWarning,
        match=r"Label correlation stopped after 2 iterations .* raise max_iter or tol",
    ):
        CamelClassifier(max_iter=2).fit(X, rng.random((80, 20)) < 0.3)


@pytest.mark.parametrize(("mode", "metric"), [("common", micro_f1), ("label", macro_f1)])
def test_tuned_thresholds_raise_their_metric(mode, metric):
    X, Y = make_multilabel_classification(600, n_classes=8, n_labels=1, length=15, random_state=1)
    tuned, zero = (CamelClassifier(threshold=t).fit(X[:300], Y[:300]) for t in (mode, "zero"))
    assert metric(Y[300:], tuned.predict(X[300:])) > metric(Y[300:], zero.predict(X[300:])) + 0.03
    assert_array_equal(tuned.decision_function(X), zero.decision_function(X))  # never minus the cut


def test_a_binary_y_gets_one_score_and_two_probabilities(data):
    X, Y, new = data
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = CamelClassifier().fit(X, y)
    scores, p = model.decision_function(new), model.predict_proba(new)
    assert (scores.shape, p.shape) == ((40,), (40, 2))
    assert_array_equal(model.predict(new), np.where(scores > 0, "yes", "no"))
    assert_array_equal(p[:, 1] > 0.5, scores > 0)
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.label_names_) == ["yes"]


def test_a_multiclass_y_is_decided_by_the_highest_score(data):
    X, Y, new = data
    model = CamelClassifier().fit(X, np.array(["a", "b", "c"])[np.arange(80) % 3])
    scores = model.decision_function(new)
    assert scores.shape == (40, 3)
    assert_array_equal(model.predict(new), np.array(["a", "b", "c"])[scores.argmax(1)])
    assert not hasattr(model, "predict_proba")


def test_a_single_column_stays_a_column(data):
    X, Y, new = data
    for column in (Y[:, :1], pd.DataFrame({"sea": Y[:, 0]}), sparse.csr_array(Y[:, :1])):
        model = CamelClassifier().fit(X, column)
        assert (
            model.predict(new).shape
            == model.decision_function(new).shape
            == model.predict_proba(new).shape
            == (40, 1)
        )
    with pytest.warns(DataConversionWarning, match="single column of classes"):
        assert CamelClassifier().fit(X, np.arange(80)[:, None] % 3).predict(new).shape == (40,)


def test_an_unfitted_model_says_so(data):
    for method in ("predict", "decision_function", "explain", "label_sets"):
        with pytest.raises(NotFittedError):
            getattr(CamelClassifier(), method)(data[2])
