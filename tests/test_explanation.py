"""Explanations are exact: parts add up, and pushes stand beside what the training rows show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification

from skcamel import CamelClassifier
from skcamel.camel.correlation import cooccurrence
from skcamel.camel.explanation import Evidence, LabelPart, ranked_pushes


@pytest.fixture(scope="module", params=[0.0, 0.5, 1.0])
def explained(request):
    X, Y = make_multilabel_classification(
        100, n_features=6, n_classes=5, n_labels=2, random_state=0
    )
    Y[:, 4] = 0  # an empty label makes G nearly singular
    model = CamelClassifier(alpha=request.param, lambda2=0.01, threshold="label")
    model.fit(X[:70], Y[:70])
    return model, X, model.explain(X[70:])


def test_parts_add_up_to_the_score_from_the_mean_training_score(explained):
    model, X, explanation = explained
    scores = model.decision_function(X)
    assert explanation.parts.shape == (30, 5, 5)
    assert_allclose(explanation.base + explanation.parts.sum(axis=1), scores[70:], atol=1e-9)
    assert_allclose(explanation.scores, scores[70:], atol=1e-9)
    assert_allclose(explanation.base, scores[:70].mean(axis=0), atol=1e-9)
    assert_allclose(model.explain(X[:70]).parts.mean(axis=0), 0, atol=1e-9)


def test_a_push_is_the_share_of_the_other_labels_own_prediction(explained):
    model, X, explanation = explained
    K = np.exp(-((X[:, None] - X[None, :70]) ** 2).sum(-1) / (2 * model.bandwidth_**2))
    own = K @ model.A_ / model.lambda2 + model.b_  # f(x), before collaboration
    deviation = own[70:] - own[:70].mean(axis=0)
    atol = 1e-10 * max(1.0, abs(own[70:]).max())
    alpha, S = model.alpha, model.label_correlation_
    shares = (1 - alpha) * np.eye(5) + alpha * S
    assert_allclose(explanation.parts, shares * deviation[:, :, None], atol=atol)
    assert_allclose(explanation.own, (1 - alpha) * deviation, atol=atol)


def test_top_frame_and_text_say_the_same(explained):
    model, X, explanation = explained
    top, frame = explanation.top(2), explanation.to_frame()
    assert len(top) == len(explanation) == 30
    assert list(frame.columns) == ["row", "label", "source", "push", "own", "score", "predicted"]
    assert len(frame) == np.count_nonzero(explanation.parts)
    first = frame[(frame.row == 3) & (frame.label == "label2")]
    pushes = [LabelPart(line.source, line.push) for line in first.head(2).itertuples()]
    assert top[3]["label2"] == pushes
    total = first.push.sum() + explanation.base[1]
    assert total == pytest.approx(explanation.scores[3, 1])
    thresholds = model.thresholds_[[int(name[-1]) - 1 for name in frame.label]]
    assert_array_equal(frame.predicted, frame.score > thresholds)
    text = str(explanation)
    assert text.startswith("row 0")
    assert text.endswith("… 27 more rows\nLabel correlation learned as in the paper.")
    assert all(f"  {name}: " in text for name in model.label_sets(X[70:71])[0])


def test_texts_show_pushes_that_the_data_contradict_last_and_mark_them():
    """Labels that exclude each other, which the paper's form pushes up, and two alike."""
    Y = np.eye(5, dtype=int)[np.arange(80) % 5]
    Y[:12, 1] = Y[:12, 0]
    X = np.column_stack([np.arange(80) % 5, np.arange(80)]).astype(float)
    model = CamelClassifier(threshold=-5.0).fit(X, Y)
    explanation = model.explain(X[:2])
    opposite = np.corrcoef(Y.T) * model.label_correlation_ < 0
    for j in range(5):
        shown = explanation.pushes(1, j, 9)
        sources = [i for i in range(5) if i != j and explanation.parts[1, i, j]]
        assert sorted(push.source for push in shown) == sources
        assert [push.contradicts for push in shown] == sorted(push.contradicts for push in shown)
        for push in shown:
            assert push.contradicts == opposite[push.source, j]
            assert push.amount == explanation.parts[1, push.source, j]
    first = next(line for line in str(explanation).splitlines() if line.startswith("  label1: "))
    assert "label2 " in first.partition(" others ")[2].partition("(")[0]
    assert f"(seen {model.cooccurrence_[0, 1]:.0f}, expected " in first
    assert "; against what the data show)" in first
    other = CamelClassifier(correlation="centred").fit(X, Y).explain(X[:1])
    assert str(other).endswith("learned from centred labels.")


def test_a_row_without_labels_says_so():
    X = np.arange(8.0)[:, None]
    model = CamelClassifier(threshold=2.0).fit(X, np.eye(8, 2, dtype=int))
    assert "no label predicted" in str(model.explain(X[:1]))


def test_of_the_classes_of_a_1_d_y_the_best_alone_is_predicted():
    X, Y = make_multilabel_classification(60, n_features=4, n_classes=3, random_state=0)
    model = CamelClassifier(threshold="micro_f1").fit(X, Y.sum(axis=1))
    frame = model.explain(X).to_frame()
    for row, name in enumerate(model.predict(X).astype(str)):
        of_row = frame[frame.row == row]
        assert set(of_row.label[of_row.predicted]) == {name}
    text = str(model.explain(X[:1]))
    assert [line.split(":")[0].strip() for line in text.splitlines()[1:-1]] == [
        str(model.predict(X[:1])[0])
    ]
    assert "threshold" not in text


def test_a_missing_pandas_is_named_with_its_hint(monkeypatch, explained):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas: pip install pandas"):
        explained[2].to_frame()


# What the training rows show


def literal(S, Y, weights):
    """Every push with its counts and whether it contradicts the plain correlation, by loops."""
    shown, total = [], sum(weights)
    for i, j in np.argwhere(S).tolist():
        seen = sum(w for w, y in zip(weights, Y, strict=True) if y[i] > 0 and y[j] > 0)
        one, other = (sum(w for w, y in zip(weights, Y, strict=True) if y[k] > 0) for k in (i, j))
        contradicts = (seen * total - one * other) * S[i, j] < 0
        shown.append((i, j, S[i, j], seen, one * other / total, contradicts))
    return sorted(shown, key=lambda push: (push[5], -abs(push[2])))


LABELS = arrays(
    int, st.tuples(st.integers(2, 20), st.integers(1, 6)), elements=st.sampled_from([-1, 1])
)


@given(LABELS, st.data())
def test_pushes_are_ranked_as_a_literal_loop_ranks_them(Y, data):
    n, q = Y.shape
    S = data.draw(arrays(float, (q, q), elements=st.sampled_from([-0.5, -0.1, 0.0, 0.1, 0.3])))
    weights = data.draw(arrays(float, n, elements=st.integers(1, 3)))
    shown = ranked_pushes(S, q * q, Evidence.of(S, *cooccurrence(Y, weights)))
    expected = literal(S, Y.tolist(), weights.tolist())
    assert [push[:3] + push[5:] for push in shown] == [push[:3] + push[5:] for push in expected]
    assert_allclose([push[3:5] for push in shown], [push[3:5] for push in expected])
