"""A study folder: records of finished units to read and export, and the writing side of a run."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, overload

from skcamel import files, memory
from skcamel.experiment.locks import UnitLocks
from skcamel.experiment.units import (
    KEY,
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

UNITS, FAILURES, COMPACT, LOCK = "units", "failures", "records.jsonl", "lock"
MEMORY_PER_BYTE = 8  # of the compact file, at the peak: text, lines and mappings
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
        Keys of the units that the run asked for which returned this object; empty where the folder was only read.

    Notes
    -----
    Records come sorted by data set, method, preset, seed and fold. A metric that is undefined is NaN.

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
            raise FileNotFoundError(f"{self.folder} is not a folder; give the one that skcamel study --out wrote.")
        # units first: what is compacted in between is found in the second place, and nothing is missed
        single = _read_units(self.folder / UNITS, check_record)
        found = _read_compact(self.folder / COMPACT) | single
        self._records = _sorted(found.values())
        self.failures = _sorted(_still_failed(found, _read_units(self.folder / FAILURES, check_failure)))

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

        return pd.DataFrame([{**record, **record.get("more", {})} for record in self]).drop(columns="more", errors="ignore")

    def compact(self) -> Path:
        """Move all finished units of the folder into one sorted text file, ``records.jsonl``, for version control; return its path.

        It does not disturb a run that works in the folder, and does not change this object.
        """
        with UnitLocks(self.folder / LOCK) as locks, locks.whole_folder():
            units = _read_units(self.folder / UNITS, check_record)
            records = _sorted((_read_compact(self.folder / COMPACT) | units).values())
            with whole_file(self.folder / COMPACT) as file:
                file.writelines(encoded(record) for record in records)
            for key in units:
                (self.folder / UNITS / f"{key}.json").unlink(missing_ok=True)
        return self.folder / COMPACT


def encoded(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON; undefined metrics are null."""
    return (json.dumps(finite(record), separators=(",", ":"), allow_nan=False) + "\n").encode()


def finite(row: Mapping[str, Any]) -> Record:
    """With None for NaN and infinity, which JSON lacks."""

    def plain(value: Any) -> Any:
        return finite(value) if isinstance(value, dict) else None if isinstance(value, float) and not math.isfinite(value) else value

    return {name: plain(value) for name, value in row.items()}


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under a header of all their names; no text in it is a formula to a spreadsheet."""
    text = io.StringIO()
    names = _columns(rows)
    lines = csv.writer(text, lineterminator="\n")
    for cells in (names, *([row.get(name) for name in names] for row in rows)):
        lines.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue()


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys, in the order of their first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _write_json(path: str | os.PathLike[str], value: Any) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def _read_units(folder: Path, check: Callable[[Any], None]) -> dict[str, Record]:
    """Records or failures that have a file of their own, by key."""
    found = {}
    for path in folder.glob("*.json"):
        if not KEY.fullmatch(path.stem):
            continue  # not a file of ours
        try:
            key, record = _decoded(path.read_bytes(), check)
        except FileNotFoundError:
            continue  # compacted, or done at last, since the folder was listed
        except (ValueError, IsADirectoryError) as error:
            raise RecordsError(f"{path} is damaged ({error}); delete it, and the next run computes this unit again.") from error
        found[key] = record
    return found


def _read_compact(path: Path) -> dict[str, Record]:
    """Records of the compact file, by key; none where there is no such file."""
    try:
        memory.require(MEMORY_PER_BYTE * path.stat().st_size, f"{path}", "Split the study into several folders.")
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except IsADirectoryError as error:
        raise RecordsError(f"{path} is a folder, not a file of records; move it elsewhere.") from error
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            key, record = _decoded(line, check_record)
        except ValueError as error:
            cure = "delete this line, and the next run computes its unit again"
            raise RecordsError(f"{path}, line {number}: damaged ({error}); {cure}.") from error
        found[key] = record
    return found


def _decoded(text: bytes, check: Callable[[Any], None]) -> tuple[str, Record]:
    """Key of the unit, and its record; a metric that is undefined is NaN."""
    record = decoded(text, check)
    try:
        key = Unit.of(record).key
    except RecursionError as error:
        raise ValueError("its settings are nested too deeply") from error
    values = {name: math.nan if value is None and name.partition("_by_")[0] in NAMES else value for name, value in record.items()}
    more = {name: math.nan if value is None else value for name, value in record.get("more", {}).items()}
    return key, values | ({"more": more} if "more" in record else {})


def _still_failed(found: Mapping[str, Record], failed: Mapping[str, Record]) -> list[Record]:
    """Failures that are the last word on their fold: no later try of it finished or failed, under whatever settings."""

    def place(record: Record) -> tuple[Any, ...]:
        return (*PLACE(record), record["folds"], record["n_folds"])

    last: dict[tuple[Any, ...], str] = {}
    for record in (*found.values(), *failed.values()):
        last[place(record)] = max(last.get(place(record), ""), record.get("finished_at", ""))

    def done_since(key: str, failure: Record) -> bool:
        return key in found and found[key].get("finished_at", "") >= failure.get("finished_at", "")

    return [
        failure
        for key, failure in failed.items()
        if failure.get("finished_at", "") == last[place(failure)] and not done_since(key, failure)
    ]


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: (*PLACE(record), Unit.of(record).key))


class StudyFolder:
    """A study folder while a run works in it, made if it is not there. One process writes: the one that called `run_study`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in (UNITS, FAILURES):
            (path / name).mkdir(parents=True, exist_ok=True)
        self.locks = UnitLocks(path / LOCK)
        self._compact_seen: tuple[int, int] | None = None
        self._compact_keys: frozenset[str] = frozenset()
        self._failed_before = {file.stem: file.stat().st_mtime_ns for file in (path / FAILURES).glob("*.json")}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.locks.__exit__(*error)

    def claim(self, key: str) -> str:
        """Try to get a unit: "mine" to run now, "busy" in another run, "done", or "failed" in another run since this one began."""
        if self.is_finished(key):
            return "done"
        if not self.locks.take(key):
            return "busy"
        state = "done" if self.is_finished(key) else "failed" if self._failed_meanwhile(key) else "mine"
        if state != "mine":
            self.locks.free(key)
        return state

    def is_finished(self, key: str) -> bool:
        """Whether any run has finished the unit."""
        return (self.path / UNITS / f"{key}.json").exists() or key in self._compacted()

    def finish(self, key: str, record: Mapping[str, Any]) -> None:
        """Write the record of a claimed unit, whole, and release the unit."""
        with whole_file(self.path / UNITS / f"{key}.json") as file:
            file.write(encoded({**record, "finished_at": _now()}))
        (self.path / FAILURES / f"{key}.json").unlink(missing_ok=True)
        self.locks.free(key)

    def fail(self, key: str, failure: Mapping[str, Any]) -> None:
        """Write down how a claimed unit failed, and release the unit."""
        _write_json(self.path / FAILURES / f"{key}.json", {**failure, "finished_at": _now()})
        self.locks.free(key)

    def sweep(self) -> None:
        """Remove what runs that were killed while writing left behind, and nothing else."""
        for folder in (self.path, *(self.path / name for name in (UNITS, FAILURES))):
            if folder.is_dir():
                files.sweep(folder)

    def add_requests(self, requests: Sequence[Mapping[str, Any]], metrics: Mapping[str, Any]) -> None:
        """Note in ``study.json`` what was asked for, and what metrics beside the seven are, if it is new."""
        with self.locks.whole_folder():
            runs, known = read_requests(self.path), read_metrics(self.path)
            for name, entry in metrics.items():
                if known.get(name, entry) != entry:
                    cure = "give it another name, or choose another folder"
                    raise RecordsError(f"{self.path} holds a metric {name} that is another one; {cure}.")
            new = [request for request in requests if request not in runs]
            if new or not metrics.keys() <= known.keys():
                every = {**known, **metrics}
                _write_json(self.path / "study.json", {"runs": [*runs, *new]} | ({"metrics": every} if every else {}))

    def add_card(self, name: str, card: Mapping[str, Any]) -> None:
        """Note the card of a data set in ``cards.json``."""
        with self.locks.whole_folder():
            _write_json(self.path / "cards.json", read_cards(self.path) | {name: card})

    def _compacted(self) -> frozenset[str]:
        """Keys in the compact file, read again only when that file has changed."""
        try:
            facts = (self.path / COMPACT).stat()
        except FileNotFoundError:
            return frozenset()
        if self._compact_seen != (facts.st_ino, facts.st_mtime_ns):
            self._compact_seen, self._compact_keys = (facts.st_ino, facts.st_mtime_ns), frozenset(_read_compact(self.path / COMPACT))
        return self._compact_keys

    def _failed_meanwhile(self, key: str) -> bool:
        try:
            return (self.path / FAILURES / f"{key}.json").stat().st_mtime_ns != self._failed_before.get(key)
        except FileNotFoundError:
            return False


def _now() -> str:
    """By which the newest of several settings is found."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
