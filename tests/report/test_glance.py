"""The first screen of a model's page: figures, weakest labels, how strong collaboration is, the strongest pushes."""

import re

import numpy as np
import pytest

import pages
from skcamel import CamelClassifierCV
from skcamel.camel.explanation import evidence, ranked_pushes
from skcamel.metrics import NAMES, evaluate

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")

from skcamel.report.model_page import model_page


@pytest.fixture(scope="module")
def with_data():
    return model_page(pages.model(6, 60), pages.new_rows(6, 60))


def glance(page):
    assert page.sections[0].name == "glance"
    return page.sections[0].context


def test_figures_are_those_of_the_data(with_data):
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    expected = evaluate(rows.Y, model.decision_function(rows.X), model.predict(rows.X))
    _, *found = zip(*glance(with_data)["figures"]["rows"], strict=True)
    np.testing.assert_allclose(found, [list(expected.values())], atol=1e-9)


@pytest.mark.parametrize(
    ("alpha", "told"),
    [
        (0.0, "Collaboration: none, α = 0. Each label is predicted on its own"),
        (0.3, "Collaboration: α = 0.3, where 0 leaves a label its own evidence alone"),
    ],
)
def test_the_strength_of_collaboration_is_told(alpha, told):
    page = model_page(pages.model(6, 60, alpha=alpha), None)
    assert [
        sentence[: len(told)] for sentence in page.findings if sentence.startswith("Collaboration")
    ] == [told]


def test_the_weakest_labels_occur_and_come_in_order(with_data):
    rows = glance(with_data)["weakest"]["rows"]
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    positives = dict(
        zip(pages.new_rows(6, 60).label_names, pages.new_rows(6, 60).Y.sum(axis=0), strict=True)
    )
    assert {row[0]: row[2] for row in rows} == positives
    assert with_data.findings[1].startswith(f"Weakest labels: {rows[0][0]} (F1 ")


def test_pushes_have_what_was_seen_and_expected_beside_them(with_data):
    model = pages.model(6, 60)
    told = ranked_pushes(model.label_correlation_, 8, evidence(model))
    rows = glance(with_data)["strongest"]["rows"]
    assert [row[0] for row in rows] == [
        f"{model.label_names_[p.source]} → {model.label_names_[p.target]}" for p in told
    ]
    assert [f" (seen {seen}, expected {expected})" for *_, seen, expected in rows] == [
        p.shown for p in told
    ]


def test_without_data_the_training_rows_are_left_out_in_turn():
    model = pages.model(6, 60)
    page = model_page(model, None)
    expected = [model.estimate_[name] for name in NAMES]
    assert [row[1] for row in glance(page)["figures"]["rows"]] == expected
    assert page.findings[0].endswith("on 60 training rows, each left out in turn.")


def test_a_model_without_leave_one_out_scores_asks_for_data():
    page = model_page(pages.model(6, 60, alpha=0.1, solver="alternating", threshold="zero"), None)
    assert "rows with labels can tell how good it is" in page.findings[0]
    assert not glance(page)["figures"]["rows"]


def test_a_search_without_data_shows_its_whole_estimate():
    given = pages.data(4, 80)
    model = CamelClassifierCV(alphas=(0.3,), lambda2s=(0.05,)).fit(given.X, given.labels)
    rows = glance(model_page(model, None))["figures"]["rows"]
    assert [row[1] for row in rows] == pytest.approx(
        [model.estimate_[name] for name in evaluate(given.Y, given.Y, given.Y)]
    )
    assert all(re.search("[↓↑]$", row[0]) for row in rows)
