"""Parameters of CAMEL ► refused in one sentence where they do not exist; and whether a fit fits into memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.arrays import Array, check_device, is_tensor, to_numpy
from skcamel.camel import correlation, kernel, scaling, thresholds
from skcamel.camel.stream import CHOICES
from skcamel.checks import as_number, check_count, check_positive
from skcamel.gone import hint
from skcamel.metrics.conventions import choice
from skcamel.rows import dense

SCORES = ("paper", "log_odds")


def check_shared_parameters(estimator: Any) -> None:
    """Parameters that both estimators have."""
    if why := hint(f"sparsity={estimator.sparsity!r}") or hint(f"landmarks={estimator.landmarks!r}"):
        raise ValueError(why)
    check_positive("sparsity", estimator.sparsity)
    if not isinstance(estimator.correlation, str) or estimator.correlation not in correlation.KINDS:
        raise ValueError(f"correlation={estimator.correlation!r} is not known; choose 'paper' or 'centred'.")
    check_positive("tol", estimator.tol)
    check_count("max_iter", estimator.max_iter)
    check_threshold(estimator.threshold)
    choice(estimator.scores, SCORES, "scores")
    check_miss_cost(estimator.miss_cost)
    check_device(estimator.device)
    check_count("n_landmarks", estimator.n_landmarks)
    if isinstance(estimator.landmarks, str):
        choice(estimator.landmarks, CHOICES, "landmarks")
    if estimator.max_memory is not None:
        try:
            memory.as_bytes(estimator.max_memory)
        except ValueError as error:
            raise ValueError(f"max_memory: {error}") from error


def check_threshold(threshold: Any, words: tuple[str, ...] = thresholds.WORDS) -> None:
    """Refuse a threshold that is neither one of `words`, nor a finite number, nor a vector of such."""
    if isinstance(threshold, str):
        if why := hint(f"threshold={threshold!r}"):
            raise ValueError(why)
        known = threshold in words
    elif np.ndim(threshold) == 1 and len(threshold):
        known = all(np.isfinite(as_number(value)) for value in np.asarray(threshold).tolist())
    else:
        known = bool(np.isfinite(as_number(threshold)))
    if not known:
        shown = [word for word in words if word not in thresholds.OTHER_NAMES]
        raise ValueError(f"threshold={threshold!r} is not known; choose {', '.join(map(repr, shown))}, a number, or one for each label.")


def check_miss_cost(miss_cost: Any) -> None:
    """Refuse costs that are neither a positive number nor positive numbers for labels."""
    if miss_cost is None:
        return
    for value in miss_cost.values() if isinstance(miss_cost, Mapping) else [miss_cost]:
        check_positive("miss_cost", value, "or a mapping from labels to such numbers")


def check_groups(groups: Any, Y: np.ndarray) -> np.ndarray | None:
    """Groups of the rows as whole numbers from 0 on, (n,); labels are known then."""
    if groups is None:
        return None
    groups = np.asarray(to_numpy(groups))
    if groups.shape != (len(Y),):
        raise ValueError(f"groups has shape {groups.shape}; one group for each of the {len(Y)} rows is needed.")
    if groups.dtype.kind == "f" and np.isnan(groups).any():
        raise ValueError("groups holds NaN; give every row a group, a row by itself one of its own.")
    if np.isnan(Y).any():
        raise ValueError("groups leave together exactly where all labels are known, and some of Y are unknown (NaN); leave out those rows.")
    _, codes = np.unique(groups.astype(str) if groups.dtype.kind == "O" else groups, return_inverse=True)
    return codes


def check_bandwidth(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is not a number whose square is one."""
    check_positive(name, value, otherwise)
    if not 1e-100 < float(value) < 1e100:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {value!r}.")


def check_kernel(name: Any) -> None:
    """Refuse unknown kernels."""
    if not callable(name) and name not in kernel.NAMES:
        raise ValueError(f"kernel={name!r} is not known; choose one of {', '.join(map(repr, kernel.NAMES))} or give a function.")


def check_scaling(name: Any, kernel_name: Any) -> None:
    """Refuse unknown scalings, and any scaling of a kernel matrix."""
    if name not in scaling.NAMES:
        raise ValueError(f"scaling={name!r} is not known; choose one of {', '.join(map(repr, scaling.NAMES))}.")
    if kernel_name == "precomputed" and name != "none":
        raise ValueError(f"scaling={name!r} needs features, and kernel='precomputed' has none; use scaling='none'.")


def check_places(name: str, tried: Sequence[tuple[Any, Any, Any]]) -> None:
    """Refuse representations (scaling, kernel, multiple of the mean distance) that do not exist, and a kernel matrix beside features."""
    for scaling_name, kernel_name, multiple in tried:
        check_kernel(kernel_name)
        check_scaling(scaling_name, kernel_name)
        check_bandwidth(name, multiple)
    kernels = tuple(kernel_name for _, kernel_name, _ in tried)
    if "precomputed" in kernels and len(set(kernels)) > 1:
        raise ValueError(f"kernels={kernels!r} mixes 'precomputed' with kernels of features; give it alone.")


def check_landmarks(landmarks: Any, d: int) -> np.ndarray:
    """Landmarks given as rows, float64 (m, d)."""
    rows = np.asarray(dense(to_numpy(landmarks) if is_tensor(landmarks) else landmarks), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != d or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"landmarks has shape {rows.shape}; give finite rows of the {d} columns of X, at least one.")
    return rows


@dataclass(frozen=True)
class Alive:
    """How many matrices are alive at the peak of a fit, shown by tests/test_memory.py."""

    kernels: int = 5  # n x n
    scores: int = 40  # n x q
    pairs: int = 24  # q x q
    copies: int = 5  # of X

    def bytes(self, X: Array, n: int, q: int) -> int:
        """Bytes of a fit on n of the rows of X and q labels."""
        of_X = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
        return self.copies * of_X * n // max(1, X.shape[0]) + self.matrices(n, q)

    def matrices(self, n: int, q: int) -> int:
        """The same without the copies of X."""
        return 8 * (self.kernels * n**2 + self.scores * n * q + self.pairs * q**2)


BY_SUMS = Alive(kernels=0, scores=3, copies=0)  # beside the sums themselves


def check_memory(X: Array, q: int, device: Any, alive: Alive = Alive()) -> None:
    """Refuse a fit on X (n, d) and q labels that cannot fit into memory, before anything is allocated, and say how much would fit."""
    n, free = X.shape[0], memory.available(device)
    labels = _most(lambda fewer: alive.bytes(X, n, fewer), q, free)
    what, advice = f"A fit on {n} rows and {q} labels", f"Take at most {labels} labels"
    if alive.kernels:
        rows = _most(lambda fewer: alive.bytes(X, fewer, q), n, free)
        what += ", with the decomposition of its kernel matrix,"
        advice += f", solver='landmark', or a random sample of at most {rows} rows (sklearn.utils.resample(..., replace=False))"
    memory.require(alive.bytes(X, n, q), what, f"{advice}, and run fewer at the same time.", device=device)


def _most(needed: Callable[[int], int], count: int, free: int | None) -> int:
    """The largest count up to this one of which what is needed is free."""
    return count if free is None else max(0, bisect_right(range(count + 1), free, key=needed) - 1)
