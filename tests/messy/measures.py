"""Tables of measurements: stations, sensors, regions, machines, spectra, flights, devices, laboratories."""

import numpy as np
import pandas as pd

from . import hand
from .form import Messy, lists, marks, parquet, separated
from .making import days, gaps, generator, topics, truth, written


def stations() -> Messy:
    """Weather stations with units behind the numbers."""
    rng, n = generator("stations"), 300
    heat, wind, rain = rng.normal(11, 9, n), rng.gamma(2, 8, n), rng.gamma(1.2, 4, n)
    station = rng.choice(["coast", "hill", "valley"], n)
    Y = truth(
        rng,
        (station == "valley") - wind / 12,
        heat - 3 * (station == "hill"),
        rain + 5 * (station == "hill"),
        wind + 8 * (station == "coast"),
        -heat,
    )
    cells = pd.DataFrame(
        {
            "station": station,
            "temperature": written("{:.1f} °C", heat),
            "wind": gaps(rng, written("{:.0f} km/h", wind), 0.05),
            "rain": gaps(rng, written("{:.1f}mm", rain), 0.05),
        }
    )
    return Messy(
        "stations",
        cells,
        Y,
        ("fog", "heat", "rain alert", "storm", "xfrost"),
        "5",
        separated(marks()),
        lambda: hand.prepared(
            (hand.category(), ["station"]),
            (hand.number(hand.amount), ["temperature", "wind", "rain"]),
        ),
    )


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
    return Messy(
        "sensors",
        cells,
        Y,
        ("leak", "overload", "stuck", "warm"),
        "leak,overload,stuck,warm",
        separated(marks()),
        lambda: hand.prepared((hand.number(hand.amount), list(cells))),
    )


def regions() -> Messy:
    """Regions with populations such as ``3,640,773``."""
    rng, n = generator("regions"), 240
    people, area = np.exp(rng.normal(12.5, 1.5, n)), np.exp(rng.normal(8, 1, n))
    share, climate = rng.beta(3, 2, n), rng.choice(["arid", "mild", "polar", "tropical"], n)
    density = np.log(people / area)
    Y = truth(
        rng,
        density,
        np.log(people),
        share + 0.3 * (climate == "mild"),
        1.5 * (climate == "tropical") - density / 4,
        noise=0.3,
    )
    cells = pd.DataFrame(
        {
            "population": written("{:,.0f}", people),
            "area km2": gaps(rng, written("{:,.0f}", area), 0.04),
            "urban share": share.round(3),
            "climate": climate,
        }
    )
    return Messy(
        "regions",
        cells,
        Y,
        ("dense", "large", "modern", "remote"),
        "dense,large,modern,remote",
        separated(marks("True", "False")),
        lambda: hand.prepared(
            (hand.number(hand.amount, skewed=True), ["population", "area km2"]),
            (hand.number(), ["urban share"]),
            (hand.category(), ["climate"]),
        ),
    )


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
    return Messy(
        "machines",
        cells,
        Y,
        ("bearing", "oil", "replace", "sleep"),
        "4",
        separated(marks("1", "-1")),
        lambda: hand.prepared(
            (hand.number(hand.amount), ["hours", "load", "age"]), (hand.category(), ["maker"])
        ),
    )


def spectra() -> Messy:
    """Sixty columns of numbers and no text at all."""
    rng, n, d = generator("spectra"), 260, 60
    hidden = rng.normal(size=(n, 6))
    channels = (hidden @ rng.normal(size=(6, d)) + 0.5 * rng.normal(size=(n, d))).round(4)
    cells = pd.DataFrame(
        channels * np.exp(rng.normal(0, 1.5, d)).round(2), columns=[f"ch{k:02d}" for k in range(d)]
    ).round(4)
    return Messy(
        "spectra",
        cells,
        truth(rng, *(hidden[:, k] + 0.5 * hidden[:, k - 1] for k in range(6))),
        tuple(f"element_{name}" for name in ("al", "cu", "fe", "ni", "pb", "zn")),
        "element_*",
        separated(marks()),
        lambda: hand.prepared((hand.number(), list(cells))),
    )


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
    return Messy(
        "flights",
        cells,
        Y,
        ("busy", "long", "quiet", "turboprop"),
        "tags",
        parquet(lists("tags")),
        lambda: hand.prepared(
            (hand.date(), ["leaves"]),
            (hand.category(), ["carrier"]),
            (hand.number(), ["miles", "seats"]),
            (hand.flag((True,)), ["meals"]),
        ),
    )


def devices() -> Messy:
    """Devices with columns of true and false, in three spellings."""
    rng, n = generator("devices"), 260
    on = topics(rng, n, 4, 0.45)
    uptime = rng.gamma(2, 100, n).round()
    Y = truth(
        rng, on[:, 0] + on[:, 1], on[:, 2] - on[:, 3], uptime + 150 * on[:, 3], on[:, 1] - on[:, 0]
    )
    cells = pd.DataFrame(
        {
            "encrypted": on[:, 0] == 1,
            "managed": np.where(on[:, 1], "Y", "N"),
            "rooted": gaps(rng, np.where(on[:, 2], "true", "false"), 0.06),
            "vpn": np.where(on[:, 3], "on", "off"),
            "uptime": uptime,
        }
    )
    return Messy(
        "devices",
        cells,
        Y,
        ("compliant", "risky", "stable", "unlocked"),
        "compliant,risky,stable,unlocked",
        separated(marks("t", "f")),
        lambda: hand.prepared(
            (hand.flag((True, "Y", "true", "on")), ["encrypted", "managed", "rooted", "vpn"]),
            (hand.number(), ["uptime"]),
        ),
    )


def laboratory() -> Messy:
    """Names that a spreadsheet would run, quotes, a tab and a control character in the names of columns."""
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
    return Messy(
        "laboratory",
        cells,
        Y,
        ("acid", "blue, dark", "clear", "dense"),
        "4",
        separated(marks()),
        lambda: hand.prepared(
            (hand.number(), list(cells.columns[:3])), (hand.category(), ["=SUM(A1)"])
        ),
    )
