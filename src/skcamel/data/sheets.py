"""Spreadsheets, read in a process of its own with limited memory: its reader ends the process where a cell lies too far out.

``python -m skcamel.data.sheets`` takes a workbook from standard input and writes the cells of a sheet as JSON.
"""

from __future__ import annotations

import datetime
import importlib.util
import io
import json
import os
import subprocess
import sys
import zipfile
from importlib import import_module
from typing import Any

from skcamel.data import DataError, Path_

LEAST_BYTES = 2**28  # of memory for Python, the reader and a small sheet
CELL_RATIO = 16  # bytes of memory for each byte of an unpacked sheet
PYTHON = (sys.executable, "-P", "-m", "skcamel.data.sheets")
REFUSED = 3  # how the process ends where the workbook is no workbook, or lacks the sheet
DATES = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
}


def sheet_rows(content: bytes, path: Path_, sheet: str | int) -> list[list[Any]]:
    """Rows of a sheet: numbers, texts, truth values, dates, and "" where there is no cell."""
    if importlib.util.find_spec("python_calamine") is None:
        raise ImportError("Spreadsheets need python-calamine: pip install skcamel[tables]")
    limit = LEAST_BYTES + CELL_RATIO * _unpacked_bytes(content, path)
    done = subprocess.run(  # noqa: S603 - this module, without a shell
        [*PYTHON, json.dumps([sheet, limit])],
        input=content,
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    if done.returncode == REFUSED:
        why = done.stderr.decode(errors="replace")[:120]
        raise DataError(
            f"no sheet {sheet!r} can be read ({why}); name one by sheet=, or save the file again.",
            path=path,
        )
    if done.returncode:
        raise DataError(
            f"sheet {sheet!r} is damaged, or its cells lie so far apart that it does not fit into"
            " memory; remove far cells, or save it as CSV.",
            path=path,
        )
    return json.loads(done.stdout, object_hook=_from_tag)


def _unpacked_bytes(content: bytes, path: Path_) -> int:
    """Size of all parts of a workbook; one that is out of proportion to the file is refused."""
    from skcamel.data.sources import check_claimed_size

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise DataError(
            f"is no workbook ({error}); save the file again as .xlsx.", path=path
        ) from error
    check_claimed_size(size, "its unpacked sheets", path, size=len(content))
    return size


def _tag(cell: Any) -> Any:
    if isinstance(cell, datetime.timedelta):
        return {"seconds": cell.total_seconds()}
    return {type(cell).__name__: cell.isoformat()}


def _from_tag(tagged: dict[str, Any]) -> Any:
    ((kind, value),) = tagged.items()
    return datetime.timedelta(seconds=value) if kind == "seconds" else DATES[kind](value)


def _limit_memory(n_bytes: int) -> None:
    """Let this process allocate no more, where the system can tell it so."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = n_bytes if most == resource.RLIM_INFINITY else min(n_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Read the workbook on standard input, and write the rows of the sheet to standard output."""
    calamine = import_module("python_calamine")
    sheet, limit = json.loads(sys.argv[1])
    content = sys.stdin.buffer.read()
    _limit_memory(limit)
    try:
        book = calamine.CalamineWorkbook.from_object(io.BytesIO(content))
        if isinstance(sheet, int):
            found = book.get_sheet_by_index(sheet)
        else:
            found = book.get_sheet_by_name(sheet)
        rows = found.to_python()
    except (calamine.CalamineError, OSError, ValueError) as error:
        sys.stderr.write(str(error))
        sys.exit(REFUSED)
    json.dump(rows, sys.stdout, default=_tag)


if __name__ == "__main__":
    main()
