"""Tables: the paper's form, best in bold, its figures beside ours, unrounded data behind them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.data.catalogue import dataset_facts
from skcamel.experiment.comparison import compare_summary
from skcamel.experiment.paper import (
    LARGE,
    METHOD_TITLES,
    PAPER_METHODS,
    REGULAR,
    Metric,
    PaperFigure,
    metric_title,
    paper_cell,
)
from skcamel.experiment.published import Published, paper_table
from skcamel.experiment.summary import summarise
from skcamel.experiment.tables import metric_tables, result_tables, results_table, sizes_table
from skcamel.experiment.verdicts import (
    claims_table,
    comparison_tables,
    selection_table,
    significance_tables,
)
from skcamel.metrics import LOSSES, NAMES


@pytest.fixture(scope="module")
def summary():
    return summarise(study([*REGULAR, "science", "mine"], ["camel", "br", "llsf", "svc"]))


def printed_study():
    """Records whose means are the paper's own, for all six methods."""
    return [
        record(
            dataset,
            method,
            **{metric: paper_cell(dataset, metric, method).mean for metric in NAMES},
        )
        for dataset in REGULAR + LARGE
        for method in PAPER_METHODS
    ]


def test_tables_2_and_3_of_the_papers_own_figures_are_the_papers_tables():
    tables = result_tables(summarise(printed_study()))
    assert list(tables) == ["2", "3"]
    for table, datasets in ((tables["2"], REGULAR), (tables["3"], LARGE)):
        assert table.head == list(datasets)
        assert [section.title for section in table.sections] == [
            metric_title(metric) for metric in NAMES
        ]
        for metric, section in zip(NAMES, table.sections, strict=True):
            assert [name for name, _ in section.rows] == [
                METHOD_TITLES[method] for method in PAPER_METHODS
            ]
            for method, (_, cells) in zip(PAPER_METHODS, section.rows, strict=True):
                for dataset, cell in zip(datasets, cells, strict=True):
                    printed = paper_cell(dataset, metric, method)
                    assert cell.text == f"{printed.mean:.3f}"  # one fold has no std
                    if (dataset, metric) != ("science", "macro_f1"):
                        assert cell.bold == printed.bold


def test_sets_that_the_paper_lacks_have_a_table_of_their_own(summary):
    tables = result_tables(summary, against=paper_table())
    assert (tables["2"].head, tables["3"].head, tables["other"].head) == (
        list(REGULAR),
        ["science"],
        ["mine"],
    )
    names = [name for name, _ in tables["other"].sections[0].rows]
    assert names == ["CAMEL", "BR", "LLSF", "svc"]


def test_the_papers_rows_stand_under_ours_with_the_difference(summary):
    table = results_table(summary, ["yeast"], "one set", against=paper_table())
    rows = dict(table.sections[NAMES.index("coverage")].rows[:3])
    ours, paper = (
        summary.figures["yeast", "coverage", "camel"],
        paper_cell("yeast", "coverage", "camel"),
    )
    assert rows["CAMEL"][0].text == f"{ours.mean:.3f}±{ours.std:.3f}"
    assert rows["· paper"][0] == (f"{paper.mean:.3f}±{paper.std:.3f}", True)
    signed = rows["· Δ / std"][0].text
    expected = (round(paper.mean, 3) - round(ours.mean, 3)) / paper.std
    assert float(signed.replace("−", "-")) == pytest.approx(expected, abs=0.0501)
    assert [name for name, _ in table.sections[0].rows].count(
        "· paper"
    ) == 3  # svc is not in the paper
    assert "signed so that + is better" in table.notes[-1]


@given(
    st.lists(st.sampled_from([0.1, 0.1004, 0.1006, 0.2, math.nan]), min_size=2, max_size=4),
    st.sampled_from(NAMES),
)
def test_bold_is_the_best_at_three_decimals(means, metric):
    methods = PAPER_METHODS[: len(means)]
    records = [
        record("mine", method, **{metric: mean})
        for method, mean in zip(methods, means, strict=True)
    ]
    table = results_table(summarise(records), ["mine"], "")
    section = table.sections[NAMES.index(metric)]
    bold = [cells[0].bold for _, cells in section.rows]
    rounded = [round(mean, 3) for mean in means]
    defined = [mean for mean in rounded if not math.isnan(mean)]
    best = (min if metric in LOSSES else max)(defined) if len(defined) > 1 else None
    assert bold == [mean == best for mean in rounded]
    assert [cells[0].text == "–" for _, cells in section.rows] == [
        math.isnan(mean) for mean in means
    ]


def test_data_holds_what_the_cells_round(summary):
    table = result_tables(summary, against=paper_table(), std="larger")["2"]
    assert len(table.data) == 8 * 7 * 4
    row = next(
        row
        for row in table.data
        if (row["dataset"], row["metric"], row["method"]) == ("yeast", "coverage", "camel")
    )
    ours, paper = (
        summary.figures["yeast", "coverage", "camel"],
        paper_cell("yeast", "coverage", "camel"),
    )
    assert (row["mean"], row["std"], row["folds"], row["selected_by"]) == (
        *ours,
        "average_precision",
    )
    assert row["difference_in_std"] == pytest.approx(
        (round(paper.mean, 3) - round(ours.mean, 3)) / max(ours.std, paper.std)
    )
    assert next(row for row in table.data if row["method"] == "svc")["printed_mean"] is None


def test_every_table_says_which_criterion_it_shows(summary):
    assert any(
        "selected by Average precision" in note for note in result_tables(summary)["2"].notes
    )
    nearest = summarise(study(["yeast", "mine"], ["camel"]), selected_by="nearest")
    tables = result_tables(nearest)
    assert any("made afterwards" in note for note in tables["2"].notes)
    assert all(row["chosen_afterwards"] for row in tables["2"].data)
    assert not any("made afterwards" in note for note in tables["other"].notes)
    assert any(
        "made afterwards" in note for note in comparison_tables(compare_summary(nearest))[0].notes
    )


def test_table_1_from_the_catalogue_notes_the_labels_of_scene():
    cards = {}
    for name in REGULAR + LARGE:
        facts = dataset_facts(name)
        cards[name] = {
            "n": facts.n,
            "d": facts.d,
            "q": facts.q,
            "cardinality": facts.cardinality,
            "density": facts.cardinality / facts.q,
        }
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


def test_comparison_names_every_missed_cell_and_by_how_much(summary):
    comparison = compare_summary(summary)
    counts, missed = comparison_tables(comparison)
    assert counts.data == [comparison.counts()]
    named = {
        (section.title, name): cells for section in missed.sections for name, cells in section.rows
    }
    cells = comparison.missed("as_good_as_best")
    assert {(metric_title(cell.metric), cell.dataset) for cell in cells} <= set(named)
    for cell in cells:
        *_, ahead, in_std, misses = (
            each.text.replace("−", "-") for each in named[metric_title(cell.metric), cell.dataset]
        )
        behind = abs(round(cell.ours.mean, 3) - cell.best.mean)
        assert float(ahead) == pytest.approx(-behind, abs=1e-9)
        assert float(in_std) == pytest.approx(
            -behind / max(cell.ours.std, cell.best.std), abs=0.0501
        )
        assert "b" in misses
    assert len(missed.data) == counts.data[0]["cells"] == 63


def test_a_table_without_our_method_has_no_row_for_the_same_method():
    table = Published(
        {("mine", "coverage", "knn"): PaperFigure(0.4, math.nan, bold=True)}, "table mine.csv"
    )
    counts, missed = comparison_tables(
        compare_summary(summarise([record("mine")]), published=table), published=table
    )
    assert [name[:3] for name, _ in counts.sections[0].rows] == ["(b)", "(c)"]
    assert [cell.text for cell in missed.sections[0].rows[0][1]] == [
        "0.500",
        "–",
        "0.400",
        "knn",
        "−0.100",
        "–",
        "b c",
    ]
    (row,) = missed.data
    assert (row["printed_mean"], row["no_worse"], row["ahead_of_best"]) == (None, None, -0.1)
    result = results_table(
        summarise([record("mine"), record("mine", "knn")]), ["mine"], "", against=table
    )
    coverage = dict(result.sections[NAMES.index("coverage")].rows)
    assert coverage["· table"][0] == ("0.400", True)
    assert (
        "In the rows of the table mine.csv, bold is its best mean at three decimals."
        in result.notes
    )


def test_counts_under_every_criterion_one_model_or_one_per_metric():
    records = study(["yeast", "scene"], ["camel"], n_folds=3)
    comparisons = {
        by: compare_summary(summarise(records, selected_by=by))
        for by in ("each", "average_precision")
    }
    table = selection_table(comparisons, "camel", paper_table())
    assert [name for name, _ in table.sections[0].rows] == [
        "each metric: one model per metric",
        "Average precision: one model",
    ]
    for (_, cells), row, one in zip(
        table.sections[0].rows, table.data, comparisons.values(), strict=True
    ):
        assert [cell.text for cell in cells] == [
            f"{row[name]}/14" for name in ("no_worse", "as_good_as_best", "near_best")
        ]
        assert row["as_good_as_best"] == sum(cell.ahead_of_best >= 0 for cell in one.cells)


def test_significance_of_the_papers_own_figures():
    ranks, friedman, wilcoxon, effects = significance_tables(summarise(printed_study()), "camel")
    assert [cells[0].bold for _, cells in ranks.sections[0].rows] == [
        True
    ] * 7  # CAMEL has the best average rank in all metrics
    assert ranks.data[0]["datasets"] == friedman.data[0]["datasets"] == 16
    assert wilcoxon.head == effects.head == ["BR", "ECC", "RAkEL", "LLSF", "JFSC"]
    assert len(wilcoxon.data) == 7 * 5
    assert all(row["p"] <= row["p_holm"] <= 1 for row in wilcoxon.data)
    assert not any("cannot" in note for note in wilcoxon.notes)
    for row in effects.data:
        won = [
            paper_cell(dataset, row["metric"], "camel").mean
            - paper_cell(dataset, row["metric"], row["second"]).mean
            for dataset in REGULAR + LARGE
        ]
        better = sum((gain < 0) == (row["metric"] in LOSSES) for gain in won if gain)
        assert (row["wins"], row["wins"] + row["ties"] + row["losses"]) == (better, 16)


def test_tests_of_four_sets_and_three_rivals_say_that_they_cannot_tell():
    found = summarise(study(REGULAR[:4], ["camel", "br", "ecc", "llsf"], n_folds=2))
    wilcoxon = significance_tables(found, "camel")[2]
    assert any(
        "no p-value of Wilcoxon's test with Holm's correction can be below 0.375" in note
        for note in wilcoxon.notes
    )
    assert min(row["p_holm"] for row in wilcoxon.data) >= 0.375
    assert not any(
        "cannot" in note for note in significance_tables(found, "camel", level=0.5)[2].notes
    )


FURTHER = {"up": Metric("Up", "largest"), "down": Metric("Down", "smallest")}


def test_further_metrics_are_shown_and_ranked_by_their_direction():
    rows = [
        record(dataset, method) | {"more": {"up": mean, "down": mean}}
        for dataset in ("a", "b", "c")
        for method, mean in (("camel", 0.4), ("br", 0.2))
    ]
    found = summarise(rows, measures=FURTHER)
    table = results_table(found, ["a", "b", "c"], "")
    assert [section.title for section in table.sections] == [
        *map(metric_title, NAMES),
        "Up ↑",
        "Down ↓",
    ]
    bold = {
        section.title: [cells[0].bold for _, cells in section.rows]
        for section in table.sections[-2:]
    }
    assert bold == {"Up ↑": [True, False], "Down ↓": [False, True]}
    ranks, *_ = significance_tables(found, "camel")
    assert {row["metric"]: row["rank_camel"] for row in ranks.data if row["metric"] in FURTHER} == {
        "up": 1,
        "down": 2,
    }
    chosen = results_table(found.showing(["down", "coverage"]), ["a"], "")
    assert [section.title for section in chosen.sections] == ["Down ↓", "Coverage ↓"]
    assert {row["metric"] for row in chosen.data} == {"down", "coverage"}


def test_a_table_for_each_metric_holds_what_the_wide_tables_hold(summary):
    wide = [*result_tables(summary, against=paper_table()).values()]
    narrow = metric_tables(summary, summary.datasets, against=paper_table())
    assert [table.name for table in narrow] == list(NAMES)
    assert [section.title for section in narrow[0].sections] == [
        "Regular size",
        "Large size",
        "Not in the paper",
    ]
    key = ("dataset", "metric", "method")
    rows = [
        sorted(
            (row for table in tables for row in table.data), key=lambda row: [row[k] for k in key]
        )
        for tables in (wide, narrow)
    ]
    assert [{k: str(v) for k, v in row.items()} for row in rows[0]] == [
        {k: str(v) for k, v in row.items()} for row in rows[1]
    ]
    cells = {
        (metric, dataset, title): cell
        for metric, table in zip(NAMES, narrow, strict=True)
        for dataset, row in table.rows
        for title, cell in zip(table.head, row, strict=True)
        if not dataset.startswith("·")
    }
    for table in wide:
        for metric, section in zip(NAMES, table.sections, strict=True):
            for title, row in section.rows:
                if not title.startswith("·"):
                    assert [cells[metric, dataset, title] for dataset in table.head] == row


def test_a_method_without_results_in_a_table_has_no_row_there():
    tables = result_tables(
        summarise([record("yeast"), record("yeast", "br"), record("arts"), record("scene", "br")])
    )
    assert [name for name, _ in tables["3"].sections[0].rows] == ["CAMEL"]
    assert [[cell.text for cell in cells] for _, cells in tables["2"].sections[0].rows] == [
        ["–", "0.500"],
        ["0.500", "0.500"],
    ]


def test_another_cardinality_than_the_printed_one_is_noted():
    facts = {"n": 2417, "d": 103, "q": 14, "cardinality": 4.3, "density": 4.3 / 14}
    assert sizes_table({"yeast": facts}).notes == ["yeast: the paper prints a cardinality of 4.24."]
