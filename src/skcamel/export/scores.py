"""Rows ► scores as nodes of a graph: scaling, kernel, coefficients; all in double precision.

Coefficients of a kernel model are large and of both signs, so that scores are small differences of
large sums: in single precision a
model of 1,000 rows would miss its scores by 3e-5. So single precision is a matter of inputs and
outputs alone.

Distances come from fast formulas whose rounding is relative to the length of the rows, which are
moved around their mean first. Where that
might show, because a new row is as good as equal to a training row, they come from differences.
Whatever is no matrix product takes a new
row at a time, so that its memory does not grow with the number of new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    ['Sub', 'Gemm', 'Add', 'Mul', 'ReduceSum', 'Add', 'Mul', 'Exp', 'MatMul', 'Add']
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
    scaling, Z = _around_mean(member._scaling, dense(member.X_fit_))
    rows = scaled(graph, X, scaling)
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


def _around_mean(scaling: Scaling, Z: np.ndarray) -> tuple[Scaling, np.ndarray]:
    """The same with the training rows Z (n, d) around their mean, but for columns that lie around the origin already."""
    shift = np.zeros(Z.shape[1]) if scaling.shift is None else scaling.shift
    scale = 1.0 if scaling.scale is None else scaling.scale
    further = np.where(
        shift == 0, scale * Z.mean(axis=0), 0.0
    )  # another shift would cost a large one its last digits
    return Scaling(scaling.name, shift + further, scaling.scale, scaling.ranks), Z - further / scale


def _distances(graph: Graph, rows: str, Z: np.ndarray, kernel: Kernel) -> str:
    """The distance (m, n) that the kernel is a function of: by a fast formula, or by differences where a pair is too near for it."""
    if kernel.name == "laplacian":
        size = max(1, BLOCK // Z.shape[1])
        blocks = [graph.constant(Z[i : i + size].T) for i in range(0, len(Z), size)]  # (d, b) each
        D, length = _absolute(graph, rows, Z, blocks), np.abs(Z).sum(axis=1).max()
    else:
        blocks = [graph.constant(Z)]  # (n, d), for one product
        D, length = _squared(graph, rows, Z, blocks[0]), (Z * Z).sum(axis=1).max()
    near = _near(kernel, ROUNDING * 2 * float(length))
    if near > 0:
        terms, axis = (
            (_absolute_differences, 0) if kernel.name == "laplacian" else (_squared_differences, 1)
        )
        too_near = graph("Less", graph("ReduceMin", D, keepdims=0), np.array(near))
        D = graph.either(
            too_near, lambda inner: _sums(inner, rows, Z, blocks, terms, axis), D, len(Z)
        )
    return graph("Sqrt", graph("Max", D, np.array(0.0))) if kernel.name == "exponential" else D


def _near(kernel: Kernel, error: float) -> float:
    """Below which distance the error of a fast formula moves the kernel by more than the tolerance; 0 where it never does."""
    sigma = kernel.bandwidth
    if kernel.name == "exponential":  # the root of an error is large at 0
        return (error / (2 * TOLERANCE * sigma)) ** 2
    per_unit = 2 * sigma**2 if kernel.name == "rbf" else sigma
    return max(0.0, per_unit * log(max(error / per_unit / TOLERANCE, 1e-300)))


def _squared(graph: Graph, rows: str, Z: np.ndarray, whole: str) -> str:
    """||x - z||² = ||x||² + ||z||² - 2 xᵀz."""
    D = graph("Add", graph("Gemm", rows, whole, alpha=-2.0, transB=1), (Z * Z).sum(axis=1))
    return graph("Add", D, graph("ReduceSum", graph("Mul", rows, rows), np.array([1])))


def _absolute(graph: Graph, rows: str, Z: np.ndarray, blocks: Sequence[str]) -> str:
    """||x - z||₁ = Σ z + Σ x - 2 Σ min(x, z): a pass over the numbers less than by differences."""
    overlap = graph.once(
        ("overlap", rows, *blocks),
        lambda: _sums(graph, rows, Z, blocks, lambda inner, *own: inner("Min", *own)),
    )
    D = graph("Sub", Z.sum(axis=1), graph("Mul", overlap, np.array(2.0)))
    return graph("Add", D, graph("ReduceSum", rows, np.array([1])))


def _sums(
    graph: Graph,
    rows: str,
    Z: np.ndarray,
    blocks: Sequence[str],
    terms: Callable[[Graph, str, str], str],
    axis: int = 0,
) -> str:
    """Sums over the columns, which are this axis of the blocks, of terms of a block of training rows and a new row: (m, n)."""

    def of_row(inner: Graph, row: str) -> str:
        row = inner("Unsqueeze", row, np.array([1 - axis]))
        sums = [
            inner("ReduceSum", terms(inner, block, row), np.array([axis]), keepdims=0)
            for block in blocks
        ]
        return inner("Concat", *sums, axis=0)

    return graph.each_row(rows, Z.shape[1], of_row, len(Z))


def _absolute_differences(graph: Graph, block: str, row: str) -> str:
    return graph("Abs", graph("Sub", block, row))


def _squared_differences(graph: Graph, block: str, row: str) -> str:
    apart = graph("Sub", block, row)
    return graph("Mul", apart, apart)
