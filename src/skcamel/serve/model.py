"""A fitted model as a server sees it: what a request must look like, and the answer to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    FiniteFloat,
    JsonValue,
    create_model,
)
from typing_extensions import TypedDict

from skcamel.arrays import default_names, dense
from skcamel.camel.base import BaseCamel
from skcamel.checks import names_compared
from skcamel.data.columns import Category, Date, Flag, LearnedColumn, LeftOut, Number, Tags
from skcamel.data.matching import expected_by, notes_on, preparer_of
from skcamel.data.pipeline import (
    explained,
    final,
    prepared,
    reasons,
    records,
    transformers,
)

MOST_VALUES = 2_000_000  # numbers in an answer, or to compute for its reasons
MOST_REASONS = 8  # columns, and other labels, that the reasons for a score list


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and how many at once.

    Parameters
    ----------
    body : int, default=16 MiB
        Bytes of a request; more are answered by 413.
    rows : int, default=10 000
        Rows of a request; more are answered by 422.
    seconds : float, default=30
        In which a request must arrive, and for which it may wait until it is computed (503).
    threads : int, default=2
        Longer predictions, and reasons, computed at the same time.
    """

    body: int = 16 * 2**20
    rows: int = 10_000
    seconds: float = 30.0
    threads: int = 2


class Served:
    """A fitted model and all that requests need to know about it.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        Fitted on label matrices.
    name : str
        What it is called on its page.
    limits : Limits, default=Limits()

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> served = Served(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)), "tiny")
    >>> request = served.Request(rows=[{"x1": 1, "x2": 0, "x3": 0, "x4": 0}])
    >>> served.answer(request)["predictions"][0]["labels"]
    ['label1']
    """

    def __init__(self, model: Any, name: str, *, limits: Limits | None = None) -> None:
        self.model = model
        self.name = name
        self.limits = limits or Limits()
        self.estimator: Any = final(model)
        is_ours = isinstance(self.estimator, BaseCamel) and self.estimator._target == "matrix"
        if not is_ours or not hasattr(model, "n_features_in_"):
            raise ValueError(
                "a server needs a CamelClassifier or CamelClassifierCV that was fitted on labels,"
                " alone or behind steps that take numbers or a table; use others from Python."
            )
        self.preparer = preparer_of(model)
        self.labels = [str(label) for label in self.estimator.label_names_]
        self.columns = columns_of(model)
        self.example = {column["name"]: column["typical"] for column in self.columns}
        n_fitted = sum(len(member.dual_coef_) for _, member in self.estimator.weighted_members())
        self.n_compared = n_fitted * self.estimator.n_features_in_
        self.Request: Any = self._request_type()
        self.answer(self.Request(rows=[self.example]))  # fails here rather than for a client

    def _request_type(self) -> type[BaseModel]:
        """The type of a request, by which pydantic checks it."""
        cell = FiniteFloat if self.preparer is None else JsonValue  # which a preparer reads
        row: Any = TypedDict("Row", dict.fromkeys(self.example, cell))  # pyrefly: ignore
        row.__pydantic_config__ = ConfigDict(extra="ignore")
        rows = Field(min_length=1, max_length=self.limits.rows, examples=[[self.example]])
        return create_model(
            "Request",
            __config__=ConfigDict(extra="forbid"),
            rows=(Annotated[list[row], FailFast()], rows),
            confidence=(float | None, Field(None, gt=0, le=1)),
            explain=(bool, False),
        )

    def facts(self) -> dict[str, Any]:
        """What GET /model answers."""
        model = self.estimator
        thresholds = getattr(model, "probability_thresholds_", model.thresholds_).tolist()
        return {
            "name": self.name,
            "labels": self.labels,
            "thresholds": dict(zip(self.labels, thresholds, strict=True)),
            "columns": self.columns,
            "takes_missing": self.preparer is not None,
            "example": self.example,
        }

    def answer(self, request: Any) -> dict[str, Any]:
        """Predictions, and notes on how the rows differ from those of the fit.

        Parameters
        ----------
        request : instance of `Request`
        """
        n = len(request.rows)
        q = len(self.labels)
        width = max(len(self.columns), q) if request.explain else 3
        n_values = n * q * width
        if n_values > MOST_VALUES:
            raise ValueError(
                f"{n:,} rows would take {n_values:,} numbers, at most {MOST_VALUES:,} are"
                " computed; send fewer rows in each request."
            )
        X, notes = self._rows(request.rows)
        with names_compared(), np.errstate(all="ignore"):
            outputs = self.estimator.outputs(X)
        kinds = ["scores"] if outputs.link is None else ["scores", "probabilities"]
        sets = None
        if request.confidence is not None:
            if isinstance(outputs.set_thresholds, str):
                raise ValueError(f"{outputs.set_thresholds} Leave out 'confidence'.")
            sets = outputs.sets(request.confidence)
        predictions = list(records(outputs, kinds, sets))
        if request.explain:
            notes += self._add_reasons(predictions, X)
        return {"model": self.name, "predictions": predictions, "notes": notes}

    def _rows(self, rows: list[dict[str, Any]]) -> tuple[Any, list[str]]:
        """Rows as the final estimator takes them, and notes."""
        if self.preparer is None:
            X = np.array([[row[name] for name in self.example] for row in rows])
            return prepared(self.model, X), []
        table = {name: np.fromiter((row[name] for row in rows), object) for name in self.example}
        X, differences = self.preparer.transform_with_differences(table)
        for step in transformers(self.model)[1:]:
            X = step.transform(X)
        return X, notes_on(differences)

    def _add_reasons(self, predictions: list[dict[str, Any]], X: Any) -> list[str]:
        """Add to each prediction why its labels have their scores; notes."""
        with names_compared():
            found, note = explained(self.model, X)
        for r, prediction in enumerate(predictions):
            prediction["reasons"] = [
                reasons(found, r, j, MOST_REASONS) for j in range(len(self.labels))
            ]
        return [note] if note else []


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
        return {"typical": str(np.datetime64(int(part.median), "s")).replace("T", " ")}
    if isinstance(part, Flag):
        return {"typical": part.yes if mean[0] > 0.5 else part.no, "choices": [part.yes, part.no]}
    names = getattr(part, "values", getattr(part, "words", ()))
    typical = names[mean[: len(names)].argmax()] if names else None
    if isinstance(part, Category):
        return {"typical": typical, "choices": names, "several": isinstance(part, Tags)}
    return {"typical": typical}  # of a text, its most frequent word


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
