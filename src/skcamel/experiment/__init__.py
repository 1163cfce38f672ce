"""Methods x data sets x folds ► records: a study that can be stopped, resumed, shared and compared."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skcamel.experiment.methods import METHOD_TITLES, EstimatorMethod, Fitted, Method, Outcome, get_method
    from skcamel.experiment.records import Records, RecordsError
    from skcamel.experiment.runner import run_study
    from skcamel.experiment.units import Unit

_HOME = {
    "METHOD_TITLES": "methods",
    "EstimatorMethod": "methods",
    "Fitted": "methods",
    "Method": "methods",
    "Outcome": "methods",
    "Records": "records",
    "RecordsError": "records",
    "Unit": "units",
    "get_method": "methods",
    "run_study": "runner",
}
__all__ = [
    "METHOD_TITLES",
    "EstimatorMethod",
    "Fitted",
    "Method",
    "Outcome",
    "Records",
    "RecordsError",
    "Unit",
    "get_method",
    "run_study",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'skcamel.experiment' has no attribute {name!r}")
    return getattr(import_module(f"skcamel.experiment.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
