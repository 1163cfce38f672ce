"""Tables about people: patients, a survey, visits, students, members."""

import uuid

import numpy as np
import pandas as pd

from . import hand
from .form import Messy, apart, apart_long, json_lines, lists, marks, separated
from .making import days, gaps, generator, sentences, spoiling, topics, truth

LIKERT = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")


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
    parts = (
        (hand.number(), ["age", "blood pressure"]),
        (hand.flag(), ["smoker"]),
        (hand.text(), "notes"),
        (hand.date(), ["admitted"]),
        (hand.category(), ["ward"]),
    )
    return Messy(
        "patients",
        cells,
        Y,
        names,
        "dx_*",
        separated(marks()),
        parts,
        spoiling({"ward": "intensive care"}, ["age", "ward"]),
    )


def survey() -> Messy:
    """A survey from strongly disagree to strongly agree; who earns much leaves income out."""
    rng, n = generator("survey"), 380
    answers = rng.integers(0, 5, (n, 4))
    income = np.exp(rng.normal(10.3, 0.6, n)).round(-2)
    silent = rng.random(n) < np.where(income > np.quantile(income, 0.6), 0.7, 0.05)
    Y = truth(
        rng,
        silent.astype(float),
        answers[:, 0] + answers[:, 1] + 0.0,
        answers[:, 2] - answers[:, 3] + 0.0,
        answers[:, 3] + answers[:, 1] + 0.0,
    )
    cells = pd.DataFrame(
        {
            f"Q{k + 1}. I like {what}": gaps(rng, np.array(LIKERT)[answers[:, k]], 0.06)
            for k, what in enumerate(("parks", "trams", "cars", "shops"))
        }
        | {
            "income": np.where(silent, np.nan, income),
            "age group": rng.choice(["18-29", "30-44", "45-64", "65+"], n),
        }
    )
    questions = [name for name in cells if name.startswith("Q")]
    names = ("wants_discretion", "wants_green", "wants_roads", "wants_transit")
    parts = (
        (hand.category(LIKERT), questions),
        (hand.number(skewed=True), ["income"]),
        (hand.category(), ["age group"]),
    )
    return Messy("survey", cells, Y, names, "wants_*", separated(marks()), parts)


def visits() -> Messy:
    """Visits with labels in a file of their own, joined by codes such as P-0012."""
    rng, n = generator("visits"), 280
    about, weight = topics(rng, n, 3), rng.normal(78, 14, n).round(1)
    words = "rash itch eczema skin", "blurred eye vision glasses", "knee joint ankle swelling"
    insured = rng.random(n) < 0.6
    Y = truth(
        rng,
        about[:, 0],
        about[:, 1] + 0.5 * insured,
        about[:, 2] + (weight - 78) / 20,
        (weight - 78) / 14 - insured,
    )
    cells = pd.DataFrame(
        {
            "patient": [f"P-{code:04d}" for code in rng.permutation(9000)[:n]],
            "complaint": sentences(rng, about, words),
            "weight": gaps(rng, weight, 0.05),
            "insured": np.where(insured, "Yes", "No"),
        }
    )
    names = ("dermatology", "eyes", "orthopaedics", "prevention")
    parts = (
        (hand.text(), "complaint"),
        (hand.number(), ["weight"]),
        (hand.flag(("Yes",)), ["insured"]),
    )
    return Messy(
        "visits",
        cells,
        Y,
        names,
        "dermatology,eyes,orthopaedics,prevention",
        apart("patient", marks()),
        parts,
        others={"patient": "id"},
    )


def students() -> Messy:
    """Students under UUIDs, with a second file of one line for each course that someone takes."""
    rng, n = generator("students"), 300
    grades = rng.normal(size=(n, 3)).round(2)
    school = rng.choice(["north", "south", "east"], n)
    Y = truth(
        rng,
        grades[:, 0] + (school == "north"),
        grades[:, 1] + grades[:, 2],
        1.0 * (school == "south") - grades[:, 0] / 2,
        grades[:, 2] - grades[:, 1],
        share=0.4,
    )
    Y[~Y.any(axis=1), 3] = 1  # a row without labels has no line in the second file
    numbers = rng.integers(0, 2**32, (n, 4))
    cells = pd.DataFrame(
        {
            "student": [
                str(
                    uuid.UUID(
                        int=sum(int(part) << (32 * k) for k, part in enumerate(row)), version=4
                    )
                )
                for row in numbers
            ],
            "maths": grades[:, 0],
            "language": grades[:, 1],
            "arts": gaps(rng, grades[:, 2], 0.1),
            "school": school,
        }
    )
    names = ("algebra", "history", "latin", "painting")
    parts = (
        (hand.number(), ["maths", "language", "arts"]),
        (hand.category(), ["school"]),
    )
    return Messy(
        "students",
        cells,
        Y,
        names,
        "course",
        apart_long("student", "course"),
        parts,
        others={"student": "id"},
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
    parts = (
        (hand.text(), "bio"),
        (hand.number(hand.amount), ["age"]),
        (hand.date("%Y-%m-%dT%H:%M:%SZ"), ["joined"]),
        (hand.flag((True,)), ["paid"]),
    )
    return Messy("members", cells, Y, names, "interests", json_lines(lists("interests")), parts)
