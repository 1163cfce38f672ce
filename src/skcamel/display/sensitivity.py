"""Figure 1: results over one hyper-parameter, (a) to (c), and how Algorithm 1 converges, (d)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from skcamel.arrays import Array
from skcamel.display.canvas import BLUE, GREY, axes_or_new, legible, new_figure
from skcamel.experiment.paper import metric_title
from skcamel.metrics.conventions import TITLES, choice
from skcamel.pipeline import final

SYMBOLS = {"alpha": "α", "lambda1": "λ₁", "lambda2": "λ₂"}


class SensitivityDisplay:
    """Mean of a metric over folds for every value of one parameter, with a band of one standard deviation.

    Parameters
    ----------
    values : sequence of k floats
    scores : array of shape (k, folds)
        NaN or None where the metric is undefined.
    parameter : "alpha", "lambda1" or "lambda2"
    metric : str
    setting : float, default=None
        Value at which the other curves hold this parameter; a dotted line marks it.
    title : str, default=""

    Attributes
    ----------
    means, stds : arrays of shape (k,)
    ax_, figure_
        Where :meth:`plot` drew.
    """

    def __init__(
        self, values: Sequence[float], scores: Array, *, parameter: str, metric: str, setting: float | None = None, title: str = ""
    ) -> None:
        self.parameter, self.metric = choice(parameter, tuple(SYMBOLS), "parameter"), choice(metric, tuple(TITLES), "metric")
        self.values, self.setting, self.title = list(values), setting, title
        folds = np.ma.masked_invalid(np.array(scores, dtype=np.float64))
        if folds.ndim != 2 or len(folds) != len(self.values):
            raise ValueError(f"{len(self.values)} values but scores of shape {folds.shape}; give one row of folds for each value.")
        self.means, self.stds = (part.filled(np.nan) for part in (folds.mean(axis=1), folds.std(axis=1, ddof=min(1, folds.shape[1] - 1))))

    @classmethod
    def from_result(cls, result: Mapping[str, Any], parameter: str, *, metric: str = "coverage") -> Self:
        """Take one curve; parameters as in :func:`plot_sensitivity`."""
        curve = result["curves"][choice(parameter, tuple(SYMBOLS), "parameter")]
        scores = curve[choice(metric, tuple(TITLES), "metric")]
        setting = result["base"][parameter]
        return cls(curve["values"], scores, parameter=parameter, metric=metric, setting=setting, title=result["dataset"])

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.ax_ = axes_or_new(ax, (4.5, 3.2))
        self.figure_ = self.ax_.figure
        self.ax_.fill_between(self.values, self.means - self.stds, self.means + self.stds, color=BLUE, alpha=0.2, linewidth=0)
        self.ax_.plot(self.values, self.means, color=BLUE, marker="o", markersize=4)
        kept = ""
        if self.setting is not None:
            self.ax_.axvline(self.setting, color=GREY, linestyle=":")
            kept = f" (dotted: {self.setting:g}, kept in the other curves)"
        if self.parameter != "alpha":
            self.ax_.set_xscale("log")
        self.ax_.set_xlabel(SYMBOLS[self.parameter] + kept)
        self.ax_.set_ylabel(f"{metric_title(self.metric)} (mean ± std)")
        self.ax_.set_title(legible(self.title), parse_math=False)
        return self


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
        """Take the curve of a classifier that was fitted with ``solver="alternating"``, or of a Pipeline that ends in one."""
        estimator = final(estimator)
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


def plot_sensitivity(result: Mapping[str, Any], parameter: str, *, metric: str = "coverage", ax: Any = None) -> Any:
    """Draw how a metric depends on one hyper-parameter and return the axes.

    Parameters
    ----------
    result : mapping
        From ``run_sensitivity``, or what it wrote.
    parameter : "alpha", "lambda1" or "lambda2"
    metric : str, default="coverage"
    ax : matplotlib axes, default=None
        None: new ones.
    """
    return SensitivityDisplay.from_result(result, parameter, metric=metric).plot(ax).ax_


def plot_convergence(result: Mapping[str, Any], *, scale: str = "log", ax: Any = None) -> Any:
    """Draw the convergence of Algorithm 1 and return the axes.

    Parameters
    ----------
    result, ax
        As in :func:`plot_sensitivity`.
    scale : "log" or "linear", default="log"
        Of the vertical axis.
    """
    return ConvergenceDisplay.from_result(result).plot(ax, scale=scale).ax_


def plot_figure1(result: Mapping[str, Any], *, metric: str = "coverage") -> Any:
    """Draw Figure 1 (a) to (d), the three parameters and the convergence of Algorithm 1, and return the figure.

    The figure is not known to pyplot: nothing needs to be closed, and no display is opened.
    """
    figure = new_figure((9.0, 6.5))
    *parameters, last = figure.subplots(2, 2).flat
    for parameter, ax in zip(SYMBOLS, parameters, strict=True):
        SensitivityDisplay.from_result(result, parameter, metric=metric).plot(ax)
    ConvergenceDisplay.from_result(result).plot(last)
    for letter, ax in zip("abcd", (*parameters, last), strict=True):
        ax.set_title(f"({letter})", loc="left")
    return figure
