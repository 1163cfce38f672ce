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
from skcamel.data import cells, pipeline, sources
from skcamel.data.columns import CYCLES, Category, Date, Flag, LearnedColumn, LeftOut, Number, Tags
from skcamel.data.preparer import TablePreparer
from skcamel.export.graph import DOUBLE, INT64, Graph, by_column, levels

LARGEST = np.finfo(np.float64).max
# Codes of categories
UNSEEN = -1
MISSING = -2
NO_DATE = int(np.datetime64("NaT", "s").astype(np.int64))  # stands for a missing date
CURE = "export the estimator alone, to_onnx(model[-1]), and prepare the rows in Python"


def write_rows(graph: Graph, model: Any) -> tuple[str, list[dict[str, Any]]]:
    """Rows as the final estimator takes them, double (m, d), and for tables what each input holds.

    Parameters
    ----------
    graph : Graph
    model : fitted estimator or Pipeline

    Examples
    --------
    >>> model = TablePreparer().fit({"size": [1, 2, 3], "colour": ["red", "blue", "red"]})
    >>> _, described = _of_table(Graph(), model)
    >>> [(each["input"], each["kind"]) for each in described]
    [('size', 'number'), ('colour', 'category')]
    """
    steps = pipeline.transformers(model)
    described: list[dict[str, Any]] = []
    if steps and isinstance(steps[0], TablePreparer):
        X, described = _of_table(graph, steps.pop(0))
    else:
        first = (*steps, pipeline.final(model))[0]
        X = graph.numbers("X", int(first.n_features_in_))
    for step in steps:
        X = _after(graph, X, step)
    return X, described


def _after(graph: Graph, X: str, step: Any) -> str:
    """Rows after a step of scikit-learn."""
    if type(step) is StandardScaler:
        X = graph("Sub", X, step.mean_) if step.with_mean else X
        return by_column(graph, "Div", X, step.scale_) if step.with_std else X
    if type(step) is MinMaxScaler and not step.clip:
        X = by_column(graph, "Mul", X, step.scale_)
        return graph("Add", X, step.min_)
    raise ValueError(
        f"The step {type(step).__name__} has no counterpart here; {CURE}, or use the parameter"
        " scaling of the estimator in its place."
    )


def _of_table(graph: Graph, preparer: TablePreparer) -> tuple[str, list[dict[str, Any]]]:
    """The same for the columns of a table, with an input each."""
    columns: list[Any] = [
        column
        for column in preparer.columns_
        if not isinstance(column, LeftOut) and (column.feature_names() or column.indicator)
    ]
    _check(columns)
    inputs = [_input(graph, column) for column in columns]
    of_numbers = _numbers(graph, columns, inputs)
    blocks: list[str] = []
    described: list[dict[str, Any]] = []
    for column, given in zip(columns, inputs, strict=True):
        if isinstance(column, Number):
            values, missing = of_numbers[given]
        else:
            values, missing = _encoded(graph, given, column)
        blocks.append(values)
        if column.indicator:
            blocks.append(graph("Cast", missing, to=DOUBLE))
        described.append(_facts(column, given))
    return graph("Concat", *blocks, axis=1), described


def _check(columns: list[LearnedColumn]) -> None:
    """Refuse columns that ONNX cannot read as we do."""
    names = [
        column.name for column in columns if not isinstance(column, (Number, Flag, Category, Date))
    ]
    if names:
        found = sources.shortened(names, 8)
        raise ValueError(
            f"ONNX has no operators for free text: {found}. Fit without these columns"
            f" (--column NAME=drop, or TablePreparer(drop=[{found}])), or {CURE}."
        )


def _input(graph: Graph, column: LearnedColumn) -> str:
    if isinstance(column, Date):
        return graph.input(column.name, "int64", 1)
    if isinstance(column, Tags):
        return graph.input(column.name, "string", f"tags of {column.name}")
    if isinstance(column, Category):
        return graph.input(column.name, "string", 1)
    return graph.input(column.name, graph.number, 1)


def _facts(column: LearnedColumn, name: str) -> dict[str, Any]:
    """What the metadata of the file say of an input."""
    details = {key: getattr(column, key, "") for key in ("unit", "yes", "no")}
    if isinstance(column, Date):
        details["missing"] = NO_DATE
    described = {"column": column.name, "input": name, "kind": column.kind}
    return described | {key: value for key, value in details.items() if value != ""}


def _numbers(graph: Graph, columns: list[Any], inputs: list[str]) -> dict[str, tuple[str, str]]:
    """Numbers or their ranks, missing ones filled by medians, and which are missing, by input.

    They are computed at once, for there may be many.
    """
    numbers = {
        name: column
        for name, column in zip(inputs, columns, strict=True)
        if isinstance(column, Number)
    }
    if not numbers:
        return {}
    joined = graph("Concat", *numbers, axis=1)
    given = graph("Cast", joined, to=DOUBLE)
    sizes = graph("Abs", given)
    is_number = graph("LessOrEqual", sizes, LARGEST)  # not so for NaN
    missing = graph("Not", is_number)
    medians = [column.median for column in numbers.values()]
    values = graph("Where", missing, medians, given)
    ranks = [column.ranks for column in numbers.values() if column.ranks is not None]
    if ranks:
        values = _levels(graph, values, ranks)
    found = {}
    for place, name in enumerate(numbers):
        own_values = graph("Gather", values, [place], axis=1)
        own_missing = graph("Gather", missing, [place], axis=1)
        found[name] = own_values, own_missing
    return found


def _levels(graph: Graph, values: str, ranks: list[Any]) -> str:
    """Ranks of values (m, k), a column each."""
    knots = np.concatenate([own.knots for own in ranks])
    shares = np.concatenate([own.levels for own in ranks])
    ends = np.cumsum([len(own.knots) for own in ranks])
    return levels(graph, values, Ranks(knots, shares, ends))


def _encoded(graph: Graph, given: str, column: LearnedColumn) -> tuple[str, str]:
    """Features (m, k) of one column, double, and whether its cells are missing (m, 1)."""
    if isinstance(column, Date):
        return _date(graph, given, column)
    if isinstance(column, Category):
        return _category(graph, given, column)
    flag = graph("Cast", given, to=DOUBLE)
    is_no = graph("Equal", flag, 0.0)
    is_yes = graph("Equal", flag, 1.0)
    is_known = graph("Or", is_no, is_yes)
    values = graph("Where", is_known, flag, 0.5)
    return values, graph("Not", is_known)


def _date(graph: Graph, given: str, column: Date) -> tuple[str, str]:
    """Rank, and half of sine and cosine of each cycle, 0 where the date is missing."""
    missing = graph("Equal", given, NO_DATE)
    seconds = graph("Where", missing, int(column.median), given)
    half = graph("Where", missing, 0.0, 0.5)
    exact = graph("Cast", seconds, to=DOUBLE)
    blocks = [_levels(graph, exact, [column.ranks])]
    for cycle in column.cycles:
        whole = _phase(graph, cycle, seconds)
        phase = graph("Cast", whole, to=DOUBLE)
        period = CYCLES[cycle] * (3600 if cycle == "hour" else 1)
        angle = graph("Mul", phase, 2 * np.pi / period)
        sine = graph("Sin", angle)
        cosine = graph("Cos", angle)
        blocks.append(graph("Mul", sine, half))
        blocks.append(graph("Mul", cosine, half))
    return graph("Concat", *blocks, axis=1), missing


def _phase(graph: Graph, cycle: str, seconds: str) -> str:
    """Second of the day, weekday from Monday, or month from 0, of whole seconds from 1970."""
    second = graph("Mod", seconds, 86_400)
    if cycle == "hour":
        return second
    midnight = graph("Sub", seconds, second)
    days = graph("Div", midnight, 86_400)
    if cycle == "weekday":
        from_monday = graph("Add", days, 3)  # 1970-01-01 was a Thursday
        return graph("Mod", from_monday, 7)
    months = np.arange("1970-01", "2370-01", dtype="datetime64[M]")  # then the calendar repeats
    begin = months.astype("datetime64[D]").astype(np.float64)
    n = len(begin)
    months_by_day = Ranks(begin, np.arange(n, dtype=np.float64), np.array([n]))
    day_of_calendar = graph("Mod", days, 146_097)
    day = graph("Cast", day_of_calendar, to=DOUBLE)
    month = graph("Floor", levels(graph, day, months_by_day))
    whole_month = graph("Cast", month, to=INT64)
    return graph("Mod", whole_month, 12)


def _category(graph: Graph, given: str, column: Any) -> tuple[str, str]:
    """A feature of 0 and 1 for each value, and one for the rare ones."""
    width = len(column.feature_names())
    codes = dict.fromkeys(cells.missing_spellings(), MISSING)
    codes |= dict.fromkeys(column.rare, len(column.values))
    codes |= {value: code for code, value in enumerate(column.values)}
    coded = graph(
        "LabelEncoder",
        given,
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=UNSEEN,
    )
    column_of_codes = graph("Unsqueeze", coded, [2])
    is_value = graph("Equal", column_of_codes, np.arange(width))
    each = graph("Cast", is_value, to=DOUBLE)
    values = graph("ReduceMax", each, [1], keepdims=0)
    is_missing = graph("Equal", coded, MISSING)
    missing = graph("Cast", is_missing, to=DOUBLE)
    return values, graph("ReduceMin", missing, [1])  # of tags: all of them
