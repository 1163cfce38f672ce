"""Axes to draw on, and the colours of all pictures."""

from __future__ import annotations

import re
from typing import Any

# Okabe and Ito's palette: told apart with any kind of colour vision, and in print by lightness
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#595959"


# what XML 1.0 does not allow: an SVG with one of these is no SVG
_NOT_IN_XML = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
NEEDED = "Plots need matplotlib: pip install 'skcamel[report]'"


def legible(text: str) -> str:
    r"""A name or a title as any picture can show it: every text of others passes here.

    Examples
    --------
    >>> legible("a\x00b\x1b[31m") == "a\ufffdb\ufffd[31m"
    True
    """
    return _NOT_IN_XML.sub("\ufffd", str(text))


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
