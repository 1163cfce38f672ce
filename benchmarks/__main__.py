"""``python -m benchmarks [NAME ...] [--all]``: run benchmarks and write benchmarks/results.md.

With ``--all``, benchmarks that have a longer version (``run_all``) run that one: more sets, more
folds, pictures.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

from benchmarks.machine import Row, facts

RESULTS = Path(__file__).with_name("results.md")
NAMES = (
    "selection",
    "engine",
    "correlation",
    "metrics",
    "prediction",
    "readers",
    "tables",
    "accuracy",
    "thresholds",
    "logistic",
    "cluster",
    "scale",
    "landmarks",
    "onnx",
    "serve",
)
VERDICTS = {True: "ok", False: "**missed**", None: ""}


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | measured | wanted | |", "|---|---|---|---|"]
    for row in rows:
        measured = f"{row.value:.3g} {row.unit}"
        lines.append(f"| {row.what} | {measured} | {row.target} | {VERDICTS[row.ok]} |")
    return "\n".join(lines)


def measured(name: str, *, longer: bool) -> tuple[str, bool]:
    """The section of one benchmark, and whether it ran and reached all that is wanted.

    An error becomes the text of the section, so that the other benchmarks still run. Warnings about
    rare labels and about defects of the public sets are known.
    """
    try:
        module = import_module(f"benchmarks.{name}")
        run = getattr(module, "run_all", module.run) if longer else module.run
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = run()
    except Exception as error:
        traceback.print_exc()
        return f"Failed with {type(error).__name__}: {error}", False
    return table(rows), all(row.ok is not False for row in rows)


def read_sections() -> dict[str, str]:
    """The sections of results.md by their names."""
    if not RESULTS.exists():
        return {}
    sections = {}
    for part in RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        sections[name] = text.strip()
    return sections


def write_sections(sections: dict[str, str]) -> None:
    """Write results.md: the machine, then the sections in the order of `NAMES`."""
    parts = [
        "# Benchmarks",
        "Written by `make benchmark`. Ratios are of times in one run on this machine:",
        "\n".join(f"- {key}: {value}" for key, value in facts().items()),
    ]
    parts += [f"## {name}\n\n{sections[name]}" for name in NAMES if name in sections]
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--all", action="store_true", help="the longer versions")
    options = parser.parse_args()
    sections, complete = read_sections(), True
    for name in options.names or NAMES:
        start = time.perf_counter()
        sections[name], reached = measured(name, longer=options.all)
        complete = complete and reached
        write_sections(sections)
        minutes = (time.perf_counter() - start) / 60
        print(f"## {name} ({minutes:.1f} minutes)\n\n{sections[name]}\n", flush=True)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
