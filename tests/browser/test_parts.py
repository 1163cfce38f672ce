"""Parts of pages that no model page has: tables with their best cells in bold, and long ones of which the first rows are shown."""

import shutil

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")

from skcamel.report import page as page_module
from skcamel.report.page import Column, Page, Section, write

pytestmark = pytest.mark.browser

TEMPLATE = """{% from "macros.html" import table with context %}
{{ table("results", "Results", context.columns, context.rows, bold=context.bold) }}
{{ table("long", "Long", context.long_columns, context.long, fold=true) }}
{{ table("short", "Short", context.long_columns, context.long[:18], fold=true) }}
"""


@pytest.fixture
def page(show, folder, tmp_path, monkeypatch):
    shutil.copytree(page_module.STATIC, tmp_path / "static")
    (tmp_path / "static" / "parts.html").write_text(TEMPLATE)
    monkeypatch.setattr(page_module, "STATIC", tmp_path / "static")
    context = {
        "columns": (Column("set"), Column("ours", 3), Column("theirs", 3)),
        "rows": [("yeast", 0.5, 0.25), ("<i>emotions</i>", None, 0.75)],
        "bold": {(0, 1), (1, 2)},
        "long_columns": (Column("name"), Column("place", 0)),
        "long": [(f"row {i}", i) for i in range(48)],
    }
    write(
        Page("Parts", "All of them.", [], [Section("parts", "Parts", context)]),
        folder / "parts.html",
    )
    return show("parts")


def saved(page, selector):
    with page.expect_download() as download:
        page.click(selector)
    return download.value.suggested_filename, download.value.path().read_bytes().decode()


def test_of_many_rows_the_first_are_shown_until_all_are_asked_for(page):
    shown = page.locator("#long tbody tr:visible")
    button = page.locator("#long .more")
    assert (shown.count(), button.text_content()) == (16, "16 of 48 rows, show all")
    page.locator("#long thead button").nth(1).click()
    assert shown.first.text_content() == "row 4747"  # all are sorted, not only those that are shown
    assert len(saved(page, "#long [data-download=csv]")[1].splitlines()) == 49
    button.click()
    assert (shown.count(), button.get_attribute("aria-expanded")) == (48, "true")
    button.click()
    page.emulate_media(media="print")
    assert (shown.count(), button.is_visible()) == (48, False)
    assert page.locator("#short .more").count() == 0


def test_the_best_cells_are_bold_and_cells_without_a_value_sort_last(page):
    assert page.locator("#results td.best").all_text_contents() == ["0.500", "0.750"]
    ours = page.locator("#results thead button").nth(1)
    for _ in range(2):
        ours.click()
        assert page.locator("#results tbody td:nth-child(2)").all_text_contents() == ["0.500", "–"]
    assert (
        saved(page, "#results [data-download=csv]")[1]
        == "set,ours,theirs\r\nyeast,0.5,0.25\r\n<i>emotions</i>,,0.75\r\n"
    )
