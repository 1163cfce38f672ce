"""Columns of a file: numbers, nominal values and what they stand for, and columns that only name the rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.sources import check_claimed_size

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WORDS = {"NO": 0.0, "YES": 1.0, "FALSE": 0.0, "TRUE": 1.0}
NOMINAL_CHOICES = ("index", "onehot")
# distinct values per row from which a nominal is an identifier; union files repeat a row or two
IDENTIFYING_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: `kind` is "numeric", "nominal" or "text"; `values` are those of a nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


class Codes(dict[str, float]):
    """Numbers that the cells of a kind of columns stand for; ValueError for a cell that the header does not allow.

    Of a nominal: numerals as numbers, YES/NO and TRUE/FALSE as 1/0, else the position in the header.
    """

    def __init__(self, kind: str, values: tuple[str, ...] = ()) -> None:
        self.kind = kind
        numerals = [float(value) for value in values if NUMERAL.fullmatch(value)]
        words = {value.upper() for value in values}
        of_one_pair = words <= {"NO", "YES"} or words <= {"FALSE", "TRUE"}
        self.by_number = kind == "numeric" or 0 < len(values) == len(set(numerals))
        self.by_position = False
        if self.by_number:
            self.numbers = numerals
        elif values and of_one_pair and len(words) == len(values):
            self.numbers = [WORDS[value.upper()] for value in values]
        else:
            self.by_position = True
            self.numbers = [float(position) for position in range(len(values))]
        self.first = self.numbers[0] if values else 0.0
        super().__init__(zip(values, self.numbers))
        self.setdefault("?", np.nan)

    def __missing__(self, cell: str) -> float:
        if self.kind == "text":
            return 0.0
        if self.by_number:
            meant = number(cell)
            if not self.numbers or meant in self.numbers:
                return meant
        raise ValueError(f"{cell!r} is not declared")


def number(text: str) -> float:
    """``float``, without the underscores that Python allows inside numbers."""
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


@lru_cache(maxsize=64)
def feature_codes(values: tuple[str, ...]) -> Codes:
    """Numbers that the values of a nominal stand for."""
    return Codes("nominal", values)


def check_nominal(nominal: str) -> None:
    """Refuse what is no way to read nominal columns."""
    if nominal not in NOMINAL_CHOICES:
        raise ValueError(f"nominal must be one of {', '.join(NOMINAL_CHOICES)}, got {nominal!r}.")


def finished(
    X: Any,
    attributes: Sequence[Attribute],
    nominal: str,
    path: Path_,
    keep: Collection[str],
    hint: str,
) -> tuple[Any, list[str], list[Attribute]]:
    """X without what only names the rows, the names of its columns, and the attributes that they come from.

    A nominal with one value per row names the rows, unless `keep` has its name. With
    ``nominal="onehot"`` one of three or more values becomes a column ``attribute=value`` for each.
    """
    used = [
        k
        for k, attribute in enumerate(attributes)
        if attribute.name in keep or not _names_rows(X, k, attribute)
    ]
    if not used:
        raise DataError(f"no feature is left beside labels and row identifiers; {hint}", path=path)
    kept = [attributes[k] for k in used]
    if len(kept) < len(attributes):
        X = X[:, used]
    names = [attribute.name for attribute in kept]
    if nominal == "onehot":
        X, names = _expanded(X, kept, path)
    return X, names, kept


def _column(X: Any, k: int) -> np.ndarray:
    """A column of X, dense."""
    return X[:, [k]].toarray()[:, 0] if sparse.issparse(X) else X[:, k]


def _names_rows(X: Any, k: int, attribute: Attribute) -> bool:
    """Whether column k of X has another nominal value in nearly every row."""
    fewest = IDENTIFYING_SHARE * X.shape[0]
    if X.shape[0] < 2 or len(attribute.values) < max(3, fewest):
        return False
    values = _column(X, k)
    return len(np.unique(values[~np.isnan(values)])) >= fewest


def _expanded(X: Any, attributes: list[Attribute], path: Path_) -> tuple[Any, list[str]]:
    """X with a 0/1 column for each value of a nominal that has three or more; a missing value is NaN in all of them."""
    n = X.shape[0]
    width = sum(max(1, len(attribute.values)) for attribute in attributes)
    check_claimed_size(16 * n * width, f"{n} rows x {width} columns", path)
    is_sparse = sparse.issparse(X)
    X = sparse.csc_array(X) if is_sparse else X
    parts: list[Any] = []
    names: list[str] = []
    for k, attribute in enumerate(attributes):
        if len(attribute.values) < 3:
            parts.append(X[:, [k]])
            names.append(attribute.name)
            continue
        values = _column(X, k)[:, None]
        codes = feature_codes(attribute.values)
        numbers = [codes[value] for value in attribute.values]
        columns = (values == numbers).astype(np.float64)
        columns[np.isnan(values[:, 0])] = np.nan
        parts.append(sparse.csc_array(columns) if is_sparse else columns)
        names += [f"{attribute.name}={value}" for value in attribute.values]
    return sparse.hstack(parts, format="csr") if is_sparse else np.hstack(parts), names
