"""A study folder: one line of JSON for each unit that finished or failed."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from skcamel.metrics.seven import NAMES

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Record = dict[str, Any]
Translate = Callable[[Any], Any]
RECORDS, LOCK = "records.jsonl", "lock"
# The version of what a method computes from the same parameters. Raise it when results change:
# records of earlier versions are then computed anew, and tables say that they are out of date.
VERSIONS = {
    "br": 2,
    "ecc": 2,
    "rakel": 2,
    "camel[quick]": 2,
    "camel[best]": 2,
    "camel-per-metric[quick]": 2,
    "camel-per-metric[best]": 2,
}
PLACE = itemgetter("dataset", "method", "preset", "seed", "fold")  # by which records are sorted
PLAN = itemgetter("dataset", "method", "preset", "seed", "folds", "n_folds", "fold")
TEXTS = ("dataset", "method", "preset", "folds")
NUMBERS = ("fold", "n_folds", "seed")


class RecordsError(ValueError):
    """A file of a study folder cannot be read, or does not belong there."""


def version_of(method: str, preset: str) -> int:
    """The version of what a method of the library computes under a preset.

    >>> version_of("camel", "paper"), version_of("br", "paper")
    (1, 2)
    """
    return VERSIONS.get(f"{method}[{preset}]", VERSIONS.get(method, 1))


class Records(list[Record]):
    """The finished units of a study folder, as they were when this object was made.

    Parameters
    ----------
    folder : str or path
        What ``run_study(out=folder)`` filled; a study may still run there.

    Attributes
    ----------
    failures : list of dict
        Units that failed, with the `error` and `traceback` of the last try.
    folder : Path

    Notes
    -----
    Records come sorted by data set, method, preset, seed and fold. Of each data set, method and
    preset only the settings of the line that was written last count. A metric that is undefined is
    NaN.

    Examples
    --------
    >>> from skcamel.data import Dataset
    >>> from skcamel.experiment import run_study
    >>> X, Y = [[float(i)] for i in range(12)], [[i % 2, int(i > 5)] for i in range(12)]
    >>> records = run_study([Dataset(X, Y, name="tiny")], ["br"], preset="quick")
    >>> len(records), records[0]["dataset"], records[0]["method"], records[0]["fold"]
    (3, 'tiny', 'br', 0)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.planned: frozenset[tuple[Any, ...]] = frozenset()
        if not self.folder.is_dir():
            raise FileNotFoundError(
                f"{self.folder} is not a folder; give the one that skcamel study -o wrote."
            )
        lines = _read_lines(self.folder / RECORDS)
        last = {PLAN(record): record for record in lines}
        self.failures = sorted((one for one in last.values() if "error" in one), key=PLACE)
        finished = [record for record in lines if "error" not in record]
        newest = {PLACE(record)[:3]: _work(record) for record in finished}
        valid = {}
        for record in finished:
            if _work(record) == newest[PLACE(record)[:3]]:
                valid[PLAN(record)] = record
        super().__init__(sorted(valid.values(), key=PLACE))

    def __repr__(self) -> str:
        return f"Records({str(self.folder)!r}: {len(self)} finished, {len(self.failures)} failed)"

    def of_run(self) -> list[list[Record]]:
        """Finished and failed units of the call of ``run_study`` that returned this object."""
        return [
            [one for one in all_ if PLAN(one) in self.planned] for all_ in (self, self.failures)
        ]

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each finished unit."""
        import pandas as pd

        return pd.DataFrame(list(self))


def _work(record: Record) -> str:
    """What computed a record: version, settings and data."""
    work = [record.get(name) for name in ("version", "settings", "data_sha256")]
    return json.dumps(work, sort_keys=True)


def jsonable(value: Any, other: Translate | None = None, infinite: Translate = str) -> Any:
    """What strict JSON can hold; what `other` makes of an object, else the text that describes it.

    >>> jsonable({"alpha": np.float64(0.5), "kernels": ("rbf",), "limit": np.inf})
    {'alpha': 0.5, 'kernels': ['rbf'], 'limit': 'inf'}
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and other is None):
        value = value.tolist()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else infinite(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item, other, infinite) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, other, infinite) for item in value]
    if other is not None:
        return other(value)
    return repr(value).partition(" at 0x")[0]


def encoded(record: Record) -> bytes:
    """One line of strict JSON; undefined metrics are null."""
    plain = jsonable(record, infinite=lambda _: None)
    text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode()


def _decoded(line: bytes) -> Record:
    """The record of a line; ValueError says what is wrong with it."""
    try:
        record = dict(json.loads(line))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError("it is no mapping in JSON") from error
    record = {name: math.nan if value is None else value for name, value in record.items()}
    needed: dict[str, Any] = dict.fromkeys(TEXTS, str) | dict.fromkeys(NUMBERS, int)
    if "error" not in record:
        needed |= dict.fromkeys(NAMES, (int, float))
    for name, kind in needed.items():
        if not isinstance(record.get(name), kind):
            raise ValueError(f"{name} is {record.get(name)!r}")  # noqa: TRY004 (of the file)
    if not 0 <= record["fold"] < record["n_folds"]:
        raise ValueError(f"fold is {record['fold']} of {record['n_folds']}")
    return record


def _read_lines(path: Path) -> list[Record]:
    """Records of a file in the order of its lines."""
    try:
        *lines, _ = path.read_bytes().split(b"\n")  # a kill may have torn the last one
    except FileNotFoundError:
        return []
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_decoded(line))
        except ValueError as error:
            raise RecordsError(
                f"{path}, line {number}: damaged ({error}); delete this line, and the next run"
                " computes its unit again."
            ) from error
    return found


class StudyFolder:
    """A study folder while a run works in it, made if it is not there. A second run is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, StudyFolder(Path(place)):
    ...     StudyFolder(Path(place))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    skcamel.experiment.records.RecordsError: Another study writes into ...
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = _locked(path)
        try:
            self._file = (path / RECORDS).open("ab", buffering=0)
            whole = (path / RECORDS).read_bytes().rfind(b"\n") + 1
            self._file.truncate(whole)  # a kill may have torn the last line
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._lock.close()

    def append(self, record: Record) -> None:
        """Write a record or a failure, whole or not at all."""
        line = encoded(record)
        end = self._file.seek(0, os.SEEK_END)
        if self._file.write(line) != len(line):
            self._file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path / RECORDS))
        os.fsync(self._file.fileno())


def _locked(folder: Path) -> BinaryIO:
    """The file that a run has locked; the system frees it when the run ends, however it ends."""
    file = (folder / LOCK).open("ab")
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        file.close()
        raise RecordsError(
            f"Another study writes into {folder}; wait until it has ended, or choose another"
            " folder."
        ) from error
    return file
