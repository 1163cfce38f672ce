"""Predictions as frames by one switch: columns, index, clones, files, scorers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel import CamelClassifier, CamelClassifierCV, load, save
from skcamel.baselines import JFSC, LLSF, BinaryRelevance, EnsembleOfClassifierChains, RAkEL
from skcamel.metrics import get_scorer

X, Y = make_multilabel_classification(60, n_features=5, n_classes=3, random_state=0)
NAMES = ["sea", "sun", "sand"]
INDEX = [f"row {k}" for k in range(60)]
FRAME = pd.DataFrame(X, columns=list("abcde"), index=INDEX)
LABELS = pd.DataFrame(Y, columns=NAMES, index=INDEX)
WORDS = np.array(["no", "yes"])[Y[:, 0]]
METHODS = ("predict", "predict_proba", "decision_function")
MODELS = [
    CamelClassifier(),
    CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.1,)),
    BinaryRelevance(),
    EnsembleOfClassifierChains(2, random_state=0),
    RAkEL(random_state=0),
    LLSF(),
    JFSC(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each_model
def test_frames_have_the_names_of_the_labels_and_the_index_of_the_rows(model):
    model = clone(model).fit(FRAME, LABELS)
    for method in [name for name in METHODS if hasattr(model, name)]:
        array = getattr(model.set_output(predict="default"), method)(FRAME)
        assert isinstance(array, np.ndarray)
        frame = getattr(model.set_output(predict="pandas"), method)(FRAME)
        pd.testing.assert_frame_equal(frame, pd.DataFrame(array, columns=NAMES, index=INDEX))
        frame = getattr(model.set_output(predict="polars"), method)(FRAME)
        assert (type(frame), frame.columns) == (pl.DataFrame, NAMES)
        np.testing.assert_array_equal(frame.to_numpy(), array)


def test_rows_without_index_are_numbered():
    model = CamelClassifier().set_output(predict="pandas").fit(X, Y)
    assert model.predict(X[3:7]).index.equals(pd.RangeIndex(4))
    assert model.predict(X[3:7].tolist()).index.equals(pd.RangeIndex(4))  # a list has a method called index
    assert list(model.predict(X).columns) == ["label1", "label2", "label3"]
    assert model.predict(X[:2]).dtypes.tolist() == [np.int64] * 3


@pytest.mark.parametrize(("kind", "series"), [("pandas", pd.Series), ("polars", pl.Series)])
def test_a_1d_y_is_answered_by_a_series(kind, series):
    model = CamelClassifier().fit(FRAME, WORDS)
    arrays = model.predict(FRAME), model.decision_function(FRAME)
    model.set_output(predict=kind)
    for array, answer in zip(arrays, (model.predict(FRAME), model.decision_function(FRAME)), strict=True):
        assert type(answer) is series
        np.testing.assert_array_equal(answer.to_numpy(), array)
        if kind == "pandas":
            assert list(answer.index) == INDEX
    assert isinstance(model.predict_proba(FRAME), np.ndarray)
    many = CamelClassifier().set_output(predict=kind).fit(FRAME, np.array(["a", "b", "c"])[np.arange(60) % 3])
    assert list(many.decision_function(FRAME).columns) == ["a", "b", "c"]
    assert type(many.predict(FRAME)) is series


def test_the_switch_is_copied_by_clone_and_is_no_parameter(tmp_path):
    model = CamelClassifier().set_output(predict="pandas")
    assert model.get_params() == CamelClassifier().get_params()
    again = clone(model).set_output(predict="default")
    assert isinstance(clone(model).fit(X, Y).predict(X), pd.DataFrame)
    assert isinstance(again.fit(X, Y).predict(X), np.ndarray)
    assert isinstance(model.set_output(transform="polars").fit(X, Y).predict(X), pd.DataFrame)  # and nothing was shared or lost
    save(model, tmp_path / "model")
    assert isinstance(load(tmp_path / "model").predict(X), np.ndarray)
    with pytest.raises(ValueError, match=r"predict='frame' is not known; choose .*pandas"):
        model.set_output(predict="frame")


def test_in_a_pipeline_the_index_comes_through_steps_that_keep_it():
    pipeline = make_pipeline(StandardScaler(), CamelClassifier().set_output(predict="pandas"))
    assert pipeline.fit(FRAME, LABELS).predict(FRAME).index.equals(pd.RangeIndex(60))
    pipeline.set_output(transform="pandas").fit(FRAME, LABELS)
    assert list(pipeline.predict(FRAME).index) == INDEX
    assert list(pipeline.predict(FRAME).columns) == NAMES


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    "scoring", [None, "f1_macro", "jaccard_samples", "average_precision", "roc_auc", get_scorer("micro_f1"), get_scorer("coverage")]
)
def test_scorers_of_label_matrices_do_not_depend_on_it(scoring, kind):
    for labels in (Y, LABELS):
        expected = cross_val_score(CamelClassifier(), FRAME, labels, scoring=scoring, cv=3, error_score="raise")
        found = cross_val_score(CamelClassifier().set_output(predict=kind), FRAME, labels, scoring=scoring, cv=3, error_score="raise")
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    "scoring", [None, "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"]
)
def test_scorers_of_a_1d_y_do_not_depend_on_it(scoring, kind):
    expected = cross_val_score(CamelClassifier(), FRAME, WORDS == "yes", scoring=scoring, cv=3, error_score="raise")
    model = CamelClassifier().set_output(predict=kind)
    np.testing.assert_array_equal(cross_val_score(model, FRAME, WORDS == "yes", scoring=scoring, cv=3, error_score="raise"), expected)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_cross_val_predict_gives_the_same_numbers(kind):
    for method in METHODS:
        expected = cross_val_predict(CamelClassifier(), FRAME, Y, method=method, cv=3)
        found = cross_val_predict(CamelClassifier().set_output(predict=kind), FRAME, Y, method=method, cv=3)
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_a_missing_library_is_named(monkeypatch):
    import sys

    model = CamelClassifier().fit(X, Y).set_output(predict="polars")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"set_output\(predict='polars'\) needs polars: pip install polars"):
        model.predict(X)
