"""The seven metrics: hand-computed numbers, literal loops, scikit-learn, laws, unknown truth."""

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_equal
from scipy import sparse

from reference import metrics as literal
from skcamel import metrics
from skcamel.metrics.seven import ROWS, TIES

# Means of at most 8 rows with at most 36 pairs or 6 ratios, all <= 1: under 500 roundings of
# 1.1e-16 each.
ROUNDING = 5e-14
NAN = math.nan
CONVENTIONS = list(product(TIES, ROWS))

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
F = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1], [0.55, 0.8, 0.3], [0.6, 0.5, 0.3]])
P = (F >= 0.5).astype(int)
F_TIED = np.vstack([F[:3], [0.5, 0.5, 0.5]])
F_MORE = np.vstack([F, [0.6, 0.4, 0.1]])
Y_EMPTY, Y_FULL = np.vstack([Y, [0, 0, 0]]), np.vstack([Y, [1, 1, 1]])
PARTLY = np.array([[1, NAN, 0], [0, 1, NAN], [NAN, NAN, NAN], [1, 1, NAN]])

# name: labels, scores, ties, rows, and the seven metrics of decisions at 0.5 in the paper's order
HAND = {
    "base": (Y, F, "worst", "skip", "1/2 1/3 5/12 3/8 17/24 32/45 5/7"),
    "tied, worst": (Y, F_TIED, "worst", "skip", "1/2 1/4 5/12 3/8 17/24 37/45 4/5"),
    "tied, index": (Y, F_TIED, "index", "skip", "1/4 1/4 1/4 1/8 7/8 37/45 4/5"),
    "no label, mulan": (Y_EMPTY, F_MORE, "index", "mulan", "3/5 1/3 1/3 3/10 17/24 214/315 2/3"),
    "no label, sklearn": (
        *(Y_EMPTY, F_MORE, "worst", "sklearn", "3/5 1/3 4/15 3/10 23/30 214/315 2/3"),
    ),
    "no label, skip": (Y_EMPTY, F_MORE, "worst", "skip", "1/2 1/3 5/12 3/8 17/24 214/315 2/3"),
    "all labels, mulan": (Y_FULL, F_MORE, "index", "mulan", "2/5 2/5 7/15 3/10 23/30 23/36 2/3"),
    "all labels, skip": (Y_FULL, F_MORE, "worst", "skip", "1/2 2/5 5/12 3/8 17/24 23/36 2/3"),
}
LEVELS = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, math.inf])  # few, so that ties abound


@st.composite
def cases(draw, *, values=(0.0, 1.0), levels=LEVELS, least=1):
    """Labels, scores, decisions and weights of 1 to 8 rows; constant rows and columns abound."""
    n, q = draw(st.integers(1, 8)), draw(st.integers(least, 6))
    truth = draw(arrays(float, (n, q), elements=st.sampled_from(values)))
    decisions = draw(arrays(bool, (n, q)))
    constant = st.sampled_from((None, None, None, *values))
    for i in range(n):
        value = draw(constant)
        truth[i] = truth[i] if value is None else value
    for j in range(q):
        value = draw(constant)
        truth[:, j] = truth[:, j] if value is None else value
        decisions[:, j] &= draw(st.sampled_from([True, True, False]))
    weights = draw(arrays(float, n, elements=st.sampled_from([0.0, 0.25, 1.0, 2.5])))
    return truth, draw(arrays(float, (n, q), elements=levels)), decisions, weights


def same(value, exact):
    """Whether a float is that exact number up to rounding, NaN for None."""
    return math.isnan(value) if exact is None else abs(value - float(exact)) <= ROUNDING


def close(a, b):
    return np.allclose(list(a.values()), list(b.values()), rtol=0, atol=ROUNDING, equal_nan=True)


def alone(name, labels, scores, decisions, *, ties, rows, absent, sample_weight):
    """One metric by the function of its name."""
    if name in metrics.RANKING:
        options = {"ties": ties, "rows": rows}
    else:
        options = {} if name == "hamming_loss" else {"absent": absent}
    prediction = scores if name in metrics.RANKING else decisions
    return getattr(metrics, name)(labels, prediction, sample_weight=sample_weight, **options)


@pytest.mark.parametrize("case", HAND)
def test_hand_examples_give_their_fractions_in_the_papers_order(case, xp):
    labels, scores, ties, rows, fractions = HAND[case]
    P = (scores >= 0.5).astype(int)
    values = metrics.evaluate(xp(labels), xp(scores), xp(P), ties=ties, rows=rows)
    assert tuple(values) == metrics.NAMES
    for (name, value), fraction in zip(values.items(), fractions.split(), strict=True):
        assert literal.metric(name, labels, scores, P, ties, rows) == Fraction(fraction)
        assert type(value) is float
        assert same(value, Fraction(fraction))


@given(
    case=st.one_of(cases(), cases(values=(0.0, 1.0, NAN))),
    absent=st.sampled_from([0.0, 0.5, 1.0]),
    weighted=st.booleans(),
)
def test_every_convention_agrees_with_the_literal_loops(case, absent, weighted, xp):
    arguments, weights = [xp(part) for part in case[:3]], case[3] if weighted else None
    sample_weight = xp(weights) if weighted else None
    for ties, rows in CONVENTIONS:
        options = {"ties": ties, "rows": rows, "absent": absent, "sample_weight": sample_weight}
        for name, value in metrics.evaluate(*arguments, **options).items():
            exact = literal.metric(name, *case[:3], ties, rows, absent, weights)
            assert same(value, exact), (name, ties, rows, absent)
            assert_equal(alone(name, *arguments, **options), value)


def of_scikit_learn(labels, scores, decisions, absent, weights):
    """The metrics that scikit-learn has too, under its conventions."""
    weight = {"sample_weight": weights}
    found = {
        "hamming_loss": sklearn.metrics.hamming_loss(labels, decisions, **weight),
        "coverage": (sklearn.metrics.coverage_error(labels, scores, **weight) - 1)
        / labels.shape[1],
        "ranking_loss": sklearn.metrics.label_ranking_loss(labels, scores, **weight),
        "average_precision": sklearn.metrics.label_ranking_average_precision_score(
            labels, scores, **weight
        ),
    }
    for average in ("macro", "micro"):
        options = {"average": average, "zero_division": absent, **weight}
        found[f"{average}_f1"] = sklearn.metrics.f1_score(labels, decisions, **options)
    return found


FINITE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0])


@given(
    case=cases(levels=FINITE, least=2), weighted=st.booleans(), absent=st.sampled_from([0.0, 1.0])
)
def test_scikit_learn_agrees_where_it_has_the_metric(case, weighted, absent):
    labels, scores, decisions, weights = case
    weights = weights + 0.25 if weighted else None  # scikit-learn divides by their sum
    options = {"rows": "sklearn", "absent": absent, "sample_weight": weights}
    values = metrics.evaluate(labels, scores, decisions, **options)
    for name, theirs in of_scikit_learn(labels, scores, decisions, absent, weights).items():
        assert abs(values[name] - theirs) <= ROUNDING, name


def test_scores_that_differ_in_their_last_bit_are_no_ties():
    low = 0.5 + np.arange(6) * np.spacing(0.5)  # neighbours: last bits 0, 1, 0, 1 …
    for relevant, order in product(np.eye(6, dtype=bool), ([0, 1, 2, 3, 4, 5], [5, 3, 1, 4, 2, 0])):
        scores = low[order]
        rank = 1 + np.count_nonzero(scores > scores[relevant])
        assert metrics.coverage(relevant[None], scores[None]) == (rank - 1) / 6
        assert metrics.average_precision(relevant[None], scores[None]) == 1 / rank


# Laws


@given(case=cases(), steps=arrays(float, 48, elements=st.floats(0.125, 1e6)))
def test_ranking_ignores_any_increasing_map_of_the_scores_of_a_row(case, steps):
    labels, scores, decisions, weights = case
    rising = np.cumsum(steps)
    levels = [np.unique(row, return_inverse=True)[1] for row in scores]
    mapped = np.array([rising[level] * 2.0**i - 7 for i, level in enumerate(levels)])
    for ties, rows in CONVENTIONS:
        options = {"ties": ties, "rows": rows, "sample_weight": weights}
        straight = metrics.evaluate(labels, scores, decisions, **options)
        assert_equal(metrics.evaluate(labels, mapped, decisions, **options), straight)


@given(case=cases(), data=st.data())
def test_rows_may_come_in_any_order_and_weights_count_copies(case, data):
    labels, scores, decisions, _ = case
    copies = data.draw(arrays(int, len(labels), elements=st.integers(0, 3)))
    index = data.draw(st.permutations(np.repeat(np.arange(len(labels)), copies)))
    index = np.array(index, dtype=int)
    for ties, rows in CONVENTIONS:
        options = {"ties": ties, "rows": rows}
        weighted = metrics.evaluate(labels, scores, decisions, **options, sample_weight=copies)
        repeated = metrics.evaluate(labels[index], scores[index], decisions[index], **options)
        assert close(weighted, repeated)


@given(case=cases(values=(0.0, 1.0, NAN)), data=st.data())
def test_what_stands_where_the_truth_is_unknown_does_not_matter(case, data):
    truth, scores, decisions, weights = case
    unknown = np.isnan(truth)
    other = data.draw(arrays(float, truth.shape, elements=st.sampled_from([-2.0, 0.5, 9.0])))
    changed = np.where(unknown, other, scores), np.where(unknown, other > 0, decisions)
    for ties, rows in CONVENTIONS:
        options = {"ties": ties, "rows": rows, "sample_weight": weights}
        straight = metrics.evaluate(truth, scores, decisions, **options)
        assert close(metrics.evaluate(truth, *changed, **options), straight)
    assert metrics.edge_cases(truth, decisions) == metrics.edge_cases(truth, changed[1])


# What may be passed


@pytest.mark.parametrize("truth", [Y, PARTLY], ids=["known", "partly"])
def test_every_form_of_labels_scores_and_gaps_is_understood(truth):
    expected = metrics.evaluate(truth, F, P, sample_weight=np.array([1, 2, 3, 4]))
    matrices = sparse.csr_array, sparse.csc_matrix, np.asfortranarray
    for form in (np.ndarray.tolist, pd.DataFrame, *matrices):
        values = metrics.evaluate(form(truth), form(F), form(P), sample_weight=[1, 2, 3, 4])
        assert values == expected
    nullable = pd.DataFrame(truth).astype("Int64")
    objects = np.where(np.isnan(truth), None, truth.astype(object))
    for other in (nullable, objects, np.where(truth == 0, -1, truth), truth.astype(np.float32)):
        assert metrics.evaluate(other, F, 2 * P - 1, sample_weight=[1, 2, 3, 4]) == expected


# What is refused

LABELS = "must hold only 0 and 1, or only -1 and +1; found"
REFUSED = [
    ((Y, np.where(F == 0.1, NAN, F), P), {}, "scores holds NaN, which has no rank; replace it by"),
    ((Y, F[:, :2], P), {}, "Y has shape (4, 3) but scores has shape (4, 2); they must be equal."),
    ((Y, F, P[:3]), {}, "Y has shape (4, 3) but P has shape (3, 3); they must be equal."),
    ((Y[0], F[0], P[0]), {}, "Y has 1 dimension(s); labels are a matrix with one row per instance"),
    ((Y[:, :0], F[:, :0], P[:, :0]), {}, "Y has shape (4, 0): there is no label to evaluate"),
    ((Y * 2, F, P), {}, f"Y {LABELS} 0, 2."),
    ((np.where(Y == 1, NAN, 2.0), F, P), {}, f"Y {LABELS} 2.0, nan."),
    ((np.where(PARTLY == 1, 0.5, PARTLY), F, P), {}, f"Y {LABELS} 0.0, 0.5, nan."),
    (([["sea", "sun", "sand"]], F[:1], P[:1]), {}, f"Y {LABELS} 'sand', 'sea', 'sun'."),
    ((Y - np.eye(4, 3, k=1, dtype=int), F, P), {}, f"Y {LABELS} -1, 0, 1."),
    ((np.arange(12).reshape(4, 3), F, P), {}, f"Y {LABELS} 0, 1, 2, …, 9, 10, 11."),
    ((Y, F, P / 2), {}, f"P {LABELS} 0.0, 0.5."),
    ((Y, F, np.where(P == 1, 1.0, NAN)), {}, f"P {LABELS} 1.0"),
    ((Y, F, P), {"ties": "best"}, "ties='best' is not known; choose one of 'worst', 'index'."),
    ((Y, F, P), {"rows": "zero"}, "rows='zero' is not known; choose one of 'skip', 'mulan'"),
    ((Y, F, P), {"sample_weight": [1, 2]}, "sample_weight has shape (2,); one weight for each of"),
    ((Y, F, P), {"sample_weight": [1, 2, 3, -1]}, "sample_weight must be finite and at least 0."),
]


@pytest.mark.parametrize(("arguments", "options", "message"), REFUSED)
def test_refusals_say_what_came_and_what_is_needed(arguments, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        metrics.evaluate(*arguments, **options)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'skcamel\.metrics' has no attribute 'accuracy'"):
        _ = metrics.accuracy


# The report label by label, and the count of edge cases


def test_the_report_holds_and_prints_the_counts_and_ratios_of_every_label(xp):
    report = metrics.report(xp(Y), xp(P), label_names=["sea", "sun", "sand and stones"])
    assert [(row["positives"], row["predicted"]) for row in report] == [(2, 4), (2, 3), (2, 1)]
    assert [row["precision"] for row in report] == [1 / 2, 2 / 3, 1]
    assert [row["recall"] for row in report] == [1, 1, 1 / 2]
    assert [row["f1"] for row in report] == pytest.approx([2 / 3, 4 / 5, 2 / 3], abs=1e-15)
    assert str(report).splitlines() == [
        "label            positives  predicted  precision  recall     F1",
        "sea                      2          4      0.500   1.000  0.667",
        "sun                      2          3      0.667   1.000  0.800",
        "sand and stones          2          1      1.000   0.500  0.667",
    ]
    with pytest.raises(ValueError, match="Got 2 label_names for 3 labels; give one name for each"):
        metrics.report(Y, P, label_names=["sea", "sun"])


@given(case=cases(), absent=st.sampled_from([0.0, 1.0]))
def test_the_mean_f1_of_the_report_is_macro_f1(case, absent):
    labels, _, decisions, weights = case
    options = {"absent": absent, "sample_weight": weights}
    of_labels = [row["f1"] for row in metrics.report(labels, decisions, **options)]
    macro = metrics.macro_f1(labels, decisions, **options)
    assert np.mean(of_labels) == pytest.approx(macro, abs=1e-15)


def test_the_report_counts_known_entries(xp):
    rows = list(metrics.report(xp(PARTLY), xp(P)))
    assert [row["known"] for row in rows] == [3, 2, 1]
    assert [row["positives"] for row in rows] == [2, 2, 0]
    assert [row["predicted"] for row in rows] == [3, 2, 1]
    empty = metrics.report([[1, NAN]], [[1, 1]], sample_weight=[2.0])
    assert [row["known"] for row in empty] == [2, 0]
    assert [row["f1"] for row in empty] == [1, pytest.approx(NAN, nan_ok=True)]
    assert "known" not in next(iter(metrics.report([[1.0, 0.0]], [[1, 1]])))


def test_edge_cases_are_counted(xp):
    labels = np.array([[0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]])
    decisions = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    # rows without labels and with all, labels absent, never true, never predicted
    assert metrics.edge_cases(xp(labels), xp(decisions)) == metrics.EdgeCases(2, 0, 1, 2, 2)
