"""Tables: the paper's form, best in bold, its figures beside ours, unrounded data behind them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.data.catalogue import dataset_facts
from skcamel.experiment.comparison import compare_summary
from skcamel.experiment.paper import LARGE, METHOD_TITLES, PAPER_METHODS, REGULAR, metric_title, paper_cell
from skcamel.experiment.summary import summarise
from skcamel.experiment.tables import (
    claims_table,
    comparison_tables,
    result_tables,
    results_table,
    significance_tables,
    sizes_table,
)
from skcamel.metrics import LOSSES, NAMES


@pytest.fixture(scope="module")
def summary():
    return summarise(study([*REGULAR, "science", "mine"], ["camel", "br", "llsf", "svc"]))


def printed_study():
    """Records whose means are the paper's own, for all six methods."""
    return [
        record(dataset, method, **{metric: paper_cell(dataset, metric, method).mean for metric in NAMES})
        for dataset in REGULAR + LARGE
        for method in PAPER_METHODS
    ]


def test_tables_2_and_3_of_the_papers_own_figures_are_the_papers_tables():
    tables = result_tables(summarise(printed_study()))
    assert list(tables) == ["2", "3"]
    for table, datasets in ((tables["2"], REGULAR), (tables["3"], LARGE)):
        assert table.head == list(datasets)
        assert [section.title for section in table.sections] == [metric_title(metric) for metric in NAMES]
        for metric, section in zip(NAMES, table.sections, strict=True):
            assert [name for name, _ in section.rows] == [METHOD_TITLES[method] for method in PAPER_METHODS]
            for method, (_, cells) in zip(PAPER_METHODS, section.rows, strict=True):
                for dataset, cell in zip(datasets, cells, strict=True):
                    printed = paper_cell(dataset, metric, method)
                    assert cell.text == f"{printed.mean:.3f}"  # one fold has no std
                    if (dataset, metric) != ("science", "macro_f1"):
                        assert cell.bold == printed.bold


def test_sets_that_the_paper_lacks_have_a_table_of_their_own(summary):
    tables = result_tables(summary, against_paper=True)
    assert (tables["2"].head, tables["3"].head, tables["other"].head) == (list(REGULAR), ["science"], ["mine"])
    names = [name for name, _ in tables["other"].sections[0].rows]
    assert names == ["CAMEL", "BR", "LLSF", "svc"]


def test_the_papers_rows_stand_under_ours_with_the_difference(summary):
    table = results_table(summary, ["yeast"], "one set", against_paper=True)
    rows = dict(table.sections[NAMES.index("coverage")].rows[:3])
    ours, paper = summary.figures["yeast", "coverage", "camel"], paper_cell("yeast", "coverage", "camel")
    assert rows["CAMEL"][0].text == f"{ours.mean:.3f}±{ours.std:.3f}"
    assert rows["· paper"][0] == (f"{paper.mean:.3f}±{paper.std:.3f}", True)
    signed = rows["· Δ / std"][0].text
    expected = (round(paper.mean, 3) - round(ours.mean, 3)) / paper.std
    assert float(signed.replace("−", "-")) == pytest.approx(expected, abs=0.0501)
    assert [name for name, _ in table.sections[0].rows].count("· paper") == 3  # svc is not in the paper
    assert "signed so that + is better" in table.notes[-1]


@given(st.lists(st.sampled_from([0.1, 0.1004, 0.1006, 0.2, math.nan]), min_size=2, max_size=4), st.sampled_from(NAMES))
def test_bold_is_the_best_at_three_decimals(means, metric):
    methods = PAPER_METHODS[: len(means)]
    records = [record("mine", method, **{metric: mean}) for method, mean in zip(methods, means, strict=True)]
    table = results_table(summarise(records), ["mine"], "")
    section = table.sections[NAMES.index(metric)]
    bold = [cells[0].bold for _, cells in section.rows]
    rounded = [round(mean, 3) for mean in means]
    defined = [mean for mean in rounded if not math.isnan(mean)]
    best = (min if metric in LOSSES else max)(defined) if len(defined) > 1 else None
    assert bold == [mean == best for mean in rounded]
    assert [cells[0].text == "–" for _, cells in section.rows] == [math.isnan(mean) for mean in means]


def test_data_holds_what_the_cells_round(summary):
    table = result_tables(summary, against_paper=True, std="larger")["2"]
    assert len(table.data) == 8 * 7 * 4
    row = next(row for row in table.data if (row["dataset"], row["metric"], row["method"]) == ("yeast", "coverage", "camel"))
    ours, paper = summary.figures["yeast", "coverage", "camel"], paper_cell("yeast", "coverage", "camel")
    assert (row["mean"], row["std"], row["folds"], row["selected_by"]) == (*ours, "average_precision")
    assert row["difference_in_std"] == pytest.approx((round(paper.mean, 3) - round(ours.mean, 3)) / max(ours.std, paper.std))
    assert next(row for row in table.data if row["method"] == "svc")["paper_mean"] is None


def test_every_table_says_which_criterion_it_shows(summary):
    assert any("selected by average_precision" in note for note in result_tables(summary)["2"].notes)
    nearest = summarise(study(["yeast", "mine"], ["camel"]), selected_by="nearest")
    tables = result_tables(nearest)
    assert any("made afterwards" in note for note in tables["2"].notes)
    assert all(row["chosen_afterwards"] for row in tables["2"].data)
    assert not any("made afterwards" in note for note in tables["other"].notes)
    assert any("made afterwards" in note for note in comparison_tables(compare_summary(nearest))[0].notes)


def test_table_1_from_the_catalogue_notes_the_labels_of_scene():
    cards = {}
    for name in REGULAR + LARGE:
        facts = dataset_facts(name)
        cards[name] = {"n": facts.n, "d": facts.d, "q": facts.q, "cardinality": facts.cardinality, "density": facts.cardinality / facts.q}
    table = sizes_table(cards | {"mine": cards["yeast"]})
    assert [(section.title, len(section.rows)) for section in table.sections] == [
        ("Regular size", 8),
        ("Large size", 8),
        ("Not in the paper", 1),
    ]
    assert table.notes == ["scene: the paper prints 5 labels."]
    assert [row["dataset"] for row in table.data][-1] == "mine"
    assert table.data[-1]["paper_n"] is None


def test_claims_printed_recounted_and_ours():
    table = claims_table(summarise(printed_study()))
    assert [[cell.text for cell in cells] for _, cells in table.sections[0].rows] == [
        ["45/56", "45/56", "45/56"],
        ["39/56", "38/56", "38/56"],
        ["315/336", "315/336", "315/336"],
        ["180/224", "179/224", "179/224"],
    ]
    assert table.data[1]["printed_count"] - table.data[1]["papers_table_count"] == 1
    alone = claims_table(summarise([record()]))
    assert {cells[2].text for _, cells in alone.sections[0].rows} == {"–"}


def test_comparison_names_every_missed_cell(summary):
    comparison = compare_summary(summary)
    counts, missed = comparison_tables(comparison)
    assert counts.data == [comparison.counts()]
    names = {f"{cell.dataset}, {metric_title(cell.metric)}" for cell in comparison.missed("as_good_as_best")}
    assert names <= {name for name, _ in missed.sections[0].rows}
    assert len(missed.data) == counts.data[0]["cells"] == 63


def test_significance_of_the_papers_own_figures():
    ranks, wilcoxon = significance_tables(summarise(printed_study()), "camel")
    assert [cells[0].bold for _, cells in ranks.sections[0].rows] == [True] * 7  # CAMEL has the best average rank in all metrics
    assert ranks.data[0]["datasets"] == 16
    assert wilcoxon.head == ["BR", "ECC", "RAkEL", "LLSF", "JFSC"]
    assert len(wilcoxon.data) == 7 * 5
    assert all(row["p"] <= row["p_holm"] <= 1 for row in wilcoxon.data)


def test_a_method_without_results_in_a_table_has_no_row_there():
    tables = result_tables(summarise([record("yeast"), record("yeast", "br"), record("arts"), record("scene", "br")]))
    assert [name for name, _ in tables["3"].sections[0].rows] == ["CAMEL"]
    assert [[cell.text for cell in cells] for _, cells in tables["2"].sections[0].rows] == [["–", "0.500"], ["0.500", "0.500"]]


def test_another_cardinality_than_the_printed_one_is_noted():
    facts = {"n": 2417, "d": 103, "q": 14, "cardinality": 4.3, "density": 4.3 / 14}
    assert sizes_table({"yeast": facts}).notes == ["yeast: the paper prints a cardinality of 4.24."]
