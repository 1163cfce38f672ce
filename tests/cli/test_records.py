"""`skcamel records`: what it counts and exports, and what it refuses."""

import csv
import json

import pytest

import made_records
import made_studies
from skcamel.experiment import Records


@pytest.fixture
def folder(tmp_path):
    made_studies.write(tmp_path / "study", made_records.study(["mine", "yeast"], ["camel", "br"], n_folds=3))
    return tmp_path / "study"


def test_it_counts(cli, folder):
    result = cli("records", folder)
    assert (result.exit_code, result.stdout) == (0, "12 finished units: data sets 2, methods 2; failed 0.\n")


def test_the_end_of_the_name_says_what_is_written(cli, folder, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install skcamel[parquet]")
    from pyarrow import parquet

    for name in ("a.csv", "a.JSON", "a.parquet"):
        assert cli("records", folder, "-o", tmp_path / name).exit_code == 0
    wanted = [record["hamming_loss"] for record in Records(folder)]
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [float(row["hamming_loss"]) for row in csv.DictReader(file)] == wanted
    assert [record["hamming_loss"] for record in json.loads((tmp_path / "a.JSON").read_text())] == wanted
    assert parquet.read_table(tmp_path / "a.parquet").column("hamming_loss").to_pylist() == wanted


def test_compacting_keeps_every_record(cli, folder):
    before = list(Records(folder))
    assert cli("records", folder, "--compact").exit_code == 0
    assert list(Records(folder)) == before
    assert not list((folder / "units").glob("*.json"))


@pytest.mark.parametrize(
    ("name", "sentence"), [("a.xlsx", "must be .csv, .json or .parquet"), ("nowhere/a.csv", "There is no such folder")]
)
def test_what_cannot_be_written_is_refused(cli, folder, name, sentence):
    result = cli("records", folder, "-o", name)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
