"""Forms: aligned Markdown, LaTeX without loose specials, CSV and JSON that read back, terminals of any width."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.experiment.summary import summarise
from skcamel.experiment.tables import (
    FORMS,
    Cell,
    Table,
    TableSection,
    result_tables,
    results_table,
    to_latex,
    to_markdown,
    to_terminal,
    write_tables,
)

pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")


@pytest.fixture(scope="module")
def table():
    return result_tables(summarise(study(["yeast", "cal500", "scene"], ["camel", "br"])), against_paper=True)["2"]


def one_cell(text, bold=False):
    return Table(text, text, [text], [TableSection(text, [(text, [Cell(text, bold)])])], [text])


def markdown_rows(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_markdown_is_aligned(table):
    rows = markdown_rows(to_markdown(table))
    assert len({len(row) for row in rows}) == 1
    pipes = [[i for i, letter in enumerate(row) if letter == "|"] for row in rows]
    assert all(position == pipes[0] for position in pipes)
    assert re.fullmatch(r"\|:-+\|(-+:\|){3}", rows[1])
    assert any("**0." in row for row in rows)


@given(st.text(alphabet="a|*`<>[]\\_", min_size=1))
def test_markdown_keeps_its_columns_whatever_names_hold(name):
    for row in markdown_rows(to_markdown(one_cell(name, bold=True)).replace("\\\\", "")):
        assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_latex_has_booktabs_rules_and_bold(table):
    text = to_latex(table)
    for command in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrrr}", r"\multicolumn{4}{c}{One-error $\downarrow$} \\"):
        assert command in text
    assert re.search(r"\\textbf\{0\.\d{3}\$\\pm\$0\.\d{3}\}", text)
    rows = [line for line in text.splitlines() if line.endswith(r" \\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {3}
    assert text.isascii()


@given(st.text(alphabet="ab_&%$#{}~^\\<>", min_size=1))
def test_latex_escapes_what_means_something_to_it(name):
    text = to_latex(one_cell(name))
    line = next(line for line in text.splitlines() if line.startswith(r"\caption{"))
    inner = line.removeprefix(r"\caption{").removesuffix("}")
    plain = re.sub(r"\\text(backslash|asciitilde|asciicircum)\{\}|\$[<>]\$|\\[_&%$#{}]", "", inner)
    assert set(plain) <= set("ab")


def test_latex_escapes_underscores_of_names_and_criteria():
    text = write_tables([results_table(summarise([record("my_set"), record("my_set", "br")]), ["my_set"], "t")], "latex")
    assert r"my\_set" in text
    assert r"average\_precision" in text
    assert not re.search(r"(?<!\\)_", text)


def test_csv_and_json_read_back_unrounded(table):
    rows = list(csv.DictReader(io.StringIO(write_tables([table], "csv"))))
    (parsed,) = json.loads(write_tables([table], "json"))
    assert len(rows) == len(parsed["rows"]) == len(table.data) == 3 * 7 * 2
    for row, other, original in zip(rows, parsed["rows"], table.data, strict=True):
        assert float(row["mean"]) == other["mean"] == original["mean"]
        assert row["dataset"] == other["dataset"]
    assert parsed["notes"] == table.notes


def test_what_is_undefined_is_null_or_empty():
    table = results_table(summarise([record(coverage=float("nan"))]), ["yeast"], "")
    (parsed,) = json.loads(write_tables([table], "json"))
    assert next(row for row in parsed["rows"] if row["metric"] == "coverage")["mean"] is None
    rows = csv.DictReader(io.StringIO(write_tables([table], "csv")))
    assert next(row for row in rows if row["metric"] == "coverage")["mean"] == ""


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_terminal_shows_every_figure_within_its_width(table, width):
    text = re.sub(r"\x1b\[[0-9;]*m", "", to_terminal(table, width))
    assert max(map(len, text.splitlines())) <= width
    for section in table.sections:
        for _, cells in section.rows:
            assert all(cell.text in text for cell in cells)


def test_bold_in_a_terminal_and_stars_in_a_file(table):
    best = next(cell for section in table.sections for _, cells in section.rows for cell in cells if cell.bold)
    assert f"\x1b[1m{best.text}\x1b[0m" in to_terminal(table, 100)
    plain = to_terminal(table)
    assert "\x1b" not in plain
    assert f"{best.text}*" in plain
    assert "* marks what is bold." in plain


def test_brackets_in_names_are_not_read_as_markup():
    assert "[red]x[/red]" in to_terminal(one_cell("[red]x[/red]"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_writes_several_tables(table, form):
    assert write_tables([table, table], form).count("yeast") >= 2 * write_tables([table], form).count("yeast") > 0


def test_an_unknown_form_is_refused(table):
    with pytest.raises(ValueError, match="form"):
        write_tables([table], "html")
