"""A fitted model ► a small one: the kernel with a few centres of clusters, fitted to the scores of the larger model.

For centres Z the labels' own predictions f(x) = k(x)A/λ2 + b of the larger model are approximated by k(x, Z)B + c: B and c solve a least
squares problem over rows, with a small ridge in the whitened features of :mod:`skcamel.solve.landmark`. The same ridge serves all labels,
so f(x)G, the scores, are approximated by least squares too, and reasons by label add up as before.

Models are close to the labels of their own rows and less so between them. So the fit also takes means of random pairs of rows: without
them a narrow kernel follows the peaks at the rows, and errs more on new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array, to_numpy
from skcamel.base import BaseCamel, seed_of
from skcamel.checks import check_count
from skcamel.kernel import Kernel
from skcamel.pipeline import final, prepared
from skcamel.rows import on_device
from skcamel.scaling import Scaling
from skcamel.selection.representation import Representation
from skcamel.selection.stream import CANDIDATES, Stream, Streaming, blended
from skcamel.solve import Solution, landmark, spectral
from skcamel.support import COMPRESS, MANY, PRECOMPUTED, check_together

RIDGE = 0.01  # of the least squares, in units of k(z, z)
PARTS = 50  # of the ranks of a column, with at most two values each


def compress(model: Any, n_landmarks: int = 500, X: Any = None) -> Any:
    """Make a smaller model that scores almost like a fitted one, and holds none of its training rows.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        It stays as it is. Each member of a combined model is compressed.
    n_landmarks : int, default=500
        How many centres stand for the rows, at most. More are more accurate.
    X : whatever the model takes, n rows, default=None
        Rows on which the small model should score like the larger one; labels are not needed. None: the rows that the model holds.

    Returns
    -------
    model of the same class and parameters
        Its `solver_` is "landmark", and "primal" for the linear kernel, which d coefficients of each label replace without any
        error. ``compression_`` tells ``rows_before``, ``rows_after``, ``bytes_before`` and ``bytes_after`` (rows that are held, and
        arrays), and ``mean_error`` and ``max_error`` (of the absolute difference of scores over the rows used; new rows have more).

    Notes
    -----
    A centre is the mean of a cluster of at least two different rows, and equals none of the rows.

    Cuts, probabilities, answers with a stated coverage, what a search found and its estimate are those of the larger model: they come
    from leave-one-out scores with labels, which are not at hand, and hold as far as scores agree. The average row, from which reasons
    start, is that of the rows used. Ranks of columns keep at most 100 values of each.

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(300, n_features=5, n_classes=3, random_state=0)
    >>> model = skcamel.CamelClassifier(scaling="standard").fit(X, Y)
    >>> small = skcamel.compress(model, n_landmarks=50)
    >>> small.X_fit_.shape, small.compression_["rows_before"], bool((small.predict(X) == model.predict(X)).mean() > 0.97)
    ((50, 5), 300, True)
    """
    estimator: Any = final(model)
    if not isinstance(estimator, BaseCamel):
        raise TypeError(f"A {type(estimator).__name__} holds no rows; compress takes a CamelClassifier or CamelClassifierCV.")
    check_is_fitted(estimator)
    check_count("n_landmarks", n_landmarks)
    if estimator._is_pairwise():
        check_together(COMPRESS, PRECOMPUTED)
    if estimator._has_many():
        check_together(COMPRESS, MANY)
    rows = None if X is None else estimator._new_rows(prepared(model, X)).astype(np.float64)
    return _ending_in(model, _compressed(estimator, n_landmarks, rows))


def _ending_in(model: Any, last: BaseCamel) -> Any:
    """The model with its final estimator replaced."""
    if not isinstance(model, Pipeline):
        return last
    changed = copy(model)
    *before, (name, step) = model.steps
    changed.steps = [*before, (name, _ending_in(step, last))]
    return changed


def _compressed(estimator: BaseCamel, count: int, X: Array | None) -> BaseCamel:
    members = estimator._summands()
    is_combined = hasattr(estimator, "members_")
    if is_combined and X is None and any(getattr(own, "solver_", "") == "landmark" and own._kernel.name != "linear" for _, own in members):
        raise ValueError("The members of this model hold landmarks of their own, not the same rows; give rows X to compress it by.")
    views: dict[int, _Rows] = {}  # members that see the same rows share their centres
    made: list[BaseCamel] = []
    error: np.ndarray | float = 0.0  # of the scores of all rows, (n, q)
    for weight, own in members:
        if own._kernel.name == "linear":
            made.append(_in_columns(own, X))
            continue
        if id(own.X_fit_) not in views:
            views[id(own.X_fit_)] = _Rows.of(own, X, count, seed_of(estimator.random_state))
        small, difference = _by_centres(own, views[id(own.X_fit_)])
        made.append(small)
        error = error + weight * difference
    small = copy(estimator) if is_combined else made[0]
    if is_combined:
        small.members_ = made
    if not isinstance(small.landmarks, str):
        small.landmarks = "uniform"  # those given may be training rows
    small.__dict__.pop("_stream", None)  # with a sample of training rows
    before, after = _held(estimator), _held(small)
    small.compression_ = {
        **{"rows_before": before.rows, "rows_after": after.rows, "bytes_before": before.size, "bytes_after": after.size},
        **{"mean_error": float(np.abs(error).mean()), "max_error": float(np.abs(error).max())},
    }
    return small


@dataclass(frozen=True)
class _Rows:
    """Rows as a kernel of the larger model sees them, and as one of the small model does: these differ where ranks are thinned."""

    large: Array  # (n, d) scaled
    small: Array  # (n, d) scaled
    scaling: Scaling  # of the small model
    centres: np.ndarray  # (m, d)
    pairs: np.ndarray  # (2, p) rows whose means are fitted too

    @classmethod
    def of(cls, own: BaseCamel, X: Array | None, count: int, seed: int) -> _Rows:
        rng = np.random.default_rng(seed)
        scaling, large = own._scaling, own.X_fit_ if X is None else own.scaled_rows(X)
        small: Array = large
        if (ranks := scaling.ranks) is not None:
            shift = 0.0 if scaling.shift is None else scaling.shift
            scaling = replace(scaling, ranks=ranks.thinned(PARTS))
            small = scaling(ranks.values(small + shift) if X is None else X)
        centres = blended(small, count, rng)
        n = small.shape[0]
        return cls(large, small, scaling, centres, rng.integers(n, size=(2, max(0, CANDIDATES * len(centres) - n))))

    def means(self, rows: Array) -> Array:
        """Means of the pairs, (p, d)."""
        left, right = self.pairs
        return (rows[left] + rows[right]) / 2


def _by_centres(own: BaseCamel, rows: _Rows) -> tuple[BaseCamel, np.ndarray]:
    """A model on the centres that scores like `own`, and the errors of its scores, (n, q)."""
    coefficients, G, large = own.A_ / own._lambda2, own.collaboration_, _of_scaled_rows(own)
    targets = large._kernel_times(rows.large, coefficients)  # (n, q) f(x) - b
    between = large._kernel_times(rows.means(rows.large), coefficients)  # (p, q)
    B, c, kernel_mean = _least_squares(own._kernel, rows, targets, between, own.device)
    solution = Solution(B @ G, own._offset + c @ G, own._lambda2 * B, own.b_ + c, None, kernel_mean, own.n_iter_)
    small = copy(own)
    small._store_solution(Representation(rows.scaling, own._kernel, rows.centres, None), solution, own._lambda2, "landmark")
    scores = _of_scaled_rows(small)._kernel_times(rows.small, small.dual_coef_) + small._offset
    return small, scores - (targets @ G + own._offset)


def _least_squares(
    kernel: Kernel, rows: _Rows, targets: np.ndarray, between: np.ndarray, device: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B (m, q) and c (q,) with k(x, Z)B + c near the targets of rows (n, q) and of means of pairs (p, q); then the average k(x, Z)."""
    Z = on_device(rows.centres, device)
    ridge = RIDGE * float(np.diag(kernel(rows.centres, rows.centres)).mean())
    features = landmark.features(kernel, Z, n_rows=len(targets) + len(between), lambda2=ridge)
    empty = Stream(Scaling("none"), rows.centres, features, Streaming(primal=False, count=len(Z), device=device))
    stream = empty.add(rows.small, targets, None)
    sums: Any = stream.moments
    together: Any = (stream.add(rows.means(rows.small), between, None) if len(between) else stream).moments
    found = landmark.summarise(features, together, stream.block(rows.small[:1], targets[:1], None))
    B = to_numpy(spectral.coefficients(found, found.targets.projected, ridge))
    return B, to_numpy(found.targets.mean) - to_numpy(found.kernel_mean) @ B, to_numpy(features.origin + sums.kernel / sums.weight)


def _of_scaled_rows(own: BaseCamel) -> BaseCamel:
    """The same model for rows that are scaled already."""
    plain = copy(own)
    plain._scaling = Scaling("none")
    return plain


def _in_columns(own: BaseCamel, X: Array | None) -> BaseCamel:
    """The same model of the linear kernel with a coefficient for each column in place of rows."""
    small = copy(own)
    if own.X_fit_ is None:
        return small
    A = own.X_fit_.T @ own.A_  # (d, q)
    mean = np.asarray((own.X_fit_ if X is None else own.scaled_rows(X)).mean(axis=0)).ravel()
    b = own.b_ + own._of_the_shift(own.A_ / own._lambda2)
    solution = Solution(A @ own.collaboration_ / own._lambda2, own._offset, A, b, None, mean, own.n_iter_)
    small._store_solution(Representation(own._scaling, own._kernel, None, None), solution, own._lambda2, "primal")
    return small


class _Held(NamedTuple):
    """What a fitted model holds."""

    rows: int
    size: int  # bytes of its arrays


def _held(model: BaseCamel) -> _Held:
    """Rows and arrays, each counted once however many members share it."""
    rows = {id(own.X_fit_): own.X_fit_.shape[0] for _, own in model.weighted_members() if own.X_fit_ is not None}
    arrays = {id(array): array.nbytes for array in _arrays(model)}
    return _Held(sum(rows.values()), sum(arrays.values()))


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """All arrays in a value and its parts."""
    if isinstance(value, np.ndarray):
        yield value
    elif sparse.issparse(value):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _arrays(part)
    elif isinstance(value, Mapping) or type(value).__module__.startswith("skcamel."):
        yield from _arrays(list((value if isinstance(value, Mapping) else vars(value)).values()))
