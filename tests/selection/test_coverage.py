"""Answers with a stated coverage: the literal definition, what they promise on new rows, and models that cannot give them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzing import model_files
from skcamel import CamelClassifier, CamelClassifierCV, load, save
from skcamel.baselines import LLSF, BinaryRelevance
from skcamel.camel.coverage import Reference, measured, reference, reliability
from skcamel.data import load_dataset
from skcamel.pipeline import LabelPipeline

X, Y = make_multilabel_classification(240, n_features=6, n_classes=4, random_state=0)
NEW, TRUTH = X[160:], Y[160:]
X, Y = X[:160], Y[:160]
COVERAGES = (0.25, 0.5, 0.8, 0.9, 1.0)
few_values = st.integers(-4, 4).map(lambda k: k / 2)


def literal(Y, F, weights, scores, coverage):
    """Answers by loops over rows, labels and training rows."""
    answers = np.empty(scores.shape, dtype=np.int8)
    for j in range(F.shape[1]):
        total = {side: sum(w for y, w in zip(Y[:, j], weights, strict=True) if y == side) for side in (-1, 1)}
        for r, s in enumerate(scores[:, j]):
            yes = 1 + sum(w for y, f, w in zip(Y[:, j], F[:, j], weights, strict=True) if y == 1 and f <= s)
            no = 1 + sum(w for y, f, w in zip(Y[:, j], F[:, j], weights, strict=True) if y == -1 and f >= s)
            yes, no = yes / (1 + total[1]), no / (1 + total[-1])
            smallest = max(1 / (1 + total[side]) for side in (-1, 1))
            error = float(f"{1 - coverage:.10f}")
            possible = {side for side, share in ((1, yes), (0, no)) if share > error}
            answers[r, j] = possible.pop() if len(possible) == 1 and smallest <= error else -1
    return answers


@st.composite
def problems(draw):
    """Labels with gaps, leave-one-out scores with ties, integer weights or None, and new scores."""
    n, q, m = draw(st.integers(1, 14)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    labels = st.sampled_from([-1.0, 1.0, -1.0, 1.0, np.nan])
    matrix = {"min_size": n * q, "max_size": n * q}
    Y = np.reshape(draw(st.lists(labels, **matrix)), (n, q))
    F = np.reshape(draw(st.lists(few_values, **matrix)), (n, q))
    scores = np.reshape(draw(st.lists(few_values, min_size=m * q, max_size=m * q)), (m, q))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return Y, F, None if weights is None else np.array(weights, dtype=float), scores


@given(problem=problems(), coverage=st.sampled_from([0.1, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0]))
def test_answers_are_the_literal_ones(problem, coverage):
    Y, F, weights, scores = problem
    ones = np.ones(len(Y)) if weights is None else weights
    found = reference(Y, F, weights).sets(scores, coverage)
    np.testing.assert_array_equal(found, literal(Y, F, ones, scores, coverage))
    assert found.dtype == np.int8


@given(problem=problems(), low=st.sampled_from(COVERAGES), high=st.sampled_from(COVERAGES))
def test_a_larger_coverage_never_turns_an_answer(problem, low, high):
    held, scores = reference(*problem[:3]), problem[3]
    some, more = held.sets(scores, min(low, high)), held.sets(scores, max(low, high))
    assert ((more == some) | (more == -1) | (some == -1)).all()


@given(problem=problems())
def test_integer_weights_equal_repeated_rows(problem):
    Y, F, weights, scores = problem
    weights = np.arange(len(Y)) % 3 + 1.0 if weights is None else weights
    counts = weights.astype(int)
    repeated = reference(np.repeat(Y, counts, axis=0), np.repeat(F, counts, axis=0))
    np.testing.assert_array_equal(reference(Y, F, weights).agreement(scores), repeated.agreement(scores))


@given(problem=problems())
def test_unknown_entries_count_as_if_they_were_not_there(problem):
    Y, F, weights, scores = problem
    for j in range(Y.shape[1]):
        known = ~np.isnan(Y[:, j])
        alone = reference(Y[known, j : j + 1], F[known, j : j + 1], None if weights is None else weights[known])
        np.testing.assert_array_equal(alone.agreement(scores[:, j : j + 1])[:, :, 0], reference(Y, F, weights).agreement(scores)[:, :, j])


def test_nine_rows_are_just_enough_for_a_coverage_of_nine_tenths():
    Y = np.where(np.arange(20) < 9, 1.0, -1.0)[:, None]
    F = np.linspace(1, -1, 20)[:, None]
    assert reference(Y, F).sets(np.array([[-2.0], [2.0]]), 0.9).tolist() == [[0], [1]]
    assert reference(Y[1:], F[1:]).always_open(0.9).tolist() == [True]
    assert reference(Y[1:], F[1:]).sets(np.array([[-2.0], [2.0]]), 0.9).tolist() == [[-1], [-1]]


def test_measured_counts_each_kind_of_entry_once(rng):
    truth = rng.choice([0.0, 1.0, np.nan], size=(50, 3))
    answers = rng.choice([-1, 0, 1], size=(50, 3))
    found = measured(truth, answers)
    for j in range(3):
        pairs = list(zip(truth[:, j].tolist(), answers[:, j].tolist(), strict=True))
        assert found.positives_kept[j] == sum(y == 1 and a in (1, -1) for y, a in pairs)
        assert found.negatives_kept[j] == sum(y == 0 and a in (0, -1) for y, a in pairs)
        assert found.open[j] == sum(y == y and a == -1 for y, a in pairs)
        assert (found.positives[j], found.negatives[j]) == (sum(y == 1 for y, _ in pairs), sum(y == 0 for y, _ in pairs))
    assert found.total().shares()["positives"] == found.positives_kept.sum() / found.positives.sum()
    for key, share in measured(np.where(truth > 0, 1, np.where(truth == 0, -1, np.nan)), answers).shares().items():
        np.testing.assert_array_equal(share, found.shares()[key])  # labels in {-1, +1} too


def test_shares_of_nothing_are_undefined():
    shares = measured(np.zeros((2, 1)), np.zeros((2, 1), dtype=int)).shares()
    assert np.isnan(shares["positives"][0])
    assert shares["negatives"] == 1
    assert np.isnan(reliability(np.full((2, 1), np.nan), np.zeros((2, 1))).error)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0, np.nan])), min_size=1, max_size=30), st.integers(1, 5))
def test_reliability_is_the_literal_one(pairs, bins):
    p, y = (np.array(column)[:, None] for column in zip(*pairs, strict=True))
    found, gap, known = reliability(y, p, bins), 0.0, 0
    for b in range(bins):
        inside = [(q, t) for q, t in pairs if t == t and min(int(q * bins), bins - 1) == b]
        assert found.counts[b] == len(inside)
        known += len(inside)
        if inside:
            predicted, observed = np.mean([q for q, _ in inside]), np.mean([t for _, t in inside])
            assert (found.predicted[b], found.observed[b]) == pytest.approx((predicted, observed))
            gap += len(inside) * abs(predicted - observed)
    assert found.error == pytest.approx(gap / known) if known else np.isnan(found.error)


# Models


def leave_one_out(model, X, Y):
    """Scores of each row by a model of the others, with S and bandwidth held."""
    scores = np.empty(Y.shape)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        other = CamelClassifier(0.0, lambda2=model.lambda2, bandwidth=model.bandwidth_).fit(X[rest], Y[rest])
        scores[i] = other.decision_function(X[i : i + 1])[0]
    return scores


def test_a_fit_answers_from_scores_of_models_without_the_row():
    model = CamelClassifier(0.0).fit(X, Y)
    F, new = leave_one_out(model, X, Y), model.decision_function(NEW)
    no, yes = model.outputs(NEW).reference.agreement(new)
    for j in range(4):
        positives, negatives = (np.count_nonzero(Y[:, j] == side) for side in (1, 0))
        for r, s in enumerate(new[:, j]):
            counted = 1 + np.count_nonzero(F[Y[:, j] == 1, j] <= s), 1 + np.count_nonzero(F[Y[:, j] == 0, j] >= s)
            assert (yes[r, j] * (1 + positives), no[r, j] * (1 + negatives)) == pytest.approx(counted)
    np.testing.assert_array_equal(model.predict_sets(NEW), literal(2.0 * Y - 1, F, np.ones(len(Y)), new, 0.9))


SEARCH = {"alphas": (0.0, 0.5), "lambda2s": (0.1,), "scalings": ("none", "standard")}
MODELS = {
    "plain": CamelClassifier(threshold="label"),
    "search": CamelClassifierCV(**SEARCH),
    "folds": CamelClassifierCV(**SEARCH, cv=3),
    "combined": CamelClassifierCV(**SEARCH, combine=True),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_of_the_exact_solver_has_sets(kind, tmp_path):
    model = clone(MODELS[kind]).fit(X, Y)
    answers = model.predict_sets(NEW)
    assert (answers.shape, answers.dtype) == (TRUTH.shape, np.int8)
    assert set(np.unique(answers)) == {-1, 0, 1}
    assert (model.predict_sets(NEW, 1) == -1).all()
    np.testing.assert_array_equal(model.outputs(NEW).sets(0.8), model.predict_sets(NEW, coverage=0.8))
    shares = measured(TRUTH, answers).total().shares()
    assert min(shares["positives"], shares["negatives"]) > 0.85
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for coverage in COVERAGES:
        np.testing.assert_array_equal(again.predict_sets(NEW, coverage), model.predict_sets(NEW, coverage))


def test_the_order_of_rows_and_labels_does_not_matter(rng):
    answers = CamelClassifier().fit(X, Y).predict_sets(NEW)
    rows, labels = rng.permutation(len(X)), rng.permutation(4)
    turned = CamelClassifier().fit(X[rows], Y[rows][:, labels]).predict_sets(NEW)
    assert (turned == answers[:, labels]).mean() > 0.99  # a score may equal one of training up to rounding


def test_weights_equal_repeated_rows_in_a_model():
    counts = np.arange(len(X)) % 3 + 1
    weighted = CamelClassifier().fit(X, Y, sample_weight=counts)
    repeated = CamelClassifier().fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    assert (weighted.predict_sets(NEW) == repeated.predict_sets(NEW)).mean() > 0.99


def test_rare_labels_are_always_open_and_named():
    rare = Y.copy()
    rare[:, 1] = np.arange(len(Y)) < 8
    rare[:, 2] = np.arange(len(Y)) >= 8
    model = CamelClassifier().fit(X, rare)
    found = model.outputs(NEW)
    assert found.always_open(0.9).tolist() == [False, True, True, False]
    assert (found.sets(0.9)[:, 1:3] == -1).all()
    assert found.always_open(0.8).tolist() == [False] * 4
    assert found.always_open(1.0).all()


def test_classes_of_a_1_d_y():
    words = np.array(["no", "yes"])[Y[:, 0]]
    binary = CamelClassifier().fit(X, words).predict_sets(NEW)
    assert binary.shape == (len(NEW),)
    np.testing.assert_array_equal(binary, CamelClassifier().fit(X, Y[:, :1]).predict_sets(NEW)[:, 0])
    assert CamelClassifier().fit(X, Y[:, :3].argmax(axis=1)).predict_sets(NEW).shape == (len(NEW), 3)


def test_pipelines():
    pipeline = LabelPipeline(make_pipeline(StandardScaler(), CamelClassifier()).fit(X, Y).steps)
    np.testing.assert_array_equal(pipeline.predict_sets(NEW, 0.8), pipeline[-1].predict_sets(pipeline[0].transform(NEW), 0.8))


@pytest.mark.parametrize("coverage", [0, -0.5, 1.01, np.nan, np.inf, "0.9", None, True, [0.9]])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(ValueError, match=r"coverage must be a number above 0 and at most 1, such as 0\.9, got "):
        CamelClassifier().fit(X, Y).predict_sets(NEW, coverage)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (CamelClassifier(0.1, solver="alternating"), "Answers with a stated coverage need .* use solver='spectral'"),
        (BinaryRelevance(), "which this model does not have; use CamelClassifier or CamelClassifierCV"),
        (LLSF(), "which this model does not have; use CamelClassifier or CamelClassifierCV"),
    ],
)
def test_models_without_leave_one_out_scores_say_why(model, reason):
    with pytest.raises(AttributeError, match=reason):
        clone(model).fit(X, Y).predict_sets(NEW)


def test_a_member_of_a_combination_points_to_the_combination():
    model = CamelClassifierCV(**SEARCH, combine=True).fit(X, Y)
    with pytest.raises(AttributeError, match=r"member of a combination\. Ask the combination"):
        model.members_[0].predict_sets(NEW)


def changed(**fields):
    """A change of the arrays of a Reference, each by a function."""
    return lambda held: Reference(*(fields[name](value) if name in fields else value for name, value in vars(held).items()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(scores=lambda scores: scores[::-1]), "_reference must have scores that ascend within each run"),
        (changed(scores=lambda scores: np.where(scores == scores.max(), np.nan, scores)), "_reference scores must hold numbers"),
        (changed(scores=lambda scores: scores[:-1]), "_reference must share 639 scores among two runs for each label"),
        (changed(ends=lambda ends: ends[:, ::-1]), "_reference must share"),
        (changed(ends=lambda ends: ends[:3]), r"_reference ends has shape \(3, 2\)"),
        (changed(ends=lambda ends: np.hstack([ends, ends[:, 1:]])), "_reference must share"),
        (changed(ends=lambda ends: ends - ends[0, 0] - 1), "_reference must share"),
        (changed(weights=lambda _: -np.ones(640)), "_reference weights must hold numbers from 0"),
        (changed(weights=lambda _: np.ones(639)), r"_reference weights has shape \(639,\)"),
        (lambda _: np.ones(3), "_reference must be a Reference"),
    ],
)
def test_unsound_references_are_refused(change, message, tmp_path):
    model = CamelClassifier().fit(X, Y)
    model._reference = change(model._reference)
    with pytest.raises(ValueError, match=message):
        save(model, tmp_path / "model")


def test_the_file_holds_each_score_once():
    text, arrays = model_files.stored(CamelClassifier().fit(X, Y))
    held = json.loads(text)["state"]["_reference"]["$Reference"]
    assert arrays[held["scores"]["$array"]].shape == (Y.size,)
    assert held["weights"] is None


@pytest.mark.data
@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_public_sets_are_covered_as_asked(name):
    data = load_dataset(name)
    truth = data.Y > 0
    found = {coverage: np.zeros(truth.shape, dtype=np.int8) for coverage in (0.8, 0.9, 0.95)}
    for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
        outputs = CamelClassifier(scaling="standard").fit(data.X[train], truth[train]).outputs(data.X[test])
        for coverage, answers in found.items():
            answers[test] = outputs.sets(coverage)
    for coverage, answers in found.items():
        shares = measured(truth, answers).total().shares()
        assert min(shares["positives"], shares["negatives"]) >= coverage - 0.03
        assert shares["open"] < 0.9
