"""Parquet files larger than memory: `fit` and `predict` read them in batches."""

import json

import numpy as np
import pytest

import skcamel
from skcamel import CamelClassifierCV
from skcamel.data import TablePreparer, read_columns
from skcamel.presets import PREPARED
from tables import read_records as read

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install skcamel[tables]")
pq = pytest.importorskip("pyarrow.parquet")
LABELS = ["sea", "sun"]


def made(n=90, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(4)
    colour = rng.choice(["red", "green", "blue"], n)
    return pa.table(
        {
            "name": [f"row {k}" for k in range(n)],
            "x": pa.array(np.where(np.arange(n) % 9 == 4, np.nan, x), from_pandas=True),
            "colour": colour,
            "smoker": np.where(rng.random(n) > 0.5, "yes", "no"),
            "sea": (x + (colour == "red") > 0.3).astype(int),
            "sun": (x + rng.normal(size=n) > 0).astype(int),
        }
    )


@pytest.fixture
def files(tmp_path):
    """Two Parquet files of one table, their columns in other orders; and the whole as one."""
    table = made()
    pq.write_table(table.slice(0, 40), tmp_path / "a.parquet")
    rest = table.slice(40).select(table.column_names[::-1])
    pq.write_table(rest, tmp_path / "b.parquet", row_group_size=20)
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=25)
    return tmp_path


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr("skcamel.data.batches.BATCH_ROWS", 16)


@pytest.fixture
def model(done, files):
    done("fit", "a.parquet", "b.parquet", "--labels", "sea,sun", "-o", "m.skcamel")
    return files / "m.skcamel"


def by_hand(table):
    Y = np.column_stack([table[name] for name in LABELS])
    X = TablePreparer().fit(table.drop_columns(LABELS), Y).transform(table)
    options = {"representations": PREPARED["quick"], "solver": "landmark"}
    return CamelClassifierCV.from_preset("quick", **options).fit(X, Y).decision_function(X)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    "options",
    [("a.parquet", "b.parquet"), ("all.parquet", "--max-memory", "1GiB")],
    ids=["several", "max-memory"],
)
def test_a_fit_in_batches_is_that_of_all_rows(cli, files, options):
    result = cli("fit", *options, "--labels", "sea,sun", "-o", "m.skcamel", "--json")
    assert result.exit_code == 0, result.stderr
    assert "rows are read in batches, and summed up by landmarks" in result.stderr
    facts = json.loads(result.stdout)
    assert (facts["rows"], facts["in_batches"]) == (90, True)
    assert "from a sample" not in result.stderr
    whole = read_columns(files / "all.parquet")
    scores = skcamel.load(files / "m.skcamel").decision_function(whole)
    np.testing.assert_allclose(scores, by_hand(whole), atol=1e-9)


def test_what_the_columns_were_prepared_from_is_stated(cli, files, monkeypatch):
    table = made().slice(0, 1).set_column(2, "colour", pa.array(["violet"]))
    pq.write_table(table, files / "c.parquet")
    first_rows = lambda files, seed: (  # noqa: E731
        pa.concat_tables([rows.table for rows in files.batches()]).slice(0, 60),
        np.arange(60),
    )
    monkeypatch.setattr("skcamel.data.batches.ParquetFiles.sample", first_rows)
    fit = ("fit", "a.parquet", "b.parquet", "c.parquet", "--labels", "sea,sun")
    result = cli(*fit, "-o", "m.skcamel")
    assert result.exit_code == 0, result.stderr
    assert "Columns were prepared from a sample of 60 of 91 rows." in result.stdout
    assert "Note: 1 row with a value of 'colour' that the sample did not see." in result.stderr


@pytest.mark.usefixtures("small_batches")
def test_a_damaged_file_is_named_and_what_was_there_stays(refused, model):
    folder = model.parent
    pq.write_table(made(3000), folder / "bad.parquet", row_group_size=1000)
    content = bytearray((folder / "bad.parquet").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = b"\xff" * 200
    (folder / "bad.parquet").write_bytes(content)
    files, message = {path.name for path in folder.iterdir()}, "bad.parquet: is damaged"
    fit = ("fit", "a.parquet", "bad.parquet", "b.parquet", "--labels", "sea,sun")
    refused(1, message, *fit, "-o", "new.skcamel")
    (folder / "out.csv").write_text("before")
    refused(1, message, "predict", model, "bad.parquet", "-o", "out.csv")
    assert (folder / "out.csv").read_text() == "before"
    assert {path.name for path in folder.iterdir()} == files | {"out.csv"}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_predictions_in_batches_are_those_in_one_piece(cli, model, monkeypatch, suffix):
    table = made(60, seed=1)
    colours = pa.array(["violet" if k in (3, 50) else "red" for k in range(60)])
    table = table.set_column(2, "colour", colours).append_column("y", table["x"])
    pq.write_table(table, model.parent / "new.parquet", row_group_size=25)
    asked = ("predict", model, "new.parquet", "--scores", "--sets", "0.8")
    whole = cli(*asked, "-o", f"whole{suffix}")
    monkeypatch.setattr("skcamel.data.batches.BATCH_ROWS", 16)
    parts = cli(*asked, "-o", f"parts{suffix}")
    assert (whole.exit_code, parts.exit_code) == (0, 0), parts.stderr
    assert "2 rows with a value of 'colour' that the fit did not see" in parts.stderr
    assert parts.stderr.replace("parts.", "whole.") == whole.stderr
    one, other = (read(model.parent / f"{name}{suffix}") for name in ("whole", "parts"))
    assert len(one) == len(other) == 60
    for mine, theirs in zip(one, other, strict=True):
        assert mine.keys() == theirs.keys()
        for key, value in mine.items():
            if key.startswith("score:"):
                assert float(value) == pytest.approx(float(theirs[key]), abs=1e-12)
            elif not key.startswith("probability:"):
                assert value == theirs[key]
