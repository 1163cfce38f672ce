"""Spreadsheets, read in a process with limited memory: cells that lie far out end that process.

``python -m skcamel.data.sheets`` takes a workbook from standard input and writes the cells of a
sheet as JSON.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

from skcamel import memory
from skcamel.data import DataError, Path_, sources

PYTHON = (sys.executable, "-P", "-m", "skcamel.data.sheets")


def sheet_rows(content: bytes, path: Path_, sheet: str | int) -> list[list[Any]]:
    """Rows of a sheet: numbers, truth values, texts, dates as ISO text, None where nothing is."""
    if importlib.util.find_spec("python_calamine") is None:
        raise ImportError("Spreadsheets need python-calamine: pip install 'skcamel[tables]'")
    limit = max(sources.CLAIMED_ALWAYS, sources.CLAIMED_RATIO * len(content))
    free = memory.available()
    if free is not None:
        limit = min(limit, free)
    command = [*PYTHON, json.dumps([sheet, limit])]
    folders = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(  # noqa: S603 - this module, without a shell
        command,
        input=content,
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": folders},
    )
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise DataError(
            f"sheet {sheet!r} cannot be read, or does not fit into memory ({why[:120]}); name one"
            " by sheet=, remove cells that lie far out, or save it as CSV.",
            path=path,
        )
    return json.loads(done.stdout)


def main() -> None:
    """Read the workbook on standard input with limited memory, and write the rows of a sheet."""
    calamine = import_module("python_calamine")
    sheet, limit = json.loads(sys.argv[1])
    content = sys.stdin.buffer.read()
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    book = calamine.CalamineWorkbook.from_object(io.BytesIO(content))
    is_number = isinstance(sheet, int)
    found = book.get_sheet_by_index(sheet) if is_number else book.get_sheet_by_name(sheet)
    rows = [[None if cell == "" else cell for cell in row] for row in found.to_python()]
    json.dump(rows, sys.stdout, default=str)


if __name__ == "__main__":
    main()
