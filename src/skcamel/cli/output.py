"""What the commands print and how they end: safe text, JSON, bars, an output that takes no more, and signals.

Loads no other library, because a signal may come at any moment. Each becomes a KeyboardInterrupt,
so that code that
reads, writes or waits can clean up; the exit code is 128 plus its number.
"""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import IO, Any

from skcamel.files import is_stream
from skcamel.text import one_line, printable

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
AGAIN = 0.05  # seconds until a signal that was lost comes again
IMPATIENT = 3  # signals after which the program ends without cleaning up
INTERRUPTED = 128 + signal.SIGINT

_came: list[int] = []
_watched: list[int] = []
_over = False


class OutputLost(BaseException):  # nobody may catch it as an error and go on
    """Standard output takes no more; `errno` says why."""

    def __init__(self, error: OSError) -> None:
        self.errno = error.errno
        super().__init__(f"standard output: {error.strerror or error}.")


class Stream(io.TextIOBase):
    """Standard output or error as the commands see it.

    Characters that its encoding lacks become escapes. `stream` is None if it was closed when the
    program began. If text cannot be
    written, `OutputLost` is raised; notes and errors, which are not `required`, are dropped.
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
                if self.stream is None:
                    raise OSError(errno.EBADF, "It is closed")
                self.stream.write(
                    text.encode(self.encoding, "backslashreplace").decode(self.encoding)
                )
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        if self.stream is not None:
            with self._ending():
                self.stream.flush()

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
    with (
        redirect_stdout(Stream(sys.stdout, required=True)),
        redirect_stderr(Stream(sys.stderr, required=False)),
    ):
        yield
        sys.stdout.flush()


def say(text: str = "", *, err: bool = False) -> None:
    """Write text and an end of line to standard output or error; control characters but line feeds become escapes."""
    (sys.stderr if err else sys.stdout).write(f"{printable(text)}\n")


def say_json(value: object) -> None:
    """Write a value as JSON, with null for numbers that are not finite, and escapes for control characters."""
    from skcamel.experiment.records import jsonable

    lines = json.dumps(jsonable(value, lambda _: None), indent=1, ensure_ascii=False).split("\n")
    hand_over(
        "\n".join(
            line if line.isprintable() else "".join(map(_json_letter, line)) for line in lines
        )
        + "\n"
    )


def _json_letter(letter: str) -> str:
    return (
        letter
        if letter.isprintable()
        else f"\\u{ord(letter):04x}"
        if ord(letter) < 2**16
        else json.dumps(letter)[1:-1]
    )


def hand_over(text: str) -> None:
    """Write text for another program as it is, for a terminal with escapes."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def note(text: str) -> None:
    """Write a note, which is not part of the result, to stderr."""
    say(f"Note: {one_line(text)}", err=True)


@contextmanager
def words_beside(*outputs: str | None) -> Iterator[None]:
    """Redirect stdout to stderr if an output is a device or pipe, which may be stdout itself."""
    if any(output is not None and is_stream(output) for output in outputs):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


@contextmanager
def bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress on stderr, if that is a terminal: call what is yielded with a name, how much is done, and of how much."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as shown:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(one_line(name), total=total)
            elif done < shown.tasks[shown.task_ids.index(tasks[name])].completed:
                shown.reset(
                    tasks[name]
                )  # the next of several passes: time left is that of this one
            shown.update(tasks[name], completed=done, total=total)

        yield update


class Stopped(Exception):  # noqa: N818 an ending, no error
    """A signal ended the command; the message says what is left."""


class Signalled(KeyboardInterrupt):
    """A signal came. After a plain KeyboardInterrupt inside `exec`, Python would kill itself at exit even if it was handled."""


def watch() -> None:
    """Handle the signals that are not ignored; only in the program, never for a caller in Python."""
    for number in SIGNALS:
        if (
            signal.getsignal(number) is not signal.SIG_IGN
        ):  # nohup, or a shell that started us in the background
            signal.signal(number, _stop)
            _watched.append(number)
    sys.unraisablehook = _quietly
    _occupy_standard_streams()


def exit_code() -> int | None:
    """128 plus the number of the signal that came first, or None."""
    return 128 + _came[0] if _came else None


def finish() -> None:
    """Ignore signals from now on: the program is ending."""
    global _over  # noqa: PLW0603 a signal handler has no other place
    _over = True
    for number in _watched:
        signal.signal(number, signal.SIG_IGN)  # also while Python shuts down


def _stop(number: int, _: object) -> None:
    if _over:
        return
    _came.append(number)
    if len(_came) >= IMPATIENT:
        os._exit(128 + _came[0])
    raise Signalled


def _quietly(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a signal again a moment later if it came inside a destructor or callback, where it is lost."""
    if not (_came and isinstance(unraisable.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(unraisable)
    elif not _over:
        again = threading.Timer(AGAIN, os.kill, (os.getpid(), _came.pop()))
        again.daemon = True
        again.start()


def _occupy_standard_streams() -> None:
    """Open /dev/null for each closed standard stream, or the next file would get its number and what C code prints."""
    descriptor = 0
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)


def print_columns(told: Sequence[tuple[str, ...]], most: int | None = None) -> None:
    """Write what becomes of each column of a table, a line each: its name, its kind, and details."""
    shown = [tuple(map(one_line, words)) for words in told[:most]]
    width = min(max(len(name) for name, _, _ in shown), 30)
    for name, kind, detail in shown:
        say(f"  {name:<{width}}  {kind:<8}  {detail}".rstrip())
    if len(shown) < len(told):
        say(f"  … {len(told) - len(shown)} more; 'skcamel datasets check' lists all.")
