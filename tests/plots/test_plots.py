"""Plots return their axes, show what the model says, and draw odd names as they are."""

import io
import warnings
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import pages
from skcamel import CamelClassifier
from skcamel.baselines import LLSF
from skcamel.metrics import NAMES

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel.experiment import compare_methods
from skcamel.experiment.published import paper_figures
from skcamel.experiment.summary import title_of
from skcamel.plots import (
    plot_collaboration,
    plot_critical_difference,
    plot_explanation,
    plot_quality,
)
from skcamel.plots.canvas import DOWN, UP
from skcamel.plots.studies import draw_ranks

ODD = ["a\x00b", "\x1b[31mred", "half \ud800", "not \ufffe a letter", "under $5$ \x0b", "a_b <b>"]


@pytest.fixture(autouse=True)
def closed_figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def row_names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def explained(q=6, **options):
    return pages.model(q, 80).explain(pages.new_rows(q, 80).X[:5], **options)


@pytest.mark.parametrize("q", [1, 2, 60])
def test_the_heat_map_shows_the_correlation_of_the_labels_with_whole_names(q):
    model = pages.model(q, 80)
    _, ax = plt.subplots()
    assert plot_collaboration(model, ax=ax) is ax
    names = row_names(ax)
    columns = [text.get_text() for text in ax.get_xticklabels()]
    assert names == columns
    shown = [model.label_names_.tolist().index(name) for name in names]
    assert len(shown) == min(q, 30)
    values = np.asarray(ax.collections[0].get_array()).reshape(len(shown), -1)
    np.testing.assert_array_equal(values, model.label_correlation_[np.ix_(shown, shown)])
    strength = np.maximum(
        abs(model.label_correlation_).max(axis=0), abs(model.label_correlation_).max(axis=1)
    )
    assert strength[shown].min() >= np.sort(strength)[-len(shown)]
    assert ("30 of 60 labels" in ax.get_title()) == (q == 60)


@pytest.mark.parametrize("by", ["labels", "columns"])
def test_bars_begin_where_the_last_one_ends_and_reach_the_score(by):
    explanation = explained(features=True)
    ax = plot_explanation(explanation, 4, label="label 3", by=by, k=3)
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    starts = explanation.base if by == "labels" else explanation.feature_base
    assert ends[0][0] == pytest.approx(starts[2])
    assert all(end == pytest.approx(start) for (_, end), (start, _) in pairwise(ends))
    assert ends[-1][1] == pytest.approx(explanation.scores[4, 2])
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert colours == [UP if start <= end else DOWN for start, end in ends]


def test_the_strongest_parts_are_named_and_the_others_are_one():
    explanation = explained(features=True)
    names = row_names(plot_explanation(explanation, 1, label="label 2", k=4))
    values = explanation.features[1, :, 1]
    strongest = [str(explanation.feature_names[g]) for g in np.argsort(-abs(values))[:4]]
    assert names == ["no column known", *strongest, "8 other columns", "score"]
    by_label = row_names(plot_explanation(explanation, 1, label="label 2", by="labels", k=2))
    assert by_label[0] == "average row"
    assert by_label[-2:] == ["3 other labels", "score"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row": 5}, "row=5 is not in the explanation, which has 5 rows"),
        ({"row": -6}, "row=-6 is not in the explanation"),
        ({"label": "nothing"}, "label='nothing' is not known"),
        ({"by": "rows"}, "by='rows' is not known"),
        ({"by": "columns"}, "holds no columns; use explain"),
    ],
)
def test_what_an_explanation_does_not_have_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        plot_explanation(explained(), **options)


def test_models_without_pushes_are_refused():
    given = pages.data(5, 80)
    with pytest.raises(NotFittedError):
        plot_collaboration(make_pipeline(StandardScaler(), CamelClassifier()))
    with pytest.raises(TypeError, match="A StandardScaler is no estimator of skcamel"):
        plot_collaboration(make_pipeline(StandardScaler()).fit(given.X))
    with pytest.raises(TypeError, match="A LLSF has no collaboration to draw"):
        plot_collaboration(make_pipeline(StandardScaler(), LLSF()).fit(given.X, given.Y))


def test_quality_shows_precision_and_recall_of_the_weakest_labels():
    Y = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]])
    P = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1]])
    ax = plot_quality(Y, P, label_names=["often", "also", "never"], k=2)
    assert row_names(ax) == ["also", "never"]  # the commonest on top; "often" has a better F1
    precision, recall = (line.get_xdata().tolist() for line in ax.lines)
    assert (precision, recall) == ([2 / 3, 0], [2 / 3, 0])


def texts_with_boxes(ax):
    ax.figure.canvas.draw()
    texts = [text for text in [*ax.texts, ax.title] if text.get_text()]
    return {text.get_text(): text.get_window_extent() for text in texts}


@pytest.mark.parametrize("metric", NAMES[::3])
def test_no_text_of_the_ranks_overlaps_another_or_leaves_the_figure(metric):
    ax = plot_critical_difference(paper_figures(), metric)
    found = compare_methods(paper_figures(), metric)
    boxes = texts_with_boxes(ax)
    names = {f"{title_of(method)} {rank:.2f}" for method, rank in found.ranks.items()}
    assert names < set(boxes)
    assert f"critical difference {found.nemenyi:.2f}" in boxes
    frame = ax.figure.bbox
    for name, box in boxes.items():
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, name
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, name
        others = (other for key, other in boxes.items() if key != name)
        assert not any(box.overlaps(other) for other in others), name


def test_the_best_is_on_the_right_and_bars_join_what_does_not_differ():
    ax = draw_ranks({"a": 1.0, "b": 2.0, "c": 2.8, "x" * 40: 4.0}, 1.1)
    boxes = texts_with_boxes(ax)
    assert boxes["a 1.00"].x0 > boxes["c 2.80"].x1
    assert "x" * 30 + " 4.00" in boxes
    bars = [bar.get_segments()[0][:, 0] for bar in ax.collections if bar.get_linewidth() == 4]
    (best1, worst1), (best2, worst2) = bars
    assert best1 < 1.0 < 2.0 < worst1 < 2.8
    assert 1.0 < best2 < 2.0 < 2.8 < worst2 < 4.0


def test_the_older_name_of_the_package_stays():
    from skcamel import display

    assert display.plot_explanation is plot_explanation
    with pytest.raises(ImportError, match="plot_explanation"):
        _ = display.plot_columns


def svg_of(ax):
    """The drawing, parsed: ill-formed XML raises."""
    text = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # fonts lack some characters
        ax.figure.savefig(text, format="svg")
    return ElementTree.fromstring(text.getvalue())


def test_names_of_any_characters_make_drawings_that_are_xml():
    given = pages.data(6, 80)
    model = CamelClassifier().fit(given.X, given.Y)
    model.label_names_ = np.array(ODD, dtype=object)
    svg_of(plot_collaboration(model))
    svg_of(plot_explanation(model.explain(given.X[:1])))
    svg_of(plot_quality(given.Y, model.predict(given.X), label_names=ODD))
    svg_of(draw_ranks(dict(zip(ODD, range(1, 7), strict=True)), 1.0))
