"""Who may do a unit: claims of two runs on one folder, seen from inside one process."""

import threading
import time

import pytest

import study_methods
from made_records import record
from skcamel.experiment import Records, Unit, run_study
from skcamel.experiment.records import StudyFolder
from study_methods import Mean, made

UNIT = Unit("made", "mean", "paper", 0, 2, "plain", 0)
RECORD = record("made", "mean", n_folds=2)


@pytest.fixture
def folders(tmp_path):
    with StudyFolder(tmp_path) as one, StudyFolder(tmp_path) as two:
        yield one, two


def test_a_claimed_unit_is_busy_for_others_until_it_is_done(folders):
    one, two = folders
    assert one.claim(UNIT.key) == "mine"
    assert two.claim(UNIT.key) == "busy"
    one.finish(UNIT.key, RECORD)
    assert two.claim(UNIT.key) == one.claim(UNIT.key) == "done"


def test_a_unit_that_failed_meanwhile_is_not_tried_twice_but_by_the_next_run(folders, tmp_path):
    one, two = folders
    assert one.claim(UNIT.key) == "mine"
    one.fail(UNIT.key, UNIT.as_dict() | {"error": "no luck", "traceback": ""})
    assert two.claim(UNIT.key) == "failed"
    with StudyFolder(tmp_path) as later:
        assert later.claim(UNIT.key) == "mine"
        later.finish(UNIT.key, RECORD)
    assert Records(tmp_path).failures == []


def test_a_unit_finished_between_two_looks_is_done(folders, monkeypatch):
    one, two = folders
    take = two.locks.take

    def late(key):
        assert one.claim(key) == "mine"
        one.finish(key, RECORD)
        return take(key)

    monkeypatch.setattr(two.locks, "take", late)
    assert two.claim(UNIT.key) == "done"
    monkeypatch.undo()
    assert one.locks.take(UNIT.key)  # the late one kept nothing


LEFT = ".study.json.0123456789abcdef.skcamel-tmp", f"units/.{UNIT.key}.json.0123456789abcdef.skcamel-tmp"
FOREIGN = (
    *(".notes.json.bak", ".study.json.swp", ".study.json.ab12", ".x.json.y.z", "notes.json", ".records.jsonl.~1~"),
    *(f"{part}/{name}" for part in ("units", "failures") for name in (".DS_Store", f".{UNIT.key}.json.swp", f".{UNIT.key}.json.ab12cd34")),
    *(f"{part}/._{UNIT.key}.json" for part in ("units", "failures")),
)


def test_a_study_removes_its_own_leftovers_and_nothing_else(tmp_path):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    for name in (*LEFT, *FOREIGN):
        (tmp_path / name).write_text("mine")
    records = run_study([made()], [Mean(), Mean("other")], n_folds=2, out=tmp_path)
    assert not any((tmp_path / name).exists() for name in LEFT)
    assert {name: (tmp_path / name).read_text() for name in FOREIGN} == dict.fromkeys(FOREIGN, "mine")
    assert len(records) == 4


def test_two_threads_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(study_methods.LOG, str(tmp_path / "log"))
    states = []
    threads = [
        threading.Thread(
            target=run_study,
            args=([made()], [Mean(pause=0.03)]),
            kwargs={"n_folds": 8, "out": tmp_path / "study", "progress": lambda event: states.append(event.state)},
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(study_methods.fits(tmp_path / "log")) == len(Records(tmp_path / "study")) == 8
    assert states.count("done") == 8


def test_a_run_waits_for_a_unit_of_another_and_does_it_when_that_ends(tmp_path):
    with StudyFolder(tmp_path) as other:
        assert other.claim(Unit("made", "mean", "paper", 1, 2, "plain", 0, {}, made().sha256).key) == "mine"
        events = []
        waiting = threading.Thread(
            target=run_study, args=([made()], [Mean()]), kwargs={"n_folds": 2, "out": tmp_path, "progress": events.append}
        )
        waiting.start()
        deadline = time.monotonic() + 20
        while not events and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert [event.unit.fold for event in events] == [0]
    waiting.join()
    assert [event.unit.fold for event in events] == [0, 1]
    assert len(Records(tmp_path)) == 2
