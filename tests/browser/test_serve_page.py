"""The page of a served model: form, search, labels, reasons, the token, keyboard, phone."""

import json

import httpx
import pytest

from browsing import assert_accessible
from serving import TOKEN, mixed, numbers, running
from skcamel import CamelClassifier

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install skcamel[serve]")

pytestmark = pytest.mark.browser


def many_columns():
    import pages

    given = pages.data(25, 120, 103)
    return CamelClassifier(scaling="standard").fit(given.X, given.labels)


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp
    with (
        running(mixed(), folder("mixed")) as (table, _),
        running(many_columns(), folder("wide")) as (wide, _),
        running(numbers(), folder("closed"), environment={"SKCAMEL_TOKEN": TOKEN}) as (closed, _),
    ):
        yield {"table": table, "wide": wide, "closed": closed}


@pytest.fixture
def visit(opened, addresses):
    """`visit("table")` opens the page of a server."""

    def open_page(name, *, refused=False, **options):
        address = addresses[name]
        page = opened(address, within=(address,), expected="status of 4", **options)
        page.wait_for_selector("#token-form:not([hidden])" if refused else "#main[data-answered]")
        return page

    return open_page


def answered_after(page, act):
    """What an action leads to, once the server has answered."""
    from playwright.sync_api import expect

    before = page.get_attribute("#main", "data-answered")
    act()
    expect(page.locator("#main")).not_to_have_attribute("data-answered", before, timeout=30_000)


def shown(page):
    return page.locator("#labels tr").all_inner_texts()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["table", "wide"])
def test_axe_finds_nothing(visit, name, theme):
    page = visit(name, color_scheme=theme)
    assert_accessible(page)
    page.set_viewport_size({"width": 400, "height": 850})
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_form_holds_every_column_and_a_change_moves_the_labels(visit, addresses):
    page = visit("table")
    assert page.inner_text("h1") == "served"
    columns = [text.split()[0] for text in page.locator("#fields label").all_inner_texts()]
    assert columns == ["opened", "plan", "paid", "smoker", "topics", "note"]
    before = shown(page)
    answered_after(page, lambda: page.locator("#fields select").first.select_option("free"))
    answered_after(page, lambda: page.locator("#fields textarea").fill("invoice card payment"))
    assert shown(page) != before
    command = page.text_content("#command")
    request = json.loads(command[command.index("-d '") + 4 : -1])
    (told,) = httpx.post(f"{addresses['table']}/predict", json=request).json()["predictions"]
    assert page.inner_text("#predicted") == f"Predicted: {', '.join(told['labels']) or 'no label'}."
    answered_after(page, lambda: page.click("#typical"))
    assert shown(page) == before


def test_a_label_is_chosen_by_mouse_and_keyboard_and_its_reasons_add_up(visit):
    page = visit("table")
    page.locator("#labels .name").nth(1).click()
    assert page.inner_text("#why-title") == "Why label2"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.inner_text("#why-title") == "Why label3"
    texts = page.locator("#why .number").all_inner_texts()
    numbers_shown = [float(text.replace("−", "-")) for text in texts]
    score = numbers_shown[-1]
    first = numbers_shown.index(score)
    assert sum(numbers_shown[:first]) == pytest.approx(score, abs=0.01)
    assert sum(numbers_shown[first + 1 : -1]) == pytest.approx(score, abs=0.01)


def test_the_confidence_adds_a_column_that_agrees_with_the_prediction(visit):
    page = visit("table")
    answered_after(page, lambda: page.select_option("#confidence", "0.95"))
    predicted = page.inner_text("#predicted")
    for line in shown(page):
        label, word = line.split()[0], line.split()[-1]
        assert word in ("yes", "no", "open")
        if word != "open":
            assert (label in predicted) == (word == "yes")


def test_many_columns_are_searched(visit):
    page = visit("wide")
    assert page.locator("#fields label").count() == 103
    page.fill("#find", "x103")
    (field,) = page.locator("#fields input").all()
    answered_after(page, lambda: field.fill("7.5"))
    assert '"x103":7.5' in page.text_content("#command")


def test_a_closed_server_asks_for_its_token_and_tells_nothing_before(visit):
    page = visit("closed", refused=True)
    assert "depth" not in page.content()
    assert_accessible(page)
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#main[data-answered]")
    names = page.locator("#labels .name").all_inner_texts()
    assert names == ["sea", "sun", "</script>", 'rain, "heavy"']
    assert "<b>depth</b>" in page.inner_text("#fields")
    assert "Bearer $TOKEN" in page.text_content("#command")
    assert TOKEN not in page.text_content("#command")
