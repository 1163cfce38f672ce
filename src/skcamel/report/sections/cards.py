"""The data sets: sizes, how often labels occur, and what is odd about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skcamel.experiment.tables import sizes_table
from skcamel.report.page import Column, Section, count
from skcamel.report.study_facts import StudyFacts

COLUMNS = (
    Column("Data set"),
    Column("Rows", 0),
    Column("Features", 0),
    Column("Labels", 0),
    Column("Cardinality", 2, "mean number of labels of a row"),
    Column("Density", 3, "the same over the number of labels"),
    Column("Label sets", 0, "different combinations of labels"),
    Column("Mean imbalance", 1, "how much rarer a label is than the commonest one, mean over the labels"),
    Column("Zeros", 2, "share of zeros among the features"),
    Column("Odd"),
)
ODDITIES = {
    "unlabelled_rows": ("row without labels", "rows without labels"),
    "zero_rows": ("row of zeros", "rows of zeros"),
    "duplicate_rows": ("repeated row", "repeated rows"),
    "constant_features": ("constant feature", "constant features"),
    "empty_labels": ("label without rows", "labels without rows"),
    "full_labels": ("label of all rows", "labels of all rows"),
    "missing_values": ("missing value", "missing values"),
}


def cards_section(facts: StudyFacts) -> Section | None:
    """A table, and the share of rows that have each label; None where the folder holds no card."""
    cards = {name: facts.cards[name] for name in facts.summary.datasets if name in facts.cards}
    if not cards:
        return None
    keys = ("n", "d", "q", "cardinality", "density", "label_sets", "mean_ir", "sparsity")
    context = {
        "columns": COLUMNS,
        "rows": [(name, *(card.get(key) for key in keys), _odd(card)) for name, card in cards.items()],
        "notes": sizes_table(cards).notes,
    }
    data = {"sets": [{"name": name, **_labels(card)} for name, card in cards.items()]}
    return Section("cards", "Data sets", context, data, ("cards.js",))


def _labels(card: Mapping[str, Any]) -> dict[str, Any]:
    """Labels from the commonest to the rarest, with the share of rows that have them."""
    counts = card["label_counts"]
    order = sorted(range(len(counts)), key=lambda j: -counts[j])
    names = card.get("label_names") or [f"label {j + 1}" for j in range(len(counts))]
    return {"labels": [names[j] for j in order], "shares": [counts[j] / card["n"] for j in order]}


def _odd(card: Mapping[str, Any]) -> str:
    found = {key: value if isinstance(value := card.get(key, 0), int) else len(value) for key in ODDITIES}
    return ", ".join(count(number, *ODDITIES[key]) for key, number in found.items() if number) or "–"
