"""Y ► S for many labels: the lassos of :mod:`skcamel.correlation` one column at a time, from how often labels occur together.

Most pairs of many labels never occur together, so with T_ij the rows that have both, p_i those that have label i, and n all rows,

    C = 4 (T - p pᵀ / n)     (centred labels; two more terms of rank one for labels in {-1, +1})

is sparse but for a matrix of low rank, and no q x q array is formed. A column s of S, with gradient g = Cs - c_j, is found by a primal-dual
active set: A = {i ≠ j: |s_i - g_i / c_ii| c_ii > λ}, then C_AA s_A = c_A - λ sign, until A and its signs repeat, which takes three rounds
or so. They then meet the KKT conditions. A column whose sets go round in circles is solved by a descent that cannot (feature-sign search).

With ``strength="noise"`` labels are standardised, and

    λ_j = max(.01 max_i |c_ij|, √(2 ln q / n)),

below which the correlation of two labels is what chance gives the luckiest of q independent ones. A share of the largest
correlation alone would keep half of all coefficients where labels are many: it lies below a single row that has both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from skcamel import correlation
from skcamel.correlation import Correlation, Strength

LEAST_SHARE = 0.01  # of the largest correlation, that "noise" takes at least
EQUAL = 1 - 1e-12  # correlation from which on labels are the same
MOST_ROUNDS = 25  # of active sets; far more than a column that settles takes
MOST_STEPS = 10_000  # of the descent


@dataclass(frozen=True)
class Gram:
    """C = D (T - L Rᵀ) D of q labels."""

    counts: sparse.csr_array  # (q, q) T
    left: np.ndarray  # (q, r) L
    right: np.ndarray  # (q, r) R
    scale: np.ndarray  # (q,) the diagonal of D
    total: float = np.inf  # weight of all rows; infinite where C was given as a matrix

    @property
    def rounding(self) -> float:
        """Share of √(c_ii c_jj) below which an entry is 0."""
        return self.total * float(np.finfo(np.float64).eps) if np.isfinite(self.total) else 0.0

    @property
    def diagonal(self) -> np.ndarray:
        """c_ii, (q,); 0 where rounding leaves nothing of it."""
        own = self.counts.diagonal()
        whole = own - (self.left * self.right).sum(axis=1)
        return np.where(whole <= self.rounding * np.maximum(own, 1e-300), 0.0, self.scale**2 * whole)

    def column(self, j: int, lengths: np.ndarray) -> np.ndarray:
        """c_j (q,), with exact zeros; `lengths` are √c_ii."""
        c = self.times(np.array([j]), np.ones(1))
        c[np.abs(c) <= self.rounding * lengths * lengths[j]] = 0.0
        return c

    def times(self, support: np.ndarray, values: np.ndarray) -> np.ndarray:
        """C s (q,) for s that is `values` on its support and else 0."""
        weights = values * self.scale[support]
        row, column, entries = self._rows(support)
        sums = np.bincount(column, weights[row] * entries, len(self.scale))
        return (sums - self.left @ (self.right[support].T @ weights)) * self.scale

    def block(self, support: np.ndarray) -> np.ndarray:
        """C of some labels, (a, a)."""
        place = np.full(len(self.scale), -1)
        place[support] = np.arange(len(support))
        row, column, entries = self._rows(support)
        inside = place[column] >= 0
        found = np.zeros((len(support), len(support)))
        found[row[inside], place[column[inside]]] = entries[inside]
        found -= self.left[support] @ self.right[support].T
        return found * self.scale[support, None] * self.scale[support]

    def _rows(self, support: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Entries of some rows of T: which of them, column and value; scipy's own indexing takes three times as long for few."""
        starts = self.counts.indptr[support]
        lengths = self.counts.indptr[support + 1] - starts
        ends = np.cumsum(lengths)
        row = np.repeat(np.arange(len(support)), lengths)
        place = np.arange(len(row)) + (starts - ends + lengths)[row]
        return row, self.counts.indices[place], self.counts.data[place]

    def part(self, labels: np.ndarray) -> Gram:
        """Of some labels alone."""
        counts = sparse.csr_array(self.counts[labels][:, labels])
        return replace(self, counts=counts, left=self.left[labels], right=self.right[labels], scale=self.scale[labels])

    def standardised(self) -> Gram:
        """With c_ii = 1; labels that do not vary have c_ii = 0."""
        squares = self.diagonal
        return replace(self, scale=self.scale * np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0))


def gram_of_counts(together: sparse.csr_array, total: float, *, centred: bool = False) -> Gram:
    """C of labels by the weight of the rows that have both labels, CSR (q, q), and of all rows.

    >>> Y = sparse.csr_array([[1.0, 1], [1, 0], [0, 0]])
    >>> gram_of_counts(sparse.csr_array(Y.T @ Y), 3.0).block(np.arange(2))
    array([[3., 1.],
           [1., 3.]])
    """
    present, ones = together.diagonal(), np.ones(together.shape[0])
    if centred:
        left, right = present[:, None], present[:, None] / total
    else:
        halves = present / 2 - total / 8
        left, right = np.stack([halves, ones], axis=1), np.stack([ones, halves], axis=1)
    return Gram(sparse.csr_array(together, dtype=np.float64), left, right, 2 * ones, total)


def gram_of_matrix(C: np.ndarray) -> Gram:
    """The same of a matrix (q, q)."""
    none = np.zeros((len(C), 0))
    return Gram(sparse.csr_array(C), none, none, np.ones(len(C)))


def learn(C: Gram, total: float, *, strength: Strength = "noise", complete: bool = True, tol: float = 1e-6) -> Correlation:
    """S from C and the weight of all rows; its columns are solved to rounding, and `tol` (in units of λ_j) tells when one is not.

    S is CSC of shape (q, q), in the units of the labels in {-1, +1}. `complete` tells whether C is that of labels which are known in
    every row: then those that are equal or opposite share what they get.

    >>> Y = sparse.csr_array(np.repeat([[1.0, 1, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1]], 50, axis=0))
    >>> found = learn(gram_of_counts(sparse.csr_array(Y.T @ Y), 200.0, centred=True), 200.0)
    >>> found.S.toarray().round(2)  # the first two labels are equal, the third is unrelated
    array([[0. , 0.9, 0. ],
           [0.9, 0. , 0. ],
           [0. , 0. , 0. ]])
    """
    q = len(C.scale)
    scale = np.sqrt(C.diagonal)
    C = C.standardised() if strength == "noise" else C
    groups = equal_labels(C) if complete else Groups(np.arange(q), np.arange(q), np.ones(q), np.ones(q, dtype=np.intp))
    least = float(np.sqrt(2 * np.log(max(q, 2)) / total)) if strength == "noise" else 0.0
    share = LEAST_SHARE if isinstance(strength, str) else strength
    columns = _Columns(C.part(groups.first), share, least, groups.size[groups.first] == 1)
    found = [columns.solve(k, tol) for k in range(len(groups.first))]
    squares = C.diagonal
    penalty = np.where(groups.size > 1, np.maximum(share * squares, least), np.array([column.penalty for column in found])[groups.group])
    S = _expanded(found, groups, penalty, squares)
    if strength == "noise":
        safe = np.where(scale > 0, scale, 1.0)
        S = sparse.csc_array(sparse.diags_array(1 / safe) @ S @ sparse.diags_array(safe))
    violation = np.array([column.violation for column in found])[groups.group]
    return Correlation(S, penalty, violation, max(1, *(column.rounds for column in found)))


def resolved(strength: Strength, q: int) -> Strength:
    """What "auto" stands for: the paper's share, and "noise" for more than `MANY` labels."""
    return strength if strength != "auto" else 0.01 if q <= correlation.MANY else "noise"


class Groups(NamedTuple):
    """Labels that are equal or opposite, as :class:`skcamel.correlation.EqualLabels`."""

    first: np.ndarray  # labels that stand for their group
    group: np.ndarray  # (q,) position in `first` of the one that stands for label j
    sign: np.ndarray  # (q,) +1 where label j equals it, -1 where it is its opposite
    size: np.ndarray  # (q,) number of labels in the group of label j


def equal_labels(C: Gram) -> Groups:
    """Labels with |c_ij|² = c_ii c_jj: pairs that occur together, and those of labels that are frequent or never occur."""
    q, lengths = len(C.scale), np.sqrt(C.diagonal)
    row, column = C.counts.nonzero()
    entries = C.counts.tocoo().data if C.counts.nnz == len(row) else C.counts[row, column]
    entries = (entries - (C.left[row] * C.right[column]).sum(axis=1)) * C.scale[row] * C.scale[column]
    limit = EQUAL * lengths[row] * lengths[column]
    same = (np.abs(entries) >= limit) & (limit > 0)
    pairs = [(row[same], column[same])]
    present = C.counts.diagonal()
    frequent = np.flatnonzero(present >= C.total / 2)  # one of two opposite labels is
    for i in [*frequent.tolist(), *np.flatnonzero(present == 0)[:1].tolist()]:
        if lengths[i] > 0:
            equals = np.flatnonzero((np.abs(C.column(i, lengths)) >= EQUAL * lengths * lengths[i]) & (lengths > 0))
            pairs.append((np.full(len(equals), i), equals))
    rows, columns = (np.concatenate(part) for part in zip(*pairs, strict=True))
    links = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(q, q))
    _, component = connected_components(links, directed=False)
    _, first, size = np.unique(component, return_index=True, return_counts=True)
    order = np.argsort(first)
    group = np.argsort(order)[component]
    sign = np.ones(q)
    for j in np.flatnonzero(size[component] > 1):
        i = first[order][group[j]]
        sign[j] = np.sign(C.block(np.array([i, j]))[0, 1]) if i != j else 1.0
    return Groups(first[order], group, sign, size[component])


class Column(NamedTuple):
    """A solved column of S."""

    support: np.ndarray  # (a,) positions
    values: np.ndarray  # (a,) none of them 0
    penalty: float
    violation: float  # KKT, in units of the penalty
    rounds: int


NOTHING = Column(np.zeros(0, dtype=np.intp), np.zeros(0), 0.0, 0.0, 0)


class _Columns:
    """All lassos of one Gram matrix."""

    def __init__(self, C: Gram, share: float, least: float, alone: np.ndarray) -> None:
        self.C, self.share, self.least, self.alone = C, share, least, alone
        self.squares = C.diagonal
        self.lengths = np.sqrt(self.squares)

    def solve(self, j: int, tol: float) -> Column:
        """Column j; empty where the label is orthogonal to all others, or has equals."""
        if not self.alone[j] or self.squares[j] == 0:
            return NOTHING
        c = self.C.column(j, self.lengths)
        c[j] = 0.0
        penalty = max(self.share * float(np.abs(c).max()), self.least)
        if penalty == 0:
            return NOTHING
        support, values, rounds = self._by_active_sets(j, c, penalty)
        violation = self._violation(j, c, penalty, support, values)
        if violation > min(tol, 1e-8):
            other = self._by_descent(j, c, penalty)
            of_other = self._violation(j, c, penalty, *other)
            if of_other < violation:
                (support, values), violation = other, of_other
        live = values != 0
        return Column(support[live], values[live], penalty, violation, rounds)

    def _by_active_sets(self, j: int, c: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray, int]:
        support, signs, values = NOTHING.support, NOTHING.values, NOTHING.values
        point = c
        for rounds in range(1, MOST_ROUNDS + 1):
            active = np.flatnonzero(np.abs(point) > penalty)
            new_signs = np.sign(point[active])
            if rounds > 1 and np.array_equal(active, support) and np.array_equal(new_signs, signs):
                break
            support, signs = active, new_signs
            values = _solution(self.C.block(support), c[support] - penalty * signs)
            point = self._point(j, c, support, values)
        return support, values, rounds

    def _point(self, j: int, c: np.ndarray, support: np.ndarray, values: np.ndarray) -> np.ndarray:
        """c_ii s_i - g_i (q,), 0 for label j itself."""
        point = c - self.C.times(support, values)
        point[support] += self.squares[support] * values
        point[j] = 0.0
        return point

    def _violation(self, j: int, c: np.ndarray, penalty: float, support: np.ndarray, values: np.ndarray) -> float:
        gradient = self.C.times(support, values) - c
        gradient[j] = 0.0
        residual = np.clip(np.abs(gradient) - penalty, 0, None)
        live = values != 0
        residual[support[live]] = np.abs(gradient[support[live]] + penalty * np.sign(values[live]))
        return float(residual.max(initial=0.0)) / penalty

    def _by_descent(self, j: int, c: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Feature-sign search: one label more at a time, the objective falls with every step."""
        support, values = NOTHING.support, NOTHING.values
        for _ in range(MOST_STEPS):
            gradient = self.C.times(support, values) - c
            gradient[j] = gradient[support] = 0.0
            new = int(np.abs(gradient).argmax())
            if abs(gradient[new]) <= penalty * (1 + 1e-9):
                break
            support, values = np.append(support, new), np.append(values, 0.0)
            signs = np.append(np.sign(values[:-1]), -np.sign(gradient[new]))
            values = _settled(self.C.block(support), c[support], penalty, values, signs)
            support, values = support[values != 0], values[values != 0]
        return support, values


def _settled(C: np.ndarray, c: np.ndarray, penalty: float, values: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The lasso on a few labels, (a,), from a point and the signs to begin with."""

    def objective(s: np.ndarray) -> float:
        return float(s @ (C @ s) / 2 - c @ s + penalty * np.abs(s).sum())

    live = np.ones(len(c), dtype=bool)
    for _ in range(MOST_STEPS):
        wanted = np.zeros(len(c))
        wanted[live] = _solution(C[np.ix_(live, live)], c[live] - penalty * signs[live])
        if (wanted[live] * signs[live] > 0).all():
            return wanted
        crossing = np.flatnonzero((wanted * signs <= 0) & (values != 0) & live)
        steps = values[crossing] / (values[crossing] - wanted[crossing])
        ends = [np.where(np.arange(len(c)) == i, 0.0, values + t * (wanted - values)) for i, t in zip(crossing, steps, strict=True)]
        best = min([wanted, *ends], key=objective)
        if objective(best) >= objective(values):
            return values
        values, live, signs = best, best != 0, np.sign(best)
    return values


def _solution(C: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Solution of C s = target, the shortest where labels depend on each other."""
    try:
        found = np.linalg.solve(C, target)
        if np.abs(C @ found - target).max(initial=0.0) <= 1e-10 * np.abs(target).max(initial=0.0):
            return found
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(C, target, rcond=1e-12)[0]


def _expanded(found: list[Column], groups: Groups, penalty: np.ndarray, squares: np.ndarray) -> sparse.csc_array:
    """S of all labels from the S of one label of each group, as :func:`skcamel.correlation.expand` has it."""
    q, size, sign = len(squares), groups.size, groups.sign
    members = np.split(np.argsort(groups.group, kind="stable"), np.cumsum(size[groups.first])[:-1])
    rows: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for j in range(q):
        if size[j] > 1:
            own = members[groups.group[j]]
            own = own[own != j]
            amount = max(0.0, 1 - penalty[j] / squares[j]) / (size[j] - 1)
            rows.append(own)
            values.append(sign[own] * sign[j] * amount)
        else:
            column = found[groups.group[j]]
            whole = [members[k] for k in column.support]
            counts = np.array([len(part) for part in whole], dtype=np.intp)
            own = np.concatenate([*whole, np.zeros(0, dtype=np.intp)])
            rows.append(own)
            values.append(sign[own] * np.repeat(column.values / np.maximum(counts, 1), counts))
    ends = np.concatenate([[0], np.cumsum([len(part) for part in rows])])
    S = sparse.csc_array((np.concatenate(values), np.concatenate(rows), ends), shape=(q, q))
    S.sort_indices()
    S.eliminate_zeros()
    return S
