"""Pipelines that end in one of our estimators: what they answer, and how they are saved."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import skcamel
from skcamel import CamelClassifier, CamelClassifierCV, load, save
from skcamel.baselines import BinaryRelevance
from skcamel.data import TablePreparer
from skcamel.data.pipeline import (
    LabelPipeline,
    final,
    prepared,
    reasons,
    source_names,
    transformers,
)
from tiny_steps import Columns, Foreign

RNG = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame({"age": RNG.normal(size=N), "town": RNG.choice(["Bath", "Ely", "York"], N)})
FRAME["said"] = RNG.choice(["sun and sea", "rain", "wind and sea"], N)
FRAME["size"] = RNG.normal(size=N)
LABELS = pd.DataFrame(
    {"warm": FRAME["age"] > 0, "old": FRAME["town"] == "York", "wet": FRAME["said"] != "rain"}
).astype(int)
NUMBERS = FRAME[["age", "size"]]
NUMBER, PLACE = ("number", StandardScaler(), ["age", "size"]), ("place", OneHotEncoder(), ["town"])
MIXED = ColumnTransformer([NUMBER, PLACE, ("text", TfidfVectorizer(), "said")])


def fitted(*steps, X=FRAME):
    return make_pipeline(*steps).fit(X, LABELS)


OWN, ARRAY = FRAME[["age", "town"]], NUMBERS.to_numpy()
SEARCH = CamelClassifierCV(alphas=(0.2,), lambda2s=(0.1,))
# Both are unknown to skops, the second of scikit-learn before 1.7.
TRUSTED = ["tiny_steps.Columns", "sklearn.compose._column_transformer._RemainderColsList"]
PIPELINES = {
    "own": lambda: fitted(Columns(), CamelClassifier(scaling="standard"), X=OWN),
    "foreign": lambda: fitted(MIXED, CamelClassifier()),
    "several": lambda: fitted(MIXED, "passthrough", VarianceThreshold(), SEARCH),
    "none": lambda: Pipeline([("a", None), ("model", CamelClassifier())]).fit(ARRAY, LABELS),
    "inner": lambda: fitted(
        make_pipeline(MIXED, VarianceThreshold()),
        make_pipeline(StandardScaler(with_mean=False), CamelClassifier()),
    ),
    "ours": lambda: LabelPipeline(fitted(MIXED, CamelClassifier()).steps),
}
each_pipeline = pytest.mark.parametrize("kind", PIPELINES)


def rows_for(kind):
    return {"own": OWN, "none": ARRAY}.get(kind, FRAME)


@each_pipeline
def test_functions_answer_as_the_methods_of_the_last_step_on_the_rows_it_sees(kind):
    model, X = PIPELINES[kind](), rows_for(kind)
    last, rows = final(model), prepared(model, X)
    np.testing.assert_array_equal(last.decision_function(rows), model.decision_function(X))
    np.testing.assert_array_equal(skcamel.outputs(model, X).decisions, model.predict(X))
    assert skcamel.label_sets(model, X) == last.label_sets(rows)
    np.testing.assert_array_equal(skcamel.predict_sets(model, X, 0.8), last.predict_sets(rows, 0.8))
    np.testing.assert_array_equal(skcamel.top_k(model, X, 2), last.top_k(rows, 2))
    np.testing.assert_array_equal(
        skcamel.explain(last, rows).parts, skcamel.explain(model, X).parts
    )


def test_our_pipeline_answers_all_that_its_estimator_does():
    ours = skcamel.make_pipeline(MIXED, CamelClassifier()).fit(FRAME, LABELS)
    assert type(ours) is LabelPipeline
    assert list(ours.label_names_) == list(LABELS)
    assert ours.label_sets(FRAME) == skcamel.label_sets(ours, FRAME)
    np.testing.assert_array_equal(ours.predict_sets(FRAME), skcamel.predict_sets(ours, FRAME))
    np.testing.assert_array_equal(ours.outputs(FRAME).scores, ours.decision_function(FRAME))
    np.testing.assert_array_equal(ours.top_k(FRAME, 1), skcamel.top_k(ours, FRAME, 1))
    with pytest.raises(AttributeError, match="'LabelPipeline' object has no attribute 'nothing'"):
        _ = ours.nothing


def test_a_baseline_has_no_collaboration_to_explain():
    model = fitted(MIXED, BinaryRelevance())
    with pytest.raises(TypeError, match="A BinaryRelevance has no collaboration to explain"):
        skcamel.explain(model, FRAME)


def test_reasons_of_a_text_name_its_words():
    model = fitted(TablePreparer(text=["said"]), CamelClassifier())
    found = skcamel.explain(model, FRAME[:1], features=True)
    words = {"said: sun", "said: and", "said: sea", "said: rain", "said: wind"}
    own = {f"said: {word}" for word in FRAME["said"][0].split()}
    assert set(found.feature_names) & words == own
    assert set(found.feature_names) == {"age", "town", "size", *own} | {"said (other words)"}
    np.testing.assert_allclose(
        found.feature_base + found.features.sum(axis=1), model.decision_function(FRAME[:1])
    )


def test_reasons_of_a_row_do_not_depend_on_its_neighbours():
    model = fitted(TablePreparer(text=["said"]), CamelClassifier())
    texts = FRAME["said"].to_list()
    rows = [texts.index("rain"), texts.index("sun and sea"), texts.index("wind and sea")]
    table = FRAME.iloc[rows].copy()
    table.iloc[2, 2] = "snow"
    found = skcamel.explain(model, table, features=True)
    scores = model.decision_function(table)
    np.testing.assert_allclose(found.feature_base + found.features.sum(axis=1), scores)
    assert "said: rain" in str(found)
    for r in range(3):
        alone = skcamel.explain(model, table[r : r + 1], features=True)
        np.testing.assert_allclose(alone.parts, found.parts[[r]], atol=1e-12)
        np.testing.assert_allclose(found[r].feature_base, alone.feature_base)
        columns = alone.column_values(0, 0, k=9)
        assert [part.column for part in columns] == [
            part.column for part in found.column_values(r, 0, k=9)
        ]
        assert {"said"} & set(alone.feature_names) == ({"said"} if r == 2 else set())
        first, second = reasons(alone, 0, 0, 9), reasons(found, r, 0, 9)
        assert first["columns"] == second["columns"]
        assert first["no_column"] == pytest.approx(second["no_column"])


def test_features_are_explained_by_their_sources():
    model, sources = PIPELINES["own"](), ["a", "b", "c", "d"]
    assert skcamel.explain(model, OWN).features is None
    found = skcamel.explain(model, OWN, features=True)
    assert found.feature_names.tolist() == ["age", "town"]
    found = skcamel.explain(model, OWN, features=True, sources=sources)
    assert found.feature_names.tolist() == sources


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler())),
        make_pipeline(CamelClassifier(), "passthrough"),
        None,
        GridSearchCV(CamelClassifier(), {"alpha": [0.5]}, cv=2).fit(NUMBERS, LABELS),
    ],
)
def test_what_ends_in_something_else_is_refused(model):
    for ask in (final, transformers, source_names, lambda model: skcamel.outputs(model, FRAME)):
        with pytest.raises(TypeError, match=r"A \w+ is no estimator of skcamel; give one, a Pip"):
            ask(model)


def test_columns_are_named_by_their_sources():
    sources = np.array(["age", "town", "town", "town"])
    assert source_names(PIPELINES["own"]()) == sources.tolist()
    scaled = fitted(Columns(), StandardScaler(), CamelClassifier(), X=OWN)
    assert source_names(scaled) == sources.tolist()
    turned = fitted(Columns(), StandardScaler(), PCA(2), CamelClassifier(), X=OWN)
    assert source_names(turned) == ["pca0", "pca1"]
    some = fitted(Columns(), VarianceThreshold(0.21), CamelClassifier(), X=OWN)
    kept = some[1].get_support()
    assert 1 < kept.sum() < 4
    assert source_names(some) == sources[kept].tolist()
    foreign = source_names(PIPELINES["foreign"]())
    assert foreign[1:4] == ["number__size", "place__town_Bath", "place__town_Ely"]
    assert source_names(PIPELINES["inner"]()) == foreign


def test_columns_of_bare_estimators_and_of_steps_without_names():
    assert source_names(CamelClassifier().fit(NUMBERS, LABELS)) == ["age", "size"]
    assert source_names(CamelClassifier().fit(ARRAY, LABELS)) is None
    nameless = fitted(FunctionTransformer(np.asarray), CamelClassifier(), X=NUMBERS)
    assert source_names(nameless) is None
    named = fitted(FunctionTransformer(), CamelClassifier(), X=NUMBERS)
    assert source_names(named) == ["age", "size"]


def stored(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


@each_pipeline
def test_a_saved_pipeline_predicts_the_same(kind, tmp_path):
    model, X = PIPELINES[kind](), rows_for(kind)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model", trusted=TRUSTED)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert type(again) is type(model)
    assert repr(again.steps) == repr(model.steps)
    assert source_names(again) == source_names(model)
    assert vars(final(again)).keys() == vars(final(model)).keys()
    again.fit(X, LABELS)


def test_a_step_of_ours_keeps_the_frames_that_it_gives():
    model = fitted(TablePreparer().set_output(transform="pandas"), CamelClassifier(), X=OWN)
    again = load(stored(model))
    assert isinstance(again[0].transform(OWN), pd.DataFrame)
    np.testing.assert_array_equal(again.predict(OWN), model.predict(OWN))  # and does not warn


def test_without_skops_the_extra_is_named(monkeypatch):
    model = fitted(StandardScaler(), CamelClassifier(), X=NUMBERS)
    bare = fitted("passthrough", CamelClassifier(), X=NUMBERS)
    file = stored(model)
    for name in ("skops", "skops.io"):
        monkeypatch.setitem(sys.modules, name, None)
    np.testing.assert_array_equal(load(stored(bare)).predict(NUMBERS), bare.predict(NUMBERS))
    with pytest.raises(ImportError, match=r"To load Pipelines .*pip install skops"):
        load(file)
    with pytest.raises(ImportError, match=r"To save Pipelines .*pip install skops"):
        stored(model)


@pytest.mark.parametrize("option", [{"verbose": True}, {"memory": "cache"}], ids=str)
def test_options_that_matter_only_to_a_fit_are_not_stored(option):
    model = fitted(StandardScaler(), CamelClassifier(), X=NUMBERS)
    expected = model.predict(NUMBERS)
    again = load(stored(model.set_params(**option)))
    assert (again.verbose, again.memory) == (False, None)
    np.testing.assert_array_equal(again.predict(NUMBERS), expected)


def with_a_generator():
    model = fitted(Foreign(), CamelClassifier(), X=NUMBERS)
    model[0].left_ = (k for k in range(3))
    return model


def nested(levels):
    model = CamelClassifier()
    for _ in range(levels):
        model = make_pipeline(model)
    return model.fit(NUMBERS, LABELS)


def of_own_class():
    return type("Mine", (Pipeline,), {})([("a", CamelClassifier())]).fit(NUMBERS, LABELS)


UNNAMED = FunctionTransformer(lambda X: X)
REFUSED = {
    "A LogisticRegression is no estimator of skcamel": lambda: make_pipeline(LogisticRegression()),
    "This Pipeline is not fitted; call fit before save": lambda: make_pipeline(CamelClassifier()),
    "skops cannot .*that can be imported can": lambda: fitted(UNNAMED, CamelClassifier(), X=ARRAY),
    "save cannot store the step 'foreign': skops cannot write it": with_a_generator,
    "cannot be saved: its Pipelines are nested more than 10 deep": lambda: nested(12),
    "save takes .*, got Mine": of_own_class,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_saved_is_refused(message):
    with pytest.raises((TypeError, ValueError), match=message):
        stored(REFUSED[message]())
