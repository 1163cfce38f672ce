"""Files that appear whole or not at all, and what killed writers leave behind."""

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import skcamel
from skcamel.files import check_writable, whole_file

posix_only = pytest.mark.skipif(
    sys.platform == "win32", reason="devices, pipes and signals of POSIX"
)
ENDLESS = (
    "import sys; from skcamel.files import whole_file\nwhile True:\n  with whole_file(sys.argv[1])"
    " as f: f.write(b'x' * 10**6); f.flush()"
)


def write(path, content):
    with whole_file(path) as file:
        file.write(content)


def running(code, *arguments, stdout=subprocess.PIPE):
    """A process of Python that finds this skcamel."""
    environment = os.environ | {"PYTHONPATH": str(Path(skcamel.__file__).parents[1])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=stdout)


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


@posix_only
def test_a_killed_writer_leaves_the_file_whole(tmp_path):
    moments = np.random.default_rng(0)
    for _ in range(12):
        write(tmp_path / "model", b"x")
        process = running(ENDLESS, tmp_path / "model")
        while len(os.listdir(tmp_path)) == 1:
            assert process.poll() is None
        threading.Event().wait(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert len((tmp_path / "model").read_bytes()) in (1, 10**6)
        for name in hidden(tmp_path):
            (tmp_path / name).unlink()


def test_two_writers_at_once_do_not_meet(tmp_path):
    with whole_file(tmp_path / "model") as file:
        file.write(b"first")
        write(tmp_path / "model", b"second")
        assert (tmp_path / "model").read_bytes() == b"second"
    assert (tmp_path / "model").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["model"]


@posix_only
def test_a_device_is_written_into(tmp_path):
    write("/dev/null", b"nothing")
    assert not Path("/dev/null").is_file()
    (tmp_path / "link").symlink_to("/dev/null")
    write(tmp_path / "link", b"nothing")
    assert (tmp_path / "link").is_char_device()


@posix_only
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_is_written_into_whatever_it_is(name, tmp_path):
    code = (
        "import sys; from skcamel.files import whole_file\nwith whole_file(sys.argv[1]) as f:"
        " f.seek(4); f.write(b'new')"
    )
    output, _ = running(code, name).communicate()
    assert output == b"\0\0\0\0new"
    (tmp_path / "log").write_bytes(b"old")
    with (tmp_path / "log").open("ab") as log:
        assert running(code, name, stdout=log).wait() == 0
    assert (tmp_path / "log").read_bytes() == b"old\0\0\0\0new"


def test_a_folder_is_refused(tmp_path):
    for refuse in (check_writable, lambda path: write(path, b"")):
        with pytest.raises(IsADirectoryError, match="This is a folder; give the name of a file"):
            refuse(tmp_path)
        with pytest.raises(FileNotFoundError, match=r"There is no such folder.*missing"):
            refuse(tmp_path / "missing" / "model")
        (tmp_path / "file").touch()
        with pytest.raises(FileNotFoundError, match=r"There is no such folder.*file"):
            refuse(tmp_path / "file" / "model")
        with pytest.raises(OSError, match="too long"):
            refuse(tmp_path / ("a" * 300))
    assert os.listdir(tmp_path) == ["file"]


def test_a_read_only_folder_is_refused_before_any_work(tmp_path, monkeypatch):
    check_writable(tmp_path / "model")
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(PermissionError, match="read-only; choose another") as caught:
        check_writable(tmp_path / "model")
    assert caught.value.filename == str(tmp_path)


@posix_only
def test_links_stay_links_also_those_that_lead_nowhere_yet(tmp_path):
    (tmp_path / "link").symlink_to("target")
    for content in (b"first", b"second"):
        write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_bytes() == content


def test_an_error_while_writing_names_the_target(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*model") as caught:
        write(tmp_path / "model", b"content")
    assert caught.value.filename == str(tmp_path / "model")
    assert os.listdir(tmp_path) == []
