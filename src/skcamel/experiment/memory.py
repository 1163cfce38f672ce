"""Peak memory of this process, from as far back as the system can tell."""

from __future__ import annotations

import sys
from pathlib import Path


def forget_peak() -> None:
    """Start the count anew, where the system allows it (Linux); else the peak is that since the process began."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> int:
    """Bytes of resident memory at the peak; 0 where the system does not tell (Windows).

    Examples
    --------
    >>> peak_memory() >= 0
    True
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return _peak_since_start()


def _peak_since_start() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
