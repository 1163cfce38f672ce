"""The tables: tickets, messages, patients, members, flats, budgets and more."""

import numpy as np
import pandas as pd

from .form import Messy, joined, json_lines, lists, marks, parquet, separated, sheet
from .making import days, gaps, generator, minutes, sentences, spoiling, topics, truth, written


def tickets() -> Messy:
    """Support tickets: subject, body, priority, and a time whose hour matters."""
    rng, n = generator("tickets"), 360
    about = topics(rng, n, 3)
    opened = days(rng, n, "2024-01-01", 300) + minutes(rng, n)
    night = ((opened.hour < 6) | (opened.hour >= 22)).astype(float)
    weekend = (opened.day_of_week >= 5).astype(float)
    priority = rng.choice(["low", "normal", "high", "urgent"], n)
    words = (
        "invoice refund charge card payment",
        "password login account reset locked",
        "crash error freeze bug screen",
    )
    Y = truth(
        rng,
        about[:, 1] + 0.3 * (priority == "high"),
        about[:, 0],
        about[:, 2] + 0.5 * (priority == "urgent"),
        2.0 * night + (priority == "urgent"),
        weekend,
        share=0.3,
    )
    cells = pd.DataFrame(
        {
            "ticket": [f"#{40211 + r}" for r in range(n)],
            "subject": sentences(rng, about * topics(rng, n, 3, 0.5), words, length=(2, 5)),
            "body": sentences(rng, about, words, length=(8, 20)),
            "priority": priority,
            "opened": opened.strftime("%Y-%m-%d %H:%M:%S"),
        }
    )
    names = ("topic_account", "topic_billing", "topic_defect", "topic_oncall", "topic_weekend")
    form, spoilt = separated(marks()), spoiling({"priority": "blocker"}, ["subject", "opened"])
    kinds = ["id", "text", "text", "category", "date"]
    return Messy("tickets", cells, Y, names, "topic_*", form, kinds, (0.958, 0.944), spoilt)


def patients() -> Messy:
    """Patients with gaps everywhere."""
    rng, n = generator("patients"), 350
    age, pressure = rng.normal(55, 17, n).round().clip(18, 95), rng.normal(130, 20, n).round()
    smoker, about = rng.random(n) < 0.35, topics(rng, n, 3)
    words = (
        "cough wheeze breath phlegm",
        "thirst sugar urine fatigue",
        "chest pain palpitations dizzy",
    )
    admitted = days(rng, n, "2022-01-01", 730)
    winter = np.isin(admitted.month, (12, 1, 2)).astype(float)
    Y = truth(
        rng,
        smoker + 1.5 * about[:, 0],
        2 * about[:, 1] + (age - 55) / 17,
        (pressure - 130) / 20 + 2 * about[:, 2],
        2 * winter + about[:, 0],
        share=0.3,
    )
    cells = pd.DataFrame(
        {
            "age": gaps(rng, age, 0.1),
            "blood pressure": gaps(rng, pressure, 0.15),
            "smoker": gaps(rng, np.where(smoker, "yes", "no"), 0.1),
            "notes": gaps(rng, sentences(rng, about, words), 0.1),
            "admitted": gaps(rng, admitted.strftime("%Y-%m-%d"), 0.04),
            "ward": rng.choice(["A", "B", "C"], n),
        }
    )
    names = ("dx_copd", "dx_diabetes", "dx_heart", "dx_influenza")
    spoilt = spoiling({"ward": "intensive care"}, ["age", "ward"])
    kinds = ["number", "number", "flag", "text", "date", "category"]
    return Messy(
        "patients", cells, Y, names, "dx_*", separated(marks()), kinds, (0.893, 0.896), spoilt
    )


def members() -> Messy:
    """Club members as JSON lines: keys are missing where nothing is known, labels are lists."""
    rng, n = generator("members"), 300
    about, age = topics(rng, n, 3), rng.integers(16, 80, n)
    words = (
        "mountain trail tent summit",
        "piano choir concert violin",
        "volunteer charity soup shelter",
    )
    joined_at, paid = days(rng, n, "2010-01-01", 4500), rng.random(n) < 0.7
    Y = truth(
        rng,
        1.5 * about[:, 0] - (age - 48) / 19,
        about[:, 1] + 0.0,
        about[:, 2] - 0.5 * paid,
        -np.asarray((joined_at - joined_at.min()).days, dtype=float),
    )
    cells = pd.DataFrame(
        {
            "bio": gaps(rng, sentences(rng, about, words), 0.1),
            "age": pd.array(gaps(rng, age.tolist(), 0.1), dtype="Int64"),
            "joined": gaps(rng, joined_at.strftime("%Y-%m-%dT%H:%M:%SZ"), 0.05),
            "paid": pd.array(gaps(rng, paid.tolist(), 0.08), dtype="boolean"),
        }
    )
    names = ("hiking", "music", "social", "veteran")
    kinds = ["text", "number", "date", "flag"]
    return Messy(
        "members", cells, Y, names, "interests", json_lines(lists("interests")), kinds, (0.923,)
    )


def german() -> Messy:
    """A German table: semicolons, decimal commas, ``31.12.2024``, umlauts in Latin-1."""
    rng, n = generator("german"), 280
    size, rent = rng.normal(75, 25, n).clip(18, 200), np.exp(rng.normal(6.7, 0.4, n))
    kind = rng.choice(["Altbau", "Neubau", "Plattenbau", "Häuschen"], n)
    balcony, free = rng.random(n) < 0.5, days(rng, n, "2023-01-01", 730)
    summer = np.isin(free.month, (5, 6, 7, 8)).astype(float)
    Y = truth(
        rng,
        (size - 75) / 25 + balcony,
        -np.log(rent) - (kind == "Neubau"),
        2 * summer + 0.5 * balcony,
        1.5 * (kind == "Altbau") + np.log(rent),
    )
    turned = str.maketrans(",.", ".,")
    rents = [text.translate(turned) for text in written("{:,.2f}", rent)]
    cells = pd.DataFrame(
        {
            "Größe": [text.replace(".", ",") for text in written("{:.1f}", size)],
            "Miete": gaps(rng, rents, 0.04),
            "Bauart": kind,
            "Balkon": np.where(balcony, "ja", "nein"),
            "frei ab": free.strftime("%d.%m.%Y"),
        }
    )
    names = ("familie", "günstig", "sommer", "urban")
    form = separated(marks("ja", "nein"), ";", encoding="latin-1")
    kinds = ["number", "number", "category", "flag", "date"]
    return Messy("german", cells, Y, names, ",".join(names), form, kinds, (0.958,))


def budget_sheet() -> Messy:
    """An Excel sheet with an empty top row, real dates and x-marks."""
    rng, n = generator("budget sheet"), 220
    planned, spent = rng.normal(900, 300, n).round(2), rng.normal(850, 350, n).round(2)
    due = days(rng, n, "2023-01-01", 700)
    unit = rng.choice(["Schools", "Roads", "Libraries"], n)
    late = (due.month >= 9).astype(float)
    Y = truth(
        rng,
        spent - planned,
        2 * late + 0.5 * (unit == "Roads"),
        planned + 300 * (unit == "Schools"),
        1.0 * (unit == "Libraries") - spent / 700,
    )
    cells = pd.DataFrame(
        {"unit": unit, "planned": planned, "spent": gaps(rng, spent, 0.05), "due": due}
    )
    names = ("exceeded", "late", "major", "minor")
    form = sheet(marks("x", ""))
    kinds = ["category", "number", "number", "date"]
    return Messy("budget_sheet", cells, Y, names, ",".join(names), form, kinds, (0.934,))


def clothes() -> Messy:
    """Clothes with a feature of several values in a cell, such as ``red;large``."""
    rng, n = generator("clothes"), 300
    values = np.array(["cotton", "large", "print", "red", "slim", "wool"])
    has = topics(rng, n, len(values))
    has[~has.any(axis=1), 0] = 1
    price = np.exp(rng.normal(3.5, 0.6, n)).round(2)
    Y = truth(
        rng,
        has[:, 2] + has[:, 3],
        np.log(price) + 0.5 * has[:, 5],
        has[:, 4] - has[:, 1],
        has[:, 0] - has[:, 5],
        has[:, 5],
    )
    cells = pd.DataFrame(
        {
            "properties": [";".join(rng.permutation(values[row == 1])) for row in has],
            "price": gaps(rng, price, 0.05),
            "brand": rng.choice(["Ax", "Bo", "Cu"], n),
        }
    )
    names = ("bold", "designer", "sporty", "summer", "winter")
    form = separated(joined("season and style", "; "))
    kinds = ["tags", "number", "category"]
    return Messy("clothes", cells, Y, names, "season and style", form, kinds, (0.952,))


def flights() -> Messy:
    """Flights in Parquet: timestamps, dictionaries, lists of labels."""
    rng, n = generator("flights"), 320
    leaves = days(rng, n, "2024-01-01", 364) + minutes(rng, n)
    carrier, miles = rng.choice(["AA", "BX", "CY", "DZ"], n), rng.gamma(3, 400, n).round()
    night = ((leaves.hour < 7) | (leaves.hour > 20)).astype(float)
    summer = np.isin(leaves.month, (6, 7, 8)).astype(float)
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
    kinds = ["date", "category", "number", "flag", "number"]
    return Messy("flights", cells, Y, names, "tags", parquet(lists("tags")), kinds, (0.942,))
