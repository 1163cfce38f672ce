"""A study folder while a run works in it: one run at a time, whole lines, and nothing of others' is removed."""

import errno
import os
import subprocess
import sys

import pytest

import skcamel
from made_records import record
from skcamel.experiment import Records, RecordsError, run_study
from skcamel.experiment.records import StudyFolder, encoded
from study_methods import Mean, fits, made

RECORD = record("made", "mean", n_folds=2)
FAILURE = {
    name: RECORD[name]
    for name in ("dataset", "method", "preset", "fold", "n_folds", "folds", "seed", "settings")
}
FAILURE |= {"error": "no luck", "traceback": ""}


def test_a_second_run_is_refused_until_the_first_has_ended(tmp_path):
    with (
        StudyFolder(tmp_path),
        pytest.raises(
            RecordsError, match=r"Another study writes into .*; wait until it has ended, or choose"
        ),
    ):
        run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    assert len(run_study([made()], [Mean()], n_folds=2, out=tmp_path)) == 2


def test_a_run_in_another_process_counts_and_leaves_nothing_when_it_is_killed(tmp_path):
    code = (
        "import sys, pathlib\nfrom skcamel.experiment.records import StudyFolder\nfolder ="
        " StudyFolder(pathlib.Path(sys.argv[1]))\nprint('here', flush=True)\nsys.stdin.read()"
    )
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(skcamel.__file__))}
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as other:
        assert other.stdout.readline() == "here\n"
        with pytest.raises(RecordsError, match="Another study writes"):
            StudyFolder(tmp_path)
        other.kill()
    assert len(run_study([made()], [Mean()], n_folds=2, out=tmp_path)) == 2


def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("skcamel.experiment.records.fcntl.flock", refuse)
    with pytest.raises(OSError, match=r"gives no locks; put the folder on another disk"):
        StudyFolder(tmp_path)


def test_a_failure_counts_until_the_unit_is_finished(tmp_path):
    with StudyFolder(tmp_path) as folder:
        folder.append(FAILURE)
        folder.append(FAILURE | {"error": "again"})
    assert [failure["error"] for failure in Records(tmp_path).failures] == ["again"]
    with StudyFolder(tmp_path) as folder:
        folder.append(RECORD)
    assert (len(Records(tmp_path)), Records(tmp_path).failures) == (1, [])


@pytest.mark.parametrize("cut", [1, 10, -1])
def test_a_line_that_a_kill_has_torn_is_left_out_and_computed_again(tmp_path, log, cut):
    run_study([made()], [Mean()], n_folds=3, out=tmp_path)
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rpartition(b"\n")[2]
    path.write_bytes(whole[: len(whole) - len(last) - 1] + last[:cut])
    assert len(Records(tmp_path)) == 2
    events = []
    records = run_study([made()], [Mean()], n_folds=3, out=tmp_path, progress=events.append)
    assert (len(records), len(events), len(fits(log))) == (3, 1, 4)
    assert len(path.read_bytes().splitlines()) == 3


def test_a_last_line_that_lacks_its_end_alone_counts(tmp_path):
    (tmp_path / "records.jsonl").write_bytes(encoded(RECORD).rstrip(b"\n"))
    assert len(Records(tmp_path)) == 1
    with StudyFolder(tmp_path) as folder:
        folder.append(record("made", "mean", n_folds=2, fold=1))
    assert len(Records(tmp_path)) == 2


def test_a_full_disk_tears_no_line(tmp_path):
    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, line):
            return self.file.write(line[:10])

        def __getattr__(self, name):
            return getattr(self.file, name)

    with StudyFolder(tmp_path) as folder:
        folder.append(RECORD)
        folder._file = Full(folder._file)
        with pytest.raises(OSError, match="No space left"):
            folder.append(RECORD)
    assert (tmp_path / "records.jsonl").read_bytes().count(b"\n") == 1
    assert (tmp_path / "records.jsonl").read_bytes().endswith(b"\n")


def test_a_folder_of_an_earlier_version_says_how_it_is_read(tmp_path):
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "0123.json").write_bytes(encoded(RECORD))
    with pytest.raises(
        RecordsError,
        match=(
            r"has a folder units, as earlier versions wrote it; append its files to records.jsonl"
        ),
    ):
        Records(tmp_path)


LEFT = ".study.json.0123456789abcdef.skcamel-tmp"
FOREIGN = (
    ".notes.json.bak",
    ".study.json.swp",
    ".study.json.ab12",
    ".x.json.y.z",
    "notes.json",
    ".records.jsonl.~1~",
)


def test_a_study_removes_its_own_leftovers_and_nothing_else(tmp_path):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    for name in (LEFT, *FOREIGN):
        (tmp_path / name).write_text("mine")
    records = run_study([made()], [Mean(), Mean("other")], n_folds=2, out=tmp_path)
    assert not (tmp_path / LEFT).exists()
    assert {name: (tmp_path / name).read_text() for name in FOREIGN} == dict.fromkeys(
        FOREIGN, "mine"
    )
    assert len(records) == 4
