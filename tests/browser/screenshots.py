"""The pictures of the documentation, taken anew: ``python tests/browser/screenshots.py docs/images``. Rows are made up; graph and study are real."""

import shutil
import sys
import tempfile
from pathlib import Path

PICTURES = {"differences": "study", "ranks": "study_significance"}
STUDY = Path(__file__).parents[2] / "studies" / "paper-2019"
NAMES = ("beach", "sea", "sunset", "mountain", "forest", "city", "night", "people")


def main(target: Path) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    import pages
    from skcamel import CamelClassifier
    from skcamel.data import load_dataset
    from skcamel.report import build_model_report, build_report

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        yeast = load_dataset("yeast")
        build_model_report(
            CamelClassifier(scaling="standard").fit(yeast.X[:800], yeast.labels[:800]),
            None,
            folder / "yeast.html",
        )
        build_model_report(
            pages.model(8, 150, names=NAMES),
            pages.new_rows(8, 150, names=NAMES),
            folder / "made_up.html",
        )
        build_report(STUDY, folder / "study.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for page_name, section, theme, height in (
            ("yeast", "collaboration", "light", 960),
            ("made_up", "why", "dark", 860),
            ("study", "differences", "light", 620),
            ("study", "ranks", "dark", 820),
        ):
            page = browser.new_page(
                viewport={"width": 1200, "height": height},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            page.goto((folder / f"{page_name}.html").as_uri())
            page.wait_for_selector("html[data-ready]")
            page.locator(f"#{section}").evaluate("section => section.scrollIntoView()")
            picture = folder / f"{section}.png"
            page.screenshot(path=picture)
            # 256 colours are enough for a drawing, and a third of the bytes.
            Image.open(picture).convert("RGB").quantize(256).save(
                target / f"{PICTURES.get(section, section)}.png", optimize=True
            )
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(Path(sys.argv[1]))
