"""One link from scores to log-odds, probabilities and prediction sets: optimal and consistent."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
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
    fit_link,
    fit_sets,
    probabilities,
)


@st.composite
def problems(draw):
    """Labels, scores and integer weights (or None)."""
    n, q = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1e-6, 1.0, 1e6]))
    scores = scale / 8 * draw(arrays(int, (n, q), elements=st.integers(-20, 20)))
    weights = draw(st.none() | arrays(float, n, elements=st.integers(1, 4)))
    return draw(arrays(bool, (n, q))), scores, weights


def objective(parameters, relevant, x, w, centre, offset_centre, priors):
    """Cross-entropy with Platt's targets, and how far slope and offset are from the common ones."""
    a, b = parameters
    positives, negatives = w[relevant].sum(), w[~relevant].sum()
    targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    z = a * centre * x + b
    entropy = (w * (np.logaddexp(0, z) - targets * z)).sum()
    return entropy + priors[0] / 2 * (a - 1) ** 2 + priors[1] / 2 * (b - offset_centre) ** 2


def minimised(start, flattest, *arguments):
    options = {"method": "L-BFGS-B", "options": {"ftol": 1e-15, "gtol": 1e-9}}
    bounds = [(flattest, None), (None, None)]
    return optimize.minimize(objective, start, args=arguments, bounds=bounds, **options).x


@given(problem=problems())
def test_links_agree_with_a_general_minimiser(problem):
    relevant, scores, weights = problem
    assume(np.ptp(scores) > 0)  # else slope and offset of all labels together are not unique
    link, _ = fit_link(relevant, scores, weights)
    w = np.ones(len(scores)) if weights is None else weights
    entries = np.broadcast_to(w[:, None], scores.shape).ravel()
    spread = math.sqrt(np.average(scores.ravel() ** 2, weights=entries))
    together = relevant.ravel(), scores.ravel(), entries, 1 / spread, 0.0, (0.0, 0.0)
    common = minimised([1.0, 0.0], FLATTEST, *together)
    for j in range(scores.shape[1]):
        centres = common[0] / spread, common[1], (SLOPE_PRIOR, OFFSET_PRIOR)
        own = relevant[:, j], scores[:, j], w, *centres
        best = minimised([1.0, common[1]], FLATTEST / common[0], *own)
        ours = objective((link.slope[j] / centres[0], link.offset[j]), *own)
        # the common link is found to the root of the precision
        assert ours <= objective(best, *own) * (1 + 1e-4) + 1e-6
        assert link.slope[j] > 0


@given(
    problem=problems(),
    repeats=st.lists(st.integers(1, 3), min_size=12, max_size=12),
    factor=st.sampled_from([2.0**-10, 1.0, 4.0]),
)
def test_weights_count_copies_and_the_unit_of_scores_does_not_matter(problem, repeats, factor):
    relevant, scores, _ = problem
    repeats = np.array(repeats[: len(scores)])
    copies = np.repeat(np.arange(len(scores)), repeats)
    weighted, left = fit_link(relevant, factor * scores, repeats.astype(float))
    repeated, of_copies = fit_link(relevant[copies], scores[copies])
    assert_allclose(left[copies], of_copies, rtol=1e-5, atol=1e-5)
    new = np.linspace(scores.min(), scores.max(), 5)[:, None] + 0 * scores[:1]
    expected = repeated.log_odds(new)
    assert_allclose(weighted.log_odds(factor * new), expected, rtol=1e-5, atol=1e-5)
    if (repeats == 1).all():
        assert_allclose(weighted.log_odds(factor * new), expected, rtol=1e-6, atol=1e-6)


def test_scores_that_say_the_opposite_keep_their_order_and_a_flat_slope(rng):
    scores = rng.normal(size=(200, 4))
    relevant = scores + 0.3 * rng.normal(size=(200, 4)) > 0
    relevant[:, 0] ^= True
    link, _ = fit_link(relevant, scores)
    assert 0 < link.slope[0] < 0.1 * link.slope[1]


@pytest.mark.parametrize(("n", "n_groups"), [(60, 60), (200, 200), (200, 50)])
def test_rows_are_linked_nearly_as_by_links_fitted_without_their_group(n, n_groups, rng):
    scores = rng.normal(size=(n, 4))
    relevant = scores + rng.normal(size=(n, 4)) > [0, 0.5, 1, 2]
    groups = np.arange(n) % n_groups
    link, found = fit_link(relevant, scores, groups=groups)
    refitted = np.empty(scores.shape)
    for here in (groups == group for group in range(n_groups)):
        without, _ = fit_link(relevant[~here], scores[~here])
        refitted[here] = without.log_odds(scores[here])
    effect = np.linalg.norm(link.log_odds(scores) - refitted)
    assert np.linalg.norm(found - refitted) < 0.35 * effect


# Probabilities


@st.composite
def log_odds(draw):
    """Near 0, within few units in the last place of it, and huge; as a sorted column."""
    kind = draw(st.sampled_from([np.float32, np.float64]))
    tiny, huge = np.finfo(kind).smallest_subnormal, np.finfo(kind).max
    others = draw(st.lists(st.floats(-1e4, 1e4, width=32), max_size=5))
    positive = [tiny, 2 * tiny, 3 * tiny, kind(1e30), huge, kind(math.inf)]
    return np.sort(np.array([0, *positive, *(-z for z in positive), *others], dtype=kind))[:, None]


@given(z=log_odds())
def test_probabilities_are_the_sigmoid_inside_0_and_1_and_above_one_half_iff_log_odds_are(z):
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
        margin = SAFETY * math.sqrt(max(0.0, share * (1 - share)) / (present or 1.0))
        if share + margin <= 1 - confidence + 1e-12:
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
    grid = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1), "scalings": ("standard",)}
    model = CamelClassifierCV(**grid, threshold="micro_f1", scores=request.param)
    return model.fit(*rows[:2])


def test_sets_keep_their_promises_and_take_no_other_confidence(rows, model):
    _, _, new, truth = rows
    for confidence in (0.8, 0.9):
        sets = model.predict_sets(new, confidence=confidence)
        assert truth[sets == 1].mean() > confidence - 0.04
        assert ((sets == 0) & (truth == 1)).sum() / truth.sum() < 1 - confidence + 0.04
    with pytest.raises(ValueError, match="confidence must be a number above 0 and at most 1, such"):
        model.predict_sets(new, confidence=0)
    with pytest.raises(TypeError, match=r"no longer takes coverage: predict_sets\(X, confidence="):
        model.predict_sets(new, coverage=0.9)


CONFIDENCES = (0.01, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


THRESHOLDS = ("zero", "micro_f1", "macro_f1", "hamming_loss", -0.4, 0.7)


@settings(max_examples=24)
@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
@pytest.mark.parametrize("kind", ["plain", "weights", "costs", "unknown", "landmark", "one label"])
@given(st.integers(0, 10_000), st.sampled_from(THRESHOLDS), st.sampled_from(["paper", "log_odds"]))
def test_a_yes_is_predicted_a_no_is_not_and_open_answers_grow(kind, seed, threshold, scores):
    """Also of labels that are constant, noise, rare, or unknown in every row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    noise = rng.random((40, 3)) < (0.5, 0.05, 0.0)
    Y = np.column_stack([X[:, 0] + rng.normal(size=40) > 0, noise, np.ones(40)]).astype(float)
    weights = rng.choice([0.0, 0.5, 3.0], 40) if kind == "weights" else None
    options = {"costs": {"miss_cost": {"label2": 9.0, "label3": 0.1}}}.get(kind, {})
    if kind == "unknown":
        Y[rng.random(Y.shape) < 0.3] = np.nan
        Y[:, 2] = np.nan
    elif kind == "landmark":
        options = {"solver": "landmark", "n_landmarks": 9}
    elif kind == "one label":
        Y = Y[:, :1]
    model = CamelClassifier(threshold=threshold, scores=scores, **options).fit(X, Y, weights)
    new = np.vstack([X, rng.normal(size=(20, 3)), np.full((1, 3), 1e6)])
    predicted, before = model.predict(new), None
    for confidence in CONFIDENCES:
        sets = model.predict_sets(new, confidence=confidence)
        assert (predicted[sets == 1] == 1).all()
        assert (predicted[sets == 0] == 0).all()
        assert before is None or (sets[before == -1] == -1).all()
        before = sets


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
    difference = np.bincount(tenth, p, 10) - np.bincount(tenth, truth.ravel(), 10)
    assert abs(difference).sum() / p.size < 0.03


@pytest.mark.parametrize("scores", ["paper", "log_odds"])
def test_a_missed_label_that_costs_more_is_predicted_earlier(rows, scores):
    X, Y, new, _ = rows
    options = {"scores": scores, "scaling": "standard"}
    plain = CamelClassifier(**options, threshold="micro_f1").fit(X, Y)
    dear = CamelClassifier(**options, threshold="micro_f1", miss_cost={"label3": 4.0}).fit(X, Y)
    assert_allclose(dear.probability_thresholds_[2], 1 / 5)
    assert_array_equal(np.delete(dear.thresholds_, 2), np.delete(plain.thresholds_, 2))
    all_labels = CamelClassifier(**options, miss_cost=1.0).fit(X, Y)
    assert_array_equal(all_labels.predict(new), all_labels.predict_proba(new) > 0.5)


def test_one_warning_names_the_labels_that_are_never_predicted(rng):
    X = rng.normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] > 0, np.arange(60) % 30 == 0, np.zeros(60)]).astype(int)
    with pytest.warns(NeverPredictedWarning) as seen:
        CamelClassifier().fit(X, Y)
    (found,) = [str(own.message) for own in seen if own.category is NeverPredictedWarning]
    message = "1 of 3 labels are predicted for no training row when it is left out (label2)"
    assert found.startswith(message)


def test_estimates_of_labels_are_those_of_decisions_by_leave_one_out(rows):
    X, Y, _, _ = rows
    model = CamelClassifier(scaling="standard").fit(X, Y)
    found = model.label_estimates_
    assert_array_equal(found["rows"], 500)
    assert_array_equal(found["positives"], Y.sum(axis=0))
    assert np.mean(found["f1"]) == pytest.approx(model.estimate_["macro_f1"])
