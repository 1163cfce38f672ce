"""What all drawings share: axes, colours, names that can be drawn, and a heat map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

# Pages replace these colours by those of their theme. Blue and orange differ with any
# kind of colour vision, and in print by their lightness.
UP, DOWN = "#2166ac", "#b35806"
INK, MUTED, LINE = "#1b2430", "#556070", "#dbe1e8"
SHADES = 41  # of a heat map; an odd number has one for 0
LETTERS = 60  # shown of a name
MOST_NUMBERS = 150  # cells of a heat map that show their value
NEEDED = "Plots need matplotlib: pip install 'skcamel[report]'"
# Characters that XML 1.0 does not allow, and with which an SVG could not be read.
_NOT_IN_XML = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """`ax`, or the axes of a new pyplot figure where it is None."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def literal(text: Any) -> str:
    r"""Text of others as a drawing can show it: XML allows it, and a dollar starts no formula.

    Examples
    --------
    >>> literal("under $5"), literal("a\x00b") == "a\ufffdb"
    ('under \\$5', True)
    """
    text = str(text)
    if len(text) > LETTERS:
        text = f"{text[: LETTERS - 1]}…"
    return _NOT_IN_XML.sub("\ufffd", text).replace("$", r"\$")


def room_for(names: Sequence[str]) -> float:
    """Inches that the longest of some names needs, generously."""
    longest = max((len(name) for name in names), default=0)
    return 0.09 * min(longest, LETTERS)


def rows_size(names: Sequence[str]) -> tuple[float, float]:
    """Inches of a drawing with a line for each name."""
    width = 5.5 + room_for(names)
    height = 1.2 + 0.27 * len(names)
    return width, height


def name_rows(ax: Any, names: Sequence[str]) -> None:
    """Give each line of a drawing its name, the first one on top."""
    shown = [literal(name) for name in names]
    ax.set_yticks(range(len(names)), shown)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)


def map_size(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Inches of a heat map."""
    width = 0.8 + 0.36 * len(columns) + room_for(rows)
    height = 0.8 + 0.3 * len(rows) + room_for(columns)
    return width, height


def heat_map(
    values: np.ndarray, *, rows: Sequence[str], columns: Sequence[str], limit: float, ax: Any
) -> None:
    """Draw a matrix: blue above 0, orange below, nothing at 0 and NaN.

    Parameters
    ----------
    values : array of shape (m, n)
    rows, columns : sequences of m and n str
    limit : float
        Size of a value that has the full colour; larger values share it.
    ax : matplotlib axes
    """
    from matplotlib.colors import LinearSegmentedColormap

    stops = [(DOWN, 1.0), (DOWN, 0.0), (UP, 0.0), (UP, 1.0)]
    places = [0.0, 0.5, 0.5, 1.0]
    places_and_stops = list(zip(places, stops, strict=True))
    colours = LinearSegmentedColormap.from_list("pushes", places_and_stops, N=SHADES)
    ax.pcolormesh(np.ma.masked_invalid(values), cmap=colours, vmin=-limit, vmax=limit)
    x_names = [literal(name) for name in columns]
    y_names = [literal(name) for name in rows]
    x_middles = np.arange(len(columns)) + 0.5
    y_middles = np.arange(len(rows)) + 0.5
    ax.set_xticks(x_middles, x_names, rotation=90)
    ax.set_yticks(y_middles, y_names)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.invert_yaxis()
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set(visible=True, color=LINE)
    if values.size > MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(values):
        if abs(value) >= 0.05:  # neither NaN nor shown as 0.0
            ink = INK if abs(value) < 0.7 * limit else "white"
            text = f"{value:.1f}".replace("-", "\u2212")
            place = {"ha": "center", "va": "center"}
            ax.text(column + 0.5, row + 0.5, text, fontsize=8, color=ink, **place)
