"""The five methods of the paper's comparison."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.baselines.jfsc import JFSC, JFSCCV
    from skcamel.baselines.llsf import LLSF, LLSFCV
    from skcamel.baselines.transformation import BinaryRelevance, EnsembleOfClassifierChains, RAkEL

__all__ = [
    "JFSC",
    "JFSCCV",
    "LLSF",
    "LLSFCV",
    "BinaryRelevance",
    "EnsembleOfClassifierChains",
    "RAkEL",
]

_NAMES = {
    "jfsc": ("JFSC", "JFSCCV"),
    "llsf": ("LLSF", "LLSFCV"),
    "transformation": ("BinaryRelevance", "EnsembleOfClassifierChains", "RAkEL"),
}

__getattr__, __dir__ = lazily(
    __name__, {name: module for module, names in _NAMES.items() for name in names}
)
