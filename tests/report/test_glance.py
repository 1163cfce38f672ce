"""The first screen of a model's page: figures, weakest labels, what collaboration changed, the strongest pushes."""

import re

import numpy as np
import pytest

import pages
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel.explanation import evidence, ordered
from skcamel.metrics import evaluate
from skcamel.persistence.inspection import judged

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")

from skcamel.report.model_page import model_page


@pytest.fixture(scope="module")
def with_data():
    return model_page(pages.model(6, 60), pages.new_rows(6, 60))


def glance(page):
    assert page.sections[0].name == "glance"
    return page.sections[0].context


def test_figures_stand_beside_those_of_the_same_model_with_alpha_0(with_data):
    model, rows, given = pages.model(6, 60), pages.new_rows(6, 60), pages.data(6, 120)
    alone = CamelClassifier(alpha=0.0, scaling="standard", threshold="label").fit(given.X[:60], given.labels[:60])
    here, there = (list(evaluate(rows.Y, own.decision_function(rows.X), own.predict(rows.X)).values()) for own in (model, alone))
    found = glance(with_data)["figures"]["rows"]
    np.testing.assert_allclose([row[1:] for row in found], np.transpose([here, there]), atol=1e-9)


def test_changed_decisions_are_counted_by_whether_they_became_right(with_data):
    model, rows, given = pages.model(6, 60), pages.new_rows(6, 60), pages.data(6, 120)
    alone = CamelClassifier(alpha=0.0, scaling="standard", threshold="label").fit(given.X[:60], given.labels[:60])
    now, before = model.predict(rows.X), alone.predict(rows.X)
    right, wrong = ((now != before) & (now == rows.Y)).sum(), ((now != before) & (now != rows.Y)).sum()
    told = next(sentence for sentence in with_data.findings if sentence.startswith("Collaboration"))
    assert told.endswith(
        f"of 360 decisions, {right + wrong} differ from those of the same model with α = 0: {right} became right and {wrong} wrong."
    )


def test_the_weakest_labels_occur_and_come_in_order(with_data):
    rows = glance(with_data)["weakest"]["rows"]
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    positives = dict(zip(pages.new_rows(6, 60).label_names, pages.new_rows(6, 60).Y.sum(axis=0), strict=True))
    assert {row[0]: row[2] for row in rows} == positives
    assert with_data.findings[1].startswith(f"Weakest labels: {rows[0][0]} (F1 ")


def test_pushes_have_what_was_seen_and_expected_beside_them(with_data):
    model = pages.model(6, 60)
    told = ordered(model.label_correlation_, 8, evidence(model))
    rows = glance(with_data)["strongest"]["rows"]
    assert [row[0] for row in rows] == [f"{model.label_names_[p.source]} → {model.label_names_[p.target]}" for p in told]
    assert [f" (seen {seen}, expected {expected})" for *_, seen, expected in rows] == [p.shown for p in told]


def test_without_data_the_training_rows_are_left_out_in_turn():
    model, given = pages.model(6, 60), pages.data(6, 120)
    page = model_page(model, None)
    alone = CamelClassifier(alpha=0.0, scaling="standard", threshold="label").fit(given.X[:60], given.labels[:60])
    expected = [[own.figures[name] for own in (judged(model), judged(alone))] for name in ("hamming_loss", "macro_f1", "micro_f1")]
    np.testing.assert_allclose([row[1:] for row in glance(page)["figures"]["rows"]], expected, atol=1e-9)
    assert page.findings[0].endswith("on 60 training rows, each left out in turn.")


@pytest.mark.parametrize("dataset", [None, "new"])
def test_where_no_model_with_alpha_0_can_be_fitted_the_page_says_why(dataset):
    page = model_page(pages.model(6, 60, solver="landmark", n_landmarks=10), dataset and pages.new_rows(6, 60))
    assert "the model was fitted by sums over rows, and does not hold them" in glance(page)["alone"]
    assert [len(row) for row in glance(page)["figures"]["rows"]] == [2] * (7 if dataset else 3)
    told = next(sentence for sentence in page.findings if sentence.startswith("Collaboration"))
    assert ("differ from those of the labels' own parts alone" in told) == (dataset is not None)


def test_a_model_without_leave_one_out_scores_asks_for_data():
    page = model_page(pages.model(6, 60, alpha=0.1, solver="alternating", threshold="zero"), None)
    assert "only rows with labels can tell how good it is" in page.findings[0]
    assert not glance(page)["figures"]["rows"]


def test_a_search_without_data_shows_its_whole_estimate():
    given = pages.data(4, 80)
    model = CamelClassifierCV(alphas=(0.3,), lambda2s=(0.05,)).fit(given.X, given.labels)
    rows = glance(model_page(model, None))["figures"]["rows"]
    assert [row[1] for row in rows] == pytest.approx([model.estimate_[name] for name in evaluate(given.Y, given.Y, given.Y)])
    assert all(re.search("[↓↑]$", row[0]) for row in rows)
