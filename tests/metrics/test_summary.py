"""All seven metrics at once, the report label by label, and the count of edge cases."""

import math
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel import metrics
from skcamel.metrics.conventions import ROWS, TIES

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
F = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1], [0.55, 0.8, 0.3], [0.6, 0.5, 0.3]])
P = (F >= 0.5).astype(int)
HAND = {
    "one_error": 1 / 2,
    "hamming_loss": 1 / 3,
    "coverage": 5 / 12,
    "ranking_loss": 3 / 8,
    "average_precision": 17 / 24,
    "macro_f1": 32 / 45,
    "micro_f1": 5 / 7,
}


@st.composite
def matrices(draw):
    """Labels, tied scores, decisions and weights."""
    n, q = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    size = {"min_size": n * q, "max_size": n * q}
    labels, decisions = (
        np.reshape(draw(st.lists(st.booleans(), **size)), (n, q)) for _ in range(2)
    )
    scores = np.reshape(
        draw(st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 2.0]), **size)), (n, q)
    )
    weights = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    return labels, scores, decisions, weights


# evaluate


def test_evaluate_gives_the_seven_metrics_of_the_hand_example_in_the_papers_order(xp):
    values = metrics.evaluate(xp(Y), xp(F), xp(P))
    assert tuple(values) == metrics.NAMES == tuple(HAND)
    assert values == pytest.approx(HAND, abs=1e-14)
    assert all(type(value) is float for value in values.values())


@given(case=matrices(), absent=st.sampled_from([0.0, 1.0]), weighted=st.booleans())
def test_evaluate_equals_the_seven_functions_under_every_convention(case, absent, weighted, xp):
    labels, scores, decisions, weights = map(xp, case)
    weight = {"sample_weight": weights if weighted else None}
    for ties, rows in product(TIES, ROWS):
        values = metrics.evaluate(
            labels, scores, decisions, ties=ties, rows=rows, absent=absent, **weight
        )
        for name in metrics.NAMES:
            if name in metrics.RANKING:
                alone = getattr(metrics, name)(labels, scores, ties=ties, rows=rows, **weight)
            else:
                alone = getattr(metrics, name)(
                    labels,
                    decisions,
                    **({} if name == "hamming_loss" else {"absent": absent}),
                    **weight,
                )
            assert values[name] == alone or (math.isnan(values[name]) and math.isnan(alone)), name


def test_losses_and_ranking_metrics_are_named_apart():
    assert {"one_error", "hamming_loss", "coverage", "ranking_loss"} == metrics.LOSSES
    assert metrics.RANKING == ("one_error", "coverage", "ranking_loss", "average_precision")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, F * np.nan, P), {}, "scores holds NaN"),
        ((Y, F[:2], P), {}, "Y has shape (4, 3) but scores has shape (2, 3)"),
        ((Y, F, P[:2]), {}, "Y has shape (4, 3) but P has shape (2, 3)"),
        ((Y, F, F), {}, "P must hold only 0 and 1, or only -1 and +1; found 0.1"),
        ((Y, F, P), {"ties": "mean"}, "ties='mean' is not known"),
        ((Y, F, P), {"rows": "drop"}, "rows='drop' is not known"),
        (
            (Y, F, P),
            {"sample_weight": [1, 2, 3]},
            "sample_weight has shape (3,); one weight for each of the 4 rows is needed.",
        ),
    ],
)
def test_evaluate_refuses_what_the_functions_refuse(arguments, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        metrics.evaluate(*arguments, **options)


# report


def test_report_holds_the_counts_and_ratios_of_every_label(xp):
    report = metrics.report(xp(Y), xp(P), label_names=["sea", "sun", "sand"])
    assert len(report) == 3
    assert [row["label"] for row in report] == ["sea", "sun", "sand"]
    assert [(row["positives"], row["predicted"]) for row in report] == [(2, 4), (2, 3), (2, 1)]
    assert [row["precision"] for row in report] == [1 / 2, 2 / 3, 1]
    assert [row["recall"] for row in report] == [1, 1, 1 / 2]
    assert [row["f1"] for row in report] == pytest.approx([2 / 3, 4 / 5, 2 / 3], abs=1e-15)


def test_report_prints_as_an_aligned_table():
    text = str(metrics.report(Y, P, label_names=["sea", "sun", "sand and stones"]))
    assert text.splitlines() == [
        "label            positives  predicted  precision  recall     F1",
        "sea                      2          4      0.500   1.000  0.667",
        "sun                      2          3      0.667   1.000  0.800",
        "sand and stones          2          1      1.000   0.500  0.667",
    ]


def test_report_numbers_the_labels_that_have_no_name():
    assert [row["label"] for row in metrics.report(Y, P)] == ["label1", "label2", "label3"]


@pytest.mark.parametrize("absent", [0.0, 1.0])
def test_report_of_an_absent_label_has_no_precision_and_no_recall(absent):
    never_true, never_found, neither = metrics.report([[0, 1, 0]], [[1, 0, 0]], absent=absent)
    assert (
        never_true["precision"],
        never_true["f1"],
        never_found["recall"],
        never_found["f1"],
    ) == (0, 0, 0, 0)
    assert math.isnan(never_true["recall"])
    assert math.isnan(never_found["precision"])
    assert math.isnan(neither["precision"])
    assert math.isnan(neither["recall"])
    assert neither["f1"] == absent


@given(case=matrices(), absent=st.sampled_from([0.0, 1.0]))
def test_mean_f1_of_the_report_is_macro_f1(case, absent):
    labels, _, decisions, weights = case
    report = metrics.report(labels, decisions, absent=absent, sample_weight=weights)
    macro = metrics.macro_f1(labels, decisions, absent=absent, sample_weight=weights)
    assert np.mean([row["f1"] for row in report]) == pytest.approx(macro, abs=1e-15)


def test_integer_weights_of_the_report_equal_repeated_rows():
    repeats = [3, 0, 1, 2]
    repeated = metrics.report(np.repeat(Y, repeats, axis=0), np.repeat(P, repeats, axis=0))
    assert metrics.report(Y, P, sample_weight=repeats) == repeated


def test_report_refuses_another_number_of_names():
    with pytest.raises(
        ValueError,
        match=re.escape("Got 2 label_names for 3 labels; give one name for each column of Y."),
    ):
        metrics.report(Y, P, label_names=["sea", "sun"])


def test_report_refuses_decisions_of_another_shape():
    with pytest.raises(
        ValueError,
        match=re.escape("Y has shape (4, 3) but P has shape (4, 2); they must be equal."),
    ):
        metrics.report(Y, P[:, :2])


# edge_cases


def test_edge_cases_are_counted(xp):
    labels = np.array([[0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]])
    decisions = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    assert metrics.edge_cases(xp(labels), xp(decisions)) == metrics.EdgeCases(
        rows_without_labels=2,
        rows_with_all_labels=0,
        labels_absent=1,
        labels_never_true=2,
        labels_never_predicted=2,
    )


def test_rows_with_all_labels_are_counted_in_either_coding():
    full = np.array([[1, 1], [1, -1], [1, 1]])
    expected = metrics.EdgeCases(
        rows_without_labels=0,
        rows_with_all_labels=2,
        labels_absent=0,
        labels_never_true=0,
        labels_never_predicted=0,
    )
    assert metrics.edge_cases(full, full) == metrics.edge_cases((full + 1) // 2, full) == expected


def test_the_hand_example_has_no_edge_case():
    assert metrics.edge_cases(Y, P) == metrics.EdgeCases(0, 0, 0, 0, 0)


@given(case=matrices())
def test_conventions_agree_where_no_edge_case_is_counted(case):
    labels, scores, decisions, _ = case
    cases = metrics.edge_cases(labels, decisions)
    if cases.rows_without_labels == cases.rows_with_all_labels == cases.labels_absent == 0:
        policy = metrics.evaluate(labels, scores, decisions)
        assert policy == metrics.evaluate(labels, scores, decisions, rows="mulan")
        assert policy == metrics.evaluate(labels, scores, decisions, rows="sklearn", absent=0.0)


def test_edge_cases_refuse_decisions_of_another_shape():
    with pytest.raises(
        ValueError,
        match=re.escape("Y has shape (4, 3) but P has shape (2, 3); they must be equal."),
    ):
        metrics.edge_cases(Y, P[:2])


# names


def test_every_public_name_is_there():
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    assert metrics.__all__ == sorted(
        metrics.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    )


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match=r"module 'skcamel\.metrics' has no attribute 'accuracy'"
    ):
        _ = metrics.accuracy
