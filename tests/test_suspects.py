"""Label errors: scores by actual refits, chances by the link, planted flips, and what must not change the answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reference.solver import leave_one_out_scores
from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors
from skcamel.baselines import LLSF
from skcamel.camel import correlation, landmark
from skcamel.camel.link import fit_link

FIXED = CamelClassifier(alpha=0.4, lambda2=0.3, bandwidth=1.5)
SMALL = CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.01, 0.1, 1.0))


def made(n=30, q=3, seed=0, noise=0.3):
    """Rows and labels that follow from them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X @ rng.normal(size=(4, q)) + noise * rng.normal(size=(n, q)) > 0).astype(int)


def signed(Y):
    return np.where(Y > 0, 1.0, -1.0)


def matrix(found, shape, name="scores"):
    values = np.full(shape, np.nan)
    values[found.rows, found.labels] = getattr(found, name)
    return values


def rbf(X, sigma):
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * sigma**2))


def test_scores_are_those_of_refits_without_the_row():
    X, Y = made()
    G = correlation.collaboration(correlation.learn(signed(Y)).S, 0.4)
    wanted = leave_one_out_scores(rbf(X, 1.5), signed(Y), G, 1.0, 0.3)
    assert_allclose(matrix(find_label_errors(X, Y, FIXED), Y.shape), signed(Y) * wanted, atol=1e-9)


def test_without_collaboration_scores_and_parts_are_those_of_fits_without_the_row():
    X, Y = made()
    model = CamelClassifier(alpha=0.0, lambda2=0.3, bandwidth=1.5)
    found = find_label_errors(X, Y, model)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        told = model.fit(X[rest], Y[rest]).explain(X[i : i + 1])
        here = found.rows == i
        labels = found.labels[here]
        assert_allclose(found.scores[here], (signed(Y[i]) * told.scores[0])[labels], atol=1e-9)
        assert_allclose(found.own[here], told.own[0, labels], atol=1e-9)
        assert_allclose(found.base[here], told.base[labels], atol=1e-9)


def test_parts_add_up_and_are_those_of_the_collaboration():
    X, Y = made(q=4)
    found = find_label_errors(X, Y, FIXED)
    pushes = np.array([sum(push.amount for push in found.pushes(e, 10)) for e in range(len(found))])
    assert_allclose(
        found.base + found.own + pushes, found.scores * np.where(found.given, 1, -1), atol=1e-9
    )
    assert all(
        push.source != found.labels[e] for e in range(len(found)) for push in found.pushes(e)
    )
    S = correlation.learn(signed(Y)).S
    assert_allclose(found.collaboration, 0.6 * np.eye(4) + 0.4 * S, atol=1e-12)


def test_the_candidate_of_least_squared_error_decides():
    X, Y = made(n=40)
    S = correlation.learn(signed(Y)).S
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    K = rbf(X, distances[np.triu_indices(len(X), 1)].mean())
    tried = [
        leave_one_out_scores(K, signed(Y), correlation.collaboration(S, alpha), 1.0, lambda2)
        for alpha in SMALL.alphas
        for lambda2 in SMALL.lambda2s
    ]
    best = min(tried, key=lambda F: ((F - signed(Y)) ** 2).sum())
    assert_allclose(matrix(find_label_errors(X, Y, SMALL), Y.shape), signed(Y) * best, atol=1e-7)


def test_chances_are_those_of_a_link_for_each_label_and_set_the_order():
    X, Y = made(n=60)
    Y[:, 2] &= X[:, 0] > 0.8  # a rare label
    found = find_label_errors(X, Y, FIXED)
    F = signed(Y) * matrix(found, Y.shape)
    z = fit_link(Y > 0, F).log_odds(F)
    assert_allclose(matrix(found, Y.shape, "chance"), 1 / (1 + np.exp(-signed(Y) * z)), atol=1e-9)
    assert (np.diff(found.chance) >= 0).all()


def test_copies_of_a_row_vouch_for_each_other_unless_they_belong_together():
    X, Y = made(n=60)
    X, Y = np.vstack([X, X[:6]]), np.vstack([Y, Y[:6]])
    Y[[0, 60], 0] ^= 1
    apart, together = (
        find_label_errors(X, Y, FIXED, groups=groups) for groups in (None, np.r_[:60, :6])
    )
    places = [
        list(zip(found.rows, found.labels, strict=True)).index((0, 0))
        for found in (together, apart)
    ]
    assert places[0] < places[1]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000))
def test_the_order_of_rows_labels_and_columns_does_not_matter(seed):
    X, Y = made(n=25)
    rng = np.random.default_rng(seed)
    rows, labels, columns = rng.permutation(25), rng.permutation(3), rng.permutation(4)
    one, other = (
        find_label_errors(X, Y, SMALL),
        find_label_errors(X[np.ix_(rows, columns)], Y[np.ix_(rows, labels)], SMALL),
    )
    for name in ("scores", "given", "chance", "own", "base"):
        assert_allclose(
            matrix(other, Y.shape, name),
            matrix(one, Y.shape, name)[np.ix_(rows, labels)],
            atol=1e-7,
        )


def test_a_pipeline_prepares_all_rows_first():
    X, Y = made()
    scaled = StandardScaler().fit_transform(X)
    for model in (
        make_pipeline(StandardScaler(), FIXED),
        make_pipeline(StandardScaler(), make_pipeline("passthrough", FIXED)),
    ):
        found = find_label_errors(X, Y, model)
        assert_allclose(
            matrix(found, Y.shape), matrix(find_label_errors(scaled, Y, FIXED), Y.shape), atol=1e-9
        )
        assert not hasattr(model[0], "mean_")


def test_limit_and_text():
    X, Y = made()
    whole, first = find_label_errors(X, Y, FIXED), find_label_errors(X, Y, FIXED, limit=12)
    assert (len(whole), len(first)) == (90, 12)
    assert_array_equal(whole.rows[:12], first.rows)
    assert first.to_frame().equals(whole.to_frame()[:12])
    lines = str(first).splitlines()
    assert (len(lines), lines[11]) == (12, "… 2 more")


def bad_inputs():
    X, Y = made()
    yield "no known entry", ValueError, (X, np.full(Y.shape, np.nan))
    yield "one column of classes", ValueError, (X, Y[:, 0])
    yield "at least 2", ValueError, (X[:1], Y[:1], CamelClassifier())
    yield "rows but X has", ValueError, (X[1:], Y)
    yield "0 and 1", ValueError, (X, Y + 1)
    yield "got a LLSF", TypeError, (X, Y, LLSF())
    yield "StandardScaler", TypeError, (X, Y, StandardScaler())
    yield "lambda2 must be", ValueError, (X, Y, CamelClassifier(lambda2=-1))


@pytest.mark.parametrize(
    ("message", "kind", "arguments"),
    bad_inputs(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input(message, kind, arguments):
    with pytest.raises(kind, match=message):
        find_label_errors(*arguments)


def test_the_estimator_is_left_as_it_is():
    X, Y = made()
    model = CamelClassifier(0.2).fit(X, Y)
    before = dict(vars(model))
    find_label_errors(X[:10], Y[:10], model)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)


def test_unknown_entries_are_left_out_and_the_rest_is_judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 0, X[:, 2] > 0]).astype(float)
    Y[5, 0] = 1 - Y[5, 0]
    hidden = rng.random(Y.shape) < 0.2
    hidden[5, 0] = False
    found = find_label_errors(X, np.where(hidden, np.nan, Y))
    assert len(found) == (~hidden).sum()
    assert not hidden[found.rows, found.labels].any()
    assert (found.rows[0], found.labels[0]) == (5, 0)
    assert "row" in str(found)


def test_rows_beyond_the_sample_are_scored_by_sums_too(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(90, 2)) > 0).astype(int)
    model = CamelClassifierCV(alphas=(0.2,), lambda2s=(0.1,), solver="landmark", n_landmarks=9)
    whole = find_label_errors(X, Y, model)
    monkeypatch.setattr(landmark, "JUDGED_ROWS", 40)
    found = find_label_errors(X, Y, model)
    assert_array_equal(found.rows, whole.rows)
    assert_allclose(found.scores, whole.scores, atol=1e-9)
