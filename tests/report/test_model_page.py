"""The page of a model: what is in it for which model and data, and what is refused."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pages
from pages import option, sections
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import BinaryRelevance
from skcamel.data import Dataset, TablePreparer
from skcamel.metrics import NAMES, evaluate
from skcamel.report import build_model_report, evaluation
from skcamel.report.evaluation import evaluated, rival_of

ALL = ["good", "labels", "together", "why", "errors"]


def cells(text, title):
    """Rows of a table as lists of texts."""
    return [[cell for cell, _ in row] for row in pages.cells(text, title)]


def shown_metrics(text):
    return [row[1] for row in cells(text, "Metrics")]


def digits(values):
    return [f"{values[name]:.3f}" for name in NAMES]


def sums(text):
    """All sums: lists of amounts, the last of which is the sum."""
    for table in re.findall(r'<table class="sum">(.*?)</table>', text, re.S):
        yield [float(x) for x in re.findall(r'<td class="number">([^<]*)</td>', table)]


def test_equal_input_gives_equal_bytes_and_so_does_a_saved_model(page_of, tmp_path):
    from skcamel import load, save

    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    first = page_of(model, rows)
    save(model, tmp_path / "model")
    assert page_of(load(tmp_path / "model"), rows) == first


def test_the_first_sentence_says_how_good_the_model_is(page_of):
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    text = page_of(model, rows)
    P = model.predict(rows.X)
    right = (P * rows.Y).sum()
    sentence = (
        f"On 60 rows of made up, {right / P.sum():.0%} of the labels that this model predicts are"
        f" right, and it finds {right / rows.Y.sum():.0%} of the labels that the rows have."
    )
    assert f'<p class="answer">{sentence}</p>' in text
    assert "A model of 6 labels: label 1, label 2, label 3" in text


def test_labels_and_features_are_matched_by_name(page_of):
    given = pages.data(6, 120)
    frame = pd.DataFrame(given.X, columns=[f"c{j}" for j in range(given.d)])
    labels = pd.DataFrame(given.Y, columns=given.label_names)
    model = CamelClassifier().fit(frame[:60], labels[:60])
    turned = Dataset(frame[60:][frame.columns[::-1]], labels[60:][labels.columns[::-1]])
    text = page_of(model, turned)
    scores, decisions = model.decision_function(frame[60:]), model.predict(frame[60:])
    assert shown_metrics(text) == digits(evaluate(given.Y[60:], scores, decisions))
    assert "matched by position" not in text
    other = Dataset(given.X[60:], given.Y[60:], label_names=tuple("abcdef"))
    assert "matched by position" in page_of(model, other)


def test_figures_without_data_are_those_of_leave_one_out(page_of):
    model = pages.model(6, 60)
    text = page_of(model, None)
    assert "On 60 training rows, each left out in turn, " in text
    assert shown_metrics(text) == digits(model.estimate_)


def test_the_model_is_compared_with_logistic_regression(monkeypatch):
    model, rows = pages.model(4, 60), pages.new_rows(4, 60)
    found = evaluated(model, rows)
    scores = np.zeros((60, 4))
    folds = evaluation.KFold(5, shuffle=True, random_state=0).split(scores)
    for train, test in folds:
        for j in range(4):
            one = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
            one.fit(rows.X[train], rows.Y[train, j])
            scores[test, j] = one.decision_function(rows.X[test])
    expected = evaluate(rows.Y, scores, scores > 0)
    assert rival_of(found).metrics == pytest.approx(expected)
    monkeypatch.setattr(evaluation, "MOST_WORK", 10)
    assert rival_of(found) is None


def test_labels_have_frequency_precision_recall_calibration_and_threshold(page_of):
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    p, P = model.predict_proba(rows.X), model.predict(rows.X)
    for j, row in enumerate(cells(page_of(model, rows), "Labels")):
        name, positives, precision, recall, _, share, mean, threshold = row
        right = (P * rows.Y)[:, j].sum()
        assert (name, int(positives)) == (f"label {j + 1}", rows.Y[:, j].sum())
        assert float(precision) == pytest.approx(right / P[:, j].sum(), abs=6e-4)
        assert float(recall) == pytest.approx(right / rows.Y[:, j].sum(), abs=6e-4)
        assert float(share) == pytest.approx(rows.Y[:, j].mean(), abs=6e-4)
        assert float(mean) == pytest.approx(p[:, j].mean(), abs=6e-4)
        predicted = p[:, j][P[:, j] == 1]
        assert predicted.min() >= float(threshold) - 6e-4
        assert p[:, j][P[:, j] == 0].max() <= float(threshold) + 6e-4


def test_a_model_without_estimates_or_probabilities_says_so(page_of):
    model = pages.model(6, 60, alpha=0.1, solver="alternating", threshold="zero")
    text = page_of(model, None)
    assert sections(text) == ["together"]
    assert "rows with labels give one" in text
    with_data = page_of(model, pages.new_rows(6, 60))
    assert sections(with_data) == ALL
    assert "if it has any, no label of these rows is unlikely" in with_data


def test_the_ends_of_alpha_and_a_combination_have_pages(page_of):
    given, rows = pages.data(4, 120), pages.new_rows(4, 60)
    options = {"scalings": ("none", "standard"), "combine": True}
    combined = CamelClassifierCV(alphas=(0.3,), **options).fit(given.X[:60], given.labels[:60])
    for alpha in (0.0, 0.3, 1.0):
        text = page_of(combined if alpha == 0.3 else pages.model(4, 60, alpha=alpha), rows)
        assert sections(text) == ALL
        assert ("by itself: its collaboration α is 0." in text) == (alpha == 0)
        assert ("The collaboration α of this model is 0.3:" in text) == (alpha == 0.3)
        assert ("Strongest pushes" in text) == (alpha > 0)


def test_pushes_stand_beside_what_the_training_rows_show(page_of):
    model = pages.model(6, 60)
    rows = cells(page_of(model, None), "Strongest pushes")
    S, names = model.label_correlation_, model.label_names_.tolist()
    assert len(rows) == np.count_nonzero(S)
    against = [note for *_, note in rows]
    assert against == sorted(against)  # those against the data come last
    for source, target, strength, seen, _, _ in rows:
        i, j = names.index(source), names.index(target)
        assert float(strength) == pytest.approx(S[i, j], abs=6e-3)
        assert int(seen) == model.cooccurrence_[i, j]


@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed"])
def test_scores_of_a_row_are_shown_as_sums(page_of, kind):
    given = pages.data(4, 120)
    X = {
        "dense": given.X,
        "sparse": sparse.csr_matrix(given.X),
        "precomputed": given.X @ given.X[:60].T,
    }[kind]
    kernel = {"kernel": "precomputed"} if kind == "precomputed" else {}
    model = CamelClassifier(alpha=0.4, **kernel).fit(X[:60], given.Y[:60])
    text = page_of(model, (X[60:], given.Y[60:]))
    scores = model.decision_function(X[60:])
    for row in (1, 60):
        shown = option(text, f"row-{row}")
        found = list(sums(shown))
        assert found
        assert all(sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.06) for parts in found)
        assert any(parts[-1] == pytest.approx(scores[row - 1].max(), abs=6e-3) for parts in found)
    assert ("What the columns add" in text) == (kind != "precomputed")


def a_table(rng, n=80):
    frame = pd.DataFrame(
        {
            "ticket": [f"T-{k:03d}" for k in range(n)],
            "age": rng.normal(size=n),
            "town": rng.choice(["Bath", "Ely", "<b>York</b>"], n),
        }
    )
    labels = pd.DataFrame({"warm": frame["age"] > 0, "old": frame["town"] == "Ely"}).astype(int)
    return frame, labels


def test_a_row_is_shown_with_its_id_and_cells_and_rows_count_from_1(page_of, rng):
    frame, labels = a_table(rng)
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(frame[:40], labels[:40])
    text = page_of(model, (frame[40:], labels[40:]))
    assert '<option value="row-1">row 1, T-040</option>' in text
    shown = option(text, "row-1")
    town = html.escape(frame["town"][40])
    assert "<dt>ticket</dt><dd>T-040</dd>" in shown
    assert f"<dt>town</dt><dd>{town}</dd>" in shown
    assert f"<dt>age</dt><dd>{frame['age'][40]:.4g}</dd>" in shown
    assert "<b>York" not in text
    assert sections(page_of(model, None)) == ALL[:3]


def test_sums_name_the_cells_of_many_columns_and_the_words_of_texts(page_of, rng):
    model, rows = pages.model(6, 60, 40), pages.new_rows(6, 60, 40)
    shown = option(page_of(model, rows), "row-1")
    assert [name for name, _ in re.findall(r"<dt>(f\d+)</dt><dd>([^<]*)", shown)] == [
        f"f{k + 1}" for k in range(12)
    ]
    named = re.findall(r'<th scope="row">(f\d+) = ([^<]*)</th>', shown)
    assert named
    assert all(cell == f"{rows.X[0, int(name[1:]) - 1]:.4g}" for name, cell in named)
    said = rng.choice(["sun and sea", "rain in town", "wind on sand"], 80)
    frame = pd.DataFrame({"said": [f"{text} {k}" for k, text in enumerate(said)]})
    labels = pd.DataFrame({"wet": said == "rain in town", "hot": said == "sun and sea"}).astype(int)
    model = make_pipeline(TablePreparer(text=["said"]), CamelClassifier()).fit(frame, labels)
    rainy = said == "rain in town"
    assert "said: rain</th>" in option(page_of(model, (frame[rainy], labels[rainy])), "row-1")


def test_why_columns_are_not_shown_is_said(page_of, monkeypatch):
    text = page_of(pages.model(3, 60, kernel="exponential"), pages.new_rows(3, 60))
    assert "What the columns add" not in text
    assert "kernel" in text.partition("are shown")[0]
    monkeypatch.setattr("skcamel.data.pipeline.SMALL", 10)
    assert "it takes long in a model of this size" in page_of(
        pages.model(3, 60), pages.new_rows(3, 60)
    )


def test_label_errors_are_the_least_likely_labels_and_lead_to_their_rows(page_of):
    given = pages.data(4, 120)
    model = CamelClassifier(correlation="centred").fit(given.X[:60], given.labels[:60])
    X, Y = given.X[60:], given.Y[60:].astype(float)
    Y[0] = np.nan
    text = page_of(model, Dataset(X, Y, label_names=given.label_names))
    p = model.predict_proba(X)
    chance = np.where(np.isnan(Y), 1, np.where(Y == 1, p, 1 - p))
    expected = np.sort(chance[chance < 0.5])[:20]
    rows = cells(text, "Least likely first")
    np.testing.assert_allclose([float(row[-1]) for row in rows], expected, atol=6e-4)
    for name, label, in_data, shown in rows:
        r, j = int(name.removeprefix("row ")) - 1, given.label_names.index(label)
        assert float(shown) == pytest.approx(chance[r, j], abs=6e-4)
        assert in_data == ("yes" if Y[r, j] else "no")
        assert f'<a href="#row-{r + 1}">row {r + 1}</a>' in text
        assert f'id="row-{r + 1}"' in text
    assert "unknown in the data" in text or "row 1<" not in text


def test_unknown_labels_do_not_count(page_of, rng):
    X, complete = rng.normal(size=(60, 3)), rng.integers(0, 2, size=(60, 3))
    model = CamelClassifier().fit(X[:40], complete[:40])
    Y = np.where(rng.random((20, 3)) < 0.3, np.nan, complete[40:])
    Y[:, 2] = np.nan
    found = evaluated(model, Dataset(X[40:], Y))
    np.testing.assert_array_equal(found.truth, Y)
    np.testing.assert_array_equal(evaluated(model, (X[40:], Y)).truth, Y)
    text = page_of(model, Dataset(X[40:], Y))
    expected = evaluate(Y, found.outputs.scores, found.outputs.decisions)
    assert shown_metrics(text) == digits(expected)
    labels = cells(text, "Labels")
    assert [int(row[1]) for row in labels] == [int(np.nansum(Y[:, j])) for j in range(3)]
    assert labels[2][2:7] == ["–"] * 5  # no row knows this label


@pytest.mark.parametrize("classes", [("no", "yes"), (3, 5, 9)])
def test_classes_of_a_1d_y_are_labels(page_of, classes, rng):
    X = rng.normal(size=(60, 3))
    y = np.array(classes)[np.arange(60) % len(classes)]
    model = make_pipeline(StandardScaler(), CamelClassifier()).fit(X[:40], y[:40])
    names = [str(name) for name in model[-1].label_names_]
    expected = [[name == str(own) for name in names] for own in y[40:]]
    assert evaluated(model, (X[40:], y[40:])).truth.tolist() == expected
    assert sections(page_of(model, (X[40:], y[40:]))) == ALL


def test_a_page_of_many_labels_stays_small(page_of):
    many = page_of(pages.model(174, 500, 40), pages.new_rows(174, 500, 40))
    assert len(many.encode()) < 1e6


def test_what_cannot_be_shown_is_refused_and_leaves_the_old_page(tmp_path):
    (tmp_path / "page.html").write_text("before")
    model, narrow = pages.model(6, 60), (np.zeros((3, 12)), np.zeros((3, 5)))
    for given, data, message in (
        (BinaryRelevance(), None, "got BinaryRelevance, which has no collaboration"),
        (CamelClassifier(), None, "This CamelClassifier instance is not fitted"),
        (model, [1, 2], r"a Dataset, a pair \(X, Y\) or None"),
        (model, narrow, "The data has 5 labels but the model 6"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            build_model_report(given, data, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "before"
