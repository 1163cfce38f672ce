"""Means over folds, what stands under a table, and how figures are printed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_records
import made_studies
from skcamel.experiment import Records, RecordsError, costs, records, summarise
from skcamel.experiment.summary import rounded, thousandths, title_of
from skcamel.metrics import NAMES


def test_mean_and_std_are_over_the_folds_that_define_a_metric():
    values = [0.25, math.nan, 0.75]
    rows = [made_records.record(fold=k, coverage=value) for k, value in enumerate(values)]
    figure = summarise(rows).figures["yeast", "coverage", "camel"]
    assert figure == (0.5, pytest.approx(np.std([0.25, 0.75], ddof=1)), 2)
    nothing = summarise([made_records.record(coverage=math.nan)])
    assert nothing.figures["yeast", "coverage", "camel"].folds == 0


def test_methods_of_several_presets_stand_apart_in_the_papers_order():
    rows = made_records.study(["yeast", "cal500"], ["jfsc", "camel", "knn"], n_folds=2)
    rows += made_records.study(["yeast"], ["camel"], n_folds=2, preset="best")
    summary = summarise(rows)
    assert summary.methods == ("camel[best]", "camel[paper]", "jfsc", "knn")
    assert summary.datasets == ("cal500", "yeast")
    assert summarise(rows, preset="best").methods == ("camel",)
    assert summarise(rows, methods=["jfsc", "knn"]).methods == ("jfsc", "knn")
    assert title_of("camel[best]") == "CAMEL (best)"


def test_notes_say_folds_ties_selection_and_what_is_missing():
    rows = made_records.study(["yeast"], ["camel", "br"], n_folds=3)[:-1]
    assert summarise(rows).notes() == [
        "Mean ± std over 3 plain folds, seed 0.",
        "Ranking metrics: a tie counts as an error.",
        "CAMEL: hyper-parameters selected by Average precision.",
        "Folds finished so far: yeast BR 2 of 3.",
    ]


def test_one_tie_rule_holds_for_a_table_and_is_named():
    rows = made_records.study(["yeast"], ["rakel", "br"], n_folds=2)
    for row in rows[:2]:
        row["coverage_ties_by_index"] = 0.125
    summary = summarise(rows, ties="index")
    assert summary.figures["yeast", "coverage", "rakel"].mean == 0.125
    assert "ranked by their index" in summary.remarks[0]
    with pytest.raises(ValueError, match="ties must be one of worst, index"):
        summarise(rows, ties="random")


def test_records_that_are_out_of_date_are_counted(tmp_path, monkeypatch):
    old = [made_records.record(method="br", settings={"a": 1})]
    new = [made_records.record(method="br", settings={"a": 2}, version=2)]
    found = Records(made_studies.write(tmp_path, [*old, *new]))
    assert "BR: 1 record of earlier settings, left out." in summarise(found).remarks
    monkeypatch.setitem(records.VERSIONS, "br", 3)
    assert "BR: 1 record of an earlier version" in summarise(found).remarks[1]


def test_metrics_beside_the_seven_are_shown_where_records_have_them():
    metrics = {"my_area": "largest"}
    rows = [made_records.record(fold=fold, my_area=0.5, metrics=metrics) for fold in range(2)]
    assert [*summarise(rows).measures] == [*NAMES, "my_area"]
    assert summarise(rows, metrics=["my_area"]).measures["my_area"].heading == "my area ↑"
    with pytest.raises(ValueError, match="no metric 'gain'"):
        summarise(rows, metrics=["gain"])


def test_a_mean_over_different_folds_is_refused():
    rows = [made_records.record(n_folds=2), made_records.record(n_folds=3)]
    with pytest.raises(RecordsError, match="fold 0 more than once"):
        summarise(rows)


def test_costs_are_medians_and_name_the_device():
    rows = [made_records.record(fold=k, fit_seconds=s) for k, s in enumerate([1.0, 9.0, 2.0])]
    (cost,) = costs([*rows[:2], rows[2] | {"device": "cuda"}])
    assert (cost.fit_seconds, cost.device) == (2.0, "cpu and cuda")
    assert math.isnan(cost.peak_memory_bytes)


@given(st.floats(-2, 2))
def test_two_figures_are_equal_where_they_print_alike(value):
    assert rounded(value) == rounded(thousandths(value) / 1000)
    assert not rounded(value).startswith("-0.000")
