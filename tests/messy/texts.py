"""Tables whose main column is text: packages, tickets, messages, replies, recipes."""

import numpy as np
import pandas as pd

from . import hand
from .form import Messy, joined, json_cells, marks, separated
from .making import days, gaps, generator, sentences, spoiling, topics, truth, written

SOFTWARE = (
    "router packet socket proxy tcp firewall dns",
    "compiler debugger linker syntax parser library bindings",
    "game sprite puzzle arcade chess player level",
    "audio codec mixer sampler playlist tuner stereo",
)


def packages() -> Messy:
    """Software packages with tags in one cell; sizes with thousands separators."""
    rng, n = generator("packages"), 320
    about = topics(rng, n, 4)
    section = rng.choice(["admin", "devel", "games", "net", "sound"], n)
    size, installs = np.exp(rng.normal(8, 2, n)), np.exp(rng.normal(6, 2, n))
    updated = days(rng, n, "2015-01-01", 3200)
    old = (updated < "2018-06-01").astype(float)
    Y = truth(
        rng,
        about[:, 1] + (section == "devel"),
        about[:, 2] + (section == "games"),
        np.log(size),
        about[:, 0] + (section == "net"),
        np.log(installs) / 2 - 2 * old,
        about[:, 3] + (section == "sound"),
    )
    cells = pd.DataFrame(
        {
            "description": sentences(rng, about, SOFTWARE),
            "section": section,
            "size": written("{:,.0f}", size),
            "installs": installs.round(),
            "updated": updated.strftime("%Y-%m-%d"),
        }
    )
    names = ("coding", "gaming", "large", "network", "popular", "sound")
    parts = (
        (hand.text(), "description"),
        (hand.category(), ["section"]),
        (hand.number(hand.amount, skewed=True), ["size", "installs"]),
        (hand.date(), ["updated"]),
    )
    return Messy(
        "packages",
        cells,
        Y,
        names,
        "tags",
        separated(joined("tags", "|")),
        parts,
        spoiling({"section": "electronics"}, ["installs", "description"]),
    )


def tickets() -> Messy:
    """Support tickets: subject, body, priority, and a time whose hour matters."""
    rng, n = generator("tickets"), 360
    about = topics(rng, n, 3)
    opened = days(rng, n, "2024-01-01", 300) + pd.to_timedelta(
        rng.integers(0, 24 * 60, n), unit="min"
    )
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
    parts = (
        (hand.text(), "subject"),
        (hand.text(), "body"),
        (hand.category(), ["priority"]),
        (hand.date("%Y-%m-%d %H:%M:%S"), ["opened"]),
    )
    return Messy(
        "tickets",
        cells,
        Y,
        names,
        "topic_*",
        separated(marks()),
        parts,
        spoiling({"priority": "blocker"}, ["subject", "opened"]),
        others={"ticket": "id"},
    )


def messages() -> Messy:
    """Chat messages with emoji and right-to-left words; odd names of columns; x-marks."""
    rng, n = generator("messages"), 300
    about = topics(rng, n, 3)
    words = "😀 😂 party مرحبا", "🚗 traffic שלום road 🚦", "🍕 dinner طعام hungry 🍔"
    platform = rng.choice(["iOS", "Android", "web 🌐"], n)
    length = rng.integers(5, 400, n)
    Y = truth(
        rng,
        about[:, 0],
        about[:, 2] + 0.5 * (platform == "web 🌐"),
        length.astype(float),
        about[:, 1],
    )
    cells = pd.DataFrame(
        {
            "the message": sentences(rng, about, words),
            'sent "from"': platform,
            "length, in letters": length,
        }
    )
    names = ("Cheerful 😀", "Food", "Long; rambling", "On the road")
    parts = (
        (hand.text(r"\S+"), "the message"),
        (hand.category(), ['sent "from"']),
        (hand.number(), ["length, in letters"]),
    )
    return Messy("messages", cells, Y, names, "4", separated(marks("x", "")), parts)


def replies() -> Messy:
    """Canned replies: few different texts, each of them often; labels are Y and N."""
    rng, n = generator("replies"), 280
    kinds = topics(rng, 40, 3, 0.45)
    words = (
        "sorry apologise regret delay",
        "discount voucher coupon offer",
        "return parcel label courier",
    )
    canned = sentences(rng, kinds, words, length=(8, 14))
    which = rng.integers(0, len(canned), n)
    about = kinds[which]
    spent = np.exp(rng.normal(4, 1, n)).round(2)
    agent = rng.choice(["Ana", "Ben", "Chi", "Dov"], n)
    Y = truth(
        rng,
        about[:, 0] + 0.5 * (agent == "Ana"),
        about[:, 1],
        np.log(spent) + (agent == "Dov"),
        about[:, 2],
    )
    cells = pd.DataFrame({"reply": [canned[k] for k in which], "agent": agent, "spent": spent})
    names = ("apology", "offer", "premium", "return")
    parts = (
        (hand.text(), "reply"),
        (hand.category(), ["agent"]),
        (hand.number(skewed=True), ["spent"]),
    )
    return Messy(
        "replies",
        cells,
        Y,
        names,
        "apology,offer,premium,return",
        separated(marks("Y", "N")),
        parts,
    )


def recipes() -> Messy:
    """Recipes whose labels are JSON lists in a cell of a CSV."""
    rng, n = generator("recipes"), 300
    about = topics(rng, n, 4)
    words = (
        "beef pork chicken bacon",
        "tofu lentils chickpea spinach",
        "sugar chocolate vanilla caramel",
        "chilli pepper cayenne jalapeno",
    )
    minutes, portions = np.exp(rng.normal(3.5, 0.7, n)).round(), rng.integers(1, 9, n)
    Y = truth(
        rng,
        about[:, 0] - about[:, 1],
        portions.astype(float),
        -minutes,
        about[:, 2],
        about[:, 3],
        about[:, 1] - about[:, 0],
    )
    cells = pd.DataFrame(
        {
            "ingredients": sentences(rng, about, words, length=(3, 7)),
            "minutes": gaps(rng, minutes, 0.08),
            "portions": portions,
        }
    )
    names = ("carnivore", "family", "fast", "sweet", "tangy, hot", "veggie")
    parts = (
        (hand.text(), "ingredients"),
        (hand.number(skewed=True), ["minutes"]),
        (hand.number(), ["portions"]),
    )
    return Messy("recipes", cells, Y, names, "labels", separated(json_cells("labels")), parts)
