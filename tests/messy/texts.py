"""Tables whose main column is text: packages, films, tickets, reviews, messages, replies, recipes."""

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
    return Messy(
        "packages",
        cells,
        Y,
        ("coding", "gaming", "large", "network", "popular", "sound"),
        "tags",
        separated(joined("tags", "|")),
        lambda: hand.prepared(
            (hand.text(), "description"),
            (hand.category(), ["section"]),
            (hand.number(hand.amount, skewed=True), ["size", "installs"]),
            (hand.date(), ["updated"]),
        ),
        spoiling({"section": "electronics"}, ["installs", "description"]),
    )


def movies() -> Messy:
    """Films: a title, a plot, a budget in dollars, genres as ``a, b``."""
    rng, n = generator("movies"), 300
    about = topics(rng, n, 4)
    year, runtime = rng.integers(1950, 2025, n), rng.normal(105, 15, n).round()
    budget = np.exp(rng.normal(16.5, 1.3, n)).round(-5)
    language = rng.choice(
        ["English", "French", "Hindi", "Japanese", "Korean"], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]
    )
    Y = truth(
        rng,
        np.log(budget) / 2 + about[:, 0],
        2 * about[:, 1] - (runtime - 105) / 20,
        (runtime - 105) / 15 + about[:, 2],
        2 * about[:, 3] + (language == "Japanese"),
        (1985 - year) / 15.0,
    )
    hints = (
        "chase bullets heist",
        "joke wedding mishap",
        "letters father loss",
        "spaceship robot planet",
    )
    plots = (
        "explosion agent revenge mission escape",
        "laughs roommate prank awkward",
        "grief memory divorce illness",
        "galaxy alien time clone",
    )
    plain = (
        "night road house last summer city river winter garden king little black white long return"
        " story island north"
    )
    cells = pd.DataFrame(
        {
            "title": sentences(
                rng, about * topics(rng, n, 4, 0.3), hints, filler=plain, length=(2, 5)
            ),
            "plot": sentences(rng, about, plots),
            "year": year,
            "runtime": gaps(rng, runtime, 0.05),
            "budget": written("${:,.0f}", budget),
            "language": language,
        }
    )
    return Messy(
        "movies",
        cells,
        Y,
        ("Action", "Comedy", "Drama", "Sci-Fi", "Western"),
        "genres",
        separated(joined("genres", ", ")),
        lambda: hand.prepared(
            (hand.text(), "title"),
            (hand.text(), "plot"),
            (hand.number(), ["year", "runtime"]),
            (hand.number(hand.amount, skewed=True), ["budget"]),
            (hand.category(), ["language"]),
        ),
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
    return Messy(
        "tickets",
        cells,
        Y,
        ("topic_account", "topic_billing", "topic_defect", "topic_oncall", "topic_weekend"),
        "topic_*",
        separated(marks()),
        lambda: hand.prepared(
            (hand.text(), "subject"),
            (hand.text(), "body"),
            (hand.category(), ["priority"]),
            (hand.date("%Y-%m-%d %H:%M:%S"), ["opened"]),
        ),
        spoiling({"priority": "blocker"}, ["subject", "opened"]),
        others={"ticket": "id"},
    )


def reviews() -> Messy:
    """Hotel reviews with line feeds, quotes and separators inside quoted cells, below a line ``sep=;``."""
    rng, n = generator("reviews"), 300
    about = topics(rng, n, 4)
    words = (
        "dirty stain dust mould",
        "noisy street bar drunk",
        "breakfast coffee buffet eggs",
        "friendly helpful staff reception",
    )
    stars = np.clip(
        np.round(3.5 - about[:, 0] - about[:, 1] + about[:, 3] + rng.normal(0, 0.8, n)), 1, 5
    )
    nights = rng.integers(1, 15, n)
    Y = truth(
        rng, about[:, 0], about[:, 2] + 0.3 * about[:, 3], stars, nights.astype(float), about[:, 1]
    )
    first, second = sentences(rng, about, words), sentences(rng, about, words)
    breaks = rng.choice(["\n", "; ", '; he said "well";\r\n', ", "], n)
    cells = pd.DataFrame(
        {
            "review": [a + mark + b for a, mark, b in zip(first, breaks, second, strict=True)],
            "stars": stars,
            "nights": nights,
        }
    )
    return Messy(
        "reviews",
        cells,
        Y,
        ("cleaning", "kitchen", "praise", "regular", "street"),
        "cleaning,kitchen,praise,regular,street",
        separated(marks("TRUE", "FALSE"), ";", top="sep=;\r\n"),
        lambda: hand.prepared((hand.text(), "review"), (hand.number(), ["stars", "nights"])),
    )


def messages() -> Messy:
    """Chat messages with emoji and right-to-left words; names of columns with spaces and quotes; labels are x-marks."""
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
    return Messy(
        "messages",
        cells,
        Y,
        ("Cheerful 😀", "Food", "Long; rambling", "On the road"),
        "4",
        separated(marks("x", "")),
        lambda: hand.prepared(
            (hand.text(r"\S+"), "the message"),
            (hand.category(), ['sent "from"']),
            (hand.number(), ["length, in letters"]),
        ),
    )


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
    return Messy(
        "replies",
        cells,
        Y,
        ("apology", "offer", "premium", "return"),
        "apology,offer,premium,return",
        separated(marks("Y", "N")),
        lambda: hand.prepared(
            (hand.text(), "reply"),
            (hand.category(), ["agent"]),
            (hand.number(skewed=True), ["spent"]),
        ),
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
    return Messy(
        "recipes",
        cells,
        Y,
        ("carnivore", "family", "fast", "sweet", "tangy, hot", "veggie"),
        "labels",
        separated(json_cells("labels")),
        lambda: hand.prepared(
            (hand.text(), "ingredients"),
            (hand.number(skewed=True), ["minutes"]),
            (hand.number(), ["portions"]),
        ),
    )
