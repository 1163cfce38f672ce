"""Published tables to compare a study with: the paper's, which ships, or one's own from a CSV file."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from skcamel.experiment.paper import (
    METHOD_TITLES,
    SEVEN,
    Key,
    Metric,
    PaperFigure,
    paper_figures,
    thousandths,
)

COLUMNS = ("method", "dataset", "metric", "mean")  # and std, where it is known
MOST = 1e6  # of a mean; more is a slip of the keyboard


@dataclass(frozen=True)
class Published:
    """Figures that somebody printed.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► mean, std and whether it is bold.
    name : str, default="paper"
        What tables call it, after "the".
    """

    figures: Mapping[Key, PaperFigure]
    name: str = "paper"

    @property
    def short(self) -> str:
        """One word for it."""
        return self.name.split()[0]

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """In the order of the table."""
        return tuple(dict.fromkeys(dataset for dataset, *_ in self.figures))

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """In the order of the table."""
        return tuple(dict.fromkeys(method for *_, method in self.figures))

    def best(
        self, dataset: str, metric: str, measure: Metric
    ) -> tuple[PaperFigure, tuple[str, ...]] | None:
        """The best figure of any method, the smallest std among equal means, and the methods that have it; None without any.

        >>> paper_table().best("yeast", "one_error", SEVEN["one_error"])
        (PaperFigure(mean=0.218, std=0.027, bold=True), ('camel',))
        """
        found = {
            name: cell
            for name in self.methods
            if (cell := self.figures.get((dataset, metric, name))) is not None
        }
        if not found:
            return None
        top = max(measure.gain(cell.mean, 0.0) for cell in found.values())
        leaders = {
            name: cell for name, cell in found.items() if measure.gain(cell.mean, 0.0) == top
        }
        return min(
            leaders.values(), key=lambda cell: math.inf if math.isnan(cell.std) else cell.std
        ), tuple(leaders)


@cache
def paper_table() -> Published:
    """Tables 2 and 3 of the paper."""
    return Published(paper_figures())


def read_published(
    path: str | os.PathLike[str], measures: Mapping[str, Metric] = SEVEN
) -> Published:
    r"""Read a table of published figures.

    Parameters
    ----------
    path : str or path
        A CSV file with the columns method, dataset, metric, mean and, where it is known, std. Other
        columns do not matter, so that
        what ``skcamel tables --form csv`` writes can be read too.
    measures : mapping
        Metrics of the study, by name: their titles are understood too ("Hamming loss"), and their
        direction decides what is bold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("method,dataset,metric,mean,std\nBR,yeast,Hamming loss,0.2,0.01\n")
    ...     read_published(path).figures
    {('yeast', 'hamming_loss', 'br'): PaperFigure(mean=0.2, std=0.01, bold=True)}
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text; save it as a CSV file in UTF-8.") from error
    figures: dict[Key, PaperFigure] = {}
    for where, row in _csv_rows(path, text):
        key, figure = _figure(where, row, measures)
        if key in figures:
            raise ValueError(
                f"{where}: {key[2]} on {key[0]} has a second figure for {key[1]}; keep one of them."
            )
        figures[key] = figure
    if not figures:
        raise ValueError(
            f"{path} holds no figure; it needs the columns {', '.join(COLUMNS)} and a line for each"
            " figure."
        )
    return Published(_with_bold(figures, measures), f"table {path.name}")


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows with the lines on which they end."""
    lines = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        lines.fieldnames = [name.strip().lower() for name in lines.fieldnames or ()]
        if missing := [name for name in COLUMNS if name not in lines.fieldnames]:
            raise ValueError(
                f"{path}, line 1: the column {missing[0]} is missing; the head must name"
                f" {', '.join(COLUMNS)} and may name std."
            )
        for row in lines:
            where = f"{path}, line {lines.line_num}"
            if None in row:
                raise ValueError(
                    f"{where}: more cells than the head has names; put text with commas into"
                    " quotes."
                )
            yield where, row
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {lines.reader.line_num}: {error}; put text with commas or quotes into"
            " quotes."
        ) from error


def _figure(
    where: str, row: Mapping[str, Any], measures: Mapping[str, Metric]
) -> tuple[Key, PaperFigure]:
    words = {}
    for name in COLUMNS[:3]:
        words[name] = str(row.get(name) or "").strip()
        if not words[name]:
            raise ValueError(
                f"{where}: {name} is missing; every figure needs {', '.join(COLUMNS)}."
            )
    mean, std = (_number(where, name, row.get(name)) for name in ("mean", "std"))
    if math.isnan(mean):
        raise ValueError(f"{where}: mean is missing; leave out a figure that is not known.")
    if std < 0:
        raise ValueError(f"{where}: std is {std:g}; it cannot be negative.")
    titles = {measure.title.lower(): name for name, measure in measures.items()}
    methods = {title.lower(): name for name, title in METHOD_TITLES.items()}
    metric = titles.get(words["metric"].lower(), words["metric"])
    return (
        words["dataset"],
        metric,
        methods.get(words["method"].lower(), words["method"]),
    ), PaperFigure(mean, std, bold=False)


def _number(where: str, name: str, value: Any) -> float:
    """A finite number; NaN where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) <= MOST:
        raise ValueError(
            f"{where}: {name} is {value!r}; it must be a number with a point, as 0.123."
        )
    return number


def _with_bold(
    figures: Mapping[Key, PaperFigure], measures: Mapping[str, Metric]
) -> dict[Key, PaperFigure]:
    """Bold where no method is better, at three decimals, as our own tables have it."""
    best: dict[tuple[str, str], float] = {}
    for (dataset, metric, _), cell in _known(figures, measures):
        best[dataset, metric] = max(
            best.get((dataset, metric), -math.inf), measures[metric].gain(thousandths(cell.mean), 0)
        )
    bold = {
        key
        for key, cell in _known(figures, measures)
        if measures[key[1]].gain(thousandths(cell.mean), 0) == best[key[:2]]
    }
    return {key: cell._replace(bold=key in bold) for key, cell in figures.items()}


def _known(
    figures: Mapping[Key, PaperFigure], measures: Mapping[str, Metric]
) -> Iterable[tuple[Key, PaperFigure]]:
    return ((key, cell) for key, cell in figures.items() if key[1] in measures)
