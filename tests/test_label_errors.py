"""Label errors: scores by refits, chances by the link, planted flips, and laws."""

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


X, Y = made()
SIGNS = np.where(Y > 0, 1.0, -1.0)
S = correlation.learn(SIGNS).S


def matrix(found, name="scores", shape=Y.shape):
    values = np.full(shape, np.nan)
    values[found.rows, found.labels] = getattr(found, name)
    return values


def left_out(sigma, alpha, lambda2):
    """Scores of each row by a refit without it, with S and σ held."""
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * sigma**2))
    G = correlation.collaboration(S, alpha)
    return leave_one_out_scores(K, SIGNS, G, 1.0, lambda2)


def test_scores_are_those_of_refits_without_the_row_and_chances_those_of_a_link_for_each_label():
    found = find_label_errors(X, Y, FIXED)
    scores = left_out(1.5, 0.4, 0.3)
    assert_allclose(matrix(found), SIGNS * scores, atol=1e-9)
    z = fit_link(Y > 0, scores)[0].log_odds(scores)
    assert_allclose(matrix(found, "chance"), 1 / (1 + np.exp(-SIGNS * z)), atol=1e-9)
    assert (np.diff(found.chance) >= 0).all()


def test_the_candidate_of_least_squared_error_decides():
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    sigma = distances[np.triu_indices(len(X), 1)].mean()
    tried = [left_out(sigma, alpha, own) for alpha in SMALL.alphas for own in SMALL.lambda2s]
    best = min(tried, key=lambda F: ((F - SIGNS) ** 2).sum())
    assert_allclose(matrix(find_label_errors(X, Y, SMALL)), SIGNS * best, atol=1e-7)


def test_without_collaboration_scores_and_parts_are_those_of_fits_without_the_row():
    model = CamelClassifier(alpha=0.0, lambda2=0.3, bandwidth=1.5)
    found = find_label_errors(X, Y, model)
    scores, own, base = (matrix(found, name) for name in ("scores", "own", "base"))
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        reasons = model.fit(X[rest], Y[rest]).explain(X[i : i + 1])
        assert_allclose(scores[i], SIGNS[i] * reasons.scores[0], atol=1e-9)
        assert_allclose(own[i], reasons.own[0], atol=1e-9)
        assert_allclose(base[i], reasons.base, atol=1e-9)


def test_parts_add_up_and_are_those_of_the_collaboration():
    found = find_label_errors(X, Y, FIXED)
    pushes = [found.pushes(e, 10) for e in range(len(found))]
    total = found.base + found.own + [sum(push.amount for push in own) for own in pushes]
    assert_allclose(total, found.scores * np.where(found.given, 1, -1), atol=1e-9)
    for record in found.records(9):
        told = sum(float(part.split()[-1]) for part in record["why"].split(", "))
        sign = 1 if record["given"] else -1
        assert told == pytest.approx(sign * record["score"], abs=0.03)  # rounded to two digits
    for label, own in zip(found.labels, pushes, strict=True):
        assert all(push.source != label for push in own)
    assert_allclose(found.collaboration, 0.6 * np.eye(3) + 0.4 * S, atol=1e-12)


def test_copies_of_a_row_vouch_for_each_other_unless_they_belong_together():
    rows, labels = made(n=60)
    rows, labels = np.vstack([rows, rows[:6]]), np.vstack([labels, labels[:6]])
    labels[[0, 60], 0] ^= 1
    places = []
    for groups in (np.r_[:60, :6], None):
        found = find_label_errors(rows, labels, FIXED, groups=groups)
        places.append(list(zip(found.rows, found.labels, strict=True)).index((0, 0)))
    assert places[0] < places[1]


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_the_order_of_rows_labels_and_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows, labels, columns = rng.permutation(30), rng.permutation(3), rng.permutation(4)
    one = find_label_errors(X, Y, SMALL)
    other = find_label_errors(X[np.ix_(rows, columns)], Y[np.ix_(rows, labels)], SMALL)
    for name in ("scores", "given", "chance", "own", "base"):
        expected = matrix(one, name)[np.ix_(rows, labels)]
        assert_allclose(matrix(other, name), expected, atol=1e-7)


@pytest.mark.parametrize("model", [FIXED, make_pipeline("passthrough", FIXED)])
def test_a_pipeline_prepares_all_rows_first(model):
    pipeline = make_pipeline(StandardScaler(), model)
    expected = find_label_errors(StandardScaler().fit_transform(X), Y, FIXED)
    assert_allclose(matrix(find_label_errors(X, Y, pipeline)), matrix(expected), atol=1e-9)
    assert not hasattr(pipeline[0], "mean_")


def test_limit_and_text():
    whole, first = find_label_errors(X, Y, FIXED), find_label_errors(X, Y, FIXED, limit=12)
    assert (len(whole), len(first)) == (90, 12)
    assert_array_equal(whole.rows[:12], first.rows)
    assert first.to_frame().equals(whole.to_frame()[:12])
    lines = str(first).splitlines()
    assert (len(lines), lines[11]) == (12, "… 2 more")


BAD = [
    ("one column of classes", (X, Y[:, 0])),
    ("at least 2", (X[:1], Y[:1], CamelClassifier())),
    ("rows but X has", (X[1:], Y)),
    ("got a LLSF", (X, Y, LLSF())),
    ("StandardScaler", (X, Y, StandardScaler())),
    ("lambda2 must be", (X, Y, CamelClassifier(lambda2=-1))),
]


@pytest.mark.parametrize(("message", "arguments"), BAD)
def test_bad_input_is_refused(message, arguments):
    with pytest.raises((ValueError, TypeError), match=message):
        find_label_errors(*arguments)


def test_the_estimator_is_left_as_it_is():
    model = CamelClassifier(0.2).fit(X, Y)
    before = dict(vars(model))
    find_label_errors(X[:10], Y[:10], model)
    assert vars(model) == before


def test_unknown_entries_are_left_out_and_the_rest_is_judged(rng):
    rows = rng.normal(size=(80, 3))
    labels = np.column_stack([rows[:, 0] > 0, rows[:, 1] + rows[:, 0] > 0, rows[:, 2] > 0])
    labels[5, 0] ^= True
    hidden = rng.random(labels.shape) < 0.2
    hidden[5, 0] = False
    found = find_label_errors(rows, np.where(hidden, np.nan, labels))
    assert len(found) == (~hidden).sum()
    assert not hidden[found.rows, found.labels].any()
    assert (found.rows[0], found.labels[0]) == (5, 0)
    assert "row" in str(found)


def test_rows_beyond_the_sample_are_scored_by_sums_too(monkeypatch):
    rows, labels = made(n=90)
    model = CamelClassifierCV(alphas=(0.2,), lambda2s=(0.1,), solver="landmark", n_landmarks=9)
    whole = find_label_errors(rows, labels, model)
    monkeypatch.setattr(landmark, "JUDGED_ROWS", 40)
    found = find_label_errors(rows, labels, model)
    assert_array_equal(found.rows, whole.rows)
    assert_allclose(found.scores, whole.scores, atol=1e-9)
