"""Metrics of every candidate in every fold ► a table in scikit-learn's form, and the best candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from skcamel.metrics.conventions import NAMES
from skcamel.selection.search import Scores, greater_is_better


class Results(NamedTuple):
    """What a search reports."""

    table: dict[str, Any]  # as `cv_results_`
    best_index: int
    best_score: float
    scoring: str  # the criterion that was used


def tabulate(
    candidates: Sequence[Mapping[str, Any]], folds: Sequence[Sequence[Scores]], scoring: str, *, split_scores: bool = True
) -> Results:
    """Table of all candidates; equal scores: the first is best.

    Parameters
    ----------
    candidates : sequence of mappings
        Parameters of each candidate.
    folds : sequence of sequences
        For each fold the seven metrics of each candidate.
    scoring : str
        One of the seven. Where it is undefined on every row (a ranking metric with one label) the Hamming loss decides.

    split_scores : bool, default=True
        Whether the score of every fold stands in the table; leave-one-out has none.

    Examples
    --------
    >>> fold = [dict.fromkeys(NAMES, 0.5), dict.fromkeys(NAMES, 0.7)]
    >>> found = tabulate([{"alpha": 1.0}, {"alpha": 2.0}], [fold, fold], "micro_f1")
    >>> found.best_index, found.table["rank_test_score"].tolist(), found.table["mean_test_one_error"].tolist()
    (1, [2, 1], [-0.5, -0.7])
    """
    per_fold = [greater_is_better(results) for results in folds]
    means = {name: _mean([scores[name] for scores in per_fold]) for name in NAMES}
    used = "hamming_loss" if np.isnan(means[scoring]).all() else scoring
    scores = np.where(np.isnan(means[used]), -np.inf, means[used])
    table: dict[str, Any] = {"params": [dict(candidate) for candidate in candidates]}
    table |= {f"param_{key}": _column([candidate[key] for candidate in candidates]) for key in candidates[0]}
    table |= {"mean_test_score": means[used], "rank_test_score": rankdata(-scores, method="min").astype(np.int32)}
    table |= {f"mean_test_{name}": means[name] for name in NAMES}
    if split_scores:
        splits = [fold[used] for fold in per_fold]
        table |= {f"split{k}_test_score": values for k, values in enumerate(splits)}
        table["std_test_score"] = np.std(splits, axis=0)
    best = int(scores.argmax())
    return Results(table, best, float(means[used][best]), used)


def _mean(per_fold: list[np.ndarray]) -> np.ndarray:
    """Mean over the folds in which the metric is defined."""
    values = np.array(per_fold)
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.where(count > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _column(values: list[Any]) -> np.ndarray:
    """An array of numbers where all are numbers, else of objects."""
    numeric = all(isinstance(value, int | float) for value in values)
    column = np.empty(len(values), dtype=float if numeric else object)
    column[:] = values
    return column
