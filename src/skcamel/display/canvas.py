"""Axes to draw on, and the colours of all pictures."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette: told apart with any kind of colour vision, and in print by lightness
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#595959"


NEEDED = "Plots need matplotlib: pip install 'skcamel[report]'"


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure of pyplot's, which notebooks show."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def new_figure(figsize: tuple[float, float]) -> Any:
    """A figure to be written to a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return Figure(figsize=figsize, layout="constrained")
