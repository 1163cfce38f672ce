"""The critical-difference diagram: what is drawn where, and nothing over anything else."""

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

from matplotlib import pyplot

from skcamel.display import CriticalDifferenceDisplay, plot_critical_difference
from skcamel.experiment.published import paper_figures
from skcamel.experiment.significance import compare_methods
from skcamel.experiment.summary import title_of
from skcamel.metrics import NAMES


@pytest.fixture(autouse=True)
def no_window():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def drawn_texts(ax):
    """Boxes of all texts that are not empty, in pixels."""
    ax.figure.canvas.draw()
    return {
        text.get_text(): text.get_window_extent()
        for text in [*ax.texts, ax.title]
        if text.get_text()
    }


def bars(ax):
    """Horizontal thick lines as (worst rank, best rank), from top to bottom."""
    return [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() >= 4]


@pytest.mark.parametrize("metric", NAMES)
def test_no_text_overlaps_another_or_leaves_the_figure(metric):
    ax = plot_critical_difference(paper_figures(), metric)
    boxes = drawn_texts(ax)
    assert len(boxes) == 6 + 6 + 1 + 1  # ranks, methods, the difference, the title
    frame = ax.figure.bbox
    for name, box in boxes.items():
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, name
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, name
        assert not any(
            box.overlaps(other) for other_name, other in boxes.items() if other_name != name
        ), name


def test_ranks_and_difference_are_those_of_the_tests():
    found = compare_methods(paper_figures(), "coverage")
    texts = drawn_texts(plot_critical_difference(paper_figures(), "coverage"))
    assert {f"{title_of(method)} {rank:.2f}" for method, rank in found.ranks.items()} <= set(texts)
    assert f"critical difference {found.nemenyi:.2f}" in texts
    assert "Coverage ↓ on 16 data sets" in texts


def test_the_best_is_on_the_right():
    ax = CriticalDifferenceDisplay({"good": 1.2, "bad": 2.9, "middle": 1.9}, 0.5).plot().ax_
    boxes = drawn_texts(ax)
    assert boxes["good 1.20"].x0 > boxes["bad 2.90"].x1
    assert ax.get_xlim()[0] > ax.get_xlim()[1]


def test_bars_join_what_does_not_differ_and_only_that():
    display = CriticalDifferenceDisplay({"a": 1.0, "b": 2.0, "c": 2.8, "d": 4.0}, 1.1).plot()
    assert display.groups_ == [("a", "b"), ("b", "c")]
    (worst1, best1), (worst2, best2) = bars(display.ax_)
    assert best1 < 1.0 < 2.0 < worst1 < 2.8
    assert 1.0 < best2 < 2.0 < 2.8 < worst2 < 4.0


def test_a_control_has_an_interval_instead():
    found = compare_methods(paper_figures(), "coverage", control="camel")
    display = CriticalDifferenceDisplay.from_figures(
        paper_figures(), "coverage", control="camel"
    ).plot()
    assert display.groups_ == []
    assert bars(display.ax_) == [(found.ranks["camel"] + found.bonferroni_dunn, 1)]
    assert display.difference == found.bonferroni_dunn < found.nemenyi


def test_long_names_are_cut_and_mathematical_ones_not_read():
    boxes = drawn_texts(
        CriticalDifferenceDisplay({"x" * 40: 1.0, "$a_b$": 2.0, "c": 2.5}, 0.5).plot().ax_
    )
    assert "x" * 23 + "… 1.00" in boxes
    assert "$a_b$ 2.00" in boxes


def test_axes_given_are_used():
    _, ax = pyplot.subplots()
    assert (
        plot_critical_difference(paper_figures(), "coverage", methods=["camel", "br"], ax=ax) is ax
    )


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        CriticalDifferenceDisplay({"a": 1.0}, 1.0)
    with pytest.raises(ValueError, match="control"):
        CriticalDifferenceDisplay({"a": 1.0, "b": 2.0}, 1.0, control="c")
