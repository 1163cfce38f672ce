"""Pictures with matplotlib, in the manner of scikit-learn's Display classes: each function returns the axes it drew on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel.display.collaboration import CollaborationDisplay, plot_collaboration
    from skcamel.display.convergence import ConvergenceDisplay, plot_convergence
    from skcamel.display.critical_difference import CriticalDifferenceDisplay, plot_critical_difference
    from skcamel.display.explanation import ExplanationDisplay, plot_explanation
    from skcamel.display.sensitivity import SensitivityDisplay, plot_sensitivity

# name ► module of this package
_HOME = {
    "CollaborationDisplay": "collaboration",
    "ConvergenceDisplay": "convergence",
    "CriticalDifferenceDisplay": "critical_difference",
    "ExplanationDisplay": "explanation",
    "SensitivityDisplay": "sensitivity",
    "plot_collaboration": "collaboration",
    "plot_convergence": "convergence",
    "plot_critical_difference": "critical_difference",
    "plot_explanation": "explanation",
    "plot_sensitivity": "sensitivity",
}
__all__ = [
    "CollaborationDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "ExplanationDisplay",
    "SensitivityDisplay",
    "plot_collaboration",
    "plot_convergence",
    "plot_critical_difference",
    "plot_explanation",
    "plot_sensitivity",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel.display' has no attribute {name!r}")
    return getattr(import_module(f"skcamel.display.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
