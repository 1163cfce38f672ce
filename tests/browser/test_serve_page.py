"""The page of a served model as a person uses it: form, sliders, search, labels, reasons, a dropped table, the token, keyboard, phone."""

import csv
import io
import json

import httpx
import pytest

from browsing import assert_accessible, rows_of, saved
from serving import mixed, mixed_table, numbers, running
from skcamel import CamelClassifier

pytest.importorskip("playwright", reason="playwright is not installed: pip install --group browser")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install skcamel[serve]")

pytestmark = pytest.mark.browser

TOKEN = "a-token-of-sixteen-or-more"  # noqa: S105


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
def visit(browser, addresses):
    """`visit("table")` opens the page of a server; complaints of the browser and requests to other places fail the test."""
    complaints, contexts = [], []

    def open_page(name, *, refused=False, **options):
        contexts.append(
            context := browser.new_context(
                **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
            )
        )
        page = context.new_page()
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text) if "status of 4" not in message.text else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = (addresses[name], "data:", "blob:")
        page.on(
            "request",
            lambda request: (
                complaints.append(request.url) if not request.url.startswith(own) else None
            ),
        )
        page.goto(addresses[name])
        page.wait_for_selector("#token-form:not([hidden])" if refused else "#bench[data-answered]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def answered_after(page, act):
    """What an action leads to, once the server has answered."""
    from playwright.sync_api import expect

    before = page.get_attribute("#bench", "data-answered")
    act()
    expect(page.locator("#bench")).not_to_have_attribute("data-answered", before, timeout=30_000)


def shown(page):
    """Labels and what is said about them."""
    return page.locator("#labels-plot [data-label]").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["table", "wide"])
def test_axe_finds_nothing(visit, name, theme):
    page = visit(name, color_scheme=theme)
    assert_accessible(page)
    wide = page.get_attribute("#labels-plot svg", "width")
    page.set_viewport_size({"width": 400, "height": 850})
    page.wait_for_selector(f'#labels-plot svg:not([width="{wide}"])')
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_form_holds_every_column_and_a_change_moves_the_labels(visit):
    page = visit("table")
    assert page.inner_text("h1") == "served"
    assert page.locator("#try-fields label").all_inner_texts() == [
        "opened",
        "plan",
        "paid",
        "smoker",
        "topics",
        "note",
    ]
    before = shown(page)
    answered_after(page, lambda: page.select_option("#column-1", "firm"))
    answered_after(page, lambda: page.fill("#column-5", "parcel late courier again"))
    after = shown(page)
    assert (
        [text.split(":")[0] for text in before]
        == [text.split(":")[0] for text in after]
        == ["label1", "label2", "label3"]
    )
    assert before != after
    assert page.locator("#labels-plot circle").count() > 0  # where a label was before
    assert page.inner_text("#try-said").startswith("Predicted: ")
    answered_after(page, lambda: page.click("#try-typical"))
    assert shown(page) == before


def test_a_slider_and_its_number_go_together(visit):
    page = visit("table")
    slider = page.locator("#column-2").locator("xpath=preceding-sibling::input")
    slider.focus()
    answered_after(page, lambda: page.keyboard.press("End"))
    assert float(page.input_value("#column-2")) == pytest.approx(
        float(slider.get_attribute("max")), rel=0.02
    )
    assert "changed" in page.locator(".field").nth(2).get_attribute("class")


def test_a_label_is_chosen_by_mouse_and_keyboard_and_its_reasons_add_up(visit):
    page = visit("table")
    answered_after(page, lambda: page.locator("#labels-plot [data-label]").nth(1).click())
    assert page.inner_text("#columns-title") == "Why label2: by column"
    page.locator("#labels-plot [tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    answered_after(page, lambda: page.keyboard.press("Enter"))
    assert page.inner_text("#others-title") == "Why label3: by label"
    for figure in ("columns", "others"):
        _, text = saved(page, f"#{figure} [data-download=csv]")
        *parts, score, _ = [float(row["value"]) for row in rows_of(text)]
        assert sum(parts) == pytest.approx(score)
        assert "score" in page.locator(f"#{figure}-plot svg").get_attribute("aria-label")


def test_labels_are_saved_as_the_server_told_them(visit, addresses):
    page = visit("table")
    _, text = saved(page, "#labels [data-download=csv]")
    example = httpx.get(f"{addresses['table']}/model").json()[
        "example"
    ]  # the same question without the browser
    told = httpx.post(
        f"{addresses['table']}/predict", json={"rows": [example], "confidence": 0.9}
    ).json()["predictions"][0]
    assert {row["label"]: float(row["probability"]) for row in rows_of(text)} == told[
        "probabilities"
    ]
    assert {row["label"]: row["set"] for row in rows_of(text)} == told["sets"]


def test_the_confidence_and_the_request_for_programs(visit):
    page = visit("table")
    answered_after(page, lambda: page.select_option("#confidence", "0.99"))
    command = page.text_content("#program-command")
    request = json.loads(command[command.index("-d '") + 4 : -1])
    assert request["confidence"] == 0.99
    assert set(request["rows"][0]) == {"opened", "plan", "paid", "smoker", "topics", "note"}


def test_many_columns_are_searched_and_those_that_matter_come_first(visit):
    page = visit("wide")
    shown_first = page.locator("#try-fields label").all_inner_texts()
    assert len(shown_first) < 20
    page.fill("#try-find", "x103")
    assert page.locator("#try-fields label").all_inner_texts() == ["x103"]
    answered_after(page, lambda: page.fill("#column-102", "7.5"))
    page.fill("#try-find", "")
    assert "x103" in "".join(page.locator("#try-fields label").all_inner_texts())
    page.click("#try-all")
    assert page.locator("#try-fields label").count() == 103
    page.fill("#label-find", "label 25")
    assert [text.split(":")[0] for text in shown(page)] == ["label 25"]


def test_what_the_server_refuses_is_told_and_mended(visit):
    page = visit("wide")
    field = page.locator("#try-fields input[type=number]").first
    answered_after(page, lambda: field.fill(""))
    assert "missing or infinite" in page.inner_text("#try-problem")
    answered_after(page, lambda: field.fill("1"))
    assert page.is_hidden("#try-problem")


def test_a_table_is_predicted_and_saved(visit, tmp_path):
    columns, _ = mixed_table()
    path = tmp_path / "new.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    page = visit("table")
    page.set_input_files("#file", path)
    page.wait_for_selector("#table-result:not([hidden])")
    assert page.inner_text("#table-said") == "90 rows predicted."
    name, text = saved(page, "#save-csv")
    assert name == "new_predictions.csv"
    found = list(csv.DictReader(io.StringIO(text)))
    assert [row["ticket"] for row in found] == columns["ticket"]
    from skcamel import outputs

    expected = outputs(mixed(), columns)
    assert [float(row["probability:label1"]) for row in found] == expected.probabilities[
        :, 0
    ].tolist()
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("colour\nred\n")
    page.set_input_files("#file", wrong)
    page.wait_for_selector("#table-problem:not([hidden])")
    assert "lacks the columns" in page.inner_text("#table-problem")


def test_a_closed_server_asks_for_its_token_and_tells_nothing_before(visit):
    page = visit("closed", refused=True)
    assert "depth" not in page.content().replace("--depth", "")
    assert_accessible(page)
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#try-problem:not([hidden])")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#bench[data-answered]")
    assert [text.split(":")[0] for text in shown(page)] == [
        "sea",
        "sun",
        "</script>",
        'rain, "heavy"',
    ]
    assert "<b>depth</b>" in page.locator("#try-fields label").all_inner_texts()
    assert "Bearer $TOKEN" in page.text_content("#program-command")
    assert TOKEN not in page.text_content("#program-command")
