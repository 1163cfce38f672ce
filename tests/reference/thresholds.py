"""The best cuts by trying all: every midpoint of two different scores, and beyond both ends.

Values are exact (`reference.metrics`), so that equal ones are seen to be equal. ±inf stands for any
cut beyond the ends.
"""

import math
from itertools import pairwise, product

from reference import metrics


def cuts_between(scores):
    """Every cut that decides differently, the highest first."""
    levels = sorted(set(scores), reverse=True)
    return [math.inf, *((a + b) / 2 for a, b in pairwise(levels)), -math.inf]


def value(metric, Y, scores, cuts, weights=None):
    """The metric of the decisions score > cut, one cut for each label; larger is better."""
    P = [[f > c for f, c in zip(row, cuts, strict=True)] for row in scores.tolist()]
    result = metrics.decision_metric(metric, Y, P, weights=weights)
    return -result if metric == "hamming_loss" else result


def best_common(metric, Y, scores, weights=None):
    """The greatest value of one cut for all labels, and all cuts that reach it, highest first."""
    q = scores.shape[1]
    tried = [
        (value(metric, Y, scores, [cut] * q, weights), cut)
        for cut in cuts_between(scores.ravel().tolist())
    ]
    best = max(v for v, _ in tried)
    return best, [cut for v, cut in tried if v == best]


def best_combination(metric, Y, scores, weights=None):
    """The greatest value that one cut for each label can reach."""
    choices = [cuts_between(column) for column in scores.T.tolist()]
    return max(value(metric, Y, scores, cuts, weights) for cuts in product(*choices))
