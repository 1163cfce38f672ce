"""Names come from files: no command lets a terminal obey them, and no CSV lets a spreadsheet run them."""

import csv
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skcamel
from skcamel import load, save
from skcamel.cli import root
from skcamel.data import Dataset, write_dataset
from skcamel.data.pipeline import final
from skcamel.experiment import run_study
from study_methods import made

NASTY = (
    "\x1b[31mred",
    "a\u202eb\u2066",
    "\x9b2J",
    "[red]x[/red]",
    "[/]",
    "=cmd|' /C calc'!A0",
    "line\nfeed",
    "-2+3",
    "del\x7f",
)
SOURCES = sorted(Path(root.__file__).parent.glob("*.py"))


def safe(text):
    return all(letter == "\n" or letter.isprintable() for letter in text)


@pytest.fixture
def nasty(cli, tmp_path):
    """A table whose columns and labels have such names, a model of it, and a study of a data set and a method called so."""
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"f{name}" for name in NASTY), *NASTY])
        out.writerows(
            [
                [(i * j) % 7 for j in range(1, 10)] + [(i >> j) % 2 for j in range(9)]
                for i in range(40)
            ]
        )
    result = cli("fit", "mine.csv", "--labels", "9", "-o", "m.skcamel")
    assert result.exit_code == 0, result.output
    assert tuple(load("m.skcamel").label_names_) == NASTY
    return cli


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_word_passes_the_one_place_that_makes_it_safe(path):
    """Bare echo and print are found nowhere; writing to the streams only in the module for it, and where a table is styled."""
    text = path.read_text()
    assert not re.search(r"click\.(s?echo|secho|prompt)\(|(?<![\w.])print\(", text)
    writes = len(re.findall(r"sys\.std(out|err)\.write", text))
    assert writes == {"output.py": 1, "__init__.py": 1}.get(path.name, 0)


@pytest.mark.parametrize(
    "command",
    [
        "datasets check mine.csv --labels 9",
        "datasets check mine.csv --labels 9 --json",
        "evaluate m.skcamel mine.csv --per-label",
        "evaluate m.skcamel mine.csv --per-label --json",
        "explain m.skcamel mine.csv --row 3",
        "explain m.skcamel mine.csv --json",
        "explain m.skcamel mine.csv --label nothing",
        "predict m.skcamel mine.csv -o out.csv",
        "predict m.skcamel other.csv",
        "fit mine.csv --labels 9 -o n.skcamel --json",
        "fit mine.csv --labels nothing -o n.skcamel",
        "report m.skcamel --data mine.csv -o page.html",
        "suspects mine.csv --labels 9 -o out.csv",
        "suspects mine.csv --labels 9 --json",
    ],
)
def test_names_of_columns_and_labels(nasty, command, tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    result = nasty(*command.split())
    assert safe(result.stdout), result.stdout
    assert safe(result.stderr), result.stderr
    assert "bug in skcamel" not in result.stderr
    shown = {"datasets check mine.csv --labels 9", "evaluate m.skcamel mine.csv --per-label"}
    if command in shown:
        for name in ("\\x1b[31mred", "a\\u202eb\\u2066", "line\\nfeed"):
            assert name in result.stdout


@pytest.mark.parametrize(
    "name",
    [
        "\x1b\x1b[2J.csv",
        "\u202e\u202evsc.csv",
        "a\nb.csv",
        os.fsdecode(b"\xff\xff.csv"),
        "[red]a[|].csv",
        "x" * 250 + ".csv",
    ],
)
def test_names_of_files(cli, tmp_path, name):
    (tmp_path / name).write_text("a,b,l\n" + "1,2,0\n3,4,1\n" * 10)
    for command in (
        ["fit", name, "--labels", "1", "-o", "m.skcamel", "--force"],
        ["predict", "m.skcamel", name, "-o", name[1:]],
        ["predict", name, name],
    ):
        result = cli(*command)
        assert safe(result.stdout + result.stderr)
        assert result.exit_code == int(command[1] == name and command[0] == "predict"), (
            result.output
        )
    for command in (
        ["fit", f"no{name}"],
        ["predict", f"no{name}", name],
        ["predict", "m.skcamel", name, "-o", name],
        ["fit", "m.csv", "-o", f"no/{name}"],
        [name],
        ["fit", f"--{name}"],
    ):
        result = cli(*command)
        assert result.exit_code == 2
        assert safe(result.stderr)
        assert len(result.stderr) < 1500


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_names_of_data_sets_and_methods(cli, tmp_path, form):
    data = made()
    sets = [Dataset(data.X, data.Y, name=name) for name in NASTY[:3]]
    run_study(sets, ["br", "llsf"], preset="quick", out=tmp_path / "out")
    for command in (
        ("tables", "out", "--form", form),
        ("tables", "out", "--table", "2"),
        ("report", "out", "-o", "p.html"),
    ):
        result = cli(*command)
        assert safe(result.stdout), result.stdout
        assert safe(result.stderr), result.stderr
    assert "a\\u202eb\\u2066" in cli("tables", "out", "--form", form).stdout.replace(
        "\\\\", "\\"
    ).replace("\\textbackslash{}", "\\")


def test_progress_shows_names_as_they_are_and_safely(cli, tmp_path):
    write_dataset(made(), tmp_path / "made.arff")
    sets = ",".join(f"{name}=made.arff" for name in ("[red]x[/red]", "[/]", "\x1b[31m"))
    told = cli("study", "--datasets", sets, "--methods", "br", "--preset", "quick", "-o", "out")
    assert told.exit_code == 0
    assert safe(told.stderr)
    assert safe(told.stdout)
    assert "[red]x[/red], br, quick, fold 1 of 3" in told.stderr


def test_a_terminal_gets_predictions_with_escapes_and_a_pipe_as_they_are(nasty, tmp_path):
    command = [sys.executable, "-m", "skcamel", "predict", "m.skcamel", "mine.csv", "--no-scores"]
    environment = os.environ | {"PYTHONPATH": str(Path(skcamel.__file__).parents[1])}
    piped = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert "decision:\x1b[31mred" in piped
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb") as screen:
        running = subprocess.Popen(
            command, env=environment, stdout=follower, stderr=subprocess.PIPE
        )
        os.close(follower)
        shown = screen.read(2000).decode()
        running.kill()
        running.communicate()
    assert "decision:\\x1b[31mred" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_predictions_hold_no_formula_and_are_found_again_by_name(nasty, tmp_path, suffix):
    model = load("m.skcamel")
    final(model).thresholds_[
        :
    ] = -100.0  # every label is predicted, so that cells begin with each kind of name
    final(model).label_names_ = model.label_names_[[5, 0, 1, 2, 3, 4, 6, 7, 8]]
    save(model, "all.skcamel")
    assert nasty("predict", "all.skcamel", "mine.csv", "-o", f"p{suffix}").exit_code == 0
    with (tmp_path / f"p{suffix}").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
    assert rows[1][1].startswith("'=cmd")
    assert not any(cell.lstrip().startswith(("=", "+", "@")) for row in rows for cell in row)
    result = nasty(
        "evaluate", "--truth", "mine.csv", "--predictions", f"p{suffix}", "--per-label", "--json"
    )
    assert result.exit_code == 0, result.stderr


def test_tables_of_a_study_hold_no_formula(cli, tmp_path):
    data = made()
    run_study([Dataset(data.X, data.Y, name="=1+1")], ["br"], preset="quick", out=tmp_path / "out")
    text = cli("tables", "out", "--form", "csv").stdout
    assert "'=1+1," in text
    assert not re.search(r"(^|[,\n])=", text)
