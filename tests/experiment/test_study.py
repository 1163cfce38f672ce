"""run_study: what is computed, what is resumed, and what is refused."""

import json
import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from skcamel import CamelClassifierCV
from skcamel.baselines import BinaryRelevance
from skcamel.data import Dataset
from skcamel.experiment import RecordsError, get_method, records, run_study
from skcamel.experiment.study import RecordsOutOfDate, UnitsFailed
from skcamel.metrics import NAMES, evaluate
from study_methods import FailsOnce, Mean, comparable, fits, made

KNN = ("knn", KNeighborsClassifier())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A finished study that tests read."""
    folder = tmp_path_factory.mktemp("study")
    methods = ["camel", "camel-per-metric", "br", KNN]
    auc = "auc=sklearn.metrics:roc_auc_score:largest"
    return run_study([made(60)], methods, preset="best", n_folds=2, out=folder, metrics=[auc])


def of(study, method):
    return [record for record in study if record["method"] == method]


def first_fold():
    """Training and test rows of the first fold of the shared study."""
    return next(KFold(2, shuffle=True, random_state=0).split(np.zeros(60)))


def test_a_record_is_a_flat_mapping_of_what_was_found(study):
    names = ["br", "camel", "camel-per-metric", "knn"]
    assert [(one["method"], one["fold"]) for one in study] == [*product(names, (0, 1))]
    record = study[0]
    assert {name: type(record[name]) for name in NAMES} == dict.fromkeys(NAMES, float)
    assert 0 <= record["auc"] <= 1
    assert record["metrics"] == {"auc": "largest"}
    assert (record["n_train"], record["n_test"], record["n_features"]) == (30, 30, 4)
    assert list(study.to_frame()["method"].unique()) == names


def test_a_unit_is_the_public_estimator_on_the_training_rows(study):
    data = made(60)
    train, test = first_fold()
    model = CamelClassifierCV.from_preset("best").fit(data.X[train], data.Y[train])
    X, Y = data.X[test], data.Y[test]
    expected = evaluate(Y, model.decision_function(X), model.predict(X))
    record = of(study, "camel")[0]
    assert {name: record[name] for name in NAMES} == pytest.approx(expected)
    assert record["criterion"] == "average_precision"


def test_a_model_per_metric_is_selected_and_tuned_for_it(study):
    data = made(60)
    train, test = first_fold()
    record = of(study, "camel-per-metric")[0]
    for metric in ("coverage", "macro_f1"):
        threshold = "macro_f1" if metric == "macro_f1" else "micro_f1"
        model = CamelClassifierCV.from_preset("best", scoring=metric, threshold=threshold)
        model.fit(data.X[train], data.Y[train])
        X, Y = data.X[test], data.Y[test]
        found = evaluate(Y, model.decision_function(X), model.predict(X))
        assert record[metric] == pytest.approx(found[metric])
        assert record[f"micro_f1_by_{metric}"] == pytest.approx(found["micro_f1"])


def test_the_same_call_computes_nothing(study):
    methods = ["camel", "camel-per-metric", "br", KNN]
    before = (study.folder / "records.jsonl").read_bytes()
    with warnings.catch_warnings(action="error"):
        again = run_study([made(60)], methods, preset="best", n_folds=2, out=study.folder)
    assert (study.folder / "records.jsonl").read_bytes() == before
    assert comparable(again) == comparable(study)


def test_an_unfinished_study_is_resumed_and_what_failed_is_tried_again(tmp_path, log):
    flag = tmp_path / "FAIL"
    flag.touch()
    methods = [("fails", FailsOnce(str(flag))), ("mean", Mean())]
    events = []
    with pytest.warns(UnitsFailed, match="1 of 4 units failed, the first with RuntimeError"):
        first = run_study([made()], methods, n_folds=2, out=tmp_path, progress=events.append)
    assert [(event.finished, event.total) for event in events] == [(k, 4) for k in range(1, 5)]
    assert sum("error" in event.record for event in events) == len(first.failures) == 1
    assert "Traceback" in first.failures[0]["traceback"]
    flag.unlink()
    log.unlink()
    whole = run_study([made()], methods, n_folds=2, out=tmp_path)
    assert len(fits(log)) == 1
    assert (len(whole), whole.failures) == (4, [])


def test_new_settings_or_other_data_under_the_same_name_supersede_earlier_records(tmp_path):
    run_study([made()], [("mean", Mean())], n_folds=2, out=tmp_path)
    for data, name in ((made(), "other"), (made(30), "other")):
        with pytest.warns(RecordsOutOfDate, match="mean: 2 records of another version"):
            found = run_study([data], [("mean", Mean(name))], n_folds=2, out=tmp_path)
        assert [one["settings"]["params"]["name"] for one in found] == ["other", "other"]
        assert {record["n_train"] for record in found} == {data.n // 2}


def test_a_raised_version_computes_anew_and_tables_say_so(tmp_path, monkeypatch, log):
    run_study([made()], ["br"], n_folds=2, out=tmp_path)
    monkeypatch.setitem(records.VERSIONS, "br", 77)
    with pytest.warns(RecordsOutOfDate, match="br: 2 records of another version"):
        found = run_study([made()], ["br"], n_folds=2, out=tmp_path)
    assert {record["version"] for record in found} == {77}
    mean = Mean()
    mean.study_version = 3
    assert get_method(("mean", mean)).version("paper") == 3


def test_parameters_that_the_library_gained_or_lost_leave_records_valid(tmp_path):
    run_study([made()], ["br"], n_folds=2, out=tmp_path)
    path = tmp_path / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["settings"]["params"]["tol"]  # came later, with a default
        line["settings"]["params"]["gone"] = 1  # had its default
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with warnings.catch_warnings(action="error"):
        run_study([made()], ["br"], n_folds=2, out=tmp_path)
    for line in lines:
        line["settings"]["changed"] = ["gone"]  # had another value than its default
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(RecordsOutOfDate):
        run_study([made()], ["br"], n_folds=2, out=tmp_path)


def test_one_run_at_a_time_works_in_a_folder(tmp_path):
    with records.StudyFolder(tmp_path), pytest.raises(RecordsError, match="Another study writes"):
        run_study([made()], ["br"], n_folds=2, out=tmp_path)


class SeesGroups(Mean):
    def fit(self, X, Y, groups=None):
        self.seen = groups
        return super().fit(X, Y)

    @property
    def best_params_(self):
        return {"groups": sorted(set(self.seen.tolist()))}


class NeedsGroups(BinaryRelevance):
    def fit(self, X, y, sample_weight=None, groups=None):
        assert groups is not None
        return super().fit(X, y, sample_weight, groups)


class SeesFolds(Mean):
    def __init__(self, cv=3):
        super().__init__()
        self.cv = cv

    def get_params(self, deep=True):
        return {"cv": self.cv}

    def set_params(self, **params):
        self.cv = params.get("cv", self.cv)
        return self

    @property
    def best_params_(self):
        return {"test": [test.tolist() for _, test in self.cv]}


def test_groups_stay_whole_in_outer_and_inner_folds():
    data, groups = made(), np.repeat(np.arange(8), 3)
    piped = make_pipeline(FunctionTransformer(), NeedsGroups())
    methods = [("groups", SeesGroups()), ("folds", SeesFolds()), ("piped", piped), "camel"]
    found = run_study([data], methods, n_folds=2, groups=groups)
    for record in of(found, "groups"):
        assert record["folds"] == "grouped"
        assert len(record["params"]["groups"]) == 4
    assert len(of(found, "piped")) == 2
    for record in of(found, "folds"):
        inner = record["params"]["test"]
        assert all(len(test) % 3 == 0 for test in inner)
        assert all(row // 3 * 3 in test for test in inner for row in test)
    train = np.isin(groups, of(found, "groups")[0]["params"]["groups"])
    model = CamelClassifierCV.from_preset("paper")
    model.fit(data.X[train], data.Y[train], groups=groups[train])
    chosen = of(found, "camel")[0]["params"]
    assert all(chosen[name] == model.best_params_[name] for name in ("alpha", "lambda2"))
    Y = data.Y.astype(float)
    Y[3, 0] = np.nan  # then folds alone can leave groups whole
    some = Dataset(data.X, Y, name="some")
    assert len(run_study([some], [("cv", CamelClassifierCV(cv=2))], n_folds=2, groups=groups)) == 2


def test_what_estimators_of_one_label_find_is_found_for_each_label():
    with warnings.catch_warnings(action="error"):
        found = run_study([made(40)], [("svc", SVC())], n_folds=2)
    assert "learns a single label" in found[0]["warnings"][0]
    data = made(40)
    one = Dataset(data.X, data.Y[:, :1], name="one")
    assert len(run_study([one], [("svc", SVC()), "br"], n_folds=2)) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": []}, "methods is empty"),
        ({"methods": ["br", "br"]}, "methods has 'br' 2 times"),
        ({"methods": ["nothing"]}, "method='nothing'"),
        ({"methods": [("svc", SVC)]}, "pass an instance"),
        ({"datasets": [made(), made()]}, "datasets has 'made' 2 times"),
        ({"datasets": [Dataset([[1.0]], [[1]])]}, "needs a name"),
        ({"preset": "slow"}, "preset"),
        ({"n_folds": 1}, "n_folds"),
        ({"n_folds": 25}, "made has 24 rows, too few for n_folds=25"),
        ({"n_folds": 9, "groups": np.arange(24) // 3}, "made has 8 groups"),
        ({"groups": "ward"}, "made has no column 'ward'"),
        ({"groups": np.arange(3)}, "groups of made has shape"),
        ({"folds": "odd"}, "folds"),
        ({"folds": "given"}, "test part of fold 1 of made is missing"),
        ({"folds": [([0, 1], [1, 2])]}, "Row 1 is in train and in test of fold 1 of made"),
        ({"seed": -1}, "seed must be an integer"),
        ({"time_limit": 0}, "time_limit must be a number > 0"),
        ({"metrics": ["accuracy"]}, "write name=package.module:function:largest"),
        ({"metrics": [("coverage", max, "largest")]}, "with a new name"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(change, message, tmp_path):
    call = {"datasets": [made()], "methods": ["br"], "n_folds": 2} | change
    with pytest.raises((ValueError, TypeError), match=message):
        run_study(call.pop("datasets"), call.pop("methods"), out=tmp_path / "study", **call)
    assert not (tmp_path / "study").exists()
