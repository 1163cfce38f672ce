"""A fitted model ► an ONNX model, which scores rows without Python: :func:`to_onnx`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import skcamel
from skcamel.camel.base import BaseCamel
from skcamel.camel.kernel import RADIAL
from skcamel.checks import choice
from skcamel.data.pipeline import final, transformers
from skcamel.export.columns import write_rows
from skcamel.export.graph import DOUBLE, INT64, Graph, write_scores
from skcamel.memory import gib, require

__all__ = ["to_onnx"]

LARGEST_FILE = 2**31 - 2**20  # bytes; the format's limit, less what names and nodes take
OUTPUTS = ("scores", "labels", "probabilities")


def to_onnx(model: Any, *, dtype: str = "float32") -> Any:
    """Make an ONNX model that scores, decides and gives probabilities like a fitted one.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        Steps before it may be a TablePreparer, a StandardScaler and a MinMaxScaler.
    dtype : {"float32", "float64"}, default="float32"
        Of the numbers that come in, and of scores and probabilities. Between them everything is
        float64.

    Returns
    -------
    onnx.ModelProto
        Input ``X`` (rows, d); for a prepared table an input (rows, 1) for each column, under its
        name, (rows, any number) for a column of tags. Outputs ``scores``, ``labels`` (int64, 0 or
        1) and, where the model has them, ``probabilities``, (rows, q) each. Names of labels and
        features are in its ``metadata_props``, as JSON.

    Raises
    ------
    ValueError
        For what ONNX has no operators for: a kernel function, columns of free text, other steps of
        scikit-learn; and where the file would exceed 2 GiB.

    Examples
    --------
    >>> import numpy as np, onnxruntime, skcamel
    >>> from skcamel.export import to_onnx
    >>> rows = np.eye(4, dtype=np.float32)
    >>> model = skcamel.CamelClassifier().fit(rows, np.eye(4, 2, dtype=int))
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> scores, labels, probabilities = session.run(None, {"X": rows})
    >>> bool(abs(scores - model.decision_function(rows)).max() < 1e-5)
    True
    >>> labels.tolist() == model.predict(rows).tolist()
    True
    """
    _require_onnx()
    estimator: Any = final(model)
    if not isinstance(estimator, BaseCamel):
        raise TypeError(
            f"A {type(estimator).__name__} cannot be exported; fit a CamelClassifier or"
            " CamelClassifierCV."
        )
    check_is_fitted(estimator)
    choice(dtype, ("float32", "float64"), "dtype")
    for _, member in estimator.weighted_members():
        if callable(member._kernel.name):
            raise ValueError(  # noqa: TRY004
                "ONNX cannot hold a kernel that is a function of Python; use one with a name."
            )
    _check_size(estimator)
    graph = Graph(dtype=dtype)
    names = [graph.name(name) for name in OUTPUTS]
    X, columns = write_rows(graph, model)
    _answer(graph, write_scores(graph, X, estimator), estimator, names)
    return graph.finished("camel", _properties(model, columns), skcamel.__version__)


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401 - whether it is there
    except ImportError as error:
        raise ImportError(
            "The export of models needs onnx: pip install 'skcamel[export]'"
        ) from error


def _check_size(estimator: BaseCamel) -> None:
    """Refuse what does not fit into a file of the format, or its making into memory."""
    sizes: dict[int, int] = {}  # numbers by the identity of what they belong to
    for _, own in estimator.weighted_members():
        sizes[id(own)] = _width(own) * len(own.label_names_)
        if own._kernel.name in RADIAL:  # members may share rows
            sizes[id(own.X_fit_)] = _width(own) * own.n_features_in_
    needed = 8 * sum(sizes.values())
    hint = "Fit a smaller model: solver='landmark', or 'skcamel fit --landmarks 500'."
    if needed > LARGEST_FILE:
        raise ValueError(
            f"The ONNX file would have about {gib(needed)}, and the format allows 2 GiB. {hint}"
        )
    require(5.0 * needed, "The export", hint)


def _width(member: Any) -> int:
    """How many numbers of a row the scores of a member are linear in."""
    return len(member.dual_coef_) if member._kernel.name in RADIAL else member.n_features_in_


def _answer(graph: Graph, total: str, estimator: Any, names: list[str]) -> None:
    """Scores (m, q), double ► the outputs, as :class:`skcamel.camel.outputs.Outputs` has them."""
    q = len(estimator.label_names_)
    found = graph.narrowed(total)
    graph.output(names[0], found, graph.number, q)
    if estimator._target == "multiclass":
        decided = graph("Equal", graph("ArgMax", found, axis=1), np.arange(q))
    else:
        decided = graph("Greater", found, estimator.thresholds_.astype(graph.dtype))
    graph.output(names[1], graph("Cast", decided, to=INT64), "int64", q)
    if hasattr(estimator, "link_slopes_"):
        graph.output(names[2], _probabilities(graph, found, estimator), graph.number, q)


def _probabilities(graph: Graph, found: str, estimator: Any) -> str:
    """As :func:`skcamel.camel.link.probabilities`.

    They are inside (0, 1), and above ½ exactly where log-odds are above 0.
    """
    if estimator.scores_ == "paper":
        steep = graph("Mul", graph("Cast", found, to=DOUBLE), estimator.link_slopes_)
        found = graph.narrowed(graph("Add", steep, estimator.link_offsets_))
    exponential = graph("Exp", graph("Neg", graph("Cast", found, to=DOUBLE)))
    p = graph.narrowed(graph("Reciprocal", graph("Add", exponential, 1.0)))
    zero, half, one = np.array([0, 0.5, 1], dtype=graph.dtype)
    inside = graph("Clip", p, np.finfo(graph.dtype).tiny, np.nextafter(one, zero))
    above = graph("Max", inside, np.nextafter(half, one))
    below = graph("Min", inside, half)
    return graph("Where", graph("Greater", found, zero), above, below)


def _properties(model: Any, columns: list[dict[str, Any]]) -> dict[str, str]:
    """What a user of the file may want to know, as JSON."""
    estimator: Any = final(model)
    first = (*transformers(model), estimator)[0]
    metadata: dict[str, Any] = {}
    if estimator._target != "matrix":
        metadata["classes"] = [str(name) for name in estimator.classes_]
    if columns:
        metadata["columns"] = columns
    elif hasattr(first, "feature_names_in_"):
        metadata["feature_names"] = [str(name) for name in first.feature_names_in_]
    metadata["label_names"] = [str(name) for name in estimator.label_names_]
    return {key: json.dumps(value, ensure_ascii=False) for key, value in metadata.items()}
