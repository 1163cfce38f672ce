"""The one error that every reader raises about the content of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from skcamel import memory


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
CLAIMED_ALWAYS = 2**29  # bytes that a file may claim for cells that it does not store, however small it is;
CLAIMED_RATIO = 512  # or this many times its size on disk
LABEL_BYTES = 12  # of one label at the peak: eight that stay, and four while they are checked
FEWER = "Keep a part of its rows or columns, or give this process more memory."


def check_memory(needed: float, what: str, path: str | os.PathLike[str], cure: str = FEWER) -> None:
    """Refuse work on a file that needs more bytes than this process may still use; see :func:`skcamel.memory.require`.

    Examples
    --------
    >>> check_memory(2.0**60, "Its header", "wide.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    skcamel.data.errors.DataError: wide.csv: Its header needs about 1073741824.0 GiB of memory and ...
    """
    try:
        memory.require(needed, what, cure)
    except MemoryError as error:
        raise DataError(str(error), path=path) from None


def check_proportion(needed: float, what: str, path: str | os.PathLike[str]) -> None:
    """Refuse what is out of proportion to the size of the file, however much memory there is; `what` is in plural."""
    if needed > max(CLAIMED_ALWAYS, CLAIMED_RATIO * os.path.getsize(path)):
        raise DataError(f"{what} need {memory.gib(needed)}, out of proportion to a file of its size; keep a part of them.", path=path)


def check_claimed_size(needed: float, what: str, path: str | os.PathLike[str]) -> None:
    """Refuse what a file claims, before it is allocated: where it is out of proportion, or does not fit.

    Parameters
    ----------
    needed : float
        Bytes at the peak.
    what : str
        What needs them, in plural.
    path : path
        An existing file.
    """
    check_proportion(needed, what, path)
    check_memory(needed, f"Room for {what}", path)


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
