"""The card of a data set: sizes, label statistics, imbalance and oddities; and how evenly splits share its labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.arrays import Array, default_names
from skcamel.data.dataset import (
    Dataset,
    as_features,
    as_indicators,
    check_same_rows,
    row_kinds,
    unknown_entries,
)
from skcamel.data.text import counted
from skcamel.text import one_line

LABELS_SHOWN = 8
PAIR_BYTES = 48  # of one pair of labels at the peak: six matrices of eight bytes


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
        return "\n".join([*_lines(self), "", *_label_lines(self)])


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
    X, Y = as_features(x), as_indicators(y)
    check_same_rows(X, Y)
    (n, d), q = X.shape, Y.shape[1]
    memory.require(
        PAIR_BYTES * q * q,
        f"A card of {q} labels with all their pairs",
        "Keep a part of the labels.",
    )
    counts, unknown = label_counts(Y), unknown_entries(y)
    known, known_of_row = np.full(q, n), np.full(n, q)
    if unknown is not None:
        known, known_of_row = n - label_counts(unknown), q - np.diff(unknown.indptr)
    entries = int(known.sum())
    sets = np.bincount(row_kinds(Y[known_of_row == q]))
    irlbl = np.where(counts > 0, counts.max(initial=0) / np.maximum(counts, 1), np.inf)
    finite = irlbl[np.isfinite(irlbl)]
    scumble_rows = scumble_of_rows(Y, irlbl)
    cooccurrence = np.asarray((Y.T @ Y).toarray(), dtype=np.int64)
    kinds, values = row_kinds(X), X.data if sparse.issparse(X) else X
    filled = np.diff(X.indptr) > 0 if sparse.issparse(X) else (X != 0).any(axis=1)
    return Card(
        name=getattr(dataset, "name", ""),
        n=n,
        d=d,
        q=q,
        cardinality=Y.nnz / max(n, 1),
        density=Y.nnz / max(n, 1) / max(q, 1) if unknown is None else Y.nnz / max(entries, 1),
        label_sets=len(sets),
        single_label_sets=int((sets == 1).sum()),
        max_label_set=int(sets.max(initial=0)),
        label_counts=counts,
        irlbl=irlbl,
        mean_ir=float(finite.mean()) if len(finite) else float("nan"),
        max_ir=float(finite.max()) if len(finite) else float("nan"),
        cvir=_variation(finite) if len(finite) else float("nan"),
        scumble=float(scumble_rows.mean()) if n else 0.0,
        scumble_cv=_variation(scumble_rows),
        scumble_rows=scumble_rows,
        tcs=float(np.log(max(float(d) * q * len(sets), 1.0))),
        cooccurrence=cooccurrence,
        phi=phi_matrix(cooccurrence, n) if unknown is None else _phi_of_known(Y, unknown),
        constant_features=constant_columns(X),
        zero_rows=np.flatnonzero(~filled),
        unlabelled_rows=np.flatnonzero((np.diff(Y.indptr) == 0) & (known_of_row > 0)),
        empty_labels=np.flatnonzero(counts == 0),
        full_labels=np.flatnonzero((counts == known) & (known > 0)),
        duplicate_rows=n - len(np.unique(kinds)),
        duplicate_examples=n
        - len(np.unique(row_kinds(kinds[:, None], Y if unknown is None else Y - unknown))),
        sparsity=1 - np.count_nonzero(values) / max(n * d, 1),
        missing_values=int(np.isnan(values).sum()),
        label_names=tuple(getattr(dataset, "label_names", ())) or default_names("label", q),
        known=1.0 if unknown is None else entries / (n * q),
        label_known=known,
    )


def label_counts(Y: sparse.csr_array) -> np.ndarray:
    """Rows of each label, (q,)."""
    return np.bincount(Y.indices, minlength=Y.shape[1])


def with_pairs(Y: sparse.csr_array) -> sparse.csr_array:
    """Y with one more column for each pair of labels that occurs, (n, q + pairs)."""
    n, q = Y.shape
    rows = np.repeat(np.arange(n), np.diff(Y.indptr))
    after = Y.indptr[rows + 1] - np.arange(len(rows)) - 1  # entries that follow in the same row
    first = np.repeat(np.arange(len(rows)), after)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    labels = Y.indices.astype(np.int64)
    codes, pairs = np.unique(labels[first] * q + labels[second], return_inverse=True)
    of_pairs = sparse.csr_array(
        (np.ones(len(pairs), dtype=np.int64), (rows[first], pairs)), shape=(n, len(codes))
    )
    return sparse.csr_array(sparse.hstack([Y, of_pairs], format="csr"))


def scumble_of_rows(Y: sparse.csr_array, irlbl: np.ndarray) -> np.ndarray:
    """SCUMBLE of each row, (n,)."""
    labels = np.maximum(np.diff(Y.indptr), 1)
    ratios = irlbl[Y.indices]
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    arithmetic = np.bincount(rows, ratios, minlength=Y.shape[0]) / labels
    geometric = np.exp(np.bincount(rows, np.log(ratios), minlength=Y.shape[0]) / labels)
    value = 1 - geometric / np.where(
        arithmetic > 0, arithmetic, 1.0
    )  # a row without labels has geometric mean 1
    return np.where(
        labels > 1, np.maximum(value, 0.0), 0.0
    )  # of one label, or of equally rare ones: without rounding


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


def _phi_of_known(Y: sparse.csr_array, unknown: sparse.csr_array) -> np.ndarray:
    """Correlation of each pair of labels over the rows in which both are known, (q, q)."""
    known = 1.0 - unknown.toarray()
    rows, together = known.T @ known, (Y.T @ Y).toarray()
    ones = Y.T @ known  # (q, q) rows with the first label in which the second is known
    spread = ones * (rows - ones)
    with np.errstate(invalid="ignore", divide="ignore"):
        phi = (rows * together - ones * ones.T) / np.sqrt(spread * spread.T)
    return np.where(spread * spread.T > 0, phi, np.nan)


def _variation(values: np.ndarray) -> float:
    """Standard deviation, dividing by the number less one, over the mean; 0 where there is none."""
    return (
        float(values.std(ddof=1) / values.mean()) if len(values) > 1 and values.mean() > 0 else 0.0
    )


def constant_columns(X: Array) -> np.ndarray:
    """Columns with one value only, ascending; NaN counts as a value."""
    n, d = X.shape
    if n == 0:
        return np.arange(d)
    if not sparse.issparse(X):
        return np.flatnonzero((X[:1] == X).all(axis=0) | np.isnan(X).all(axis=0))
    stored = np.bincount(X.indices, minlength=d)
    first = np.zeros(d)
    first[X.indices[::-1]] = X.data[::-1]
    same = (X.data == first[X.indices]) | (np.isnan(X.data) & np.isnan(first[X.indices]))
    return np.flatnonzero(
        (stored == 0) | ((stored == n) & (np.bincount(X.indices, weights=~same, minlength=d) == 0))
    )


def _lines(c: Card) -> list[str]:
    """Figures of the whole set, two to a line."""
    left_out = (
        f"  ({counted(len(c.empty_labels), 'empty label')} left out)" if len(c.empty_labels) else ""
    )
    pairs = [
        ("rows", f"{c.n:,}", "label sets", f"{c.label_sets:,}"),
        ("features", f"{c.d:,}", "  that occur once", f"{c.single_label_sets:,}"),
        ("labels", f"{c.q:,}", "  commonest", f"{c.max_label_set:,} rows"),
        (
            "cardinality",
            f"{c.cardinality:.4f}",
            "SCUMBLE",
            f"{c.scumble:.4f}  (CV {c.scumble_cv:.2f})",
        ),
        ("density", f"{c.density:.4f}", "TCS", f"{c.tcs:.3f}"),
        ("MeanIR", f"{c.mean_ir:.3f}", "MaxIR, CVIR", f"{c.max_ir:.3f}, {c.cvir:.3f}{left_out}"),
        ("zeros in X", f"{c.sparsity:.2%}", "missing values", f"{c.missing_values:,}"),
        (
            "constant features",
            f"{len(c.constant_features):,}",
            "rows of zeros",
            f"{len(c.zero_rows):,}",
        ),
        (
            "equal feature rows",
            f"{c.duplicate_rows:,}",
            "  with equal labels",
            f"{c.duplicate_examples:,}",
        ),
        (
            "rows without label",
            f"{len(c.unlabelled_rows):,}",
            "empty, full labels",
            f"{len(c.empty_labels)}, {len(c.full_labels)}",
        ),
    ]
    if c.known < 1:
        pairs.append(
            (
                "known labels",
                f"{c.known:.2%}",
                "  in the least known",
                f"{c.label_known.min():,} rows",
            )
        )
    return [
        one_line(c.name) or "data set",
        *(f"  {a:<20}{b:>10}    {x:<21}{y}" for a, b, x, y in pairs),
    ]


def _label_lines(c: Card) -> list[str]:
    """Table of the commonest and the rarest labels."""
    order = np.argsort(-c.label_counts, kind="stable")
    half = LABELS_SHOWN // 2
    shown = (
        order.tolist()
        if c.q <= LABELS_SHOWN
        else [*order[:half].tolist(), None, *order[-half:].tolist()]
    )
    names = {j: one_line(c.label_names[j]) for j in shown if j is not None}
    width = max(map(len, names.values()), default=5)
    lines = [f"  {'label':<{width}}  {'rows':>8}  {'share':>7}  {'IRLbl':>9}"]
    for j in shown:
        if j is None:
            lines.append(f"  … {c.q - LABELS_SHOWN} more")
        else:
            share = c.label_counts[j] / max(c.label_known[j], 1)
            lines.append(
                f"  {names[j]:<{width}}  {c.label_counts[j]:>8,}  {share:>7.2%}  {c.irlbl[j]:>9.2f}"
            )
    return lines


@dataclass(frozen=True)
class FoldQuality:
    """Figures of :func:`fold_quality`; 0 is best for all of them."""

    label_distribution: float
    pair_distribution: float
    examples_distribution: float
    folds_without_positives: np.ndarray  # (q,) test parts without a positive, for each label
    sizes: np.ndarray  # (n_splits,) rows of each test part

    def __str__(self) -> str:
        short = self.folds_without_positives > 0
        return "\n".join(
            [
                (
                    f"test parts                {len(self.sizes)} of {self.sizes.min()} to"
                    f" {self.sizes.max()} rows"
                ),
                f"label distribution        {self.label_distribution:.6f}",
                f"label pair distribution   {self.pair_distribution:.6f}",
                f"examples distribution     {self.examples_distribution:.6f}",
                (
                    f"labels missing in a part  {int(short.sum())} of {len(short)}, in"
                    f" {int(self.folds_without_positives.sum())} parts in all"
                ),
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
    With S_fj rows of label j among the n_f rows of part f, and D_j among all n (Sechidis et al.
    2011, section 4):

    - label distribution: LD = mean over j and f of \|S_fj / (n_f - S_fj) - D_j / (n - D_j)\|;
    - label pair distribution: LPD, the same for the pairs of labels that occur (Szymański and
      Kajdanowicz 2017);
    - examples distribution: ED = mean over f of \|n_f - mean size\|.

    Labels without a positive or without a negative are left out of LD; a part without a negative
    counts as if it had half of
    one, which keeps its odds finite. Rows in which a label is unknown (NaN) count neither in n nor
    in n_f for that label; a pair
    counts in all rows, and is there only where both labels are known to be.

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
    labels, unknown = as_indicators(Y), unknown_entries(Y)
    n, q = labels.shape
    items = with_pairs(labels)
    tests = [np.asarray(test) for _, test in splits]
    if not tests:
        raise ValueError(
            "splits is empty; give the (train, test) pairs of splitter.split(X, Y), which can be"
            " read only once."
        )
    sizes = np.array(
        [len(np.flatnonzero(test)) if test.dtype == bool else len(test) for test in tests]
    )
    counts = np.array([label_counts(items[test]) for test in tests])  # (n_splits, q + pairs)
    total = label_counts(items)
    of_parts, of_all = (
        np.repeat(sizes[:, None], q, axis=1),
        np.full(q, n),
    )  # rows that know each label
    if unknown is not None:
        of_parts, of_all = (
            of_parts - [label_counts(unknown[test]) for test in tests],
            of_all - label_counts(unknown),
        )
    return FoldQuality(
        _distribution(counts[:, :q], of_parts, total[:q], of_all),
        _distribution(counts[:, q:], sizes[:, None], total[q:], np.full(len(total) - q, n)),
        float(np.abs(sizes - sizes.mean()).mean()),
        (counts[:, :q] == 0).sum(axis=0),
        sizes,
    )


def _distribution(counts: np.ndarray, sizes: np.ndarray, total: np.ndarray, n: np.ndarray) -> float:
    """Mean difference of odds, 0 where there is nothing to compare; `counts` and `sizes` of each part (parts, items), then of all."""
    says = (total > 0) & (total < n)
    if not says.any():
        return 0.0
    odds = counts / np.maximum(sizes - counts, 0.5)
    return float(np.abs(odds[:, says] - total[says] / (n - total)[says]).mean())
