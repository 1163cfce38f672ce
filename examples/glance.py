"""The picture of the README: one support ticket, its labels, and the reasons. Run by ``python tests/browser/screenshots.py docs/images``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline

from messy_table import tickets
from skcamel import CamelClassifierCV, explain
from skcamel.data import TablePreparer, take_labels
from skcamel.plots import plot_explanation


def main(folder: Path) -> None:
    table, labels = take_labels(pd.DataFrame(tickets(400, seed=1)), ["tags"], "tickets.csv")
    model = make_pipeline(
        TablePreparer(),
        CamelClassifierCV.from_preset("quick", prepared=True, alphas=(0.25, 0.5), random_state=0),
    )
    model.fit(table, pd.DataFrame(labels.Y, columns=labels.names))
    new, truth = take_labels(pd.DataFrame(tickets(60, seed=2)), ["tags"], "new.csv")
    row = next(
        k
        for k in range(len(new))
        if truth.Y[k].sum() == 3
        and truth.Y[k, list(truth.names).index("refund")]
        and (model.predict(new[k : k + 1])[0] == truth.Y[k, : len(labels.names)]).all()
    )
    why = explain(model, new[row : row + 1], features=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained")
    plot_explanation(why, label="refund", by="columns", ax=left)
    plot_explanation(why, label="refund", by="labels", ax=right)
    left.set_title("refund is predicted: what the columns add")
    right.set_title("the same score: what the other labels add")
    ticket = new.iloc[row]
    figure.suptitle(
        f"{ticket['opened']}, plan {ticket['plan']}, paid {ticket['paid']}: “{ticket['message']}”",
        fontsize=10,
        color="#444444",
    )
    figure.savefig(folder / "glance.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
