"""Write small models of made-up data, and beside each the rows and scores that it must give again: ``python tests/models/make.py FOLDER``.

Run it with the version of skcamel whose files are to be kept; kinds of models that this version does not know are left out.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import skcamel

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 3)).round(3)
Y = (X @ np.array([[1.0, -1.0, 0.5], [0.5, 1.0, -1.0], [0.0, 0.7, 1.0]]) + RNG.normal(size=(24, 3)) / 3 > 0.2).astype(int)
NEW = RNG.normal(size=(6, 3)).round(3)
HIDDEN = np.where(np.arange(72).reshape(24, 3) % 5 == 0, np.nan, Y)
GRID = {"alphas": (0.1, 0.5), "lambda2s": (0.02, 0.2)}
WORDS = np.array(["sun sea", "rain", "sea wind rain", "wind"])


def table(rows):
    """Rows as people keep them: money, a category, a text."""
    import pandas as pd

    money, plan, said = (
        [f"${x:.2f}" for x in 100 + 10 * rows[:, 0]],
        np.where(rows[:, 1] > 0, "free", "team"),
        WORDS[(rows[:, 2] > 0) + 2 * (rows[:, 0] > 0)],
    )
    return pd.DataFrame({"paid": money, "plan": plan, "said": said})


def prepared():
    from skcamel.data import TablePreparer
    from skcamel.pipeline import LabelPipeline

    model = LabelPipeline([("prepare", TablePreparer()), ("classify", skcamel.CamelClassifier(threshold="label"))])
    return model.fit(table(X), Y)


def combined():
    pairs = [("standard", "rbf", 1.0), ("none", "linear", 1.0)]
    return skcamel.CamelClassifierCV(**GRID, combine=True, representations=pairs).fit(X, Y)


def baseline(name):
    import skcamel.baselines

    return getattr(skcamel.baselines, name)().fit(X, Y)


KINDS = {
    "single": lambda: skcamel.CamelClassifier(0.3, scaling="standard", threshold="label").fit(X, Y),
    "classes": lambda: skcamel.CamelClassifier(kernel="laplacian").fit(X, np.array(["low", "mid", "top"])[np.argmax(X, axis=1)]),
    "search": lambda: skcamel.CamelClassifierCV(**GRID, kernels=("rbf", "linear"), scalings=("minmax",)).fit(X, Y),
    "ranks": lambda: skcamel.CamelClassifier(scaling="rank").fit(X, Y),
    "combined": combined,
    "unknown": lambda: skcamel.CamelClassifier().fit(X, HIDDEN),
    "landmark": lambda: skcamel.CamelClassifier(solver="landmark", n_landmarks=6).fit(X, Y),
    "primal": lambda: skcamel.CamelClassifier(solver="primal", kernel="linear").fit(X, Y),
    "compressed": lambda: skcamel.compress(skcamel.CamelClassifier().fit(X, Y), 6),
    "table": prepared,
    **{name.lower(): lambda name=name: baseline(name) for name in ("BinaryRelevance", "LLSF", "RAkEL")},
}


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for kind, make in KINDS.items():
        try:
            model = make()
            skcamel.save(model, folder / f"{kind}.skcamel")
        except (TypeError, ValueError, ImportError, AttributeError) as error:
            sys.stderr.write(f"{kind}: {error}\n")
            (folder / f"{kind}.skcamel").unlink(missing_ok=True)
            continue
        rows = table(NEW) if kind == "table" else NEW
        given = rows.to_dict("list") if kind == "table" else rows.tolist()
        told = {"rows": given, "scores": model.decision_function(rows).tolist(), "answers": model.predict(rows).tolist()}
        (folder / f"{kind}.json").write_text(json.dumps(told) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
