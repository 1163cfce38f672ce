"""An ONNX graph under construction: every constant and every node once, with names that no input has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

import numpy as np

OPSET, OPSET_ML, IR = 18, 3, 8  # of 2022, so that any runtime of the last years takes the file
Value = str | np.ndarray  # the name of a result or an input, or a constant


class Graph:
    """Nodes in the order in which they run.

    Parameters
    ----------
    outer : Graph, default=None
        The graph whose node this one is the body of: constants are kept there, and its results can
        be used here.

    Examples
    --------
    >>> graph = Graph()
    >>> X = graph.input("X", "double", 2)
    >>> moved = graph("Sub", X, np.ones(2))
    >>> graph("Sub", X, np.ones(2)) == moved, len(graph.constants)
    (True, 1)
    """

    def __init__(self, outer: Graph | None = None) -> None:
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

    def input(self, name: str, kind: str, width: int | str) -> str:
        """An input of shape (rows, width) that holds "float", "double", "int64" or "string"; its name."""
        self.inputs.append(_declared(self.name(name), kind, ["rows", width]))
        return self.inputs[-1].name

    def output(self, name: str, value: str, kind: str, width: int) -> None:
        """Give a result of shape (rows, width) out under a name that was reserved by :meth:`name`."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(_declared(name, kind, ["rows", width]))

    def constant(self, array: Any) -> str:
        """The name of a constant."""
        array = np.asarray(array, order="C")
        key = array.dtype.str, array.shape, sha256(array.reshape(-1).view(np.uint8).data).digest()
        root = self._root
        if key not in root._digests:
            root._digests[key] = self.name(f"constant:{next(root._numbers)}")
            root.constants[root._digests[key]] = array
        return root._digests[key]

    def __call__(self, op: str, *inputs: Value, domain: str = "", **attributes: Any) -> str:
        """The result of an operator; the same result again where it has been computed already."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        return self.once(
            (op, *names, repr(attributes)), lambda: self._add(op, names, domain, attributes)
        )

    def once(self, key: Hashable, build: Callable[[], str]) -> str:
        """What `build` gives, called only where the key is new."""
        if key not in self._known:
            self._known[key] = build()
        return self._known[key]

    def each_row(self, rows: str, d: int, build: Callable[[Graph, str], str], width: int) -> str:
        """What `build` makes of a row (d,), of length `width`, for each of the rows (m, d): double (m, width), a row at a time."""
        inner = Graph(self)
        row = inner.name(f"row:{next(self._root._numbers)}")
        body = inner._closed(
            "each_row", build(inner, row), [_declared(row, "double", [d])], [width]
        )
        return self._add("Scan", [rows], "", {"num_scan_inputs": 1, "body": body})

    def either(
        self, condition: str, then: Callable[[Graph], str], otherwise: str, width: int
    ) -> str:
        """What `then` builds where the condition holds, else the other result, double (m, width) both."""
        first, second = Graph(self), Graph(self)
        branches = {
            "then_branch": first._closed("then", then(first), [], ["rows", width]),
            "else_branch": second._closed(
                "else", second("Identity", otherwise), [], ["rows", width]
            ),
        }
        return self._add("If", [condition], "", branches)

    def _add(self, op: str, names: Sequence[str], domain: str, attributes: dict[str, Any]) -> str:
        from onnx import helper

        made = self.name(f"{op}:{next(self._root._numbers)}")
        self.nodes.append(helper.make_node(op, names, [made], domain=domain, **attributes))
        return made

    def _closed(self, name: str, result: str, inputs: list[Any], shape: list[Any]) -> Any:
        """The body of a node."""
        from onnx import helper

        return helper.make_graph(self.nodes, name, inputs, [_declared(result, "double", shape)])

    def finished(self, name: str, properties: dict[str, str], version: str) -> Any:
        """The whole as a ModelProto."""
        from onnx import helper, numpy_helper

        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, constants)
        sets = {node.domain for node in self.nodes}
        imports = [
            helper.make_opsetid(domain, OPSET_ML if domain else OPSET) for domain in sorted(sets)
        ]
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

    return helper.make_tensor_value_info(name, getattr(TensorProto, kind.upper()), shape)
