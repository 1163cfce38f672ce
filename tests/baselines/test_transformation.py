"""Binary relevance, chains that see earlier labels, and small sets of labels that vote."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import BinaryRelevance, EnsembleOfClassifierChains, RAkEL, transformation
from skcamel.baselines.logistic import fit_chains


def test_probabilities_are_those_of_separate_models():
    X, Y = overlapping.make()
    model = BinaryRelevance(tol=1e-9).fit(X[:100], Y[:100])
    expected = literal.binary_relevance(X[:100], Y[:100], X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_a_tie_is_predicted():
    X, Y = np.zeros((4, 1)), np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    model = BinaryRelevance().fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)
    assert model.predict(X).all()
    assert (model.decision_function(X) > 0).all()


def test_small_probabilities_keep_their_order():
    X = np.vstack([np.eye(2), 60 * np.eye(2), 90 * np.eye(2)])
    model = BinaryRelevance(tol=1e-3).fit(X[[0, 1] * 10], np.eye(2, dtype=int)[[0, 1] * 10])
    P = model.predict_proba(X)[[3, 5], 0]
    assert 0 < P[1] < P[0] < 1e-20
    assert np.diff(model.decision_function(X)[[3, 5], 0]) < 0


def test_an_estimator_of_choice_is_used_for_each_label():
    X, Y = overlapping.make()
    model = BinaryRelevance(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, Y)
    alone = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y[:, 2])
    np.testing.assert_allclose(model.predict_proba(X)[:, 2], alone.predict_proba(X)[:, 1])


def test_a_search_may_choose_the_parameters_of_each_label():
    X, Y = overlapping.make()
    tree = DecisionTreeClassifier(random_state=0)
    search = RandomizedSearchCV(tree, {"max_depth": [1, 2]}, n_iter=2)
    assert BinaryRelevance(search).fit(X, Y).n_iter_ == 1


def test_decision_values_stand_in_for_probabilities():
    X, Y = overlapping.make()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = BinaryRelevance(LinearSVC(random_state=0)).fit(X, Y)
    values = LinearSVC(random_state=0).fit(X, Y[:, 0]).decision_function(X)
    P = model.predict_proba(X)[:, 0]
    np.testing.assert_array_equal(np.argsort(P), np.argsort(values))
    np.testing.assert_array_equal(P >= 0.5, values >= 0)


def test_one_warning_for_all_labels_that_did_not_converge():
    X, Y = overlapping.make()
    message = "4 of 4 logistic models did not reach their tolerance in 2 steps"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        BinaryRelevance(max_iter=2).fit(X, Y)
    assert len(caught) == 1


# Chains


@pytest.mark.parametrize("seed", [0, 1])
def test_a_chain_is_the_literal_one(seed):
    X, Y = overlapping.make(n=250)
    model = EnsembleOfClassifierChains(1, bootstrap=False, random_state=seed, tol=1e-9)
    model.fit(X[:200], Y[:200])
    expected = literal.chain(X[:200], Y[:200], model.estimators_[0].order, X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)


def test_a_member_learns_from_its_bag():
    X, Y = overlapping.make(n=250)
    model = EnsembleOfClassifierChains(1, random_state=3, tol=1e-9).fit(X, Y)
    bag = np.random.RandomState(3).randint(len(X), size=len(X))
    expected = literal.chain(X[bag], Y[bag], model.estimators_[0].order, X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)


def test_confidences_are_averaged_and_cut_at_a_half():
    X, Y = overlapping.make()
    model = EnsembleOfClassifierChains(5, random_state=0).fit(X, Y)
    F = model.predict_proba(X)
    mean = np.mean([chain.probabilities(X) for chain in model.estimators_], axis=0)
    np.testing.assert_allclose(F, mean)
    assert 0 <= F.min() <= F.max() <= 1
    np.testing.assert_array_equal(model.predict(X), F >= 0.5)


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_leaves_the_others_unchanged(value):
    X, Y = overlapping.make()
    wide = np.column_stack([Y[:, :1], np.full(len(Y), value), Y[:, 1:]])
    chains = []
    for labels in (wide, Y):
        q = labels.shape[1]
        chains += fit_chains(X, labels, np.arange(q)[None], np.ones((len(X), 1)), tol=1e-9)
    with_constant, without = (chain.probabilities(X) for chain in chains)
    np.testing.assert_allclose(with_constant[:, [0, 2, 3, 4]], without, atol=1e-7)
    assert (with_constant[:, 1] == value).all()


def test_the_seed_decides_everything_and_groups_nothing(monkeypatch):
    X, Y = overlapping.make()
    one = EnsembleOfClassifierChains(4, random_state=1).fit(X, Y).predict_proba(X)
    monkeypatch.setattr(transformation, "TOGETHER", 2 * Y.size)
    two = EnsembleOfClassifierChains(4, random_state=1).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(one, two, atol=1e-3)
    other = EnsembleOfClassifierChains(4, random_state=2).fit(X, Y).predict_proba(X)
    assert abs(one - other).max() > 1e-3


# Sets of labels


def outputs(model, X):
    F = model.decision_function(X) + 0.5
    return np.where(np.isclose(F, 0.5), 0.5, F)


@settings(max_examples=60, deadline=None)
@given(q=st.integers(1, 30), k=st.integers(1, 5), wanted=st.integers(1, 80), seed=st.integers(0, 5))
def test_sets_are_distinct_and_as_many_as_exist(q, k, wanted, seed):
    k = min(k, q)
    sets = transformation.draw_labelsets(q, k, wanted, np.random.RandomState(seed))
    assert sets.shape == (min(wanted, math.comb(q, k)), k)
    assert len(set(map(tuple, sets))) == len(sets)
    assert (np.diff(sets, axis=1) > 0).all()
    assert sets.min() >= 0
    assert sets.max() < q


@pytest.mark.parametrize("k", [1, 2, 3])
def test_votes_are_the_literal_ones(k):
    X, Y = overlapping.make(n=300, q=4)
    model = RAkEL(k, random_state=0, tol=1e-8).fit(X[:250], Y[:250])
    expected = literal.powersets(X[:250], Y[:250], [tuple(s) for s in model.labelsets_], X)
    # a margin of rounding size may fall either way
    assert np.isclose(outputs(model, X), expected).mean() > 0.998


def test_k_above_q_is_one_label_powerset_of_seen_patterns():
    X, Y = overlapping.make(n=60, q=5)
    model = RAkEL(9, random_state=0).fit(X, Y)
    assert model.labelsets_.tolist() == [[0, 1, 2, 3, 4]]
    assert set(map(tuple, model.predict(X * 3))) <= set(map(tuple, Y.astype(int)))


def test_a_label_in_no_set_is_never_predicted():
    X, Y = overlapping.make(q=8)
    Y[:, :] = np.maximum(Y, Y[::-1])
    model = RAkEL(n_estimators=1, random_state=0).fit(X, Y)
    missing = np.setdiff1d(np.arange(8), model.labelsets_)
    assert len(missing) == 5
    assert (model.decision_function(X)[:, missing] == -0.5).all()
    assert not model.predict(X)[:, missing].any()


def test_equally_probable_patterns_give_the_lowest_code():
    X, Y = np.zeros((4, 1)), np.array([[1, 1], [0, 1], [1, 0], [0, 0]])
    assert not RAkEL(2).fit(X, Y).predict(X).any()
