"""Ours against the paper's: directions, thresholds at their edges, which std, which cells are missed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.experiment.comparison import (
    compare_cell,
    compare_summary,
    compare_with_paper,
    under_its_ties,
)
from skcamel.experiment.forms import write_tables
from skcamel.experiment.paper import LARGE, PAPER_METHODS, REGULAR, Metric, PaperFigure, paper_cell
from skcamel.experiment.published import Published, paper_table
from skcamel.experiment.summary import Figure, summarise
from skcamel.experiment.verdicts import comparison_tables
from skcamel.metrics import LOSSES, NAMES
from skcamel.metrics.conventions import RANKING

ALL = REGULAR + LARGE
cells = st.tuples(st.sampled_from(ALL), st.sampled_from(NAMES))


def worse_by(dataset, metric, thousandths, of="camel"):
    """A mean that is so much worse than the paper's figure of a method."""
    sign = 1 if metric in LOSSES else -1
    return paper_cell(dataset, metric, of).mean + sign * thousandths / 1000


def best_method(dataset, metric):
    pick = min if metric in LOSSES else max
    return pick(PAPER_METHODS, key=lambda method: paper_cell(dataset, metric, method).mean)


@given(cells, st.integers(-200, 200))
def test_difference_is_positive_where_ours_is_better(cell, thousandths):
    paper = paper_cell(*cell, "camel")
    found = compare_cell(*cell, Figure(worse_by(*cell, thousandths), 0.0, 10), "camel")
    assert found.difference == pytest.approx(-thousandths / 1000 / paper.std, abs=1e-9)
    assert found.no_worse == (thousandths <= round(2000 * paper.std))


@given(cells, st.integers(-5, 100), st.integers(0, 100))
def test_best_printed_figure_and_the_larger_std(cell, thousandths, own_std):
    best = best_method(*cell)
    found = compare_cell(
        *cell, Figure(worse_by(*cell, thousandths, best), own_std / 1000, 10), "camel", "larger"
    )
    assert best in found.best_methods
    assert found.as_good_as_best == (thousandths <= 0)
    smallest = min(round(1000 * paper_cell(*cell, method).std) for method in found.best_methods)
    assert found.near_best == (thousandths <= max(own_std, smallest))
    unit = max(own_std, round(1000 * paper_cell(*cell, "camel").std)) / 1000
    plain = compare_cell(*cell, found.ours, "camel", "paper")
    assert found.difference * unit == pytest.approx(
        plain.difference * paper_cell(*cell, "camel").std, abs=1e-9
    )


@pytest.mark.parametrize(("mean", "good"), [(0.21849, True), (0.21851, False)])
def test_figures_are_compared_as_printed(mean, good):
    """Yeast, one-error: CAMEL's 0.218 is the best printed."""
    assert (
        compare_cell("yeast", "one_error", Figure(mean, 0.01, 10), "camel").as_good_as_best == good
    )


def test_the_papers_own_figures_lose_nowhere_against_themselves():
    records = [
        record(dataset, **{metric: paper_cell(dataset, metric, "camel").mean for metric in NAMES})
        for dataset in ALL
    ]
    comparison = compare_with_paper(records)
    counts = comparison.counts()
    firsts = sum(
        paper_cell(d, m, "camel").mean == paper_cell(d, m, best_method(d, m)).mean
        for d in ALL
        for m in NAMES
    )
    assert (counts["cells"], counts["no_worse"], counts["as_good_as_best"]) == (112, 112, firsts)
    assert firsts == 45 + 38
    assert len(comparison.missed("as_good_as_best")) == 112 - firsts
    assert all(cell.difference == 0 for cell in comparison.cells)


def test_a_table_of_missed_cells_says_so_where_there_are_none():
    best = {
        metric: paper_cell("yeast", metric, best_method("yeast", metric)).mean for metric in NAMES
    }
    comparison = compare_with_paper([record(fold=fold, **best) for fold in range(10)])
    _, missed = comparison_tables(comparison)
    for form in ("markdown", "latex"):
        assert "None" in write_tables([missed], form)


def test_missed_cells_are_named_with_their_figures():
    means = {metric: paper_cell("yeast", metric, "camel").mean for metric in NAMES} | {
        "micro_f1": 0.2
    }
    comparison = compare_with_paper([record(fold=fold, **means) for fold in range(10)])
    (missed,) = comparison.missed("no_worse")
    assert (missed.dataset, missed.metric) == ("yeast", "micro_f1")
    assert comparison.counts()["no_worse"] == 6
    assert missed.ahead_of_best == pytest.approx(-0.455)
    assert missed.ahead_in_std == pytest.approx(-45.5)
    with pytest.raises(ValueError, match="criterion"):
        comparison.missed("better")


def test_sets_and_cells_that_the_paper_or_we_lack_are_left_out():
    comparison = compare_with_paper([record("mine"), record("yeast", coverage=float("nan"))])
    assert {cell.metric for cell in comparison.cells} == set(NAMES) - {"coverage"}
    assert compare_with_paper([record(method="br")]).counts()["cells"] == 0


def test_nearest_says_that_it_was_made_afterwards():
    comparison = compare_with_paper(study(["yeast"], ["camel"]), selected_by="nearest")
    assert any("made afterwards" in note for note in comparison.notes)


def test_several_presets_need_a_choice():
    records = [record(preset="paper"), record(preset="best", criterion="each")]
    with pytest.raises(
        ValueError, match=r"camel\[best\] and camel\[paper\]; choose one with preset="
    ):
        compare_with_paper(records)
    assert compare_with_paper(records, preset="best").counts()["cells"] == 7
    assert compare_summary(summarise(records), "camel[best]").counts()["cells"] == 7


def test_an_unknown_std_is_refused():
    with pytest.raises(ValueError, match="std"):
        compare_with_paper([record()], std="smaller")


def table_of(**cells):
    """A published table of yeast's Hamming loss: method ► (mean, std)."""
    return Published(
        {
            ("yeast", "hamming_loss", name): PaperFigure(*cell, bold=False)
            for name, cell in cells.items()
        },
        "table of mine",
    )


def test_a_table_without_our_method_still_has_a_best_figure():
    found = compare_with_paper(
        [record(hamming_loss=0.21)], published=table_of(br=(0.2, 0.02), ecc=(0.25, 0.01))
    )
    (cell,) = found.cells
    assert (cell.printed, cell.no_worse, cell.best_methods) == (None, None, ("br",))
    assert math.isnan(cell.difference)
    assert (cell.as_good_as_best, cell.near_best, cell.ahead_of_best) == (False, True, -0.01)
    assert (found.cases("no_worse"), found.counts()["no_worse"], found.missed("no_worse")) == (
        0,
        0,
        [],
    )


@pytest.mark.parametrize(("own", "near"), [(0.02, True), (0.005, False), (math.nan, False)])
def test_where_a_table_prints_no_std_ours_counts(own, near):
    table = table_of(camel=(0.2, math.nan))
    cell = compare_cell("yeast", "hamming_loss", Figure(0.21, own, 10), "camel", published=table)
    assert cell.near_best == near
    assert cell.no_worse == (own > 0)
    assert (
        math.isnan(cell.difference)
        if math.isnan(own)
        else cell.difference == pytest.approx(-0.01 / own)
    )
    equal = compare_cell(
        "yeast", "hamming_loss", Figure(0.2, math.nan, 1), "camel", published=table
    )
    assert (equal.difference, equal.no_worse, equal.as_good_as_best) == (0, True, True)


def test_further_metrics_are_compared_by_their_direction():
    measures = {
        "log_loss": Metric("Log loss", "smallest"),
        "accuracy": Metric("Accuracy", "largest"),
    }
    figures = {("yeast", name, "br"): PaperFigure(0.5, 0.1, bold=False) for name in measures}
    summary = summarise(
        [record() | {"more": {"log_loss": 0.4, "accuracy": 0.4}}], measures=measures
    )
    found = compare_summary(summary, published=Published(figures, "table"))
    assert {cell.metric: cell.as_good_as_best for cell in found.cells} == {
        "log_loss": True,
        "accuracy": False,
    }


TIED = {
    f"{name}_ties_by_index": Metric(name, "smallest" if name in LOSSES else "largest")
    for name in RANKING
}


def test_rakels_ranking_figures_follow_the_tie_rule_of_the_papers_software():
    rows = [
        record("yeast", "rakel", fold=fold)
        | {"more": dict.fromkeys(TIED, 0.25)}
        | ({} if fold else {"one_error": 0.75})
        for fold in range(2)
    ]
    summary = under_its_ties(summarise(rows, measures=TIED), paper_table())
    assert {
        metric for metric in NAMES if summary.figures["yeast", metric, "rakel"].mean == 0.25
    } == set(RANKING)
    assert (
        "RAkEL: ranking figures break ties by label order, as the software does that the paper"
        " used." in summary.notes()
    )
    cells = {cell.metric: cell.ours.mean for cell in compare_with_paper(rows, method="rakel").cells}
    assert cells["one_error"] == 0.625  # no description of the other rule, no figures under it
    found = compare_summary(summarise(rows, measures=TIED), "rakel")
    assert {cell.metric: cell.ours.mean for cell in found.cells}["one_error"] == 0.25
    assert under_its_ties(summary, paper_table()) == summary


def test_where_records_lack_the_other_tie_rule_the_notes_say_so():
    plain = summarise([record("yeast", "rakel"), record("yeast", "camel")])
    notes = compare_summary(plain, "rakel").notes
    assert any(
        note.startswith(
            "RAkEL: ranking figures count ties as errors; the software that the paper used"
        )
        for note in notes
    )
    mixed = summarise(
        [record("yeast", "rakel") | {"more": dict.fromkeys(TIED, 0.25)}, record("scene", "rakel")],
        measures=TIED,
    )
    notes = under_its_ties(mixed, paper_table()).remarks
    assert [note.partition(" on ")[2][:5] for note in notes] == ["yeast", "scene"]
    assert under_its_ties(mixed, table_of(br=(0.2, 0.1))) == mixed
    assert not under_its_ties(summarise([record()]), paper_table()).remarks
