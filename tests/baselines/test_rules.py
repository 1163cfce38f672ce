"""One rule for the thresholds of all comparison methods, and weights that equal repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import overlapping
from skcamel.baselines import (
    JFSC,
    JFSCCV,
    LLSF,
    LLSFCV,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    RAkEL,
)
from skcamel.baselines.base import WithThresholds
from skcamel.camel.thresholds import METRICS, thresholds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")

X, Y = overlapping.make(120)
MODELS = [
    BinaryRelevance(),
    BinaryRelevance(LogisticRegression()),
    EnsembleOfClassifierChains(3, random_state=0),
    RAkEL(random_state=0),
    LLSF(preset="fair"),
    JFSC(preset="fair"),
    WithThresholds(ExtraTreesClassifier(5, random_state=0)),
]
each_model = pytest.mark.parametrize(
    "model", MODELS, ids=lambda model: str(model).replace(" ", "")[:30]
)
SEARCHES = [
    LLSFCV([0.1, 1.0], [0.05], [0.1], preset="fair", cv=3),
    JFSCCV([0.1], [0.01, 0.1], [0.05], [0.1], preset="fair", cv=3),
]
each_search = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)


REPEATED_ROWS = "a bootstrap sample of repeated rows is another one than that of weighted rows"
UNANIMOUS = "five trees are often unanimous, so that probabilities are 0 and 1"
SMALL = ([0.0, 0.5], [0.05, 1.0], [0.1])


def expected_failures(estimator):
    if isinstance(estimator, WithThresholds):
        return {"check_classifiers_multilabel_output_format_predict_proba": UNANIMOUS}
    kinds = ("dense", "sparse") if getattr(estimator, "bootstrap", False) else ()
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds]
    return dict.fromkeys(checks, REPEATED_ROWS)


@parametrize_with_checks(
    [
        *(BinaryRelevance(), BinaryRelevance(LogisticRegression())),
        EnsembleOfClassifierChains(2, random_state=0),
        EnsembleOfClassifierChains(2, bootstrap=False, random_state=0),
        RAkEL(n_estimators=2, random_state=0),
        *(LLSF(), LLSF(preset="fair"), LLSFCV(*SMALL, cv=2), LLSFCV(*SMALL, preset="fair", cv=2)),
        *(JFSC(), JFSC(preset="fair"), JFSC(intercept=False)),
        JFSCCV([0.0, 0.1], [0.01], [0.05, 1.0], [0.1], cv=2),
        WithThresholds(ExtraTreesClassifier(5, random_state=0)),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_check(estimator, check):
    check(estimator)


def test_sparse_probabilities_are_taken_as_dense_ones():
    class Sparse(KNeighborsClassifier):
        def predict_proba(self, X):
            return sparse.lil_array(np.column_stack([P[:, 1] for P in super().predict_proba(X)]))

    thin, dense = (
        WithThresholds(base, threshold="macro_f1").fit(X, Y)
        for base in (Sparse(), KNeighborsClassifier())
    )
    np.testing.assert_array_equal(thin.decision_function(X), dense.decision_function(X))
    np.testing.assert_array_equal(thin.thresholds_, dense.thresholds_)


@each_model
def test_default_decisions_are_those_of_F_at_least_one_half(model):
    fitted = clone(model).fit(X[:90], Y[:90])
    F = fitted._confidences(X)
    np.testing.assert_array_equal(fitted.predict(X), F >= 0.5)
    np.testing.assert_array_equal(fitted.thresholds_, np.zeros(4))
    np.testing.assert_allclose(fitted.decision_function(X), F - 0.5, atol=1e-300)
    np.testing.assert_array_equal(fitted.decision_function(X) > 0, F >= 0.5)


@each_model
@pytest.mark.parametrize("groups", [None, np.arange(120) // 6], ids=["rows", "groups"])
@pytest.mark.parametrize("metric", METRICS)
def test_tuned_thresholds_are_those_of_the_scores_of_inner_folds(model, metric, groups):
    fitted = clone(model).set_params(threshold=metric).fit(X, Y, groups=groups)
    left_out = np.empty(Y.shape)
    folds = (KFold if groups is None else GroupKFold)(5, shuffle=True, random_state=0)
    for train, test in folds.split(X, groups=groups):
        left_out[test] = clone(model).fit(X[train], Y[train]).decision_function(X[test])
    np.testing.assert_allclose(fitted.thresholds_, thresholds(metric, Y > 0, left_out), atol=1e-12)
    scores = fitted.decision_function(X)
    np.testing.assert_array_equal(fitted.predict(X), scores > fitted.thresholds_)
    np.testing.assert_array_equal(scores, clone(model).fit(X, Y).decision_function(X))


@each_search
def test_a_search_tunes_the_thresholds_of_its_choice(search):
    model = clone(search).set_params(threshold="macro_f1").fit(X, Y)
    kind = {LLSFCV: LLSF, JFSCCV: JFSC}[type(search)]
    single = kind(**model.best_params_, preset="fair", threshold="macro_f1").fit(X, Y)
    np.testing.assert_allclose(model.thresholds_, single.thresholds_, atol=1e-9)


@each_search
def test_a_search_leaves_groups_whole(search):
    groups = np.arange(120) // 6
    model = clone(search).fit(X, Y, groups=groups)
    same = clone(search).set_params(cv=list(GroupKFold(3).split(X, groups=groups))).fit(X, Y)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"]
    )


DETERMINISTIC = [
    BinaryRelevance(tol=1e-9),
    EnsembleOfClassifierChains(2, bootstrap=False, random_state=0, tol=1e-9),
    RAkEL(random_state=0, tol=1e-9),
    *(LLSF(), LLSF(preset="fair", threshold="tuned")),
    *(JFSC(), JFSC(preset="fair", threshold="tuned")),
]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", DETERMINISTIC, ids=lambda model: str(model).replace(" ", "")[:30])
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_integer_weights_equal_repeated_rows(model, storage, seed):
    rng = np.random.default_rng(seed)
    X, Y = overlapping.make(100, d=3, q=3, seed=seed)
    weights = rng.integers(0, 4, size=100)
    repeated = np.repeat(np.arange(100), weights)
    one = clone(model).fit(storage(X), Y, sample_weight=weights)
    many = clone(model).fit(storage(X[repeated]), Y[repeated])
    np.testing.assert_allclose(one.thresholds_, many.thresholds_, atol=1e-6)
    difference = abs(one.decision_function(storage(X)) - many.decision_function(storage(X)))
    if isinstance(model, RAkEL):  # a vote at an exact tie of two patterns may fall either way
        assert (difference > 1e-9).mean() < 0.01
    else:
        assert difference.max() < 2e-5


@each_search
def test_rows_without_weight_are_as_if_they_were_not_there(search):
    weights = np.where(np.arange(len(X)) % 4 == 0, 0.0, 1.5)
    kept = np.flatnonzero(weights)
    first, last = np.arange(60), np.arange(60, 120)
    one = clone(search).set_params(cv=[(first, last), (last, first)], threshold="macro_f1")
    one.fit(X, Y, sample_weight=weights)
    first, last = (np.flatnonzero(np.isin(kept, part)) for part in (first, last))
    other = clone(search).set_params(cv=[(first, last), (last, first)], threshold="macro_f1")
    other.fit(X[kept], Y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(one.thresholds_, other.thresholds_, atol=1e-12)
    means = [model.cv_results_["mean_test_macro_f1"] for model in (one, other)]
    assert means[0] == pytest.approx(means[1])


@pytest.mark.parametrize("kind", [BinaryRelevance, WithThresholds])
def test_a_base_estimator_without_weights_is_refused(kind):
    model = kind(KNeighborsClassifier())
    message = r"KNeighborsClassifier\(\) takes no sample_weight; choose a classifier that does, or"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, sample_weight=np.arange(120))
    model.fit(X, Y, sample_weight=np.ones(120))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BinaryRelevance(LogisticRegression), "base_estimator must be .* pass an instance"),
        (BinaryRelevance(max_iter=0), "max_iter must be an integer >= 1, got 0"),
        (BinaryRelevance(tol=0), "tol must be a number > 0, got 0"),
        (EnsembleOfClassifierChains(0), "n_estimators must be an integer >= 1, got 0"),
        (RAkEL(0), "k must be an integer >= 1, got 0"),
        (RAkEL(n_estimators=0), "n_estimators must be an integer >= 1 or None, got 0"),
        (WithThresholds(RidgeClassifier()), "predict_proba, got RidgeClassifier"),
        (LLSF(alpha=-1), "alpha must be a number >= 0, got -1"),
        (LLSF(beta=np.nan), "beta must be a number >= 0"),
        (LLSF(rho=0), "rho must be a number > 0"),
        (LLSF(preset="best"), "preset='best' is not known"),
        (LLSF(threshold="best"), "threshold='best' is not known; choose 'zero', .* 'tuned', a"),
        (LLSF(max_iter=-1), "max_iter must be an integer >= 0"),
        (JFSC(tol=0), "tol must be a number > 0"),
        (LLSFCV(alphas=[]), "alphas must be a sequence with at least one value"),
        (LLSFCV(alphas=1.0), "alphas must be a sequence"),
        (JFSCCV(betas=[-1.0]), "betas must be a number >= 0, got -1"),
        (LLSFCV(rhos=[0.0]), "rhos must be a number > 0"),
        (LLSFCV(grid="fine"), "grid='fine' is not known"),
        (JFSCCV(scoring="auc"), "scoring='auc' is not known"),
        (LLSFCV(cv=[]), "cv gave no split"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parameters_are_named(model, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, Y)
