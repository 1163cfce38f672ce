"""Tables in three forms say what the summary holds."""

import csv
import io

import pytest

import made_records
import made_studies
from skcamel.experiment import result_tables, summarise, write_tables
from skcamel.experiment.published import paper_table
from skcamel.experiment.tables import (
    Cell,
    Table,
    TableSection,
    best_methods,
    significance_tables,
    sizes_table,
    to_csv,
)


@pytest.fixture(scope="module")
def summary():
    datasets = ["yeast", "emotions", "arts", "mine"]
    return summarise(made_records.study(datasets, ["camel", "br"], n_folds=3))


def rows_of(markdown):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in markdown.splitlines()
        if line.startswith("| ")
    ]


def test_results_stand_in_the_papers_tables(summary):
    tables = result_tables(summary)
    assert [(name, table.head) for name, table in tables.items()] == [
        ("2", ["emotions", "yeast"]),
        ("3", ["arts"]),
        ("other", ["mine"]),
    ]
    rows = rows_of(write_tables([tables["2"]], "markdown"))
    figure = summary.figures["yeast", "one_error", "camel"]
    best = "camel" in best_methods(summary, "yeast", "one_error")
    text = f"{figure.mean:.3f}±{figure.std:.3f}"
    assert rows[2] == ["CAMEL", rows[2][1], f"**{text}**" if best else text]


def test_printed_figures_stand_under_ours(summary):
    table = result_tables(summary, against=paper_table())["2"]
    names = [name for name, _ in table.sections[0].rows]
    assert names == ["CAMEL", "· paper", "· Δ / std", "BR", "· paper", "· Δ / std"]
    assert table.sections[0].rows[1][1][1].text == "0.218±0.027"
    assert "Δ: ours less the printed figure, in its std; + is better." in table.notes


def test_best_is_judged_at_three_decimals():
    rows = [made_records.record(method=name, coverage=value) for name, value in
            (("a", 0.2501), ("b", 0.2499), ("c", 0.3))]  # fmt: skip
    assert best_methods(summarise(rows), "yeast", "coverage") == ["a", "b"]
    assert best_methods(summarise(rows[:1]), "yeast", "coverage") == []


def test_csv_holds_unrounded_figures_and_no_formula(summary):
    parts = write_tables([*result_tables(summary).values()], "csv").split("\n\n")
    assert len(parts) == 3
    rows = list(csv.DictReader(io.StringIO(parts[0])))
    figure = summary.figures["emotions", "one_error", "camel"]
    assert float(rows[0]["mean"]) == figure.mean
    nasty = Table("t", "", [], [], data=[{"method": "=1+1", "mean": float("nan")}])
    assert to_csv(nasty).splitlines()[1] == "'=1+1,nan"


def test_markdown_is_escaped_and_on_one_line():
    table = Table("t", "x", ["a|b"], [TableSection("", [("<i>\n", [Cell("*")])])])
    assert rows_of(write_tables([table], "markdown").replace(r"\|", "/")) == [
        ["x", "a/b"],
        [r"\<i\>\\n", r"\*"],
    ]
    with pytest.raises(ValueError, match="form must be one of markdown, csv"):
        write_tables([table], "word")


def test_sizes_stand_in_the_papers_order():
    rows = made_records.study(["mine", "yeast", "emotions"], ["br"], n_folds=1)
    table = sizes_table(made_studies.costly(rows))
    assert [row["dataset"] for row in table.data] == ["emotions", "yeast", "mine"]


def test_tests_are_of_the_first_method_against_the_others():
    rows = made_records.study(made_studies.SIXTEEN, ["camel", "br", "ecc"], n_folds=2)
    ranks, friedman, wilcoxon, effects = significance_tables(summarise(rows), "camel")
    assert ranks.head == ["CAMEL", "BR", "ECC", "CD"]
    assert wilcoxon.head == effects.head == ["BR", "ECC"]
    assert set(ranks.data[0]) == {"metric", "camel", "br", "ecc"}
    assert "Ranking metrics: a tie counts as an error." in ranks.notes
    assert "Ranking metrics: a tie counts as an error." in wilcoxon.notes
    assert len(friedman.sections[0].rows) == 7
    with pytest.raises(ValueError, match="share fewer than 2 data sets"):
        significance_tables(summarise(rows[:1]), "camel")
