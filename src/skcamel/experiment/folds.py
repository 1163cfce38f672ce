"""Outer folds, the same for every method, run and machine with the same seed."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

from skcamel.data.splitting import MultilabelStratifiedKFold

KINDS = ("plain", "stratified")
Split = tuple[np.ndarray, np.ndarray]


def splits(Y: np.ndarray, kind: str, n_folds: int, seed: int) -> list[Split]:
    """Training and test rows of each fold.

    Parameters
    ----------
    Y : array of shape (n, q)
    kind : {"plain", "stratified"}
        Shuffled folds, or shuffled folds over which each label is spread evenly.
    n_folds : int
    seed : int

    Examples
    --------
    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, seed=0)]
    [[2, 3], [0, 1]]
    """
    splitter = (KFold if kind == "plain" else MultilabelStratifiedKFold)(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((len(Y), 1)), Y))
