"""What tests of pages do in the browser: save a download, read a CSV, ask axe-core."""

import csv
import io


def saved(page, selector):
    """Name and text of what a click downloads."""
    with page.expect_download() as download:
        page.click(selector)
    return download.value.suggested_filename, download.value.path().read_text(encoding="utf-8")


def rows_of(text):
    """Rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(text)))


def assert_accessible(page):
    """Axe-core finds nothing; parts that are folded are shown to it first."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
