"""How evenly splits spread the labels: the measures of the stratification literature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.data.indicators import as_indicators
from skcamel.data.stratification import with_pairs


@dataclass(frozen=True)
class FoldQuality:
    """Figures of :func:`fold_quality`; 0 is best for all of them."""

    label_distribution: float
    pair_distribution: float
    examples_distribution: float
    folds_without_positives: np.ndarray  # (q,) test parts without a positive, for each label
    sizes: np.ndarray  # (n_splits,) rows of each test part

    def __str__(self) -> str:
        """Return one line for each figure."""
        short = self.folds_without_positives > 0
        return "\n".join(
            [
                f"test parts                {len(self.sizes)} of {self.sizes.min()} to {self.sizes.max()} rows",
                f"label distribution        {self.label_distribution:.6f}",
                f"label pair distribution   {self.pair_distribution:.6f}",
                f"examples distribution     {self.examples_distribution:.6f}",
                f"labels missing in a part  {int(short.sum())} of {len(short)}, in {int(self.folds_without_positives.sum())} parts in all",
            ]
        )


def fold_quality(Y: Array, splits: Iterable[tuple[Array, Array]]) -> FoldQuality:
    r"""Measure how evenly the test parts of splits share the labels.

    Parameters
    ----------
    Y : labels of shape (n, q), in any form that the splitters take
    splits : iterable of (train, test) row numbers
        As from ``splitter.split(X, Y)``.

    Returns
    -------
    FoldQuality

    Notes
    -----
    With S_fj rows of label j among the n_f rows of part f, and D_j among all n (Sechidis et al. 2011, section 4):

    - label distribution: LD = mean over j and f of \|S_fj / (n_f - S_fj) - D_j / (n - D_j)\|;
    - label pair distribution: LPD, the same for the pairs of labels that occur (Szymański and Kajdanowicz 2017);
    - examples distribution: ED = mean over f of \|n_f - mean size\|.

    Labels without a positive or without a negative say nothing and are left out of LD; a part without a negative counts as
    if it had half of one, which keeps its odds finite.

    Examples
    --------
    >>> Y = np.array([[1], [1], [0], [0]])
    >>> print(fold_quality(Y, [([1, 3], [0, 2]), ([0, 2], [1, 3])]))
    test parts                2 of 2 to 2 rows
    label distribution        0.000000
    label pair distribution   0.000000
    examples distribution     0.000000
    labels missing in a part  0 of 1, in 0 parts in all
    """
    labels = as_indicators(Y)
    q = labels.shape[1]
    items = with_pairs(labels)
    tests = [np.asarray(test) for _, test in splits]
    if not tests:
        raise ValueError("splits is empty; give the (train, test) pairs of splitter.split(X, Y), which can be read only once.")
    sizes = np.array([len(np.flatnonzero(test)) if test.dtype == bool else len(test) for test in tests])
    counts = np.array([_counts(items[test]) for test in tests])  # (n_splits, q + pairs)
    total = _counts(items)
    return FoldQuality(
        _distribution(counts[:, :q], sizes, total[:q], labels.shape[0]),
        _distribution(counts[:, q:], sizes, total[q:], labels.shape[0]),
        float(np.abs(sizes - sizes.mean()).mean()),
        (counts[:, :q] == 0).sum(axis=0),
        sizes,
    )


def _counts(items: sparse.csr_array) -> np.ndarray:
    return np.bincount(items.indices, minlength=items.shape[1])


def _distribution(counts: np.ndarray, sizes: np.ndarray, total: np.ndarray, n: int) -> float:
    """Mean difference of odds, 0 where there is nothing to compare."""
    says = (total > 0) & (total < n)
    if not says.any():
        return 0.0
    counts, total = counts[:, says], total[says]
    odds = counts / np.maximum(sizes[:, None] - counts, 0.5)
    return float(np.abs(odds - total / (n - total)).mean())
