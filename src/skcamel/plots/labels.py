"""Label correlation ► a heat map of which labels push which."""

from __future__ import annotations

from typing import Any

import numpy as np

from skcamel.data.pipeline import final
from skcamel.plots.canvas import axes_or_new, heat_map, map_size
from skcamel.text import count


def plot_collaboration(model: Any, *, k: int = 30, ax: Any = None) -> Any:
    """Draw which labels push which: a row pushes, a column is pushed, blue up and orange down.

    Labels that push each other stand side by side.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
    k : int, default=30
        How many labels at most: those with the strongest pushes.
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
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['label2', 'label1', 'label3']
    """
    from sklearn.utils.validation import check_is_fitted

    estimator: Any = final(model)
    if not hasattr(estimator, "explain"):
        raise TypeError(
            f"A {type(estimator).__name__} has no collaboration to draw; give a CamelClassifier or"
            " CamelClassifierCV."
        )
    check_is_fitted(estimator, "label_correlation_")
    S = estimator.label_correlation_
    shown = strongest_labels(S, k)
    names = [str(estimator.label_names_[j]) for j in shown]
    ax = axes_or_new(ax, map_size(names, names))
    limit = float(abs(S).max(initial=0)) or 1.0
    part = S[np.ix_(shown, shown)]
    heat_map(part, rows=names, columns=names, limit=limit, ax=ax)
    ax.set_ylabel("this label pushes \u2026")
    ax.set_xlabel("\u2026 this one")
    ax.xaxis.set_label_position("top")
    if len(shown) < len(S):
        ax.set_title(f"The {len(shown)} of {count(len(S), 'label')} with the strongest pushes")
    return ax


def strongest_labels(S: np.ndarray, k: int) -> np.ndarray:
    """Positions of at most `k` labels, those with the strongest pushes, similar ones together."""
    received = abs(S).max(axis=0, initial=0)
    given = abs(S).max(axis=1, initial=0)
    strength = np.maximum(received, given)
    strongest = np.argsort(-strength, kind="stable")[:k]
    chosen = np.sort(strongest)
    order = similar_order(S[np.ix_(chosen, chosen)])
    return chosen[order]


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
    if len(S) < 3:
        return np.arange(len(S))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    strength = abs(S) + abs(S.T)
    distance = 1 - strength / (strength.max() or 1.0)
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    return leaves_list(optimal_leaf_ordering(tree, condensed))
