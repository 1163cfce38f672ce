"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

TEMPORARY = re.compile(
    r"\.(.+)\.[0-9a-f]{16}\.skcamel-tmp", re.DOTALL
)  # how our half-written files are called
NAME_KEPT = 40  # characters of a file's name in that of its temporary
MOST_LINKS = 40  # as Linux follows

if sys.platform == "win32":

    def _hold(_: BinaryIO) -> None:
        """Nothing to do: Windows does not remove a file that its writer has open."""

    def _remove_unless_held(path: Path) -> None:
        path.unlink()

else:
    import fcntl

    def _hold(file: BinaryIO) -> None:
        """Lock a file until it is closed or the process ends, however it ends."""
        with suppress(
            OSError
        ):  # a file system without locks: then nobody else gets one either, and nothing is removed
            fcntl.flock(file, fcntl.LOCK_EX)

    def _remove_unless_held(path: Path) -> None:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()  # under the lock, or a writer could take it in between


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A seekable file for the body to write; its content goes to `path` in one step when the body ends without an error.

    A regular file is replaced by a temporary one beside it; what killed writers of that file left
    there is removed. What
    exists and is no regular file (a device, a pipe, ``/dev/stdout``) is written into. Errors of the
    operating system name `path`.
    """
    check_writable(path)
    try:
        with (_into if is_stream(path) else _instead_of)(path) as file:
            yield file
    except OSError as error:
        if error.errno is None or (
            error.filename is not None and not TEMPORARY.fullmatch(os.path.basename(error.filename))
        ):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise where :func:`whole_file` could not write: no such folder, a read-only one, or `path` is a folder itself.

    Examples
    --------
    >>> import tempfile
    >>> check_writable(tempfile.gettempdir())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    IsADirectoryError: [Errno 21] This is a folder; give the name of a file: ...
    """
    mode, place = _mode(path), Path(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(
            errno.EISDIR, "This is a folder; give the name of a file", os.fspath(path)
        )
    if not is_stream(path):
        place = Path(path).resolve().parent
        if not place.is_dir():
            raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(place))
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "This place is read-only; choose another", str(place))


def sweep(folder: str | os.PathLike[str], name: str | None = None) -> None:
    """Remove what killed writers left in a folder, and nothing else.

    Parameters
    ----------
    folder : str or path
    name : str, default=None
        Only what was to become the file of this name; None: of any name.
    """
    for entry in os.listdir(folder):
        left = TEMPORARY.fullmatch(entry)
        if left and (name is None or left[1] == name[:NAME_KEPT]):
            with suppress(
                OSError
            ):  # its writer lives, it is gone already, or it is not ours to remove
                _remove_unless_held(Path(folder) / entry)


@contextmanager
def _instead_of(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file that takes the place of `path`."""
    target = Path(path).resolve()  # a link stays a link, its target is replaced
    sweep(target.parent, target.name)
    temporary, file = _temporary(target)
    try:
        with file:
            mode = _mode(target)
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            if sys.platform == "win32":
                file.close()  # Windows moves no open file
            temporary.replace(target)  # while it is locked, or another writer could sweep it away
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _temporary(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside `target`, locked by this process."""
    while True:
        path = target.with_name(f".{target.name[:NAME_KEPT]}.{secrets.token_hex(8)}.skcamel-tmp")
        file = path.open("x+b")
        _hold(file)
        if os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # swept away by another writer before it was locked


@contextmanager
def _into(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file whose content is appended to what stands at `path`."""
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
            shutil.copyfileobj(file, stream)


def _mode(path: str | os.PathLike[str]) -> int | None:
    """File type and rights of what stands at `path`, links followed; None where nothing does."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether `path` must be written into: it exists and is no regular file, or it is an open file of this process (``/dev/stdout``)."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        return mode is not None
    hop = Path(path).absolute()
    for _ in range(MOST_LINKS):
        folder = hop.parent.resolve()
        if folder.match("/proc/*/fd"):
            return True
        if not hop.is_symlink():
            break
        hop = folder / hop.readlink()
    return False
