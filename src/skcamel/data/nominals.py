"""Nominal columns after reading: row identifiers are dropped, categories may become one column for each value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.data.arff_header import Attribute, feature_codes
from skcamel.data.errors import check_claimed_size, check_memory
from skcamel.data.features import bytes_of
from skcamel.data.text import Path_

IDENTIFYING_SHARE = 0.99  # distinct values per row from which a nominal is an identifier; union files repeat a row or two


def without_identifiers(X: Any, attributes: list[Attribute], path: Path_, keep: Collection[str] = ()) -> tuple[Any, list[Attribute]]:
    """X and its attributes without nominals that have one value per row, but for those named in `keep`."""
    n, spared = X.shape[0], set(keep)
    wide = [
        column
        for column, attribute in enumerate(attributes)
        if attribute.name not in spared and len(attribute.values) > 2 and len(attribute.values) >= IDENTIFYING_SHARE * n
    ]
    identifiers = {column for column, values in _columns(X, wide) if n > 1 and _distinct(values) >= IDENTIFYING_SHARE * n}
    if not identifiers:
        return X, attributes
    kept = [column for column in range(len(attributes)) if column not in identifiers]
    check_memory(bytes_of(X), "A copy of its features without those that name the rows", path)
    return X[:, kept], [attributes[column] for column in kept]


def without_nominals(X: Any, attributes: Sequence[Attribute], path: Path_) -> tuple[Any, list[str]]:
    """X with one column ``attribute=value`` for each value of a nominal that has three or more; a missing value is NaN in all."""
    nominal = [len(attribute.values) > 2 for attribute in attributes]
    if not any(nominal):
        return X, [attribute.name for attribute in attributes]
    width = sum(len(a.values) if wide else 1 for a, wide in zip(attributes, nominal))
    check_claimed_size(16 * X.shape[0] * width, f"{X.shape[0]} rows x {width} columns", path)  # the parts and the whole
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    parts: list[Any] = []
    names: list[str] = []
    start = 0
    for column, values in _columns(X, [column for column, wide in enumerate(nominal) if wide]):
        attribute = attributes[column]
        parts += [X[:, start:column], _indicators(values, attribute, as_sparse=sparse.issparse(X))]
        names += [one.name for one in attributes[start:column]] + [f"{attribute.name}={value}" for value in attribute.values]
        start = column + 1
    parts.append(X[:, start:])
    names += [one.name for one in attributes[start:]]
    joined = sparse.csr_array(sparse.hstack(parts, format="csc")) if sparse.issparse(X) else np.hstack(parts)
    return joined, names


def _indicators(column: np.ndarray, attribute: Attribute, *, as_sparse: bool) -> Any:
    codes = feature_codes(attribute.values)
    table = (column[:, None] == np.array([codes[value] for value in attribute.values])).astype(np.float64)
    table[np.isnan(column)] = np.nan
    return sparse.csc_array(table) if as_sparse else table


def _columns(X: Any, wanted: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Each of these columns as an array, with its position; those of a sparse matrix are looked up in CSC form, in linear time."""
    if not sparse.issparse(X):
        yield from ((column, X[:, column]) for column in wanted)
    elif wanted:
        chosen = sparse.csc_array(X[:, wanted])
        yield from ((column, chosen[:, [k]].toarray()[:, 0]) for k, column in enumerate(wanted))


def _distinct(column: np.ndarray) -> int:
    return len(np.unique(column[~np.isnan(column)]))
