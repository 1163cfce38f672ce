"""One pass over the candidates gives for each criterion what a search for it alone would choose."""

import numpy as np
import pytest

from reference.solver import leave_one_out_scores
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import correlation, kernel
from skcamel.camel.representation import Data, Grid, places, represent
from skcamel.camel.search import Rules, chosen_rule, search, usable
from skcamel.camel.thresholds import METRICS, Rule
from skcamel.metrics import LOSSES, NAMES, evaluate, macro_f1, micro_f1
from skcamel.presets import PRESETS

ALPHAS, LAMBDA2S = (0.0, 0.4, 0.8), (0.01, 0.1, 1.0)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(70, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(70, 5)) > 0.8).astype(int)
    Y[:3] = np.eye(3, 5)
    return X[:60], Y[:60], X[60:]


def checked(X, Y, weights=None):
    data = Data(X, np.where(Y > 0, 1.0, -1.0), weights)
    return data, correlation.learn(data.Y).S


@pytest.mark.parametrize("threshold", ["zero", "label", "auto"])
def test_each_winner_is_the_choice_of_its_own_search(rows, threshold):
    X, Y, new = rows
    search = CamelClassifierCV(ALPHAS, (1.0,), LAMBDA2S, (0.5, 1.0), scalings=("none", "standard"), threshold=threshold)
    for criterion, model in search.fit_each(X, Y).items():
        alone = CamelClassifierCV(**search.get_params() | {"scoring": criterion}).fit(X, Y)
        assert model.best_params_ == alone.best_params_
        assert model.best_score_ == alone.best_score_
        assert model.threshold_rule_ == alone.threshold_rule_
        np.testing.assert_array_equal(model.decision_function(new), alone.decision_function(new))
        np.testing.assert_array_equal(model.predict(new), alone.predict(new))
    assert not hasattr(search, "n_features_in_")


def test_the_table_is_that_of_literal_leave_one_out(rows):
    X, Y, _ = rows
    data, S = checked(X[:25], Y[:25])
    grid = Grid((0.0, 0.7), (0.5, 1.0), (0.1, 1.0), (("none", "rbf", 0.5), ("none", "linear", 1.0)))
    found = search(represent(data, grid, None), data, grid, S, Rule("zero"), NAMES)
    assert len(found.params) == len(grid) == 16
    for params, metrics in zip(found.params, found.metrics, strict=True):
        K = kernel.Kernel(params["kernel"], params["bandwidth"])(data.X, data.X)
        G = correlation.collaboration(S, params["alpha"])
        scores = leave_one_out_scores(K, data.Y, G, params["lambda1"], params["lambda2"])
        assert metrics == pytest.approx(evaluate(Y[:25], scores, scores > 0), abs=1e-9)


@pytest.mark.parametrize("criterion", NAMES)
def test_the_winner_leads_the_table_and_keeps_its_scores_and_solution(rows, criterion):
    X, Y, new = rows
    data, S = checked(X, Y)
    grid = Grid(ALPHAS, (1.0,), LAMBDA2S, places(["none", "standard"], ["rbf", "laplacian"], [0.5, 1.0]))
    found = search(represent(data, grid, None), data, grid, S, Rule("zero"), [criterion])
    winner = found.winners[criterion]
    values = np.array([-m[criterion] if criterion in LOSSES else m[criterion] for m in found.metrics])
    assert winner.index == values.argmax()
    assert (winner.score, winner.params) == (values.max(), found.params[winner.index])
    assert evaluate(Y, winner.scores, winner.scores > 0) == pytest.approx(found.metrics[winner.index], abs=1e-12)
    model = CamelClassifier(**winner.params).fit(X, Y)
    np.testing.assert_allclose(winner.solution.dual_coef, model.dual_coef_, atol=1e-9)


def test_members_have_the_least_squared_error_of_each_representation(rows):
    X, Y, _ = rows
    data, S = checked(X, Y)
    grid = Grid(ALPHAS, (1.0,), LAMBDA2S, places(["none", "standard"], ["rbf"], [0.5, 1.0]))
    found = search(represent(data, grid, None), data, grid, S, Rule("zero"), ["average_precision"], combine=True)
    assert [member.index // grid.width for member in found.members] == [0, 1, 2, 3]
    allowed = [index for index, params in enumerate(found.params) if params["alpha"] <= 0.5]
    for k, member in enumerate(found.members):
        errors = {}
        for index in (index for index in allowed if index // grid.width == k):
            one = search(represent(data, grid.only(index), None), data, grid.only(index), S, Rule("zero"), ["average_precision"]).winners[
                "average_precision"
            ]
            errors[index] = ((one.scores - data.Y) ** 2).sum()
        assert member.index == min(errors, key=errors.__getitem__)
        assert member.score == pytest.approx(-min(errors.values()))
    assert found.winners["average_precision"].index < grid.width


def test_lambda2_of_the_linear_kernel_counts_mean_eigenvalues(rows, rng):
    X, Y, _ = rows
    weights = rng.integers(1, 4, size=60).astype(float)
    for w in (None, weights):
        share = np.full(60, 1 / 60) if w is None else w / w.sum()
        unit = share @ ((X - share @ X) ** 2).sum(axis=1)
        for cv in ("loo", 3):
            found = CamelClassifierCV((0.5,), lambda2s=(0.1, 2.0), kernels=("linear",), cv=cv).fit(X, Y, sample_weight=w)
            np.testing.assert_allclose(found.cv_results_["param_lambda2"], [0.1 * unit, 2 * unit])
    far, near = (CamelClassifierCV((0.5,), kernels=("linear",)).fit(scale * X, Y) for scale in (1000.0, 1.0))
    np.testing.assert_allclose(far.decision_function(1000 * X), near.decision_function(X), atol=1e-9)


def test_a_criterion_that_no_row_defines_gives_way_to_hamming_loss(rows):
    X, Y, _ = rows
    models = CamelClassifierCV(ALPHAS, (1.0,), LAMBDA2S, threshold="auto").fit_each(X, Y[:, :1])
    assert models["average_precision"].scoring_ == models["hamming_loss"].scoring_ == "hamming_loss"
    assert models["average_precision"].best_params_ == models["hamming_loss"].best_params_
    full = np.ones((3, 2))
    assert usable("coverage", full) == "hamming_loss"
    assert usable("coverage", np.vstack([full, [1.0, -1.0]]), np.array([1.0, 1.0, 1.0, 0.0])) == "hamming_loss"
    assert usable("macro_f1", full) == "macro_f1"


@pytest.mark.parametrize("metric", METRICS)
def test_auto_is_the_best_of_three_rules_each_judged_on_rows_that_did_not_set_its_cuts(rows, metric, rng):
    _, Y, _ = rows
    relevant, scores = Y > 0, (2 * Y - 1) * 0.3 - 0.4 + rng.normal(size=Y.shape)
    part = np.random.default_rng(5).permutation(60) % 9
    groups = [np.isin(part, [g, g + 3, g + 6]) for g in range(3)]
    values = {}
    for rule in (Rule("zero"), Rule("common", metric), Rule("label", metric)):
        decided = np.zeros_like(relevant)
        for group in groups:
            decided[group] = scores[group] > rule.cuts(relevant[~group], scores[~group])
        literal = {"macro_f1": macro_f1, "micro_f1": micro_f1, "hamming_loss": lambda y, p: -np.mean(y != p)}[metric]
        ninths = [literal(relevant[part == k].astype(int), decided[part == k].astype(int)) for k in range(9)]
        values[rule] = -np.mean(relevant != decided) if metric == "hamming_loss" else np.mean(ninths)
    best = max(values, key=values.__getitem__)
    assert chosen_rule(relevant, scores, Rule("auto", metric), "", seed=5) == best
    assert Rules(relevant, None, 5).best_of({0: scores}, metric) == (0, pytest.approx(values[best]), best)


def test_auto_aims_at_the_criterion_where_that_is_one_of_decisions(rows):
    X, Y, _ = rows
    for scoring, metric in (("macro_f1", "macro_f1"), ("hamming_loss", "hamming_loss"), ("coverage", "micro_f1")):
        model = CamelClassifierCV((0.4,), lambda2s=(0.1,), scoring=scoring, threshold="auto").fit(X, Y)
        same = CamelClassifier(
            0.4, lambda2=0.1, threshold=model.threshold_rule_, threshold_metric=None if model.threshold_rule_ == "zero" else metric
        ).fit(X, Y)
        np.testing.assert_allclose(model.thresholds_, same.thresholds_, atol=1e-12)


def test_weights_of_one_change_no_rule(rows, rng):
    _, Y, _ = rows
    relevant, scores = Y > 0, rng.normal(size=Y.shape)
    for metric in METRICS:
        plain, weighted = (Rules(relevant, w, 0).best_of({0: scores}, metric) for w in (None, np.ones(60)))
        assert (plain[0], plain[2], plain[1]) == (weighted[0], weighted[2], pytest.approx(weighted[1]))


def test_rank_scaling_is_left_out_for_sparse_rows_unless_it_is_all_there_is():
    grid = Grid((0.0,), (1.0,), (1.0,), (("rank", "rbf", 1.0), ("none", "rbf", 1.0)))
    assert grid.for_rows(are_sparse=True).places == (("none", "rbf", 1.0),)
    assert grid.for_rows(are_sparse=False) is grid
    alone = Grid((0.0,), (1.0,), (1.0,), (("rank", "rbf", 1.0),))
    assert alone.for_rows(are_sparse=True) is alone


def test_representations_take_the_place_of_the_product(rows):
    X, Y, _ = rows
    tried = (("standard", "laplacian", 0.5), ("none", "rbf", 2.0))
    model = CamelClassifierCV((0.5,), lambda2s=(0.1,), representations=tried).fit(X, Y)
    assert [(p["scaling"], p["kernel"]) for p in model.cv_results_["params"]] == [place[:2] for place in tried]
    for wrong in ((), "none", (("none", "rbf"),), (("none", "rbf", 0.0),), (("odd", "rbf", 1.0),), (("none", "odd", 1.0),)):
        with pytest.raises(ValueError, match=r"representations|scaling|kernel"):
            CamelClassifierCV(representations=wrong).fit(X, Y)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_gives_an_estimator_whose_parameters_can_be_overruled(preset):
    model = CamelClassifierCV.from_preset(preset, sparsity=0.5, alphas=(0.2,))
    assert model.get_params() == CamelClassifierCV(**PRESETS[preset] | {"sparsity": 0.5, "alphas": (0.2,)}).get_params()
    with pytest.raises(ValueError, match="preset"):
        CamelClassifierCV.from_preset("fastest")
