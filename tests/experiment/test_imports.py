"""Methods and metrics by text: names, arguments, files; what cannot be read is refused, and nothing else is executed."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skcamel.baselines import BinaryRelevance
from skcamel.experiment import get_method, run_study
from skcamel.experiment.methods import between_commas, imported, parsed
from skcamel.experiment.units import methods_from_python, read_runs, study_command
from study_methods import made


@pytest.mark.parametrize(
    ("text", "name", "place", "args", "kwargs"),
    [
        ("a.b:C", None, "a.b:C", (), {}),
        ("mine=a.b:C()", "mine", "a.b:C", (), {}),
        (
            "a.b:C(x=1, y=[1, 'a,b'], z={'k': None})",
            None,
            "a.b:C",
            (),
            {"x": 1, "y": [1, "a,b"], "z": {"k": None}},
        ),
        ("my name = a:c(-1.5, True)", "my name", "a:c", (-1.5, True), {}),
        (
            r"m=C:\folder\file.py:make(k='a=b:c')",
            "m",
            r"C:\folder\file.py:make",
            (),
            {"k": "a=b:c"},
        ),
    ],
)
def test_a_text_is_taken_apart(text, name, place, args, kwargs):
    assert parsed(text, "form") == (name, place, args, kwargs)


@pytest.mark.parametrize(
    "text",
    [
        "a.b:C(x=1",
        "a.b:",
        ":C",
        "a.b:C(1)(2)",
        "a.b:C(x=open('f'))",
        "a.b:C(**{})",
        "a.b:C(x=y)",
        "a.b:C D",
        "a:C(1;2)",
    ],
)
def test_what_is_no_literal_is_refused_and_not_executed(text):
    with pytest.raises(
        ValueError,
        match=r"is not understood; write form|cannot be read .*; arguments are Python literals",
    ):
        parsed(text, "form")


def test_commas_inside_brackets_and_quotes_part_nothing():
    assert between_commas("a, b=c:D(x=(1, 2), y='),('), it's, ,e") == [
        "a",
        "b=c:D(x=(1, 2), y='),(')",
        "it's",
        "e",
    ]
    assert between_commas(" , ") == []


def test_a_file_is_imported_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "method_in_a_file.py").write_text(
        "def make(depth=2):\n    from sklearn.tree import DecisionTreeClassifier as T\n    return"
        " T(max_depth=depth)\n"
    )
    method = get_method(f"mine={tmp_path / 'method_in_a_file.py'}:make(depth=5)")
    assert (method.name, method.settings["params"]["max_depth"]) == ("mine", 5)
    with pytest.raises(ImportError, match="there is no such file"):
        imported(f"{tmp_path / 'nothing.py'}:make", "form")
    (tmp_path / "json.py").write_text("make = 1\n")
    with pytest.raises(ImportError, match=r"another module is named json .*; rename the file"):
        imported(f"{tmp_path / 'json.py'}:make", "form")


def test_two_methods_of_one_class_have_names_and_arguments_of_their_own(tmp_path):
    specs = [
        "one=sklearn.tree:DecisionTreeClassifier(max_depth=1)",
        "two=sklearn.tree:DecisionTreeClassifier(max_depth=2)",
    ]
    records = run_study([made()], specs, n_folds=2, out=tmp_path)
    assert [
        (record["method"], record["settings"]["params"]["max_depth"]) for record in records
    ] == [("one", 1)] * 2 + [("two", 2)] * 2
    (run,) = read_runs(tmp_path)
    assert methods_from_python(run) == []
    assert f"--methods '{','.join(specs)}'" in study_command(run)
    renamed = get_method("other=study_methods:Mean")
    assert (renamed.name, get_method("study_methods:Mean").name) == ("other", "mean")


SINGLE = {
    "logistic": LogisticRegression(),
    "svc": SVC(),
    "boosting": HistGradientBoostingClassifier(max_iter=3),
    "pipeline": make_pipeline(StandardScaler(), SVC()),
    "vote": VotingClassifier([("a", LogisticRegression()), ("b", SVC())]),
    "search": GridSearchCV(LogisticRegression(), {"C": [1.0, 10.0]}, cv=2),
}


@pytest.mark.parametrize("name", list(SINGLE))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_classifier_of_a_single_label_is_fitted_for_each_label_and_says_so(name):
    data = made(30)
    with pytest.warns(
        UserWarning,
        match=f"{name} learns a single label; BinaryRelevance fits a clone of it for each label",
    ):
        (outcome,) = (
            get_method((name, SINGLE[name])).fit(data.X, data.Y, seed=0).outcomes(data.X).values()
        )
    wanted = BinaryRelevance(SINGLE[name]).fit(data.X, data.Y).outputs(data.X)
    assert np.array_equal(outcome.decisions, wanted.decisions)
    assert np.allclose(outcome.scores, wanted.scores)


def test_the_warning_is_in_the_record_and_a_single_label_needs_no_wrapping():
    records = run_study([made(), made(name="one", q=1)], [("svc", SVC())], n_folds=2)
    told = {record["dataset"]: record["warnings"] for record in records}
    assert told["made"] == [
        "UserWarning: svc learns a single label; BinaryRelevance fits a clone of it for each label."
    ]
    assert told["one"] == []
