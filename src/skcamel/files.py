"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

NAME_KEPT = 40  # characters of a file's name in that of its temporary
STANDARD_STREAMS = (0, 1, 2)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A seekable file whose content goes to `path` in one step when the body ends without an error.

    A regular file is replaced by a temporary one beside it; a killed writer leaves that there. What
    exists and is no regular file (a device, a pipe, ``/dev/stdout``) is written into. Errors of the
    operating system name `path`.
    """
    check_writable(path)
    target = Path(path).resolve()  # a link stays a link, its target is replaced
    number = secrets.token_hex(8)  # another one for each writer
    temporary = target.with_name(f".{target.name[:NAME_KEPT]}.{number}.skcamel-tmp")
    try:
        if is_stream(path):
            with tempfile.TemporaryFile() as file:
                yield file
                file.seek(0)
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                    shutil.copyfileobj(file, stream)
            return
        with temporary.open("x+b") as file:
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        about_it = isinstance(error, OSError) and error.filename in (None, str(temporary))
        if not isinstance(error, OSError) or error.errno is None or not about_it:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise where :func:`whole_file` could not write: no such folder, or a read-only one.

    Examples
    --------
    >>> import tempfile
    >>> check_writable(tempfile.gettempdir())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    IsADirectoryError: [Errno 21] This is a folder; give the name of a file: ...
    """
    if os.path.isdir(path):
        raise IsADirectoryError(
            errno.EISDIR, "This is a folder; give the name of a file", os.fspath(path)
        )
    place = Path(path) if is_stream(path) else Path(path).resolve().parent
    if not place.exists() or (place.is_file() and not is_stream(path)):
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(place))
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "This place is read-only; choose another", str(place))


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether `path` must be written into.

    It exists and is no regular file, or it is a standard stream of this process.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not stat.S_ISREG(found.st_mode) or any(_is_open(found, n) for n in STANDARD_STREAMS)


def _is_open(found: os.stat_result, descriptor: int) -> bool:
    try:
        return os.path.samestat(found, os.fstat(descriptor))
    except OSError:  # closed
        return False
