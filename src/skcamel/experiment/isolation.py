"""What a method changes for its whole process is put back after each unit, so that it disturbs no other."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

import numpy as np


@contextmanager
def put_back() -> Iterator[None]:
    """Restore working directory, signal handlers, output streams and numpy's error state when the body ends.

    They belong to the whole process; so in a thread, beside which others work, only numpy's state is restored.

    Examples
    --------
    >>> here = os.getcwd()
    >>> with put_back():
    ...     os.chdir("/")
    >>> os.getcwd() == here
    True
    """
    with ExitStack() as after, np.errstate():
        if threading.current_thread() is threading.main_thread():
            after.enter_context(_directory())
            after.enter_context(_signal_handlers())
            after.enter_context(_output(1))
            after.enter_context(_output(2))
            after.enter_context(redirect_stdout(_unclosable(sys.stdout)))
            after.enter_context(redirect_stderr(_unclosable(sys.stderr)))
        yield


@contextmanager
def _directory() -> Iterator[None]:
    try:
        here = os.getcwd()
    except FileNotFoundError:  # it was deleted before; there is no way back
        here = None
    try:
        yield
    finally:
        if here is not None:
            with suppress(OSError):  # the method deleted it; all paths of a study are absolute
                os.chdir(here)


@contextmanager
def _signal_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) != handler:  # None: not set from Python
                signal.signal(number, handler)


@contextmanager
def _output(descriptor: int) -> Iterator[None]:
    try:
        kept = os.dup(descriptor)
    except OSError:  # closed before
        yield
        return
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def _unclosable(stream: Any) -> Any:
    return None if stream is None else _Unclosable(stream)


class _Unclosable:
    """A stream that a method can write to and not close."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Keep it open."""
