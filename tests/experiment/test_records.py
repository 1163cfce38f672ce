"""A study folder is read as it stands, and damage is named with its place."""

import json
import math
import subprocess
import sys

import pytest

import made_records
import made_studies
from skcamel.experiment import Records, RecordsError
from skcamel.experiment.records import StudyFolder, encoded


@pytest.fixture
def folder(tmp_path):
    records = made_records.study(["yeast"], ["camel", "br"], n_folds=2)
    failures = [made_studies.failure(), made_studies.failure(method="br", n_folds=2)]
    return made_studies.write(tmp_path / "study", records, failures=failures)


def test_records_come_sorted_with_the_failures_that_were_not_mended(folder):
    records = Records(folder)
    units = [(record["method"], record["fold"]) for record in records]
    assert units == [("br", 0), ("br", 1), ("camel", 0), ("camel", 1)]
    assert [failure["method"] for failure in records.failures] == ["ecc"]
    assert repr(records).endswith("4 finished, 1 failed)")
    assert records.to_frame().shape[0] == 4
    assert records[1:3][0]["fold"] == 1


def test_undefined_metrics_are_null_in_files_and_nan_in_python(tmp_path):
    records = [made_records.record(macro_f1=math.nan)]
    made_studies.write(tmp_path, records)
    assert json.loads((tmp_path / "records.jsonl").read_text())["macro_f1"] is None
    assert math.isnan(Records(tmp_path)[0]["macro_f1"])


def test_the_settings_written_last_count(tmp_path):
    old = [made_records.record(fold=fold, settings={"tol": 1}) for fold in range(3)]
    new = [made_records.record(fold=fold, settings={"tol": 2}) for fold in (0, 2)]
    records = Records(made_studies.write(tmp_path, [*old, *new]))
    assert [record["fold"] for record in records] == [0, 2]


def test_a_line_torn_by_a_kill_does_not_count_and_is_removed(folder):
    path = folder / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert len(Records(folder)) == 3
    with StudyFolder(folder) as study:
        study.append(made_records.record(fold=7))
    assert [line for line in path.read_bytes().splitlines() if not line.endswith(b"}")] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"nonsense", "line 1: damaged .it is no mapping in JSON"),
        (b"[1]", "it is no mapping"),
        (b"[" * 100_000, "it is no mapping"),
        (encoded(made_records.record(fold=10)), "fold is 10 of 10"),
        (encoded(made_records.record(seed="0")), "seed is .0."),
        (encoded(made_records.record(coverage="high")), "coverage is .high."),
    ],
)
def test_a_damaged_line_is_named(line, message, folder):
    path = folder / "records.jsonl"
    path.write_bytes(line.rstrip(b"\n") + b"\n" + path.read_bytes())
    with pytest.raises(RecordsError, match=message):
        Records(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        Records(tmp_path / "nothing")


def test_a_disk_without_room_leaves_whole_lines(folder, monkeypatch):
    with StudyFolder(folder) as study:
        file = study._file

        class Full:
            def __getattr__(self, name):
                return getattr(file, name)

            def write(self, line):
                return file.write(line[:10])

        monkeypatch.setattr(study, "_file", Full())
        with pytest.raises(OSError, match="No space"):
            study.append(made_records.record(fold=7))
    assert len(Records(folder)) == 4


READING = """
import sys
from skcamel.experiment import Records, result_tables, summarise, write_tables
records = Records(sys.argv[1])
write_tables([*result_tables(summarise(records)).values()])
print(*sorted(name for name in sys.modules if name.startswith("skcamel")))
"""


def test_reading_and_tabulating_imports_no_estimator(folder):
    found = subprocess.check_output([sys.executable, "-c", READING, str(folder)], text=True)
    estimators = ("skcamel.camel", "skcamel.baselines", "skcamel.data", "skcamel.experiment.study")
    assert not [name for name in found.split() if name.startswith(estimators)]
