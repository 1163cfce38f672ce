"""What goes together: one table, one function, one message. ``docs/support.md`` shows the same table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

ALTERNATING = "solver='alternating'"
LANDMARK = "solver='landmark'"
PRIMAL = "solver='primal'"
STREAM = "partial_fit"
EXACT = "solver='spectral'"
UNKNOWN = "unknown labels"
LAZY = "Dask collections"
ARRAYS = "methods other than fit and predictions"
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
CLASSES_1D = "a 1-d y"
FILE = "a model file"
SUSPECTS = "find_label_errors"
SEARCH = "CamelClassifierCV"
COLUMNS = "explain by column"
UNSHARED = "a kernel other than 'rbf', 'laplacian' and 'linear'"
EXPORT = "export to ONNX"

COMPLETE = "sums over rows take complete labels; use solver='spectral'"
NO_FEATURES = "a kernel matrix has no features to sum up; use solver='spectral'"
NO_SUMS = "they keep no sums to which rows can be added; use solver='landmark' or solver='primal'"
ON_CLUSTER = "it takes a matrix of all rows; use solver='landmark' or solver='primal'"
WHOLE = "it takes arrays; use X.compute() where that fits into memory, or one partition at a time"
LEAVE_ONE_OUT = "it takes leave-one-out scores, which Algorithm 1 does not give; use solver='spectral'"
REFUSED: dict[frozenset[str], str] = {
    frozenset({ALTERNATING, TUNED}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, PROBABILITIES}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, SETS}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, SUSPECTS}): LEAVE_ONE_OUT,
    frozenset({ALTERNATING, SEARCH}): "Algorithm 1 solves one candidate; use CamelClassifier, or solver='auto'",
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
    frozenset({LAZY, EXACT}): ON_CLUSTER,
    frozenset({LAZY, ALTERNATING}): ON_CLUSTER,
    frozenset({LAZY, PRECOMPUTED}): NO_FEATURES,
    frozenset({LAZY, FOLDS}): "leave-one-out of a sample judges candidates there; use cv='loo'",
    frozenset({LAZY, CLASSES_1D}): "partitions may lack classes; give a label matrix",
    frozenset({LAZY, SUSPECTS}): WHOLE,
    frozenset({LAZY, ARRAYS}): WHOLE,
    frozenset({CLASSES, PROBABILITIES}): "scores of exclusive classes are not calibrated; use decision_function",
    frozenset({COMBINE, FOLDS}): "weights are learned on leave-one-out scores; use cv='loo'",
    frozenset({PRECOMPUTED, SCALING}): "there are no features to scale; use scaling='none'",
    frozenset({PRECOMPUTED, SPARSE}): "a kernel matrix is dense; give it as an array",
    frozenset({RANK, SPARSE}): "it would fill every zero; use X.toarray() where that fits into memory, or 'standard', 'minmax' or 'unit'",
    frozenset({COLUMNS, UNSHARED}): "it is neither a product nor a sum over columns; explain without features=True",
    frozenset({EXPORT, FUNCTION}): "ONNX cannot hold a function of Python; use one of the kernels that have a name",
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


SOLVERS = (EXACT, LANDMARK, PRIMAL, ALTERNATING)
OFFERED = {  # what the documentation calls it ► what the table of refusals does; the same name where nothing refuses it
    **{f"`{name}`": name for name in ("predict", "decision_function", "label_sets", "top_k")},
    "`predict_proba`": PROBABILITIES,
    "`predict_sets`": SETS,
    "`explain`": "explain",
    "`explain` by column": COLUMNS,
    "`partial_fit`": STREAM,
    **{f"`{name}`": name for name in (SEARCH, SUSPECTS)},
    **{name: name for name in (UNKNOWN, "sample weights", SPARSE, LAZY, TUNED)},
    "`save` and `load`": FILE,
    "page of the model": "page of the model",
    "`device`": "device",
}


def as_markdown() -> str:
    """The table of the documentation: what is refused with what, and what to do."""
    return _table(("this", "with this", "is refused because"), [(*sorted(pair), reason) for pair, reason in REFUSED.items()])


def solvers_as_markdown() -> str:
    """The other table: everything that models do, and which solvers have it.

    Examples
    --------
    >>> print(solvers_as_markdown().splitlines()[10])
    | `partial_fit` | no | yes | yes | no |
    """
    rows = [(shown, *("no" if reason_against(solver, name) else "yes" for solver in SOLVERS)) for shown, name in OFFERED.items()]
    return _table(("", *SOLVERS), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])
