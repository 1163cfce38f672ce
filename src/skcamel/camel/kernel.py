"""X ► K: kernels of the rows, and the bandwidth σ as the mean distance between rows.

A kernel is a radial function of one of three distances, so that one distance matrix serves every
bandwidth:

    rbf          exp(-||x - y||² / (2σ²))      the paper's, σ = mean Euclidean distance
    exponential  exp(-||x - y|| / σ)           σ = mean Euclidean distance
    laplacian    exp(-||x - y||₁ / σ)          σ = mean L1 distance
    linear       xᵀy                           no bandwidth

X may be a numpy array, a torch tensor or a scipy sparse matrix in canonical CSR form; K is always
dense. Squared distances come from one matrix product, which loses digits where rows are close to
each other and far from the origin: rows are expected around it
(:func:`skcamel.camel.scaling.fitted`), and pairs that are close all the same are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from skcamel.arrays import (
    EPS,
    Array,
    MaybeArray,
    allowed_threads,
    as_floats,
    dense,
    is_tensor,
    namespace,
    overflow_allowed,
    slices,
    to_match,
)
from skcamel.checks import SMALLEST_DIVISOR, check_at_least

RADIAL = ("rbf", "laplacian", "exponential")
NAMES = (*RADIAL, "linear", "precomputed")
# made of inner products, so that an origin far away costs digits
BY_PRODUCT = ("rbf", "exponential", "linear")
ROUNDING = 16 * EPS  # of the length of a feature, relative to the largest
NEAR = 1e-6  # squared distances below this share of the squared norms have lost too many digits
SMALLEST = 1e-140  # features below it have squares that vanish or lose digits
BLOCK_ROWS = 256  # at a time: few enough to stay near the processor
BLOCK_BYTES = 2**26  # differences of pairs of rows at a time
# share of entries up to which L1 distances from the entries of sparse rows beat those of dense rows
THIN = 0.05
SOON_DONE = 2**22  # absolute differences; threads take longer to start than one takes for fewer


Name = str | Callable[[Array, Array], Array]  # one of `NAMES`, or (X1, X2) ► (n1, n2)


class Kernel(NamedTuple):
    """A kernel with its bandwidth.

    Parameters
    ----------
    name : one of `NAMES`, or a callable ``(X1, X2) -> (n1, n2)``
    bandwidth : float, default=1.0
        σ; without effect on kernels that are not radial.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0]])
    >>> Kernel("rbf", 2.0)(X, X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    name: Name
    bandwidth: float = 1.0
    stored = {"name": str, "bandwidth": float}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.name not in NAMES:
            raise ValueError(f"name must be one of {', '.join(NAMES)}, got {self.name!r}")
        check_at_least(self, bandwidth=SMALLEST_DIVISOR)

    @overflow_allowed
    def __call__(self, X1: Array, X2: Array) -> Array:
        """Kernel matrix of shape (n1, n2)."""
        if self.name == "precomputed":
            return X1
        if callable(self.name):
            K = self.name(X1, X2)
            expected = (X1.shape[0], X2.shape[0])
            found = getattr(K, "shape", None)
            if found != expected:
                raise ValueError(
                    f"The kernel function returned shape {found}; it must return {expected}."
                )
            return as_floats(K) + 0.0  # nobody else holds it
        if self.name == "linear":
            return dense(X1 @ X2.T)
        return self.of_distances(distances(self.name, X1, X2))

    @overflow_allowed
    def of_distances(self, D: Array) -> Array:
        """Radial kernel from the distances that :func:`distances` gives; D is overwritten."""
        D *= -0.5 / self.bandwidth**2 if self.name == "rbf" else -1 / self.bandwidth
        return namespace(D).exp(D, out=D)


@overflow_allowed
def distances(name: str, X1: Array, X2: Array) -> Array:
    """The distance (n1, n2) of a radial kernel: squared for "rbf", L1 for "laplacian"."""
    if name == "laplacian":
        return _l1(X1, X2)
    D = _squared_l2(X1, X2)
    if name == "rbf":
        return D
    return namespace(D).sqrt(D, out=D)


def fitted_many(
    name: Name,
    X: Array,
    multiples: Sequence[float] = (1.0,),
    *,
    sigma: float | None = None,
    weights: MaybeArray = None,
) -> Iterator[tuple[Kernel, Array]]:
    """Kernel and kernel matrix (n, n) for each multiple of σ, or of the mean distance."""
    if name not in RADIAL:
        K = Kernel(name)(X, X)
        if name == "precomputed":  # it will be overwritten, and belongs to others
            K = as_floats(K) + 0.0
        yield Kernel(name), K
        return
    D = distances(str(name), X, X)
    if sigma is None:
        sigma = mean_distance(str(name), X, D, weights=weights)
    for k, multiple in enumerate(multiples):
        kernel = Kernel(name, float(multiple * sigma))
        yield kernel, kernel.of_distances(D if k == len(multiples) - 1 else D + 0.0)


@overflow_allowed
def mean_distance(
    name: str, X: Array, D: MaybeArray = None, *, weights: MaybeArray = None
) -> float:
    """Mean distance over all ordered pairs of different rows of X (n, d); 1 where it is rounding.

    Unless their :func:`distances` D (n, n) are passed, these are computed in blocks of rows.
    Integer weights (n,) count a row that often, so that a row with weight 3 forms 6 ordered pairs
    with itself.

    >>> mean_distance("laplacian", np.array([[0.0], [1.0], [2.0]])).__round__(6)
    1.333333
    """
    n = X.shape[0]
    if weights is None:
        weights = to_match(np.ones(n), X)
    total = 0.0
    for rows in slices(n, BLOCK_ROWS):
        block = distances(name, X[rows], X) if D is None else D[rows]
        if name == "rbf":
            block = namespace(block).sqrt(block)
        total += float(weights[rows] @ (block @ weights))
    largest = float(abs(X).max())
    if total == 0 and 0 < largest < SMALLEST:
        raise ValueError(
            f"The features are too small: the largest is {largest:.1e}, and its square is 0. Use"
            " scaling='standard', or multiply X."
        )
    with_itself = namespace(weights).where(weights < 1, weights**2, weights)
    pairs = float(weights.sum()) ** 2 - float(with_itself.sum())
    if pairs > 0 and total / pairs > ROUNDING * largest * X.shape[1] ** 0.5:
        return total / pairs
    return 1.0


def _squared_norms(X: Array) -> Array:
    if sparse.issparse(X):
        return X.multiply(X).sum(axis=1)
    return namespace(X).einsum("ij,ij->i", X, X)  # without a matrix of squares


def _squared_l2(X1: Array, X2: Array) -> Array:
    """||x - y||² by one matrix product, and by differences for pairs of close rows."""
    norms1 = _squared_norms(X1)
    norms2 = _squared_norms(X2)
    D = dense((-2 * X1) @ X2.T)
    D += norms1[:, None]
    D += norms2
    farthest = NEAR * float(norms1.max() + norms2.max())  # no pair beyond is close
    for rows in slices(len(D), BLOCK_ROWS):
        block = D[rows]
        if float(block.min()) > farthest:
            continue
        here = X1[rows]
        first, second = namespace(D).where(block <= farthest)
        is_near = block[first, second] <= NEAR * (norms1[rows][first] + norms2[second])
        first = first[is_near]
        second = second[is_near]
        for pairs in slices(len(first), BLOCK_BYTES // (32 * max(1, X2.shape[1]))):
            i = first[pairs]
            j = second[pairs]
            block[i, j] = _squared_norms(here[i] - X2[j])
    return D


def _l1(X1: Array, X2: Array) -> Array:
    """||x - y||₁; of rows in {0, 1} the squared Euclidean distance, which is the same integer."""
    is_sparse = sparse.issparse(X1)
    entries = (X1.data, X2.data) if is_sparse else (X1, X2)
    if all(bool(((values == 0) | (values == 1)).all()) for values in entries):
        return _squared_l2(X1, X2)
    if is_tensor(X1):
        return namespace(X1).cdist(X1, X2, p=1)
    if is_sparse and X2.nnz <= THIN * X2.shape[0] * X2.shape[1]:
        return pairwise_distances(_short(X1), _short(X2), metric="manhattan")
    X1 = dense(X1)
    X2 = dense(X2)
    if X1.size * len(X2) > SOON_DONE and allowed_threads() > 1:
        return pairwise_distances(X1, X2, metric="manhattan", n_jobs=allowed_threads())
    return cdist(X1, X2, "cityblock")


def _short(X: Array) -> Array:
    """Sparse rows with indices of four bytes, which scikit-learn requires."""
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=X.shape)
