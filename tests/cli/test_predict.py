"""`skcamel predict`: rows of a file ► labels, probabilities and prediction sets, in five forms."""

import csv
import io

import numpy as np
import pytest

from skcamel import load
from tables import HOSTILE, named_table, table
from tables import read_records as read

pytest.importorskip("pyarrow.parquet")
SUFFIXES = (".csv", ".jsonl", ".parquet")


@pytest.fixture
def rows(tmp_path):
    X, _ = table(tmp_path / "new.csv", range(40, 60), with_labels=False)
    return X


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_form_holds_what_python_gives(done, model, rows, tmp_path, suffix):
    done("predict", "m.skcamel", "new.csv", "--scores", "--sets", "0.8", "-o", f"out{suffix}")
    found = read(tmp_path / f"out{suffix}")
    fitted = load(model)
    frame = {name: rows[:, j] for j, name in enumerate("xyz")}
    assert list(found[0])[:2] == ["row", "labels"]
    for j, name in enumerate(("sea", "sun")):
        probabilities = [float(record[f"probability:{name}"]) for record in found]
        scores = [float(record[f"score:{name}"]) for record in found]
        sets = [("no", "yes", "open").index(record[f"set:{name}"]) for record in found]
        np.testing.assert_array_equal(probabilities, fitted.predict_proba(frame)[:, j].round(4))
        np.testing.assert_array_equal(scores, fitted.decision_function(frame)[:, j])
        np.testing.assert_array_equal(sets, fitted.predict_sets(frame, 0.8)[:, j] % 3)
    written = ";".join if suffix == ".csv" else list
    expected = [written(names) for names in fitted.label_sets(frame)]
    assert [record["labels"] for record in found] == expected
    assert [int(record["row"]) for record in found] == list(range(1, 21))


def test_without_a_file_csv_goes_to_the_screen_with_four_digits(done, model, rows):
    lines = done("predict", "m.skcamel", "new.csv").splitlines()
    assert lines[0] == "row,labels,probability:sea,probability:sun"
    assert len(lines) == 21
    assert all(len(cell) <= 6 for line in lines[1:] for cell in line.split(",")[-2:])


def test_columns_go_by_name_and_others_are_left_out(cli, model, rows, tmp_path):
    expected = cli("predict", "m.skcamel", "new.csv").stdout
    table(tmp_path / "other.csv", range(40, 60), columns=("z", "x", "y"), separator=";")
    result = cli("predict", "m.skcamel", "other.csv")
    assert result.stdout == expected
    assert "sea" in result.stderr  # label columns are mentioned
    text = (tmp_path / "new.csv").read_text().splitlines()
    more = [f"{line},{k or 'more'}" for k, line in enumerate(text)]
    (tmp_path / "more.csv").write_text("\n".join(more) + "\n")
    result = cli("predict", "m.skcamel", "more.csv")
    assert result.stdout == expected
    assert "more" in result.stderr


def test_a_missing_column_is_refused_unless_allowed(cli, refused, model, rows, tmp_path):
    text = [line.rpartition(",")[0] for line in (tmp_path / "new.csv").read_text().splitlines()]
    (tmp_path / "less.csv").write_text("\n".join(text) + "\n")
    refused(1, "'z'", "predict", "m.skcamel", "less.csv")
    assert cli("predict", "m.skcamel", "less.csv", "--allow-missing").exit_code == 0


@pytest.mark.parametrize(("name", "shown"), [("ticket", "ticket"), ("row", "id:row")])
def test_columns_that_name_the_rows_come_out_beside_the_predictions(done, tmp_path, name, shown):
    named_table(tmp_path / "mine.csv", range(40), name, "=T-")
    done("fit", "mine.csv", "--labels", "sea,sun", "--column", f"{name}=id")
    found = list(csv.DictReader(io.StringIO(done("predict", "mine.skcamel", "mine.csv"))))
    assert [record[shown] for record in found] == [f"'=T-{k}" for k in range(1, 41)]
    assert [record["row"] for record in found] == [f"{k}" for k in range(1, 41)]
    explained = done("explain", "mine.skcamel", "mine.csv", "--row", "3")
    assert explained.startswith(f"Row 3 of mine.csv, {shown} =T-3:")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_are_found_again_and_no_cell_is_a_formula(done, tmp_path, suffix):
    names = (*HOSTILE, "=1+1")
    table(tmp_path / "mine.csv", range(40), labels=names)
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    done("fit", "mine.csv", "--labels", quoted)
    done("predict", "mine.skcamel", "mine.csv", "-o", f"out{suffix}")
    found = read(tmp_path / f"out{suffix}")
    assert [name for name in found[0] if name.startswith("probability:")] == [
        f"probability:{name}" for name in names
    ]
    if suffix == ".csv":
        for cells in csv.reader(io.StringIO((tmp_path / f"out{suffix}").read_text(), newline="")):
            assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_what_is_read_is_not_written_over(refused, model, rows):
    refused(2, "which is read", "predict", "m.skcamel", "new.csv", "-o", "new.csv")
    refused(2, "must end in", "predict", "m.skcamel", "new.csv", "-o", "out.xlsx")


def test_a_damaged_model_is_one_sentence(refused, model, rows, tmp_path):
    (tmp_path / "m.skcamel").write_bytes(model.read_bytes()[:-50])
    refused(1, "m.skcamel", "predict", "m.skcamel", "new.csv")
    refused(1, "mine.csv", "predict", "mine.csv", "new.csv")
