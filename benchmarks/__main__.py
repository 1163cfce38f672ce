"""``python -m benchmarks [name ...]``: run all benchmarks, or those named, and write their sections of benchmarks/results.md."""

from __future__ import annotations

import sys
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


def table(name: str, rows: list[Row]) -> str:
    lines = [f"## {name}", "", "| what | measured | wanted | |", "|---|---|---|---|"]
    for row in rows:
        verdict = {True: "ok", False: "**missed**", None: ""}[row.ok]
        lines.append(f"| {row.what} | {row.value:.3g} {row.unit} | {row.target} | {verdict} |")
    return "\n".join(lines)


def main(names: list[str]) -> int:
    parts = [
        "# Benchmarks",
        "",
        "Written by `make benchmark`. Ratios are of times in one run on this machine:",
        "",
    ]
    parts += [f"- {key}: {value}" for key, value in facts().items()]
    sections = (
        {
            section.partition("\n")[0]: section.strip()
            for section in RESULTS.read_text().split("\n## ")[1:]
        }
        if RESULTS.exists()
        else {}
    )
    missed = 0
    for name in names or NAMES:
        rows = import_module(f"benchmarks.{name}").run()
        missed += sum(row.ok is False for row in rows)
        sections[name] = table(name, rows).removeprefix("## ")
        print(f"## {sections[name]}\n", flush=True)
        written = [f"## {sections[known]}" for known in NAMES if known in sections]
        RESULTS.write_text("\n\n".join(["\n".join(parts), *written]) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
