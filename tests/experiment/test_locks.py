"""Locks of units: one holder among all objects, threads and processes, and none after its holder has ended."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skcamel
from skcamel.experiment.locks import WHOLE_FOLDER, UnitLocks, _offset

KEY, OTHER = "00000001ff", "00000002ff"
HOLDER = """
import sys, pathlib
from skcamel.experiment.locks import UnitLocks
locks = UnitLocks(pathlib.Path(sys.argv[1]))
print(locks.take(sys.argv[2]), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_process(tmp_path):
    """`other_process(key)` takes a lock in another process; the process is returned once it has told how that went."""
    started = []

    def start(key):
        environment = os.environ | {"PYTHONPATH": str(Path(skcamel.__file__).parents[1])}
        command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock"), key]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)  # noqa: S603
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_lock_has_one_holder_in_a_process(tmp_path):
    with UnitLocks(tmp_path / "lock") as one, UnitLocks(tmp_path / "lock") as two:
        assert one.take(KEY)
        assert not one.take(KEY)
        assert not two.take(KEY)
        assert two.take(OTHER)
    with UnitLocks(tmp_path / "lock") as three:
        assert three.take(KEY)


def test_closing_one_object_keeps_the_locks_of_another(tmp_path, other_process):
    with UnitLocks(tmp_path / "lock") as mine:
        assert mine.take(KEY)
        with UnitLocks(tmp_path / "lock") as two:
            two.take(OTHER)
        assert other_process(KEY)[1] == "False"
        assert other_process(OTHER)[1] == "True"


@pytest.mark.parametrize("end", [signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM, signal.SIGINT])
def test_a_lock_ends_with_its_process_however_that_ends(tmp_path, other_process, end):
    process, answer = other_process(KEY)
    assert answer == "True"
    with UnitLocks(tmp_path / "lock") as mine:
        assert not mine.take(KEY)
        process.send_signal(end)
        process.wait()
        assert mine.take(KEY)


def test_the_folder_as_a_whole_is_waited_for(tmp_path):
    with UnitLocks(tmp_path / "lock") as one, UnitLocks(tmp_path / "lock") as two:
        with one.whole_folder():
            assert two.take(KEY)
            with (
                pytest.raises(TimeoutError, match=r"has held .*lock for 0.01 seconds; wait for it to end, or end it"),
                two.whole_folder(wait=0.01),
            ):
                pass
        with two.whole_folder(wait=0):
            pass


def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("skcamel.experiment.locks._lock", refuse)
    with UnitLocks(tmp_path / "lock") as locks, pytest.raises(OSError, match=r"gives no locks, .*; put it on another disk"):
        locks.take(KEY)


@given(st.text("0123456789abcdef", min_size=20, max_size=20))
def test_no_unit_has_the_byte_of_the_folder(key):
    assert 0 <= _offset(key) < WHOLE_FOLDER
