"""Labels ► label errors: entries of Y that leave-one-out scores contradict.

The score F_ij of an entry comes from all rows but row i, so a wrong label in that row does not
affect it. A link for each label makes log-odds z_ij of the scores, and with y in {-1, +1} the
chance that the label is right is sigmoid(y_ij z_ij). Entries with the smallest chance come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skcamel.arrays import Array, Params, is_lazy, namespace, slices, to_device, to_numpy
from skcamel.camel import (
    base,
    correlation,
    explanation,
    landmark,
    link,
    representation,
    search,
    spectral,
)
from skcamel.camel.classifier_cv import CamelClassifierCV
from skcamel.checks import check_number
from skcamel.text import one_line

PUSHES = 3  # listed for each entry
SHOWN = 10  # lines of text


def find_label_errors(
    X: Any, Y: Any, estimator: Any = None, *, limit: int | None = None, groups: Any = None
) -> LabelErrors:
    """List the entries of Y, the ones most likely to be wrong first.

    Every candidate that the estimator would try scores each row by exact leave-one-out; the scores
    of the candidate with the least squared error decide. How the estimator chooses otherwise (`cv`,
    `scoring`), its thresholds and `combine` do not matter here.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d); whatever a Pipeline takes
    Y : array, sparse matrix or frame of shape (n, q)
        Labels in {0, 1} or {-1, +1}; NaN where one is unknown.
    estimator : CamelClassifier, CamelClassifierCV, or Pipeline that ends in one, default=None
        What is tried; it is left as it is. None: ``CamelClassifierCV.from_preset("quick")``. The
        other steps of a Pipeline are fitted on all rows.
    limit : int, default=None
        Keep only so many, the first; None: all known entries.
    groups : array of shape (n,), default=None
        Rows that belong together, such as copies, are left out together, so that they do not
        confirm each other.

    Returns
    -------
    LabelErrors

    Notes
    -----
    A label that is wrong in the same way throughout looks right: only entries that differ from
    similar rows stand out. A wrong row that occurs twice confirms itself, unless both are in one of
    the `groups`.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(40, 2)) / 5
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0) + noise
    >>> Y = (X > 0.5).astype(int)
    >>> Y[7] = 1, 0  # wrong on purpose
    >>> found = find_label_errors(X, Y, limit=2)
    >>> found.rows.tolist(), sorted(found.labels.tolist()), bool((found.chance < 0.5).all())
    ([7, 7], [0, 1], True)
    """
    if limit is not None:
        check_number("limit", limit, 1, whole=True, otherwise="or None")
    if is_lazy(X):
        raise ValueError(
            "find_label_errors takes arrays, not Dask collections; use X.compute() where that fits"
            " into memory."
        )
    names = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if estimator is None:
        estimator = CamelClassifierCV.from_preset("quick")
    X, model = _prepared(X, Y, clone(estimator))
    data, labels = model._checked(X, Y, None, groups)
    if labels.target != "matrix":
        raise ValueError(
            "Y is one column of classes; label errors are found in a matrix with one column per"
            " label."
        )
    if len(labels.Y) < 2:
        raise ValueError("Y has one row; a label is judged by the other rows, so give at least 2.")
    model.label_correlation_ = base.learn_correlation(model, data)
    scores, alpha = _least_error(model, data)
    relevant, weights = data.truth(scores)
    known = weights > 0
    Y = np.nan_to_num(data.Y.astype(np.float64))
    # that each entry is right
    linked, _ = link.fit_link(relevant, scores, weights)
    log_odds = Y * linked.log_odds(scores)
    first = np.argsort(log_odds[known], kind="stable")[:limit]
    rows, columns = entries = tuple(np.argwhere(known)[first].T)
    # (n, q) of the other rows
    means = (Y.sum(axis=0) - Y) / np.maximum(known.sum(axis=0) - known, 1)
    G = correlation.collaboration(model.label_correlation_, alpha)
    deviations = (scores - means) @ linalg.pinv(G)
    return LabelErrors(
        rows=rows,
        labels=columns,
        scores=(Y * scores)[entries],
        given=relevant[entries].astype(np.int64),
        chance=link.probabilities(log_odds[entries]),
        label_names=labels.names,
        row_names=np.arange(len(Y), dtype=object) if names is None else np.asarray(names),
        base=(scores - deviations @ G)[entries],
        deviations=deviations,
        collaboration=G,
        evidence=explanation.evidence(model),
    )


def _prepared(X: Any, Y: Any, model: Any) -> tuple[Any, Any]:
    """Rows as the last step of a Pipeline gets them, and that step."""
    while isinstance(model, Pipeline):
        if len(model) > 1:
            X = model[:-1].fit_transform(X, Y)
        model = model[-1]
    if not isinstance(model, base.BaseCamel):
        raise TypeError(
            "Label errors are found by a CamelClassifier or CamelClassifierCV, got a"
            f" {type(model).__name__}."
        )
    model._check_parameters()
    if model.solver == "alternating":
        raise ValueError(f"find_label_errors needs {base.BY_LEAVE_ONE_OUT}")
    return X, model


@dataclass(frozen=True)
class LabelErrors:
    """The k entries of a label matrix that are most likely wrong, in that order.

    Attributes
    ----------
    rows, labels : int arrays of shape (k,)
        Positions of the entries.
    scores : array of shape (k,)
        Leave-one-out score of the label, times -1 where the label is absent. Below 0 the score
        contradicts the label, at -1 as firmly as scores usually support one.
    given : int array of shape (k,)
        1 or 0, as in Y; what is suggested is the other.
    chance : array of shape (k,)
        Probability that the label is right all the same; ascending.
    label_names : array of shape (q,)
    row_names : array of shape (n,)
        Index of X where it was a frame of pandas; else numbers from 0.
    base, own : arrays of shape (k,)
        Score of the average of the other rows, and what the label's own prediction adds to it.
        Other labels push the rest.
    deviations, collaboration : arrays of shape (n, q) and (q, q)
        What own parts and pushes are made of: label i pushes entry (r, j) by ``deviations[r, i] *
        collaboration[i, j]``. All are exact parts of the leave-one-out scores.
    evidence : Evidence
        How often two labels were seen together.
    """

    rows: Array
    labels: Array
    scores: Array
    given: Array
    chance: Array
    label_names: Array
    row_names: Array
    base: Array
    deviations: Array
    collaboration: Array
    evidence: explanation.Evidence

    @cached_property
    def own(self) -> Array:
        """What the label's own prediction adds to its score, (k,)."""
        return (
            self.deviations[self.rows, self.labels] * self.collaboration[self.labels, self.labels]
        )

    def __len__(self) -> int:
        return len(self.rows)

    def pushes(self, entry: int, k: int = PUSHES) -> list[explanation.Push]:
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
        return explanation.ranked_pushes(pushes, k, self.evidence, label)

    def why(self, entry: int) -> str:
        """What a score adds up from: average, own part and strongest pushes."""
        parts = [("average", self.base[entry]), ("own", self.own[entry])]
        parts += [(self.label_names[push.source], push.amount) for push in self.pushes(entry)]
        return ", ".join(f"{name} {amount:+.2f}" for name, amount in parts)

    def records(self, k: int | None = None) -> list[Params]:
        """One mapping for each of the first `k` entries, with the columns of :meth:`to_frame`."""
        records = []
        for entry in range(len(self))[:k]:
            given = int(self.given[entry])
            record = {
                "row": self.row_names[self.rows[entry]],
                "label": self.label_names[self.labels[entry]],
                "given": given,
                "suggested": 1 - given,
                "score": float(self.scores[entry]),
                "chance": float(self.chance[entry]),
                "why": self.why(entry),
            }
            records.append(record)
        return records

    def to_frame(self) -> Any:
        """A pandas frame with one line per entry, in their order.

        Columns: row (as in `row_names`), label, given, suggested, score, chance and why.
        """
        return explanation.data_frame(self.records())

    def __str__(self) -> str:
        """The first entries as a table."""
        lines = as_table(self.records(SHOWN))
        if len(self) > SHOWN:
            lines.append(f"… {len(self) - SHOWN:,} more")
        return "\n".join(lines)


def as_table(records: Sequence[Params]) -> list[str]:
    """Lines of a table with a header, its figures with two digits, its cells made safe and padded.

    Examples
    --------
    >>> as_table([{"row": 12, "score": -0.5, "chance": 0.125, "why": "own +0.50"}])
    ['row  score  chance  why', '12   -0.50  0.12    own +0.50']
    """
    table = [[one_line(name) for name in records[0]]]
    for record in records:
        shown = record | {"score": f"{record['score']:+.2f}", "chance": f"{record['chance']:.2f}"}
        table.append([one_line(str(cell)) for cell in shown.values()])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]


def _least_error(model: Any, data: representation.Data) -> tuple[Array, float]:
    """Leave-one-out scores (n, q) and α of the first candidate with the least squared error.

    Where rows are summed up, candidates are compared by the sample, and the best one then scores
    all rows, in blocks.
    """
    grid = model._grid()
    if sparse.issparse(data.X):
        grid = grid.for_sparse_rows()
    S = model.label_correlation_
    device = model.device
    found = search.search(representation.represent(data, grid, device), grid, S, device=device)
    (best,) = found.models
    alpha = best.params["alpha"]
    if len(best.scores) == len(data.Y):
        return to_numpy(best.scores), alpha
    alone = grid.only(found.params.index(best.params))
    (problem,) = representation.represent(data, alone, device)
    bases = representation.label_bases(S, (alpha,), device)
    blocks = []
    for part in slices(len(data.Y), landmark.BLOCK_ROWS):
        K = problem.representation.kernel_rows(data.X[part], device)
        rows = spectral.in_eigenbasis(problem.spectrum, K)
        ones = namespace(rows).ones_like(rows[:, 0])
        here = problem._replace(
            spectrum=problem.spectrum._replace(rows=rows, judged_weights=ones),
            targets=problem.targets._replace(Y=to_device(data.Y[part], device)),
        )
        (left_out,) = here.leave_one_out(bases)
        blocks.append(to_numpy(left_out))
    return np.concatenate(blocks), alpha
