"""Explanations are exact: their parts add up, and each part is what its definition says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification

from skcamel import CamelClassifier
from skcamel.camel.explanation import LabelPart


@pytest.fixture(scope="module", params=[0.0, 0.5, 1.0])
def explained(request):
    X, Y = make_multilabel_classification(
        100, n_features=6, n_classes=5, n_labels=2, random_state=0
    )
    Y[:, 4] = 0  # an empty label makes G nearly singular
    model = CamelClassifier(alpha=request.param, lambda2=0.01, threshold="label").fit(
        X[:70], Y[:70]
    )
    return model, X, model.explain(X[70:])


def test_parts_add_up_to_the_score(explained):
    model, X, explanation = explained
    scores = model.decision_function(X[70:])
    assert_allclose(explanation.base + explanation.parts.sum(axis=1), scores, atol=1e-9)
    assert_allclose(explanation.scores, scores, atol=1e-9)
    assert explanation.parts.shape == (30, 5, 5)


def test_base_is_the_mean_training_score(explained):
    model, X, explanation = explained
    assert_allclose(explanation.base, model.decision_function(X[:70]).mean(axis=0), atol=1e-9)
    assert_allclose(model.explain(X[:70]).parts.mean(axis=0), 0, atol=1e-9)


def test_a_push_is_the_share_of_the_other_labels_own_prediction(explained):
    model, X, explanation = explained
    K = np.exp(-((X[70:, None] - X[None, :70]) ** 2).sum(-1) / (2 * model.bandwidth_**2))
    own = K @ model.A_ / model.lambda2 + model.b_  # f(x), before collaboration
    K_train = np.exp(-((X[:70, None] - X[None, :70]) ** 2).sum(-1) / (2 * model.bandwidth_**2))
    deviation = own - (K_train @ model.A_ / model.lambda2 + model.b_).mean(axis=0)
    scale = max(1.0, abs(own).max())
    alpha, S = model.alpha, model.label_correlation_
    for i in range(5):
        for j in range(5):
            share = 1 - alpha if i == j else alpha * S[i, j]
            assert_allclose(explanation.parts[:, i, j], share * deviation[:, i], atol=1e-10 * scale)
    assert_allclose(explanation.own, (1 - alpha) * deviation, atol=1e-10 * scale)


def test_top_frame_and_text_tell_the_same(explained):
    model, X, explanation = explained
    top = explanation.top(2)
    frame = explanation.to_frame()
    assert len(top) == len(explanation) == 30
    assert list(frame.columns) == ["row", "label", "source", "push", "own", "score", "predicted"]
    assert len(frame) == np.count_nonzero(explanation.parts)
    first = frame[(frame.row == 3) & (frame.label == "label2")]
    assert top[3]["label2"] == [
        LabelPart(line.source, line.push) for line in first.head(2).itertuples()
    ]
    assert frame.groupby(["row", "label"]).push.sum()[(3, "label2")] + explanation.base[
        1
    ] == pytest.approx(explanation.scores[3, 1])
    assert_array_equal(
        frame.predicted,
        frame.score > model.thresholds_[[int(name[-1]) - 1 for name in frame.label]],
    )
    text = str(explanation)
    assert text.startswith("row 0")
    assert text.endswith("… 27 more rows\nLabel correlation learned as in the paper.")
    predicted = model.label_sets(X[70:71])[0]
    assert all(f"  {name}: " in text for name in predicted)


def test_texts_tell_pushes_that_the_data_contradict_last_and_mark_them():
    """Labels that exclude each other, which the paper's form lets push each other up, and two that go together."""
    Y = np.eye(5, dtype=int)[np.arange(80) % 5]
    Y[:12, 1] = Y[:12, 0]
    X = np.column_stack([np.arange(80) % 5, np.arange(80)]).astype(float)
    model = CamelClassifier(threshold=-5.0).fit(X, Y)
    explanation = model.explain(X[:2])
    together = np.corrcoef(Y.T)
    for j in range(5):
        told = explanation.pushes(1, j, 9)
        assert sorted(push.source for push in told) == [
            i for i in range(5) if i != j and explanation.parts[1, i, j]
        ]
        assert [push.contradicts for push in told] == sorted(push.contradicts for push in told)
        for push in told:
            assert push.contradicts == (
                together[push.source, j] * model.label_correlation_[push.source, j] < 0
            )
            assert push.amount == explanation.parts[1, push.source, j]
    lines = str(explanation).splitlines()
    first = next(line for line in lines if line.startswith("  label1: "))
    assert "label2 " in first.partition(" others ")[2].partition("(")[0]
    assert f"(seen {model.cooccurrence_[0, 1]:.0f}, expected " in first
    assert "; against what the data show)" in first
    assert str(CamelClassifier(correlation="centred").fit(X, Y).explain(X[:1])).endswith(
        "learned from centred labels."
    )


def test_a_row_without_labels_says_so():
    X = np.arange(8.0)[:, None]
    model = CamelClassifier(threshold=2.0).fit(X, np.eye(8, 2, dtype=int))
    assert "no label predicted" in str(model.explain(X[:1]))


def test_a_missing_pandas_is_named_with_its_cure(monkeypatch, explained):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas: pip install pandas"):
        explained[2].to_frame()
