"""S and the training labels ► pushes in the order in which they are told, each beside what the training rows show.

Every text and every page that lists pushes takes their order from here: strongest first, but those whose sign contradicts the
plain correlation of the two labels come after all others, and are marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

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
    total: float  # weight of all rows

    @cached_property
    def expected(self) -> np.ndarray:
        """Weight of the rows that would have both labels if these were independent, (q, q)."""
        present = np.diag(self.seen)
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


def evidence(model: Any) -> Evidence | None:
    """What the training rows of a fitted model show; None for a model of an earlier version, which did not keep it."""
    if not hasattr(model, "cooccurrence_") or not hasattr(model, "total_weight_"):
        return None
    return Evidence(model.label_correlation_, model.cooccurrence_, model.total_weight_)


def cooccurrence(Y: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Weight of the rows that have both labels (q, q), and of all rows.

    Examples
    --------
    >>> cooccurrence(np.array([[1, 1], [1, -1], [-1, -1]]), np.array([1.0, 2.0, 0.5]))
    (array([[3., 1.],
           [1., 1.]]), 3.5)
    """
    present = (Y > 0).astype(np.float64)
    if weights is None:
        return present.T @ present, float(len(Y))
    return present.T @ (present * weights[:, None]), float(weights.sum())


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
