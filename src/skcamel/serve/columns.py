"""What the columns of a model hold, a typical value for each, and the type of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import ConfigDict, FiniteFloat, JsonValue
from typing_extensions import TypedDict

from skcamel.arrays import default_names, dense
from skcamel.data.columns import Category, Date, Flag, LearnedColumn, LeftOut, Number, Tags
from skcamel.data.matching import expected_by, preparer_of
from skcamel.data.pipeline import final


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Name, kind, typical value and choices of each column that a fitted model takes.

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> X = np.array([[1.0, 5.0], [3.0, 6.0]])
    >>> columns_of(CamelClassifier().fit(X, np.eye(2, dtype=int)))[1]
    {'name': 'x2', 'kind': 'number', 'typical': 5.5}
    """
    estimator = final(model)
    preparer = preparer_of(model)
    mean = mean_row(estimator)
    if preparer is not None:
        parts = [part for part in preparer.columns_ if not isinstance(part, LeftOut)]
        sources = preparer.source_columns_
        return [
            {"name": part.name, "kind": part.kind} | _details(part, mean[sources == part.name])
            for part in parts
        ]
    expected = expected_by(model)
    names = expected.features or default_names("x", expected.n_features)
    typical = mean if model is estimator else np.zeros(len(names))
    return [
        {"name": str(name), "kind": "number", "typical": _rounded(value)}
        for name, value in zip(names, typical, strict=True)
    ]


def mean_row(estimator: Any) -> np.ndarray:
    """Mean of the rows that a fitted model holds, before its scaling, (d,); zeros without any."""
    _, member = estimator.weighted_members()[0]
    scaling = member._scaling
    ranks = scaling.ranks
    if ranks is not None:
        starts = np.append(0, ranks.ends[:-1])
        return ranks.knots[(starts + ranks.ends) // 2]  # the middle of each column
    mean = np.zeros(estimator.n_features_in_)
    if member.X_fit_ is not None:
        mean = dense(member.X_fit_).mean(axis=0)
    if scaling.scale is not None:
        mean = mean * scaling.scale
    return mean if scaling.shift is None else mean + scaling.shift


def _details(part: LearnedColumn, mean: np.ndarray) -> dict[str, Any]:
    """What a column holds, and what is typical for it; `mean` is that of its prepared columns."""
    if isinstance(part, Number):
        return {"typical": _rounded(part.median), "unit": part.unit}
    if isinstance(part, Date):
        day, clock = str(np.datetime64(part.median, "s")).split("T")
        return {"typical": f"{day} {clock}" if part.ranks is not None else clock}
    if isinstance(part, Flag):
        return {"typical": part.yes if mean[0] > 0.5 else part.no, "choices": [part.yes, part.no]}
    names = getattr(part, "values", getattr(part, "words", ()))
    typical = names[mean[: len(names)].argmax()] if names else None
    if isinstance(part, Category):
        return {"typical": typical, "choices": names, "several": isinstance(part, Tags)}
    return {"typical": typical}  # of a text, its most frequent word


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def row_type(columns: list[dict[str, Any]], *, is_table: bool) -> Any:
    """The type of a row: an object with a cell for each column; others are ignored.

    Parameters
    ----------
    columns : list of dict
    is_table : bool
        Whether a TablePreparer reads the cells; otherwise each is a finite number.
    """
    cell = JsonValue if is_table else FiniteFloat
    fields = {column["name"]: cell for column in columns}
    row: Any = TypedDict("Row", fields)  # pyrefly: ignore (of this model)
    row.__pydantic_config__ = ConfigDict(extra="ignore")
    return row
