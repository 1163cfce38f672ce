"""How Algorithm 1 converges: Figure 1 (d)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from skcamel.arrays import Array
from skcamel.display.canvas import BLUE, axes_or_new, legible


class ConvergenceDisplay:
    """Change of Z in every alternation of Algorithm 1.

    Parameters
    ----------
    delta : array of shape (t,)
        ||Z_t - Z_(t-1)||.
    title : str, default=""

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` drew.
    """

    def __init__(self, delta: Array, *, title: str = "") -> None:
        self.delta, self.title = np.asarray(delta, dtype=np.float64), title
        if self.delta.ndim != 1 or not len(self.delta):
            raise ValueError(f"delta has shape {self.delta.shape}; give one number for each alternation.")

    @classmethod
    def from_result(cls, result: Mapping[str, Any]) -> Self:
        """Take the curve of ``run_sensitivity`` or of a file that it wrote."""
        return cls(result["convergence"]["delta"], title=result["dataset"])

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take the curve of a classifier that was fitted with ``solver="alternating"``."""
        if not hasattr(estimator, "convergence_"):
            raise ValueError("The estimator has no convergence_; fit CamelClassifier(solver='alternating').")
        return cls(estimator.convergence_)

    def plot(self, ax: Any = None, *, scale: str = "log") -> Self:
        """Draw on `ax`, or on new axes; `scale` of the vertical axis: "log", or "linear" as in the paper."""
        self.ax_ = axes_or_new(ax, (4.5, 3.2))
        self.figure_ = self.ax_.figure
        self.ax_.plot(np.arange(1, len(self.delta) + 1), self.delta, color=BLUE, marker="o" if len(self.delta) <= 30 else "")
        self.ax_.set_yscale(scale)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_xlabel("alternation t")
        self.ax_.set_ylabel(r"$\|\mathbf{Z}^{(t)} - \mathbf{Z}^{(t-1)}\|_F$")
        self.ax_.set_title(legible(self.title), parse_math=False)
        return self


def plot_convergence(result: Mapping[str, Any], *, scale: str = "log", ax: Any = None) -> Any:
    """Draw the convergence of Algorithm 1 and return the axes.

    Parameters
    ----------
    result : mapping
        From ``run_sensitivity``, or what it wrote.
    scale : "log" or "linear", default="log"
        Of the vertical axis.
    ax : matplotlib axes, default=None
        None: new ones.
    """
    return ConvergenceDisplay.from_result(result).plot(ax, scale=scale).ax_
