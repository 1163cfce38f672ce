"""Grid ► results: every candidate scored by exact leave-one-out or by folds, one decomposition for all α, λ1 and λ2."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from skcamel.arrays import Array, cast, is_tensor, namespace, to_device, to_match, to_numpy
from skcamel.camel import spectral
from skcamel.camel.representation import Data, Grid, judged_by, label_bases, represent, solver_of, targets_of
from skcamel.camel.source import Batch, InMemory
from skcamel.camel.stream import Streaming
from skcamel.camel.thresholds import Rule, lowered
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING
from skcamel.metrics.decision import Counts, count, decision_metrics, f1_of
from skcamel.metrics.ranking import ranking_metrics, ranking_rows
from skcamel.rows import dense

STACK_BYTES = 2**28  # scores that a GPU judges at a time
log = logging.getLogger("skcamel")
Scores = dict[str, float]


def score_fold(
    train: Data, test: Data, grid: Grid, S: np.ndarray, rule: Rule, device: Any, by: Streaming | None = None
) -> Iterator[list[Scores]]:
    """For each representation, the metrics of its candidates on the test part, as refitting each would give them."""
    relevant = to_device(dense(test.Y), device) > 0
    counts = None if test.counts is None else to_device(test.counts, device)
    source = None if by is None else InMemory(Batch(train.X, train.Y, train.weights), by)
    for representation, spectrum in represent(train if source is None else source, grid, device):
        penalties = grid.penalties(representation.unit(spectrum))
        bases = [basis.to_match(spectrum.values) for basis in label_bases(S, grid.alphas)]
        K = representation.kernel_rows(test.X, device)
        targets = targets_of(spectrum, train)
        cuts = _fold_cuts(spectrum, targets, train if source is None else judged_by(source.survey.judged), bases, penalties, rule)
        held_out = solver_of(spectrum, train).held_out(spectrum, targets, bases, penalties, K)
        yield [candidate_metrics(relevant, scores[None], cut, counts)[0] for (_, _, scores), cut in zip(held_out, cuts, strict=True)]
        del representation, spectrum, targets, K, cuts, held_out  # before the next kernel matrix is made


def _fold_cuts(
    spectrum: spectral.Spectrum,
    targets: spectral.Targets | Array,
    train: Data,
    bases: Sequence[spectral.LabelBasis],
    penalties: list[tuple[float, float]],
    rule: Rule,
) -> Iterable[Array]:
    """Cuts of every candidate: tuned ones need the leave-one-out scores of the training part."""
    relevant = to_match(train.Y, spectrum.values) > 0
    if not rule.is_tuned:
        return [rule.cuts(relevant, spectrum.values)] * (len(bases) * len(penalties))
    counts = None if train.counts is None else to_match(train.counts, relevant)
    solver = solver_of(spectrum, train)
    return (rule.cuts(relevant, scores, counts) for _, _, scores in solver.leave_one_out(spectrum, targets, bases, penalties))


def stacks(scores: Iterable[Array]) -> Iterator[Array]:
    """Scores (n, q) of some candidates as (c, n, q): one at a time on the CPU, for the cache; many on a GPU, which is slow to start.

    Threads would gain nothing here: those of BLAS still wait for the next product while the scores are sorted.
    """
    waiting = iter(scores)
    for first in waiting:
        size = max(1, STACK_BYTES // (8 * math.prod(first.shape))) if is_tensor(first) else 1
        some = [first, *islice(waiting, size - 1)]
        yield namespace(first).stack(some) if len(some) > 1 else first[None]


def candidate_metrics(relevant: Array, scores: Array, cuts: Array, weights: Array | None) -> list[Scores]:
    """The seven metrics of c candidates: scores (c, n, q), relevance bool (n, q), cuts (q,) or (c, 1, q).

    Weights are (n,) or None, or those of entries (n, q), 0 where labels are unknown.
    """
    xp = namespace(scores)
    if weights is not None and weights.ndim == 2:
        values = _of_known_entries(relevant, scores, scores > cuts, weights)
    else:
        values = ranking_metrics(relevant, scores, weights=weights) | decision_metrics(count(relevant, scores > cuts, weights))
    columns = to_numpy(xp.stack([values[name] for name in NAMES])).T.tolist()  # one transfer from a device
    return [dict(zip(NAMES, column, strict=True)) for column in columns]


def _of_known_entries(relevant: Array, scores: Array, decided: Array, weights: Array) -> dict[str, Array]:
    """The seven metrics where weights of entries (n, q) are 0 for unknown labels.

    Rows rank their known labels alone, and count where these are neither all relevant nor all irrelevant. Macro-F1 is the mean over
    the labels that some row knows. Where nothing is known all are NaN.
    """
    xp = namespace(scores)
    known = weights > 0
    if not bool(known.any()):
        return dict.fromkeys(NAMES, xp.nan * scores[:, 0, 0])
    c, (n, q) = len(scores), weights.shape
    shape = (c * n, q)
    per_row = ranking_rows(*(xp.reshape(x, shape) for x in (xp.broadcast_to(relevant, scores.shape), lowered(scores, known))))
    of_rows, total = (xp.sum(cast(x, "float64"), axis=1) for x in (known, relevant))  # (n,) each
    counted = (total > 0) & (total < of_rows)
    w = xp.where(counted, xp.amax(weights, axis=1), 0.0)
    corrections = {  # positions among all labels ► among known ones
        "coverage": q / xp.clip(of_rows, 1, None),
        "ranking_loss": total * (q - total) / xp.clip(total * (of_rows - total), 1, None),
    }
    values = {}
    for name in RANKING:
        own = xp.reshape(cast(per_row[name], "float64"), (c, n)) * corrections.get(name, 1.0)
        values[name] = own @ w / xp.sum(w) if bool(counted.any()) else xp.nan * own[:, 0]
    both, predicted, positives = (xp.sum(weights * x, axis=-2) for x in (relevant & decided, decided, relevant))
    tallies = Counts(both, predicted - both, positives - both, float(xp.sum(weights)) / q)
    some = xp.any(known, axis=0)
    return values | decision_metrics(tallies) | {"macro_f1": xp.mean(f1_of(tallies)[:, some], axis=1)}


class Results(NamedTuple):
    """What a search reports."""

    table: dict[str, Any]  # as `cv_results_`
    best_index: int
    best_score: float
    scoring: str  # the criterion that was used


def tabulate(
    candidates: Sequence[Mapping[str, Any]], folds: Sequence[Sequence[Scores]], scoring: str, *, split_scores: bool = True
) -> Results:
    """Table of all candidates from the parameters of each, and for each fold the seven metrics of each; the first of equal ones is best.

    If the criterion `scoring` is undefined on every row (a ranking metric with one label), the Hamming loss decides.
    `split_scores` adds the score of every fold to the table; leave-one-out has none.

    >>> fold = [dict.fromkeys(NAMES, 0.5), dict.fromkeys(NAMES, 0.7)]
    >>> found = tabulate([{"alpha": 1.0}, {"alpha": 2.0}], [fold, fold], "micro_f1")
    >>> found.best_index, found.table["rank_test_score"].tolist(), found.table["mean_test_one_error"].tolist()
    (1, [2, 1], [-0.5, -0.7])
    """
    greater_is_better = {name: np.array([[-r[name] if name in LOSSES else r[name] for r in fold] for fold in folds]) for name in NAMES}
    means = {name: _mean(values) for name, values in greater_is_better.items()}
    used = "hamming_loss" if np.isnan(means[scoring]).all() else scoring
    scores = np.where(np.isnan(means[used]), -np.inf, means[used])
    table: dict[str, Any] = {"params": [dict(candidate) for candidate in candidates]}
    table |= {f"param_{key}": _column([candidate[key] for candidate in candidates]) for key in candidates[0]}
    table |= {"mean_test_score": means[used], "rank_test_score": rankdata(-scores, method="min").astype(np.int32)}
    table |= {f"mean_test_{name}": means[name] for name in NAMES}
    if split_scores:
        table |= {f"split{k}_test_score": values for k, values in enumerate(greater_is_better[used])}
        table["std_test_score"] = np.std(greater_is_better[used], axis=0)
    best = int(scores.argmax())
    return Results(table, best, float(means[used][best]), used)


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean over the folds (k, candidates) in which the metric is defined."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.where(count > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _column(values: list[Any]) -> np.ndarray:
    """An array of numbers where all are numbers, else of objects."""
    numeric = all(isinstance(value, int | float) for value in values)
    column = np.empty(len(values), dtype=float if numeric else object)
    column[:] = values
    return column
