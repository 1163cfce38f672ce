"""The early-stopped accelerated proximal sequence that LLSF and JFSC share, in numpy or torch.

Many candidates run together. Their weights are one array (d, C, q): seen as (d, C·q), one product
with X serves all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy import ndarray
from scipy import sparse

from skcamel.arrays import (
    Array,
    allowed_threads,
    dense,
    namespace,
    one_thread,
    to_device,
    to_numpy,
)

MAX_ITER = 100
TOL = 1e-4
THIN = 0.6  # share of rows of W that are not zero, below which a product leaves out the others
IN_CACHE, ON_DEVICE = 2**23, 2**32  # bytes of the arrays of candidates that run together

Candidates = Sequence[Mapping[str, Any]]
State = dict[str, Array]  # penalties of the candidates, (C, 1) each, and what else belongs to them
Products = tuple[Array, ...]


class End(NamedTuple):
    """Where the sequence of a candidate ended."""

    W: ndarray  # (q, d)
    n_iter: int


class Problem:
    """Training rows X (n, d) and cosine distances R (q, q) of the labels, for any candidates.

    A subclass names the penalties of a candidate: the last is that of the ridge regression from
    which the sequence starts, the one before it that of the l1 norm.
    """

    PENALTIES: ClassVar[tuple[str, ...]]

    def __init__(self, X: Array, R: ndarray, ridge: Ridge, device: Any, rows: int) -> None:
        self.X = to_device(X, device)
        self.R = to_device(R, device)
        self.ridge = ridge
        self.device = device
        self.label_norm = float(np.linalg.norm(R, 2))
        self.bytes_each = 8 * len(R) * (rows + 10 * X.shape[1])

    def state(self, candidates: Candidates) -> State:
        """What belongs to each candidate, its first axis running over them."""
        state = {}
        for name in self.PENALTIES:
            column = np.array([[float(candidate[name])] for candidate in candidates])
            state[name] = to_device(column, self.device)
        return state

    def products(self, W: Array, state: State) -> Products:
        """What gradient and value are made of, each affine in W."""
        raise NotImplementedError

    def gradient(self, V: Array, at_V: Products, latest: Products, state: State) -> Products:
        """Gradient at V and step constants L (C, 1), by products of V and of the latest iterate."""
        raise NotImplementedError

    def value(self, W: Array, products: Products, state: State) -> Array:
        """The monitored value of each candidate, (C,)."""
        raise NotImplementedError

    def solve(
        self, candidates: Candidates, *, max_iter: int = MAX_ITER, tol: float = TOL
    ) -> Iterator[End]:
        """The end of the sequence of each candidate; as many run together as stay in the cache."""
        budget = IN_CACHE if self.device is None else ON_DEVICE
        size = max(1, budget // self.bytes_each)
        parts = [candidates[first : first + size] for first in range(0, len(candidates), size)]
        n_threads = 1
        if self.device is None and len(parts) > 1:
            n_threads = allowed_threads()
        parallel = Parallel(n_threads, prefer="threads", return_as="generator")
        with one_thread() if n_threads > 1 else nullcontext():
            for ends in parallel(delayed(self._run)(part, max_iter, tol) for part in parts):
                yield from ends

    def _run(self, candidates: Candidates, max_iter: int, tol: float) -> list[End]:
        """Run every candidate until its own stop.

        A candidate stops after `max_iter` iterations, when its monitored value changes by at most
        `tol` (the value before the first iteration counts as 0), or when that value is not
        positive. With a_0 = a_1 = 1 and a_{t+1} = (1 + sqrt(1 + 4 a_t²)) / 2 the momentum of
        iteration t is (a_{t-1} - 1) / a_t.
        """
        *_, l1, of_start = self.PENALTIES
        state = self.state(candidates)
        start = self.ridge.stacked(to_numpy(state[of_start])[:, 0].tolist())
        ends = [End(start[:, c].T, 0) for c in range(len(candidates))]
        index = np.arange(len(ends))
        values = np.zeros(len(ends))
        W = to_device(start, self.device)
        now = before = (W, *self.products(W, state))
        a_before = a = 1.0
        for t in range(1, max_iter + 1):
            momentum = (a_before - 1) / a
            a_before = a
            a = (1 + math.sqrt(1 + 4 * a**2)) / 2
            ahead = [new + momentum * (new - old) for new, old in zip(now, before, strict=True)]
            V, *at_V = ahead
            gradient, L = self.gradient(V, tuple(at_V), now[1:], state)
            W = soft(V - gradient / L, state[l1] / L)
            before = now
            now = (W, *self.products(W, state))
            reached = to_numpy(self.value(W, now[1:], state))
            stops = (np.abs(reached - values) <= tol) | (reached <= 0) | (t == max_iter)
            for c in np.flatnonzero(stops):
                ends[index[c]] = End(to_numpy(W[:, c]).T, t)
            live = np.flatnonzero(~stops)
            if not len(live):
                break
            values = reached[live]
            if len(live) < len(index):
                index = index[live]
                state = {name: own[live] for name, own in state.items()}
                now = tuple(part[:, live] for part in now)
                before = tuple(part[:, live] for part in before)
        return ends


def soft(U: Array, threshold: Array) -> Array:
    """Entries drawn towards 0 by a threshold."""
    return U - namespace(U).clip(U, -threshold, threshold)


def product(A: Array, W: Array) -> Array:
    """A matrix times W (d, C, q) of all candidates; columns of A that meet zeros are left out."""
    flat = W.reshape(len(W), -1)
    if isinstance(W, ndarray):
        used = flat.any(axis=1)
        if used.mean() < THIN:
            A = A[:, used]
            flat = flat[used]
    return (A @ flat).reshape(-1, *W.shape[1:])


def related(W: Array, R: Array) -> Array:
    """W R of all candidates."""
    return (W.reshape(-1, W.shape[2]) @ R).reshape(W.shape)


def inner(V: Array, W: Array) -> Array:
    """Inner product of the weights of each candidate, (C,)."""
    return namespace(V).einsum("dcq,dcq->c", V, W)


def rooted(X: Array, weights: ndarray | None) -> Array:
    """Rows times the roots of their weights, (n, ...): their products are weighted sums.

    >>> rooted(np.array([[1.0], [2.0]]), np.array([4.0, 1.0])).ravel()
    array([2., 2.])
    """
    if weights is None:
        return X
    root = np.sqrt(weights)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(root) @ X)
    return root[:, None] * X


def label_distance(Y: ndarray, weights: ndarray | None = None) -> ndarray:
    """R (q, q): cosine distance between the columns of Y (n, q) in {0, 1}, 0 on the diagonal.

    Machine epsilon is added to Y, so that an empty label has cosine sqrt(positives of k / n) with
    label k.
    """
    moved = rooted(Y + np.finfo(np.float64).eps, weights)
    units = moved / np.linalg.norm(moved, axis=0)
    R = np.maximum(1 - units.T @ units, 0)
    np.fill_diagonal(R, 0)
    return (R + R.T) / 2


class Ridge:
    """Ridge regression of Y on X for any penalty from one decomposition, and ||X'X||_2.

    >>> ridge = Ridge(np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]]))
    >>> ridge.stacked([1.0]).ravel(), round(ridge.norm, 12)  # 3 / (5 + 1)
    (array([0.5]), 5.0)
    """

    def __init__(self, X: Array, Y: ndarray) -> None:
        self.X = X
        self.is_wide = X.shape[1] > X.shape[0]
        gram = X @ X.T if self.is_wide else X.T @ X
        eigenvalues, self.vectors = np.linalg.eigh(dense(gram))
        self.eigenvalues = np.maximum(eigenvalues, 0)
        self.norm = float(self.eigenvalues[-1])
        self.targets = self.vectors.T @ (Y if self.is_wide else X.T @ Y)

    def stacked(self, penalties: Sequence[float]) -> ndarray:
        """(X'X + penalty I)^{-1} X'Y for each penalty, (d, C, q)."""
        solved = []
        for penalty in penalties:
            dual = self.vectors @ (self.targets / (self.eigenvalues + penalty)[:, None])
            solved.append(self.X.T @ dual if self.is_wide else dual)
        return np.stack(solved, axis=1)
