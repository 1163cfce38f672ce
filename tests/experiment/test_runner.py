"""run_study: the same numbers however it runs, exactly the missing units, failures noted, wrong use told at once."""

import json
import math
import os
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier

import study_methods
from skcamel.baselines import BinaryRelevance
from skcamel.data import (
    Dataset,
    DatasetNotFoundError,
    MultilabelStratifiedKFold,
    dataset_facts,
    write_dataset,
)
from skcamel.experiment import RecordsError, run_study
from skcamel.experiment import folds as folds_module
from skcamel.metrics import NAMES, RANKING, evaluate
from study_methods import Broken, FailsOnce, Mean, comparable, made


@pytest.mark.parametrize("folds", ["plain", "stratified"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_study_of_labels_that_are_known_in_part(tmp_path, folds):
    data = made(60)
    hidden = np.random.default_rng(0).random(data.Y.shape) < 0.25
    partial = Dataset(data.X, np.where(hidden, np.nan, data.Y), name="partial")
    methods = ["br", "ecc", "rakel", "llsf", "jfsc"]
    records = run_study([partial, data], methods, preset="quick", out=tmp_path, folds=folds)
    assert len(records) == 2 * len(methods) * 3
    for record in records:
        assert record.get("known") == (
            pytest.approx(1 - hidden.mean()) if record["dataset"] == "partial" else None
        )
        assert all(math.isfinite(record[name]) for name in NAMES)
    cards = json.loads((tmp_path / "cards.json").read_text())
    assert cards["partial"]["known"] == pytest.approx(1 - hidden.mean())
    splits = list(folds_module.splits(partial.Y, folds, 3, 0))
    for record in (
        record for record in records if (record["dataset"], record["method"]) == ("partial", "br")
    ):
        train, test = splits[record["fold"]]
        outputs = BinaryRelevance().fit(partial.X[train], partial.Y[train]).outputs(partial.X[test])
        expected = evaluate(partial.Y[test], outputs.scores, outputs.decisions)
        assert {name: record[name] for name in RANKING} == {
            name: expected[name] for name in RANKING
        }


def test_a_record_holds_what_the_contract_names(tmp_path):
    records = run_study(
        [made()],
        ["camel", ("trees", ExtraTreesClassifier(5))],
        preset="quick",
        out=tmp_path / "study",
        seed=3,
    )
    assert [(r["dataset"], r["method"], r["fold"]) for r in records] == [
        ("made", m, f) for m in ("camel", "trees") for f in range(3)
    ]
    camel, trees = records[0], records[3]
    assert {camel["preset"], camel["seed"], camel["n_folds"], camel["folds"]} == {
        "quick",
        3,
        "plain",
    }
    assert (camel["criterion"], trees["criterion"]) == ("average_precision", "")
    assert not any("_by_" in key for record in (camel, trees) for key in record)
    each, *_ = run_study([made()], ["camel"], preset="quick", per_metric=True, seed=3)
    assert each["criterion"] == "each"
    assert sum(isinstance(value, float) for key, value in each.items() if "_by_" in key) == 49
    assert all(camel[name] == each[f"{name}_by_average_precision"] for name in NAMES)
    assert camel["params"] == each["params_by_average_precision"]
    assert (trees["n_train"], trees["n_test"], trees["n_features"], trees["n_labels"]) == (
        16,
        8,
        4,
        3,
    )
    assert len(trees["data_sha256"]) == 64
    assert trees["version_numpy"] == np.__version__
    assert trees["unit_seconds"] >= trees["fit_seconds"] + trees["predict_seconds"] > 0
    assert trees["peak_memory_bytes"] is None or trees["peak_memory_bytes"] >= 0
    request = json.loads((tmp_path / "study" / "study.json").read_text())["runs"][0]
    assert (request["datasets"], request["preset"], request["seed"], request["n_folds"]) == (
        ["made"],
        "quick",
        3,
        3,
    )
    assert [method["name"] for method in request["methods"]] == ["camel", "trees"]
    card = json.loads((tmp_path / "study" / "cards.json").read_text())["made"]
    assert (card["n"], card["d"], card["q"]) == (24, 4, 3)


def test_folds_are_those_of_the_seed_and_stratified_on_demand(log):
    data = made()
    run_study([data], [Mean()], n_folds=3, folds="stratified", seed=5)
    splitter = MultilabelStratifiedKFold(3, shuffle=True, random_state=5)
    wanted = [
        f"mean {data.Y[train].sum()} {data.X[train].sum():.9f}"
        for train, _ in splitter.split(data.X, data.Y)
    ]
    assert study_methods.fits(log) == wanted


def test_numbers_do_not_depend_on_the_number_of_workers():
    data = [made(), Dataset(sparse.csr_array(made(30).X), made(30).Y, name="sparse")]
    methods = ["camel", "ecc", ("trees", ExtraTreesClassifier(3))]
    alone, together = (run_study(data, methods, preset="quick", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert comparable(alone) == comparable(together)
    assert len(alone) == 18


def test_a_second_run_does_exactly_the_missing_units(tmp_path, log):
    first = run_study([made()], [Mean("a")], n_folds=3, out=tmp_path / "study")
    path = tmp_path / "study" / "records.jsonl"
    gone, *kept = path.read_text().splitlines(keepends=True)
    lost = json.loads(gone)["fold"]
    path.write_text("".join(kept))
    before = len(study_methods.fits(log))
    events = []
    second = run_study(
        [made()], [Mean("a"), Mean("b")], n_folds=3, out=tmp_path / "study", progress=events.append
    )
    assert len(study_methods.fits(log)) - before == 4
    assert [(e.unit.method, e.unit.fold, e.state) for e in events] == [
        ("a", lost, "done"),
        *(("b", fold, "done") for fold in range(3)),
    ]
    assert (events[-1].finished, events[-1].total) == (6, 6)
    assert comparable(first) == comparable(record for record in second if record["method"] == "a")
    run_study([made()], [Mean("a"), Mean("b")], n_folds=3, out=tmp_path / "study")
    assert len(study_methods.fits(log)) - before == 4
    assert len(json.loads((tmp_path / "study" / "study.json").read_text())["runs"]) == 2


def test_other_settings_are_other_units(tmp_path, log):
    for settings in ({"grid": "coarse"}, {"grid": "fine"}, {"grid": "fine"}):
        records = run_study([made()], [Mean(settings=settings)], n_folds=2, out=tmp_path / "study")
    assert len(study_methods.fits(log)) == len(records) == 4


def test_a_unit_that_fails_is_noted_and_tried_again(tmp_path):
    flag = tmp_path / "fail"
    flag.touch()
    methods, events = [FailsOnce(str(flag)), Mean()], []
    with pytest.warns(
        UserWarning,
        match=(
            "2 of 6 units failed, the first with RuntimeError: no luck\ntoday; see Records.failures"
        ),
    ):
        records = run_study(
            [made()], methods, n_folds=3, out=tmp_path / "study", progress=events.append
        )
    assert [event.state for event in events].count("failed") == 2 == len(records.failures)
    assert len(records) == 4
    failure = records.failures[0]
    assert (failure["dataset"], failure["method"], failure["error"]) == (
        "made",
        "fails",
        "RuntimeError: no luck\ntoday",
    )
    assert "in fit" in failure["traceback"]
    flag.unlink()
    records = run_study([made()], methods, n_folds=3, out=tmp_path / "study")
    assert (len(records), records.failures) == (6, [])


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}], ids=str)
def test_a_method_that_exits_fails_and_the_others_go_on(how):
    class Exits(Mean):
        def fit(self, X, Y, *, seed):
            sys.exit("enough")

    events = []
    with pytest.warns(UserWarning, match="2 of 4 units failed"):
        records = run_study(
            [made()], [Exits("exits"), Mean()], n_folds=2, progress=events.append, **how
        )
    assert [record["method"] for record in records] == ["mean", "mean"]
    assert sorted(event.state for event in events) == ["done", "done", "failed", "failed"]
    assert {failure["error"] for failure in records.failures} == {"SystemExit: enough"}


@pytest.mark.filterwarnings("ignore:.* units failed:UserWarning")
def test_every_unit_is_told_once(capsys):
    events = []
    run_study([made()], [Mean(), Broken()], n_folds=3, progress=events.append, n_jobs=2)
    assert [(event.finished, event.total) for event in events] == [(k, 6) for k in range(1, 7)]
    assert sorted(event.state for event in events) == ["done"] * 3 + ["failed"] * 3
    assert capsys.readouterr() == ("", "")


def test_integers_of_numpy_are_integers(tmp_path):
    run_study([made()], [Mean()], n_folds=2, seed=3, out=tmp_path)
    assert (
        len(run_study([made()], [Mean()], n_folds=np.int64(2), seed=np.int64(3), out=tmp_path)) == 2
    )


def test_warnings_of_a_method_are_kept_in_its_record():
    class Warns(Mean):
        def fit(self, X, Y, *, seed):
            np.log(np.zeros(2))
            return super().fit(X, Y, seed=seed)

    records = run_study([made()], [Warns()], n_folds=2)
    assert [record["warnings"] for record in records] == [
        ["RuntimeWarning: divide by zero encountered in log"]
    ] * 2


def test_an_undefined_metric_is_nan(tmp_path):
    data = Dataset(made().X, made().Y[:, :1], name="one label")
    records = run_study(
        [data], ["br", ("dummy", DummyClassifier(strategy="prior"))], n_folds=2, out=tmp_path
    )
    assert all(
        math.isnan(record["ranking_loss"]) and record["hamming_loss"] <= 1 for record in records
    )
    assert b"NaN" not in (tmp_path / "records.jsonl").read_bytes()


def test_a_data_set_comes_by_name_from_a_file_or_from_python(tmp_path, monkeypatch):
    write_dataset(made(), tmp_path / "made.arff")
    by_file = run_study([str(tmp_path / "made.arff")], [Mean()], n_folds=2)
    by_path = run_study(tmp_path / "made.arff", [Mean()], n_folds=2, n_jobs=2)
    from_python = run_study(made(), [Mean()], n_folds=2)
    assert comparable(by_file) == comparable(by_path) == comparable(from_python)
    monkeypatch.setattr(folds_module, "load_dataset", lambda name: made(name=name))
    assert comparable(run_study(["made"], [Mean()], n_folds=2)) == comparable(from_python)


def test_a_folder_keeps_one_version_of_a_data_set(tmp_path):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    with pytest.raises(
        RecordsError,
        match="holds records of made with other values than those given now; choose another folder",
    ):
        run_study([made(30)], [Mean()], n_folds=2, out=tmp_path)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"datasets": []}, ValueError, "datasets is empty; name at least one"),
        ({"datasets": [made(), made()]}, ValueError, "datasets has 'made' 2 times"),
        ({"datasets": [Dataset(made().X, made().Y)]}, ValueError, r"needs a name, .*name='mine'"),
        (
            {"datasets": [3]},
            TypeError,
            "a catalogue name, a file or a skcamel.data.Dataset, got int",
        ),
        ({"datasets": ["nothing.arff"]}, FileNotFoundError, "nothing.arff: there is no such file"),
        ({"datasets": ["emotion"]}, ValueError, "emotion"),
        ({"methods": []}, ValueError, "methods is empty"),
        ({"methods": [Mean(), Mean()]}, ValueError, "methods has 'mean' 2 times"),
        (
            {"methods": ["tree"]},
            ValueError,
            "method='tree' is not known; choose one of 'camel', 'br'",
        ),
        ({"preset": "fast"}, ValueError, "preset='fast' is not known"),
        ({"folds": "even"}, ValueError, "folds='even' is not known"),
        ({"n_folds": 1}, ValueError, "n_folds must be an integer >= 2, got 1"),
        ({"n_folds": 25}, ValueError, "made has 24 rows, too few for n_folds=25"),
        ({"seed": None}, ValueError, "seed must be an integer from 0 to 4294967295, got None"),
        ({"seed": -1}, ValueError, "seed must be an integer from 0 to 4294967295, got -1"),
        ({"seed": 0.5}, ValueError, "seed must be an integer from 0 to 4294967295, got 0.5"),
        ({"progress": "lines"}, TypeError, "progress must be a function of an Event, got 'lines'"),
        ({"backend": "threading"}, TypeError, "no longer takes backend: set it around the call"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_use_is_told_before_any_work(change, error, message, log):
    with pytest.raises(error, match=message):
        run_study(**{"datasets": [made()], "methods": [Mean()], "n_folds": 2} | change)
    assert study_methods.fits(log) == []


def test_a_set_that_is_not_here_is_told_before_any_work(monkeypatch, tmp_path):
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path))
    with pytest.raises(DatasetNotFoundError, match="skcamel datasets fetch emotions"):
        run_study([made(), "emotions"], [Mean()])


def test_nothing_is_left_behind_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(run_study([made()], [Mean()], n_folds=2)) == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.data
def test_a_benchmark_set_by_name_goes_to_each_worker():
    alone, together = (
        run_study(["emotions", "image"], [Mean()], n_folds=3, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert comparable(alone) == comparable(together)
    assert {record["data_sha256"] for record in together} == {
        dataset_facts(name).digest for name in ("emotions", "image")
    }


def test_a_device_that_is_not_there_is_refused_before_any_unit(tmp_path):
    with pytest.raises((ImportError, ValueError), match=r"torch|CUDA"):
        run_study([made()], ["camel"], device="cuda:99", out=tmp_path / "study")
    assert not list((tmp_path / "study").glob("*/*"))


class MuteError(Exception):
    def __str__(self):
        raise SystemExit(3)


class Mute(Mean):
    def fit(self, X, Y, *, seed):
        raise MuteError


class Forks(Mean):
    def fit(self, X, Y, *, seed):
        if os.fork() == 0:
            raise SystemExit(0)
        return super().fit(X, Y, seed=seed)


@pytest.mark.filterwarnings("ignore:.* units failed:UserWarning")
def test_an_error_whose_text_ends_the_program_fails_its_unit_alone():
    records = run_study([made()], [Mute("mute"), Mean("good")], n_folds=2)
    assert [record["method"] for record in records] == ["good"] * 2
    assert "cannot be shown" in records.failures[0]["error"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_a_method_forks_does_not_go_on_with_the_study(tmp_path):
    events = []
    records = run_study([made()], [Forks("forks")], n_folds=2, out=tmp_path, progress=events.append)
    assert (len(records), records.failures, len(events)) == (2, [], 2)
