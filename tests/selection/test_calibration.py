"""Probabilities and log-odds: slopes and offsets that are optimal, and a link that never contradicts the sign of the score."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, special

from skcamel.arrays import to_numpy
from skcamel.camel.thresholds import FLATTEST, PRIOR_OF_SLOPES, STEEPEST, log_odds, probabilities, slopes


def smoothed_targets(relevant, weights):
    """Platt's targets of one label."""
    positives, negatives = weights[relevant].sum(), weights[~relevant].sum()
    return np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def cross_entropy(a, relevant, x, weights):
    """Of one label with the slope a and the scores x."""
    targets = smoothed_targets(relevant, weights)
    return (weights * (targets * np.logaddexp(0, -a * x) + (1 - targets) * np.logaddexp(0, a * x))).sum()


def cross_entropy_of_log(log_a, *arguments):
    """The same, of the logarithm of the slope."""
    return cross_entropy(math.exp(log_a), *arguments)


def derivative(a, relevant, x, weights):
    return (weights * (special.expit(a * x) - smoothed_targets(relevant, weights)) * x).sum()


def bounds(x):
    """Flattest and steepest slope that are allowed."""
    steepest = STEEPEST / abs(x).max()
    return FLATTEST * steepest, steepest


@st.composite
def problems(draw):
    """Labels, scores and integer weights (or None); every label has a score that is not 0."""
    n, q = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1e-6, 1.0, 1e6]))
    size = {"min_size": n * q, "max_size": n * q}
    relevant = np.reshape(draw(st.lists(st.booleans(), **size)), (n, q))
    scores = scale * np.reshape(draw(st.lists(st.integers(-20, 20).map(lambda k: k / 8), **size)), (n, q))
    assume(scores.any(axis=0).all())
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return relevant, scores, None if weights is None else np.array(weights, dtype=float)


def on(xp, *arrays):
    return [None if array is None else xp(array) for array in arrays]


# Slopes


@given(problem=problems())
def test_slope_is_a_stationary_point_of_the_smoothed_cross_entropy(problem, xp):
    relevant, scores, weights = problem
    found = to_numpy(slopes(*on(xp, *problem)))
    w = np.ones(len(scores)) if weights is None else weights
    for j, a in enumerate(found):
        x = scores[:, j]
        flattest, steepest = bounds(x)
        slope = derivative(a, relevant[:, j], x, w) / (w * abs(x)).sum()  # within [-1, 1], and rounded to about 1e-15
        at_the_flattest = a <= flattest * (1 + 1e-7)  # 30 halvings of a bracket of a factor 1000 leave 7e-9 of it
        assert abs(slope) < 1e-11 or (at_the_flattest and slope > 0)
        assert flattest <= a <= steepest


@given(problem=problems())
def test_slope_agrees_with_a_general_minimiser(problem):
    relevant, scores, weights = problem
    w = np.ones(len(scores)) if weights is None else weights
    for j, a in enumerate(slopes(relevant, scores, weights)):
        arguments = relevant[:, j], scores[:, j], w
        interval = np.log(bounds(arguments[1]))
        best = optimize.minimize_scalar(cross_entropy_of_log, args=arguments, bounds=interval, method="bounded", options={"xatol": 1e-9})
        assert cross_entropy(a, *arguments) <= best.fun * (1 + 1e-12)
        # A minimiser that sees values alone, rounded to 1e-16, knows the place to 1e-8 times the root of value over curvature.
        assert math.log(a) == pytest.approx(best.x, abs=1e-4)


@given(problem=problems())
def test_slope_is_positive_and_finite(problem, xp):
    found = to_numpy(slopes(*on(xp, *problem)))
    assert (found > 0).all()
    assert np.isfinite(found).all()


def test_scores_that_say_the_opposite_still_get_the_flattest_positive_slope(rng):
    scores = rng.normal(size=(50, 1))
    found = slopes(scores < 0, scores)
    assert found == pytest.approx(bounds(scores)[0], rel=1e-7)
    ordered = np.sort(scores, axis=0)
    assert (np.diff(probabilities(ordered, found), axis=0) > 0).all()


@pytest.mark.parametrize("relevant", [[[True], [True]], [[False], [False]], [[True], [False]]], ids=["all", "none", "some"])
def test_scores_that_are_all_0_still_get_a_positive_slope(relevant, xp):
    found = to_numpy(slopes(xp(np.array(relevant)), xp(np.zeros((2, 1)))))
    assert (found > 0).all()
    assert np.isfinite(found).all()


@given(problem=problems(), repeats=st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_integer_weights_equal_repeated_rows(problem, repeats):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = slopes(relevant, scores, repeats.astype(float))
    repeated = slopes(np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0))
    assert weighted == pytest.approx(repeated, rel=1e-7)  # the place of a flat minimum, or 30 halvings towards a bound


@given(problem=problems(), factor=st.sampled_from([2.0**-10, 4.0]))
def test_slope_shrinks_as_scores_grow(problem, factor):
    relevant, scores, weights = problem
    found = slopes(relevant, scores, weights)
    assert slopes(relevant, factor * scores, weights) * factor == pytest.approx(found, rel=1e-9)


def test_labels_do_not_influence_each_other(rng):
    scores = rng.normal(size=(30, 4))
    relevant = scores + rng.normal(size=(30, 4)) > 0
    together = slopes(relevant, scores)
    alone = [slopes(relevant[:, [j]], scores[:, [j]])[0] for j in range(4)]
    assert together == pytest.approx(alone, rel=1e-9)


# Log-odds


def penalised(parameters, centre, relevant, x, weights):
    """Cross-entropy of one label whose log-odds are a x + b, and how far a is from the slope of a link without offset."""
    a, b = parameters
    targets, z = smoothed_targets(relevant, weights), a * centre * x + b
    return (weights * (np.logaddexp(0, z) - targets * z)).sum() + PRIOR_OF_SLOPES / 2 * (a - 1) ** 2


@given(problem=problems())
def test_log_odds_agree_with_a_general_minimiser(problem, xp):
    relevant, scores, weights = problem
    a, b = map(to_numpy, log_odds(*on(xp, *problem)))
    w = np.ones(len(scores)) if weights is None else weights
    for j, centre in enumerate(slopes(relevant, scores, weights)):
        arguments = centre, relevant[:, j], scores[:, j], w
        best = optimize.minimize(penalised, [1.0, 0.0], args=arguments, bounds=[(FLATTEST, None), (None, None)], tol=1e-12)
        assert penalised([a[j] / centre, b[j]], *arguments) <= best.fun * (1 + 1e-9)
        assert a[j] >= FLATTEST * centre * (1 - 1e-9)


@given(problem=problems(), repeats=st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_log_odds_of_integer_weights_are_those_of_repeated_rows(problem, repeats):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = log_odds(relevant, scores, repeats.astype(float))
    repeated = log_odds(np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0))
    for one, other in zip(weighted, repeated, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_log_odds_do_not_depend_on_unknown_entries(problem, seed):
    relevant, scores, _ = problem
    rng = np.random.default_rng(seed)
    known = rng.random(scores.shape) < 0.7
    assume((known & (scores != 0)).any(axis=0).all())
    found = log_odds(relevant, scores, known.astype(float))
    other = log_odds(np.where(known, relevant, ~relevant), np.where(known, scores, rng.normal(size=scores.shape)), known.astype(float))
    for one, same in zip(found, other, strict=True):
        np.testing.assert_array_equal(one, same)
    for j, own in enumerate(known.T):
        alone = log_odds(relevant[own, j : j + 1], scores[own, j : j + 1])
        assert [part[j] for part in found] == pytest.approx(np.ravel(alone), rel=1e-5, abs=1e-6)


def test_labels_that_say_nothing_get_their_frequency(xp):
    relevant = np.arange(12)[:, None] < [3, 12, 0]
    a, b = map(to_numpy, log_odds(xp(relevant), xp(np.zeros((12, 3)))))
    smoothed = np.where(relevant, (relevant.sum(axis=0) + 1) / (relevant.sum(axis=0) + 2), 1 / ((~relevant).sum(axis=0) + 2)).mean(axis=0)
    np.testing.assert_allclose(special.expit(b), smoothed, rtol=1e-9)
    np.testing.assert_array_equal(a, 1)


# Probabilities

kinds = st.sampled_from([np.float32, np.float64])
steepness = st.floats(-3, 6).map(lambda e: 10.0**e)


@st.composite
def links(draw):
    """Scores near 0, within few units in the last place of it, and huge; as a column, with a slope."""
    kind, slope = draw(kinds), draw(steepness)
    near = [kind(0)]
    for direction in (-math.inf, math.inf):
        score = kind(0)
        for _ in range(3):
            score = np.nextafter(score, kind(direction))
            near.append(score)
    huge = [np.finfo(kind).max, kind(1e30), kind(math.inf)]
    others = draw(st.lists(st.floats(-1e4, 1e4, width=32), max_size=5))
    scores = np.array([*near, *huge, *(-h for h in huge), *others], dtype=kind)
    return np.sort(scores)[:, None], np.array([slope])


@given(link=links())
def test_probability_exceeds_one_half_exactly_where_the_score_is_above_0(link):
    scores, slope = link
    p = probabilities(scores, slope)
    assert ((p > 0.5) == (scores > 0)).all()


@given(link=links())
def test_probability_stays_strictly_between_zero_and_one_in_the_precision_of_the_scores(link):
    p = probabilities(*link)
    assert p.dtype == link[0].dtype
    assert p.shape == link[0].shape
    assert (p > 0).all()
    assert (p < 1).all()


@given(link=links())
def test_probability_never_falls_as_the_score_rises(link):
    assert (np.diff(probabilities(*link), axis=0) >= 0).all()


@given(link=links())
def test_probability_is_the_logistic_link(link):
    scores, slope = link
    with np.errstate(over="ignore"):
        expected = special.expit(slope * scores.astype(float))
    assert (abs(probabilities(*link) - expected) <= 2 * np.finfo(scores.dtype).eps).all()


def test_scores_of_another_order_of_magnitude_raise_no_warning():
    scores = np.array([[-1.7e308, 1.7e308]]).T
    assert probabilities(scores, np.array([1e300])).tolist() == [[np.finfo(float).tiny], [np.nextafter(1, 0)]]


def test_read_only_scores_are_left_as_they_were():
    scores, slope = (np.array(values) for values in ([[0.5], [-0.5]], [2.0]))
    for array in (scores, slope):
        array.setflags(write=False)
    assert probabilities(scores, slope)[:, 0] == pytest.approx(special.expit([1.0, -1.0]), rel=1e-15)


# Calibration


def expected_calibration_error(p, outcome, bins=10):
    """Mean distance of probability and frequency over bins of equally many rows."""
    order = np.argsort(p)
    return np.mean([abs(p[part].mean() - outcome[part].mean()) for part in np.array_split(order, bins)])


@pytest.mark.parametrize("slope", [2.0, 4.0, 8.0])
def test_fitted_slope_calibrates_scores_of_a_logistic_model(slope, rng, xp):
    n = 4000

    def draw():
        scores = rng.normal(0.2, 0.8, (n, 1))
        return scores, rng.random((n, 1)) < special.expit(slope * scores)

    (scores, relevant), (new_scores, outcome) = draw(), draw()
    found = to_numpy(slopes(xp(relevant), xp(scores)))
    deviation = 1 / math.sqrt((special.expit(slope * scores) * special.expit(-slope * scores) * scores**2).sum())  # by Fisher's information
    assert abs(found[0] - slope) < 4 * deviation
    fitted = expected_calibration_error(probabilities(new_scores, found)[:, 0], outcome[:, 0])
    plain = expected_calibration_error(special.expit(new_scores)[:, 0], outcome[:, 0])
    # Frequencies of 400 rows err by at most 0.025; the fitted slope leaves hardly more than that, the plain one far more.
    assert fitted < 0.025
    assert fitted < plain / 4
