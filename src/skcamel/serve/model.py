"""A fitted model as a server sees it: what its columns hold, what may be asked, and the answer to a request."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np

import skcamel
from skcamel import memory
from skcamel.arrays import default_names
from skcamel.camel.base import OverflowedRowError
from skcamel.checks import names_compared
from skcamel.data.parts import Category, Flag, LeftOut, Moment, Number, Part, Tags
from skcamel.data.text import shortened
from skcamel.matching import expected_by, preparer_of
from skcamel.pipeline import final, source_names
from skcamel.predictions import Predictions, explained, reasons, worth_showing
from skcamel.serve.limits import Limits, RequestError
from skcamel.serve.rows import NewRows, Reader, parsed

LEVELS = (0.05, 0.95)  # shares of the training rows that `low` and `high` of a column stand for
MOST_VALUES = 4_000_000  # numbers in an answer, and in the reasons for it
VALUE_BYTES = 150  # of a number in an answer: as an object, with its name, and as text
SMALL = 2**26  # bytes; to ask for free memory takes longer than to answer a few rows
SHOWN_DIGITS = 4  # of typical values
WRITTEN = {
    "year first": "%Y-%m-%d",
    "month first": "%m/%d/%Y",
    "day first": "%d/%m/%Y",
    "day, name of the month": "%d %B %Y",
    "name of the month, day": "%B %d, %Y",
}


@dataclass(frozen=True)
class Asked:
    """What a request wants to know of its rows.

    Parameters
    ----------
    scores, decisions : bool, default=True, False
    probabilities : bool, default=None
        None: where the model has them.
    confidence : float in (0, 1], default=None
        Also yes, no or open for every label, at this confidence.
    reasons : bool, default=False
        Why: what each column and each other label adds.
    labels : tuple of str, default=()
        Labels to give reasons for; by default those predicted.
    top : int, default=5
        How many columns and pushes of other labels to list.

    Examples
    --------
    >>> Asked.of({"confidence": "0.9", "reasons": "true", "labels": ["sea"]})
    Asked(scores=True, decisions=False, probabilities=None, confidence=0.9, reasons=True, labels=('sea',), top=5)
    """

    scores: bool = True
    decisions: bool = False
    probabilities: bool | None = None
    confidence: float | None = None
    reasons: bool = False
    labels: tuple[str, ...] = ()
    top: int = 5

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Asked:
        """From the members of a JSON object, or from text as in an address; RequestError where something is unknown or wrong."""
        known = {field.name for field in fields(cls)}
        if unknown := [name for name in given if name not in known]:
            raise RequestError(
                422,
                f"{unknown[0][:60]!r} cannot be asked for; known are rows,"
                f" {', '.join(sorted(known))}.",
            )
        read: dict[str, Callable[[Any, str], Any]] = {
            "confidence": _share,
            "labels": _names,
            "top": _count,
        }
        found: dict[str, Any] = {
            name: read.get(name, _flag)(value, name)
            for name, value in given.items()
            if value is not None
        }
        return cls(**found)


def _flag(value: Any, name: str) -> bool:
    words = {True: True, False: False, "true": True, "false": False, "1": True, "0": False}
    if not isinstance(value, (bool, str)) or value not in words:
        raise RequestError(422, f"{name} must be true or false, got {str(value)[:40]!r}.")
    return words[value]


def _share(value: Any, name: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number <= 1:
        raise RequestError(
            422,
            f"{name} must be a number above 0 and at most 1, such as 0.9, got {str(value)[:40]!r}.",
        )
    return number


def _count(value: Any, name: str) -> int:
    text = str(value)
    if (
        isinstance(value, (bool, float))
        or not text.isascii()
        or not text.isdecimal()
        or len(text) > 6
    ):
        raise RequestError(
            422, f"{name} must be a whole number from 0 to 999999, got {text[:40]!r}."
        )
    return int(text)


def _names(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RequestError(
            422, f"{name} must be a list of names of labels, got {str(value)[:40]!r}."
        )
    return tuple(value)


class Served:
    """A fitted model and all that requests need to know about it, found out once.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
        Fitted on label matrices.
    name : str
        What it is called on its page.
    limits : Limits, default=Limits()
    allow_missing : bool, default=False
        Whether requests may lack columns of a table, which then hold gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> served = Served(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)), "tiny")
    >>> served.answer(b'{"rows": [[1, 0, 0, 0]], "scores": false, "probabilities": false}', "json", {})["predictions"]
    [{'row': 1, 'labels': ['label1']}]
    """

    def __init__(
        self, model: Any, name: str, *, limits: Limits | None = None, allow_missing: bool = False
    ) -> None:
        self.model, self.name, self.limits = model, name, limits or Limits()
        self.estimator: Any = final(model)
        if self.estimator._target != "matrix":
            raise ValueError(
                "this model was fitted on one column of classes, not on labels; use it from Python."
            )
        try:
            expected, preparer = expected_by(model), preparer_of(model)
        except AttributeError:
            raise ValueError(
                "the first step of this Pipeline does not tell its columns; begin with a"
                " TablePreparer, or take numbers."
            ) from None
        names = expected.columns() or default_names("x", expected.n_features)
        self.reader = Reader(
            model, preparer, expected, tuple(names), self.limits.rows, allow_missing
        )
        self.labels: dict[str, int] = {}
        for j, label in enumerate(expected.labels):
            self.labels.setdefault(label, j)  # of equal names the first
        self.columns = self._columns()
        self.has_probabilities = hasattr(self.estimator, "predict_proba")
        outputs = self._outputs(
            self.reader.json([self.example()]).X
        )  # whatever it loads or fails at, it does now
        self.has_sets = not isinstance(outputs.set_thresholds, str)

    def _columns(self) -> list[dict[str, Any]]:
        preparer, expected = self.reader.preparer, self.reader.expected
        if preparer is not None:
            return [_of_part(part) for part in preparer.parts_ if not isinstance(part, LeftOut)]
        columns: list[dict[str, Any]] = []
        for name in self.reader.names:
            if name in expected.categories:
                columns.append(
                    {
                        "name": name,
                        "kind": "category",
                        "choices": list(expected.categories[name]),
                        "gaps": False,
                    }
                )
            else:
                columns.append({"name": name, "kind": "number", "gaps": False, "typical": 0.0})
        return columns

    def example(self) -> dict[str, Any]:
        """A row of typical values; gaps where the model takes them, else the first choice."""
        return {
            column["name"]: column.get(
                "typical", None if column["gaps"] else next(iter(column.get("choices", [0])))
            )
            for column in self.columns
        }

    def facts(self) -> dict[str, Any]:
        """What GET /model answers."""
        return {
            "name": self.name,
            "estimator": type(self.estimator).__name__,
            "skcamel": skcamel.__version__,
            "labels": list(self.reader.expected.labels),
            "columns": self.columns,
            "example": self.example(),
            "answers": {"probabilities": self.has_probabilities, "sets": self.has_sets},
            "limits": {
                "body": self.limits.body,
                "rows": self.limits.rows,
                "seconds": self.limits.seconds,
                "requests": self.limits.requests,
            },
        }

    def answer(self, body: bytes, form: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a request is told.

        Parameters
        ----------
        body : bytes
        form : {"json", "csv"}
        options : mapping
            From the address of the request; those of a JSON body count more.
        """
        given = parsed(body) if form == "json" else {}
        asked = Asked.of(
            {**options, **{key: value for key, value in given.items() if key != "rows"}}
        )
        self._check(asked)
        rows = self.reader.json(given.get("rows")) if form == "json" else self.reader.csv(body)
        with np.errstate(all="ignore"):  # of numbers near the largest; what comes out is looked at
            return self._told(rows, asked)

    def _check(self, asked: Asked) -> None:
        """Refuse what this model cannot tell."""
        name = type(self.estimator).__name__
        if asked.probabilities and not self.has_probabilities:
            raise RequestError(
                422, f"{name} has scores but no probabilities; leave out 'probabilities'."
            )
        if asked.confidence is not None and not self.has_sets:
            raise RequestError(422, f"this {name} has no prediction sets; leave out 'confidence'.")
        if unknown := [label for label in asked.labels if label not in self.labels]:
            raise RequestError(
                422,
                f"the model has no label {unknown[0][:60]!r}; it has"
                f" {shortened([*self.labels], 12)}.",
            )

    def _outputs(self, X: Any) -> Any:
        with names_compared():
            try:
                return self.estimator.outputs(X)
            except OverflowedRowError as error:
                raise RequestError(
                    422,
                    f"the scores of row {error.row + 1} are not finite; a value in it is too"
                    " large.",
                ) from error

    def _told(self, rows: NewRows, asked: Asked) -> dict[str, Any]:
        kinds = {
            "scores": asked.scores,
            "decisions": asked.decisions,
            "probabilities": self.has_probabilities and asked.probabilities is not False,
        }
        n, q = rows.X.shape[0], len(self.reader.expected.labels)
        values = n * q * (sum(kinds.values()) + (asked.confidence is not None))
        _check_size(
            values, "numbers in the answer", "send fewer rows, or leave out scores or probabilities"
        )
        outputs = self._outputs(rows.X)
        sets = None if asked.confidence is None else outputs.sets(asked.confidence)
        predictions = list(
            Predictions.of(
                outputs, [kind for kind, wanted in kinds.items() if wanted], sets, rows.ids
            ).records()
        )
        notes = list(rows.notes)
        if asked.reasons:
            notes += self._add_reasons(predictions, rows.X, asked)
        return {"model": self.name, "predictions": predictions, "notes": notes}

    def _add_reasons(self, predictions: list[dict[str, Any]], X: Any, asked: Asked) -> list[str]:
        q, width = (
            len(self.reader.expected.labels),
            max(len(self.reader.names), len(self.reader.expected.labels)),
        )
        _check_size(
            X.shape[0] * q * width,
            "numbers to give reasons",
            "ask for reasons of fewer rows at a time",
        )
        with names_compared():
            found, why = explained(
                self.estimator,
                X,
                None if self.model is self.estimator else source_names(self.model),
            )
        wanted = [self.labels[label] for label in asked.labels]
        for r, told in enumerate(predictions):
            told["reasons"] = [
                reasons(found, r, j, asked.top) for j in wanted or worth_showing(found, r)
            ]
        return [why] if why else []


def _check_size(values: int, what: str, cure: str) -> None:
    if values > MOST_VALUES:
        raise RequestError(
            422, f"these are {values:,} {what}, at most {MOST_VALUES:,} are computed; {cure}."
        )
    if VALUE_BYTES * values > SMALL:
        memory.require(VALUE_BYTES * values, f"{values:,} {what}", f"Later it may work; or {cure}.")


def _shortly(value: float) -> float:
    return float(f"{value:.{SHOWN_DIGITS}g}")


def _of_part(part: Part) -> dict[str, Any]:
    """What a column of a table holds, and what is typical for it."""
    told: dict[str, Any] = {"name": part.name, "kind": part.kind, "gaps": True}
    if isinstance(part, Number):
        told["typical"] = _shortly(part.median)
        if part.steps is not None:
            low, high = np.interp(LEVELS, part.steps.levels, part.steps.knots)
            if np.isfinite([low, high]).all() and _shortly(low) < _shortly(high):
                told |= {"low": _shortly(low), "high": _shortly(high)}
        if part.unit:
            told["unit"] = part.unit
        return told
    if isinstance(part, Flag):
        return told | {"choices": [part.yes, part.no]} | {"typical": None if part.gaps else part.no}
    if isinstance(part, Moment):
        return told | {"typical": _written(part), "order": part.order}
    if isinstance(part, Category):
        if isinstance(part, Tags):
            return told | {"choices": list(part.values), "several": True}
        return told | {
            "choices": list(part.values),
            "typical": part.values[0] if part.values and not part.gaps else None,
        }
    return told


def _written(part: Moment) -> str:
    """The median of a column of dates, in the order in which its dates are written."""
    moment = np.datetime64(part.middle, "s").astype(datetime)
    if part.order == "time of day":
        return moment.strftime("%H:%M")
    return moment.strftime(WRITTEN[part.order] + " %H:%M" * ("hour" in part.cycles))
