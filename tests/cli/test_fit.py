"""`skcamel fit`: what it chooses, writes, says and refuses; the model is the one that Python gives."""

import json
import os

import numpy as np
import pytest

import skcamel
from skcamel import CamelClassifierCV, load
from skcamel.cli import fit as module
from skcamel.cli.options import METRICS
from skcamel.cli.output import bars
from skcamel.data import load_dataset
from skcamel.data.splitting import MultilabelStratifiedShuffleSplit
from skcamel.metrics import NAMES, evaluate
from skcamel.presets import PRESETS
from tables import HOSTILE, table

HOME = os.environ.get("SKCAMEL_DATA")


def same_model(path, model, X):
    np.testing.assert_array_equal(load(path).decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(load(path).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], PRESETS["quick"]),
        (["--preset", "paper"], {}),
        (["--preset", "paper", "--scoring", "macro_f1"], {"scoring": "macro_f1"}),
        (
            ["--preset", "quick", "--scoring", "macro_f1"],
            PRESETS["quick"] | {"scoring": "macro_f1"},
        ),
        (
            ["--preset", "quick", "--scoring", "hamming_loss"],
            PRESETS["quick"] | {"scoring": "hamming_loss"},
        ),
        (["--preset", "best"], PRESETS["best"]),
        (["--preset", "paper", "--threshold", "-0.5"], {"threshold": -0.5}),
        (["--preset", "paper", "--threshold", "label"], {"threshold": "label"}),
        (
            ["--landmarks", "9", "--max-memory", "1GiB", "--random-state", "3"],
            PRESETS["quick"]
            | {
                "solver": "landmark",
                "landmarks": "kmeans",
                "n_landmarks": 9,
                "random_state": 3,
            },
        ),
    ],
)
def test_the_model_is_that_of_the_python_api(cli, tmp_path, options, arguments):
    X, Y = table(tmp_path / "mine.csv", range(40))
    result = cli("fit", "mine.csv", "--labels", "sea,sun", *options)
    assert result.exit_code == 0, result.stderr
    model = CamelClassifierCV(**arguments).fit(X, Y)
    same_model(tmp_path / "mine.skcamel", model, X)
    assert f"{model.estimate_[model.scoring_]:.4f}" in result.stdout
    assert list(load(tmp_path / "mine.skcamel").label_names_) == ["sea", "sun"]


def test_json_tells_what_was_chosen_and_how_good_it_is(cli, tmp_path):
    X, Y = table(tmp_path / "mine.csv", range(40))
    facts = json.loads(
        cli(
            "fit", "mine.csv", "--labels", "2", "--preset", "paper", "--test-size", "0.25", "--json"
        ).stdout
    )
    train, test = next(
        MultilabelStratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(X, Y)
    )
    model = CamelClassifierCV().fit(X[train], Y[train])
    assert facts["params"] == model.best_params_
    assert facts["candidates"] == 77
    assert facts["estimate"]["average_precision"] == model.best_score_
    assert (
        facts["estimate"]["one_error"]
        == -model.cv_results_["mean_test_one_error"][model.best_index_]
    )
    assert facts["test"] == evaluate(
        Y[test], model.decision_function(X[test]), model.predict(X[test])
    )
    assert (facts["rows"], facts["test_rows"], facts["model"]) == (30, 10, "mine.skcamel")
    same_model(tmp_path / "mine.skcamel", model, X)


def test_the_screen_shows_figures_time_and_what_to_do_next(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    shown = cli("fit", "mine.csv", "--labels", "2", "--test-size", "0.25").stdout
    for text in (
        "40 rows, 3 columns, 2 labels",
        "leave-one-out",
        "10 test rows",
        "on 30 rows in",
        "skcamel predict mine.skcamel",
        *NAMES,
    ):
        assert text in shown
    assert max(map(len, shown.splitlines())) <= 110


def test_names_of_metrics_are_those_of_the_library():
    assert METRICS == NAMES


def test_wrong_use(refused, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    fit = ("fit", "mine.csv", "--labels", "2")
    refused(
        2, "a table does not say which columns are labels; name them by --labels", "fit", "mine.csv"
    )
    refused(2, "there is no such file", "fit", "none.csv", "--labels", "2")
    refused(2, "is not in the range 0<x<1", *fit, "--test-size", "1")
    refused(2, "There is no such folder", *fit, "-o", "nowhere/m.skcamel")
    refused(2, "threshold='middle' is not known", *fit, "--threshold", "middle")
    refused(1, "no column is called 'tag_*'", "fit", "mine.csv", "--labels", "tag_*")
    assert sorted(os.listdir(tmp_path)) == ["mine.csv"]


def test_an_existing_model_is_kept_unless_forced(cli, refused, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    (tmp_path / "mine.skcamel").write_text("mine")
    refused(
        2,
        "mine.skcamel exists already; choose another name by -o, or add --force",
        "fit",
        "mine.csv",
        "--labels",
        "2",
    )
    assert (tmp_path / "mine.skcamel").read_text() == "mine"
    assert cli("fit", "mine.csv", "--labels", "2", "--force").exit_code == 0
    load(tmp_path / "mine.skcamel")


def test_data_that_cannot_be_learned_from(refused, tmp_path):
    def data(text):
        (tmp_path / "mine.csv").write_text(text)

    data("")
    refused(
        1,
        "mine.csv, line 1: the first line must hold the column names",
        "fit",
        "mine.csv",
        "--labels",
        "l",
    )
    data("x,l\n")
    refused(1, "no row follows the column names", "fit", "mine.csv", "--labels", "l")
    data("x,y,l\n1,2,0\n1,,1\n")
    refused(1, "No column of 2 samples is left", "fit", "mine.csv", "--labels", "l", "--drop", "y")
    data("x,l,x\n1,0,1\n2,1,0\n")
    refused(1, "two columns are called 'x'", "fit", "mine.csv", "--labels", "2,")


def test_a_loss_of_0_is_shown_without_sign(cli, tmp_path):
    (tmp_path / "easy.csv").write_text(
        "x,a,b\n" + "".join(f"{10 * (i % 2) + i / 10},{i % 2},{1 - i % 2}\n" for i in range(12))
    )
    result = cli("fit", "easy.csv", "--labels", "2")
    assert "one_error           lower          0.0000" in result.stdout


def test_hostile_names_are_kept(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40), labels=HOSTILE)
    result = cli("fit", "mine.csv", "--labels", "4")
    assert result.exit_code == 0, result.stderr
    assert tuple(load(tmp_path / "mine.skcamel").label_names_) == HOSTILE


def test_an_interrupted_write_leaves_no_half_file(cli, tmp_path, monkeypatch):
    table(tmp_path / "mine.csv", range(40))

    def interrupted(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("skcamel.model_file.np.savez", interrupted)
    assert cli("fit", "mine.csv", "--labels", "2").exit_code == 130
    assert sorted(os.listdir(tmp_path)) == ["mine.csv"]


@pytest.mark.data
def test_emotions_by_name(cli, tmp_path, monkeypatch):
    result = cli("fit", "emotions", "--data-home", HOME, "--preset", "paper", "--json")
    assert result.exit_code == 0, result.stderr
    data = load_dataset("emotions", HOME)
    model = CamelClassifierCV().fit(data.X, data.labels)
    same_model(tmp_path / "emotions.skcamel", model, data.X)
    assert json.loads(result.stdout)["params"] == model.best_params_


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_progress_bar_follows_the_candidates(monkeypatch, capsys, is_terminal):
    monkeypatch.setattr("rich.console.Console.is_terminal", is_terminal)
    with bars() as bar:
        module._told_to(bar)(skcamel.camel.classifier_cv.Progress(3, 10, 0.5))
    shown = capsys.readouterr()
    assert ("candidates" in shown.err, "3/10" in shown.err, shown.out) == (
        is_terminal,
        is_terminal,
        "",
    )


def test_a_solver_that_was_not_asked_for_is_told_in_one_note(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("skcamel.camel.base.EXACT_ROWS", 30)
    table(tmp_path / "mine.csv", range(40))
    result = cli("fit", "mine.csv", "--labels", "sea,sun")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("Note: ") == 1
    assert result.stderr.startswith("Note: solver='auto' works with 1,000 landmarks")
    assert "Warning" not in result.stderr
    assert (
        "Solved by sums over rows, with 40 landmarks; thresholds and estimates come from 40 rows."
        in result.stdout
    )
    assert (
        "solver="
        not in cli("fit", "mine.csv", "--labels", "sea,sun", "--landmarks", "12", "--force").stderr
    )


def test_json_tells_what_stands_for_the_rows(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    told = json.loads(
        cli("fit", "mine.csv", "--labels", "sea,sun", "--landmarks", "12", "--json").stdout
    )
    count, what = told["solved_by"].split()
    assert (int(count) <= 12, what, told["judged_rows"]) == (True, "landmarks", 40)
    assert "solved_by" not in json.loads(
        cli("fit", "mine.csv", "--labels", "sea,sun", "--json", "--force").stdout
    )


@pytest.mark.parametrize(
    ("code", "sentence", "options"),
    [
        (2, "0 is not in the range x>=1", ["--landmarks", "0"]),
        (
            2,
            "'--max-memory': a number of bytes, or text such as '1GiB', is needed, got 'lots'",
            ["--max-memory", "lots"],
        ),
        (1, "max_memory allows 1 MiB", ["--landmarks", "1000", "--max-memory", "1MiB"]),
    ],
)
def test_solvers_that_cannot_be_had_are_refused(refused, tmp_path, code, sentence, options):
    table(tmp_path / "mine.csv", range(40))
    refused(code, sentence, "fit", "mine.csv", "--labels", "sea,sun", *options)


def test_unknown_labels_are_refused_where_rows_are_summed_up(refused, tmp_path):
    (tmp_path / "gaps.csv").write_text(
        "x,sea,sun\n"
        + "".join(f"{k * k % 7},{k % 2},{'' if k == 3 else k % 3 // 2}\n" for k in range(20))
    )
    refused(
        1,
        "solver='landmark' takes complete labels, and some of Y are unknown (NaN); use"
        " solver='spectral'",
        "fit",
        "gaps.csv",
        "--labels",
        "2",
        "--landmarks",
        "9",
    )
