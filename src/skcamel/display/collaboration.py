"""S ► a graph of who pushes whom, by matplotlib."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skcamel.display.canvas import axes_or_new, legible
from skcamel.display.ordering import similar_order

UP, DOWN = "#2166ac", "#b35806"  # blue and orange: told apart by everyone, also in grey
WIDEST, THINNEST = 6.0, 0.4  # points, for up to 20 labels; many labels have thinner arrows
FEW = 40  # labels whose names are written horizontally


def plot_collaboration(model: Any, *, n_pushes: int | None = None, ax: Any = None) -> Any:
    """Draw who pushes whom: labels on a circle, an arrow for each push, blue up and orange down, width by strength.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV
    n_pushes : int, default=None
        How many pushes, strongest first; None: about two for each label.
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

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`
    """

    def __init__(self, S: np.ndarray, *, label_names: Any) -> None:
        self.S = np.asarray(S)
        self.label_names = [str(name) for name in label_names]

    @classmethod
    def from_estimator(cls, model: Any, *, n_pushes: int | None = None, ax: Any = None) -> Self:
        """Draw the graph of a fitted model; parameters as in :func:`plot_collaboration`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "label_correlation_")
        return cls(model.label_correlation_, label_names=model.label_names_).plot(n_pushes=n_pushes, ax=ax)

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
        self.ax_.set(xlim=(-1.7, 1.7), ylim=(-1.35, 1.35) if q <= FEW else (-1.7, 1.7), aspect="equal")
        self.ax_.axis("off")
        return self

    def _draw_pushes(self, positions: np.ndarray, n_pushes: int) -> None:
        from matplotlib.patches import FancyArrowPatch

        strength = abs(self.S)
        thin = float(np.clip(20 / len(self.S), 0.3, 1))
        order = np.argsort(-strength, axis=None, kind="stable")[: min(n_pushes, np.count_nonzero(self.S))]
        for i, j in reversed([divmod(int(k), len(self.S)) for k in order]):  # the strongest on top
            width = thin * (THINNEST + (WIDEST - THINNEST) * strength[i, j] / strength.max())
            style = f"simple,tail_width={width},head_width={width + 4 * thin},head_length={6 * thin}"
            curve = "arc3,rad=0.15"
            arrow = FancyArrowPatch(positions[i], positions[j], arrowstyle=style, connectionstyle=curve, shrinkA=6, shrinkB=6)
            arrow.set(color=UP if self.S[i, j] > 0 else DOWN, alpha=0.65, linewidth=0)
            self.ax_.add_patch(arrow)

    def _draw_labels(self, positions: np.ndarray) -> None:
        size = float(np.clip(400 / len(positions), 4, 10))
        self.ax_.scatter(*positions.T, s=size**2 / 4, color="#1b2430", zorder=3)
        for name, (x, y) in zip(self.label_names, positions, strict=True):
            side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
            angle = 0.0 if len(positions) <= FEW else np.degrees(np.arctan2(y, x)) + (180 if x < 0 else 0)
            place = {"ha": side, "va": "center"} if not angle else {"ha": "left" if x >= 0 else "right", "va": "center"}
            self.ax_.text(1.07 * x, 1.07 * y, literal(name), fontsize=size, rotation=angle, rotation_mode="anchor", **place)


def literal(name: str) -> str:
    r"""A label name as matplotlib shall show it: a dollar sign starts no formula.

    Examples
    --------
    >>> literal("under $5")
    'under \\$5'
    """
    return legible(name).replace("$", r"\$")
