"""Fitted estimators, and Pipelines that end in one ► the rows they see, and their answers.

Everything that takes a fitted estimator takes such a Pipeline too; the functions here are how. What
a model says of rows comes as plain records, the same in files and over a network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as sklearn_make_pipeline

from skcamel.arrays import dense
from skcamel.camel.explanation import Explanation, Push, joined
from skcamel.camel.outputs import MultiLabelClassifier, Outputs

MOST_WORDS = 200  # of a row to explain that are reasons of their own, the heaviest
WORDS = ("no", "yes", "open")  # for the answers 0, 1 and -1
# numbers in the training rows of all members; columns of larger models take more than a few seconds
SMALL = 10_000_000


def final(model: Any) -> MultiLabelClassifier:
    """The estimator itself, or the one in which a Pipeline ends, also through Pipelines within it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcamel import CamelClassifier
    >>> final(make_pipeline(StandardScaler(), CamelClassifier(alpha=0.2)))
    CamelClassifier(alpha=0.2)
    """
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if not isinstance(last, MultiLabelClassifier):
        raise TypeError(
            f"A {type(last).__name__} is no estimator of skcamel; give one, a Pipeline that ends in"
            " one, or the best_estimator_ of a search."
        )
    return last


def transformers(model: Any) -> list[Any]:
    """All steps before the final estimator that do something, also those of Pipelines within."""
    final(model)
    return list(_steps(model))[:-1]


def _steps(step: Any) -> Iterator[Any]:
    if isinstance(step, Pipeline):
        for _, own in step.steps:
            yield from _steps(own)
    elif step is not None and not isinstance(step, str):  # "passthrough"
        yield step


def prepared(model: Any, X: Any) -> Any:
    """The rows as the final estimator sees them: X after all other steps."""
    for step in transformers(model):
        X = step.transform(X)
    return X


def source_names(model: Any, row: Any = None) -> list[str] | None:
    """For each column that the final estimator sees, the column that it was made from, if known.

    The last step that has ``source_columns_`` decides. Without one, columns have the names that
    the steps give them (``get_feature_names_out``), or those that the estimator was fitted on.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    row : array or CSR matrix of shape (1, d), default=None
        A prepared row to explain: the words of texts that occur in it stand for themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from skcamel import CamelClassifier
    >>> model = make_pipeline(CountVectorizer(), CamelClassifier())
    >>> source_names(model.fit(["sun sea", "sea", "rain"], np.eye(3, 2, dtype=int)))
    ['rain', 'sea', 'sun']
    """
    names = None
    for step in transformers(model):
        names = _names_after(step, names)
        if row is not None and hasattr(step, "is_word_") and len(names) == row.shape[1]:
            weights = abs(np.ravel(dense(row)) * step.is_word_)
            words = np.argsort(-weights, kind="stable")[:MOST_WORDS]
            words = words[weights[words] > 0]
            names[np.isin(names, names[words])] += " (other words)"
            names[words] = step.get_feature_names_out()[words]
    estimator = final(model)
    if names is None or len(names) != getattr(estimator, "n_features_in_", len(names)):
        names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _names_after(step: Any, names: Any) -> Any:
    """What the columns after a step are called, or come from; None where nobody knows."""
    if hasattr(step, "source_columns_"):
        return step.source_columns_
    for given in (names, None):  # a step that has names of its own takes no others
        try:
            return step.get_feature_names_out(given)
        except (AttributeError, TypeError, ValueError):
            continue
    return None


def outputs(model: Any, X: Any) -> Outputs:
    """Scores, decisions, probabilities, label sets and ranks from one evaluation of a model.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
    X : whatever the model takes, m rows

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, Y = np.eye(2), np.eye(2, dtype=int)
    >>> model = make_pipeline(StandardScaler(), skcamel.CamelClassifier()).fit(X, Y)
    >>> skcamel.outputs(model, X).ranks.tolist()
    [[1, 2], [2, 1]]
    """
    return final(model).outputs(prepared(model, X))


def label_sets(model: Any, X: Any) -> list[tuple[str, ...]]:
    """Names of the predicted labels of every row; the predicted class after a fit on a 1-d y.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
    X : whatever the model takes, m rows

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(TfidfVectorizer(), skcamel.CamelClassifier())
    >>> model = model.fit(["sun", "sea", "sun sea"], np.array([[1, 0], [0, 1], [1, 1]]))
    >>> skcamel.label_sets(model, ["sea", "sun"])
    [('label2',), ('label1',)]
    """
    return outputs(model, X).label_sets


def predict_sets(model: Any, X: Any, confidence: float = 0.9) -> np.ndarray:
    """Answer yes (1), no (0) or open (-1) for every label, int8 (m, q).

    See :meth:`CamelClassifier.predict_sets`.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
    X : whatever the model takes, m rows
    confidence : float in (0, 1], default=0.9
    """
    return final(model).predict_sets(prepared(model, X), confidence)


def top_k(model: Any, X: Any, k: int) -> np.ndarray:
    """Positions of the `k` labels with the highest scores, highest first, int64 (m, k).

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
    X : whatever the model takes, m rows
    k : int
        At most the number of labels.
    """
    return outputs(model, X).top(k)


def explain(model: Any, X: Any, **options: Any) -> Any:
    """Exact additive parts of every score; see :meth:`CamelClassifier.explain`.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
    X : whatever the model takes, m rows
    **options
        Of the estimator's own `explain`. With ``features=True`` columns are named and summed by the
        columns that they were made from, unless `sources` says otherwise; the words of a text that
        occur in the row by the word, all others as "(other words)".

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, Y = np.eye(4), np.eye(4, 2, dtype=int)
    >>> model = make_pipeline(StandardScaler(), skcamel.CamelClassifier()).fit(X, Y)
    >>> found = skcamel.explain(model, X)
    >>> bool(np.allclose(found.scores, model.decision_function(X)))
    True
    """
    estimator: Any = final(model)
    if not hasattr(estimator, "explain"):
        raise TypeError(
            f"A {type(estimator).__name__} has no collaboration to explain; fit a CamelClassifier"
            " or CamelClassifierCV."
        )
    rows = prepared(model, X)
    if options == {"features": True}:
        return _by_columns(model, rows)
    return estimator.explain(rows, **options)


def _by_columns(model: Any, rows: Any) -> Explanation:
    """Reasons for prepared rows by columns; words of texts by those of each row alone."""
    estimator: Any = final(model)
    if not any(np.any(getattr(step, "is_word_", False)) for step in transformers(model)):
        return estimator.explain(rows, features=True, sources=source_names(model))
    found: list[Explanation] = []
    for row in range(rows.shape[0]):
        own = rows[row : row + 1]
        names = source_names(model, own)
        found.append(estimator.explain(own, features=True, sources=names))
    return joined(found)


class LabelPipeline(Pipeline):
    """A Pipeline that answers like the estimator in which it ends, as `skcamel fit` makes it.

    Beside what every Pipeline has, it has `label_sets`, `predict_sets`, `outputs`, `explain` and
    `top_k`, and the fitted attributes of its estimator, such as `label_names_`.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> from skcamel.data import TablePreparer
    >>> model = LabelPipeline([("prepare", TablePreparer()), ("classify", CamelClassifier())])
    >>> table = {"plan": ["free", "team", "free"], "paid": ["$0", "$1,200", "$80"]}
    >>> model.fit(table, np.array([[1, 0], [0, 1], [1, 1]])).label_names_.tolist()
    ['label1', 'label2']
    """

    outputs = outputs
    label_sets = label_sets
    predict_sets = predict_sets
    explain = explain
    top_k = top_k

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes of the estimator."""
        if name.startswith("_") or not name.endswith("_") or "steps" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(final(self), name)


def make_pipeline(*steps: Any) -> LabelPipeline:
    """Join transformers and an estimator of skcamel to a Pipeline that answers like the estimator.

    Parameters
    ----------
    *steps : transformers, and at last an estimator of skcamel

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> from skcamel.data import TablePreparer
    >>> list(make_pipeline(TablePreparer(), CamelClassifier()).named_steps)
    ['tablepreparer', 'camelclassifier']
    """
    return LabelPipeline(sklearn_make_pipeline(*steps).steps)


def records(
    outputs: Outputs, kinds: Collection[str], sets: np.ndarray | None
) -> Iterator[dict[str, Any]]:
    """What a model says of each row, as JSON has it: its labels, and by label what `kinds` names.

    Kinds are scores, decisions and probabilities; `sets` are prediction sets (n, q), if wanted.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel.camel.outputs import Outputs
    >>> names = np.array(["sea", "sun"], dtype=object)
    >>> found = Outputs(np.array([[0.25, -0.5]]), np.zeros(2), names, np.arange(2), "matrix")
    >>> (record,) = records(found, ["scores"], np.array([[1, -1]]))
    >>> record["labels"], record["scores"], record["sets"]
    (['sea'], {'sea': 0.25, 'sun': -0.5}, {'sea': 'yes', 'sun': 'open'})
    """
    values = {kind: getattr(outputs, kind).tolist() for kind in kinds}
    if sets is not None:
        values["sets"] = np.array(WORDS)[sets].tolist()
    names = [str(name) for name in outputs.label_names]
    for row, labels in enumerate(outputs.label_sets):
        record: dict[str, Any] = {"row": row + 1, "labels": list(labels)}
        for kind, of_rows in values.items():
            record[kind] = dict(zip(names, of_rows[row]))
        yield record


def explained(model: Any, X: Any) -> tuple[Explanation, str]:
    """Reasons for the scores of prepared rows, and why what columns add is left out, if it is.

    It is left out where it fails or takes long.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
    X : array or CSR matrix of shape (m, d)
        Rows as the final estimator sees them.
    """
    estimator: Any = final(model)
    sizes = [len(member.dual_coef_) for _, member in estimator.weighted_members()]
    why = "it takes long in a model of this size"
    if X.shape[1] * sum(sizes) <= SMALL:
        try:
            return _by_columns(model, X), ""
        except (ValueError, MemoryError) as error:
            why = str(error)
    return estimator.explain(X), f"what each column adds is left out: {why}"


def worth_showing(explanation: Explanation, row: int) -> list[int]:
    """Positions of the labels predicted for a row, highest margin first, or of the nearest one."""
    margin = explanation.scores[row] - explanation.thresholds
    order = np.argsort(-margin, kind="stable")
    n_predicted = int((margin > 0).sum())
    return order[: max(1, n_predicted)].tolist()


def reasons(explanation: Explanation, row: int, label: int, top: int) -> dict[str, Any]:
    """Why a row got the score of a label: the `top` pushes of other labels, and columns if known.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel.camel.explanation import Evidence, Explanation
    >>> parts = np.array([[[0.5, 0.25], [-0.125, 0.5]]])
    >>> names, nothing = np.array(["sea", "sun"], dtype=object), np.zeros(2)
    >>> evidence = Evidence(*np.zeros((3, 2, 2)))
    >>> found = reasons(Explanation(nothing, parts, names, nothing, evidence), 0, 1, top=5)
    >>> found["label"], found["score"], found["own"], found["pushes"][0]["push"]
    ('sun', 0.75, 0.5, 0.25)
    """
    score = float(explanation.scores[row, label])
    threshold = float(explanation.thresholds[label])
    base = float(explanation.base[label])
    own = float(explanation.parts[row, label, label])
    pushes = explanation.pushes(row, label, top)
    pushed = sum(push.amount for push in pushes)
    found: dict[str, Any] = {
        "label": str(explanation.label_names[label]),
        "predicted": score > threshold,
        "score": score,
        "threshold": threshold,
        "base": base,
        "own": own,
        "pushes": [_push(push, explanation.label_names) for push in pushes],
        "other_pushes": score - base - own - pushed,
    }
    if explanation.features is None:
        return found
    start = score - float(explanation.features[row, :, label].sum())
    columns = explanation.column_values(row, label, top)
    added = sum(part.value for part in columns)
    found["no_column"] = start
    found["columns"] = [part._asdict() for part in columns]
    found["other_columns"] = score - start - added
    return found


def _push(push: Push, names: Any) -> dict[str, Any]:
    return {
        "label": str(names[push.source]),
        "push": push.amount,
        "seen": push.seen,
        "expected": push.expected,
        "against_the_data": push.contradicts,
    }
