"""A model, and perhaps data ► its page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from skcamel import memory
from skcamel.display.canvas import similar_order
from skcamel.inputs import MATRICES_ALIVE
from skcamel.prediction import BaseCamel
from skcamel.pushes import AGAINST, LEGEND
from skcamel.report.facts import MOST_REFIT, ModelFacts, chosen, evaluated
from skcamel.report.model_sections import graph_section, matrix_section, quality_section, spectrum_section, why_section
from skcamel.report.page import Page, Rounded, significant, write
from skcamel.text import count

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset


LABEL_MATRICES, SCORES, ROWS = 12, 24, 4  # alive at the peak, shown by tests/report/test_model_page.py
MANY = 256  # labels; beyond, S is sent with 16 bits for each coefficient


def build_model_report(model: Any, dataset: Dataset | None, path: str | os.PathLike[str]) -> None:
    """Write the page of a model: who pushes whom, S, the spectrum and, with data, quality and reasons.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV
    dataset : skcamel.data.Dataset or None
        Rows to judge the model by, best ones it has not seen; features are not written into the page.
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
    write(model_page(model, dataset), path)


def model_page(model: Any, dataset: Dataset | None) -> Page:
    """Assemble the page of a model."""
    name = type(model).__name__
    if not isinstance(model, BaseCamel):
        raise TypeError(f"A page is made of a CamelClassifier or CamelClassifierCV, got {name}, which has no collaboration.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before making its page.")
    facts = ModelFacts(model)
    _check_memory(facts, dataset)
    found = None if dataset is None else evaluated(model, dataset)
    sections = [graph_section(facts), matrix_section(facts)]
    if not facts.is_combined:  # each member has its own
        sections.append(spectrum_section(facts))
    if found is not None:
        sections += [quality_section(facts, found), why_section(facts, found)]
    about = f" on {found.name}" if found is not None and found.name else ""
    S = facts.S if len(facts.S) <= MANY else Rounded(facts.S)
    shared = {"names": facts.names, "order": similar_order(facts.S).tolist(), "S": S, "alpha": facts.alpha, "evidence": _sent(facts)}
    return Page(f"How {count(len(facts.names), 'label')} help each other{about}", _lead(found is None), _pairs(facts), sections, shared)


def _sent(facts: ModelFacts) -> dict[str, Any] | None:
    """What the training rows show, as the page needs it: counts are symmetric, so one triangle is sent."""
    shown = facts.evidence
    if shown is None:
        return None
    seen = np.concatenate([row[i:] for i, row in enumerate(shown.seen)])
    return {"seen": seen, "total": shown.total, "against": shown.contradicts, "phrase": AGAINST, "legend": LEGEND}


def _check_memory(facts: ModelFacts, dataset: Dataset | None) -> None:
    """Refuse a page that cannot be made: some matrices of labels by labels, of rows by labels, and a copy of the rows."""
    q = len(facts.names)
    m, d = (0, 0) if dataset is None else dataset.X.shape
    rows = facts.members[0][1].X_fit_
    wide = 0 if dataset is None or rows is None or hasattr(rows, "indptr") else m * d
    is_refit = dataset is not None and not facts.is_combined and facts.n_train <= MOST_REFIT  # with α = 0
    refit = facts.n_train if is_refit else 0
    memory.require(
        8 * (MATRICES_ALIVE * refit**2 + LABEL_MATRICES * q**2 + SCORES * (m + facts.n_train) * q + ROWS * wide),
        f"A page of {count(q, 'label')} and {count(m, 'row')}",
        "Give fewer rows of data, or none.",
    )


def _lead(without_data: bool) -> str:
    lead = "CAMEL predicts a label by its own evidence and by a push of other labels. This page shows the pushes, what they do to the fit"
    more = "how good each label is, and why a row got its labels."
    return f"{lead}. Made with data (skcamel report MODEL --data FILE), it also shows {more}" if without_data else f"{lead}, {more}"


def _pairs(facts: ModelFacts) -> list[tuple[str, str]]:
    model = facts.model
    cuts = getattr(model, "threshold_rule_", model.threshold)
    return [
        ("Model", type(model).__name__),
        ("Training rows", f"{facts.n_train:,}"),
        ("Features", f"{model.n_features_in_:,}"),
        ("Labels", f"{len(facts.names):,}"),
        ("Label correlation", f"learned {facts.learned}"),
        ("Collaboration α", significant(facts.alpha)),
        *_members(facts),
        ("Cuts", cuts if isinstance(cuts, str) else significant(cuts)),
    ]


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
            ", ".join([f"{own.scaling} {own.kernel}", *(f"{symbol} = {significant(getattr(own, key))}" for symbol, key in named)]),
        )
        for k, (weight, own) in enumerate(facts.members, 1)
    ]
