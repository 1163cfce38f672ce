"""Scores, decisions, probabilities, label sets and ranks of a model, each as it is defined."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from sklearn.datasets import make_multilabel_classification

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import JFSC, LLSF, BinaryRelevance, EnsembleOfClassifierChains, RAkEL
from skcamel.camel.outputs import Outputs

X, Y = make_multilabel_classification(90, n_features=6, n_classes=4, random_state=0)
MODELS = [
    CamelClassifier(threshold="macro_f1"),
    CamelClassifier(0.1, solver="alternating"),
    CamelClassifierCV(alphas=(0.5,), threshold="micro_f1"),
    BinaryRelevance(),
    EnsembleOfClassifierChains(3, random_state=0),
    RAkEL(random_state=0),
    LLSF(),
    JFSC(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
few_values = st.sampled_from([-2.0, -0.5, 0.0, np.finfo(float).tiny, 0.5, 3.0])


def made(scores, cuts):
    names = np.array([f"l{j}" for j in range(scores.shape[1])], dtype=object)
    return Outputs(scores, cuts, names, np.arange(scores.shape[1]), "matrix")


@st.composite
def scores_and_thresholds(draw):
    q = draw(st.integers(1, 5))
    return draw(arrays(float, (3, q), elements=few_values)), draw(
        arrays(float, q, elements=few_values)
    )


@given(scores_and_thresholds())
def test_decisions_sets_ranks_and_top_are_the_literal_ones(drawn):
    scores, thresholds = drawn
    found, q = made(scores, thresholds), scores.shape[1]
    assert (found.decisions.dtype, found.ranks.dtype, found.top(1).dtype) == (np.int64,) * 3
    for r, row in enumerate(scores.tolist()):
        decided = [int(score > at) for score, at in zip(row, thresholds, strict=True)]
        order = sorted(range(q), key=lambda j: (-row[j], j))
        assert found.decisions[r].tolist() == decided
        assert found.label_sets[r] == tuple(f"l{j}" for j in range(q) if decided[j])
        assert found.ranks[r].tolist() == [1 + order.index(j) for j in range(q)]
        assert all(found.top(k)[r].tolist() == order[:k] for k in range(1, q + 1))


def test_the_best_of_many_labels_are_the_first_and_of_equals_the_lower_index(rng):
    scores = rng.integers(0, 9, size=(50, 300)).astype(float)
    order = np.argsort(-scores, axis=1, kind="stable")
    for k in (1, 3, 300):
        assert_array_equal(made(scores, np.zeros(300)).top(k), order[:, :k])


WRONG = [(3, "has 2; give k <= 2"), (0, "k must be .* got 0"), (1.0, "k must be .* got 1.0")]


@pytest.mark.parametrize(("k", "message"), WRONG)
def test_a_k_that_cannot_be_is_refused(k, message):
    with pytest.raises(ValueError, match=message):
        made(np.zeros((1, 2)), np.zeros(2)).top(k)
    with pytest.raises(ValueError, match=message):
        LLSF().fit(X, Y[:, :2]).top_k(X, k)


@each_model
def test_every_method_answers_from_the_outputs(model):
    found = model.fit(X[:60], Y[:60]).outputs(X[60:])
    assert_array_equal(model.decision_function(X[60:]), found.scores)
    assert_array_equal(model.predict(X[60:]), found.decisions)
    assert_array_equal(model.top_k(X[60:], 2), found.top(2))
    assert model.label_sets(X[60:]) == found.label_sets
    assert hasattr(model, "predict_proba") == hasattr(found, "probabilities")
    if hasattr(found, "probabilities"):
        assert_array_equal(model.predict_proba(X[60:]), found.probabilities)
        again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
        assert_array_equal(again.probabilities, found.probabilities)
    assert model.score(X[60:], 2 * Y[60:] - 1) == (found.decisions == Y[60:]).all(axis=1).mean()
