"""Explanation ► bars: average, own part, push of the others, score and cut of each label of one row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skcamel.display.canvas import DOWN, UP, axes_or_new, literal

OWN = "#8591a1"


def plot_explanation(explanation: Any, row: int = 0, *, k: int = 12, ax: Any = None) -> Any:
    """Draw why a row got its labels: each score as average, own part and push of the others.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``, or ``skcamel.explain(pipeline, X)``.
    row : int, default=0
    k : int, default=12
        How many labels: those with the highest score above their cut.
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
    >>> ax = plot_explanation(CamelClassifier().fit(X, Y).explain(X[:5]), row=2)
    >>> ax.get_title()
    'row 2'
    """
    return ExplanationDisplay.from_explanation(explanation, row, k=k, ax=ax).ax_


class ExplanationDisplay:
    """Bars that take the scores of one row apart.

    Parameters
    ----------
    base, own, pushed, thresholds : arrays of shape (q,)
        Score of the average row, the label's own part, the push of all others, and the cut.
    label_names : sequence of str
    title : str, default=""

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`
    """

    def __init__(
        self, base: np.ndarray, own: np.ndarray, pushed: np.ndarray, *, thresholds: np.ndarray, label_names: Any, title: str = ""
    ) -> None:
        self.base, self.own, self.pushed, self.thresholds = base, own, pushed, thresholds
        self.label_names = [str(name) for name in label_names]
        self.title = title

    @classmethod
    def from_explanation(cls, explanation: Any, row: int = 0, *, k: int = 12, ax: Any = None) -> Self:
        """Draw one row of an explanation; parameters as in :func:`plot_explanation`."""
        if not -len(explanation) <= row < len(explanation):
            raise ValueError(f"row={row} is not in the explanation, which has {len(explanation)} rows; they are counted from 0.")
        parts = explanation.parts[row]
        own = np.diag(parts)
        named = {"thresholds": explanation.thresholds, "label_names": explanation.label_names, "title": f"row {row}"}
        return cls(explanation.base, own, parts.sum(axis=0) - own, **named).plot(k=k, ax=ax)

    def plot(self, *, k: int = 12, ax: Any = None) -> Self:
        """Draw; parameters as in :func:`plot_explanation`."""
        scores = self.base + self.own + self.pushed
        shown = np.argsort(self.thresholds - scores, kind="stable")[:k]
        self.ax_ = axes_or_new(ax, (6.5, 1.2 + 0.3 * len(shown)))
        self.figure_ = self.ax_.figure
        y = np.arange(len(shown))
        base, own, pushed, cuts = (array[shown] for array in (self.base, self.own, self.pushed, self.thresholds))
        self.ax_.barh(y, own, left=base, height=0.5, color=OWN, label="own evidence")
        for colour, side, label in ((UP, pushed >= 0, "others push up"), (DOWN, pushed < 0, "others push down")):
            self.ax_.barh(y[side], pushed[side], left=(base + own)[side], height=0.25, color=colour, label=label)
        self.ax_.plot(base, y, "|", color="#556070", label="average row")
        self.ax_.plot(cuts, y, "|", color="black", markersize=14, markeredgewidth=2, label="cut")
        self.ax_.plot(scores[shown], y, "o", color="black", markersize=5, label="score")
        self.ax_.set_yticks(y, [literal(self.label_names[j]) for j in shown])
        self.ax_.set(xlabel="score", title=literal(self.title))
        self.ax_.invert_yaxis()
        below = (0.5, -0.12 - 0.6 / max(1, len(shown)))
        self.ax_.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=below, frameon=False)
        return self
