"""Study folders that nobody computed: records like the paper's, with costs and failures."""

import shutil

import numpy as np

import made_records
import pages
from skcamel.experiment.published import PAPER_METHODS
from skcamel.experiment.records import encoded
from skcamel.experiment.summary import LARGE, REGULAR

SIXTEEN = REGULAR + LARGE
NASTY = (*pages.NASTY[:2], "=1+1", "__proto__")
FACTS = {
    "device": "cpu",
    "warnings": [],
    "version_python": "3.12.3",
    "version_skcamel": "0.1.0",
    "version_numpy": "2.5.2",
}
UNIT = ("dataset", "method", "preset", "fold", "n_folds", "folds", "seed", "version", "settings")


def failure(dataset="yeast", method="ecc", fold=0, error="ValueError: no luck", **fields):
    """A unit that failed."""
    unit = made_records.record(dataset, method, fold=fold, **fields)
    traceback = f"Traceback:\n  a line\n{error}\n"
    return {key: unit[key] for key in UNIT} | {"error": error, "traceback": traceback}


def costly(records):
    """The records, with sizes, and what they took and where."""
    rng = np.random.default_rng(1)
    sizes = {"n_train": 90, "n_test": 10, "n_features": 4, "n_labels": 5, "cardinality": 1.5}
    costs = {"predict_seconds": 0.1, "peak_memory_bytes": 3e8}
    return [
        record | FACTS | sizes | costs | {"fit_seconds": float(rng.uniform(1, 2))}
        for record in records
    ]


def write(folder, records, *, failures=()):
    """A study folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "records.jsonl").write_bytes(b"".join(map(encoded, [*failures, *records])))
    return folder


def sixteen(folder):
    """The paper's whole comparison, CAMEL under two presets, with something of everything."""
    best = made_records.study(SIXTEEN, ["camel"], preset="best", rng=np.random.default_rng(5))
    records = costly([*made_records.study(SIXTEEN, PAPER_METHODS), *best])
    records = [
        record | {"device": "cuda"} if record["method"] == "camel" else record for record in records
    ]
    records[0]["warnings"] = ["ConvergenceWarning: not yet"]
    failures = [
        failure(seed=1),
        failure(method="br", fold=3, seed=1, error="MemoryError: too large"),
    ]
    return write(folder, records, failures=failures)


def nasty(folder):
    """Two data sets and two methods whose names would be dangerous as markup."""
    names = NASTY[:2], NASTY[2:]
    failures = [failure(NASTY[0], NASTY[3], error=f"ValueError: {NASTY[1]}", seed=1)]
    return write(folder, costly(made_records.study(*names, n_folds=3)), failures=failures)
