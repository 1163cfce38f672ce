"""Who pushes whom: the labels on a circle, and S as an ordered heat map."""

from __future__ import annotations

import numpy as np

from skcamel.report.facts import ModelFacts
from skcamel.report.page import Section, count, significant


def graph_section(facts: ModelFacts) -> Section:
    """The graph of collaboration."""
    S = facts.S
    n_pushes = int((S != 0).sum())
    if not n_pushes:
        sentence = "No label says anything about another in the training rows: S is zero, and every label stands alone."
    else:
        i, j = np.unravel_index(np.argmax(abs(S)), S.shape)
        sentence = (
            f"{count(n_pushes, 'push', 'pushes')} of {S.size - len(S):,} possible "
            f"{'are' if n_pushes != 1 else 'is'} not zero. The strongest: {facts.names[i]} pushes {facts.names[j]} "
            f"{'up' if S[i, j] > 0 else 'down'} (s\u00a0=\u00a0{significant(S[i, j])})."
        )
    if facts.alpha == 0:
        sentence += " This model has α = 0 and does not use them; they show what collaboration could draw on."
    return Section(
        "collaboration", "Collaboration", {"sentence": sentence, "alpha": significant(facts.alpha)}, scripts=("collaboration.js",)
    )


def matrix_section(facts: ModelFacts) -> Section:
    """S as a heat map."""
    return Section("correlation", "Correlation matrix", scripts=("heatmap.js", "correlation.js"))
