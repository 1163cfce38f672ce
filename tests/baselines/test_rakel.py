"""Small sets of labels vote with patterns that they have seen."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import RAkEL
from skcamel.baselines.transformation import draw_labelsets

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([RAkEL(n_estimators=2, random_state=0)])
def test_estimator_check(estimator, check):
    check(estimator)


def outputs(model, X):
    F = model.decision_function(X) + 0.5
    return np.where(np.isclose(F, 0.5), 0.5, F)


@settings(max_examples=60, deadline=None)
@given(q=st.integers(1, 30), k=st.integers(1, 5), wanted=st.integers(1, 80), seed=st.integers(0, 5))
def test_sets_are_distinct_and_as_many_as_exist(q, k, wanted, seed):
    k = min(k, q)
    sets = draw_labelsets(q, k, wanted, np.random.RandomState(seed))
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
    assert (
        np.isclose(outputs(model, X), expected).mean() > 0.998
    )  # a margin of rounding size may fall either way


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
