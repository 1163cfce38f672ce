"""Scores ► reasons: exact additive parts of every score, the order in which pushes are told, and a summary for notebooks.

Every text and every page that lists pushes takes their order from :func:`ordered`: strongest first, but those whose sign
contradicts the plain correlation of the two labels come after all others, and are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array
from skcamel.text import count

LEARNED = {"paper": "as in the paper", "centred": "from centred labels"}
AGAINST = "against what the data show"
LEGEND = "Seen: training rows with both labels; expected: if neither depended on the other."


class Told(NamedTuple):
    """One push, with how often both labels were seen together and how often they would be if they were independent."""

    source: int
    target: int
    amount: float
    seen: float | None  # None where the training labels are not known
    expected: float | None
    contradicts: bool  # whether its sign is opposite to that of the plain correlation

    @property
    def shown(self) -> str:
        """What the data show, in brackets after a blank; nothing where they are not known."""
        return as_words(self.seen, self.expected, contradicts=self.contradicts)


@dataclass(frozen=True)
class Evidence:
    """What the training rows show about pairs of labels, beside S."""

    S: np.ndarray  # (q, q)
    seen: np.ndarray  # (q, q) weight of the rows that have both labels
    total: float | np.ndarray  # weight of all rows; (q, q) of the rows that know both labels, if some are unknown

    @cached_property
    def expected(self) -> np.ndarray:
        """Weight of the rows that would have both labels if these were independent, (q, q)."""
        present = np.diag(self.seen)
        if isinstance(self.total, np.ndarray):
            share = present / np.maximum(np.diag(self.total), 1e-300)  # of the rows that know the label
            return share[:, None] * share * self.total
        return present[:, None] * (present / self.total)

    @cached_property
    def contradicts(self) -> np.ndarray:
        """Whether a push is up although the labels avoid each other, or down although they go together, (q, q)."""
        excess = self.seen - self.expected
        clear = abs(excess) > 1e-9 * np.maximum(self.seen, self.expected)  # not rounding
        return clear & (np.sign(self.S) * np.sign(excess) < 0)


def how_learned(correlation: str) -> str:
    """What the parameter `correlation` of a model means, in words that follow "learned"."""
    return LEARNED.get(correlation, correlation)


def evidence(model: Any) -> Evidence:
    """What the training rows of a fitted model show."""
    return Evidence(model.label_correlation_, model.cooccurrence_, getattr(model, "known_together_", model.total_weight_))


def cooccurrence(Y: Array, weights: np.ndarray | None) -> tuple[Array, float]:
    """Weight of the rows that have both labels (q, q), and of all rows; labels are in {-1, +1}.

    Examples
    --------
    >>> cooccurrence(np.array([[1, 1], [1, -1], [-1, -1]]), np.array([1.0, 2.0, 0.5]))
    (array([[3., 1.],
           [1., 1.]]), 3.5)
    """
    q, size = Y.shape[1], 2**16
    total = float(Y.shape[0] if weights is None else weights.sum())
    together = np.zeros((q, q))
    for i in range(0, len(Y), size):  # a float for each label of a million rows would be too many
        present = (Y[i : i + size] > 0).astype(np.float64)
        together += present.T @ (present if weights is None else present * weights[i : i + size, None])
    return together, total


def known_together(Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Weight of the rows in which both labels are known (q, q); NaN in Y (n, q) is unknown.

    Examples
    --------
    >>> known_together(np.array([[1, 1], [1, np.nan], [-1, -1]]), None)
    array([[3., 2.],
           [2., 2.]])
    """
    known = (~np.isnan(Y)).astype(np.float64)
    return known.T @ (known if weights is None else known * weights[:, None])


def ordered(amounts: np.ndarray, k: int, shown: Evidence | None = None, target: int | None = None) -> list[Told]:
    """The first `k` of the pushes that are not 0: strongest first, those that contradict the data after all others.

    Parameters
    ----------
    amounts : array of shape (q, q), or (q,) with a `target`
        Push of label i on label j, or on the target.
    k : int
    shown : Evidence, default=None
        What the training rows show; None: not known.
    target : int, default=None

    Examples
    --------
    >>> seen = np.array([[30.0, 0.0], [0.0, 20.0]])
    >>> S = np.array([[0.0, 0.9], [-0.1, 0.0]])
    >>> [f"{push.amount:+}{push.shown}" for push in ordered(S, 5, Evidence(S, seen, 100.0))]
    ['-0.1 (seen 0, expected 6)', '+0.9 (seen 0, expected 6; against what the data show)']
    """
    q, columns = len(amounts), np.arange(len(amounts)) if target is None else np.array([target])
    amounts = amounts.reshape(q, -1)
    contradicts = np.zeros(amounts.shape, dtype=bool) if shown is None else shown.contradicts[:, columns]
    order = np.lexsort((-abs(amounts).ravel(), contradicts.ravel()))
    places = zip(*np.unravel_index(order[amounts.ravel()[order] != 0][:k], amounts.shape))
    return [
        Told(
            int(i),
            int(columns[c]),
            float(amounts[i, c]),
            None if shown is None else float(shown.seen[i, columns[c]]),
            None if shown is None else float(shown.expected[i, columns[c]]),
            bool(contradicts[i, c]),
        )
        for i, c in places
    ]


def as_words(seen: float | None, expected: float | None, *, contradicts: bool) -> str:
    """Words for what the data show beside a push, in brackets after a blank; nothing where it is not known.

    Examples
    --------
    >>> as_words(0.0, 30.2, contradicts=True)
    ' (seen 0, expected 30.2; against what the data show)'
    """
    if seen is None or expected is None:
        return ""
    return f" (seen {counted(seen)}, expected {counted(expected)}{'; ' + AGAINST if contradicts else ''})"


def counted(number: float) -> str:
    """A number of rows, which is a fraction where weights or expectations are.

    Examples
    --------
    >>> counted(1200.0), counted(30.234), counted(0.0123)
    ('1,200', '30.2', '0.012')
    """
    return f"{number:,.0f}" if number == round(number) or number >= 1000 else f"{number:.1f}" if number >= 1 else f"{number:.2g}"


class Push(NamedTuple):
    """What one label adds to the score of another (or of itself)."""

    source: str
    amount: float


class ColumnPart(NamedTuple):
    """What one column, or source of columns, adds to the score of a label."""

    column: str
    value: float


@dataclass(frozen=True)
class Explanation:
    """Why each row got its scores: exact parts relative to the average training row.

    Attributes
    ----------
    base : array of shape (q,)
        Score of the average training row.
    parts : array of shape (n, q, q)
        ``parts[r, i, j]`` is what label i pushes into the score of label j in row r: α s_ij (f_i - f̄_i), and on the
        diagonal the label's own part (1 - α)(f_j - f̄_j).
    label_names : array of shape (q,)
    thresholds : array of shape (q,)
        Cut of each label.
    evidence : Evidence or None
        What the training rows show about pairs of labels; texts tell it, and tell pushes that contradict it last.
    correlation : str
        What the label correlation was learned from, as in :class:`skcamel.CamelClassifier`.
    features : array of shape (n, G, q) or None
        Shapley value of each column, or source of columns, for each score; None unless asked for by ``explain(X, features=True)``.
    feature_base : array of shape (q,) or None
        Scores where no column is known.
    feature_names : array of shape (G,) or None
        Names of the columns or sources.

    Notes
    -----
    ``base + parts.sum(axis=1)`` is the decision function, and so is ``feature_base + features.sum(axis=1)``: two accounts of the
    same scores, by labels and by columns. The parts are relative to the average row because the mean
    of f itself grows like 1 / d_min of G and would drown everything else.
    """

    base: np.ndarray
    parts: np.ndarray
    label_names: np.ndarray
    thresholds: np.ndarray
    evidence: Evidence | None = None
    correlation: str = "paper"
    features: np.ndarray | None = None
    feature_base: np.ndarray | None = None
    feature_names: np.ndarray | None = None

    @property
    def scores(self) -> np.ndarray:
        """The decision function, (n, q)."""
        return self.base + self.parts.sum(axis=1)

    @property
    def own(self) -> np.ndarray:
        """Part of each label's own prediction, (n, q)."""
        return np.einsum("rjj->rj", self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, rows: Any) -> Explanation:
        """Explanation of some of the rows."""
        index = [rows] if np.ndim(rows) == 0 and not isinstance(rows, slice) else rows
        return replace(self, parts=self.parts[index], features=None if self.features is None else self.features[index])

    def top(self, k: int = 3) -> list[dict[str, list[Push]]]:
        """The `k` strongest pushes into every label, strongest first, for every row; the own part may be among them.

        Returns
        -------
        list with one mapping per row, from label name to pushes

        Examples
        --------
        >>> parts = np.array([[[0.5, 0.2], [-0.1, 0.4]]])
        >>> names = np.array(["sea", "sun"], dtype=object)
        >>> Explanation(np.zeros(2), parts, names, np.zeros(2)).top(1)
        [{'sea': [Push(source='sea', amount=0.5)], 'sun': [Push(source='sun', amount=0.4)]}]
        """
        order = np.argsort(-abs(self.parts), axis=1, kind="stable")[:, :k]  # (n, k, q)
        return [
            {
                str(name): [Push(str(self.label_names[i]), float(self.parts[r, i, j])) for i in order[r, :, j] if self.parts[r, i, j] != 0]
                for j, name in enumerate(self.label_names)
            }
            for r in range(len(self))
        ]

    def top_features(self, k: int = 3) -> list[dict[str, list[ColumnPart]]]:
        """The `k` columns with the strongest values for every label, strongest first, for every row.

        Returns
        -------
        list with one mapping per row, from label name to columns

        Examples
        --------
        >>> own, names, none = np.zeros((1, 1, 1)), np.array(["sea"], dtype=object), np.zeros(1)
        >>> columns = {"feature_base": none, "feature_names": np.array(["price", "text"], dtype=object)}
        >>> Explanation(none, own, names, none, features=np.array([[[0.1], [-0.3]]]), **columns).top_features(1)
        [{'sea': [ColumnPart(column='text', value=-0.3)]}]
        """
        return [{str(name): self.told_features(r, j, k) for j, name in enumerate(self.label_names)} for r in range(len(self))]

    def told_features(self, row: int, label: int, k: int = 3) -> list[ColumnPart]:
        """The `k` columns with the strongest values for one score, strongest first, without those of 0.

        Parameters
        ----------
        row, label : int
            Positions.
        k : int, default=3
        """
        values, names = self._columns()
        own = values[row, :, label]
        return [ColumnPart(str(names[g]), float(own[g])) for g in np.argsort(-abs(own), kind="stable")[:k] if own[g] != 0]

    def importance(self) -> np.ndarray:
        """Mean absolute value of each column for each label over the rows, (G, q)."""
        return abs(self._columns()[0]).mean(axis=0)

    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Values and names of the columns, where they were asked for."""
        if self.features is None or self.feature_names is None:
            raise ValueError("This explanation holds no columns; ask for them by explain(X, features=True).")
        return self.features, self.feature_names

    def told(self, row: int, label: int, k: int = 3) -> list[Told]:
        """The `k` pushes of other labels into one score that a text should tell first.

        Strongest first, but those whose sign contradicts what the training rows show come after all others; each with how
        often both labels were seen together and how often they would be if they were independent.

        Parameters
        ----------
        row, label : int
            Positions.
        k : int, default=3
        """
        others = self.parts[row, :, label] * (np.arange(len(self.base)) != label)
        return ordered(others, k, self.evidence, label)

    def to_frame(self) -> Any:
        """A pandas frame with one line per row, label and source, without the zeros.

        Columns: row, label, source, push, own (whether source and label are the same), score, predicted.
        """
        pd = _pandas("to_frame", "base and parts")
        row, source, label = _strongest_first(self.parts)
        scores = self.scores
        return pd.DataFrame(
            {
                "row": row,
                "label": self.label_names[label],
                "source": self.label_names[source],
                "push": self.parts[row, source, label],
                "own": source == label,
                "score": scores[row, label],
                "predicted": scores[row, label] > self.thresholds[label],
            }
        )

    def features_to_frame(self) -> Any:
        """A pandas frame with one line per row, label and column, without the zeros.

        Columns: row, label, column, value, score.
        """
        values, names = self._columns()
        pd = _pandas("features_to_frame", "feature_base and features")
        row, column, label = _strongest_first(values)
        lines = {"row": row, "label": self.label_names[label], "column": names[column], "value": values[row, column, label]}
        return pd.DataFrame(lines | {"score": self.scores[row, label]})

    def __str__(self) -> str:
        """The first rows as text: predicted labels with base, own part, strongest pushes, and columns if they are known."""
        lines: list[str] = []
        for r, scores in enumerate(self[:3].scores):
            lines.append(f"row {r}")
            shown = np.flatnonzero(scores > self.thresholds)
            lines += [self._line(r, j, scores[j]) for j in shown[np.argsort(-scores[shown])]]
            if not len(shown):
                lines.append("  no label predicted")
        if len(self) > 3:
            lines.append(f"… {len(self) - 3} more rows")
        return "\n".join([*lines, f"Label correlation learned {how_learned(self.correlation)}."])

    def _line(self, r: int, j: int, score: float) -> str:
        cut = f" (cut {self.thresholds[j]:+.2f})" if self.thresholds[j] else ""
        own, others = self.parts[r, j, j], self.parts[r, :, j].sum() - self.parts[r, j, j]
        told = ", ".join(f"{self.label_names[push.source]} {push.amount:+.2f}{push.shown}" for push in self.told(r, j))
        parts = f"average {self.base[j]:+.2f}, own {own:+.2f}, others {others:+.2f}" + (f": {told}" if told else "")
        line = f"  {self.label_names[j]}: {score:+.2f}{cut} = {parts}"
        if self.features is None:
            return line
        return f"{line}\n    by column: {', '.join(f'{name} {value:+.2f}' for name, value in self.told_features(r, j)) or 'nothing'}"


def _pandas(method: str, arrays: str) -> Any:
    """The module, or which arrays do without it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"Explanation.{method} needs pandas: pip install pandas. The arrays {arrays} do without.") from error
    return pd


def _strongest_first(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of what is not 0 in an array (row, source, label), in the order of rows, labels, and strength."""
    row, source, label = np.nonzero(values)
    order = np.lexsort((-abs(values[row, source, label]), label, row))
    return row[order], source[order], label[order]


STRONGEST = 5


SUMMED = {"landmark": "landmark", "primal": "column"}  # solvers by sums over rows, and what they have coefficients for


def in_place_of_rows(model: Any) -> str:
    """What a fitted model has coefficients for, in words, if rows were summed up; else nothing, for it has them for the rows.

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> X, Y = np.arange(20.0)[:, None], np.arange(20)[:, None] % [2, 3] == 0
    >>> in_place_of_rows(CamelClassifier(solver="landmark", n_landmarks=5).fit(X, Y)), in_place_of_rows(CamelClassifier().fit(X, Y))
    ('5 landmarks', '')
    """
    own = [member for _, member in model.weighted_members() if getattr(member, "solver_", "") in SUMMED]
    return " and ".join(dict.fromkeys(count(len(member.dual_coef_), SUMMED[member.solver_]) for member in own))


def training_rows(model: Any) -> float:
    """How many rows a model was fitted on; the sum of their weights if it does not hold them."""
    _, first = model.weighted_members()[0]
    total = model.total_weight_ if in_place_of_rows(model) else len(first.dual_coef_)
    return int(total) if total == int(total) else round(total, 3)


def collaboration_summary(model: Any) -> str:
    """Sizes and the strongest pushes between labels; names are escaped.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> model = CamelClassifier(0.3, correlation="centred").fit(np.eye(40), np.eye(40, 2, dtype=int))
    >>> text = collaboration_summary(model)
    >>> "label1 → label2" in text, "40 rows, 2 labels, α = 0.3, correlation learned from centred labels." in text
    (True, True)
    """
    S, names, shown = model.label_correlation_, [escape(str(name)) for name in model.label_names_], evidence(model)
    pushes = [f"<li>{names[i]} → {names[j]}: {s:+.3f}{push.shown}</li>" for push in ordered(S, STRONGEST, shown) for i, j, s in [push[:3]]]
    share = np.count_nonzero(S) / max(1, S.size - len(S))
    found = (
        f"Strongest pushes between labels (s; {share:.0%} of all pairs have one). {LEGEND}<ul>{''.join(pushes)}</ul>"
        if pushes
        else "No label pushes another."
    )
    members = [member for _, member in model.weighted_members()]
    alphas = ", ".join(f"{alpha:g}" for alpha in sorted({float(own.alpha_ if hasattr(own, "alpha_") else own.alpha) for own in members}))
    by = in_place_of_rows(model)
    sizes = f"{count(training_rows(model), 'row')}{by and f' by {by}'}, {count(len(S), 'label')}, α = {alphas}"
    if len(members) > 1:
        sizes = f"{len(members)} models combined, {sizes}"
    return f"<div><strong>Collaboration</strong>: {sizes}, correlation learned {escape(how_learned(model.correlation))}. {found}</div>"
