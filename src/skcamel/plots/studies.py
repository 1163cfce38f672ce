"""Figures of a study ► ranks with their critical difference, differences from print, and times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skcamel.experiment.significance import compare_methods, groups_of
from skcamel.experiment.summary import metric_title, title_of
from skcamel.plots.canvas import (
    INK,
    MUTED,
    UP,
    axes_or_new,
    literal,
)

BAR = 0.22  # distance of bars, in units of the vertical axis
LETTERS = 30  # shown of a name


def plot_critical_difference(
    figures: Mapping[Any, Any],
    metric: str,
    *,
    methods: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the average ranks of methods, best on the right; bars join those that do not differ.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► something with a mean, as ``summarise(records).figures``.
    metric : str
    methods : sequence of str, default=None
        None: all. They are ranked on the data sets that all of them have.
    ax : matplotlib axes, default=None
        Drawn into; None makes a new figure.

    Returns
    -------
    matplotlib axes

    Notes
    -----
    After Demšar, JMLR 7 (2006) 1-30; Nemenyi's test is at level .05. Of long names the first
    30 letters are shown.

    Examples
    --------
    >>> from skcamel.experiment.published import paper_figures
    >>> ax = plot_critical_difference(paper_figures(), "average_precision")
    >>> ax.get_title()
    'Average precision ↑ on 16 data sets'
    """
    found = compare_methods(figures, metric, methods=methods)
    ranks = {title_of(method): rank for method, rank in found.ranks.items()}
    ax = draw_ranks(ranks, found.nemenyi, ax=ax)
    ax.set_title(literal(f"{metric_title(metric)} on {len(found.datasets)} data sets"))
    return ax


def ranks_size(ranks: Mapping[str, float]) -> tuple[float, float]:
    """Inches that the diagram of some ranks needs."""
    return 7.5, 2.0 + 0.17 * len(ranks)


def draw_ranks(ranks: Mapping[str, float], difference: float, ax: Any = None) -> Any:
    """Draw names at their average ranks, as :func:`plot_critical_difference` says."""
    bars = groups_of(ranks, difference)
    k = len(ranks)
    half = math.ceil(k / 2)
    ax = axes_or_new(ax, ranks_size(ranks))
    ax.set_axis_off()
    ax.set_ylim(-0.3 - BAR * len(bars) - 0.5 * half, 1.4)
    ax.set_xlim(k, 1)  # rank 1, the best, on the right
    ax.hlines(0, 1, k, color=INK, linewidth=1)
    ax.vlines(range(1, k + 1), 0, 0.12, color=INK, linewidth=1)
    for rank in range(1, k + 1):
        ax.text(rank, 0.16, str(rank), ha="center", va="bottom", color=INK)
    ax.plot([k, k - difference], [0.85, 0.85], "-|", color=UP, linewidth=2, clip_on=False)
    ax.text(k, 0.95, f"critical difference {difference:.2f}", va="bottom", color=UP)
    for level, group in enumerate(bars, 1):
        worst = ranks[group[-1]] + 0.02 * k
        best = ranks[group[0]] - 0.02 * k
        ax.hlines(-BAR * level, best, worst, color=UP, linewidth=4, clip_on=False)
    top = -0.45 - BAR * len(bars)
    names = sorted(ranks, key=lambda name: ranks[name])
    for row, name in enumerate(names[:half]):
        _name_rank(ax, name, ranks[name], (1, top - 0.5 * row), "left")
    for row, name in enumerate(reversed(names[half:])):
        _name_rank(ax, name, ranks[name], (k, top - 0.5 * row), "right")
    return ax


def _name_rank(ax: Any, name: str, rank: float, end: tuple[float, float], side: str) -> None:
    """A line from a rank on the axis to its name."""
    edge, y = end
    ax.plot([rank, rank, edge], [0, y, y], color=MUTED, linewidth=1)
    text = literal(f"{name[:LETTERS]} {rank:.2f}")
    gap = 4 if side == "left" else -4
    beyond = {"xytext": (gap, 0), "textcoords": "offset points"}
    ax.annotate(text, end, ha=side, va="center", color=INK, **beyond)
