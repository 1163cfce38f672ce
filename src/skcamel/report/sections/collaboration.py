"""Who pushes whom: the labels on a circle, and S as an ordered heat map."""

from __future__ import annotations

from skcamel.explanation import AGAINST, LEGEND, ordered
from skcamel.report.facts import ModelFacts
from skcamel.report.page import Section, count, significant


def graph_section(facts: ModelFacts) -> Section:
    """The graph of collaboration."""
    S = facts.S
    n_pushes = int((S != 0).sum())
    if not n_pushes:
        sentence = "No label says anything about another in the training rows: S is zero, and every label stands alone."
    else:
        verb = "are" if n_pushes != 1 else "is"
        found = f"{count(n_pushes, 'push', 'pushes')} of {S.size - len(S):,} possible {verb} not zero, learned {facts.learned}."
        sentence = f"{found} {_first(facts)}"
    if facts.alpha == 0:
        sentence += " This model has α = 0 and does not use them; they show what collaboration could draw on."
    return Section(
        "collaboration", "Collaboration", {"sentence": sentence, "alpha": significant(facts.alpha)}, scripts=("collaboration.js",)
    )


def _first(facts: ModelFacts) -> str:
    """The push to lead with, and how many have a sign that the training rows contradict; these never lead."""
    (first,) = ordered(facts.S, 1, facts.evidence)
    n_against = 0 if facts.evidence is None else int(facts.evidence.contradicts.sum())
    legend = "" if facts.evidence is None else f" {LEGEND}"
    if first.contradicts:
        return f"All of them go {AGAINST}: up where labels avoid each other, or down where they go together.{legend}"
    lead = "The strongest that the data bear out" if n_against else "The strongest"
    push = f"{facts.names[first.source]} pushes {facts.names[first.target]} {'up' if first.amount > 0 else 'down'}"
    sentence = f"{lead}: {push}, s\u00a0=\u00a0{significant(first.amount)}{first.shown}.{legend}"
    if n_against:
        verb = "goes" if n_against == 1 else "go"
        sentence += (
            f" {count(n_against, 'push', 'pushes')} {verb} {AGAINST}, up where labels avoid each other or down where they go together: "
            "listed after all others, and drawn hollow."
        )
    return sentence


def matrix_section(facts: ModelFacts) -> Section:
    """S as a heat map."""
    return Section("correlation", "Correlation matrix", {"learned": facts.learned}, scripts=("heatmap.js", "correlation.js"))
