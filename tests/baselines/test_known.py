"""Comparison methods on labels that are known in part: each learns by its own rule, and nothing unknown changes nothing."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from baselines import overlapping
from skcamel import metrics
from skcamel.baselines import (
    JFSC,
    JFSCCV,
    LLSF,
    LLSFCV,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    RAkEL,
)
from skcamel.baselines.base import WithThresholds, known_thresholds
from skcamel.baselines.linear import filled, tuned_cut
from skcamel.baselines.logistic import fit_chains, fit_logistic, fit_softmax
from skcamel.camel.thresholds import thresholds

NAN = np.nan
SMALL_GRIDS = {"betas": [0.1, 1.0], "alphas": [0.1]}
METHODS = [
    BinaryRelevance(),
    BinaryRelevance(LogisticRegression()),
    EnsembleOfClassifierChains(3, random_state=0),
    EnsembleOfClassifierChains(
        2, bootstrap=False, base_estimator=LogisticRegression(), random_state=0
    ),
    RAkEL(random_state=0),
    RAkEL(2, base_estimator=LogisticRegression(), random_state=0),
    LLSF(preset="fair"),
    JFSC(),
    LLSFCV(rhos=[0.1], cv=3, preset="fair", **SMALL_GRIDS),
    JFSCCV(gammas=[0.1], cv=3, preset="fair", threshold="macro_f1", **SMALL_GRIDS),
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def partial(share=0.3, seed=0):
    """Overlapping classes, of whose labels a share is hidden: X, Y complete, Y with gaps."""
    X, Y = overlapping.make()
    hidden = np.random.default_rng(seed).random(Y.shape) < share
    return X, Y, np.where(hidden, NAN, Y)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_rows_that_know_everything_are_learned_as_before(method):
    X, Y, _ = partial()
    integers, floats = (
        copy.deepcopy(method).fit(X, labels) for labels in (Y.astype(int), Y.astype(float))
    )
    np.testing.assert_array_equal(integers.decision_function(X), floats.decision_function(X))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_half_of_the_labels_still_teach(method):
    X, Y, gaps = partial(0.5)
    model = copy.deepcopy(method).fit(X, gaps)
    scores, prior = model.decision_function(X), np.tile(Y.mean(axis=0), (len(Y), 1))
    assert np.isfinite(scores).all()
    assert metrics.ranking_loss(Y, scores, ties="index") < metrics.ranking_loss(Y, prior)


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1", "hamming_loss", "tuned"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_label_without_a_known_entry_is_never_predicted(method, threshold):
    if threshold == "tuned" and "tuned" not in method.THRESHOLDS:
        return
    X, _, gaps = partial()
    gaps[:, 1] = NAN
    gaps[7] = NAN
    with pytest.warns(UserWarning, match=r"1 of 4 labels have no known entry \(label2\)"):
        model = copy.deepcopy(method).set_params(threshold=threshold).fit(X, gaps)
    assert np.isfinite(model.decision_function(X)).all()
    assert not model.predict(X)[:, 1].any()
    assert model.predict(X)[:, [0, 2, 3]].any()


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_form_of_a_gap_is_understood(method):
    X, _, gaps = partial()
    expected = copy.deepcopy(method).fit(X, gaps).decision_function(X)
    objects = np.where(np.isnan(gaps), None, gaps.astype(object))
    frame = pd.DataFrame(gaps, columns=list("abcd")).astype("Int64")
    for labels in (
        gaps.tolist(),
        objects,
        frame,
        np.where(gaps == 0, -1.0, gaps),
        sparse.csr_array(gaps),
    ):
        np.testing.assert_array_equal(
            copy.deepcopy(method).fit(X, labels).decision_function(X), expected
        )
    assert copy.deepcopy(method).fit(X, frame).label_names_.tolist() == list("abcd")


# Binary relevance


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("base", [None, LogisticRegression()])
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_relevance_learns_each_label_as_its_known_rows_alone_would(
    form, base, weighted, rng
):
    X, _, gaps = partial()
    weights = rng.integers(1, 4, size=len(X)).astype(float) if weighted else None
    P = BinaryRelevance(base).fit(form(X), gaps, weights).predict_proba(form(X))
    for j, y in enumerate(gaps.T):
        known = ~np.isnan(y)
        own = BinaryRelevance(base).fit(
            form(X[known]), y[known, None], None if weights is None else weights[known]
        )
        np.testing.assert_allclose(P[:, j], own.predict_proba(form(X))[:, 0], rtol=1e-9, atol=1e-12)


@given(st.data())
def test_labels_known_in_the_same_rows_share_a_fit_and_order_does_not_matter(data):
    X, _, gaps = partial()
    gaps[:, 2] = np.where(np.isnan(gaps[:, 0]), NAN, np.nan_to_num(gaps[:, 2]))
    rows, labels = (np.array(data.draw(st.permutations(range(size)))) for size in gaps.shape)
    P = BinaryRelevance(tol=1e-9).fit(X, gaps).predict_proba(X)
    permuted = BinaryRelevance(tol=1e-9).fit(X[rows], gaps[rows][:, labels]).predict_proba(X)
    np.testing.assert_allclose(permuted, P[:, labels], atol=1e-6)


def test_a_column_that_is_constant_where_a_label_is_known_does_not_speak_about_it():
    X, _, gaps = partial()
    known = ~np.isnan(gaps[:, 0])
    X[:, 1] = np.where(known, 2.0, X[:, 1])
    moved = X.copy()
    moved[:, 1] += 100
    P = BinaryRelevance().fit(X, gaps)
    np.testing.assert_array_equal(P.predict_proba(moved)[:, 0], P.predict_proba(X)[:, 0])


@pytest.mark.filterwarnings(
    "ignore::skcamel.checks.ConstantLabelWarning", "ignore:.*no known entry"
)
def test_targets_without_a_known_value_have_probability_zero():
    X, Y = (
        np.arange(4.0)[:, None],
        np.array([[NAN, 1, 1], [NAN, NAN, 0], [NAN, 1, NAN], [NAN, 1, 0]]),
    )
    P = BinaryRelevance().fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(P[:, :2], [[0, 1]] * 4)


# Chains


def literal_chain(X, gaps, order):
    """Probabilities of a chain whose links are fitted one by one, guesses of binary relevance in the place of unknown labels."""
    guesses = np.column_stack(
        [
            fit_logistic(X[~np.isnan(y)], y[~np.isnan(y), None], tol=1e-9).probabilities(X)[:, 0]
            for y in gaps.T
        ]
    )
    told = np.where(np.isnan(gaps), guesses >= 0.5, gaps)
    P, seen = np.zeros(gaps.shape), np.empty((len(X), 0))
    for s, label in enumerate(order):
        known = ~np.isnan(gaps[:, label])
        inputs = np.hstack([X, told[:, order[:s]]])
        link = fit_logistic(inputs[known], gaps[known][:, [label]], tol=1e-9)
        P[:, label] = link.probabilities(np.hstack([X, seen]))[:, 0]
        seen = np.hstack([seen, P[:, [label]] >= 0.5])
    return P


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_links_learn_from_rows_that_know_their_label_and_guess_the_earlier_ones(order):
    X, _, gaps = partial()
    model = EnsembleOfClassifierChains(1, order=order, bootstrap=False, tol=1e-9).fit(X, gaps)
    np.testing.assert_allclose(model.predict_proba(X), literal_chain(X, gaps, order), atol=1e-4)


def test_a_mask_that_knows_everything_leaves_the_chains_alone():
    X, Y, _ = partial()
    orders = np.array([[0, 1, 2, 3], [3, 2, 1, 0]])
    counts = np.random.default_rng(0).integers(0, 3, size=(len(X), 2)).astype(float)
    plain, masked = (
        fit_chains(X, Y.astype(float), orders, counts, known)
        for known in (None, np.ones(Y.shape, dtype=bool))
    )
    for own, other in zip(plain, masked, strict=True):
        np.testing.assert_array_equal(own.coef, other.coef)


def test_chains_with_another_base_follow_the_same_rule():
    X, _, gaps = partial()
    base = LogisticRegression(C=1.0)
    model = EnsembleOfClassifierChains(
        1, order=[1, 0, 2, 3], bootstrap=False, base_estimator=base
    ).fit(X, gaps)
    known = [~np.isnan(y) for y in gaps.T]
    first = LogisticRegression(C=1.0).fit(X[known[1]], gaps[known[1], 1])
    told = np.where(known[1], gaps[:, 1], first.predict(X))
    second = LogisticRegression(C=1.0).fit(np.column_stack([X, told])[known[0]], gaps[known[0], 0])
    P = second.predict_proba(np.column_stack([X, first.predict(X)]))[:, 1]
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], P, atol=1e-12)


# Label sets


def test_a_label_set_learns_from_the_rows_that_know_all_its_labels():
    X, _, gaps = partial()
    model = RAkEL(2, 6, random_state=0).fit(X, gaps)
    votes = np.zeros(gaps.shape)
    for labels, patterns in zip(model.labelsets_, model.patterns_, strict=True):
        rows = ~np.isnan(gaps[:, labels]).any(axis=1)
        kinds = [tuple(row) for row in patterns.tolist()]
        assert set(kinds) == {tuple(row) for row in gaps[rows][:, labels].astype(int).tolist()}
        codes = np.array(
            [kinds.index(tuple(row)) for row in gaps[rows][:, labels].astype(int).tolist()]
        )
        votes[:, labels] += patterns[
            fit_softmax(X[rows], codes[:, None], len(kinds)).most_probable(X)[:, 0]
        ]
    np.testing.assert_array_equal(model.decision_function(X) > 0, votes / 3 >= 0.5)


def test_a_label_set_that_two_rows_do_not_know_votes_for_nothing():
    X, Y, _ = partial()
    gaps = Y.astype(float)
    gaps[::2, 0] = gaps[1::2, 1] = NAN
    gaps[0, :2] = 1
    model = RAkEL(2, 6, random_state=0).fit(X, gaps)
    (m,) = (m for m, labels in enumerate(model.labelsets_.tolist()) if labels == [0, 1])
    np.testing.assert_array_equal(model.patterns_[m], [[0, 0]])


def test_labels_without_a_known_entry_are_in_no_set():
    X, Y, _ = partial()
    gaps = Y.astype(float)
    gaps[:, 2] = NAN
    with pytest.warns(UserWarning, match="no known entry"):
        model = RAkEL(3, random_state=0).fit(X, gaps)
    assert model.labelsets_.tolist() == [[0, 1, 3]]
    others = RAkEL(3, random_state=0).fit(X, Y[:, [0, 1, 3]])
    np.testing.assert_array_equal(
        model.decision_function(X)[:, [0, 1, 3]], others.decision_function(X)
    )


# Linear methods


@pytest.mark.parametrize(
    "method", [LLSF(), LLSF(preset="fair"), JFSC(), JFSC(preset="fair")], ids=str
)
def test_unknown_targets_are_the_means_of_the_known_ones(method, rng):
    X, _, gaps = partial()
    weights = rng.integers(1, 4, size=len(X)).astype(float)
    model = copy.deepcopy(method).fit(X, gaps, weights)
    means = [np.average(y[~np.isnan(y)], weights=weights[~np.isnan(y)]) for y in gaps.T]
    by_hand = np.where(np.isnan(gaps), means, gaps)
    np.testing.assert_allclose(filled(gaps, weights), by_hand, atol=1e-15)
    other = copy.deepcopy(method)
    other._learn(X, by_hand, weights)
    np.testing.assert_allclose(model.decision_function(X), other._scores(X), atol=1e-12)


def test_searches_judge_candidates_by_known_entries():
    X, _, gaps = partial()
    found = LLSFCV(rhos=[0.1], cv=3, **SMALL_GRIDS).fit(X, gaps)
    for k, params in enumerate(found.cv_results_["params"]):
        values = []
        for train, test in (
            (np.setdiff1d(np.arange(len(X)), part), part)
            for part in np.array_split(np.arange(len(X)), 3)
        ):
            model = LLSF(**params).fit(X[train], gaps[train])
            values.append(metrics.average_precision(gaps[test], model.decision_function(X[test])))
        assert found.cv_results_["mean_test_score"][k] == pytest.approx(np.mean(values), abs=1e-12)


# Thresholds


@given(st.integers(0, 200), st.sampled_from(["micro_f1", "macro_f1", "hamming_loss"]))
def test_tuned_thresholds_are_those_of_the_known_entries(seed, metric):
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random((12, 1)) < 0.4, NAN, rng.integers(0, 2, size=(12, 1)))
    gaps[0] = 1
    scores = rng.normal(size=gaps.shape)
    known = ~np.isnan(gaps[:, 0])
    found = known_thresholds(metric, gaps, scores, None)
    expected = thresholds(metric, gaps[known] > 0, scores[known])
    np.testing.assert_array_equal(scores[known] > found, scores[known] > expected)


def test_the_authors_cut_counts_known_entries():
    gaps, F = np.array([[1, 0, NAN], [NAN, 1, 0]]), np.array([[0.9, 0.2, 5.0], [-3.0, 0.6, 0.3]])
    f1 = [
        np.mean([2 / (1 + 1 + (t <= 0.2)), 2 / (1 + 1 + (t <= 0.3))]) if t <= 0.6 else 0.5
        for t in np.linspace(0, 0.9, 51)
    ]
    assert tuned_cut(gaps, F) == np.linspace(0, 0.9, 51)[int(np.argmax(f1))]


# What cannot learn from them


def test_one_estimator_for_all_labels_says_what_to_do():
    X, _, gaps = partial()
    with pytest.raises(
        ValueError, match=r"unknown entries \(NaN\).*use BinaryRelevance\(estimator\)"
    ):
        WithThresholds(ExtraTreesClassifier(5)).fit(X, gaps)


def test_a_label_with_one_known_class_is_told_of():
    X, Y, _ = partial()
    gaps = Y.astype(float)
    gaps[gaps[:, 0] == 0, 0] = NAN
    with pytest.warns(UserWarning, match=r"1 of 4 labels have no negative row \(label1\)"):
        model = BinaryRelevance().fit(X, gaps)
    assert model.predict(X)[:, 0].all()
