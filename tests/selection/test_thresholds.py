"""Thresholds maximise their metric: found again by trying every threshold in exact arithmetic."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from reference import thresholds as brute
from skcamel.arrays import to_numpy
from skcamel.camel import thresholds as module
from skcamel.camel.thresholds import METRICS, is_tuned, thresholds

few_levels = st.sampled_from(
    [-1.0, -0.5, -0.25, 0.0, 0.25, 1.0]
)  # ties abound, midpoints are exact
many_levels = st.integers(-320, 320).map(lambda k: k / 64)
each_metric = pytest.mark.parametrize("metric", METRICS)


@st.composite
def problems(draw, *, rows=7, each_occurs=False):
    """Labels, scores and integer weights (or None) of a few rows; constant labels are frequent."""
    n, q = draw(st.integers(1, rows)), draw(st.integers(1, 3))
    relevant = draw(arrays(bool, (n, q)))
    constant = (None, None, None, True) if each_occurs else (None, None, None, True, False)
    for column in relevant.T:
        value = draw(st.sampled_from(constant))
        column[:] = column if value is None else value
        if each_occurs and not column.any():
            column[:] = True
    levels = draw(st.sampled_from([few_levels, many_levels]))
    weights = draw(st.none() | arrays(float, n, elements=st.integers(1, 3)))
    return relevant, draw(arrays(float, (n, q), elements=levels)), weights


def found(metric, relevant, scores, weights=None, xp=np.array, *, prior):
    """Thresholds; a prior of 1e300 makes all the common one, 1e-300 leaves each label its own."""
    w = None if weights is None else xp(weights)
    with mock.patch.object(module, "PRIOR_POSITIVES", prior):
        return to_numpy(thresholds(metric, xp(relevant), xp(scores), w))


@pytest.mark.parametrize("metric", ["hamming_loss", "micro_f1"])
@given(problem=problems())
def test_the_common_threshold_is_the_highest_of_the_best(problem, metric, xp):
    relevant, scores, weights = problem
    common = float(found(metric, *problem, xp, prior=1e300)[0])
    _, best = brute.best_common(metric, relevant, scores, weights)
    if math.isinf(best[0]):
        assert common > scores.max() if best[0] > 0 else common < scores.min()
    else:  # the prior leaves 1e-300 of the label's own threshold
        assert common == pytest.approx(best[0], rel=0, abs=1e-200)


@each_metric
@given(problem=problems(rows=5, each_occurs=True))
def test_thresholds_of_the_labels_reach_the_best_of_all_combinations(problem, metric, xp):
    relevant, scores, weights = problem
    own = found(metric, *problem, xp, prior=1e-300).tolist()
    best = brute.best_combination(metric, relevant, scores, weights)
    assert brute.value(metric, relevant, scores, own, weights) == best


@each_metric
def test_a_label_keeps_the_share_p_of_p_plus_10_of_its_own_threshold(rng, metric):
    relevant = rng.random((300, 5)) < np.geomspace(0.5, 0.02, 5)  # from frequent to rare
    scores = rng.normal(relevant * 1.0 - 0.7, 0.6)
    together = "micro_f1" if metric == "macro_f1" else metric
    common = found(together, relevant, scores, prior=1e300)[0]
    own = found(metric, relevant, scores, prior=1e-300)
    positives = relevant.sum(axis=0)
    share = positives / (positives + 10)
    expected = share * own + (1 - share) * common
    assert_allclose(thresholds(metric, relevant, scores), expected, atol=1e-12)


@each_metric
@given(problem=problems(rows=5), repeats=arrays(int, 5, elements=st.integers(1, 3)))
def test_integer_weights_equal_repeated_rows(problem, repeats, metric):
    relevant, scores, _ = problem
    repeats = repeats[: len(scores)]
    weighted = thresholds(metric, relevant, scores, repeats.astype(float))
    copies = np.repeat(np.arange(len(scores)), repeats)
    repeated = thresholds(metric, relevant[copies], scores[copies])
    assert np.allclose(weighted, repeated, rtol=0, atol=2e-14)


@each_metric
@given(problem=problems(), seed=st.integers(0, 99))
def test_unknown_entries_decide_nothing(problem, metric, seed):
    relevant, scores, _ = problem
    rng = np.random.default_rng(seed)
    known = rng.random(scores.shape) < 0.6
    known[0] = True
    changed = np.where(known, scores, rng.normal(size=scores.shape))
    one, other = (thresholds(metric, relevant & known, F, known * 1.0) for F in (scores, changed))
    assert_array_equal(one, other)


@pytest.mark.parametrize("threshold", ["zero", 0.25, -1, np.array([1.0, 2.0])], ids=str)
def test_what_is_not_tuned_is_taken_as_it_is(threshold, xp):
    relevant, scores = xp(np.array([[True, False]])), xp(np.array([[3.0, 4.0]]))
    expected = np.broadcast_to(0.0 if isinstance(threshold, str) else threshold, 2)
    assert not is_tuned(threshold)
    assert_array_equal(to_numpy(thresholds(threshold, relevant, scores)), expected)


@pytest.mark.parametrize(("name", "metric"), [("common", "micro_f1"), ("label", "macro_f1")])
def test_earlier_names_stand_for_metrics(name, metric, rng):
    relevant, scores = rng.random((9, 3)) < 0.5, rng.normal(size=(9, 3))
    assert is_tuned(name)
    expected = thresholds(metric, relevant, scores)
    assert_array_equal(thresholds(name, relevant, scores), expected)
