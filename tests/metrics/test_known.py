"""Metrics of a truth that is known in part: what is unknown counts nowhere."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import metrics as literal
from skcamel import metrics
from skcamel.metrics.conventions import ROWS, TIES, as_truth
from skcamel.metrics.seven import count, decision_metrics, ranking_metrics

ROUNDING = 5e-14
NAN = math.nan
Y = np.array([[1, NAN, 0], [0, 1, NAN], [NAN, NAN, NAN], [1, 1, NAN]])
F = np.array([[0.1, 0.9, 0.5], [0.2, 0.6, 0.7], [0.3, 0.3, 0.3], [0.4, 0.1, 0.9]])
P = (F >= 0.5).astype(int)


@st.composite
def cases(draw):
    """Truth with gaps, tied scores, decisions and weights; rows and columns without a known entry are frequent."""
    n, q = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    size = {"min_size": n * q, "max_size": n * q}
    truth = np.reshape(draw(st.lists(st.sampled_from([0.0, 1.0, NAN]), **size)), (n, q))
    truth[draw(st.lists(st.booleans(), min_size=n, max_size=n))] *= draw(
        st.sampled_from([1.0, NAN])
    )
    truth[:, draw(st.lists(st.booleans(), min_size=q, max_size=q))] *= draw(
        st.sampled_from([1.0, NAN])
    )
    scores = np.reshape(
        draw(st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 0.5, math.inf]), **size)), (n, q)
    )
    decisions = np.reshape(draw(st.lists(st.booleans(), **size)), (n, q))
    weights = np.array(
        draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=n, max_size=n))
    )
    return truth, scores, decisions, weights


def same(value, exact):
    return math.isnan(value) if exact is None else abs(value - float(exact)) <= ROUNDING


def close(a, b):
    return np.allclose(list(a.values()), list(b.values()), rtol=0, atol=ROUNDING, equal_nan=True)


@given(case=cases(), weighted=st.booleans())
def test_every_convention_agrees_with_the_literal_loops(case, weighted, xp):
    truth, scores, decisions, weights = case
    weights = weights if weighted else None
    for ties, rows, absent in product(TIES, ROWS, (0.0, 1.0)):
        options = {
            "ties": ties,
            "rows": rows,
            "absent": absent,
            "sample_weight": None if weights is None else xp(weights),
        }
        values = metrics.evaluate(xp(truth), xp(scores), xp(decisions), **options)
        for name, value in values.items():
            if name in metrics.RANKING:
                exact = literal.ranking_metric(name, truth, scores, ties, rows, weights)
            else:
                exact = literal.decision_metric(name, truth, decisions, absent, weights)
            assert same(value, exact), (name, ties, rows, absent)


@given(case=cases(), data=st.data())
def test_what_stands_where_the_truth_is_unknown_does_not_matter(case, data):
    truth, scores, decisions, weights = case
    unknown = np.isnan(truth)
    other = np.reshape(
        data.draw(
            st.lists(st.sampled_from([-2.0, 0.5, 9.0]), min_size=truth.size, max_size=truth.size)
        ),
        truth.shape,
    )
    changed = np.where(unknown, other, scores), np.where(unknown, other > 0, decisions)
    for ties, rows in product(TIES, ROWS):
        options = {"ties": ties, "rows": rows, "sample_weight": weights}
        assert close(
            metrics.evaluate(truth, scores, decisions, **options),
            metrics.evaluate(truth, *changed, **options),
        )
    assert metrics.edge_cases(truth, decisions) == metrics.edge_cases(truth, changed[1])


def test_candidates_at_once_are_each_judged_by_the_known_entries(xp):
    relevant, known = as_truth(xp(Y))
    stacked = np.stack([F, -F, F[:, ::-1]])
    together = ranking_metrics(relevant, xp(stacked), known=known) | decision_metrics(
        count(relevant, xp(stacked) > 0.4, None, known)
    )
    for k, scores in enumerate(stacked):
        alone = metrics.evaluate(xp(Y), xp(scores), xp(scores > 0.4))
        assert {name: float(values[k]) for name, values in together.items()} == pytest.approx(
            alone, abs=1e-15
        )


def test_every_form_of_a_gap_is_understood():
    expected = metrics.evaluate(Y, F, P)
    nullable = pd.DataFrame(Y).astype("Int64")
    objects = np.where(np.isnan(Y), None, Y.astype(object))
    for truth in (
        Y.tolist(),
        pd.DataFrame(Y),
        nullable,
        objects,
        np.where(Y == 0, -1.0, Y),
        Y.astype(np.float32),
    ):
        assert metrics.evaluate(truth, F, P) == expected


@pytest.mark.parametrize("bad", [2.0, 0.5])
def test_other_values_beside_gaps_are_refused(bad):
    with pytest.raises(ValueError, match="Y must hold only 0 and 1, or only -1 and \\+1"):
        metrics.evaluate(np.where(Y == 1, bad, Y), F, P)


def test_report_counts_known_entries(xp):
    rows = list(metrics.report(xp(Y), xp(P)))
    assert [row["known"] for row in rows] == [3, 2, 1]
    assert [row["positives"] for row in rows] == [2, 2, 0]
    assert [row["predicted"] for row in rows] == [0, 1, 1]
    empty = metrics.report([[1, NAN]], [[1, 1]], sample_weight=[2.0])
    assert [row["known"] for row in empty] == [2, 0]
    assert [row["f1"] for row in empty] == [1, pytest.approx(NAN, nan_ok=True)]
    assert "known" not in next(iter(metrics.report([[1.0, 0.0]], [[1, 1]])))


def test_scorers_judge_known_entries():
    class Fixed:
        def decision_function(self, X):
            return F

        def predict(self, X):
            return P

    for name, value in metrics.evaluate(Y, F, P).items():
        assert metrics.get_scorer(name)(Fixed(), None, Y) == (
            -value if name in metrics.LOSSES else value
        )
