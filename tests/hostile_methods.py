"""Methods that harm the process they run in; importable from any process."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier

from skcamel.data import Dataset
from study_methods import Mean


class Harm(Mean):
    """Does harm, then fits as if nothing had happened, if it still can."""

    def __init__(self, harm, **settings):
        super().__init__(harm, settings=settings)

    def fit(self, X, Y, *, seed):
        HARMS[self.name](**self.settings)
        return super().fit(X, Y, seed=seed)


class Counted(Dataset):
    """A large data set that writes down each process that unpacks it."""

    def __reduce__(self):
        return unpacked, (self.X, self.Y, self.name)


def unpacked(X, Y, name):
    folder = Path(os.environ["UNPACKED"])
    (folder / f"{name} {os.getpid()} {len(list(folder.iterdir()))}").touch()
    return Counted(X, Y, name=name)


def large(name):
    rng = np.random.default_rng(0)
    return Counted(rng.normal(size=(500, 400)), rng.integers(0, 2, (500, 3)), name=name)


class Hanging(DummyClassifier):
    """For the command line, which makes estimators without arguments."""

    def fit(self, X, y):
        time.sleep(3600)


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class UnpicklableError(Exception):
    def __init__(self):
        super().__init__("has a lock")
        self.lock = threading.Lock()


class Beyond(BaseException):
    pass


def raises(error):
    def harm():
        raise error()

    return harm


def holds_the_interpreter():
    """A hang that lets no other thread of the process run."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def changes_everything():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    Path(folder).rmdir()
    np.seterr(all="raise")
    warnings.simplefilter("error")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(20)"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sys.stdout.close()
    sys.stderr.close()
    os.close(1)


def leaves_a_bomb(flag):
    """A thread that ends the process as soon as the file is there."""

    def explode():
        while not Path(flag).exists():
            time.sleep(0.01)
        os._exit(7)

    threading.Thread(target=explode, daemon=True, name="bomb").start()


def meets_a_bomb(flag):
    """Waits for the end, where there is a bomb."""
    if any(thread.name == "bomb" for thread in threading.enumerate()):
        Path(flag).touch()
        time.sleep(3600)


def is_killed_once(flag):
    """Killed as long as the file is not there, as by a system that has no memory left."""
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def tells_and_hangs(folder):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(3600)


def tells_threads(folder):
    (Path(folder) / f"{os.environ['OPENBLAS_NUM_THREADS']} {os.environ['OMP_NUM_THREADS']}").touch()


def eats(megabytes):
    np.ones((megabytes, 2**17)).sum()


HARMS = {
    "exits": lambda: os._exit(3),
    "segfault": lambda: ctypes.string_at(0),
    "aborts": os.abort,
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kills its parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "hangs": lambda: time.sleep(3600),
    "holds": holds_the_interpreter,
    "no memory": raises(MemoryError),
    "unspeakable": raises(UnspeakableError),
    "unpicklable": raises(UnpicklableError),
    "beyond": raises(Beyond),
    "leaves": lambda: sys.exit("enough"),
    "interrupts": raises(KeyboardInterrupt),
    "changes": changes_everything,
    "bomb": leaves_a_bomb,
    "meets": meets_a_bomb,
    "killed once": is_killed_once,
    "tells": tells_and_hangs,
    "threads": tells_threads,
    "eats": eats,
}
