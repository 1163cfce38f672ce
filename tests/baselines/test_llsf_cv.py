"""LLSFCV and JFSCCV: batches equal separate fits, and the table is scikit-learn's."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcamel.baselines import JFSC, JFSCCV, LLSF, LLSFCV, proximal
from skcamel.baselines.jfsc import RobustRegression, fisher
from skcamel.baselines.llsf import LeastSquares
from skcamel.baselines.proximal import label_distance
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.seven import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def small_llsf(**options):
    return LLSFCV([0.0, 0.5], [0.05, 1.0], [0.1], cv=2, **options)


def small_jfsc(**options):
    return JFSCCV([0.0, 0.1], [0.01], [0.05, 1.0], [0.1], cv=2, **options)


@parametrize_with_checks([small_llsf(), small_llsf(preset="fair"), small_jfsc()])
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(90, n_features=12, n_classes=5, random_state=0)
    return X, Y


@pytest.mark.parametrize(("search", "single"), [(LLSFCV, LLSF), (JFSCCV, JFSC)])
@pytest.mark.parametrize("options", [{}, {"preset": "fair"}, {"threshold": "tuned"}], ids=str)
def test_every_candidate_scores_as_a_separate_fit(data, search, single, options):
    X, Y = data
    model = search([0.0, 50.0], [0.01, 1.0], [0.1, 3.0], cv=3, **options).fit(X, Y)
    results = model.cv_results_
    for k, params in enumerate(results["params"]):
        folds = []
        for train, test in KFold(3).split(X):
            fitted = single(**params, **options).fit(X[train], Y[train])
            scores = fitted.decision_function(X[test])
            folds.append(evaluate(Y[test], scores, fitted.predict(X[test])))
        for name in NAMES:
            mean = np.mean([fold[name] for fold in folds]) * (-1 if name in LOSSES else 1)
            assert results[f"mean_test_{name}"][k] == pytest.approx(mean, abs=1e-9), (name, params)
        split = folds[1]["average_precision"]
        assert results["split1_test_score"][k] == pytest.approx(split, abs=1e-9)
    refit = single(**model.best_params_, **options).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), refit.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["llsf", "jfsc"])
@pytest.mark.parametrize("shape", [(60, 12), (20, 70)])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_batches_of_any_size_give_the_weights_of_separate_sequences(
    kind, shape, as_rows, rng, monkeypatch
):
    X = as_rows(rng.normal(size=shape) * (rng.random(shape) < 0.3))
    Y = (rng.random((shape[0], 5)) < 0.3).astype(float)
    R = label_distance(Y)
    candidates = [
        {"alpha": a, "beta": b, "gamma": b, "rho": r, "eta": r}
        for a, b, r in product((0.0, 0.1, 8.0), (0.01, 0.3, 2.0), (0.1, 10.0))
    ]
    problem = LeastSquares(X, Y, R)
    if kind == "jfsc":
        problem = RobustRegression(X, Y, R, fisher(X, Y))
    together = list(problem.solve(candidates))
    assert len({end.n_iter for end in together}) > 2
    monkeypatch.setattr(proximal, "IN_CACHE", 5 * problem.bytes_each)
    parts = list(problem.solve(candidates))
    for candidate, end, part in zip(candidates, together, parts, strict=True):
        (alone,) = problem.solve([candidate])
        assert alone.n_iter == end.n_iter == part.n_iter
        size = max(1.0, np.abs(end.W).max())  # weights may grow without bound
        np.testing.assert_allclose(alone.W, end.W, atol=1e-7 * size)
        np.testing.assert_allclose(part.W, end.W, atol=1e-7 * size)


def test_the_table_has_scikit_learns_form(data):
    X, Y = data
    model = small_llsf(scoring="hamming_loss", preset="fair").fit(X, Y)
    results = model.cv_results_
    np.testing.assert_array_equal(results["mean_test_score"], results["mean_test_hamming_loss"])
    assert (results["mean_test_score"] <= 0).all()
    assert results["rank_test_score"][model.best_index_] == 1
    assert model.best_score_ == results["mean_test_score"].max()
    assert model.best_params_ == results["params"][model.best_index_]
    assert (model.alpha_, model.beta_, model.rho_) == tuple(model.best_params_.values())
    np.testing.assert_array_equal(results["param_beta"], [0.05, 1.0, 0.05, 1.0])
    assert "std_test_score" in results


def test_grids_have_the_sizes_that_the_paper_prints():
    grids = [search.GRIDS[name] for search in (LLSFCV, JFSCCV) for name in ("coarse", "paper")]
    assert [np.prod(list(map(len, grid.values()))) for grid in grids] == [147, 1323, 125, 3993]
    assert LLSFCV.GRIDS["paper"]["alpha"][::10] == (2**-10, 1.0, 2**10)
    assert JFSCCV.GRIDS["paper"]["gamma"][::5] == (4**-5, 1.0, 4**5)


def test_splitters_sparse_rows_and_shuffling(data):
    X, Y = data
    splitter = ShuffleSplit(2, random_state=0)
    dense, thin = (
        small_llsf().set_params(cv=splitter).fit(form(X), Y).cv_results_["mean_test_score"]
        for form in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(dense, thin, atol=1e-9)
    first, again, plain = (
        small_llsf(random_state=seed).fit(X, Y).cv_results_["mean_test_score"]
        for seed in (0, 0, None)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != plain).any()
