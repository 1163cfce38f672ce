"""CamelClassifier as its users meet it: inputs, outputs, solvers, thresholds, probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from skcamel import CamelClassifier, CamelClassifierCV

X, Y = make_multilabel_classification(120, n_features=8, n_classes=5, n_labels=2, random_state=0)
X, Y, NEW = X[:80], Y[:80], X[80:]
NAMES = ["sea", "sun", "sand", "snow", "city"]
FEATURES = [f"f{k}" for k in range(8)]


NAMED = pd.DataFrame(Y, columns=NAMES)
FORMS = [Y.astype(bool), Y.astype(float), 2 * Y - 1, Y.tolist(), Y.astype("u1"), Y.astype(">i4")]
FORMS += [sparse.csr_array(Y), sparse.csc_matrix(2 * Y - 1), sparse.coo_array(Y.astype(bool))]
FORMS += [NAMED, pl.DataFrame(Y, schema=NAMES), NAMED.astype("boolean").astype(object)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_every_form_of_labels_means_the_same(form):
    model = CamelClassifier().fit(X, form)
    expected = CamelClassifier().fit(X, Y).decision_function(NEW)
    assert_allclose(model.decision_function(NEW), expected, atol=1e-11)
    assert set(np.unique(model.predict(NEW))) <= {0, 1}
    if hasattr(form, "columns"):
        assert list(model.label_names_) == NAMES


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_feature_names_and_order(frame):
    model = CamelClassifier().fit(frame(dict(zip(FEATURES, X.T, strict=True))), Y)
    assert list(model.feature_names_in_) == FEATURES
    new = dict(zip(FEATURES, NEW.T, strict=True))
    assert_array_equal(model.predict(frame(new)), CamelClassifier().fit(X, Y).predict(NEW))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(dict(reversed(new.items()))))


def test_float32_rows_give_float32_scores():
    new = NEW.astype(np.float32)
    model = CamelClassifier(threshold="label").fit(X.astype(np.float32), Y)
    scores, probabilities = model.decision_function(new), model.predict_proba(new)
    assert scores.dtype == probabilities.dtype == np.float32
    assert model.dual_coef_.dtype == np.float64
    assert_array_equal(model.predict(new), scores > model.thresholds_.astype(np.float32))
    exact = CamelClassifier().fit(X, Y)
    assert_allclose(scores, exact.decision_function(NEW), atol=1e-4)
    assert_allclose(probabilities, model.predict_proba(NEW), atol=1e-4)


@pytest.mark.parametrize("correlation", ["paper", "centred"])
@pytest.mark.parametrize("scaling", ["standard", "rank"])
def test_integer_weights_equal_repeated_rows_in_everything(scaling, correlation, rng):
    weights = rng.integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weights)
    model = CamelClassifier(
        kernel="laplacian", threshold="label", scaling=scaling, correlation=correlation
    )
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    repeated = clone(model).fit(X[copies], Y[copies])
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-12)
    assert_array_equal(weighted.cooccurrence_, repeated.cooccurrence_)
    assert_array_equal(weighted.cooccurrence_, Y[copies].T @ Y[copies])
    assert weighted.total_weight_ == repeated.total_weight_ == weights.sum()
    assert_allclose(weighted.label_correlation_, repeated.label_correlation_, atol=1e-10)
    assert_allclose(weighted.thresholds_, repeated.thresholds_, atol=1e-9)
    assert_allclose(weighted.decision_function(NEW), repeated.decision_function(NEW), atol=1e-9)
    assert_allclose(weighted.predict_proba(NEW), repeated.predict_proba(NEW), atol=1e-8)
    for of_weighted, of_repeated in zip(
        weighted.set_thresholds_, repeated.set_thresholds_, strict=True
    ):
        assert_allclose(of_weighted, of_repeated, atol=1e-9)
    assert weighted.estimate_ == pytest.approx(repeated.estimate_, abs=1e-9)
    assert_allclose(weighted.explain(NEW).parts, repeated.explain(NEW).parts, atol=1e-9)


def test_parameters_that_are_set_after_a_fit_change_no_answer():
    model = CamelClassifierCV((0.5,), scores="log_odds", threshold="micro_f1").fit(X, Y)
    before = model.outputs(NEW), model.explain(NEW).scores
    model.set_params(
        scores="paper", threshold=9.0, miss_cost=5.0, kernels=("linear",), correlation="centred"
    )
    after = model.outputs(NEW), model.explain(NEW).scores
    assert_array_equal(before[1], after[1])
    assert_array_equal(before[0].scores, after[0].scores)
    assert_array_equal(before[0].probabilities, after[0].probabilities)
    assert_array_equal(before[0].sets(0.8), after[0].sets(0.8))


def test_the_alternating_solver_records_its_convergence_and_ends_at_the_closed_form():
    exact = CamelClassifier(0.2).fit(X, Y)
    loop = CamelClassifier(0.2, solver="alternating", tol=1e-10).fit(X, Y)
    assert loop.n_iter_ == len(loop.convergence_) > 1
    assert (np.diff(loop.convergence_) < 0).all()
    assert_allclose(loop.decision_function(NEW), exact.decision_function(NEW), atol=1e-7)
    assert_allclose(loop.explain(NEW).scores, loop.decision_function(NEW), atol=1e-9)
    assert not hasattr(exact, "convergence_")
    assert not hasattr(loop.set_params(solver="auto").fit(X, Y), "convergence_")


def test_stopping_early_warns_with_residual_tolerance_and_remedy(rng):
    message = r"after 3 alternations .* above tol=1.0e-06; raise max_iter or use solver='spectral'"
    with pytest.warns(ConvergenceWarning, match=message):
        CamelClassifier(solver="alternating", max_iter=3, sparsity=1.0).fit(X, Y)
    message = r"Label correlation stopped after 2 iterations .* raise max_iter or tol"
    with pytest.warns(ConvergenceWarning, match=message):
        CamelClassifier(max_iter=2).fit(X, rng.random((80, 20)) < 0.3)


def test_a_binary_y_gets_one_score_and_two_probabilities():
    model = CamelClassifier().fit(X, np.where(Y[:, 0] == 1, "yes", "no"))
    scores, p = model.decision_function(NEW), model.predict_proba(NEW)
    assert (scores.shape, p.shape) == ((40,), (40, 2))
    assert_array_equal(model.predict(NEW), np.where(scores > 0, "yes", "no"))
    assert_array_equal(p[:, 1] > 0.5, scores > 0)
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.label_names_) == ["yes"]


def test_a_multiclass_y_is_decided_by_the_highest_score():
    classes = np.array(["a", "b", "c"])
    model = CamelClassifier().fit(X, classes[np.arange(80) % 3])
    scores = model.decision_function(NEW)
    assert scores.shape == (40, 3)
    assert_array_equal(model.predict(NEW), classes[scores.argmax(axis=1)])


def test_a_single_column_stays_a_column():
    for column in (Y[:, :1], pd.DataFrame({"sea": Y[:, 0]}), sparse.csr_array(Y[:, :1])):
        model = CamelClassifier().fit(X, column)
        for method in (model.predict, model.decision_function, model.predict_proba):
            assert method(NEW).shape == (40, 1)
    with pytest.warns(DataConversionWarning, match="single column of classes"):
        assert CamelClassifier().fit(X, np.arange(80)[:, None] % 3).predict(NEW).shape == (40,)
