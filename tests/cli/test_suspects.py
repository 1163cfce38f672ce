"""`skcamel suspects`: from a file to a table for an annotator, for data sets and for tables as people keep them."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import tiny
from messy import TABLES
from skcamel import CamelClassifierCV, find_label_errors
from skcamel.data import TablePreparer, read_dataset

COLUMNS = ["row", "label", "given", "suggested", "score", "chance", "why", "correct"]


@pytest.fixture
def folder(tmp_path):
    """tiny.arff, and towns.csv with an id, words, and one wrong label in row 18."""
    (tmp_path / "tiny.arff").write_bytes(tiny.arff())
    (tmp_path / "tiny.xml").write_bytes(tiny.xml())
    rng = np.random.default_rng(0)
    town, size = rng.choice(["Bath", "York"], 60), rng.normal(size=60).round(3)
    old = (town == "York").astype(int)
    old[17] = 1 - old[17]
    cells = {
        "case": [f"=K-{k:03}" for k in range(60)],
        "town": town,
        "size": size,
        "old": old,
        "large": (size > 0).astype(int),
    }
    pd.DataFrame(cells).to_csv(tmp_path / "towns.csv", index=False)
    return tmp_path


def test_a_data_set_gives_what_python_gives(cli, folder):
    result = cli("suspects", "tiny.arff", "--limit", 7, "--json")
    assert result.exit_code == 0, result.stderr
    told, data = json.loads(result.stdout), read_dataset(folder / "tiny.arff")
    found = find_label_errors(data.X, data.labels, limit=7)
    assert (told["data"], told["rows"], told["labels"]) == ("tiny.arff", tiny.N, tiny.Q)
    assert [entry["row"] for entry in told["suspects"]] == (found.rows + 1).tolist()
    assert [entry["label"] for entry in told["suspects"]] == found.label_names[
        found.labels
    ].tolist()
    np.testing.assert_allclose([entry["score"] for entry in told["suspects"]], found.scores)
    np.testing.assert_allclose([entry["chance"] for entry in told["suspects"]], found.chance)
    assert [entry["why"] for entry in told["suspects"]] == [found.why(entry) for entry in range(7)]


def test_a_table_with_words_and_an_id(cli, folder):
    result = cli(
        "suspects",
        "towns.csv",
        "--labels",
        "old,large",
        "--id",
        "case",
        "--limit",
        5,
        "-o",
        "check.csv",
    )
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "towns.csv: 60 rows, 2 labels; labels that are most likely wrong:"
    assert lines[1].split() == [
        "row",
        "case",
        "label",
        "given",
        "suggested",
        "score",
        "chance",
        "why",
    ]
    assert lines[2].split()[:3] == ["18", "=K-017", "old"]
    assert (
        lines[-1]
        == "Wrote check.csv; in its column 'correct' write 1 where the row has the label and 0"
        " where it does not."
    )
    rows = list(csv.DictReader((folder / "check.csv").read_text().splitlines()))
    assert list(rows[0]) == ["row", "case", *COLUMNS[1:]]
    assert (rows[0]["row"], rows[0]["case"], rows[0]["label"]) == ("18", "'=K-017", "old")
    assert [row["correct"] for row in rows] == [""] * 5
    assert all(int(row["given"]) + int(row["suggested"]) == 1 for row in rows)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_form_of_the_table_holds_the_same(cli, folder, suffix):
    result = cli(
        "suspects",
        "towns.csv",
        "--labels",
        "old,large",
        "--limit",
        6,
        "-o",
        f"out.{suffix}",
        "--json",
    )
    assert result.exit_code == 0, result.stderr
    path, told = folder / f"out.{suffix}", json.loads(result.stdout)["suspects"]
    read = {
        "csv": pd.read_csv,
        "tsv": lambda file: pd.read_csv(file, sep="\t"),
        "json": pd.read_json,
        "jsonl": lambda file: pd.read_json(file, lines=True),
        "parquet": pd.read_parquet,
    }
    frame = read[suffix](path)
    assert [name for name in frame.columns if name != "case"] == COLUMNS
    assert frame["row"].tolist() == [entry["row"] for entry in told]
    assert frame["label"].tolist() == [entry["label"] for entry in told]
    np.testing.assert_allclose(frame["score"], [entry["score"] for entry in told])
    assert frame["correct"].isna().all()


def test_an_id_with_the_name_of_a_column_of_ours(cli, folder):
    frame = pd.read_csv(folder / "towns.csv").rename(columns={"case": "row"})
    frame.to_csv(folder / "towns.csv", index=False)
    assert (
        cli(
            "suspects", "towns.csv", "--labels", "old,large", "--id", "row", "-o", "out.csv"
        ).exit_code
        == 0
    )
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert (rows[0]["row"], rows[0]["id:row"]) == ("18", "'=K-017")


def test_labels_of_a_second_file(cli, folder):
    frame = pd.read_csv(folder / "towns.csv")
    frame[["case", "old", "large"]].to_csv(folder / "labels.csv", index=False)
    frame[["case", "town", "size"]].to_csv(folder / "rows.csv", index=False)
    one = cli("suspects", "rows.csv", "--labels-file", "labels.csv", "--id", "case", "--json")
    other = cli("suspects", "towns.csv", "--labels", "old,large", "--id", "case", "--json")
    assert json.loads(one.stdout)["suspects"] == json.loads(other.stdout)["suspects"]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_messy_tables(cli, tmp_path, table):
    path, options = table.write(tmp_path)
    result = cli(
        "suspects",
        path,
        "--labels",
        table.labels,
        *options,
        "--limit",
        3,
        "-o",
        "out.jsonl",
        "--json",
    )
    assert result.exit_code == 0, result.stderr
    words = bool(set(table.kinds.values()) & {"category", "date", "text", "tags"})
    X = TablePreparer(scaling="rank" if words else "none").fit_transform(table.frame(), table.Y)
    found = find_label_errors(
        X, table.Y, CamelClassifierCV.from_preset("quick", prepared=words), limit=3
    )
    told = json.loads(result.stdout)["suspects"]
    np.testing.assert_allclose([entry["score"] for entry in told], found.scores, atol=1e-8)
    assert [entry["row"] for entry in told] == (found.rows + 1).tolist()
    assert [entry["label"] for entry in told] == [table.label_names[j] for j in found.labels]
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


def test_wrong_use(refused, folder):
    refused(2, "which columns are labels", "suspects", "towns.csv")
    refused(2, "0 is not in the range", "suspects", "tiny.arff", "--limit", 0)
    refused(
        2,
        "'nothing' is not one of 'quick', 'paper', 'best'",
        "suspects",
        "tiny.arff",
        "--preset",
        "nothing",
    )
    refused(2, "--text is about the columns of a table", "suspects", "tiny.arff", "--text", "a")
    refused(2, "ends in '.xlsx'", "suspects", "tiny.arff", "-o", "out.xlsx")
    refused(
        2,
        "is the same file as towns.csv",
        "suspects",
        "towns.csv",
        "--labels",
        "old",
        "-o",
        "towns.csv",
    )
    (folder / "one.csv").write_text("x,l,m\n1,0,1\n")
    refused(1, "No column of 1 sample", "suspects", "one.csv", "--labels", "l,m")


def test_the_table_into_a_pipe_leaves_the_words_to_stderr(cli, folder):
    result = cli("suspects", "tiny.arff", "--limit", 2, "-o", "/dev/stdout")
    assert result.exit_code == 0
    assert "labels that are most likely wrong" not in result.stdout
    assert "labels that are most likely wrong" in result.stderr


def test_the_solver_is_that_of_python(cli, folder):
    result = cli(
        "suspects", "tiny.arff", "--limit", 4, "--landmarks", 7, "--max-memory", "1GiB", "--json"
    )
    assert result.exit_code == 0, result.stderr
    data = read_dataset(folder / "tiny.arff")
    model = CamelClassifierCV.from_preset(
        "quick", solver="landmark", landmarks="kmeans", n_landmarks=7
    )
    found = find_label_errors(data.X, data.labels, model, limit=4)
    np.testing.assert_allclose(
        [entry["score"] for entry in json.loads(result.stdout)["suspects"]], found.scores
    )
