"""Labels ► suspects: the entries of Y that are most likely wrong, by leave-one-out scores that contradict them.

The score F_ij of an entry comes from all rows but row i, so a wrong label in that row has no say in it. Where y_ij F_ij is far
below 0, with y in {-1, +1}, everything else in the data speaks against the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skcamel import classifier, correlation
from skcamel.arrays import namespace, to_device, to_numpy
from skcamel.base import BY_LEAVE_ONE_OUT, BaseCamel
from skcamel.checks import check_count
from skcamel.classifier import CamelClassifier
from skcamel.classifier_cv import CamelClassifierCV
from skcamel.explanation import Evidence, Told, cooccurrence, known_together, ordered
from skcamel.learning import learn_correlation
from skcamel.pipeline import final
from skcamel.rows import is_lazy
from skcamel.selection.representation import (
    Data,
    Decomposed,
    Representation,
    judged_by,
    label_bases,
    represent,
    representation_of,
    solver_of,
    targets_of,
)
from skcamel.selection.source import Source
from skcamel.solve import landmark, spectral
from skcamel.text import one_line

PUSHES = 3  # told for each entry
SHOWN = 10  # lines of text
HEAD = ("label", "given", "suggested", "score", "chance", "why")
LEAST_RATE, MOST_RATE, FIRST_RATE = 1e-5, 0.4, 0.02  # of wrong labels; a search for it begins with the last


def find_label_errors(X: Any, Y: Any, estimator: Any = None, *, limit: int | None = None) -> LabelErrors:
    """List the entries of Y, the ones most likely to be wrong first.

    Every candidate that the estimator would try scores each row by exact leave-one-out; the scores of the candidate with the least
    squared error decide. How the estimator chooses otherwise (`cv`, `scoring`), cuts and combines does not matter here.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d); whatever a Pipeline takes
    Y : array, sparse matrix or frame of shape (n, q)
        Labels in {0, 1} or {-1, +1}; NaN where one is unknown.
    estimator : CamelClassifier, CamelClassifierCV, or Pipeline that ends in one, default=None
        What is tried; it is left as it is. None: ``CamelClassifierCV.from_preset("quick")``. The other steps of a Pipeline are fitted
        on all rows.
    limit : int, default=None
        Keep only so many, the first; None: all known entries.

    Returns
    -------
    LabelErrors

    Notes
    -----
    A label that is wrong in the same way throughout looks right: only entries that differ from similar rows stand out. A wrong
    row that occurs twice vouches for itself.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 2)) / 5
    >>> Y = (X > 0.5).astype(int)
    >>> Y[7] = 1, 0  # wrong on purpose
    >>> found = find_label_errors(X, Y, limit=2)
    >>> found.rows.tolist(), sorted(found.labels.tolist()), bool(found.expected_by_chance() < 0.5)
    ([7, 7], [0, 1], True)
    """
    if limit is not None:
        check_count("limit", limit, otherwise="or None")
    model = clone(CamelClassifierCV.from_preset("quick") if estimator is None else estimator)
    if not isinstance(last := final(model), BaseCamel):
        raise TypeError(f"Labels are judged by a CamelClassifier or CamelClassifierCV, got a {type(last).__name__}.")
    if is_lazy(X):
        raise ValueError("find_label_errors takes arrays, not Dask collections; use X.compute() where that fits into memory.")
    names = np.asarray(X.index) if hasattr(X, "iloc") else None
    while isinstance(model, Pipeline):
        X, model = model[:-1].fit_transform(X, Y) if len(model.steps) > 1 else X, model.steps[-1][1]
    model._check_parameters()
    if model.solver == "alternating":
        raise ValueError(f"find_label_errors needs {BY_LEAVE_ONE_OUT}")
    data, labels, source = model._checked(X, Y, None)
    if labels.target != "matrix":
        raise ValueError("Y is one column of classes; label errors are found in a matrix with one column per label.")
    if data.Y.shape[0] < 2:
        raise ValueError("Y has one row; a label is judged by the other rows, so give at least 2.")
    if source is not None:
        data = replace(data, Y=data.Y.astype(np.int8))
    held = _least_error(model, data, source)
    data = data if source is None else replace(data, Y=data.Y.astype(np.float64))
    known = abs(data.Y) == 1
    rows, columns = np.nonzero(known)
    agreement = (data.Y * held.scores)[known]
    first = np.argsort(agreement, kind="stable")[:limit]
    rows, columns = rows[first], columns[first]
    of_given, of_other = p_values(data.Y, held.scores)
    chance, rate = chances(data.Y, held.scores)
    return LabelErrors(
        rows=rows,
        labels=columns,
        scores=agreement[first],
        given=(data.Y[rows, columns] > 0).astype(np.int64),
        p_given=of_given[rows, columns],
        p_other=of_other[rows, columns],
        chance=chance[rows, columns],
        error_rate=rate,
        label_names=labels.names,
        row_names=names,
        base=held.base[rows, columns],
        deviations=held.deviations,
        collaboration=held.G,
        evidence=Evidence(held.S, cooccurrence(data.Y, None)[0], known_together(data.Y, None)),
    )


@dataclass(frozen=True)
class LabelErrors:
    """Entries of a label matrix, the most suspect first; k of them.

    Attributes
    ----------
    rows, labels : int arrays of shape (k,)
        Positions of the entries.
    scores : array of shape (k,)
        Leave-one-out score of the label times +1 where it is given and -1 where it is not; ascending. Below 0 the score contradicts
        the label, at -1 as firmly as scores usually support one.
    given : int array of shape (k,)
        1 or 0, as in Y; what is suggested is the other.
    p_given : array of shape (k,)
        Share of the other entries of this label with the same value whose scores support it as little or less (a conformal p-value).
        It says how odd the entry is, not that it is wrong: of 100 right entries one has .01.
    p_other : array of shape (k,)
        The same among the entries with the other value, if the entry were one of them: where it is small too, the row is odd
        whatever its label.
    chance : array of shape (k,)
        Probability that the label is right all the same, see Notes.
    error_rate : float
        Estimated share of wrong entries in the whole of Y, see Notes.
    label_names : array of shape (q,)
    row_names : array of shape (n,) or None
        Index of X, where it was a frame of pandas.
    base, own : arrays of shape (k,)
        Score of the average row, and what the label's own prediction adds to it. Other labels push the rest.
    deviations, collaboration : arrays of shape (n, q) and (q, q)
        What own parts and pushes are made of: label i pushes entry (r, j) by ``deviations[r, i] * collaboration[i, j]``. All
        are exact parts of the leave-one-out scores.
    evidence : Evidence
        How often two labels were seen together.

    Notes
    -----
    `chance` comes from a logistic curve for each label, fitted to the scores together with one share of entries, the `error_rate`,
    that were turned into their opposite at random. Labels that scores cannot tell account for themselves by a flat curve; wrong ones
    are what is left far on the wrong side. So it takes quite a few errors to be noticed at all: on few rows, or where labels are hard
    to predict, the rate may come out as 0 and every chance as 1, and the first entries are still the ones to look at first.
    Errors that follow a rule, as where one annotator never gives a label, are not at random, and the figures do not hold for them.
    """

    rows: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    given: np.ndarray
    p_given: np.ndarray
    p_other: np.ndarray
    chance: np.ndarray
    error_rate: float
    label_names: np.ndarray
    row_names: np.ndarray | None
    base: np.ndarray
    deviations: np.ndarray
    collaboration: np.ndarray
    evidence: Evidence

    @property
    def own(self) -> np.ndarray:
        """What the label's own prediction adds to its score, (k,)."""
        return self.deviations[self.rows, self.labels] * self.collaboration[self.labels, self.labels]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, entries: Any) -> LabelErrors:
        """Some of the entries."""
        index = [entries] if np.ndim(entries) == 0 and not isinstance(entries, slice) else entries
        listed = ("rows", "labels", "scores", "given", "p_given", "p_other", "chance", "base")
        return replace(self, **{name: getattr(self, name)[index] for name in listed})

    def expected_by_chance(self, k: int | None = None) -> float:
        """How many of the first `k` entries are expected to be right all the same; of all where `k` is None."""
        return float(self.chance[:k].sum())

    def told(self, entry: int, k: int = PUSHES) -> list[Told]:
        """The `k` pushes of other labels into the score of an entry that a text should tell first.

        Parameters
        ----------
        entry : int
            Position in this list.
        k : int, default=3
        """
        row, label = self.rows[entry], self.labels[entry]
        pushes = self.deviations[row] * self.collaboration[:, label]
        pushes[label] = 0.0
        return ordered(pushes, k, self.evidence, int(label))

    def pushes(self, entry: int, k: int = PUSHES) -> str:
        """The same as text."""
        return ", ".join(f"{self.label_names[push.source]} {push.amount:+.2f}" for push in self.told(entry, k))

    def why(self, entry: int, k: int = PUSHES) -> str:
        """Own part and strongest pushes of an entry as text."""
        return ", ".join(filter(None, [f"own {self.own[entry]:+.2f}", self.pushes(entry, k)]))

    def cells(self, entry: int) -> tuple[str, ...]:
        """An entry under `HEAD`, as text."""
        given, name = self.given[entry], str(self.label_names[self.labels[entry]])
        return name, str(given), str(1 - given), f"{self.scores[entry]:+.2f}", f"{self.chance[entry]:.2f}", self.why(entry)

    def to_frame(self) -> Any:
        """A pandas frame with one line per entry, most suspect first.

        Columns: row (the index of X where it was a frame), label, given, suggested, score, own, pushes, p_given, p_other, chance.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("LabelErrors.to_frame needs pandas: pip install pandas. The arrays do without.") from error
        return pd.DataFrame(
            {
                "row": self.rows if self.row_names is None else self.row_names[self.rows],
                "label": self.label_names[self.labels],
                "given": self.given,
                "suggested": 1 - self.given,
                "score": self.scores,
                "own": self.own,
                "pushes": [self.pushes(entry) for entry in range(len(self))],
                "p_given": self.p_given,
                "p_other": self.p_other,
                "chance": self.chance,
            }
        )

    def __str__(self) -> str:
        """The first entries as a table."""
        names = self.rows if self.row_names is None else self.row_names[self.rows]
        shown = range(min(SHOWN, len(self)))
        lines = [(str(names[e]), *self.cells(e)) for e in shown]
        more = [f"… {len(self) - SHOWN:,} more"] if len(self) > SHOWN else []
        return "\n".join([*in_columns([("row", *HEAD), *lines]), *more, self.summary(len(shown))])

    def summary(self, k: int) -> str:
        """One sentence: how many of the first `k` are right all the same, as far as one can tell."""
        if not k:
            return "No entry is listed."
        expected = self.expected_by_chance(k)
        if expected > 0.95 * k:
            return "So many would be there by chance too, where labels are hard to predict; the first are still the ones to look at."
        number = f"{expected:.0f}" if expected >= 9.5 else f"{expected:.1f}"
        return f"Of the first {k:,}, about {number} would be there by chance, with labels that are right."


def in_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a table, its cells made safe and padded.

    Examples
    --------
    >>> in_columns([("row", "why"), ("12", "own +1")])
    ['row  why', '12   own +1']
    """
    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in safe]


class _Held(NamedTuple):
    """Exact leave-one-out scores of a candidate and their parts: scores = base + deviations @ G."""

    scores: np.ndarray  # (n, q)
    base: np.ndarray  # (n, q) scores of the average of the other rows
    deviations: np.ndarray  # (n, q) f(x) - f̄ of the models without the row
    G: np.ndarray  # (q, q)
    S: np.ndarray  # (q, q)


def _least_error(estimator: Any, data: Data, source: Source | None) -> _Held:
    """Scores of the candidate with the least squared error by leave-one-out; the first of equal ones.

    Where rows are summed up, candidates are compared by the sample, and the best one then scores all rows.
    """
    S = learn_correlation(estimator, data if source is None else source.survey.counts)
    judged = data if source is None else judged_by(source.survey.judged)
    counts = ~np.isnan(judged.Y) * (1.0 if judged.weights is None else judged.weights[:, None])
    truth = np.nan_to_num(judged.Y)
    least, alpha, scores, best = np.inf, 0.0, truth, None
    for (representation, spectrum), alphas, penalties in _candidates(estimator, data, source):
        bases = [basis.to_match(spectrum.values) for basis in label_bases(S, alphas)]
        for a, p, F in solver_of(spectrum, judged).leave_one_out(spectrum, targets_of(spectrum, judged), bases, penalties):
            held = to_numpy(F)
            error = float((counts * (held - truth) ** 2).sum())
            if error < least:
                least, alpha, scores = error, alphas[a], held
                best = (representation, spectrum, bases[a], penalties[p]) if isinstance(spectrum, landmark.Summary) else None
    if best is not None:
        scores = _of_all_rows(*best, data, estimator.device)
    known, Y = (np.ones(data.Y.shape, dtype=bool), data.Y.astype(np.float64)) if source is not None else (~np.isnan(data.Y), truth)
    G = correlation.collaboration(S, alpha)
    basis = spectral.label_basis(G)
    means = (Y.sum(axis=0) - Y) / np.maximum(known.sum(axis=0) - known, 1)  # (n, q) of the other rows
    deviations = (scores - means) @ basis.R @ (basis.P / basis.d).T  # (F - F̄) G⁺
    return _Held(scores, means @ basis.R @ basis.R.T, deviations, G, S)


def _of_all_rows(
    representation: Representation,
    spectrum: landmark.Summary,
    basis: spectral.LabelBasis,
    penalty: tuple[float, float],
    data: Data,
    device: Any,
) -> np.ndarray:
    """Leave-one-out scores (n, q) of all rows by a candidate that was fitted by sums, in blocks."""
    found = np.empty(data.Y.shape)
    for i in range(0, len(found), landmark.BLOCK_ROWS):
        rows = slice(i, i + landmark.BLOCK_ROWS)
        K = representation.kernel_rows(data.X[rows].astype(np.float64), device)
        here = replace(spectrum, rows=spectral.in_eigenbasis(spectrum, K), units=namespace(K).ones_like(K[:1, 0]))
        targets = replace(spectrum.targets, Y=to_device(data.Y[rows], device))
        ((_, _, scores),) = landmark.leave_one_out(here, targets, [basis], [penalty])
        found[rows] = to_numpy(scores)
    return found


def _candidates(
    estimator: Any, data: Data, source: Source | None
) -> Iterator[tuple[Decomposed, Sequence[float], list[tuple[float, float]]]]:
    """Each decomposition that an estimator would make, with the α and the pairs (λ1, λ2) that it would try on it."""
    if isinstance(estimator, CamelClassifier):
        alphas, penalties = (estimator.alpha,), [(estimator.lambda1, estimator.lambda2)]
        if source is None:
            representation, K, weights = classifier._represent(estimator, data)
            yield (representation, spectral.decompose(K, weights)), alphas, penalties
        else:
            stream = source.streamed(estimator._begin(source.survey, source.by, source.survey.n_rows))
            yield (representation_of(stream), stream.summary(source.survey.judged)), alphas, penalties
        return
    grid = estimator._checked_grid().for_rows(are_sparse=sparse.issparse(data.X))
    for representation, spectrum in represent(source or data, grid, estimator.device):
        yield (representation, spectrum), grid.alphas, grid.penalties(representation.unit(spectrum))


def p_values(Y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Conformal p-values of every entry, (n, q) each: of its value as given, and of the other one; the entry itself does not count.

    Parameters
    ----------
    Y : array of shape (n, q)
        In {-1, +1}; other entries are unknown and get 1.
    scores : array of shape (n, q)

    Examples
    --------
    >>> of_given, of_other = p_values(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([[0.9], [-0.8], [-0.7], [-0.9]]))
    >>> of_given.ravel().round(2).tolist(), of_other.ravel().round(2).tolist()
    ([1.0, 0.5, 0.5, 1.0], [0.33, 0.67, 0.67, 0.33])
    """
    of_given, of_other = np.ones(Y.shape), np.ones(Y.shape)
    for j, (y, F) in enumerate(zip(Y.T, scores.T, strict=True)):
        for sign in (1.0, -1.0):
            same, other, support = y == sign, y == -sign, sign * F
            ranked = np.sort(support[same])
            worse = np.searchsorted(ranked, support, side="right")
            of_given[same, j] = worse[same] / max(1, len(ranked))  # 1 + the others, for the entry is among them
            of_other[other, j] = (1 + worse[other]) / (1 + len(ranked))
    return of_given, of_other


def chances(Y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Probability that each entry is right, (n, q), and the share of all entries that are wrong, by maximum likelihood.

    Label j is 1 with probability π = sigmoid(a_j F + b_j), a_j > 0, and every entry is turned into its opposite with probability ε:
    it is given as 1 with probability (1 - ε) π + ε (1 - π).

    Parameters
    ----------
    Y : array of shape (n, q)
        In {-1, +1}; other entries are unknown and get 1.
    scores : array of shape (n, q)

    References
    ----------
    J. B. Copas: Binary regression models for contaminated data. Journal of the Royal Statistical Society B 50, 1988.

    Examples
    --------
    >>> scores = np.repeat([[1.0], [-1.0]], 50, axis=0) + np.random.default_rng(0).normal(size=(100, 1)) / 4
    >>> Y = np.where(np.arange(100)[:, None] % 10 == 3, -1, 1) * np.sign(scores)  # a tenth is wrong
    >>> chance, rate = chances(Y, scores)
    >>> round(rate, 2), bool(chance[3] < 0.01), bool(chance[4] > 0.99)
    (0.1, True, True)
    """
    (n, q), known = Y.shape, abs(Y) == 1

    def probabilities(parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        a, rate = np.exp(parameters[:q]), float(expit(parameters[-1]))
        right = expit(Y * (a * scores + parameters[q:-1]))  # that the label is as given, before anything is turned
        return a, right, np.maximum(rate + (1 - 2 * rate) * right, 1e-300), rate

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        a, right, seen, rate = probabilities(parameters)
        step = np.where(known, (1 - 2 * rate) * right * (1 - right) * Y / seen, 0.0)
        turned = np.where(known, (1 - 2 * right) / seen, 0.0)
        gradient = np.concatenate([a * (step * scores).sum(axis=0), step.sum(axis=0), [turned.sum() * rate * (1 - rate)]])
        return -float(np.log(seen[known]).sum()) / n, -gradient / n

    start = np.concatenate([np.ones(q), np.zeros(q), [logit(FIRST_RATE)]])
    bounds = [(-4, 4)] * q + [(-20, 20)] * q + [(float(logit(LEAST_RATE)), float(logit(MOST_RATE)))]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-6})
    _, right, seen, rate = probabilities(found.x)
    return np.where(known, (1 - rate) * right / seen, 1.0), rate if rate > 2 * LEAST_RATE else 0.0
