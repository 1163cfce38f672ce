"""What tells the units of two methods apart: every parameter with its default, and the data."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import skcamel
from skcamel.experiment import METHOD_TITLES, Unit, get_method, run_study, summarise
from skcamel.experiment.identity import described, settings_of
from skcamel.experiment.paper import PRESETS
from skcamel.presets import PRESETS as PRESETS_OF_CAMEL
from study_methods import Mean, made

PAIRS = {
    "a parameter": (KNeighborsClassifier(3), KNeighborsClassifier(4)),
    "a nested parameter": (
        make_pipeline(StandardScaler(), SVC(C=1)),
        make_pipeline(StandardScaler(), SVC(C=2)),
    ),
    "a nested default": (
        make_pipeline(StandardScaler(), SVC()),
        make_pipeline(StandardScaler(with_mean=False), SVC()),
    ),
    "the class around one estimator": (OneVsRestClassifier(SVC()), MultiOutputClassifier(SVC())),
    "an estimator in a list": (
        VotingClassifier([("a", SVC())]),
        VotingClassifier([("a", SVC(C=3))]),
    ),
    "a random state": (
        RandomForestClassifier(random_state=np.random.RandomState(0)),
        RandomForestClassifier(random_state=np.random.RandomState(1)),
    ),
    "an array": (
        KNeighborsClassifier(metric_params={"V": np.eye(40)}),
        KNeighborsClassifier(metric_params={"V": 2 * np.eye(40)}),
    ),
    "the type of an array": (
        FunctionTransformer(kw_args={"a": np.eye(2)}),
        FunctionTransformer(kw_args={"a": np.eye(2, dtype=np.float32)}),
    ),
    "a sparse matrix": (
        FunctionTransformer(kw_args={"a": sparse.eye_array(3).tocsr()}),
        FunctionTransformer(kw_args={"a": 2 * sparse.eye_array(3).tocsr()}),
    ),
    "a splitter": (
        FunctionTransformer(kw_args={"cv": KFold(3)}),
        FunctionTransformer(kw_args={"cv": KFold(4)}),
    ),
    "what a partial holds": tuple(
        FunctionTransformer(functools.partial(np.multiply, k)) for k in (1, 2)
    ),
    "a key that is a number": (
        LogisticRegression(class_weight={0: 1, 1: 2}),
        LogisticRegression(class_weight={"0": 1, "1": 2}),
    ),
    "a number and its text": (
        FunctionTransformer(kw_args={"a": 1}),
        FunctionTransformer(kw_args={"a": "1"}),
    ),
    "a function": (FunctionTransformer(np.log1p), FunctionTransformer(np.exp)),
    "infinity": (
        FunctionTransformer(kw_args={"a": np.inf}),
        FunctionTransformer(kw_args={"a": -np.inf}),
    ),
}


@pytest.mark.parametrize("what", PAIRS)
def test_settings_tell_estimators_apart(what):
    one, two = map(described, PAIRS[what])
    assert one != two
    assert described(PAIRS[what][0]) == one
    json.dumps(one, allow_nan=False)


def test_circles_end():
    ring = []
    ring.append(ring)
    model = KNeighborsClassifier(metric_params={"ring": ring})
    assert described(model) == described(model)


def test_settings_are_the_same_in_another_process_with_other_hashes():
    code = (
        "import json\nfrom skcamel.experiment.identity import settings_of\nfrom study_methods"
        " import Mean\nimport test_identity as t\nprint(json.dumps([settings_of(Mean()),"
        " *(t.described(pair[0]) for pair in t.PAIRS.values())]))"
    )
    path = [
        str(Path(skcamel.__file__).parents[1]),
        *(str(Path(__file__).parents[up]) for up in (0, 1)),
    ]
    answers = {
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@pytest.mark.parametrize("name", METHOD_TITLES)
def test_built_in_methods_tell_all_that_decides(name):
    settings = {preset: settings_of(get_method(name, preset)) for preset in PRESETS}
    if name in ("camel", "llsf", "jfsc"):
        assert len({json.dumps(told) for told in settings.values()}) == 3
    if name != "camel":
        assert all(told["params"] for told in settings.values())


def test_camel_tells_its_parameters_but_not_where_it_computes(monkeypatch):
    before = get_method("camel").settings
    assert before["params"]["alphas"] == list(skcamel.PAPER_ALPHAS)
    assert get_method("camel", device="cuda").settings == before
    assert get_method("camel", per_metric=True).settings != before
    monkeypatch.setitem(PRESETS_OF_CAMEL, "paper", {"lambda2s": (0.5,)})
    changed = get_method("camel").settings
    assert changed != before
    monkeypatch.setattr("skcamel.experiment.methods.VERSION", 7)
    assert get_method("camel").settings == changed | {"version": 7}


def test_the_settings_of_a_method_are_a_mapping():
    wrong = Mean("wrong")
    wrong.settings = [1]
    with pytest.raises(
        TypeError, match=r"settings of the method 'wrong' must be a mapping, got \[1\]"
    ):
        run_study([made()], [wrong], n_folds=2)


class Mine(BaseEstimator):
    """Says the share of each label, or fails."""

    def __init__(self, strength=1.0, broken=False):
        self.strength = strength
        self.broken = broken

    def fit(self, X, Y):
        if self.broken:
            raise RuntimeError("no luck")
        self.mean_ = Y.mean(axis=0) * self.strength
        return self

    def predict(self, X):
        return np.tile(self.mean_ > 0.5, (len(X), 1)).astype(int)


def test_a_resumed_study_computes_anew_what_changed_and_keeps_both(tmp_path):
    out = tmp_path / "study"
    run_study([made()], [("mine", Mine()), "br"], n_folds=2, out=out)
    events = []
    records = run_study(
        [made()], [("mine", Mine(0.1)), "br"], n_folds=2, out=out, progress=events.append
    )
    assert [event.unit.method for event in events] == ["mine", "mine"]
    assert len(records) == 6
    newest = [
        record
        for record in records
        if record["method"] == "mine" and record["settings"]["params"]["strength"] == 0.1
    ]
    found = summarise(records)
    assert found.figures["made", "hamming_loss", "mine"].mean == np.mean(
        [record["hamming_loss"] for record in newest]
    )
    assert "mine: 2 records of earlier settings are left out." in found.notes()
    events.clear()
    run_study([made()], [("mine", Mine())], n_folds=2, out=out, progress=events.append)
    assert events == []  # the first settings are still there


def test_a_failure_is_forgotten_when_the_mended_method_succeeds(tmp_path):
    with pytest.warns(UserWarning, match="2 of 2 units failed"):
        run_study([made()], [("mine", Mine(broken=True))], n_folds=2, out=tmp_path / "study")
    records = run_study([made()], [("mine", Mine())], n_folds=2, out=tmp_path / "study")
    assert (len(records), records.failures) == (2, [])
    with pytest.warns(UserWarning, match="2 of 2 units failed"):
        records = run_study(
            [made()], [("mine", Mine(broken=True))], n_folds=2, out=tmp_path / "study"
        )
    assert (len(records), len(records.failures)) == (2, 2)  # a later try counts


def test_other_values_of_the_data_are_other_units():
    unit = Unit("made", "mean", "paper", 0, 2, "plain", 0, {}, made().sha256)
    record, _ = run_study([made()], [Mean()], n_folds=2)
    assert Unit.of(record) == unit
    assert unit.key != Unit("made", "mean", "paper", 0, 2, "plain", 0, {}, made(30).sha256).key


def test_two_settings_of_one_class_need_two_names():
    with pytest.raises(
        ValueError,
        match="methods has 'KNeighborsClassifier' 2 times; records are told apart by name",
    ):
        run_study([made()], [KNeighborsClassifier(3), KNeighborsClassifier(4)], n_folds=2)


@pytest.mark.parametrize("name", ["", "half a \ud800"])
def test_names_that_no_file_could_hold_are_refused_before_any_work(name):
    with pytest.raises(
        ValueError,
        match=(
            r"methods has the name .*; records are told apart by name, give one of whole characters"
        ),
    ):
        run_study([made()], [(name, KNeighborsClassifier())], n_folds=2)
