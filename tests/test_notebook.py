"""What a notebook shows of a model."""

import pytest
from sklearn import config_context

import pages
from skcamel import CamelClassifier, CamelClassifierCV


def test_before_fit_a_notebook_shows_scikit_learns_diagram():
    assert "Collaboration" not in CamelClassifier()._repr_html_()


@pytest.mark.parametrize("make", [CamelClassifier, lambda: CamelClassifierCV(alphas=(0.5,), lambda2s=(0.1,))])
def test_after_fit_it_shows_the_strongest_pushes_below(make):
    given = pages.data(4, 60)
    model = make().fit(given.X, given.labels)
    html = model._repr_html_()
    assert "sk-top-container" in html
    assert "60 rows, 4 labels, α = 0.5" in html
    i, j = divmod(int(abs(model.label_correlation_).argmax()), 4)
    assert f"label {i + 1} → label {j + 1}: {model.label_correlation_[i, j]:+.3f}" in html
    assert model._repr_mimebundle_()["text/html"].endswith(html[html.index("<div><strong>Collaboration") :])


def test_names_are_escaped():
    html = pages.model(6, 60, names=pages.NASTY)._repr_html_()
    assert "<script>window" not in html
    assert "<img" not in html


def test_one_label_stands_alone():
    assert "1 label, α = 0.5. No label pushes another." in pages.model(1, 60)._repr_html_()


def test_as_text_where_scikit_learn_is_told_so():
    with config_context(display="text"):
        assert list(pages.model(4, 60)._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(pages.model(4, 60), "_repr_html_")
