"""Why this label: every score of some rows, taken apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skcamel.report.facts import Evaluated, ModelFacts
from skcamel.report.independent import without_collaboration
from skcamel.report.page import Rounded, Section, count

MOST_ROWS, MOST_SCORES = 500, 100_000  # shown; 500 rows of 174 labels take 0.6 MB
TRUE, PREDICTED, PREDICTED_ALONE = 1, 2, 4  # bits of what is sent of each row and label


def why_section(facts: ModelFacts, found: Evaluated) -> Section:
    """The parts of the scores of at most `MOST_ROWS` rows and about `MOST_SCORES` scores, spread evenly over the data.

    Only f(x) - f̄ is sent, (m, q): the page multiplies it by G, since all pushes would be m q² numbers.
    """
    m, q = found.scores.shape
    rows = np.unique(np.linspace(0, m - 1, min(m, MOST_ROWS, max(10, MOST_SCORES // q))).astype(int))
    X = found.X[rows]
    own, pushing = facts.deviations(X)
    alone = without_collaboration(facts, X, own)
    predicted_alone = replace(found.outputs, scores=alone.scores, thresholds=alone.cuts).decisions
    flags = TRUE * found.relevant[rows] + PREDICTED * found.predicted[rows] + PREDICTED_ALONE * predicted_alone
    context = {
        "alone": alone.sentence,
        "is_refit": alone.is_refit,
        "rows": count(m, "row") if len(rows) == m else f"{len(rows)} of {count(m, 'row')}, spread evenly over the data",
        "by_class": found.outputs.target == "multiclass",
    }
    data = {
        "rows": rows.tolist(),
        "own": Rounded(own),
        **({} if pushing is own else {"pushing": Rounded(pushing)}),
        "base": facts.model.base_scores_,
        "cuts": facts.model.thresholds_,
        "alone": Rounded(alone.scores),
        "alone_cuts": alone.cuts,
        "flags": flags.astype(np.uint8),
        "is_refit": alone.is_refit,
    }
    return Section("why", "Why this label", context, data, ("why.js",))
