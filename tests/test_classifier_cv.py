"""Selection: exact leave-one-out, folds as refitting by hand, ties, undefined criteria, progress."""

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold

from skcamel import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifier, CamelClassifierCV
from skcamel.camel.link import fit_link
from skcamel.camel.thresholds import thresholds
from skcamel.metrics import LOSSES, NAMES, evaluate


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(70, n_features=6, n_classes=4, n_labels=2, random_state=0)
    return X[:50], Y[:50], X[50:]


SMALL = {"alphas": (0.0, 0.4, 1.0), "lambda1s": (0.5, 1.0), "lambda2s": (0.01, 0.3)}


def by_hand(model, X, Y, train, test, sample_weight=None):
    weights = None if sample_weight is None else sample_weight[train]
    model.fit(X[train], Y[train], sample_weight=weights)
    values = evaluate(
        Y[test],
        model.decision_function(X[test]),
        model.predict(X[test]),
        sample_weight=None if sample_weight is None else sample_weight[test],
    )
    return {name: -value if name in LOSSES else value for name, value in values.items()}


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1", 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_equal_refitting_each_fold_by_hand(data, threshold, weighted, rng):
    X, Y, _ = data
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=50) if weighted else None
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    grid = {
        **SMALL,
        "bandwidths": (0.5, 1.0),
        "kernels": ("rbf", "laplacian"),
        "scalings": ("none", "standard"),
    }
    search = CamelClassifierCV(**grid, cv=splits, threshold=threshold, scoring="micro_f1").fit(
        X, Y, sample_weight=weights
    )
    candidates = search.cv_results_["params"]
    assert len(candidates) == 3 * 2 * 2 * 2 * 2 * 2
    for index in range(0, len(candidates), 7):
        params = dict(candidates[index])
        of_all_rows = params.pop("bandwidth")
        multiplier = (
            of_all_rows / CamelClassifier(**params).fit(X, Y, sample_weight=weights).bandwidth_
        )
        hand = []
        for train, test in splits:
            mean = (
                CamelClassifier(**params)
                .fit(X[train], Y[train], sample_weight=None if weights is None else weights[train])
                .bandwidth_
            )
            hand.append(
                by_hand(
                    CamelClassifier(**params, bandwidth=multiplier * mean, threshold=threshold),
                    X,
                    Y,
                    train,
                    test,
                    weights,
                )
            )
        for name in NAMES:
            assert search.cv_results_[f"mean_test_{name}"][index] == pytest.approx(
                np.mean([h[name] for h in hand]), abs=1e-9
            ), name


def test_leave_one_out_equals_n_refits_that_keep_S_and_sigma(data):
    """Refits on a precomputed kernel keep σ, and S is handed in by comparing the core's scores with it."""
    X, Y, _ = data
    X, Y = X[:20], Y[:20]
    search = CamelClassifierCV(**SMALL).fit(X, Y)
    whole = CamelClassifier(bandwidth=search.bandwidth_).fit(X, Y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * search.bandwidth_**2))
    from reference.solver import leave_one_out_scores

    for index, params in enumerate(search.cv_results_["params"]):
        G = (1 - params["alpha"]) * np.eye(4) + params["alpha"] * whole.label_correlation_
        scores = leave_one_out_scores(K, 2.0 * Y - 1, G, params["lambda1"], params["lambda2"])
        values = evaluate(Y, scores, scores > 0)
        for name in NAMES:
            sign = -1 if name in LOSSES else 1
            assert search.cv_results_[f"mean_test_{name}"][index] == pytest.approx(
                sign * values[name], abs=1e-7
            )


def test_results_have_the_shape_that_users_of_grid_search_know(data):
    X, Y, _ = data
    search = CamelClassifierCV(cv=3).fit(X, Y)
    results = search.cv_results_
    assert len(results["params"]) == len(PAPER_ALPHAS) * len(PAPER_LAMBDA2S) == 77
    for key in ("param_alpha", "rank_test_score", "std_test_score", "split2_test_score"):
        assert len(results[key]) == 77
    assert results["rank_test_score"][search.best_index_] == 1
    assert search.best_params_ == results["params"][search.best_index_]
    assert (
        search.best_score_
        == results["mean_test_score"].max()
        == results["mean_test_average_precision"].max()
    )
    assert_allclose(
        results["mean_test_score"],
        np.mean([results[f"split{k}_test_score"] for k in range(3)], axis=0),
    )
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


def test_a_kernel_matrix_is_split_on_both_sides(data):
    X, Y, new = data
    options = {**SMALL, "cv": 3}
    for w in (None, 1 + np.arange(50) % 3.0):
        by_rows = CamelClassifierCV(kernels=(lambda A, B: A @ B.T,), **options).fit(
            X, Y, sample_weight=w
        )
        by_matrix = CamelClassifierCV(kernels=("precomputed",), **options).fit(
            X @ X.T, Y, sample_weight=w
        )
        assert_allclose(
            by_matrix.cv_results_["mean_test_score"],
            by_rows.cv_results_["mean_test_score"],
            atol=1e-9,
        )
        assert_allclose(
            by_matrix.decision_function(new @ X.T), by_rows.decision_function(new), atol=1e-8
        )


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


def test_progress_is_told_to_callback_and_log_and_never_printed(data, caplog, capsys):
    X, Y, _ = data
    told = []
    with caplog.at_level(logging.INFO, logger="skcamel"):
        CamelClassifierCV(**SMALL, bandwidths=(0.5, 1.0), callback=told.append).fit(X, Y)
    assert [(p.done, p.total) for p in told] == [(12, 24), (24, 24)]
    assert told[1].best_score >= told[0].best_score
    assert sum("24 of 24 candidates" in message for message in caplog.messages) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": "kfold"}, "cv='kfold' is not known; choose 'loo', a number of folds"),
        ({"scoring": "accuracy"}, "scoring='accuracy' is not known; choose one of 'one_error'"),
        ({"alphas": ()}, r"alphas must be a sequence with at least one value, got \(\)"),
        ({"alphas": (0.5, 1.5)}, r"alphas must be a number in \[0, 1\], got 1.5"),
        ({"lambda2s": (0.1, -1)}, "lambda2s must be a number > 0, got -1"),
        ({"kernels": "rbf"}, "kernels must be a sequence"),
        ({"kernels": ("rbf", "precomputed")}, "mixes 'precomputed' with kernels of features"),
        ({"kernels": ("sigmoid",)}, "kernel='sigmoid' is not known"),
        ({"scalings": ("robust",)}, "scaling='robust' is not known"),
        (
            {"correlation": "raw"},
            "correlation='raw' is not known; choose one of 'paper', 'centred'",
        ),
        ({"cv": []}, "cv gave no split"),
        ({"cv": [(np.arange(30), [])]}, "cv gave no split, or one without training or test rows"),
        ({"alphas": 0.5}, "alphas must be a sequence"),
        ({"bandwidths": (1e-300,)}, "bandwidths must lie between"),
    ],
)
def test_bad_grids_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        CamelClassifierCV(**options).fit(*data[:2])


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="at least 2 rows with weight, got n_samples = 1"):
        CamelClassifierCV().fit([[1.0]], [[1, 0]])


@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()])
def test_groups_reach_the_splitter(splitter, data, rng):
    X, Y, _ = data
    groups = rng.permutation(np.arange(50) % 7)
    splits = list(splitter.split(X, Y, groups))
    assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)
    grouped, by_hand_ = (
        CamelClassifierCV(cv=splitter, **SMALL).fit(X, Y, groups=groups),
        CamelClassifierCV(cv=splits, **SMALL).fit(X, Y),
    )
    assert grouped.best_params_ == by_hand_.best_params_
    for key in (f"split{k}_test_score" for k in range(len(splits))):
        assert_array_equal(grouped.cv_results_[key], by_hand_.cv_results_[key])


def test_groups_that_nobody_would_use_are_refused(data):
    X, Y, _ = data
    with pytest.raises(
        ValueError, match=r"groups were given, but cv=3 does not use them; .* cv=GroupKFold\(5\)"
    ):
        CamelClassifierCV(cv=3, **SMALL).fit(X, Y, groups=np.arange(50))


def left_out(model, X, Y, groups):
    """Scores of every row by refits without its group."""
    scores = np.empty(Y.shape)
    for group in set(groups):
        inside = groups == group
        scores[inside] = clone(model).fit(X[~inside], Y[~inside]).decision_function(X[inside])
    return scores


@pytest.mark.parametrize(
    "options",
    [{}, {"solver": "landmark", "landmarks": "all"}, {"kernel": "linear", "solver": "primal"}],
)
def test_groups_leave_together_exactly(options, data, rng):
    X, Y, _ = data
    options = options | ({"landmarks": X} if "landmarks" in options else {})
    groups = rng.permutation(np.arange(50) % 13)
    model = CamelClassifier(alpha=0.0, bandwidth=2.0, **options)  # S and σ are held
    scores = left_out(model, X, Y, groups)
    fitted = clone(model).fit(X, Y, groups=[f"person {group}" for group in groups])
    assert fitted.estimate_ == pytest.approx(evaluate(Y, scores, scores > 0), abs=1e-9)
    assert_allclose(fitted.decision_function(X), clone(model).fit(X, Y).decision_function(X))
    found = CamelClassifier(alpha=0.0, bandwidth=2.0, threshold="macro_f1", **options).fit(
        X, Y, groups=groups
    )
    assert_allclose(found.thresholds_, thresholds("macro_f1", Y > 0, scores), atol=1e-9)
    link = fit_link(Y > 0, scores)
    assert_allclose(found.link_slopes_, link.slope, rtol=1e-6)
    one_each = clone(model).fit(X, Y, groups=np.arange(50))
    assert one_each.estimate_ == pytest.approx(clone(model).fit(X, Y).estimate_, abs=1e-9)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(9), r"groups has shape \(9,\); one group for each of the 50 rows"),
        (np.zeros(50), "All 50 rows are in one group"),
        (np.full(50, np.nan), "groups holds NaN; give every row a group"),
    ],
)
def test_groups_that_cannot_leave_are_refused(groups, message, data):
    X, Y, _ = data
    with pytest.raises(ValueError, match=message):
        CamelClassifier().fit(X, Y, groups=groups)
    with pytest.raises(
        ValueError, match="groups leave together exactly where all labels are known"
    ):
        CamelClassifier().fit(X, np.where(np.eye(50, 4) > 0, np.nan, Y), groups=np.arange(50) % 7)
