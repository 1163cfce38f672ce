"""Tables of measurements: sensors, machines, flights, laboratories."""

import numpy as np
import pandas as pd

from . import hand
from .form import Messy, lists, marks, parquet, separated
from .making import days, generator, truth


def sensors() -> Messy:
    """Readings whose first cells are None, NULL, n/a and -."""
    rng, n = generator("sensors"), 280
    values = rng.normal(size=(n, 4)).round(3)
    Y = truth(
        rng,
        values[:, 0] + values[:, 1],
        values[:, 1] - values[:, 2],
        abs(values[:, 3]),
        values[:, 2],
    )
    cells = pd.DataFrame(values.astype(str), columns=["p1", "p2", "flow", "level"])
    for column, word in zip(cells, ("None", "NULL", "n/a", "-"), strict=True):
        cells.loc[[*range(3), *rng.integers(3, n, 15)], column] = word
    names = ("leak", "overload", "stuck", "warm")
    parts = ((hand.number(hand.amount), list(cells)),)
    return Messy("sensors", cells, Y, names, "leak,overload,stuck,warm", separated(marks()), parts)


def machines() -> Messy:
    """Machines with ``~5`` and ``unknown`` in 2 % of a column of numbers."""
    rng, n = generator("machines"), 350
    hours, load, age = (
        rng.gamma(3, 300, n).round(),
        rng.normal(60, 15, n).round(1),
        rng.integers(0, 25, n),
    )
    maker = rng.choice(["Kern", "Lund", "Moro"], n)
    Y = truth(
        rng, load + 8 * (maker == "Moro"), hours + 0.0, age - 8.0 * (maker == "Kern"), -load - age
    )
    odd, junk = rng.random(n) < 0.02, np.array(["~5", "unknown", "see note"])
    cells = pd.DataFrame(
        {"hours": hours.astype(int).astype(str), "load": load, "age": age, "maker": maker}
    )
    cells.loc[odd, "hours"] = rng.choice(junk, odd.sum())
    names = ("bearing", "oil", "replace", "sleep")
    parts = (
        (hand.number(hand.amount), ["hours", "load", "age"]),
        (hand.category(), ["maker"]),
    )
    return Messy("machines", cells, Y, names, "4", separated(marks("1", "-1")), parts)


def flights() -> Messy:
    """Flights in Parquet: timestamps, dictionaries, lists of labels."""
    rng, n = generator("flights"), 320
    leaves = days(rng, n, "2024-01-01", 364) + pd.to_timedelta(
        rng.integers(0, 24 * 60, n), unit="min"
    )
    carrier, miles = rng.choice(["AA", "BX", "CY", "DZ"], n), rng.gamma(3, 400, n).round()
    night, summer = (
        ((leaves.hour < 7) | (leaves.hour > 20)).astype(float),
        np.isin(leaves.month, (6, 7, 8)).astype(float),
    )
    Y = truth(
        rng,
        summer + 0.4 * (carrier == "BX"),
        miles + 300 * (carrier == "DZ"),
        night,
        1.5 * (carrier == "CY") - miles / 900,
    )
    cells = pd.DataFrame(
        {
            "leaves": leaves,
            "carrier": pd.Categorical(carrier),
            "miles": miles,
            "meals": miles > 1500,
            "seats": rng.integers(50, 300, n),
        }
    )
    names = ("busy", "long", "quiet", "turboprop")
    parts = (
        (hand.date(), ["leaves"]),
        (hand.category(), ["carrier"]),
        (hand.number(), ["miles", "seats"]),
        (hand.flag((True,)), ["meals"]),
    )
    return Messy("flights", cells, Y, names, "tags", parquet(lists("tags")), parts)


def laboratory() -> Messy:
    """Names that a spreadsheet would run; quotes, a tab and a bell in names of columns."""
    rng, n = generator("laboratory"), 240
    values = rng.normal(size=(n, 3)).round(3)
    reagent = rng.choice(["=1+1", "+cmd", "@home", "-x"], n)
    Y = truth(
        rng,
        values[:, 0],
        1.5 * (reagent == "=1+1") + values[:, 1],
        values[:, 1] - values[:, 2],
        1.5 * (reagent == "@home") + values[:, 2],
    )
    cells = pd.DataFrame(values, columns=['he said "pH"', "a\tb", "bell\x07"]).assign(
        **{"=SUM(A1)": reagent}
    )
    names = ("acid", "blue, dark", "clear", "dense")
    parts = (
        (hand.number(), list(cells.columns[:3])),
        (hand.category(), ["=SUM(A1)"]),
    )
    return Messy("laboratory", cells, Y, names, "4", separated(marks()), parts)
