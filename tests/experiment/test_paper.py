"""The paper's tables as data: complete, consistent with each other and with the catalogue."""

import pytest

from skcamel.data import list_datasets
from skcamel.data.catalogue import dataset_facts
from skcamel.experiment.paper import (
    LARGE,
    PAPER_METHODS,
    REGULAR,
    SEVEN,
    paper_cell,
    paper_figures,
    paper_table1,
    thousandths,
)
from skcamel.metrics import LOSSES, NAMES
from skcamel.metrics.conventions import TITLES


def test_every_cell_is_there_and_nothing_else():
    expected = {
        (dataset, metric, method)
        for dataset in REGULAR + LARGE
        for metric in NAMES
        for method in PAPER_METHODS
    }
    assert set(paper_figures()) == expected
    assert len(expected) == 112 * 6
    for cell in paper_figures().values():
        assert 0 <= cell.mean <= 1
        assert 0 < cell.std < 0.1
        assert cell.mean == thousandths(cell.mean) / 1000


def test_tables_2_and_3_are_in_the_papers_order_and_split_at_5000_rows():
    assert tuple(dict.fromkeys(dataset for dataset, *_ in paper_figures())) == REGULAR + LARGE
    sizes = paper_table1()
    assert {name for name, size in sizes.items() if size.n < 5000} == set(REGULAR)
    assert {name for name, size in sizes.items() if size.n >= 5000} == set(LARGE)
    assert [size.n for size in sizes.values()] == sorted(size.n for size in sizes.values())


def test_bold_marks_the_best_mean_in_every_cell_but_one():
    odd = []
    for dataset in REGULAR + LARGE:
        for metric in NAMES:
            cells = {method: paper_cell(dataset, metric, method) for method in PAPER_METHODS}
            best = (min if metric in LOSSES else max)(cell.mean for cell in cells.values())
            if {m for m, cell in cells.items() if cell.bold} != {
                m for m, cell in cells.items() if cell.mean == best
            }:
                odd.append((dataset, metric))
    assert odd == [("science", "macro_f1")]
    assert paper_cell("science", "macro_f1", "camel")[::2] == (0.310, True)
    assert paper_cell("science", "macro_f1", "llsf")[::2] == (0.312, False)


def test_table_1_agrees_with_the_catalogue_but_for_the_labels_of_scene():
    differing = set()
    for name, size in paper_table1().items():
        facts = dataset_facts(name)
        assert abs(size.cardinality - facts.cardinality) < 0.0051
        differing |= {
            (name, key) for key in ("n", "d", "q") if getattr(size, key) != getattr(facts, key)
        }
    assert differing == {("scene", "q")}
    assert tuple(paper_table1()) == list_datasets()[:16]


@pytest.mark.parametrize(
    "wrong",
    [("iris", "coverage", "camel"), ("yeast", "accuracy", "camel"), ("yeast", "coverage", "svc")],
)
def test_a_cell_that_the_paper_lacks_is_named(wrong):
    with pytest.raises(KeyError, match="The paper has no"):
        paper_cell(*wrong)


@pytest.mark.parametrize("metric", NAMES)
def test_gain_is_positive_where_better(metric):
    assert SEVEN[metric].gain(0.2, 0.3) == pytest.approx(0.1 if metric in LOSSES else -0.1)
    assert ("loss" in TITLES[metric] or metric in ("one_error", "coverage")) == (metric in LOSSES)
