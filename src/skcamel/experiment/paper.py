"""What the paper prints: its Tables 1 to 3 and the counts it states, from ``paper_tables.json``; names and figures as it writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, Protocol

from skcamel import presets
from skcamel.metrics.conventions import LOSSES, NAMES, TITLES

PRESETS = tuple(presets.PRESETS)
METHOD_TITLES = {
    "camel": "CAMEL",
    "br": "BR",
    "ecc": "ECC",
    "rakel": "RAkEL",
    "llsf": "LLSF",
    "jfsc": "JFSC",
}
PAPER_METHODS = tuple(METHOD_TITLES)
METHOD_TITLES |= {name: name for name in ("extra-trees", "random-forest", "logistic", "svc")}
# The order of methods in tables; one of them is that of a study in this repository
TITLES_IN_ORDER = (
    {name: METHOD_TITLES[name] for name in PAPER_METHODS} | {"imcc": "IMCC"} | METHOD_TITLES
)
REGULAR = (
    "cal500",
    "emotions",
    "genbase",
    "medical",
    "enron",
    "image",
    "scene",
    "yeast",
)  # Table 2
LARGE = (
    "science",
    "arts",
    "rcv1-s1",
    "rcv1-s2",
    "rcv1-s3",
    "rcv1-s4",
    "rcv1-s5",
    "business",
)  # Table 3, in its order

Key = tuple[str, str, str]  # data set, metric, method


class HasMean(Protocol):
    """A cell of a table of results, ours or the paper's."""

    @property
    def mean(self) -> float:
        """Mean over folds."""
        ...


class PaperFigure(NamedTuple):
    """One cell of Table 2 or 3, or of another published table."""

    mean: float
    std: float  # NaN where none is printed
    bold: bool


class Metric(NamedTuple):
    """A metric as tables show it: its name in words, and which of its values is best.

    >>> Metric("Coverage", "smallest").heading, Metric("Coverage", "smallest").gain(0.25, 0.5)
    ('Coverage ↓', 0.25)
    """

    title: str
    best: str  # "largest" or "smallest"

    @property
    def heading(self) -> str:
        """Title and direction."""
        return f"{self.title} {'↓' if self.best == 'smallest' else '↑'}"

    def gain(self, value: float, reference: float) -> float:
        """How much better `value` is than `reference`: positive is better, for losses and for scores."""
        return reference - value if self.best == "smallest" else value - reference


SEVEN = {
    name: Metric(title, "smallest" if name in LOSSES else "largest")
    for name, title in TITLES.items()
}


class Size(NamedTuple):
    """One row of Table 1."""

    n: int
    d: int
    q: int
    cardinality: float
    features: str  # "numeric" or "nominal"


@cache
def printed() -> dict[str, Any]:
    """All that ``paper_tables.json`` holds: "table1", the cells of "regular" and "large", and "claims", the counts of the discussion."""
    return json.loads(
        resources.files("skcamel.experiment")
        .joinpath("paper_tables.json")
        .read_text(encoding="utf-8")
    )


@cache
def paper_figures() -> Mapping[Key, PaperFigure]:
    """All cells of Tables 2 and 3: (data set, metric, method) ► mean, std and whether it is bold.

    >>> len(paper_figures()) == 16 * 7 * 6
    True
    """
    return {
        (dataset, metric, method): PaperFigure(*cell)
        for part in ("regular", "large")
        for dataset, metrics in printed()[part].items()
        for metric, methods in metrics.items()
        for method, cell in methods.items()
    }


def paper_cell(dataset: str, metric: str, method: str) -> PaperFigure:
    """One cell of Table 2 or 3.

    Parameters
    ----------
    dataset : str
        One of the sixteen sets.
    metric : str
        One of `skcamel.metrics.NAMES`.
    method : str
        One of `PAPER_METHODS`.

    Examples
    --------
    >>> paper_cell("science", "macro_f1", "camel")
    PaperFigure(mean=0.31, std=0.038, bold=True)
    """
    known = {"data set": REGULAR + LARGE, "metric": NAMES, "method": PAPER_METHODS}
    for value, (what, names) in zip((dataset, metric, method), known.items(), strict=True):
        if value not in names:
            raise KeyError(f"The paper has no {what} {value!r}; it has {', '.join(names)}.")
    return paper_figures()[dataset, metric, method]


def paper_table1() -> Mapping[str, Size]:
    """Sizes that Table 1 prints, in its order.

    >>> paper_table1()["scene"]
    Size(n=2407, d=294, q=5, cardinality=1.07, features='numeric')
    """
    return {name: Size(**row) for name, row in printed()["table1"].items()}


def title_of(method: str) -> str:
    """Name to show for a method, or for a method under one of several presets.

    >>> title_of("rakel"), title_of("camel[best]"), title_of("knn[5]")
    ('RAkEL', 'CAMEL (best)', 'knn[5]')
    """
    name, preset = method_and_preset(method)
    return TITLES_IN_ORDER.get(name, name) + (f" ({preset})" if preset else "")


def method_and_preset(method: str) -> tuple[str, str]:
    """Split what a summary calls a method: its name, and the preset where it has several (else "").

    >>> method_and_preset("camel[best]"), method_and_preset("knn[5]")
    (('camel', 'best'), ('knn[5]', ''))
    """
    name, _, preset = method.removesuffix("]").rpartition("[")
    return (name, preset) if preset in PRESETS and method.endswith("]") else (method, "")


def metric_title(metric: str) -> str:
    """Name and direction of a metric as the paper's tables print them.

    >>> metric_title("coverage"), metric_title("micro_f1")
    ('Coverage ↓', 'Micro-averaging F1 ↑')
    """
    return SEVEN[metric].heading


def rounded(value: float, digits: int = 3) -> str:
    """A figure as every table, page and command prints it: the nearest decimal, rounded once, never minus zero.

    >>> rounded(0.0125), rounded(-0.0004), rounded(1.249, 2)
    ('0.013', '0.000', '1.25')
    """
    text = f"{value:.{digits}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def thousandths(value: float) -> int:
    """A figure in whole thousandths, for comparing: two are equal exactly where :func:`rounded` prints them alike.

    >>> thousandths(0.3124), thousandths(0.0125), thousandths(0.1 + 0.2) == thousandths(0.3)
    (312, 13, True)
    """
    return int(rounded(value).replace(".", ""))


def mean_and_std(mean: float, std: float) -> str:
    """A cell of the tables; one fold has no std.

    >>> mean_and_std(0.3124, 0.01), mean_and_std(0.3124, float("nan"))
    ('0.312±0.010', '0.312')
    """
    return rounded(mean) if math.isnan(std) else f"{rounded(mean)}±{rounded(std)}"
