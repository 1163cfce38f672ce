"""`skcamel fit`: what it chooses, writes, shows and refuses."""

import json

import numpy as np
import pytest

from skcamel import CamelClassifierCV, load
from skcamel.cli.options import METRICS
from skcamel.data.splitting import MultilabelStratifiedShuffleSplit
from skcamel.metrics import NAMES, evaluate
from tables import table

LABELS = ("--labels", "sea,sun")
LANDMARKS = {"solver": "landmark", "landmarks": "kmeans", "n_landmarks": 9}
LANDMARKS |= {"max_memory": "1GiB", "random_state": 3}


@pytest.mark.parametrize(
    ("options", "preset", "parameters"),
    [
        ([], "quick", {}),
        (["--preset", "best", "--metric", "macro_f1"], "best", {"scoring": "macro_f1"}),
        (["--preset", "paper", "--threshold", "-0.5"], "paper", {"threshold": -0.5}),
        (["--preset", "paper", "--miss-cost", "5"], "paper", {"miss_cost": 5}),
        (["--landmarks", "9", "--max-memory", "1GiB", "--seed", "3"], "quick", LANDMARKS),
    ],
)
def test_the_model_is_that_of_the_python_api(done, tmp_path, options, preset, parameters):
    X, Y = table(tmp_path / "mine.csv", range(40))
    shown = done("fit", "mine.csv", *LABELS, *options)
    model = CamelClassifierCV.from_preset(preset, **parameters).fit(X, Y)
    loaded = load(tmp_path / "mine.skcamel")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert f"{model.estimate_['average_precision']:.4f}" in shown
    rule = f"threshold={model.threshold}" if model.miss_cost is None else "miss_cost=5.0"
    assert f"\n  {rule}\n" in shown


def test_json_says_what_was_chosen_and_how_good_it_is(done, tmp_path):
    X, Y = table(tmp_path / "mine.csv", range(40))
    arguments = ("fit", "mine.csv", *LABELS, "--preset", "paper", "--test-size", "0.25", "--json")
    facts = json.loads(done(*arguments))
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=0.25, random_state=0)
    train, test = next(splitter.split(X, Y))
    model = CamelClassifierCV().fit(X[train], Y[train])
    assert facts["params"] == model.best_params_
    assert facts["candidates"] == 77
    assert facts["estimate"] == pytest.approx(model.estimate_)
    expected = evaluate(Y[test], model.decision_function(X[test]), model.predict(X[test]))
    assert facts["test"] == pytest.approx(expected)
    assert (facts["rows"], facts["test_rows"], facts["model"]) == (30, 10, "mine.skcamel")


def test_the_screen_shows_figures_and_what_to_do_next(done, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    shown = done("fit", "mine.csv", *LABELS, "--test-size", "0.25")
    next_command = "skcamel predict mine.skcamel"
    for text in ("40 rows, 3 columns, 2 labels", "10 test rows", next_command, *NAMES):
        assert text in shown
    assert max(map(len, shown.splitlines())) <= 110


def test_names_of_metrics_are_those_of_the_library():
    assert METRICS == NAMES


@pytest.mark.parametrize("groups", ["patient", "copies"])
def test_groups_leave_together_and_stay_on_one_side(done, tmp_path, groups):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)).round(3), rng.integers(0, 2, (30, 2))
    lines = ["patient,x,y,z,sea,sun"]
    for _ in range(2):
        for row in range(30):
            cells = [f"p{row}", *map(str, X[row]), *map(str, Y[row])]
            lines.append(",".join(cells))
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    arguments = ("fit", "mine.csv", *LABELS, "--preset", "paper", "--json", "--force")
    column = () if groups == "patient" else ("--column", "patient=drop")
    alone = json.loads(done(*arguments, "--column", "patient=drop"))["estimate"]
    together = json.loads(done(*arguments, *column, "--groups", groups))["estimate"]
    shown = done(*arguments[:-2], "--force", *column, "--groups", groups)
    assert ("holds the groups of the rows" in shown) == (groups == "patient")
    twice, of_rows = np.tile(X, (2, 1)), np.tile(np.arange(30), 2)
    model = CamelClassifierCV.from_preset("paper").fit(twice, np.tile(Y, (2, 1)), groups=of_rows)
    assert together == pytest.approx(model.estimate_)
    assert alone["average_precision"] > together["average_precision"] + 0.1
    tested = (*arguments, *column, "--groups", groups, "--test-size", "0.3")
    assert json.loads(done(*tested))["test_rows"] % 2 == 0


def test_missing_labels_and_copies_of_rows_are_reported(cli, tmp_path):
    table(tmp_path / "mine.csv", [*range(40), 0])
    text = (tmp_path / "mine.csv").read_text().splitlines()
    text[5] = text[5][:-1]  # an empty cell among the labels
    (tmp_path / "mine.csv").write_text("\n".join(text) + "\n")
    result = cli("fit", "mine.csv", *LABELS)
    assert result.exit_code == 0, result.stderr
    assert "1.22% of the label entries are missing" in result.stdout
    assert "--groups copies" in result.stderr


def test_wrong_use(refused, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    fit = ("fit", "mine.csv", *LABELS)
    refused(2, "name them by --labels", "fit", "mine.csv")
    refused(2, "there is no such file", "fit", "none.csv", *LABELS)
    refused(2, "is not in the range 0<x<1", *fit, "--test-size", "1")
    refused(2, "There is no such folder", *fit, "-o", "nowhere/m.skcamel")
    refused(2, "write NAME=KIND", *fit, "--column", "x=colour")
    refused(2, "--metric", *fit, "--scoring", "macro_f1")
    refused(1, "threshold='middle' is not known", *fit, "--threshold", "middle")
    refused(1, "no column", "fit", "mine.csv", "--labels", "sky")
    (tmp_path / "ward.csv").write_text("ward,x,sea,sun\na,1,0,1\n?,2,1,0\na,3,1,1\n")
    refused(1, "groups holds missing values: 1;", "fit", "ward.csv", *LABELS, "--groups", "ward")
    (tmp_path / "mine.skcamel").write_text("mine")
    refused(2, "add --force", *fit)
    assert (tmp_path / "mine.skcamel").read_text() == "mine"
