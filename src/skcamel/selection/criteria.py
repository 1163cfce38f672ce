"""One search ► a winner for each of the seven criteria, all from the same decompositions.

A study that does not know which criterion others selected by keeps the outcome under each. Scoring a candidate gives all
seven metrics anyway, so the only price is to keep the coefficients of the winners; no decomposition outlives its turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array, as_floats, cast, namespace, to_match, to_numpy
from skcamel.kernel import Kernel
from skcamel.metrics.conventions import LOSSES, NAMES
from skcamel.metrics.decision import count, decision_metrics
from skcamel.metrics.ranking import ranking_metrics
from skcamel.scaling import Scaling
from skcamel.selection.search import Data, Decomposed, Grid, label_bases, on_device, represent
from skcamel.selection.thresholds import METRICS, Rule
from skcamel.solve import spectral

ZERO = Rule("zero")
SHORTLIST = 3  # candidates of a representation, for each criterion, whose cuts are tuned
PARTS = 9  # a training part is nine times the test part of ten folds
GROUPS = 3  # of parts; cuts are judged on the group that did not set them


@dataclass(frozen=True)
class Winner:
    """The candidate that is best for one criterion, and what is needed to predict with it."""

    params: dict[str, Any]
    score: float  # larger is better
    rule: Rule
    cuts: Array  # (q,)
    scaling: Scaling
    kernel: Kernel
    dual_coef: Array  # (n, q)
    intercept: Array  # (q,)


class _Candidate(NamedTuple):
    params: dict[str, Any]
    metrics: dict[str, float]  # as scores: larger is better; decisions cut at 0
    scores: Array | None  # (n, q) by leave-one-out, where they are wanted later


class _Verdict(NamedTuple):
    score: float
    candidate: _Candidate
    rule: Rule


def winners(
    data: Data, grids: Sequence[Grid], S: np.ndarray, *, tuned: bool = False, seed: int = 0, device: Any = None
) -> dict[str, Winner]:
    """Best candidate by exact leave-one-out for every criterion; equal scores: the first in the order of the grids.

    A criterion that is undefined for all, as those of rankings are with a single label, takes the winner of Hamming loss.

    Parameters
    ----------
    data : Data
    grids : sequence of Grid
    S : array of shape (q, q)
        Label correlation of the training rows.
    tuned : bool, default=False
        False: decisions are cut at 0, as in the paper. True: for the three metrics of decisions the best candidates are also
        tried with one tuned cut and with one for each label. Every cut is judged on rows that did not set it, and the
        F1 metrics as means over ninths of the rows, since macro-F1 depends on how many labels a test part lacks.
    seed : int, default=0
        Deals the rows to the ninths.
    device : str, default=None

    Returns
    -------
    dict
        Criterion ► Winner.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    >>> data = Data(X, np.where(X[:, :2] + 0.5 * noise > 0, 1.0, -1.0), None)
    >>> found = winners(data, [Grid((0.0, 0.5), (1.0,), (0.1, 1.0), (1.0,), ("rbf",), ("none",))], np.zeros((2, 2)))
    >>> sorted(found) == sorted(NAMES), found["one_error"].params["alpha"]
    (True, 0.0)
    """
    if tuned and data.weights is not None:
        raise ValueError("Cuts are tuned for each criterion on rows of equal weight only; repeat rows instead of weighting them.")
    found: dict[str, Winner] = {}
    for grid in grids:
        left = iter(grid.candidates())
        for decomposed in represent(data, grid, device):
            spectrum = decomposed[1]
            relevant = to_match(data.Y, spectrum.values) > 0
            candidates = _shortlisted(_scored(data, S, grid, spectrum, left), SHORTLIST if tuned else 0)
            verdicts = _tuned(relevant, candidates, seed) if tuned else _at_zero(candidates)
            better = {name: verdict for name, verdict in verdicts.items() if name not in found or verdict.score > found[name].score}
            found |= _learned(better, data, S, decomposed)
            del decomposed, spectrum, candidates, verdicts, better  # before the next kernel matrix is made
    return {criterion: found["hamming_loss"] if winner.score == -math.inf else winner for criterion, winner in found.items()}


def _learned(verdicts: Mapping[str, _Verdict], data: Data, S: np.ndarray, decomposed: Decomposed) -> dict[str, Winner]:
    """What predicts, from the decomposition that is at hand; criteria with one candidate share its coefficients."""
    representation, spectrum = decomposed
    Y = to_match(data.Y, spectrum.values)
    targets = spectral.project(spectrum, Y)
    known: dict[tuple[Any, ...], tuple[Array, Array]] = {}
    found = {}
    for criterion, (score, candidate, rule) in verdicts.items():
        params = candidate.params
        key = params["alpha"], params["lambda1"], params["lambda2"]
        if key not in known:
            (basis,) = label_bases(to_match(S, Y), key[:1])
            known[key] = spectral.coefficients(spectrum, targets, basis, *key[1:])
        cuts = rule.cuts(Y > 0, Y if candidate.scores is None else candidate.scores, spectrum.weights)
        found[criterion] = Winner(params, score, rule, cuts, representation.scaling, representation.kernel, *known[key])
    return found


def predict(found: Mapping[str, Winner], data: Data, X: Array, device: Any = None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores and decisions (m, q) of every winner for new rows X (m, d).

    Parameters
    ----------
    found : dict
        From :func:`winners`.
    data, device
        As given to it.
    """
    answers = {}
    for kernel in {id(winner.kernel): winner.kernel for winner in found.values()}.values():  # one kernel matrix at a time
        own = {criterion: winner for criterion, winner in found.items() if winner.kernel is kernel}
        scaling = next(iter(own.values())).scaling
        K = kernel(*(on_device(scaling(rows), device) for rows in (X, data.X)))
        for criterion, winner in own.items():
            scores = K @ winner.dual_coef + winner.intercept
            answers[criterion] = to_numpy(scores), to_numpy(cast(scores > winner.cuts, "int64"))
    return {criterion: answers[criterion] for criterion in found}


def single(scaling: str, kernel: str, bandwidth: float, *, alphas: Sequence[float], lambda2s: Sequence[float]) -> Grid:
    """Grid of one representation, with λ1 = 1: only the products λ1 d² and λ2 matter, and λ2 varies."""
    return Grid(tuple(alphas), (1.0,), tuple(lambda2s), (bandwidth,), (kernel,), (scaling,))


def _scored(data: Data, S: np.ndarray, grid: Grid, spectrum: spectral.Spectrum, params: Iterator[dict[str, Any]]) -> Iterator[_Candidate]:
    """Every α, λ1 and λ2 of one representation by exact leave-one-out."""
    Y = to_match(data.Y, spectrum.values)
    targets, bases = spectral.project(spectrum, Y), label_bases(to_match(S, Y), grid.alphas)
    for _, _, scores in spectral.leave_one_out(spectrum, targets, bases, grid.penalties):
        metrics = ranking_metrics(Y > 0, scores, weights=spectrum.weights)
        metrics |= decision_metrics(count(Y > 0, scores > 0, spectrum.weights))
        yield _Candidate(next(params), {name: _larger_is_better(name, value) for name, value in metrics.items()}, scores)


def _larger_is_better(name: str, value: float) -> float:
    """A metric as a score; undefined is worse than anything."""
    return -math.inf if math.isnan(value) else -value if name in LOSSES else value


def _shortlisted(candidates: Iterator[_Candidate], how_many: int) -> list[_Candidate]:
    """All candidates; only the best of each criterion keep their scores, so that memory does not grow with the grid."""
    if not how_many:
        return [candidate._replace(scores=None) for candidate in candidates]
    kept: list[_Candidate] = []
    for candidate in candidates:
        kept.append(candidate)
        wanted = {id(c) for name in NAMES for c in _best(kept, name, how_many)}
        kept = [c if id(c) in wanted or c.scores is None else c._replace(scores=None) for c in kept]
    return kept


def _best(candidates: Sequence[_Candidate], criterion: str, how_many: int) -> list[_Candidate]:
    return sorted(candidates, key=lambda c: -c.metrics[criterion])[:how_many]


def _at_zero(candidates: Sequence[_Candidate]) -> dict[str, _Verdict]:
    best = {criterion: _best(candidates, criterion, 1)[0] for criterion in NAMES}
    return {criterion: _Verdict(c.metrics[criterion], c, ZERO) for criterion, c in best.items()}


def _tuned(relevant: Array, candidates: Sequence[_Candidate], seed: int) -> dict[str, _Verdict]:
    """The best of the shortlisted candidates under the best of three rules for the cuts."""
    judged = _at_zero(candidates)
    shortlist = [c for c in candidates if c.scores is not None]
    parts = _Parts(relevant, seed)
    for criterion in METRICS:
        verdicts = []
        for rule in (ZERO, Rule("common", criterion), Rule("label", criterion)):
            seen = [parts.value(criterion, c.scores > rule.cuts(relevant, c.scores)) for c in shortlist]
            best = shortlist[int(np.argmax(seen))]
            verdicts.append(_Verdict(parts.value(criterion, parts.decisions(best.scores, rule)), best, rule))
        judged[criterion] = max(verdicts, key=lambda verdict: verdict.score)
    return judged


class _Parts:
    """Ninths of the rows: decisions with cuts that other rows set, and metrics as means over the ninths."""

    def __init__(self, relevant: Array, seed: int) -> None:
        self.relevant = relevant
        part = np.random.default_rng(seed).permutation(len(relevant)) % PARTS
        self.members = as_floats(np.arange(PARTS)[:, None] == part, relevant)  # (PARTS, n) of 0 and 1
        self.groups = [to_match(part % GROUPS == g, relevant) for g in range(GROUPS)]  # (n,) bool each

    def decisions(self, scores: Array, rule: Rule) -> Array:
        """Decisions (n, q); the cuts of a group of parts come from the other groups."""
        decided = scores > 0
        for group in self.groups if rule.is_tuned else ():
            decided[group] = scores[group] > rule.cuts(self.relevant[~group], scores[~group])
        return decided

    def value(self, criterion: str, decided: Array) -> float:
        """Mean of the metric over the parts, larger is better."""
        xp = namespace(self.members)
        if criterion == "hamming_loss":
            return -float(xp.mean(cast(self.relevant != decided, "float64")))
        hits, truths, guesses = (self.members @ cast(x, "float64") for x in (self.relevant & decided, self.relevant, decided))  # (PARTS, q)
        size = truths + guesses
        if criterion == "micro_f1":
            hits, size = xp.sum(hits, axis=1), xp.sum(size, axis=1)
        return float(xp.mean(xp.where(size > 0, 2 * hits / xp.where(size > 0, size, 1.0), 1.0)))
