"""`skcamel study`: what it prints, its exit codes, resuming, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import skcamel
from skcamel.data import Dataset, write_dataset
from skcamel.experiment import Records, run_study
from skcamel.experiment.measures import BUILT_IN
from study_methods import Mean, made

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")

from click.testing import CliRunner

from skcamel.cli.options import METRICS
from skcamel.cli.root import root
from skcamel.cli.study import _failed, _lines

TESTS = Path(__file__).parents[1]

INDEX = "one_error_ties_by_index"


@pytest.fixture
def study(monkeypatch, tmp_path):
    """`study("--methods", "br")` with a small file as data and a folder for the records."""
    monkeypatch.chdir(tmp_path)
    write_dataset(made(), tmp_path / "made.arff")

    def call(*options):
        arguments = ["study", "--datasets", "made.arff", "-o", "out", "--preset", "quick", *options]
        return CliRunner().invoke(root, arguments, prog_name="skcamel")

    return call


def test_help_shows_examples_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom skcamel.cli import main\nassert main(['study', '--help']) == 0\n"
        "print('HEAVY', sorted({'numpy', 'scipy', 'sklearn', 'rich', 'dask'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(skcamel.__file__).parents[1])}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout
    assert (
        "skcamel study --datasets yeast,emotions --methods camel,br --preset quick -o DIR" in shown
    )
    assert "HEAVY []" in shown


def test_a_study_ends_with_a_table_and_resumes(study):
    first = study("--methods", "br,sklearn.tree:DecisionTreeClassifier")
    assert first.exit_code == 0
    assert first.stderr.count("\n") == 6
    assert "6/6  made, DecisionTreeClassifier, quick, fold 3 of 3" in first.stderr
    lines = first.stdout.splitlines()
    assert lines[1] == "made (mean ± std of 3 folds)"
    assert [line.split()[0] for line in lines[3:5]] == ["DecisionTreeClassifier", "br"]
    assert (
        lines[-1] == "More: skcamel tables out --significance, or skcamel report out -o page.html"
    )
    values = [record["hamming_loss"] for record in Records("out") if record["method"] == "br"]
    assert f"{sum(values) / 3:.3f}".removeprefix("0") + "±" in lines[4]
    second = study("--methods", "br,sklearn.tree:DecisionTreeClassifier", "--quiet")
    assert (second.exit_code, second.stdout, second.stderr) == (0, first.stdout, "")


def test_json_holds_the_unrounded_figures_of_this_study_alone(study):
    study("--methods", "br", "--seed", "1")
    result = study(
        "--methods", "br", "--folds", "stratified", "--n-folds", "2", "--json", "--quiet"
    )
    found = json.loads(result.stdout)
    assert (found["finished"], found["failures"], found["out"]) == (2, [], "out")
    values = [record["coverage"] for record in Records("out") if record["folds"] == "stratified"]
    assert found["summary"][0]["coverage"] == pytest.approx(sum(values) / 2)
    assert found["summary"][0]["folds"] == 2


def test_units_of_other_folds_and_settings_in_the_folder_do_not_count(study):
    study("--methods", "br", "--n-folds", "2")
    run_study("made.arff", [Mean("br", settings={"other": 1})], preset="quick", out="out")
    found = json.loads(study("--methods", "br", "--json", "--quiet").stdout)
    values = [
        record["coverage"]
        for record in Records("out")
        if record["n_folds"] == 3 and "class" in record["settings"]
    ]
    assert (found["finished"], found["summary"][0]["folds"], len(Records("out"))) == (3, 3, 8)
    assert found["summary"][0]["coverage"] == pytest.approx(sum(values) / 3)


def test_further_metrics_are_shown_below_the_seven_and_missing_ones_ask_for_a_rerun(
    study, tmp_path
):
    (tmp_path / "metric_of_mine.py").write_text(
        "def gain(Y, scores):\n    return float((Y * scores).mean())\n"
    )
    first = study(
        "--methods",
        "br",
        "--metrics",
        "acc=sklearn.metrics:accuracy_score:largest,mine=metric_of_mine:gain:largest",
        "--quiet",
    )
    assert (first.exit_code, first.stderr) == (0, "")
    lines = first.stdout.splitlines()
    assert lines[4].split() == ["acc", "mine"]
    values = [record["more"]["mine"] for record in Records("out")]
    assert f"{abs(sum(values) / 3):.3f}".removeprefix("0") + "±" in lines[5]
    second = study("--methods", "br", "--metrics", "one_error_ties_by_index", "--quiet")
    assert second.exit_code == 1
    assert "out holds 3 of the 3 units without one_error_ties_by_index" in second.stderr.replace(
        "\\", "/"
    )


def test_the_help_names_every_metric(study):
    shown = " ".join(study("--help").stdout.split())
    for name in BUILT_IN:
        stem = name.removesuffix("_ties_by_index")
        assert stem in shown


def test_long_errors_are_cut_and_many_counted():
    failures = [
        {"dataset": "d", "method": f"m{i}", "fold": 0, "error": f"ValueError: {'x' * 400}"}
        for i in range(5)
    ]
    told = _failed(failures, "out")
    assert told.startswith("Error: 5 units failed: d, m0, fold 1 (ValueError: xxx")
    assert "x…); d, m1, fold 1 (" in told
    assert " and 2 more. Tracebacks are in " in told
    assert len(told) < 1200


def test_a_failure_gives_exit_code_1_and_one_sentence(study):
    result = study("--methods", "br,study_methods:Broken", "--quiet")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "Error: 3 units failed: made, broken, folds 1, 2, 3 (RuntimeError: no luck today)."
        " Tracebacks"
    )
    assert result.stderr.count("\n") == 1
    assert "out/records.jsonl; the same command tries them again" in result.stderr.replace(
        "\\", "/"
    )
    assert "br" in result.stdout
    assert (
        study("--methods", "br", "--quiet").exit_code == 0
    )  # failures of other studies in the folder do not count


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--methods", "trees"], 2, "method='trees' is not known; choose one of 'camel'"),
        (["--methods", ","], 2, "name at least one; put commas"),
        (
            ["--methods", "br", "--datasets", "nothing.arff"],
            2,
            "nothing.arff: there is no such file",
        ),
        (["--methods", "br", "--datasets", "yeats"], 1, "yeats"),
        (["--methods", "nowhere:Method"], 2, "nowhere:Method: No module named 'nowhere'"),
        (
            ["--methods", "study_methods:FailsOnce"],
            2,
            "write its arguments as in FailsOnce(alpha=0.5",
        ),
        (["--methods", "study_methods:FitsNothing"], 2, "needs fit, predict and get_params"),
        (
            ["--methods", "br", "--metrics", "jacard"],
            2,
            "metric='jacard' is not known; choose of one_error_ties_by_index",
        ),
        (
            ["--methods", "br", "--metrics", "mine=math:sqrt"],
            2,
            "does not say which values are best",
        ),
        (["--methods", "a=sklearn.svm:SVC(C=x)"], 2, "arguments are Python literals"),
        (["--methods", "br", "--groups", "nurse"], 1, "made has no column 'nurse'"),
        (
            ["--methods", "br", "--split", "nothing.txt"],
            1,
            "nothing.txt: there is no such file; it holds one word",
        ),
        (["--methods", "br", "--split", "a=b,c"], 2, "--split has 'c' without a file"),
        (["--methods", "br", "--folds", "given"], 1, "brings no training and test part"),
        (["--methods", "br", "--n-jobs", "0"], 2, "0 units at the same time are impossible"),
        (
            ["--methods", "br", "--labels", "label*"],
            2,
            "--labels names columns of a CSV, TSV or Parquet file, and --datasets has none",
        ),
        (
            ["--methods", "br", "--datasets", "yeast", "--xml", "made.xml"],
            2,
            "--xml is the label file of an ARFF file, and --datasets has",
        ),
        (["--methods", "br", "--preset", "fast"], 2, "'fast' is not one of"),
        (["--methods", "br", "--n-folds", "1"], 2, "1 is not in the range"),
        ([], 2, "Missing option '--methods'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_use_is_told_in_a_sentence(study, options, code, message):
    result = study(*options)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_table_file_needs_its_label_columns(study, tmp_path):
    with pytest.warns(UserWarning, match="A table does not hold which columns are labels"):
        write_dataset(made(), tmp_path / "table.csv")
    result = study("--datasets", "table.csv", "--labels", "label*", "--methods", "br", "--quiet")
    assert result.exit_code == 0
    assert Records("out")[0]["dataset"] == "table"
    assert Records("out")[0]["n_labels"] == 3


def test_labels_are_for_the_tables_among_the_sets(study, tmp_path):
    with pytest.warns(UserWarning, match="A table does not hold which columns are labels"):
        write_dataset(made(), tmp_path / "table.csv")
    result = study(
        "--datasets", "made.arff,table.csv", "--labels", "label*", "--methods", "br", "--quiet"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert {record["dataset"] for record in Records("out")} == {"made", "table"}


def test_a_method_may_lie_in_the_folder_of_the_caller(study, tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys, "path", [place for place in sys.path if place not in ("", str(tmp_path))]
    )
    (tmp_path / "method_of_mine.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier as Mine\n"
    )
    result = study("--methods", "method_of_mine:Mine", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_table_may_hold_groups_and_its_set_another_name(study, tmp_path):
    data = made()
    lines = ["patient,a,b,c,d,label1,label2,label3"]
    lines += [
        ",".join(map(str, [f"p{i // 3}", *x, *y]))
        for i, (x, y) in enumerate(zip(data.X, data.Y, strict=True))
    ]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    options = [
        "--datasets",
        "ward=table.csv",
        "--labels",
        "label*",
        "--groups",
        "patient",
        "--methods",
        "br",
        "--quiet",
    ]
    result = study(*options)
    assert (result.exit_code, "ward (mean ± std of 3 folds)" in result.stdout) == (0, True)
    records = Records("out")
    assert {(record["dataset"], record["folds"], record["n_features"]) for record in records} == {
        ("ward", "grouped", 4)
    }


def test_folds_may_be_given_by_a_file_or_a_pair_of_files(study, tmp_path):
    (tmp_path / "split.txt").write_text("train\n" * 16 + "test\n" * 8)
    for split in ("split.txt", "made=split.txt"):
        result = study("--methods", "br", "--split", split, "--quiet")
        assert (result.exit_code, result.stderr) == (0, "")
    assert [(record["folds"], record["n_train"]) for record in Records("out")] == [("given", 16)]
    data = made()
    for part, rows in (("train", slice(0, 16)), ("test", slice(16, 24))):
        write_dataset(
            Dataset(data.X[rows], data.Y[rows], label_names=data.label_names),
            tmp_path / f"pair-{part}.arff",
        )
    result = study(
        "--datasets", "pair-train.arff", "--methods", "br", "--folds", "given", "--quiet"
    )
    assert (result.exit_code, result.stderr, "pair (mean ± std of 1 fold)" in result.stdout) == (
        0,
        "",
        True,
    )
    assert Records("out")[0]["average_precision"] == Records("out")[1]["average_precision"]


def test_two_forms_of_a_class_are_two_methods(study):
    result = study(
        "--methods",
        "a=sklearn.tree:DecisionTreeClassifier(max_depth=1),b=sklearn.svm:SVC(C=2,"
        " kernel='linear')",
        "--quiet",
    )
    assert result.exit_code == 0
    assert (
        result.stderr.count(
            "b learns a single label; BinaryRelevance fits a clone of it for each label."
        )
        == 1
    )
    assert {record["method"] for record in Records("out")} == {"a", "b"}


@pytest.mark.data
def test_capitals_in_the_name_of_a_set_are_no_matter(study):
    assert (
        "emotions (mean ± std of 3 folds)"
        in study("--datasets", "Emotions", "--methods", "br", "--quiet").stdout
    )


@pytest.mark.data
def test_benchmark_sets_may_lie_elsewhere(study, tmp_path, monkeypatch):
    home = os.environ["SKCAMEL_DATA"]
    monkeypatch.delenv("SKCAMEL_DATA")
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    assert study("--datasets", "emotions", "--methods", "br", "--quiet").exit_code == 1
    assert (
        study("--datasets", "emotions", "--methods", "br", "--quiet", "--data-home", home).exit_code
        == 0
    )
    assert Records("out")[0]["dataset"] == "emotions"


def test_a_unit_over_the_time_limit_is_told(study):
    result = study("--methods", "hostile_methods:Hanging,br", "--time-limit", "2", "--quiet")
    assert result.exit_code == 1
    assert (
        "3 units failed: made, Hanging, folds 1, 2, 3 (TimeoutError: took longer than 2 s)"
        in result.stderr
    )
    assert len(Records("out")) == 3
    assert "0.0 is not in the range x>0" in study("--methods", "br", "--time-limit", "0").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to another process")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_cleanly_and_says_how_to_resume(study, tmp_path, n_jobs):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(TESTS)])
    }
    options = [
        "--datasets",
        "made.arff",
        "--methods",
        "study_methods:Slow",
        "--n-folds",
        "12",
        "-o",
        "out",
        "--n-jobs",
        str(n_jobs),
    ]
    running = subprocess.Popen(
        [sys.executable, "-m", "skcamel", "study", *options],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    records = tmp_path / "out" / "records.jsonl"
    while not records.exists() or not records.read_bytes():
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process
    _, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert told.endswith(
        "\nStopped. Finished units are kept in out; run the same command again to do the rest.\n"
    )
    assert "Traceback" not in told
    kept = len(Records("out"))
    assert 1 <= kept < 12
    assert Records("out").failures == []
    assert study("--methods", "study_methods:Slow", "--n-folds", "2", "--quiet").exit_code == 0
    assert len(Records("out")) == kept + 2


@pytest.mark.parametrize(
    "content",
    [
        "raise RuntimeError('boom')",
        "x = (",
        "import sys; sys.exit(5)",
        "def Mine(): raise OSError('boom')",
    ],
)
def test_a_method_whose_module_fails_is_named_with_the_cause(refused, tmp_path, content):
    (tmp_path / f"failing{abs(hash(content))}.py").write_text(content + "\n")
    name = f"failing{abs(hash(content))}:Mine"
    refused(2, name, "study", "--datasets", "yeast", "--methods", name, "-o", "out")


def test_columns_of_figures_are_aligned_and_one_fold_is_one():
    row = {"dataset": "made", "folds": 1} | {
        name: 0.5 for metric in METRICS for name in (metric, f"{metric}_std")
    }
    lines = _lines([row | {"method": "br"}, row | {"method": "camel", "macro_f1": 1.0}])
    assert lines[1] == "made (mean ± std of 1 fold)"
    assert len({len(line) for line in lines[2:]}) == 1


def test_without_any_finished_unit_nothing_is_recommended(study):
    result = study("--methods", "sklearn.neighbors:KNeighborsClassifier(n_neighbors=900)")
    assert result.exit_code == 1
    assert "3 units failed" in result.stderr
    assert result.stdout == ""
