"""Chains see true labels in training and their own hard predictions afterwards."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from baselines import overlapping
from reference import baselines as literal
from skcamel.baselines import EnsembleOfClassifierChains, transformation

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def plain(**options):
    return EnsembleOfClassifierChains(1, bootstrap=False, tol=1e-9, **options)


REPEATED_ROWS = "a bootstrap sample of repeated rows is another one than that of weighted rows"


def expected_failures(estimator):
    names = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    return dict.fromkeys(names, REPEATED_ROWS) if estimator.bootstrap else {}


@parametrize_with_checks(
    [
        EnsembleOfClassifierChains(2, random_state=0),
        EnsembleOfClassifierChains(2, bootstrap=False, random_state=0),
        EnsembleOfClassifierChains(2, combine="vote", random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_a_chain_is_the_literal_one(order):
    X, Y = overlapping.make(n=250)
    model = plain(order=order).fit(X[:200], Y[:200])
    np.testing.assert_allclose(
        model.predict_proba(X), literal.chain(X[:200], Y[:200], order, X), atol=1e-4
    )


def test_a_member_learns_from_its_bag():
    X, Y = overlapping.make(n=250)
    model = EnsembleOfClassifierChains(1, order=[1, 0, 3, 2], random_state=3, tol=1e-9).fit(X, Y)
    bag = np.random.RandomState(3).randint(len(X), size=len(X))
    np.testing.assert_allclose(
        model.predict_proba(X), literal.chain(X[bag], Y[bag], [1, 0, 3, 2], X), atol=1e-4
    )


def test_confidences_are_averaged_and_cut_at_a_half():
    X, Y = overlapping.make()
    model = EnsembleOfClassifierChains(5, random_state=0).fit(X, Y)
    F = model.predict_proba(X)
    np.testing.assert_allclose(
        F, np.mean([chain.probabilities(X) for chain in model.estimators_], axis=0)
    )
    assert F.min() >= 0
    assert F.max() <= 1
    np.testing.assert_array_equal(model.predict(X), F >= 0.5)


def test_votes_are_counted():
    X, Y = overlapping.make()
    model = EnsembleOfClassifierChains(6, combine="vote", random_state=0).fit(X, Y)
    F = model.decision_function(X) + 0.5
    np.testing.assert_allclose(6 * F, np.round(6 * F), atol=1e-12)
    assert len(np.unique(F)) > 2
    assert (F == 0.5).any()
    np.testing.assert_array_equal(model.predict(X), F >= 0.5)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_leaves_the_others_unchanged(value):
    X, Y = overlapping.make()
    wide = np.column_stack([Y[:, :1], np.full(len(Y), value), Y[:, 1:]])
    with_constant = plain(order=[0, 1, 2, 3, 4]).fit(X, wide).predict_proba(X)
    without = plain(order=[0, 1, 2, 3]).fit(X, Y).predict_proba(X)
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
