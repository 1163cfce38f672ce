"""Decisions and truth ► precision and recall of every label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skcamel.metrics import report
from skcamel.plots.canvas import DOWN, LINE, UP, axes_or_new, name_rows, rows_size


def plot_quality(
    Y: Any, P: Any, *, label_names: Sequence[str] | None = None, k: int = 30, ax: Any = None
) -> Any:
    """Draw precision and recall of every label, the commonest label on top.

    Parameters
    ----------
    Y : array or sparse matrix of shape (m, q)
        True labels; NaN where one is unknown.
    P : array or sparse matrix of shape (m, q)
        Decisions, as ``model.predict`` gives them.
    label_names : sequence of q str, default=None
        None: label1, label2, …
    k : int, default=30
        How many labels at most: those with the lowest F1.
    ax : matplotlib axes, default=None
        Drawn into; None makes a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_quality([[1, 0], [1, 1]], [[1, 0], [0, 1]], label_names=["sea", "sun"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['sea', 'sun']
    """
    rows = list(report(Y, P, label_names=label_names))
    names = [row["label"] for row in rows]
    figures = {}
    for key in ("positives", "precision", "recall", "f1"):
        column = [row[key] for row in rows]
        figures[key] = np.array(column, dtype=np.float64)
    return draw_quality(names, figures, k=k, ax=ax)


def draw_quality(names: Sequence[str], figures: Any, *, k: int = 30, ax: Any = None) -> Any:
    """Draw what :func:`plot_quality` draws from the figures of the labels, arrays of shape (q,)."""
    f1 = np.nan_to_num(figures["f1"], nan=2.0)
    worst = np.argsort(f1, kind="stable")[:k]
    positives = figures["positives"][worst]
    shown = worst[np.argsort(-positives, kind="stable")]
    shown_names = [names[j] for j in shown]
    precision = figures["precision"][shown]
    recall = figures["recall"][shown]
    y = np.arange(len(shown))
    ax = axes_or_new(ax, rows_size(shown_names))
    ax.hlines(y, precision, recall, color=LINE, linewidth=3, zorder=1)
    ax.plot(precision, y, "o", color=UP, markersize=7, label="precision: predicted and right")
    ax.plot(recall, y, "D", color=DOWN, markersize=6, label="recall: present and found")
    name_rows(ax, shown_names)
    ax.set_xlim(-0.03, 1.03)
    ax.grid(axis="x", color=LINE, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return ax
