"""The five methods of the paper's comparison."""

from typing import TYPE_CHECKING

from skcamel.lazy import lazily

if TYPE_CHECKING:
    from skcamel.baselines.binary_relevance import BinaryRelevance
    from skcamel.baselines.classifier_chains import EnsembleOfClassifierChains
    from skcamel.baselines.jfsc import JFSC, JFSCCV
    from skcamel.baselines.llsf import LLSF, LLSFCV
    from skcamel.baselines.rakel import RAkEL

__all__ = ["JFSC", "JFSCCV", "LLSF", "LLSFCV", "BinaryRelevance", "EnsembleOfClassifierChains", "RAkEL"]

_HOME = {
    "JFSC": "jfsc",
    "JFSCCV": "jfsc",
    "LLSF": "llsf",
    "LLSFCV": "llsf",
    "BinaryRelevance": "binary_relevance",
    "EnsembleOfClassifierChains": "classifier_chains",
    "RAkEL": "rakel",
}


__getattr__, __dir__ = lazily(__name__, _HOME)
