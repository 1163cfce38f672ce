"""A messy table: text, dates, money, missing cells and a column of tags; ``make demo`` runs it.

It needs the extras ``cli``, ``tables`` and ``report``. With ``--tables`` it writes the two tables
only.
"""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

TOPICS = {
    "billing": (
        "I was charged twice this month",
        "the total on my invoice is wrong",
        "my card was charged although the payment failed",
        "I do not understand this charge",
        "please send the invoice again",
    ),
    "refund": (
        "I want my money back",
        "please refund the payment",
        "how do I cancel and get a refund",
        "I returned it and got no money back",
    ),
    "login": (
        "I cannot sign in",
        "my password does not work",
        "the code to reset my password never arrives",
        "my account is locked",
    ),
    "shipping": (
        "my parcel is late",
        "the courier went to the wrong address",
        "tracking says delivered but no parcel came",
        "the delivery was lost",
    ),
    "urgent": (
        "everything is broken right now",
        "we have an outage and customers are waiting",
        "please help immediately",
        "we cannot work until this is fixed",
    ),
}
OPENINGS = ("Hello", "Hi team", "Good morning", "Dear support", "Hello again")
CLOSINGS = ("thanks", "kind regards", "could someone look into this", "I am still waiting")
PRICES = {"free": 0, "team": 49, "business": 1250}


def tickets(n: int, seed: int) -> list[dict[str, str]]:
    """Support tickets: message, date, plan, payment, and the tags that an agent chose."""
    rng = np.random.default_rng(seed)
    return [ticket(number, seed, rng) for number in range(n)]


def ticket(number: int, seed: int, rng: np.random.Generator) -> dict[str, str]:
    """One ticket. Tags depend on each other, on the plan, and on the time of day."""
    tags = [tag for tag in TOPICS if rng.random() < 0.3 and tag != "refund"]
    if "billing" in tags and rng.random() < 0.6:  # who asks for money back was billed before
        tags.append("refund")
    at_night = "urgent" in tags and rng.random() < 0.7
    hour = rng.integers(0, 6) if at_night else rng.integers(7, 20)
    day = f"{rng.integers(1, 29):02d}/{rng.integers(1, 13):02d}/2025"
    shares = [0.2, 0.2, 0.6] if "billing" in tags else [0.6, 0.3, 0.1]
    plan = str(rng.choice(list(PRICES), p=shares))
    paid = PRICES[plan] * rng.uniform(0.8, 1.2)
    return {
        "ticket": f"T-{seed}{number:05d}",
        "opened": f"{day} {hour:02d}:{rng.integers(0, 60):02d}",
        "plan": "" if rng.random() < 0.1 else plan,
        "paid": str(rng.choice(["n/a", "-"])) if rng.random() < 0.15 else f"${paid:,.2f}",
        "replied": str(rng.choice(["yes", "no"])),
        "message": message(tags, rng),
        "queue": "EU",
        "tags": "|".join(tags),
    }


def message(tags: list[str], rng: np.random.Generator) -> str:
    """A sentence for most of the tags, in any order."""
    parts = [str(rng.choice(TOPICS[tag])) for tag in tags if rng.random() < 0.7]
    parts = [str(part) for part in rng.permutation(parts)] or ["I have a question about my plan"]
    opening, closing = rng.choice(OPENINGS), rng.choice(CLOSINGS)
    sentences = [f"{opening}, {parts[0]}", *parts[1:], str(closing)]
    return ". ".join(text[0].upper() + text[1:] for text in sentences) + "."


def write(name: str, rows: list[dict[str, str]]) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        table.writeheader()
        table.writerows(rows)


def run(command: str) -> None:
    print(f"\n$ {command}", flush=True)
    subprocess.run([sys.executable, "-m", *shlex.split(command)], check=True)


def main(tables_only: bool) -> None:
    write("tickets.csv", tickets(400, seed=1))
    new = tickets(5, seed=2)
    for row in new:
        del row["tags"]
    write("new_tickets.csv", new)
    if tables_only:
        return
    print("tickets.csv:")
    print("\n".join(Path("tickets.csv").read_text(encoding="utf-8").splitlines()[:4]))
    run("skcamel fit tickets.csv --labels tags --test-size 0.25 -o tickets.skcamel --force")
    run("skcamel predict tickets.skcamel new_tickets.csv --sets 0.9")
    run("skcamel explain tickets.skcamel new_tickets.csv --row 1 --top 3")
    run("skcamel label-errors tickets.csv --labels tags --limit 3")
    write("later_tickets.csv", tickets(100, seed=3))
    run("skcamel report tickets.skcamel --data later_tickets.csv -o tickets.html")
    print(f"open {Path('tickets.html').resolve().as_uri()}")


if __name__ == "__main__":
    main(tables_only="--tables" in sys.argv)
