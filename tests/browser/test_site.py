"""The site that `make docs` builds, in a browser."""

from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = (
    "index.html",
    "models.html",
    "theory.html",
    "gallery/index.html",
    "gallery/plot_03_one_row_explained.html",
)


@pytest.fixture
def open_page(opened):
    """`open_page(name)` opens a page of the site, without motion."""
    if not SITE.exists():
        pytest.exit("The site is not built; run 'make docs' first.", returncode=1)

    def open_one(name, theme):
        """Messages in the console of the site are those of its theme."""
        options = {"color_scheme": theme, "reduced_motion": "reduce"}
        return opened((SITE / name).as_uri(), expected="", **options)

    return open_one


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_and_nothing_sticks_out_on_a_phone(open_page, name, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(name, theme)
    found = Axe().run(page).response["violations"]
    serious = [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
