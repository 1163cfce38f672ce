"""
A messy table
=============

Support tickets as people keep them: dates with the day first, money with a currency sign, gaps
written as n/a, free text, and a column
of tags. `TablePreparer` decides by the cells what becomes of each column.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from skcamel import CamelClassifierCV, explain, label_sets
from skcamel.data import TablePreparer, take_labels
from skcamel.plots import plot_explanation

TOPICS = {
    "billing": "invoice charged twice card payment total",
    "refund": "money back refund cancel return",
    "login": "password reset locked account sign code",
    "urgent": "now immediately outage everything broken",
}
FILLER = [
    "hello",
    "please",
    "the",
    "my",
    "since",
    "when",
    "again",
    "today",
    "team",
    "thanks",
    "could",
    "someone",
    "look",
    "into",
    "this",
]
rng = np.random.default_rng(0)


def ticket() -> dict[str, object]:
    """One ticket; who asks for money back was billed before, and the night is for emergencies."""
    tags = [tag for tag in ("billing", "login", "urgent") if rng.random() < 0.35]
    tags += ["refund"] if "billing" in tags and rng.random() < 0.6 else []
    words = [
        word for tag in tags if rng.random() < 0.85 for word in rng.choice(TOPICS[tag].split(), 3)
    ]
    hour = rng.integers(0, 6) if "urgent" in tags and rng.random() < 0.7 else rng.integers(7, 20)
    return {
        "opened": (
            f"{rng.integers(1, 29):02d}/{rng.integers(1, 13):02d}/2025"
            f" {hour:02d}:{rng.integers(60):02d}"
        ),
        "paid": (
            "n/a" if rng.random() < 0.2 else f"${rng.lognormal(5 if 'billing' in tags else 3):,.2f}"
        ),
        "message": " ".join(rng.permutation([*words, *rng.choice(FILLER, 8)])),
        "queue": "EU",
        "tags": "|".join(tags),
    }


tickets = pd.DataFrame([ticket() for _ in range(400)])
print(tickets.head(3).to_string())

# %%
# `take_labels` reads the column of tags; an empty cell means that a ticket has none.

table, labels = take_labels(tickets, ["tags"], "tickets")
tags = pd.DataFrame(labels.Y, columns=labels.names)

# %%
# The preparer and the estimator are one pipeline. Nothing is said about the columns.

model = make_pipeline(TablePreparer(), CamelClassifierCV.from_preset("quick", prepared=True)).fit(
    table[:300], tags[:300]
)
print(model[0].kinds_)

# %%
# New tickets get their labels, and reasons by the columns of the table, not by the numbers that
# these became.

print(label_sets(model, table[303:308]))
why = explain(model, table[303:308], features=True)
plot_explanation(why, row=0)
plt.show()
