"""Records: what a study folder holds, one flat mapping for each finished unit; reading, exporting and compacting."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skcamel.experiment.locks import UnitLocks
from skcamel.experiment.units import Unit
from skcamel.files import whole_file
from skcamel.metrics.conventions import NAMES
from skcamel.spreadsheet import plain_row

UNITS, FAILURES, COMPACT, LOCK = "units", "failures", "records.jsonl", "lock"
Record = dict[str, Any]


class RecordsError(ValueError):
    """A file of a study folder cannot be read, or does not belong there; the message names it and the cure."""


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
        found = read_units(self.folder / UNITS) | read_compact(self.folder / COMPACT)
        self._records = sorted(found.values(), key=_rank)
        self.failures = sorted(
            (record for key, record in read_units(self.folder / FAILURES).items() if key not in found),
            key=_rank,
        )

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
        rows = [plain_row(_flat(record)) for record in self]
        with whole_file(path) as file:
            lines = csv.DictWriter(_Encoded(file), _columns(rows), lineterminator="\n")
            lines.writeheader()
            lines.writerows(rows)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet table with the columns of :meth:`to_csv`; needs pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError("Parquet needs: pip install 'skcamel[parquet]'") from error
        rows = [_flat(record) for record in self]
        table = pa.table({name: [row.get(name) for row in rows] for name in _columns(rows)})
        with whole_file(path) as file:
            parquet.write_table(table, file)

    def compact(self) -> Path:
        """Move all finished units of the folder into one sorted text file, ``records.jsonl``, and return its path.

        For keeping a study in version control. A run that works in the folder is not disturbed, and this object not changed.
        """
        with UnitLocks(self.folder / LOCK) as locks, locks.whole_folder():
            units = read_units(self.folder / UNITS)
            records = sorted((read_compact(self.folder / COMPACT) | units).values(), key=_rank)
            with whole_file(self.folder / COMPACT) as file:
                file.writelines(encoded(record) for record in records)
            for key in units:
                (self.folder / UNITS / f"{key}.json").unlink(missing_ok=True)
        return self.folder / COMPACT


def encoded(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON; undefined metrics are null."""
    return (json.dumps(_without_nan(record), separators=(",", ":"), allow_nan=False) + "\n").encode()


def read_units(folder: Path) -> dict[str, Record]:
    """Records or failures that have a file of their own, by key."""
    found = {}
    for path in folder.glob("*.json"):
        try:
            found[path.stem] = _decoded(path.read_bytes(), path.stem)
        except FileNotFoundError:
            continue  # compacted, or done at last, since the folder was listed
        except (ValueError, KeyError, TypeError) as error:
            raise RecordsError(f"{path} is damaged ({_reason(error)}); delete it, and the next run computes this unit again.") from error
    return found


def read_compact(path: Path) -> dict[str, Record]:
    """Records of the compact file, by key; none where there is no such file."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            record = _decoded(line)
        except (ValueError, KeyError, TypeError) as error:
            cure = "delete this line, and the next run computes its unit again"
            raise RecordsError(f"{path}, line {number}: damaged ({_reason(error)}); {cure}.") from error
        found[Unit.of(record).key] = record
    return found


def _decoded(text: bytes, key: str | None = None) -> Record:
    record = json.loads(text)
    if not isinstance(record, dict):
        raise TypeError("it holds no record")
    unit = Unit.of(record)
    if not (isinstance(unit.seed, int) and isinstance(unit.fold, int)):
        raise TypeError("its seed or its fold is no integer")
    if key is not None and unit.key != key:
        raise ValueError("its name belongs to another unit")
    return {name: math.nan if value is None and _is_metric(name) else value for name, value in record.items()}


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _is_metric(name: str) -> bool:
    return name.partition("_by_")[0] in NAMES


def _without_nan(record: Mapping[str, Any]) -> Record:
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in record.items()}


def _flat(record: Record) -> Record:
    plain = _without_nan(record)
    return {name: json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value for name, value in plain.items()}


def _columns(rows: Sequence[Record]) -> list[str]:
    """All keys, in the order in which they are first met."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _rank(record: Record) -> tuple[Any, ...]:
    return (*(record[name] for name in ("dataset", "method", "preset", "seed", "fold")), Unit.of(record).key)


class _Encoded:
    """What the csv module writes to: text in, UTF-8 out."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, text: str) -> None:
        self.file.write(text.encode(errors="backslashreplace"))  # half a character in a name
