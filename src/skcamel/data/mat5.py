"""The Matlab file format, version 5 to 7: its numeric matrices, dense and sparse, and nothing else.

``scipy.io.loadmat`` reads all of the format but trusts sizes and indices in the file: damaged files can end the process. Here
every size is checked against the bytes that are there, and every index against the matrix, before it is used.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

HEADER_BYTES = 128
PREFIX_BYTES = 2**12  # of a compressed variable: enough for its shape and name
LARGEST_RATIO = 1100  # of deflate; more than its packed size allows cannot come out of it
MATRIX, COMPRESSED = 14, 15
SPARSE_CLASS, NUMERIC_CLASSES = 5, range(5, 16)
COMPLEX = 0x0800
NUMBER_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


@dataclass(frozen=True)
class Variable:
    """A matrix in a file: what its beginning says of it, and where its content is."""

    name: str
    shape: tuple[int, ...]
    is_sparse: bool
    packed: memoryview | None  # compressed content, or
    body: memoryview  # plain content
    n_bytes: int  # of the content, unpacked
    order: str

    def load(self) -> Any:
        """Read the matrix, as a Fortran-ordered array or a sparse array in CSC form; ValueError where it is damaged."""
        body = self.body if self.packed is None else _unpacked(self.packed, self.n_bytes)
        parts = list(_elements(body, self.order))[3:]
        return self._sparse(parts) if self.is_sparse else self._dense(parts)

    def _dense(self, parts: list[tuple[int, memoryview]]) -> np.ndarray:
        if not parts:
            raise ValueError(f"{self.name} has no values")
        values = _numbers(parts[0], self.order)
        if values.size != self.shape[0] * self.shape[1]:
            raise ValueError(f"{self.name} has {values.size} values for the shape {self.shape}")
        return values.reshape(self.shape, order="F")

    def _sparse(self, parts: list[tuple[int, memoryview]]) -> Any:
        if len(parts) < 3:
            raise ValueError(f"{self.name} lacks indices or values")
        rows, starts, values = (_numbers(part, self.order) for part in parts[:3])
        n_rows, n_columns = self.shape
        if len(starts) != n_columns + 1 or starts[0] != 0 or (np.diff(starts.astype(np.int64)) < 0).any():
            raise ValueError(f"{self.name} has wrong column starts")
        stored = int(starts[-1])
        if stored > min(len(rows), len(values)):
            raise ValueError(f"{self.name} has {min(len(rows), len(values))} of {stored} values")
        rows = rows[:stored].astype(np.int64)
        if stored and not 0 <= int(rows.min()) <= int(rows.max()) < n_rows:
            raise ValueError(f"{self.name} has row indices outside its {n_rows} rows")
        return sparse.csc_array((values[:stored].astype(np.float64), rows, starts.astype(np.int64)), shape=self.shape)


def variables(content: bytes) -> list[Variable]:
    """All real numeric matrices of two dimensions; ValueError or zlib.error where the file is damaged."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER_BYTES])
    if order is None:
        raise ValueError("no version 5 header")
    found = (_variable(*element, order) for element in _elements(memoryview(content)[HEADER_BYTES:], order))
    return [variable for variable in found if variable is not None]


def _variable(kind: int, data: memoryview, order: str) -> Variable | None:
    packed, n_bytes = (data if kind == COMPRESSED else None), len(data)
    if packed is not None:
        begin = memoryview(zlib.decompressobj().decompress(packed, PREFIX_BYTES))
        if len(begin) < 8:
            raise ValueError("a compressed variable is cut short")
        (kind, n_bytes), data = struct.unpack_from(f"{order}II", begin), begin[8:]
        if n_bytes > LARGEST_RATIO * (len(packed) + 1):
            raise ValueError(f"{n_bytes} bytes are announced, more than {len(packed)} compressed ones can hold")
    if kind != MATRIX:
        return None
    described = _elements(data, order, whole=False)
    flags, dimensions, name = (next(described, (0, memoryview(b"")))[1] for _ in range(3))
    if len(flags) != 8 or len(dimensions) % 4:
        return None
    (flag,) = struct.unpack_from(f"{order}I", flags)
    shape = struct.unpack(f"{order}{len(dimensions) // 4}i", dimensions)
    if flag & 0xFF not in NUMERIC_CLASSES or flag & COMPLEX or len(shape) != 2 or min(shape) < 0:
        return None
    return Variable(bytes(name).decode("latin-1"), shape, flag & 0xFF == SPARSE_CLASS, packed, data, n_bytes, order)


def _elements(content: memoryview, order: str, *, whole: bool = True) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of each data element; a beginning (`whole` false) may stop within one."""
    position = 0
    while position + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, position)
        start, end = position + 8, position + 8 + size
        if kind >> 16:  # a short element keeps its bytes within the tag
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = position + 4, position + 4 + min(size, 4)
        if end > len(content):
            if not whole:
                return
            raise ValueError(f"{size} bytes are announced, {len(content) - start} are there")
        yield kind, content[start:end]
        position = max(end if kind == COMPRESSED else end + -(end - position) % 8, position + 8)


def _unpacked(packed: memoryview, size: int) -> memoryview:
    """Content of a compressed variable, without its tag."""
    unpacker = zlib.decompressobj()
    unpacker.decompress(packed, 8)
    content = unpacker.decompress(unpacker.unconsumed_tail, max(size, 1))
    if len(content) < size:
        raise ValueError(f"{size} bytes are announced, {len(content)} are there")
    return memoryview(content)


def _numbers(element: tuple[int, memoryview], order: str) -> np.ndarray:
    kind, data = element
    if kind not in NUMBER_TYPES:
        raise ValueError(f"an element of type {kind} where numbers are expected")
    dtype = np.dtype(order + NUMBER_TYPES[kind])
    if len(data) % dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for numbers of {dtype.itemsize}")
    return np.frombuffer(data, dtype=dtype)
