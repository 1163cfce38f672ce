"""What a notebook shows of a model."""

import numpy as np
import pytest
from sklearn import config_context

import pages
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel.explanation import evidence, ranked_pushes


def test_before_fit_a_notebook_shows_scikit_learns_diagram():
    assert "Collaboration" not in CamelClassifier()._repr_html_()


@pytest.mark.parametrize("make", [CamelClassifier, lambda: CamelClassifierCV(alphas=(0.5,), lambda2s=(0.1,))])
def test_after_fit_it_shows_the_strongest_pushes_below(make):
    given = pages.data(4, 60)
    model = make().fit(given.X, given.labels)
    html = model._repr_html_()
    assert "sk-top-container" in html
    assert "60 rows, 4 labels, α = 0.5, correlation learned as in the paper." in html
    first = ranked_pushes(model.label_correlation_, 1, evidence(model))[0]
    line = f"label {first.source + 1} → label {first.target + 1}: {first.amount:+.3f}{first.shown}"
    assert first.shown.startswith(f" (seen {model.cooccurrence_[first.source, first.target]:.0f}, expected ")
    assert html[html.index("<ul>") :].startswith(f"<ul><li>{line}</li>")
    assert model._repr_mimebundle_()["text/html"].endswith(html[html.index("<div><strong>Collaboration") :])


def test_names_are_escaped():
    html = pages.model(6, 60, names=pages.NASTY)._repr_html_()
    assert "<script>window" not in html
    assert "<img" not in html


def test_one_label_stands_alone():
    assert "1 label, α = 0.5, correlation learned as in the paper. No label pushes another." in pages.model(1, 60)._repr_html_()


def test_as_text_where_scikit_learn_is_told_so():
    with config_context(display="text"):
        assert list(pages.model(4, 60)._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(pages.model(4, 60), "_repr_html_")


def test_it_says_what_the_correlation_was_learned_from_and_never_leads_with_what_the_data_contradict():
    """One of six labels in each row: as the paper learns them, labels that exclude each other push each other up."""
    Y = np.eye(6, dtype=int)[np.arange(60) % 6]
    Y[:24, 1] |= Y[:24, 0]  # two that go together here and there
    X = np.arange(60.0)[:, None]
    paper, centred = (CamelClassifier(correlation=kind).fit(X, Y)._repr_html_() for kind in ("paper", "centred"))
    assert "correlation learned as in the paper." in paper
    assert "correlation learned from centred labels." in centred
    assert "against what the data show" not in centred
    marked = ["against" in line for line in paper[paper.index("<ul>") :].split("</li>")[:-1]]
    assert marked == sorted(marked)
    assert True in marked


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"solver": "landmark", "n_landmarks": 7}, "60 rows by 7 landmarks"),
        ({"solver": "primal", "kernel": "linear"}, "60 rows by 12 columns"),
    ],
)
def test_rows_are_counted_where_the_model_does_not_hold_them(parameters, told):
    assert f": {told}, 4 labels, α = 0.5" in pages.model(4, 60, **parameters)._repr_html_()


def test_weights_count_where_the_model_does_not_hold_its_rows():
    given = pages.data(4, 60)
    weighted = CamelClassifier(solver="landmark", n_landmarks=7).fit(given.X, given.labels, sample_weight=np.full(60, 0.251))
    assert "15.06 rows by 7 landmarks" in weighted._repr_html_()
