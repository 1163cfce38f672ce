"""Selection: leave-one-out, folds as refits by hand, groups, ties, undefined criteria, progress."""

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold

from reference.solver import leave_one_out_scores
from skcamel import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifier, CamelClassifierCV
from skcamel.camel.link import fit_link
from skcamel.camel.search import usable
from skcamel.camel.thresholds import thresholds
from skcamel.metrics import LOSSES, NAMES, evaluate
from skcamel.presets import PRESETS


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(70, n_features=6, n_classes=4, n_labels=2, random_state=0)
    return X[:50], Y[:50], X[50:]


SMALL = {"alphas": (0.0, 0.4, 1.0), "lambda1s": (0.5, 1.0), "lambda2s": (0.01, 0.3)}


def larger_is_better(values):
    return {name: -value if name in LOSSES else value for name, value in values.items()}


def of_candidate(search, index):
    return {name: search.cv_results_[f"mean_test_{name}"][index] for name in NAMES}


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1", 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_equal_refitting_each_fold_by_hand(data, threshold, weighted, rng):
    X, Y, _ = data
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=50) if weighted else np.ones(50)
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    grid = {"kernels": ("rbf", "laplacian"), "scalings": ("none", "standard")} | SMALL
    search = CamelClassifierCV(
        **grid, bandwidths=(0.5, 1.0), cv=splits, threshold=threshold, scoring="micro_f1"
    )
    search.fit(X, Y, sample_weight=weights if weighted else None)
    candidates = search.cv_results_["params"]
    assert len(candidates) == 3 * 2 * 2 * 2 * 2 * 2
    for index in range(0, len(candidates), 11):
        params = dict(candidates[index])
        of_all_rows = CamelClassifier(**params | {"bandwidth": "mean"}).fit(X, Y, weights)
        multiplier = params.pop("bandwidth") / of_all_rows.bandwidth_
        by_hand = []
        for train, test in splits:
            mean = CamelClassifier(**params).fit(X[train], Y[train], weights[train]).bandwidth_
            model = CamelClassifier(**params, bandwidth=multiplier * mean, threshold=threshold)
            model.fit(X[train], Y[train], weights[train])
            scores, decisions = model.decision_function(X[test]), model.predict(X[test])
            values = evaluate(Y[test], scores, decisions, sample_weight=weights[test])
            by_hand.append(larger_is_better(values))
        means = {name: np.mean([values[name] for values in by_hand]) for name in NAMES}
        assert of_candidate(search, index) == pytest.approx(means, abs=1e-9)


@pytest.mark.parametrize(("threshold", "scoring"), [("zero", "coverage"), ("macro_f1", "micro_f1")])
def test_leave_one_out_equals_n_refits_that_keep_S_and_sigma(data, threshold, scoring):
    """A metric of decisions compares candidates by tuned thresholds."""
    X, Y, _ = data
    X, Y = X[:20], Y[:20]
    search = CamelClassifierCV(**SMALL, threshold=threshold, scoring=scoring).fit(X, Y)
    S = CamelClassifier().fit(X, Y).label_correlation_
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * search.bandwidth_**2))
    for index, params in enumerate(search.cv_results_["params"]):
        G = (1 - params["alpha"]) * np.eye(4) + params["alpha"] * S
        scores = leave_one_out_scores(K, 2.0 * Y - 1, G, params["lambda1"], params["lambda2"])
        values = evaluate(Y, scores, scores > thresholds(threshold, Y > 0, scores))
        expected = larger_is_better(values)
        assert of_candidate(search, index) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("scoring", NAMES)
def test_results_have_the_shape_that_users_of_grid_search_know(data, scoring):
    X, Y, _ = data
    search = CamelClassifierCV(cv=3, scoring=scoring).fit(X, Y)
    results = search.cv_results_
    assert len(results["params"]) == len(PAPER_ALPHAS) * len(PAPER_LAMBDA2S) == 77
    for key in ("param_alpha", "rank_test_score", "std_test_score", "split2_test_score"):
        assert len(results[key]) == 77
    assert results["rank_test_score"][search.best_index_] == 1
    assert search.best_params_ == results["params"][search.best_index_]
    assert search.best_score_ == results["mean_test_score"].max()
    assert_array_equal(results["mean_test_score"], results[f"mean_test_{scoring}"])
    folds = [results[f"split{k}_test_score"] for k in range(3)]
    assert_allclose(results["mean_test_score"], np.mean(folds, axis=0))
    assert (results["mean_test_ranking_loss"] <= 0).all()


def test_equal_scores_are_decided_by_the_order_of_the_grid(data):
    X, Y, _ = data
    search = CamelClassifierCV(alphas=(0.3, 0.3), lambda2s=(0.1, 0.1)).fit(X, Y)
    assert search.best_index_ == 0
    assert set(search.cv_results_["rank_test_score"]) == {1}


def test_a_number_of_folds_means_what_it_means_in_scikit_learn(data):
    X, Y, _ = data

    def means(labels, **options):
        return CamelClassifierCV(**SMALL, **options).fit(X, labels).cv_results_["mean_test_score"]

    assert_array_equal(means(Y, cv=3), means(Y, cv=KFold(3)))
    shuffled = means(Y, cv=KFold(3, shuffle=True, random_state=5))
    assert_array_equal(means(Y, cv=np.int64(3), random_state=5), shuffled)
    y = np.arange(50) % 3
    assert_array_equal(means(y, cv=3), means(y, cv=StratifiedKFold(3)))


@pytest.mark.parametrize("weights", [None, 1 + np.arange(50) % 3.0], ids=["", "weights"])
def test_a_kernel_matrix_is_split_on_both_sides(data, weights):
    X, Y, new = data
    by_rows = CamelClassifierCV(**SMALL, cv=3, kernels=(lambda A, B: A @ B.T,)).fit(X, Y, weights)
    by_matrix = CamelClassifierCV(**SMALL, cv=3, kernels=("precomputed",)).fit(X @ X.T, Y, weights)
    scores = (own.cv_results_["mean_test_score"] for own in (by_matrix, by_rows))
    assert_allclose(*scores, atol=1e-9)
    expected = by_rows.decision_function(new)
    assert_allclose(by_matrix.decision_function(new @ X.T), expected, atol=1e-8)


@pytest.mark.parametrize("cv", ["loo", 3])
@pytest.mark.parametrize("solver", ["spectral", "landmark"])
@pytest.mark.parametrize("kernels", [("rbf", "laplacian"), ("linear",)])
def test_the_best_parameters_give_the_fitted_model_again(data, cv, solver, kernels):
    """Its bandwidth was a multiple in one class and σ in the other."""
    X, Y, new = data
    shared = {"solver": solver, "n_landmarks": 20, "threshold": "common", "correlation": "centred"}
    grid = {**SMALL, "bandwidths": (0.5, 2.0), "kernels": kernels, "scalings": ("standard", "none")}
    search = CamelClassifierCV(**grid, cv=cv, **shared).fit(X, Y)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    again = CamelClassifier(**search.best_params_, **shared).fit(X, Y)
    assert_allclose(again.decision_function(new), search.decision_function(new), atol=1e-9)
    assert_allclose(again.thresholds_, search.thresholds_, atol=1e-9)
    assert search.bandwidth_multiplier_ in (0.5, 2.0)


@pytest.mark.parametrize("cv", ["loo", 3])
@pytest.mark.parametrize("weights", [None, 1 + np.arange(50) % 3.0], ids=["", "weights"])
def test_lambda2_of_the_linear_kernel_counts_mean_eigenvalues(data, cv, weights):
    X, Y, _ = data
    share = np.full(50, 1 / 50) if weights is None else weights / weights.sum()
    unit = share @ ((X - share @ X) ** 2).sum(axis=1)
    model = CamelClassifierCV((0.5,), lambda2s=(0.1, 2.0), kernels=("linear",), cv=cv)
    near = model.fit(X, Y, sample_weight=weights).decision_function(X)
    assert_allclose(model.cv_results_["param_lambda2"], [0.1 * unit, 2 * unit])
    far = model.fit(1000 * X, Y, sample_weight=weights).decision_function(1000 * X)
    assert_allclose(far, near, atol=1e-9)


def test_a_criterion_that_no_row_defines_gives_way_to_hamming_loss(data):
    X, Y, _ = data
    models = [
        CamelClassifierCV(scoring=name).fit(X, Y[:, :1]) for name in ("coverage", "hamming_loss")
    ]
    assert models[0].scoring_ == models[1].scoring_ == "hamming_loss"
    assert models[0].best_params_ == models[1].best_params_
    full, one_more = np.ones((3, 2)), np.array([[1.0, -1.0]])
    assert usable("coverage", full) == "hamming_loss"
    assert usable("coverage", np.vstack([full, one_more]), np.eye(4)[0]) == "hamming_loss"
    assert usable("macro_f1", full) == "macro_f1"


def test_representations_take_the_place_of_the_product(data):
    tried = (("standard", "laplacian", 0.5), ("none", "rbf", 2.0))
    model = CamelClassifierCV((0.5,), lambda2s=(0.1,), representations=tried).fit(*data[:2])
    found = [(p["scaling"], p["kernel"]) for p in model.cv_results_["params"]]
    assert found == [place[:2] for place in tried]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_gives_an_estimator_whose_parameters_can_be_overruled(preset):
    changed = {"sparsity": 0.5, "alphas": (0.2,)}
    model = CamelClassifierCV.from_preset(preset, **changed)
    assert model.get_params() == CamelClassifierCV(**PRESETS[preset] | changed).get_params()
    with pytest.raises(ValueError, match="preset"):
        CamelClassifierCV.from_preset("fastest")


def test_progress_goes_to_callback_and_log_and_is_never_printed(data, caplog, capsys):
    X, Y, _ = data
    seen = []
    with caplog.at_level(logging.INFO, logger="skcamel"):
        CamelClassifierCV(**SMALL, bandwidths=(0.5, 1.0), callback=seen.append).fit(X, Y)
    assert [(p.done, p.total) for p in seen] == [(12, 24), (24, 24)]
    assert seen[1].best_score >= seen[0].best_score
    assert sum("24 of 24 candidates" in message for message in caplog.messages) == 1
    assert capsys.readouterr().out == ""


# Groups


@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()])
def test_groups_reach_the_splitter(splitter, data, rng):
    X, Y, _ = data
    groups = rng.permutation(np.arange(50) % 7)
    splits = list(splitter.split(X, Y, groups))
    grouped = CamelClassifierCV(cv=splitter, **SMALL).fit(X, Y, groups=groups)
    by_hand = CamelClassifierCV(cv=splits, **SMALL).fit(X, Y)
    assert grouped.best_params_ == by_hand.best_params_
    for key in (f"split{k}_test_score" for k in range(len(splits))):
        assert_array_equal(grouped.cv_results_[key], by_hand.cv_results_[key])
    with pytest.raises(ValueError, match=r"but cv=3 does not use them; .* cv=GroupKFold\(5\)"):
        CamelClassifierCV(cv=3, **SMALL).fit(X, Y, groups=np.arange(50))


@pytest.mark.parametrize("solver", ["spectral", "landmark", "primal"])
def test_groups_leave_together_exactly(solver, data, rng):
    X, Y, _ = data
    options = {"landmark": {"landmarks": X}, "primal": {"kernel": "linear"}}.get(solver, {})
    model = CamelClassifier(0.0, bandwidth=2.0, solver=solver, **options)  # S and σ are held
    plain = clone(model).fit(X, Y)
    groups = rng.permutation(np.arange(50) % 13)
    scores = np.empty(Y.shape)
    for inside in (groups == group for group in range(13)):
        scores[inside] = clone(model).fit(X[~inside], Y[~inside]).decision_function(X[inside])
    fitted = clone(model).fit(X, Y, groups=[f"person {group}" for group in groups])
    assert fitted.estimate_ == pytest.approx(evaluate(Y, scores, scores > 0), abs=1e-9)
    assert_allclose(fitted.decision_function(X), plain.decision_function(X))
    assert_allclose(fitted.link_slopes_, fit_link(Y > 0, scores)[0].slope, rtol=1e-6)
    tuned = clone(model).set_params(threshold="macro_f1").fit(X, Y, groups=groups)
    assert_allclose(tuned.thresholds_, thresholds("macro_f1", Y > 0, scores), atol=1e-9)
    one_each = clone(model).fit(X, Y, groups=np.arange(50))
    assert one_each.estimate_ == pytest.approx(plain.estimate_, abs=1e-9)
