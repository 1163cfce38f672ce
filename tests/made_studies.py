"""Study folders that nobody computed: records drawn around the paper's figures, with cards, costs and failures."""

import json
import shutil

import numpy as np

import made_records
from skcamel.experiment.published import PAPER_METHODS
from skcamel.experiment.records import encoded
from skcamel.experiment.summary import LARGE, REGULAR

SIXTEEN = REGULAR + LARGE
NASTY = (
    "<script>window.ran = true</script>",
    '"><img src=x onerror="window.ran = true">',
    "=1+1",
    "__proto__",
)
FACTS = {
    "device": "cpu",
    "warnings": [],
    "version_python": "3.12.3",
    "version_skcamel": "0.1.0",
    "version_numpy": "2.5.2",
}
UNIT = ("dataset", "method", "preset", "fold", "n_folds", "folds", "seed", "version", "settings")


def run(datasets, methods, preset="paper", n_folds=10, seed=0):
    """What study.json says of one command."""
    return {
        "datasets": [*datasets],
        "methods": {name: name for name in methods},
        "preset": preset,
        "folds": "plain",
        "n_folds": n_folds,
        "seed": seed,
    }


def card(name, q=5, n=200):
    """A card as the runner writes it."""
    counts = [n // (j + 2) for j in range(q)]
    figures = {
        "n": n,
        "d": 10,
        "q": q,
        "cardinality": sum(counts) / n,
        "density": sum(counts) / n / q,
        "label_sets": 9,
        "mean_ir": 2.5,
        "sparsity": 0.5,
    }
    labels = {"label_counts": counts, "label_names": [f"{name} {j}" for j in range(q)]}
    odd = {"unlabelled_rows": [3], "duplicate_rows": 2, "missing_values": 0}
    nothing = ("zero_rows", "constant_features", "empty_labels", "full_labels")
    return figures | labels | odd | {key: [] for key in nothing}


def failure(dataset="yeast", method="ecc", fold=0, error="ValueError: no luck", **fields):
    """A unit that failed."""
    unit = made_records.record(dataset, method, fold=fold, **fields)
    traceback = f"Traceback:\n  a line\n{error}\n"
    return {key: unit[key] for key in UNIT} | {"error": error, "traceback": traceback}


def costly(records):
    """The records, with what they took and where."""
    rng = np.random.default_rng(1)
    sizes = {"n_train": 90, "predict_seconds": 0.1, "peak_memory_bytes": 3e8}
    return [
        record | FACTS | sizes | {"fit_seconds": float(rng.uniform(1, 2))} for record in records
    ]


def write(folder, records, *, runs=(), cards=(), failures=(), metrics=None):
    """A study folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "records.jsonl").write_bytes(b"".join(map(encoded, [*failures, *records])))
    study = {"runs": list(runs), "datasets": {name: card(name) for name in cards}}
    (folder / "study.json").write_text(json.dumps(study | {"metrics": metrics or {}}))
    return folder


def sixteen(folder):
    """The whole of the paper's comparison, CAMEL under two presets too, with something of everything."""
    best = made_records.study(SIXTEEN, ["camel"], preset="best", rng=np.random.default_rng(5))
    records = costly([*made_records.study(SIXTEEN, PAPER_METHODS), *best])
    records = [
        record | {"device": "cuda"} if record["method"] == "camel" else record for record in records
    ]
    records[0]["warnings"] = ["ConvergenceWarning: not yet"]
    runs = [
        run(SIXTEEN, PAPER_METHODS[1:]),
        run(SIXTEEN, ["camel"]),
        run(SIXTEEN, ["camel"], "best"),
    ]
    failures = [
        failure(seed=1),
        failure(method="br", fold=3, seed=1, error="MemoryError: too large"),
    ]
    return write(folder, records, runs=runs, cards=SIXTEEN, failures=failures)


def nasty(folder):
    """Two data sets and two methods whose names would be dangerous as markup."""
    names = NASTY[:2], NASTY[2:]
    records = costly(made_records.study(*names, n_folds=3))
    failures = [failure(NASTY[0], NASTY[3], error=f"ValueError: {NASTY[1]}", seed=1)]
    return write(folder, records, runs=[run(*names, n_folds=3)], cards=names[0], failures=failures)
