"""Everything that the commands say passes here: names without control characters, and one ending for an output that takes no more."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import IO, Any

from skcamel.text import one_line, printable


class OutputLost(BaseException):  # an ending, which nobody may take for an error and go on
    """Standard output takes no more; `errno` says why."""

    def __init__(self, error: OSError) -> None:
        self.errno = error.errno
        super().__init__(f"standard output: {error.strerror or error}.")


class Stream(io.TextIOBase):
    """Standard output or error as the commands see it.

    What its encoding lacks is written as an escape. Output that cannot be written raises `OutputLost`; of notes and errors it is
    dropped, for there is nowhere left to say so.

    Parameters
    ----------
    stream : file or None
        None where it was closed when the program began.
    required : bool
    """

    def __init__(self, stream: IO[str] | None, *, required: bool) -> None:
        self.stream = stream
        self.required = required

    @property
    def encoding(self) -> str:  # pyrefly: ignore[bad-override]
        """Of the stream beneath."""
        return getattr(self.stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.stream is not None and self.stream.isatty()

    def fileno(self) -> int:
        """Of the stream beneath."""
        if self.stream is None:
            raise io.UnsupportedOperation("fileno")
        return self.stream.fileno()

    def write(self, text: str) -> int:
        """Write all of it, or end the command."""
        if not isinstance(text, str):
            raise TypeError("text is wanted")  # click asks so whether it may write bytes
        if text:
            with self._ending():
                self._open().write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        if self.stream is not None:
            with self._ending():
                self.stream.flush()

    def _open(self) -> IO[str]:
        if self.stream is None:
            raise OSError(errno.EBADF, "It is closed")
        return self.stream

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with suppress(OSError):  # what is buffered would fail again at exit, with a traceback
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self.required:
                raise OutputLost(error) from error


@contextmanager
def streams() -> Iterator[None]:
    """Run with standard output and error as `Stream`."""
    with redirect_stdout(Stream(sys.stdout, required=True)), redirect_stderr(Stream(sys.stderr, required=False)):
        yield
        sys.stdout.flush()


def say(text: str = "", *, err: bool = False) -> None:
    """Write text and an end of line to standard output or error; control characters but line feeds become escapes."""
    (sys.stderr if err else sys.stdout).write(f"{printable(text)}\n")


def say_json(value: Any) -> None:
    """Write a value as JSON, with escapes for what a terminal would obey."""
    lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    hand_over("\n".join(line if line.isprintable() else "".join(map(_json_letter, line)) for line in lines) + "\n")


def hand_over(text: str) -> None:
    """Write what another program may read as it is; a terminal gets it with escapes."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


class StandardOutput:
    """A file to whoever only writes: see :func:`hand_over`."""

    write = staticmethod(hand_over)


def note(text: str) -> None:
    """Tell something on stderr that is not part of the result."""
    say(f"Note: {one_line(text)}", err=True)


def _json_letter(letter: str) -> str:
    return letter if letter.isprintable() else f"\\u{ord(letter):04x}" if ord(letter) < 2**16 else json.dumps(letter)[1:-1]
