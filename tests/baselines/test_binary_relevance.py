"""One model for each label, and nothing of one label in another."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import BinaryRelevance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([BinaryRelevance(), BinaryRelevance(LogisticRegression())])
def test_estimator_check(estimator, check):
    check(estimator)


def test_probabilities_are_those_of_separate_models():
    X, Y = overlapping.make()
    model = BinaryRelevance(tol=1e-9).fit(X[:100], Y[:100])
    np.testing.assert_allclose(
        model.predict_proba(X), literal.binary_relevance(X[:100], Y[:100], X), atol=1e-5
    )


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


def test_constant_and_empty_labels_are_legal():
    X, Y = overlapping.make()
    Y[:, 0], Y[:, 3] = 0, 1
    P = BinaryRelevance().fit(X, Y).predict_proba(X)
    assert (P[:, 0] == 0).all()
    assert (P[:, 3] == 1).all()


def test_an_estimator_of_choice_is_used_for_each_label():
    X, Y = overlapping.make()
    model = BinaryRelevance(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, Y)
    alone = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y[:, 2])
    np.testing.assert_allclose(model.predict_proba(X)[:, 2], alone.predict_proba(X)[:, 1])


def test_a_search_may_choose_the_parameters_of_each_label():
    X, Y = overlapping.make()
    search = RandomizedSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, n_iter=2
    )
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
    with pytest.warns(
        ConvergenceWarning, match="4 of 4 logistic models did not reach their tolerance in 2 steps"
    ) as caught:
        BinaryRelevance(max_iter=2).fit(X, Y)
    assert len(caught) == 1
