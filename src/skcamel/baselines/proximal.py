"""The early-stopped accelerated proximal sequence that LLSF and JFSC share, for many candidates at a time, in numpy or torch.

Weights of C candidates are one array (d, C, q): seen as (d, C·q) one product with X serves all of
them, and seen as (d·C, q) one with
the label matrix R.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, dense, namespace, to_device, to_numpy

MAX_ITER = 100
TOL = 1e-4
IN_CACHE, ON_DEVICE = 2**25, 2**32  # bytes of the arrays of candidates that are iterated together


class End(NamedTuple):
    """Where the sequence of a candidate ended."""

    W: np.ndarray  # (q, d)
    n_iter: int
    value: float  # monitored, of the last iterate


class Problem:
    """Training data ready for any number of candidates: rows X (n, d), targets Y (n, q) and cosine distances R (q, q) of the labels.

    A subclass names the penalties of a candidate: the last is that of the ridge regression from
    which the sequence starts, the one before
    it that of the l1 norm.
    """

    PENALTIES: ClassVar[tuple[str, ...]]
    bytes_each: int  # of the arrays that a candidate takes

    def __init__(self, X: Array, R: np.ndarray, ridge: Ridge, device: Any = None) -> None:
        self.X, self.R, self.ridge, self.device = (
            to_device(X, device),
            to_device(R, device),
            ridge,
            device,
        )
        self.label_norm = float(np.linalg.norm(R, 2))
        self.penalties: dict[str, Array] = {}  # (C, 1) each

    def products(self, W: Array) -> tuple[Array, ...]:
        """What gradient and value are made of, each affine in W (d, C, q)."""
        raise NotImplementedError

    def gradient(
        self, V: Array, at_V: tuple[Array, ...], latest: tuple[Array, ...]
    ) -> tuple[Array, Array]:
        """Gradient at V and step constants L (C, 1), from the products at V and at the latest iterate."""
        raise NotImplementedError

    def value(self, W: Array, products: tuple[Array, ...]) -> Array:
        """The monitored value of each candidate, (C,)."""
        raise NotImplementedError

    def related(self, W: Array) -> Array:
        """W R."""
        return (W.reshape(-1, W.shape[2]) @ self.R).reshape(W.shape)

    def keep(self, kept: np.ndarray) -> None:
        """Go on with these candidates alone."""
        self.penalties = {name: values[kept] for name, values in self.penalties.items()}

    def solve(
        self,
        candidates: Sequence[Mapping[str, Any]],
        *,
        max_iter: int = MAX_ITER,
        tol: float = TOL,
        accelerated: bool = True,
    ) -> Iterator[End]:
        """The end of the sequence of each candidate; as many are iterated together as stay in the cache."""
        size = max(1, (IN_CACHE if self.device is None else ON_DEVICE) // self.bytes_each)
        for first in range(0, len(candidates), size):
            part = self._of(candidates[first : first + size])
            yield from part._run(max_iter, tol, accelerated)

    def _of(self, candidates: Sequence[Mapping[str, Any]]) -> Self:
        """The same problem with penalties."""
        own = copy(self)
        columns = {
            name: [[float(candidate[name])] for candidate in candidates] for name in self.PENALTIES
        }
        own.penalties = {
            name: to_device(np.array(column), self.device) for name, column in columns.items()
        }
        return own

    def _run(self, max_iter: int, tol: float, accelerated: bool) -> list[End]:
        """Iterate every candidate until its own stop.

        A candidate stops after `max_iter` iterations, when its monitored value changes by at most
        `tol` (the value before
        the first iteration counts as 0), or when that value is not positive; its latest iterate is
        the answer. With
        a_0 = a_1 = 1 and a_{t+1} = (1 + sqrt(1 + 4 a_t²)) / 2 the momentum of iteration t is
        (a_{t-1} - 1) / a_t, 0 in the
        first two, and always where the sequence is not accelerated.
        """
        *_, l1, of_start = self.PENALTIES
        start = self.ridge.stacked(to_numpy(self.penalties[of_start]).ravel())
        ends = [End(W.T, 0, 0.0) for W in start.transpose(1, 0, 2)]
        W = before = to_device(start, self.device)
        products = products_before = self.products(W)
        values, index = np.zeros(len(ends)), np.arange(len(ends))
        a_before, a = 1.0, 1.0
        for t in range(1, max_iter + 1):
            momentum = (a_before - 1) / a if accelerated else 0.0
            a_before, a = a, (1 + math.sqrt(1 + 4 * a**2)) / 2
            V = W + momentum * (W - before)
            at_V = tuple(
                now + momentum * (now - past)
                for now, past in zip(products, products_before, strict=True)
            )
            gradient, L = self.gradient(V, at_V, products)
            before, products_before = W, products
            W = soft(V - gradient / L, self.penalties[l1] / L)
            products = self.products(W)
            reached = to_numpy(self.value(W, products))
            stops = (np.abs(reached - values) <= tol) | (reached <= 0) | (t == max_iter)
            values = reached
            for c in np.flatnonzero(stops):
                ends[index[c]] = End(to_numpy(W[:, c]).T, t, float(values[c]))
            if stops.any():
                kept = np.flatnonzero(~stops)
                values, index = values[kept], index[kept]
                W, before = W[:, kept], before[:, kept]
                products, products_before = (
                    tuple(x[:, kept] for x in all_) for all_ in (products, products_before)
                )
                self.keep(kept)
            if not len(index):
                break
        return ends


def soft(U: Array, threshold: Array) -> Array:
    """Entries drawn towards 0 by a threshold."""
    return U - namespace(U).clip(U, -threshold, threshold)


def product(A: Array, W: Array) -> Array:
    """A matrix times W (d, C, q) of all candidates."""
    return (A @ W.reshape(len(W), -1)).reshape(-1, *W.shape[1:])


def rooted(X: Array, weights: np.ndarray | None) -> Array:
    """Rows times the roots of their weights, (n, ...): their products are weighted sums.

    >>> rooted(np.array([[1.0], [2.0]]), np.array([4.0, 1.0])).ravel()
    array([2., 2.])
    """
    if weights is None:
        return X
    root = np.sqrt(weights)
    return (
        sparse.csr_array(sparse.diags_array(root) @ X) if sparse.issparse(X) else root[:, None] * X
    )


def label_distance(Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """R (q, q): cosine distance between the columns of Y (n, q) in {0, 1}, 0 on the diagonal; rows may be weighted.

    Machine epsilon is added to Y, so that an empty label has cosine sqrt(positives of k / n) with
    label k.
    """
    shifted = rooted(Y + np.finfo(np.float64).eps, weights)
    units = shifted / np.linalg.norm(shifted, axis=0)
    R = np.maximum(1 - units.T @ units, 0)
    np.fill_diagonal(R, 0)
    return (R + R.T) / 2


class Ridge:
    """Ridge regression of Y on X for any penalty from one decomposition of the smaller Gram matrix, and ||X'X||_2.

    >>> ridge = Ridge(np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]]))
    >>> ridge.weights(1.0), round(ridge.norm, 12)  # 3 / (5 + 1)
    (array([[0.5]]), 5.0)
    """

    def __init__(self, X: Array, Y: np.ndarray) -> None:
        self.is_wide = X.shape[1] > X.shape[0]
        self.gram = dense(X @ X.T if self.is_wide else X.T @ X)
        eigenvalues, self.vectors = np.linalg.eigh(self.gram)
        self.eigenvalues = np.maximum(eigenvalues, 0)
        self.norm = float(self.eigenvalues[-1])
        self.X = X
        self.targets = self.vectors.T @ (Y if self.is_wide else X.T @ Y)

    def weights(self, penalty: float) -> np.ndarray:
        """(X'X + penalty I)^{-1} X'Y, (d, q)."""
        dual = self.vectors @ (self.targets / (self.eigenvalues + penalty)[:, None])
        return self.X.T @ dual if self.is_wide else dual

    def stacked(self, penalties: np.ndarray) -> np.ndarray:
        """Weights of each penalty side by side, (d, C, q); equal penalties are solved once."""
        distinct, index = np.unique(penalties, return_inverse=True)
        return np.take(
            np.stack([self.weights(penalty) for penalty in distinct], axis=1), index, axis=1
        )
