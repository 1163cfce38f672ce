"""Ranks, Friedman, critical differences, Wilcoxon and Holm against published constants, scipy and counting by hand."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from skcamel.experiment.published import PaperFigure, paper_figures
from skcamel.experiment.significance import (
    compare_by_metric,
    compare_methods,
    critical_difference,
    friedman_test,
    groups_of,
    holm,
    rank_biserial,
    ranks_of,
    score_matrix,
    what_tests_can_tell,
    wilcoxon_holm,
    wilcoxon_test,
)
from skcamel.experiment.summary import Metric

# Critical values for k = 2 … 10 as Demšar (JMLR 7, 2006) tabulates them in Table 5; see the note on
# k = 9 below.
NEMENYI = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}
BONFERRONI_DUNN = {
    0.05: (1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773),
    0.10: (1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539),
}
score_matrices = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(
        np.float64, shape, elements=st.integers(0, 20).map(lambda value: value / 20)
    )
)


@pytest.mark.parametrize("alpha", [0.05, 0.10])
@pytest.mark.parametrize("k", range(2, 11))
def test_critical_values_are_the_published_ones(k, alpha):
    unit = math.sqrt(k * (k + 1) / (6 * 10))
    nemenyi, dunn = (
        critical_difference(k, 10, alpha=alpha, test=test) / unit
        for test in ("nemenyi", "bonferroni-dunn")
    )
    assert nemenyi == pytest.approx(
        NEMENYI[alpha][k - 2], abs=1.5e-3
    )  # printed with three decimals, some of them cut off
    if (k, alpha) != (9, 0.05):
        assert dunn == pytest.approx(BONFERRONI_DUNN[alpha][k - 2], abs=1.5e-3)
    else:  # the table prints 2.724, the quantile of the normal distribution at 0.05 / 16 is 2.734
        assert dunn == pytest.approx(stats.norm.ppf(1 - 0.05 / 16))
        assert dunn == pytest.approx(2.734, abs=1e-3)


def test_two_methods_leave_one_comparison_and_both_tests_agree():
    assert critical_difference(2, 7) == pytest.approx(
        critical_difference(2, 7, test="bonferroni-dunn")
    )


@given(st.integers(2, 12), st.integers(1, 50), st.sampled_from(["nemenyi", "bonferroni-dunn"]))
def test_more_data_sets_make_the_difference_smaller(k, n, test):
    assert critical_difference(k, 4 * n, test=test) == pytest.approx(
        critical_difference(k, n, test=test) / 2
    )


@given(score_matrices)
def test_friedman_is_scipys_ties_included(scores):
    assume(scores.shape[1] > 2)  # scipy refuses two methods
    result = friedman_test(ranks_of(scores))
    if all(len(set(row)) == 1 for row in scores.tolist()):
        assert result == (0.0, 1.0, 0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*scores.T)
    assert result.chi2 == pytest.approx(expected.statistic, abs=1e-9)
    assert result.chi2_p == pytest.approx(expected.pvalue, abs=1e-9)


def test_friedman_by_hand():
    """Ranks 1 2 3, 1 3 2, 1 2 3, 2 1 3: R = 5/4, 2, 11/4; χ² = 12·4/(3·4) (R₁² + R₂² + R₃² - 3·4²/4), no ties."""
    R = [Fraction(5, 4), Fraction(2), Fraction(11, 4)]
    chi2 = Fraction(12 * 4, 12) * (sum(r * r for r in R) - 12)
    f = 3 * chi2 / (4 * 2 - chi2)
    result = friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    assert (result.chi2, result.f) == (pytest.approx(float(chi2)), pytest.approx(float(f)))
    assert result.f_p == pytest.approx(1 - stats.f.cdf(float(f), 2, 6))


@pytest.mark.parametrize("row", [[1, 2, 3], [1.5, 1.5, 3], [1, 2.5, 2.5], [2, 1]], ids=str)
@pytest.mark.parametrize("n", [2, 3])
def test_where_all_rows_are_alike_p_is_the_chance_of_that(row, n):
    result = friedman_test([row] * n)
    orders = set(permutations(row))
    alike = sum(len(set(rows)) == 1 for rows in product(orders, repeat=n))
    assert result.chi2 == pytest.approx(n * (len(row) - 1))
    assert (result.f, result.f_p) == (math.inf, pytest.approx(alike / len(orders) ** n))


@given(score_matrices, st.randoms())
def test_permuting_data_sets_or_methods_permutes_ranks_and_keeps_the_tests(scores, random):
    rows, columns = (random.sample(range(size), size) for size in scores.shape)
    ranks, permuted = ranks_of(scores), ranks_of(scores[rows][:, columns])
    assert (permuted == ranks[rows][:, columns]).all()
    assert friedman_test(permuted) == pytest.approx(friedman_test(ranks), abs=1e-9)


@given(score_matrices)
def test_ranks_do_not_change_under_an_increasing_map_and_add_up(scores):
    ranks = ranks_of(scores)
    assert (ranks_of(np.exp(3 * scores) - 7) == ranks).all()
    assert (ranks_of(-scores) == scores.shape[1] + 1 - ranks).all()
    assert ranks.sum(axis=1) == pytest.approx(scores.shape[1] * (scores.shape[1] + 1) / 2)


def exact_wilcoxon(differences):
    """Two-sided p-value by trying all signs."""
    ranks = stats.rankdata(abs(differences))
    observed = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    return min(2 * sum(total <= observed for total in sums) / len(sums), 1.0)


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=8))
def test_wilcoxon_counts_all_signs_ties_included(differences):
    values = np.array(differences) / 40
    assert wilcoxon_test(values, np.zeros(len(values))) == pytest.approx(exact_wilcoxon(values))


@given(st.lists(st.integers(-99, 99).filter(bool), min_size=1, max_size=30, unique_by=abs))
def test_wilcoxon_without_ties_is_scipys_exact_one(differences):
    values = np.array(differences) / 100
    assert wilcoxon_test(values, np.zeros(len(values))) == pytest.approx(
        stats.wilcoxon(values, method="exact").pvalue, rel=1e-9
    )


@pytest.mark.parametrize(("n", "others"), [(2, 1), (4, 3), (5, 2), (7, 3)])
def test_no_scores_give_a_smaller_corrected_p_value_than_the_smallest(n, others):
    found = [
        min(
            pair.p_holm
            for pair in wilcoxon_holm(
                np.column_stack([signs, np.zeros((n, others))]),
                list("abcdef")[: others + 1],
                control="a",
            )
        )
        for signs in (np.array(each) * np.arange(1, n + 1) for each in product((-1, 1), repeat=n))
    ]
    assert min(found) == min(1.0, others * 2.0 ** (1 - n))
    ties = np.column_stack([np.ones(n), np.zeros((n, others))])
    assert min(
        pair.p_holm for pair in wilcoxon_holm(ties, list("abcdef")[: others + 1], control="a")
    ) == min(1.0, others * 2.0 ** (1 - n))


def test_tests_that_cannot_tell_anything_say_so():
    (sentence,) = what_tests_can_tell(4, 4)
    assert "no p-value can be below 0.375" in sentence
    assert sentence.endswith("at level 0.05 that takes 7 data sets.")
    assert what_tests_can_tell(4, 7) == what_tests_can_tell(6, 16) == []
    assert (
        len(what_tests_can_tell(2, 3)) == 2
    )  # ranks of two methods differ by at most 1, and the critical difference is 1.13
    assert what_tests_can_tell(4, 6, alpha=0.1) == []


def biserial_by_hand(differences):
    """Share of favourable less share of unfavourable evidence, rank by rank."""
    sizes = sorted(abs(d) for d in differences if d)
    rank = {
        size: Fraction(
            sum(i for i, other in enumerate(sizes, 1) if other == size), sizes.count(size)
        )
        for size in sizes
    }
    total = sum(rank[abs(d)] for d in differences if d)
    return (
        float(sum(rank[abs(d)] * (1 if d > 0 else -1) for d in differences if d) / total)
        if total
        else 0.0
    )


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=10))
def test_rank_biserial_by_hand(differences):
    values = np.array(differences) / 10
    found = rank_biserial(values, np.zeros(len(values)))
    assert found == pytest.approx(biserial_by_hand(differences))
    assert found == pytest.approx(-rank_biserial(np.zeros(len(values)), values))
    assert -1 <= found <= 1


def test_pairs_say_how_many_data_sets_are_won_tied_and_lost():
    scores = [[0.9, 0.3], [0.3, 0.1 + 0.2], [0.2, 0.4]]  # 0.1 + 0.2 is 0.3, up to floating point
    (pair,) = wilcoxon_holm(scores, ["a", "b"])
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 1)
    assert pair.rank_biserial == pytest.approx(1 / 3)


def test_metrics_are_ranked_by_their_own_direction_and_left_out_where_too_few_sets_have_them():
    figures = {
        (d, m, name): PaperFigure(mean, 0.1, bold=False)
        for d in "st"
        for m in ("up", "down")
        for name, mean in (("a", 0.1), ("b", 0.4))
    }
    figures["s", "alone", "a"] = figures["s", "alone", "b"] = PaperFigure(0.5, 0.1, bold=False)
    measures = {
        "up": Metric("Up", "largest"),
        "down": Metric("Down", "smallest"),
        "alone": Metric("Alone", "largest"),
    }
    found = compare_by_metric(figures, measures, ["a", "b"])
    assert {metric: one.ranks["a"] for metric, one in found.items()} == {"up": 2, "down": 1}
    assert compare_by_metric(figures, measures, ["a"]) == {}
    with pytest.raises(ValueError, match="metric"):
        compare_methods(figures, "up")  # which of its values is best is not known


def test_wilcoxon_of_equal_methods_and_of_ties():
    assert wilcoxon_test([0.5, 0.7], [0.5, 0.7]) == 1.0
    assert wilcoxon_test([0.3, 0.9, 0.8], [0.2, 0.9, 0.7]) == wilcoxon_test(
        [0.3, 0.8], [0.2, 0.7]
    )  # 0.3 - 0.2 and 0.8 - 0.7 tie
    assert wilcoxon_test(np.arange(60) + 1.0, np.zeros(60)) < 1e-9  # more than are enumerated


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_step_by_step(p_values, random):
    corrected = holm(p_values).tolist()
    largest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(p_values[index] * (len(p_values) - step), 1.0))
        assert corrected[index] == pytest.approx(largest)
    order = random.sample(range(len(p_values)), len(p_values))
    assert sorted(holm([p_values[i] for i in order])) == pytest.approx(sorted(corrected))


def test_wilcoxon_holm_compares_one_or_all_pairs(rng):
    scores, names = rng.random((9, 4)), ["a", "b", "c", "d"]
    one, all_pairs = wilcoxon_holm(scores, names, control="b"), wilcoxon_holm(scores, names)
    assert [(pair.first, pair.second) for pair in one] == [("b", "a"), ("b", "c"), ("b", "d")]
    assert len(all_pairs) == 6
    assert {frozenset(pair[:2]): pair.p for pair in one}.items() <= {
        frozenset(pair[:2]): pair.p for pair in all_pairs
    }.items()
    with pytest.raises(ValueError, match="control"):
        wilcoxon_holm(scores, names, control="e")


@given(st.lists(st.floats(1, 6), min_size=2, max_size=8), st.floats(0.01, 5))
def test_groups_are_the_largest_runs_that_do_not_differ(values, difference):
    ranks = {str(i): value for i, value in enumerate(values)}
    groups = groups_of(ranks, difference)
    for group in groups:
        spread = [ranks[name] for name in group]
        assert max(spread) - min(spread) < difference
        assert not any(set(group) < set(other) for other in groups)
    together = {frozenset((a, b)) for group in groups for a in group for b in group if a != b}
    assert together == {
        frozenset((a, b))
        for a in ranks
        for b in ranks
        if a != b and abs(ranks[a] - ranks[b]) < difference
    }


def test_losses_are_ranked_the_other_way():
    small, large = PaperFigure(0.1, 0.1, bold=False), PaperFigure(0.4, 0.1, bold=False)
    figures = {
        ("s", metric, name): cell
        for metric in ("coverage", "micro_f1")
        for name, cell in (("a", small), ("b", large))
    }
    assert ranks_of(score_matrix(figures, "coverage")[0]).tolist() == [[1, 2]]
    assert ranks_of(score_matrix(figures, "micro_f1")[0]).tolist() == [[2, 1]]


def test_a_data_set_without_all_methods_is_left_out():
    figures = {
        key: cell for key, cell in paper_figures().items() if key != ("yeast", "coverage", "br")
    }
    found = compare_methods(figures, "coverage")
    assert "yeast" not in found.datasets
    assert len(found.datasets) == 15
    assert found.nemenyi == critical_difference(6, 15)


def test_what_cannot_be_tested_is_refused():
    figures = {key: cell for key, cell in paper_figures().items() if key[0] == "yeast"}
    with pytest.raises(ValueError, match=r"6 method\(s\) share 1 data set"):
        compare_methods(figures, "coverage")
    with pytest.raises(ValueError, match="NaN, which has no rank"):
        ranks_of([[0.1, np.nan]])
    with pytest.raises(ValueError, match="needs at least 2"):
        friedman_test([[1, 2]])
    with pytest.raises(ValueError, match="a level between 0 and 1"):
        critical_difference(3, 3, alpha=5)
    with pytest.raises(ValueError, match="at least 2 and 1"):
        critical_difference(1, 3)
    with pytest.raises(ValueError, match="test"):
        critical_difference(3, 3, test="tukey")
