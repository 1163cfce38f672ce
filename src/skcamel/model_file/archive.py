"""A header and arrays ► a zip archive ► the same, to and from files and streams.

No byte is believed before it is checked.

``np.savez`` stores members uncompressed, one after the other from the first byte on. What is read
here has that form, and its members hold no more bytes than the file: what is allocated is bounded
by its size.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skcamel import memory
from skcamel.files import whole_file

FORMAT = 1  # files of skcamel before 1.0 name another
HEADER = "header"  # the first array; those that follow are called a0, a1, ...
HEADER_BYTES = 2**25  # at most, so that its parsed form stays below HEADER_GROWTH times as much
HEADER_GROWTH = 30
SMALL = 2**26  # bytes; to ask for free memory takes longer than to read as much
BLOCK = 2**20  # bytes that go to a stream at a time
END = b"PK\5\6"  # of the last record of a zip, which has 22 bytes where there is no comment
PLAIN = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")


class ModelFileError(ValueError):
    """The file is not a model that this version can load.

    It is damaged, truncated, foreign, not sound, or of another format.
    """


@contextmanager
def opened(path: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """A model file to read; whatever the body finds wrong with it names the file or stream."""
    name = name_of(path)
    with source(path) as file:
        try:
            if hasattr(path, "read") and not file.seek(0, os.SEEK_END):
                raise ModelFileError(
                    "holds nothing from where it stands to its end; go back to the model by seek(0)"
                )
            yield file
        except ModelFileError as error:
            raise ModelFileError(f"{name} {error}.") from error
        except ImportError:  # of what a step needs
            raise
        except MemoryError as error:  # the file may be sound
            raise MemoryError(f"{name} cannot be loaded: {error}") from error
        except Exception as error:  # whatever may be wrong with a file, in one form
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            detail = f"{kind}{error}"[:500].replace("\n", " ")
            raise ModelFileError(
                f"{name} is not a whole skcamel model file ({detail}); copy it again or save the"
                " model anew."
            ) from error


def text_of(header: dict[str, Any]) -> np.ndarray:
    """The header as the first array of the file."""
    text = json.dumps(header, sort_keys=True).encode()
    if len(text) > HEADER_BYTES:
        raise ValueError(
            f"its names and search results take {len(text)} bytes, {HEADER_BYTES} are the most"
        )
    return np.frombuffer(text, dtype=np.uint8)


def read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the file says of itself, if it is of the format that this code reads, and its arrays."""
    with archive(file) as found:
        sizes = {
            member.filename.removesuffix(".npy"): member.file_size for member in found.infolist()
        }
        if sizes[HEADER] > HEADER_BYTES:
            raise ValueError(f"its header has {sizes[HEADER]} bytes, {HEADER_BYTES} are the most")
        needed = HEADER_GROWTH * sizes[HEADER] + sum(sizes.values()) + max(sizes.values())
        if needed > SMALL:
            memory.require(needed, "The model", "Load it where more is free")
        header = json.loads(array(found, HEADER).tobytes())
        version = header.get("format") if isinstance(header, dict) else header
        if version != FORMAT:
            is_newer = type(version) is int and version > FORMAT
            hint = "update skcamel" if is_newer else "fit again with this version"
            raise ModelFileError(
                f"has the format {version!r:.40}, this skcamel reads {FORMAT}; {hint}"
            )
        names = [f"a{k}" for k in range(len(sizes) - 1)]
        if [*sizes] != [HEADER, *names] or len(sizes) < len(found.infolist()):
            raise ValueError(f"its members are not {HEADER}, a0, a1, … in this order")
        return header, {name: array(found, name) for name in names}


@contextmanager
def archive(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive that a file is from its first byte to its last."""
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as found:
        members = found.infolist()
        file.seek(max(0, size - 22))
        if not members or members[0].header_offset or file.read(4) != END:
            raise ValueError("it is no zip archive from its first byte to its last")
        if (
            any(member.compress_type for member in members)
            or sum(member.file_size for member in members) > size
        ):
            raise ValueError(
                "it is compressed, which skcamel never does, or its members lie in each other"
            )
        yield found


def array(found: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array of plain numbers."""
    content = found.read(f"{name}.npy")
    stream = io.BytesIO(content)
    np.lib.format.read_magic(stream)
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.str not in PLAIN or is_fortran or not 0 < len(shape) < 4:
        raise ValueError(f"member {name} is no array of plain numbers")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()


@contextmanager
def target(path: Any) -> Iterator[BinaryIO]:
    """A file for the body to write, which goes to a file object afterwards if one is meant.

    It need not be seekable.
    """
    if _is_path(path, "write", "wb"):
        with whole_file(path) as file:
            yield file
        return
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        while rest := file.read(BLOCK):
            while rest:
                written = path.write(rest)  # one without a buffer may take less than all
                rest = rest[len(rest) if written is None else written :]


@contextmanager
def source(path: Any) -> Iterator[BinaryIO]:
    """The file, or a copy of the rest of a file object, which need not be seekable."""
    if _is_path(path, "read", "rb"):
        with Path(path).open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(path, file)
        yield file


def name_of(path: Any) -> str:
    """How a message calls a path or stream."""
    if isinstance(path, (str, os.PathLike)):
        return str(path)
    name: Any = getattr(path, "name", None)
    return name if isinstance(name, str) else f"The stream ({type(path).__name__})"


def _is_path(path: Any, method: str, mode: str) -> bool:
    """Whether it is a path; other things than binary file objects of this mode are refused."""
    if isinstance(path, (str, os.PathLike)):
        return True
    if not hasattr(path, method):
        raise TypeError(
            f"A model file is a path or a binary file object, got {type(path).__name__}; give a"
            " name such as 'model.skcamel'."
        )
    if isinstance(path, io.TextIOBase):
        raise TypeError(
            f"{name_of(path)} is open for text, a model is bytes; open it with mode {mode!r}."
        )
    return False
