"""Explanation ► the score of one label in one row, as a sum of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skcamel.checks import choice
from skcamel.data.pipeline import reasons
from skcamel.plots.canvas import (
    DOWN,
    INK,
    MUTED,
    UP,
    axes_or_new,
    literal,
    name_rows,
    rows_size,
)
from skcamel.text import count

ACCOUNTS = ("columns", "labels")
OWN = "the label's own evidence"
OTHERS = {"columns": "other_columns", "labels": "other_pushes"}  # what `reasons` calls the rest


class Sum(NamedTuple):
    """A score as a sum: where it starts, named parts, and the score that they add up to."""

    start: tuple[str, float]
    parts: Sequence[tuple[str, float]]
    score: float


def plot_explanation(
    explanation: Any,
    row: int = 0,
    *,
    label: str | None = None,
    by: str | None = None,
    k: int = 6,
    ax: Any = None,
) -> Any:
    """Draw why a label got its score in one row: parts that add up to the score.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``, or ``skcamel.explain(pipeline, X)``.
    row : int, default=0
        Position in the explanation.
    label : str, default=None
        None: the label whose score is the highest above its threshold.
    by : "columns" or "labels", default=None
        Parts are what each column adds, or the label's own evidence and what each other label
        pushes. None: columns where the explanation holds them.
    k : int, default=6
        How many columns or other labels, the strongest; the rest is one bar.
    ax : matplotlib axes, default=None
        Drawn into; None makes a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel import CamelClassifier
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> ax = plot_explanation(CamelClassifier().fit(X, Y).explain(X[:5]), row=2, label="label2")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['average row', "the label's own evidence", 'label1 pushes', 'label3 pushes', 'score']
    """
    if not -len(explanation) <= row < len(explanation):
        raise ValueError(
            f"row={row} is not in the explanation, which has {len(explanation)} rows; they are"
            " counted from 0."
        )
    names = [str(name) for name in explanation.label_names]
    above = explanation.scores[row] - explanation.thresholds
    if label is None:
        j = int(above.argmax())
    else:
        j = names.index(choice(label, tuple(names), "label"))
    found = sum_of(explanation, row, j, by=by, k=k)
    shown = [name for name, _ in found.parts]
    size = rows_size([found.start[0], *shown])
    ax = axes_or_new(ax, size)
    _draw_sum(found, float(explanation.thresholds[j]), ax)
    verb = "predicted" if above[j] > 0 else "not predicted"
    ax.set_title(literal(f"{names[j]}: {verb}"))
    return ax


def sum_of(explanation: Any, row: int, label: int, *, by: str | None = None, k: int = 6) -> Sum:
    """The score of a label in a row, as its `k` strongest parts and the sum of the others.

    Parameters
    ----------
    explanation : Explanation
    row, label : int
        Positions.
    by, k
        As in :func:`plot_explanation`.
    """
    figures = reasons(explanation, row, label, k)
    if by is None:
        by = "columns" if "columns" in figures else "labels"
    if choice(by, ACCOUNTS, "by") == "columns":
        explanation.importance()  # refuses an explanation without columns
        start = ("no column known", figures["no_column"])
        parts = [(part["column"], part["value"]) for part in figures["columns"]]
        amounts = explanation.features[row, :, label]
        n_shown = len(parts)
    else:
        start = ("average row", figures["base"])
        own = (OWN, figures["own"])
        pushes = [(f"{push['label']} pushes", push["push"]) for push in figures["pushes"]]
        parts = [own, *pushes]
        amounts = np.delete(explanation.parts[row, :, label], label)
        n_shown = len(pushes)
    n_others = int(np.count_nonzero(amounts)) - n_shown
    if n_others:
        noun = f"other {by[:-1]}"
        rest = figures[OTHERS[by]]
        parts.append((count(n_others, noun), rest))
    return Sum(start, parts, figures["score"])


def _draw_sum(found: Sum, threshold: float, ax: Any) -> None:
    """Bars from the start to the score, each beginning where the one above ends."""
    names, amounts = zip(found.start, *found.parts, ("score", found.score), strict=True)
    ends = np.cumsum(amounts[:-1])
    last = len(ends)
    for y, amount in enumerate(amounts[1:-1], 1):
        colour = UP if amount >= 0 else DOWN
        begin = ends[y - 1]
        ax.barh(y, amount, left=begin, height=0.6, color=colour)
    y_of_ends = np.arange(last)
    ax.vlines(ends, y_of_ends + 0.3, y_of_ends + 0.7, color=MUTED, linewidth=1)
    ax.plot([ends[0], found.score], [0, last], "o", color=INK, markersize=7)
    ax.axvline(threshold, color=MUTED, linestyle=":", linewidth=1.5)
    for y, amount in enumerate(amounts):
        text = f"{amount:+.2f}".replace("-", "\u2212")
        place = (1.01, y)
        ax.annotate(text, place, xycoords=("axes fraction", "data"), va="center", color=INK)
    name_rows(ax, names)
    ax.set_xlabel("score; the dotted line is the threshold")
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
