"""Methods x data sets x folds ► records ► tables, counts and tests: a study that can be stopped, resumed and compared."""

from typing import TYPE_CHECKING

from skcamel.lazy import lazily

if TYPE_CHECKING:
    from skcamel.experiment.comparison import compare_with_paper, recount_claims
    from skcamel.experiment.forms import write_tables
    from skcamel.experiment.measures import Measure, get_measure
    from skcamel.experiment.methods import (
        METHOD_TITLES,
        EstimatorMethod,
        Fitted,
        Method,
        Outcome,
        get_method,
    )
    from skcamel.experiment.paper import paper_cell
    from skcamel.experiment.published import read_published
    from skcamel.experiment.records import Records
    from skcamel.experiment.significance import compare_methods
    from skcamel.experiment.study import run_study
    from skcamel.experiment.summary import summarise
    from skcamel.experiment.tables import result_tables
    from skcamel.experiment.units import RecordsError, Unit

_NAMES = {
    "comparison": ("compare_with_paper", "recount_claims"),
    "measures": ("Measure", "get_measure"),
    "forms": ("write_tables",),
    "methods": ("METHOD_TITLES", "EstimatorMethod", "Fitted", "Method", "Outcome", "get_method"),
    "paper": ("paper_cell",),
    "published": ("read_published",),
    "records": ("Records",),
    "study": ("run_study",),
    "significance": ("compare_methods",),
    "summary": ("summarise",),
    "tables": ("result_tables",),
    "units": ("RecordsError", "Unit"),
}
__all__ = [
    "METHOD_TITLES",
    "EstimatorMethod",
    "Fitted",
    "Measure",
    "Method",
    "Outcome",
    "Records",
    "RecordsError",
    "Unit",
    "compare_methods",
    "compare_with_paper",
    "get_measure",
    "get_method",
    "paper_cell",
    "read_published",
    "recount_claims",
    "result_tables",
    "run_study",
    "summarise",
    "write_tables",
]

__getattr__, __dir__ = lazily(
    __name__, {name: module for module, names in _NAMES.items() for name in names}
)
