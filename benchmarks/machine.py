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
    """Bytes of memory of a process that no file stands behind; 0 where the system does not say."""
    found = _field(Path(f"/proc/{process}/status"), "RssAnon")
    return int(found.split()[0]) * 1024 if found else 0


def cpu_seconds(process: int) -> float:
    """Seconds of CPU that a process has taken; Linux alone says so."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def facts() -> dict[str, str]:
    """Processor, cores, Python and the libraries that do the work."""
    model = _field(Path("/proc/cpuinfo"), "model name")
    machine = {
        "processor": model or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
    }
    libraries = ("numpy", "scipy", "scikit-learn", "skcamel")
    return machine | {name: version(name) for name in libraries}


def _field(path: Path, name: str) -> str | None:
    """What follows the name of a field of the system; None where there is no such field."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        field, _, value = line.partition(":")
        if field.strip() == name:
            return value.strip()
    return None
