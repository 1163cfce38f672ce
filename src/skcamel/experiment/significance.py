"""Scores of methods on data sets ► ranks, Friedman, Wilcoxon with Holm, effect sizes.

After Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7 (2006) 1-30.
Scores and ranks have a row for each of N data sets and a column for each of k methods. Metrics are
tested one at a time: metrics of one model are not independent. No test sees the folds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from skcamel.arrays import Array
from skcamel.checks import choice
from skcamel.experiment.summary import SEVEN, Key, Metric

LEVEL = 0.05  # of the tests in tables and on pages
Figures = Mapping[Key, Any]  # (data set, metric, method) ► something with a mean


class Friedman(NamedTuple):
    """Whether the methods differ: χ², and F with k - 1 and (k - 1)(N - 1) degrees of freedom."""

    chi2: float
    f: float
    f_p: float


class Pair(NamedTuple):
    """Wilcoxon's signed-rank test of two methods, and how large their difference is."""

    first: str
    second: str
    p: float
    p_holm: float  # corrected for the number of pairs
    rank_biserial: float  # from -1 to 1, see :func:`wilcoxon_holm`
    wins: int  # data sets on which the first is better
    ties: int
    losses: int


@dataclass(frozen=True)
class Significance:
    """All tests of one metric."""

    metric: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    ranks: dict[str, float]  # average ranks, 1 is best
    friedman: Friedman
    nemenyi: float  # critical differences of average ranks
    bonferroni_dunn: float
    wilcoxon: tuple[Pair, ...]


def compare_methods(
    figures: Figures,
    metric: str,
    *,
    methods: Sequence[str] | None = None,
    control: str | None = None,
    measure: Metric | None = None,
) -> Significance:
    """All tests of one metric over the data sets that every method has a mean for.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► something with a mean; ours or the paper's.
    metric : str
    methods : sequence of str, default=None
        None: all that occur.
    control : str, default=None
        Wilcoxon's test compares it with every other method; None: the first.
    measure : Metric, default=None
        Which value of the metric is best. None: as of the seven metrics.

    Examples
    --------
    >>> from skcamel.experiment.published import paper_figures
    >>> found = compare_methods(paper_figures(), "average_precision", control="camel")
    >>> min(found.ranks, key=found.ranks.get), found.friedman.f_p < 0.001
    ('camel', True)
    """
    if measure is None:
        measure = SEVEN[choice(metric, tuple(SEVEN), "metric")]
    if methods is None:
        methods = list(dict.fromkeys(method for _, name, method in figures if name == metric))
    rows = score_rows(figures, metric, methods, measure)
    n = len(rows)
    k = len(methods)
    if min(n, k) < 2:
        raise ValueError(
            f"{metric}: {k} method(s) share {n} data set(s) with results; tests need at least 2 of"
            " each."
        )
    scores = np.array(list(rows.values()))
    if control is None:
        control = methods[0]
    ranks = stats.rankdata(-scores, axis=1)
    averages = ranks.mean(axis=0).tolist()
    return Significance(
        metric,
        tuple(methods),
        tuple(rows),
        dict(zip(methods, averages, strict=True)),
        friedman_test(ranks),
        *critical_differences(k, n),
        wilcoxon=wilcoxon_holm(scores, methods, control=control),
    )


def compare_by_metric(
    figures: Figures, measures: Mapping[str, Metric], methods: Sequence[str]
) -> dict[str, Significance]:
    """Tests of every metric for which the methods share two data sets, the first one as control.

    >>> from skcamel.experiment.published import paper_figures
    >>> found = compare_by_metric(paper_figures(), SEVEN, ["camel", "br"])
    >>> len(found), compare_by_metric({}, SEVEN, ["camel", "br"])
    (7, {})
    """
    found = {}
    for metric, measure in measures.items():
        shared = score_rows(figures, metric, methods, measure)
        if min(len(methods), len(shared)) > 1:
            found[metric] = compare_methods(figures, metric, methods=methods, measure=measure)
    return found


def score_rows(
    figures: Figures, metric: str, methods: Sequence[str], measure: Metric
) -> dict[str, list[float]]:
    """Means of the methods on each data set that all of them have; losses are negated."""
    rows = {}
    for dataset in dict.fromkeys(key[0] for key in figures):
        cells = [figures.get((dataset, metric, method)) for method in methods]
        scores = [math.nan if cell is None else measure.gain(cell.mean, 0.0) for cell in cells]
        if not np.isnan(scores).any():
            rows[dataset] = scores
    return rows


def friedman_test(ranks: Array) -> Friedman:
    """Test whether all methods are equal, from ranks (N, k).

    With average ranks R_j and m = (k + 1)/2, χ² = N² (k - 1) Σ_j (R_j - m)² / Σ_ij (r_ij - m)²,
    which is Friedman's statistic corrected for ties, and F = (N - 1) χ² / (N (k - 1) - χ²), Iman
    and Davenport's form. If all rows are equal, F is infinite even for two data sets; its p-value
    is then the chance that N random rows are equal, (k!)^(1 - N) without ties.

    >>> result = friedman_test(np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]))
    >>> round(result.chi2, 6), round(result.f, 6)
    (4.5, 3.857143)
    """
    n, k = ranks.shape
    deviations = ranks - (k + 1) / 2
    spread = (deviations**2).sum()
    if spread == 0:  # every row one tie
        return Friedman(0.0, 0.0, 1.0)
    chi2 = float(n**2 * (k - 1) * (deviations.mean(axis=0) ** 2).sum() / spread)
    rest = n * (k - 1) - chi2
    if rest <= 1e-9 * chi2:  # all rows alike; equal ranks are no difference
        _, equal = np.unique(ranks[0], return_counts=True)
        orders = special.factorial(k) / special.factorial(equal).prod()
        return Friedman(chi2, math.inf, float(orders ** (1 - n)))
    f = (n - 1) * chi2 / rest
    f_p = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    return Friedman(chi2, f, float(f_p))


def critical_differences(n_methods: int, n_datasets: int) -> tuple[float, float]:
    """The least differences of average ranks that are significant at level α = .05.

    They are q √(k (k + 1) / 6N). For every pair of methods (Nemenyi) q is the quantile of the
    studentised range for k groups over √2; for one method against all others (Bonferroni-Dunn)
    that of the normal distribution at α / (k - 1), two-sided.

    >>> np.round(critical_differences(6, 16), 3)
    array([1.885, 1.704])
    """
    unit = math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
    nemenyi = stats.studentized_range.isf(LEVEL, n_methods, math.inf) / math.sqrt(2)
    dunn = stats.norm.isf(LEVEL / 2 / (n_methods - 1))
    return float(nemenyi * unit), float(dunn * unit)


def groups_of(ranks: Mapping[str, float], difference: float) -> list[tuple[str, ...]]:
    """Largest groups of methods whose average ranks lie closer than the critical difference.

    These are the bars of the diagram.

    >>> groups_of({"a": 1.0, "b": 2.0, "c": 2.8, "d": 5.0}, 1.5)
    [('a', 'b'), ('b', 'c')]
    """
    names = sorted(ranks, key=lambda name: ranks[name])
    groups: list[tuple[str, ...]] = []
    for start, name in enumerate(names):
        group = tuple(other for other in names[start:] if ranks[other] - ranks[name] < difference)
        is_inside = bool(groups) and group[-1] in groups[-1]
        if len(group) > 1 and not is_inside:
            groups.append(group)
    return groups


def signed_ranks(first: Array, second: Array) -> Array:
    """Ranks of the sizes of the differences, each with the sign of its difference; none of ties.

    Differences are taken without the noise of floating point: 0.3 - 0.2 is 0.2 - 0.1.

    >>> signed_ranks(np.array([0.9, 0.3, 0.1]), np.array([0.5, 0.3, 0.2]))
    array([ 2., -1.])
    """
    differences = np.round(first - second, 12)
    differences = differences[differences != 0]
    return np.sign(differences) * stats.rankdata(abs(differences))


def wilcoxon_test(signed: Array) -> float:
    """Two-sided p-value of Wilcoxon's test, from the signed ranks of N pairs; 1 without any.

    It is the share of all 2^N signs of the differences that are at least as one-sided, ties of
    their sizes included.

    >>> wilcoxon_test(np.array([3.0, 1.0, 2.0, 5.0, 4.0]))
    0.0625
    """
    if not len(signed):
        return 1.0
    doubled = np.rint(2 * abs(signed)).astype(int)  # whole numbers, ties too
    shares = np.ones(1)  # of the signs so far that reach each sum
    for rank in doubled:
        shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
    upper = doubled[signed > 0].sum()
    least = min(upper, doubled.sum() - upper)
    return float(min(2 * shares[: least + 1].sum(), 1.0))


def what_tests_can_tell(n_methods: int, n_datasets: int) -> list[str]:
    """Sentences about tests that could not see a difference, however large it was.

    The least p-value of Wilcoxon's test with Holm's correction for m comparisons on N data sets is
    m · 2^(1 - N).

    >>> what_tests_can_tell(6, 16)
    []
    >>> what_tests_can_tell(4, 4)[0].partition(":")[0]
    'Wilcoxon with Holm on 4 data sets'
    """
    others = n_methods - 1
    sentences: list[str] = []
    least = min(1.0, others * 2.0 ** (1 - n_datasets))
    if least >= LEVEL:
        needed = math.floor(1 + math.log2(others / LEVEL)) + 1
        sentences.append(
            f"Wilcoxon with Holm on {n_datasets} data sets: no p-value can be below {least:.3g},"
            f" however large a difference is; at level {LEVEL:g} that takes {needed} data sets."
        )
    difference, _ = critical_differences(n_methods, n_datasets)
    if difference >= others:
        sentences.append(
            f"Nemenyi on {n_datasets} data sets: the critical difference is {difference:.2f}, and"
            f" average ranks of {n_methods} methods differ by at most {others}."
        )
    return sentences


def holm(p_values: Sequence[float]) -> Array:
    """Holm's step-down correction, in the order given.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return corrected


def wilcoxon_holm(scores: Array, methods: Sequence[str], *, control: str) -> tuple[Pair, ...]:
    """Wilcoxon's test of `control` against every other method, corrected by Holm.

    The effect is the matched-pairs rank-biserial correlation (R₊ - R₋) / (R₊ + R₋), with the sums
    of the positive and the negative ranks, and 0 where all pairs tie. After Kerby, The simple
    difference formula, Comprehensive Psychology 3 (2014).

    >>> scores = np.array([[0.9, 0.5, 0.7], [0.8, 0.3, 0.1], [0.7, 0.1, 0.2]])
    >>> wilcoxon_holm(scores, ["a", "b", "c"], control="a")[0]
    Pair(first='a', second='b', p=0.25, p_holm=0.5, rank_biserial=1.0, wins=3, ties=0, losses=0)
    """
    columns = dict(zip(methods, scores.T, strict=True))
    choice(control, tuple(methods), "control")
    pairs = [(control, other) for other in methods if other != control]
    ranks = [signed_ranks(columns[first], columns[second]) for first, second in pairs]
    p_values = [wilcoxon_test(signed) for signed in ranks]
    found = []
    for names, signed, p, p_holm in zip(pairs, ranks, p_values, holm(p_values), strict=True):
        wins = int((signed > 0).sum())
        losses = int((signed < 0).sum())
        ties = len(scores) - wins - losses
        effect = float(signed.sum() / max(1.0, abs(signed).sum()))
        found.append(Pair(*names, p, float(p_holm), effect, wins, ties, losses))
    return tuple(found)
