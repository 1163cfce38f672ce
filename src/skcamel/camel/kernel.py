"""X ► K: kernels of the rows, and the bandwidth σ as the mean distance between rows.

A kernel is a radial function of one of three distances, so that one distance matrix serves every bandwidth:

    rbf          exp(-||x - y||² / (2σ²))      the paper's, σ = mean Euclidean distance
    exponential  exp(-||x - y|| / σ)           σ = mean Euclidean distance
    laplacian    exp(-||x - y||₁ / σ)          σ = mean L1 distance
    linear       xᵀy                           no bandwidth

X may be a numpy array, a torch tensor or a scipy sparse matrix in canonical CSR form; K is always dense. Squared distances
come from one matrix product, which loses digits where rows are close to each other and far from the origin: rows are
expected around it (:meth:`skcamel.camel.scaling.Scaling.centred`), and pairs that are close all the same are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from skcamel.arrays import Array, allowed_threads, cast, is_tensor, namespace, nonzero, to_match, to_numpy

RADIAL = ("rbf", "laplacian", "exponential")
NAMES = (*RADIAL, "linear", "precomputed")
BY_PRODUCT = ("rbf", "exponential", "linear")  # made of inner products, so that an origin far away costs digits
ROUNDING = 16 * np.finfo(np.float64).eps  # of a squared distance by one matrix product, relative to the squared norms
NEAR = 1e-6  # squared distances below this share of the squared norms have lost too many digits
SMALLEST = 1e-140  # features below it have squares that vanish or lose digits
BLOCK_BYTES = 2**26  # rows of a distance block are chosen to fill about 64 MiB
THIN = 0.05  # share of entries below which work on the entries of sparse rows beats work on all columns
FEW = 16  # new rows; preparing the training rows costs more than it saves for fewer
SOON_DONE = 2**22  # absolute differences; threads take longer to start than one takes for fewer


@dataclass(frozen=True)
class Kernel:
    """A kernel with its bandwidth.

    Parameters
    ----------
    name : one of `NAMES`, or a callable ``(X1, X2) -> (n1, n2)``
    bandwidth : float, default=1.0
        σ; without effect on kernels that are not radial.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0]])
    >>> Kernel("rbf", bandwidth_of(distances("rbf", X, X)))(X, X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    name: str | Callable[[Array, Array], Array]
    bandwidth: float = 1.0

    def __call__(self, X1: Array, X2: Array) -> Array:
        """Kernel matrix of shape (n1, n2)."""
        if self.name == "precomputed":
            return X1
        if callable(self.name):
            return _checked(self.name(X1, X2), len_of(X1), len_of(X2))
        if self.name == "linear":
            return _inner(X1, X2)
        if self.name == "rbf":
            D, norms1, norms2 = _scaled_squares(X1, X2, -0.5 / self.bandwidth**2)
            if ROUNDING * float(-norms1.min() - norms2.min()) < 1e-10:  # else rounding matters to so narrow a kernel
                return namespace(D).exp(D, out=D)
            del D
        return self.of_distances(distances(self.name, X1, X2))

    def of_distances(self, D: Array) -> Array:
        """Radial kernel from the distances that :func:`distances` gives; D is overwritten."""
        D *= -0.5 / self.bandwidth**2 if self.name == "rbf" else -1 / self.bandwidth
        return namespace(D).exp(D, out=D)


class Against:
    """Kernels of many blocks of rows with the same rows Z (m, d): what depends on Z alone is computed once.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
    >>> bool(np.allclose(Against(Kernel("rbf"), X)(X[:1]), Kernel("rbf")(X[:1], X)))
    True
    """

    def __init__(self, kernel: Kernel, Z: Array) -> None:
        self.kernel, self.Z, self.factors = kernel, Z, None
        if kernel.name == "rbf" and not sparse.issparse(Z):
            # -||x - z||² / 2σ² is one product: (x, ||x||², 1) with (z / σ², -1 / 2σ², -||z||² / 2σ²)
            half, norms = -0.5 / kernel.bandwidth**2, _squared_norms(Z)
            xp = namespace(Z)
            self.factors = xp.concatenate([-2 * half * Z.T, half * xp.ones_like(norms)[None], half * norms[None]])
            self.half, self.largest, self.memory = half, float(norms.max()), self.factors[:0]

    def __call__(self, X: Array) -> Array:
        """Kernel matrix (b, m) of rows X (b, d), free to be overwritten, as the next call may do."""
        if self.factors is None or sparse.issparse(X):
            return self.kernel(X, self.Z)
        norms, xp = _squared_norms(X)[:, None], namespace(X)
        if ROUNDING * -self.half * (float(norms.max()) + self.largest) >= 1e-10:  # rounding matters to so narrow a kernel
            return self.kernel(X, self.Z)
        rows = xp.concatenate([X, norms, xp.ones_like(norms)], axis=1)
        if len(rows) > len(self.memory):
            self.memory = D = rows @ self.factors
        else:
            D = xp.matmul(rows, self.factors, out=self.memory[: len(rows)])
        return xp.exp(D, out=D)


def distances(name: str, X1: Array, X2: Array) -> Array:
    """The distance that the radial kernel `name` is a function of, (n1, n2): squared for "rbf", L1 for "laplacian"."""
    if name == "laplacian":
        return _l1(X1, X2)
    D = _squared_l2(X1, X2)
    return D if name == "rbf" else namespace(D).sqrt(D, out=D)


def bandwidth_of(D: Array, *, squared: bool = True, weights: Array | None = None, rounding: float = 0.0) -> float:
    """Mean distance over all ordered pairs of different rows.

    Parameters
    ----------
    D : array of shape (n, n)
        Distances of the rows to themselves, squared if `squared`.
    weights : array of shape (n,), default=None
        Integer weights count a row that often, so that a row with weight 3 forms 6 ordered pairs with itself.
    rounding : float, default=0.0
        A mean distance up to this is no distance.

    Returns
    -------
    float
        σ, or 1 where no pair of rows differs.
    """
    xp = namespace(D)
    if weights is None:
        total = _sum_of_distances(D, squared)
    else:
        total = float(weights @ (xp.sqrt(D) if squared else D) @ weights)
    return _mean_of_pairs(total, len(D), weights, rounding)


def _mean_of_pairs(total: float, n: int, weights: Array | None, rounding: float) -> float:
    """The mean of distances of n rows from their sum over all ordered pairs; 1 where it is no more than `rounding`."""
    if weights is None:
        pairs = n * (n - 1.0)
    else:
        pairs = float(weights.sum()) ** 2 - float(namespace(weights).where(weights < 1, weights**2, weights).sum())
    sigma = total / pairs if pairs > 0 else 0.0
    return sigma if sigma > rounding else 1.0


def fitted(
    name: str | Callable[[Array, Array], Array],
    X: Array,
    *,
    bandwidth: float | str = "mean",
    weights: Array | None = None,
    rounding: float = 0.0,
) -> tuple[Kernel, Array]:
    """The kernel with its bandwidth ("mean" or a number) resolved, and the kernel matrix of X with itself, (n, n)."""
    if isinstance(bandwidth, str) or name not in RADIAL:
        return next(fitted_many(name, X, [1.0], weights=weights, rounding=rounding))
    kernel = Kernel(name, float(bandwidth))
    return kernel, kernel(X, X)


def fitted_many(
    name: str | Callable[[Array, Array], Array],
    X: Array,
    multipliers: Sequence[float],
    *,
    weights: Array | None = None,
    rounding: float = 0.0,
) -> Iterator[tuple[Kernel, Array]]:
    """Kernel and kernel matrix for each multiple of the mean bandwidth; the distances are computed once."""
    if name not in RADIAL:
        K = Kernel(name)(X, X)
        yield Kernel(name), (cast(K, "float64") + 0.0 if name == "precomputed" else K)  # overwritten later; that belongs to others
        return
    D = distances(str(name), X, X)
    _check_not_vanished(bool((D > 0).any()), X)
    sigma = bandwidth_of(D, squared=name == "rbf", weights=weights, rounding=rounding)
    for k, multiplier in enumerate(multipliers):
        kernel = Kernel(name, multiplier * sigma)
        yield kernel, kernel.of_distances(D if k == len(multipliers) - 1 else D + 0.0)


def mean_distance(name: str, X: Array, *, weights: Array | None = None, rounding: float = 0.0) -> float:
    """What :func:`bandwidth_of` gives for all pairs of rows X (n, d), in blocks: no matrix of n x n is formed.

    >>> mean_distance("laplacian", np.array([[0.0], [1.0], [2.0]])).__round__(6)
    1.333333
    """
    n, w = len_of(X), weights
    total, size = 0.0, max(1, BLOCK_BYTES // (8 * max(1, n)))
    for i in range(0, n, size):
        D = distances(name, X[i : i + size], X)
        D = namespace(D).sqrt(D, out=D) if name == "rbf" else D
        total += float(namespace(D).sum(D)) if w is None else float(w[i : i + size] @ (D @ w))
    _check_not_vanished(total > 0, X)
    return _mean_of_pairs(total, n, w, rounding)


def _check_not_vanished(differ: bool, X: Array) -> None:
    """Refuse rows that do not `differ`, if that may be because their squared distances are 0 in floating point."""
    largest = float(abs(X).max()) if X.shape[0] and X.shape[1] else 0.0
    if 0 < largest < SMALLEST and not differ:
        raise ValueError(
            f"The features are too small: the largest is {largest:.1e}, and its square is 0. Use scaling='standard', or multiply X."
        )


def mean_eigenvalue(X: Array, weights: Array | None = None) -> float:
    """Trace of the centred linear kernel matrix of rows X (n, d), divided by the number of rows; 1 where all rows are equal.

    Examples
    --------
    >>> mean_eigenvalue(np.array([[1.0, 0.0], [3.0, 0.0]]))
    1.0
    """
    xp = np if sparse.issparse(X) else namespace(X)
    n = X.shape[0]
    share = xp.ones_like(_squared_norms(X)) / n if weights is None else weights / xp.sum(weights)
    mean = X.T @ share
    found = float(share @ _squared_norms(X)) - float(mean @ mean)
    return found if found > 0 else 1.0


def len_of(X: Array) -> int:
    """Number of rows, also of a sparse matrix."""
    return int(X.shape[0])


def _sum_of_distances(D: Array, squared: bool) -> float:
    """Sum of all distances, in blocks of rows: the square roots of the whole matrix would double its memory."""
    xp = namespace(D)
    rows = max(1, BLOCK_BYTES // (8 * max(1, D.shape[1])))
    blocks = (D[i : i + rows] for i in range(0, len(D), rows))
    return float(sum(xp.sum(xp.sqrt(block) if squared else block) for block in blocks))


def _inner(X1: Array, X2: Array) -> Array:
    """X1 X2ᵀ, dense; sparse rows in blocks, each made dense unless it is thin. Both ways add the same numbers in the same order."""
    if not sparse.issparse(X1):
        return X1 @ X2.T
    product = np.empty((X1.shape[0], X2.shape[0]))
    thin = X1.shape[0] >= FEW and _is_thin(X1)
    rows = max(1, BLOCK_BYTES // (8 * max(1, *X2.shape)))
    for i in range(0, X1.shape[0], rows):
        block = X1[i : i + rows]
        if thin:
            (block @ X2.T).toarray(out=product[i : i + rows])
        else:
            product[i : i + rows] = (X2 @ block.toarray().T).T
    return product


def _is_thin(X: sparse.csr_array) -> bool:
    return X.nnz < THIN * X.shape[0] * X.shape[1]


def _squared_norms(X: Array) -> Array:
    if sparse.issparse(X):
        return _sums_of_rows(X, X.data * X.data)
    return namespace(X).einsum("ij,ij->i", X, X)  # without a matrix of squares


def _sums_of_rows(X: sparse.csr_array, entries: np.ndarray) -> np.ndarray:
    """Sum of each row (n,) of a matrix that has these entries where X has its own."""
    return np.bincount(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), entries, minlength=X.shape[0])


def _squared_l2(X1: Array, X2: Array) -> Array:
    """||x - y||² by one matrix product, and by differences for pairs of rows that are close to each other."""
    D, norms1, norms2 = _scaled_squares(X1, X2, 1.0)
    farthest = NEAR * float(norms1.max() + norms2.max())  # no pair beyond is close
    rows = max(1, BLOCK_BYTES // (8 * max(1, D.shape[1])))
    for i in range(0, len(D), rows):
        block = D[i : i + rows]
        if float(block.min()) > farthest:
            continue
        first, second = nonzero(block <= NEAR * norms1[i : i + rows, None] + NEAR * norms2)
        equal = _are_equal(X1, X2, i + first, second)
        block[first[equal], second[equal]] = 0
        _by_differences(block, first[~equal], second[~equal], X1[i : i + rows], X2)
    return D


def _are_equal(X1: Array, X2: Array, first: Array, second: Array) -> Array:
    """Whether row first[k] of X1 is row second[k] of X2; only the contents of rows with a partner other than themselves are read."""
    if X1 is X2:
        equal = first == second
        equal[~equal] = _named_alike(X1, X2, first[~equal], second[~equal])
        return equal
    return _named_alike(X1, X2, first, second)


def _named_alike(X1: Array, X2: Array, first: Array, second: Array) -> Array:
    """The same by a number for each row that occurs: many pairs may share few rows."""
    numbers: dict[bytes, int] = {}
    named = []
    for X, index in ((X1, first), (X2, second)):
        rows, where = namespace(index).unique(index, return_inverse=True)
        named.append(to_match(np.array([numbers.setdefault(content, len(numbers)) for content in _contents(X[rows])]), index)[where])
    return named[0] == named[1]


def _contents(X: Array) -> Iterator[bytes]:
    """The bytes of each row; 0 and -0 are one number."""
    if sparse.issparse(X):
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return (X.indices[i:j].tobytes() + X.data[i:j].tobytes() for i, j in ends)
    return (row.tobytes() for row in to_numpy(X) + 0.0)


def _by_differences(D: Array, first: Array, second: Array, X1: Array, X2: Array) -> None:
    """Set D[first, second], in place, to the squared lengths of the differences of these rows."""
    size = max(1, BLOCK_BYTES // (32 * max(1, X2.shape[1])))
    for start in range(0, len(first), size):
        i, j = first[start : start + size], second[start : start + size]
        D[i, j] = _squared_norms(X1[i] - X2[j])


def _scaled_squares(X1: Array, X2: Array, scale: float) -> tuple[Array, Array, Array]:
    """Scale ||x - y||² up to rounding, with as few passes over the matrix as can be; and the scaled ||x||² and ||y||²."""
    same = X1 is X2
    norms1 = scale * _squared_norms(X1)
    norms2 = norms1 if same else scale * _squared_norms(X2)
    if same:  # numpy forms X Xᵀ in half the time
        D = _inner(X1, X2)
        D *= -2 * scale
    else:
        D = _inner(X1 * (-2 * scale), X2)
    D += norms1[:, None]
    D += norms2
    return D, norms1, norms2


def _l1(X1: Array, X2: Array) -> Array:
    """||x - y||₁; of many rows in {0, 1} as the squared Euclidean distance, which is the same integer."""
    is_sparse = sparse.issparse(X1)
    if (is_sparse or len(X1) >= FEW) and _is_binary(X1) and _is_binary(X2):
        return _squared_l2(X1, X2)
    if is_tensor(X1):
        return namespace(X1).cdist(X1, X2, p=1)
    if not is_sparse:
        return _l1_of_arrays(X1, X2)
    return _l1_of_entries(X1, X2) if X1 is not X2 and _is_thin(X2) else _l1_of_sparse(X1, X2)


def _l1_of_entries(X1: sparse.csr_array, X2: sparse.csr_array) -> np.ndarray:
    """The same from the entries alone: ||x||₁, and at each entry of y the difference |y - x| - |x|.

    Both sums run in the order of the columns, so that equal rows are at distance 0. Rows and themselves are left to the columns,
    whose matrix is symmetric to the last bit.
    """
    D = np.empty((X1.shape[0], X2.shape[0]))
    rows = max(1, BLOCK_BYTES * X2.shape[0] // (32 * max(1, X2.nnz)))  # a few numbers for each entry
    x, lengths = np.zeros(X1.shape[1]), _sums_of_rows(X1, abs(X1.data))
    for j in range(0, X2.shape[0], rows):
        block = X2[j : j + rows]
        for i in range(X1.shape[0]):
            own = slice(X1.indptr[i], X1.indptr[i + 1])
            x[X1.indices[own]] = X1.data[own]
            at = x[block.indices]
            D[i, j : j + rows] = lengths[i] + _sums_of_rows(block, abs(block.data - at) - abs(at))
            x[X1.indices[own]] = 0
    return D


def _l1_of_sparse(X1: sparse.csr_array, X2: sparse.csr_array) -> np.ndarray:
    """The same in blocks of those columns that have entries: distances add up over columns."""
    used = np.union1d(X1.indices, X2.indices)
    by_column1, by_column2 = (X[:, used].tocsc() for X in (X1, X2))
    width = max(1, BLOCK_BYTES // (8 * (X1.shape[0] + X2.shape[0])))
    D = np.zeros((X1.shape[0], X2.shape[0]))
    for i in range(0, len(used), width):
        D += _l1_of_arrays(by_column1[:, i : i + width].toarray(), by_column2[:, i : i + width].toarray())
    return D


def _l1_of_arrays(X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
    threads = 1 if X1.size * len(X2) < SOON_DONE else min(allowed_threads(), len(X1))
    if threads == 1:
        return cdist(X1, X2, "cityblock")
    D = np.empty((len(X1), len(X2)))
    rows = max(1, len(D) // (8 * threads))

    def fill(i: int) -> None:
        cdist(X1[i : i + rows], X2, "cityblock", out=D[i : i + rows])

    with ThreadPoolExecutor(threads) as pool:  # cdist gives up the interpreter lock
        list(pool.map(fill, range(0, len(D), rows)))
    return D


def _is_binary(X: Array) -> bool:
    values = X.data if sparse.issparse(X) else X
    return bool(((values == 0) | (values == 1)).all())


def _checked(K: Array, n1: int, n2: int) -> Array:
    """What a user's function returned, if it has the right shape, as floats that nobody else holds."""
    if getattr(K, "shape", None) != (n1, n2):
        raise ValueError(f"The kernel function returned shape {getattr(K, 'shape', None)}; it must return ({n1}, {n2}).")
    return cast(K, "float64") + 0.0
