"""`skcamel tables`: what it prints, its exit codes, one sentence for each error."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from made_records import record, study
from skcamel.metrics import NAMES

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")
pytest.importorskip("skcamel.experiment.records")

from click.testing import CliRunner

from skcamel.cli import tables as tables_command
from skcamel.cli.options import METRICS
from skcamel.cli.root import root
from skcamel.experiment import compare_with_paper
from skcamel.experiment.forms import FORMS
from skcamel.experiment.summary import SELECTIONS, summarise


@pytest.fixture
def cli(monkeypatch, tmp_path):
    """`cli("tables", folder)`; the result has exit_code, stdout and stderr."""
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(
        root, [str(argument) for argument in arguments], prog_name="skcamel"
    )


def written(folder, records):
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


RECORDS = study(["yeast", "scene", "arts", "mine"], ["camel", "br", "llsf"], n_folds=3)


@pytest.fixture
def folder(tmp_path):
    folder = written(tmp_path / "study", RECORDS)
    card = {"n": 10, "d": 3, "q": 2, "cardinality": 1.5, "density": 0.75, "label_counts": [7, 8]}
    (folder / "cards.json").write_text(json.dumps({"mine": card}))
    return folder


def test_choices_are_those_of_the_library():
    assert tables_command.FORMS == FORMS
    assert tables_command.SELECTIONS == SELECTIONS
    assert METRICS == NAMES


def test_all_tables_by_default(cli, folder):
    result = cli("tables", folder)
    assert result.exit_code == 0, result.stderr
    for title in (
        "Table 1",
        "Table 2",
        "Table 3",
        "Results on data sets that the paper does not have",
    ):
        assert title in result.stdout
    assert "scene: the paper prints 5 labels." in result.stdout
    assert "selected by Average precision" in result.stdout
    assert "paper's" not in result.stdout.replace("the paper's row", "")


@pytest.mark.parametrize(("which", "sets"), [("2", {"yeast", "scene"}), ("3", {"arts"})])
def test_one_table_alone_as_csv(cli, folder, which, sets):
    rows = list(
        csv.DictReader(io.StringIO(cli("tables", folder, "--table", which, "--form", "csv").stdout))
    )
    assert {row["dataset"] for row in rows} == sets
    expected = summarise(RECORDS).figures
    for row in rows:
        assert float(row["mean"]) == expected[row["dataset"], row["metric"], row["method"]].mean


def tables_of(cli, *arguments):
    """Rows of the CSV files that a command writes, by the name of the file."""
    result = cli(*arguments, "--form", "csv", "-o", "csv")
    assert result.exit_code == 0, result.stderr
    names = result.stdout.removeprefix("wrote ").removesuffix(" into csv\n").split(", ")
    return {
        name.removesuffix(".csv"): list(csv.DictReader(io.StringIO(Path("csv", name).read_text())))
        for name in names
    }


def test_table_1_from_cards_and_the_catalogue(cli, folder):
    (rows,) = tables_of(cli, "tables", folder, "--table", "1").values()
    sizes = {row["dataset"]: (row["n"], row["q"], row["paper_q"]) for row in rows}
    assert sizes == {
        "yeast": ("2417", "14", "14"),
        "scene": ("2407", "6", "5"),
        "arts": ("5000", "26", "26"),
        "mine": ("10", "2", ""),
    }


def test_a_set_without_card_is_noted(cli, folder):
    (folder / "cards.json").unlink()
    result = cli("tables", folder, "--table", "1")
    assert result.exit_code == 0
    assert "has no card of mine" in result.stderr


@pytest.mark.parametrize("form", FORMS)
def test_everything_in_every_form(cli, folder, form):
    result = cli(
        "tables",
        folder,
        "--form",
        form,
        "--against",
        "paper",
        "--significance",
        "--selected-by",
        "nearest",
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout
    if form == "markdown":
        titles = [line.strip("*") for line in result.stdout.splitlines() if line.startswith("**")]
        assert titles[-4:] == [
            "Average ranks",
            "Friedman's test and critical differences",
            "Wilcoxon's signed-rank test of CAMEL: p-values corrected by Holm",
            "How much CAMEL differs from the others",
        ]
        assert "CAMEL against the paper" in titles
        assert "Counts of CAMEL" in titles
    if form != "csv":
        assert "made afterwards" in result.stdout.replace("\n", " ")


def test_best_against_the_best_printed_figure_comes_from_one_command(cli, tmp_path):
    records = [
        row | {"criterion": "each"}
        for row in study(["yeast", "arts"], ["camel"], preset="best", n_folds=2)
    ]
    folder = written(tmp_path / "best", records)
    for selected_by in (None, "average_precision"):
        more = ("--selected-by", selected_by) if selected_by else ()
        found = tables_of(cli, "tables", folder, "--preset", "best", "--against", "paper", *more)
        expected = compare_with_paper(records, selected_by=selected_by)
        assert found["camel-against-the-paper"] == [
            {name: str(count) for name, count in expected.counts().items()}
        ]
        cells = found["camel-against-the-paper-cells-that-miss-a-criterion"]
        missed = [
            (row["dataset"], row["metric"], float(row["ahead_of_best"]))
            for row in cells
            if row["as_good_as_best"] == "False"
        ]
        assert missed == [
            (cell.dataset, cell.metric, cell.ahead_of_best)
            for cell in expected.missed("as_good_as_best")
        ]
        counts = found.get("camel-against-the-paper-by-what-selects-its-hyper-parameters")
        assert (counts is None) == (selected_by is not None)
        if counts:
            assert [row["selected_by"] for row in counts] == ["each", *NAMES]
            for row in counts:
                assert (
                    int(row["near_best"])
                    == compare_with_paper(records, selected_by=row["selected_by"]).counts()[
                        "near_best"
                    ]
                )


def test_a_table_of_ones_own(cli, folder, tmp_path):
    (tmp_path / "mine.csv").write_text(
        "method,dataset,metric,mean,std\nknn,mine,coverage,0.1,0.01\nCAMEL,mine,coverage,0.9,\n"
    )
    found = tables_of(cli, "tables", folder, "--against", "mine.csv")
    (row,) = found["camel-against-the-table-mine-csv-cells-that-miss-a-criterion"]
    ours = summarise(RECORDS).figures["mine", "coverage", "camel"]
    assert (
        row["dataset"],
        row["metric"],
        float(row["mean"]),
        float(row["printed_mean"]),
        row["best_methods"],
    ) == ("mine", "coverage", ours.mean, 0.9, "knn")
    assert not any(title.startswith("counts-of") for title in found)
    text = cli("tables", folder, "--against", "mine.csv").stdout
    assert "· table" in text
    assert "· paper" not in text


def test_a_study_without_camel_is_counted_for_all_its_methods(cli, tmp_path):
    folder = written(tmp_path / "study", study(["mine"], ["knn", "tree"], n_folds=2))
    (tmp_path / "mine.csv").write_text("method,dataset,metric,mean\nknn,mine,coverage,0.5\n")
    found = tables_of(cli, "tables", folder, "--against", "mine.csv")
    assert {"knn-against-the-table-mine-csv", "tree-against-the-table-mine-csv"} <= set(found)


def test_metrics_beside_the_seven_are_shown_and_chosen(cli, tmp_path):
    rows = [
        row | {"more": {"log_loss": 1.5, "one_error_ties_by_index": 0.5}}
        for row in study(["mine"], ["br"], n_folds=2)
    ]
    folder = written(tmp_path / "study", rows)
    described = {"log_loss": {"title": "Log loss", "best": "smallest", "function": None}}
    described["one_error_ties_by_index"] = {
        "title": "One-error, ties by label order",
        "best": "smallest",
        "function": None,
    }
    (folder / "study.json").write_text(json.dumps({"runs": [], "metrics": described}))
    shown = cli("tables", folder).stdout
    assert "Log loss ↓" in shown
    assert "ties by label order" not in shown
    chosen = cli(
        "tables", folder, "--metrics", "one_error_ties_by_index, log_loss", "--form", "csv"
    ).stdout
    assert [row["metric"] for row in csv.DictReader(io.StringIO(chosen.partition("\n\n")[2]))] == [
        "log_loss",
        "one_error_ties_by_index",
    ]


def test_csv_into_a_folder_has_a_file_for_each_table(cli, folder, tmp_path):
    result = cli("tables", folder, "--form", "csv", "-o", tmp_path / "out", "--significance")
    assert result.exit_code == 0, result.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert "table-2-results-on-the-regular-size-data-sets.csv" in names
    assert "average-ranks.csv" in names
    assert all(name in result.stdout for name in names)
    for path in (tmp_path / "out").iterdir():
        rows = list(csv.reader(path.read_text().splitlines()))
        assert len({len(row) for row in rows}) == 1, path


def test_latex_has_a_table_for_each_metric(cli, folder):
    text = cli("tables", folder, "--form", "latex").stdout
    assert [line for line in text.splitlines() if line.startswith(r"\label")][1:] == [
        rf"\label{{tab:{name.replace('_', '-')}}}" for name in NAMES
    ]
    text = cli("tables", folder, "--form", "latex", "--table", "3").stdout
    assert "arts" in text
    assert "yeast" not in text


def test_tests_say_what_they_can_tell_at_the_chosen_level(cli, folder):
    plain = cli("tables", folder, "--significance").stdout
    assert "no p-value of Wilcoxon's test with Holm's correction can be below 0.25" in plain
    assert "It can from 7 data sets on." in plain
    assert "can be below" not in cli("tables", folder, "--significance", "--level", "0.3").stdout


def test_presets_apart_or_alone(cli, tmp_path):
    both = [
        record(dataset, preset=preset, fold=fold)
        for dataset in ("yeast", "arts")
        for preset in ("paper", "best")
        for fold in range(2)
    ]
    folder = written(tmp_path / "both", both)
    assert "CAMEL (best)" in cli("tables", folder, "--table", "2").stdout
    assert "CAMEL (best)" not in cli("tables", folder, "--table", "2", "--preset", "best").stdout
    assert "CAMEL (paper) against the paper" in cli("tables", folder, "--against", "paper").stdout
    result = cli("tables", folder, "--preset", "quick")
    assert (result.exit_code, "there are best, paper" in result.stderr) == (2, True)


def test_folds_and_seeds_alone(cli, tmp_path):
    kinds = [{}, {"folds": "stratified"}, {"n_folds": 2}, {"seed": 1}]
    folder = written(
        tmp_path / "many", [record(fold=fold) | kind for kind in kinds for fold in range(2)]
    )
    result = cli("tables", folder)
    assert (result.exit_code, "(command line: tables --folds, --n-folds)" in result.stderr) == (
        1,
        True,
    )
    usual = str(record()["n_folds"])
    for options, told in (
        (("--folds", "stratified"), f"over {usual} stratified folds, seed 0."),
        (("--folds", "plain", "--n-folds", "2"), "over 2 plain folds, seed 0."),
        (("--seed", "1"), f"over {usual} plain folds, seed 1."),
    ):
        assert told in cli("tables", folder, "--table", "2", *options).stdout
    result = cli("tables", folder, "--seed", "7")
    assert (result.exit_code, "No record has the seed 7; there are 0, 1." in result.stderr) == (
        2,
        True,
    )


def test_errors_are_one_sentence_with_a_cure(cli, tmp_path, folder):
    empty = tmp_path / "empty"
    empty.mkdir()
    alone = written(tmp_path / "alone", [record()])
    mine = written(tmp_path / "mine", [record("mine")])
    (tmp_path / "other.csv").write_text("method,dataset,metric,mean\nbr,mine,F0.5,0.5\n")
    (tmp_path / "wrong.csv").write_text("method,dataset,metric,mean\nbr,mine,coverage,x\n")
    damaged = written(tmp_path / "damaged", [record()])
    (damaged / "cards.json").write_text("{")
    for arguments, code, message in (
        (("tables", tmp_path / "nowhere"), 2, "does not exist"),
        (("tables", empty), 1, "holds no finished unit; run: skcamel study"),
        (
            ("tables", alone, "--table", "3"),
            1,
            "No result belongs to Table 3; the records hold yeast.",
        ),
        (
            ("tables", alone, "--significance"),
            1,
            "Tests compare methods, but the records hold only camel",
        ),
        (
            ("tables", mine, "--against", "paper"),
            2,
            "the paper has none of the data sets of this study, mine.",
        ),
        (
            ("tables", mine, "--against", "nowhere.csv"),
            2,
            "there is no file nowhere.csv; give a CSV file, or the word paper.",
        ),
        (
            ("tables", mine, "--against", "other.csv"),
            2,
            "the table other.csv has none of the metrics of this study, one_error,",
        ),
        (
            ("tables", mine, "--against", "wrong.csv"),
            2,
            "wrong.csv, line 2: mean is 'x'; it must be a number",
        ),
        (
            ("tables", folder, "--metrics", "accuracy"),
            2,
            "--metrics: The records hold no metric 'accuracy'; there are one_error,",
        ),
        (
            ("tables", folder, "-o", "out"),
            2,
            (
                "-o is for --form csv, which makes a file for each table; write --form markdown to"
                " a file"
            ),
        ),
        (("tables", folder, "--level", "1"), 2, "1.0 is not in the range 0<x<1"),
        (("tables", damaged), 1, "cards.json is damaged (it is not JSON); delete it"),
        (("tables", folder, "--form", "html"), 2, "'html' is not one of"),
        (("tables", folder, "--selected-by", "accuracy"), 2, "'accuracy' is not one of"),
    ):
        result = cli(*arguments)
        assert result.exit_code == code, (arguments, result.output)
        assert message in result.stderr
        assert "Traceback" not in result.stderr


def test_help_shows_an_example_and_imports_nothing_heavy(cli):
    assert "Example:\n    skcamel tables" in cli("tables", "--help").stdout
    code = (
        "import sys\nfrom skcamel.cli import main\nassert main(['tables', '--help']) =="
        " 0\nprint('HEAVY', sorted({'numpy', 'scipy', 'sklearn', 'rich', 'matplotlib'} &"
        " set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "HEAVY []" in result.stdout
