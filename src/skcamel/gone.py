"""What version 1.0 no longer has, and what to do instead. This module goes with the next release."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# as a user writes it ► what to do instead: "skcamel.NAME", "skcamel COMMAND", "skcamel COMMAND
# --option", "parameter='value'"
INSTEAD = {
    "skcamel records": (
        "read records.jsonl of the folder, or skcamel.experiment.Records(DIR).to_frame() in Python"
    ),
    "skcamel study --out": "write -o, or --output",
    "skcamel tables --out": "write -o, or --output",
    "skcamel study --dask": (
        "call run_study in Python inside joblib.parallel_config(backend='dask')"
    ),
    "skcamel study --repeats": "run the command once for each --seed",
    "skcamel study --keep": "ask for all --metrics at the start",
    "skcamel study --json": "records.jsonl of the folder holds what was measured",
    "skcamel serve --access-log": "GET /metrics counts requests; a proxy in front can log them",
    "skcamel study --rerun": "choose another folder for other --metrics",
    "skcamel sensitivity": (
        "python studies/paper-2019/figure1.py --compute draws Figure 1 of the paper"
    ),
    "skcamel.experiment.run_sensitivity": (
        "studies/paper-2019/figure1.py draws Figure 1 of the paper with public names"
    ),
    "skcamel.plots.plot_sensitivity": (
        "studies/paper-2019/figure1.py draws Figure 1 of the paper with public names"
    ),
    "skcamel.plots.plot_convergence": (
        "studies/paper-2019/figure1.py draws Figure 1 of the paper with public names"
    ),
    "skcamel.plots.plot_columns": (
        "plot_explanation(model.explain(X, features=True)) draws what the columns of a row add"
    ),
    "skcamel.plots.CollaborationDisplay": "plot_collaboration draws and returns axes",
    "skcamel.plots.ExplanationDisplay": "plot_explanation draws and returns axes",
    "skcamel.plots.CriticalDifferenceDisplay": "plot_critical_difference draws and returns axes",
    "skcamel.baselines.IMCC": (
        "a study takes it as imcc=studies/alternatives/imcc.py:IMCCCV, with one value in each axis"
    ),
    "skcamel.baselines.IMCCCV": "a study takes it as imcc=studies/alternatives/imcc.py:IMCCCV",
    "skcamel completion": (
        "_SKCAMEL_COMPLETE=bash_source skcamel (or zsh_source, fish_source) prints the script"
    ),
    "skcamel.data.RepeatedMultilabelStratifiedKFold": (
        "use MultilabelStratifiedKFold(shuffle=True, random_state=r) for each repeat r"
    ),
    "skcamel.data.fold_quality": "compare Y[test].mean(axis=0) of the parts",
    "skcamel datasets card": (
        "use skcamel.data.load_dataset('NAME').card() in Python, or 'skcamel datasets check'"
    ),
    "skcamel datasets convert": "use skcamel.data.read_dataset and write_dataset in Python",
    "skcamel fit --method": "use skcamel.baselines in Python, or 'skcamel study --methods ecc'",
    "skcamel fit --solver": "use --landmarks, or CamelClassifierCV(solver='primal') in Python",
    "skcamel fit --alphas": "use CamelClassifierCV(alphas=(0.5,)) in Python",
    "skcamel fit --lambda2s": "use CamelClassifierCV(lambda2s=(0.1,)) in Python",
    "skcamel fit --scalings": "use CamelClassifierCV(scalings=('standard',)) in Python",
    "skcamel fit --kernels": "use CamelClassifierCV(kernels=('laplacian',)) in Python",
    "skcamel fit --bandwidths": "use CamelClassifierCV(bandwidths=(0.5, 1.0)) in Python",
    "skcamel tables --against-paper": "use --against paper",
    "skcamel.metrics.subset_accuracy": "use sklearn.metrics.accuracy_score",
    "skcamel.metrics.example_f1": "use sklearn.metrics.f1_score(Y, P, average='samples')",
    "skcamel.metrics.jaccard": "use sklearn.metrics.jaccard_score(Y, P, average='samples')",
    "skcamel.metrics.label_auc": "use sklearn.metrics.roc_auc_score",
    "skcamel.metrics.ndcg_at_k": "use sklearn.metrics.ndcg_score(Y, scores, k=k)",
    "skcamel.metrics.precision_at_k": (
        "use numpy.take_along_axis(Y, model.top_k(X, k), axis=1).mean()"
    ),
    "skcamel.metrics.log_loss": "use sklearn.metrics.log_loss(Y.ravel(), probabilities.ravel())",
    "skcamel.metrics.brier": (
        "use sklearn.metrics.brier_score_loss(Y.ravel(), probabilities.ravel())"
    ),
    "metrics='subset_accuracy'": "use metrics=['subset=sklearn.metrics:accuracy_score:largest']",
    "metrics='example_f1'": (
        "use a function of your own, as in metrics=['mine=my_module:mine:largest']"
    ),
    "metrics='jaccard'": (
        "use a function of your own, as in metrics=['mine=my_module:mine:largest']"
    ),
    "metrics='label_auc'": "use metrics=['auc=sklearn.metrics:roc_auc_score:largest']",
    "metrics='log_loss'": (
        "use a function of your own, as in metrics=['mine=my_module:mine:largest']"
    ),
    "metrics='brier'": "use a function of your own, as in metrics=['mine=my_module:mine:largest']",
    "landmarks='pivoted'": "landmarks='uniform' are as accurate and cost less",
    "sparsity='auto'": "sparsity=0.01, as in the paper",
    "sparsity='noise'": "sparsity=0.01, as in the paper; a greater share makes S sparser",
    "skcamel.persistence": (
        "use skcamel.save, skcamel.load, skcamel.inspect and skcamel.ModelFileError"
    ),
    "skcamel.compress": (
        "fit with solver='landmark', landmarks='kmeans': such a model holds centres and no"
        " training row"
    ),
    "skcamel compress": (
        "use 'skcamel fit --landmarks 500': such a model holds centres and no training row"
    ),
    "threshold='auto'": (
        "threshold='micro_f1', 'macro_f1' or 'hamming_loss' is tuned for that metric"
    ),
    "skcamel suspects": "use 'skcamel label-errors'",
    "skcamel fit --scoring": "use --metric",
    "skcamel fit --random-state": "use --seed",
    "skcamel fit --xml": "the XML lies beside the ARFF file, with the same name",
    "skcamel fit --data-home": "set the variable SKCAMEL_DATA",
    "skcamel fit --drop": "use --column NAME=drop",
    "skcamel fit --id": "use --column NAME=id",
    "skcamel fit --text": "use --column NAME=text",
    "skcamel fit --category": "use --column NAME=category",
    "skcamel fit --number": "use --column NAME=number",
    "skcamel fit --date": "use --column NAME=date",
    "skcamel predict --probabilities": "they are always written, with four digits",
    "skcamel predict --no-scores": "scores are written with --scores alone",
    "skcamel predict --no-decisions": "the column labels holds the predicted names",
    "skcamel predict --decisions": "the column labels holds the predicted names",
    "skcamel evaluate --truth": "use skcamel.metrics.evaluate in Python",
    "skcamel evaluate --predictions": "use skcamel.metrics.evaluate in Python",
    "skcamel explain --features": "columns are always listed where the model has them",
    "skcamel datasets fetch": "use skcamel.data.fetch_dataset('NAME') in Python",
    "skcamel predict --coverage": "--sets 0.9 makes two promises over all labels together",
    "skcamel evaluate --coverage": "use --sets 0.9",
    "skcamel fit --dask": "in Python, give Dask collections to fit",
}


def hint(use: str) -> str:
    """One sentence for something that went; empty for anything else.

    Examples
    --------
    >>> hint("landmarks='pivoted'")
    "landmarks='pivoted' is no longer there: landmarks='uniform' are as accurate and cost less."
    >>> hint("landmarks='uniform'")
    ''
    """
    return f"{use} is no longer there: {INSTEAD[use]}." if use in INSTEAD else ""


def without(**instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function: parameters that went raise TypeError with what to do instead.

    Examples
    --------
    >>> @without(speed="it is always fast")
    ... def fit(X): ...
    >>> fit(1, speed=2)
    Traceback (most recent call last):
    TypeError: fit() no longer takes speed: it is always fast.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in instead.keys() & kwargs.keys():
                raise TypeError(f"{function.__name__}() no longer takes {name}: {instead[name]}.")
            return function(*args, **kwargs)

        return called

    return decorated
