"""PaperCounts: the four that the paper states, from its own table; laws of wins, ties and losses."""

from hypothesis import given
from hypothesis import strategies as st

from skcamel.experiment.comparison import PaperCounts, ranks_first, recount_claims, win_tie_loss
from skcamel.experiment.paper import LARGE, PAPER_METHODS, REGULAR, PaperFigure, paper_figures
from skcamel.metrics import NAMES

OTHERS = PAPER_METHODS[1:]
small_tables = st.dictionaries(
    st.tuples(st.sampled_from(REGULAR[:3]), st.sampled_from(NAMES), st.sampled_from(PAPER_METHODS[:3])),
    st.floats(0, 1).map(lambda mean: PaperFigure(mean, 0.1, bold=False)),
)


def test_the_papers_counts_from_its_own_table():
    """Two recompute; two are one less, both because of the macro-F1 of science."""
    claims = recount_claims(paper_figures())
    assert [claim.printed for claim in claims] == [(45, 56), (39, 56), (315, 336), (180, 224)]
    assert [claim.counted for claim in claims] == [(45, 56), (38, 56), (315, 336), (179, 224)]


def test_the_difference_is_the_cell_printed_in_bold_by_mistake():
    as_if = dict(paper_figures())
    as_if["science", "macro_f1", "camel"] = PaperFigure(0.313, 0.038, bold=True)
    assert [claim.counted[0] for claim in recount_claims(as_if)] == [45, 39, 315, 180]
    bold = [figure.bold for (dataset, _, method), figure in paper_figures().items() if method == "camel" and dataset in LARGE]
    assert sum(bold) == 39


def test_an_unfinished_study_gives_fewer_cases_and_no_cell_that_lacks_a_method():
    partial = {key: figure for key, figure in paper_figures().items() if key[0] == "yeast" and key[2] in ("camel", "br")}
    assert [claim.counted[1] for claim in recount_claims(partial)] == [0, 0, 7, 0]


def test_undefined_means_are_not_counted():
    figures = {("yeast", "coverage", name): PaperFigure(mean, 0.1, bold=False) for name, mean in (("camel", 0.1), ("br", float("nan")))}
    assert win_tie_loss(figures, "camel", ["br"]) == PaperCounts(0, 0, 0)
    assert ranks_first(figures, "camel", ["br"]) == (0, 0)


def test_ties_are_at_three_decimals():
    means = {"camel": 0.1004, "br": 0.0996, "ecc": 0.101}
    figures = {("yeast", "coverage", name): PaperFigure(mean, 0.1, bold=False) for name, mean in means.items()}
    assert win_tie_loss(figures, "camel", ["br", "ecc"]) == PaperCounts(wins=1, ties=1, losses=0)


@given(small_tables)
def test_a_win_is_the_others_loss(figures):
    ours, theirs = win_tie_loss(figures, "camel", ["br"]), win_tie_loss(figures, "br", ["camel"])
    assert ours == PaperCounts(theirs.losses, theirs.ties, theirs.wins)
    assert sum(ours) == sum((d, m, "br") in figures for d, m, method in figures if method == "camel")


@given(small_tables, st.randoms())
def test_order_of_cells_and_methods_does_not_matter(figures, random):
    cells, against = list(figures.items()), ["br", "ecc"]
    random.shuffle(cells), random.shuffle(against)
    assert win_tie_loss(dict(cells), "camel", against) == win_tie_loss(figures, "camel", ["br", "ecc"])
    assert ranks_first(dict(cells), "camel", against) == ranks_first(figures, "camel", ["br", "ecc"])


def test_every_method_can_stand_in_camels_place():
    firsts = sum(ranks_first(paper_figures(), method, [other for other in PAPER_METHODS if other != method])[0] for method in PAPER_METHODS)
    assert firsts >= 112  # every cell has a first, shared ones count more than once


def test_counting_sole_firsts_would_not_give_the_papers_45():
    """Shown in docs/deviations.md as the reason why equal firsts count."""
    sole = sum(
        win_tie_loss({key: cell for key, cell in paper_figures().items() if key[:2] == (dataset, metric)}, "camel", OTHERS).wins == 5
        for dataset in REGULAR
        for metric in NAMES
    )
    assert sole == 42
