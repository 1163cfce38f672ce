"""Arrays ► a zip archive of them ► arrays, to and from files and streams; no byte is believed before it is checked.

``np.savez`` stores members uncompressed, one after the other from the first byte on. What is read here has that form, and its members
hold no more bytes than the file: what is allocated is bounded by its size.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skcamel.files import whole_file

BLOCK = 2**20  # bytes that go to a stream at a time
END = b"PK\5\6"  # of the last record of a zip, which has 22 bytes where there is no comment
NPY = (1, 0)  # version of the form of the arrays
PLAIN = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")


@contextmanager
def archive(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive that a file is from its first byte to its last."""
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as found:
        members = found.infolist()
        file.seek(max(0, size - 22))
        if not members or members[0].header_offset or file.read(4) != END:
            raise ValueError("it is no zip archive from its first byte to its last")
        if any(member.compress_type for member in members) or sum(member.file_size for member in members) > size:
            raise ValueError("it is compressed, which skcamel never does, or its members lie in each other")
        yield found


def array(found: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array of plain numbers."""
    content = found.read(f"{name}.npy")
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != NPY:
        raise ValueError(f"member {name} is no numpy array")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.str not in PLAIN or is_fortran or not 0 < len(shape) < 4:
        raise ValueError(f"member {name} is no array of plain numbers")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()


@contextmanager
def target(path: Any) -> Iterator[BinaryIO]:
    """A file for the body to write; what it holds goes to a file object afterwards, which need not be seekable."""
    if not hasattr(path, "write"):
        _check_path(path)
        with whole_file(path) as file:
            yield file
        return
    _check_binary(path, "wb")
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        while rest := file.read(BLOCK):
            while rest:
                written = path.write(rest)  # one without a buffer may take less than all
                rest = rest[len(rest) if written is None else written :]


@contextmanager
def source(path: Any) -> Iterator[BinaryIO]:
    """The file, or a copy of the rest of a file object, which need be neither seekable nor on a disk."""
    if not hasattr(path, "read"):
        _check_path(path)
        with Path(path).open("rb") as file:
            yield file
        return
    _check_binary(path, "rb")
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(path, file)
        yield file


def name_of(path: Any) -> str:
    """How a message calls a path or stream."""
    if not hasattr(path, "read") and not hasattr(path, "write"):
        return str(path)
    name: Any = getattr(path, "name", None)
    return name if isinstance(name, str) else f"The stream ({type(path).__name__})"


def _check_binary(file: Any, mode: str) -> None:
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"{name_of(file)} is open for text, a model is bytes; open it with mode {mode!r}.")
    able: Any = getattr(file, "readable" if mode == "rb" else "writable", None)
    if getattr(file, "closed", False) or (able is not None and not able()):
        raise ValueError(f"{name_of(file)} is closed, or open for the other direction; open it with mode {mode!r}.")


def _check_path(path: Any) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"A model file is a path or a binary file object, got {type(path).__name__}; give a name such as 'model.skcamel'.")
