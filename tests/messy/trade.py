"""Tables of trade: orders, ledgers, German and Czech prices, sheets, homes, clothes."""

from functools import partial

import numpy as np
import pandas as pd

from . import hand
from .form import Messy, joined, marks, separated, sheet
from .making import days, gaps, generator, sentences, topics, truth, written


def orders() -> Messy:
    """Shop orders with ``$1,234.50`` and ``85.6%``; the labels are the last three columns."""
    rng, n = generator("orders"), 320
    total, margin, items = (
        np.exp(rng.normal(6, 1.4, n)),
        100 * rng.beta(5, 2, n),
        rng.integers(1, 30, n),
    )
    channel = rng.choice(["shop", "web", "phone", "partner"], n)
    Y = truth(
        rng,
        np.log(total) + 1.5 * (channel == "partner"),
        1.5 * (channel == "web") - items / 8,
        (margin - 70) / 15 - (channel == "shop"),
        noise=0.3,
    )
    cells = pd.DataFrame(
        {
            "order": [f"SO{100000 + 7 * r}" for r in range(n)],
            "total": written("${:,.2f}", total),
            "margin": gaps(rng, written("{:.1f}%", margin), 0.04),
            "items": items,
            "channel": channel,
        }
    )
    names = ("audit", "express", "loyal")
    parts = (
        (hand.number(hand.amount, skewed=True), ["total"]),
        (hand.number(hand.amount), ["margin"]),
        (hand.number(), ["items"]),
        (hand.category(), ["channel"]),
    )
    return Messy("orders", cells, Y, names, "3", separated(marks()), parts, others={"order": "id"})


def ledger() -> Messy:
    """A ledger with losses in parentheses, a constant column and one that nobody filled."""
    rng, n = generator("ledger"), 260
    balance, cash = rng.normal(0, 40_000, n), rng.normal(5000, 9000, n)
    account = rng.choice(["4000 sales", "5000 wages", "6000 rent", "7000 travel"], n)
    Y = truth(
        rng,
        -balance,
        cash - balance / 5,
        1.0 * (account == "7000 travel") - balance / 80_000,
        abs(balance),
    )

    def bracketed(values):
        return [f"({-value:,.0f})" if value < 0 else f"{value:,.0f}" for value in values]

    cells = pd.DataFrame(
        {
            "company": ["Acme Ltd"] * n,
            "account": account,
            "balance": bracketed(balance),
            "cash flow": gaps(rng, bracketed(cash), 0.05),
            "remarks": np.full(n, np.nan),
        }
    )
    names = ("alarm", "healthy", "question", "volatile")
    parts = (
        (hand.category(), ["account"]),
        (hand.number(hand.amount), ["balance", "cash flow"]),
    )
    return Messy(
        "ledger",
        cells,
        Y,
        names,
        "4",
        separated(marks("1", "0")),
        parts,
        others={"company": "constant", "remarks": "empty"},
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
    cells = pd.DataFrame(
        {
            "Größe": [text.replace(".", ",") for text in written("{:.1f}", size)],
            "Miete": gaps(
                rng,
                [text.translate(str.maketrans(",.", ".,")) for text in written("{:,.2f}", rent)],
                0.04,
            ),
            "Bauart": kind,
            "Balkon": np.where(balcony, "ja", "nein"),
            "frei ab": free.strftime("%d.%m.%Y"),
        }
    )
    parse = partial(hand.amount, thousands=".", decimal=",")
    names = ("familie", "günstig", "sommer", "urban")
    parts = (
        (hand.number(parse), ["Größe", "Miete"]),
        (hand.category(), ["Bauart"]),
        (hand.flag(), ["Balkon"]),
        (hand.date("%d.%m.%Y"), ["frei ab"]),
    )
    return Messy(
        "german",
        cells,
        Y,
        names,
        "familie,günstig,sommer,urban",
        separated(marks("ja", "nein"), ";", encoding="latin-1"),
        parts,
    )


def unicode_export() -> Messy:
    """What Excel writes as Unicode text: UTF-16 with its mark, tabs."""
    rng, n = generator("unicode export"), 260
    about, stock = topics(rng, n, 3), rng.integers(0, 500, n)
    words = "čaj sušenka mléko", "żarówka kabel młotek", "книга перо bumaga"
    price = np.exp(rng.normal(3, 0.8, n)).round(2)
    Y = truth(
        rng,
        about[:, 1],
        about[:, 0] - 0.3 * about[:, 1],
        np.log(price) + 0.0,
        about[:, 2] - stock / 600,
    )
    cells = pd.DataFrame(
        {"artikl": sentences(rng, about, words, length=(3, 6)), "cena": price, "sklad": stock}
    )
    names = ("dílna", "kuchyň", "luxus", "škola")
    parts = (
        (hand.text(), "artikl"),
        (hand.number(skewed=True), ["cena"]),
        (hand.number(), ["sklad"]),
    )
    return Messy(
        "unicode_export",
        cells,
        Y,
        names,
        "dílna,kuchyň,luxus,škola",
        separated(marks(), "\t", suffix=".tsv", encoding="utf-16"),
        parts,
    )


def budget_sheet() -> Messy:
    """An Excel sheet with an empty top row, real dates and x-marks."""
    rng, n = generator("budget sheet"), 220
    planned, spent, due = (
        rng.normal(900, 300, n).round(2),
        rng.normal(850, 350, n).round(2),
        days(rng, n, "2023-01-01", 700),
    )
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
    parts = (
        (hand.category(), ["unit"]),
        (hand.number(), ["planned", "spent"]),
        (hand.date(), ["due"]),
    )
    return Messy(
        "budget_sheet", cells, Y, names, "exceeded,late,major,minor", sheet(marks("x", "")), parts
    )


def homes() -> Messy:
    """Homes with zip codes that begin with 0: codes, not numbers."""
    rng, n = generator("homes"), 380
    codes = np.array(
        ["01067", "01099", "01127", "04103", "04155", "04229", "10115", "10437", "20095", "80331"]
    )
    rich, green, flood = (rng.permutation(np.linspace(-1.5, 1.5, len(codes))) for _ in range(3))
    at = rng.integers(0, len(codes), n)
    area = rng.normal(90, 30, n).round()
    Y = truth(
        rng, flood[at], green[at] + (area - 90) / 60, rich[at] + (area - 90) / 30, (90 - area) / 30
    )
    cells = pd.DataFrame(
        {
            "zip": codes[at],
            "area": area,
            "rooms": np.clip((area / 28 + rng.normal(0, 0.6, n)).round(), 1, 9),
        }
    )
    names = ("flood", "garden", "upscale", "xs")
    parts = (
        (hand.category(), ["zip"]),
        (hand.number(), ["area", "rooms"]),
    )
    return Messy("homes", cells, Y, names, "4", separated(marks()), parts)


def clothes() -> Messy:
    """Clothes with a feature of several values in a cell, such as ``red;large``."""
    rng, n = generator("clothes"), 300
    values = ["cotton", "large", "print", "red", "slim", "wool"]
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
            "properties": [
                ";".join(
                    rng.permutation(
                        [value for value, flag in zip(values, row, strict=True) if flag]
                    )
                )
                for row in has
            ],
            "price": gaps(rng, price, 0.05),
            "brand": rng.choice(["Ax", "Bo", "Cu"], n),
        }
    )
    names = ("bold", "designer", "sporty", "summer", "winter")
    parts = (
        (hand.tags(";"), "properties"),
        (hand.number(skewed=True), ["price"]),
        (hand.category(), ["brand"]),
    )
    return Messy(
        "clothes",
        cells,
        Y,
        names,
        "season and style",
        separated(joined("season and style", "; ")),
        parts,
    )
