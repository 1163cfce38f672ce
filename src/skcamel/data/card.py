"""The card of a data set: sizes, label statistics, imbalance measures and oddities."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.arrays import Array
from skcamel.data.features import as_features, constant_columns, repeated, row_kinds, values_of
from skcamel.data.indicators import as_indicators
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

LABELS_SHOWN = 8
PAIR_BYTES = 48  # of one pair of labels at the peak: six matrices of eight bytes


@dataclass(frozen=True, eq=False)
class Card:
    """Statistics of a data set, as :func:`card` computes them; ``print(card)`` shows a table.

    Attributes
    ----------
    name : str
    n, d, q : int
        Rows, features, labels.
    cardinality, density : float
        Mean number of labels of a row; the same over q.
    label_sets, single_label_sets, max_label_set : int
        Different label sets, those that one row has alone, and the rows of the commonest.
    label_counts : int array of shape (q,)
    irlbl : array of shape (q,)
        Imbalance ratio per label; inf for a label without positives, which the next three leave out.
    mean_ir, max_ir, cvir : float
    scumble, scumble_cv : float
    scumble_rows : array of shape (n,)
    tcs : float
    cooccurrence : int array of shape (q, q)
        Rows that have both labels; on the diagonal, those that have the one.
    phi : array of shape (q, q)
        Correlation of the labels, NaN where one of them is constant.
    constant_features, zero_rows, unlabelled_rows, empty_labels, full_labels : int arrays
        Indices of features with one value, rows without a nonzero feature, rows without a label, labels that no row and
        labels that every row has.
    duplicate_rows, duplicate_examples : int
        Rows that repeat the features, or features and labels, of an earlier one.
    sparsity : float
        Share of cells of X that are 0.
    missing_values : int
        Cells of X that are NaN.
    label_names : tuple of str
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

    def as_dict(self) -> dict[str, Any]:
        """All figures as numbers, strings and lists, ready for JSON but for inf and NaN."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in asdict(self).items()}

    def __str__(self) -> str:
        """Return a table for the terminal."""
        return "\n".join([*_lines(self), "", *_label_lines(self)])


def card(dataset: Dataset | tuple[Array, Array]) -> Card:
    """Statistics of a data set.

    Parameters
    ----------
    dataset : Dataset, or pair (X, Y)
        X dense or sparse of shape (n, d), Y of shape (n, q) in {0, 1}, {-1, +1} or bool.

    Returns
    -------
    Card

    Notes
    -----
    With D_j rows that have label j, and the labels L_i of row i (Charte et al., Neurocomputing 163, 2015, 3-16;
    Charte et al., HAIS 2014, for SCUMBLE; Charte et al., HAIS 2016, for TCS):

    - IRLbl_j = max_k D_k / D_j; MeanIR and MaxIR are its mean and maximum over labels with D_j > 0, CVIR its standard
      deviation (dividing by their number less one) over MeanIR;
    - SCUMBLE_i = 1 - geometric mean / arithmetic mean of IRLbl over L_i, and 0 for a row without labels: how much rare and
      common labels meet in one row; SCUMBLE is the mean over rows, its CV the standard deviation (n - 1) over that;
    - TCS = ln(d · q · label sets), the theoretical complexity score;
    - φ_jk = (n D_jk - D_j D_k) / sqrt(D_j (n - D_j) D_k (n - D_k)), with D_jk rows that have both labels.

    Examples
    --------
    >>> figures = card((np.eye(4), [[1, 0], [1, 1], [1, 0], [0, 0]]))
    >>> figures.cardinality, figures.label_sets, figures.irlbl.tolist(), figures.mean_ir
    (1.0, 3, [1.0, 3.0], 2.0)
    """
    if isinstance(dataset, tuple):
        X, Y = as_features(dataset[0]), as_indicators(dataset[1])
    else:
        X, Y = as_features(dataset.X), as_indicators(dataset.Y)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"Y has {Y.shape[0]} rows but X has {X.shape[0]}; each row of X needs one row of labels.")
    q = Y.shape[1]
    memory.require(PAIR_BYTES * q * q, f"A card of {q} labels with all their pairs", "Keep a part of the labels.")
    counts = np.bincount(Y.indices, minlength=q)
    sets = np.bincount(row_kinds(Y))
    per_label = imbalance_ratios(counts)
    return Card(
        name=getattr(dataset, "name", ""),
        n=X.shape[0],
        d=X.shape[1],
        q=Y.shape[1],
        label_names=tuple(getattr(dataset, "label_names", None) or (f"label{j + 1}" for j in range(Y.shape[1]))),
        label_sets=len(sets),
        single_label_sets=int((sets == 1).sum()),
        max_label_set=int(sets.max(initial=0)),
        tcs=float(np.log(max(float(X.shape[1]) * Y.shape[1] * len(sets), 1.0))),
        irlbl=per_label,
        **_label_figures(Y, counts),
        **_imbalance(per_label),
        **_concurrence(Y, per_label),
        **_feature_figures(X, Y),
    )


def imbalance_ratios(counts: np.ndarray) -> np.ndarray:
    """IRLbl of each label from the number of its rows, (q,); inf where there is none."""
    return np.where(counts > 0, counts.max(initial=0) / np.maximum(counts, 1), np.inf)


def scumble_of_rows(Y: sparse.csr_array, irlbl: np.ndarray) -> np.ndarray:
    """SCUMBLE of each row, (n,)."""
    labels = np.maximum(np.diff(Y.indptr), 1)
    ratios = irlbl[Y.indices]
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    arithmetic = np.bincount(rows, ratios, minlength=Y.shape[0]) / labels
    geometric = np.exp(np.bincount(rows, np.log(ratios), minlength=Y.shape[0]) / labels)
    value = 1 - geometric / np.where(arithmetic > 0, arithmetic, 1.0)  # a row without labels has geometric mean 1
    return np.where(labels > 1, np.maximum(value, 0.0), 0.0)  # of one label, or of equally rare ones: without rounding


def phi_matrix(cooccurrence: np.ndarray, n: int) -> np.ndarray:
    """Correlation of labels from the rows they share, (q, q); NaN where one of them is constant."""
    together, counts = cooccurrence.astype(np.float64), np.diag(cooccurrence).astype(np.float64)
    spread = np.sqrt(counts * (n - counts))
    with np.errstate(invalid="ignore", divide="ignore"):
        phi = (n * together - np.outer(counts, counts)) / np.outer(spread, spread)
    constant = spread == 0
    phi[constant] = np.nan
    phi[:, constant] = np.nan
    return phi


def _label_figures(Y: sparse.csr_array, counts: np.ndarray) -> dict[str, Any]:
    n, q = Y.shape
    cooccurrence = np.asarray((Y.T @ Y).toarray(), dtype=np.int64)
    cardinality = Y.nnz / max(n, 1)
    return {
        "cardinality": cardinality,
        "density": cardinality / max(q, 1),
        "label_counts": counts,
        "cooccurrence": cooccurrence,
        "phi": phi_matrix(cooccurrence, n),
        "unlabelled_rows": np.flatnonzero(np.diff(Y.indptr) == 0),
        "empty_labels": np.flatnonzero(counts == 0),
        "full_labels": np.flatnonzero((counts == n) & (n > 0)),
    }


def _imbalance(irlbl: np.ndarray) -> dict[str, Any]:
    finite = irlbl[np.isfinite(irlbl)]
    if not len(finite):
        return {"mean_ir": float("nan"), "max_ir": float("nan"), "cvir": float("nan")}
    mean = float(finite.mean())
    return {"mean_ir": mean, "max_ir": float(finite.max()), "cvir": float(finite.std(ddof=1)) / mean if len(finite) > 1 else 0.0}


def _concurrence(Y: sparse.csr_array, irlbl: np.ndarray) -> dict[str, Any]:
    rows = scumble_of_rows(Y, irlbl)
    mean = float(rows.mean()) if len(rows) else 0.0
    return {"scumble_rows": rows, "scumble": mean, "scumble_cv": float(rows.std(ddof=1)) / mean if mean > 0 and len(rows) > 1 else 0.0}


def _feature_figures(X: Any, Y: sparse.csr_array) -> dict[str, Any]:
    values, cells = values_of(X), max(X.shape[0] * X.shape[1], 1)
    nonzero = np.diff(X.indptr) > 0 if sparse.issparse(X) else (X != 0).any(axis=1)
    return {
        "constant_features": constant_columns(X),
        "zero_rows": np.flatnonzero(~nonzero),
        "duplicate_rows": repeated(row_kinds(X)),
        "duplicate_examples": repeated(row_kinds(X, Y)),
        "sparsity": 1 - np.count_nonzero(values) / cells,
        "missing_values": int(np.isnan(values).sum()),
    }


def _lines(c: Card) -> list[str]:
    """Figures of the whole set, two to a line."""
    left_out = f"  ({len(c.empty_labels)} empty label{'s' * (len(c.empty_labels) > 1)} left out)" if len(c.empty_labels) else ""
    pairs = [
        ("rows", f"{c.n:,}", "label sets", f"{c.label_sets:,}"),
        ("features", f"{c.d:,}", "  that occur once", f"{c.single_label_sets:,}"),
        ("labels", f"{c.q:,}", "  commonest", f"{c.max_label_set:,} rows"),
        ("cardinality", f"{c.cardinality:.4f}", "SCUMBLE", f"{c.scumble:.4f}  (CV {c.scumble_cv:.2f})"),
        ("density", f"{c.density:.4f}", "TCS", f"{c.tcs:.3f}"),
        ("MeanIR", f"{c.mean_ir:.3f}", "MaxIR, CVIR", f"{c.max_ir:.3f}, {c.cvir:.3f}{left_out}"),
        ("zeros in X", f"{c.sparsity:.2%}", "missing values", f"{c.missing_values:,}"),
        ("constant features", f"{len(c.constant_features):,}", "rows of zeros", f"{len(c.zero_rows):,}"),
        ("equal feature rows", f"{c.duplicate_rows:,}", "  with equal labels", f"{c.duplicate_examples:,}"),
        ("rows without label", f"{len(c.unlabelled_rows):,}", "empty, full labels", f"{len(c.empty_labels)}, {len(c.full_labels)}"),
    ]
    return [one_line(c.name) or "data set", *(f"  {a:<20}{b:>10}    {x:<21}{y}" for a, b, x, y in pairs)]


def _label_lines(c: Card) -> list[str]:
    """Table of the commonest and the rarest labels."""
    order = np.argsort(-c.label_counts, kind="stable")
    half = LABELS_SHOWN // 2
    shown = order.tolist() if c.q <= LABELS_SHOWN else [*order[:half].tolist(), None, *order[-half:].tolist()]
    names = {j: one_line(c.label_names[j]) for j in shown if j is not None}
    width = max(map(len, names.values()), default=5)
    lines = [f"  {'label':<{width}}  {'rows':>8}  {'share':>7}  {'IRLbl':>9}"]
    for j in shown:
        if j is None:
            lines.append(f"  … {c.q - LABELS_SHOWN} more")
        else:
            share = c.label_counts[j] / max(c.n, 1)
            lines.append(f"  {names[j]:<{width}}  {c.label_counts[j]:>8,}  {share:>7.2%}  {c.irlbl[j]:>9.2f}")
    return lines
