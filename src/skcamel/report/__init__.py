"""Pages to look at: one self-contained HTML file made from a model file or from the records of a study."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel.report.model_page import build_model_report
    from skcamel.report.study_page import build_report

_HOME = {"build_model_report": "model_page", "build_report": "study_page"}
__all__ = ["build_model_report", "build_report"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel.report' has no attribute {name!r}")
    return getattr(import_module(f"skcamel.report.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
