"""One-error, coverage, ranking loss and average precision: laws, hand-computed numbers, and two other implementations."""

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
from skcamel.metrics.conventions import ROWS, TIES
from skcamel.metrics.seven import best_labels

RANKING = ("one_error", "coverage", "ranking_loss", "average_precision")
CONVENTIONS = list(product(TIES, ROWS))
# Means of at most 8 rows with at most 36 pairs or 6 ratios, all <= 1: under 500 roundings of
# 1.1e-16 each.
ROUNDING = 5e-14

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
F = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1], [0.55, 0.8, 0.3], [0.6, 0.5, 0.3]])
F_TIED = np.vstack([F[:3], [0.5, 0.5, 0.5]])
Y_EMPTY, Y_FULL, F_MORE = (
    np.vstack([Y, [0, 0, 0]]),
    np.vstack([Y, [1, 1, 1]]),
    np.vstack([F, [0.6, 0.4, 0.1]]),
)
BASE = ("1/2", "5/12", "3/8", "17/24")

# name: labels, scores, conventions, (one-error, coverage, ranking loss, average precision)
HAND = {
    "base": (Y, F, ("worst", "skip"), BASE),
    "tied row, worst": (Y, F_TIED, ("worst", "skip"), BASE),
    "tied row, index": (Y, F_TIED, ("index", "skip"), ("1/4", "1/4", "1/8", "7/8")),
    "no label, mulan": (Y_EMPTY, F_MORE, ("index", "mulan"), ("3/5", "1/3", "3/10", "17/24")),
    "no label, sklearn": (Y_EMPTY, F_MORE, ("worst", "sklearn"), ("3/5", "4/15", "3/10", "23/30")),
    "no label, skip": (Y_EMPTY, F_MORE, ("worst", "skip"), BASE),
    "all labels, mulan": (Y_FULL, F_MORE, ("index", "mulan"), ("2/5", "7/15", "3/10", "23/30")),
    "all labels, skip": (Y_FULL, F_MORE, ("worst", "skip"), BASE),
}

few_levels = st.sampled_from(
    [-math.inf, -1.0, -0.0, 0.0, 0.5, math.inf]
)  # few, so that ties abound; 0.0 and -0.0 are tied
any_finite = st.floats(allow_nan=False, allow_infinity=False)
fractional = st.sampled_from([0.0, 0.25, 1.0, 2.5])


@st.composite
def matrices(draw, *, levels=few_levels, least=1, mixed_rows=False):
    """Labels, scores and weights of 1 to 8 rows; rows without and with all labels are frequent unless all are `mixed_rows`."""
    n, q = draw(st.integers(1, 8)), draw(st.integers(2 if mixed_rows else least, 6))
    row = st.lists(st.booleans(), min_size=q, max_size=q)
    if mixed_rows:
        row = row.map(lambda labels: [*labels[:-1], not labels[0]])
    else:
        row = st.one_of(row, row, st.just([False] * q), st.just([True] * q))
    labels = draw(st.lists(row, min_size=n, max_size=n))
    scores = draw(st.lists(st.lists(levels, min_size=q, max_size=q), min_size=n, max_size=n))
    weights = draw(st.lists(fractional, min_size=n, max_size=n))
    return np.array(labels), np.array(scores), np.array(weights)


def same(value, exact):
    """Whether a float is that exact number up to rounding, NaN for None."""
    return math.isnan(value) if exact is None else abs(value - float(exact)) <= ROUNDING


def all_four(labels, scores, **options):
    return np.array([getattr(metrics, name)(labels, scores, **options) for name in RANKING])


def close(a, b):
    return np.allclose(a, b, rtol=0, atol=ROUNDING, equal_nan=True)


# Hand-computed numbers


@pytest.mark.parametrize("case", HAND)
def test_hand_example_gives_its_fractions(case, xp):
    labels, scores, (ties, rows), expected = HAND[case]
    for name, fraction in zip(RANKING, expected, strict=True):
        assert literal.ranking_metric(name, labels, scores, ties, rows) == Fraction(fraction)
        assert same(
            getattr(metrics, name)(xp(labels), xp(scores), ties=ties, rows=rows), Fraction(fraction)
        )


# Two other implementations


@given(case=matrices(), weighted=st.booleans())
def test_every_convention_agrees_with_the_literal_loops(case, weighted, xp):
    labels, scores, weights = case
    weights = weights if weighted else None
    for name, (ties, rows) in product(RANKING, CONVENTIONS):
        value = getattr(metrics, name)(
            xp(labels),
            xp(scores),
            ties=ties,
            rows=rows,
            sample_weight=xp(weights) if weighted else None,
        )
        assert isinstance(value, float)
        assert same(value, literal.ranking_metric(name, labels, scores, ties, rows, weights)), (
            name,
            ties,
            rows,
        )


@given(
    case=matrices(levels=st.one_of(any_finite, st.sampled_from([0.0, 1.0])), least=2),
    weighted=st.booleans(),
)
def test_scikit_learn_agrees_where_it_has_the_metric(case, weighted):
    labels, scores, weights = case
    weights = weights + 0.25 if weighted else None  # scikit-learn divides by their sum
    options = {"ties": "worst", "rows": "sklearn", "sample_weight": weights}
    last_rank = sklearn.metrics.coverage_error(labels, scores, sample_weight=weights)
    assert close(metrics.coverage(labels, scores, **options), (last_rank - 1) / labels.shape[1])
    assert close(
        metrics.ranking_loss(labels, scores, **options),
        sklearn.metrics.label_ranking_loss(labels, scores, sample_weight=weights),
    )
    precision = sklearn.metrics.label_ranking_average_precision_score(
        labels, scores, sample_weight=weights
    )
    assert close(metrics.average_precision(labels, scores, **options), precision)


def test_many_rows_and_labels_agree_with_scikit_learn(rng, xp):
    labels, scores = rng.random((200, 40)) < 0.1, rng.integers(0, 25, (200, 40)) / 8
    relevant, ranked = xp(labels), xp(scores)
    tolerance = 1e-12  # 200 rows of 40 labels instead of 8 of 6
    last_rank = sklearn.metrics.coverage_error(labels, scores)
    assert metrics.coverage(relevant, ranked, rows="sklearn") == pytest.approx(
        (last_rank - 1) / 40, abs=tolerance
    )
    loss = sklearn.metrics.label_ranking_loss(labels, scores)
    assert metrics.ranking_loss(relevant, ranked, rows="sklearn") == pytest.approx(
        loss, abs=tolerance
    )
    precision = sklearn.metrics.label_ranking_average_precision_score(labels, scores)
    assert metrics.average_precision(relevant, ranked, rows="sklearn") == pytest.approx(
        precision, abs=tolerance
    )


def test_scores_that_differ_in_their_last_bit_are_no_ties():
    low = 0.5 + np.arange(6) * np.spacing(0.5)  # neighbours: last bits 0, 1, 0, 1 …
    for relevant, order in product(np.eye(6, dtype=bool), ([0, 1, 2, 3, 4, 5], [5, 3, 1, 4, 2, 0])):
        scores = low[order]
        rank = 1 + np.count_nonzero(scores > scores[relevant])
        assert metrics.coverage(relevant[None], scores[None]) == (rank - 1) / 6
        assert metrics.average_precision(relevant[None], scores[None]) == 1 / rank


# Laws


@given(case=matrices(), steps=st.lists(st.floats(0.125, 1e6), min_size=48, max_size=48))
def test_ranking_ignores_any_increasing_map_of_the_scores_of_a_row(case, steps):
    labels, scores, _ = case
    rising = np.cumsum(steps)
    mapped = np.array(
        [
            rising[np.unique(row, return_inverse=True)[1]] * 2.0**i - 7
            for i, row in enumerate(scores)
        ]
    )
    for ties, rows in CONVENTIONS:
        assert np.array_equal(
            all_four(labels, mapped, ties=ties, rows=rows),
            all_four(labels, scores, ties=ties, rows=rows),
            equal_nan=True,
        )


@given(case=matrices(), data=st.data())
def test_order_of_rows_does_not_matter(case, data):
    labels, scores, weights = case
    order = np.array(data.draw(st.permutations(range(len(labels)))))
    for ties, rows in CONVENTIONS:
        straight = all_four(labels, scores, ties=ties, rows=rows, sample_weight=weights)
        assert close(
            all_four(
                labels[order], scores[order], ties=ties, rows=rows, sample_weight=weights[order]
            ),
            straight,
        )


@given(case=matrices(), repeats=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_integer_weights_equal_repeated_rows(case, repeats):
    labels, scores, _ = case
    repeats = np.array(repeats[: len(labels)])
    for ties, rows in CONVENTIONS:
        weighted = all_four(labels, scores, ties=ties, rows=rows, sample_weight=repeats)
        repeated = all_four(
            np.repeat(labels, repeats, axis=0),
            np.repeat(scores, repeats, axis=0),
            ties=ties,
            rows=rows,
        )
        assert close(weighted, repeated)


# What may be passed


@pytest.mark.parametrize(
    "convert",
    [np.ndarray.tolist, sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.asfortranarray],
)
def test_lists_sparse_matrices_and_frames_are_understood(convert):
    expected = all_four(Y, F, sample_weight=np.array([1, 2, 3, 4]))
    assert np.array_equal(all_four(convert(Y), convert(F), sample_weight=[1, 2, 3, 4]), expected)


def test_infinite_scores_are_legal_and_tie_with_each_other(xp):
    labels, scores = xp(np.array([[1, 0, 0]])), xp(np.array([[np.inf, np.inf, -np.inf]]))
    assert metrics.ranking_loss(labels, scores) == 0.5
    assert metrics.ranking_loss(labels, scores, ties="index") == 0.5
    assert metrics.coverage(labels, scores) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("labels", [[[0, 0]], [[1, 1]], [[0, 0], [1, 1]], [[1], [0]]])
def test_no_row_left_to_count_gives_nan(name, labels):
    assert math.isnan(getattr(metrics, name)(labels, np.zeros(np.shape(labels))))


# What is refused

NAN = np.where(F == 0.1, np.nan, F)
REFUSED = [
    ((Y, NAN), {}, "scores holds NaN, which has no rank; replace it by a number or by -inf"),
    ((Y, F[:, :2]), {}, "Y has shape (4, 3) but scores has shape (4, 2); they must be equal."),
    ((Y[0], F[0]), {}, "Y has 1 dimension(s); labels are a matrix with one row per instance"),
    ((Y * 2, F), {}, "Y must hold only 0 and 1, or only -1 and +1; found 0, 2."),
    ((np.where(Y == 1, np.nan, 2.0), F), {}, "only 0 and 1, or only -1 and +1; found 2.0, nan."),
    (([["sea", "sun", "sand"]], F[:1]), {}, "or only -1 and +1; found sand, sea, sun."),
    ((Y - np.eye(4, 3, k=1, dtype=int), F), {}, "or only -1 and +1; found -1, 0, 1."),
    ((np.arange(12).reshape(4, 3), F), {}, "found 0, 1, 2, …, 9, 10, 11."),
    ((Y, F), {"ties": "best"}, "ties='best' is not known; choose one of 'worst', 'index'."),
    ((Y, F), {"rows": "zero"}, "rows='zero' is not known; choose one of 'skip', 'mulan'"),
    ((Y, F), {"sample_weight": [1, 2]}, "sample_weight has shape (2,); one weight for each of"),
    ((Y, F), {"sample_weight": [1, 2, 3, -1]}, "sample_weight must be finite and at least 0."),
]


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize(("arguments", "options", "message"), REFUSED)
def test_refusal_says_what_came_and_what_is_needed(arguments, options, message, name):
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(metrics, name)(*arguments, **options)


def test_no_label_is_refused():
    with pytest.raises(ValueError, match="there is no label to evaluate"):
        metrics.one_error(Y[:, :0], F[:, :0])


def test_the_best_labels_are_the_first_of_all_and_of_equals_the_lower_index(rng):
    scores = rng.integers(0, 4, size=(50, 8)).astype(float)
    order = np.argsort(-scores, axis=1, kind="stable")
    for k in (1, 3, 8):
        np.testing.assert_array_equal(best_labels(scores, k), order[:, :k])
