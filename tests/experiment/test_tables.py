"""Means over folds, the paper's figures beside them, and tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_records
import made_studies
from skcamel import experiment
from skcamel.experiment import RecordsError, records, summarise
from skcamel.experiment import tables as made_tables
from skcamel.experiment.published import PAPER_METHODS, best_printed, paper_figures, printed
from skcamel.experiment.summary import LARGE, REGULAR, rounded, thousandths, title_of
from skcamel.experiment.tables import Cell, Table, TableSection
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


def test_records_that_are_out_of_date_are_counted(monkeypatch):
    found = [made_records.record(method="br", version=2)]
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
    (cost,) = experiment.costs([*rows[:2], rows[2] | {"device": "cuda"}])
    assert (cost.fit_seconds, cost.device) == (2.0, "cpu and cuda")
    assert math.isnan(cost.peak_memory_bytes)


@given(st.floats(-2, 2))
def test_two_figures_are_equal_where_they_print_alike(value):
    assert rounded(value) == rounded(thousandths(value) / 1000)
    assert not rounded(value).startswith("-0.000")


# Tables


@pytest.fixture(scope="module")
def summary():
    datasets = ["yeast", "emotions", "arts", "mine"]
    return summarise(made_records.study(datasets, ["camel", "br"], n_folds=3))


def rows_of(markdown):
    lines = [line.strip("|").split("|") for line in markdown.splitlines() if line[:2] == "| "]
    return [[cell.strip() for cell in line] for line in lines]


def test_results_stand_in_the_papers_tables(summary):
    tables = experiment.result_tables(summary)
    heads = {name: table.head for name, table in tables.items()}
    assert heads == {"2": ["emotions", "yeast"], "3": ["arts"], "other": ["mine"]}
    rows = rows_of(experiment.write_tables([tables["2"]]))
    figure = summary.figures["yeast", "one_error", "camel"]
    best = "camel" in made_tables.best_methods(summary, "yeast", "one_error")
    text = f"{figure.mean:.3f}±{figure.std:.3f}"
    assert rows[2] == ["CAMEL", rows[2][1], f"**{text}**" if best else text]


def test_printed_figures_stand_under_ours(summary):
    table = experiment.result_tables(summary, with_paper=True)["2"]
    names = [name for name, _ in table.sections[0].rows]
    assert names == ["CAMEL", "· paper", "· Δ / std", "BR", "· paper", "· Δ / std"]
    assert table.sections[0].rows[1][1][1].text == "0.218±0.027"
    assert "Δ: ours less the printed figure, in its std; + is better." in table.notes


def test_best_is_judged_at_three_decimals():
    rows = [made_records.record(method=name, coverage=value) for name, value in
            (("a", 0.2501), ("b", 0.2499), ("c", 0.3))]  # fmt: skip
    assert made_tables.best_methods(summarise(rows), "yeast", "coverage") == ["a", "b"]
    assert made_tables.best_methods(summarise(rows[:1]), "yeast", "coverage") == []


def test_markdown_is_escaped_and_on_one_line():
    table = Table("t", "x", ["a|b"], [TableSection("", [("<i>\n", [Cell("*")])])])
    rows = rows_of(experiment.write_tables([table]).replace(r"\|", "/"))
    assert rows == [["x", "a/b"], [r"\<i\>\\n", r"\*"]]


def test_tests_are_of_the_first_method_against_the_others():
    rows = made_records.study(made_studies.SIXTEEN, ["camel", "br", "ecc"], n_folds=2)
    ranks, friedman, wilcoxon, effects = made_tables.significance_tables(summarise(rows), "camel")
    assert ranks.head == ["CAMEL", "BR", "ECC", "CD"]
    assert wilcoxon.head == effects.head == ["BR", "ECC"]
    assert "Ranking metrics: a tie counts as an error." in ranks.notes
    assert "Ranking metrics: a tie counts as an error." in wilcoxon.notes
    assert len(friedman.sections[0].rows) == 7
    with pytest.raises(ValueError, match="share fewer than 2 data sets"):
        made_tables.significance_tables(summarise(rows[:1]), "camel")


# The paper's figures


def test_the_papers_tables_are_whole():
    assert {key[0] for key in paper_figures()} == set(REGULAR + LARGE)
    assert {key[2] for key in paper_figures()} == set(PAPER_METHODS)
    for dataset in REGULAR + LARGE:
        for metric in NAMES:
            best, leaders = best_printed(dataset, metric)
            assert best.mean == paper_figures()[dataset, metric, leaders[0]].mean
    assert len(printed()["claims"]) == 4


def cells(**metrics):
    rows = [made_records.record(fold=k, n_folds=2, **metrics) for k in range(2)]
    return {cell.metric: cell for cell in experiment.compare_with_paper(rows).cells}


def test_a_cell_is_compared_at_three_decimals():
    own = paper_figures()["yeast", "coverage", "camel"]
    equal = cells(coverage=own.mean + 0.0004)["coverage"]
    assert (equal.difference, equal.as_good_as_best, equal.no_worse) == (0.0, True, True)
    behind = cells(coverage=own.mean + 2 * own.std + 0.001)["coverage"]
    assert (behind.no_worse, behind.as_good_as_best, behind.near_best) == (False, False, False)
    within = cells(coverage=own.mean + 2 * own.std)["coverage"]
    assert within.no_worse
    assert within.difference == pytest.approx(-2)
    assert within.ahead_of_best == pytest.approx(-2 * own.std)


def test_counts_are_of_cells_that_both_have():
    rows = made_records.study(["yeast", "mine"], ["camel", "knn"], n_folds=3)
    found = experiment.compare_with_paper(rows, method="camel")
    counts = found.counts()
    assert counts["cells"] == 7
    assert counts["no_worse"] == 7 - len(found.missed("no_worse"))
    others = experiment.compare_with_paper(rows, method="knn")
    assert {cell.no_worse for cell in others.cells} == {None}
    with pytest.raises(ValueError, match="method='br' has no records"):
        experiment.compare_with_paper(rows, method="br")


def test_presets_and_variants_of_a_method_stand_against_its_printed_figure():
    rows = made_records.study(["yeast"], ["camel"], n_folds=2)
    rows += made_records.study(["yeast"], ["camel", "camel-per-metric"], n_folds=2, preset="best")
    summary = summarise(rows)
    for method in ("camel[best]", "camel-per-metric"):
        first = experiment.compare_with_paper(summary, method=method).cells[0]
        assert first.printed == paper_figures()["yeast", "one_error", "camel"]


def test_the_surest_of_equal_means_is_the_best():
    best, leaders = best_printed("medical", "hamming_loss")
    assert leaders == ("llsf", "jfsc")
    assert best == paper_figures()["medical", "hamming_loss", "jfsc"]
