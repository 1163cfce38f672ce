"""Measured curves ► a picture of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLOURS = ("#0072b2", "#d55e00", "#009e73")  # distinct for colour-blind readers too


class Curve(NamedTuple):
    """Points of one curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "o-"


class Panel(NamedTuple):
    """Curves with common axes."""

    title: str
    x_name: str
    y_name: str
    curves: Sequence[Curve]
    logarithmic: str = "xy"  # which axes


def draw(name: str, panels: Sequence[Panel], note: str = "") -> None:
    """Write docs/images/`name`.png, with a note below."""
    figure = Figure(figsize=(4.6 * len(panels), 3.4), layout="constrained")
    for ax, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for curve, colour in zip(panel.curves, COLOURS, strict=False):
            ax.plot(curve.x, curve.y, curve.style, color=colour, label=curve.name, markersize=4)
        if "x" in panel.logarithmic:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(FixedLocator(list(panel.curves[0].x)))
            ax.xaxis.set_minor_locator(NullLocator())
        if "y" in panel.logarithmic:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_minor_formatter(NullFormatter())
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.set(title=panel.title, xlabel=panel.x_name, ylabel=panel.y_name)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    if note:
        figure.supxlabel(note, fontsize="small", color="#555555")
    figure.savefig(IMAGES / f"{name}.png", dpi=110)
