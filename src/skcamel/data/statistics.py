"""The card of a data set: sizes, label statistics, imbalance and oddities."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.arrays import Array, default_names, dense
from skcamel.data.dataset import (
    Dataset,
    as_features,
    as_labels,
    check_same_rows,
    row_kinds,
)
from skcamel.text import one_line

LABELS_SHOWN = 8
CARD_BYTES = 48  # at the peak of one pair of labels, or of one label of a row


@dataclass(frozen=True, eq=False)
class Card:
    """Statistics of a data set, as :func:`card` computes them; ``print(card)`` shows a table.

    Unknown labels (NaN) are left out: a row has the labels that are known to be relevant.

    Attributes
    ----------
    n, d, q : int
        Rows, features, labels.
    cardinality, density : float
        Mean number of labels of a row; share of ones among the known entries, which is the same
        over q where all are known.
    label_sets, single_label_sets, max_label_set : int
        Different label sets, those that one row has alone, and the rows of the commonest; of rows
        whose labels are all known.
    label_counts, irlbl : arrays of shape (q,)
        Rows of each label, and its imbalance ratio: inf without positives, which `mean_ir`,
        `max_ir` and `cvir` leave out.
    scumble_rows : array of shape (n,)
        Its mean is `scumble`.
    cooccurrence, phi : arrays of shape (q, q)
        Rows that have both labels, on the diagonal those that have the one; correlation over the
        rows in which both are known, NaN where
        a label is constant there.
    constant_features, zero_rows, unlabelled_rows, empty_labels, full_labels : int arrays
        Features with one value, rows without a nonzero feature, rows with known labels of which
        none is relevant, labels that no row, or
        every row that knows them, has.
    duplicate_rows, duplicate_examples : int
        Rows that repeat the features, or features and labels, of an earlier one.
    sparsity, missing_values : float, int
        Share of cells of X that are 0; cells that are NaN.
    known, label_known : float, array of shape (q,)
        Share of the label entries that are known; known entries of each label.
    """

    name: str
    n: int
    d: int
    q: int
    cardinality: float
    density: float
    label_sets: int
    single_label_sets: int
    max_label_set: int
    label_counts: np.ndarray
    irlbl: np.ndarray
    mean_ir: float
    max_ir: float
    cvir: float
    scumble: float
    scumble_cv: float
    scumble_rows: np.ndarray
    tcs: float
    cooccurrence: np.ndarray
    phi: np.ndarray
    constant_features: np.ndarray
    zero_rows: np.ndarray
    unlabelled_rows: np.ndarray
    empty_labels: np.ndarray
    full_labels: np.ndarray
    duplicate_rows: int
    duplicate_examples: int
    sparsity: float
    missing_values: int
    label_names: tuple[str, ...]
    known: float
    label_known: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """All figures as numbers, strings and lists, ready for JSON except for inf and NaN."""
        return {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in asdict(self).items()
        }

    def __str__(self) -> str:
        return "\n".join([one_line(self.name) or "data set", *_figures(self), "", *_labels(self)])


def card(dataset: Dataset | tuple[Array, Array]) -> Card:
    """Statistics of a data set.

    Parameters
    ----------
    dataset : Dataset, or pair (X, Y)
        X dense or sparse of shape (n, d), Y of shape (n, q) in {0, 1}, {-1, +1} or bool, NaN where
        unknown.

    Returns
    -------
    Card

    Notes
    -----
    With D_j rows that have label j, and the labels L_i of row i (Charte et al., Neurocomputing 163,
    2015, 3-16;
    Charte et al., HAIS 2014, for SCUMBLE; Charte et al., HAIS 2016, for TCS):

    - IRLbl_j = max_k D_k / D_j; MeanIR and MaxIR are its mean and maximum over labels with D_j > 0,
      CVIR its standard
      deviation (dividing by their number less one) over MeanIR;
    - SCUMBLE_i = 1 - geometric mean / arithmetic mean of IRLbl over L_i, and 0 for a row without
      labels: how much rare and
      common labels meet in one row; SCUMBLE is the mean over rows, its CV the standard deviation (n
      - 1) over that;
    - TCS = ln(d · q · label sets), the theoretical complexity score;
    - φ_jk = (n D_jk - D_j D_k) / sqrt(D_j (n - D_j) D_k (n - D_k)), with D_jk rows that have both
      labels.

    Examples
    --------
    >>> figures = card((np.eye(4), [[1, 0], [1, 1], [1, 0], [0, 0]]))
    >>> figures.cardinality, figures.label_sets, figures.irlbl.tolist(), figures.mean_ir
    (1.0, 3, [1.0, 3.0], 2.0)
    """
    x, y = dataset if isinstance(dataset, tuple) else (dataset.X, dataset.Y)
    X, labels = as_features(x), as_labels(y)
    check_same_rows(X, labels)
    (n, d), q = X.shape, labels.shape[1]
    what = f"A card of {q} labels with all their pairs"
    memory.require(CARD_BYTES * q * (q + n), what, "Keep a part of the labels.")
    ones = (labels == 1).astype(np.float64)  # (n, q)
    known = (labels == labels).astype(np.float64)
    counts = ones.sum(axis=0).astype(np.int64)
    known_rows = known.sum(axis=0).astype(np.int64)
    label_sets = np.bincount(row_kinds(ones[known.all(axis=1)]))
    irlbl = np.where(counts > 0, counts.max(initial=0) / np.maximum(counts, 1), np.inf)
    ratios = irlbl[counts > 0] if counts.any() else np.full(2, np.nan)  # figures are then NaN
    scumble_rows = _scumble(ones, irlbl)
    together = ones.T @ ones
    kinds = row_kinds(X)
    examples = row_kinds(kinds[:, None], ones - (1 - known))
    values = X.data if sparse.issparse(X) else X
    return Card(
        name=getattr(dataset, "name", ""),
        n=n,
        d=d,
        q=q,
        cardinality=float(ones.sum()) / max(n, 1),
        density=float(ones.sum()) / max(float(known.sum()), 1.0),
        label_sets=len(label_sets),
        single_label_sets=int((label_sets == 1).sum()),
        max_label_set=int(label_sets.max(initial=0)),
        label_counts=counts,
        irlbl=irlbl,
        mean_ir=float(ratios.mean()),
        max_ir=float(ratios.max()),
        cvir=_variation(ratios),
        scumble=float(scumble_rows.mean()) if n else 0.0,
        scumble_cv=_variation(scumble_rows),
        scumble_rows=scumble_rows,
        tcs=float(np.log(max(float(d) * q * len(label_sets), 1.0))),
        cooccurrence=together.astype(np.int64),
        phi=_phi(ones, known, together),
        constant_features=constant_columns(X),
        zero_rows=np.flatnonzero((X != 0).sum(axis=1) == 0),
        unlabelled_rows=np.flatnonzero((ones.sum(axis=1) == 0) & known.any(axis=1)),
        empty_labels=np.flatnonzero(counts == 0),
        full_labels=np.flatnonzero((counts == known_rows) & (known_rows > 0)),
        duplicate_rows=n - len(np.unique(kinds)),
        duplicate_examples=n - len(np.unique(examples)),
        sparsity=1 - np.count_nonzero(values) / max(n * d, 1),
        missing_values=int(np.isnan(values).sum()),
        label_names=tuple(getattr(dataset, "label_names", ())) or default_names("label", q),
        known=float(known.mean()) if known.size else 1.0,
        label_known=known_rows,
    )


def _scumble(ones: np.ndarray, irlbl: np.ndarray) -> np.ndarray:
    """SCUMBLE of each row, (n,); exactly 0 where it has fewer than two labels."""
    n_labels = ones.sum(axis=1)
    ratios = np.where(np.isfinite(irlbl), irlbl, 1.0)
    some = np.maximum(n_labels, 1)
    arithmetic = np.maximum(ones @ ratios, 1.0) / some
    geometric = np.exp(ones @ np.log(ratios) / some)
    return np.where(n_labels > 1, np.maximum(1 - geometric / arithmetic, 0.0), 0.0)


def _phi(ones: np.ndarray, known: np.ndarray, together: np.ndarray) -> np.ndarray:
    """Correlation of each pair of labels over the rows in which both are known, (q, q); NaN where one is constant there."""
    rows = known.T @ known
    of_first = ones.T @ known  # rows with the first label in which the second is known
    spread = of_first * (rows - of_first)
    with np.errstate(invalid="ignore", divide="ignore"):
        phi = (rows * together - of_first * of_first.T) / np.sqrt(spread * spread.T)
    return np.where(spread * spread.T > 0, phi, np.nan)


def _variation(values: np.ndarray) -> float:
    """Standard deviation, dividing by the number less one, over the mean; 0 where there is none."""
    if len(values) < 2 or values.mean() <= 0:
        return 0.0
    return float(values.std(ddof=1) / values.mean())


def constant_columns(X: Array) -> np.ndarray:
    """Columns with one value only, ascending; NaN counts as a value."""
    n, d = X.shape
    if n == 0:
        return np.arange(d)
    low = dense(X.min(axis=0)).ravel()
    high = dense(X.max(axis=0)).ravel()
    n_missing = (X != X).sum(axis=0)
    return np.flatnonzero((low == high) | (n_missing == n))


def _figures(c: Card) -> list[str]:
    """Figures of the whole set, two to a line."""
    empty, full = len(c.empty_labels), len(c.full_labels)
    left_out = f"  ({empty} empty labels left out)" if empty else ""
    pairs = [
        ("rows", f"{c.n:,}", "label sets", f"{c.label_sets:,}"),
        ("features", f"{c.d:,}", "  that occur once", f"{c.single_label_sets:,}"),
        ("labels", f"{c.q:,}", "  commonest", f"{c.max_label_set:,} rows"),
        ("cardinality", f"{c.cardinality:.4f}", "SCUMBLE", f"{c.scumble:.4f}"),
        ("density", f"{c.density:.4f}", "TCS", f"{c.tcs:.3f}"),
        ("MeanIR", f"{c.mean_ir:.3f}", "MaxIR, CVIR", f"{c.max_ir:.3f}, {c.cvir:.3f}{left_out}"),
        ("zeros in X", f"{c.sparsity:.2%}", "missing values", f"{c.missing_values:,}"),
        ("constant features", len(c.constant_features), "rows of zeros", len(c.zero_rows)),
        ("equal feature rows", c.duplicate_rows, "  with equal labels", c.duplicate_examples),
        ("rows without label", len(c.unlabelled_rows), "empty, full labels", f"{empty}, {full}"),
    ]
    if c.known < 1:
        least = f"{c.label_known.min():,} rows"
        pairs.append(("known labels", f"{c.known:.2%}", "  in the least known", least))
    return [f"  {a:<20}{b:>10}    {x:<21}{y}" for a, b, x, y in pairs]


def _labels(c: Card) -> list[str]:
    """Table of the commonest and the rarest labels."""
    half = LABELS_SHOWN // 2
    order = np.argsort(-c.label_counts, kind="stable").tolist()
    n_left_out = len(order) - LABELS_SHOWN
    if n_left_out > 0:
        del order[half:-half]
    names = [one_line(c.label_names[j]) for j in order]
    width = max(map(len, names), default=5)
    shares = c.label_counts / np.maximum(c.label_known, 1)
    lines = [f"  {'label':<{width}}  {'rows':>8}  {'share':>7}  {'IRLbl':>9}"]
    for name, j in zip(names, order):
        figures = f"{c.label_counts[j]:>8,}  {shares[j]:>7.2%}  {c.irlbl[j]:>9.2f}"
        lines.append(f"  {name:<{width}}  {figures}")
    if n_left_out > 0:
        lines.insert(1 + half, f"  … {n_left_out} more")
    return lines
