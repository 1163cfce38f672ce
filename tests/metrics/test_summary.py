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


@given(case=matrices(), absent=st.sampled_from([0.0, 1.0]))
def test_mean_f1_of_the_report_is_macro_f1(case, absent):
    labels, _, decisions, weights = case
    report = metrics.report(labels, decisions, absent=absent, sample_weight=weights)
    macro = metrics.macro_f1(labels, decisions, absent=absent, sample_weight=weights)
    assert np.mean([row["f1"] for row in report]) == pytest.approx(macro, abs=1e-15)


def test_report_refuses_another_number_of_names():
    with pytest.raises(
        ValueError,
        match=re.escape("Got 2 label_names for 3 labels; give one name for each column of Y."),
    ):
        metrics.report(Y, P, label_names=["sea", "sun"])


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


# names


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match=r"module 'skcamel\.metrics' has no attribute 'accuracy'"
    ):
        _ = metrics.accuracy
