"""S ► a graph of who pushes whom, by matplotlib."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skcamel.camel.explanation import LEARNED, Evidence, evidence, ranked_pushes
from skcamel.data.pipeline import final
from skcamel.display.canvas import DOWN, UP, axes_or_new, literal, similar_order

WIDEST, THINNEST = 6.0, 0.4  # points, for up to 20 labels; many labels have thinner arrows
FEW = 40  # labels whose names are written horizontally


def plot_collaboration(model: Any, *, n_pushes: int | None = None, ax: Any = None) -> Any:
    """Draw who pushes whom: labels on a circle, an arrow for each push, blue up and orange down, width by strength.

    The title says what the correlation was learned from. Pushes whose sign contradicts what the
    training rows show are drawn
    only if there is room for them after all others, and are hollow.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
    n_pushes : int, default=None
        How many pushes, strongest first, those against the data last; None: about two for each
        label.
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
    >>> ax = plot_collaboration(CamelClassifier().fit(X, Y))
    """
    return CollaborationDisplay.from_estimator(model, n_pushes=n_pushes, ax=ax).ax_


class CollaborationDisplay:
    """The graph of who pushes whom.

    Parameters
    ----------
    S : array of shape (q, q)
        Label correlation; s_ij is the push of label i on label j.
    label_names : sequence of str
    evidence : Evidence
        What the training rows show about pairs of labels.
    title : str, default=""

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`
    """

    def __init__(
        self, S: np.ndarray, *, label_names: Any, evidence: Evidence, title: str = ""
    ) -> None:
        self.S = np.asarray(S)
        self.evidence, self.title = evidence, title
        self.label_names = [str(name) for name in label_names]

    @classmethod
    def from_estimator(cls, model: Any, *, n_pushes: int | None = None, ax: Any = None) -> Self:
        """Draw the graph of a fitted model; parameters as in :func:`plot_collaboration`."""
        from sklearn.utils.validation import check_is_fitted

        model = final(model)
        if not hasattr(model, "explain"):
            raise TypeError(
                f"A {type(model).__name__} has no collaboration to draw; give a CamelClassifier or"
                " CamelClassifierCV."
            )
        check_is_fitted(model, "label_correlation_")
        title = f"Label correlation learned {LEARNED[model.correlation]}"
        display = cls(
            model.label_correlation_,
            label_names=model.label_names_,
            evidence=evidence(model),
            title=title,
        )
        return display.plot(n_pushes=n_pushes, ax=ax)

    def plot(self, *, n_pushes: int | None = None, ax: Any = None) -> Self:
        """Draw; parameters as in :func:`plot_collaboration`."""
        self.ax_ = axes_or_new(ax, (6.5, 6) if len(self.S) <= FEW else (9, 9))
        self.figure_ = self.ax_.figure
        q = len(self.S)
        positions = np.empty((q, 2))
        angles = np.pi / 2 - 2 * np.pi * np.arange(q) / q
        positions[similar_order(self.S)] = np.column_stack([np.cos(angles), np.sin(angles)])
        self._draw_pushes(positions, 2 * q + 6 if n_pushes is None else n_pushes)
        self._draw_labels(positions)
        self.ax_.set(
            xlim=(-1.7, 1.7), ylim=(-1.35, 1.35) if q <= FEW else (-1.7, 1.7), aspect="equal"
        )
        self.ax_.axis("off")
        self.ax_.set_title(literal(self.title), fontsize="small")
        return self

    def _draw_pushes(self, positions: np.ndarray, n_pushes: int) -> None:
        from matplotlib.patches import FancyArrowPatch

        thin = float(np.clip(20 / len(self.S), 0.3, 1))
        pushes = ranked_pushes(self.S, n_pushes, self.evidence)
        strongest = max((abs(push.amount) for push in pushes), default=1.0)
        for push in reversed(pushes):  # the first on top
            width = thin * (THINNEST + (WIDEST - THINNEST) * abs(push.amount) / strongest)
            style = (
                f"simple,tail_width={width},head_width={width + 4 * thin},head_length={6 * thin}"
            )
            bow = {
                "arrowstyle": style,
                "connectionstyle": "arc3,rad=0.15",
                "shrinkA": 6,
                "shrinkB": 6,
            }
            arrow = FancyArrowPatch(positions[push.source], positions[push.target], **bow)
            colour = UP if push.amount > 0 else DOWN
            if push.contradicts:
                arrow.set(facecolor="none", edgecolor=colour, alpha=0.65, linewidth=0.8)
            else:
                arrow.set(color=colour, alpha=0.65, linewidth=0)
            self.ax_.add_patch(arrow)

    def _draw_labels(self, positions: np.ndarray) -> None:
        size = float(np.clip(400 / len(positions), 4, 10))
        self.ax_.scatter(*positions.T, s=size**2 / 4, color="#1b2430", zorder=3)
        for name, (x, y) in zip(self.label_names, positions, strict=True):
            angle = (
                0.0
                if len(positions) <= FEW
                else np.degrees(np.arctan2(y, x)) + (180 if x < 0 else 0)
            )
            side = "center" if abs(x) < 0.2 and not angle else "left" if x >= 0 else "right"
            place = {"ha": side, "va": "center", "rotation": angle, "rotation_mode": "anchor"}
            self.ax_.text(1.07 * x, 1.07 * y, literal(name), fontsize=size, **place)
