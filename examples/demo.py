"""CAMEL on yeast: select, fit, evaluate, explain; and many rows. ``make demo`` runs it.

It needs the extra ``datasets``.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors
from skcamel.data import Dataset, load_dataset
from skcamel.metrics import LOSSES, average_precision, evaluate, report


def main() -> None:
    yeast = load_dataset("yeast")
    print(f"{yeast.card()}\n")
    X_train, X_test, Y_train, Y_test = train_test_split(
        yeast.X, yeast.labels, test_size=500, random_state=0
    )

    start = time.perf_counter()
    paper = CamelClassifierCV().fit(X_train, Y_train)
    seconds = time.perf_counter() - start
    print(f"CAMEL as in the paper: 77 candidates scored by exact leave-one-out in {seconds:.1f} s;")
    print(
        f"selected alpha={paper.alpha_}, lambda2={paper.lambda2_}, leave-one-out average precision"
        f" {paper.best_score_:.3f}"
    )

    tuned = CamelClassifierCV.from_preset("quick", scoring="macro_f1", threshold="macro_f1").fit(
        X_train, Y_train
    )
    best = ", ".join(f"{key}={value}" for key, value in tuned.best_params_.items())
    print("\npreset quick for macro-F1, with kernels, scalings and tuned thresholds:")
    print(f"selected {best}")

    print(f"\non {len(X_test)} test genes                 paper   tuned")
    first, second = (figures(model, X_test, Y_test) for model in (paper, tuned))
    for name in first:
        better = "smaller" if name in LOSSES else "larger"
        print(f"  {name:18} ({better:7} is better)  {first[name]:.3f}   {second[name]:.3f}")

    print("\nlabel by label, tuned thresholds:")
    print(report(Y_test, tuned.predict(X_test), label_names=tuned.label_names_))

    print(
        "\nwhy these labels? three test genes, with what other labels and the strongest columns"
        " add:"
    )
    print(tuned.explain(X_test[:3], features=True))

    likely = tuned.predict_proba(X_test)
    sure = likely > 0.8
    print(
        f"\n{sure.sum()} labels have a probability above 0.8: on average {likely[sure].mean():.0%},"
        f" and {Y_test[sure].mean():.0%} of them are present"
    )

    answers, truth = tuned.predict_sets(X_test, confidence=0.8), np.asarray(Y_test)
    right, missed = (truth[answers == 1] == 1).mean(), (answers[truth == 1] == 0).mean()
    print(
        f"\nyes, no or open at a confidence of 0.8: {right:.0%} of the yes answers are right,"
        f" {missed:.0%} of the"
    )
    print(f"present labels are answered no, {(answers < 0).mean():.0%} of the answers are open")

    hidden = np.where(np.random.default_rng(0).random(Y_train.shape) < 0.5, np.nan, Y_train)
    half = CamelClassifierCV.from_preset("quick").fit(X_train, hidden)
    precision = [
        average_precision(Y_test, model.decision_function(X_test)) for model in (tuned, half)
    ]
    print(
        f"\nhalf of the training labels hidden: average precision {precision[1]:.3f}; with all of"
        f" them {precision[0]:.3f}"
    )

    flipped = np.random.default_rng(0).random(Y_train.shape) < 0.01
    wrong = Dataset(X_train, np.asarray(Y_train) ^ flipped, label_names=yeast.label_names)
    errors = find_label_errors(wrong.X, wrong.labels)
    first = flipped[errors.rows, errors.labels][: flipped.size // 20]
    print(
        f"\n{flipped.sum()} labels flipped on purpose; {first.sum()} of them are among the 5 % of"
    )
    print("the labels that are most likely errors, which begin with")
    print(find_label_errors(wrong.X, wrong.labels, limit=5))

    many_rows()


def figures(model: CamelClassifierCV, X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    """The seven metrics."""
    return evaluate(Y, model.decision_function(X), model.predict(X))


def many_rows(n: int = 60_000, batch: int = 20_000) -> None:
    """A fit in one pass over more rows than the exact solver allows, and the same in batches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 2_000, 10)).astype(np.float32)
    Y = X[:, :4] + X[:, 1:5] * X[:, 2:6] > 0.5
    settings = {
        "scaling": "standard",
        "solver": "landmark",
        "n_landmarks": 500,
        "max_memory": "1GiB",
    }
    start = time.perf_counter()
    at_once = CamelClassifier(**settings).fit(X[:n], Y[:n])
    seconds = time.perf_counter() - start
    stream = CamelClassifier(**settings)
    for k in range(0, n, batch):
        stream.partial_fit(X[k : k + batch], Y[k : k + batch], solve=k + batch >= n)
    exact = CamelClassifier(scaling="standard").fit(X[:2_000], Y[:2_000])
    found = [
        average_precision(Y[n:], model.decision_function(X[n:]))
        for model in (at_once, stream, exact)
    ]
    print(
        f"\nmany rows, {n:,} made up, by 500 landmarks in one pass within 1 GiB: {seconds:.1f} s;"
    )
    print(
        f"average precision on new rows {found[0]:.3f}, in batches of {batch:,} (partial_fit)"
        f" {found[1]:.3f},"
    )
    print(f"and by the exact solver on 2,000 of the rows {found[2]:.3f}")


if __name__ == "__main__":
    main()
