"""The early-stopped accelerated proximal sequence that LLSF and JFSC share, for many candidates at a time.

Weights of C candidates are stacked as an array (q, C, d): seen as (q·C, d) one product applies X'X to all of them, seen as
(q, C·d) one product applies the label matrix R.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from skcamel.arrays import Array, allowed_threads, cast, to_device
from skcamel.rows import dense

MAX_ITER = 100
TOL = 1e-4
SMALLEST_RESIDUAL = 1e-3  # shorter residuals weigh as much as this one
POWER_TOL = 1e-8  # 1 - cos of a direction and its image under X'DX at which power iteration ends
POWER_STEPS = 200
MEMORY_BUDGET = 2**25  # bytes of working arrays of all batches at work: larger ones leave the cache and are no faster


class State(Protocol):
    """Candidates on their way: what :func:`run` needs to know of an objective."""

    W: np.ndarray  # (q, C, d) the latest iterate

    def step(self, momentum: float) -> np.ndarray:
        """Move to the next iterate and return the monitored value of each candidate, (C,)."""
        ...

    def keep(self, kept: np.ndarray) -> None:
        """Go on with these candidates alone."""
        ...


class Run(NamedTuple):
    """Where the sequences ended."""

    W: np.ndarray  # (q, C, d)
    n_iter: np.ndarray  # (C,)
    values: np.ndarray  # (C,) monitored value of the last iterate


def run(state: State, *, max_iter: int = MAX_ITER, tol: float = TOL, accelerated: bool = True) -> Run:
    """Iterate every candidate, from a state at its start, until its own stop.

    A candidate stops after `max_iter` iterations, when its monitored value changes by at most `tol` (the value before
    the first iteration counts as 0), or when that value is not positive; its latest iterate is the answer. With
    a_0 = a_1 = 1 and a_{t+1} = (1 + sqrt(1 + 4 a_t²)) / 2 the momentum of iteration t is (a_{t-1} - 1) / a_t, 0 in the
    first two, and always where the sequence is not accelerated.
    """
    W, n_iter = state.W.copy(), np.zeros(state.W.shape[1], dtype=np.int64)
    values = np.zeros(W.shape[1])
    index = np.arange(W.shape[1])  # candidate of each column that the state still holds
    running = np.ones(W.shape[1], dtype=bool)
    before, now = 1.0, 1.0
    for t in range(1, max_iter + 1):
        reached = state.step((before - 1) / now if accelerated else 0.0)
        before, now = now, (1 + math.sqrt(1 + 4 * now**2)) / 2  # a Python float, beside which arrays keep their precision
        stops = (np.abs(reached - values[index]) <= tol) | (reached <= 0)
        stops = running & (stops if t < max_iter else True)
        values[index[running]], n_iter[index[running]] = reached[running], t
        if stops.any():
            W[:, index[stops]] = state.W[:, stops]
        running &= ~stops
        if not running.any():
            break
        if running.mean() < 0.9:  # copying costs about as much as a step
            state.keep(running)
            index, running = index[running], running[running]
    return Run(W, n_iter, values)


class Arithmetic(NamedTuple):
    """How iterates are computed: in numpy, or on a device as torch tensors."""

    dtype: type[np.floating] = np.float64
    device: str | None = None


DOUBLE = Arithmetic()


class Problem:
    """Training data ready for any number of candidates: rows X (n, d) and cosine distances R (q, q) of the labels.

    Iterates are of the given arithmetic. Their starts and step constants are computed in double precision, and monitored values are
    summed in it.

    A subclass says in `state` how candidates go on, in `groups` which may be solved together, and in `bytes_each` what one takes.
    """

    state: ClassVar[Any]  # class of a State, made from the problem and the penalties
    state_on_device: ClassVar[Any]  # the same with tensors
    bytes_each: int  # of working arrays

    def __init__(self, X: Array, R: np.ndarray, arithmetic: Arithmetic = DOUBLE) -> None:
        self.dtype, self.device = np.dtype(arithmetic.dtype), arithmetic.device
        self.X, self.R = X, R
        self.label_norm = float(np.linalg.norm(R, 2))

    def groups(self, penalties: Any) -> list[np.ndarray]:
        """Indices of the candidates that may be solved together."""
        return [np.arange(len(penalties[0]))]

    def tensor(self, x: np.ndarray) -> Array:
        """An array on the device of the iterates, in their precision."""
        return cast(to_device(x, self.device), self.dtype.name)

    def _start(self, penalties: Any) -> State:
        """Candidates at their start."""
        return (self.state if self.device is None else self.state_on_device)(self, penalties)

    def solve(self, penalties: Any, *, max_iter: int = MAX_ITER, tol: float = TOL, accelerated: bool = True) -> Run:
        """The sequences of all candidates, those of a group in one batch; penalties are a named tuple of arrays (C,)."""
        n_candidates = len(penalties[0])
        W = np.empty((len(self.R), n_candidates, self.X.shape[1]), dtype=self.dtype)
        whole = Run(W, np.zeros(n_candidates, dtype=np.int64), np.zeros(n_candidates))
        for index in self.groups(penalties):
            end = run(self._start(part(penalties, index)), max_iter=max_iter, tol=tol, accelerated=accelerated)
            whole.W[:, index], whole.n_iter[index], whole.values[index] = end
        return whole

    def solve_batches(self, penalties: Any, *, max_iter: int, tol: float, budget: int = MEMORY_BUDGET) -> Iterator[tuple[np.ndarray, Run]]:
        """The same in batches that keep the working arrays within `budget` bytes: indices of candidates, and their run.

        Products of one batch are small, and threads that share one would wait for each other; so each batch has a core to itself,
        also for the passes between the products. At most as many batches run as there are cores.
        """

        def end(index: np.ndarray) -> Run:
            return run(self._start(part(penalties, index)), max_iter=max_iter, tol=tol)

        if self.device is not None:  # memory there is plenty, and starting many small products is what takes time
            yield from ((group, end(group)) for group in self.groups(penalties))
            return
        waiting: deque[tuple[np.ndarray, Future[Run]]] = deque()
        threads = allowed_threads()
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            for group in self.groups(penalties):
                for batch in batches(len(group), self.bytes_each, budget // threads):
                    if len(waiting) == threads:
                        yield _first(waiting)
                    waiting.append((group[batch], pool.submit(end, group[batch])))
            while waiting:
                yield _first(waiting)


def _first(waiting: deque[tuple[np.ndarray, Future[Run]]]) -> tuple[np.ndarray, Run]:
    """Indices and run of the batch that was begun first; nothing else holds the run then."""
    index, future = waiting.popleft()
    return index, future.result()


def part(penalties: Any, index: np.ndarray) -> Any:
    """The penalties of some candidates."""
    return type(penalties)(*(values[index] for values in penalties))


def batches(n_candidates: int, bytes_each: int, budget: int) -> Iterator[np.ndarray]:
    """Indices of candidates in order, as many at a time as the budget allows, at least one."""
    size = max(1, budget // max(1, bytes_each))
    return (np.arange(first, min(first + size, n_candidates)) for first in range(0, n_candidates, size))


def rooted(X: Array, weights: np.ndarray | None) -> Array:
    """Rows times the roots of their weights, (n, ...): their products are weighted sums.

    >>> rooted(np.array([[1.0], [2.0]]), np.array([4.0, 1.0])).ravel()
    array([2., 2.])
    """
    if weights is None:
        return X
    root = np.sqrt(weights)
    return sparse.csr_array(sparse.diags_array(root) @ X) if sparse.issparse(X) else root[:, None] * X


def label_distance(Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """R (q, q): cosine distance between the columns of Y (n, q) in {0, 1}, 0 on the diagonal; rows may be weighted.

    Machine epsilon is added to Y, so that an empty label has cosine sqrt(positives of k / n) with label k.
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

    def __init__(self, X: np.ndarray, Y: np.ndarray) -> None:
        self.is_wide = X.shape[1] > X.shape[0]
        gram = dense(X @ X.T if self.is_wide else X.T @ X)
        eigenvalues, self.vectors = np.linalg.eigh(gram)
        self.eigenvalues = np.maximum(eigenvalues, 0)
        self.norm = float(self.eigenvalues[-1])
        self.gram = None if self.is_wide else gram
        self.X = X
        self.targets = self.vectors.T @ (Y if self.is_wide else X.T @ Y)

    def weights(self, penalty: float) -> np.ndarray:
        """(X'X + penalty I)^{-1} X'Y, transposed: (q, d)."""
        dual = self.vectors @ (self.targets / (self.eigenvalues + penalty)[:, None])
        return np.ascontiguousarray((self.X.T @ dual if self.is_wide else dual).T)

    def stacked(self, penalties: Sequence[float] | np.ndarray) -> np.ndarray:
        """Weights of each penalty side by side, (q, C, d); equal penalties are solved once."""
        distinct, index = np.unique(np.asarray(penalties), return_inverse=True)
        return np.take(np.stack([self.weights(penalty) for penalty in distinct], axis=1), index, axis=1)
