"""The code that type checkers read also runs."""

import runpy
from pathlib import Path


def test_the_code_of_a_user_runs(tmp_path):
    main = runpy.run_path(str(Path(__file__).with_name("user_code.py")))["main"]
    before, after, study = main(tmp_path)
    assert before == after > 0.8
    assert study > 0.7
    written = {path.name for path in tmp_path.iterdir()}
    pages = {"collaboration.svg", "model.html", "study.html", "text.txt"}
    models = {"model.skcamel", "pipeline.skcamel"}
    assert written == pages | models | {"mine.arff", "mine.xml", "study", "table.csv"}
