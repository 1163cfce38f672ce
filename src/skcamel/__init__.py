"""skcamel: collaboration based multi-label learning (CAMEL, AAAI 2019) for scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel import baselines, data, display, experiment, metrics, report
    from skcamel.classifier import CamelClassifier
    from skcamel.classifier_cv import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifierCV
    from skcamel.persistence import ModelFileError, load, save

__version__ = "0.1.0"
__all__ = [
    "PAPER_ALPHAS",
    "PAPER_LAMBDA2S",
    "CamelClassifier",
    "CamelClassifierCV",
    "ModelFileError",
    "baselines",
    "data",
    "display",
    "experiment",
    "load",
    "metrics",
    "report",
    "save",
]

_HOME = {
    "PAPER_ALPHAS": "classifier_cv",
    "PAPER_LAMBDA2S": "classifier_cv",
    "CamelClassifier": "classifier",
    "CamelClassifierCV": "classifier_cv",
    "ModelFileError": "persistence",
    "baselines": "baselines",
    "data": "data",
    "display": "display",
    "experiment": "experiment",
    "load": "persistence",
    "metrics": "metrics",
    "report": "report",
    "save": "persistence",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: ``import skcamel`` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel' has no attribute {name!r}")
    module = import_module(f"skcamel.{_HOME[name]}")
    return module if name == _HOME[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
