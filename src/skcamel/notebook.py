"""A fitted model ► a few lines of HTML for notebooks, shown below scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from skcamel.pushes import LEGEND, evidence, how_learned, ordered
from skcamel.text import count

STRONGEST = 5


def collaboration_summary(model: Any) -> str:
    """Sizes and the strongest pushes between labels; names are escaped.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> model = CamelClassifier(0.3, correlation="centred").fit(np.eye(40), np.eye(40, 2, dtype=int))
    >>> text = collaboration_summary(model)
    >>> "label0 → label1" in text, "40 rows, 2 labels, α = 0.3, correlation learned from centred labels." in text
    (True, True)
    """
    S, names, shown = model.label_correlation_, [escape(str(name)) for name in model.label_names_], evidence(model)
    pushes = [f"<li>{names[i]} → {names[j]}: {s:+.3f}{push.shown}</li>" for push in ordered(S, STRONGEST, shown) for i, j, s in [push[:3]]]
    share = np.count_nonzero(S) / max(1, S.size - len(S))
    legend = f" {LEGEND}" if shown is not None else ""
    found = (
        f"Strongest pushes between labels (s; {share:.0%} of all pairs have one).{legend}<ul>{''.join(pushes)}</ul>"
        if pushes
        else "No label pushes another."
    )
    members = [member for _, member in model.weighted_members()]
    alphas = ", ".join(f"{alpha:g}" for alpha in sorted({float(own.alpha_ if hasattr(own, "alpha_") else own.alpha) for own in members}))
    sizes = f"{count(len(members[0].dual_coef_), 'row')}, {count(len(S), 'label')}, α = {alphas}"
    if len(members) > 1:
        sizes = f"{len(members)} models combined, {sizes}"
    return f"<div><strong>Collaboration</strong>: {sizes}, correlation learned {escape(how_learned(model.correlation))}. {found}</div>"
