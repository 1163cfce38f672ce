"""Signals that end the program; imports nothing but the standard library, for they may come at any moment.

Each becomes a KeyboardInterrupt, so that whoever reads, writes or waits can clean up, and the exit code is 128 plus its number.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
AGAIN = 0.05  # seconds until a signal that was lost comes again
IMPATIENT = 3  # signals after which the program ends without cleaning up
INTERRUPTED = 128 + signal.SIGINT

_came: list[int] = []
_watched: list[int] = []
_over = False


class Signalled(KeyboardInterrupt):
    """A signal came. Of a plain KeyboardInterrupt that passes through `exec` Python remembers to kill itself at exit, handled or not."""


def watch() -> None:
    """Take over the signals that are not ignored; for the program itself, never for a caller in Python."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell that started us in the background
            signal.signal(number, _stop)
            _watched.append(number)
    sys.unraisablehook = _quietly
    _occupy_standard_streams()


def exit_code() -> int | None:
    """128 plus the number of the signal that came first, or None."""
    return 128 + _came[0] if _came else None


def finish() -> None:
    """Disregard signals from now on: the program has said its last word and is ending."""
    global _over  # noqa: PLW0603 a signal handler has no other place
    _over = True
    for number in _watched:
        signal.signal(number, signal.SIG_IGN)  # while Python takes itself down, too


def _stop(number: int, _: Any) -> None:
    if _over:
        return
    _came.append(number)
    if len(_came) >= IMPATIENT:
        os._exit(128 + _came[0])
    raise Signalled


def _quietly(unraisable: sys.UnraisableHookArgs) -> None:
    """A signal that arrives inside a destructor or callback is lost there: it is sent once more, a moment later."""
    if not (_came and isinstance(unraisable.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(unraisable)
    elif not _over:
        again = threading.Timer(AGAIN, os.kill, (os.getpid(), _came.pop()))
        again.daemon = True
        again.start()


def _occupy_standard_streams() -> None:
    """Open /dev/null where standard input, output or error is closed, or the next file would get its number and whatever C prints."""
    descriptor = 0
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
