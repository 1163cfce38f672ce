"""The picture of the README, a ticket with reasons: ``python examples/glance.py docs/images``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from messy_table import tickets
from skcamel import CamelClassifierCV, make_pipeline
from skcamel.data import TablePreparer, take_labels
from skcamel.plots import plot_explanation

SHOWN = "refund"


def parts(n: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tickets and their tags."""
    table, labels = take_labels(pd.DataFrame(tickets(n, seed=seed)), ["tags"], "tickets")
    return table, pd.DataFrame(labels.Y, columns=labels.names)


def first_shown(model: Any, new: pd.DataFrame, truth: pd.DataFrame) -> int:
    """The first ticket with two tags, one of them `SHOWN`, that are predicted."""
    predicted = model.predict(new)
    right = (predicted == truth).all(axis=1)
    found = right & (truth[SHOWN] == 1) & (truth.sum(axis=1) == 2)
    return int(found.to_numpy().argmax())


def main(folder: Path) -> None:
    table, tags = parts(400, seed=1)
    new, truth = parts(60, seed=2)
    search = CamelClassifierCV.from_preset("quick", prepared=True, alphas=(0.25, 0.5))
    model = make_pipeline(TablePreparer(), search).fit(table, tags)
    row = first_shown(model, new, truth[tags.columns])
    why = model.explain(new[row : row + 1], features=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained")
    plot_explanation(why, label=SHOWN, by="columns", ax=left)
    plot_explanation(why, label=SHOWN, by="labels", ax=right)
    left.set_title(f"{SHOWN} is predicted: what the columns add")
    right.set_title("the same score: what the other labels add")
    ticket = new.iloc[row]
    title = f"Plan {ticket['plan']}, paid {ticket['paid']}: “{ticket['message']}”"
    figure.suptitle(title, fontsize=10, color="#444444")
    figure.savefig(folder / "glance.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
