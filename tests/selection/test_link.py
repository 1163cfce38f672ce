"""One link from scores to log-odds, probabilities and prediction sets: optimal, and in agreement with everything else."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, special

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel.link import (
    FLATTEST,
    LEVELS,
    OFFSET_PRIOR,
    SAFETY,
    SLOPE_PRIOR,
    NeverPredictedWarning,
    cross_fitted,
    fit_link,
    fit_sets,
    probabilities,
)


@st.composite
def problems(draw):
    """Labels, scores and integer weights (or None)."""
    n, q = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1e-6, 1.0, 1e6]))
    size = {"min_size": n * q, "max_size": n * q}
    relevant = np.reshape(draw(st.lists(st.booleans(), **size)), (n, q))
    scores = scale * np.reshape(
        draw(st.lists(st.integers(-20, 20).map(lambda k: k / 8), **size)), (n, q)
    )
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return relevant, scores, None if weights is None else np.array(weights, dtype=float)


def objective(parameters, relevant, x, w, centre, offset_centre, priors):
    """Cross-entropy of one label with Platt's targets, and how far slope (in units of `centre`) and offset are from the common ones."""
    a, b = parameters
    positives, negatives = w[relevant].sum(), w[~relevant].sum()
    targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    z = a * centre * x + b
    entropy = (w * (np.logaddexp(0, z) - targets * z)).sum()
    return entropy + priors[0] / 2 * (a - 1) ** 2 + priors[1] / 2 * (b - offset_centre) ** 2


def literal_link(relevant, scores, w):
    """Slopes and offsets by a general minimiser."""
    entries = np.broadcast_to(w[:, None], scores.shape).ravel()
    x = scores.ravel()
    spread = math.sqrt(np.average(x**2, weights=entries)) or 1.0
    options = {
        "bounds": [(FLATTEST, None), (None, None)],
        "method": "L-BFGS-B",
        "options": {"ftol": 1e-15, "gtol": 1e-9},
    }
    common = optimize.minimize(
        objective,
        [1.0, 0.0],
        args=(relevant.ravel(), x, entries, 1 / spread, 0.0, (0.0, 0.0)),
        **options,
    ).x
    slope = common[0] / spread
    options["bounds"] = [(FLATTEST / spread / slope, None), (None, None)]
    found = []
    for j in range(scores.shape[1]):
        arguments = relevant[:, j], scores[:, j], w, slope, common[1], (SLOPE_PRIOR, OFFSET_PRIOR)
        found.append(
            (optimize.minimize(objective, [1.0, common[1]], args=arguments, **options).x, arguments)
        )
    return found


@given(problem=problems())
def test_links_agree_with_a_general_minimiser(problem):
    relevant, scores, weights = problem
    assume(np.ptp(scores) > 0)  # else slope and offset of all labels together are not unique
    link = fit_link(relevant, scores, weights)
    slope, offset = link.slope, link.offset
    w = np.ones(len(scores)) if weights is None else weights
    for j, (best, arguments) in enumerate(literal_link(relevant, scores, w)):
        ours = objective((slope[j] / arguments[3], offset[j]), *arguments)
        assert (
            ours <= objective(best, *arguments) * (1 + 1e-4) + 1e-6
        )  # the common link is found to the root of the precision
        assert slope[j] > 0


@given(problem=problems(), repeats=st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_integer_weights_equal_repeated_rows(problem, repeats):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    weighted = fit_link(relevant, scores, repeats.astype(float))
    repeated = fit_link(np.repeat(relevant, repeats, axis=0), np.repeat(scores, repeats, axis=0))
    new = np.linspace(scores.min(), scores.max(), 5)[:, None] + 0 * scores[:1]
    assert_allclose(weighted.log_odds(new), repeated.log_odds(new), rtol=1e-5, atol=1e-5)


@given(problem=problems(), factor=st.sampled_from([2.0**-10, 4.0]))
def test_log_odds_do_not_depend_on_the_unit_of_the_scores(problem, factor):
    relevant, scores, weights = problem
    straight = fit_link(relevant, scores, weights).log_odds(scores)
    scaled = fit_link(relevant, factor * scores, weights).log_odds(factor * scores)
    assert_allclose(scaled, straight, rtol=1e-6, atol=1e-6)


def test_scores_that_say_the_opposite_keep_their_order_and_a_flat_slope(rng):
    scores = rng.normal(size=(200, 4))
    relevant = scores + 0.3 * rng.normal(size=(200, 4)) > 0
    relevant[:, 0] ^= True
    link = fit_link(relevant, scores)
    assert 0 < link.slope[0] < 0.1 * link.slope[1]


def test_rows_are_linked_by_rows_of_other_groups(rng):
    scores = rng.normal(size=(60, 2))
    relevant = scores + rng.normal(size=(60, 2)) > 0
    groups = np.arange(60) // 4
    found = cross_fitted(relevant, scores, np.ones(scores.shape), groups=groups, seed=3)
    changed = relevant.copy()
    changed[8:12] ^= True  # one group
    other = cross_fitted(changed, scores, np.ones(scores.shape), groups=groups, seed=3)
    assert_array_equal(found[8:12], other[8:12])
    assert (found != other).any()


# Probabilities

kinds = st.sampled_from([np.float32, np.float64])


@st.composite
def log_odds(draw):
    """Near 0, within few units in the last place of it, and huge; as a sorted column."""
    kind = draw(kinds)
    near = [kind(0)]
    for direction in (-math.inf, math.inf):
        value = kind(0)
        for _ in range(3):
            value = np.nextafter(value, kind(direction))
            near.append(value)
    huge = [np.finfo(kind).max, kind(1e30), kind(math.inf)]
    others = draw(st.lists(st.floats(-1e4, 1e4, width=32), max_size=5))
    return np.sort(np.array([*near, *huge, *(-h for h in huge), *others], dtype=kind))[:, None]


@given(z=log_odds())
def test_probabilities_are_the_sigmoid_inside_0_and_1_and_above_one_half_where_log_odds_are_above_0(
    z,
):
    p = probabilities(z)
    assert p.dtype == z.dtype
    assert ((p > 0) & (p < 1)).all()
    assert ((p > 0.5) == (z > 0)).all()
    assert (np.diff(p, axis=0) >= 0).all()
    with np.errstate(over="ignore"):
        expected = special.expit(z.astype(float))
    assert (abs(p - expected) <= 2 * np.finfo(z.dtype).eps).all()


# Prediction sets


def literal_sets(relevant, p, predicted, w, confidence):
    """Both thresholds by trying every probability."""
    yes, no = 2.0, 0.0
    for t in sorted(set(p[predicted]), reverse=True):
        chosen = predicted & (p >= t)
        hits, count = (w * (chosen & relevant)).sum(), (w * chosen).sum()
        share = hits / (count + 1)
        if count and share - SAFETY * math.sqrt(share * (1 - share) / count) >= confidence:
            yes = t
    present = (w * relevant).sum()
    for t in [*sorted(set(p.ravel())), 2.0]:
        share = (w * (relevant & ~predicted & (p < t))).sum() / (present or 1.0)
        if (
            share + SAFETY * math.sqrt(max(0.0, share * (1 - share)) / (present or 1.0))
            <= 1 - confidence + 1e-12
        ):
            no = t
    return yes, no


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans(), level=st.integers(0, LEVELS))
def test_thresholds_of_sets_are_those_of_a_search_over_all_probabilities(seed, weighted, level):
    rng = np.random.default_rng(seed)
    n, q = rng.integers(1, 40), rng.integers(1, 4)
    p = rng.random((n, q)).round(rng.integers(1, 4))
    relevant, predicted = rng.random((n, q)) < p, p > rng.random()
    w = rng.integers(0, 3, size=(n, q)).astype(float) if weighted else np.ones((n, q))
    found = fit_sets(relevant & (w > 0), p, predicted, w)
    yes, no = literal_sets(relevant & (w > 0), p, predicted & (w > 0), w, level / LEVELS)
    sets = found.answers(p, predicted, max(level, 1) / LEVELS)
    assert found.yes[level] == pytest.approx(yes)
    no = 0.0 if level == LEVELS else no
    counted = relevant & ~predicted & (w > 0)
    assert ((p < found.no[level]) & counted).sum() == ((p < no) & counted).sum()
    assert not ((sets == 1) & ~predicted).any()
    assert not ((sets == 0) & predicted).any()
    assert (np.diff(found.yes) >= 0).all()
    assert (np.diff(found.no) <= 0).all()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 6))
    Y = (
        X @ rng.normal(size=(6, 5)) + rng.normal(size=(900, 5)) > [0.5, 1.0, 2.0, 3.0, 4.0]
    ).astype(int)
    return X[:500], Y[:500], X[500:], Y[500:]


@pytest.fixture(scope="module", params=["paper", "log_odds"])
def model(request, rows):
    options = {
        "alphas": (0.0, 0.5),
        "lambda2s": (0.01, 0.1),
        "scalings": ("standard",),
        "threshold": "micro_f1",
    }
    return CamelClassifierCV(**options, scores=request.param).fit(*rows[:2])


def test_answers_agree_with_decisions_and_keep_their_promises(rows, model):
    _, _, new, truth = rows
    predicted, before = model.predict(new), None
    for confidence in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0):
        sets = model.predict_sets(new, confidence=confidence)
        assert (predicted[sets == 1] == 1).all()
        assert (predicted[sets == 0] == 0).all()
        if before is not None:
            assert (sets[before == -1] == -1).all()
        before = sets
        if confidence in (0.8, 0.9):
            assert truth[sets == 1].mean() > confidence - 0.04
            assert ((sets == 0) & (truth == 1)).sum() / truth.sum() < 1 - confidence + 0.04
    with pytest.raises(
        ValueError, match=r"confidence must be a number above 0 and at most 1, such as 0.9, got 0"
    ):
        model.predict_sets(new, confidence=0)
    with pytest.raises(
        TypeError, match=r"no longer takes coverage: predict_sets\(X, confidence=0.9\)"
    ):
        model.predict_sets(new, coverage=0.9)


def test_scores_are_printed_ones_or_their_log_odds_and_probabilities_are_the_same(rows):
    X, Y, new, _ = rows
    plain, linked = (
        CamelClassifier(scores=scores, scaling="standard").fit(X, Y)
        for scores in ("paper", "log_odds")
    )
    z = plain.link_slopes_ * plain.decision_function(new) + plain.link_offsets_
    assert_allclose(linked.decision_function(new), z, atol=1e-9)
    assert_allclose(linked.predict_proba(new), plain.predict_proba(new), atol=1e-12)
    assert_allclose(linked.predict_proba(new), special.expit(z), atol=1e-12)
    explained = linked.explain(new, features=True)
    assert_allclose(explained.scores, z, atol=1e-9)
    assert_allclose(explained.feature_base + explained.features.sum(axis=1), z, atol=1e-9)
    assert_allclose(linked.probability_thresholds_, special.expit(linked.thresholds_))


def test_probabilities_are_calibrated(rows, model):
    _, _, new, truth = rows
    p = model.predict_proba(new).ravel()
    tenth = np.minimum((10 * p).astype(int), 9)
    counts = np.bincount(tenth, minlength=10)
    gap = abs(np.bincount(tenth, p, 10) - np.bincount(tenth, truth.ravel(), 10))
    assert gap.sum() / counts.sum() < 0.03


@pytest.mark.parametrize("scores", ["paper", "log_odds"])
def test_a_missed_label_that_costs_more_is_predicted_earlier(rows, scores):
    X, Y, new, _ = rows
    plain = CamelClassifier(scores=scores, threshold="micro_f1", scaling="standard").fit(X, Y)
    dear = CamelClassifier(
        scores=scores, threshold="micro_f1", scaling="standard", miss_cost={"label3": 4.0}
    ).fit(X, Y)
    assert_allclose(dear.probability_thresholds_[2], 1 / 5)
    assert_array_equal(np.delete(dear.thresholds_, 2), np.delete(plain.thresholds_, 2))
    all_labels = CamelClassifier(scores=scores, scaling="standard", miss_cost=1.0).fit(X, Y)
    assert_array_equal(all_labels.predict(new), all_labels.predict_proba(new) > 0.5)


def test_costs_name_labels_and_need_probabilities(rows):
    X, Y, _, _ = rows
    with pytest.raises(
        ValueError, match=r"miss_cost names urgent, and the labels are label1, label2"
    ):
        CamelClassifier(miss_cost={"urgent": 2.0}).fit(X, Y)
    with pytest.raises(
        ValueError, match="miss_cost needs calibrated probabilities, which a 1-d y has not"
    ):
        CamelClassifier(miss_cost=2.0).fit(X, Y[:, 0])


def test_one_warning_names_the_labels_that_are_never_predicted(rng):
    X = rng.normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] > 0, np.arange(60) % 30 == 0, np.zeros(60)]).astype(int)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CamelClassifier().fit(X, Y)
    (found,) = [
        str(warning.message) for warning in seen if warning.category is NeverPredictedWarning
    ]
    assert found.startswith(
        "1 of 3 labels are predicted for no training row when it is left out (label2)"
    )


def test_estimates_of_labels_are_those_of_decisions_by_leave_one_out(rows):
    X, Y, _, _ = rows
    model = CamelClassifier(scaling="standard").fit(X, Y)
    found = model.label_estimates_
    assert_array_equal(found["rows"], 500)
    assert_array_equal(found["positives"], Y.sum(axis=0))
    assert np.mean(found["f1"]) == pytest.approx(model.estimate_["macro_f1"])
