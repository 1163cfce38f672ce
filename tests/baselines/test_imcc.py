"""IMCC: its minimum word by word, its limits, and a search that scores candidates as separate fits do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import overlapping
from reference import imcc as literal
from skcamel.baselines import IMCC, IMCCCV
from skcamel.baselines.imcc import Rows, clusters
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.conventions import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")

X, Y = overlapping.make(60)
Y = Y.astype(float)
NEW = X[:9] + 0.1
RANDOM = "k-means starts at rows drawn at random: a row of weight 2 is drawn once, two copies may be drawn both"


@parametrize_with_checks(
    [IMCC(cluster_count=5), IMCCCV([0.5], [0.1], [0.1, 1.0], [4], ["none"], cv=2)],
    expected_failed_checks=lambda _: {f"check_sample_weight_equivalence_on_{kind}_data": RANDOM for kind in ("dense", "sparse")},
)
def test_estimator_check(estimator, check):
    check(estimator)


def clusters_of(X, count, weights=None):
    return clusters(Rows("none", X, np.zeros((len(X), 1)), weights), count, None)


@settings(max_examples=25, deadline=None)
@given(
    alpha=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    beta=st.sampled_from([0.0, 0.01, 1.0, 30.0]),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
    count=st.sampled_from([1, 3, 20, 500]),
    n=st.integers(2, 20),
)
def test_scores_are_those_of_the_normal_equations(alpha, beta, ridge, count, n):
    model = IMCC(alpha, beta, ridge, count).fit(X[:n], np.vstack([Y[: n - 1], 1 - Y[:1]]))
    labels = np.vstack([Y[: n - 1], 1 - Y[:1]])
    expected = literal.outputs(X[:n], labels, clusters_of(X[:n], count), alpha, beta, ridge, NEW)
    np.testing.assert_allclose(model._confidences(NEW), expected, atol=1e-8)


def test_no_step_from_the_solution_lowers_the_objective():
    of, (alpha, beta, ridge) = clusters_of(X, 7), (0.7, 0.3, 0.05)
    model = IMCC(alpha, beta, ridge, 7).fit(X, Y)
    points = np.vstack([model.rows_, model.centres_])
    K, A = model.kernel_(points, points), np.vstack([model.row_coef_, model.centre_coef_])

    def objective(A, b):
        F = K @ A + b
        return literal.objective(F[: len(X)], F[len(X) :], np.sum(A * (K @ A)), Y, model.centre_labels_, of, alpha, beta, ridge)

    least, rng = objective(A, model.intercept_), np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(5):
            assert objective(A + size * rng.normal(size=A.shape), model.intercept_ + size * rng.normal(size=4)) > least


def test_centres_without_weight_leave_kernel_ridge_regression():
    model = IMCC(0.0, 0.0, 0.1, 9).fit(X, Y)
    np.testing.assert_array_equal(model.centre_coef_, np.zeros((9, 4)))
    K = model.kernel_(model.rows_, model.rows_)
    centring = np.eye(len(X)) - 1 / len(X)
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(centring @ K @ centring, Y - Y.mean(axis=0))
    fitted = centring @ K @ centring @ ridge.dual_coef_ + Y.mean(axis=0)
    np.testing.assert_allclose(model._confidences(X), fitted, atol=1e-9)


def test_a_strong_pull_gives_all_rows_of_a_cluster_the_output_of_its_centre():
    of, model = clusters_of(X, 5), IMCC(1.0, 1e7, 1e-4, 5).fit(X, Y)
    F = model._confidences(X)
    for j, centre in enumerate(model.scaling_.shift + model.centres_):
        np.testing.assert_allclose(F[of == j], np.tile(model._confidences(centre[None]), (np.sum(of == j), 1)), atol=1e-2)


def test_centres_and_their_labels_are_means_of_their_rows():
    model, of = IMCC(cluster_count=6).fit(X, Y), clusters_of(X, 6)
    centres, labels = literal.virtual_rows(X, Y, of)
    np.testing.assert_allclose(model.centres_ + model.scaling_.shift, centres)
    np.testing.assert_allclose(model.centre_labels_, labels)


def test_equal_rows_make_fewer_clusters():
    assert IMCC(cluster_count=50).fit(np.repeat(X[:5], 4, axis=0), np.repeat(Y[:5], 4, axis=0)).centres_.shape == (5, 6)


def test_a_weight_counts_as_copies_of_a_row():
    weights = np.random.default_rng(1).integers(1, 4, size=len(X))
    weighted = IMCC(cluster_count=1).fit(X, Y, sample_weight=weights)
    copies = IMCC(cluster_count=1).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(weighted.decision_function(NEW), copies.decision_function(NEW), atol=1e-10)


@pytest.mark.parametrize("scaling", ["none", "standard", "unit"])
def test_sparse_rows_score_as_dense_ones(scaling):
    thin = np.where(abs(X) < 0.5, 0.0, X)
    dense = IMCC(cluster_count=5, scaling=scaling).fit(thin, Y)
    same = IMCC(cluster_count=5, scaling=scaling).fit(sparse.csr_array(thin), Y)
    np.testing.assert_allclose(same.decision_function(sparse.csr_array(thin)), dense.decision_function(thin), atol=1e-9)


def test_every_candidate_scores_as_a_separate_fit():
    axes = {"alphas": [0.0, 2.0], "betas": [0.1, 3.0], "ridges": [0.01, 1.0], "cluster_counts": [3, 9], "scalings": ["none", "standard"]}
    search = IMCCCV(**axes, cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 32
    for k in range(0, 32, 5):
        params, folds = search.cv_results_["params"][k], []
        for train, test in KFold(3).split(X):
            alone = IMCC(**params).fit(X[train], Y[train])
            folds.append(evaluate(Y[test], alone.decision_function(X[test]), alone.predict(X[test])))
        for name in NAMES:
            mean = np.mean([fold[name] for fold in folds]) * (-1 if name in LOSSES else 1)
            assert search.cv_results_[f"mean_test_{name}"][k] == pytest.approx(mean, abs=1e-9), (name, params)
    refit = IMCC(**search.best_params_).fit(X, Y)
    np.testing.assert_allclose(search.decision_function(X), refit.decision_function(X), atol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ridge": 0.0}, "ridge must be a number > 0"),
        ({"alpha": -1.0}, "alpha must be a number >= 0"),
        ({"cluster_count": 0}, "cluster_count"),
        ({"scaling": "rank"}, "scaling='rank' is not known"),
    ],
    ids=str,
)
def test_what_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        IMCC(**options).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        IMCCCV(**{f"{name}s": [value] for name, value in options.items()}).fit(X, Y)
