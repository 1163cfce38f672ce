"""`skcamel predict`: round trips in every form, columns matched by name, and files that do not fit the model."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skcamel
from skcamel import CamelClassifier, load, save
from skcamel.cli.predict import read_predictions
from skcamel.data import Dataset, load_dataset, write_meka, write_mulan, write_svmlight
from tables import HOSTILE, table

HOME = os.environ.get("SKCAMEL_DATA")


@pytest.fixture
def model(cli, tmp_path):
    """A model of 40 rows in m.skcamel, and 20 new rows in new.csv; returns (model, X of the new rows)."""
    table(tmp_path / "mine.csv", range(40), labels=HOSTILE)
    assert cli("fit", "mine.csv", "--labels", "4", "-o", "m.skcamel").exit_code == 0
    X, _ = table(tmp_path / "new.csv", range(40, 60), labels=HOSTILE, with_labels=False)
    return load(tmp_path / "m.skcamel"), X


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
def test_every_form_holds_exactly_what_python_says(cli, model, suffix):
    fitted, X = model
    result = cli("predict", "m.skcamel", "new.csv", "-o", f"p{suffix}", "--probabilities")
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        f"20 rows; wrote p{suffix}\n",
    )
    names, values = read_predictions(f"p{suffix}")
    assert names == HOSTILE
    np.testing.assert_array_equal(values["scores"], fitted.decision_function(X))
    np.testing.assert_array_equal(values["decisions"], fitted.predict(X))
    np.testing.assert_array_equal(values["probabilities"], fitted.predict_proba(X))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
def test_prediction_sets(cli, model, suffix, tmp_path):
    fitted, X = model
    cli("predict", "m.skcamel", "new.csv", "-o", f"p{suffix}", "--sets", "0.8")
    names, values = read_predictions(f"p{suffix}")
    assert (names, list(values)) == (HOSTILE, ["scores", "decisions", "sets"])
    np.testing.assert_array_equal(values["sets"], fitted.predict_sets(X, 0.8))
    assert set(np.unique(values["sets"])) == {-1, 0, 1}
    if suffix == ".json":
        words = json.loads((tmp_path / "p.json").read_text())[0]["sets"]
        assert words == {
            name: ("no", "yes", "open")[answer]
            for name, answer in zip(HOSTILE, fitted.predict_sets(X, 0.8)[0], strict=True)
        }
    cli(
        "predict",
        "m.skcamel",
        "new.csv",
        "-o",
        f"p{suffix}",
        "--sets",
        "0.8",
        "--no-scores",
        "--no-decisions",
    )
    names, values = read_predictions(f"p{suffix}")
    assert (names, list(values)) == (HOSTILE, ["sets"])


def test_a_model_without_leave_one_out_scores_has_no_answers(refused, model, tmp_path):
    fitted, X = model
    save(
        CamelClassifier(0.1, solver="alternating").fit(X, np.eye(20, 2, dtype=int)),
        tmp_path / "slow.skcamel",
    )
    refused(
        2,
        "use solver='spectral'. Or leave out --sets.",
        "predict",
        "slow.skcamel",
        "new.csv",
        "--sets",
        "0.9",
    )
    for wrong in ("0", "1.5"):
        refused(2, "is not in the range 0<x<=1", "predict", "m.skcamel", "new.csv", "--sets", wrong)
    refused(
        2,
        "confidence must be a number above 0 and at most 1",
        "predict",
        "m.skcamel",
        "new.csv",
        "--sets",
        "nan",
    )


def test_one_evaluation_of_the_kernel_serves_all_that_is_asked_for(cli, model, evaluations):
    assert cli("predict", "m.skcamel", "new.csv", "--probabilities", "--sets", "0.9").exit_code == 0
    assert evaluations == [20]


def test_label_sets_can_be_told_apart_whatever_the_names(cli, model, tmp_path):
    fitted, X = model
    cli("predict", "m.skcamel", "new.csv", "-o", "p.csv")
    with (tmp_path / "p.csv").open(newline="") as file:
        cells = [row["labels"] for row in csv.DictReader(file)]
    sets = [
        tuple(next(csv.reader(io.StringIO(cell, newline=""), delimiter=";"), ())) for cell in cells
    ]
    assert sets == fitted.label_sets(X)
    for suffix in ("json", "jsonl", "parquet"):
        cli("predict", "m.skcamel", "new.csv", "-o", f"p.{suffix}")
    expected = [list(names) for names in fitted.label_sets(X)]
    assert [
        record["labels"] for record in json.loads((tmp_path / "p.json").read_text())
    ] == expected
    assert [
        json.loads(line)["labels"] for line in (tmp_path / "p.jsonl").read_text().splitlines()
    ] == expected
    assert [list(names) for names in pd.read_parquet("p.parquet")["labels"]] == expected


def test_only_what_is_asked_for(cli, model):
    head = cli(
        "predict", "m.skcamel", "new.csv", "--no-scores", "--no-decisions"
    ).stdout.splitlines()[0]
    assert head == "row,labels"
    cli("predict", "m.skcamel", "new.csv", "--no-scores", "-o", "p.csv")
    table = pd.read_csv("p.csv")
    assert list(table["row"]) == list(range(1, 21))
    assert list(table)[2:] == [f"decision:{name}" for name in HOSTILE]


def test_columns_go_by_name_and_labels_are_left_aside(cli, model, tmp_path):
    fitted, X = model
    plain = cli("predict", "m.skcamel", "new.csv").stdout
    table(tmp_path / "turned.csv", range(40, 60), labels=HOSTILE, columns=("z", "x", "y"))
    result = cli("predict", "m.skcamel", "turned.csv")
    assert result.stdout == plain
    assert "Note: turned.csv holds 4 label columns, left aside: 'sea, \"deep\"'" in result.stderr
    frame = pd.read_csv("new.csv").assign(extra="text", more=[[1]] * 20)[
        ["extra", "z", "more", "y", "x"]
    ]
    frame.to_parquet("more.parquet")
    result = cli("predict", "m.skcamel", "more.parquet")
    assert result.stdout == plain
    assert (
        "Note: more.parquet holds 2 columns that the model does not know, left aside: 'extra',"
        " 'more'." in result.stderr
    )


@pytest.mark.parametrize("preset", ["quick", "best"])
def test_frames_in_python_are_compared_by_name_with_the_file_of_the_fit(cli, tmp_path, preset):
    table(tmp_path / "mine.csv", range(40), labels=HOSTILE)
    assert (
        cli("fit", "mine.csv", "--labels", "4", "--preset", preset, "-o", "m.skcamel").exit_code
        == 0
    )
    model = load("m.skcamel")
    frame = pd.read_csv("mine.csv")[list(model.feature_names_in_)]
    expected = model.decision_function(frame)
    np.testing.assert_allclose(
        expected, model.decision_function(frame.to_numpy()), atol=1e-12
    )  # an array is taken as it is
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(model.decision_function(turned), expected)
    np.testing.assert_array_equal(model.explain(turned).parts, model.explain(frame).parts)
    for method in ("predict", "explain", "outputs"):
        with pytest.raises(ValueError, match="the table lacks the column 'x' of the fit"):
            getattr(model, method)(frame.rename(columns={"x": "other"}))


@pytest.mark.parametrize("write", [write_mulan, write_meka])
def test_arff_with_and_without_labels(cli, model, tmp_path, write):
    fitted, X = model
    plain = cli("predict", "m.skcamel", "new.csv").stdout
    write(
        Dataset(X[:, ::-1], np.ones((20, 4), dtype=int), tuple("zyx"), HOSTILE, name="new"),
        tmp_path / "new.arff",
    )
    result = cli("predict", "m.skcamel", "new.arff")
    assert result.stdout == plain
    assert "4 label columns, left aside" in result.stderr
    rows = "\n".join(",".join(map(str, x)) for x in X)
    (tmp_path / "bare.arff").write_text(
        "@relation r\n" + "".join(f"@attribute {c} numeric\n" for c in "xyz") + f"@data\n{rows}\n"
    )
    assert cli("predict", "m.skcamel", "bare.arff").stdout == plain


def test_files_without_names_are_read_by_position(cli, model, refused, tmp_path):
    from scipy.io import savemat

    fitted, X = model
    plain = cli("predict", "m.skcamel", "new.csv").stdout
    with pytest.warns(UserWarning, match="does not hold"):
        write_svmlight(Dataset(X, np.zeros((20, 2), dtype=int)), tmp_path / "new.svm")
    savemat(tmp_path / "new.mat", {"data": X, "target": np.eye(20, 4)})
    for name in ("new.svm", "new.mat"):
        result = cli("predict", "m.skcamel", name)
        assert result.exit_code == 0, result.stderr
        table = pd.read_csv(io.StringIO(result.stdout))
        np.testing.assert_allclose(
            table.filter(like="score:"),
            pd.read_csv(io.StringIO(plain)).filter(like="score:"),
            rtol=1e-9,
        )
        assert (
            "no common names of features, so the columns are taken in their order" in result.stderr
        )
    savemat(tmp_path / "wide.mat", {"data": np.eye(20), "target": np.eye(20, 4)})
    refused(
        1,
        "has 20 columns beside the labels, the model was fitted on 3, and its columns have no"
        " names",
        "predict",
        "m.skcamel",
        "wide.mat",
    )


def test_models_from_python(cli, refused, model, tmp_path):
    X, Y = table(tmp_path / "mine.csv", range(40))
    save(CamelClassifier().fit(X, Y), "nameless.skcamel")
    result = cli("predict", "nameless.skcamel", "new.csv", "--no-scores")
    assert result.exit_code == 0
    assert "taken in their order" in result.stderr
    table(tmp_path / "two.csv", range(5), columns=("x", "y"), with_labels=False)
    refused(
        1,
        "has 2 columns beside the labels, the model was fitted on 3; bring",
        "predict",
        "nameless.skcamel",
        "two.csv",
    )
    save(CamelClassifier().fit(pd.DataFrame(X, columns=list("zyx")), Y), "named.skcamel")
    assert "taken in their order" not in cli("predict", "named.skcamel", "new.csv").stderr
    save(CamelClassifier().fit(X, Y[:, 0]), "classes.skcamel")
    refused(1, "was fitted on one column of classes", "predict", "classes.skcamel", "new.csv")


def test_words_are_columns_of_their_own_as_at_the_fit(cli, refused, tmp_path):
    rows = [(("red", "blue", "green")[k % 3], k, ("no", "yes")[k % 2], k % 2) for k in range(12)]
    (tmp_path / "mine.csv").write_text(
        "colour,x,old,l\n" + "".join(f"{c},{x * x},{o},{y}\n" for c, x, o, y in rows)
    )
    result = cli("fit", "mine.csv", "--labels", "l")
    assert (result.exit_code, result.stderr) == (0, "")
    preparer, model = (step for _, step in load(tmp_path / "mine.skcamel").steps)
    assert list(preparer.get_feature_names_out()) == [
        "colour=blue",
        "colour=green",
        "colour=red",
        "x",
        "old",
    ]

    def scores(name, text):
        (tmp_path / name).write_text(text)
        result = cli("predict", "mine.skcamel", name)
        return pd.read_csv(io.StringIO(result.stdout))["score:l"], result.stderr

    found, said = scores("new.csv", "old,x,colour\nYES,1,red\nno,4,green\n")
    rank = preparer.columns_[1].ranks
    expected = [[0, 0, 1, rank(1), 1], [0, 1, 0, rank(4), 0]]
    np.testing.assert_allclose(found, model.decision_function(expected)[:, 0], rtol=1e-12)
    assert said == ""
    found, said = scores("new.csv", "colour,x,old\npurple,1,yes\n,tall,\n")
    np.testing.assert_allclose(
        found,
        model.decision_function([[0, 0, 0, rank(1), 1], [0, 0, 0, 0.5, 0.5]])[:, 0],
        rtol=1e-12,
    )
    for note in (
        "1 row with a value of 'colour' that the fit did not see",
        "1 missing value in 'colour', which had none",
        "1 missing value in 'old', which had none",
        "1 cell of 'x' not readable, taken as missing",
    ):
        assert f"Note: new.csv: {note}." in said
    (tmp_path / "new.csv").write_text("old,x\nyes,1\n")
    refused(
        1,
        "new.csv: the table lacks the column 'colour' of the fit",
        "predict",
        "mine.skcamel",
        "new.csv",
    )
    result = cli("predict", "mine.skcamel", "new.csv", "--allow-missing")
    assert result.exit_code == 0
    assert "Note: new.csv: no column 'colour', taken as missing values." in result.stderr
    refused(
        2,
        "--category is about the columns of a table; yeast is none",
        "fit",
        "yeast",
        "--category",
        "c",
    )


def test_columns_that_name_the_rows_come_out_beside_the_predictions(cli, tmp_path):
    rows = "".join(f"A-{k:03d},{k * k % 17},{k % 2}\n" for k in range(30))
    (tmp_path / "mine.csv").write_text(f"order no,x,l\n{rows}")
    assert cli("fit", "mine.csv", "--labels", "l").exit_code == 0
    (tmp_path / "new.csv").write_text("x,order no\n1,=1+1\n2,0007\n")
    lines = list(csv.DictReader(io.StringIO(cli("predict", "mine.skcamel", "new.csv").stdout)))
    assert [line["order no"] for line in lines] == ["'=1+1", "0007"]
    for name in ("p.jsonl", "p.parquet"):
        assert cli("predict", "mine.skcamel", "new.csv", "-o", name).exit_code == 0
        found = (
            pd.read_json(name, lines=True, dtype=False)
            if name.endswith("l")
            else pd.read_parquet(name)
        )
        assert found["order no"].tolist() == ["=1+1", "0007"]


def test_nominals_of_another_header_are_refused(cli, refused, tmp_path):
    def arff(values, name):
        text = (
            f"@relation 'r: -C -1'\n@attribute c {{{values}}}\n@attribute x numeric\n@attribute l"
            " {0,1}\n@data\n"
        )
        (tmp_path / name).write_text(text + "red,1,0\nblue,2,1\nred,3,1\nblue,4,0\n")

    arff("red,blue,green", "mine.arff")
    assert cli("fit", "mine.arff").exit_code == 0
    arff("red,blue", "fewer.arff")
    assert cli("predict", "mine.skcamel", "fewer.arff").exit_code == 0
    arff("blue,red", "new.arff")
    refused(
        1,
        "'c' holds 'blue', 'red', at the fit it held 'red', 'blue', 'green'; declare them alike",
        "predict",
        "mine.skcamel",
        "new.arff",
    )
    (tmp_path / "new.arff").write_text(
        "@relation r\n@attribute c numeric\n@attribute x numeric\n@data\n1,1\n"
    )
    refused(1, "'c' holds numbers, at the fit it held 'red'", "predict", "mine.skcamel", "new.arff")
    (tmp_path / "new.csv").write_text("c,x\nblue,1\n")
    score = pd.read_csv(io.StringIO(cli("predict", "mine.skcamel", "new.csv").stdout))["score:l"]
    np.testing.assert_allclose(
        score, load(tmp_path / "mine.skcamel").decision_function([[1, 1]])[:, 0], rtol=1e-14
    )


def test_files_that_do_not_fit(refused, model, tmp_path):
    def new(text):
        (tmp_path / "new.csv").write_text(text)

    new("x,z\n1,2\n")
    refused(
        1,
        "new.csv: the table lacks the column 'y' of the fit; add what is missing",
        "predict",
        "m.skcamel",
        "new.csv",
    )
    new("x,y,z,x\n1,2,3,4\n")
    refused(1, "two columns are called 'x'", "predict", "m.skcamel", "new.csv")
    new("")
    refused(1, "the first line must hold the column names", "predict", "m.skcamel", "new.csv")
    new("x,y,z\n")
    refused(1, "no row follows", "predict", "m.skcamel", "new.csv")
    refused(2, "there is no such file", "predict", "m.skcamel", "none.csv")
    refused(2, "'none.skcamel' does not exist", "predict", "none.skcamel", "new.csv")
    refused(
        2,
        "p.doc ends in '.doc'; it must be .csv, .tsv, .json, .jsonl or .parquet.",
        "predict",
        "m.skcamel",
        "new.csv",
        "-o",
        "p.doc",
    )
    refused(
        2,
        "nowhere: There is no such folder",
        "predict",
        "m.skcamel",
        "mine.csv",
        "-o",
        "nowhere/p.csv",
    )


def test_a_damaged_model_is_one_sentence(refused, model, tmp_path):
    whole = (tmp_path / "m.skcamel").read_bytes()
    for size in (0, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.skcamel").write_bytes(whole[:size])
        refused(
            1, "cut.skcamel is not a whole skcamel model file", "predict", "cut.skcamel", "new.csv"
        )


def test_a_model_with_half_its_columns_is_not_saved(model, tmp_path):
    fitted, _ = model
    preparer, _ = (step for _, step in fitted.steps)
    preparer.columns_ = preparer.columns_[:1]
    with pytest.raises(
        ValueError,
        match=r"cannot be saved: columns_ must be \d columns with different names, got 1",
    ):
        save(fitted, tmp_path / "m.skcamel")


def test_probabilities_of_a_method_that_has_none(cli, refused, model, tmp_path):
    fitted, _ = model
    fitted.steps[-1] = (
        "model",
        CamelClassifier(0.1, solver="alternating", threshold="zero").fit(
            np.eye(6, 3), np.eye(6, 4, dtype=int)
        ),
    )
    save(fitted, tmp_path / "old.skcamel")
    refused(
        2,
        "CamelClassifier in old.skcamel has scores but no probabilities",
        "predict",
        "old.skcamel",
        "new.csv",
        "--probabilities",
    )


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_an_interrupted_write_leaves_the_old_file(cli, model, tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("old")
    before = sorted(os.listdir(tmp_path))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    assert cli("predict", "m.skcamel", "new.csv", "-o", name).exit_code == 130
    assert (tmp_path / name).read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


def test_a_reader_that_stops_early_is_no_error(model, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(skcamel.__file__).parents[1])}
    X = pd.concat([pd.read_csv(tmp_path / "new.csv")] * 500)
    X.to_csv(tmp_path / "long.csv", index=False)
    command = f"'{sys.executable}' -m skcamel predict m.skcamel long.csv | head -2"
    result = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr
    assert result.stdout.startswith("row,labels,")


@pytest.mark.data
@pytest.mark.parametrize("name", ["emotions", "genbase"])
def test_benchmark_sets_by_name(cli, name, tmp_path):
    cli("fit", name, "--data-home", HOME)
    result = cli("predict", f"{name}.skcamel", name, "--data-home", HOME, "-o", "p.parquet")
    assert result.exit_code == 0, result.stderr
    data = load_dataset(name, HOME)
    names, values = read_predictions("p.parquet")
    assert names == data.label_names
    np.testing.assert_array_equal(
        values["scores"], load(tmp_path / f"{name}.skcamel").decision_function(data.X)
    )


def test_what_is_read_is_not_written_over(cli, refused, model, tmp_path):
    before = (tmp_path / "new.csv").read_bytes()
    (tmp_path / "link.csv").symlink_to("new.csv")
    refused(
        2,
        "is the same file as new.csv, which is read",
        "predict",
        "m.skcamel",
        "new.csv",
        "-o",
        "link.csv",
    )
    assert (tmp_path / "new.csv").read_bytes() == before
