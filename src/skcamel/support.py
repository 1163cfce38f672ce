"""What goes together: one table, one function, one message. ``docs/support.md`` shows the same table."""

from __future__ import annotations

from itertools import combinations

ALTERNATING = "solver='alternating'"
LANDMARK = "solver='landmark'"
PRIMAL = "solver='primal'"
STREAM = "partial_fit"
EXACT = "solver='spectral'"
UNKNOWN = "unknown labels"
RADIAL = "a kernel other than 'linear'"
COMBINE = "combine=True"
FOLDS = "cv by folds"
PRECOMPUTED = "kernel='precomputed'"
FUNCTION = "a kernel function"
RANK = "scaling='rank'"
SCALING = "scaling of features"
SPARSE = "sparse rows"
TUNED = "tuned thresholds"
PROBABILITIES = "probabilities"
SETS = "answers with a stated coverage"
CLASSES = "a 1-d y of more than two classes"
FILE = "a model file"
COMPRESS = "compress"

COMPLETE = "sums over rows take complete labels; use solver='spectral'"
NO_FEATURES = "a kernel matrix has no features to sum up; use solver='spectral'"
NO_SUMS = "they keep no sums to which rows can be added; use solver='landmark' or solver='primal'"
LEAVE_ONE_OUT = "it takes leave-one-out scores, which only the exact solver gives; use solver='spectral'"
REFUSED: dict[frozenset[str], str] = {
    frozenset({ALTERNATING, TUNED}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, PROBABILITIES}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, SETS}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, UNKNOWN}): "Algorithm 1 takes complete labels; use solver='spectral'",
    frozenset({ALTERNATING, STREAM}): NO_SUMS,
    frozenset({EXACT, STREAM}): NO_SUMS,
    frozenset({LANDMARK, UNKNOWN}): COMPLETE,
    frozenset({PRIMAL, UNKNOWN}): COMPLETE,
    frozenset({STREAM, UNKNOWN}): COMPLETE,
    frozenset({LANDMARK, PRECOMPUTED}): NO_FEATURES,
    frozenset({PRIMAL, PRECOMPUTED}): NO_FEATURES,
    frozenset({STREAM, PRECOMPUTED}): NO_FEATURES,
    frozenset({PRIMAL, RADIAL}): "it works in the features themselves; use kernel='linear', or solver='landmark'",
    frozenset({CLASSES, PROBABILITIES}): "scores of exclusive classes are not calibrated; use decision_function",
    frozenset({COMBINE, FOLDS}): "weights are learned on leave-one-out scores; use cv='loo'",
    frozenset({PRECOMPUTED, SCALING}): "there are no features to scale; use scaling='none'",
    frozenset({PRECOMPUTED, SPARSE}): "a kernel matrix is dense; give it as an array",
    frozenset({RANK, SPARSE}): "it would fill every zero; use X.toarray() where that fits into memory, or 'standard', 'minmax' or 'unit'",
    frozenset({COMPRESS, PRECOMPUTED}): "a kernel matrix has no rows that centres could replace; fit a kernel of features",
    frozenset({FUNCTION, FILE}): "a function cannot be written without pickle; use skops.io.dump",
}


def reason_against(*used: str) -> str:
    """Why what is used does not go together, and what to do; empty where it does.

    Examples
    --------
    >>> reason_against(COMBINE, FOLDS)
    "combine=True and cv by folds do not go together: weights are learned on leave-one-out scores; use cv='loo'."
    >>> reason_against(COMBINE, SPARSE)
    ''
    """
    for pair in combinations(used, 2):
        if reason := REFUSED.get(frozenset(pair)):
            return f"{pair[0]} and {pair[1]} do not go together: {reason}."
    return ""


def check_together(*used: str) -> None:
    """Raise ValueError with one sentence where what is used does not go together."""
    if reason := reason_against(*used):
        raise ValueError(reason)


def as_markdown() -> str:
    """The table of the documentation: what is refused with what, and what to do."""
    lines = ["| this | with this | is refused because |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(sorted(pair))} | {reason} |" for pair, reason in REFUSED.items())])
