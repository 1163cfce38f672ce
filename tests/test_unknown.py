"""Estimators that learn from labels of which some are unknown: what counts, what does not, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from reference.solver import known_entries_scores
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import BinaryRelevance
from skcamel.camel import correlation
from skcamel.checks import ConstantLabelWarning
from skcamel.metrics import average_precision, evaluate, get_scorer

GRID = {"alphas": (0.0, 0.4, 0.8), "lambda2s": (0.02, 0.2), "scalings": ("standard",)}


def make(n=60, q=4, share=0.4, seed=0):
    """Rows, labels in {0, 1}, and labels with some of them unknown; every label has both values among the known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = (X @ rng.normal(size=(3, q)) + 0.7 * rng.normal(size=(n, q)) > 0.3).astype(float)
    hidden = np.where(rng.random((n, q)) < share, np.nan, Y)
    hidden[:2], hidden[2:4] = 1.0, 0.0
    return X, Y, hidden


def literal_metrics(Y, scores, cuts):
    """Each metric from the rows, labels and entries that are known, one by one."""
    found = {name: [] for name in ("one_error", "coverage", "ranking_loss", "average_precision")}
    for y, f in zip(Y, scores, strict=True):
        k = ~np.isnan(y)
        if 0 < y[k].sum() < k.sum():
            row = evaluate(y[k][None], f[k][None], f[k][None] > 0)
            for name, values in found.items():
                values.append(row[name])
    means = {name: float(np.mean(values)) if values else np.nan for name, values in found.items()}
    known, decided = ~np.isnan(Y), scores > cuts
    f1, hits, size = [], 0, 0
    for j in range(Y.shape[1]):
        y, p = Y[known[:, j], j] > 0, decided[known[:, j], j]
        hits, size = hits + 2 * (y & p).sum(), size + y.sum() + p.sum()
        if known[:, j].any():
            f1.append(2 * (y & p).sum() / (y.sum() + p.sum()) if (y | p).any() else 1.0)
    return means | {
        "hamming_loss": np.mean((Y > 0)[known] != decided[known]),
        "macro_f1": np.mean(f1),
        "micro_f1": hits / size,
    }


@pytest.mark.parametrize("correlation_kind", ["paper", "centred"])
def test_a_fit_is_the_literal_solution_for_the_known_entries(correlation_kind):
    X, _, Y = make(25)
    model = CamelClassifier(0.4, lambda2=0.1, bandwidth=2.0, correlation=correlation_kind).fit(X, Y)
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
def test_the_order_of_rows_labels_and_columns_does_not_matter(seed, share, alpha):
    X, _, Y = make(20, 3, share, seed)
    rng = np.random.default_rng(seed)
    rows, labels, columns = rng.permutation(20), rng.permutation(3), rng.permutation(3)
    model, other = (
        CamelClassifier(alpha).fit(x, y)
        for x, y in ((X, Y), (X[np.ix_(rows, columns)], Y[np.ix_(rows, labels)]))
    )
    turned = X[:, columns]
    assert_allclose(
        other.decision_function(turned), model.decision_function(X)[:, labels], atol=1e-6
    )
    assert_allclose(
        other.predict_proba(turned), model.predict_proba(X)[:, labels], atol=0.01
    )  # by approximate leave-one-out
    by_column, others = (
        own.explain(x, features=True).features for own, x in ((model, X), (other, turned))
    )
    assert_allclose(others, by_column[:, columns][:, :, labels], atol=1e-6)


@given(st.integers(0, 10_000), st.floats(0.05, 0.8))
def test_integer_weights_are_repeated_rows(seed, share):
    X, _, Y = make(20, 3, share, seed)
    weights = np.random.default_rng(seed).integers(0, 3, size=20)
    weights[:4] = 2
    index = np.repeat(np.arange(20), weights)
    weighted = CamelClassifier(0.4).fit(X, Y, sample_weight=weights)
    repeated = CamelClassifier(0.4).fit(X[index], Y[index])
    assert_allclose(weighted.label_correlation_, repeated.label_correlation_, atol=1e-6)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_rows_without_any_known_label_only_move_the_average_row():
    X, _, Y = make()
    rng = np.random.default_rng(1)
    more, nothing = (
        np.vstack([X, rng.normal(size=(15, 3))]),
        np.vstack([Y, np.full((15, 4), np.nan)]),
    )
    with_them, without = (
        CamelClassifier(bandwidth=1.5).fit(*part) for part in ((more, nothing), (X, Y))
    )
    assert_allclose(with_them.label_correlation_, without.label_correlation_, atol=1e-9)
    assert_allclose(with_them.decision_function(X), without.decision_function(X), atol=1e-8)
    assert_array_equal(with_them.cooccurrence_, without.cooccurrence_)
    assert abs(with_them.base_scores_ - without.base_scores_).max() > 1e-3


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1", "hamming_loss"])
@pytest.mark.parametrize(
    "make_model", [CamelClassifier, lambda **o: CamelClassifierCV(**GRID, **o)]
)
def test_a_label_that_nobody_knows_scores_0_and_is_not_predicted(threshold, make_model):
    X, _, Y = make()
    Y[:, 1] = np.nan
    with pytest.warns(ConstantLabelWarning, match=r"1 of 4 labels have no known entry \(label2\)"):
        model = make_model(threshold=threshold).fit(X, Y)
    assert not model.decision_function(X)[:, 1].any()
    assert not model.predict(X)[:, 1].any()
    assert_array_equal(model.predict_proba(X)[:, 1], 0.5)
    assert not model.label_correlation_[1].any()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("model", [CamelClassifier(), BinaryRelevance()], ids=str)
def test_score_is_the_share_of_rows_whose_known_labels_are_right(model):
    X, Y, hidden = make(40)
    hidden[5] = np.nan
    P, weights = model.fit(X, Y).predict(X), np.arange(40.0)
    judged = [
        (all(p == y for p, y in zip(P[i], hidden[i], strict=True) if y == y), weights[i])
        for i in range(40)
        if i != 5
    ]
    assert model.score(X, hidden) == pytest.approx(np.mean([right for right, _ in judged]))
    right, weight = np.array(judged).T
    assert model.score(X, 2 * hidden - 1, sample_weight=weights) == pytest.approx(
        right @ weight / weight.sum()
    )
    with pytest.raises(ValueError, match="y has 3 labels but the model 4"):
        model.score(X, hidden[:, :3])
    with pytest.raises(ValueError, match="no known entry"):
        model.score(X, np.full(Y.shape, np.nan))


def test_the_correlation_comes_from_rows_that_know_both_labels():
    _, _, Y = make(200, 3)
    Y = 2 * Y - 1
    Y[:100, 2], Y[100:, 0] = np.nan, np.nan  # labels 0 and 2 are never known together
    C = correlation.gram(Y)
    both = ~np.isnan(Y[:, 0]) & ~np.isnan(Y[:, 1])
    assert C[0, 2] == 0
    assert_allclose(np.diag(C), 200)
    mean = (Y[both, 0] * Y[both, 1]).mean()
    assert abs(C[0, 1]) <= 200 * abs(mean) + 1e-9
    assert np.sign(C[0, 1]) == np.sign(mean)
    found = correlation.learn(Y)
    assert found.violation.max() < 1e-6
    assert found.S[0, 2] == 0 or abs(C[0, 1] * C[1, 2]) > 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cv": 3},
        {"cv": 3, "threshold": "label"},
        {"threshold": "macro_f1", "scoring": "macro_f1"},
    ],
)
def test_a_search_refits_its_choice_exactly(options):
    X, _, Y = make(80)
    found = CamelClassifierCV(**GRID, **options).fit(X, Y)
    model = CamelClassifier(found.alpha_, found.lambda1_, found.lambda2_, scaling="standard").fit(
        X, Y
    )
    assert_allclose(found.decision_function(X), model.decision_function(X), atol=1e-9)
    assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-6)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_folds_are_scored_as_refits_on_known_entries_would_be():
    X, _, Y = make(90)
    splits = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    found = CamelClassifierCV(**GRID, cv=splits).fit(X, Y)
    for k, params in enumerate(found.cv_results_["params"]):
        values = []
        for train, test in splits:
            model = CamelClassifier(
                params["alpha"], lambda2=params["lambda2"], scaling="standard"
            ).fit(X[train], Y[train])
            values.append(literal_metrics(Y[test], model.decision_function(X[test]), np.zeros(4)))
        for name in ("average_precision", "macro_f1"):
            assert found.cv_results_[f"mean_test_{name}"][k] == pytest.approx(
                np.mean([v[name] for v in values]), abs=0.02
            )


def test_what_cannot_take_unknown_labels_says_so():
    X, _, Y = make()
    with pytest.raises(ValueError, match="solver='alternating' takes complete labels"):
        CamelClassifier(solver="alternating").fit(X, Y)
    with pytest.raises(ValueError, match="no known entry"):
        CamelClassifier().fit(X, np.full(Y.shape, np.nan))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        CamelClassifier().fit(X, np.where(np.arange(60) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        CamelClassifier().fit(np.where(X > 2, np.nan, X), Y)


def test_a_1d_y_with_gaps_is_refused_with_the_way_out():
    X, _, Y = make()
    with pytest.raises(
        ValueError,
        match=r"Input y contains NaN in \d+ rows, .* y\[:, None\] for one, where NaN means unknown",
    ):
        CamelClassifier().fit(X, Y[:, 0])
    assert CamelClassifier().fit(X, Y[:, :1]).predict(X).shape == (60, 1)


def test_a_search_of_scikit_learn_takes_unknown_labels_if_it_is_given_a_splitter():
    X, _, Y = make()
    found = GridSearchCV(
        CamelClassifier(),
        {"alpha": [0.0, 0.5]},
        cv=KFold(3),
        scoring=get_scorer("average_precision"),
    ).fit(X, Y)
    folds = list(KFold(3).split(X))
    for alpha, mean in zip((0.0, 0.5), found.cv_results_["mean_test_score"], strict=True):
        models = [
            CamelClassifier(alpha).fit(X[train], Y[train]).decision_function(X[test])
            for train, test in folds
        ]
        assert mean == pytest.approx(
            np.mean(
                [average_precision(Y[test], F) for (_, test), F in zip(folds, models, strict=True)]
            )
        )
