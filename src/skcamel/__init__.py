"""skcamel: collaboration based multi-label learning (CAMEL, AAAI 2019) for scikit-learn."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel import baselines, data, experiment, export, metrics, plots, report
    from skcamel.camel.classifier import CamelClassifier
    from skcamel.camel.classifier_cv import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifierCV
    from skcamel.camel.label_errors import find_label_errors
    from skcamel.data.pipeline import (
        explain,
        label_sets,
        make_pipeline,
        outputs,
        predict_sets,
        top_k,
    )
    from skcamel.model_file import ModelFileError, load, save
    from skcamel.model_file.inspection import inspect

__version__ = "1.0.0"
__all__ = [
    "PAPER_ALPHAS",
    "PAPER_LAMBDA2S",
    "CamelClassifier",
    "CamelClassifierCV",
    "ModelFileError",
    "baselines",
    "data",
    "experiment",
    "explain",
    "export",
    "find_label_errors",
    "inspect",
    "label_sets",
    "load",
    "make_pipeline",
    "metrics",
    "outputs",
    "plots",
    "predict_sets",
    "report",
    "save",
    "top_k",
]

_HOME = {
    "PAPER_ALPHAS": "camel.classifier_cv",
    "PAPER_LAMBDA2S": "camel.classifier_cv",
    "CamelClassifier": "camel.classifier",
    "CamelClassifierCV": "camel.classifier_cv",
    "ModelFileError": "model_file",
    "explain": "data.pipeline",
    "find_label_errors": "camel.label_errors",
    "inspect": "model_file.inspection",
    "label_sets": "data.pipeline",
    "load": "model_file",
    "make_pipeline": "data.pipeline",
    "outputs": "data.pipeline",
    "predict_sets": "data.pipeline",
    "save": "model_file",
    "top_k": "data.pipeline",
    **dict.fromkeys(
        ("baselines", "data", "display", "experiment", "export", "metrics", "plots", "report"), ""
    ),
}
__getattr__, _names = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return [*_names(), "__version__"]
