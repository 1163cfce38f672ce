"""The five methods of the paper's comparison."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel.baselines.binary_relevance import BinaryRelevance
    from skcamel.baselines.classifier_chains import EnsembleOfClassifierChains
    from skcamel.baselines.grid_search import JFSCCV, LLSFCV
    from skcamel.baselines.jfsc import JFSC
    from skcamel.baselines.llsf import LLSF
    from skcamel.baselines.rakel import RAkEL

__all__ = ["JFSC", "JFSCCV", "LLSF", "LLSFCV", "BinaryRelevance", "EnsembleOfClassifierChains", "RAkEL"]

_HOME = {
    "JFSC": "jfsc",
    "JFSCCV": "grid_search",
    "LLSF": "llsf",
    "LLSFCV": "grid_search",
    "BinaryRelevance": "binary_relevance",
    "EnsembleOfClassifierChains": "classifier_chains",
    "RAkEL": "rakel",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel.baselines' has no attribute {name!r}")
    return getattr(import_module(f"skcamel.baselines.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
