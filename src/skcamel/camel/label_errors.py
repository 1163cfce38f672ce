"""Labels ► label errors: the entries of Y that are most likely wrong, by leave-one-out scores that contradict them.

The score F_ij of an entry comes from all rows but row i, so a wrong label in that row has no say in it. A link for each label makes
log-odds z_ij of the scores, and with y in {-1, +1} the chance that the label is right is sigmoid(y_ij z_ij). Entries with the
smallest chance come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skcamel.arrays import namespace, to_device, to_numpy
from skcamel.camel import correlation, landmark, spectral
from skcamel.camel.base import BY_LEAVE_ONE_OUT, BaseCamel, learn_correlation
from skcamel.camel.classifier_cv import CamelClassifierCV
from skcamel.camel.correlation import cooccurrence
from skcamel.camel.explanation import Evidence, Push, data_frame, ranked_pushes
from skcamel.camel.link import fit_link, probabilities
from skcamel.camel.representation import (
    Data,
    Representation,
    judged_by,
    label_bases,
    represent,
)
from skcamel.camel.stream import Source
from skcamel.checks import check_count
from skcamel.rows import is_lazy
from skcamel.text import one_line

PUSHES = 3  # listed for each entry
SHOWN = 10  # lines of text
COLUMNS = ("row", "label", "given", "suggested", "score", "chance", "why")


def find_label_errors(X: Any, Y: Any, estimator: Any = None, *, limit: int | None = None, groups: Any = None) -> LabelErrors:
    """List the entries of Y, the ones most likely to be wrong first.

    Every candidate that the estimator would try scores each row by exact leave-one-out; the scores of the candidate with the least
    squared error decide. How the estimator chooses otherwise (`cv`, `scoring`), its thresholds and `combine` do not matter here.

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
    groups : array of shape (n,), default=None
        Rows that belong together, such as copies, are left out together, so that they cannot vouch for each other.

    Returns
    -------
    LabelErrors

    Notes
    -----
    A label that is wrong in the same way throughout looks right: only entries that differ from similar rows stand out. A wrong
    row that occurs twice vouches for itself, unless `groups` says that both belong together.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 2)) / 5
    >>> Y = (X > 0.5).astype(int)
    >>> Y[7] = 1, 0  # wrong on purpose
    >>> found = find_label_errors(X, Y, limit=2)
    >>> found.rows.tolist(), sorted(found.labels.tolist()), bool((found.chance < 0.5).all())
    ([7, 7], [0, 1], True)
    """
    if limit is not None:
        check_count("limit", limit, otherwise="or None")
    if is_lazy(X):
        raise ValueError("find_label_errors takes arrays, not Dask collections; use X.compute() where that fits into memory.")
    row_names = np.asarray(X.index) if hasattr(X, "iloc") else None
    model = clone(CamelClassifierCV.from_preset("quick") if estimator is None else estimator)
    while isinstance(model, Pipeline):
        X = model[:-1].fit_transform(X, Y) if len(model) > 1 else X
        model = model[-1]
    if not isinstance(model, BaseCamel):
        raise TypeError(f"Label errors are found by a CamelClassifier or CamelClassifierCV, got a {type(model).__name__}.")
    model._check_parameters()
    if model.solver == "alternating":
        raise ValueError(f"find_label_errors needs {BY_LEAVE_ONE_OUT}")
    data, labels, source = model._checked(X, Y, None, groups)
    if labels.target != "matrix":
        raise ValueError("Y is one column of classes; label errors are found in a matrix with one column per label.")
    if len(labels.Y) < 2:
        raise ValueError("Y has one row; a label is judged by the other rows, so give at least 2.")
    S = learn_correlation(model, data if source is None else source.survey.counts)
    scores, alpha = _least_error(model, data, source, S)
    Y = data.Y.astype(np.float64)
    known = ~np.isnan(Y)
    weights = known.astype(np.float64)
    right = (Y * fit_link(Y > 0, scores, weights).log_odds(scores))[known]
    first = np.argsort(right, kind="stable")[:limit]
    rows, columns = (positions[first] for positions in np.nonzero(known))
    G = correlation.collaboration(S, alpha)
    inverse = np.linalg.pinv(G, rcond=len(G) * np.finfo(np.float64).eps)
    Y = np.nan_to_num(Y)
    means = (Y.sum(axis=0) - Y) / np.maximum(known.sum(axis=0) - known, 1)  # (n, q) of the other rows
    return LabelErrors(
        rows=rows,
        labels=columns,
        scores=(Y * scores)[rows, columns],
        given=(Y[rows, columns] > 0).astype(np.int64),
        chance=probabilities(right[first]),
        label_names=labels.names,
        row_names=row_names,
        base=(means @ inverse @ G)[rows, columns],
        deviations=(scores - means) @ inverse,
        collaboration=G,
        evidence=Evidence.of(S, cooccurrence(Y, None)[0], known.T.astype(np.float64) @ known),
    )


@dataclass(frozen=True)
class LabelErrors:
    """Entries of a label matrix, the most suspect first; k of them.

    Attributes
    ----------
    rows, labels : int arrays of shape (k,)
        Positions of the entries.
    scores : array of shape (k,)
        Leave-one-out score of the label times +1 where it is given and -1 where it is not. Below 0 the score contradicts
        the label, at -1 as firmly as scores usually support one.
    given : int array of shape (k,)
        1 or 0, as in Y; what is suggested is the other.
    chance : array of shape (k,)
        Probability that the label is right all the same; ascending.
    label_names : array of shape (q,)
    row_names : array of shape (n,) or None
        Index of X, where it was a frame of pandas.
    base, own : arrays of shape (k,)
        Score of the average of the other rows, and what the label's own prediction adds to it. Other labels push the rest.
    deviations, collaboration : arrays of shape (n, q) and (q, q)
        What own parts and pushes are made of: label i pushes entry (r, j) by ``deviations[r, i] * collaboration[i, j]``. All
        are exact parts of the leave-one-out scores.
    evidence : Evidence
        How often two labels were seen together.
    """

    rows: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    given: np.ndarray
    chance: np.ndarray
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

    def pushes(self, entry: int, k: int = PUSHES) -> list[Push]:
        """The `k` pushes of other labels into the score of an entry that a text should list first.

        Parameters
        ----------
        entry : int
            Position in this list.
        k : int, default=3
        """
        label = int(self.labels[entry])
        pushes = self.deviations[self.rows[entry]] * self.collaboration[:, label]
        pushes[label] = 0.0
        return ranked_pushes(pushes, k, self.evidence, label)

    def why(self, entry: int) -> str:
        """Own part and strongest pushes of an entry as text."""
        pushes = [f"{self.label_names[push.source]} {push.amount:+.2f}" for push in self.pushes(entry)]
        return ", ".join([f"own {self.own[entry]:+.2f}", *pushes])

    def records(self, k: int | None = None) -> list[dict[str, Any]]:
        """One mapping for each of the first `k` entries, with the keys `COLUMNS`; row is the index of X where it was a frame."""
        rows, given = self.rows[:k], self.given[:k]
        columns = (
            rows.tolist() if self.row_names is None else list(self.row_names[rows]),
            [str(name) for name in self.label_names[self.labels[:k]]],
            given.tolist(),
            (1 - given).tolist(),
            self.scores[:k].tolist(),
            self.chance[:k].tolist(),
            [self.why(entry) for entry in range(len(rows))],
        )
        return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]

    def to_frame(self) -> Any:
        """A pandas frame with one line per entry, most suspect first: row, label, given, suggested, score, chance, why."""
        return data_frame(self.records())

    def __str__(self) -> str:
        """The first entries as a table."""
        lines = in_columns([COLUMNS, *map(as_text, self.records(SHOWN))])
        if len(self) > SHOWN:
            lines.append(f"… {len(self) - SHOWN:,} more")
        return "\n".join(lines)


def as_text(record: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a record, its figures with two digits."""
    shown = record | {"score": f"{record['score']:+.2f}", "chance": f"{record['chance']:.2f}"}
    return tuple(map(str, shown.values()))


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


def _least_error(estimator: Any, data: Data, source: Source | None, S: np.ndarray) -> tuple[np.ndarray, float]:
    """Leave-one-out scores (n, q) and α of the candidate with the least squared error, the first of equal ones.

    Where rows are summed up, candidates are compared by the sample, and the best one then scores all rows.
    """
    judged = data if source is None else judged_by(source.survey.judged, data.groups)
    known = ~np.isnan(judged.Y)
    least, alpha, scores, best = np.inf, 0.0, judged.Y, None
    is_search = isinstance(estimator, CamelClassifierCV)
    grid = estimator._checked_grid().for_rows(are_sparse=sparse.issparse(data.X)) if is_search else estimator._grid()
    for problem in represent(source or data, grid, estimator.device, judged):
        representation, spectrum = problem.representation, problem.spectrum
        penalties = problem.penalties
        bases = [basis.to_match(spectrum.values) for basis in label_bases(S, grid.alphas)]
        for index, left_out in enumerate(problem.leave_one_out(bases)):
            a, p = divmod(index, len(penalties))
            found = to_numpy(left_out)
            error = float(((found - judged.Y)[known] ** 2).sum())
            if error < least:
                least, alpha, scores = error, grid.alphas[a], found
                best = None if source is None else (representation, spectrum, bases[a], penalties[p])
    return scores if best is None else _of_all_rows(*best, data, estimator.device), alpha


def _of_all_rows(
    representation: Representation, spectrum: Any, basis: spectral.LabelBasis, penalties: tuple[float, float], data: Data, device: Any
) -> np.ndarray:
    """Leave-one-out scores (n, q) of all rows by a candidate that was fitted by sums, in blocks."""
    scores = []
    for start in range(0, len(data.Y), landmark.BLOCK_ROWS):
        rows = slice(start, start + landmark.BLOCK_ROWS)
        K = representation.kernel_rows(data.X[rows].astype(np.float64), device)
        block = spectrum._replace(rows=spectral.in_eigenbasis(spectrum, K), judged_weights=namespace(K).ones_like(K[:1, 0]))
        targets = spectrum.targets._replace(Y=to_device(data.Y[rows].astype(np.float64), device))
        ((_, _, found),) = landmark.leave_one_out(block, targets, [basis], [penalties])
        scores.append(to_numpy(found))
    return np.concatenate(scores)
