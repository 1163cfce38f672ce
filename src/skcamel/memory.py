"""Does this fit? What a piece of work needs at its peak, against what this process may still use.

Readers, fits, studies and reports call :func:`require` before they allocate. On Linux free memory
is the least of what the machine, the control groups of this process (containers, batch systems;
version 2) and ``ulimit -v`` leave.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from scipy import sparse

from skcamel.arrays import Array, free_on_gpu

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")


def require(needed: float, what: str, advice: str, *, device: Any = None) -> None:
    """Raise MemoryError where `needed` bytes are not free, with what needs them and what to do.

    Parameters
    ----------
    needed : float
        Bytes at the peak, on top of what this process holds now.
    what : str
        What needs them: the message begins ``"{what} needs about 3.2 GiB"``.
    advice : str
        What to do about it; ends the message.
    device : str, default=None
        "cuda": the memory of that GPU counts, not that of this machine.

    Examples
    --------
    >>> require(2.0**60, "A kernel matrix", "Take fewer rows.")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    MemoryError: A kernel matrix needs about 1073741824.0 GiB of memory and ... Take fewer rows.
    """
    free = available(device)
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs about {gib(needed)} of memory and {gib(free)} are free. {advice}"
        )


def available(device: Any = None) -> int | None:
    """Bytes that this process can still allocate, or None where the system has no such figure.

    They are those of `device`, or of this machine for None.
    """
    if device is not None and str(device).startswith("cuda"):
        return free_on_gpu(device)
    left: list[int] = []
    of_machine = _found(PROC / "meminfo", r"MemAvailable:\s*(\d+)")
    if of_machine:
        left.append(1024 * int(of_machine))
    if sys.platform != "win32":
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            left.append(limit - _figure("VmSize"))
    # a container may see its files at the root, and the name that the host gave it
    of_process = GROUPS / _found(PROC / "self/cgroup", r"0::/(.*)")
    for group in (of_process, *of_process.parents):
        # "max" is no number
        most = _found(group / "memory.max", r"(\d+)")
        used = _found(group / "memory.current", r"(\d+)")
        if most and used:
            # pages of files, which can be taken back
            cached = _found(group / "memory.stat", r"inactive_file (\d+)") or 0
            left.append(int(most) - int(used) + int(cached))
    return min((max(0, value) for value in left), default=None)


def as_bytes(size: Any) -> int:
    """A number of bytes, from one or from text such as "512MiB", "1GiB" or "1.5 GB".

    Examples
    --------
    >>> as_bytes("1GiB"), as_bytes("1.5 kB"), as_bytes(10)
    (1073741824, 1500, 10)
    """
    # True and False are no numbers
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?)(i?)B?", str(size).strip())
    number = 0.0
    if found:
        number = float(found[1]) * (1024 if found[3] else 1000) ** " kMGT".index(found[2] or " ")
    if not 1 <= number < 2**62:
        raise ValueError(f"a number of bytes, or text such as '1GiB', is needed, got {size!r}.")
    return int(number)


def gib(n_bytes: float) -> str:
    """A number of bytes in words: "3.2 GiB", or "12 MiB" below a tenth of that unit."""
    if n_bytes >= 0.1 * 2**30:
        return f"{n_bytes / 2**30:.1f} GiB"
    return f"{n_bytes / 2**20:.0f} MiB"


def forget_peak() -> bool:
    """Start the count of :func:`peak` anew; False where the system does not allow it."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return _figure("VmHWM") > 0


def peak() -> int:
    """Bytes of resident memory of this process at the peak; 0 where the system has no such figure.

    Examples
    --------
    >>> before = resident()
    >>> peak() >= before
    True
    """
    return _figure("VmHWM")


def resident() -> int:
    """Bytes of resident memory of this process now; 0 where the system has no such figure."""
    return _figure("VmRSS")


def _figure(field: str) -> int:
    """A figure of this process in bytes, 0 where the system has none."""
    return 1024 * int(_found(PROC / "self/status", rf"{field}:\s*(\d+)") or 0)


def _found(file: Path, pattern: str) -> str:
    """The group of a pattern that matches the start of a line of a file; empty if there is none."""
    try:
        found = re.search(f"^{pattern}", file.read_text(), re.MULTILINE)
    except OSError:
        return ""
    if found:
        return found[1]
    return ""


class Alive(NamedTuple):
    """How many matrices are alive at the peak of a fit, shown by tests/test_memory.py."""

    kernels: int = 5  # n x n
    scores: int = 40  # n x q
    pairs: int = 24  # q x q
    copies: int = 5  # of X

    def bytes(self, n: int, q: int, X: Array | None = None) -> int:
        """Bytes of a fit on n rows and q labels; X is copied."""
        size = 8 * (self.kernels * n**2 + self.scores * n * q + self.pairs * q**2)
        if X is None:
            return size
        if sparse.issparse(X):
            of_X = X.data.nbytes + X.indices.nbytes
        else:
            of_X = X.nbytes
        return size + self.copies * of_X


EXACT = Alive()
BY_SUMS = Alive(kernels=0, scores=3, copies=0)  # beside the sums themselves


def check_memory(X: Array, q: int, device: Any, alive: Alive = EXACT) -> None:
    """Refuse a fit on X (n, d) and q labels that does not fit into memory, before it allocates."""
    n = X.shape[0]
    advice = "Take fewer labels or rows (sklearn.utils.resample(..., replace=False))"
    if alive.kernels:
        advice += ", or solver='landmark'"
    what = f"A fit on {n} rows and {q} labels"
    require(alive.bytes(n, q, X), what, f"{advice}.", device=device)
