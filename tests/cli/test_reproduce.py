"""What a page prints under 'Reproduce' works when it is pasted, and with --json standard output is JSON alone."""

import html
import json
import re
import shlex
from pathlib import Path

import pytest

import tiny
from skcamel.data import catalogue
from skcamel.experiment import Records
from skcamel.metrics import NAMES
from tables import table

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")


def commands_of(page):
    found = re.findall(
        r'<code class="command">(.*?)</code>', Path(page).read_text(encoding="utf-8"), re.DOTALL
    )
    return [html.unescape(re.sub("<[^>]+>", "", command)) for command in found]


def figures_of(folder):
    return {
        (record["dataset"], record["method"], record["fold"]): [record[name] for name in NAMES]
        for record in Records(folder)
    }


def test_the_commands_of_a_page_fill_a_folder_with_the_same_figures(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_catalogue", lambda: {"tiny": tiny.facts()})
    monkeypatch.setenv("SKCAMEL_DATA", str(tmp_path / "home"))
    tiny.put(tmp_path / "home")
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    study = (
        "--datasets",
        "tiny,mine.arff",
        "--methods",
        "camel,sklearn.tree:DecisionTreeClassifier,br",
    )
    assert (
        cli(
            "study",
            *study,
            "--preset",
            "quick",
            "--n-folds",
            "2",
            "--seed",
            "1",
            "--folds",
            "stratified",
            "-o",
            "first",
        ).exit_code
        == 0
    )
    assert cli("report", "first", "-o", "first.html").exit_code == 0
    page = " ".join(Path("first.html").read_text(encoding="utf-8").split())
    assert "1 data set (mine) is not in the catalogue" in page
    assert "given in Python" not in page  # the command names the class
    commands = [shlex.split(command) for command in commands_of("first.html")]
    assert [words[:2] for words in commands] == [["skcamel", name] for name in ("study", "report")]
    for _, *words in commands:
        result = cli(*words)
        assert result.exit_code == 0, result.output
    again = figures_of("DIR")
    assert len(again) == 6
    assert again == {key: value for key, value in figures_of("first").items() if key in again}
    assert commands_of("page.html") == commands_of("first.html")


@pytest.mark.parametrize(
    "command",
    [
        "datasets list",
        "datasets check mine.csv --labels 2",
        "fit mine.csv --labels 2 -o n.skcamel",
        "evaluate m.skcamel mine.csv --per-label",
        "explain m.skcamel mine.csv",
        "study --datasets mine.csv --labels 2 --methods br,nothing:Known --preset quick -o out",
        "study --datasets mine.csv --labels 2 --methods br --preset quick --n-folds 2 -o out",
    ],
)
def test_standard_output_is_json_alone(cli, tmp_path, command):
    table(tmp_path / "mine.csv", range(40))
    assert cli("fit", "mine.csv", "--labels", "2", "-o", "m.skcamel").exit_code == 0
    result = cli(*shlex.split(command), "--json")
    if result.exit_code == 2:  # wrong use: nothing but a sentence on stderr
        assert result.stdout == ""
    else:
        json.loads(result.stdout)
