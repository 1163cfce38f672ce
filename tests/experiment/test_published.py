"""The paper's tables, tables of one's own, and how ours are held against them."""

import math

import pytest

import made_records
from skcamel.experiment import compare_with_paper, paper_cell, summarise
from skcamel.experiment.published import PAPER_METHODS, PaperFigure, Published, paper_table, printed
from skcamel.experiment.summary import LARGE, REGULAR, SEVEN


def test_the_papers_tables_are_whole():
    assert {key[0] for key in paper_table().figures} == set(REGULAR + LARGE)
    assert {key[2] for key in paper_table().figures} == set(PAPER_METHODS)
    for dataset in REGULAR + LARGE:
        for metric, measure in SEVEN.items():
            best, leaders = paper_table().best(dataset, metric, measure)
            assert best.mean == paper_cell(dataset, metric, leaders[0]).mean
    assert len(printed()["claims"]) == 4
    with pytest.raises(KeyError, match="no figure of coverage on mars"):
        paper_cell("mars", "coverage", "br")


def cells(**metrics):
    rows = [made_records.record(fold=k, n_folds=2, **metrics) for k in range(2)]
    return {cell.metric: cell for cell in compare_with_paper(rows).cells}


def test_a_cell_is_compared_at_three_decimals():
    own = paper_cell("yeast", "coverage", "camel")
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
    found = compare_with_paper(rows, method="camel")
    counts = found.counts()
    assert counts["cells"] == 7
    assert counts["no_worse"] == 7 - len(found.missed("no_worse"))
    others = compare_with_paper(rows, method="knn")
    assert {cell.no_worse for cell in others.cells} == {None}
    with pytest.raises(ValueError, match="method='br' has no records"):
        compare_with_paper(rows, method="br")


def test_presets_and_variants_of_a_method_stand_against_its_printed_figure():
    rows = made_records.study(["yeast"], ["camel"], n_folds=2)
    rows += made_records.study(["yeast"], ["camel", "camel-per-metric"], n_folds=2, preset="best")
    summary = summarise(rows)
    for method in ("camel[best]", "camel-per-metric"):
        first = compare_with_paper(summary, method=method).cells[0]
        assert first.printed == paper_cell("yeast", "one_error", "camel")


def test_the_surest_of_equal_means_is_the_best():
    figures = {
        ("yeast", "coverage", name): (0.5, std, False)
        for name, std in (("a", 0.2), ("b", 0.1), ("c", math.nan))
    }
    table = Published({key: PaperFigure(*cell) for key, cell in figures.items()})
    best, leaders = table.best("yeast", "coverage", SEVEN["coverage"])
    assert (best.std, leaders) == (0.1, ("a", "b", "c"))
