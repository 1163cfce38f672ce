"""Figures are rounded once: what is printed alike is treated alike, in every form of a table, on the page and by the commands."""

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from made_records import record
from skcamel.cli.study import _lines
from skcamel.cli.study import summary as summary_of_a_run
from skcamel.experiment.comparison import compare_cell, win_tie_loss
from skcamel.experiment.forms import write_tables
from skcamel.experiment.paper import mean_and_std, paper_figures, rounded, thousandths
from skcamel.experiment.summary import Figure, summarise
from skcamel.experiment.tables import result_tables, signed
from skcamel.metrics import LOSSES, NAMES
from skcamel.report.comparison_sections import _cell

halves = st.integers(0, 2000).map(
    lambda k: k / 2000
)  # every other one lies between two thousandths
figures = (
    halves
    | st.floats(0, 1)
    | halves.map(lambda x: math.nextafter(x, 1))
    | halves.map(lambda x: math.nextafter(x, 0))
)


def test_the_ties_that_once_were_rounded_twice():
    assert (rounded(0.0125), thousandths(0.0125)) == ("0.013", 13)
    assert (rounded(0.2435), thousandths(0.2435)) == (
        "0.243",
        243,
    )  # the number nearest 0.2435 lies below it


@given(figures, figures)
@example(0.0125, 0.0134)
@example(-1e-9, 1e-9)
def test_two_figures_are_equal_exactly_where_they_are_printed_alike(first, second):
    assert (rounded(first) == rounded(second)) == (thousandths(first) == thousandths(second))
    assert int(rounded(first).replace(".", "")) == thousandths(first)
    assert abs(thousandths(first) - 1000 * first) <= 0.5 + 1e-9


def printed_in(form, one, other, metric):
    """Text and emphasis of the cells of a metric, as `form` writes them."""
    table = result_tables(
        summarise([record("mine", "br", **{metric: one}), record("mine", "ecc", **{metric: other})])
    )["other"]
    lines = [
        line
        for line in write_tables([table], form).splitlines()
        if line.lstrip("| ").startswith(("BR", "ECC"))
    ]
    pair = lines[2 * NAMES.index(metric) :][:2]
    return [
        (re.search(r"\d\.\d{3}", line).group(), any(mark in line for mark in ("**", "textbf", "*")))
        for line in pair
    ]


@pytest.mark.parametrize("form", ["markdown", "latex"])
@given(first=figures, second=figures, metric=st.sampled_from(NAMES))
@example(first=0.0125, second=0.0134, metric="coverage")
def test_bold_agrees_with_the_printed_digits_in_every_form(form, first, second, metric):
    (one, bold), (other, other_bold) = printed_in(form, first, second, metric)
    better, worse = (one, other) if metric not in LOSSES else (other, one)
    assert (bold, other_bold) == (float(better) >= float(worse), float(better) <= float(worse))


@given(figures, figures, st.sampled_from(NAMES))
@example(0.0125, 0.0134, "coverage")
def test_wins_and_ties_agree_with_the_printed_digits(first, second, metric):
    counts = win_tie_loss(
        {
            ("mine", metric, "a"): Figure(first, 0.0, 2),
            ("mine", metric, "b"): Figure(second, 0.0, 2),
        },
        "a",
        ["b"],
    )
    assert (counts.ties == 1) == (rounded(first) == rounded(second))


@given(figures, figures)
@example(0.0125, 0.2435)
def test_the_page_and_the_command_print_what_the_tables_print(mean, std):
    assert _cell(Figure(mean, std, 3))[:2] == mean_and_std(mean, std).split("±")
    cells = _lines(summary_of_a_run([record("mine", "br", **dict.fromkeys(NAMES, mean))]))[
        -1
    ].split()[1:]
    assert {f"0{cell}" if cell.startswith(".") else cell for cell in cells} == {rounded(mean)}


@given(figures)
@example(0.2435)
def test_a_difference_from_the_paper_is_zero_where_both_print_the_same(mean):
    cell = compare_cell("image", "one_error", Figure(mean, 0.01, 10), "camel")
    assert (cell.difference == 0) == (
        rounded(mean) == rounded(paper_figures()["image", "one_error", "camel"].mean)
    )
    assert signed(cell.difference) in (f"{cell.difference:+.1f}".replace("-", "−"), "0.0")
