"""`skcamel evaluate`: fit ► predict ► evaluate gives what the Python API gives, by model and by files."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from skcamel import load
from skcamel.data import load_dataset
from skcamel.metrics import RANKING, edge_cases, evaluate, report
from tables import HOSTILE, table

HOME = os.environ.get("SKCAMEL_DATA")


@pytest.fixture
def model(cli, tmp_path):
    """A model in m.skcamel, 20 other rows with their labels in truth.csv and without in new.csv; returns (model, X, Y)."""
    table(tmp_path / "mine.csv", range(40), labels=HOSTILE)
    assert cli("fit", "mine.csv", "--labels", "4", "-o", "m.skcamel").exit_code == 0
    table(tmp_path / "new.csv", range(40, 60), labels=HOSTILE, with_labels=False)
    return load(tmp_path / "m.skcamel"), *table(
        tmp_path / "truth.csv", range(40, 60), labels=HOSTILE, columns=("y", "z", "x")
    )


def test_one_evaluation_of_the_kernel_serves_all_metrics(cli, model, evaluations):
    assert cli("evaluate", "m.skcamel", "truth.csv", "--per-label").exit_code == 0
    assert evaluations == [20]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
def test_fit_predict_evaluate_is_what_python_gives(cli, model, suffix):
    fitted, X, Y = model
    by_model = cli("evaluate", "m.skcamel", "truth.csv", "--per-label", "--json")
    assert by_model.stderr == ""
    found, P = json.loads(by_model.stdout), fitted.predict(X)
    assert found["metrics"] == evaluate(Y, fitted.decision_function(X), P)
    assert found["edge_cases"] == vars(edge_cases(Y, P))
    assert found["per_label"] == list(report(Y, P, label_names=HOSTILE))
    assert (found["rows"], found["labels"]) == (20, 4)
    cli("predict", "m.skcamel", "new.csv", "-o", f"p{suffix}")
    by_files = cli(
        "evaluate", "--truth", "truth.csv", "--predictions", f"p{suffix}", "--per-label", "--json"
    )
    assert by_files.stdout == by_model.stdout


def test_prediction_sets_are_measured(cli, refused, model):
    fitted, X, Y = model
    found = json.loads(
        cli("evaluate", "m.skcamel", "truth.csv", "--sets", "0.8", "--per-label", "--json").stdout
    )["sets"]
    answers = fitted.predict_sets(X, 0.8)

    def rates(Y, answers):
        return [
            (Y[answers == 1] == 1).mean(),
            (answers[Y == 1] == 0).mean(),
            (answers == -1).mean(),
        ]

    assert list(found) == ["confidence", "right", "missed", "open", "per_label"]
    assert [found[key] for key in ("confidence", "right", "missed", "open")] == pytest.approx(
        [0.8, *rates(Y, answers)]
    )
    for j, row in enumerate(found["per_label"]):
        assert list(row) == ["label", "right", "missed", "open"]
        assert list(row.values()) == [
            HOSTILE[j],
            *(pytest.approx(rate, nan_ok=True) for rate in rates(Y[:, j], answers[:, j])),
        ]
    said = cli("evaluate", "m.skcamel", "truth.csv", "--sets", "1", "--per-label").stdout
    assert "Prediction sets at a confidence of 1:" in said
    assert "-  of the yes answers are right" in said
    assert "0.0%  of the labels that rows have are answered no" in said
    assert "sets" not in json.loads(cli("evaluate", "m.skcamel", "truth.csv", "--json").stdout)
    cli("predict", "m.skcamel", "new.csv", "-o", "p.csv")
    sentence = "--sets needs the model itself; give MODEL and FILE."
    refused(
        2, sentence, "evaluate", "--truth", "truth.csv", "--predictions", "p.csv", "--sets", "0.9"
    )


def test_labels_of_the_truth_go_by_name(cli, model, tmp_path):
    cli("predict", "m.skcamel", "new.csv", "-o", "p.csv")
    straight = cli("evaluate", "--truth", "truth.csv", "--predictions", "p.csv", "--json").stdout
    frame = pd.read_csv("truth.csv")
    frame[list(frame)[::-1]].assign(text="not looked at").to_csv("turned.csv", index=False)
    assert (
        cli("evaluate", "--truth", "turned.csv", "--predictions", "p.csv", "--json").stdout
        == straight
    )
    assert cli("evaluate", "m.skcamel", "turned.csv", "--json").stdout == straight


def test_the_screen(cli, model):
    result = cli("evaluate", "m.skcamel", "truth.csv", "--per-label")
    assert "20 rows, 4 labels" in result.stdout
    assert "average_precision   higher" in result.stdout
    assert "one_error           lower" in result.stdout
    assert "line\\r\\nfeed" in result.stdout
    assert "rows have no label" in result.stdout


def test_undefined_metrics_are_null_not_nan(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40), labels=("only",))
    cli("fit", "mine.csv", "--labels", "only")
    found = json.loads(
        cli("evaluate", "mine.skcamel", "mine.csv", "--json").stdout, parse_constant=pytest.fail
    )
    assert found["metrics"]["average_precision"] is None
    assert "undefined" in cli("evaluate", "mine.skcamel", "mine.csv").stdout


def test_predictions_made_elsewhere(cli, refused, model, tmp_path):
    fitted, X, Y = model
    pd.DataFrame(fitted.predict(X), columns=list(HOSTILE)).to_csv("p.csv", index=False)
    result = cli("evaluate", "--truth", "truth.csv", "--predictions", "p.csv", "--json")
    expected = evaluate(Y, fitted.predict(X), fitted.predict(X))
    assert json.loads(result.stdout)["metrics"] == {
        name: value for name, value in expected.items() if name not in RANKING
    }
    assert "hold no scores, so the four ranking metrics are left out" in result.stderr
    pd.DataFrame(fitted.decision_function(X), columns=list(HOSTILE)).to_csv("p.csv", index=False)
    refused(
        1,
        "decisions are 0 or 1; are these scores?",
        "evaluate",
        "--truth",
        "truth.csv",
        "--predictions",
        "p.csv",
    )


def test_files_that_do_not_go_together(cli, refused, model, tmp_path):
    def files(sentence, predictions="p.csv", truth="truth.csv", code=1):
        refused(code, sentence, "evaluate", "--truth", truth, "--predictions", predictions)

    cli("predict", "m.skcamel", "new.csv", "-o", "p.csv")
    text = (tmp_path / "p.csv").read_bytes()
    refused(1, "the labels 'sea, \"deep\"',", "evaluate", "m.skcamel", "new.csv")
    files("mine.csv has 40", truth="mine.csv")
    files("the labels 'sea, \"deep\"',", truth="new.csv")
    (tmp_path / "cut.csv").write_bytes(text[:-9])
    files("is the file cut short?", "cut.csv")
    (tmp_path / "cut.csv").write_bytes(text[: text.index(b"deep")])
    files("is no whole table", "cut.csv")
    (tmp_path / "cut.csv").write_bytes(b"")
    files("holds no row", "cut.csv")
    (tmp_path / "cut.csv").write_bytes(b"row,decision:a\n1,yes\n")
    files("is not a number", "cut.csv")
    (tmp_path / "cut.csv").write_bytes(b"row,score:a,decision:b\n1,0,1\n")
    files("scores and decisions are of different labels", "cut.csv")
    for name in ("cut.json", "cut.jsonl", "cut.parquet"):
        (tmp_path / name).write_text('[{"rows": 1')
        files("write it again", name)
    (tmp_path / "p.doc").write_text("")
    files("predictions are .csv, .tsv", "p.doc")
    files("there is no such file", truth="none.csv", code=2)
    cli("predict", "m.skcamel", "new.csv", "-o", "p.csv", "--no-decisions")
    files("has no decision:NAME columns; write it again without --no-decisions")


def test_one_of_two_ways(refused, model):
    sentence = "Give MODEL and FILE, or --truth and --predictions."
    refused(2, sentence, "evaluate")
    refused(2, sentence, "evaluate", "m.skcamel")
    refused(2, sentence, "evaluate", "--truth", "truth.csv")
    refused(2, sentence, "evaluate", "m.skcamel", "new.csv", "--truth", "truth.csv")


@pytest.mark.data
@pytest.mark.parametrize("name", ["emotions", "medical"])
def test_benchmark_sets(cli, name, tmp_path):
    cli("fit", name, "--data-home", HOME)
    found = json.loads(
        cli("evaluate", f"{name}.skcamel", name, "--data-home", HOME, "--json").stdout
    )
    data, fitted = load_dataset(name, HOME), load(tmp_path / f"{name}.skcamel")
    assert found["metrics"] == evaluate(
        data.Y, fitted.decision_function(data.X), fitted.predict(data.X)
    )
    cli("predict", f"{name}.skcamel", name, "--data-home", HOME, "-o", "p.parquet")
    assert (
        json.loads(
            cli(
                "evaluate",
                "--truth",
                name,
                "--predictions",
                "p.parquet",
                "--data-home",
                HOME,
                "--json",
            ).stdout
        )
        == found
    )
    np.testing.assert_array_equal(fitted.label_names_, data.label_names)
