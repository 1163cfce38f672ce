"""Pages to look at: one HTML file made from a model file or from the records of a study."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.report.model_page import build_model_report
    from skcamel.report.study_page import build_report

_HOME = {"build_model_report": "model_page", "build_report": "study_page"}
__all__ = ["build_model_report", "build_report"]


__getattr__, __dir__ = lazily(__name__, _HOME)
