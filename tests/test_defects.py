"""One test for each defect of the core that was found: what went wrong once."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import landmark, spectral
from skcamel.camel.kernel import Kernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, :3] + RNG.normal(size=(60, 3)) > 0).astype(int)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e7, 1e10])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_sums_never_returns_the_truth(scale, weighted):
    """With more columns than rows 1 - h and the residual both cancelled, and every label was known."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 60)) * scale
    labels = np.where(rng.random((40, 4)) < 0.4, 1.0, -1.0)
    weights = rng.choice([0.5, 1.0, 3.0], 40) if weighted else None
    basis = spectral.label_basis(0.7 * np.eye(4) + 0.05)
    centred = rows - np.average(rows, axis=0, weights=weights)
    spectrum = spectral.decompose(centred @ centred.T, weights)
    (exact,) = spectral.leave_one_out(
        spectrum, spectral.project(spectrum, labels), [basis], [(1.0, 0.1)]
    )
    of = landmark.Features(Kernel("linear"), None, rows.mean(axis=0))
    block = landmark.Block(rows, labels, weights)
    summary = landmark.summarise(of, landmark.moments(of, [lambda: block], 4), block)
    (found,) = landmark.leave_one_out(summary, summary.targets, [basis], [(1.0, 0.1)])
    assert_allclose(found, exact, atol=1e-6)
    gone = (
        np.ones(40, dtype=bool) if weights is None else weights <= 1
    )  # of other rows a copy is left
    assert np.median(abs(found - labels)[gone]) > 0.1


@pytest.mark.parametrize("solver", ["spectral", "primal"])
def test_nothing_is_learned_from_no_other_row(solver):
    model = CamelClassifier(kernel="linear", solver=solver)
    with pytest.warns(UserWarning, match="nothing can be learned"):
        model.fit(X[:1], Y[:1])
    assert model.estimate_["hamming_loss"] == Y[:1].mean()  # the score of a row is 0 without it


def test_a_random_state_is_honoured_whatever_its_kind():
    def landmarks(state):
        return (
            CamelClassifier(solver="landmark", n_landmarks=5, random_state=state).fit(X, Y).X_fit_
        )

    one, other = landmarks(np.random.RandomState(1)), landmarks(np.random.RandomState(2))
    assert not np.array_equal(one, other)
    assert_array_equal(one, landmarks(np.random.RandomState(1)))
    assert_array_equal(landmarks(None), landmarks(None))
    assert not np.array_equal(landmarks(3), landmarks(4))


def test_batches_under_a_random_state_are_the_sample_of_all_rows():
    how = {"solver": "landmark", "landmarks": X[:9], "bandwidth": 2.0, "threshold": "label"}
    model = CamelClassifier(**how, random_state=np.random.RandomState(0))
    for start in range(0, 60, 20):
        model.partial_fit(X[start : start + 20], Y[start : start + 20])
    whole = CamelClassifier(**how).fit(X, Y)
    assert_allclose(model.thresholds_, whole.thresholds_, atol=1e-8)


@pytest.mark.parametrize("name", ["column_names", "columns", "iloc", "index", "T", "shape"])
def test_a_column_may_have_any_name(name):
    frame = pd.DataFrame(X, columns=[name, "b", "c", "d"])
    labels = pd.DataFrame(Y, columns=[name, "sea", "sun"])
    model = CamelClassifier().fit(frame, labels)
    assert model.predict(frame).shape == Y.shape
    assert model.label_names_.tolist() == [name, "sea", "sun"]


def test_combined_models_of_constant_rows_have_weights_of_order_one():
    """The weights were quotients of rounding errors, 9e13."""
    rows, labels = np.ones((30, 3)), (RNG.random((30, 3)) < 0.4).astype(int)
    model = CamelClassifierCV.from_preset("best").fit(rows, labels)
    assert model.weights_.max() <= 1
    scores = model.decision_function(rows)
    assert_array_equal(scores, scores[:1].repeat(30, axis=0))
    told = model.explain(rows)
    assert_allclose(told.base + told.parts.sum(axis=1), scores, atol=1e-9)


@pytest.mark.parametrize("solver", ["spectral", "landmark", "primal"])
@pytest.mark.parametrize(("q", "sparsity"), [(1, 0.01), (2, 1.0)])
def test_labels_that_no_prediction_reaches_have_the_score_0(solver, q, sparsity):
    kernel = "linear" if solver == "primal" else "rbf"
    model = CamelClassifier(alpha=1, sparsity=sparsity, solver=solver, kernel=kernel).fit(
        X, Y[:, :q]
    )
    assert_array_equal(model.decision_function(X), 0.0)
    assert not model.predict(X).any()


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_a_search_counts_rows_with_weight(solver):
    weights = np.eye(60)[3]
    with pytest.raises(ValueError, match="needs at least 2 rows with weight, got n_samples = 1"):
        CamelClassifierCV(solver=solver).fit(X, Y, sample_weight=weights)


def test_a_batch_without_weight_changes_nothing():
    model = CamelClassifier(solver="landmark", n_landmarks=9)
    with pytest.raises(
        ValueError, match="All weights in sample_weight are zero, and no row came before"
    ):
        model.partial_fit(X, Y, sample_weight=np.zeros(60))
    before = model.partial_fit(X, Y).decision_function(X)
    assert_array_equal(
        model.partial_fit(X, Y, sample_weight=np.zeros(60)).decision_function(X), before
    )


@pytest.mark.parametrize("kernel", ["rbf", "exponential", "linear"])
def test_rows_that_overflow_are_refused_by_number(kernel):
    model = CamelClassifier(kernel=kernel).fit(X, Y)
    rows = np.vstack([X[:1], X[:1] * 1e308])
    with pytest.raises(
        ValueError,
        match=r"Row 1 of X \(from 0\) has features so large that its scores are no numbers",
    ):
        model.decision_function(rows)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_members_predict_what_their_parameters_give(solver):
    """Their intercepts held a share of the combination's, and 1.5 % of the decisions differed from a refit."""
    tried = [("none", "rbf", 1.0), ("standard", "laplacian", 0.5), ("unit", "linear", 1.0)]
    model = CamelClassifierCV(
        representations=tried, combine=True, solver=solver, n_landmarks=20
    ).fit(X, Y)
    total = np.zeros(Y.shape)
    for weight, member in zip(model.weights_, model.members_, strict=True):
        again = CamelClassifier(**member.get_params()).fit(X, Y)
        assert_allclose(member.decision_function(X), again.decision_function(X), atol=1e-8)
        total += weight * member.decision_function(X)
    rest = model.decision_function(X) - total
    assert_allclose(rest, rest[:1].repeat(60, axis=0), atol=1e-9)


def test_the_best_score_of_a_combination_is_that_of_the_combination():
    tried = [("none", "rbf", 1.0), ("standard", "laplacian", 0.5)]
    for scoring in ("average_precision", "coverage"):
        model = CamelClassifierCV(representations=tried, combine=True, scoring=scoring).fit(X, Y)
        sign = -1 if scoring == "coverage" else 1
        assert model.best_score_ == pytest.approx(sign * model.estimate_[scoring], abs=1e-12)
