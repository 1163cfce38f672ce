"""A headless Chromium, and pages opened in it that must not complain."""

import shutil

import pytest

import pages

HOW = (
    "No Chromium on PATH; install one, on Debian by 'apt-get install chromium', and run 'make"
    " test-browser' again."
)
# A closed network must not matter: pages need none, and neither shall the browser look for updates.
QUIET = [
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


@pytest.fixture(scope="session")
def browser():
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        pytest.exit(HOW, returncode=1)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield chromium
        chromium.close()


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
def show(browser, folder):
    """`show("few")` opens a page; any error or message in its console fails the test."""
    complaints, contexts = [], []

    def open_page(name, wait=True, **options):
        contexts.append(
            context := browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        )
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                complaints.append(request.url)
                if not request.url.startswith(("file:", "data:", "blob:"))
                else None
            ),
        )
        page.goto((folder / f"{name}.html").as_uri())
        if wait:
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
