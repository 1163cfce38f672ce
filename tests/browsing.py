"""What tests of pages do in the browser: ask axe-core."""


def assert_accessible(page):
    """Axe-core finds nothing; parts that are folded are shown to it first."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
