"""Pictures with matplotlib, in the manner of scikit-learn's Display classes: each function returns the axes it drew on."""

from typing import TYPE_CHECKING

from skcamel.lazy import lazily

if TYPE_CHECKING:
    from skcamel.display.collaboration import CollaborationDisplay, plot_collaboration
    from skcamel.display.critical_difference import (
        CriticalDifferenceDisplay,
        plot_critical_difference,
    )
    from skcamel.display.explanation import (
        ColumnsDisplay,
        ExplanationDisplay,
        plot_columns,
        plot_explanation,
    )

# name ► module of this package
_HOME = {
    "CollaborationDisplay": "collaboration",
    "ColumnsDisplay": "explanation",
    "CriticalDifferenceDisplay": "critical_difference",
    "ExplanationDisplay": "explanation",
    "plot_collaboration": "collaboration",
    "plot_columns": "explanation",
    "plot_critical_difference": "critical_difference",
    "plot_explanation": "explanation",
}
__all__ = [
    "CollaborationDisplay",
    "ColumnsDisplay",
    "CriticalDifferenceDisplay",
    "ExplanationDisplay",
    "plot_collaboration",
    "plot_columns",
    "plot_critical_difference",
    "plot_explanation",
]


__getattr__, __dir__ = lazily(__name__, _HOME)
