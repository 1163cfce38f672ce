"""What tests of pages share."""

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

from skcamel.report import build_model_report, build_report


@pytest.fixture
def page_of(tmp_path):
    """`page_of(records)` or `page_of(model, data)`: the text of the page."""

    def build(*what):
        make = build_report if len(what) == 1 else build_model_report
        make(*what, tmp_path / "page.html")
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return build
