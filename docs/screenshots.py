"""The pictures of the documentation, taken anew: ``python docs/screenshots.py FOLDER``."""

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = (  # page, section, theme, height, name of the picture
    ("emotions", "together", "light", 860, "collaboration"),
    ("tickets", "why", "dark", 760, "why"),
    ("study", "paper", "light", 860, "study"),
    ("study", "ranks", "dark", 760, "study_significance"),
)


def make_pages(folder: Path) -> None:
    """Pages of a model of emotions, of one of support tickets, and of the study of the paper."""
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    from messy_table import tickets
    from skcamel import CamelClassifier, CamelClassifierCV
    from skcamel.data import TablePreparer, load_dataset, take_labels
    from skcamel.report import build_model_report, build_report

    emotions = load_dataset("emotions")  # in the folder that SKCAMEL_DATA names
    model = CamelClassifier(scaling="standard", correlation="centred")
    model.fit(emotions.X, emotions.labels)
    build_model_report(model, None, folder / "emotions.html")
    parts = []
    for n, seed in ((400, 1), (100, 2)):
        table, labels = take_labels(pd.DataFrame(tickets(n, seed=seed)), ["tags"], "tickets")
        parts.append((table, pd.DataFrame(labels.Y, columns=labels.names)))
    search = CamelClassifierCV.from_preset("quick", prepared=True, random_state=0)
    pipeline = make_pipeline(TablePreparer(), search).fit(*parts[0])
    build_model_report(pipeline, parts[1], folder / "tickets.html")
    build_report(ROOT / "studies" / "paper-2019", folder / "study.html")


def main(target: Path) -> None:
    """Take all pictures into a folder."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make_pages(folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for page_name, section, theme, height, picture in PICTURES:
            page = browser.new_page(viewport={"width": 1100, "height": height}, color_scheme=theme)
            page.goto((folder / f"{page_name}.html").as_uri())
            page.locator(f"#{section}").evaluate("section => section.scrollIntoView()")
            path = folder / "picture.png"
            page.screenshot(path=path)
            # 256 colours are enough for a drawing, and a third of the bytes.
            small = Image.open(path).convert("RGB").quantize(256)
            small.save(target / f"{picture}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "examples"))
    main(Path(sys.argv[1]))
