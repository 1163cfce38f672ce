"""Thresholds: each maximises its metric on the scores it was given, found again by trying every threshold in exact arithmetic."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import thresholds as brute
from skcamel.arrays import to_numpy
from skcamel.camel import thresholds as module
from skcamel.camel.thresholds import METRICS, is_tuned, thresholds

few_levels = st.sampled_from(
    [-1.0, -0.5, -0.25, 0.0, 0.25, 1.0]
)  # few, so that ties abound; their midpoints are exact
many_levels = st.integers(-320, 320).map(lambda k: k / 64)


@st.composite
def problems(draw, *, rows=7, labels=3, each_occurs=False):
    """Labels (bool), scores and integer weights (or None) of a few training rows; constant labels are frequent."""
    n, q = draw(st.integers(1, rows)), draw(st.integers(1, labels))
    column = st.lists(st.booleans(), min_size=n, max_size=n)
    if each_occurs:
        column = column.map(lambda values: values if any(values) else [True] * n)
    else:
        column = st.one_of(column, column, column, st.just([False] * n), st.just([True] * n))
    relevant = np.array(draw(st.lists(column, min_size=q, max_size=q))).T
    level = draw(st.sampled_from([few_levels, many_levels]))
    scores = np.array(
        draw(st.lists(st.lists(level, min_size=q, max_size=q), min_size=n, max_size=n))
    )
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return relevant, scores, None if weights is None else np.array(weights, dtype=float)


def simulated(rng, n=300, q=5):
    """Noisy scores of labels from frequent to rare."""
    relevant = rng.random((n, q)) < np.geomspace(0.5, 0.02, q)
    return relevant, rng.normal(relevant * 1.0 - 0.7, 0.6)


def common_of(relevant, scores, metric, weights=None):
    """The best threshold for all labels together: a label of nothing but its positives takes it, so here all are one label."""
    with mock.patch.object(module, "PRIOR_POSITIVES", 1e300):
        return float(thresholds(metric, relevant, scores, weights)[0])


def own_of(relevant, scores, metric, weights=None):
    """Thresholds that are not drawn to the common one (a prior of 0 would divide 0 by 0 for absent labels)."""
    with mock.patch.object(module, "PRIOR_POSITIVES", 1e-300):
        return to_numpy(thresholds(metric, relevant, scores, weights))


@pytest.mark.parametrize("metric", ["hamming_loss", "micro_f1"])
@given(problem=problems())
def test_the_common_threshold_is_the_highest_of_the_best(problem, metric, xp):
    relevant, scores, weights = problem
    found = common_of(
        *(None if array is None else xp(array) for array in problem[:2]),
        metric,
        None if weights is None else xp(weights),
    )
    _, best = brute.best_common(metric, relevant, scores, weights)
    if math.isinf(best[0]):
        assert found > scores.max() if best[0] > 0 else found < scores.min()
    else:  # the prior leaves 1e-300 of the label's own threshold
        assert found == pytest.approx(best[0], rel=0, abs=1e-200)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(rows=5, each_occurs=True))
def test_thresholds_of_the_labels_reach_the_best_of_all_combinations(problem, metric, xp):
    relevant, scores, weights = problem
    found = own_of(
        xp(relevant), xp(scores), metric, None if weights is None else xp(weights)
    ).tolist()
    assert brute.value(metric, relevant, scores, found, weights) == brute.best_combination(
        metric, relevant, scores, weights
    )


@pytest.mark.parametrize("metric", METRICS)
def test_a_label_keeps_the_share_p_of_p_plus_10_of_its_own_threshold(rng, metric):
    relevant, scores = simulated(rng)
    common = common_of(relevant, scores, "micro_f1" if metric == "macro_f1" else metric)
    positives = relevant.sum(axis=0)
    share = positives / (positives + 10)
    expected = share * own_of(relevant, scores, metric) + (1 - share) * common
    assert_allclose(thresholds(metric, relevant, scores), expected, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(rows=5), repeats=st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_integer_weights_equal_repeated_rows(problem, repeats, metric):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = thresholds(metric, relevant, scores, repeats.astype(float))
    repeated = thresholds(
        metric, np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0)
    )
    assert np.allclose(weighted, repeated, rtol=0, atol=2e-14)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(), seed=st.integers(0, 99))
def test_unknown_entries_decide_nothing(problem, metric, seed):
    relevant, scores, _ = problem
    rng = np.random.default_rng(seed)
    known = rng.random(scores.shape) < 0.6
    known[0] = True
    found = thresholds(metric, relevant & known, scores, known * 1.0)
    other = thresholds(
        metric,
        relevant & known,
        np.where(known, scores, rng.normal(size=scores.shape)),
        known * 1.0,
    )
    assert_array_equal(found, other)


def test_what_is_not_tuned_is_taken_as_it_is(xp):
    relevant, scores = xp(np.array([[True, False]])), xp(np.array([[3.0, 4.0]]))
    for threshold, expected in (
        ("zero", [0.0, 0.0]),
        (0.25, [0.25, 0.25]),
        (-1, [-1.0, -1.0]),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
    ):
        assert not is_tuned(threshold)
        assert to_numpy(thresholds(threshold, relevant, scores)).tolist() == expected
    for name, metric in (("common", "micro_f1"), ("label", "macro_f1")):
        assert is_tuned(name)
        assert (
            to_numpy(thresholds(name, relevant, scores)).tolist()
            == to_numpy(thresholds(metric, relevant, scores)).tolist()
        )
