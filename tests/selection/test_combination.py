"""Representations combined: weights against a literal solution, answers against the members."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import correlation
from skcamel.camel import search as selection
from skcamel.camel.representation import Data, Grid, represent
from skcamel.camel.search import combine
from skcamel.metrics import evaluate

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


def signed(Y):
    return np.where(Y > 0, 1.0, -1.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["rows", "weights", "groups"]))
def test_weights_are_those_of_literal_least_squares(seed, kind):
    """Means of labels are those of what stays when a row, one copy of it, or its group leaves."""
    rng = np.random.default_rng(seed)
    Y = signed(rng.random((12, 3)) < 0.4)
    scores = np.array([0.3 * Y + rng.normal(size=Y.shape) for _ in range(4)])
    w = rng.integers(1, 4, size=12) if kind == "weights" else np.ones(12, dtype=int)
    groups = None
    means = (w @ Y - Y) / (w.sum() - 1)
    if kind == "groups":
        groups = np.unique(rng.integers(0, 4, size=12), return_inverse=True)[1]
        assume(groups.max() > 0)
        means = np.array([Y[groups != group].mean(axis=0) for group in groups])
    index = np.repeat(np.arange(12), w)
    columns = [(F - means)[index].ravel() for F in scores]
    literal, _ = nnls(np.column_stack(columns), (Y - means)[index].ravel())
    assume(literal.any())
    found = combine(Data(np.empty((12, 0)), Y, w * 1.0, groups), list(scores))
    assert_allclose(found.weights, literal, atol=1e-6)
    expected = means + np.tensordot(found.weights, scores - means, 1)
    assert_allclose(found.scores, expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_scores_are_the_weighted_sum_of_the_members_and_of_the_label_means(rows, solver):
    """Intercepts of members held a share of the combination's: decisions differed from a refit."""
    X, Y, new, _ = rows
    model = CamelClassifierCV(**OPTIONS, solver=solver, n_landmarks=20).fit(X, Y)
    assert 1 < len(model.members_) == len(model.weights_) <= 4
    assert (model.weights_ > 0).all()
    mean = signed(Y).mean(axis=0)
    for members, atol in ((model.members_, 1e-12), (map(clone, model.members_), 1e-9)):
        total = mean * (1 - model.weights_.sum())
        for weight, member in zip(model.weights_, members, strict=True):
            fitted = member if hasattr(member, "dual_coef_") else member.fit(X, Y)
            assert isinstance(fitted, CamelClassifier)
            assert fitted.alpha <= 0.5
            total = total + weight * fitted.decision_function(new)
        assert_allclose(model.decision_function(new), total, atol=atol)


def test_without_any_signal_there_is_still_an_answer(rng):
    X, Y = rng.normal(size=(40, 2)), (rng.random((40, 3)) < 0.5).astype(int)
    model = CamelClassifierCV(representations=TRIED[:2], combine=True).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    against = [-signed(Y), -2 * signed(Y)]  # members that contradict every label
    found = combine(Data(X, signed(Y), np.ones(len(X))), against)
    assert_array_equal(found.weights, [1.0, 0.0])


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
    only = OPTIONS | {"representations": (("standard", "rbf", 1.0),)}
    model = CamelClassifierCV(**only).fit(thin, Y)
    assert [member.scaling for member in model.members_] == ["standard"]


@pytest.mark.parametrize("combined", [False, True])
def test_the_estimate_is_that_of_the_model_by_leave_one_out(rows, combined, monkeypatch):
    """Literally: rows left out, scores by the formula of the members, thresholds of the model."""
    X, Y, _, _ = rows
    seen, search = [], selection.search

    def watched(*arguments, **options):
        seen.append(search(*arguments, **options))
        return seen[0]

    monkeypatch.setattr("skcamel.camel.classifier_cv.search", watched)
    model = CamelClassifierCV(**OPTIONS | {"combine": combined}).fit(X, Y)
    scores = seen[0].models[0].scores
    if combined:
        mean = (signed(Y).sum(axis=0) - signed(Y)) / (len(Y) - 1)
        live = [own for own in seen[0].models if own.params in model.best_params_["members"]]
        parts = zip(model.weights_, live, strict=True)
        scores = mean + sum(weight * (own.scores - mean) for weight, own in parts)
    expected = evaluate(Y, scores, scores > model.thresholds_)
    assert model.estimate_ == pytest.approx(expected, abs=1e-12)


def test_members_have_the_least_squared_error_of_each_representation(rows):
    X, Y, _, _ = rows
    data, S = Data(X, signed(Y), np.ones(len(X))), correlation.learn(signed(Y)).S
    grid = Grid((0.0, 0.4, 0.8), (1.0,), (0.01, 0.1, 1.0), TRIED)

    def models(grid, **options):
        found = represent(data, grid, None)
        return selection.search(found, grid, S, "average_precision", **options).models

    members = models(grid, combine=True)
    assert len(members) == len(TRIED)
    for k, member in enumerate(members):
        alone = [models(grid.only(index))[0] for index in range(9 * k, 9 * k + 9)]
        allowed = [own for own in alone if own.params["alpha"] <= 0.5]
        best = min(allowed, key=lambda own: ((own.scores - data.Y) ** 2).sum())
        assert member.params == best.params
