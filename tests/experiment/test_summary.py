"""From records to means: which outcome is shown, what the notes say, and what must not matter."""

import json
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.experiment import Records, RecordsError
from skcamel.experiment.paper import Metric, paper_cell
from skcamel.experiment.summary import AFTERWARDS, Figure, costs, nearest_criterion, summarise
from skcamel.metrics import NAMES
from skcamel.metrics.conventions import TITLES


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10), st.randoms())
def test_mean_and_std_over_folds_in_any_order(values, random):
    records = [
        record(fold=fold, coverage=value, n_folds=len(values)) for fold, value in enumerate(values)
    ]
    shuffled = random.sample(records, len(records))
    cell = summarise(shuffled).figures["yeast", "coverage", "camel"]
    assert cell == summarise(records).figures["yeast", "coverage", "camel"]
    assert cell.mean == pytest.approx(statistics.fmean(values))
    assert cell.std == pytest.approx(statistics.stdev(values), abs=1e-12)
    assert cell.folds == len(values)


def test_undefined_folds_are_left_out_and_one_fold_has_no_std():
    values = (0.25, math.nan, 0.75)
    found = summarise(
        [record(fold=fold, coverage=value, one_error=math.nan) for fold, value in enumerate(values)]
    ).figures
    assert found["yeast", "coverage", "camel"] == Figure(0.5, statistics.stdev([0.25, 0.75]), 2)
    assert math.isnan(found["yeast", "one_error", "camel"].mean)
    assert found["yeast", "one_error", "camel"].folds == 0
    assert math.isnan(summarise([record()]).figures["yeast", "coverage", "camel"].std)


def outcomes(**means):
    """A record whose outcome under each criterion is one number for all metrics."""
    return record(
        **{f"{metric}_by_{by}": means.get(by, 0.0) for metric in NAMES for by in NAMES},
        micro_f1=0.9,
    )


@pytest.mark.parametrize(
    ("selected_by", "expected"), [(None, 0.9), ("coverage", 0.1), ("micro_f1", 0.2), ("each", 0.2)]
)
def test_the_criterion_asked_for_is_shown(selected_by, expected):
    found = summarise([outcomes(coverage=0.1, micro_f1=0.2)], selected_by=selected_by)
    assert found.figures["yeast", "micro_f1", "camel"].mean == pytest.approx(expected)
    assert found.criteria["yeast", "camel"] == (selected_by or "average_precision")


def test_methods_without_outcomes_per_criterion_show_their_own():
    found = summarise([record(method="llsf"), record(method="br")], selected_by="coverage")
    assert found.criteria == {("yeast", "br"): "", ("yeast", "llsf"): "macro_f1"}
    assert any(
        "LLSF: hyper-parameters selected by Macro-averaging F1." in note for note in found.notes()
    )
    assert not any("BR" in note for note in found.notes()[1:2])


def test_each_metric_by_itself_is_what_preset_best_records():
    found = summarise([record(preset="best", criterion="each")])
    assert "CAMEL: hyper-parameters selected by each metric by itself." in found.notes()


def by_criterion(name, dataset="yeast", off=0.0):
    """The paper's own row under one criterion, shifted by `off` of its std; far away under the others."""
    cells = {metric: paper_cell(dataset, metric, "camel") for metric in NAMES}
    return {
        f"{metric}_by_{by}": cell.mean + (off if by == name else 5) * cell.std
        for metric, cell in cells.items()
        for by in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_nearest_is_the_criterion_with_the_papers_row(name):
    row = record(**by_criterion(name, off=0.3))
    assert nearest_criterion([row], "yeast", "camel") == name
    found = summarise([row], selected_by="nearest")
    assert found.criteria["yeast", "camel"] == name
    assert found.afterwards == {("yeast", "camel")}
    assert any(AFTERWARDS in note and TITLES[name] in note for note in found.notes())


def test_nearest_takes_one_criterion_for_the_whole_row_not_one_for_each_metric():
    """One criterion meets six metrics exactly and misses one by 14 std; another is 1 std off everywhere: its mean distance is smaller."""
    cells = {metric: paper_cell("yeast", metric, "camel") for metric in NAMES}
    far = by_criterion("coverage") | {
        f"{metric}_by_micro_f1": cell.mean + cell.std for metric, cell in cells.items()
    }
    far["coverage_by_coverage"] = cells["coverage"].mean + 14 * cells["coverage"].std
    assert nearest_criterion([record(**far)], "yeast", "camel") == "micro_f1"


def test_nearest_leaves_alone_what_the_paper_does_not_have():
    kept = {f"{metric}_by_{by}": 0.3 for metric in NAMES for by in NAMES}
    found = summarise(
        [record("mine", **kept), record("yeast", "svc", **kept)], selected_by="nearest"
    )
    assert found.afterwards == frozenset()
    assert found.figures["mine", "coverage", "camel"].mean == 0.5
    assert not any("afterwards" in note for note in found.notes())


def test_presets_of_one_method_stay_apart():
    records = [
        record(preset="paper", coverage=0.2),
        record(preset="best", coverage=0.1),
        record(method="br"),
    ]
    found = summarise(records)
    assert found.methods == ("camel[best]", "camel[paper]", "br")
    assert found.figures["yeast", "coverage", "camel[best]"].mean == 0.1
    assert summarise(records, preset="best").methods == ("camel",)


def test_an_unfinished_study_says_so():
    notes = summarise([record(fold=fold) for fold in range(7)]).notes()
    assert notes[0] == "Mean ± std over 10 plain folds, seed 0."
    assert "Folds finished so far: yeast CAMEL 7 of 10." in notes
    assert not any("so far" in note for note in summarise(study(["yeast"], ["camel"])).notes())


def test_order_of_data_sets_and_methods_is_the_papers():
    found = summarise(
        study(["mine", "arts", "yeast", "cal500"], ["svc", "mymethod", "jfsc", "camel"], n_folds=1)
    )
    assert found.datasets == ("cal500", "yeast", "arts", "mine")
    assert found.methods == ("camel", "jfsc", "svc", "mymethod")


def test_an_unknown_selection_is_refused():
    with pytest.raises(ValueError, match="selected_by"):
        summarise([record()], selected_by="accuracy")


def at(second, **settings):
    return {"settings": settings, "finished_at": f"2026-11-15T20:52:{second:02}.000000Z"}


def test_settings_without_a_time_are_not_averaged_and_none_is_preferred():
    twice = [record(), record() | {"settings": {"grid": "fine"}}]
    with pytest.raises(RecordsError, match="yeast, camel, preset paper under different settings"):
        summarise(twice)
    with pytest.raises(RecordsError, match="do not say which finished last"):
        summarise([record() | at(1, grid="fine"), record() | at(1)])
    assert (
        summarise([record(seed=0), record(seed=1)]).figures["yeast", "coverage", "camel"].folds == 2
    )


def test_the_settings_finished_last_are_shown_and_the_others_counted():
    old = [record("yeast", "br", fold=fold, coverage=0.2) for fold in range(3)]
    middle = [record("yeast", "br", fold=fold, coverage=0.4) | at(5, tol=1) for fold in range(3)]
    new = [
        record("yeast", "br", fold=fold, coverage=0.6) | at(5 + fold, tol=2) for fold in range(2)
    ]
    other = [record("scene", "br", fold=fold, coverage=0.8) for fold in range(3)]
    for records in ([*old, *middle, *new, *other], [*new, *other, *middle, *old]):
        found = summarise(records)
        assert found.figures["yeast", "coverage", "br"] == (pytest.approx(0.6), 0.0, 2)
        assert found.figures["scene", "coverage", "br"].mean == pytest.approx(0.8)
        assert "BR: 6 records of earlier settings are left out." in found.notes()
        assert "earlier" not in str(found.notes(["scene"]))


def test_settings_are_not_mixed_over_seeds_and_folds():
    old = [record("yeast", "br", seed=seed, coverage=0.2) | at(1) for seed in range(3)]
    found = summarise([*old, record("yeast", "br", seed=9, n_folds=3, coverage=0.6) | at(2, tol=2)])
    assert found.figures["yeast", "coverage", "br"].mean == 0.6
    assert found.left_out == {("yeast", "br"): 3}


def test_presets_and_methods_do_not_displace_each_other():
    records = [
        record(preset="paper") | at(1),
        record(preset="best") | at(2, grid="best"),
        record(method="br") | at(3, tol=1),
    ]
    assert summarise(records).left_out == {}


def test_costs_are_those_of_the_newest_settings():
    records = [record() | {"fit_seconds": 9.0}, record() | at(2, tol=1) | {"fit_seconds": 1.0}]
    assert [cost.fit_seconds for cost in costs(records)] == [1.0]


FURTHER = {
    "subset_accuracy": Metric("Subset accuracy", "largest"),
    "log_loss": Metric("Log loss", "smallest"),
}


def with_more(**more):
    return record("mine", fold=0, n_folds=2) | {"more": more}


def test_further_metrics_have_means_where_they_are_recorded_and_described():
    rows = [
        with_more(subset_accuracy=0.2, unknown=1.0),
        with_more(subset_accuracy=0.4) | {"fold": 1},
        record("other"),
    ]
    found = summarise(rows, measures=FURTHER)
    assert found.figures["mine", "subset_accuracy", "camel"] == pytest.approx(
        (0.3, 0.1 * 2**0.5, 2)
    )
    assert ("other", "subset_accuracy", "camel") not in found.figures
    assert list(found.measures) == [
        *NAMES,
        "subset_accuracy",
    ]  # nothing holds log_loss, nothing describes unknown
    assert summarise(rows).measures.keys() == set(NAMES)


def test_a_further_metric_may_be_undefined_in_a_fold():
    found = summarise(
        [with_more(log_loss=None), with_more(log_loss=2.5) | {"fold": 1}], measures=FURTHER
    )
    assert found.figures["mine", "log_loss", "camel"][::2] == (2.5, 1)


@pytest.mark.parametrize("criterion", ["average_precision", "each"])
def test_a_further_metric_is_undefined_under_a_criterion_that_it_was_not_computed_for(criterion):
    row = (
        with_more(subset_accuracy=0.2)
        | {"criterion": criterion}
        | {f"{metric}_by_{by}": 0.5 for metric in NAMES for by in NAMES}
    )
    shown = {
        by: (
            summarise([row], selected_by=by, measures=FURTHER)
            .figures["mine", "subset_accuracy", "camel"]
            .mean
        )
        for by in NAMES
    }
    assert {by for by, mean in shown.items() if mean == 0.2} == {"average_precision"}
    assert (
        summarise([row], measures=FURTHER).figures["mine", "subset_accuracy", "camel"].mean == 0.2
    )
    single = record("mine", "br") | {
        "more": {"subset_accuracy": 0.2}
    }  # one outcome serves every criterion
    assert (
        summarise([single], selected_by="coverage", measures=FURTHER)
        .figures["mine", "subset_accuracy", "br"]
        .mean
        == 0.2
    )


def test_metrics_to_show_are_chosen_and_other_tie_rules_wait_to_be_asked_for():
    tied = {"one_error_ties_by_index": Metric("One-error, ties by label order", "smallest")}
    found = summarise([with_more(one_error_ties_by_index=0.1)], measures=tied)
    assert list(found.measures) == list(NAMES)
    assert list(found.showing(["one_error_ties_by_index", "coverage"]).measures) == [
        "one_error_ties_by_index",
        "coverage",
    ]
    with pytest.raises(
        ValueError,
        match=r"no metric 'accuracy'; there are one_error, .*, one_error_ties_by_index\.",
    ):
        found.showing(["accuracy"])


def test_a_folder_describes_its_further_metrics(tmp_path):
    (tmp_path / "records.jsonl").write_text(json.dumps(with_more(log_loss=1.5)) + "\n")
    described = {"log_loss": {"title": "Log loss", "best": "smallest", "function": None}}
    (tmp_path / "study.json").write_text(json.dumps({"runs": [], "metrics": described}))
    assert summarise(Records(tmp_path)).measures["log_loss"].heading == "Log loss ↓"
    described["log_loss"]["best"] = "least"
    (tmp_path / "study.json").write_text(json.dumps({"runs": [], "metrics": described}))
    with pytest.raises(
        RecordsError, match=r"metrics.log_loss.best is 'least', not .*largest.* smallest"
    ):
        summarise(Records(tmp_path))
