"""Plots: axes come back, what is drawn is what the model says, and odd names are drawn as they are."""

import io
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import pages
import skcamel
from skcamel import CamelClassifier
from skcamel.baselines import LLSF
from skcamel.display.canvas import similar_order

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel.camel.explanation import Evidence
from skcamel.display import (
    CollaborationDisplay,
    ColumnsDisplay,
    CriticalDifferenceDisplay,
    ExplanationDisplay,
    plot_collaboration,
    plot_columns,
    plot_explanation,
)
from skcamel.display.collaboration import DOWN, UP


@pytest.fixture(autouse=True)
def closed_figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def arrows(ax):
    return [patch for patch in ax.patches if hasattr(patch, "get_connectionstyle")]


def unseen(q):
    """Evidence that contradicts nothing."""
    return Evidence.of(np.zeros((q, q)), np.zeros((q, q)), 1.0)


@pytest.mark.parametrize("q", [1, 2, 6, 60])
def test_collaboration_is_drawn_into_given_axes(q):
    _, ax = plt.subplots()
    assert plot_collaboration(pages.model(q, 80), ax=ax) is ax
    assert len(ax.texts) == q
    ax.figure.canvas.draw()


def test_the_strongest_pushes_are_drawn_blue_up_and_orange_down():
    S = np.array([[0, 0.5, 0], [-0.9, 0, 0], [0.1, 0, 0]])
    ax = CollaborationDisplay(S, label_names="abc", evidence=unseen(3)).plot(n_pushes=2).ax_
    assert [to_hex(arrow.get_facecolor()) for arrow in arrows(ax)] == [UP, DOWN]


def test_pushes_against_the_data_are_drawn_after_all_others_and_hollow():
    S = np.array([[0, 0.9, 0.2], [0, 0, 0], [0, 0, 0]])
    seen = np.array([[10.0, 0, 8], [0, 10, 0], [8, 0, 10]])
    display = CollaborationDisplay(S, label_names="abc", evidence=Evidence.of(S, seen, 30.0))
    (only,) = arrows(display.plot(n_pushes=1).ax_)
    assert to_hex(only.get_facecolor()) == UP
    hollow, filled = arrows(display.plot(n_pushes=2).ax_)
    assert hollow.get_facecolor()[3] == 0
    assert to_hex(hollow.get_edgecolor()) == to_hex(filled.get_facecolor()) == UP


@pytest.mark.parametrize(
    ("kind", "words"), [("paper", "as in the paper"), ("centred", "from centred labels")]
)
def test_the_graph_says_what_its_correlation_was_learned_from(kind, words):
    assert (
        plot_collaboration(pages.model(6, 80, correlation=kind)).get_title()
        == f"Label correlation learned {words}"
    )


def test_no_pushes_are_no_error():
    assert (
        arrows(
            CollaborationDisplay(np.zeros((3, 3)), label_names="abc", evidence=unseen(3)).plot().ax_
        )
        == []
    )


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        plot_collaboration(CamelClassifier())


def test_bars_end_at_the_score():
    model, X = pages.model(6, 80), pages.new_rows(6, 80).X
    explanation = model.explain(X)
    ax = plot_explanation(explanation, 4, k=6)
    (scores,) = [line for line in ax.lines if line.get_label() == "score"]
    margin = explanation.scores[4] - model.thresholds_
    order = np.argsort(-margin)
    np.testing.assert_allclose(scores.get_xdata(), explanation.scores[4][order])
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        model.label_names_[j] for j in order
    ]


def test_at_most_k_labels_are_drawn():
    ax = plot_explanation(pages.model(60, 80).explain(pages.new_rows(60, 80).X[:1]), k=7)
    assert len(ax.get_yticks()) == 7


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_that_is_not_there_is_refused(row):
    explanation = pages.model(6, 80).explain(pages.new_rows(6, 80).X[:3])
    with pytest.raises(ValueError, match=f"row={row} is not in the explanation, which has 3 rows"):
        plot_explanation(explanation, row)


def test_the_map_shows_the_strongest_columns_in_order():
    model, X = pages.model(6, 80), pages.new_rows(6, 80).X
    explanation = model.explain(X, features=True)
    importance = explanation.importance()
    order = np.argsort(-importance.max(axis=1))[:5]
    for ax in (plot_columns(explanation, k=5), plot_columns(model, X, k=5)):
        np.testing.assert_allclose(ax.images[0].get_array(), importance[order])
        assert [text.get_text() for text in ax.get_yticklabels()] == [f"f{g + 1}" for g in order]
        assert [text.get_text() for text in ax.get_xticklabels()] == model.label_names_.tolist()


def test_the_map_of_one_row_is_blue_up_and_orange_down():
    explanation = pages.model(6, 80).explain(pages.new_rows(6, 80).X, features=True)
    ax = plot_columns(explanation, row=3)
    shown = np.asarray(ax.images[0].get_array())
    order = np.argsort(-abs(explanation.features[3]).max(axis=1))
    np.testing.assert_allclose(shown, explanation.features[3][order])
    ends = ax.images[0].cmap(ax.images[0].norm([-abs(shown).max(), abs(shown).max()]))
    assert [to_hex(colour) for colour in ends] == [DOWN, UP]
    assert ax.get_title() == "row 3"


def test_of_many_labels_the_map_shows_those_with_strong_columns():
    values = np.zeros((2, 50))
    values[1, 10:40] = np.linspace(1, 2, 30)
    ax = ColumnsDisplay(values, column_names="ab", label_names=range(50)).plot(k=1).ax_
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(j) for j in range(10, 40)]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b"]


def test_a_map_without_columns_or_rows_is_refused():
    model, X = pages.model(6, 80), pages.new_rows(6, 80).X
    with pytest.raises(ValueError, match="holds no columns; use explain"):
        plot_columns(model.explain(X))
    with pytest.raises(ValueError, match="A model alone has no rows to explain"):
        plot_columns(model)
    with pytest.raises(ValueError, match="row=80 is not in the explanation"):
        plot_columns(model, X, row=80)


def test_names_are_no_formulas():
    names = ("under $5$", "a_b", "<b>", "\\alpha", "$", "日本")
    given = pages.data(6, 80)
    model = CamelClassifier().fit(given.X, given.Y)
    model.label_names_ = np.array(names, dtype=object)
    for ax in (plot_collaboration(model), plot_explanation(model.explain(given.X[:1]))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "warnings.warn", lambda *_, **__: None
            )  # the font of the tests lacks the last name
            ax.figure.canvas.draw()


def test_labels_that_push_each_other_are_neighbours():
    S = np.zeros((8, 8))
    for i, j in ((0, 5), (5, 2), (7, 1), (3, 6)):
        S[i, j] = 0.7
    order = similar_order(S).tolist()
    assert sorted(order) == list(range(8))
    for i, j in ((0, 5), (5, 2), (7, 1), (3, 6)):
        assert abs(order.index(i) - order.index(j)) == 1


@pytest.mark.parametrize("q", [0, 1, 2, 3, 500])
def test_there_is_an_order_for_any_number_of_labels(q, rng):
    assert sorted(similar_order(rng.normal(size=(q, q)))) == list(range(q))


NASTY = ["a\x00b", "\x1b[31mred", "half \ud800", "not \ufffe a letter", "$x$ \x0b", "plain"]


def svg_of(figure):
    """The drawing, parsed: ill-formed XML raises."""
    text = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # fonts lack some characters
        figure.savefig(text, format="svg")
    return ElementTree.fromstring(text.getvalue())


def test_names_of_any_characters_make_drawings_that_are_xml():
    S = np.zeros((6, 6))
    S[0, 1] = S[2, 3] = 0.5
    svg_of(CollaborationDisplay(S, label_names=NASTY, evidence=unseen(6)).plot().figure_)
    six = np.linspace(-1, 1, 6)
    svg_of(
        ExplanationDisplay(six, six, six, thresholds=six, label_names=NASTY, title=NASTY[0])
        .plot()
        .figure_
    )
    svg_of(
        ColumnsDisplay(
            np.outer(six, six), column_names=NASTY, label_names=NASTY, signed=True, title=NASTY[4]
        )
        .plot()
        .figure_
    )
    ranks = dict(zip(NASTY, range(1, 7), strict=True))
    svg_of(CriticalDifferenceDisplay(ranks, 1.0, title=NASTY[1]).plot().figure_)


def test_a_pipeline_is_drawn_as_the_estimator_it_ends_in():
    given = pages.data(5, 80)
    model = make_pipeline(StandardScaler(), CamelClassifier(solver="alternating", alpha=0.1)).fit(
        given.X, given.labels
    )
    drawn, bare = (
        CollaborationDisplay.from_estimator(model),
        CollaborationDisplay.from_estimator(model[-1]),
    )
    np.testing.assert_array_equal(drawn.S, bare.S)
    assert (drawn.label_names, drawn.title) == (bare.label_names, bare.title)
    assert len(plot_collaboration(model).texts) == 5
    assert plot_explanation(skcamel.explain(model, given.X[:3]), row=1).get_title() == "row 1"
    with pytest.raises(NotFittedError):
        plot_collaboration(make_pipeline(StandardScaler(), CamelClassifier()))
    with pytest.raises(TypeError, match="This Pipeline ends in a StandardScaler"):
        plot_collaboration(make_pipeline(StandardScaler()).fit(given.X))
    with pytest.raises(TypeError, match="A LLSF has no collaboration to draw"):
        plot_collaboration(make_pipeline(StandardScaler(), LLSF()).fit(given.X, given.Y))
