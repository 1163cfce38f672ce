"""Precision and discounted gain of the k best labels: hand-computed numbers, a literal loop, and scikit-learn."""

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcamel import metrics
from skcamel.metrics.ranking import best_labels

Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]])
F = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1], [0.1, 0.2, 0.3]])
SECOND = 1 / math.log2(3)


def literal(Y, F, k, weights):
    """Both metrics, row by row, straight from their definitions."""
    precision, gain, total = 0.0, 0.0, 0.0
    for labels, scores, weight in zip(Y, F, weights, strict=True):
        order = sorted(range(len(scores)), key=lambda j: (-scores[j], j))[:k]
        found = sum(weight / math.log2(place + 2) for place, j in enumerate(order) if labels[j])
        best = sum(1 / math.log2(place + 2) for place in range(min(k, sum(labels))))
        precision += weight * sum(bool(labels[j]) for j in order) / k
        gain += found / best if best else 0.0
        total += weight
    return precision / total, gain / total


@pytest.mark.parametrize(("k", "precision", "gain"), [(1, 1 / 3, 1 / 3), (2, 1 / 2, (1 + SECOND) / 3), (3, 1 / 3, (1 + SECOND) / 3)])
def test_hand_computed(k, precision, gain):
    for truth in (Y, 2 * Y - 1, Y.astype(bool), sparse.csr_array(Y), sparse.csc_matrix(Y)):
        assert metrics.precision_at_k(truth, F, k) == pytest.approx(precision, abs=1e-15)
        assert metrics.ndcg_at_k(truth, F, k) == pytest.approx(gain, abs=1e-15)


def test_of_equal_scores_the_lower_index_is_better():
    assert metrics.precision_at_k([[0, 1, 0]], [[0.5, 0.5, 0.5]], 1) == 0
    assert metrics.precision_at_k([[1, 0, 0]], [[0.5, 0.5, 0.5]], 1) == 1
    assert metrics.ndcg_at_k([[0, 1, 0]], [[0.0, -0.0, -1.0]], 2) == pytest.approx(SECOND)


@st.composite
def problems(draw):
    n, q = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    levels = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf])
    truth = draw(st.lists(st.lists(st.integers(0, 1), min_size=q, max_size=q), min_size=n, max_size=n))
    scores = draw(st.lists(st.lists(levels, min_size=q, max_size=q), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.25, 1.0, 2.5]), min_size=n, max_size=n))
    return np.array(truth), np.array(scores), np.array(weights), draw(st.integers(1, q))


@given(problems())
def test_equal_to_a_literal_loop_for_dense_sparse_and_ranked_input(problem):
    truth, scores, weights, k = problem
    wanted = pytest.approx(literal(truth.tolist(), scores.tolist(), k, weights.tolist()), abs=1e-13)
    top = best_labels(scores, scores.shape[1])
    assert (best_labels(scores, k) == top[:, :k]).all()
    for matrix in (truth, sparse.csr_array(truth)):
        for given_as in ({"scores": scores}, {"ranked": top}, {"ranked": top[:, :k].tolist()}):
            found = [metric(matrix, k=k, sample_weight=weights, **given_as) for metric in (metrics.precision_at_k, metrics.ndcg_at_k)]
            assert tuple(found) == wanted


def test_gain_is_that_of_scikit_learn_where_no_scores_tie():
    rng = np.random.default_rng(0)
    truth, scores = (rng.random((50, 9)) < 0.2).astype(int), rng.normal(size=(50, 9))
    truth[:5] = 0
    for k in (1, 3, 9):
        assert metrics.ndcg_at_k(truth, scores, k) == pytest.approx(sklearn.metrics.ndcg_score(truth, scores, k=k), abs=1e-13)


def test_precision_at_one_is_top_one_accuracy_where_rows_have_one_label():
    rng = np.random.default_rng(1)
    label, scores = rng.integers(0, 5, 60), rng.normal(size=(60, 5))
    wanted = sklearn.metrics.top_k_accuracy_score(label, scores, k=3, labels=np.arange(5))
    assert 3 * metrics.precision_at_k(np.eye(5)[label], scores, 3) == pytest.approx(wanted, abs=1e-13)


@given(problems(), st.randoms(use_true_random=False))
def test_a_permutation_of_the_labels_changes_nothing_where_no_scores_tie(problem, random):
    truth, scores, _, k = problem
    scores = np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1).astype(float)
    order = random.sample(range(scores.shape[1]), scores.shape[1])
    for metric in (metrics.precision_at_k, metrics.ndcg_at_k):
        assert metric(truth[:, order], scores[:, order], k) == metric(truth, scores, k)


def test_no_row_of_weight_gives_nan():
    assert math.isnan(metrics.precision_at_k(Y, F, 1, sample_weight=[0, 0, 0]))
    assert math.isnan(metrics.ndcg_at_k(Y[:0], F[:0], 1))


@pytest.mark.parametrize(
    ("truth", "arguments", "message"),
    [
        (Y, {"scores": F, "k": 4}, "k must be an integer from 1 to the number of labels, 3, got 4"),
        (Y, {"scores": F, "k": 0}, "got 0"),
        (Y, {"scores": F, "k": True}, "got True"),
        (Y, {"k": 1}, "Give either scores"),
        (Y, {"k": 1, "scores": F, "ranked": [[0], [1], [2]]}, "and not both"),
        (Y, {"k": 2, "ranked": [[0], [1], [2]]}, r"3 rows of at least k=2; got int64 of shape \(3, 1\)"),
        (Y, {"k": 1, "ranked": F}, "whole numbers"),
        (Y, {"k": 1, "ranked": [[0], [1], [3]]}, "positions from 0 to 2"),
        (Y, {"k": 2, "ranked": [[0, 0], [1, 2], [1, 0]]}, "different positions"),
        (Y, {"k": 1, "scores": F[:2]}, "must be equal"),
        (sparse.csr_array(2 * Y), {"k": 1, "scores": F}, "must hold only 0 and 1; found 2"),
        (np.where(Y == 1, np.nan, 0.0), {"k": 1, "ranked": [[0], [1], [2]]}, "unknown entries .* give scores"),
    ],
)
def test_refusals_say_what_came_and_what_to_do(truth, arguments, message):
    for metric in (metrics.precision_at_k, metrics.ndcg_at_k):
        with pytest.raises(ValueError, match=message):
            metric(truth, **arguments)


def test_the_names_are_public():
    assert {"ndcg_at_k", "precision_at_k"} < set(metrics.__all__)
