"""S ► an order of the labels in which those that push each other are neighbours."""

from __future__ import annotations

import numpy as np

MOST_FOR_OPTIMAL = 400  # labels; beyond, the best order of the leaves would take longer than the fit


def similar_order(S: np.ndarray) -> np.ndarray:
    """Order of the labels by hierarchical clustering of |s_ij| + |s_ji|, neighbours as close as the tree allows, (q,).

    Parameters
    ----------
    S : array of shape (q, q)

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
