"""Plots of models and studies by matplotlib, in the manner of scikit-learn's ``…Display`` classes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel.display.collaboration import CollaborationDisplay, plot_collaboration
    from skcamel.display.explanation import ExplanationDisplay, plot_explanation

_HOME = {
    "CollaborationDisplay": "collaboration",
    "ExplanationDisplay": "explanation",
    "plot_collaboration": "collaboration",
    "plot_explanation": "explanation",
}
__all__ = ["CollaborationDisplay", "ExplanationDisplay", "plot_collaboration", "plot_explanation"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel.display' has no attribute {name!r}")
    return getattr(import_module(f"skcamel.display.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
