"""Statistics of a label matrix, one loop for each definition; Y is a list of rows of 0 and 1."""

import math
from fractions import Fraction


def counts(Y):
    return [sum(row[j] for row in Y) for j in range(len(Y[0]))]


def irlbl(Y):
    """The count of the commonest label over that of each; inf where there is none."""
    each = counts(Y)
    return [max(each) / c if c else math.inf for c in each]


def imbalance(Y):
    """MeanIR, MaxIR, CVIR over labels that occur."""
    ratios = [r for r in irlbl(Y) if math.isfinite(r)]
    if not ratios:
        return math.nan, math.nan, math.nan
    mean = sum(ratios) / len(ratios)
    squares = sum((r - mean) ** 2 for r in ratios)
    return (
        mean,
        max(ratios),
        math.sqrt(squares / (len(ratios) - 1)) / mean if len(ratios) > 1 else 0.0,
    )


def scumble(Y):
    """One value per row."""
    ratios, values = irlbl(Y), []
    for row in Y:
        active = [r for r, y in zip(ratios, row, strict=True) if y]
        if not active:
            values.append(0.0)
            continue
        values.append(1 - math.prod(active) ** (1 / len(active)) / (sum(active) / len(active)))
    return values


def phi(Y, j, k):
    """Pearson's correlation of two labels; NaN if one is constant."""
    n = len(Y)
    a, b = [row[j] for row in Y], [row[k] for row in Y]
    mean_a, mean_b = Fraction(sum(a), n), Fraction(sum(b), n)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    variances = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return float(covariance) / math.sqrt(variances) if variances else math.nan


def together(Y, j, k):
    return sum(row[j] and row[k] for row in Y)


def label_sets(Y):
    """How often each label set occurs."""
    seen = {}
    for row in Y:
        seen[tuple(row)] = seen.get(tuple(row), 0) + 1
    return sorted(seen.values(), reverse=True)


def repeats(rows):
    """Rows that repeat an earlier one."""
    return sum(rows[i] in rows[:i] for i in range(len(rows)))
