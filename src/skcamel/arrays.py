"""numpy or torch, decided by the arguments: everything in which the two differ, and nothing else.

The numeric core calls :func:`namespace` with its arrays for ``xp`` and then uses the names that
numpy and torch share (``xp.sum(x, axis=0)``, ``xp.linalg.svd`` …). What they spell differently has
a function here. No other file of the library names torch, which is imported only for tensors and
devices.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg, sparse
from threadpoolctl import ThreadpoolController

# rows and columns; 16 threads take ten times as long as one for matrices of a few dozen
SMALL = 400
_threads = cache(ThreadpoolController)  # made once, since it looks through all loaded libraries
# One name for both kinds of array; neither library's types describe the other's.
Array = Any
MaybeArray = Array | None
EPS = float(np.finfo(np.float64).eps)
MISSING = ("None", "<NA>", "nan", "NaT")  # missing values of Python, numpy and pandas as text
Params = dict[str, Any]  # values by name
# decorator of functions whose results are refused later where they are not finite
overflow_allowed = np.errstate(over="ignore", invalid="ignore")


def is_tensor(x: object) -> bool:
    """Whether `x` is a torch tensor, found out without importing torch."""
    return type(x).__module__.split(".", 1)[0] == "torch"


def namespace(*arrays: Array) -> Any:
    """The module, numpy or torch, whose functions apply to all of `arrays`.

    Examples
    --------
    >>> namespace(np.zeros(2)).__name__
    'numpy'
    """
    kinds = {is_tensor(a) for a in arrays if a is not None}
    if len(kinds) > 1:
        raise TypeError(
            "Got numpy arrays together with torch tensors; move them to one library first."
        )
    if kinds == {True}:
        return sys.modules["torch"]
    return np


def to_numpy(x: Array) -> np.ndarray:
    """`x` as a numpy array, copied from its device if need be."""
    if is_tensor(x):
        return x.detach().cpu().numpy()
    return np.asarray(x)


def to_device(x: Array, device: Any) -> Array:
    """`x` as a float64 array: numpy for ``device=None``, else a torch tensor on `device`.

    None stays None, and sparse rows stay sparse on the CPU; for a device they are made dense.
    """
    if x is None or (device is None and sparse.issparse(x)):
        return x
    if device is None:
        return np.asarray(to_numpy(x), dtype=np.float64)
    torch = _torch(device)
    if is_tensor(x):
        return x.detach().to(device=device, dtype=torch.float64)
    # copies: x may be read-only
    return torch.tensor(np.asarray(dense(x), dtype=np.float64), device=device)


def to_match(x: Array, like: Array) -> Array:
    """Numpy array `x` in the library and on the device of `like`, keeping the dtype of `x`."""
    if is_tensor(like):
        return namespace(like).asarray(x, device=like.device)
    return x


def as_floats(values: Any, like: Array | None = None) -> Array:
    """`values`, an array or a sequence of numbers, as a float64 array.

    It lives where `like` lives, or where the values do.
    """
    if like is None:
        like = values
    xp = namespace(like)
    return xp.asarray(values, dtype=xp.float64, device=like.device)


def divisor(x: Array) -> Array:
    """x, with 1 in place of what is not above 0.

    >>> divisor(np.array([0.0, 4.0]))
    array([1., 4.])
    """
    return namespace(x).where(x > 0, x, 1.0)


def slices(n: int, size: int) -> list[slice]:
    """Slices of `size` rows, or of one if that is 0, which cover n rows.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, size)
    return [slice(start, start + size) for start in range(0, n, size)]


def take_along_rows(x: Array, index: Array) -> Array:
    """``x[i, index[i, j]]`` for every i, j."""
    if is_tensor(x):
        return x.take_along_dim(index, 1)
    return np.take_along_axis(x, index, axis=1)


def eigh_in_place(K: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix whose memory may be reused.

    LAPACK's divide and conquer is the fastest driver for all vectors. It overwrites `K` where it
    can, so that no more than 3 n² doubles are alive at a time.
    """
    if is_tensor(K):
        return namespace(K).linalg.eigh(K)
    # symmetric: the transpose is the same matrix in LAPACK's order
    if not (K.flags.f_contiguous):
        K = K.T
    values, vectors = linalg.eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    return values, vectors


def free_on_gpu(device: Any) -> int:
    """Bytes that can still be allocated on a GPU."""
    free, _ = _torch(device).cuda.mem_get_info(device)
    return int(free)


def allowed_threads() -> int:
    """How many threads to start: as many as BLAS has now.

    Whoever limits BLAS (joblib, a study, the user) so limits all threads.

    Examples
    --------
    >>> from threadpoolctl import threadpool_limits
    >>> with threadpool_limits(1):
    ...     allowed_threads()
    1
    """
    blas = [
        library["num_threads"] for library in _threads().info() if library["user_api"] == "blas"
    ]
    return max(blas, default=1)


def one_thread(size: int = 0, least: int = SMALL) -> AbstractContextManager[Any]:
    """Within the body, BLAS takes one thread.

    This is for code that starts threads itself, and for small matrices.

    Matrices whose `size` is below `least` are too small for several threads to help each other.
    """
    if size < least:
        return _threads().limit(limits=1, user_api="blas")
    return nullcontext()


def check_device(device: Any) -> None:
    """Raise one clear sentence where `device` cannot be used."""
    torch = _torch(device)
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"device={device!r} is not a device torch knows: {str(error).splitlines()[0]}"
        ) from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} needs a CUDA GPU and torch sees none here; use device=None for the"
            " CPU."
        )


def _torch(device: Any) -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise ImportError(
            f"device={device!r} needs torch: pip install 'skcamel[gpu]', or use device=None."
        ) from error


def canonical(X: sparse.sparray) -> sparse.csr_array:
    """A copy as CSR with sorted indices, repeated entries summed and no stored zeros.

    An invalid matrix is refused.

    Flags that scipy stores with a matrix are ignored: they may be older than its entries.

    Examples
    --------
    >>> canonical(sparse.csr_array(([1.0, 1.0, 2.0], [1, 1, 0], [0, 3]), shape=(1, 2))).toarray()
    array([[2., 2.]])
    """
    X = X.tocsr()
    rows = sparse.csr_array((X.data.copy(), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is no valid sparse matrix ({error}); build it anew, as by"
            " scipy.sparse.csr_array(X.toarray())."
        ) from error
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def default_names(prefix: str, count: int) -> tuple[str, ...]:
    """``prefix1 … prefixN`` for what has no names."""
    return tuple(f"{prefix}{index}" for index in range(1, count + 1))


def column_names(table: Any) -> list[str] | None:
    """Names of the columns of a pandas, polars or pyarrow frame, or of named labels; else None."""
    of_arrow = type(table).__module__.split(".", 1)[0] == "pyarrow"  # its columns are no names
    columns = getattr(table, "column_names" if of_arrow else "columns", None)
    if columns is None:
        return None
    return [str(name) for name in columns]


def order_by_name(given: list[str], wanted: list[str]) -> list[int] | None:
    """Where each wanted name stands among those given; None where they are not the same names."""
    place = {name: position for position, name in enumerate(given)}
    if sorted(given) != sorted(wanted) or len(place) < len(given):
        return None
    return [place[name] for name in wanted]


def by_name(Y: Any, names: Array) -> Any:
    """Columns of labels in the order of `names`, where they have these names; else as they are."""
    order = order_by_name(column_names(Y) or [], list(names))
    return to_numpy(Y)[:, order] if order else Y


def dense(X: Array) -> np.ndarray:
    """X as an array, sparse or not."""
    if sparse.issparse(X):
        return X.toarray()
    return X


def with_missing(values: np.ndarray) -> np.ndarray:
    """Objects as float64, NaN for None and pandas' NA; as they are where one is no number.

    >>> with_missing(np.array([[1, None]], dtype=object))
    array([[ 1., nan]])
    """
    is_missing = np.isin(values.astype(str), MISSING)
    try:
        return np.where(is_missing, np.nan, values).astype(np.float64)
    except (TypeError, ValueError):
        return values


def is_lazy(X: object) -> bool:
    """Whether X is a Dask array or frame, found out without importing Dask."""
    return type(X).__module__.split(".", 1)[0] in ("dask", "dask_expr")


def alike(X: Array, other: Array | None) -> Array:
    """Rows X, sparse if `other` is and else dense."""
    if sparse.issparse(other):
        return sparse.csr_array(X)
    return dense(X)
