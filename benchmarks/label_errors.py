"""``python -m benchmarks.label_errors``: planted label errors that several orders find, as a table for benchmarks/label_errors.md.

Of each set some labels are turned, either uniformly over all entries, or so that each label stays
as frequent as it is: as many
are turned off as on. An order lists the entries by leave-one-out scores F, or by log-odds z of a
link for each label, and
its first k are looked at, where k were planted.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from skcamel import find_label_errors
from skcamel.camel.link import fit_link
from skcamel.data import load_dataset

SETS = (
    "emotions",
    "image",
    "scene",
    "yeast",
    "genbase",
    "medical",
    "enron",
    "business",
    "science",
    "arts",
    "cal500",
    "rcv1-s1",
)
ROWS = 800  # drawn where a set has more
SHARES, SEEDS = (0.02, 0.05), range(3)
WAYS = ("uniform", "as frequent")


def planted(Y: np.ndarray, way: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which entries are turned: a share of all, or the same share of those that are present, and as many others."""
    turned = np.zeros(Y.shape, dtype=bool)
    if way == "uniform":
        turned.flat[rng.choice(Y.size, round(share * Y.size), replace=False)] = True
        return turned
    present, absent = np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)
    odds = np.broadcast_to(Y.mean(axis=0) / (1 - Y.mean(axis=0)), Y.shape).flat[absent]
    count = round(share * len(present))
    turned.flat[rng.choice(present, count, replace=False)] = True
    turned.flat[rng.choice(absent, count, replace=False, p=odds / odds.sum())] = True
    return turned


def orders(Y: np.ndarray, F: np.ndarray) -> dict[str, np.ndarray]:
    """What entries are sorted by, ascending, (n, q) each."""
    y = np.where(Y == 1, 1.0, -1.0)
    z = fit_link(Y == 1, F).log_odds(F)
    by_score, by_chance = y * F, y * z
    ranks = rankdata(by_score).reshape(y.shape) + rankdata(by_chance).reshape(y.shape)
    return {
        "y F": by_score,
        "y z": by_chance,
        "y z / root mean square of z": by_chance / np.sqrt((z**2).mean(axis=0)),
        "mean rank of y F and y z": ranks,
    }


def measured(name: str, way: str) -> dict[str, tuple[float, float]]:
    """Share of the planted errors among the first, and average precision, for each order: means over shares and seeds."""
    data = load_dataset(name)
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(data.Y))[:ROWS]
        Y = data.Y[rows][:, data.Y[rows].any(axis=0) & ~data.Y[rows].all(axis=0)]
        for share in SHARES:
            turned = planted(Y, way, share, rng)
            errors = find_label_errors(data.X[rows], Y ^ turned)
            F = np.empty(Y.shape)
            F[errors.rows, errors.labels] = np.where(errors.given, errors.scores, -errors.scores)
            for order, values in orders(Y ^ turned, F).items():
                first = np.argsort(values, axis=None, kind="stable")[: turned.sum()]
                result = (
                    turned.flat[first].mean(),
                    average_precision_score(turned.ravel(), -values.ravel()),
                )
                found.setdefault(order, []).append(result)
    return {order: tuple(np.mean(results, axis=0)) for order, results in found.items()}


def main() -> None:
    tables = {way: {name: measured(name, way) for name in SETS} for way in WAYS}
    names = list(tables[WAYS[0]][SETS[0]])
    print(
        "| order | found, mean | average precision, mean | "
        + " | ".join(f"found, {way}" for way in WAYS)
        + " |"
    )
    print("|---" * (3 + len(WAYS)) + "|")
    for order in names:
        means = np.array(
            [[tables[way][name][order] for name in SETS] for way in WAYS]
        )  # (ways, sets, 2)
        found, precision = means.mean(axis=(0, 1))
        by_way = " | ".join(f"{value:.3f}" for value in means[:, :, 0].mean(axis=1))
        print(f"| {order} | {found:.3f} | {precision:.3f} | {by_way} |")
    print(
        "\n| set | "
        + " | ".join(f"{order}" for order in names)
        + " |\n"
        + "|---" * (1 + len(names))
        + "|"
    )
    for name in SETS:
        cells = [
            " / ".join(f"{tables[way][name][order][0]:.2f}" for way in WAYS) for order in names
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
