"""What a user writes: the type checker reads it, test_user_code.py runs it."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skcamel import (
    PAPER_ALPHAS,
    PAPER_LAMBDA2S,
    CamelClassifier,
    CamelClassifierCV,
    ModelFileError,
    baselines,
    explain,
    label_sets,
    load,
    save,
)
from skcamel.data import (
    Dataset,
    MultilabelStratifiedKFold,
    TablePreparer,
    check_dataset,
    read_columns,
    read_dataset,
    take_labels,
    write_dataset,
)
from skcamel.experiment import Records, run_study
from skcamel.metrics import NAMES, edge_cases, evaluate, get_scorer, macro_f1, report
from skcamel.plots import plot_collaboration, plot_explanation
from skcamel.report import build_model_report, build_report


def main(folder: Path) -> list[float]:
    """Use every part once; returns macro-F1 before and after a model was saved, and of a study."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(60, 3)) > 0).astype(int)

    model = CamelClassifierCV.from_preset("quick", scoring="macro_f1").fit(X, Y)
    model.fit(pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=["sea", "sun", "sky"]))
    rows = pd.DataFrame(X, columns=list("abcd"))
    outputs = model.outputs(rows)
    explanation = model.explain(rows[:3])
    text = [
        f"{model.best_params_['alpha']} {model.best_score_:.3f} {model.cv_results_['params'][0]}",
        f"{model.predict_proba(rows).round(2)} {model.label_sets(rows)[0]} {outputs.top(2)}",
        f"{explanation} {explanation.top(2)[0]['sea'][0].amount:+.2f} {outputs.decisions.sum()}",
        f"{(explanation.base + explanation.parts.sum(axis=1)).max():.2f}",
        f"{report(Y, model.predict(rows), label_names=model.label_names_)} {NAMES[0]}",
        f"{edge_cases(Y, model.predict(rows))} {macro_f1(Y, model.predict(rows), absent=0.0):.3f}",
    ]
    figures = [evaluate(Y, model.decision_function(rows), model.predict(rows))["macro_f1"]]

    single = CamelClassifier(0.5, 1.0, 0.1, kernel="laplacian", threshold="macro_f1")
    single.fit(X, Y, sample_weight=np.ones(60))
    text.append(f"{single.label_correlation_} {single.collaboration_.shape} {single.n_iter_}")
    text.append(f"{cross_val_score(single, X, Y, scoring=get_scorer('ranking_loss'), cv=3)}")
    methods = [baselines.BinaryRelevance(), baselines.EnsembleOfClassifierChains(2)]
    methods += [baselines.RAkEL(2), baselines.LLSF(), baselines.JFSC()]
    text += [f"{method.fit(X, Y).predict(X).sum()}" for method in methods]
    text += [f"{search}" for search in (baselines.LLSFCV(cv=3), baselines.JFSCCV(cv=3))]
    folds = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    CamelClassifierCV(PAPER_ALPHAS, (1.0,), PAPER_LAMBDA2S, cv=folds).fit(X, Y)

    try:
        save(model, folder / "model.skcamel")
        figures.append(macro_f1(Y, load(folder / "model.skcamel").predict(rows)))
    except ModelFileError as error:
        text.append(str(error))

    plans, paid = ["free", "team", "free"] * 20, ["$0", "$1,200", "$80"] * 20
    table = pd.DataFrame({"plan": plans, "paid": paid, "size": X[:, 0]})
    preparer = TablePreparer(category=["plan"])
    pipeline = make_pipeline(preparer, CamelClassifierCV.from_preset("quick", prepared=True))
    reasons = explain(pipeline.fit(table, Y), table[:2], features=True)
    text.append(f"{label_sets(pipeline, table)[0]} {preparer.kinds_['paid']} {reasons}")
    save(pipeline, folder / "pipeline.skcamel")
    table.assign(tags="sea|sun").to_csv(folder / "table.csv", index=False)
    rest, labels = take_labels(read_columns(folder / "table.csv"), ["tags"], "table.csv")
    text.append(f"{rest.num_rows} {labels.names} {labels.Y.sum()} {model.predict(rows).shape}")

    data = Dataset(X, Y, label_names=["sea", "sun", "sky"], name="mine")
    write_dataset(data, folder / "mine.arff")
    again = read_dataset(folder / "mine.arff")
    text += [str(again.card()), f"{check_dataset(data)} {again.label_names[0]}"]
    study = run_study([data], ["camel"], preset="quick", out=folder / "study")
    build_report(study, folder / "study.html")
    of_labels = pd.DataFrame(Y, columns=["sea", "sun", "sky"])
    build_model_report(model, Dataset(rows, of_labels), folder / "model.html")
    figures.append(float(np.mean([record["macro_f1"] for record in Records(folder / "study")])))
    plot_collaboration(model).figure.savefig(folder / "collaboration.svg")
    plot_explanation(explanation)
    (folder / "text.txt").write_text("\n".join(text))
    return figures
