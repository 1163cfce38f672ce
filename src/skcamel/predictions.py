"""What a model says of rows ► plain records: labels, scores, probabilities, answers and reasons, the same in files and over a network."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from skcamel.camel.explanation import Explanation
    from skcamel.camel.outputs import Outputs

KINDS = ("scores", "decisions", "probabilities")
# numbers in the training rows of all members; columns of larger models take more than a few seconds
SMALL = 10_000_000
WORDS = ("no", "yes", "open")  # for the answers 0, 1 and -1


def records(
    outputs: Outputs, kinds: Collection[str], sets: np.ndarray | None
) -> Iterator[dict[str, Any]]:
    """What a model says of each row, as JSON has it: its labels, those of KINDS that are wanted, and `sets`, its prediction sets (n, q).

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel.camel.outputs import Outputs
    >>> names = np.array(["sea", "sun"], dtype=object)
    >>> found = Outputs(np.array([[0.25, -0.5]]), np.zeros(2), names, np.arange(2), "matrix")
    >>> list(records(found, ["scores"], np.array([[1, -1]])))
    [{'row': 1, 'labels': ['sea'], 'scores': {'sea': 0.25, 'sun': -0.5}, 'sets': {'sea': 'yes', 'sun': 'open'}}]
    """
    import numpy as np

    values = {kind: getattr(outputs, kind).tolist() for kind in KINDS if kind in kinds}
    if sets is not None:
        values["sets"] = np.array(WORDS)[sets].tolist()
    names = [str(name) for name in outputs.label_names]
    for row, labels in enumerate(outputs.label_sets):
        by_label = {kind: dict(zip(names, all_rows[row])) for kind, all_rows in values.items()}
        yield {"row": row + 1, "labels": list(labels), **by_label}


def explained(estimator: Any, X: Any, sources: Sequence[str] | None) -> tuple[Explanation, str]:
    """Reasons for the scores of rows X, with what each column adds unless that fails or takes long; and why it is left out.

    Parameters
    ----------
    estimator : fitted CamelClassifier or CamelClassifierCV
    X : array or CSR matrix of shape (m, d)
    sources : sequence of d names, or None
        Which column of a table each column of X comes from.
    """
    members = estimator.weighted_members()
    if sum(X.shape[1] * len(member.dual_coef_) for _, member in members) > SMALL:
        why = "what each column adds is left out, for it takes long in a model of this size"
        return estimator.explain(X), why
    try:
        return estimator.explain(X, features=True, sources=sources), ""
    except (ValueError, MemoryError) as error:
        return estimator.explain(X), f"what each column adds is left out. {error}"


def worth_showing(explanation: Explanation, row: int) -> list[int]:
    """Positions of the labels predicted for a row, highest margin first; where there is none, the one nearest to its threshold."""
    import numpy as np

    margin = explanation.scores[row] - explanation.thresholds
    order = np.argsort(-margin, kind="stable")
    return order[: max(1, int((margin > 0).sum()))].tolist()


def reasons(explanation: Explanation, row: int, label: int, top: int) -> dict[str, Any]:
    """Why a row got the score of a label: the `top` pushes of other labels, and columns if they are known, and the sums of the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel.camel.explanation import Evidence, Explanation
    >>> parts, names = np.array([[[0.5, 0.25], [-0.125, 0.5]]]), np.array(["sea", "sun"], dtype=object)
    >>> found = reasons(Explanation(np.zeros(2), parts, names, np.zeros(2), Evidence(*np.zeros((3, 2, 2)))), 0, 1, 5)
    >>> found["label"], found["score"], found["own"], found["pushes"][0]["label"], found["pushes"][0]["push"]
    ('sun', 0.75, 0.5, 'sea', 0.25)
    """
    import numpy as np

    pushes = np.delete(explanation.parts[row, :, label], label)
    listed = explanation.pushes(row, label, top)
    score = float(explanation.scores[row, label])
    threshold = float(explanation.thresholds[label])
    figures = {
        "label": str(explanation.label_names[label]),
        "predicted": score > threshold,
        "score": score,
        "threshold": threshold,
        "base": float(explanation.base[label]),
        "own": float(explanation.parts[row, label, label]),
        "pushes": [
            {"label": str(explanation.label_names[push.source]), "push": push.amount}
            | {"seen": push.seen, "expected": push.expected, "against_the_data": push.contradicts}
            for push in listed
        ],
        "other_pushes": float(pushes.sum() - sum(push.amount for push in listed)),
        "number_of_other_pushes": int(np.count_nonzero(pushes)) - len(listed),
    }
    if explanation.features is None or explanation.feature_base is None:
        return figures
    columns = explanation.column_values(row, label, top)
    parts = explanation.features[row, :, label]
    return figures | {
        "no_column": float(explanation.feature_base[label]),
        "columns": [part._asdict() for part in columns],
        "other_columns": float(parts.sum() - sum(part.value for part in columns)),
        "number_of_other_columns": int(np.count_nonzero(parts)) - len(columns),
    }
