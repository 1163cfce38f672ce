"""What the pages say: facts of a model, of a model on a data set, and of a study."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import column_names
from skcamel.camel.explanation import LEARNED, evidence, training_size
from skcamel.camel.outputs import Outputs
from skcamel.data.dataset import (
    Dataset,
    as_features,
    as_indicators,
    check_same_rows,
    unknown_entries,
)
from skcamel.data.pipeline import final, prepared, source_names, transformers
from skcamel.experiment.published import paper_figures
from skcamel.experiment.records import Records
from skcamel.experiment.significance import Significance, compare_by_metric
from skcamel.experiment.summary import (
    Cost,
    Record,
    Summary,
    base_of,
    costs,
    summarise,
    title_of,
)
from skcamel.metrics import evaluate
from skcamel.metrics.conventions import NAMES

AS_RECORDED = ""
CHOICES = {AS_RECORDED: "as each preset defines it"}


def chosen(model: Any, name: str) -> Any:
    """A hyper-parameter as it was used: what a search chose, or what the model was given."""
    return getattr(model, f"{name}_" if hasattr(model, f"{name}_") else name)


class ModelFacts:
    """What a page says of a fitted model, or of the model in which a fitted Pipeline ends.

    Attributes
    ----------
    model : the estimator
    steps : transformers before it, where it ends a Pipeline
    sources : for each of its input columns the name of the column that it was made from, where that
    is known
    names : label names, as text
    members : weights and models whose scores add up; the model itself where nothing is combined
    is_combined : whether these are several
    n_train : number of training rows, by weight if they were summed up
    n_kept : number of rows, landmarks or columns that the model has coefficients for; the most of
    any member
    summed : these in words, if rows were summed up; else empty
    alpha : degree of collaboration; of a combined model the weighted mean of its members'
    scales : by which the scores of the members are multiplied, (q,)
    is_linked : whether scores are log-odds
    S : label correlation, (q, q)
    learned : what S was learned from, in words that follow "learned"
    evidence : what the training rows show about pairs of labels
    has_pushes : whether any label pushes another
    """

    def __init__(self, model: Any) -> None:
        self.steps, self.sources = transformers(model), source_names(model)
        self.model: Any = final(model)
        model = self.model
        self.names = [str(name) for name in model.label_names_]
        self.members: list[tuple[float, Any]] = model.weighted_members()
        self.is_combined = hasattr(model, "members_")
        self.n_train, self.summed = training_size(model)
        self.n_kept = max(len(member.dual_coef_) for _, member in self.members)
        weights, alphas = zip(
            *((weight, chosen(member, "alpha")) for weight, member in self.members), strict=True
        )
        self.is_linked = model.scores == "log_odds" and hasattr(model, "link_slopes_")
        self.scales = model.link_slopes_ if self.is_linked else np.ones(len(self.names))
        self.alpha = float(np.average(alphas, weights=weights))
        self.S: np.ndarray = model.label_correlation_
        self.learned = LEARNED[model.correlation]
        self.evidence = evidence(model)
        self.has_pushes = self.alpha > 0 and bool(self.S.any())

    def deviations(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """f(x) - f̄ as it counts for a label itself, with 1 - α, and as it pushes others, with α s; (m, q) each, one where they agree.

        The first is scaled as the scores of the label are; of what pushes others, the label that is
        pushed decides about the scale.
        """
        if not self.is_combined and not self.is_linked:
            own = self.model.deviations(X)
            return own, own
        parts = [
            (weight, float(chosen(member, "alpha")), member.deviations(X))
            for weight, member in self.members
        ]
        own = sum(weight * (1 - alpha) * part for weight, alpha, part in parts)
        pushing = sum(weight * alpha * part for weight, alpha, part in parts)
        return np.asarray(self.scales * own / (1 - self.alpha or 1.0)), np.asarray(
            pushing / (self.alpha or 1.0)
        )


@dataclass(frozen=True)
class Evaluated:
    """A model applied to a data set whose labels are in the order of the model."""

    model: Any
    X: Any
    relevant: np.ndarray  # (m, q) bool
    outputs: Outputs
    scores: np.ndarray  # (m, q)
    predicted: (
        np.ndarray
    )  # decisions, (m, q); the best class alone where the model was fitted on classes
    name: str
    note: str  # how the labels of the two were matched, where it needs saying
    known: np.ndarray  # (m, q) bool, which entries of `relevant` are known

    @property
    def truth(self) -> np.ndarray:
        """Labels in 0 and 1, (m, q): int64, or float64 with NaN where some are unknown."""
        return (
            self.relevant.astype(np.int64)
            if self.known.all()
            else np.where(self.known, self.relevant, np.nan)
        )

    @cached_property
    def metrics(self) -> dict[str, float]:
        """The seven metrics."""
        return evaluate(self.truth, self.scores, self.predicted)


def evaluated(model: Any, data: Any) -> Evaluated:
    """Apply a fitted model or Pipeline to a :class:`skcamel.data.Dataset` or to rows and labels (X, Y) as it takes them.

    Labels, and features of a Dataset, are matched by name, else by position.
    """
    estimator: Any = final(model)
    names = [str(name) for name in estimator.label_names_]
    if isinstance(data, Dataset):
        relevant, known, theirs = data.Y > 0, ~np.isnan(data.Y), list(data.label_names)
        _check_count("labels", len(theirs), len(names))
        X, same_features = _taken(model, data)
        rows = prepared(model, X)
        outputs = estimator.outputs(rows)
    else:
        X, Y = data
        rows, same_features = (
            prepared(model, X),
            True,
        )  # a model fitted on a frame looks at the names itself
        outputs = estimator.outputs(rows)
        relevant, theirs = (
            _relevant(Y, outputs),
            (column_names(Y) if np.ndim(Y) == 2 else None) or names,
        )
        unknown = None if np.ndim(Y) == 1 else unknown_entries(Y)
        known = np.ones(relevant.shape, dtype=bool) if unknown is None else unknown.toarray() == 0
        check_same_rows(outputs.scores, relevant)
        _check_count("labels", relevant.shape[1], len(names))
    columns = _positions(theirs, names)
    differ = [
        what
        for what, same in (("labels", columns is not None), ("features", same_features))
        if not same
    ]
    note = (
        f"Names of {' and of '.join(differ)} differ between data and model; these columns were"
        " matched by their position."
        if differ
        else ""
    )
    columns = slice(None) if columns is None else columns
    name = data.name if isinstance(data, Dataset) else ""
    found = (outputs, outputs.scores, outputs.decisions, name, note)
    return Evaluated(estimator, as_features(rows), relevant[:, columns], *found, known[:, columns])


def _check_count(what: str, given: int, wanted: int) -> None:
    if given != wanted:
        raise ValueError(
            f"The data has {given} {what} but the model {wanted}; give the data that the model was"
            " made for."
        )


def _taken(model: Any, dataset: Dataset) -> tuple[Any, bool]:
    """Rows of a Dataset as the model takes them, and whether their columns were matched by name.

    A Pipeline that was fitted on a frame gets one: its steps may choose columns by name.
    """
    _check_count("features", dataset.d, getattr(model, "n_features_in_", dataset.d))
    known = getattr(model, "feature_names_in_", None)
    columns = _positions(
        list(dataset.feature_names), list(dataset.feature_names if known is None else known)
    )
    X = dataset.X if columns is None else dataset.X[:, columns]
    if known is None or model is final(model) or sparse.issparse(X):
        return X, columns is not None
    import pandas as pd

    return pd.DataFrame(X, columns=known), columns is not None


def _relevant(Y: Any, outputs: Outputs) -> np.ndarray:
    """Which labels the rows have, (m, q) bool, from a label matrix in any form or the classes of a 1-d y."""
    if np.ndim(Y) == 1 and outputs.target != "matrix":
        return np.asarray(Y)[:, None] == outputs.classes[-len(outputs.label_names) :]
    return as_indicators(Y).toarray() > 0


def _positions(given: list[str], wanted: list[str]) -> list[int] | None:
    """Where each wanted name stands among those given; None where they are not the same names."""
    place = {name: k for k, name in enumerate(given)}
    return (
        [place[name] for name in wanted]
        if set(given) == set(wanted) and len(place) == len(given)
        else None
    )


@dataclass(frozen=True)
class StudyFacts:
    """Records, and what lies beside them in their folder."""

    records: Sequence[Record]
    failures: Sequence[Record]
    runs: Sequence[Mapping[str, Any]]
    cards: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, records: Iterable[Record] | str | os.PathLike[str]) -> StudyFacts:
        """Read a folder, or take records; those of no folder have no cards."""
        if isinstance(records, (str, os.PathLike)):
            records = Records(records)
        if not isinstance(records, Records):
            return cls(list(records), [], [], {})
        return cls(records, records.failures, records.runs, records.cards)

    @property
    def shown(self) -> Sequence[Record]:
        """Records that the figures show."""
        return self.records

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Figures by the choices of the page."""
        return {AS_RECORDED: self.summary}

    @cached_property
    def summary(self) -> Summary:
        """Figures as recorded."""
        return summarise(self.records)

    @cached_property
    def against_paper(self) -> Summary:
        """Figures of the seven to hold against the paper's: ties by label index, as in its software."""
        return summarise(self.records, ties="index", metrics=NAMES)

    @property
    def is_in_paper(self) -> bool:
        """Whether the paper has any of the data sets with any of the methods."""
        return any(
            (dataset, NAMES[0], base_of(method)) in paper_figures()
            for dataset, _, method in self.summary.figures
        )

    @property
    def presets(self) -> list[str]:
        """All that occur."""
        return sorted({record["preset"] for record in self.records})

    def preset_of(self, method: str) -> str:
        """The preset of a method of the summary: in its name where it has several, else its only one."""
        own = next(
            (record["preset"] for record in self.records if record["method"] == method), None
        )
        return own or method.removesuffix("]").rpartition("[")[2]

    @cached_property
    def fair_methods(self) -> tuple[str, ...]:
        """Methods to be tested against each other: those of the preset that has most of them, or all where none has two."""
        groups = [
            [method for method in self.summary.methods if self.preset_of(method) == preset]
            for preset in self.presets
        ]
        largest = max(groups, key=len)
        return tuple(largest) if len(largest) > 1 else self.summary.methods

    @cached_property
    def tests(self) -> dict[str, Significance]:
        """Tests of every metric for which at least two methods share at least two data sets."""
        return compare_by_metric(self.summary.figures, self.summary.measures, self.fair_methods)

    @cached_property
    def costs(self) -> list[Cost]:
        """What a fold of each data set and method takes, in the order of the summary."""
        datasets, methods = self.summary.datasets, self.summary.methods
        return sorted(
            costs(self.records),
            key=lambda cost: (datasets.index(cost.dataset), methods.index(cost.method)),
        )

    def short_title(self, method: str) -> str:
        """Name of a method among `fair_methods`, without a preset that all of them share."""
        return title_of(method if self.preset_is_mixed else base_of(method))

    @property
    def preset_is_mixed(self) -> bool:
        """Whether `fair_methods` come from several presets."""
        return len({self.preset_of(method) for method in self.fair_methods}) > 1
