"""Methods that harm the process they run in; importable from any process."""

import ctypes
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

from study_methods import Mean


class Harm(Mean):
    """Does harm, then fits as if nothing had happened, if it still can."""

    def __init__(self, harm, *settings):
        super().__init__(harm)
        self.settings = settings

    def fit(self, X, Y):
        HARMS[self.name](*self.settings)
        return super().fit(X, Y)


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class UnpicklableError(Exception):
    def __init__(self):
        super().__init__("has a lock")
        self.lock = threading.Lock()


def raises(error):
    def harm():
        raise error()

    return harm


def says_where_and(how):
    """Write down the number of the process, then hang."""

    def harm(folder):
        (Path(folder) / str(os.getpid())).touch()
        how()

    return harm


def holds_the_interpreter():
    """A hang that lets no other thread of the process run."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def is_killed_once(flag):
    """Killed as long as the file is not there, as by a system that has no memory left."""
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)


HARMS = {
    "exits": lambda: os._exit(3),
    "segfault": lambda: ctypes.string_at(0),
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hangs": lambda: time.sleep(3600),
    "holds": holds_the_interpreter,
    "unspeakable": raises(UnspeakableError),
    "unpicklable": raises(UnpicklableError),
    "leaves": lambda: sys.exit("enough"),
    "interrupts": raises(KeyboardInterrupt),
    "killed once": is_killed_once,
    "sleeps on": says_where_and(lambda: time.sleep(3600)),
    "holds on": says_where_and(holds_the_interpreter),
}
