"""Records of a study that nobody ran: as many units as a test needs, drawn around the paper's figures."""

import numpy as np

from skcamel.experiment.paper import PaperFigure, paper_figures
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
    **metrics,
):
    """One record: every metric is 0.5 unless given, by its name or as <metric>_by_<criterion>."""
    facts = {
        "dataset": dataset,
        "method": method,
        "preset": preset,
        "fold": fold,
        "seed": seed,
        "n_folds": n_folds,
        "folds": "plain",
    }
    chosen = SELECTING.get(method, "") if criterion is None else criterion
    return (
        facts
        | {"settings": {}, "params": {}, "criterion": chosen}
        | dict.fromkeys(NAMES, 0.5)
        | metrics
    )


def study(datasets, methods, *, n_folds=10, preset="paper", rng=None, keep_criteria=("camel",)):
    """Records of all methods on all data sets: folds that scatter around the paper's mean with its std, 0.5 ± 0.1 elsewhere."""
    rng = rng or np.random.default_rng(0)

    def draw(dataset, metric, method):
        cell = paper_figures().get((dataset, metric, method), PaperFigure(0.5, 0.1, bold=False))
        return float(np.clip(cell.mean + cell.std * rng.normal(), 0, 1))

    records = []
    for dataset in datasets:
        for method in methods:
            for fold in range(n_folds):
                metrics = {metric: draw(dataset, metric, method) for metric in NAMES}
                if method in keep_criteria:
                    metrics |= {
                        f"{metric}_by_{by}": draw(dataset, metric, method)
                        for metric in NAMES
                        for by in NAMES
                    }
                records.append(
                    record(dataset, method, fold=fold, preset=preset, n_folds=n_folds, **metrics)
                )
    return records
