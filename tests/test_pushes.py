"""Pushes as they are told: beside what the training rows show, and those that contradict it last."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import explanation
from skcamel.camel.correlation import cooccurrence
from skcamel.camel.explanation import Evidence, ranked_pushes

LABELS = arrays(
    np.int8, st.tuples(st.integers(2, 20), st.integers(1, 6)), elements=st.sampled_from([-1, 1])
)


def literal(S, Y, weights):
    """Every push with its counts and whether it contradicts the plain correlation, by loops."""
    told = []
    for i in range(len(S)):
        for j in range(len(S)):
            if S[i, j]:
                seen = sum(w for w, y in zip(weights, Y, strict=True) if y[i] > 0 and y[j] > 0)
                one, other = (
                    sum(w for w, y in zip(weights, Y, strict=True) if y[k] > 0) for k in (i, j)
                )
                excess = seen * sum(weights) - one * other
                told.append((i, j, S[i, j], seen, one * other / sum(weights), excess * S[i, j] < 0))
    return sorted(told, key=lambda push: (push[5], -abs(push[2])))


@given(LABELS, st.data())
def test_pushes_are_told_as_a_literal_loop_tells_them(Y, data):
    n, q = Y.shape
    S = data.draw(arrays(np.float64, (q, q), elements=st.sampled_from([-0.5, -0.1, 0.0, 0.1, 0.3])))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    told = ranked_pushes(S, q * q, Evidence.of(S, *cooccurrence(Y, weights)))
    expected = literal(S, Y.tolist(), weights.tolist())
    assert [push[:3] + push[5:] for push in told] == [push[:3] + push[5:] for push in expected]
    assert_allclose([push[3:5] for push in told], [push[3:5] for push in expected])


@pytest.mark.parametrize(
    "make",
    [CamelClassifier, lambda **given: CamelClassifierCV(alphas=(0.5,), lambda2s=(0.1,), **given)],
)
def test_models_keep_what_was_seen_and_integer_weights_equal_repeated_rows(make, rng):
    X, Y = rng.normal(size=(30, 3)), rng.integers(2, size=(30, 4))
    weights = rng.integers(0, 3, size=30)
    weighted = make(correlation="centred").fit(X, Y, sample_weight=weights)
    repeated = make(correlation="centred").fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)
    )
    assert_array_equal(weighted.cooccurrence_, repeated.cooccurrence_)
    assert_array_equal(
        repeated.cooccurrence_, np.repeat(Y, weights, axis=0).T @ np.repeat(Y, weights, axis=0)
    )
    assert weighted.total_weight_ == repeated.total_weight_ == weights.sum()
    assert_allclose(weighted.label_correlation_, repeated.label_correlation_, atol=1e-9)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (3.0, "3"),
        (12345.0, "12,345"),
        (1234.5, "1,234"),
        (2.345, "2.3"),
        (0.0512, "0.051"),
    ],
)
def test_counts_are_short(number, text):
    assert explanation.short_number(number) == text
