"""An ONNX graph under construction, and in it rows ► scores: scaling, kernel, coefficients.

Scores are computed in double precision. Coefficients of a kernel model are large and of both signs,
so that scores are small differences of large sums: in single precision a model of 1,000 rows would
miss its scores by 3e-5. So single precision is a matter of inputs and outputs alone.

Squared distances come from a product, whose rounding is relative to the length of the rows. Where
that might show, because a new row is as good as equal to a training row, they come from
differences, as the distances of the Laplacian kernel always do. What is no product takes a new row
at a time, so that its memory does not grow with the number of new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from itertools import count
from math import log
from typing import Any

import numpy as np

from skcamel.arrays import dense
from skcamel.camel.base import BaseCamel
from skcamel.camel.kernel import Kernel
from skcamel.camel.scaling import Ranks, Scaling

# Versions of 2022, so that any runtime of the last years takes the file
OPSET = 18
OPSET_ML = 3
IR = 8
# The numbers of the types in ONNX
FLOAT = 1
INT64 = 7
DOUBLE = 11
TOLERANCE = 1e-11  # of an entry of the kernel matrix
# numbers of training rows that a new row is compared with at once: they stay in the cache
BLOCK = 2**18
ROUNDING = 8 * np.finfo(np.float64).eps  # of a fast distance, relative to what is subtracted


class Graph:
    """Nodes in the order in which they run; every constant and every node stands once.

    Parameters
    ----------
    outer : Graph, default=None
        The graph whose node this one is the body of: constants are kept there, and its results can
        be used here.
    dtype : {"float32", "float64"}, default="float64"
        Of the numbers that come in and go out; between them everything is float64.

    Examples
    --------
    >>> graph = Graph()
    >>> X = graph.numbers("X", 2)
    >>> moved = graph("Sub", X, np.ones(2))
    >>> graph("Sub", X, np.ones(2)) == moved, len(graph.constants)
    (True, 1)
    """

    def __init__(self, outer: Graph | None = None, dtype: str = "float64") -> None:
        self.dtype = np.dtype(dtype)
        self.number = "float" if dtype == "float32" else "double"  # as ONNX calls it
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.nodes: list[Any] = []
        self._known: dict[Hashable, str] = {}  # what was computed ► its name
        self._root: Graph = self if outer is None else outer._root  # holds names and constants
        if outer is None:
            self.constants: dict[str, np.ndarray] = {}
            self._digests: dict[Hashable, str] = {}
            self._taken: set[str] = set()
            self._numbers = count()

    def name(self, wanted: str) -> str:
        """A name that nothing else has, as near as can be to the one that is wanted."""
        found = wanted or "_"  # ONNX takes an empty name for none
        while found in self._root._taken:
            found += "_"
        self._root._taken.add(found)
        return found

    def new(self, what: str) -> str:
        """A name with a number."""
        return self.name(f"{what}:{next(self._root._numbers)}")

    def input(self, name: str, kind: str, width: int | str) -> str:
        """An input of shape (rows, width); `kind` is float, double, int64 or string; its name."""
        own_name = self.name(name)
        declared = _declared(own_name, kind, ["rows", width])
        self.inputs.append(declared)
        return own_name

    def numbers(self, name: str, width: int) -> str:
        """An input of numbers, as double."""
        given = self.input(name, self.number, width)
        return self("Cast", given, to=DOUBLE)

    def narrowed(self, value: str) -> str:
        """Double ► the type of the numbers that go out.

        What is too large becomes the largest number, not infinity.
        """
        limit = np.finfo(self.dtype)
        smallest = float(limit.min)
        largest = float(limit.max)
        clipped = self("Clip", value, smallest, largest)
        kind = FLOAT if self.number == "float" else DOUBLE
        return self("Cast", clipped, to=kind)

    def output(self, name: str, value: str, kind: str, width: int) -> None:
        """Give a result of shape (rows, width) out under a name reserved by :meth:`name`."""
        from onnx import helper

        node = helper.make_node("Identity", [value], [name])
        self.nodes.append(node)
        declared = _declared(name, kind, ["rows", width])
        self.outputs.append(declared)

    def constant(self, value: Any) -> str:
        """The name of a constant: an array, or what numpy makes one of."""
        array = np.asarray(value, order="C")
        content = array.reshape(-1).view(np.uint8).data
        digest = sha256(content).digest()
        key = array.dtype.str, array.shape, digest
        root = self._root
        if key not in root._digests:
            name = self.new("constant")
            root._digests[key] = name
            root.constants[name] = array
        return root._digests[key]

    def __call__(self, op: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """The result of an operator; the same result again where it has been computed already.

        An input that is no name of a result is a constant.
        """
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        key = op, *names, repr(attributes)
        return self.once(key, lambda: self._add(op, names, domain, attributes))

    def once(self, key: Hashable, build: Callable[[], str]) -> str:
        """What `build` gives, called only where the key is new."""
        if key not in self._known:
            self._known[key] = build()
        return self._known[key]

    def each_row(self, rows: str, d: int, build: Callable[[Graph, str], str], width: int) -> str:
        """What `build` makes of each of the rows (m, d), one at a time: double (m, width)."""
        inner = Graph(self)
        row = inner.new("row")
        result = build(inner, row)
        declared = _declared(row, "double", [d])
        body = inner._closed("each_row", result, [declared], [width])
        attributes = {"num_scan_inputs": 1, "body": body}
        return self._add("Scan", [rows], "", attributes)

    def either(
        self, condition: str, then: Callable[[Graph], str], otherwise: str, width: int
    ) -> str:
        """What `then` builds where the condition holds, else the other result: (m, width) both."""
        first = Graph(self)
        second = Graph(self)
        shape = ["rows", width]
        if_so = then(first)
        if_not = second("Identity", otherwise)
        then_branch = first._closed("then", if_so, [], shape)
        else_branch = second._closed("else", if_not, [], shape)
        branches = {"then_branch": then_branch, "else_branch": else_branch}
        return self._add("If", [condition], "", branches)

    def _add(self, op: str, names: Sequence[str], domain: str, attributes: dict[str, Any]) -> str:
        from onnx import helper

        made = self.new(op)
        node = helper.make_node(op, names, [made], domain=domain, **attributes)
        self.nodes.append(node)
        return made

    def _closed(self, name: str, result: str, inputs: list[Any], shape: list[Any]) -> Any:
        """The body of a node."""
        from onnx import helper

        declared = _declared(result, "double", shape)
        return helper.make_graph(self.nodes, name, inputs, [declared])

    def finished(self, name: str, properties: dict[str, str], version: str) -> Any:
        """The whole as a ModelProto."""
        from onnx import helper, numpy_helper

        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, constants)
        imports = [helper.make_opsetid("", OPSET)]
        if any(node.domain for node in self.nodes):
            of_ml = helper.make_opsetid("ai.onnx.ml", OPSET_ML)
            imports.append(of_ml)
        model = helper.make_model(
            graph,
            opset_imports=imports,
            ir_version=IR,
            producer_name="skcamel",
            producer_version=version,
        )
        helper.set_model_props(model, properties)
        return model


def _declared(name: str, kind: str, shape: list[Any]) -> Any:
    from onnx import TensorProto, helper

    number = getattr(TensorProto, kind.upper())
    return helper.make_tensor_value_info(name, number, shape)


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
    >>> found = write_scores(graph, graph.numbers("X", 4), model)
    >>> [node.op_type for node in graph.nodes]
    ['Cast', 'Gemm', 'Add', 'Mul', 'ReduceSum', 'Add', 'Mul', 'Exp', 'MatMul', 'Add']
    """
    constant, members = estimator._terms()
    for weight, member in members:
        constant = constant + weight * member._offset
    total = graph.constant(constant)
    for weight, member in members:
        features, coefficients = _features(graph, X, member)
        part = graph("MatMul", features, weight * coefficients)
        total = graph("Add", part, total)
    return total


def _features(graph: Graph, X: str, member: Any) -> tuple[str, np.ndarray]:
    """What the scores of a member are linear in, (m, width), and its coefficients (width, q)."""
    kernel = member._kernel
    A = member.dual_coef_
    if kernel.name == "precomputed":
        return X, A
    rows = scaled(graph, X, member._scaling)
    if kernel.name == "linear":
        return rows, A if member.X_fit_ is None else member.X_fit_.T @ A
    Z = dense(member.X_fit_)
    D = _distances(graph, rows, Z, kernel)
    per_distance = -1 / kernel.bandwidth
    if kernel.name == "rbf":
        per_distance = -0.5 / kernel.bandwidth**2
    exponent = graph("Mul", D, per_distance)
    return graph("Exp", exponent), A


def scaled(graph: Graph, X: str, scaling: Scaling) -> str:
    """Rows X (m, d) scaled."""
    rows = X
    if scaling.ranks is not None:
        rows = levels(graph, X, scaling.ranks)
    elif scaling.name == "unit":
        sizes = graph("Abs", X)
        largest = graph("ReduceMax", sizes, [1])
        rows = _divided(graph, X, largest)
        length = graph("Sqrt", _squared_length(graph, rows))
        rows = _divided(graph, rows, length)
    if scaling.shift is not None and scaling.shift.any():
        rows = graph("Sub", rows, scaling.shift)
    if scaling.scale is not None and (scaling.scale != 1).any():
        rows = by_column(graph, "Div", rows, scaling.scale)
    return rows


def _squared_length(graph: Graph, rows: str) -> str:
    """Sums of squares (m, 1) of rows (m, d)."""
    squares = graph("Mul", rows, rows)
    return graph("ReduceSum", squares, [1])


def by_column(graph: Graph, op: str, rows: str, numbers: np.ndarray) -> str:
    """Rows (m, d) multiplied or divided by numbers (d,).

    A single number gets a row for each of the rows: onnxruntime would move it into the matrix
    product that follows, in single precision.
    """
    if len(numbers) > 1:
        return graph(op, rows, numbers)
    shape = graph("Shape", rows)
    expanded = graph("Expand", numbers, shape)
    return graph(op, rows, expanded)


def _divided(graph: Graph, rows: str, by: str) -> str:
    """Rows (m, d) divided by numbers (m, 1) or (m, d), by 1 where these are 0; NaN stays NaN."""
    is_zero = graph("Equal", by, 0.0)
    divisor = graph("Where", is_zero, 1.0, by)
    return graph("Div", rows, divisor)


def levels(graph: Graph, X: str, ranks: Ranks) -> str:
    """Levels of the rows X (m, d), linear between the knots of each column; NaN stays NaN.

    Bisection finds the knots: `at` is a knot at X or below it, if there is one.
    """
    last = ranks.ends.astype(np.int64) - 1
    first = np.append(0, last[:-1] + 1)
    at = graph.constant(first)  # (d,), later (m, d)
    longest = int(max(last - first))
    powers = np.arange(longest.bit_length())[::-1]
    for step in 2**powers:
        beyond = graph("Add", at, step)
        ahead = graph("Min", beyond, last)
        knot_ahead = graph("Gather", ranks.knots, ahead)
        is_below = graph("LessOrEqual", knot_ahead, X)
        at = graph("Where", is_below, ahead, at)
    after = graph("Add", at, 1)
    following = graph("Min", after, last)
    knot = graph("Gather", ranks.knots, at)
    next_knot = graph("Gather", ranks.knots, following)
    level = graph("Gather", ranks.levels, at)
    next_level = graph("Gather", ranks.levels, following)
    width = graph("Sub", next_knot, knot)
    height = graph("Sub", next_level, level)
    beyond_knot = graph("Sub", X, knot)
    share = _divided(graph, beyond_knot, width)
    share = graph("Clip", share, 0.0, 1.0)  # beyond the outermost knots
    rise = graph("Mul", height, share)
    return graph("Add", level, rise)


def _distances(graph: Graph, rows: str, Z: np.ndarray, kernel: Kernel) -> str:
    """The distance (m, n) that the kernel is a function of."""
    n, d = Z.shape
    if kernel.name == "laplacian":
        size = max(1, BLOCK // d)
        blocks = [graph.constant(Z[i : i + size].T) for i in range(0, n, size)]  # (d, b) each
        return graph.once((rows, *blocks), lambda: _sums(graph, rows, d, n, blocks))
    whole = graph.constant(Z.T)
    squares = (Z * Z).sum(axis=1)
    D = graph("Add", graph("Gemm", rows, whole, alpha=-2.0), squares)  # ||x||² + ||z||² - 2 xᵀz
    D = graph("Add", D, _squared_length(graph, rows))
    error = ROUNDING * 2 * float(squares.max())
    near = _near(kernel, error)
    if near > 0:
        nearest = graph("ReduceMin", D, keepdims=0)
        is_near = graph("Less", nearest, near)
        D = graph.either(is_near, lambda inner: _sums(inner, rows, d, n, [whole], True), D, n)
    if kernel.name == "rbf":
        return D
    positive = graph("Max", D, 0.0)
    return graph("Sqrt", positive)


def _near(kernel: Kernel, error: float) -> float:
    """Below which squared distance a fast one may be too far off; 0 where it never is.

    That is where its `error` moves the kernel by more than the tolerance.
    """
    if kernel.name == "exponential":  # the root of an error is large at 0
        return (error / (2 * TOLERANCE * kernel.bandwidth)) ** 2
    per_unit = 2 * kernel.bandwidth**2
    return max(0.0, per_unit * log(max(error / per_unit / TOLERANCE, 1e-300)))


def _sums(
    graph: Graph, rows: str, d: int, n: int, blocks: Sequence[str], squared: bool = False
) -> str:
    """Sums (m, n) of absolute or squared differences of rows (m, d) and training rows.

    The blocks hold the training rows, (d, b) each.
    """

    def of_row(inner: Graph, row: str) -> str:
        column = inner("Unsqueeze", row, [1])
        sums: list[str] = []
        for block in blocks:
            apart = inner("Sub", block, column)
            terms = inner("Mul", apart, apart) if squared else inner("Abs", apart)
            sums.append(inner("ReduceSum", terms, [0], keepdims=0))
        return inner("Concat", *sums, axis=0)

    return graph.each_row(rows, d, of_row, n)
