"""Records of a study that nobody ran, drawn around the paper's figures."""

import numpy as np

from skcamel.experiment.published import PaperFigure, paper_figures
from skcamel.metrics import NAMES

SELECTING = {"camel": "average_precision", "llsf": "macro_f1"}


def record(
    dataset="yeast",
    method="camel",
    *,
    fold=0,
    preset="paper",
    seed=0,
    n_folds=10,
    criterion=None,
    **fields,
):
    """One record: every metric is 0.5 unless given."""
    facts = {
        "dataset": dataset,
        "method": method,
        "preset": preset,
        "fold": fold,
        "n_folds": n_folds,
        "folds": "plain",
        "seed": seed,
        "version": 9,
        "settings": {},
    }
    chosen = SELECTING.get(method, "") if criterion is None else criterion
    return facts | {"params": {}, "criterion": chosen} | dict.fromkeys(NAMES, 0.5) | fields


def study(datasets, methods, *, n_folds=10, preset="paper", rng=None):
    """Records of methods on sets: folds around the paper's mean with its std, else 0.5 ± 0.1."""
    rng = rng or np.random.default_rng(0)
    records = []
    for dataset in datasets:
        for method in methods:
            for fold in range(n_folds):
                metrics = {}
                for metric in NAMES:
                    elsewhere = PaperFigure(0.5, 0.1, bold=False)
                    cell = paper_figures().get((dataset, metric, method), elsewhere)
                    value = np.clip(cell.mean + cell.std * rng.normal(), 0, 1)
                    metrics[metric] = float(value)
                records.append(
                    record(dataset, method, fold=fold, preset=preset, n_folds=n_folds, **metrics)
                )
    return records
