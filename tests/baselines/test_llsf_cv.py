"""LLSFCV and JFSCCV: batches equal separate fits, the table is scikit-learn's, memory keeps to its budget."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

import skcamel.baselines
from skcamel import metrics
from skcamel.baselines import JFSC, JFSCCV, LLSF, LLSFCV, proximal
from skcamel.baselines.jfsc import JFSCPenalties, RobustRegression, fisher
from skcamel.baselines.llsf import LeastSquares, LLSFPenalties
from skcamel.baselines.proximal import Arithmetic, batches, label_distance
from skcamel.baselines.search import Race
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.conventions import LOSSES

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
@pytest.mark.parametrize("memory_budget", [2**25, 1])
def test_every_candidate_scores_as_a_separate_fit(data, search, single, options, memory_budget):
    X, Y = data
    axes = {"alphas": [0.0, 0.2, 50.0], "betas": [0.01, 1.0]} | ({"gammas": [0.1, 3.0]} if search is JFSCCV else {"rhos": [0.1, 10.0]})
    model = search(**axes, cv=3, precision="double", memory_budget=memory_budget, **options).fit(X, Y)
    results = model.cv_results_
    assert len(results["params"]) == 12
    for k, params in enumerate(results["params"]):
        folds = []
        for train, test in KFold(3).split(X):
            fitted = single(**params, **options).fit(X[train], Y[train])
            folds.append(evaluate(Y[test], fitted.decision_function(X[test]), fitted.predict(X[test])))
        for name in NAMES:
            mean = np.mean([fold[name] for fold in folds]) * (-1 if name in LOSSES else 1)
            assert results[f"mean_test_{name}"][k] == pytest.approx(mean, abs=1e-9), (name, params)
        assert results["split1_test_score"][k] == pytest.approx(folds[1]["average_precision"], abs=1e-9)
    refit = single(**model.best_params_, **options).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), refit.decision_function(X), atol=1e-10)


@pytest.mark.parametrize(("search", "single"), [(LLSFCV, LLSF), (JFSCCV, JFSC)])
@pytest.mark.parametrize("options", [{}, {"threshold": "label"}, {"scoring": "coverage"}], ids=str)
def test_candidates_that_trail_leave_a_race(data, search, single, options):
    """Against separate fits that are judged row by row."""
    X, Y = data
    limit, scoring = 2.0, options.get("scoring", "average_precision")
    axes = {"alphas": [0.0, 0.2, 50.0], "betas": [0.01, 8.0]} | ({"gammas": [0.1, 9.0]} if search is JFSCCV else {"rhos": [0.1, 10.0]})
    whole, raced, unhurried = (search(**axes, cv=3, precision="double", race=race, **options).fit(X, Y) for race in (None, limit, 1e9))
    left, rows = set(range(12)), {k: [] for k in range(12)}
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        if fold:
            leader = max(sorted(left), key=lambda k: np.mean(rows[k]))
            gaps = {k: np.array(rows[leader]) - rows[k] for k in left}
            left = {k for k, gap in gaps.items() if gap.mean() <= limit * gap.std() / np.sqrt(len(gap))}
        for k in left:
            scores = single(**whole.cv_results_["params"][k]).fit(X[train], Y[train]).decision_function(X[test])
            mixed = [(y, s) for y, s in zip(Y[test], scores, strict=True) if 0 < y.sum() < len(y)]
            values = [getattr(metrics, scoring)([y], [s]) for y, s in mixed]
            rows[k] += [-value for value in values] if scoring in LOSSES else values
    assert 0 < len(left) < 12
    gone = np.array([k not in left for k in range(12)])
    for name in ("score", *NAMES):
        key = f"mean_test_{name}"
        assert np.isnan(raced.cv_results_[key][gone]).all()
        np.testing.assert_array_equal(raced.cv_results_[key][~gone], whole.cv_results_[key][~gone])
        np.testing.assert_array_equal(unhurried.cv_results_[key], whole.cv_results_[key])
    assert raced.best_index_ == np.nanargmax(raced.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(raced.predict(X), search(**axes, cv=3, precision="double", **options).fit(X, Y).predict(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_race_counts_known_entries_and_weights_of_rows(rng, weighted):
    Y = np.where(rng.random((80, 4)) < 0.3, np.nan, (rng.random((80, 4)) < 0.4).astype(float))
    weights = rng.integers(0, 3, size=80).astype(float) if weighted else None
    scores = [np.nan_to_num(Y) + noise * rng.normal(size=Y.shape) for noise in (0.5, 0.6, 5.0)]
    race = Race(3, "average_precision", limit=3.0)
    for k, F in enumerate(scores):
        race.add(k, Y, F)
    race.end_fold(Y, weights)
    ours = [np.average(race.values[k][0], weights=race.weights) for k in range(3)]
    np.testing.assert_allclose(ours, [metrics.average_precision(Y, F, sample_weight=weights) for F in scores])
    race.drop()
    assert race.left == [0, 1]


def test_rows_that_rank_nothing_end_no_race(data):
    X, Y = data
    model = small_jfsc(race=1.0).fit(X, Y[:, :1])
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("search", [LLSFCV, JFSCCV])
@pytest.mark.parametrize("preset", ["faithful", "fair"])
def test_single_precision_chooses_and_learns_as_double_does(data, search, preset):
    single, double = (search(cv=2, preset=preset, precision=precision).fit(*data) for precision in ("single", "double"))
    assert single.best_params_ == double.best_params_
    np.testing.assert_array_equal(single.decision_function(data[0]), double.decision_function(data[0]))
    apart = np.abs(single.cv_results_["mean_test_score"] - double.cv_results_["mean_test_score"])
    assert (apart < 5e-3).mean() > 0.98  # two labels of a row may change places, and a value that nears 0 may stop a sequence earlier


@pytest.mark.parametrize("kind", ["llsf", "jfsc"])
@pytest.mark.parametrize("shape", [(60, 12), (20, 70)])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_single_precision_follows_the_sequence_in_double(kind, shape, as_rows, rng):
    X = as_rows(rng.normal(size=shape) * (rng.random(shape) < 0.3))
    Y = (rng.random((shape[0], 5)) < 0.3).astype(float)
    grid = np.array([(a, b, r) for a in (0.0, 0.1, 8.0) for b in (0.01, 0.3, 2.0) for r in (0.1, 10.0)]).T
    runs = []
    for dtype in (np.float32, np.float64):
        if kind == "llsf":
            problem, penalties = LeastSquares(X, Y, label_distance(Y), Arithmetic(dtype)), LLSFPenalties(*grid)
        else:
            problem = RobustRegression(X, Y, label_distance(Y), fisher(X, Y), arithmetic=Arithmetic(dtype))
            penalties = JFSCPenalties(grid[0], grid[1], grid[1], grid[2])
        runs.append(problem.solve(penalties, max_iter=40, tol=1e-12))
    single, double = runs
    assert single.W.dtype == np.float32
    assert (double.W == 0).any()
    for k in range(grid.shape[1]):  # weights may grow without bound
        size = max(1.0, np.abs(double.W[:, k]).max())
        np.testing.assert_allclose(single.W[:, k], double.W[:, k], atol=1e-3 * size)


@pytest.mark.parametrize("single", [LLSF, JFSC])
@pytest.mark.parametrize("preset", ["faithful", "fair"])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_columns_of_zeros_change_nothing_and_weigh_nothing(data, single, preset, as_rows):
    X, Y = data
    wide = np.insert(X, [0, 4, 12], 0.0, axis=1)
    plain, model = single(preset=preset).fit(X, Y), single(preset=preset).fit(as_rows(wide), Y)
    np.testing.assert_allclose(model.decision_function(as_rows(wide)), plain.decision_function(X), atol=1e-9)
    assert model.coef_.shape == (5, 15)
    assert not model.coef_[:, [0, 5, 14]].any()
    wide[:, 5] = 1.0  # a feature that training never saw
    np.testing.assert_allclose(model.coef_ @ wide.T, model.coef_ @ np.insert(X, [0, 4, 12], 0.0, axis=1).T)
    if single is JFSC:
        np.testing.assert_allclose(np.delete(model.fisher_, [0, 5, 14], axis=1), plain.fisher_, atol=1e-9)
        assert not model.fisher_[:, [0, 5, 14]].any()


@pytest.mark.parametrize("search", [small_llsf, small_jfsc])
def test_columns_of_zeros_are_not_solved_for(data, search):
    X, Y = data
    problem = search()._problem(np.hstack([X, np.zeros((90, 30))]), Y.astype(float), None)[1]
    assert problem.X.shape[1] <= 13


def test_batched_weights_equal_separate_ones(data):
    X, Y = data[0] / np.linalg.norm(data[0], axis=1)[:, None], data[1].astype(float)
    grid = np.array([(a, b, r) for a in (0.0, 2**-3, 8.0, 1024.0) for b in (0.0, 2**-3, 8.0) for r in (0.1, 10.0)]).T
    problem = LeastSquares(X, Y, label_distance(Y))
    together = problem.solve(LLSFPenalties(*grid))
    assert len(set(together.n_iter)) > 5
    for k in range(grid.shape[1]):
        alone = problem.solve(LLSFPenalties(*grid[:, k : k + 1]))
        assert alone.n_iter[0] == together.n_iter[k]
        np.testing.assert_allclose(alone.W[:, 0], together.W[:, k], atol=1e-9)
    for budget in (1, 5000, 2**30):
        parts = list(problem.solve_batches(LLSFPenalties(*grid), max_iter=100, tol=1e-4, budget=budget))
        order = np.concatenate([index for index, _ in parts])
        np.testing.assert_array_equal(np.sort(order), np.arange(grid.shape[1]))
        np.testing.assert_allclose(np.concatenate([end.W for _, end in parts], axis=1), together.W[:, order], atol=1e-9)


def test_batches_cover_all_candidates_within_the_budget():
    assert [part.tolist() for part in batches(5, 10, 25)] == [[0, 1], [2, 3], [4]]
    assert [part.tolist() for part in batches(2, 10, 1)] == [[0], [1]]


@pytest.mark.parametrize("kind", ["llsf", "jfsc"])
@pytest.mark.parametrize("budget", [2**20, 2**23])
@pytest.mark.parametrize("threads", [1, 2])
def test_working_arrays_stay_within_the_budget(kind, budget, threads, rng, monkeypatch):
    monkeypatch.setattr(proximal, "allowed_threads", lambda: threads)
    X = rng.random((150, 60))
    Y = (rng.random((150, 8)) < 0.3).astype(float)
    grid = np.geomspace(1e-3, 1e-2, 400)
    if kind == "llsf":
        problem, penalties = LeastSquares(X, Y, label_distance(Y)), LLSFPenalties(np.full(400, 0.1), grid, np.full(400, 0.1))
    else:
        problem = RobustRegression(X, Y, label_distance(Y), fisher(X, Y))
        penalties = JFSCPenalties(grid, grid, grid, np.full(400, 0.1))
    tracemalloc.start()
    sizes = [len(index) for index, _ in problem.solve_batches(penalties, max_iter=4, tol=1e-4, budget=budget)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= budget + 2**17
    assert peak >= budget / 3  # and the budget is used
    assert len(sizes) > 1


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
    np.testing.assert_allclose(results["mean_test_score"], (results["split0_test_score"] + results["split1_test_score"]) / 2)
    assert "std_test_score" in results


def test_grids_have_the_sizes_that_the_paper_prints():
    sizes = {
        (search, name): int(np.prod([len(values) for values in search.GRIDS[name].values()]))
        for search in (LLSFCV, JFSCCV)
        for name in ("coarse", "paper")
    }
    assert list(sizes.values()) == [147, 1323, 125, 3993]
    assert LLSFCV.GRIDS["paper"]["alpha"][::10] == (2**-10, 1.0, 2**10)
    assert JFSCCV.GRIDS["paper"]["gamma"][::5] == (4**-5, 1.0, 4**5)


def test_the_papers_grid_on_request(data):
    X, Y = data
    model = LLSFCV(grid="paper", max_iter=3, cv=[(np.arange(60), np.arange(60, 90))]).fit(X, Y)
    assert len(model.cv_results_["params"]) == 1323
    np.testing.assert_array_equal(model.cv_results_["split0_test_score"], model.cv_results_["mean_test_score"])


def test_splitters_sparse_rows_and_shuffling(data):
    X, Y = data
    splitter = ShuffleSplit(2, random_state=0)
    dense = small_llsf().set_params(cv=splitter).fit(X, Y)
    thin = small_llsf().set_params(cv=splitter).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(dense.cv_results_["mean_test_score"], thin.cv_results_["mean_test_score"], atol=1e-9)
    first, again, plain = (small_llsf(random_state=seed).fit(X, Y).cv_results_["mean_test_score"] for seed in (0, 0, None))
    np.testing.assert_array_equal(first, again)
    assert (first != plain).any()


def test_one_label_falls_back_to_hamming_loss(data):
    X, Y = data
    model = small_jfsc().fit(X, Y[:, :1])
    assert model.scoring_ == "hamming_loss"
    assert model.predict(X).shape == (90, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": []}, "alphas must be a sequence with at least one value"),
        ({"alphas": 1.0}, "alphas must be a sequence"),
        ({"betas": [-1.0]}, "betas must be a number >= 0, got -1"),
        ({"rhos": [0.0]}, "rhos must be a number > 0"),
        ({"grid": "fine"}, "grid='fine' is not known"),
        ({"scoring": "auc"}, "scoring='auc' is not known"),
        ({"cv": "loo"}, "cv='loo' is not known"),
        ({"cv": []}, "cv gave no split"),
        ({"precision": "half"}, "precision='half' is not known"),
        ({"race": 0.0}, "race must be a number > 0"),
        (
            {"race": 3.0, "scoring": "micro_f1"},
            "race=3.0 compares rows, but scoring='micro_f1' is no mean over rows",
        ),
        ({"memory_budget": 0}, "memory_budget must be an integer >= 1"),
    ],
)
def test_wrong_parameters_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        LLSFCV(**options).fit(*data)


def test_public_names_are_pinned():
    assert sorted(skcamel.baselines.__all__) == dir(skcamel.baselines)
    assert {"LLSF", "LLSFCV", "JFSC", "JFSCCV"} < set(dir(skcamel.baselines))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = skcamel.baselines.nothing
