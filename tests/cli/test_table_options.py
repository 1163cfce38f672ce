"""Options about the columns of a table, what is told of them, standard input, and labels from a second file."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from skcamel import load
from skcamel.cli.root import root

ROWS = [
    {
        "no": f"T-{k:03d}",
        "plan": ("free", "team", "")[k % 3],
        "paid": f"${k * k % 97},000",
        "message": (
            f"{('refund', 'parcel', 'login')[k % 3]} {('late', 'lost', 'again')[k % 4 % 3]} since"
            f" {k % 7} days please {k % 11}x"
        ),
        "queue": "EU",
        "tags": ("billing", "shipping|late", "")[k % 3],
    }
    for k in range(60)
]


@pytest.fixture
def tickets(tmp_path):
    def write(name, keys, rows=ROWS):
        text = io.StringIO()
        table = csv.DictWriter(text, keys, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        (tmp_path / name).write_text(text.getvalue())
        return text.getvalue()

    write("tickets.csv", list(ROWS[0]))
    return write


def test_check_tells_what_becomes_of_each_column(cli, tickets):
    result = cli("datasets", "check", "tickets.csv", "--labels", "tags")
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line.startswith("  ")}
    assert [line.split()[1] for line in lines.values()] == [
        "id",
        "category",
        "number",
        "text",
        "constant",
    ]
    assert "left out: nearly all different; --text no or --category no keeps it" in lines["no"]
    assert "20 missing values" in lines["plan"]
    found = json.loads(
        cli(
            "datasets", "check", "tickets.csv", "--labels", "tags", "--drop", "plan", "--json"
        ).stdout
    )
    assert found["columns"][1] == {
        "column": "plan",
        "kind": "dropped",
        "detail": "left out: as asked for",
    }
    assert {finding["code"] for finding in found["findings"]} >= {"unlabelled-rows"}
    alone = cli("datasets", "check", "tickets.csv").stdout
    assert "tags     tags      3 values, 20 missing values" in alone


def test_options_overrule_the_cells(cli, tickets):
    options = ["--text", "plan", "--category", "queue,no", "--drop", "paid"]
    facts = json.loads(cli("fit", "tickets.csv", "--labels", "tags", *options, "--json").stdout)
    assert [told["kind"] for told in facts["columns"]] == [
        "category",
        "text",
        "dropped",
        "text",
        "category",
    ]
    assert facts["dropped"] == ["paid"]
    assert load("tickets.skcamel").label_names_.tolist() == ["billing", "late", "shipping"]


def test_options_that_cannot_be_are_refused(refused, tickets):
    fit = ("fit", "tickets.csv", "--labels", "tags")
    refused(
        1,
        "tickets.csv: drop names 'nothing', which is no column; the columns are 'no', 'plan'",
        *fit,
        "--drop",
        "nothing",
    )
    refused(
        1,
        "'plan' is named by drop and by text; name it once",
        *fit,
        "--drop",
        "plan",
        "--text",
        "plan",
    )
    refused(1, "number names 'message', of which no cell is a number", *fit, "--number", "message")
    refused(
        2,
        "--labels-file is joined by the column that names the rows",
        *fit,
        "--labels-file",
        "tickets.csv",
    )
    refused(2, "a table does not say which columns are labels", "fit", "tickets.csv")


def test_standard_input_is_a_table(cli, tickets):
    assert cli("fit", "tickets.csv", "--labels", "tags").exit_code == 0
    expected = cli("predict", "tickets.skcamel", "tickets.csv").stdout
    content = tickets("new.csv", list(ROWS[0]))
    result = CliRunner().invoke(root, ["predict", "tickets.skcamel", "-"], input=content)
    assert result.stdout == expected
    result = CliRunner().invoke(root, ["fit", "-", "--labels", "tags", "--json"], input=content)
    assert json.loads(result.stdout)["model"] == "model.skcamel"


@pytest.mark.parametrize("form", ["wide", "lists", "long"])
def test_labels_from_a_second_file(cli, tickets, form):
    tickets("features.csv", ["no", "plan", "paid", "message"])
    sets = {row["no"]: [tag for tag in row["tags"].split("|") if tag] for row in ROWS}
    if form == "wide":
        labels = [
            {"no": no, **{tag: int(tag in tags) for tag in ("billing", "late", "shipping")}}
            for no, tags in sets.items()
        ]
    elif form == "lists":
        labels = [{"no": no, "tags": "; ".join(tags)} for no, tags in sets.items()]
    else:
        labels = [{"no": no, "tag": tag} for no, tags in sets.items() for tag in tags]
    tickets("labels.csv", list(labels[0]), labels[::-1])
    assert cli("fit", "features.csv", "--labels-file", "labels.csv", "--id", "no").exit_code == 0
    assert (
        cli(
            "fit", "tickets.csv", "--labels", "tags", "--drop", "queue", "-o", "whole.skcamel"
        ).exit_code
        == 0
    )
    assert (
        cli("predict", "features.skcamel", "features.csv").stdout
        == cli("predict", "whole.skcamel", "features.csv").stdout
    )


def gap(k, label):
    """A label of row k, which every third row does not know."""
    return "" if k % 3 == 0 else int((k * 7 + label) % 5 < 2)


def test_a_table_may_have_unknown_labels(cli, tickets):
    rows = [
        {"no": f"T-{k}", "paid": k, "age": k * k % 11, "a": gap(k, 0), "b": k % 2}
        for k in range(40)
    ]
    tickets("gaps.csv", ["no", "paid", "age", "a", "b"], rows)
    result = cli("fit", "gaps.csv", "--labels", "a,b", "--test-size", "0.25")
    assert result.exit_code == 0, result.output
    assert (
        "\n18 % of the label entries are unknown; the fit and the figures use the others.\n"
        in result.stdout
    )
    result = cli("fit", "gaps.csv", "--labels", "a,b", "--json", "--force")
    assert json.loads(result.stdout)["known"] == pytest.approx(1 - 14 / 80)
    told = cli("evaluate", "gaps.skcamel", "gaps.csv", "--per-label").stdout
    assert told.startswith("40 rows, 2 labels; 18 % of the label entries are unknown\n")
    assert "label    known  positives" in told
    found = json.loads(cli("evaluate", "gaps.skcamel", "gaps.csv", "--json", "--per-label").stdout)
    assert found["known"] == pytest.approx(1 - 14 / 80)
    assert [row["known"] for row in found["per_label"]] == [26, 40]
    assert cli("predict", "gaps.skcamel", "gaps.csv", "-o", "predicted.csv").exit_code == 0
    again = json.loads(
        cli("evaluate", "--truth", "gaps.csv", "--predictions", "predicted.csv", "--json").stdout
    )
    assert again["metrics"] == pytest.approx(found["metrics"])
    assert (
        cli("datasets", "check", "gaps.csv", "--labels", "a,b").stdout.count("[unknown-labels]")
        == 1
    )


def test_evaluate_finds_the_labels_as_they_were_kept(cli, refused, tickets):
    assert cli("fit", "tickets.csv", "--labels", "tags", "--test-size", "0.3").exit_code == 0
    result = cli("evaluate", "tickets.skcamel", "tickets.csv", "--json")
    assert json.loads(result.stdout)["labels"] == 3
    tickets("bare.csv", ["no", "plan", "paid", "message"])
    refused(
        1,
        "bare.csv: no column holds the labels 'billing', 'late', 'shipping'",
        "evaluate",
        "tickets.skcamel",
        "bare.csv",
    )
    tickets("other.csv", list(ROWS[0]), [row | {"tags": "urgent|late"} for row in ROWS])
    result = cli("evaluate", "tickets.skcamel", "other.csv")
    assert (
        "Note: other.csv holds 1 label that the model does not know, left aside: 'urgent'."
        in result.stderr
    )


def test_hostile_cells_stay_in_their_cells(cli, tickets):
    evil = [
        row | {"plan": ("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\x1b[31mred")[k % 3]}
        for k, row in enumerate(ROWS)
    ]
    tickets("evil.csv", list(ROWS[0]), evil)
    result = cli("fit", "evil.csv", "--labels", "tags")
    assert result.exit_code == 0, result.stderr
    for command in (("explain", "evil.skcamel", "evil.csv"), ("datasets", "check", "evil.csv")):
        assert "\x1b" not in cli(*command).stdout
    assert cli("report", "evil.skcamel", "--data", "evil.csv", "-o", "page.html").exit_code == 0
    assert "<script>alert(1)" not in Path("page.html").read_text(encoding="utf-8")
