"""Forms: aligned Markdown, LaTeX without loose specials, CSV that reads back."""

import csv
import io
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import record, study
from skcamel.experiment.forms import (
    FORMS,
    MOST_ROWS,
    csv_files,
    fitted,
    pages,
    to_latex,
    to_markdown,
    write_tables,
)
from skcamel.experiment.paper import LARGE, PAPER_METHODS, REGULAR
from skcamel.experiment.published import paper_table
from skcamel.experiment.summary import summarise
from skcamel.experiment.tables import (
    Cell,
    Table,
    TableSection,
    metric_tables,
    result_tables,
    results_table,
)
from skcamel.experiment.verdicts import significance_tables


@pytest.fixture(scope="module")
def table():
    return result_tables(
        summarise(study(["yeast", "cal500", "scene"], ["camel", "br"])), against=paper_table()
    )["2"]


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
    for command in (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\begin{tabular}{@{}lrrr@{}}",
        r"{\emph{One-error $\downarrow$}} \\",
    ):
        assert command in text
    assert re.search(r"\\textbf\{0\.\d{3}\}\{\\scriptsize \$\\pm\$0\.\d{3}\}", text)
    rows = [
        line for line in text.splitlines() if line.endswith(r" \\") and "multicolumn" not in line
    ]
    assert {line.count("&") for line in rows} == {3}
    assert text.isascii()


@given(st.text(alphabet="ab_&%$#{}~^\\<>[*|", min_size=1))
def test_latex_escapes_what_means_something_to_it(name):
    text = to_latex(one_cell(name))
    line = next(line for line in text.splitlines() if line.startswith(r"\caption{"))
    inner = line.removeprefix(r"\caption{").removesuffix("}")
    plain = re.sub(
        r"\\text(backslash|asciitilde|asciicircum)\{\}|\$[<>|]\$|\{[\[*]\}|\\[_&%$#{}]", "", inner
    )
    assert set(plain.lower()) <= set("ab")


def test_latex_numbers_its_tables_itself_and_every_label_is_another_one():
    tables = [one_cell("Table 1: data sets"), one_cell("Ranks"), one_cell("Ranks")]
    text = write_tables(tables, "latex")
    assert text.startswith("% \\usepackage{booktabs}\n")
    assert re.findall(r"\\caption\{(.*)\}", text) == ["Data sets", "Ranks", "Ranks"]
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:data-sets", "tab:ranks", "tab:ranks-2"]


@pytest.fixture(scope="module")
def everything():
    """Sixteen sets and six methods beside the paper's, tests, and names that mean something to LaTeX."""
    summary = summarise(study(REGULAR + LARGE, PAPER_METHODS, n_folds=2))
    tables = [
        *metric_tables(summary, summary.datasets),
        *metric_tables(summary, summary.datasets, against=paper_table()),
    ]
    names = [
        one_cell(name)
        for name in ("[a] *b* |c|", "50 % & 3$ #1 x_y {z} ~ ^ \\", "± − – Δ χ² ↓ < >")
    ]
    return [*tables, *significance_tables(summary, "camel"), *names]


def test_sixteen_sets_and_six_methods_fit_a_page_without_shrinking(everything):
    assert not any(fitted(table).shrink for table in everything[:14])
    assert all(len(page.rows) <= MOST_ROWS for table in everything for page in pages(table))
    assert fitted(Table("", "", ["0.123±0.456"] * 20, [])).shrink
    text = write_tables([Table("", "", ["0.123±0.456"] * 20, [])], "latex")
    assert text.startswith("% \\usepackage{booktabs,graphicx}\n")
    assert text.count(r"\resizebox{\textwidth}{!}{%") == text.count(r"\end{tabular}}") == 1


def test_a_long_first_column_is_broken_into_lines():
    assert re.fullmatch(
        r"@\{\}p\{\d+pt\}r@\{\}", fitted(Table("", "word " * 40, ["cells"], [])).columns
    )


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.booleans())
def test_pages_hold_all_rows_and_keep_together_what_belongs_together(sizes, triples):
    sections = []
    for number, size in enumerate(sizes):
        names = [f"{number} {row}" for row in range(size)]
        rows = [
            (name, [])
            for own in names
            for name in ((own, "· paper", "· Δ / std") if triples else (own,))
        ]
        sections.append(TableSection(str(number), rows))
    found = pages(Table("t", "", [], sections))
    assert [row for page in found for row in page.rows] == [
        row for section in sections for row in section.rows
    ]
    for page in found:
        assert len(page.rows) <= MOST_ROWS
        assert not page.rows or not page.rows[0][0].startswith("·")


@pytest.mark.skipif(
    not shutil.which("pdflatex"),
    reason="no TeX is installed: apt-get install texlive-latex-recommended",
)
def test_latex_is_set_without_an_error_and_nothing_sticks_out(everything, tmp_path):
    document = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n%s\n\\end{document}\n"
    (tmp_path / "tables.tex").write_text(
        document % write_tables(everything, "latex"), encoding="utf-8"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    result = subprocess.run(
        command, check=False, cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    assert result.returncode == 0, result.stdout[-2000:]
    log = (tmp_path / "tables.log").read_text(errors="replace")
    assert not re.findall(r"Overfull|too large for page|multiply defined|Missing character", log)


def test_csv_has_a_file_for_each_table(table):
    files = csv_files([table, table, Table("Empty", "", [], [])])
    assert list(files) == [f"{table.slug}.csv", f"{table.slug}-2.csv"]
    assert (
        next(csv.DictReader(io.StringIO(files[f"{table.slug}.csv"])))["dataset"]
        == table.data[0]["dataset"]
    )


def test_latex_escapes_underscores_of_names_and_criteria():
    text = write_tables(
        [results_table(summarise([record("my_set"), record("my_set", "br")]), ["my_set"], "t")],
        "latex",
    )
    assert r"my\_set" in text
    assert not re.search(r"(?<!\\)_", text)


def test_csv_reads_back_unrounded(table):
    rows = list(csv.DictReader(io.StringIO(write_tables([table], "csv"))))
    assert len(rows) == len(table.data) == 3 * 7 * 2
    for row, original in zip(rows, table.data, strict=True):
        assert float(row["mean"]) == original["mean"]
        assert row["dataset"] == original["dataset"]


def test_what_is_undefined_is_empty():
    table = results_table(summarise([record(coverage=float("nan"))]), ["yeast"], "")
    rows = csv.DictReader(io.StringIO(write_tables([table], "csv")))
    assert next(row for row in rows if row["metric"] == "coverage")["mean"] == ""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_writes_several_tables(table, form):
    assert (
        write_tables([table, table], form).count("yeast")
        >= 2 * write_tables([table], form).count("yeast")
        > 0
    )


def test_an_unknown_form_is_refused(table):
    with pytest.raises(ValueError, match="form"):
        write_tables([table], "html")
