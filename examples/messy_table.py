"""A table as people keep it: text, dates, money, gaps and a column of tags go in; predictions and reasons by column come out.

Run by ``make demo``; needs the extras ``cli``, ``tables`` and ``report``. With ``--tables`` it writes the two
tables and leaves the rest to you.
"""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

TOPICS = {
    "billing": "invoice charged twice card payment total",
    "refund": "money back refund cancel return",
    "login": "password reset locked account sign code email",
    "shipping": "parcel late courier address tracking delivery lost",
    "urgent": "now immediately outage everything broken customers waiting",
}
FILLER = (
    "hello please the my since when again today team thanks could someone look into this order page"
    " still"
)


def tickets(n: int, seed: int) -> list[dict[str, str]]:
    """Support tickets: what people wrote, when, from which plan, what they pay, and the tags that an agent gave."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        tags = [tag for tag in TOPICS if rng.random() < 0.3 and tag != "refund"]
        if "billing" in tags and rng.random() < 0.6:  # who asks for money back was billed before
            tags.append("refund")
        words = [
            word
            for tag in tags
            if rng.random() < 0.85
            for word in rng.choice(TOPICS[tag].split(), 3)
        ]
        text = rng.permutation([*words, *rng.choice(FILLER.split(), 8)])
        hour = (
            rng.integers(0, 6) if "urgent" in tags and rng.random() < 0.7 else rng.integers(7, 20)
        )  # the night is for emergencies
        plan = rng.choice(
            ["free", "team", "business"],
            p=[0.2, 0.2, 0.6] if "billing" in tags else [0.6, 0.3, 0.1],
        )
        paid = {"free": 0, "team": 49, "business": 1250}[plan] * rng.uniform(0.8, 1.2)
        rows.append(
            {
                "ticket": f"T-{seed}{number:05d}",
                "opened": (
                    f"{rng.integers(1, 29):02d}/{rng.integers(1, 13):02d}/2025"
                    f" {hour:02d}:{rng.integers(0, 60):02d}"
                ),
                "plan": "" if rng.random() < 0.1 else str(plan),
                "paid": rng.choice(["n/a", "-"]) if rng.random() < 0.15 else f"${paid:,.2f}",
                "replied": rng.choice(["yes", "no"]),
                "message": " ".join(text).capitalize() + ".",
                "queue": "EU",
                "tags": "|".join(tags),
            }
        )
    return rows


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
    write(
        "new_tickets.csv",
        [{key: cell for key, cell in row.items() if key != "tags"} for row in tickets(5, seed=2)],
    )
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
