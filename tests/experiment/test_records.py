"""Records: what is read back, and files that are damaged."""

import csv
import dataclasses
import io
import shutil

import pytest

from skcamel.data import Dataset
from skcamel.experiment import (
    Records,
    RecordsError,
    Unit,
    result_tables,
    run_study,
    summarise,
    write_tables,
)
from study_methods import Broken, Mean, made


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with ten records, four of them with undefined metrics, and two failures."""
    folder = tmp_path_factory.mktemp("study")
    one_label = Dataset(made().X, made().Y[:, :1], name='a,"b"')
    with pytest.warns(UserWarning, match="2 of 6 units failed"):
        run_study(
            [made()],
            [Mean("b", settings={"grid": "coarse"}), Mean("a"), Broken()],
            n_folds=2,
            out=folder,
        )
    run_study([made()], ["camel"], preset="quick", n_folds=2, out=folder)
    run_study([one_label], ["br", Mean("a")], n_folds=2, out=folder)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "study")


def test_records_are_a_sorted_sequence_of_mappings(folder):
    records = Records(folder)
    places = [(r["dataset"], r["method"], r["preset"], r["seed"], r["fold"]) for r in records]
    assert places == sorted(places)
    assert len(records) == len(places) == 10
    assert records[-1] is list(records)[-1]
    assert [failure["fold"] for failure in records.failures] == [0, 1]
    assert "10 finished, 2 failed" in repr(records)


def test_no_folder_no_records(tmp_path):
    with pytest.raises(
        FileNotFoundError, match="nowhere is not a folder; give the one that skcamel study -o wrote"
    ):
        Records(tmp_path / "nowhere")
    assert len(Records(tmp_path)) == 0


def test_the_key_is_that_of_the_identity_alone():
    unit = Unit("yeast", "br", "paper", 0, 10, "plain", 0, {"a": 1, "b": [2]})
    assert unit.key == Unit("yeast", "br", "paper", 0, 10, "plain", 0, {"b": [2], "a": 1}).key
    others = [
        dataclasses.replace(unit, **{field.name: "other"}) for field in dataclasses.fields(unit)
    ]
    assert len({unit.key, *(other.key for other in others)}) == 10
    assert Unit.of(unit.as_dict() | {"fit_seconds": 1.0}) == unit


DAMAGES = {
    "cut off": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "zeros after a power loss": lambda text: "\0" * len(text),
    "a field missing": lambda text: text.replace('"seed"', '"sead"'),
    "a seed that is none": lambda text: text.replace('"seed":0', '"seed":null'),
    "not a record": lambda text: "[]",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_line_is_named_with_its_cure(folder, damage):
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines()
    lines[3] = DAMAGES[damage](lines[3])
    path.write_text("\n".join(lines) + "\n")
    for use in (
        lambda: Records(folder),
        lambda: run_study([made()], [Mean("a")], n_folds=2, out=folder),
    ):
        with pytest.raises(
            RecordsError, match=r"records.jsonl, line 4: damaged .*; delete this line"
        ):
            use()


@pytest.mark.parametrize("name", ["study.json", "cards.json"])
def test_a_damaged_description_is_named_with_its_cure(folder, name):
    (folder / name).write_text("{")
    with pytest.raises(
        RecordsError, match=f"{name} is damaged .*; delete it, and the next run writes it again"
    ):
        run_study([made()], [Mean("a")], n_folds=2, out=folder)
    (folder / name).unlink()
    run_study([made()], [Mean("a")], n_folds=2, out=folder)
    assert (folder / name).exists()


@pytest.mark.parametrize(
    "name", ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "\n=1+1", " -2+3", "\t=1"]
)
def test_no_text_of_a_table_is_a_formula(tmp_path, name):
    data = Dataset(made().X, made().Y, name=name)
    records = run_study([data], [Mean(name)], n_folds=2, out=tmp_path / "study")
    row = next(
        csv.DictReader(
            io.StringIO(write_tables([*result_tables(summarise(records)).values()], "csv"))
        )
    )
    assert (row["dataset"], row["method"]) == (f"'{name}", f"'{name}")


def test_a_frame_has_a_row_for_each_unit(folder):
    pytest.importorskip("pandas")
    records = Records(folder)
    frame = records.to_frame()
    assert len(frame) == len(records)
    assert frame["hamming_loss"].tolist() == [record["hamming_loss"] for record in records]
    assert frame["params"][0] == records[0]["params"]
