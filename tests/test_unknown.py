"""Estimators that learn from labels of which some are unknown: what counts, and what does not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import metrics as literal
from reference.solver import known_entries_scores
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import BinaryRelevance
from skcamel.camel import correlation
from skcamel.checks import ConstantLabelWarning

GRID = {"alphas": (0.0, 0.4, 0.8), "lambda2s": (0.02, 0.2), "scalings": ("standard",)}


def make(n=60, q=4, share=0.4, seed=0):
    """Rows, labels in {0, 1}, and labels with unknown entries; known ones have both values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = (X @ rng.normal(size=(3, q)) + 0.7 * rng.normal(size=(n, q)) > 0.3).astype(float)
    hidden = np.where(rng.random((n, q)) < share, np.nan, Y)
    hidden[:2], hidden[2:4] = 1.0, 0.0
    return X, Y, hidden


@pytest.mark.parametrize("kind", ["paper", "centred"])
def test_a_fit_is_the_literal_solution_for_the_known_entries(kind):
    X, _, Y = make(25)
    model = CamelClassifier(0.4, lambda2=0.1, bandwidth=2.0, correlation=kind).fit(X, Y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8)
    expected = known_entries_scores(K, 2 * Y - 1, model.collaboration_, 1.0, 0.1)
    assert_allclose(model.decision_function(X), expected, atol=1e-8)


@pytest.mark.parametrize(
    "model", [CamelClassifier(), CamelClassifierCV(**GRID), CamelClassifierCV(**GRID, cv=3)]
)
def test_every_way_to_write_unknown_is_understood(model):
    X, _, Y = make()
    expected = model.fit(X, Y).decision_function(X)
    frame = pd.DataFrame(Y, columns=list("abcd"))
    nullable, objects = frame.astype("Int64"), frame.astype(object).where(frame.notna(), None)
    for labels in (2 * Y - 1, frame, nullable, objects, sparse.csr_array(Y), Y.tolist()):
        assert_array_equal(model.fit(X, labels).decision_function(X), expected)
    assert list(model.fit(X, nullable).label_names_) == list("abcd")


@given(st.integers(0, 10_000), st.floats(0.05, 0.8), st.sampled_from([0.0, 0.5, 0.9]))
def test_orders_do_not_matter(seed, share, alpha):
    X, _, Y = make(20, 3, share, seed)
    rng = np.random.default_rng(seed)
    rows, labels, columns = rng.permutation(20), rng.permutation(3), rng.permutation(3)
    turned = X[:, columns]
    model = CamelClassifier(alpha).fit(X, Y)
    other = CamelClassifier(alpha).fit(turned[rows], Y[np.ix_(rows, labels)])
    S = model.label_correlation_[np.ix_(labels, labels)]
    assert_allclose(other.label_correlation_, S, atol=1e-6)
    scores, theirs = model.decision_function(X)[:, labels], other.decision_function(turned)
    assert_allclose(theirs, scores, atol=1e-6)
    # leave-one-out is approximate
    assert_allclose(other.predict_proba(turned), model.predict_proba(X)[:, labels], atol=0.01)
    by_column = model.explain(X, features=True).features[:, columns][:, :, labels]
    assert_allclose(other.explain(turned, features=True).features, by_column, atol=1e-6)


def test_rows_without_any_known_label_only_move_the_average_row(rng):
    X, _, Y = make()
    more, nothing = np.vstack([X, rng.normal(size=(15, 3))]), np.full((15, 4), np.nan)
    without = CamelClassifier(bandwidth=1.5).fit(X, Y)
    with_them = CamelClassifier(bandwidth=1.5).fit(more, np.vstack([Y, nothing]))
    assert_allclose(with_them.label_correlation_, without.label_correlation_, atol=1e-9)
    assert_allclose(with_them.decision_function(X), without.decision_function(X), atol=1e-8)
    assert_array_equal(with_them.cooccurrence_, without.cooccurrence_)
    assert abs(with_them.base_scores_ - without.base_scores_).max() > 1e-3


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1", "hamming_loss"])
@pytest.mark.parametrize("model", [CamelClassifier(), CamelClassifierCV(**GRID)])
def test_a_label_that_nobody_knows_scores_0_and_is_not_predicted(threshold, model):
    X, _, Y = make()
    Y[:, 1] = np.nan
    model.set_params(threshold=threshold)
    with pytest.warns(ConstantLabelWarning, match=r"1 of 4 labels have no known entry \(label2\)"):
        model.fit(X, Y)
    assert not model.decision_function(X)[:, 1].any()
    assert not model.predict(X)[:, 1].any()
    assert_array_equal(model.predict_proba(X)[:, 1], 0.5)
    assert not model.label_correlation_[1].any()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("model", [CamelClassifier(), BinaryRelevance()], ids=str)
def test_score_is_the_share_of_rows_whose_known_labels_are_right(model):
    X, Y, hidden = make(40)
    hidden[5] = np.nan
    right = ((model.fit(X, Y).predict(X) == hidden) | np.isnan(hidden)).all(axis=1)
    weights = np.arange(40.0) * (np.arange(40) != 5)
    assert model.score(X, hidden) == pytest.approx(np.delete(right, 5).mean())
    found = model.score(X, 2 * hidden - 1, sample_weight=np.arange(40.0))
    assert found == pytest.approx(right @ weights / weights.sum())
    with pytest.raises(ValueError, match="y has 3 labels but the model 4"):
        model.score(X, hidden[:, :3])
    with pytest.raises(ValueError, match="no known entry"):
        model.score(X, np.full(Y.shape, np.nan))


def test_the_correlation_comes_from_rows_that_know_both_labels():
    _, _, Y = make(200, 3)
    Y = 2 * Y - 1
    Y[:100, 2], Y[100:, 0] = np.nan, np.nan  # labels 0 and 2 are never known together
    C = correlation.gram(Y)
    assert C[0, 2] == 0
    assert_allclose(np.diag(C), 200)
    mean = np.nanmean(Y[:, 0] * Y[:, 1])
    assert abs(C[0, 1]) <= 200 * abs(mean) + 1e-9
    assert np.sign(C[0, 1]) == np.sign(mean)
    assert correlation.learn(Y).violation.max() < 1e-6


def test_folds_are_scored_as_refits_on_known_entries_would_be():
    X, _, Y = make(90)
    splits = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    found = CamelClassifierCV(**GRID, cv=splits).fit(X, Y)
    for k, params in enumerate(found.cv_results_["params"]):
        options = {"lambda2": params["lambda2"], "scaling": "standard"}
        values = {"average_precision": [], "macro_f1": []}
        for train, test in splits:
            model = CamelClassifier(params["alpha"], **options).fit(X[train], Y[train])
            scores = model.decision_function(X[test])
            for name, own in values.items():
                own.append(float(literal.metric(name, Y[test], scores, scores > 0)))
        for name, own in values.items():
            mean = found.cv_results_[f"mean_test_{name}"][k]
            assert mean == pytest.approx(np.mean(own), abs=0.02)
