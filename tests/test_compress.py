"""Compressed models: they score as least squares on centres says, hold no training row, and answer like any other model."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel import CamelClassifier, CamelClassifierCV, compress, compression, explain, load, save
from skcamel.baselines import LLSF
from skcamel.data import Dataset
from skcamel.kernel import Kernel
from skcamel.report import build_model_report
from skcamel.scaling import Scaling, ranked
from skcamel.selection.stream import blended

X, Y = make_multilabel_classification(200, n_features=6, n_classes=4, random_state=0)
NEW = make_multilabel_classification(50, n_features=6, n_classes=4, random_state=1)[0]
COMBINED = (
    ("none", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("standard", "linear", 1.0),
    ("rank", "laplacian", 0.5),
    ("rank", "rbf", 1.0),
)


def of_features(A, B):
    return np.exp(-0.005 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def combined():
    return CamelClassifierCV(alphas=(0.25, 0.5), lambda2s=(0.1,), representations=COMBINED, combine=True).fit(X, Y)


def search():
    return CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.1, 1.0), scalings=("standard",), threshold="label").fit(X, Y)


MODELS = {
    "rbf": lambda: CamelClassifier(alpha=0.4, scaling="standard").fit(X, Y),
    "laplacian": lambda: CamelClassifier(kernel="laplacian", scaling="minmax").fit(X, Y),
    "exponential": lambda: CamelClassifier(kernel="exponential").fit(X, Y),
    "rank": lambda: CamelClassifier(scaling="rank", kernel="laplacian").fit(X, Y),
    "unit": lambda: CamelClassifier(scaling="unit").fit(X, Y),
    "function": lambda: CamelClassifier(kernel=of_features).fit(X, Y),
    "weights": lambda: CamelClassifier(scaling="standard").fit(X, Y, np.linspace(0.5, 2, 200)),
    "alternating": lambda: CamelClassifier(solver="alternating", scaling="standard").fit(X, Y),
    "unknown": lambda: CamelClassifier(scaling="standard").fit(X, np.where(np.arange(800).reshape(200, 4) % 7, Y, np.nan)),
    "landmark": lambda: CamelClassifier(solver="landmark", n_landmarks=150, scaling="standard").fit(X, Y),
    "linear": lambda: CamelClassifier(kernel="linear").fit(X, Y),
    "primal": lambda: CamelClassifier(kernel="linear", solver="primal").fit(X, Y),
    "sparse": lambda: CamelClassifier(scaling="standard").fit(sparse.csr_array(X), Y),
    "classes": lambda: CamelClassifier(scaling="standard").fit(X, Y[:, 0] + 2 * Y[:, 1]),
    "one label": lambda: CamelClassifier(scaling="standard").fit(X, Y[:, 0]),
    "search": search,
    "combined": combined,
}


def members(model):
    return [own for _, own in model.weighted_members()]


@pytest.mark.parametrize("name", MODELS)
def test_scores_stay_close_and_reasons_add_up(name):
    model = MODELS[name]()
    before = model.decision_function(NEW)
    small = compress(model, 60)
    found = small.decision_function(NEW)
    assert type(small) is type(model)
    assert_array_equal(model.decision_function(NEW), before)  # the larger one stays as it is
    assert np.abs(found - before).mean() < 0.15
    reasons = small.explain(NEW)
    assert_allclose(reasons.base + reasons.parts.sum(axis=1), found.reshape(len(NEW), -1), atol=1e-9)
    for own, larger in zip(members(small), members(model), strict=True):
        assert_allclose(own.dual_coef_, own.A_ @ own.collaboration_ / own._lambda2, atol=1e-10)
        assert_array_equal(own.collaboration_, larger.collaboration_)
        assert own.solver_ == ("primal" if own._kernel.name == "linear" else "landmark")
        assert len(own.dual_coef_) <= max(60, 6)
    assert_array_equal(small.thresholds_, model.thresholds_)
    assert small.compression_["rows_after"] < small.compression_["rows_before"] or name == "primal"
    assert small.compression_["bytes_after"] < small.compression_["bytes_before"] or name == "primal"


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("landmark", "primal")])
def test_no_row_of_a_small_model_is_a_training_row(name):
    small = compress(MODELS[name](), 60)
    for own in members(small):
        if own.X_fit_ is not None:
            rows = own.scaled_rows(X)
            assert cdist(own.X_fit_, rows.toarray() if sparse.issparse(rows) else rows).min() > 1e-6
    assert not any(array.ndim == 2 and len(array) == len(X) for array in compression._arrays(small))


def test_the_fit_is_least_squares_with_a_small_ridge():
    model = CamelClassifier(alpha=0.4, scaling="standard").fit(X, Y)
    small = compress(model, 40)
    Z, rows, kernel = small.X_fit_, model.X_fit_, model._kernel
    rng = np.random.default_rng(0)
    assert_array_equal(blended(rows, 40, rng), Z)
    pairs = rng.integers(200, size=(2, 20 * len(Z) - 200))
    fitted = np.vstack([rows, [(rows[i] + rows[j]) / 2 for i, j in pairs.T]])
    targets = kernel(fitted, rows) @ model.dual_coef_ + model._offset
    values, vectors = np.linalg.eigh(kernel(Z, Z))
    whitening = vectors / np.sqrt(values)
    features = kernel(fitted, Z) @ whitening
    centred = features - features.mean(axis=0)
    stacked = np.vstack([centred, 0.1 * np.eye(len(Z))])  # ridge 0.01
    theta = np.linalg.lstsq(stacked, np.vstack([targets - targets.mean(axis=0), np.zeros((len(Z), 4))]), rcond=None)[0]
    scores = (kernel(model.scaled_rows(NEW), Z) @ whitening - features.mean(axis=0)) @ theta + targets.mean(axis=0)
    assert_allclose(small.decision_function(NEW), scores, atol=1e-8)
    errors = np.abs(small.decision_function(X) - model.decision_function(X))
    assert_allclose([small.compression_["mean_error"], small.compression_["max_error"]], [errors.mean(), errors.max()], atol=1e-10)
    assert_allclose(small._kernel_mean, kernel(rows, Z).mean(axis=0))


def test_centres_that_are_the_rows_give_the_same_scores(monkeypatch):
    monkeypatch.setattr(compression, "blended", lambda rows, count, rng: rows)
    monkeypatch.setattr(compression, "RIDGE", 1e-10)
    model = CamelClassifier(alpha=0.4, scaling="standard").fit(X, Y)
    small = compress(model, 200)
    assert_allclose(small.decision_function(NEW), model.decision_function(NEW), atol=1e-6)
    assert_allclose(small.base_scores_, model.base_scores_, atol=1e-6)
    assert_allclose(small.deviations(NEW), model.deviations(NEW), atol=1e-6)
    assert small.compression_["max_error"] < 1e-6


def test_more_centres_are_closer():
    model = CamelClassifier(scaling="standard").fit(X, Y)
    errors = [np.abs(compress(model, m).decision_function(NEW) - model.decision_function(NEW)).mean() for m in (10, 40, 160)]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("scaling", ["none", "standard", "unit"])
def test_a_linear_model_loses_nothing(scaling):
    model = CamelClassifier(kernel="linear", scaling=scaling).fit(X + 3, Y)
    small = compress(model, 2)
    assert_allclose(small.decision_function(NEW), model.decision_function(NEW), atol=1e-9)
    assert_allclose(small.intercept_, model.intercept_, atol=1e-9)
    assert_allclose(small.b_, model.b_, atol=1e-9)
    assert_allclose(small.base_scores_, model.base_scores_, atol=1e-9)
    assert small.X_fit_ is None
    assert small.compression_["max_error"] == 0
    assert compress(small).compression_["bytes_before"] == compress(small).compression_["bytes_after"]


def test_probabilities_and_answers_are_taken_over():
    model = search()
    small = compress(model, 100)
    assert_allclose(small.predict_proba(NEW), model.predict_proba(NEW), atol=0.2)
    assert (small.predict_sets(NEW) == model.predict_sets(NEW)).mean() > 0.8
    assert small.estimate_ == model.estimate_


def test_its_page_tells_that_it_is_compressed(tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
    build_model_report(compress(MODELS["rbf"](), 60), Dataset(NEW, Y[:50]), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "200 rows to 60 centres" in page
    assert "the model is compressed, and does not hold its training rows" in page


@pytest.mark.parametrize("name", [name for name in MODELS if name != "function"])
def test_a_file_gives_the_same_model(name, tmp_path):
    small = compress(MODELS[name](), 60)
    save(small, tmp_path / "small")
    again = load(tmp_path / "small")
    assert_array_equal(again.decision_function(NEW), small.decision_function(NEW))
    assert again.compression_ == small.compression_


def test_a_small_model_is_fitted_anew_like_any_other():
    model = CamelClassifier(scaling="standard").fit(X, Y)
    small = compress(model, 20)
    assert_array_equal(small.fit(X, Y).decision_function(NEW), model.decision_function(NEW))
    assert not hasattr(small, "compression_")


def test_given_landmarks_are_not_kept():
    model = CamelClassifier(solver="landmark", landmarks=X[:50]).fit(X, Y)
    assert compress(model, 20).landmarks == "uniform"
    assert len(model.landmarks) == 50


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_sample_of_rows_for_later_batches_is_left_out(kernel):
    model = CamelClassifier(solver="landmark", n_landmarks=50, kernel=kernel).partial_fit(X, Y)
    small = compress(model, 20)
    assert not hasattr(small, "_stream")
    assert not any(array.ndim == 2 and len(array) == len(X) for array in compression._arrays(small))
    assert hasattr(model, "_stream")


def test_other_rows_may_be_given():
    model = CamelClassifier(scaling="standard").fit(X, Y)
    small = compress(model, 40, NEW)
    rows = model.scaled_rows(NEW)
    assert_allclose(small._kernel_mean, model._kernel(rows, small.X_fit_).mean(axis=0))
    there = np.abs(small.decision_function(NEW) - model.decision_function(NEW))
    assert_allclose(small.compression_["mean_error"], there.mean())
    by_sums = CamelClassifierCV(
        alphas=(0.5,), lambda2s=(0.1,), representations=COMBINED[:2], combine=True, solver="landmark", n_landmarks=80
    ).fit(X, Y)
    with pytest.raises(ValueError, match="give rows X"):
        compress(by_sums, 40)
    assert np.abs(compress(by_sums, 40, X).decision_function(NEW) - by_sums.decision_function(NEW)).mean() < 0.15


def test_a_pipeline_keeps_its_steps():
    model = make_pipeline(StandardScaler(), make_pipeline("passthrough", CamelClassifier())).fit(X, Y)
    for small in (compress(model, 40), compress(model, 40, X)):
        assert small.steps[0] == model.steps[0]
        assert model[-1][-1].solver_ == "spectral"
        assert small[-1][-1].solver_ == "landmark"
        assert np.abs(small.decision_function(NEW) - model.decision_function(NEW)).mean() < 0.15
        assert_allclose(explain(small, NEW).scores, small.decision_function(NEW))


def test_members_that_see_the_same_rows_share_their_centres():
    places = (("rank", "laplacian", 0.5), ("rank", "laplacian", 1.0))
    model = CamelClassifierCV(alphas=(0.25,), lambda2s=(0.1,), representations=places, combine=True).fit(X, Y)
    small = compress(model, 40)
    assert len({id(own.X_fit_) for own in members(small)}) == len({id(own.X_fit_) for own in members(model)})
    assert small.compression_["rows_before"] == 200 * len({id(own.X_fit_) for own in members(model)})


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).normal(size=(40, 3)),
        np.arange(10.0)[:, None],  # means of neighbours are rows
        np.repeat(np.arange(10.0)[:, None] ** 2, 5, axis=0),  # clusters of equal rows
        np.random.default_rng(0).integers(2, size=(60, 5)).astype(float),
        np.random.default_rng(0).integers(3, size=(300, 2)).astype(float),
        np.array([[0.0], [1.0]]),
        1e6 + np.random.default_rng(0).normal(size=(40, 2)),
    ],
)
@pytest.mark.parametrize("count", [1, 7, 500])
def test_a_centre_is_never_a_row(rows, count):
    found = blended(rows, count, np.random.default_rng(0))
    assert 1 <= len(found) <= count
    assert cdist(found, rows).min() > 1e-9 * np.abs(rows).max()
    assert_array_equal(blended(sparse.csr_array(rows), count, np.random.default_rng(0)), found)


def test_rows_that_leave_no_centre_are_refused():
    with pytest.raises(ValueError, match="All rows are equal"):
        blended(np.ones((5, 2)), 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match="Every centre of the rows is one of them"):
        blended(np.array([[0.0], [1.0], [2.0]]), 1, np.random.default_rng(0))


@pytest.mark.parametrize("parts", [1, 5, 100, 10_000])
def test_thinned_ranks_stay_close(parts):
    values = np.random.default_rng(0).normal(size=(500, 3)).round(2)
    values[:300, 0] = 0.0
    whole = ranked(values)
    thin = whole.thinned(parts)
    assert np.diff(thin.ends, prepend=0).max() <= 2 * parts
    assert np.abs(thin(values) - whole(values)).max() <= 1 / parts
    assert_allclose(whole.values(whole(values)), values, atol=1e-12)
    for start, end in zip([0, *thin.ends[:-1]], thin.ends, strict=True):
        assert (np.diff(thin.knots[start:end]) > 0).all()


def test_what_cannot_be_compressed_is_refused():
    model = CamelClassifier().fit(X, Y)
    with pytest.raises(NotFittedError):
        compress(CamelClassifier())
    for count in (0, -1, 2.5, True, "many"):
        with pytest.raises(ValueError, match="n_landmarks must be an integer >= 1"):
            compress(model, count)
    with pytest.raises(ValueError, match="features"):
        compress(model, 10, X[:, :3])
    with pytest.raises(TypeError, match="holds no rows"):
        compress(LLSF().fit(X, Y))
    with pytest.raises(TypeError, match="This is a list"):
        compress([])
    with pytest.raises(ValueError, match="compress and kernel='precomputed' do not go together"):
        compress(CamelClassifier(kernel="precomputed").fit(X @ X.T, Y))


def test_the_least_squares_do_not_depend_on_the_unit_of_a_function():
    models = [CamelClassifier(kernel=partial(scaled, unit), lambda2=0.1 * unit).fit(X, Y) for unit in (1.0, 1000.0)]
    scores = [compress(model, 40).decision_function(NEW) for model in models]
    assert_allclose(scores[0], scores[1], atol=1e-7)


def scaled(unit, A, B):
    return unit * Kernel("rbf", 5.0)(A, B)


def test_scaling_without_ranks_is_the_same():
    model = CamelClassifier(scaling="standard").fit(X, Y)
    assert isinstance(compress(model, 10)._scaling, Scaling)
    assert compress(model, 10)._scaling is model._scaling
