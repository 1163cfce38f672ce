"""What a measurement needs to be read: the machine, the versions, and a clock."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One measured figure with what it should reach."""

    what: str
    value: float
    unit: str
    target: str = ""
    ok: bool | None = None


def at_most(what: str, value: float, limit: float, unit: str = "x") -> Row:
    """A figure that should not exceed its limit."""
    return Row(what, value, unit, f"≤ {limit:g}", value <= limit)


def at_least(what: str, value: float, limit: float, unit: str = "x") -> Row:
    """A figure that should reach its limit."""
    return Row(what, value, unit, f"≥ {limit:g}", value >= limit)


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Median wall time of `work`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def anonymous(process: int) -> int:
    """Bytes of memory of a process that no file stands behind; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)


def facts() -> dict[str, str]:
    """Processor, cores, Python and the libraries that do the work."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        model = next(
            (
                line.split(":", 1)[1].strip()
                for line in info.read_text().splitlines()
                if line.startswith("model name")
            ),
            model,
        )
    libraries = ("numpy", "scipy", "scikit-learn", "skcamel")
    return {
        "processor": model,
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
    } | {name: version(name) for name in libraries}
