"""Cuts: each maximises its metric on the scores it was given, found again by trying every cut in exact arithmetic."""

import math
import re
from itertools import pairwise, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import thresholds as brute
from skcamel import metrics
from skcamel.arrays import to_numpy
from skcamel.camel import thresholds
from skcamel.camel.thresholds import METRICS, Rule, Sorted

# A common macro-F1 is summed up step by step: at most 8 x 4 steps <= 1, each rounded to 1.1e-16.
ROUNDING = 1e-14

few_levels = st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 1.0])  # few, so that ties abound; their midpoints are exact
many_levels = st.integers(-320, 320).map(lambda k: k / 64)


def common_cut(relevant, scores, metric, weights=None):
    return Sorted(relevant, scores, weights).common_cut(metric)


def label_cuts(relevant, scores, metric, weights=None):
    return Sorted(relevant, scores, weights).label_cuts(metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("mode", ["common", "label"])
def test_part_of_the_rows_has_the_cuts_of_these_rows_alone(rng, mode, metric):
    relevant, scores = rng.random((60, 5)) < 0.4, rng.normal(size=(60, 5)).round(1)  # with ties
    kept, rule = rng.random(60) < 0.6, Rule(mode, metric)
    np.testing.assert_allclose(rule.of(Sorted(relevant, scores).rows(kept)), rule.cuts(relevant[kept], scores[kept]), atol=1e-14)


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
    scores = np.array(draw(st.lists(st.lists(level, min_size=q, max_size=q), min_size=n, max_size=n)))
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return relevant, scores, None if weights is None else np.array(weights, dtype=float)


def simulated(rng, n=300, q=5):
    """Noisy scores of labels from frequent to rare."""
    relevant = rng.random((n, q)) < np.geomspace(0.5, 0.02, q)
    return relevant, rng.normal(relevant * 1.0 - 0.7, 0.6)


def is_cut(cut, expected, scores):
    """Whether a cut is the expected one; ±inf stands for any finite cut beyond the scores."""
    if math.isinf(expected):
        return math.isfinite(cut) and (cut > scores.max() if expected > 0 else cut < scores.min())
    return cut == expected


def without_prior():
    """Cuts of labels that are not drawn towards the common one (a prior of 0 would divide 0 by 0 for absent labels)."""
    return mock.patch.object(thresholds, "PRIOR_POSITIVES", 1e-300)


def on(xp, *arrays):
    return [None if array is None else xp(array) for array in arrays]


# The common cut


@pytest.mark.parametrize("metric", ["hamming_loss", "micro_f1"])
@given(problem=problems())
def test_common_cut_is_the_highest_of_the_best(problem, metric, xp):
    relevant, scores, weights = problem
    backend_relevant, backend_scores, backend_weights = on(xp, *problem)
    cut = common_cut(backend_relevant, backend_scores, metric, backend_weights)
    _, cuts = brute.best_common(metric, relevant, scores, weights)
    assert isinstance(cut, float)
    assert is_cut(cut, cuts[0], scores)


@given(problem=problems())
def test_common_cut_for_macro_f1_is_one_of_the_best(problem, xp):
    relevant, scores, weights = problem
    backend_relevant, backend_scores, backend_weights = on(xp, *problem)
    cut = common_cut(backend_relevant, backend_scores, "macro_f1", backend_weights)
    best, cuts = brute.best_common("macro_f1", relevant, scores, weights)
    assert brute.value("macro_f1", relevant, scores, [cut] * scores.shape[1], weights) == best
    assert any(is_cut(cut, expected, scores) for expected in cuts)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems())
def test_common_cut_is_never_worse_than_zero(problem, metric):
    relevant, scores, weights = problem
    tuned, zero = (np.full(scores.shape[1], cut).tolist() for cut in (common_cut(relevant, scores, metric, weights), 0.0))
    assert brute.value(metric, relevant, scores, tuned, weights) >= brute.value(metric, relevant, scores, zero, weights)


@pytest.mark.parametrize("metric", METRICS)
def test_common_cut_is_never_worse_than_any_of_a_hundred_others(metric, rng, xp):
    relevant, scores = simulated(rng)
    sign = -1 if metric == "hamming_loss" else 1
    cut = common_cut(xp(relevant), xp(scores), metric)
    tuned = sign * getattr(metrics, metric)(relevant, scores > cut)
    assert all(tuned >= sign * getattr(metrics, metric)(relevant, scores > other) - ROUNDING for other in np.linspace(-3, 2, 101))


def test_common_cut_of_a_hand_example():
    relevant = np.array([[True, False], [True, False], [False, True]])
    scores = np.array([[0.75, -0.5], [0.25, -1.0], [-0.75, -0.25]])
    assert common_cut(relevant, scores, "micro_f1") == -0.375  # predicts 0.75, 0.25 and -0.25: all three, and nothing else
    assert common_cut(relevant, scores, "macro_f1") == -0.375
    assert common_cut(relevant, scores, "hamming_loss") == -0.375


@pytest.mark.parametrize(("metric", "expected"), [("micro_f1", -0.125), ("macro_f1", -0.125), ("hamming_loss", 0.75)])
def test_equal_scores_are_never_cut_apart(metric, expected):
    relevant = np.array([[True], [True], [False], [False], [False], [True], [False]])
    scores = np.array([[1.0], [0.5], [0.5], [0.5], [0.0], [0.0], [-0.25]])
    # (hits, predicted) above 0.75: (1, 1), above 0.25: (2, 4), above -0.125: (3, 6): F1 2/4, 4/7, 6/9; wrong 2, 3, 3.
    # Cut apart, the row of 0.5 that is relevant would give (2, 2): F1 4/5, wrong 1.
    assert common_cut(relevant, scores, metric) == expected


@given(problem=problems(), shift=st.sampled_from([-8.0, 0.5, 4.0]))
def test_cuts_move_with_the_scores(problem, shift):
    relevant, scores, weights = problem
    for mode, metric in product(("common", "label"), ("hamming_loss", "micro_f1")):
        cuts = Rule(mode, metric).cuts(relevant, scores, weights)
        assert np.allclose(
            Rule(mode, metric).cuts(relevant, scores + shift, weights), cuts + shift, rtol=0, atol=2e-14
        )  # the gap beyond the ends grows by 1e-15 of the score


@given(problem=problems(), data=st.data())
def test_order_of_rows_and_of_labels_does_not_matter(problem, data):
    relevant, scores, weights = problem
    rows = np.array(data.draw(st.permutations(range(scores.shape[0]))))
    columns = np.array(data.draw(st.permutations(range(scores.shape[1]))))
    for mode, metric in (("common", "micro_f1"), ("common", "hamming_loss"), ("label", "macro_f1"), ("label", "hamming_loss")):
        straight = Rule(mode, metric).cuts(relevant, scores, weights)
        permuted = Rule(mode, metric).cuts(relevant[rows][:, columns], scores[rows][:, columns], None if weights is None else weights[rows])
        assert np.array_equal(permuted, straight[columns])


# One cut for each label


@pytest.mark.parametrize("metric", ["hamming_loss", "macro_f1"])
@given(problem=problems())
def test_label_cut_keeps_its_share_of_the_best_cut_of_the_label(problem, metric, xp):
    relevant, scores, weights = problem
    backend_relevant, backend_scores, backend_weights = on(xp, *problem)
    cuts = to_numpy(label_cuts(backend_relevant, backend_scores, metric, backend_weights))
    common = common_cut(relevant, scores, "micro_f1" if metric == "macro_f1" else metric, weights)
    for j, cut in enumerate(cuts):
        _, best = brute.best_of_label(metric, relevant, scores, j, weights)
        positives = float((relevant[:, j] * (1 if weights is None else weights)).sum())
        share = positives / (positives + 10)
        if len(best) == 1 and math.isfinite(best[0]):
            assert cut == pytest.approx(share * best[0] + (1 - share) * common, abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(rows=5, each_occurs=True))
def test_label_cuts_without_the_prior_reach_the_best_combination(problem, metric, xp):
    relevant, scores, weights = problem
    backend_relevant, backend_scores, backend_weights = on(xp, *problem)
    with without_prior():
        cuts = to_numpy(label_cuts(backend_relevant, backend_scores, metric, backend_weights)).tolist()
    assert brute.value(metric, relevant, scores, cuts, weights) == brute.best_combination(metric, relevant, scores, weights)


@given(problem=problems(rows=5))
def test_dinkelbach_finds_the_best_micro_f1_of_all_combinations_of_cuts(problem, xp):
    relevant, scores, weights = problem
    cuts = to_numpy(thresholds._micro_f1_cuts(Sorted(*on(xp, *problem))._curve)).tolist()
    assert brute.value("micro_f1", relevant, scores, cuts, weights) == brute.best_combination("micro_f1", relevant, scores, weights)


def test_dinkelbachs_cuts_carry_a_certificate(rng, xp):
    relevant, scores = simulated(rng)
    cuts = to_numpy(thresholds._micro_f1_cuts(Sorted(xp(relevant), xp(scores), None)._curve))
    ratio = metrics.micro_f1(relevant, scores > cuts)
    # 2 hits / (predicted + positives) <= ratio for all cuts iff the sum over labels of max(2 hits - ratio predicted) <= ratio positives
    most = 0.0
    for label, column in zip(relevant.T, scores.T, strict=True):
        decided = column > np.array(brute.cuts_between(column.tolist()))[:, None]  # (cuts, n)
        most += (2 * (decided & label).sum(axis=1) - ratio * decided.sum(axis=1)).max()
    assert most == pytest.approx(ratio * relevant.sum(), rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_label_cuts_without_the_prior_are_never_worse_than_zero_or_than_the_common_cut(metric, rng, xp):
    relevant, scores = simulated(rng)
    with without_prior():
        cuts = to_numpy(label_cuts(xp(relevant), xp(scores), metric))
    sign = -1 if metric == "hamming_loss" else 1
    own, common, zero = (
        sign * getattr(metrics, metric)(relevant, scores > cut) for cut in (cuts, common_cut(relevant, scores, metric), 0.0)
    )
    assert own >= common - ROUNDING
    assert common >= zero - ROUNDING


def test_rare_labels_stay_near_the_common_cut(rng):
    relevant, scores = simulated(rng)
    common = common_cut(relevant, scores, "micro_f1")
    with without_prior():
        own = label_cuts(relevant, scores, "macro_f1")
    positives = relevant.sum(axis=0)
    kept = (label_cuts(relevant, scores, "macro_f1") - common) / (own - common)
    assert np.allclose(kept, positives / (positives + 10), rtol=1e-9)  # own - common is of the order of 0.1


@given(problem=problems())
def test_every_possible_cut_decides_what_its_curve_counts(problem):
    relevant, scores, weights = problem
    curve = Sorted(relevant, scores, weights)._curve
    w = np.ones(len(scores)) if weights is None else weights
    for k, j in zip(*np.nonzero(curve.possible), strict=True):
        decided = scores[:, j] > curve.cuts[k, j]
        assert (decided * w).sum() == curve.predicted[k, j]
        assert (decided * relevant[:, j] * w).sum() == curve.hits[k, j]
    for above, below in pairwise(curve.cuts):
        assert (above >= below).all()


# Constant labels


@pytest.mark.parametrize("metric", METRICS)
def test_a_label_that_never_occurs_takes_the_common_cut(metric, rng):
    relevant, scores = simulated(rng, q=3)
    relevant[:, 1] = False
    cuts = label_cuts(relevant, scores, metric)
    assert cuts[1] == common_cut(relevant, scores, "micro_f1" if metric == "macro_f1" else metric)
    assert np.isfinite(cuts).all()


@pytest.mark.parametrize("mode", ["common", "label"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["equal scores", "different scores"])
def test_labels_that_all_are_constant_are_decided_so(mode, metric, spread, rng, xp):
    scores = rng.normal(0.3, spread, (6, 2))
    for constant in (False, True):
        cuts = to_numpy(Rule(mode, metric).cuts(xp(np.full((6, 2), constant)), xp(scores)))
        assert ((scores > cuts) == constant).all()


def test_one_row_is_enough(xp):
    for mode, metric in product(("common", "label"), METRICS):
        cuts = to_numpy(Rule(mode, metric).cuts(xp(np.array([[True, False]])), xp(np.array([[0.5, -0.5]]))))
        assert np.isfinite(cuts).all()


# Weights


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems(rows=5), repeats=st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_decisions_under_integer_weights_equal_those_of_repeated_rows(problem, repeats, metric):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = common_cut(relevant, scores, metric, repeats.astype(float))
    repeated = common_cut(np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0), metric)
    values = [brute.value(metric, relevant, scores, [cut] * scores.shape[1], repeats.tolist()) for cut in (weighted, repeated)]
    assert values[0] == values[1]
    if metric != "macro_f1":  # whose equal values are told apart by their rounding
        assert ((scores > weighted) == (scores > repeated)).all()


@pytest.mark.parametrize(("mode", "metric"), [("common", "hamming_loss"), ("common", "micro_f1"), *product(["label"], METRICS)])
@given(problem=problems(rows=5), repeats=st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_cuts_under_integer_weights_equal_those_of_repeated_rows(problem, repeats, mode, metric):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = Rule(mode, metric).cuts(relevant, scores, repeats.astype(float))
    repeated = Rule(mode, metric).cuts(np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0))
    assert np.allclose(weighted, repeated, rtol=0, atol=2e-14)  # the gap beyond the ends grows by 1e-15 of the score


# The rule


def test_zero_and_numbers_are_the_cut_of_every_label(xp):
    relevant, scores = xp(np.array([[True, False]])), xp(np.array([[3.0, 4.0]]))
    assert to_numpy(Rule("zero").cuts(relevant, scores)).tolist() == [0.0, 0.0]
    assert to_numpy(Rule(0.25).cuts(relevant, scores)).tolist() == [0.25, 0.25]
    assert to_numpy(Rule(-1).cuts(relevant, scores)).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize(("mode", "tuned"), [("zero", False), (0.5, False), ("common", True), ("label", True)])
def test_only_tuned_cuts_need_leave_one_out_scores(mode, tuned):
    assert Rule(mode).is_tuned is tuned


@pytest.mark.parametrize(("mode", "metric"), [("common", "micro_f1"), ("label", "macro_f1")])
def test_each_mode_has_its_own_metric(mode, metric, rng):
    relevant, scores = simulated(rng)
    scores = scores - np.linspace(0, 1, 5)  # rare labels score low, so that a common cut must take sides
    cuts = {name: Rule(mode, name).cuts(relevant, scores).tolist() for name in METRICS}
    assert Rule(mode).cuts(relevant, scores).tolist() == cuts[metric]
    assert len({tuple(values) for values in cuts.values()}) == 3  # the metric matters


@pytest.mark.parametrize("mode", ["zero", 0.5, "common", "label"])
def test_cuts_are_one_double_for_each_label_where_the_scores_live(mode, rng, xp):
    relevant, scores = simulated(rng)
    backend_scores = xp(scores)
    cuts = Rule(mode).cuts(xp(relevant), backend_scores)
    assert type(cuts) is type(backend_scores)
    assert cuts.dtype == backend_scores.dtype
    assert tuple(cuts.shape) == (5,)


def test_common_mode_gives_every_label_the_same_cut(rng):
    relevant, scores = simulated(rng)
    assert set(Rule("common").cuts(relevant, scores).tolist()) == {common_cut(relevant, scores, "micro_f1")}


@pytest.mark.parametrize("mode", ["common", "label"])
def test_unknown_metric_is_refused_with_the_known_ones(mode):
    message = "threshold_metric='accuracy' is not known; choose one of 'hamming_loss', 'macro_f1', 'micro_f1'."
    with pytest.raises(ValueError, match=re.escape(message)):
        Rule(mode, "accuracy").cuts(np.array([[True]]), np.array([[1.0]]))


@given(problems())
def test_threshold_curves_hold_f1_at_every_cut_that_decides_differently(problem):
    relevant, scores, _ = problem
    curves = thresholds.f1_curves(relevant, scores)
    assert len(curves) == relevant.shape[1]
    for (cuts, f1), true, values in zip(curves, relevant.T, scores.T, strict=True):
        decisions = [values > cut for cut in cuts]
        assert len(cuts) == len(set(values)) + 1
        assert len({tuple(decision) for decision in decisions}) == len(cuts)
        expected = [metrics.macro_f1(true[:, None], decision[:, None]) for decision in decisions]
        np.testing.assert_allclose(f1, expected, atol=1e-15)
