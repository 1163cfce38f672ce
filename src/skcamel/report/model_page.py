"""A model, perhaps with labelled rows ► its page: quality, labels, reasons, label errors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.utils.validation import check_is_fitted

from skcamel.camel.base import BaseCamel
from skcamel.camel.explanation import (
    AGAINST,
    LEGEND,
    evidence,
    ranked_pushes,
    short_number,
)
from skcamel.checks import names_compared
from skcamel.data import Dataset
from skcamel.data.pipeline import explained, final, source_names
from skcamel.metrics.seven import LOSSES, NAMES, TITLES
from skcamel.plots.canvas import map_size, rows_size
from skcamel.plots.labels import plot_collaboration, strongest_labels
from skcamel.plots.quality import draw_quality
from skcamel.plots.reasons import sum_of
from skcamel.report.evaluation import (
    Evaluated,
    Quality,
    evaluated,
    judged,
    quality,
    rival_of,
)
from skcamel.report.page import (
    Choice,
    Column,
    Drawing,
    Facts,
    Option,
    Page,
    Section,
    Side,
    Sum,
    Table,
    Text,
    some,
    svg_of,
    write,
)
from skcamel.text import count

LOGISTIC = "Logistic regression"
RIVAL = (
    "Logistic regression: one for each label, learned from these rows alone, each fifth from the"
    " others."
)
DRAWN = 30  # labels in a drawing
MOST_PUSHES = 200
MOST_ERRORS = 20
ROWS = 30  # of which the reader chooses one, beside those with label errors
CELLS, LETTERS, SHORT = 12, 160, 18  # cells of a row; letters of a cell, and beside its name
EXPLAINED = 3  # labels of a row
FIGURES = (
    Column("Positives", 0, "rows that have the label"),
    Column("Precision", 3, "share of the predicted that are right"),
    Column("Recall", 3, "share of the rows with the label that are found"),
    Column("F1", 3, "harmonic mean of precision and recall"),
)
PUSHES = (
    Column("Label"),
    Column("pushes"),
    Column("Strength", 2, "coefficient in the label correlation S"),
    Column("Seen", 0, "training rows with both labels"),
    Column("Expected", note="if neither depended on the other", numeric=True),
    Column("Note"),
)
ERRORS = (
    Column("Row"),
    Column("Label"),
    Column("In the data"),
    Column("Chance that the data are right", 3),
)


def build_model_report(
    model: Any, dataset: Dataset | tuple[Any, Any] | None, path: str | os.PathLike[str]
) -> None:
    """Write the page of a model: how good it is, by label, which labels go together, and why.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
    dataset : skcamel.data.Dataset, pair (X, Y) or None
        Rows to judge the model by, best ones it has not seen. A pair holds whatever the model
        takes, such as a frame, and the labels as a frame or an array. The page shows the cells of
        up to 50 of these rows. None: leave-one-out of the training rows judges the model.
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
    estimator: Any = final(model)
    name = type(estimator).__name__
    if not isinstance(estimator, BaseCamel):
        raise TypeError(
            f"A page is made of a CamelClassifier or CamelClassifierCV, got {name}, which has no"
            " collaboration."
        )
    check_is_fitted(estimator)
    if not (dataset is None or isinstance(dataset, (Dataset, tuple))):
        raise TypeError(
            f"The data must be a Dataset, a pair (X, Y) or None, got a {type(dataset).__name__}."
        )
    names = [str(name) for name in estimator.label_names_]
    title = f"A model of {some(names, 'label')}"
    together = _together(estimator, names)
    if dataset is not None:
        found = evaluated(model, dataset)
        own = judged(found.truth, found.outputs.scores, found.outputs.decisions)
        rival = rival_of(found)
        labels = _by_label(names, own, _on_rows(found), _calibration(found))
        errors = _label_errors(found)
        why = _why(model, names, found, errors)
        wrong = _wrong(names, found, errors)
        sections = [_how_good(own, rival, found), labels, together, why, wrong]
        findings = []
        if rival is not None:
            figures = f"{rival.precision:.0%} are right, and it finds {rival.recall:.0%}"
            findings.append(f"{LOGISTIC}: {figures}.")
        return Page(title, _answer(own, f"On {found.described}"), findings, sections)
    estimates = getattr(estimator, "label_estimates_", None)
    if estimates is None:
        answer = (
            "This model has no estimate of how good it is; rows with labels give one: skcamel"
            " report MODEL --data FILE."
        )
        return Page(title, answer, [], [together])
    own = quality(estimator.estimate_, estimates)
    where = f"On {count(estimator.n_judged_, 'training row')}, each left out in turn"
    sections = [_how_good(own, None, None), _by_label(names, own, {}, []), together]
    return Page(title, _answer(own, where), [], sections)


def _answer(own: Quality, where: str) -> str:
    """How good the model is, in a sentence."""
    return (
        f"{where}, {own.precision:.0%} of the labels that this model predicts are right, and it"
        f" finds {own.recall:.0%} of the labels that the rows have."
    )


def _how_good(own: Quality, rival: Quality | None, found: Evaluated | None) -> Section:
    """The seven metrics beside those of logistic regression."""
    columns = [Column("Metric"), Column("This model", 3)]
    texts = []
    if rival is not None:
        columns.append(Column(LOGISTIC, 3))
        texts.append(RIVAL)
    if found is not None:
        texts.append(found.note)
    rows = []
    for metric in NAMES:
        row: list[Any] = [f"{TITLES[metric]} {'↓' if metric in LOSSES else '↑'}"]
        row.append(own.metrics[metric])
        if rival is not None:
            row.append(rival.metrics[metric])
        rows.append(row)
    note = "↑: larger is better; ↓: smaller is better."
    blocks = [Text(" ".join(texts)), Table("Metrics", columns, rows, note)]
    return Section("good", "How good is it?", "How good", blocks)


def _by_label(
    names: list[str], own: Quality, more: Mapping[Column, np.ndarray], blocks: list[Any]
) -> Section:
    """Precision and recall of every label, all figures as a table, and other blocks."""
    n_drawn = min(len(names), DRAWN)
    svg = svg_of(
        lambda ax: draw_quality(names, own.labels, k=DRAWN, ax=ax),
        rows_size(names[:DRAWN]),
        name="quality",
        alt=f"Precision and recall of {count(n_drawn, 'label')}; the table has the same figures.",
    )
    caption = "The commonest label is on top. A label is weak where a mark is far to the left."
    if n_drawn < len(names):
        caption = f"{caption} The {n_drawn} labels with the lowest F1 are shown."
    figures = {column: own.labels[column.title.lower()] for column in FIGURES}
    figures = {**figures, **more}
    rows = list(zip(names, *figures.values(), strict=True))
    table = Table("Labels", [Column("Label"), *figures], rows)
    drawing = Drawing("Precision and recall", svg, caption)
    blocks = [Side([drawing, *blocks]), table]
    return Section("labels", "How good is it for each label?", "By label", blocks)


def _on_rows(found: Evaluated) -> dict[Column, np.ndarray]:
    """What labelled rows show of each label beside precision and recall."""
    figures = {Column("Share", 3, "share of the rows that have it"): found.mean_of(found.truth)}
    limits = found.outputs.thresholds
    if found.outputs.link is not None:
        note = "close to the share where probabilities can be trusted"
        figures[Column("Mean probability", 3, note)] = found.mean_of(found.outputs.probabilities)
        limits = found.outputs.link(limits[None])[0]
    figures[Column("Threshold", 3, "predicted where probability or score is above it")] = limits
    return figures


def _calibration(found: Evaluated) -> list[Any]:
    """Probabilities against what came true, over all labels; nothing without probabilities."""
    if found.outputs.link is None:
        return []
    truth = found.truth[found.known]
    p = found.outputs.probabilities[found.known].astype(np.float64)

    def draw(ax: Any) -> None:
        CalibrationDisplay.from_predictions(truth, p, n_bins=10, name="this model", ax=ax)
        ax.set(xlabel="predicted probability", ylabel="share of labels that are present")

    alt = "Predicted probabilities against the share of labels that are present."
    svg = svg_of(draw, (4.2, 4.0), name="calibration", alt=alt)
    caption = (
        "Of the labels with a probability of 0.7, seven in ten should be present. Where the line"
        " is below the dotted one, fewer are."
    )
    return [Drawing("Can the probabilities be trusted?", svg, caption)]


def _together(estimator: Any, names: list[str]) -> Section:
    """Which labels push which, as a heat map and as a table."""
    S = estimator.label_correlation_
    alpha = collaboration(estimator)
    blocks: list[Any] = []
    if alpha == 0 or not S.any():
        reason = "its collaboration α is 0" if alpha == 0 else "no label says anything of another"
        text = f"This model predicts every label by itself: {reason}."
    else:
        text = (
            "The prediction of a label pushes others up or down. The collaboration α of this model"
            f" is {alpha:.3g}: at 0 labels do not push each other, at 1 nothing else counts."
        )
        blocks = [_heat_map(estimator, names), _push_table(estimator, names)]
    return Section("together", "Which labels go together?", "Together", [Text(text), *blocks])


def collaboration(estimator: Any) -> float:
    """The degree α of collaboration; of a combination the weighted mean of its members'."""
    members = estimator.weighted_members()
    alphas = [member.alpha_ if hasattr(member, "alpha_") else member.alpha for _, member in members]
    return float(np.average(alphas, weights=[weight for weight, _ in members]))


def _heat_map(estimator: Any, names: list[str]) -> Drawing:
    shown = strongest_labels(estimator.label_correlation_, DRAWN)
    drawn = [names[j] for j in shown]
    svg = svg_of(
        lambda ax: plot_collaboration(estimator, k=DRAWN, ax=ax),
        map_size(drawn, drawn),
        name="together",
        alt=f"Pushes among {count(len(shown), 'label')}; the table lists the strongest.",
    )
    caption = "Blue: the label on the left pushes the one above up; orange: down; empty: no push."
    return Drawing("Which labels raise or lower which", svg, caption)


def _push_table(estimator: Any, names: list[str]) -> Table:
    rows = []
    for push in ranked_pushes(estimator.label_correlation_, MOST_PUSHES, evidence(estimator)):
        pair = [names[push.source], names[push.target]]
        note = AGAINST if push.contradicts else ""
        rows.append([*pair, push.amount, push.seen, short_number(push.expected), note])
    return Table("Strongest pushes", PUSHES, rows, LEGEND)


def _label_errors(found: Evaluated) -> list[tuple[int, int, float]]:
    """Rows and labels of the data that are more likely wrong than right, with their chance."""
    if found.outputs.link is None:
        return []
    p = found.outputs.probabilities
    chance = np.where(found.truth > 0, p, 1 - p)
    chance[~found.known] = 1.0
    first = np.argsort(chance, axis=None, kind="stable")[:MOST_ERRORS]
    rows, labels = np.unravel_index(first, chance.shape)
    entries = zip(rows.tolist(), labels.tolist(), chance[rows, labels].tolist(), strict=True)
    return [entry for entry in entries if entry[-1] < 0.5]


def _wrong(names: list[str], found: Evaluated, errors: list[tuple[int, int, float]]) -> Section:
    """Labels of the data that the model finds least likely."""
    text = "By the probabilities of the model, if it has any, no label of these rows is unlikely."
    blocks: list[Any] = []
    if errors:
        text = (
            "The model finds these labels of the data least likely. Some are wrong, others are"
            " right and hard to predict: look at them. 'skcamel label-errors' judges a whole file."
        )
        rows = [
            [found.title(row), names[label], "yes" if found.truth[row, label] else "no", chance]
            for row, label, chance in errors
        ]
        links = [f"row-{row + 1}" for row, _, _ in errors]
        blocks = [Table("Least likely first", ERRORS, rows, links=links)]
    return Section("errors", "Which labels look wrong?", "Label errors", [Text(text), *blocks])


def _why(
    model: Any, names: list[str], found: Evaluated, errors: list[tuple[int, int, float]]
) -> Section:
    """Rows of which the reader chooses one: its cells, its labels, and how their scores add up."""
    m = len(found.truth)
    spread = np.linspace(0, m - 1, min(m, ROWS)).astype(int).tolist()
    rows = sorted({*spread, *(row for row, _, _ in errors)})
    problem = ""
    first = [*found.ids, *(source_names(model) or ())]
    options = []
    for row, cells in zip(rows, found.cells(rows), strict=True):
        X = found.rows[[row]]
        explanation, problem = explained(model, X)
        shown = {str(name): _text(cells[name]) for name in [*first, *cells] if name in cells}
        blocks = _reasons(names, found, row, explanation, shown)
        facts = Facts(list(shown.items())[:CELLS])
        options.append(Option(f"row-{row + 1}", found.title(row), [facts, *blocks]))
    text = (
        "Choose a row to see its labels, and how the score of each is the sum of what columns add,"
        f" or other labels. Shown: {len(rows)} of {found.described}."
    )
    if problem:
        text = f"{text} Note: {problem}."
    return Section("why", "Why this row?", "Why", [Text(text), Choice("Row", options)])


def _reasons(
    names: list[str], found: Evaluated, row: int, explanation: Any, cells: Mapping[str, str]
) -> list[Any]:
    """Labels of a row, the highest score above its threshold first, and the sums behind scores."""
    outputs = found.outputs
    predicted = outputs.decisions[row] > 0
    order = np.argsort(outputs.thresholds - outputs.scores[row], kind="stable").tolist()
    matters = [j for j in order if predicted[j] or found.truth[row, j] == 1]
    blocks: list[Any] = []
    if not matters:
        blocks.append(Text("No label is predicted, and none is present."))
    for j in (matters or order)[:EXPLAINED]:
        verb = "predicted" if predicted[j] else "not predicted"
        truth = {1.0: "present", 0.0: "absent"}.get(found.truth[row, j], "unknown")
        figure = f"{found.unit} {outputs.scores[row, j]:.2f}, threshold {outputs.thresholds[j]:.2f}"
        if outputs.link is not None:
            figure = f"probability {outputs.probabilities[row, j]:.2f}, {figure}"
        by_label = sum_of(explanation, 0, j, by="labels", k=5)
        sums = [Sum("What the other labels add", _lines(by_label, found.unit, {}))]
        if explanation.features is not None:
            by_column = sum_of(explanation, 0, j, by="columns")
            sums.insert(0, Sum("What the columns add", _lines(by_column, found.unit, cells)))
        blocks.append(Side(sums, f"{names[j]}: {verb}, {truth} in the data ({figure})"))
    return blocks


def _lines(found: Any, unit: str, cells: Mapping[str, str]) -> list[tuple[str, float]]:
    """A sum line by line, with short cells beside the names of their columns."""
    lines = [found.start]
    for name, amount in found.parts:
        cell = cells.get(name, "")
        lines.append((f"{name} = {cell}" if 0 < len(cell) <= SHORT else name, amount))
    return [*lines, (unit, found.score)]


def _text(value: Any) -> str:
    """A cell, shortened."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    if text in ("nan", "None", "NaT", "<NA>"):
        return "–"
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
