"""Methods x data sets x folds ► records ► tables and tests: a study that can be resumed."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.experiment.methods import METHODS, Method, get_method
    from skcamel.experiment.published import compare_with_paper, paper_figures
    from skcamel.experiment.records import Records, RecordsError
    from skcamel.experiment.significance import compare_methods
    from skcamel.experiment.study import run_study
    from skcamel.experiment.summary import (
        LARGE,
        METHOD_TITLES,
        REGULAR,
        costs,
        mean_and_std,
        metric_title,
        summarise,
        title_of,
    )
    from skcamel.experiment.tables import result_tables, write_tables

_NAMES = {
    "methods": ("METHODS", "Method", "get_method"),
    "published": ("compare_with_paper", "paper_figures"),
    "records": ("Records", "RecordsError"),
    "significance": ("compare_methods",),
    "study": ("run_study",),
    "summary": (
        *("LARGE", "METHOD_TITLES", "REGULAR", "costs"),
        *("mean_and_std", "metric_title", "summarise", "title_of"),
    ),
    "tables": ("result_tables", "write_tables"),
}
__all__ = [
    "LARGE",
    "METHODS",
    "METHOD_TITLES",
    "REGULAR",
    "Method",
    "Records",
    "RecordsError",
    "compare_methods",
    "compare_with_paper",
    "costs",
    "get_method",
    "mean_and_std",
    "metric_title",
    "paper_figures",
    "result_tables",
    "run_study",
    "summarise",
    "title_of",
    "write_tables",
]

__getattr__, __dir__ = lazily(
    __name__, {name: module for module, names in _NAMES.items() for name in names}
)
