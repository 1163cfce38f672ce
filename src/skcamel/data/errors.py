"""The one error that every reader raises about the content of a file; nothing here imports numpy."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

Path_ = str | os.PathLike[str]


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

    def __init__(self, message: str, *, path: Path_ | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        where = "" if self.path is None else Path(self.path).name
        where += "" if line is None else f", line {line}"
        super().__init__(f"{where}: {message}" if where else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(DataError, path=self.path, line=self.line), (self.message,)
