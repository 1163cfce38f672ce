"""Arrays and counts that grow while a file is read, and ask for the memory before they take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from skcamel.data.errors import check_memory, check_proportion
from skcamel.data.text import Path_

GROWTH = 1.25  # each step; untouched rest at the end is given back
FIRST_BYTES = 2**16
NAME_BYTES = 150  # of a short text in a tuple and in a set, on top of its characters


class Growing:
    """An array to which rows are added; nothing is copied at the end.

    Parameters
    ----------
    dtype : dtype
    width : int, optional
        Columns; without it the array has one dimension.
    later : int, default=0
        Bytes for each value that the work after reading takes on top.

    Examples
    --------
    >>> numbers = Growing("int64")
    >>> numbers.extend(np.array([1, 2]), "a.csv")
    >>> numbers.finish()
    array([1, 2])
    """

    def __init__(self, dtype: Any, width: int | None = None, *, later: int = 0) -> None:
        self.rest = () if width is None else (width,)
        self.values = np.empty((0, *self.rest), dtype=dtype)
        self.size = 0
        values = 1 if width is None else width
        self.row_bytes, self.later_bytes = values * self.values.itemsize, values * later

    def extend(self, rows: np.ndarray, path: Path_) -> None:
        """Add rows that were found in the file `path`."""
        size = self.size + len(rows)
        held = len(self.values)
        if size > held:
            capacity = max(size, int(GROWTH * held), FIRST_BYTES // max(self.row_bytes, 1))
            needed = (capacity - held) * self.row_bytes + capacity * self.later_bytes
            check_memory(needed, f"Reading on after {self.size} {'rows' if self.rest else 'values'}", path)
            self.values.resize((capacity, *self.rest), refcheck=False)  # no view of it leaves before the end
        self.values[self.size : size] = rows
        self.size = size

    def finish(self) -> np.ndarray:
        """All rows; the object is empty afterwards."""
        values, size = self.values, self.size
        self.values, self.size = np.empty((0, *self.rest), dtype=values.dtype), 0
        values.resize((size, *self.rest), refcheck=False)
        return values


class Tally:
    """Counts the bytes that Python objects hold, such as names, and asks for more before they have grown by a quarter."""

    def __init__(self, what: str) -> None:
        self.what, self.held, self.granted = what, 0, 0

    def add(self, n_bytes: int, path: Path_) -> None:
        """Count what was found in the file `path`."""
        self.held += n_bytes
        if self.held > self.granted:
            self.granted = int(GROWTH * self.held) + FIRST_BYTES
            check_proportion(self.granted, self.what, path)
            check_memory(self.granted - self.held + n_bytes, f"Room for {self.what}", path)
