"""What the same model would say with α = 0."""

import numpy as np
import pytest

import pages
from skcamel import CamelClassifier
from skcamel.checks import ConstantLabelWarning
from skcamel.report.facts import ModelFacts, training_labels, without_collaboration


def alone_of(model, X):
    return without_collaboration(ModelFacts(model), X, model.deviations(X))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"alpha": 0.9, "lambda2": 1e-3}, {"solver": "alternating", "threshold": "zero", "alpha": 0.1, "lambda2": 1.0}],
    ids=str,
)
def test_training_labels_are_recovered_from_the_solution(parameters):
    model, given = pages.model(5, 60, **parameters), pages.data(5, 120)
    np.testing.assert_array_equal(training_labels(model), 2 * given.Y[:60] - 1)


@pytest.mark.parametrize("threshold", ["zero", "common", "label", 0.25])
@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_scores_without_collaboration_are_those_of_a_fit_with_alpha_0(threshold, scaling):
    given = pages.data(5, 120)
    settings = {"scaling": scaling, "threshold": threshold, "lambda1": 0.7, "lambda2": 0.05, "kernel": "laplacian"}
    model = CamelClassifier(alpha=0.6, **settings).fit(given.X[:60], given.labels[:60])
    expected = CamelClassifier(alpha=0.0, **settings).fit(given.X[:60], given.labels[:60])
    alone = alone_of(model, given.X[60:])
    assert alone.is_refit
    np.testing.assert_allclose(alone.scores, expected.decision_function(given.X[60:]), atol=1e-9)
    np.testing.assert_allclose(alone.cuts, expected.thresholds_, atol=1e-9)


def with_gaps(given, share, seed=0):
    """Labels with NaN where a draw hides them; one row knows nothing."""
    labels = given.labels.astype(float)
    labels[np.random.default_rng(seed).random(labels.shape) < share] = np.nan
    labels[5] = np.nan
    return labels


@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.9, "lambda2": 1e-3}, {"alpha": 0.2, "lambda1": 5.0}], ids=str)
@pytest.mark.parametrize("share", [0.02, 0.4])
def test_training_labels_are_recovered_with_their_gaps(parameters, share):
    given = pages.data(5, 120)
    Y = with_gaps(given, share)
    model = CamelClassifier(scaling="standard", **parameters).fit(given.X, Y)
    np.testing.assert_array_equal(training_labels(model), 2 * Y - 1)


@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
@pytest.mark.parametrize("known", [True, False])
def test_scores_without_collaboration_are_those_of_a_fit_with_alpha_0_where_labels_are_unknown(known):
    given = pages.data(5, 120)
    Y = with_gaps(given, 0.3)[:60]
    Y[:, 3] = Y[:, 3] if known else np.nan
    settings = {"scaling": "standard", "threshold": "label", "lambda2": 0.05}
    model, expected = (CamelClassifier(alpha=alpha, **settings).fit(given.X[:60], Y) for alpha in (0.6, 0.0))
    alone = alone_of(model, given.X[60:])
    assert alone.is_refit
    assert "fitted again with α = 0 on its training rows, everything else equal" in alone.sentence
    np.testing.assert_allclose(alone.scores, expected.decision_function(given.X[60:]), atol=1e-7)
    np.testing.assert_allclose(alone.cuts, expected.thresholds_, atol=1e-6)


def test_a_refit_does_not_repeat_what_the_fit_said_of_constant_labels(recwarn):
    given = pages.data(5, 120)
    Y = with_gaps(given, 0.3)
    Y[:, 3] = np.nan
    with pytest.warns(ConstantLabelWarning):
        model = CamelClassifier().fit(given.X, Y)
    recwarn.clear()
    alone_of(model, given.X)
    assert not recwarn.list


def test_a_model_without_collaboration_is_its_own_answer():
    model, X = pages.model(5, 60, alpha=0.0), pages.new_rows(5, 60).X
    np.testing.assert_allclose(alone_of(model, X).scores, model.decision_function(X), atol=1e-9)


def own_part_alone(model, X):
    explanation = model.explain(X)
    return explanation.base + explanation.own


@pytest.mark.parametrize(
    ("why", "fit"),
    [
        ("precomputed kernel", lambda X, Y: CamelClassifier(kernel="precomputed").fit(X @ X.T, Y)),
        ("cannot be recovered", lambda X, Y: CamelClassifier(alpha=0.3).fit(X, Y, sample_weight=np.linspace(0.5, 2, len(X)))),
        ("cannot be recovered", lambda X, Y: CamelClassifier(alpha=1.0).fit(X, Y[:, [0, 1, 0]])),
    ],
)
def test_where_a_refit_is_impossible_the_own_part_stands_in_and_the_sentence_says_why(why, fit):
    given = pages.data(3, 80)
    model = fit(given.X, given.Y)
    X = given.X @ given.X.T if model.X_fit_ is None else given.X
    alone = alone_of(model, X)
    assert not alone.is_refit
    assert why in alone.sentence
    np.testing.assert_allclose(alone.scores, own_part_alone(model, X), atol=1e-9)


def test_many_training_rows_are_not_fitted_again(monkeypatch):
    monkeypatch.setattr("skcamel.report.facts.MOST_REFIT", 59)
    alone = alone_of(pages.model(5, 60), pages.new_rows(5, 60).X)
    assert not alone.is_refit
    assert "a refit on 60 training rows would take too long" in alone.sentence
