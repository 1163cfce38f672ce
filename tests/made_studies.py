"""Study folders that nobody computed: records drawn around the paper's figures, with cards, costs and failures."""

import json
import shutil

import numpy as np

import made_records
from skcamel.experiment.paper import LARGE, PAPER_METHODS, REGULAR
from skcamel.experiment.records import encoded
from skcamel.experiment.units import Unit

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


def run(datasets, methods, preset="paper", n_folds=10, seed=0):
    """What study.json says of one command."""
    named = [{"name": name, "settings": {}} for name in methods]
    return {
        "datasets": [*datasets],
        "methods": named,
        "preset": preset,
        "seed": seed,
        "n_folds": n_folds,
        "folds": "plain",
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
    }
    odd = {
        "unlabelled_rows": [3],
        "zero_rows": [],
        "duplicate_rows": 2,
        "constant_features": [],
        "empty_labels": [],
        "full_labels": [],
    }
    return (
        {
            "name": name,
            "label_counts": counts,
            "label_names": [f"{name} {j}" for j in range(q)],
            "sparsity": 0.5,
            "missing_values": 0,
        }
        | figures
        | odd
    )


def failure(dataset="yeast", method="ecc", fold=0, error="ValueError: no luck", **fields):
    """A unit that failed."""
    unit = made_records.record(dataset, method, fold=fold, **fields)
    return Unit.of(unit).as_dict() | {
        "error": error,
        "traceback": f"Traceback:\n  a line\n{error}\n",
    }


def costly(records):
    """The records, with what they took and where."""
    rng = np.random.default_rng(1)
    return [
        record
        | FACTS
        | {
            "n_train": 90,
            "fit_seconds": float(rng.uniform(1, 2)),
            "predict_seconds": 0.1,
            "peak_memory_bytes": 3e8,
        }
        for record in records
    ]


def write(folder, records, *, runs=(), cards=(), failures=()):
    """A study folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "failures").mkdir(parents=True)
    (folder / "records.jsonl").write_bytes(b"".join(map(encoded, records)))
    (folder / "study.json").write_text(json.dumps({"runs": list(runs)}))
    (folder / "cards.json").write_text(json.dumps({name: card(name) for name in cards}))
    for each in failures:
        (folder / "failures" / f"{Unit.of(each).key}.json").write_text(json.dumps(each))
    return folder


def sixteen(folder):
    """The whole of the paper's comparison, CAMEL under two presets too, with something of everything."""
    records = costly(
        [
            *made_records.study(SIXTEEN, PAPER_METHODS),
            *(
                record | {"criterion": "each"}
                for record in made_records.study(
                    SIXTEEN, ["camel"], preset="best", rng=np.random.default_rng(5)
                )
            ),
        ]
    )
    records = [
        record | {"device": "cuda"} if record["method"] == "camel" else record for record in records
    ]
    records[0]["warnings"] = ["ConvergenceWarning: not yet"]
    runs = [
        run(SIXTEEN, PAPER_METHODS[1:]),
        run(SIXTEEN, ["camel"]),
        run(SIXTEEN, ["camel"], "best"),
        run(SIXTEEN[:2], ["camel"], "best"),
    ]
    failures = [
        failure(seed=1),
        failure(method="br", fold=3, seed=1, error="MemoryError: too large"),
    ]
    return write(folder, records, runs=runs, cards=SIXTEEN, failures=failures)


def nasty(folder):
    """Two data sets and two methods whose names would be dangerous as markup."""
    names = NASTY[:2], NASTY[2:]
    records = costly(made_records.study(*names, n_folds=3, keep_criteria=()))
    failures = [failure(NASTY[0], NASTY[3], error=f"ValueError: {NASTY[1]}", seed=1)]
    return write(folder, records, runs=[run(*names, n_folds=3)], cards=names[0], failures=failures)
