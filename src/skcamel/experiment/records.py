"""A study folder: records of finished and failed units, read by :class:`Records`, and appended by the run that works there."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Self, overload

from skcamel import files
from skcamel.experiment.units import (
    PLACE,
    RecordsError,
    Unit,
    check_failure,
    check_record,
    decoded,
    read_cards,
    read_metrics,
    read_requests,
)
from skcamel.files import whole_file
from skcamel.metrics.conventions import NAMES
from skcamel.text import plain_cell

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

RECORDS, FAILURES, LOCK = "records.jsonl", "failures", "lock"
FOLD = itemgetter(
    "dataset", "method", "preset", "seed", "fold", "folds", "n_folds"
)  # of a record: what may be tried several times
Record = dict[str, Any]


class Records(Sequence[Record]):
    """The finished units of a study folder, as they were when this object was made.

    Parameters
    ----------
    folder : str or path
        What ``run_study(out=folder)`` filled; a study may still run there.

    Attributes
    ----------
    failures : list of dict
        Units that failed: their fields, and the `error` and `traceback` of the last try.
    folder : Path
    asked : frozenset of str
        Keys of the units that the run asked for which returned this object; empty where the folder
        was only read.

    Notes
    -----
    Records come sorted by data set, method, preset, seed and fold. A metric that is undefined is
    NaN.

    Examples
    --------
    >>> from skcamel.data import Dataset
    >>> from skcamel.experiment import run_study
    >>> data = Dataset([[float(i)] for i in range(12)], [[i % 2, int(i > 5)] for i in range(12)], name="tiny")
    >>> records = run_study([data], ["br"], preset="quick")
    >>> len(records), records[0]["dataset"], records[0]["method"], records[0]["fold"]
    (3, 'tiny', 'br', 0)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.asked: frozenset[str] = frozenset()
        if not self.folder.is_dir():
            raise FileNotFoundError(
                f"{self.folder} is not a folder; give the one that skcamel study -o wrote."
            )
        finished: dict[str, Record] = {}
        last: dict[tuple[Any, ...], Record] = {}  # word on each fold, under whatever settings
        for record in sorted(_read(self.folder), key=_time):
            last[FOLD(record)] = record
            if not _has_failed(record):
                finished[Unit.of(record).key] = record
        self._records = _sorted(finished.values())
        self.failures = _sorted(record for record in last.values() if _has_failed(record))

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        return self._records[index]

    def __repr__(self) -> str:
        return f"Records({str(self.folder)!r}: {len(self)} finished, {len(self.failures)} failed)"

    def to_frame(self) -> Any:
        """A table of pandas with one row for each unit; metrics beside the seven have columns of their own."""
        import pandas as pd

        return pd.DataFrame([{**record, **record.get("more", {})} for record in self]).drop(
            columns="more", errors="ignore"
        )


def encoded(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON; undefined metrics are null."""
    return (json.dumps(finite(record), separators=(",", ":"), allow_nan=False) + "\n").encode()


def finite(row: Mapping[str, Any]) -> Record:
    """With None for NaN and infinity, which JSON lacks."""

    def plain(value: Any) -> Any:
        return (
            finite(value)
            if isinstance(value, dict)
            else None
            if isinstance(value, float) and not math.isfinite(value)
            else value
        )

    return {name: plain(value) for name, value in row.items()}


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under a header of all their names; no text in it is a formula to a spreadsheet."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = csv.writer(text, lineterminator="\n")
    for cells in (names, *([row.get(name) for name in names] for row in rows)):
        lines.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue()


def _read(folder: Path) -> list[Record]:
    """All finished and failed units, in the order in which they were written."""
    if any((folder / "units").glob("*.json")):
        cure = "append its files to records.jsonl (cat units/*.json >> records.jsonl) and remove it"
        raise RecordsError(f"{folder} has a folder units, as earlier versions wrote it; {cure}.")
    return [*_read_failures(folder / FAILURES), *_read_lines(folder / RECORDS)]


def _read_failures(folder: Path) -> list[Record]:
    """Failures that have a file of their own, as earlier versions wrote them."""
    found = []
    for path in sorted(folder.glob("[0-9a-f]*.json")):
        try:
            found.append(_decoded(path.read_bytes()))
        except (ValueError, IsADirectoryError) as error:
            raise RecordsError(
                f"{path} is damaged ({error}); delete it, and the next run computes this unit"
                " again."
            ) from error
    return found


def _read_lines(path: Path) -> list[Record]:
    """Lines of the file of records; the last one may be torn by a kill, and then does not count."""
    try:
        *lines, rest = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except IsADirectoryError as error:
        raise RecordsError(
            f"{path} is a folder, not a file of records; move it elsewhere."
        ) from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_decoded(line))
        except ValueError as error:
            cure = "delete this line, and the next run computes its unit again"
            raise RecordsError(f"{path}, line {number}: damaged ({error}); {cure}.") from error
    return found + ([_decoded(rest)] if _is_whole(rest) else [])


def _is_whole(line: bytes) -> bool:
    """Whether a line without an end is a record."""
    try:
        _decoded(line)
    except ValueError:
        return False
    return True


def _decoded(text: bytes) -> Record:
    """A record or a failure; a metric that is undefined is NaN."""
    record = decoded(text, _check)
    try:
        Unit.of(record).key  # noqa: B018 (every unit has one)
    except RecursionError as error:
        raise ValueError("its settings are nested too deeply") from error
    values = {
        name: math.nan if value is None and name.partition("_by_")[0] in NAMES else value
        for name, value in record.items()
    }
    more = {
        name: math.nan if value is None else value for name, value in record.get("more", {}).items()
    }
    return values | ({"more": more} if "more" in record else {})


def _check(record: Any) -> None:
    (check_failure if isinstance(record, dict) and _has_failed(record) else check_record)(record)


def _has_failed(record: Mapping[str, Any]) -> bool:
    return "error" in record


def _time(record: Mapping[str, Any]) -> str:
    """When it was finished; before all others where it does not say."""
    return record.get("finished_at", "")


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: (*PLACE(record), Unit.of(record).key))


class StudyFolder:
    """A study folder while a run works in it, made if it is not there. A second run is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, StudyFolder(Path(place)):
    ...     StudyFolder(Path(place))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    skcamel.experiment.units.RecordsError: Another study writes into ...; wait until it has ended, or choose another folder.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = _locked(path)
        try:
            self._file = (path / RECORDS).open("ab", buffering=0)
            self._mend()
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._lock.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record or a failure, whole or not at all."""
        line = encoded(
            {**record, "finished_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
        )
        end = self._file.seek(0, os.SEEK_END)
        if self._file.write(line) != len(line):
            self._file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path / RECORDS))
        os.fsync(self._file.fileno())

    def add_requests(
        self, requests: Sequence[Mapping[str, Any]], metrics: Mapping[str, Any]
    ) -> None:
        """Note in ``study.json`` what was asked for, and what metrics beside the seven are, if it is new."""
        runs, known = read_requests(self.path), read_metrics(self.path)
        for name, entry in metrics.items():
            if known.get(name, entry) != entry:
                cure = "give it another name, or choose another folder"
                raise RecordsError(
                    f"{self.path} holds a metric {name} that is another one; {cure}."
                )
        new = [request for request in requests if request not in runs]
        if new or not metrics.keys() <= known.keys():
            every = {**known, **metrics}
            _write_json(
                self.path / "study.json",
                {"runs": [*runs, *new]} | ({"metrics": every} if every else {}),
            )

    def add_card(self, name: str, card: Mapping[str, Any]) -> None:
        """Note the card of a data set in ``cards.json``."""
        _write_json(self.path / "cards.json", read_cards(self.path) | {name: card})

    def sweep(self) -> None:
        """Remove what runs that were killed while writing left behind, and nothing else."""
        files.sweep(self.path)

    def _mend(self) -> None:
        """End the last line if it is whole, and remove it if a kill has torn it."""
        content = (self.path / RECORDS).read_bytes()
        rest = content.rpartition(b"\n")[2]
        if _is_whole(rest):
            self._file.write(b"\n")
        elif rest:
            self._file.truncate(len(content) - len(rest))


def _locked(folder: Path) -> BinaryIO:
    """The file that says that a run works in a folder; the system frees it when the run ends, however it ends."""
    file = (folder / LOCK).open("ab")
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if isinstance(error, (BlockingIOError, PermissionError)):
            raise RecordsError(
                f"Another study writes into {folder}; wait until it has ended, or choose another"
                " folder."
            ) from error
        cure = "this file system gives no locks; put the folder on another disk"
        raise OSError(error.errno, cure, str(folder / LOCK)) from error
    return file


def _write_json(path: Path, value: Any) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, allow_nan=False) + "\n").encode())
