"""Ranks and tests of significance against published constants, scipy and counting by hand."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from skcamel.experiment import significance
from skcamel.experiment.published import PaperFigure, paper_figures
from skcamel.experiment.significance import friedman_test, wilcoxon_holm, wilcoxon_test
from skcamel.experiment.summary import Metric

# Critical values for k = 2 … 10 as Demšar (JMLR 7, 2006) tabulates them in Table 5. For k = 9 it
# prints 2.724 for Bonferroni-Dunn; the quantile of the normal distribution at 0.05 / 16 is 2.734.
NEMENYI = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
BONFERRONI_DUNN = (1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773)
tables = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 20).map(lambda v: v / 20))
)


def ranks_by_scipy(scores):
    """Ranks of the methods on every data set, 1 for the largest score."""
    return stats.rankdata(-scores, axis=1)


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_values_are_the_published_ones(k):
    unit = math.sqrt(k * (k + 1) / (6 * 10))
    found = significance.critical_differences(k, 10)
    expected = unit * np.array([NEMENYI[k - 2], BONFERRONI_DUNN[k - 2]])
    assert found == pytest.approx(expected, abs=1.5e-3 * unit)  # of three decimals, some cut off


@given(tables)
def test_friedman_is_scipys_ties_included(scores):
    assume(scores.shape[1] > 2)  # scipy refuses two methods
    result = friedman_test(ranks_by_scipy(scores))
    if all(len(set(row)) == 1 for row in scores.tolist()):
        assert result == (0.0, 0.0, 1.0)
        return
    assert result.chi2 == pytest.approx(stats.friedmanchisquare(*scores.T).statistic, abs=1e-9)


@pytest.mark.parametrize("row", [[1, 2, 3], [1.5, 1.5, 3], [1, 2.5, 2.5], [2, 1]], ids=str)
@pytest.mark.parametrize("n", [2, 3])
def test_where_all_rows_are_alike_p_is_the_chance_of_that(row, n):
    result = friedman_test(np.array([row] * n))
    orders = set(permutations(row))
    alike = sum(len(set(rows)) == 1 for rows in product(orders, repeat=n))
    assert result.chi2 == pytest.approx(n * (len(row) - 1))
    assert (result.f, result.f_p) == (math.inf, pytest.approx(alike / len(orders) ** n))


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=8))
def test_wilcoxon_counts_all_signs_ties_included(differences):
    values = np.array(differences) / 40
    ranks = stats.rankdata(abs(values))
    observed = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    sums = [ranks @ np.array(signs) for signs in product((0, 1), repeat=len(ranks))]
    expected = min(2 * sum(total <= observed for total in sums) / len(sums), 1.0)
    assert wilcoxon_test(significance.signed_ranks(values, 0 * values)) == pytest.approx(expected)


def test_wilcoxon_of_equal_methods_of_ties_and_of_many_pairs():
    assert wilcoxon_test(np.array([])) == 1.0
    assert wilcoxon_test(np.arange(2000) + 1.0) < 1e-300  # 2^2000 signs are no number
    with_noise = significance.signed_ranks(np.array([0.3, 0.9, 0.8]), np.array([0.2, 0.9, 0.7]))
    assert with_noise.tolist() == [1.5, 1.5]  # 0.3 - 0.2 and 0.8 - 0.7 tie


def test_tests_that_cannot_tell_anything_say_so():
    (sentence,) = significance.what_tests_can_tell(4, 4)
    assert "no p-value can be below 0.375" in sentence
    assert sentence.endswith("at level 0.05 that takes 7 data sets.")
    assert significance.what_tests_can_tell(4, 7) == significance.what_tests_can_tell(6, 16) == []
    assert (
        len(significance.what_tests_can_tell(2, 3)) == 2
    )  # the critical difference is 1.13, ranks are 1 and 2


def test_pairs_say_how_many_data_sets_are_won_tied_and_lost():
    scores = np.array([[0.9, 0.3], [0.3, 0.1 + 0.2], [0.2, 0.4]])  # 0.1 + 0.2 is 0.3, up to noise
    (pair,) = wilcoxon_holm(scores, ["a", "b"], control="a")
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 1)
    assert pair.rank_biserial == pytest.approx(1 / 3)
    (pair,) = wilcoxon_holm(np.array([[0.5, 0.5], [0.1, 0.1]]), ["a", "b"], control="a")
    assert (pair.p, pair.rank_biserial, pair.ties) == (1.0, 0.0, 2)


def test_metrics_are_ranked_by_their_own_direction_where_two_sets_have_them():
    figures = {}
    for dataset, metric in product("st", ("up", "down")):
        figures[dataset, metric, "a"] = PaperFigure(0.1, 0.1, bold=False)
        figures[dataset, metric, "b"] = PaperFigure(0.4, 0.1, bold=False)
    figures["s", "alone", "a"] = figures["s", "alone", "b"] = PaperFigure(0.5, 0.1, bold=False)
    measures = {name: Metric(name, "largest") for name in ("up", "alone")}
    measures["down"] = Metric("down", "smallest")
    found = significance.compare_by_metric(figures, measures, ["a", "b"])
    assert {metric: one.ranks["a"] for metric, one in found.items()} == {"up": 2, "down": 1}
    assert significance.compare_by_metric(figures, measures, ["a"]) == {}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_step_by_step(p_values, random):
    corrected = significance.holm(p_values).tolist()
    largest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(p_values[index] * (len(p_values) - step), 1.0))
        assert corrected[index] == pytest.approx(largest)
    order = random.sample(range(len(p_values)), len(p_values))
    assert sorted(significance.holm([p_values[i] for i in order])) == pytest.approx(
        sorted(corrected)
    )


def test_wilcoxon_holm_compares_one_with_every_other_method(rng):
    scores, names = rng.random((9, 4)), ["a", "b", "c", "d"]
    found = wilcoxon_holm(scores, names, control="b")
    assert [(pair.first, pair.second) for pair in found] == [("b", "a"), ("b", "c"), ("b", "d")]
    for pair, other in zip(found, (0, 2, 3), strict=True):
        assert pair.p == wilcoxon_test(significance.signed_ranks(scores[:, 1], scores[:, other]))


@given(st.lists(st.floats(1, 6), min_size=2, max_size=8), st.floats(0.01, 5))
def test_groups_are_the_largest_runs_that_do_not_differ(values, difference):
    ranks = {str(i): value for i, value in enumerate(values)}
    groups = significance.groups_of(ranks, difference)
    for group in groups:
        spread = [ranks[name] for name in group]
        assert max(spread) - min(spread) < difference
        assert not any(set(group) < set(other) for other in groups)
    for a, b in product(ranks, repeat=2):
        is_together = any({a, b} <= set(group) for group in groups)
        assert a == b or is_together == (abs(ranks[a] - ranks[b]) < difference)


def test_a_data_set_without_all_methods_is_left_out():
    figures = dict(paper_figures())
    del figures["yeast", "coverage", "br"]
    found = significance.compare_methods(figures, "coverage")
    assert "yeast" not in found.datasets
    assert len(found.datasets) == 15
    assert found.nemenyi == significance.critical_differences(6, 15)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"figures": {}}, r"0 method\(s\) share 0 data set"),
        ({"control": "e"}, "control='e' is not known"),
        ({"metric": "up"}, "metric='up' is not known"),
    ],
)
def test_what_cannot_be_tested_is_refused(change, message):
    call = {"figures": paper_figures(), "metric": "coverage"} | change
    with pytest.raises(ValueError, match=message):
        significance.compare_methods(**call)
