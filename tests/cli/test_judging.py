"""`skcamel evaluate`, `explain` and `label-errors`: what they show is what Python gives."""

import csv
import json

import numpy as np
import pytest

from skcamel import CamelClassifierCV, find_label_errors, load
from skcamel.camel.link import set_rates
from skcamel.metrics import NAMES, evaluate
from tables import named_table, table


@pytest.fixture
def labelled(model, tmp_path):
    """Labelled rows that the model has not seen, as a frame and labels."""
    X, Y = table(tmp_path / "new.csv", range(40, 60))
    return {name: X[:, j] for j, name in enumerate("xyz")}, Y


def test_evaluate_is_what_python_gives(done, model, labelled):
    rows, Y = labelled
    fitted = load(model)
    arguments = ("evaluate", "m.skcamel", "new.csv", "--per-label", "--sets", "0.9")
    shown, found = done(*arguments), json.loads(done(*arguments, "--json"))
    expected = evaluate(Y, fitted.decision_function(rows), fitted.predict(rows))
    assert found["metrics"] == pytest.approx(expected)
    rates = set_rates(Y, fitted.predict_sets(rows, 0.9))
    for name, rate in rates.items():
        expected = [None if share != share else share for share in rate.tolist()]
        assert found["sets"]["per_label"][name] == pytest.approx(expected)
    assert [row["label"] for row in found["per_label"]] == ["sea", "sun"]
    assert (found["rows"], found["labels"]) == (20, 2)
    for text in ("20 rows, 2 labels", "of the yes answers are right", "sun", *NAMES):
        assert text in shown


def test_undefined_metrics_are_null_and_labels_are_needed(done, refused, model, tmp_path):
    table(tmp_path / "new.csv", range(40, 60), with_labels=False)
    refused(1, "sea", "evaluate", "m.skcamel", "new.csv")
    table(tmp_path / "one.csv", [41])
    text = (tmp_path / "one.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text(f"{text[0]}\n{text[1][:-3]}0,0\n")
    found = json.loads(done("evaluate", "m.skcamel", "one.csv", "--json"))
    assert found["metrics"]["average_precision"] is None
    shown = done("evaluate", "m.skcamel", "one.csv", "--sets", "1")
    assert "nan" not in shown
    assert "undefined  of the yes answers are right" in shown


@pytest.mark.parametrize("row", [1, 7])
def test_explain_holds_the_parts_that_python_gives(done, model, labelled, row):
    rows, _ = labelled
    fitted = load(model)
    arguments = ("explain", "m.skcamel", "new.csv", "--row", row, "--json")
    found = json.loads(done(*arguments, "--label", "sea", "--label", "sun"))
    one = {name: column[row - 1 : row] for name, column in rows.items()}
    why = fitted.explain(one, features=True)
    scores = fitted.decision_function(one)[0]
    for j, figure in enumerate(found["explanation"]):
        assert figure["score"] == pytest.approx(scores[j])
        assert figure["own"] == pytest.approx(why.parts[0, j, j])
        by_labels = figure["base"] + figure["own"] + figure["other_pushes"]
        by_labels += sum(push["push"] for push in figure["pushes"])
        by_columns = figure["no_column"] + figure["other_columns"]
        by_columns += sum(part["value"] for part in figure["columns"])
        assert (by_labels, by_columns) == pytest.approx((scores[j], scores[j]))
    assert found["labels"] == list(fitted.label_sets(one)[0])


def test_explain_on_the_screen(done, refused, model, labelled):
    rows, _ = labelled
    shown = done("explain", "m.skcamel", "new.csv", "--row", "2", "--top", "1")
    assert shown.startswith("Row 2 of new.csv:")
    assert "other columns" in shown
    assert f"{rows['x'][1]}" in done("explain", "m.skcamel", "new.csv", "--row", "2")
    refused(2, "has 20 rows", "explain", "m.skcamel", "new.csv", "--row", "21")
    refused(2, "no such label", "explain", "m.skcamel", "new.csv", "--label", "sky")


def test_label_errors_are_those_of_python(done, tmp_path):
    X, Y = table(tmp_path / "mine.csv", range(60))
    arguments = ("label-errors", "mine.csv", "--labels", "sea,sun", "--limit", "9", "--json")
    found = json.loads(done(*arguments))["label_errors"]
    expected = find_label_errors(X, Y, CamelClassifierCV.from_preset("quick"), limit=9)
    assert [record["row"] - 1 for record in found] == expected.rows.tolist()
    names = np.array(["sea", "sun"])[expected.labels].tolist()
    assert [record["label"] for record in found] == names


def test_label_errors_as_a_table_for_an_annotator(done, refused, tmp_path):
    named_table(tmp_path / "mine.csv", range(60), "row", "T-")
    command = ("label-errors", "mine.csv", "--labels", "sea,sun", "--column", "row=id")
    shown = done(*command, "--limit", "5", "-o", "check.csv")
    with (tmp_path / "check.csv").open(newline="") as file:
        records = list(csv.DictReader(file))
    assert len(records) == 5
    assert all(record["correct"] == "" for record in records)
    assert all(record["id:row"] == f"T-{record['row']}" for record in records)
    assert records[0]["id:row"] in shown
    refused(2, "which is read", *command, "-o", "mine.csv")
