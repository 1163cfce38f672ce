"""Pages as a person uses them: mouse, keyboard, both themes, phone, paper, screen reader."""

import pytest

import pages
from browsing import assert_accessible

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")

pytestmark = pytest.mark.browser

PAGES = ("few", "many", "no_data", "table", "study", "names")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Pages of models with 6 and 174 labels, with dangerous names, without data, and of studies."""
    import made_studies
    from skcamel.report import build_model_report, build_report

    folder = tmp_path_factory.mktemp("pages")
    nasty = pages.model(6, 120, names=pages.NASTY)
    build_model_report(nasty, pages.new_rows(6, 120, names=pages.NASTY), folder / "few.html")
    build_model_report(nasty, None, folder / "no_data.html")
    build_model_report(*pages.table(), folder / "table.html")
    many = pages.new_rows(174, 500, 40)
    build_model_report(pages.model(174, 500, 40), many, folder / "many.html")
    build_report(made_studies.sixteen(folder / "sixteen"), folder / "study.html")
    build_report(made_studies.nasty(folder / "nasty"), folder / "names.html")
    return folder


@pytest.fixture
def show(opened, folder):
    """`show("few")` opens a page."""

    def open_page(name, wait=True, **options):
        page = opened((folder / f"{name}.html").as_uri(), **options)
        if wait:
            page.wait_for_selector("html[data-ready]")
        return page

    return open_page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_nothing_sticks_out_of_a_narrow_screen(show, name, theme):
    page = show(name, color_scheme=theme, reduced_motion="reduce")
    assert_accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)


@pytest.mark.parametrize("name", ["few", "names"])
def test_dangerous_names_are_shown_and_not_run(show, name):
    page = show(name)
    assert page.evaluate("window.ran") is None
    assert page.locator("main img").count() == 0
    if name == "few":
        cells = page.locator('table[aria-label="Labels"] tbody th').all_text_contents()
        assert tuple(cells) == pages.NASTY


def test_text_of_drawings_is_text_and_inside_them(show):
    page = show("few")
    for drawing in page.locator(".drawing svg").all():
        frame = drawing.bounding_box()
        for text in drawing.locator("text").all():
            box = text.bounding_box()
            assert frame["x"] - 1 <= box["x"], text.text_content()
            assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1, text.text_content()
    names = page.locator('svg[aria-label^="Pushes"] text').all_text_contents()
    shortened = {name if len(name) <= 60 else f"{name[:59]}…" for name in pages.NASTY}
    assert {name.strip() for name in shortened} <= {name.strip() for name in names}


def test_drawings_take_the_colours_of_the_theme(show):
    page = show("few", color_scheme="light")
    mark = page.locator('.drawing [fill="#2166ac"]').first
    text = page.locator('.drawing text[fill="#1b2430"]').first
    before = [one.evaluate("one => getComputedStyle(one).fill") for one in (mark, text)]
    button = page.locator("#theme")
    assert button.get_attribute("aria-pressed") == "false"
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    after = [one.evaluate("one => getComputedStyle(one).fill") for one in (mark, text)]
    assert all(old != new for old, new in zip(before, after, strict=True))
    page.emulate_media(media="print")  # paper is light
    printed = [one.evaluate("one => getComputedStyle(one).fill") for one in (mark, text)]
    assert printed == before


def test_tables_sort_both_ways_and_missing_values_stay_last(show):
    page = show("many")
    table = page.locator('table[aria-label="Labels"]')
    head = table.locator("thead th").nth(4)  # F1
    assert head.get_attribute("aria-sort") is None
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    values = table.locator("tbody td:nth-child(5)").all_text_contents()
    assert [float(value) for value in values] == sorted(map(float, values), reverse=True)
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    values = table.locator("tbody td:nth-child(5)").all_text_contents()
    assert [float(value) for value in values] == sorted(map(float, values))
    table.locator("thead button").first.click()
    assert table.locator("tbody th").all_text_contents()[:3] == ["label 1", "label 2", "label 3"]


def test_a_row_is_chosen_by_keyboard_and_by_a_link(show):
    page = show("few")
    options = page.locator("#why .option")
    visible = page.locator("#why .option:visible")
    assert (visible.count(), options.count() > 30) == (1, True)
    assert visible.get_attribute("id") == "row-1"
    page.locator("#why select").press("ArrowDown")
    assert visible.get_attribute("id") == options.nth(1).get_attribute("id")
    link = page.locator("#errors tbody a").last
    link.click()
    page.locator(link.get_attribute("href")).wait_for()  # the event comes after the click
    assert f"#{visible.get_attribute('id')}" == link.get_attribute("href")
    assert page.locator("#why select").input_value() == visible.get_attribute("id")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"


def test_without_scripts_everything_is_shown(show):
    page = show("few", wait=False, java_script_enabled=False)
    assert page.locator("#why .option:visible").count() == page.locator("#why .option").count()


def test_everything_is_reached_by_the_tab_key(show):
    page = show("table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
    wanted = page.locator("main button:visible, main select:visible, main [tabindex='0']:visible")
    for element in wanted.all():
        assert element.evaluate("one => one.outerHTML.slice(0, 200)") in reached


def test_paper_shows_whole_tables_and_no_controls(show):
    page = show("many")
    page.emulate_media(media="print")
    assert page.locator("select:visible, input:visible, #theme:visible").count() == 0
    scroll = page.locator(".scroll").first
    assert scroll.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
