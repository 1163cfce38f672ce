"""Metrics beside the seven that every record has: those with a name here, and functions of one's own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from skcamel import metrics
from skcamel.experiment.methods import Outcome, imported
from skcamel.experiment.units import BEST, LARGEST, METRIC_NAME, RECORD
from skcamel.gone import hint
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING, TITLES

# names of parameters ► what is handed over; scikit-learn's names among them
PARAMETERS = {
    "Y": "Y",
    "y_true": "Y",
    "scores": "scores",
    "y_score": "scores",
    "decisions": "decisions",
    "P": "decisions",
}
PARAMETERS |= {"y_pred": "decisions"} | dict.fromkeys(
    ("probabilities", "y_prob", "y_proba"), "probabilities"
)


@dataclass(frozen=True)
class Measure:
    """A metric beside the seven.

    Parameters
    ----------
    name, title : str
        In records, and in tables.
    best : {"largest", "smallest"}
    compute : callable
        One number of any of `Y` (m, q), `scores` (m, q), `decisions` (m, q) and `probabilities` (m,
        q), by the names of its
        parameters; those of scikit-learn (`y_true`, `y_score`, `y_pred`, `y_prob`) are understood.
    function : str, default=None
        Where one's own lies, as ``package.module:function``.
    criterion : str, default="average_precision"
        The one of the seven whose model is measured where each has a model of its own.

    Examples
    --------
    >>> Y = np.array([[1, 0], [0, 1]])
    >>> get_measure("auc=sklearn.metrics:roc_auc_score:largest").value(Y, Outcome(Y - 0.5, Y, {}))
    1.0
    """

    name: str
    title: str
    best: str
    compute: Callable[..., float] = field(repr=False)
    function: str | None = None
    criterion: str = "average_precision"

    def value(self, Y: np.ndarray, outcome: Outcome) -> float:
        """The metric of an outcome; NaN where it is undefined, or needs probabilities that the method does not have."""
        parts: dict[str, Any] = {"Y": Y, "scores": outcome.scores, "decisions": outcome.decisions}
        wanted = self.parameters()
        if "probabilities" in wanted.values():
            parts["probabilities"] = outcome.given_probabilities()
            if parts["probabilities"] is None:
                return math.nan
        found = self.compute(**{name: parts[what] for name, what in wanted.items()})
        try:
            number = float(found)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"The metric {self.name} gave {found!r}; it must give one number."
            ) from error
        return number if abs(number) <= LARGEST else math.nan

    def parameters(self) -> dict[str, str]:
        """Which parameters are handed over: name ► what."""
        known = inspect.signature(self.compute).parameters.values()
        return {one.name: PARAMETERS[one.name] for one in known if one.name in PARAMETERS}

    @property
    def spec(self) -> str:
        """How the command line names it."""
        return self.name if self.function is None else f"{self.name}={self.function}:{self.best}"

    def entry(self) -> dict[str, Any]:
        """What ``study.json`` says of it."""
        return {"title": self.title, "best": self.best, "function": self.function}


_ALL = tuple(
    Measure(
        f"{name}_ties_by_index",
        f"{TITLES[name]}, ties by index",
        "smallest" if name in LOSSES else "largest",
        partial(getattr(metrics, name), ties="index"),
        criterion=name,
    )
    for name in RANKING
)
BUILT_IN = {measure.name: measure for measure in _ALL}


def get_measures(specs: Iterable[Any]) -> tuple[Measure, ...]:
    """The metrics beside the seven that a user named or gave; "all" are those with a name.

    >>> [measure.name for measure in get_measures(["coverage", "mine=math:dist:smallest"])]
    Traceback (most recent call last):
    ValueError: mine=math:dist:smallest has the parameter 'p'; a metric is handed Y, scores, decisions and probabilities by these names.
    """
    if isinstance(specs, str):
        raise TypeError(
            f"metrics={specs!r} is one text; give a list of names, as in metrics=[{specs!r}]."
        )
    found: dict[str, Measure] = {}
    for spec in specs:
        if isinstance(spec, str) and spec in NAMES:
            continue  # every record has it
        for measure in _ALL if isinstance(spec, str) and spec == "all" else (get_measure(spec),):
            if found.setdefault(measure.name, measure) != measure:
                raise ValueError(
                    f"metrics has {measure.name!r} twice; records are read by name, give each"
                    " another one."
                )
    return tuple(found.values())


def get_measure(spec: Any) -> Measure:
    """The metric that a user named or gave.

    Parameters
    ----------
    spec : str, (name, function, best) or Measure
        A name of `BUILT_IN`; ``name=package.module:function:largest``, in which the name may be
        left out, and ":largest" or ":smallest"
        where the function has an attribute `best` that says so.

    Examples
    --------
    >>> get_measure("lrap=sklearn.metrics:label_ranking_average_precision_score:largest").best
    'largest'
    """
    if isinstance(spec, Measure):
        return spec
    if isinstance(spec, str):
        if spec in BUILT_IN:
            return BUILT_IN[spec]
        return _named(spec)
    if isinstance(spec, tuple) and len(spec) == 3 and callable(spec[1]):
        name, function, best = spec
        return _own(
            name, function, best, f"{function.__module__}:{function.__qualname__}", str(name)
        )
    raise TypeError(
        "A metric is a name, package.module:function:largest or (name, function, 'largest'), got"
        f" {spec!r}."
    )


def _named(spec: str) -> Measure:
    name, _, path = spec.rpartition("=")
    if why := hint(f"metrics={spec!r}"):
        raise ValueError(why)
    if ":" not in path:
        known = ", ".join(BUILT_IN)
        raise ValueError(
            f"metric={spec!r} is not known; choose of {known}, or give"
            " name=package.module:function:largest."
        )
    place, _, best = path.rpartition(":")
    if ":" not in place:
        place, best = path, ""
    function = imported(place, "package.module:function:largest")
    return _own(
        name or place.rpartition(":")[2],
        function,
        best or getattr(function, "best", ""),
        place,
        spec,
    )


def _own(name: Any, function: Any, best: Any, place: str, spec: str) -> Measure:
    """A function of one's own, refused before any work where it could not be called."""
    if not METRIC_NAME.fits(name) or name in (
        *NAMES,
        *BUILT_IN,
        *(part.removesuffix("?") for part in RECORD),
    ):
        raise ValueError(
            f"A metric cannot be named {name!r}; give it letters, digits and _ , and a name that"
            " records do not use yet."
        )
    if best not in BEST:
        cure = (
            f"write {name}={place}:largest or {name}={place}:smallest, or give the function an"
            " attribute best"
        )
        raise ValueError(
            f"{spec} does not say which values are"
            f" best{f' ({best!r} is no direction)' if best else ''}; {cure}."
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{spec}: {place} is no function that tells its parameters ({error})."
        ) from error
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for one in parameters:
        by_name = one.kind is not inspect.Parameter.POSITIONAL_ONLY and one.name in PARAMETERS
        if not by_name and one.default is inspect.Parameter.empty and one.kind not in kinds:
            raise ValueError(
                f"{spec} has the parameter {one.name!r}; a metric is handed Y, scores, decisions"
                " and probabilities by these names."
            )
    return Measure(name, name.replace("_", " "), best, function, place)


def measures_of(
    Y: np.ndarray, outcomes: Mapping[str, Outcome], measures: Iterable[Measure]
) -> dict[str, float]:
    """Each metric of the only outcome, or of that selected by its criterion."""
    only = next(iter(outcomes)) if len(outcomes) == 1 else None
    return {
        one.name: one.value(Y, outcomes[one.criterion if only is None else only])
        for one in measures
    }
