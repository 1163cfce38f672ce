"""Hamming loss, macro-F1 and micro-F1: laws, hand-computed numbers, and two other implementations."""

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
from scipy import sparse

from reference import metrics as literal
from skcamel import metrics

DECISION = ("hamming_loss", "macro_f1", "micro_f1")
# Sums of at most 8 weights over at most 6 labels, then ratios <= 1: under 100 roundings of 1.1e-16
# each.
ROUNDING = 1e-14

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
P = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 0], [1, 1, 0]])
P_TIED = np.vstack([P[:3], [1, 1, 1]])  # row 4 has the scores .5 .5 .5

# name: labels, decisions, (Hamming loss, macro-F1, micro-F1)
HAND = {
    "base": (Y, P, ("1/3", "32/45", "5/7")),
    "tied row": (Y, P_TIED, ("1/4", "37/45", "4/5")),
    # (TP, FP, FN) become (2,3,0), (2,1,0), (1,0,1), sums (5,4,1): 4/7, 4/5, 2/3
    "row without labels": (
        np.vstack([Y, [0, 0, 0]]),
        np.vstack([P, [1, 0, 0]]),
        ("1/3", "214/315", "2/3"),
    ),
    # (3,2,0), (2,1,1), (1,0,2), sums (6,3,3): 3/4, 2/3, 1/2
    "row with all labels": (
        np.vstack([Y, [1, 1, 1]]),
        np.vstack([P, [1, 0, 0]]),
        ("2/5", "23/36", "2/3"),
    ),
}


@st.composite
def matrices(draw, *, least=1):
    """Labels, decisions and weights of 1 to 8 rows; labels that never occur, or are never predicted, are frequent."""
    n, q = draw(st.integers(1, 8)), draw(st.integers(least, 6))
    column = st.lists(st.booleans(), min_size=n, max_size=n)
    column = st.one_of(column, column, st.just([False] * n), st.just([True] * n))
    labels, decisions = (
        np.array(draw(st.lists(column, min_size=q, max_size=q))).T for _ in range(2)
    )
    weights = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=n, max_size=n))
    return labels, decisions, np.array(weights)


def all_three(labels, decisions, *, absent=1.0, sample_weight=None):
    """The three metrics through the public functions."""
    return np.array(
        [
            metrics.hamming_loss(labels, decisions, sample_weight=sample_weight),
            metrics.macro_f1(labels, decisions, absent=absent, sample_weight=sample_weight),
            metrics.micro_f1(labels, decisions, absent=absent, sample_weight=sample_weight),
        ]
    )


def same(value, exact):
    """Whether a float is that exact number up to rounding, NaN for None."""
    return math.isnan(value) if exact is None else abs(value - float(exact)) <= ROUNDING


def close(a, b):
    return np.allclose(a, b, rtol=0, atol=ROUNDING, equal_nan=True)


# Hand-computed numbers


@pytest.mark.parametrize("case", HAND)
def test_hand_example_gives_its_fractions(case, xp):
    labels, decisions, expected = HAND[case]
    for name, value, fraction in zip(
        DECISION, all_three(xp(labels), xp(decisions)), expected, strict=True
    ):
        assert literal.decision_metric(name, labels, decisions) == Fraction(fraction)
        assert same(value, Fraction(fraction))


@pytest.mark.parametrize("absent", [0.0, 0.5, 1.0])
def test_absent_is_the_f1_of_a_label_that_neither_occurs_nor_is_predicted(absent):
    labels, decisions = [[1, 0, 0], [1, 0, 1]], [[1, 0, 1], [1, 0, 0]]  # F1: 1, absent, 0
    assert metrics.macro_f1(labels, decisions, absent=absent) == pytest.approx(
        (1 + absent + 0) / 3, abs=ROUNDING
    )
    assert metrics.micro_f1(labels, decisions, absent=absent) == pytest.approx(4 / 6, abs=ROUNDING)
    nothing = np.zeros((2, 3))
    assert (
        metrics.macro_f1(nothing, nothing, absent=absent)
        == metrics.micro_f1(nothing, nothing, absent=absent)
        == absent
    )


# Two other implementations


@given(case=matrices(), weighted=st.booleans())
def test_every_convention_agrees_with_the_literal_loops(case, weighted, xp):
    labels, decisions, weights = case
    weights = weights if weighted else None
    for absent in (0.0, 0.5, 1.0):
        values = all_three(
            xp(labels),
            xp(decisions),
            absent=absent,
            sample_weight=xp(weights) if weighted else None,
        )
        for name, value in zip(DECISION, values, strict=True):
            assert same(value, literal.decision_metric(name, labels, decisions, absent, weights)), (
                name,
                absent,
            )


@given(case=matrices(least=2), weighted=st.booleans())
def test_scikit_learn_agrees(case, weighted):
    labels, decisions, weights = case
    weights = weights + 0.25 if weighted else None  # scikit-learn divides by their sum
    hamming = sklearn.metrics.hamming_loss(labels, decisions, sample_weight=weights)
    assert close(metrics.hamming_loss(labels, decisions, sample_weight=weights), hamming)
    for average, absent in product(("macro", "micro"), (0.0, 1.0)):
        f1 = getattr(metrics, f"{average}_f1")(
            labels, decisions, absent=absent, sample_weight=weights
        )
        assert close(
            f1,
            sklearn.metrics.f1_score(
                labels, decisions, average=average, zero_division=absent, sample_weight=weights
            ),
        )


# Laws


@given(case=matrices(), repeats=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_integer_weights_equal_repeated_rows(case, repeats):
    labels, decisions, _ = case
    repeats = np.array(repeats[: len(labels)])
    repeated = all_three(np.repeat(labels, repeats, axis=0), np.repeat(decisions, repeats, axis=0))
    assert close(all_three(labels, decisions, sample_weight=repeats), repeated)


# What may be passed


@pytest.mark.parametrize(
    "convert",
    [np.ndarray.tolist, sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.asfortranarray],
)
def test_lists_sparse_matrices_and_frames_are_understood(convert):
    expected = all_three(Y, P, sample_weight=np.array([1, 2, 3, 4]))
    assert np.array_equal(all_three(convert(Y), convert(P), sample_weight=[1, 2, 3, 4]), expected)


# What is refused

REFUSED = [
    (P[:3], {}, "Y has shape (4, 3) but P has shape (3, 3); they must be equal."),
    (P[0], {}, "P has 1 dimension(s); labels are a matrix"),
    (P / 2, {}, "P must hold only 0 and 1, or only -1 and +1; found 0.0, 0.5."),
    (np.where(P == 1, 1.0, np.nan), {}, "P must hold only 0 and 1, or only -1 and +1; found 1.0"),
    (P - np.eye(4, 3, k=1, dtype=int), {}, "or only -1 and +1; found -1, 0, 1."),
    (P, {"sample_weight": [1]}, "sample_weight has shape (1,); one weight for each of the 4 rows"),
]


@pytest.mark.parametrize("name", DECISION)
@pytest.mark.parametrize(("decisions", "options", "message"), REFUSED)
def test_refusal_says_what_came_and_what_is_needed(decisions, options, message, name):
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(metrics, name)(Y, decisions, **options)
