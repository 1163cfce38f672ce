"""Inputs ► rows of numbers as nodes of a graph: a matrix, or the columns of a prepared table.

A number comes as itself, with NaN for a gap, and yes and no as 1 and 0: how people write them is
left to whoever reads the table. A
category comes as text, without blanks around it. ONNX has no operators for what dates, free text
and lists of tags take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skcamel.camel.scaling import Ranks
from skcamel.data.cells import missing_spellings
from skcamel.data.columns import Category, Flag, LearnedColumn, LeftOut, Number
from skcamel.data.pipeline import final, transformers
from skcamel.data.preparer import TablePreparer
from skcamel.export.graph import Graph
from skcamel.export.scores import by_column, levels

KINDS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
DOUBLE = 11  # the number of the type in ONNX
LARGEST = np.array(np.finfo(np.float64).max)
UNSEEN, GAP = -1, -2  # codes of categories
UNREADABLE = {
    "date": "reads no dates",
    "text": "cannot weigh its words",
    "tags": "splits no cells into lists",
}
CURE = "export the estimator alone, to_onnx(model[-1]), and prepare the rows in Python"


def write_rows(
    graph: Graph, model: Any, dtype: np.dtype[Any]
) -> tuple[str, list[dict[str, Any]] | None]:
    """Rows as the final estimator takes them, double (m, d), and for tables what each input holds.

    Parameters
    ----------
    graph : Graph
    model : fitted estimator or Pipeline
    dtype : float32 or float64
        Of the numbers that come in.

    Examples
    --------
    >>> model = TablePreparer().fit({"size": [1, 2, 3], "colour": ["red", "blue", "red"]})
    >>> graph = Graph()
    >>> _, told = _of_table(graph, model, np.dtype(np.float32))
    >>> [(each["input"], each["kind"]) for each in told]
    [('size', 'number'), ('colour', 'category')]
    """
    steps, told = transformers(model), None
    if steps and isinstance(steps[0], TablePreparer):
        X, told = _of_table(graph, steps.pop(0), dtype)
    else:
        X = _double(
            graph,
            graph.input("X", KINDS[dtype], int((*steps, final(model))[0].n_features_in_)),
            dtype,
        )
    for step in steps:
        X = _after(graph, X, step)
    return X, told


def _double(graph: Graph, name: str, dtype: np.dtype[Any]) -> str:
    return name if dtype == np.float64 else graph("Cast", name, to=DOUBLE)


def _after(graph: Graph, X: str, step: Any) -> str:
    """Rows after a step of scikit-learn."""
    if type(step) is StandardScaler:
        X = graph("Sub", X, step.mean_) if step.with_mean else X
        return by_column(graph, "Div", X, step.scale_) if step.with_std else X
    if type(step) is MinMaxScaler and not step.clip:
        return graph("Add", by_column(graph, "Mul", X, step.scale_), step.min_)
    raise ValueError(
        f"The step {type(step).__name__} has no counterpart here; {CURE}, or use the parameter"
        " scaling of the estimator in its place."
    )


def _of_table(
    graph: Graph, preparer: TablePreparer, dtype: np.dtype[Any]
) -> tuple[str, list[dict[str, Any]]]:
    """The same for the columns of a table: an input (m, 1) each."""
    parts = [
        part
        for part in preparer.columns_
        if not isinstance(part, LeftOut) and (part.feature_names() or part.indicator)
    ]
    _check(parts)
    inputs = {
        part: graph.input(part.name, "string" if isinstance(part, Category) else KINDS[dtype], 1)
        for part in parts
    }
    blocks: list[str] = []
    owners: list[
        tuple[LearnedColumn, bool]
    ] = []  # for each column of the blocks its part, and whether it tells the gaps
    for kind, read in ((Number, _numbers), (Flag, _flags)):
        own: list[Any] = [part for part in parts if isinstance(part, kind)]
        if own:
            values, missing = read(
                graph,
                _double(graph, graph("Concat", *[inputs[part] for part in own], axis=1), dtype),
                own,
            )
            blocks += [values, graph("Cast", missing, to=DOUBLE)]
            owners += [(part, gap) for gap in (False, True) for part in own]
    for part in parts:
        if isinstance(part, Category):
            blocks.append(_category(graph, inputs[part], part))
            owners += [(part, False)] * len(part.feature_names()) + [(part, True)] * part.indicator
    places: dict[tuple[LearnedColumn, bool], list[int]] = {}
    for place, owner in enumerate(owners):
        places.setdefault(owner, []).append(place)
    order = [
        place
        for part in parts
        for gap in (False, *[True] * part.indicator)
        for place in places.get((part, gap), ())
    ]
    return graph("Gather", graph("Concat", *blocks, axis=1), np.array(order), axis=1), [
        _told(part, inputs[part]) for part in parts
    ]


def _told(part: LearnedColumn, name: str) -> dict[str, Any]:
    told: dict[str, Any] = {"column": part.name, "input": name, "kind": part.kind}
    if isinstance(part, Number) and part.unit:
        told["unit"] = part.unit
    if isinstance(part, Flag):
        told |= {"yes": part.yes, "no": part.no}
    return told


def _check(parts: Sequence[LearnedColumn]) -> None:
    """Refuse columns that ONNX cannot read as we do."""
    for part in parts:
        if part.kind in UNREADABLE:
            raise ValueError(
                f"The column {part.name!r:.80} holds {part.kind}, and ONNX {UNREADABLE[part.kind]}."
                f" Fit without it (--drop, or TablePreparer(drop=[{part.name!r:.80}])); or {CURE}."
            )


def _numbers(graph: Graph, given: str, parts: list[Number]) -> tuple[str, str]:
    """Numbers or their ranks, gaps filled by medians; and which are gaps."""
    missing = graph("Not", graph("LessOrEqual", graph("Abs", given), LARGEST))  # also of NaN
    filled = graph("Where", missing, np.array([part.median for part in parts]), given)
    steps = [part.ranks for part in parts if part.ranks is not None]
    if not steps:
        return filled, missing
    ends = np.cumsum([len(own.knots) for own in steps])  # of all columns one after the other
    return (
        levels(
            graph,
            filled,
            Ranks(
                np.concatenate([own.knots for own in steps]),
                np.concatenate([own.levels for own in steps]),
                ends,
            ),
        ),
        missing,
    )


def _flags(graph: Graph, given: str, _: list[Flag]) -> tuple[str, str]:
    """1 and 0, and ½ for all else; and which are neither."""
    missing = graph(
        "Not",
        graph("Or", graph("Equal", given, np.array(0.0)), graph("Equal", given, np.array(1.0))),
    )
    return graph("Where", missing, np.array(0.5), given), missing


def _category(graph: Graph, given: str, part: Category) -> str:
    """A column of 0 and 1 for each value, one for the rare ones, and one for gaps if they have one."""
    width = len(part.feature_names())
    codes = dict(zip(part.values, range(width), strict=False)) | dict.fromkeys(
        part.rare, len(part.values)
    )
    codes |= dict.fromkeys(missing_spellings(), GAP) if part.indicator else {}
    keys = {
        "keys_strings": list(codes),
        "values_int64s": list(codes.values()),
        "default_int64": UNSEEN,
    }
    coded = graph("LabelEncoder", given, domain="ai.onnx.ml", **keys)
    return graph(
        "Cast", graph("Equal", coded, np.array([*range(width), *[GAP] * part.indicator])), to=DOUBLE
    )
