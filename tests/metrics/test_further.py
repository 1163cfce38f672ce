"""Metrics beside the seven: literal loops over complete and partly known truth, and scikit-learn where it counts the same."""

import math
from itertools import product

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from skcamel import metrics

NAN = math.nan


def mean(pairs):
    """Of (value, weight), NaN without weight."""
    pairs = list(pairs)
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else NAN


def literal_rows(Y, P, weights, value):
    """Mean over rows with a known label of `value(TP, FP, FN)`."""
    found = []
    for truth, decided, weight in zip(Y, P, weights, strict=True):
        known = [(t, p) for t, p in zip(truth, decided, strict=True) if t == t]
        if known:
            found.append((value(known.count((1, 1)), known.count((0, 1)), known.count((1, 0))), weight))
    return mean(found)


def literal_auc(Y, F, weights):
    areas = []
    for truth, scores in zip(Y.T, F.T, strict=True):
        pairs = [(i, k) for i, k in product(range(len(truth)), repeat=2) if truth[i] == 1 and truth[k] == 0]
        area = mean(((scores[i] > scores[k]) + (scores[i] == scores[k]) / 2, weights[i] * weights[k]) for i, k in pairs)
        areas += [area] if area == area else []
    return sum(areas) / len(areas) if areas else NAN


def literal_entries(Y, P, weights, loss):
    return mean((loss(y, p), w) for row, given, w in zip(Y, P, weights, strict=True) for y, p in zip(row, given, strict=True) if y == y)


def literal_log(y, p):
    return -math.log(min(max(p if y else 1 - p, 2.0**-52), 1 - 2.0**-52))


def literal_at(Y, F, weights, k, gain):
    """Mean over rows with k known labels: gains of hits over what `gain` says is possible."""
    found = []
    for truth, scores, weight in zip(Y, F, weights, strict=True):
        order = sorted((j for j in range(len(truth)) if truth[j] == truth[j]), key=lambda j: (-scores[j], j))
        if len(order) >= k:
            found.append((gain([truth[j] for j in order[:k]], sum(truth[j] for j in order)), weight))
    return mean(found)


def dcg(hits, total):
    gains = [1 / math.log2(place + 2) for place in range(len(hits))]
    best = sum(gains[: int(min(len(hits), total))])
    return sum(g * h for g, h in zip(gains, hits, strict=True)) / best if best else 0.0


@st.composite
def cases(draw, values=(0.0, 1.0, NAN)):
    n, q = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    size = {"min_size": n * q, "max_size": n * q}
    truth = np.reshape(draw(st.lists(st.sampled_from(values), **size)), (n, q))
    scores = np.reshape(draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0]), **size)), (n, q))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=n, max_size=n)))
    return truth, scores, weights


@given(cases(), st.sampled_from([0.0, 1.0]))
def test_every_further_metric_is_its_literal_definition_over_known_labels(case, absent):
    Y, F, w = case
    P = (F >= 0.5).astype(int)
    k = min(2, Y.shape[1])
    pairs = {
        "subset": (metrics.subset_accuracy(Y, P, sample_weight=w), literal_rows(Y, P, w, lambda tp, fp, fn: fp + fn == 0)),
        "f1": (
            metrics.example_f1(Y, P, absent=absent, sample_weight=w),
            literal_rows(Y, P, w, lambda tp, fp, fn: 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else absent),
        ),
        "jaccard": (
            metrics.jaccard(Y, P, absent=absent, sample_weight=w),
            literal_rows(Y, P, w, lambda tp, fp, fn: tp / (tp + fp + fn) if tp + fp + fn else absent),
        ),
        "auc": (metrics.label_auc(Y, F, sample_weight=w), literal_auc(Y, F, w)),
        "log": (metrics.log_loss(Y, F, sample_weight=w), literal_entries(Y, F, w, literal_log)),
        "brier": (metrics.brier(Y, F, sample_weight=w), literal_entries(Y, F, w, lambda y, p: (y - p) ** 2)),
        "precision": (metrics.precision_at_k(Y, F, k, sample_weight=w), literal_at(Y, F, w, k, lambda hits, _: sum(hits) / k)),
        "gain": (metrics.ndcg_at_k(Y, F, k, sample_weight=w), literal_at(Y, F, w, k, dcg)),
    }
    for name, (value, wanted) in pairs.items():
        assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True), name


def test_they_are_those_of_scikit_learn_where_it_counts_the_same(rng):
    Y = rng.integers(0, 2, (40, 5))
    F = np.round(rng.random(Y.shape), 1)
    P = (F > 0.5).astype(int)
    theirs = sklearn.metrics
    assert metrics.subset_accuracy(Y, P) == theirs.accuracy_score(Y, P)
    for absent in (0.0, 1.0):
        assert metrics.example_f1(Y, P, absent=absent) == pytest.approx(theirs.f1_score(Y, P, average="samples", zero_division=absent))
        assert metrics.jaccard(Y, P, absent=absent) == pytest.approx(theirs.jaccard_score(Y, P, average="samples", zero_division=absent))
    assert metrics.label_auc(Y, F) == pytest.approx(theirs.roc_auc_score(Y, F, average="macro"))
    assert metrics.log_loss(Y, F) == pytest.approx(np.mean([theirs.log_loss(y, p) for y, p in zip(Y.T, F.T, strict=True)]))
    assert metrics.brier(Y, F) == pytest.approx(np.mean([theirs.brier_score_loss(y, p) for y, p in zip(Y.T, F.T, strict=True)]))


@pytest.mark.parametrize("metric", [metrics.log_loss, metrics.brier])
def test_scores_are_refused_where_probabilities_are_needed(metric):
    with pytest.raises(ValueError, match=r"between 0 and 1; found -0.2 to 1.5; scores are no probabilities"):
        metric([[1, 0]], [[1.5, -0.2]])


def test_a_label_of_one_class_has_no_area():
    assert math.isnan(metrics.label_auc([[1, 0], [1, 0]], [[0.1, 0.2], [0.3, 0.4]]))
    assert math.isnan(metrics.label_auc([[1, 0], [NAN, NAN]], [[0.1, 0.2], [0.3, 0.4]]))
