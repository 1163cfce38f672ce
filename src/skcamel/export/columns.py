"""Inputs ► rows of numbers as nodes of a graph: a matrix, or the columns of a prepared table.

How people write numbers, dates and lists is left to whoever reads the table. A number comes as
itself, yes and no as 1 and 0, a date as whole seconds from 1970, a category as text, tags as
several texts. ONNX has no operators for what free text takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skcamel.camel.scaling import Ranks
from skcamel.data.cells import missing_spellings
from skcamel.data.columns import CYCLES, Category, Date, Flag, LearnedColumn, LeftOut, Number, Tags
from skcamel.data.pipeline import final, transformers
from skcamel.data.preparer import TablePreparer
from skcamel.data.sources import shortened
from skcamel.export.graph import Graph
from skcamel.export.scores import by_column, levels

KINDS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
INT64, DOUBLE = 7, 11  # the numbers of the types in ONNX
LARGEST = np.array(np.finfo(np.float64).max)
UNSEEN, GAP = -1, -2  # codes of categories
NO_DATE = int(np.datetime64("NaT", "s").astype(np.int64))  # stands for a missing date
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
    >>> _, described = _of_table(graph, model, np.dtype(np.float32))
    >>> [(each["input"], each["kind"]) for each in described]
    [('size', 'number'), ('colour', 'category')]
    """
    steps, described = transformers(model), None
    if steps and isinstance(steps[0], TablePreparer):
        X, described = _of_table(graph, steps.pop(0), dtype)
    else:
        X = _double(
            graph,
            graph.input("X", KINDS[dtype], int((*steps, final(model))[0].n_features_in_)),
            dtype,
        )
    for step in steps:
        X = _after(graph, X, step)
    return X, described


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
    """The same for the columns of a table, with an input each."""
    columns: list[Any] = [
        column
        for column in preparer.columns_
        if not isinstance(column, LeftOut) and (column.feature_names() or column.indicator)
    ]
    _check(columns)
    inputs = [_input(graph, column, dtype) for column in columns]
    blocks: list[str] = []
    owners: list[int] = []  # of each feature in the blocks: twice its column; an indicator: 1 more
    numbers = [k for k, column in enumerate(columns) if isinstance(column, Number)]
    if numbers:  # all at once, for there may be many
        given = graph("Concat", *[inputs[k] for k in numbers], axis=1)
        of_numbers = [columns[k] for k in numbers]
        values, missing = _numbers(graph, _double(graph, given, dtype), of_numbers)
        blocks += [values, graph("Cast", missing, to=DOUBLE)]
        owners += [2 * k for k in numbers] + [2 * k + 1 for k in numbers]
    for k, column in enumerate(columns):
        if isinstance(column, Number):
            continue
        values, missing = _encoded(graph, inputs[k], column, dtype)
        blocks += [values, graph("Cast", missing, to=DOUBLE)]
        owners += [2 * k] * len(column.feature_names()) + [2 * k + 1]
    order = sorted(range(len(owners)), key=owners.__getitem__)
    wanted = [i for i in order if owners[i] % 2 == 0 or columns[owners[i] // 2].indicator]
    rows = graph("Gather", graph("Concat", *blocks, axis=1), np.array(wanted), axis=1)
    return rows, [_told(column, name) for column, name in zip(columns, inputs, strict=True)]


def _check(columns: list[LearnedColumn]) -> None:
    """Refuse columns that ONNX cannot read as we do."""
    names = [
        column.name for column in columns if not isinstance(column, (Number, Flag, Category, Date))
    ]
    if names:
        raise ValueError(
            f"ONNX has no operators for free text: {shortened(names, 8)}. Fit without these columns"
            f" (--column NAME=drop, or TablePreparer(drop=[{names[0]!r:.60}, …])), or {CURE}."
        )


def _input(graph: Graph, column: LearnedColumn, dtype: np.dtype[Any]) -> str:
    if isinstance(column, Date):
        return graph.input(column.name, "int64", 1)
    if isinstance(column, Category):
        width = f"tags of {column.name}" if isinstance(column, Tags) else 1
        return graph.input(column.name, "string", width)
    return graph.input(column.name, KINDS[dtype], 1)


def _told(column: LearnedColumn, name: str) -> dict[str, Any]:
    """What the metadata of the file say of an input."""
    details = {key: getattr(column, key, "") for key in ("unit", "yes", "no")}
    if isinstance(column, Date):
        details["missing"] = NO_DATE
    described = {"column": column.name, "input": name, "kind": column.kind}
    return described | {key: value for key, value in details.items() if value != ""}


def _numbers(graph: Graph, given: str, columns: list[Any]) -> tuple[str, str]:
    """Numbers or their ranks, missing ones filled by medians; and which are missing."""
    missing = graph("Not", graph("LessOrEqual", graph("Abs", given), LARGEST))  # also of NaN
    filled = graph("Where", missing, np.array([column.median for column in columns]), given)
    ranks = [column.ranks for column in columns if column.ranks is not None]
    return (_levels(graph, filled, ranks) if ranks else filled), missing


def _levels(graph: Graph, values: str, ranks: list[Any]) -> str:
    """Ranks of values (m, k), a column each."""
    knots = np.concatenate([own.knots for own in ranks])
    shares = np.concatenate([own.levels for own in ranks])
    ends = np.cumsum([len(own.knots) for own in ranks])
    return levels(graph, values, Ranks(knots, shares, ends))


def _encoded(
    graph: Graph, given: str, column: LearnedColumn, dtype: np.dtype[Any]
) -> tuple[str, str]:
    """Features (m, k) of one column, double, and whether its cells are missing (m, 1)."""
    if isinstance(column, Date):
        return _date(graph, given, column)
    if isinstance(column, Category):
        return _category(graph, given, column)
    flag = _double(graph, given, dtype)
    is_known = graph("Or", *[graph("Equal", flag, np.array(value)) for value in (0.0, 1.0)])
    return graph("Where", is_known, flag, np.array(0.5)), graph("Not", is_known)


def _date(graph: Graph, given: str, column: Date) -> tuple[str, str]:
    """Rank, and half of sine and cosine of each cycle, 0 where the date is missing."""
    missing = graph("Equal", given, np.array(NO_DATE))
    seconds = graph("Where", missing, np.array(column.median), given)
    half = graph("Where", missing, np.array(0.0), np.array(0.5))
    blocks: list[str] = []
    if column.ranks is not None:
        blocks.append(_levels(graph, graph("Cast", seconds, to=DOUBLE), [column.ranks]))
    for cycle in column.cycles:
        phase = graph("Cast", _phase(graph, cycle, seconds), to=DOUBLE)
        period = CYCLES[cycle] * (3600 if cycle == "hour" else 1)
        angle = graph("Mul", phase, np.array(2 * np.pi / period))
        blocks += [graph("Mul", graph(wave, angle), half) for wave in ("Sin", "Cos")]
    return graph("Concat", *blocks, axis=1), missing


def _phase(graph: Graph, cycle: str, seconds: str) -> str:
    """Second of the day, weekday from Monday, or month from 0, of whole seconds from 1970."""
    second = graph("Mod", seconds, np.array(86_400))
    if cycle == "hour":
        return second
    days = graph("Div", graph("Sub", seconds, second), np.array(86_400))
    if cycle == "weekday":
        return graph("Mod", graph("Add", days, np.array(3)), np.array(7))  # 1970: a Thursday
    months = np.arange("1970-01", "2370-01", dtype="datetime64[M]")  # then the calendar repeats
    begin = months.astype("datetime64[D]").astype(np.float64)
    day = graph("Cast", graph("Mod", days, np.array(146_097)), to=DOUBLE)
    numbers = Ranks(begin, np.arange(len(begin), dtype=np.float64), np.array([len(begin)]))
    month = graph("Cast", graph("Floor", levels(graph, day, numbers)), to=INT64)
    return graph("Mod", month, np.array(12))


def _category(graph: Graph, given: str, column: Any) -> tuple[str, str]:
    """A feature of 0 and 1 for each value, and one for the rare ones."""
    width = len(column.feature_names())
    codes = dict.fromkeys(missing_spellings(), GAP)
    codes |= dict.fromkeys(column.rare, len(column.values))
    codes |= {value: code for code, value in enumerate(column.values)}
    keys = {
        "keys_strings": list(codes),
        "values_int64s": list(codes.values()),
        "default_int64": UNSEEN,
    }
    coded = graph("LabelEncoder", given, domain="ai.onnx.ml", **keys)
    each = graph("Equal", graph("Unsqueeze", coded, np.array([2])), np.arange(width))
    values = graph("ReduceMax", graph("Cast", each, to=DOUBLE), np.array([1]), keepdims=0)
    is_gap = graph("Cast", graph("Equal", coded, np.array(GAP)), to=DOUBLE)
    return values, graph("ReduceMin", is_gap, np.array([1]))  # of tags: all of them
