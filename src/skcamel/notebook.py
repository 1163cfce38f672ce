"""A fitted model ► a few lines of HTML for notebooks, shown below scikit-learn's diagram."""

from __future__ import annotations

from html import escape

import numpy as np

STRONGEST = 5


def collaboration_summary(S: np.ndarray, alpha: float, names: np.ndarray, n_rows: int) -> str:
    """Sizes and the strongest pushes between labels; names are escaped.

    Parameters
    ----------
    S : array of shape (q, q)
    alpha : float
    names : array of shape (q,)
    n_rows : int
        Number of training rows.

    Examples
    --------
    >>> text = collaboration_summary(np.array([[0, 0.5], [0, 0]]), 0.3, np.array(["<sea>", "sun"]), 40)
    >>> "&lt;sea&gt; → sun" in text, "40 rows, 2 labels, α = 0.3" in text
    (True, True)
    """
    order = np.argsort(-abs(S), axis=None, kind="stable")[: min(STRONGEST, np.count_nonzero(S))]
    pushes = [
        f"<li>{escape(str(names[i]))} → {escape(str(names[j]))}: {S[i, j]:+.3f}</li>" for i, j in (divmod(int(k), len(S)) for k in order)
    ]
    share = np.count_nonzero(S) / max(1, S.size - len(S))
    found = (
        f"Strongest pushes between labels (s; {share:.0%} of all pairs have one):<ul>{''.join(pushes)}</ul>"
        if pushes
        else "No label pushes another."
    )
    return f"<div><strong>Collaboration</strong>: {n_rows} rows, {len(S)} label{'' if len(S) == 1 else 's'}, α = {alpha:g}. {found}</div>"
