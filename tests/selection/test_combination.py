"""Representations combined: weights against a literal solution, and everything a model can do done by its members."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone

from skcamel import CamelClassifier, CamelClassifierCV, load, save
from skcamel.camel.representation import Data
from skcamel.camel.search import combine

TRIED = (
    ("none", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("rank", "laplacian", 1.0),
    ("unit", "linear", 1.0),
)
OPTIONS = {
    "alphas": (0.0, 0.4, 0.8),
    "lambda2s": (0.01, 0.1, 1.0),
    "representations": TRIED,
    "combine": True,
    "threshold": "micro_f1",
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.gamma(0.4, size=(130, 5))
    Y = (np.log(X + 0.01) @ rng.normal(size=(5, 4)) + rng.normal(size=(130, 4)) > 1).astype(int)
    return X[:90], Y[:90], X[90:], Y[90:]


@pytest.fixture(scope="module")
def model(rows):
    return CamelClassifierCV(**OPTIONS).fit(rows[0], rows[1])


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_weights_are_those_of_literal_least_squares(seed, weighted):
    rng = np.random.default_rng(seed)
    Y = np.where(rng.random((12, 3)) < 0.4, 1.0, -1.0)
    scores = [0.3 * Y + rng.normal(size=Y.shape) for _ in range(4)]
    w = rng.integers(1, 4, size=12).astype(float) if weighted else np.ones(12)
    found = combine(Data(np.empty((12, 0)), Y, w), scores)
    repeats = w.astype(int)
    index = np.repeat(np.arange(12), repeats)
    means = (Y[index].sum(axis=0) - Y) / (len(index) - 1)
    literal, _ = nnls(
        np.column_stack([(F - means)[index].ravel() for F in scores]), (Y - means)[index].ravel()
    )
    np.testing.assert_allclose(found.weights, literal, atol=1e-6)
    np.testing.assert_allclose(
        found.scores, means + np.tensordot(found.weights, np.array(scores) - means, 1), atol=1e-12
    )


def test_scores_are_the_weighted_sum_of_the_members_and_of_the_label_means(rows, model):
    X, Y, new, _ = rows
    assert 1 < len(model.members_) == len(model.weights_) <= 4
    assert (model.weights_ > 0).all()
    mean = (2.0 * Y - 1).mean(axis=0)
    total = sum(
        w * member.decision_function(new)
        for w, member in zip(model.weights_, model.members_, strict=True)
    )
    np.testing.assert_allclose(
        model.decision_function(new), total + (1 - model.weights_.sum()) * mean, atol=1e-12
    )
    alone = [clone(member).fit(X, Y) for member in model.members_]
    literal = mean + sum(
        w * (own.decision_function(new) - mean)
        for w, own in zip(model.weights_, alone, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(new), literal, atol=1e-9)
    assert all(
        isinstance(member, CamelClassifier) and member.alpha <= 0.5 for member in model.members_
    )


def test_answers_follow_from_the_scores(rows, model):
    _, _, new, _ = rows
    scores = model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new), scores > model.thresholds_)
    explained = model.explain(new)
    np.testing.assert_allclose(explained.scores, scores, atol=1e-10)


def test_without_any_signal_there_is_still_an_answer(rng):
    X, Y = rng.normal(size=(40, 2)), (rng.random((40, 3)) < 0.5).astype(int)
    model = CamelClassifierCV(representations=TRIED[:2], combine=True).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    against = [-(2.0 * Y - 1), -2 * (2.0 * Y - 1)]  # members that contradict every label
    np.testing.assert_array_equal(
        combine(Data(X, 2.0 * Y - 1, np.ones(len(X))), against).weights, [1.0, 0.0]
    )


def test_one_label_and_classes_can_be_combined(rows):
    X, Y, new, _ = rows
    for y in (Y[:, :1], Y[:, 0], Y[:, 0] + Y[:, 1]):
        model = CamelClassifierCV(**OPTIONS).fit(X, y)
        assert model.predict(new).shape == (40, *y.shape[1:])


def test_standardised_columns_of_sparse_rows_are_no_members(rows):
    X, Y, _, _ = rows
    thin = sparse.csr_array(np.where(X > 0.3, X, 0.0))
    model = CamelClassifierCV(**OPTIONS).fit(thin, Y)
    assert all(member.scaling in ("none", "unit") for member in model.members_)
    only = CamelClassifierCV(**OPTIONS | {"representations": (("standard", "rbf", 1.0),)}).fit(
        thin, Y
    )
    assert [member.scaling for member in only.members_] == ["standard"]


@pytest.mark.parametrize("combined", [False, True])
def test_the_estimate_is_that_of_the_model_by_leave_one_out(rows, combined):
    """Literally: each row left out, scores by the formula of the members, thresholds as the model has them."""
    from skcamel.camel import search as selection
    from skcamel.metrics import evaluate

    X, Y, _, _ = rows
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "skcamel.camel.classifier_cv.search",
            lambda *args, **options: seen.append(selection.search(*args, **options)) or seen[0],
        )
        model = CamelClassifierCV(**OPTIONS | {"combine": combined}).fit(X, Y)
    mean = (np.where(Y > 0, 1.0, -1.0).sum(axis=0) - np.where(Y > 0, 1.0, -1.0)) / (len(Y) - 1)
    scores = seen[0].models[0].scores
    if combined:
        live = [own for own in seen[0].models if own.params in model.best_params_["members"]]
        scores = mean + sum(
            w * (own.scores - mean) for w, own in zip(model.weights_, live, strict=True)
        )
    assert model.estimate_ == pytest.approx(
        evaluate(Y, scores, scores > model.thresholds_), abs=1e-12
    )


@given(st.integers(0, 2**32 - 1))
def test_rows_of_a_group_do_not_learn_from_each_other(seed):
    rng = np.random.default_rng(seed)
    Y, groups = np.where(rng.random((12, 3)) < 0.4, 1.0, -1.0), rng.integers(0, 4, size=12)
    assume(len(set(groups)) > 1)
    _, groups = np.unique(groups, return_inverse=True)
    F = Y + rng.normal(size=Y.shape)
    found = combine(Data(np.empty((12, 0)), Y, np.ones(12), groups), [F])
    means = np.array([Y[groups != group].mean(axis=0) for group in groups])
    literal, _ = nnls((F - means).reshape(-1, 1), (Y - means).ravel())
    assume(literal[0] > 0)
    np.testing.assert_allclose(found.weights, literal, atol=1e-6)
    np.testing.assert_allclose(found.scores, means + literal * (F - means), atol=1e-6)


# Log-odds


@pytest.fixture(scope="module")
def linked():
    """A model whose scores are log-odds: two labels that features explain, and two that occur in half of the rows at random."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    Y = np.column_stack([X[:, :2] > 1.0, rng.random((400, 2)) < 0.45]).astype(int)
    model = CamelClassifierCV(**OPTIONS, scores="log_odds").fit(X[:300], Y[:300])
    return model, X[:300], Y[:300], X[300:], Y[300:]


def test_linked_scores_are_taken_apart_kept_and_shown_like_any(linked, tmp_path):
    model, _, _, new, truth = linked
    scores = model.decision_function(new)
    np.testing.assert_allclose(model.explain(new).scores, scores, atol=1e-9)
    np.testing.assert_array_equal(model.predict_proba(new) > 0.5, scores > 0)
    save(model, tmp_path / "m.skcamel")
    np.testing.assert_array_equal(load(tmp_path / "m.skcamel").decision_function(new), scores)
