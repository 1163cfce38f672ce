"""The npz of a model ► its arrays; no byte of the file is believed before it is checked, and ValueError says what is wrong.

The file is what ``np.savez`` writes: members stored one after the other from the first byte on, then the directory of the zip.
They are read in that order. So members cannot overlap, each byte is read once, and what is allocated is bounded by the size of
the file. The directory is read by other tools only; that it begins where the members end, and ends the file, is checked.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from math import prod
from typing import BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, lengths of name and extra field
ZIP64 = struct.Struct("<2H2Q")  # kind 1, length 16, two sizes
END = struct.Struct("<4s4H2IH")  # signature, two disk numbers, two counts of members, size and place of the directory, comment length
LONG_END = 76  # bytes of the two further records at the end of an archive above 4 GiB or 65 535 members
FULL = 0xFFFFFFFF  # stands for a size that the extra field tells
HEADER = "header"  # the first member; those that follow are called a0, a1, ...
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
    """All members, in the order of the file; no array is read.

    Parameters
    ----------
    file : binary file
        Open for reading, of a known size.
    """
    size = file.seek(0, os.SEEK_END)
    found: list[Member] = []
    position = 0
    while _read(file, position, 4, size) == b"PK\3\4":
        found.append(_member(file, position, size, HEADER if not found else f"a{len(found) - 1}"))
        position = found[-1].start + found[-1].size
    signature, *disks, count, count_too, length, directory, comment = END.unpack(_read(file, size - END.size, END.size, size))
    if not found or signature != b"PK\5\6" or comment or any(disks) or size - END.size - length - position not in (0, LONG_END):
        raise ValueError("it is no zip archive from its first byte to its last")
    if count != min(len(found), 0xFFFF) or count_too != count or directory != min(position, FULL):
        raise ValueError("the directory of its zip does not tell what is there")
    return found


def read_array(file: BinaryIO, member: Member) -> np.ndarray:
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
    fields = LOCAL.unpack(_read(file, position, LOCAL.size, size))
    _, _, flags, method, _, _, checksum, stored, content, name_length, extra_length = fields
    if flags or method:
        raise ValueError("it is compressed, encrypted or streamed, which skcamel never does")
    start = position + LOCAL.size
    if _read(file, start, name_length, size) != f"{name}.npy".encode():
        raise ValueError(f"its members are not {HEADER}, a0, a1, … in this order: format version 1 of skcamel, or another program")
    extra = _read(file, start + name_length, extra_length, size)
    if stored == content == FULL and extra_length == ZIP64.size:
        *kind, content, stored = ZIP64.unpack(extra)
        if kind != [1, 16]:
            raise ValueError(f"member {name} does not tell its size")
    start += name_length + extra_length
    if stored != content or not SMALLEST <= stored <= size - start:
        raise ValueError(f"member {name} declares {content} bytes, which the file does not hold")
    return Member(name, start, content, checksum)


def csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix in canonical form: scipy's compiled code trusts these arrays, so every entry is checked."""
    n, d = shape
    whole = all(array.ndim == 1 and array.dtype in (np.int32, np.int64) for array in (indices, indptr)) and data.dtype == np.float64
    if not whole or data.shape != indices.shape or len(indptr) != n + 1 or not 0 < d < 2**31:
        raise ValueError(f"the parts of a sparse matrix of shape {shape} do not fit together")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the rows of a sparse matrix do not follow each other")
    ascending = np.ones(len(indices) + 1, dtype=bool)
    ascending[1:-1] = indices[1:] > indices[:-1]
    ascending[indptr] = True  # a new row begins
    if not ascending.all() or (len(indices) and not 0 <= indices.min() <= indices.max() < d):
        raise ValueError(f"the columns of a sparse matrix are out of range or out of order; there are {d}")
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _read(file: BinaryIO, position: int, length: int, size: int) -> bytes:
    """Exactly that many bytes."""
    if position < 0 or position + length > size:
        raise ValueError("it is cut short")
    file.seek(position)
    return file.read(length)
