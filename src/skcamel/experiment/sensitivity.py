"""Figure 1: how results depend on α, λ1 and λ2, one at a time, and how Algorithm 1 converges.

The paper keeps "other parameters fixed at their best setting" and draws coverage on enron. Here the setting is given, or
found by exact leave-one-out on all rows over the paper's grid. Each fold costs one eigendecomposition, whatever the grids.
Unknown labels (NaN) are learned and judged as everywhere: known entries count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import KFold

from skcamel import correlation, kernel, scaling
from skcamel.checks import check_in_unit_interval, check_labels, check_memory, check_positive
from skcamel.classifier import CamelClassifier
from skcamel.classifier_cv import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifierCV
from skcamel.files import whole_file
from skcamel.learning import learn_correlation
from skcamel.metrics.conventions import NAMES, choice
from skcamel.selection.representation import Data, Grid, label_bases, represent, rows_for, targets_of
from skcamel.selection.search import candidate_metrics
from skcamel.solve import alternating, spectral, unknown

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

# The paper prints grids of α and λ2; of λ1 it says only that it is "empirically set to 1", and the figure is not in its source.
LAMBDA1S = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
PARAMETERS = ("alpha", "lambda1", "lambda2")
ALTERNATIONS = 100


def run_sensitivity(
    dataset: Dataset,
    *,
    metric: str = "coverage",
    base: Mapping[str, float] | None = None,
    grids: Mapping[str, Sequence[float]] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Results over α, λ1 and λ2, one at a time, and the convergence curve.

    Parameters
    ----------
    dataset : Dataset
    metric : str, default="coverage"
        Finds the setting of the other parameters if `base` is not given; the result holds all seven.
    base : mapping, default=None
        Setting of alpha, lambda1 and lambda2. None: the best of the paper's grid by exact leave-one-out on all rows.
    grids : mapping, default=None
        Values of alpha, lambda1 or lambda2 instead of the paper's grids.
    n_folds, seed : int, default=10 and 0
        Shuffled folds.
    progress : callable, default=None
        Called with the number of finished folds, and of all.

    Returns
    -------
    dict
        dataset, metric_names, folds, seed, base; "curves": for each parameter its "values" and for each metric one list over
        folds per value, None where the metric is undefined; "convergence": "delta", ||Z_t - Z_(t-1)|| of Algorithm 1 on all rows at `base`.
        Algorithm 1 needs complete labels: unknown ones are filled with those of the exact solution, which it then approaches.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.data import Dataset
    >>> X, Y = make_multilabel_classification(60, n_classes=4, random_state=0)
    >>> result = run_sensitivity(Dataset(X, Y, name="tiny"), n_folds=3)
    >>> np.shape(result["curves"]["alpha"]["coverage"]), result["base"]["lambda1"]
    ((11, 3), 1.0)
    """
    choice(metric, NAMES, "metric")
    check_labels(dataset.Y, dataset.n, unknown=True)
    values = {"alpha": PAPER_ALPHAS, "lambda1": LAMBDA1S, "lambda2": PAPER_LAMBDA2S} | dict(grids or {})
    values = {name: [float(value) for value in values[name]] for name in _checked(values, "grids")}
    setting = best_setting(dataset, metric) if base is None else {name: float(base[name]) for name in _checked(base, "base")}
    for name in PARAMETERS:
        for value in (*values[name], setting[name]):
            (check_in_unit_interval if name == "alpha" else check_positive)(name, value)
    check_memory(dataset.X, dataset.q, None)
    whole = Data(dataset.X, 2.0 * dataset.Y - 1, None)
    curves: dict[str, Any] = {name: {"values": values[name]} | {m: [[] for _ in values[name]] for m in NAMES} for name in PARAMETERS}
    for done, (train, test) in enumerate(KFold(n_folds, shuffle=True, random_state=seed).split(whole.Y), 1):
        for name, scored in _score_one_at_a_time(whole.rows(train), whole.rows(test), values, setting).items():
            for index, scores in enumerate(scored):
                for m in NAMES:
                    curves[name][m][index].append(None if np.isnan(scores[m]) else scores[m])  # JSON has no NaN
        if progress is not None:
            progress(done, n_folds)
    told = {"dataset": dataset.name, "metric_names": list(NAMES), "folds": n_folds, "seed": seed, "base": setting}
    told["base_found_by"] = f"leave-one-out, {metric}" if base is None else "given"
    return told | {"curves": curves, "convergence": {"delta": _convergence_curve(whole, setting)} | setting}


def best_setting(dataset: Dataset, metric: str) -> dict[str, float]:
    """α, λ1 = 1 and λ2 of the paper's grid that are best by exact leave-one-out on all rows."""
    found = CamelClassifierCV(scoring=metric).fit(dataset.X, dataset.Y).best_params_
    return {name: float(found[name]) for name in PARAMETERS}


def _convergence_curve(data: Data, setting: Mapping[str, float]) -> list[float]:
    """||Z_t - Z_(t-1)|| of every alternation of Algorithm 1 on all rows."""
    G = correlation.collaboration(learn_correlation(CamelClassifier(), data), setting["alpha"])
    _, X = rows_for("rbf", scaling.Scaling("none"), data.X)
    _, K = kernel.fitted("rbf", X, bandwidth="mean")
    lambda1, lambda2, Y = setting["lambda1"], setting["lambda2"], data.Y
    if not data.is_complete:
        (Y,), _ = unknown.fill(spectral.decompose(K.copy()), Y, [(spectral.label_basis(G), (lambda1, lambda2))])
    solution = alternating.solve(K, Y, G, lambda1=lambda1, lambda2=lambda2, max_iter=ALTERNATIONS)
    return np.asarray(solution.convergence).tolist()


def _score_one_at_a_time(
    train: Data, test: Data, values: Mapping[str, Sequence[float]], setting: Mapping[str, float]
) -> dict[str, list[dict[str, float]]]:
    """Metrics on the test part for every value of each parameter, the others at `setting`, from one decomposition."""
    S = learn_correlation(CamelClassifier(), train)
    representation, spectrum = next(represent(train, Grid((), (), ()), None))
    targets, K = targets_of(spectrum, train), representation.kernel_rows(test.X, None)
    solver: Any = spectral if train.is_complete else unknown
    best = {name: [setting[name]] for name in PARAMETERS}

    def scored(name: str) -> list[dict[str, float]]:
        along = best | {name: values[name]}
        penalties = list(product(along["lambda1"], along["lambda2"]))
        found = solver.held_out(spectrum, targets, label_bases(S, along["alpha"]), penalties, K)
        return [candidate_metrics(test.Y > 0, scores[None], np.zeros(test.Y.shape[1]), test.counts)[0] for *_, scores in found]

    return {name: scored(name) for name in PARAMETERS}


def save_sensitivity(result: Mapping[str, Any], folder: str | os.PathLike[str]) -> Path:
    """Write a result into a study folder, as sensitivity/<data set>.json, whole or not at all."""
    name = result["dataset"]
    if not name or Path(name).name != name:
        raise ValueError(f"The data set {name!r} cannot be the name of a file; give it another one.")
    path = Path(folder) / "sensitivity" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write((json.dumps(result, allow_nan=False) + "\n").encode())
    return path


def _checked(named: Mapping[str, Any], what: str) -> tuple[str, ...]:
    """All three parameters and no other."""
    if set(named) != set(PARAMETERS):
        raise ValueError(f"{what} names {', '.join(named) or 'nothing'}; it must name {', '.join(PARAMETERS)}.")
    return PARAMETERS
