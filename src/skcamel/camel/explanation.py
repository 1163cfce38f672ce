"""Scores ► explanations: exact additive parts, and what the training rows show about labels.

Every text and every page that lists pushes takes their order from :func:`ranked_pushes`: strongest
first, but those whose sign contradicts the plain correlation of the two labels come after all
others, and are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array
from skcamel.text import count

# what follows "learned" for each `correlation`
LEARNED = {"paper": "as in the paper", "centred": "from centred labels"}
AGAINST = "against what the data show"
LEGEND = "Seen: training rows with both labels; expected: if neither depended on the other."
# solvers by sums over rows, and what they have coefficients for
SUMMED = {"landmark": "landmark", "primal": "column"}


class LabelPart(NamedTuple):
    """What one label adds to the score of another, or of itself."""

    source: str
    amount: float


class ColumnPart(NamedTuple):
    """What one column, or source of columns, adds to the score of a label."""

    column: str
    value: float


class Push(NamedTuple):
    """What one label adds to the score of another, and how often the training rows have both."""

    source: int
    target: int
    amount: float
    seen: float
    expected: float  # if the two labels were independent
    contradicts: bool  # whether its sign is opposite to that of the plain correlation

    @property
    def shown(self) -> str:
        """What the training rows show, in brackets after a blank."""
        seen = f"seen {short_number(self.seen)}, expected {short_number(self.expected)}"
        if self.contradicts:
            return f" ({seen}; {AGAINST})"
        return f" ({seen})"


class Evidence(NamedTuple):
    """What the training rows show about pairs of labels, (q, q) each."""

    seen: Array  # weight of the rows that have both labels
    expected: Array  # the same if the labels were independent
    # whether a push is up although the labels avoid each other, or down although they go together
    contradicts: Array

    @classmethod
    def of(cls, S: Array, seen: Array, total: Array | float) -> Evidence:
        """Compare the signs of S (q, q) with how often labels are seen together.

        `total` is the weight of the rows.

        If labels are unknown in some rows, `total` is the weight of the rows that know both, (q,
        q).
        """
        total = np.broadcast_to(total, S.shape)
        present = np.diag(seen)
        known = np.diag(total)
        expected = np.outer(present, present) * total / np.maximum(np.outer(known, known), 1e-300)
        rounding = 1e-9 * np.maximum(seen, expected)
        return cls(seen, expected, np.sign(S) * (seen - expected) < -rounding)


def evidence(model: Any) -> Evidence:
    """What the training rows of a fitted model show."""
    return Evidence.of(
        model.label_correlation_,
        model.cooccurrence_,
        getattr(model, "known_together_", model.total_weight_),
    )


def ranked_pushes(
    amounts: Array, k: int, evidence: Evidence, target: int | None = None
) -> list[Push]:
    """The first `k` pushes that are not 0: strongest first, those that contradict the data last.

    Parameters
    ----------
    amounts : array of shape (q, q), or (q,) with a `target`
        Push of label i on label j, or on the target.
    k : int
    evidence : Evidence
    target : int, default=None

    Examples
    --------
    >>> seen = np.array([[30.0, 0.0], [0.0, 20.0]])
    >>> S = np.array([[0.0, 0.9], [-0.1, 0.0]])
    >>> found = ranked_pushes(S, 5, Evidence.of(S, seen, 100.0))
    >>> [f"{push.amount:+}{push.shown}" for push in found]
    ['-0.1 (seen 0, expected 6)', '+0.9 (seen 0, expected 6; against what the data show)']
    """
    sources, targets = np.nonzero(amounts.reshape(len(amounts), -1))
    if target is not None:
        targets[:] = target
    amounts = amounts[amounts != 0]
    pairs = [values[sources, targets] for values in evidence]
    first = np.lexsort((-abs(amounts), pairs[-1]))[:k]
    columns = [values[first].tolist() for values in (sources, targets, amounts, *pairs)]
    return [Push(*values) for values in zip(*columns, strict=True)]


def short_number(number: float) -> str:
    """A number of rows, which is a fraction where weights or expectations are.

    Examples
    --------
    >>> short_number(1200.0), short_number(30.234), short_number(0.0123)
    ('1,200', '30.2', '0.012')
    """
    if number >= 1000 or number.is_integer():
        return f"{number:,.0f}"
    if number >= 1:
        return f"{number:.1f}"
    return f"{number:.2g}"


@dataclass(frozen=True)
class Explanation:
    """Why each row got its scores: exact parts relative to the average training row.

    Attributes
    ----------
    base : array of shape (q,)
        Score of the average training row.
    parts : array of shape (n, q, q)
        ``parts[r, i, j]`` is what label i pushes into the score of label j in row r: α s_ij (f_i -
        f̄_i), and on the diagonal the label's own part (1 - α)(f_j - f̄_j).
    label_names : array of shape (q,)
    thresholds : array of shape (q,)
        Threshold of each label.
    evidence : Evidence
        What the training rows show about pairs of labels; texts show it, and list pushes that
        contradict it last.
    correlation : str
        What the label correlation was learned from, as in :class:`skcamel.CamelClassifier`.
    features : array of shape (n, G, q) or None
        Shapley value of each column, or source of columns, for each score; None without
        ``explain(X, features=True)``.
    feature_base : array of shape (q,), or (n, q) where rows have words of their own; or None
        Scores where no column is known.
    feature_names : array of shape (G,) or None
        Names of the columns or sources.
    target : {"matrix", "binary", "multiclass"}
        Of "multiclass", a 1-d y of more than two classes, the highest score alone is predicted.

    Notes
    -----
    ``base + parts.sum(axis=1)`` is the decision function, and so is ``feature_base +
    features.sum(axis=1)``: two accounts of the same scores, by labels and by columns. The parts are
    relative to the average row because the mean of f itself grows like 1 / d_min of G and would
    drown everything else.
    """

    base: Array
    parts: Array
    label_names: Array
    thresholds: Array
    evidence: Evidence
    correlation: str = "paper"
    features: Array | None = None
    feature_base: Array | None = None
    feature_names: Array | None = None
    target: str = "matrix"

    @property
    def scores(self) -> Array:
        """The decision function, (n, q)."""
        return self.base + self.parts.sum(axis=1)

    @property
    def predicted(self) -> Array:
        """Which labels are predicted, (n, q)."""
        scores = self.scores
        if self.target == "multiclass":
            return np.eye(scores.shape[1], dtype=bool)[scores.argmax(axis=1)]
        return scores > self.thresholds

    @property
    def own(self) -> Array:
        """Part of each label's own prediction, (n, q)."""
        return np.diagonal(self.parts, axis1=1, axis2=2)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, rows: Any) -> Explanation:
        """Explanation of some of the rows."""
        rows = np.atleast_1d(np.arange(len(self))[rows])
        base = self.feature_base
        return replace(
            self,
            parts=self.parts[rows],
            features=None if self.features is None else self.features[rows],
            feature_base=base if base is None or base.ndim < 2 else base[rows],
        )

    def top(self, k: int = 3) -> list[dict[str, list[LabelPart]]]:
        """The `k` strongest parts of every score for every row, a label's own part among them.

        Returns
        -------
        list with one mapping per row, from label name to parts

        Examples
        --------
        >>> parts = np.array([[[0.5, 0.2], [-0.1, 0.4]]])
        >>> names, unseen = np.array(["sea", "sun"], dtype=object), Evidence(*np.zeros((3, 2, 2)))
        >>> top = Explanation(np.zeros(2), parts, names, np.zeros(2), unseen).top(1)
        >>> top[0]["sun"]
        [LabelPart(source='sun', amount=0.4)]
        """
        labels = self.label_names
        return [
            {label: _strongest(row[:, j], labels, LabelPart, k) for j, label in enumerate(labels)}
            for row in self.parts
        ]

    def column_values(self, row: int, label: int, k: int = 3) -> list[ColumnPart]:
        """The `k` columns with the strongest values for one score, strongest first, without zeros.

        Parameters
        ----------
        row, label : int
            Positions.
        k : int, default=3

        Examples
        --------
        >>> from skcamel import CamelClassifier
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = CamelClassifier(lambda2=0.01).fit(X, X[:, :1] > 0)
        >>> found = model.explain(X[2:3], features=True).column_values(0, 0, k=1)
        >>> [part.column for part in found]
        ['f1']
        """
        values, names = self._columns()
        return _strongest(values[row, :, label], names, ColumnPart, k)

    def importance(self) -> Array:
        """Mean absolute value of each column for each label over the rows, (G, q)."""
        return abs(self._columns()[0]).mean(axis=0)

    def _columns(self) -> tuple[Array, Array]:
        """Values and names of the columns, where they are known."""
        if self.features is None or self.feature_names is None:
            raise ValueError("This explanation holds no columns; use explain(X, features=True).")
        return self.features, self.feature_names

    def pushes(self, row: int, label: int, k: int = 3) -> list[Push]:
        """The `k` pushes of other labels into one score that a text should list first.

        Strongest first, but those whose sign contradicts what the training rows show come after all
        others; each with how often both labels were seen together and how often they would be if
        they were independent.

        Parameters
        ----------
        row, label : int
            Positions.
        k : int, default=3
        """
        others = self.parts[row, :, label].copy()
        others[label] = 0.0
        return ranked_pushes(others, k, self.evidence, label)

    def to_frame(self) -> Any:
        """A pandas frame with one line per row, label and source, without the zeros.

        The strongest sources of a label come first.

        Columns: row, label, source, push, own (whether source and label are the same), score,
        predicted.
        """
        row, source, label = np.nonzero(self.parts)
        push = self.parts[row, source, label]
        score = self.scores[row, label]
        columns = {
            "row": row,
            "label": self.label_names[label],
            "source": self.label_names[source],
            "push": push,
            "own": source == label,
            "score": score,
            "predicted": self.predicted[row, label],
        }
        frame = data_frame(columns)
        return frame.iloc[np.lexsort((-abs(push), label, row))].reset_index(drop=True)

    def __str__(self) -> str:
        """The first rows as text: predicted labels with base, parts, and columns if known."""
        lines: list[str] = []
        first = self[:3]
        order = np.argsort(-first.scores, axis=1)
        for row, labels in enumerate(order):
            predicted = labels[first.predicted[row, labels]].tolist()
            lines.append(f"row {row}")
            lines += [self._line(row, label) for label in predicted] or ["  no label predicted"]
        if len(self) > 3:
            lines.append(f"… {len(self) - 3} more rows")
        return "\n".join([*lines, f"Label correlation learned {LEARNED[self.correlation]}."])

    def _line(self, row: int, label: int) -> str:
        base = self.base[label]
        threshold = self.thresholds[label]
        total = self.parts[row, :, label].sum()
        own = self.parts[row, label, label]
        line = f"  {self.label_names[label]}: {base + total:+.2f}"
        if threshold and self.target != "multiclass":
            line += f" (threshold {threshold:+.2f})"
        line += f" = average {base:+.2f}, own {own:+.2f}, others {total - own:+.2f}"
        if pushes := self.pushes(row, label):
            line += ": " + ", ".join(
                f"{self.label_names[push.source]} {push.amount:+.2f}{push.shown}" for push in pushes
            )
        if self.features is not None:
            columns = ", ".join(
                f"{name} {value:+.2f}" for name, value in self.column_values(row, label)
            )
            line += f"\n    by column: {columns or 'nothing'}"
        return line


def joined(found: Sequence[Any]) -> Explanation:
    """Explanations by columns of one row each, which may have columns of their own, as one."""
    names = list(dict.fromkeys(name for each in found for name in each.feature_names))
    features = np.zeros((len(found), len(names), len(found[0].label_names)))
    for values, each in zip(features, found, strict=True):
        values[[names.index(name) for name in each.feature_names]] = each.features[0]
    return replace(
        found[0],
        parts=np.concatenate([each.parts for each in found]),
        features=features,
        feature_base=np.stack([each.feature_base for each in found]),
        feature_names=np.array(names, dtype=object),
    )


def _strongest(values: Array, names: Array, kind: Any, k: int) -> list[Any]:
    """Names and values of the `k` strongest of values (m,) that are not 0, strongest first."""
    order = np.argsort(-abs(values), kind="stable")[:k]
    return [kind(names[i], float(values[i])) for i in order if values[i] != 0]


def data_frame(columns: Any) -> Any:
    """A pandas frame, which is an optional dependency."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas: pip install pandas. The attributes hold the same as arrays."
        ) from error
    return pd.DataFrame(columns)


def training_size(model: Any) -> tuple[float, str]:
    """Number of training rows of a fitted model, and what it has coefficients for in their place.

    The latter is text, "" if these are the rows.

    Where rows were summed up, their number is the sum of their weights.

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> X, Y = np.arange(20.0)[:, None], np.arange(20)[:, None] % [2, 3] == 0
    >>> training_size(CamelClassifier(solver="landmark", n_landmarks=5).fit(X, Y))
    (20, '5 landmarks')
    >>> training_size(CamelClassifier().fit(X, Y))
    (20, '')
    """
    members = [member for _, member in model.weighted_members()]
    if members[0].solver_ not in SUMMED:
        return len(members[0].dual_coef_), ""
    summed = dict.fromkeys(
        count(len(member.dual_coef_), SUMMED[member.solver_]) for member in members
    )
    n_rows = round(model.total_weight_, 3)
    return int(n_rows) if n_rows == int(n_rows) else n_rows, " and ".join(summed)
