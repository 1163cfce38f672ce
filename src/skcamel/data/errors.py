"""The one error that every reader raises about the content of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


class DataError(ValueError):
    """A file does not hold what its format or its companions say.

    The message names the file and, where one is at fault, its line; then what was found, what is wrong and what to do.

    Parameters
    ----------
    message : str
        What was found, what is wrong, what to do.
    path : str or path, optional
        File at fault; the message shows its name, `path` keeps the whole.
    line : int, optional
        Line at fault, counted from 1.

    Examples
    --------
    >>> raise DataError("77 values, header declares 78; is the matching XML file from the same release?", path="emotions.arff", line=81)
    Traceback (most recent call last):
        ...
    skcamel.data.errors.DataError: emotions.arff, line 81: 77 values, header declares 78; is the matching XML file from the same release?
    """

    def __init__(self, message: str, *, path: str | os.PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        where = "" if self.path is None else Path(self.path).name
        where += "" if line is None else f", line {line}"
        super().__init__(f"{where}: {message}" if where else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.message, self.path, self.line)


def _rebuild(message: str, path: str | None, line: int | None) -> DataError:
    """Copy that crossed a process boundary."""
    return DataError(message, path=path, line=line)


ALWAYS_PLAUSIBLE = 2**20  # columns; more are believed where the file stores at least one value for 64 of them
CLAIMED_BYTES_LIMIT = 2**32  # of a dense matrix whose size is claimed by a header rather than filled by the file


def check_claimed_size(rows: int, columns: int, what: str, path: str | os.PathLike[str]) -> None:
    """Refuse a dense matrix that a small file could make arbitrarily large, before it is allocated.

    Examples
    --------
    >>> check_claimed_size(10**6, 10**6, "labels", "huge.txt")
    Traceback (most recent call last):
        ...
    skcamel.data.errors.DataError: huge.txt: 1000000 rows x 1000000 labels need 7450.6 GiB; keep a part of the labels or of the rows.
    """
    needed = 8 * rows * columns
    if needed > CLAIMED_BYTES_LIMIT:
        raise DataError(
            f"{rows} rows x {columns} {what} need {needed / 2**30:.1f} GiB; keep a part of the {what} or of the rows.", path=path
        )


def check_plausible_width(width: int, stored: int, what: str, path: str | os.PathLike[str], cure: str = "is the file damaged?") -> None:
    """Refuse numbers of columns that no real file of so few values has: each column needs a name.

    Examples
    --------
    >>> check_plausible_width(10**12, 3, "features", "odd.txt")
    Traceback (most recent call last):
        ...
    skcamel.data.errors.DataError: odd.txt: 1000000000000 features, but only 3 stored in the file; is the file damaged?
    """
    if width > max(ALWAYS_PLAUSIBLE, 64 * stored):
        raise DataError(f"{width} {what}, but only {stored} stored in the file; {cure}", path=path)
