"""The first screen of a model's page: how good it is, which labels are weakest, how strong collaboration is, and the strongest pushes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skcamel.camel.explanation import AGAINST, LEGEND, ranked_pushes, short_number
from skcamel.experiment.summary import rounded
from skcamel.metrics import LOSSES, report
from skcamel.metrics.conventions import NAMES, TITLES
from skcamel.model_file.inspection import weakest
from skcamel.report.facts import Evaluated, ModelFacts
from skcamel.report.page import Column, Section, significant
from skcamel.text import count, listed

WEAKEST, STRONGEST, NAMED = 6, 8, 3  # labels and pushes in a table, labels in a sentence
TOLD = {
    "average_precision": "average precision",
    "macro_f1": "macro-F1",
    "micro_f1": "micro-F1",
}  # in sentences
NO_SCORES = (
    "This model has no estimates of its own; rows with labels can tell how good it is: skcamel"
    " report MODEL --data FILE."
)


class Measured(NamedTuple):
    """Figures over all labels, and those of each label, (q,)."""

    figures: dict[str, float]
    f1: np.ndarray
    positives: np.ndarray


@dataclass(frozen=True)
class Glance:
    """A model on data, or by leave-one-out of its training rows."""

    facts: ModelFacts
    found: Evaluated | None

    @cached_property
    def measured(self) -> Measured | None:
        """How good the model is; None where nothing tells."""
        if self.found is None:
            return _left_out(self.facts.model)
        return _on_data(self.found.truth, self.found.metrics, self.found.predicted)

    def section(self) -> Section:
        """Three tables: figures, weakest labels, strongest pushes."""
        context = {
            "source": self._source(),
            "figures": self._figures(),
            "weakest": self._weakest(),
            "strongest": self._strongest(),
            "legend": LEGEND,
        }
        return Section("glance", "At a glance", context, short="At a glance")

    def findings(self) -> list[str]:
        """Sentences to begin with."""
        return [
            sentence
            for sentence in (self._how_good(), self._weak(), self._collaboration(), self._pushed())
            if sentence
        ]

    def _source(self) -> str:
        if self.found is not None:
            return f"{count(len(self.found.scores), 'row')}{f' of {self.found.name}' if self.found.name else ''}"
        n_judged = getattr(self.facts.model, "n_judged_", self.facts.n_train)
        rows = (
            count(self.facts.n_train, "training row")
            if n_judged >= self.facts.n_train
            else f"a sample of {count(n_judged, 'training row')}"
        )
        return f"{rows}, each left out in turn"

    def _how_good(self) -> str:
        if self.measured is None:
            return NO_SCORES
        figures = self.measured.figures
        told = listed(
            [f"{title} {rounded(figures[name])}" for name, title in TOLD.items() if name in figures]
        )
        return f"How good: {told}, on {self._source()}."

    def _places(self, most: int) -> list[int]:
        """The weakest labels that occur, weakest first; of equal ones the more frequent."""
        own = self.measured
        if own is None:
            return []
        return weakest(own.f1, own.positives, most)

    def _weak(self) -> str:
        own = self.measured
        if own is None or len(own.f1) < 2:
            return ""
        told = [
            f"{self.facts.names[j]} (F1 {rounded(own.f1[j])}, in"
            f" {count(_whole(own.positives[j]), 'row')})"
            for j in self._places(NAMED)
        ]
        return f"Weakest labels: {listed(told)}."

    def _collaboration(self) -> str:
        if self.facts.alpha == 0:
            return (
                "Collaboration: none, α = 0. Each label is predicted on its own, so there are no"
                " pushes to show."
            )
        alpha = significant(self.facts.alpha)
        return (
            f"Collaboration: α = {alpha}, where 0 leaves a label its own evidence alone and 1 the"
            " push of the others alone."
        )

    def _pushed(self) -> str:
        if not self.facts.has_pushes:
            return (
                ""
                if self.facts.alpha == 0
                else (
                    "No label says anything about another in the training rows: every label stands"
                    " alone."
                )
            )
        (first,) = ranked_pushes(self.facts.S, 1, self.facts.evidence)
        names, way = self.facts.names, "up" if first.amount > 0 else "down"
        pushes = f"{names[first.source]} pushes {names[first.target]} {way}"
        return f"Strongest push: {pushes}, s\u00a0=\u00a0{significant(first.amount)}{first.shown}."

    def _figures(self) -> dict[str, Any]:
        own = self.measured
        if own is None:
            return {"columns": (), "rows": []}
        names = [name for name in NAMES if name in own.figures]
        columns = [Column("Metric"), Column("This model", 3)]
        rows = [
            [f"{TITLES[name]} {'↓' if name in LOSSES else '↑'}", own.figures[name]]
            for name in names
        ]
        return {"columns": columns, "rows": rows}

    def _weakest(self) -> dict[str, Any]:
        own = self.measured
        if own is None:
            return {"columns": (), "rows": []}
        columns = [Column("Label"), Column("F1", 3), Column("Rows", 0, "rows that have the label")]
        rows = [[self.facts.names[j], own.f1[j], own.positives[j]] for j in self._places(WEAKEST)]
        return {"columns": columns, "rows": rows}

    def _strongest(self) -> dict[str, Any]:
        if not self.facts.has_pushes:
            return {"columns": (), "rows": []}
        told, names = ranked_pushes(self.facts.S, STRONGEST, self.facts.evidence), self.facts.names
        columns = [Column("Push"), Column("s", 2), Column("Seen"), Column("Expected")]
        against = {True: f", {AGAINST}", False: ""}
        pairs = [
            f"{names[push.source]} → {names[push.target]}{against[push.contradicts]}"
            for push in told
        ]
        rows = [
            [pair, push.amount, short_number(push.seen), short_number(push.expected)]
            for pair, push in zip(pairs, told, strict=True)
        ]
        return {"columns": columns, "rows": rows}


def _whole(number: float) -> float:
    """A weight, which is a count where rows have none."""
    return int(number) if number == int(number) else round(float(number), 1)


def _left_out(model: Any) -> Measured | None:
    """By leave-one-out of the training rows."""
    if not hasattr(model, "label_estimates_"):
        return None
    return Measured(
        model.estimate_, model.label_estimates_["f1"], model.label_estimates_["positives"]
    )


def _on_data(truth: np.ndarray, figures: dict[str, float], decided: Any) -> Measured:
    rows = list(report(truth, decided))
    return Measured(
        figures,
        *(np.array([row[key] for row in rows], dtype=np.float64) for key in ("f1", "positives")),
    )
