"""Locks on the units of a study folder that are in work: bytes of one file, freed by the system when their holder ends."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, offset: int) -> None:
        os.lseek(descriptor, offset, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int, offset: int) -> None:
        os.lseek(descriptor, offset, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, offset: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)

    def _unlock(descriptor: int, offset: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, offset)


PAUSE = 0.2  # seconds between two looks at units that another run holds
WHOLE_FOLDER = 2**31 - 1  # the byte of the lock file that guards the files that all units share


@dataclass
class _LockFile:
    """The one descriptor of a lock file in this process, and the bytes that its threads hold."""

    path: Path
    descriptor: int
    users: int = 0
    held: set[int] = field(default_factory=set)


class UnitLocks:
    """Locks of the units of one study folder: bytes of one file, which stays empty.

    The operating system holds them for a process and frees them when it ends, however it ends. It drops all of them when the
    process closes any descriptor of the file. So this process opens each lock file once, shares the descriptor between its
    threads, and remembers here what they hold.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, UnitLocks(Path(folder) / "lock") as mine, UnitLocks(Path(folder) / "lock") as other:
    ...     mine.take("00ff"), other.take("00ff"), other.take("1234"), mine.free("00ff"), other.take("00ff")
    (True, False, True, None, True)
    """

    _shared: dict[tuple[int, int, int], _LockFile] = {}  # noqa: RUF012 (one for the process is the point)
    _guard = threading.RLock()

    def __init__(self, path: Path) -> None:
        with self._guard:
            path.touch()
            facts = path.stat()
            self._where = (os.getpid(), facts.st_dev, facts.st_ino)  # a forked child holds nothing of what its parent holds
            if self._where not in self._shared:
                self._shared[self._where] = _LockFile(path, os.open(path, os.O_RDWR))
            self._file = self._shared[self._where]
            self._file.users += 1
        self._mine: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            for offset in list(self._mine):
                self._free(offset)
            self._file.users -= 1
            if not self._file.users:
                os.close(self._shared.pop(self._where).descriptor)

    def take(self, key: str) -> bool:
        """Whether the unit of this key (hexadecimal) could be locked; False where any other holder has it."""
        return self._take(_offset(key))

    def free(self, key: str) -> None:
        """Release a unit that this object holds."""
        self._free(_offset(key))

    @contextmanager
    def whole_folder(self, *, wait: float = 60.0) -> Iterator[None]:
        """Be the only one to change the files that all units share."""
        deadline = time.monotonic() + wait
        while not self._take(WHOLE_FOLDER):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"Another process has held {self._file.path} for {wait:g} seconds; wait for it to end, or end it.")
            time.sleep(0.02)
        try:
            yield
        finally:
            self._free(WHOLE_FOLDER)

    def _take(self, offset: int) -> bool:
        with self._guard:
            if offset in self._file.held:
                return False
            try:
                _lock(self._file.descriptor, offset)
            except (BlockingIOError, PermissionError):  # held by another process: POSIX says either, Windows the second
                return False
            except OSError as error:
                cure = "this file system gives no locks, without which two runs could not share a folder; put it on another disk"
                raise OSError(error.errno, cure, str(self._file.path)) from error
            self._file.held.add(offset)
            self._mine.add(offset)
            return True

    def _free(self, offset: int) -> None:
        with self._guard:
            _unlock(self._file.descriptor, offset)
            self._file.held.remove(offset)
            self._mine.remove(offset)


def _offset(key: str) -> int:
    """A byte below 2^31 - 1, which every system can lock; two units on one byte just wait for each other."""
    return int(key[:8], 16) % WHOLE_FOLDER
