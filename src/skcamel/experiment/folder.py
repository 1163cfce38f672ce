"""StudyFolder: the writing side of a study folder; who may do a unit, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from skcamel import files
from skcamel.experiment.contents import read_cards
from skcamel.experiment.locks import UnitLocks
from skcamel.experiment.records import COMPACT, FAILURES, LOCK, UNITS, encoded, read_compact
from skcamel.experiment.shapes import check_runs, read_json
from skcamel.files import whole_file


class StudyFolder:
    """A study folder while a run works in it. One process writes: the one that called `run_study`.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    """

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
        """Try to get a unit: "mine" to do now, "busy" in another run, "done", or "failed" in another run since this one began."""
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
        """Write the record of a claimed unit, once and whole, and let the unit go."""
        with whole_file(self.path / UNITS / f"{key}.json") as file:
            file.write(encoded({**record, "finished_at": _now()}))
        (self.path / FAILURES / f"{key}.json").unlink(missing_ok=True)
        self.locks.free(key)

    def fail(self, key: str, failure: Mapping[str, Any]) -> None:
        """Write down how a claimed unit failed, and let the unit go."""
        with whole_file(self.path / FAILURES / f"{key}.json") as file:
            file.write((json.dumps({**failure, "finished_at": _now()}, indent=1) + "\n").encode())
        self.locks.free(key)

    def sweep(self) -> None:
        """Remove what runs left behind that were killed while writing, and nothing else."""
        for folder in (self.path, self.path / UNITS, self.path / FAILURES):
            files.sweep(folder)

    def add_request(self, request: Mapping[str, Any]) -> None:
        """Note in ``study.json`` what was asked for, if it is new."""
        with self.locks.whole_folder():
            runs = read_json(self.path / "study.json", {"runs": []}, check_runs)["runs"]
            if request not in runs:
                _write_json(self.path / "study.json", {"runs": [*runs, request]})

    def cards(self) -> dict[str, Mapping[str, Any]]:
        """Cards of the data sets met so far, by name."""
        return read_cards(self.path)

    def add_card(self, name: str, card: Mapping[str, Any]) -> None:
        """Note the card of a data set in ``cards.json``."""
        with self.locks.whole_folder():
            _write_json(self.path / "cards.json", self.cards() | {name: card})

    def _compacted(self) -> frozenset[str]:
        """Keys in the compact file, read again only when that file has changed."""
        try:
            facts = (self.path / COMPACT).stat()
        except FileNotFoundError:
            return frozenset()
        if self._compact_seen != (facts.st_ino, facts.st_mtime_ns):
            self._compact_seen, self._compact_keys = (facts.st_ino, facts.st_mtime_ns), frozenset(read_compact(self.path / COMPACT))
        return self._compact_keys

    def _failed_meanwhile(self, key: str) -> bool:
        try:
            return (self.path / FAILURES / f"{key}.json").stat().st_mtime_ns != self._failed_before.get(key)
        except FileNotFoundError:
            return False


def _now() -> str:
    """By which the newest of several settings is found."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _write_json(path: Path, value: Any) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, allow_nan=False) + "\n").encode())
