"""Arrays ► a zip archive of them ► arrays, to and from files and streams; no byte is believed before it is checked.

``np.savez`` stores members uncompressed, one after the other from the first byte on, then the directory of the zip, and they are read in
that order. So members cannot overlap, each byte is read once, and what is allocated is bounded by the size of the file. The directory is
read by other tools only; that it begins where the members end, and ends the file, is checked.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from skcamel.files import whole_file

HEADER = "header"  # the first member; those that follow are called a0, a1, ...
LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, lengths of name and extra field
ZIP64 = struct.Struct("<2H2Q")  # kind 1, length 16, two sizes
END = struct.Struct("<4s4H2IH")  # signature, two disk numbers, two counts of members, size and place of the directory, comment length
LONG_END = 76  # bytes of the two further records at the end of an archive above 4 GiB or 65 535 members
FULL = 0xFFFFFFFF  # stands for a size that the extra field tells
BLOCK = 2**20  # bytes that go to a stream at a time
SMALLEST = 64  # bytes of an empty array with its header
NPY = re.compile(
    rb"\{'descr': '(\|b1|\|[iu]1|<[iu][248]|<f[248])', 'fortran_order': False, 'shape': \((\d{1,18}(?:, \d{1,18}){0,2}),?\), \} *\n"
)


class Member(NamedTuple):
    """Where the content of a member lies."""

    name: str
    start: int
    size: int
    checksum: int


def members(file: BinaryIO) -> list[Member]:
    """All members, in the order of the file; no array is read."""
    size = file.seek(0, os.SEEK_END)
    found: list[Member] = []
    position = 0
    while _bytes(file, position, 4, size) == b"PK\3\4":
        found.append(_member(file, position, size, HEADER if not found else f"a{len(found) - 1}"))
        position = found[-1].start + found[-1].size
    signature, *disks, count, count_too, length, directory, comment = END.unpack(_bytes(file, size - END.size, END.size, size))
    if not found or signature != b"PK\5\6" or comment or any(disks) or size - END.size - length - position not in (0, LONG_END):
        raise ValueError("it is no zip archive from its first byte to its last")
    if count != min(len(found), 0xFFFF) or count_too != count or directory != min(position, FULL):
        raise ValueError("the directory of its zip does not tell what is there")
    return found


def array(file: BinaryIO, member: Member) -> np.ndarray:
    """The array of a member; its header must account for every byte."""
    file.seek(member.start)
    head = file.read(min(10, member.size))
    if head[:8] != b"\x93NUMPY\1\0" or len(head) < 10:
        raise ValueError(f"member {member.name} is no numpy array")
    told = file.read(min(int.from_bytes(head[8:], "little"), member.size - 10))
    match = NPY.fullmatch(told)
    if match is None:
        raise ValueError(f"member {member.name} is no array of plain numbers")
    dtype, shape = np.dtype(match[1].decode()), tuple(map(int, match[2].split(b",")))
    if 10 + len(told) + prod(shape) * dtype.itemsize != member.size:
        raise ValueError(f"member {member.name} declares {dtype.str} {shape} and holds {member.size} bytes")
    flat = np.fromfile(file, dtype, prod(shape))
    if zlib.crc32(flat.data if flat.size else b"", zlib.crc32(head + told)) != member.checksum:
        raise ValueError(f"member {member.name} has a wrong checksum")
    if dtype == np.bool_ and (flat.view(np.uint8) > 1).any():
        raise ValueError(f"member {member.name} holds truth values that are neither")
    return flat.reshape(shape)


def _member(file: BinaryIO, position: int, size: int, name: str) -> Member:
    """The member whose local header lies at `position`; it must have the name that is next in turn."""
    header = LOCAL.unpack(_bytes(file, position, LOCAL.size, size))
    _, _, flags, method, _, _, checksum, stored, content, name_length, extra_length = header
    if flags or method:
        raise ValueError("it is compressed, encrypted or streamed, which skcamel never does")
    start = position + LOCAL.size
    if _bytes(file, start, name_length, size) != f"{name}.npy".encode():
        raise ValueError(f"its members are not {HEADER}, a0, a1, … in this order: format version 1 of skcamel, or another program")
    extra = _bytes(file, start + name_length, extra_length, size)
    if stored == content == FULL and extra_length == ZIP64.size:
        *kind, content, stored = ZIP64.unpack(extra)
        if kind != [1, 16]:
            raise ValueError(f"member {name} does not tell its size")
    start += name_length + extra_length
    if stored != content or not SMALLEST <= stored <= size - start:
        raise ValueError(f"member {name} declares {content} bytes, which the file does not hold")
    return Member(name, start, content, checksum)


def _bytes(file: BinaryIO, position: int, length: int, size: int) -> bytes:
    """Exactly that many bytes."""
    if position < 0 or position + length > size:
        raise ValueError("it is cut short")
    file.seek(position)
    return file.read(length)


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
