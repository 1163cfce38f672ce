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

    def open_one(name, width=1280, theme="light"):
        """Messages in the console of the site are those of its theme."""
        options = {"color_scheme": theme, "reduced_motion": "reduce"}
        options["viewport"] = {"width": width, "height": 900}
        return opened((SITE / name).as_uri(), expected="", **options)

    return open_one


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(open_page, name, theme):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(open_page(name, theme=theme)).response["violations"]
    serious = [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_on_a_phone(open_page, name):
    page = open_page(name, width=400)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_picture_is_described(open_page):
    page = open_page("index.html")
    for name in PAGES:
        page.goto((SITE / name).as_uri())
        # the picture of a link to an example says no more than its name
        pictures = page.locator("main img:not(.sphx-glr-thumbcontainer img), main svg.measured")
        assert all(
            one.get_attribute("alt") or one.get_attribute("aria-label") for one in pictures.all()
        ), name
