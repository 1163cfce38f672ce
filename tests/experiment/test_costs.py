"""What a fold takes: medians of each data set and method, presets apart."""

import math
from statistics import median

import made_records
import made_studies
from skcamel.experiment import run_study
from skcamel.experiment.summary import costs
from skcamel.report.study_page import build_report
from study_methods import Mean, made


def test_medians_of_each_data_set_method_and_preset():
    records = made_studies.costly(
        [
            *made_records.study(["a", "b"], ["x"], n_folds=5),
            *made_records.study(["a"], ["x"], n_folds=5, preset="best"),
        ]
    )
    found = {(cost.dataset, cost.method): cost for cost in costs(records)}
    assert set(found) == {("a", "x[paper]"), ("b", "x[paper]"), ("a", "x[best]")}
    chosen = [
        record["fit_seconds"]
        for record in records
        if (record["dataset"], record["preset"]) == ("a", "best")
    ]
    assert found["a", "x[best]"].fit_seconds == median(chosen)


def test_what_no_record_tells_is_nan_and_devices_are_joined():
    first, second = made_records.study(["a"], ["x"], n_folds=2)
    (cost,) = costs([first | {"device": "cuda"}, second])
    assert cost.device == "cpu and cuda"
    assert math.isnan(cost.fit_seconds)


def test_a_peak_of_memory_that_the_system_cannot_tell_is_absent(monkeypatch, tmp_path):
    monkeypatch.setattr("skcamel.memory.forget_peak", lambda: False)
    records = run_study([made()], [Mean()], n_folds=2, out=tmp_path / "study")
    assert [record["peak_memory_bytes"] for record in records] == [None, None]
    assert math.isnan(costs(records)[0].peak_memory_bytes)
    build_report(records, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 0
