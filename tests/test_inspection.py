"""What a model file says of itself: quality, what it reveals, its size; and its card."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skcamel
from skcamel import CamelClassifier, CamelClassifierCV, inspect, save
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline
from tiny_steps import Foreign

X, Y = make_multilabel_classification(60, n_features=5, n_classes=4, n_labels=2, random_state=0)
GRID = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1)}
NASTY = ("a|b", "`c`\n# d", "<script>", "*e*")
TABLE = {
    "plan": ["free", "team", "trial"] * 20,
    "paid": [f"${k * 7 % 50}" for k in range(60)],
    "said": ["sun sea", "rain", "sea wind"] * 20,
}


def held_of(told):
    return {entry["what"]: entry["held"] for entry in told.reveals}


def stored(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("hidden", [0, 0.3])
@pytest.mark.parametrize("weights", [None, np.arange(60) % 4])
def test_quality_is_that_of_leave_one_out(hidden, weights):
    labels = np.where(np.random.default_rng(0).random(Y.shape) < hidden, np.nan, Y)
    model = CamelClassifierCV(**GRID, threshold="macro_f1").fit(X, labels, sample_weight=weights)
    told = inspect(model)
    assert told.quality["figures"] == model.estimate_
    for key, values in model.label_estimates_.items():
        np.testing.assert_array_equal([row[key] for row in told.quality["labels"]], values)
    weakest = [row["f1"] for row in told.quality["weakest"]]
    assert weakest == sorted(model.label_estimates_["f1"])
    counted = np.ones(60) if weights is None else weights
    assert told.data["known_labels"] == pytest.approx(
        1 - np.average(np.isnan(labels).mean(axis=1), weights=counted)
    )


def test_the_rule_that_decides_thresholds_is_told():
    rules = {
        "zero": {},
        "one for each label": {"threshold": [0.1] * Y.shape[1]},
        "miss_cost=4": {"threshold": "micro_f1", "miss_cost": 4},
        "zero, miss_cost={'label1': 4}": {"miss_cost": {"label1": 4}},
    }
    for rule, parameters in rules.items():
        told = inspect(CamelClassifier(**parameters).fit(X, Y))
        assert told.model["threshold"] == rule
        assert f"Thresholds of the scores: {rule}." in str(told)


COMBINED = GRID | {"combine": True, "scalings": ("none", "standard")}


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (CamelClassifier(), "yes"),
        (CamelClassifierCV(**COMBINED), "yes"),
        (CamelClassifier(solver="landmark", n_landmarks=8), "in part"),
        (CamelClassifier(solver="landmark", n_landmarks=8, landmarks="kmeans"), "no"),
        (CamelClassifier(solver="primal", kernel="linear"), "no"),
        (CamelClassifier(kernel="precomputed"), "no"),
    ],
    ids=str,
)
def test_what_a_file_reveals_follows_from_what_it_holds(model, rows):
    model = model.fit(X @ X.T if getattr(model, "kernel", "") == "precomputed" else X, Y)
    told = inspect(stored(model))
    held = held_of(told)
    assert held["training rows"] == held["whether a given row was in the fit"] == rows
    assert held["labels of training rows"] == ("yes" if rows == "yes" else "no")
    n_bytes = len(stored(model).getvalue())
    assert sum(part["bytes"] for part in told.size) == told.file["bytes"] == n_bytes
    assert told.to_dict() | {"file": None} == inspect(model).to_dict() | {"file": None}


@pytest.mark.parametrize("scaling", ["rank", "auto"])
def test_ranks_and_tables_reveal_values_of_columns(scaling):
    ranks = CamelClassifier(scaling="rank").fit(X + np.arange(60)[:, None] / 1e3, Y)
    assert "scaling by rank: 300 values" in str(inspect(ranks))
    steps = [("prepare", TablePreparer(scaling=scaling)), ("classify", CamelClassifier())]
    model = LabelPipeline(steps).fit(pd.DataFrame(TABLE), Y)
    told = inspect(model)
    assert told.model["steps"] == ["TablePreparer"]
    assert {column["name"]: column["kind"] for column in told.data["columns"]} == model[0].kinds_
    detail = next(entry["detail"] for entry in told.reveals if entry["what"].startswith("values"))
    assert detail == "category plan; number paid; category said."


def test_a_step_that_nobody_trusts_is_named_and_never_built(monkeypatch):
    file = stored(make_pipeline(Foreign(), StandardScaler(), CamelClassifier()).fit(X, Y))
    monkeypatch.setattr(Foreign, "__new__", lambda *_, **__: pytest.fail("was built"))
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)  # not even skops is needed
    told = inspect(file)
    assert told.model["steps"][0] == "tiny_steps.Foreign"
    assert told.model["steps"][1].endswith("StandardScaler")
    assert held_of(told)["step tiny_steps.Foreign"] == "unknown"
    assert "steps of other libraries" in {part["part"] for part in told.size}


def test_models_without_leave_one_out_scores_say_so_or_tell_their_search():
    assert inspect(CamelClassifier(0.1, solver="alternating").fit(X, Y)).quality["source"] is None
    assert (
        inspect(CamelClassifier().fit(X, np.arange(60) % 3)).quality["labels"] == []
    )  # the largest score decides, not a cut
    model = CamelClassifierCV(**GRID, cv=2).fit(X, np.arange(60) % 3)
    assert list(inspect(model).quality["figures"]) == [model.scoring_]


def test_a_file_tells_who_wrote_it_and_its_card_marks_what_only_a_person_knows(tmp_path):
    frame = pd.DataFrame(X, columns=[*NASTY, "plain"])
    save(CamelClassifier().fit(frame, pd.DataFrame(Y, columns=NASTY)), tmp_path / "model")
    told = inspect(tmp_path / "model")
    assert told.file["written_by"] == f"skcamel {skcamel.__version__}"
    assert told.file["environment"]["numpy"] == np.__version__
    assert told.file["name"] == str(tmp_path / "model")
    card = told.card("Topics")
    headings = [line.lstrip("# ") for line in card.splitlines() if line.startswith("#")]
    assert headings[:4] == ["Topics", "What it is", "Intended use", "Data"]
    assert headings[-2:] == ["What the file reveals about its training data", "How to load it"]
    assert card.count("*To be filled in by a person:*") == 6
    assert "nan" not in card
    assert "<script>" not in card.replace("\\<script\\>", "")  # names of labels stay text
    assert "\n# d" not in card
