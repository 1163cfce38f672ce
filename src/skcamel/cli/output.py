"""What the commands print and write: safe text, JSON, progress, and records as a table."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from skcamel.files import whole_file
from skcamel.text import one_line, plain_cell, printable

TABLES = (".csv", ".jsonl", ".parquet")  # what write_records writes
BATCH = 10_000  # records of a group of rows of Parquet

Record = Mapping[str, Any]  # of a row: text, numbers, lists of text, or None


def say(text: str = "", *, err: bool = False) -> None:
    """Write text and an end of line; control characters become escapes."""
    (sys.stderr if err else sys.stdout).write(f"{printable(text)}\n")


def note(text: str) -> None:
    """Write a note, which is not part of the result, to standard error."""
    say(f"Note: {one_line(text)}", err=True)


def say_json(value: object) -> None:
    """Write a value as JSON, with null for numbers that are not finite."""
    sys.stdout.write(json.dumps(_plain(value), indent=1) + "\n")


def _plain(value: Any) -> Any:
    """Mappings, lists, text and finite numbers of Python alone."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # of numpy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def hand_over(text: str) -> None:
    """Write text for another program as it is, for a terminal with escapes."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


@contextmanager
def bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress on standard error, if that is a terminal.

    Call what is yielded with a name, how much is done, and of how much.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as shown:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(one_line(name), total=total)
            shown.update(tasks[name], completed=done, total=total)

        yield update


def write_records(records: Iterable[Record], path: str | None) -> None:
    """Write records as the suffix of a file says, or as CSV to standard output.

    A file appears whole or not at all. No cell of CSV is a formula; lists of text are joined by
    semicolons there.
    """
    if path is None:
        _write_csv(records, sys.stdout)
        return
    suffix = Path(path).suffix.lower()
    with whole_file(path) as file:
        if suffix == ".parquet":
            _write_parquet(records, file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
        if suffix == ".jsonl":
            text.writelines(f"{_line(record)}\n" for record in records)
        else:
            _write_csv(records, text)
        text.flush()
        text.detach()


def _line(record: Record) -> str:
    return json.dumps(_plain(record), ensure_ascii=False)


def _write_csv(records: Iterable[Record], file: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    for number, record in enumerate(records):
        if not number:
            writer.writerow([plain_cell(name) for name in record])
        writer.writerow([_cell(value) for value in record.values()])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        line = io.StringIO()
        csv.writer(line, delimiter=";", lineterminator="").writerow(value)
        return plain_cell(line.getvalue() if any(value) else "")
    return plain_cell(str(value))


def _write_parquet(records: Iterable[Record], file: Any) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = iter(records)
    batch = list(islice(rows, BATCH))
    schema = pyarrow.Table.from_pylist(batch).schema
    if "labels" in schema.names:  # which may be empty in all rows
        kind = pyarrow.field("labels", pyarrow.list_(pyarrow.string()))
        schema = schema.set(schema.get_field_index("labels"), kind)
    with parquet.ParquetWriter(file, schema) as writer:
        while batch:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            batch = list(islice(rows, BATCH))
