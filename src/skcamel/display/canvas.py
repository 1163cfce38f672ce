"""What all pictures share: axes to draw on, colours, names that can be drawn, and an order of labels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# Okabe and Ito's palette: told apart with any kind of colour vision, and in print by lightness
BLUE, GREY = "#0072B2", "#595959"
UP, DOWN = "#2166ac", "#b35806"  # pushes: blue and orange, told apart by everyone, also in grey
NEEDED = "Plots need matplotlib: pip install 'skcamel[report]'"
MOST_FOR_OPTIMAL = (
    400  # labels; beyond, the best order of the leaves would take longer than the fit
)
# what XML 1.0 does not allow: an SVG with one of these is no SVG
_NOT_IN_XML = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure of pyplot's, which notebooks show."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def legible(text: str) -> str:
    r"""A name or a title as any picture can show it: every text of others passes here.

    Examples
    --------
    >>> legible("a\x00b\x1b[31m") == "a\ufffdb\ufffd[31m"
    True
    """
    return _NOT_IN_XML.sub("\ufffd", str(text))


def literal(name: str) -> str:
    r"""A legible name in which a dollar sign starts no formula.

    Examples
    --------
    >>> literal("under $5")
    'under \\$5'
    """
    return legible(name).replace("$", r"\$")


def similar_order(S: np.ndarray) -> np.ndarray:
    """Order of the labels in which those that push each other are neighbours, (q,).

    Found by hierarchical clustering of |s_ij| + |s_ji|.

    Examples
    --------
    >>> S = np.zeros((4, 4))
    >>> S[0, 2] = S[3, 1] = 0.5
    >>> order = similar_order(S).tolist()
    >>> abs(order.index(0) - order.index(2)), abs(order.index(3) - order.index(1))
    (1, 1)
    """
    q = len(S)
    if q < 3:
        return np.arange(q)
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    strength = abs(S) + abs(S.T)
    distance = 1 - strength / (strength.max() or 1.0)
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    return leaves_list(optimal_leaf_ordering(tree, condensed) if q <= MOST_FOR_OPTIMAL else tree)
