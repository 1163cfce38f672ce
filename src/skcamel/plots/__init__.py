"""Drawings by matplotlib: every function returns the axes that it drew on."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.plots.labels import plot_collaboration
    from skcamel.plots.quality import plot_quality
    from skcamel.plots.reasons import plot_explanation
    from skcamel.plots.studies import plot_critical_difference

_HOME = {
    "plot_collaboration": "labels",
    "plot_critical_difference": "studies",
    "plot_explanation": "reasons",
    "plot_quality": "quality",
}
__all__ = [
    "plot_collaboration",
    "plot_critical_difference",
    "plot_explanation",
    "plot_quality",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
