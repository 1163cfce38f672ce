"""One pass over all candidates ► for each criterion the winner, its leave-one-out scores and its cuts, and the whole table.

Scoring a candidate gives all seven metrics, so further criteria cost only the models of their winners. No decomposition is
kept: the leaders of a representation are solved before the next one is decomposed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array, as_floats, cast, namespace, to_match, to_numpy
from skcamel.camel import correlation, spectral, unknown
from skcamel.camel.candidates import Results, Scores, candidate_metrics, stacks
from skcamel.camel.combination import LARGEST_ALPHA
from skcamel.camel.representation import Data, Decomposed, Grid, Place, Representation, label_bases, solver_name, solver_of, targets_of
from skcamel.camel.spectral import Solution
from skcamel.camel.thresholds import AUTO, METRICS, Rule, Sorted
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING

ZERO = Rule("zero")
SHORTLIST = 3  # candidates of a representation, for each of the seven metrics, whose cuts are tuned
PARTS = 9  # a training part is nine times the test part of ten folds
GROUPS = 3  # of parts; cuts are judged on the group that did not set them


@dataclass(frozen=True)
class Winner:
    """A candidate, its solution, and its leave-one-out scores."""

    index: int  # among all candidates
    params: dict[str, Any]
    score: float  # by its criterion; larger is better
    rule: Rule | None  # None: not decided yet
    representation: Representation
    G: np.ndarray  # (q, q)
    solution: Solution
    largest: float  # eigenvalue of the kernel matrix
    scores: Array  # (n, q) by leave-one-out
    solver: str = "spectral"


@dataclass(frozen=True)
class Found:
    """What a pass found out."""

    params: list[dict[str, Any]] = field(default_factory=list)  # of every candidate
    metrics: list[Scores] = field(default_factory=list)
    winners: dict[str, Winner] = field(default_factory=dict)  # by criterion; if there are members, of the first representation
    members: list[Winner] = field(default_factory=list)  # the least squared error of each representation that may be combined


class Chosen(NamedTuple):
    """What a search came to for one criterion."""

    results: Results
    winners: list[tuple[float, Winner]]  # with their weights; one unless models are combined
    scores: Array  # (n, q) leave-one-out scores of the winner or of the combination
    rule: Rule | None = None  # None: not decided yet
    shift: np.ndarray | float = 0.0  # (q,) that it adds to the scores of each member
    scales: np.ndarray | float = 1.0  # (q,) by which their weighted sum is multiplied

    def linked(self, slope: Array, offset: Array) -> Chosen:
        """The same with slope · score + offset, (q,) each, in place of its scores."""
        scales = to_numpy(slope)
        shift = self.shift + to_numpy(offset) / (scales * sum(weight for weight, _ in self.winners))
        return self._replace(scores=slope * self.scores + offset, shift=shift, scales=scales)


def usable(criterion: str, Y: np.ndarray, weights: np.ndarray | None = None) -> str:
    """The criterion, or Hamming loss in place of a ranking metric that no row defines (each has all labels or none).

    >>> usable("coverage", np.array([[1.0], [-1.0]])), usable("coverage", np.array([[1.0, -1.0]]))
    ('hamming_loss', 'coverage')
    """
    Y = Y if weights is None else Y[weights > 0]
    mixed = ((Y > 0).any(axis=1) & (Y < 0).any(axis=1)).any()
    return criterion if mixed or criterion not in RANKING else "hamming_loss"


def search(
    represented: Iterable[Decomposed],
    data: Data,
    grid: Grid,
    S: np.ndarray,
    rule: Rule,
    criteria: Sequence[str],
    *,
    seed: int = 0,
    combine: bool = False,
    tell: Callable[[Found], None] = lambda _: None,
) -> Found:
    """Score every candidate by exact leave-one-out; among equal scores the first in the order of the grid wins.

    `represented` comes from :func:`skcamel.camel.representation.represent`. S (q, q) is the label correlation of the training
    rows. Each of the `criteria` gets its own winner. `tell` is called with what is found so far after each representation.

    Under the rule "auto" the table shows candidates with the cut 0. For a criterion of decisions the best of each metric are also
    tried with one tuned cut, and with one for each label. Every cut is judged on rows that did not set it, and the F1 metrics as
    means over ninths of the rows, dealt by `seed`: macro-F1 depends on how many labels a test part lacks.

    With `combine`, each representation also gives a member, the candidate of α ≤ ½ with the least squared error; winners
    are then those of the first representation.

    >>> from skcamel.camel.representation import represent
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    >>> data = Data(X, np.where(X[:, :2] + 0.5 * noise > 0, 1.0, -1.0), None)
    >>> grid = Grid((0.0, 0.5), (1.0,), (0.1, 1.0))
    >>> found = search(represent(data, grid, None), data, grid, np.zeros((2, 2)), Rule("zero"), NAMES)
    >>> len(found.params), found.winners["one_error"].params["alpha"]
    (4, 0.0)
    """
    found = Found()
    bases, tried = label_bases(S, grid.alphas), iter(grid.places)
    for representation, spectrum in represented:
        bases = [basis.to_match(spectrum.values) for basis in bases]
        place = next(tried)
        start = len(found.params)
        wanted = () if combine and start else criteria
        turn = _Turn(data, grid, rule, wanted, representation, spectrum, bases, seed, combine=combine)
        params = grid.candidates(place, representation.kernel.bandwidth, turn.unit)
        for criterion, (local, score, own) in turn.best().items():
            if criterion not in found.winners or score > found.winners[criterion].score:
                found.winners[criterion] = turn.solved(local, start, S, params[local], score, own)
        if combine and _may_be_combined(place, data):
            local = turn.least_error()
            found.members.append(turn.solved(local, start, S, params[local], -turn.errors[local], None))
        found.params.extend(params)
        found.metrics.extend(turn.metrics)
        tell(found)
        del representation, spectrum, turn  # before the next kernel matrix is made
    return found


def _may_be_combined(place: Place, data: Data) -> bool:
    """Not if columns of sparse rows are standardised, which makes leave-one-out optimistic."""
    return place[0] != "standard" or not hasattr(data.X, "toarray")


class _Turn:
    """One representation: its candidates, and which of them lead."""

    def __init__(
        self,
        data: Data,
        grid: Grid,
        rule: Rule,
        criteria: Sequence[str],
        representation: Representation,
        spectrum: spectral.Spectrum,
        bases: Sequence[spectral.LabelBasis],
        seed: int,
        *,
        combine: bool,
    ) -> None:
        self.representation, self.spectrum = representation, spectrum
        self.bases, self.criteria, self.rule, self.seed = bases, criteria, rule, seed
        self.unit = self.representation.unit(self.spectrum)
        self.penalties = grid.penalties(self.unit)
        self.Y, self.is_complete = to_match(data.Y, self.spectrum.values), data.is_complete
        self.targets, self.solver = targets_of(spectrum, data), solver_of(spectrum, data)
        self.relevant = self.Y > 0
        self.weights: Array = None if data.counts is None else to_match(data.counts, self.Y)  # of rows, or of entries
        self.tries_rules = rule.mode == AUTO and any(criterion in METRICS for criterion in criteria)
        # squared errors are compared between candidates of these α alone
        allowed = [k for k, alpha in enumerate(grid.alphas) if alpha <= LARGEST_ALPHA] or range(len(grid.alphas))
        self.comparable = {a * len(self.penalties) + p for a in allowed for p in range(len(self.penalties))} if combine else set()
        self.errors: dict[int, float] = {}
        self.metrics: list[Scores] = []
        self.kept: dict[int, Array] = {}  # leave-one-out scores of those that lead
        self.solutions: dict[int, Solution] = {}
        scores = self.solver.leave_one_out(self.spectrum, self.targets, self.bases, self.penalties)
        for stack in stacks(F for _, _, F in scores):
            self._judge(stack)

    def _judge(self, stack: Array) -> None:
        """Metrics and errors of the candidates of a stack (c, n, q); only the scores of those that lead are kept."""
        first = len(self.metrics)
        metrics, errors = self._scored(stack)
        self.metrics += metrics
        self.errors |= {k: error for k, error in enumerate(errors, first) if k in self.comparable}
        leading = self._leading()
        self.kept |= {k: stack[k - first] if len(stack) == 1 else stack[k - first] + 0.0 for k in leading if k >= first}
        self.kept = {k: scores for k, scores in self.kept.items() if k in leading}

    def _scored(self, scores: Array) -> tuple[list[Scores], list[float]]:
        """The seven metrics and the squared error of each candidate of scores (c, n, q)."""
        xp, weights = namespace(scores), self.weights
        tuned = scores if self.rule.is_tuned else scores[:1]
        cuts = xp.stack([self.rule.cuts(self.relevant, F, weights)[None] for F in tuned])
        metrics = candidate_metrics(self.relevant, scores, cuts, weights)
        if not self.comparable:
            return metrics, [math.nan] * len(metrics)
        if not self.is_complete:
            errors = xp.where(self.weights > 0, self.weights * (scores - self.Y) ** 2, 0.0)
            return metrics, to_numpy(xp.sum(xp.sum(errors, axis=2), axis=1)).tolist()
        rows = xp.sum((scores - self.Y) ** 2, axis=2)  # (c, n)
        return metrics, to_numpy(xp.sum(rows, axis=1) if weights is None else rows @ weights).tolist()

    def least_error(self) -> int:
        """The candidate of least squared error among those that may be combined."""
        return min(self.errors, key=self.errors.__getitem__)

    def _leading(self) -> set[int]:
        """Candidates whose scores may be wanted later; few, so that memory does not grow with the grid."""
        names, how_many = (NAMES, SHORTLIST) if self.tries_rules else (self.criteria, 1)
        return {k for name in names for k in self._ranked(name)[:how_many]} | ({self.least_error()} if self.errors else set())

    def _ranked(self, criterion: str) -> list[int]:
        values = [larger_is_better(criterion, scores[criterion]) for scores in self.metrics]
        return sorted(range(len(values)), key=lambda k: -values[k])

    def best(self) -> dict[str, tuple[int, float, Rule | None]]:
        """For each criterion the leading candidate, its score, and its rule where that is known."""
        found: dict[str, tuple[int, float, Rule | None]] = {}
        tried = Rules(self.relevant, self.weights, self.seed) if self.tries_rules else None
        shortlist = {k for name in NAMES for k in self._ranked(name)[:SHORTLIST]}
        for criterion in self.criteria:
            if tried is not None and criterion in METRICS:
                found[criterion] = tried.best_of({k: self.kept[k] for k in shortlist}, criterion)
            else:
                first = self._ranked(criterion)[0]
                score = larger_is_better(criterion, self.metrics[first][criterion])
                found[criterion] = first, score, None if self.rule.mode == AUTO else self.rule
        return found

    def solved(self, local: int, start: int, S: np.ndarray, params: dict[str, Any], score: float, rule: Rule | None) -> Winner:
        """A candidate with its solution; criteria that agree on it share one."""
        basis = self.bases[local // len(self.penalties)]
        if local not in self.solutions:
            penalties = {key: params[key] for key in ("lambda1", "lambda2")}
            if self.is_complete:
                solution = self.solver.solve_in(self.spectrum, self.targets, basis, **penalties)
            else:  # filled to the last digits
                solution, self.kept[local] = unknown.solve(self.spectrum, self.targets, basis, **penalties)
            self.solutions[local] = solution.on_cpu()
        G = correlation.collaboration(S, params["alpha"])
        largest, name = spectral.greatest(self.spectrum), solver_name(self.spectrum, self.representation)
        return Winner(start + local, params, score, rule, self.representation, G, self.solutions[local], largest, self.kept[local], name)


def larger_is_better(name: str, value: float) -> float:
    """A metric as a score; undefined is worse than anything."""
    return -math.inf if math.isnan(value) else -value if name in LOSSES else value


class Rules:
    """Which rule for the cuts is best: decisions with cuts that other rows set, metrics as means over ninths of the rows.

    Relevance is a bool array (n, q), weights are (n,) or None, or those of entries (n, q), 0 where labels are unknown. `seed` deals the
    rows to the ninths.
    """

    def __init__(self, relevant: Array, weights: Array | None, seed: int) -> None:
        self.relevant, self.weights = relevant, weights
        part = np.random.default_rng(seed).permutation(len(relevant)) % PARTS
        self.members = as_floats(np.arange(PARTS)[:, None] == part, relevant)  # (PARTS, n)
        self.by_entry = weights is not None and weights.ndim == 2
        if weights is not None and not self.by_entry:
            self.members = self.members * weights
        self.groups = [to_match(part % GROUPS == g, relevant) for g in range(GROUPS)]  # (n,) bool each
        self.truths = self._totals(relevant)
        self.sorted: dict[int, Sorted] = {}  # by the identity of the scores

    def best_of(self, candidates: Mapping[int, Array], metric: str) -> tuple[int, float, Rule]:
        """The candidate, its score and its rule: the best candidate of each rule is judged on rows that did not set its cuts."""
        judged = []
        for rule in (ZERO, Rule("common", metric), Rule("label", metric)):
            seen = {k: self.value(metric, scores > rule.of(self._sorted(scores))) for k, scores in candidates.items()}
            best = max(sorted(seen), key=seen.__getitem__)
            judged.append((best, self.value(metric, self.decisions(candidates[best], rule)), rule))
        return max(judged, key=lambda verdict: verdict[1])

    def decisions(self, scores: Array, rule: Rule) -> Array:
        """Decisions (n, q); the cuts of a group of parts come from the other groups."""
        decided = scores > 0
        for group in self.groups if rule.is_tuned else ():
            decided[group] = scores[group] > rule.of(self._sorted(scores).rows(~group))
        return decided

    def value(self, metric: str, decided: Array) -> float:
        """Mean of the metric over the parts, larger is better."""
        xp = namespace(self.members)
        if metric == "hamming_loss":
            if self.by_entry:
                return -float(xp.sum(self.weights * (self.relevant != decided)) / xp.sum(self.weights))
            wrong = xp.mean(cast(self.relevant != decided, "float64"), axis=1)  # (n,)
            return -float(xp.mean(wrong) if self.weights is None else self.weights @ wrong / xp.sum(self.weights))
        hits, size = (self._totals(x) for x in (self.relevant & decided, decided))
        size = size + self.truths
        if metric == "micro_f1":
            hits, size = xp.sum(hits, axis=1), xp.sum(size, axis=1)
        return float(xp.mean(xp.where(size > 0, 2 * hits / xp.where(size > 0, size, 1.0), 1.0)))

    def _totals(self, x: Array) -> Array:
        """How many entries of each label are true in each part, by weight, (PARTS, q)."""
        return self.members @ (self.weights * x if self.by_entry else cast(x, "float64"))

    def _sorted(self, scores: Array) -> Sorted:
        """Scores sorted once for all metrics and rules; the caller keeps them alive."""
        if id(scores) not in self.sorted:
            self.sorted[id(scores)] = Sorted(self.relevant, scores, self.weights)
        return self.sorted[id(scores)]


def chosen_rule(relevant: Array, scores: Array, rule: Rule, scoring: str, *, weights: Array | None = None, seed: int = 0) -> Rule:
    """What "auto" stands for: the best of "zero", "common" and "label" by its metric; any other rule is itself.

    The metric is that of the rule, else the criterion if it is a metric of decisions, else micro-F1.
    """
    if rule.mode != AUTO:
        return rule
    metric = rule.metric or (scoring if scoring in METRICS else "micro_f1")
    return Rules(relevant, weights, seed).best_of({0: scores}, metric)[2]
