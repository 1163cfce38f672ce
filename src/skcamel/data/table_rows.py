"""Rows of a table ► features and labels; each column is numbers or text, as its first cell says."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from skcamel.data.arff_header import WORDS, Attribute, feature_codes
from skcamel.data.decimals import number
from skcamel.data.errors import LABEL_BYTES, DataError
from skcamel.data.growing import Growing, Tally
from skcamel.data.nominals import without_identifiers, without_nominals
from skcamel.data.text import Path_, first_repeated, shortened

MISSING = frozenset(["", "?", "NA", "N/A", "nan", "NaN", "NAN", "null"])
LABEL_WORDS = {word: value for words in WORDS for word, value in words.items()}

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")

VALUE_BYTES = 400  # of a value of a text column on top of its characters: as a key, in a sorted tuple, and with its number

Categories = Mapping[str, tuple[str, ...]]


class TableRows:
    """Collects the rows of a table.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    is_label : ndarray of bool
    path : path
        As shown in messages.
    is_feature : ndarray of bool, optional
        By default all but the labels; the cells of other columns are not looked at.
    categories : mapping from name to values, optional
        The text columns and their values, where they are known beforehand: the others are numbers, and no column is dropped.
    decimal_comma : bool, default=False
        Whether ``1,5`` is a number.
    """

    def __init__(
        self,
        names: Sequence[str],
        is_label: np.ndarray,
        path: Path_,
        *,
        is_feature: np.ndarray | None = None,
        categories: Categories | None = None,
        decimal_comma: bool = False,
    ) -> None:
        self.names, self.is_label, self.path = list(names), is_label, path
        self.is_feature = ~is_label if is_feature is None else is_feature
        self.categories, self.decimal_comma = categories, decimal_comma
        self.text: dict[int, dict[str, int]] = {}  # text columns: their values, numbered as they come
        self.known = is_label.copy()  # columns of which it is known whether they are text
        self.features = Growing(np.float64, int(self.is_feature.sum()))
        self.labels = Growing(np.int8, int(is_label.sum()), later=LABEL_BYTES)
        self.tally = Tally("the texts in its columns")
        twice = first_repeated(name for name, flag in zip(self.names, is_label) if flag)
        if twice is not None:
            raise DataError(f"two labels are called {twice[:60]!r}; rename one.", path=path)
        if categories is not None:
            self.known[:] = True
            for position in np.flatnonzero(self.is_feature).tolist():
                if self.names[position] in categories:
                    self.text[position] = {value: code for code, value in enumerate(categories[self.names[position]])}

    @property
    def only_numbers(self) -> bool:
        """Whether no column is text so far."""
        return not self.text

    def add(self, table: np.ndarray, lines: Sequence[int]) -> None:
        """Take rows of numbers."""
        self.known[:] = True
        self._add(table, lines)

    def add_text(self, columns: Mapping[int, Sequence[str]], lines: Sequence[int], table: np.ndarray | None = None) -> None:
        """Take rows of which some columns, by position, are cells of text; the other columns are in `table`, if there are such."""
        if table is None:
            table = np.full((len(lines), len(self.names)), np.nan)
        for position, column in columns.items():
            if self.is_label[position] or self.is_feature[position]:
                table[:, position] = self._numbers(position, column, lines)
        self._add(table, lines)

    def _numbers(self, position: int, column: Sequence[str], lines: Sequence[int]) -> list[float]:
        cells = [cell.strip() for cell in column]
        if not self.known[position]:
            first = next((cell for cell in cells if cell not in MISSING), None)
            if first is not None:
                self.known[position] = True
                if not _is_number(self._with_point(first)):
                    self.text[position] = {}
        if position in self.text:
            codes = self.text[position]
            if self.categories is not None:
                self._check_values(position, cells, lines)
            before = len(codes)
            numbered = [np.nan if cell in MISSING else codes.setdefault(cell, len(codes)) for cell in cells]
            new = islice(reversed(codes), len(codes) - before)
            self.tally.add(sum(VALUE_BYTES + len(value) for value in new), self.path)
            return numbered
        return [self._number(cell, position, line) for cell, line in zip(cells, lines)]

    def _check_values(self, position: int, cells: list[str], lines: Sequence[int]) -> None:
        """Refuse values that have no number: giving them one would not mean what the known ones mean."""
        for cell, line in zip(cells, lines):
            if cell not in self.text[position] and cell not in MISSING:
                raise DataError(
                    f"{cell[:40]!r} in column {self.names[position][:60]!r}, which had the values {shortened(self.text[position], 8)}; "
                    "write one of these, or fit again with rows that have it.",
                    path=self.path,
                    line=line,
                )

    def _with_point(self, cell: str) -> str:
        return cell.replace(",", ".") if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell) else cell

    def _number(self, cell: str, position: int, line: int) -> float:
        if cell in MISSING:
            return np.nan
        if self.is_label[position] and cell.upper() in LABEL_WORDS:
            return LABEL_WORDS[cell.upper()]
        try:
            return number(self._with_point(cell))
        except ValueError:
            problem = f"{cell[:40]!r} in column {self.names[position][:60]!r}, which holds numbers"
            raise DataError(f"{problem}; correct the cell, or leave it empty.", path=self.path, line=line) from None

    def _add(self, table: np.ndarray, lines: Sequence[int]) -> None:
        labels = table[:, self.is_label]
        odd = ~np.isin(labels, (-1, 0, 1))
        if odd.any():
            row, column = np.argwhere(odd)[0]
            name = self.names[np.flatnonzero(self.is_label)[column]][:60]
            if np.isnan(labels[row, column]):
                problem = f"label {name!r} is missing; remove the row, or write 0 where 'not given' means 'not relevant'."
            else:
                problem = (
                    f"label {name!r} is {labels[row, column]:g}; labels are 0 and 1, or -1 and +1. Are the right columns named as labels?"
                )
            raise DataError(problem, path=self.path, line=lines[row])
        self.labels.extend(labels, self.path)
        self.features.extend(table[:, self.is_feature], self.path)

    def finish(self, nominal: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[str, ...], tuple[str, ...], Categories]:
        """X, Y, names of features, of labels and of dropped columns, and the values of text columns.

        Warns where columns are dropped, and where numbers stand for text that has no order.
        """
        X = self.features.finish()
        attributes = [self._attribute(position, X, k) for k, position in enumerate(np.flatnonzero(self.is_feature).tolist())]
        kept: list[Attribute] = attributes
        if self.categories is None:
            if self.is_feature[0]:
                X, kept = _without_row_numbers(X, attributes)
            X, kept = without_identifiers(X, kept, self.path)
        own = {id(attribute) for attribute in kept}
        dropped = [attribute.name for attribute in attributes if id(attribute) not in own]
        names = [attribute.name for attribute in kept]
        categories = {attribute.name: attribute.values for attribute in kept if attribute.kind == "nominal"}
        self._warn(dropped, [name for name, values in categories.items() if _is_arbitrary(values)], nominal)
        if nominal == "onehot":
            X, names = without_nominals(X, kept, self.path)
        if not names:
            raise DataError("no feature is left beside labels and row identifiers; are the right columns named as labels?", path=self.path)
        return X, self._zero_one(), tuple(names), self._label_names(), tuple(dropped), categories

    def finish_labels(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Y and the names of the labels, where no feature was wanted."""
        return self._zero_one(), self._label_names()

    def _label_names(self) -> tuple[str, ...]:
        return tuple(name for name, flag in zip(self.names, self.is_label) if flag)

    def _warn(self, dropped: list[str], coded: list[str], nominal: str) -> None:
        if self.categories is not None:
            return
        said = [f"{shortened(dropped)} left out, as it only numbers or names the rows"] if dropped else []
        if coded and nominal == "index":
            said.append(
                f"text in {shortened(coded)} is numbered in the order of its sorted values; where that means nothing, "
                "make it a 0/1 column for each value (nominal='onehot', command line: fit --nominal onehot)"
            )
        if said:
            warnings.warn(f"{Path(self.path).name}: {'; '.join(said)}.", UserWarning, stacklevel=4)

    def _attribute(self, position: int, X: np.ndarray, k: int) -> Attribute:
        """Attribute of the feature at `position`, column `k` of X; the numbers of text are put into the order of the sorted values."""
        if position not in self.text:
            return Attribute(self.names[position], "numeric")
        values = tuple(sorted(self.text[position]) if self.categories is None else self.text[position])
        codes = feature_codes(values)
        by_number = np.array([codes[value] for value in self.text[position]])
        column = X[:, k]
        filled = ~np.isnan(column)
        column[filled] = by_number[column[filled].astype(np.int64)]
        return Attribute(self.names[position], "nominal", values)

    def _zero_one(self) -> np.ndarray:
        """Labels in -1 and +1 as 0 and 1; a label with -1 and 0 is refused."""
        Y = self.labels.finish()
        negative = (Y == -1).any(axis=0)
        mixed = np.flatnonzero(negative & (Y == 0).any(axis=0))
        if mixed.size:
            name = self.names[np.flatnonzero(self.is_label)[mixed[0]]]
            raise DataError(f"label {name[:60]!r} holds -1 and 0; labels are 0 and 1, or -1 and +1: recode it.", path=self.path)
        return (Y == 1).astype(np.int64)


def _without_row_numbers(X: np.ndarray, attributes: list[Attribute]) -> tuple[np.ndarray, list[Attribute]]:
    """X and its attributes without a first column that has no name and counts the rows, as data frames write it."""
    is_index = attributes[0].name.strip() in ("", "Unnamed: 0") and len(X) > 1 and (np.diff(X[:, 0]) == 1).all() and X[0, 0] in (0, 1)
    return (X[:, 1:], attributes[1:]) if is_index else (X, attributes)


def _is_arbitrary(values: tuple[str, ...]) -> bool:
    """Whether the numbers of these values are mere positions; those of yes and no, and of numerals, are not."""
    codes = feature_codes(values)
    words = {value.upper() for value in values}
    return not codes.by_number and not any(words <= set(meaning) for meaning in WORDS)


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


Start = Callable[[Sequence[str], bool], TableRows]  # column names, and whether commas are decimal ones ► what collects the rows
