"""`skcamel explain`: the parts of one row, as the model gives them."""

import json
import os

import numpy as np
import pytest

from skcamel import CamelClassifier, load, save
from skcamel.data import load_dataset
from tables import HOSTILE, table

HOME = os.environ.get("SKCAMEL_DATA")


@pytest.fixture
def model(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40), labels=HOSTILE)
    assert cli("fit", "mine.csv", "--labels", "4", "-o", "m.skcamel").exit_code == 0
    X, _ = table(tmp_path / "new.csv", range(40, 60), labels=HOSTILE, with_labels=False)
    return load(tmp_path / "m.skcamel"), X


@pytest.mark.parametrize("row", [1, 2, 20])
def test_json_holds_the_parts_that_python_gives(cli, model, row):
    fitted, X = model
    options = [word for name in HOSTILE for word in ("--label", name)]
    found = json.loads(
        cli(
            "explain", "m.skcamel", "new.csv", "--row", row, "--top", "2", "--json", *options
        ).stdout
    )
    explanation = fitted.explain(X[row - 1 : row])
    assert found["row"] == row
    assert found["correlation"] == "from centred labels"
    assert tuple(found["labels"]) == fitted.label_sets(X)[row - 1]
    for j, figure in enumerate(found["explanation"]):
        assert figure["label"] == HOSTILE[j]
        assert figure["base"] == explanation.base[j]
        assert figure["own"] == explanation.parts[0, j, j]
        assert figure["cut"] == fitted.thresholds_[j]
        assert figure["predicted"] == (HOSTILE[j] in found["labels"])
        told = explanation.pushes(0, j, 2)
        assert [push["against_the_data"] for push in figure["pushes"]] == [
            push.contradicts for push in told
        ]
        assert (
            len(figure["pushes"])
            == len(told)
            == min(2, np.count_nonzero(np.delete(explanation.parts[0, :, j], j)))
        )
        for push in figure["pushes"]:
            i = HOSTILE.index(push["label"])
            assert push["push"] == explanation.parts[0, i, j]
            assert push["seen"] == fitted.cooccurrence_[i, j]
        total = (
            figure["base"]
            + figure["own"]
            + sum(push["push"] for push in figure["pushes"])
            + figure["other_pushes"]
        )
        np.testing.assert_allclose(
            total, fitted.decision_function(X[row - 1 : row])[0, j], atol=1e-12
        )


def test_the_screen_shows_predicted_labels_or_the_nearest(cli, model):
    fitted, X = model
    counts = fitted.predict(X).sum(axis=1)
    row = int(counts.argmax()) + 1
    shown = cli("explain", "m.skcamel", "new.csv", "--row", row).stdout
    assert f"Row {row} of new.csv: {counts.max()} of 4 labels predicted" in shown
    assert shown.count("= score") == counts.max()
    assert (
        shown.rstrip()
        .splitlines()[-1]
        .startswith("Label correlation learned from centred labels. Seen: training rows with")
    )
    assert (
        "line\\r\\nfeed: predicted, as score" in shown
    )  # a name cannot break the lines of the screen
    none = int(counts.argmin()) + 1
    assert counts.min() == 0
    shown = cli("explain", "m.skcamel", "new.csv", "--row", none).stdout
    assert shown.count("not predicted, as score") == 1


def test_pushes_beyond_the_top_are_summed(cli, model):
    result = cli("explain", "m.skcamel", "new.csv", "--top", "0", "--label", HOSTILE[0])
    explanation = model[0].explain(model[1][:1])
    others = np.delete(explanation.parts[0, :, 0], 0)
    assert f"push of {np.count_nonzero(others)} more" in result.stdout
    assert f"{others.sum():+8.3f}" in result.stdout


def test_alpha_0_has_no_pushes(cli, tmp_path):
    X, Y = table(tmp_path / "mine.csv", range(40))
    save(CamelClassifier(alpha=0.0).fit(X, Y), "m.skcamel")
    table(tmp_path / "new.csv", range(5), with_labels=False)
    result = cli("explain", "m.skcamel", "new.csv", "--label", "label1")
    assert "alpha is 0 in this model, so labels do not push each other" in result.stderr
    assert "push of" not in result.stdout


def test_columns_are_listed_as_python_gives_them(cli, model):
    fitted, X = model
    found = json.loads(
        cli(
            "explain",
            "m.skcamel",
            "new.csv",
            "--row",
            "2",
            "--top",
            "2",
            "--json",
            "--label",
            HOSTILE[2],
        ).stdout
    )
    explanation = fitted.explain(X[1:2], features=True)
    (figure,) = found["explanation"]
    assert figure["no_column"] == explanation.feature_base[2]
    assert [
        (part["column"], part["value"]) for part in figure["columns"]
    ] == explanation.column_values(0, 2, 2)
    assert figure["number_of_other_columns"] == 1
    total = (
        figure["no_column"]
        + sum(part["value"] for part in figure["columns"])
        + figure["other_columns"]
    )
    np.testing.assert_allclose(total, figure["score"], atol=1e-12)
    shown = cli(
        "explain", "m.skcamel", "new.csv", "--row", "2", "--top", "2", "--label", HOSTILE[2]
    ).stdout
    _, by_column = shown.split("The same score by column:\n")
    lines = [line.split("  ")[1].strip() for line in by_column.splitlines()[:4]]
    assert lines == [
        "no column known",
        *(f"column {part.column}" for part in explanation.column_values(0, 2, 2)),
        "1 more column",
    ]
    without = cli("explain", "m.skcamel", "new.csv", "--no-features")
    assert "column" not in without.stdout + without.stderr


def test_columns_of_one_text_are_one(cli, tmp_path):
    rows = ["colour,size,hot"] + [
        f"{['red', 'green', 'blue'][i % 3]},{i % 7},{int(i % 3 == 0)}" for i in range(30)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    assert cli("fit", "mine.csv", "--labels", "1", "-o", "m.skcamel").exit_code == 0
    found = json.loads(cli("explain", "m.skcamel", "mine.csv", "--label", "hot", "--json").stdout)
    assert [part["column"] for part in found["explanation"][0]["columns"]] == ["colour", "size"]


def test_a_model_without_columns_is_explained_all_the_same(cli, tmp_path, monkeypatch):
    X, Y = table(tmp_path / "mine.csv", range(40))
    table(tmp_path / "new.csv", range(5), with_labels=False)
    save(CamelClassifier(kernel="exponential").fit(X, Y), "m.skcamel")
    for options in ((), ("--features",)):
        result = cli("explain", "m.skcamel", "new.csv", *options)
        assert (result.exit_code, result.stdout.count("= score") > 0) == (0, True)
        assert "Note: what each column adds is left out." in result.stderr
        assert "kernel of this model is 'exponential'" in result.stderr
    save(CamelClassifier().fit(X, Y), "m.skcamel")
    monkeypatch.setattr("skcamel.predictions.SMALL", 100)
    assert (
        "it takes long in a model of this size; --features lists it"
        in cli("explain", "m.skcamel", "new.csv").stderr
    )
    assert "by column" in cli("explain", "m.skcamel", "new.csv", "--features").stdout


def test_wrong_use(cli, refused, model):
    refused(2, "--row 21: new.csv has 20 rows", "explain", "m.skcamel", "new.csv", "--row", "21")
    refused(2, "0 is not in the range x>=1", "explain", "m.skcamel", "new.csv", "--row", "0")
    refused(
        2,
        "--label fog: the model has no such label; it has 'sea, \"deep\"'",
        "explain",
        "m.skcamel",
        "new.csv",
        "--label",
        "fog",
    )


@pytest.mark.data
def test_a_row_of_a_benchmark_set(cli, tmp_path):
    cli("fit", "emotions", "--data-home", HOME)
    found = json.loads(
        cli(
            "explain", "emotions.skcamel", "emotions", "--data-home", HOME, "--row", "7", "--json"
        ).stdout
    )
    X = load_dataset("emotions", HOME).X[6:7]
    assert tuple(found["labels"]) == load(tmp_path / "emotions.skcamel").label_sets(X)[0]
