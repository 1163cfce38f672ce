"""Average ranks and the critical difference as a diagram in Demšar's form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from skcamel.checks import choice
from skcamel.display.canvas import BLUE, GREY, axes_or_new, legible
from skcamel.experiment.significance import compare_methods, groups_of
from skcamel.experiment.summary import HasMean, Key, metric_title, title_of

BAR, ROW = 0.22, 0.5  # distance of bars and of names, in units of the vertical axis
LETTERS = 24  # shown of a name
INCHES_PER_LETTER = 0.085  # of the default font, generously


class CriticalDifferenceDisplay:
    """Methods at their average ranks, best on the right, and which of them differ significantly.

    Without a control, a bar joins methods that do not differ (Nemenyi); with one, its interval is
    drawn on the scale, and
    methods outside differ from it (Bonferroni–Dunn).

    Parameters
    ----------
    ranks : mapping
        Name ► average rank.
    difference : float
        Critical difference.
    control : str, default=None
        Name of the one method that the others are compared with.
    title : str, default=""

    Attributes
    ----------
    groups_ : list of tuples
        Names under each bar; none with a control.
    ax_, figure_
        Where :meth:`plot` drew.

    Notes
    -----
    After Demšar, JMLR 7 (2006) 1-30. Names longer than 24 letters are cut.

    Examples
    --------
    >>> from skcamel.experiment.published import paper_figures
    >>> display = CriticalDifferenceDisplay.from_figures(paper_figures(), "average_precision")
    >>> display.groups_[0]
    ('CAMEL', 'LLSF', 'JFSC')
    """

    def __init__(
        self,
        ranks: Mapping[str, float],
        difference: float,
        *,
        control: str | None = None,
        title: str = "",
    ) -> None:
        if len(ranks) < 2:
            raise ValueError(f"Got ranks of {len(ranks)} method(s); a diagram compares at least 2.")
        if control is not None:
            choice(control, tuple(ranks), "control")
        self.ranks, self.difference, self.control, self.title = (
            dict(ranks),
            difference,
            control,
            title,
        )
        self.groups_ = groups_of(ranks, difference) if control is None else []

    @classmethod
    def from_figures(
        cls,
        figures: Mapping[Key, HasMean],
        metric: str,
        *,
        methods: Sequence[str] | None = None,
        control: str | None = None,
        alpha: float = 0.05,
    ) -> Self:
        """Rank the methods by one metric over the data sets that all have.

        Parameters
        ----------
        figures : mapping
            (data set, metric, method) ► something with a mean, as ``summarise(records).figures`` or
            ``paper_figures()``.
        metric : str
        methods : sequence of str, default=None
            None: all.
        control : str, default=None
            None: all pairs are compared, by Nemenyi's test; else this method with the others, by
            Bonferroni and Dunn's.
        alpha : float, default=0.05
        """
        found = compare_methods(figures, metric, methods=methods, control=control, alpha=alpha)
        difference = found.nemenyi if control is None else found.bonferroni_dunn
        ranks = {title_of(method): rank for method, rank in found.ranks.items()}
        title = f"{metric_title(metric)} on {len(found.datasets)} data sets"
        return cls(
            ranks, difference, control=None if control is None else title_of(control), title=title
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        k, rows, depth = len(self.ranks), math.ceil(len(self.ranks) / 2), self._depth()
        self.ax_ = axes_or_new(ax, (7.0, 0.5 + self.height()))
        self.figure_ = self.ax_.figure
        self.ax_.set_axis_off()
        margin = self._margin()
        self.ax_.set_xlim(k + margin, 1 - margin)  # the best, rank 1, on the right
        self.ax_.set_ylim(-depth - ROW * (rows - 1) - 0.3, 1.3)
        self._draw_scale(k)
        self._draw_names(rows, depth, margin)
        reach = 0.02 * (k - 1)
        for level, group in enumerate(self.groups_, 1):
            ends = [self.ranks[group[-1]] + reach, self.ranks[group[0]] - reach]
            self.ax_.plot(ends, [-BAR * level] * 2, color=BLUE, linewidth=4, solid_capstyle="butt")
        if self.control is not None:
            middle = self.ranks[self.control]
            ends = [min(middle + self.difference, k), max(middle - self.difference, 1)]
            self.ax_.plot(ends, [0, 0], color=BLUE, linewidth=5, solid_capstyle="butt")
        self.ax_.set_title(legible(self.title))
        return self

    def height(self) -> float:
        """Inches that the diagram needs, without a title."""
        return 0.8 + 0.5 * (self._depth() + ROW * math.ceil(len(self.ranks) / 2))

    def _depth(self) -> float:
        """Where the first row of names stands below the scale."""
        return 0.45 + BAR * len(self.groups_)

    def _margin(self) -> float:
        """Room for the longest name beside the scale, in ranks."""
        width = self.figure_.get_figwidth() * self.ax_.get_position().width
        share = min((max(map(len, self._labels().values())) * INCHES_PER_LETTER + 0.2) / width, 0.4)
        return (len(self.ranks) - 1) * share / (1 - 2 * share)

    def _labels(self) -> dict[str, str]:
        return {
            name: f"{name if len(name) <= LETTERS else name[: LETTERS - 1] + '…'} {rank:.2f}"
            for name, rank in self.ranks.items()
        }

    def _draw_scale(self, k: int) -> None:
        line = {"color": "black", "linewidth": 1}
        self.ax_.plot([1, k], [0, 0], **line)
        for rank in range(1, k + 1):
            self.ax_.plot([rank, rank], [0, 0.12], **line)
            self.ax_.text(rank, 0.16, str(rank), ha="center", va="bottom")
        ends = [k, k - self.difference]
        self.ax_.plot(ends, [0.85, 0.85], color=BLUE, linewidth=2, marker="|", markersize=8)
        self.ax_.text(
            sum(ends) / 2,
            0.93,
            f"critical difference {self.difference:.2f}",
            ha="center",
            va="bottom",
            color=BLUE,
        )

    def _draw_names(self, rows: int, depth: float, margin: float) -> None:
        """Better half on the right, best on top; worse half on the left, worst on top; so lines never cross."""
        ordered = sorted(self.ranks, key=lambda name: self.ranks[name])
        sides = (
            (ordered[:rows], 1 - 0.1 * margin, "left"),
            (ordered[rows:][::-1], len(ordered) + 0.1 * margin, "right"),
        )
        labels = self._labels()
        for names, edge, alignment in sides:
            for row, name in enumerate(names):
                y = -depth - ROW * row
                self.ax_.plot(
                    [self.ranks[name], self.ranks[name], edge], [0, y, y], color=GREY, linewidth=1
                )
                beyond = edge - 0.04 * margin * (1 if alignment == "left" else -1)
                self.ax_.text(
                    beyond, y, legible(labels[name]), ha=alignment, va="center", parse_math=False
                )


def plot_critical_difference(
    figures: Mapping[Key, HasMean],
    metric: str,
    *,
    methods: Sequence[str] | None = None,
    control: str | None = None,
    alpha: float = 0.05,
    ax: Any = None,
) -> Any:
    """Draw the critical-difference diagram of one metric and return its axes.

    Parameters
    ----------
    figures, metric, methods, control, alpha
        As in :meth:`CriticalDifferenceDisplay.from_figures`.
    ax : matplotlib axes, default=None
        None: new ones.
    """
    return (
        CriticalDifferenceDisplay.from_figures(
            figures, metric, methods=methods, control=control, alpha=alpha
        )
        .plot(ax)
        .ax_
    )
