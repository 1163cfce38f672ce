"""A headless Chromium, and pages opened in it that must not complain."""

import shutil

import pytest

HOW = (
    "No Chromium on PATH; install one, on Debian by 'apt-get install chromium', and run 'make"
    " browser' again."
)
# A closed network must not matter: pages need none, and neither shall the browser look for updates.
QUIET = [
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]
SCREEN = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="session")
def browser():
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    if not any(found):
        pytest.exit(HOW, returncode=1)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = next(filter(None, found))
        chromium = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser):
    """`opened(address)`: the page; errors, and requests that lead elsewhere, fail the test.

    Messages in its console fail it too, but not those that contain `expected`.
    """
    complaints, contexts = [], []

    def open_page(address, *, within=("file:",), expected=None, **options):
        contexts.append(context := browser.new_context(**SCREEN | options))
        page = context.new_page()

        def on_console(message):
            if expected is None or expected not in message.text:
                complaints.append(f"{message.type}: {message.text}")

        def on_request(request):
            if not request.url.startswith((*within, "data:", "blob:")):
                complaints.append(request.url)

        page.on("console", on_console)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", on_request)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
