"""Records: what a study folder holds, one flat mapping for each finished unit; reading, exporting and compacting."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skcamel import memory
from skcamel.experiment.locks import UnitLocks
from skcamel.experiment.shapes import RecordsError, check_failure, check_record, decoded
from skcamel.experiment.units import KEY, Unit
from skcamel.files import whole_file
from skcamel.metrics.conventions import NAMES
from skcamel.text import plain_cell

UNITS, FAILURES, COMPACT, LOCK = "units", "failures", "records.jsonl", "lock"
Record = dict[str, Any]
MEMORY_PER_BYTE = 8  # of the compact file, at the peak: text, lines and mappings


class Records(Sequence[Record]):
    """The finished units of a study folder, as they were when this object was made.

    Parameters
    ----------
    folder : str or path
        What ``run_study(out=folder)`` filled; while a study runs there, too.

    Attributes
    ----------
    failures : list of dict
        Units that failed: their fields, and the `error` and `traceback` of the last try.
    folder : Path

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
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder} is not a folder; give the one that skcamel study --out wrote.")
        # units first: what is compacted in between is found in the second place, and nothing is missed
        found = read_units(self.folder / UNITS, check_record) | read_compact(self.folder / COMPACT)
        self._records = sorted(found.values(), key=_rank)
        failed = read_units(self.folder / FAILURES, check_failure)
        self.failures = sorted(_still_failed(found, failed), key=_rank)

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"Records({str(self.folder)!r}: {len(self)} finished, {len(self.failures)} failed)"

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON list; undefined metrics are null."""
        with whole_file(path) as file:
            file.write((json.dumps([_without_nan(record) for record in self], indent=1, allow_nan=False) + "\n").encode())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table with one row for each unit; dictionaries and lists are JSON text, undefined metrics are empty."""
        rows = [_flat(record) for record in self]
        with whole_file(path) as file:
            file.write(csv_text(rows).encode(errors="replace"))  # half a character in a name must not cost the file

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet table with the columns of :meth:`to_csv`; needs pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError("Parquet needs: pip install 'skcamel[parquet]'") from error
        rows = [_flat(record) for record in self]
        try:
            table = pa.table({name: [row.get(name) for row in rows] for name in _columns(rows)})
        except (pa.ArrowException, UnicodeEncodeError) as error:
            raise RecordsError(f"{self.folder} has a field that Parquet cannot hold ({error}); write CSV.") from error
        with whole_file(path) as file:
            parquet.write_table(table, file)

    def compact(self) -> Path:
        """Move all finished units of the folder into one sorted text file, ``records.jsonl``, and return its path.

        For keeping a study in version control. A run that works in the folder is not disturbed, and this object not changed.
        """
        with UnitLocks(self.folder / LOCK) as locks, locks.whole_folder():
            units = read_units(self.folder / UNITS, check_record)
            records = sorted((read_compact(self.folder / COMPACT) | units).values(), key=_rank)
            with whole_file(self.folder / COMPACT) as file:
                file.writelines(encoded(record) for record in records)
            for key in units:
                (self.folder / UNITS / f"{key}.json").unlink(missing_ok=True)
        return self.folder / COMPACT


def _still_failed(found: Mapping[str, Record], failed: Mapping[str, Record]) -> list[Record]:
    """Failures of units that no later try of the same fold has overtaken, be it with other settings."""
    last: dict[tuple[Any, ...], str] = {}
    for record in (*found.values(), *failed.values()):
        last[_place(record)] = max(last.get(_place(record), ""), record.get("finished_at", ""))
    return [failure for key, failure in failed.items() if key not in found and failure.get("finished_at", "") == last[_place(failure)]]


def encoded(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON; undefined metrics are null."""
    return (json.dumps(_without_nan(record), separators=(",", ":"), allow_nan=False) + "\n").encode()


def read_units(folder: Path, check: Callable[[Any], None]) -> dict[str, Record]:
    """Records or failures that have a file of their own, by key; `check` knows what they must hold."""
    found = {}
    for path in folder.glob("*.json"):
        if not KEY.fullmatch(path.stem):
            continue  # not a file of ours
        try:
            found[path.stem] = _decoded(path.read_bytes(), check, path.stem)
        except FileNotFoundError:
            continue  # compacted, or done at last, since the folder was listed
        except (ValueError, IsADirectoryError) as error:
            raise RecordsError(f"{path} is damaged ({error}); delete it, and the next run computes this unit again.") from error
    return found


def read_compact(path: Path) -> dict[str, Record]:
    """Records of the compact file, by key; none where there is no such file."""
    try:
        size = path.stat().st_size
        memory.require(MEMORY_PER_BYTE * size, f"{path}", "Split the study into several folders.")
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except IsADirectoryError as error:
        raise RecordsError(f"{path} is a folder, not a file of records; move it elsewhere.") from error
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            record = _decoded(line, check_record)
        except ValueError as error:
            cure = "delete this line, and the next run computes its unit again"
            raise RecordsError(f"{path}, line {number}: damaged ({error}); {cure}.") from error
        found[Unit.of(record).key] = record
    return found


def _decoded(text: bytes, check: Callable[[Any], None], key: str | None = None) -> Record:
    record = decoded(text, check)
    try:
        own = Unit.of(record).key
    except RecursionError as error:
        raise ValueError("its settings are nested too deeply") from error
    if key not in (None, own):
        raise ValueError("its name belongs to another unit")
    return {name: math.nan if value is None and _is_metric(name) else value for name, value in record.items()}


def _is_metric(name: str) -> bool:
    return name.partition("_by_")[0] in NAMES


def _without_nan(record: Mapping[str, Any]) -> Record:
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in record.items()}


def _flat(record: Record) -> Record:
    plain = _without_nan(record)
    return {name: json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value for name, value in plain.items()}


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys, in the order in which they are first met."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _place(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("dataset", "method", "preset", "seed", "folds", "n_folds", "fold"))


def _rank(record: Record) -> tuple[Any, ...]:
    return (*(record[name] for name in ("dataset", "method", "preset", "seed", "fold")), Unit.of(record).key)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under a header of all their names; no text in it is a formula to a spreadsheet."""
    text = io.StringIO()
    names = _columns(rows)
    lines = csv.writer(text, lineterminator="\n")
    for cells in (names, *([row.get(name) for name in names] for row in rows)):
        lines.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue()
