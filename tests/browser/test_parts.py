"""Parts of pages that no model page has: finished drawings, and tables with their best cells in bold."""

import shutil

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")

from skcamel.report import page as page_module
from skcamel.report.page import Column, Page, Section, svg_source, write

pytestmark = pytest.mark.browser

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><style>rect { fill: teal }</style><rect width="40" height="20"/></svg>'
)
TEMPLATE = """{% from "macros.html" import drawing, table with context %}
{{ drawing("curve", "A curve", "It falls.", context.source, "a falling curve", context.csv) }}
{{ table("results", "Results", context.columns, context.rows, bold=context.bold) }}
"""


@pytest.fixture
def page(show, folder, tmp_path, monkeypatch):
    shutil.copytree(page_module.STATIC, tmp_path / "static")
    (tmp_path / "static" / "parts.html").write_text(TEMPLATE)
    monkeypatch.setattr(page_module, "STATIC", tmp_path / "static")
    context = {
        "source": svg_source(SVG),
        "csv": 'x,y\n1,"<b>"\n',
        "columns": (Column("set"), Column("ours", 3), Column("theirs", 3)),
        "rows": [("yeast", 0.5, 0.25), ("<i>emotions</i>", None, 0.75)],
        "bold": {(0, 1), (1, 2)},
    }
    write(Page("Parts", "All of them.", [], [Section("parts", "Parts", context)]), folder / "parts.html")
    return show("parts")


def saved(page, selector):
    with page.expect_download() as download:
        page.click(selector)
    return download.value.suggested_filename, download.value.path().read_bytes().decode()


def test_a_finished_drawing_is_shown_and_saved_as_it_is(page):
    assert page.locator("#curve img").evaluate("image => [image.complete, image.naturalWidth]") == [True, 40]
    assert saved(page, "#curve [data-download=svg]") == ("curve.svg", SVG)
    assert saved(page, "#curve [data-download=csv]") == ("curve.csv", 'x,y\n1,"<b>"\n')


def test_the_best_cells_are_bold_and_cells_without_a_value_sort_last(page):
    assert page.locator("#results td.best").all_text_contents() == ["0.500", "0.750"]
    ours = page.locator("#results thead button").nth(1)
    for _ in range(2):
        ours.click()
        assert page.locator("#results tbody td:nth-child(2)").all_text_contents() == ["0.500", "–"]
    assert saved(page, "#results [data-download=csv]")[1] == "set,ours,theirs\r\nyeast,0.5,0.25\r\n<i>emotions</i>,,0.75\r\n"
