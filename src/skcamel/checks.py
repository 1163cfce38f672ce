"""Checks of what a user passes to an estimator: rows, labels, weights and parameters.

Each message states what came, what is wrong and what to do.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from skcamel.arrays import (
    MISSING,
    Array,
    MaybeArray,
    canonical,
    column_names,
    default_names,
    dense,
    is_lazy,
    is_tensor,
    namespace,
    overflow_allowed,
    to_numpy,
    with_missing,
)
from skcamel.names import hint
from skcamel.text import listed

HEAVIEST = 1e100  # sums of weights are squared
# of numbers in a model file: no product of them overflows for rows of ordinary size
LARGEST = 1e50
SMALLEST_DIVISOR = 1e-50
BY_BINARIZER = "sklearn.preprocessing.MultiLabelBinarizer()"
_COMPARED: ContextVar[bool] = ContextVar("names compared", default=False)


class Labels(NamedTuple):
    """Labels as the solver takes them, and what predictions need."""

    Y: Array  # (n, q) float64 in {-1, +1}, NaN where unknown
    names: Array  # (q,) str as objects
    classes: Array  # arange(q) for label matrices, the classes of a 1-d y
    target: str  # "matrix", "binary" or "multiclass"


class ConstantLabelWarning(UserWarning):
    """A label is the same in every training row."""


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Put all attributes back if the body raises: a failed fit leaves the estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@overflow_allowed  # of the sum by which scikit-learn looks for NaN
def check_rows(estimator: Any, X: Array, *, reset: bool, pairwise: bool) -> Array:
    """X as a float64 or float32 matrix, numpy or canonical CSR.

    It has as many features as in the fit, and the same names.

    Tensors are copied to the CPU for these checks. A model fitted by the command line knows names
    although it was fitted on an array, so an array is no reason to warn.
    """
    if is_lazy(X):
        raise ValueError(
            "This method takes arrays, not Dask collections; use X.compute() where that fits into"
            " memory, or one partition at a time."
        )
    if pairwise and sparse.issparse(X):
        raise ValueError("A kernel matrix is dense; give it as an array, such as X.toarray().")
    if not reset:
        check_is_fitted(estimator, "n_features_in_")
    if is_tensor(X):
        X = to_numpy(X)
    accepted = {"accept_sparse": False if pairwise else "csr", "dtype": [np.float64, np.float32]}
    # A filter of warnings would do the same, but filters are shared by all threads, and a server
    # predicts in several.
    is_matched = _COMPARED.get() or hasattr(estimator, "input_columns_")
    try:
        if _COMPARED.get() and not reset and _is_checked(X):
            rows = X
        elif is_matched and not reset and column_names(X) is None:
            rows = check_array(X, estimator=estimator, input_name="X", **accepted)
        else:
            rows = validate_data(estimator, X, reset=reset, **accepted)
    except (TypeError, ValueError) as error:
        if message := _better_message(error, X):
            raise ValueError(message) from error
        raise
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {type(estimator).__name__} is expecting"
            f" {estimator.n_features_in_} features as input."
        )
    if sparse.issparse(rows):
        rows = canonical(rows)
        if not np.isfinite(rows.data).all():  # each entry was finite, so a sum is not
            raise ValueError(
                "X has repeated entries whose sum is infinite; divide X by a constant."
            )
    if pairwise and reset:
        _check_kernel_matrix(rows)
    return rows


def _is_checked(X: Array) -> bool:
    """Whether X is as scikit-learn's checks return it; they cost a third of a prediction."""
    is_matrix = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0
    return is_matrix and bool(np.isfinite(X).all())


def _better_message(error: Exception, X: Array) -> str:
    """The message of scikit-learn with the place or what to do; empty if nothing is to be added."""
    message = str(error)
    if "could not convert string" in message:
        return (
            f"X holds words ({message}); skcamel.data.TablePreparer turns a table into numbers, as"
            " in make_pipeline(TablePreparer(), CamelClassifier())."
        )
    if sparse.issparse(X) or not re.search("contains (NaN|infinity)|'NAType'", message):
        return ""
    try:
        refused = ~np.isfinite(np.asarray(X, dtype=np.float64))
    except TypeError:  # of NA of pandas
        message = "Input X contains NaN."
        refused = np.isin(np.asarray(X, dtype=object).astype(str), ["<NA>", "nan"])
    row, column = np.argwhere(refused.reshape(len(refused), -1))[0]
    return f"{message.splitlines()[0]} The first is in row {row}, column {column}."


def _check_kernel_matrix(K: Array) -> None:
    """Refuse a kernel matrix of training rows that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' got a matrix of shape {K.shape}; fit needs the square kernel"
            " matrix of the training rows, predict one row for each new row and one column for"
            " each training row."
        )
    if not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * abs(K).max()):
        raise ValueError(
            "kernel='precomputed' got a matrix that is not symmetric; symmetrise it by (K + K.T) /"
            f" 2. Its shape is {K.shape}."
        )


@contextmanager
def names_compared() -> Iterator[None]:
    """Quiet scikit-learn about arrays for a model that knows names of features.

    The caller has matched the columns by name.
    """
    token = _COMPARED.set(True)
    try:
        yield
    finally:
        _COMPARED.reset(token)


def check_labels(
    Y: Array, n_rows: int, *, known: Labels | None = None, classes: MaybeArray = None
) -> Labels:
    """Labels from a matrix of indicators (array, sparse, frame, tensor) or from a 1-d y.

    Unknown entries of a matrix are NaN.

    They must agree with those `known` from an earlier batch; a 1-d y may lack some of its
    `classes`.
    """
    if Y is None:
        raise ValueError(
            "This classifier requires y to be passed, but the target y is None; give one row of"
            " labels for each row of X."
        )
    names = column_names(Y)
    try:
        Y = to_numpy(dense(Y))
    except ValueError as error:
        raise ValueError(
            "Y is ragged: its rows have different lengths. For label sets use"
            f" {BY_BINARIZER}.fit_transform(Y)."
        ) from error
    if Y.ndim not in (1, 2):
        raise ValueError(
            f"Y has {Y.ndim} dimension(s); labels are a matrix with one row per instance and one"
            " column per label."
        )
    if Y.shape[0] != n_rows:
        raise ValueError(
            f"Y has {Y.shape[0]} rows but X has {n_rows}; each row of X needs one row of labels."
        )
    found = None
    if Y.ndim == 2:
        found = _matrix_labels(Y, names)
        if found is None:
            warnings.warn(
                "Y is a single column of classes; it is read as a 1-d y of shape (n_samples,).",
                DataConversionWarning,
                stacklevel=4,
            )
    if found is None:
        found = _class_labels(Y.ravel(), classes if known is None else known.classes)
    if known is None:
        return found
    if found.target != known.target or found.Y.shape[1] != known.Y.shape[1]:
        raise ValueError(
            f"y has {found.Y.shape[1]} labels ({found.target}); earlier batches had"
            f" {known.Y.shape[1]} ({known.target})."
        )
    if names is not None and names != known.names.tolist():
        raise ValueError(
            f"The columns of y are {listed(names)}; those of earlier batches were"
            f" {listed(known.names.tolist())}."
        )
    return found


def as_truth(
    labels: Array, name: str = "Y", *, may_be_unknown: bool = True, hint: str = ""
) -> tuple[Array, MaybeArray]:
    """Truth as a boolean matrix (n, q), True where relevant, and which entries are known.

    The latter is None where all are; NaN marks the others. `hint` becomes part of a message.

    >>> relevant, known = as_truth(np.array([[1.0, np.nan], [-1.0, 1.0]]))
    >>> relevant.tolist(), known.tolist()
    ([[True, False], [False, True]], [[True, False], [True, True]])
    """
    labels = as_array(labels)
    if labels.ndim != 2:
        raise ValueError(
            f"{name} has {labels.ndim} dimension(s); labels are a matrix with one row per instance"
            " and one column per label."
        )
    if labels.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {tuple(labels.shape)}: there is no label to evaluate; give at least"
            " one column."
        )
    relevant = labels == 1
    known = labels == labels  # not NaN; torch has no isnan of integers
    if may_be_unknown:
        settled = relevant | ~known
    else:
        settled = relevant
    if not bool((settled | (labels == 0)).all() or (settled | (labels == -1)).all()):
        found = list(map(repr, np.unique(to_numpy(labels)).tolist()))
        if len(found) > 6:
            found = [*found[:3], "…", *found[-3:]]
        raise ValueError(
            f"{name} must hold only 0 and 1, or only -1 and +1{hint}; found {', '.join(found)}."
        )
    return relevant, None if bool(known.all()) else known


def as_array(x: Array) -> Array:
    """A dense array; sparse matrices, frames and lists included. None and pandas' NA are NaN."""
    if hasattr(x, "toarray"):
        x = x.toarray()
    x = namespace(x).asarray(x)
    if x.dtype == object:
        return with_missing(x)
    return x


def _matrix_labels(Y: Array, names: list[str] | None) -> Labels | None:
    """Labels of a matrix in {0, 1} or {-1, +1}, NaN where unknown; None for a column of classes."""
    if Y.shape[1] == 0:
        raise ValueError(f"Y has shape {Y.shape}: no label; give at least one column.")
    try:
        relevant, known = as_truth(Y, hint=", one column per label")
    except ValueError:
        if Y.shape[1] == 1:
            return None
        raise
    signs = np.ascontiguousarray(np.where(relevant, 1.0, -1.0))
    if known is not None:
        signs[~known] = np.nan
        if not known.any():
            raise ValueError(
                f"Y has shape {Y.shape} and no known entry (all are NaN); give the labels that are"
                " known."
            )
    label_names = names or default_names("label", Y.shape[1])
    name, times = Counter(label_names).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"Y has two columns called {name!r}; labels are distinguished by name, rename one."
        )
    return Labels(signs, np.array(label_names, dtype=object), np.arange(Y.shape[1]), "matrix")


def _class_labels(y: Array, known: MaybeArray = None) -> Labels:
    """One column per class of a 1-d y, or of its `known` classes; a single one for two classes."""
    if y.dtype.kind == "O":
        kinds = {type(value) for value in y}
        others = kinds - {bytes, str, float}  # NaN, a float, is a missing value
        if any(issubclass(kind, Collection) and not issubclass(kind, str) for kind in others):
            raise ValueError(
                f"y holds a collection in each row, such as {y[0]!r:.60}; for label sets use"
                f" {BY_BINARIZER}.fit_transform(y)."
            )
        if str in kinds and any(issubclass(kind, Real) for kind in others):
            raise ValueError(
                "y mixes text and numbers; write all classes as text, as by y.astype(str)."
            )
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(
            f"Input y contains NaN in {int(np.isnan(y).sum())} rows, and a 1-d y holds the class of"
            " every row; drop those rows, or give a matrix with one column per label, as y[:,"
            " None] for one, where NaN means unknown."
        )
    y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"))
    check_classification_targets(y)
    classes = np.unique(y)
    _warn_of_joined_names(classes)
    if known is not None:
        new = np.setdiff1d(classes, to_numpy(known))
        classes = np.unique(to_numpy(known))
        if len(new):
            there = listed([str(name) for name in classes])
            raise ValueError(
                f"y holds the class {str(new[0])!r}, which was not named before; there are {there}."
                " Name all in the first call."
            )
    target = "multiclass"
    labelled = classes
    if len(classes) <= 2:
        target = "binary"
        labelled = classes[-1:]
    signs = np.where((y[:, None] == labelled) & (len(classes) > 1), 1.0, -1.0)
    names = np.array([str(name) for name in labelled], dtype=object)
    return Labels(signs, names, classes, target)


def _warn_of_joined_names(classes: Array) -> None:
    """Warn where classes look like joined sets of labels, whose parts are fewer."""
    texts = [name for name in classes.tolist() if isinstance(name, str)]
    for separator in "|;,/\t":
        joined = [name for name in texts if separator in name]
        parts = {part.strip(" []{}()'\"") for name in texts for part in name.split(separator)} - {
            ""
        }
        if joined and len(parts) < len(classes):
            warnings.warn(
                f"y is read as {len(classes)} classes, of which each row has one, but texts such as"
                f" {joined[0]!r} look like sets of the {len(parts)} labels between {separator!r};"
                f" for a label matrix use pandas.Series(y).str.get_dummies({separator!r}).",
                stacklevel=5,
            )
            return


def check_weights(
    sample_weight: MaybeArray, n_rows: int, *, may_vanish: bool = False
) -> MaybeArray:
    """Weights as float64 (n,), or None where all are 1; of a batch all may be 0."""
    if sample_weight is None:
        return None
    weights = np.asarray(to_numpy(sample_weight), dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; one weight for each of the {n_rows} rows is"
            " needed."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "sample_weight must be finite and at least 0; remove rows instead of giving them"
            " negative weights."
        )
    if not weights.any():
        if may_vanish:
            return weights
        raise ValueError("All weights in sample_weight are zero; at least one row must count.")
    least = weights[weights > 0].min()
    greatest = weights.max()
    if not 1 / HEAVIEST < least <= greatest < HEAVIEST or greatest > 1e10 * least:
        raise ValueError(
            f"sample_weight spans from {least:.1e} to {greatest:.1e}, more than numbers of 16"
            " digits can serve; a weight counts as that many copies of its row, so give numbers"
            " near 1, as sample_weight / sample_weight.mean(), and 0 to rows that do not count."
        )
    if (weights == 1).all():
        return None
    return weights


def inner_splits(
    estimator: Any,
    X: Array,
    Y: Array,
    target: str,
    weights: MaybeArray = None,
    groups: MaybeArray = None,
) -> list[tuple[Array, Array]]:
    """Training and test rows of each fold of the `cv` of a search.

    With weights they are the rows that have some.

    A number of folds means what it does in scikit-learn, shuffled where the search has a
    `random_state`.

    Parameters
    ----------
    estimator : CamelClassifierCV, LLSFCV or JFSCCV
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q)
    target : {"matrix", "binary", "multiclass"}
    weights : array of shape (n,), default=None
    groups : array of shape (n,), default=None
        A number of folds leaves them whole; another splitter is handed them.
    """
    y = Y
    if target == "multiclass":
        y = Y.argmax(axis=1)
    elif target == "binary":
        y = Y[:, 0]
    splitter = check_cv(estimator.cv, y, classifier=target != "matrix")
    if isinstance(estimator.cv, Integral):
        if groups is not None:
            splitter = GroupKFold(estimator.cv)
        if estimator.random_state is not None:
            splitter.shuffle = True
            splitter.random_state = estimator.random_state
    rows = np.arange(len(y))
    counts = rows >= 0 if weights is None else weights > 0
    splits = []
    for parts in splitter.split(X, y, groups):
        train, test = (rows[part][counts[part]] for part in parts)  # of indices or masks
        splits.append((train, test))
    if not splits or not all(len(train) and len(test) for train, test in splits):
        raise ValueError(
            "cv gave no split, or one without training or test rows; it must give at least one"
            " (train, test) pair."
        )
    return splits


def warn_of_constant_labels(labels: Labels, weights: MaybeArray = None) -> None:
    """Warn of labels that are the same in every row that has weight and knows them, or unknown."""
    if labels.target != "matrix":
        return
    if weights is None:
        Y = labels.Y
    else:
        Y = labels.Y[weights > 0]
    has_positive = (Y > 0).any(axis=0)
    has_negative = (Y < 0).any(axis=0)
    lacking = {
        "no positive row": has_negative & ~has_positive,
        "no negative row": has_positive & ~has_negative,
        "no known entry": ~has_positive & ~has_negative,
    }
    for what, lack in lacking.items():
        names = labels.names[lack]
        if len(names):
            warnings.warn(
                f"{len(names)} of {len(lack)} labels have {what} ({listed(names.tolist(), 5)});"
                " nothing can be learned about them.",
                ConstantLabelWarning,
                stacklevel=4,
            )


def as_number(value: Any) -> float:
    """A real number as a float; NaN for whatever is none, or too large to be one."""
    try:
        if isinstance(value, Real) and not isinstance(value, bool):
            return float(value)
        return np.nan
    except OverflowError:
        return np.nan


def check_number(
    name: str,
    value: Any,
    least: float = 0,
    most: float = np.inf,
    *,
    above: bool = False,
    whole: bool = False,
    otherwise: str = "",
) -> None:
    """Refuse what is not a finite number from `least` to `most`.

    With `above` it must exceed the least one, with `whole` be an integer.
    """
    number = as_number(value)
    fits = least <= number <= most and number < np.inf and not (above and number == least)
    if fits and (isinstance(value, Integral) or not whole):
        return
    if most == np.inf:
        limits = f"{'>' if above else '>='} {least:g}"
    else:
        limits = f"in [{least:g}, {most:g}]"
    if whole:
        kind = "an integer"
    else:
        kind = "a number"
    needed = f"{name} must be {kind} {limits}{' ' + otherwise if otherwise else ''}, got {value!r}."
    raise ValueError(hint(f"{name}={value!r}") or needed)


def choice(value: Any, options: tuple[Any, ...], name: str) -> Any:
    """`value` if it is one of `options`, texts or flags."""
    if not isinstance(value, str | bool | np.bool_) or value not in options:
        known = f"{name}={value!r} is not known; choose one of {', '.join(map(repr, options))}."
        raise ValueError(hint(f"{name}={value!r}") or known)
    return value


def check_at_least(thing: Any, **least: float) -> None:
    """Refuse attributes, numbers or arrays, below their least values; None is legal."""
    for name, bound in least.items():
        value = getattr(thing, name, None)
        if value is not None and np.min(value) < bound:
            raise ValueError(f"{name} must be at least {bound:g}, got {np.min(value):g}")


def check_groups(groups: Any, Y: Array) -> Array:
    """Groups of the rows as whole numbers from 0 on, (n,); labels are known then."""
    groups = np.asarray(to_numpy(groups))
    if groups.shape != (len(Y),):
        raise ValueError(
            f"groups has shape {groups.shape}; one group for each of the {len(Y)} rows is needed."
        )
    names = groups.astype(str)
    missing = np.count_nonzero(np.isin(names, MISSING))
    if missing:
        raise ValueError(
            f"groups holds missing values: {missing}; give every row a group, a row by itself one"
            " of its own."
        )
    if np.isnan(Y).any():
        raise ValueError(
            "groups leave together exactly where all labels are known, and some of Y are unknown"
            " (NaN); leave out those rows."
        )
    _, codes = np.unique(names if groups.dtype.kind == "O" else groups, return_inverse=True)
    return codes


def seed_of(random_state: Any) -> int:
    """A seed from a `random_state`: a number, one drawn from a RandomState, or 0 for None."""
    if isinstance(random_state, Integral):
        check_number("random_state", random_state, most=2**32 - 1)
    if random_state is None or isinstance(random_state, Integral):
        return int(random_state or 0)
    return int(check_random_state(random_state).randint(2**31 - 1))
