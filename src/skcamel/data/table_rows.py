"""Rows of a table ► features and labels; each column is numbers or text, as its first cell says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skcamel.data.arff_header import WORDS, Attribute, feature_codes
from skcamel.data.decimals import number
from skcamel.data.errors import DataError
from skcamel.data.nominals import without_identifiers, without_nominals
from skcamel.data.text import Path_

MISSING = frozenset(["", "?", "NA", "N/A", "nan", "NaN", "NAN", "null"])
LABEL_WORDS = {word: value for words in WORDS for word, value in words.items()}

Columns = np.ndarray | list[str]


class TableRows:
    """Collects the rows of a table.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    is_label : ndarray of bool
    path : path
        As shown in messages.
    """

    def __init__(self, names: Sequence[str], is_label: np.ndarray, path: Path_) -> None:
        self.names, self.is_label, self.path = list(names), is_label, path
        self.text: dict[int, dict[str, int]] = {}  # text columns: their values, numbered as they come
        self.known: set[int] = set(np.flatnonzero(is_label).tolist())  # columns of which it is known whether they are text
        self.features: list[np.ndarray] = []
        self.labels: list[np.ndarray] = []
        chosen = [name for name, flag in zip(self.names, is_label) if flag]
        if len(set(chosen)) < len(chosen):
            twice = next(name for name in chosen if chosen.count(name) > 1)
            raise DataError(f"two labels are called {twice[:60]!r}; rename one.", path=path)

    @property
    def only_numbers(self) -> bool:
        """Whether no column is text so far."""
        return not self.text

    def add(self, table: np.ndarray, lines: Sequence[int]) -> None:
        """Take rows of numbers."""
        self.known.update(range(len(self.names)))
        self._add(table, lines)

    def add_text(self, records: list[list[str]], lines: Sequence[int]) -> None:
        """Take rows of cells."""
        self.add_columns([list(column) for column in zip(*records, strict=True)], lines)

    def add_columns(self, columns: Sequence[Columns], lines: Sequence[int]) -> None:
        """Take rows as columns of numbers or of cells."""
        table = np.empty((len(lines), len(self.names)))
        for position, column in enumerate(columns):
            table[:, position] = column if isinstance(column, np.ndarray) else self._numbers(position, column, lines)
        self._add(table, lines)

    def _numbers(self, position: int, column: list[str], lines: Sequence[int]) -> list[float]:
        cells = [cell.strip() for cell in column]
        if position not in self.known:
            first = next((cell for cell in cells if cell not in MISSING), None)
            if first is not None:
                self.known.add(position)
                if not _is_number(first):
                    self.text[position] = {}
        if position in self.text:
            codes = self.text[position]
            return [np.nan if cell in MISSING else codes.setdefault(cell, len(codes)) for cell in cells]
        return [self._number(cell, position, line) for cell, line in zip(cells, lines)]

    def _number(self, cell: str, position: int, line: int) -> float:
        if cell in MISSING:
            return np.nan
        if self.is_label[position] and cell.upper() in LABEL_WORDS:
            return LABEL_WORDS[cell.upper()]
        try:
            return number(cell)
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
                    f"label {name!r} is {labels[row, column]:g}; labels are 0 and 1, or -1 and +1. Does labels=… name the right columns?"
                )
            raise DataError(problem, path=self.path, line=lines[row])
        self.labels.append(labels.astype(np.int8))
        self.features.append(table[:, ~self.is_label])

    def finish(self, nominal: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """X, Y, names of features, names of labels, and names of dropped columns."""
        Y, X = np.concatenate(self.labels), np.concatenate(self.features)
        self.labels.clear()
        self.features.clear()
        attributes = [self._attribute(position, X) for position in np.flatnonzero(~self.is_label).tolist()]
        X, kept = without_identifiers(X, attributes)
        dropped = [attribute.name for attribute in attributes if not any(attribute is one for one in kept)]
        names = [attribute.name for attribute in kept]
        if nominal == "onehot":
            X, names = without_nominals(X, kept, self.path)
        if not names:
            raise DataError("no feature is left beside labels and row identifiers; does labels=… name the right columns?", path=self.path)
        label_names = tuple(name for name, flag in zip(self.names, self.is_label) if flag)
        return X, self._zero_one(Y), tuple(names), label_names, tuple(dropped)

    def _attribute(self, position: int, X: np.ndarray) -> Attribute:
        """Attribute of a feature column; the numbers of a text column are put into the order of its sorted values."""
        if position not in self.text:
            return Attribute(self.names[position], "numeric")
        values = tuple(sorted(self.text[position]))
        codes = feature_codes(values)
        by_number = np.array([codes[value] for value in self.text[position]])
        column = int(np.count_nonzero(~self.is_label[:position]))
        given = ~np.isnan(X[:, column])
        X[given, column] = by_number[X[given, column].astype(np.int64)]
        return Attribute(self.names[position], "nominal", values)

    def _zero_one(self, Y: np.ndarray) -> np.ndarray:
        """Labels in -1 and +1 as 0 and 1; a label with -1 and 0 is refused."""
        negative = (Y == -1).any(axis=0)
        mixed = np.flatnonzero(negative & (Y == 0).any(axis=0))
        if mixed.size:
            name = self.names[np.flatnonzero(self.is_label)[mixed[0]]]
            raise DataError(f"label {name[:60]!r} holds -1 and 0; labels are 0 and 1, or -1 and +1: recode it.", path=self.path)
        return (Y == 1).astype(np.int64)


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True
