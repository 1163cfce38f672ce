"""One process at a time: a lock that the operating system holds, and lets go when its holder ends, however it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def exclusive(path: Path, *, wait: float = 600.0, pause: float = 0.05) -> Iterator[None]:
    """Hold the lock file `path` while the body runs; others wait.

    The file itself stays behind, empty: removing it would let two holders lock two files of one name.

    Parameters
    ----------
    path : Path
    wait : float, default=600
        Seconds to wait for another holder before TimeoutError.
    pause : float, default=0.05
        Seconds between two tries.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, exclusive(Path(folder) / "lock"):
    ...     print("alone")
    alone
    """
    deadline = time.monotonic() + wait
    with path.open("a+b") as file:
        while True:
            try:
                _try_lock(file.fileno())
                break
            except (BlockingIOError, PermissionError) as error:  # held elsewhere: POSIX says the first, Windows the second
                if time.monotonic() >= deadline:
                    raise TimeoutError(f"Another process has held {path} for {wait:g} seconds; wait for it to end, or end it.") from error
                time.sleep(pause)
        yield  # closing the file releases the lock
