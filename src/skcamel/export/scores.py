"""Rows ► scores as nodes of a graph: scaling, kernel, coefficients; all in double precision.

Coefficients of a kernel model are large and of both signs, so that scores are small differences of
large sums: in single precision a
model of 1,000 rows would miss its scores by 3e-5. So single precision is a matter of inputs and
outputs alone.

Squared distances come from a product, whose rounding is relative to the length of the rows. Where
that might show, because a new row is as good as equal to a training row, they come from
differences, as the distances of the Laplacian kernel always do. What is no product takes a new row
at a time, so that its memory does not grow with the number of new rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from skcamel.arrays import dense
from skcamel.camel.base import BaseCamel
from skcamel.camel.kernel import Kernel
from skcamel.camel.scaling import Ranks, Scaling
from skcamel.export.graph import Graph

TOLERANCE = 1e-11  # of an entry of the kernel matrix
BLOCK = (
    2**18
)  # numbers of training rows that a new row is compared with at once: their differences stay in the cache
ROUNDING = 8 * np.finfo(np.float64).eps  # of a fast distance, relative to what is subtracted


def write_scores(graph: Graph, X: str, estimator: BaseCamel) -> str:
    """Scores, double (m, q), of rows X (m, d), double.

    Parameters
    ----------
    graph : Graph
    X : str
        The name of the rows.
    estimator : fitted estimator

    Examples
    --------
    >>> from skcamel import CamelClassifier
    >>> model = CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int))
    >>> graph = Graph()
    >>> found = write_scores(graph, graph.input("X", "double", 4), model)
    >>> [node.op_type for node in graph.nodes]
    ['Gemm', 'Add', 'Mul', 'ReduceSum', 'Add', 'Mul', 'Exp', 'MatMul', 'Add']
    """
    constant, members = estimator._terms()
    total = graph.constant(constant + sum(weight * member._offset for weight, member in members))
    for weight, member in members:
        features, coefficients = _features(graph, X, member)
        total = graph("Add", graph("MatMul", features, weight * coefficients), total)
    return total


def _features(graph: Graph, X: str, member: Any) -> tuple[str, np.ndarray]:
    """What the scores of a member are linear in, (m, width), and its coefficients (width, q)."""
    name, A = member._kernel.name, member.dual_coef_
    if name == "precomputed":
        return X, A
    if name == "linear":
        return scaled(graph, X, member._scaling), (
            A if member.X_fit_ is None else member.X_fit_.T @ A
        )
    rows, Z = scaled(graph, X, member._scaling), dense(member.X_fit_)
    D = _distances(graph, rows, Z, member._kernel)
    exponent = (
        -0.5 / member._kernel.bandwidth**2 if name == "rbf" else -1 / member._kernel.bandwidth
    )
    return graph("Exp", graph("Mul", D, np.array(exponent))), A


def scaled(graph: Graph, X: str, scaling: Scaling) -> str:
    """Rows X (m, d) scaled."""
    rows = X
    if scaling.ranks is not None:
        rows = levels(graph, X, scaling.ranks)
    elif scaling.name == "unit":
        largest = graph("ReduceMax", graph("Abs", X), np.array([1]))
        rows = _divided(graph, X, largest)
        squares = graph("ReduceSum", graph("Mul", rows, rows), np.array([1]))
        rows = _divided(graph, rows, graph("Sqrt", squares))
    if scaling.shift is not None and scaling.shift.any():
        rows = graph("Sub", rows, scaling.shift)
    if scaling.scale is not None and (scaling.scale != 1).any():
        rows = by_column(graph, "Div", rows, scaling.scale)
    return rows


def by_column(graph: Graph, op: str, rows: str, numbers: np.ndarray) -> str:
    """Rows (m, d) multiplied or divided by numbers (d,).

    A single number gets a row for each of the rows: onnxruntime would move it into the matrix
    product that follows, in single precision.
    """
    return graph(
        op, rows, graph("Expand", numbers, graph("Shape", rows)) if len(numbers) == 1 else numbers
    )


def _divided(graph: Graph, rows: str, by: str) -> str:
    """Rows (m, d) divided by numbers (m, 1) or (m, d), by 1 where these are 0; NaN stays NaN."""
    return graph("Div", rows, graph("Where", graph("Equal", by, np.array(0.0)), np.array(1.0), by))


def levels(graph: Graph, X: str, ranks: Ranks) -> str:
    """Levels of the rows X (m, d), linear between the knots of each column, which bisection finds; NaN stays NaN."""
    last = ranks.ends.astype(np.int64) - 1
    first = np.append(0, last[:-1] + 1)
    at = graph.constant(first)  # (d,), later (m, d): a knot at X or below it, if there is one
    for step in 2 ** np.arange(int(max(last - first)).bit_length())[::-1]:
        ahead = graph("Min", graph("Add", at, np.array(step)), last)
        at = graph("Where", graph("LessOrEqual", graph("Gather", ranks.knots, ahead), X), ahead, at)
    following = graph("Min", graph("Add", at, np.array(1)), last)
    (knot, next_knot), (level, next_level) = (
        [graph("Gather", own, k) for k in (at, following)] for own in (ranks.knots, ranks.levels)
    )
    share = _divided(graph, graph("Sub", X, knot), graph("Sub", next_knot, knot))
    share = graph("Clip", share, np.array(0.0), np.array(1.0))  # beyond the outermost knots
    return graph("Add", level, graph("Mul", graph("Sub", next_level, level), share))


def _distances(graph: Graph, rows: str, Z: np.ndarray, kernel: Kernel) -> str:
    """The distance (m, n) that the kernel is a function of."""
    n, d = Z.shape
    if kernel.name == "laplacian":
        size = max(1, BLOCK // d)
        blocks = [graph.constant(Z[i : i + size].T) for i in range(0, n, size)]  # (d, b) each
        return graph.once((rows, *blocks), lambda: _sums(graph, rows, d, n, blocks))
    whole, squares = graph.constant(Z.T), (Z * Z).sum(axis=1)  # ||x||² + ||z||² - 2 xᵀz
    D = graph("Add", graph("Gemm", rows, whole, alpha=-2.0), squares)
    D = graph("Add", D, graph("ReduceSum", graph("Mul", rows, rows), np.array([1])))
    near = _near(kernel, ROUNDING * 2 * float(squares.max()))
    if near > 0:
        too_near = graph("Less", graph("ReduceMin", D, keepdims=0), np.array(near))
        D = graph.either(too_near, lambda inner: _sums(inner, rows, d, n, [whole], True), D, n)
    return graph("Sqrt", graph("Max", D, np.array(0.0))) if kernel.name == "exponential" else D


def _near(kernel: Kernel, error: float) -> float:
    """Below which squared distance the error of the fast formula moves the kernel by more than the tolerance; 0 where it never does."""
    if kernel.name == "exponential":  # the root of an error is large at 0
        return (error / (2 * TOLERANCE * kernel.bandwidth)) ** 2
    per_unit = 2 * kernel.bandwidth**2
    return max(0.0, per_unit * log(max(error / per_unit / TOLERANCE, 1e-300)))


def _sums(
    graph: Graph, rows: str, d: int, n: int, blocks: Sequence[str], squared: bool = False
) -> str:
    """Sums of absolute or squared differences of rows (m, d) and blocks of training rows (d, b): (m, n)."""

    def of_row(inner: Graph, row: str) -> str:
        column = inner("Unsqueeze", row, np.array([1]))
        sums: list[str] = []
        for block in blocks:
            apart = inner("Sub", block, column)
            terms = inner("Mul", apart, apart) if squared else inner("Abs", apart)
            sums.append(inner("ReduceSum", terms, np.array([0]), keepdims=0))
        return inner("Concat", *sums, axis=0)

    return graph.each_row(rows, d, of_row, n)
