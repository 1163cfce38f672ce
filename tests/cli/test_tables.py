"""`skcamel tables` and `skcamel sensitivity`: what they print, their exit codes, one sentence for each error."""

import csv
import io
import json
import subprocess
import sys

import pytest

import tiny
from made_records import record, study
from skcamel.metrics import NAMES

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")
pytest.importorskip("skcamel.experiment.records")

from click.testing import CliRunner

from skcamel.cli import tables as tables_command
from skcamel.cli.options import METRICS
from skcamel.cli.root import root
from skcamel.experiment.summary import SELECTIONS, summarise
from skcamel.experiment.tables import FORMS


@pytest.fixture
def cli(monkeypatch, tmp_path):
    """`cli("tables", folder)`; the result has exit_code, stdout and stderr."""
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(root, [str(argument) for argument in arguments], prog_name="skcamel")


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
    for title in ("Table 1", "Table 2", "Table 3", "Results on data sets that the paper does not have"):
        assert title in result.stdout
    assert "scene: the paper prints 5 labels." in result.stdout
    assert "selected by average_precision" in result.stdout
    assert "paper's" not in result.stdout.replace("the paper's row", "")


@pytest.mark.parametrize(("which", "sets"), [("2", {"yeast", "scene"}), ("3", {"arts"})])
def test_one_table_alone_as_csv(cli, folder, which, sets):
    rows = list(csv.DictReader(io.StringIO(cli("tables", folder, "--table", which, "--form", "csv").stdout)))
    assert {row["dataset"] for row in rows} == sets
    expected = summarise(RECORDS).figures
    for row in rows:
        assert float(row["mean"]) == expected[row["dataset"], row["metric"], row["method"]].mean


def test_table_1_from_cards_and_the_catalogue(cli, folder):
    (table,) = json.loads(cli("tables", folder, "--table", "1", "--form", "json").stdout)
    sizes = {row["dataset"]: (row["n"], row["q"], row["paper_q"]) for row in table["rows"]}
    assert sizes == {"yeast": (2417, 14, 14), "scene": (2407, 6, 5), "arts": (5000, 26, 26), "mine": (10, 2, None)}


def test_a_set_without_card_is_noted(cli, folder):
    (folder / "cards.json").unlink()
    result = cli("tables", folder, "--table", "1")
    assert result.exit_code == 0
    assert "has no card of mine" in result.stderr


@pytest.mark.parametrize("form", FORMS)
def test_everything_in_every_form(cli, folder, form):
    result = cli("tables", folder, "--form", form, "--against-paper", "--significance", "--selected-by", "nearest")
    assert result.exit_code == 0, result.stderr
    assert result.stdout
    if form == "json":
        titles = [table["title"] for table in json.loads(result.stdout)]
        assert titles[-2:] == ["Average ranks", "Wilcoxon's signed-rank test of CAMEL: p-values corrected by Holm"]
        assert "CAMEL against the paper" in titles
        assert "Counts of CAMEL" in titles
    if form != "csv":
        assert "made afterwards" in result.stdout.replace("\n", " ")


def test_presets_apart_or_alone(cli, tmp_path):
    both = [record(dataset, preset=preset, fold=fold) for dataset in ("yeast", "arts") for preset in ("paper", "best") for fold in range(2)]
    folder = written(tmp_path / "both", both)
    assert "CAMEL (best)" in cli("tables", folder, "--table", "2").stdout
    assert "CAMEL (best)" not in cli("tables", folder, "--table", "2", "--preset", "best").stdout
    assert "CAMEL (paper) against the paper" in cli("tables", folder, "--against-paper").stdout
    result = cli("tables", folder, "--preset", "quick")
    assert (result.exit_code, "there are best, paper" in result.stderr) == (2, True)


def test_folds_and_seeds_alone(cli, tmp_path):
    kinds = [{}, {"folds": "stratified"}, {"n_folds": 2}, {"seed": 1}]
    folder = written(tmp_path / "many", [record(fold=fold) | kind for kind in kinds for fold in range(2)])
    result = cli("tables", folder)
    assert (result.exit_code, "(command line: tables --folds, --n-folds)" in result.stderr) == (1, True)
    usual = str(record()["n_folds"])
    for options, told in (
        (("--folds", "stratified"), f"over {usual} stratified folds, seed 0."),
        (("--folds", "plain", "--n-folds", "2"), "over 2 plain folds, seed 0."),
        (("--seed", "1"), f"over {usual} plain folds, seed 1."),
    ):
        assert told in cli("tables", folder, "--table", "2", *options).stdout
    result = cli("tables", folder, "--seed", "7")
    assert (result.exit_code, "No record has the seed 7; there are 0, 1." in result.stderr) == (2, True)


def test_errors_are_one_sentence_with_a_cure(cli, tmp_path, folder):
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    empty = tmp_path / "empty"
    empty.mkdir()
    alone = written(tmp_path / "alone", [record()])
    mine = written(tmp_path / "mine", [record("mine")])
    damaged = written(tmp_path / "damaged", [record()])
    (damaged / "cards.json").write_text("{")
    for arguments, code, message in (
        (("tables", tmp_path / "nowhere"), 2, "does not exist"),
        (("tables", empty), 1, "holds no finished unit; run: skcamel study"),
        (("tables", alone, "--table", "3"), 1, "No result belongs to Table 3; the records hold yeast."),
        (("tables", alone, "--significance"), 1, "Tests compare methods, but the records hold only camel"),
        (("tables", mine, "--against-paper"), 2, "the paper has none of the data sets of this study, mine."),
        (("tables", damaged), 1, "cards.json is damaged (it is not JSON); delete it"),
        (("tables", folder, "--form", "html"), 2, "'html' is not one of"),
        (("tables", folder, "--selected-by", "accuracy"), 2, "'accuracy' is not one of"),
        (("sensitivity", "--dataset", "nothing", "-o", tmp_path), 1, "No data set is called 'nothing'"),
        (
            ("sensitivity", "--dataset", "yeast", "-o", tmp_path, "--figure", "figure.bmp"),
            2,
            "ends in '.bmp'; it must be .png, .svg or .pdf",
        ),
        (
            ("sensitivity", "--dataset", "yeast", "-o", tmp_path, "--figure", "no/figure.png"),
            2,
            "There is no such folder",
        ),
        (("sensitivity", "--dataset", "yeast", "-o", tmp_path, "--seed", "-1"), 2, "-1 is not in the range"),
        (("sensitivity", "--dataset", "mine.arff", "-o", tmp_path, "--folds", "99"), 2, "rows, too few for --folds 99"),
        (("sensitivity", "--dataset", "yeast", "-o", tmp_path, "--alpha", "0.5"), 2, "--lambda1 and --lambda2 missing"),
    ):
        result = cli(*arguments)
        assert result.exit_code == code, (arguments, result.output)
        assert message in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["tables", "sensitivity"])
def test_help_shows_an_example_and_imports_nothing_heavy(cli, command):
    assert f"Example:\n    skcamel {command}" in cli(command, "--help").stdout
    code = (
        f"import sys\nfrom skcamel.cli import main\nassert main([{command!r}, '--help']) == 0\n"
        "print('HEAVY', sorted({'numpy', 'scipy', 'sklearn', 'rich', 'matplotlib'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "HEAVY []" in result.stdout


def test_sensitivity_of_a_file_with_its_figure(cli, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    setting = ("--alpha", 0.5, "--lambda1", 1, "--lambda2", 0.1)
    result = cli("sensitivity", "--dataset", "mine.arff", "-o", "out", "--folds", 2, "--figure", "figure.png", *setting)
    assert result.exit_code == 0, result.stderr
    (path,) = (tmp_path / "out" / "sensitivity").iterdir()
    found = json.loads(path.read_text())
    assert (found["folds"], found["base"]) == (2, {"alpha": 0.5, "lambda1": 1.0, "lambda2": 0.1})
    assert found["dataset"] == path.stem
    assert "setting alpha 0.5, lambda1 1, lambda2 0.1 (given)" in result.stdout
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
