"""The page of a model: what is in it for which model and data, how large it is, and what is refused."""

import base64
import json
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pages
from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.baselines import BinaryRelevance
from skcamel.camel.explanation import evidence, ranked_pushes
from skcamel.checks import names_compared
from skcamel.data import Dataset, TablePreparer
from skcamel.experiment.summary import rounded
from skcamel.metrics import evaluate
from tiny_steps import Columns

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")

from skcamel.report import build_model_report, model_page
from skcamel.report.facts import ModelFacts, evaluated
from skcamel.report.model_page import quality_section

ON_DATA = ["quality", "calibration", "answers", "why", "importance", "doubted"]
FIRST, LAST = ["glance", "collaboration"], ["correlation", "experts"]
ALL = [*FIRST, *ON_DATA, *LAST]
ALONE = ["glance", *ON_DATA, "experts"]  # where no label pushes another
WITHOUT_PROBABILITIES = [name for name in ALL if name not in ("calibration", "answers")]


@pytest.fixture
def page_of(tmp_path):
    def build(model, dataset):
        build_model_report(model, dataset, tmp_path / "page.html")
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return build


def sections(html):
    return re.findall(r'<section id="(\w+)"', html)


def sent(html, name):
    return json.loads(re.search(rf'id="data-{name}">(.*?)</script>', html).group(1))


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed["f32"]), dtype="<f4").reshape(packed["shape"])


def test_a_page_with_data_has_all_sections_and_one_without_has_four(page_of):
    model = pages.model(6, 60)
    assert sections(page_of(model, pages.new_rows(6, 60))) == ALL
    assert sections(page_of(model, None)) == [*FIRST, *LAST]


def test_equal_input_gives_equal_bytes(page_of):
    first = page_of(pages.model(6, 60), pages.new_rows(6, 60))
    pages.model.cache_clear()
    pages.data.cache_clear()
    assert page_of(pages.model(6, 60), pages.new_rows(6, 60)) == first


def test_a_saved_model_has_the_same_page(page_of, tmp_path):
    from skcamel import load, save

    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    save(model, tmp_path / "model")
    assert page_of(load(tmp_path / "model"), rows) == page_of(model, rows)


def test_label_names_never_become_markup(page_of):
    html = page_of(pages.model(6, 60, names=pages.NASTY), pages.new_rows(6, 60, names=pages.NASTY))
    assert "<script>window" not in html
    assert "<img" not in html
    assert (
        html.count("<script") == 6
    )  # page, quality, calibration, why and importance as data, and the program
    assert sent(html, "page")["names"] == list(pages.NASTY)


def test_174_labels_and_500_rows_stay_below_one_and_a_half_mb(page_of):
    html = page_of(pages.model(174, 500, 40), pages.new_rows(174, 500, 40))
    assert len(html.encode()) < 1.5e6
    assert len(sent(html, "why")["rows"]) == 500


def test_more_labels_have_fewer_rows_and_stay_below_2_mb(page_of):
    html = page_of(pages.model(300, 400, 20), pages.new_rows(300, 400, 20))
    assert len(html.encode()) < 2e6
    assert len(sent(html, "why")["rows"]) == 333


def test_of_more_rows_500_are_shown_from_first_to_last(page_of):
    rows = pages.data(6, 1200)
    shown = sent(page_of(pages.model(6, 60), rows), "why")["rows"]
    assert (len(shown), shown[0], shown[-1]) == (500, 0, 1199)


@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed"])
def test_the_parts_that_are_sent_add_up_to_the_scores(page_of, kind):
    given = pages.data(6, 1200)
    X = {
        "dense": given.X,
        "sparse": sparse.csr_matrix(given.X),
        "precomputed": given.X @ given.X[:60].T,
    }[kind]
    parameters = {"kernel": "precomputed"} if kind == "precomputed" else {}
    model = CamelClassifier(alpha=0.4, **parameters).fit(X[:60], given.Y[:60])
    why = sent(page_of(model, (X, given.Y)), "why")
    own = (
        np.frombuffer(base64.b64decode(why["own"]["i16"]), dtype="<i2").reshape(500, 6)
        * why["own"]["scale"]
    )
    scores = numbers(why["base"]) + own @ model.collaboration_
    np.testing.assert_allclose(scores, model.decision_function(X[why["rows"]]), atol=3e-4)


def test_features_are_not_in_the_page(page_of):
    X = pages.new_rows(6, 60).X
    html = page_of(pages.model(6, 60), pages.new_rows(6, 60))
    assert not any(f"{value:.6g}" in html for value in X[:5].ravel())


def test_labels_are_matched_by_name():
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    turned = Dataset(rows.X, rows.Y[:, ::-1], label_names=rows.label_names[::-1])
    np.testing.assert_array_equal(evaluated(model, turned).relevant, rows.Y > 0)
    assert evaluated(model, turned).note == ""


def test_features_are_matched_by_name(page_of):
    given = pages.data(6, 120)
    frame = pd.DataFrame(given.X, columns=[f"c{j}" for j in range(given.d)])
    labels = pd.DataFrame(given.Y, columns=given.label_names)
    model = CamelClassifier().fit(frame[:60], labels[:60])
    turned = Dataset(frame[60:][frame.columns[::-1]], labels[60:][labels.columns[::-1]])
    found = evaluated_quietly(model, turned)
    np.testing.assert_allclose(
        found.scores, model.decision_function(frame[60:]), atol=1e-12
    )  # the order in memory may differ
    np.testing.assert_array_equal(found.relevant, given.Y[60:] > 0)
    assert found.note == ""
    assert "matched by their position" not in page_of(model, turned)
    assert "Names of features differ" in page_of(
        model, Dataset(given.X[60:], given.Y[60:], label_names=given.label_names)
    )


def evaluated_quietly(model, dataset):
    with names_compared():
        return evaluated(model, dataset)


def test_labels_with_other_names_are_matched_by_position_and_the_page_says_so(page_of):
    rows = pages.new_rows(6, 60)
    html = page_of(pages.model(6, 60), Dataset(rows.X, rows.Y, label_names=tuple("abcdef")))
    assert "columns were matched by their position" in html


def test_a_search_shows_what_it_chose(page_of):
    given = pages.data(4, 80)
    model = CamelClassifierCV(alphas=(0.3,), lambda2s=(0.05,), scalings=("standard",)).fit(
        given.X[:50], given.labels[:50]
    )
    html = page_of(model, Dataset(given.X[50:], given.Y[50:], label_names=given.label_names))
    assert "<dt>Collaboration α</dt><dd>0.3</dd>" in html
    assert "<dt>Ridge λ2</dt><dd>0.05</dd>" in html
    assert "<dt>Scaling</dt><dd>standard</dd>" in html


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_ends_of_alpha_have_pages(page_of, alpha):
    html = page_of(pages.model(6, 60, alpha=alpha), pages.new_rows(6, 60))
    assert sections(html) == (ALONE if alpha == 0 else ALL)
    assert ("Collaboration: none, α = 0." in html) == (alpha == 0)
    assert ("Strongest push: " in html) == ('id="graph"' in html) == (alpha > 0)


def test_one_label_has_a_page(page_of):
    html = page_of(pages.model(1, 60), pages.new_rows(1, 60))
    assert sections(html) == ALONE
    assert "every label stands alone" in html


@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_of_classes_have_pages(page_of, n_classes, rng):
    X = rng.normal(size=(60, 4))
    y = (X[:, :n_classes] + rng.normal(size=(60, n_classes)) / 4).argmax(axis=1)
    model = CamelClassifier().fit(X, y)
    Y = y[:, None] if n_classes == 2 else np.eye(n_classes, dtype=int)[y]
    html = page_of(model, Dataset(X, Y))
    assert sections(html) == (ALONE if n_classes == 2 else WITHOUT_PROBABILITIES)
    assert ("where its score is the largest" in html) == (n_classes == 3)


def cells(html, table):
    """Rows of a table, as the full values of their cells."""
    body = re.search(rf'id="{table}".*?<tbody>(.*?)</tbody>', html, re.DOTALL).group(1)
    return [re.findall(r'data-key="([^"]*)"', row) for row in body.split("</tr>")[:-1]]


def test_prediction_sets_are_measured(page_of):
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    html, Y = page_of(model, rows), rows.Y

    def rates(Y, answers):
        right = (Y[answers == 1] > 0).mean() if (answers == 1).any() else np.nan
        shares = [right, (answers[Y > 0] == 0).mean(), (answers == -1).mean()]
        return pytest.approx(shares, abs=1e-5, nan_ok=True)

    found = cells(html, "covered")
    assert [row[0] for row in found] == ["0.80", "0.90", "0.95"]
    for confidence, *shown in found:
        assert [float(share or "nan") for share in shown] == rates(
            Y, model.predict_sets(rows.X, float(confidence))
        )
    answers = model.predict_sets(rows.X, 0.9)
    for j, (name, *shown) in enumerate(cells(html, "covered-labels")):
        assert name == f"label {j + 1}"
        assert [float(share or "nan") for share in shown] == rates(Y[:, j], answers[:, j])


def test_reliability_is_drawn_from_the_probabilities(page_of):
    model, rows = pages.model(6, 60), pages.new_rows(6, 60)
    html = page_of(model, rows)
    p, has, drawn = (
        model.predict_proba(rows.X).ravel(),
        (rows.Y > 0).ravel(),
        sent(html, "calibration"),
    )
    which = np.minimum((10 * p).astype(int), 9)
    assert drawn["counts"] == [np.count_nonzero(which == b) for b in range(10)]
    gap = 0.0
    for b in range(10):
        inside = which == b
        if inside.any():
            assert (drawn["predicted"][b], drawn["observed"][b]) == pytest.approx(
                (p[inside].mean(), has[inside].mean()), abs=1e-6
            )
            gap += inside.mean() * abs(p[inside].mean() - has[inside].mean())
        else:
            assert drawn["predicted"][b] is drawn["observed"][b] is None
    assert (
        f"Over 360 probabilities, one for each row and label, this is missed by {gap:.3f} on"
        " average" in html
    )


def test_a_model_without_leave_one_out_scores_has_neither_section(page_of):
    rows = pages.new_rows(6, 60)
    html = page_of(pages.model(6, 60, alpha=0.1, solver="alternating", threshold="zero"), rows)
    assert sections(html) == WITHOUT_PROBABILITIES


@pytest.mark.parametrize(
    ("kind", "words"),
    [("paper", "learned as in the paper"), ("centred", "learned from centred labels")],
)
def test_a_page_says_what_the_correlation_was_learned_from(page_of, kind, words):
    html = page_of(pages.model(6, 60, correlation=kind), None)
    assert f"<dt>Label correlation</dt><dd>{words}</dd>" in html
    assert f"not zero, {words}." in html
    assert f"a sparse regression {words}." in html


def test_a_page_sends_what_was_seen_and_never_leads_with_what_the_data_contradict(page_of):
    model = pages.model(6, 60)
    shown = evidence(model)
    html = page_of(model, None)
    (first,) = ranked_pushes(model.label_correlation_, 1, shown)
    assert 0 < shown.contradicts.sum() < np.count_nonzero(model.label_correlation_)
    lead = (
        f"The strongest that the data bear out: {model.label_names_[first.source]} pushes"
        f" {model.label_names_[first.target]} "
    )
    assert lead in html
    sent_evidence = sent(html, "page")["evidence"]
    counts = np.frombuffer(base64.b64decode(sent_evidence["seen"]["f32"]), dtype="<f4")
    np.testing.assert_array_equal(counts, model.cooccurrence_[np.triu_indices(6)])
    flags = np.frombuffer(base64.b64decode(sent_evidence["against"]["u8"]), dtype=np.uint8)
    np.testing.assert_array_equal(flags.reshape(6, 6), shown.contradicts)


def test_where_all_pushes_contradict_the_data_the_page_says_so(page_of):
    Y = np.eye(6, dtype=int)[np.arange(60) % 6]
    X = np.arange(60.0)[:, None]
    assert "All of them go against what the data show" in page_of(CamelClassifier().fit(X, Y), None)
    assert "against what the data show," not in page_of(
        CamelClassifier(correlation="centred").fit(X, Y), None
    )


def test_labels_absent_from_the_data_have_no_average_precision(page_of):
    rows = pages.new_rows(6, 60)
    Y = rows.Y.copy()
    Y[:, 2] = 0
    assert ">–</td>" in page_of(
        pages.model(6, 60), Dataset(rows.X, Y, label_names=rows.label_names)
    )


@pytest.mark.parametrize(
    ("model", "dataset", "error", "message"),
    [
        (
            lambda: BinaryRelevance(),
            None,
            TypeError,
            "got BinaryRelevance, which has no collaboration",
        ),
        (
            lambda: CamelClassifier(),
            None,
            ValueError,
            "This CamelClassifier is not fitted; call fit",
        ),
        (
            lambda: make_pipeline(StandardScaler()),
            None,
            TypeError,
            "This Pipeline ends in a StandardScaler",
        ),
        (
            lambda: make_pipeline(StandardScaler(), CamelClassifier()),
            None,
            ValueError,
            "This CamelClassifier is not fitted; call fit",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: [1, 2],
            TypeError,
            r"must be a Dataset, a pair \(X, Y\) or None, got a list",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: (np.zeros((3, 12)), np.zeros((3, 5))),
            ValueError,
            "The data has 5 labels but the model 6",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: (np.zeros((3, 12)), np.zeros((4, 6))),
            ValueError,
            "Y has 4 rows but X has 3",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: (np.zeros((3, 12)), np.zeros(3)),
            ValueError,
            "labels are a matrix",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: pages.new_rows(4, 60),
            ValueError,
            "The data has 4 labels but the model 6",
        ),
        (
            lambda: pages.model(6, 60),
            lambda: pages.new_rows(6, 60, 13),
            ValueError,
            "The data has 13 features but the model 12",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path, model, dataset, error, message):
    with pytest.raises(error, match=message):
        build_model_report(model(), dataset() if dataset else None, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("n", "m", "d", "q"), [(60, 60, 5, 120), (60, 3000, 5, 20), (400, 400, 200, 5)]
)
def test_a_page_needs_no_more_memory_than_it_asks_for(n, m, d, q, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + m, d))
    Y = (X[:, :1] + rng.normal(size=(n + m, q)) > 1).astype(int)
    model, data = CamelClassifier().fit(X[:n], Y[:n]), Dataset(X[n:], Y[n:])
    build_model_report(model, data, tmp_path / "page.html")  # what is loaded once does not count
    asked = []
    monkeypatch.setattr(memory, "require", lambda needed, *_, **__: asked.append(needed))
    tracemalloc.start()
    try:
        build_model_report(model, data, tmp_path / "page.html")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - 2**21 <= asked[0] + max(
        asked[1:]
    )  # templates and scripts; what columns add is asked for apart


def test_a_page_that_does_not_fit_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = CamelClassifier().fit(X, (X > 0).astype(int))
    with (
        memory.allowance(1000),
        pytest.raises(
            MemoryError,
            match=r"A page of 3 labels and 40 rows needs about .*Give fewer rows of data",
        ),
    ):
        build_model_report(model, Dataset(X, (X > 0).astype(int)), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def without_steps(html):
    """A page less what it says of steps before the estimator, and of columns, which steps may name."""
    html = re.sub(r"<div><dt>(Steps before it|Features)</dt><dd>.*?</dd></div>\n *", "", html)
    return re.sub(
        r'<section id="importance".*?</section>|<script [^>]*id="data-importance".*?</script>',
        "",
        html,
        flags=re.DOTALL,
    )


def test_the_page_of_a_pipeline_is_that_of_its_estimator_on_the_rows_it_sees(page_of):
    given = pages.data(5, 120)
    model = make_pipeline(StandardScaler(), CamelClassifier()).fit(given.X[:60], given.labels[:60])
    rows = Dataset(given.X[60:], given.Y[60:], label_names=given.label_names)
    html = page_of(model, rows)
    assert "<dt>Steps before it</dt><dd>StandardScaler</dd>" in html
    seen = Dataset(model[0].transform(rows.X), rows.Y, label_names=rows.label_names)
    assert without_steps(html) == without_steps(page_of(model[-1], seen))
    assert page_of(model, (rows.X, rows.labels)) == html
    assert page_of(model, (rows.X, 2 * rows.Y - 1)) == html
    assert page_of(model, (rows.X, sparse.csr_array(rows.Y))) == html
    turned = pd.DataFrame(rows.Y, columns=rows.label_names)[list(rows.label_names[::-1])]
    assert page_of(model, (rows.X, turned)) == html
    assert without_steps(page_of(model[-1], (seen.X, rows.labels))) == without_steps(html)


def a_table(rng, n=80):
    frame = pd.DataFrame(
        {"age": rng.normal(size=n), "town": rng.choice(["Bath", "Ely", "<b>York</b>"], n)}
    )
    labels = pd.DataFrame(
        {"warm": frame["age"] > 0, "old": frame["town"] == "Ely", "any": rng.random(n) > 0.5}
    ).astype(int)
    return frame, labels


def test_the_page_says_what_becomes_of_each_column(page_of, rng):
    frame, labels = a_table(rng)
    model = make_pipeline(Columns("as <i>it</i> is"), CamelClassifier()).fit(
        frame[:50], labels[:50]
    )
    html = page_of(model, (frame[50:], labels[50:]))
    assert sections(html) == [*FIRST, *ON_DATA, "columns", *LAST]
    assert "What becomes of each column" in html
    assert "<dt>Features</dt><dd>4, made from 2 columns</dd>" in html
    assert "&lt;b&gt;York&lt;/b&gt;, Bath, Ely</td>" in html
    assert "as &lt;i&gt;it&lt;/i&gt; is</td>" in html
    assert "<b>York" not in html
    assert "<i>it" not in html
    assert sections(page_of(model, None)) == [*FIRST, "columns", *LAST]


def test_a_pipeline_of_a_frame_takes_a_data_set_of_its_columns(page_of, rng):
    frame, labels = a_table(rng)
    frame["town"] = frame["town"].astype("category").cat.codes.astype(float)
    steps = ColumnTransformer(
        [
            ("number", StandardScaler(), ["age"]),
            ("place", OneHotEncoder(handle_unknown="ignore"), ["town"]),
        ]
    )
    model = make_pipeline(steps, CamelClassifier()).fit(frame[:50], labels[:50])
    data = Dataset(frame[50:][["town", "age"]], labels[50:])
    np.testing.assert_array_equal(
        evaluated(model, data).scores, model.decision_function(frame[50:])
    )
    assert page_of(model, data) == page_of(model, (frame[50:], labels[50:]))
    with pytest.raises(ValueError, match="The data has 3 features but the model 2"):
        evaluated(model, Dataset(np.zeros((4, 3)), np.zeros((4, 3))))


def test_a_pipeline_of_texts_has_a_page(page_of, rng):
    texts = rng.choice(["sun and sea", "rain", "wind and sea", "sand"], 60).tolist()
    labels = pd.DataFrame(
        {
            "wet": ["sea" in text or "rain" in text for text in texts],
            "warm": ["s" in text for text in texts],
        }
    ).astype(int)
    model = make_pipeline(TfidfVectorizer(), CamelClassifier()).fit(texts[:40], labels[:40])
    found = evaluated(model, (texts[40:], labels[40:]))
    np.testing.assert_array_equal(found.scores, model.decision_function(texts[40:]))
    assert sections(page_of(model, (texts[40:], labels[40:]))) == ALL


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_a_1d_y_is_taken_with_its_rows(page_of, classes, rng):
    X = rng.normal(size=(60, 3))
    y = np.array(classes)[np.arange(60) % len(classes)]
    model = make_pipeline(StandardScaler(), CamelClassifier()).fit(X[:40], y[:40])
    found = evaluated(model, (X[40:], y[40:]))
    expected = [[name == own for name in model[-1].label_names_] for own in y[40:]]
    assert found.relevant.tolist() == expected
    assert sections(page_of(model, (X[40:], y[40:]))) == (
        ALONE if len(classes) == 2 else WITHOUT_PROBABILITIES
    )


@pytest.mark.parametrize("combine", [False, True])
def test_what_the_columns_add_is_the_mean_over_the_rows(page_of, combine):
    given = pages.data(5, 120)
    model = CamelClassifierCV.from_preset(
        "quick", alphas=(0.5,), lambda2s=(0.1,), combine=combine
    ).fit(given.X[:60], given.labels[:60])
    told = sent(page_of(model, pages.new_rows(5, 60)), "importance")
    wanted = model.explain(given.X[60:], features=True).importance()
    order = np.argsort(-wanted.max(axis=1))
    assert told["columns"] == [f"f{g + 1}" for g in order]
    assert told["labels"] == list(range(5))
    np.testing.assert_allclose(numbers(told["values"]), wanted[order], rtol=1e-5)


def test_columns_made_from_one_source_are_one(page_of):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"town": rng.choice(["Bath", "Ely", "York"], 80), "size": rng.normal(size=80)}
    )
    Y = pd.DataFrame(
        {"old": (table["town"] == "York").astype(int), "large": (table["size"] > 0).astype(int)}
    )
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(table[:40], Y[:40])
    html = page_of(model, (table[40:], Y[40:]))
    assert sorted(sent(html, "importance")["columns"]) == ["size", "town"]
    assert "From 40 rows of the data and 2 columns." in html


def test_of_many_columns_and_labels_the_strongest_are_shown(page_of, monkeypatch):
    told = sent(page_of(pages.model(40, 60, 25), pages.new_rows(40, 60, 25)), "importance")
    assert (len(told["columns"]), len(told["labels"])) == (20, 30)
    assert numbers(told["values"]).shape == (20, 30)
    monkeypatch.setattr(model_page, "BLOCK", 1)  # a row at a time
    again = sent(page_of(pages.model(40, 60, 25), pages.new_rows(40, 60, 25)), "importance")
    np.testing.assert_allclose(numbers(again["values"]), numbers(told["values"]), rtol=1e-5)


def test_a_sentence_says_why_columns_are_not_shown(page_of, monkeypatch):
    html = page_of(pages.model(3, 60, kernel="exponential"), pages.new_rows(3, 60))
    assert sections(html) == ALL
    assert (
        "Scores can be shared among columns for the kernels rbf, laplacian and linear alone."
        in html
    )
    assert 'id="added"' not in html
    monkeypatch.setattr(model_page, "MOST_FACTORS", 1000)
    assert "takes too long for a page of a model of 60 training rows" in page_of(
        pages.model(3, 60), pages.new_rows(3, 60)
    )


def test_quality_counts_the_labels_that_are_known(page_of, rng):
    X, complete = rng.normal(size=(60, 3)), rng.integers(0, 2, size=(60, 3))
    model = CamelClassifier().fit(X[:40], complete[:40])
    gaps = np.where(rng.random((20, 3)) < 0.3, np.nan, complete[40:])
    gaps[:, 2] = np.nan
    found = evaluated(model, Dataset(X[40:], gaps))
    np.testing.assert_array_equal(found.truth, gaps)
    np.testing.assert_array_equal(evaluated(model, (X[40:], gaps)).truth, gaps)
    assert evaluated(model, (X[40:], complete[40:])).truth.dtype == np.int64
    context = quality_section(ModelFacts(model), found).context
    seven = evaluate(gaps, found.scores, found.predicted)
    assert [value for _, value, _ in context["metrics"]] == [
        rounded(value) for value in seven.values()
    ]
    for j, row in enumerate(context["table"][:2]):
        known = ~np.isnan(gaps[:, j])
        assert row[1] == gaps[known, j].sum()
        assert row[6] == average_precision_score(gaps[known, j], found.scores[known, j])
    assert np.isnan(context["table"][2][3:7]).all()  # a label that no row knows has no figures
    assert np.isnan(context["table"][2][8])
    assert sent(page_of(model, Dataset(X[40:], gaps)), "quality")["f1"][2] is None
    share = 100 * np.isnan(gaps).mean()
    assert context["note"].endswith(
        f"{share:.2g} % of the label entries are unknown: figures count the others."
    )
    assert "of the label entries are unknown" in page_of(model, Dataset(X[40:], gaps))
    assert (
        "unknown"
        not in quality_section(
            ModelFacts(model), evaluated(model, Dataset(X[40:], complete[40:]))
        ).context["note"]
    )


def test_why_this_label_tells_unknown_from_not_true(page_of):
    given = pages.data(4, 120)
    Y = given.Y[60:].astype(float)
    Y[::3, 1], Y[4], Y[:, 2] = np.nan, np.nan, np.nan
    model = pages.model(4, 60)
    found = evaluated(model, Dataset(given.X[60:], Y, label_names=given.label_names))
    facts = ModelFacts(model)
    flags = model_page.why_section(facts, found).data["flags"]
    np.testing.assert_array_equal(flags & model_page.UNKNOWN > 0, np.isnan(Y))
    np.testing.assert_array_equal(flags & model_page.TRUE > 0, Y == 1)
    assert "why" in sections(
        page_of(model, Dataset(given.X[60:], Y, label_names=given.label_names))
    )


def test_doubted_labels_contradict_their_scores_most(page_of):
    given = pages.data(4, 120)
    model = CamelClassifier(correlation="centred").fit(given.X[:60], given.labels[:60])
    X, Y = given.X[60:], given.Y[60:].astype(float)
    Y[0] = np.nan
    found = evaluated(model, Dataset(X, Y, label_names=given.label_names))
    section = model_page.doubted_section(ModelFacts(model), found)
    support = np.where(np.isnan(Y), np.inf, np.where(Y == 1, 1, -1) * model.decision_function(X))
    expected = sorted(support[support < 0])[:20]
    listed = [
        (int(row), given.label_names.index(label)) for row, label, *_ in section.context["table"]
    ]
    np.testing.assert_allclose([support[place] for place in listed], expected)
    html = page_of(model, Dataset(X, Y, label_names=given.label_names))
    assert "contradict their scores most" in html


def test_unknown_labels_do_not_count_in_coverage_and_calibration(page_of):
    given = pages.data(4, 120)
    model = CamelClassifier().fit(given.X[:60], given.labels[:60])
    X, Y = given.X[60:], given.Y[60:].astype(float)
    Y[::3, 1] = np.nan
    found = evaluated(model, Dataset(X, Y, label_names=given.label_names))
    (section,) = model_page.calibration_section(found)
    assert sum(section.data["counts"]) == (~np.isnan(Y)).sum()


def facts_of(model):
    page = model_page.model_page(model, None)
    return dict([*page.facts, *page.sections[-1].context["settings"]])


SUMMED = {
    "landmark": {"solver": "landmark", "n_landmarks": 20},
    "primal": {"solver": "primal", "kernel": "linear"},
}


@pytest.mark.parametrize(
    ("solver", "kept"), [("landmark", "20 landmarks"), ("primal", "12 columns")]
)
def test_the_page_of_a_model_fitted_by_sums_over_rows_says_so_and_claims_no_more(
    page_of, solver, kept
):
    model = pages.model(4, 60, **SUMMED[solver])
    html = page_of(model, pages.new_rows(4, 60))
    assert sections(html) == ALL
    shown = facts_of(model)
    assert (shown["Training rows"], shown["Solver"]) == ("60", f"sums over rows, by {kept}")
    assert shown["Thresholds and probabilities"] == "leave-one-out of all rows"


def test_the_page_says_how_many_rows_thresholds_come_from():
    given = pages.data(4, 12_000)
    model = CamelClassifier(solver="landmark", n_landmarks=5).fit(given.X, given.labels)
    assert 5_000 < model.n_judged_ < 12_000
    assert (
        facts_of(model)["Thresholds and probabilities"]
        == f"leave-one-out of a sample of {model.n_judged_:,} rows"
    )
    told = f"on a sample of {model.n_judged_:,} training rows, each left out in turn."
    assert model_page.model_page(model, None).findings[0].endswith(told)


def test_a_member_of_a_combination_has_a_page():
    given = pages.data(4, 60)
    options = {
        "alphas": (0.3,),
        "lambda2s": (0.1,),
        "scalings": ("none", "standard"),
        "solver": "landmark",
        "n_landmarks": 20,
    }
    member = CamelClassifierCV(combine=True, **options).fit(given.X, given.labels).members_[0]
    assert "Thresholds and probabilities" not in facts_of(member)


@pytest.mark.parametrize(
    ("solver", "told"),
    [("spectral", "exact closed form"), ("alternating", "the paper’s Algorithm 1")],
)
def test_the_page_names_the_other_solvers_too(solver, told):
    model = pages.model(3, 30, solver=solver, threshold="zero")
    assert facts_of(model)["Solver"] == told


def test_the_page_of_a_combination_names_landmarks_and_columns():
    given = pages.data(4, 60)
    model = CamelClassifierCV(
        representations=[("none", "rbf", 1.0), ("standard", "linear", 1.0)],
        combine=True,
        solver="landmark",
        n_landmarks=12,
        random_state=1,
    ).fit(given.X, given.labels)
    assert len(model.members_) == 2
    assert facts_of(model)["Solver"] == "sums over rows, by 12 landmarks and 12 columns"


@pytest.mark.parametrize("solver", SUMMED)
def test_memory_of_a_page_does_not_count_rows_that_were_summed_up(solver):
    given = pages.data(4, 60)
    many = CamelClassifier(**SUMMED[solver]).fit(given.X, given.labels)
    many.total_weight_ = 1e12
    assert facts_of(many)["Training rows"] == "1,000,000,000,000"
