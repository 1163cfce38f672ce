"""A model, and perhaps data ► its page: a first screen, who pushes whom, quality by label, warranties, why a row got its labels, and S."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from skcamel import memory
from skcamel.camel.attribution import EXPLAINED
from skcamel.camel.base import BaseCamel
from skcamel.camel.explanation import AGAINST, LEGEND, ranked_pushes
from skcamel.camel.link import set_rates
from skcamel.camel.thresholds import f1_curves
from skcamel.checks import names_compared
from skcamel.data.dataset import Dataset
from skcamel.data.pipeline import final
from skcamel.display.canvas import similar_order
from skcamel.experiment.summary import rounded
from skcamel.metrics import LOSSES, report
from skcamel.metrics.conventions import TITLES
from skcamel.report.facts import Evaluated, ModelFacts, chosen, evaluated
from skcamel.report.glance import Glance
from skcamel.report.page import Column, Page, Rounded, Section, significant, write
from skcamel.text import count, listed, sampled_words

LABEL_MATRICES, SCORES, ROWS = (
    12,
    24,
    4,
)  # alive at the peak, shown by tests/report/test_model_page.py


def build_model_report(
    model: Any, dataset: Dataset | tuple[Any, Any] | None, path: str | os.PathLike[str]
) -> None:
    """Write the page of a model: who pushes whom, S and, with data, quality and reasons.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        Steps with a method ``describe()``, which lists (column, kind, detail), get a table of what
        becomes of each column.
    dataset : skcamel.data.Dataset, pair (X, Y) or None
        Rows to judge the model by, best ones it has not seen; features are not written into the
        page. A pair holds whatever the
        model takes, such as a frame, and the labels as a frame or an array.
    path : str or path
        One HTML file that needs nothing else; the same bytes for the same input.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel import CamelClassifier
    >>> from skcamel.data import Dataset
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> model = CamelClassifier().fit(X[:40], Y[:40])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     build_model_report(model, Dataset(X[40:], Y[40:]), f"{folder}/page.html")
    ...     Path(folder, "page.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    with names_compared():
        write(model_page(model, dataset), path)


def model_page(model: Any, dataset: Dataset | tuple[Any, Any] | None) -> Page:
    """Assemble the page of a model."""
    estimator = final(model)
    name = type(estimator).__name__
    if not isinstance(estimator, BaseCamel):
        raise TypeError(
            f"A page is made of a CamelClassifier or CamelClassifierCV, got {name}, which has no"
            " collaboration."
        )
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before making its page.")
    if not (
        dataset is None
        or isinstance(dataset, Dataset)
        or (isinstance(dataset, tuple) and len(dataset) == 2)
    ):
        raise TypeError(
            f"The data must be a Dataset, a pair (X, Y) or None, got a {type(dataset).__name__}."
        )
    facts = ModelFacts(model)
    _check_memory(
        facts,
        (
            0
            if dataset is None
            else dataset.n
            if isinstance(dataset, Dataset)
            else np.shape(dataset[1])[0]
        ),
    )
    found = None if dataset is None else evaluated(model, dataset)
    glance = Glance(facts, found)
    sections = [glance.section()]
    if facts.has_pushes:
        sections.append(graph_section(facts))
    if found is not None:
        sections += [
            quality_section(facts, found),
            *calibration_section(found),
            *answers_section(facts, found),
        ]
        sections += [
            why_section(facts, found),
            importance_section(facts, found),
            doubted_section(facts, found),
        ]
    sections += columns_section(facts)
    if facts.has_pushes:
        sections.append(matrix_section(facts))
    sections.append(experts_section(facts))
    about = f" on {found.name}" if found is not None and found.name else ""
    S = facts.S if len(facts.S) <= MANY else Rounded(facts.S)
    shared = {
        "names": facts.names,
        "order": similar_order(facts.S).tolist(),
        "S": S,
        "alpha": facts.alpha,
        "evidence": _sent(facts),
    }
    title = f"A model of {count(len(facts.names), 'label')}{about}"
    return Page(
        title, _lead(facts, found is None), _pairs(facts), sections, shared, glance.findings()
    )


def _sent(facts: ModelFacts) -> dict[str, Any]:
    """What the training rows show, as the page needs it: counts are symmetric, so one triangle is sent."""
    shown = facts.evidence
    seen = np.concatenate([row[i:] for i, row in enumerate(shown.seen)])
    told = {"seen": seen, "against": shown.contradicts, "phrase": AGAINST, "legend": LEGEND}
    if hasattr(facts.model, "known_together_"):  # labels were unknown in some rows
        return told | {
            "expected": np.concatenate([row[i:] for i, row in enumerate(shown.expected)])
        }
    return told | {"total": facts.model.total_weight_}


def _check_memory(facts: ModelFacts, m: int) -> None:
    """Refuse a page of m rows that cannot be made: some matrices of labels by labels, of rows by labels, and a copy of the rows."""
    q = len(facts.names)
    first = facts.members[0][1]
    is_kernel = chosen(first, "kernel") == "precomputed"
    wide = 0 if is_kernel or hasattr(first.X_fit_, "indptr") else m * facts.model.n_features_in_
    memory.require(
        8 * (LABEL_MATRICES * q**2 + SCORES * (m + facts.n_kept) * q + ROWS * wide),
        f"A page of {count(q, 'label')} and {count(m, 'row')}",
        "Give fewer rows of data, or none.",
    )


def _lead(facts: ModelFacts, without_data: bool) -> str:
    lead = "A label is predicted by its own evidence" + (
        ", and other labels push it up or down." if facts.has_pushes else " alone."
    )
    more = "how good each label is on its rows, and why a row got its labels."
    return (
        f"{lead} Made with data (skcamel report MODEL --data FILE), this page also shows {more}"
        if without_data
        else lead
    )


def _pairs(facts: ModelFacts) -> list[tuple[str, str]]:
    model = facts.model
    n_sources = len(set(facts.sources or ()))
    made = (
        f", made from {count(n_sources, 'column')}" if 0 < n_sources < model.n_features_in_ else ""
    )
    return [
        ("Model", type(model).__name__),
        *(
            [("Steps before it", ", ".join(type(step).__name__ for step in facts.steps))]
            if facts.steps
            else []
        ),
        ("Training rows", f"{facts.n_train:,}"),
        ("Features", f"{model.n_features_in_:,}{made}"),
        ("Labels", f"{len(facts.names):,}"),
        ("Collaboration α", significant(facts.alpha)),
    ]


def _settings(facts: ModelFacts) -> list[tuple[str, str]]:
    """How it was fitted, for experts."""
    threshold = facts.model.threshold
    return [
        ("Solver", _solver(facts)),
        ("Label correlation", f"learned {facts.learned}"),
        *_members(facts),
        (
            "Scores",
            (
                f"log-odds, slopes of labels {_scales(facts)}"
                if facts.is_linked
                else "as the paper prints them"
            ),
        ),
        ("Thresholds", threshold if isinstance(threshold, str) else "numbers"),
        *(
            [("Thresholds and probabilities", _judged(facts))]
            if facts.summed and hasattr(facts.model, "n_judged_")
            else []
        ),
    ]


def _scales(facts: ModelFacts) -> str:
    """From where to where they go."""
    return f"from {significant(facts.scales.min())} to {significant(facts.scales.max())}"


def _solver(facts: ModelFacts) -> str:
    """How the model was fitted."""
    if facts.summed:
        return f"sums over rows, by {facts.summed}"
    return (
        "the paper’s Algorithm 1" if hasattr(facts.model, "convergence_") else "exact closed form"
    )


def _judged(facts: ModelFacts) -> str:
    """What thresholds and probabilities come from, if rows were summed up."""
    n = facts.model.n_judged_
    return (
        "leave-one-out of all rows"
        if n >= facts.n_train
        else f"leave-one-out of a sample of {count(n, 'row')}"
    )


def _members(facts: ModelFacts) -> list[tuple[str, str]]:
    """The kernel and its parameters, or those of each member with its weight."""
    if not facts.is_combined:
        model, kernel = facts.model, chosen(facts.model, "kernel")
        return [
            ("Fit weight λ1", significant(chosen(model, "lambda1"))),
            ("Ridge λ2", significant(chosen(model, "lambda2"))),
            ("Kernel", kernel if isinstance(kernel, str) else "callable"),
            ("Bandwidth σ", significant(model.bandwidth_)),
            ("Scaling", str(chosen(model, "scaling"))),
        ]
    named = ("α", "alpha"), ("λ2", "lambda2"), ("σ", "bandwidth_")
    return [
        (
            f"Member {k}, weight {significant(weight)}",
            ", ".join(
                [
                    f"{own.scaling} {own.kernel}",
                    *(f"{symbol} = {significant(getattr(own, key))}" for symbol, key in named),
                ]
            ),
        )
        for k, (weight, own) in enumerate(facts.members, 1)
    ]


POINTS, MOST_POINTS = (
    100,
    20_000,
)  # of a threshold curve and of all; the best point of each is always among them
MOST_ROWS, MOST_SCORES = 500, 100_000  # taken apart; 500 rows of 174 labels take 0.6 MB
TRUE, PREDICTED, UNKNOWN = 1, 2, 4  # bits of what is sent of each row and label
QUALITY = (
    Column("Label"),
    Column("Positives", 0, "rows that have the label"),
    Column("Predicted", 0, "rows for which it is predicted"),
    Column("Precision", 3, "share of the predicted that are right"),
    Column("Recall", 3, "share of the positives that are found"),
    Column(
        "F1",
        3,
        "harmonic mean of precision and recall; 1 where the label is neither present nor predicted",
    ),
    Column(
        "Average precision",
        3,
        "area under the precision-recall curve; does not depend on the threshold",
    ),
    Column("Threshold", 3, "a score above it is a decision for the label"),
    Column("Best F1", 3, "the most that any threshold would reach on these rows"),
)


def graph_section(facts: ModelFacts) -> Section:
    """The graph of collaboration: labels on a circle."""
    S = facts.S
    n_pushes = int((S != 0).sum())
    verb = "are" if n_pushes != 1 else "is"
    found = (
        f"{count(n_pushes, 'push', 'pushes')} of {S.size - len(S):,} possible {verb} not zero,"
        f" learned {facts.learned}."
    )
    context = {
        "sentence": f"{found} {_first_push(facts)}",
        "alpha": significant(facts.alpha),
        "n_labels": len(S),
    }
    context["scaled"] = _scales(facts) if facts.is_linked else ""
    return Section(
        "collaboration", "Who pushes whom", context, scripts=("collaboration.js",), short="Pushes"
    )


def _first_push(facts: ModelFacts) -> str:
    """The push to lead with, and how many have a sign that the training rows contradict; these never lead."""
    (first,) = ranked_pushes(facts.S, 1, facts.evidence)
    n_against = int(facts.evidence.contradicts.sum())
    if first.contradicts:
        return (
            f"All of them go {AGAINST}: up where labels avoid each other, or down where they go"
            f" together. {LEGEND}"
        )
    lead = "The strongest that the data bear out" if n_against else "The strongest"
    push = (
        f"{facts.names[first.source]} pushes {facts.names[first.target]}"
        f" {'up' if first.amount > 0 else 'down'}"
    )
    sentence = f"{lead}: {push}, s\u00a0=\u00a0{significant(first.amount)}{first.shown}. {LEGEND}"
    if n_against:
        verb = "goes" if n_against == 1 else "go"
        sentence += (
            f" {count(n_against, 'push', 'pushes')} {verb} {AGAINST}, up where labels avoid each"
            " other or down where they go together: listed after all others, and drawn hollow."
        )
    return sentence


def matrix_section(facts: ModelFacts) -> Section:
    """S as an ordered heat map."""
    return Section(
        "correlation",
        "Correlation matrix",
        {"learned": facts.learned},
        scripts=("heatmap.js", "correlation.js"),
        short="Correlation",
    )


def experts_section(facts: ModelFacts) -> Section:
    """Settings of the model."""
    return Section("experts", "For experts", {"settings": _settings(facts)}, short="Experts")


BECOMES = (
    Column("Column"),
    Column("Kind", note="what its values are"),
    Column("What becomes of it"),
)


def columns_section(facts: ModelFacts) -> list[Section]:
    """What the steps say that they make of each column; nothing where none says."""
    rows = [
        tuple(map(str, row))
        for step in facts.steps
        if hasattr(step, "describe")
        for row in step.describe()
    ]
    sampled = " ".join(
        sampled_words(*step.sampled_) for step in facts.steps if hasattr(step, "sampled_")
    )
    context = {"columns": BECOMES, "table": rows, "sampled": sampled}
    return (
        [
            Section(
                "columns",
                "What becomes of each column",
                context,
                scripts=("searchable.js", "columns.js"),
                short="Table",
            )
        ]
        if rows
        else []
    )


def quality_section(facts: ModelFacts, found: Evaluated) -> Section:
    """The seven metrics, a table of labels, and how the F1 of each depends on its threshold."""
    Y, P = found.truth, found.predicted
    curves = _curves(found)
    cuts = facts.model.thresholds_
    keys = ("label", "positives", "predicted", "precision", "recall", "f1")
    rows = [
        (
            *(row[key] for key in keys),
            _average_precision(found, j),
            cuts[j],
            f1.max() if found.known[:, j].any() else np.nan,
        )
        for j, (row, (_, f1)) in enumerate(
            zip(report(Y, P, label_names=facts.names), curves, strict=True)
        )
    ]
    points = min(POINTS, max(10, MOST_POINTS // len(curves)))
    context = {
        "rows": count(len(Y), "row"),
        "note": " ".join(filter(None, (found.note, _unknown(found)))),
        "metrics": [
            (TITLES[name], rounded(value), "↓" if name in LOSSES else "↑")
            for name, value in found.metrics.items()
        ],
        "columns": QUALITY,
        "table": rows,
    }
    data = {
        "cuts": cuts,
        "curves": [_thinned(*curve, points) for curve in curves],
        "f1": [float(row[5]) for row in rows],
    }
    return Section(
        "quality",
        "Quality by label",
        context,
        data,
        ("searchable.js", "quality.js"),
        short="Quality",
    )


def calibration_section(found: Evaluated) -> list[Section]:
    """Probabilities against what came true, over all labels; nothing where the model has none."""
    if found.outputs.link is None:
        return []
    known = found.known
    p, present = found.outputs.probabilities[known].astype(np.float64), found.relevant[known]
    tenth = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(tenth, minlength=BINS)
    with np.errstate(invalid="ignore"):
        predicted, observed = (np.bincount(tenth, values, BINS) / counts for values in (p, present))
    error = float(np.nansum(counts * abs(predicted - observed))) / max(counts.sum(), 1)
    sentence = (
        f"Over {count(int(counts.sum()), 'probability', 'probabilities')}, one for each row and"
        f" label, this is missed by {rounded(error)} on average (expected calibration error, over"
        " tenths; 0 is best)."
    )
    data = {
        "counts": counts.tolist(),
        "predicted": predicted.tolist(),
        "observed": observed.tolist(),
    }
    return [
        Section(
            "calibration",
            "Are the probabilities right?",
            {"sentence": sentence},
            data,
            ("calibration.js",),
            short="Probabilities",
        )
    ]


BINS = 10  # of the probabilities
MOST_DOUBTED = 20
MANY = 256  # labels; beyond, S is sent with 16 bits for each coefficient
DOUBTED = (
    Column("Row"),
    Column("Label"),
    Column("Given"),
    Column("Score", 3, "above 0 speaks for the label, below 0 against it"),
)
CONFIDENCES, SHOWN = (0.8, 0.9, 0.95), 0.9  # and the one that labels are shown for
RATES = (
    Column("Yes answers right", 3, "share of the yes answers that are right"),
    Column("Present, answered no", 3, "share of the labels that rows have which are answered no"),
    Column("Open", 3, "share of the answers that are open"),
)


def answers_section(facts: ModelFacts, found: Evaluated) -> list[Section]:
    """Prediction sets against the truth; nothing where the model has none."""
    if isinstance(found.outputs.set_thresholds, str):
        return []
    answers = {confidence: found.outputs.sets(confidence) for confidence in CONFIDENCES}
    truth = found.truth.reshape(-1, 1)
    table = []
    for confidence, own in answers.items():
        rates = set_rates(truth, own.reshape(-1, 1))
        table.append((f"{confidence:.2f}", *(float(rate[0]) for rate in rates.values())))
    context = {
        "rows": count(len(found.relevant), "row"),
        "columns": (Column("Confidence"), *RATES),
        "table": table,
        "confidence": SHOWN,
        "label_columns": (Column("Label"), *RATES),
        "labels": list(
            zip(facts.names, *set_rates(found.truth, answers[SHOWN]).values(), strict=True)
        ),
    }
    return [
        Section(
            "answers",
            "Prediction sets",
            context,
            scripts=("searchable.js", "answers.js"),
            short="Sets",
        )
    ]


def doubted_section(facts: ModelFacts, found: Evaluated) -> Section:
    """Labels of the data that the scores contradict most."""
    given = np.where(found.relevant, 1, -1)
    support = np.where(found.known, given * found.scores, np.inf)
    first = np.argsort(support, axis=None, kind="stable")[:MOST_DOUBTED]
    places = [
        (int(row), int(label))
        for row, label in zip(*np.unravel_index(first, support.shape))
        if support[row, label] < 0
    ]
    table = [
        (str(r), facts.names[j], "yes" if found.relevant[r, j] else "no", found.scores[r, j])
        for r, j in places
    ]
    context = {"columns": DOUBTED, "table": table}
    return Section("doubted", "Labels that look wrong", context, short="Doubts")


def _average_precision(found: Evaluated, j: int) -> float:
    known = found.known[:, j]
    relevant = found.relevant[known, j]
    return (
        float(average_precision_score(relevant, found.scores[known, j]))
        if relevant.any()
        else float("nan")
    )


def _curves(found: Evaluated) -> list[tuple[np.ndarray, np.ndarray]]:
    """F1 of each label against its threshold, over the rows in which it is known; over all where that is none."""
    if found.known.all():
        return f1_curves(found.relevant, found.scores)
    curves: list[tuple[np.ndarray, np.ndarray]] = []
    for relevant, scores, known in zip(
        found.relevant.T, found.scores.T, found.known.T, strict=True
    ):
        rows = known if known.any() else ~known
        curves += f1_curves(relevant[rows, None], scores[rows, None])
    return curves


def _unknown(found: Evaluated) -> str:
    unknown = 1 - found.known.mean()
    return (
        f"{100 * unknown:.2g} % of the label entries are unknown: figures count the others."
        if unknown
        else ""
    )


def _thinned(cuts: np.ndarray, f1: np.ndarray, points: int) -> np.ndarray:
    """At most `points` + 1 of the points of a curve, evenly along the rows, with its best one; (2, k)."""
    kept = np.unique(
        [*np.linspace(0, len(cuts) - 1, min(points, len(cuts))).astype(int), int(f1.argmax())]
    )
    return np.array([cuts[kept], f1[kept]])


def why_section(facts: ModelFacts, found: Evaluated) -> Section:
    """The parts of the scores of at most `MOST_ROWS` rows and about `MOST_SCORES` scores, spread evenly over the data.

    Only f(x) - f̄ is sent, (m, q): the page multiplies it by G, since all pushes would be m q²
    numbers.
    """
    m, q = found.scores.shape
    rows = np.unique(
        np.linspace(0, m - 1, min(m, MOST_ROWS, max(10, MOST_SCORES // q))).astype(int)
    )
    own, pushing = facts.deviations(found.X[rows])
    flags = (
        TRUE * found.relevant[rows]
        + PREDICTED * found.predicted[rows]
        + UNKNOWN * ~found.known[rows]
    )
    context = {
        "rows": (
            count(m, "row")
            if len(rows) == m
            else f"{len(rows)} of {count(m, 'row')}, spread evenly over the data"
        ),
        "by_class": found.outputs.target == "multiclass",
    }
    data = {
        "rows": rows.tolist(),
        "own": Rounded(own),
        **({} if pushing is own else {"pushing": Rounded(pushing), "scales": facts.scales}),
        "base": facts.model.base_scores_,
        "cuts": facts.model.thresholds_,
        "flags": flags.astype(np.uint8),
    }
    return Section("why", "Why this label", context, data, ("why.js",), short="Why")


MOST_COLUMNS, MOST_LABELS = 20, 30  # in the map of what columns add
MOST_FACTORS, FEWEST_ROWS = (
    50_000_000,
    5,
)  # columns x training rows x rows, some 4 seconds; fewer rows than 5 say little
BLOCK = 2**20  # parts of scores alive at a time


def importance_section(facts: ModelFacts, found: Evaluated) -> Section:
    """Mean absolute value of the strongest columns for the labels, over rows that are spread evenly over the data; or why not."""
    name, title = "importance", "What the columns add"
    if not all(chosen(own, "kernel") in EXPLAINED for _, own in facts.members):
        return Section(
            name,
            title,
            {
                "reason": (
                    f"Scores can be shared among columns for the kernels {listed(EXPLAINED)} alone."
                )
            },
            short="Columns",
        )
    factors = sum(facts.model.n_features_in_ * len(own.dual_coef_) for _, own in facts.members)
    m = min(len(found.scores), MOST_ROWS, MOST_FACTORS // factors)
    if m < min(FEWEST_ROWS, len(found.scores)):
        kept = facts.summed or count(facts.n_train, "training row")
        reason = (
            f"This takes too long for a page of a model of {kept}; skcamel explain tells it of a"
            " row."
        )
        return Section(name, title, {"reason": reason}, short="Columns")
    rows = np.unique(np.linspace(0, len(found.scores) - 1, m).astype(int))
    try:
        importance, names = _importance(facts, found.X[rows])
    except MemoryError as error:
        return Section(name, title, {"reason": str(error)}, short="Columns")
    columns = np.argsort(-importance.max(axis=1, initial=0), kind="stable")[:MOST_COLUMNS]
    labels = np.sort(np.argsort(-importance.max(axis=0, initial=0), kind="stable")[:MOST_LABELS])
    first = labels[importance[columns[0], labels].argmax()]
    which = (
        "" if len(names) <= MOST_COLUMNS else f", of which the strongest {MOST_COLUMNS} are shown"
    )
    sentence = (
        f"The strongest: {names[columns[0]]} moves the score of {facts.names[first]} by"
        f" {significant(importance[columns[0], first])} on average, up or down. From"
        f" {count(len(rows), 'row')} of the data and {count(len(names), 'column')}{which}."
    )
    data = {
        "columns": [str(names[g]) for g in columns],
        "labels": labels.tolist(),
        "values": importance[np.ix_(columns, labels)],
    }
    context = {
        "reason": "",
        "sentence": sentence,
        "n_labels": len(labels) if len(labels) < len(facts.names) else 0,
    }
    return Section(name, title, context, data, ("heatmap.js", "importance.js"), short="Columns")


def _importance(facts: ModelFacts, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean absolute value of each column, or source of columns, for each label, (G, q), and the names (G,)."""
    q = len(facts.names)
    at_once = max(1, BLOCK // (q * (facts.model.n_features_in_ + q)))
    total, names = 0.0, np.empty(0, dtype=object)
    for start in range(0, X.shape[0], at_once):
        told = facts.model.explain(X[start : start + at_once], features=True, sources=facts.sources)
        total, names = total + len(told) * told.importance(), told.feature_names
    return np.asarray(total) / X.shape[0], names
