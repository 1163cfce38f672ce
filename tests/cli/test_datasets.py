"""`skcamel datasets`: what is known and found, and what a file holds."""

import json

import tiny
from tables import table


def test_list_names_every_set_and_where_it_is(done, tmp_path, monkeypatch):
    tiny.put(tmp_path, "emotions")
    monkeypatch.setenv("SKCAMEL_DATA", str(tmp_path))
    lines = done("datasets", "list").splitlines()
    assert len(lines) == 24
    (yeast,) = (line for line in lines if line.startswith("yeast"))
    assert yeast.split()[1:4] == ["2417", "103", "14"]
    assert next(line for line in lines if line.startswith("emotions")).endswith("emotions")


def test_check_shows_columns_and_findings(cli, done, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    assert "number" in done("datasets", "check", "mine.csv", "--labels", "sea,sun")
    result = cli("datasets", "check", "mine.csv", "--labels", "sea,sun", "--json")
    found = json.loads(result.stdout)
    assert [column["column"] for column in found["columns"]] == ["x", "y", "z"]
    table(tmp_path / "twice.csv", [*range(40), *range(10)])
    result = cli("datasets", "check", "twice.csv", "--labels", "sea,sun")
    assert "10" in result.stdout
    assert "cop" in result.stdout


def test_check_fails_where_labels_are_constant(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    lines = (tmp_path / "mine.csv").read_text().splitlines()
    constant = [f"{line},{'sky' if not k else 1}" for k, line in enumerate(lines)]
    (tmp_path / "mine.csv").write_text("\n".join(constant) + "\n")
    result = cli("datasets", "check", "mine.csv", "--labels", "sea,sun,sky")
    assert result.exit_code == 1
    assert "sky" in result.stdout


def test_files_of_other_formats(cli, refused, tmp_path):
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    assert cli("datasets", "check", "mine.arff").exit_code in (0, 1)
    assert cli("fit", "mine.arff").exit_code == 0
    assert cli("predict", "mine.skcamel", "mine.arff", "-o", "p.csv").exit_code == 0
    assert cli("evaluate", "mine.skcamel", "mine.arff").exit_code == 0
    refused(2, "--labels", "datasets", "check", "mine.arff", "--labels", "l0")
    (tmp_path / "mine.doc").write_text("x")
    refused(1, "mine.doc", "datasets", "check", "mine.doc")
    refused(1, "yeest", "fit", "yeest")
