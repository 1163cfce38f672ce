"""One pass over the candidates: the table is that of literal leave-one-out, and the best candidate is kept."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.solver import leave_one_out_scores
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import correlation, kernel
from skcamel.camel.representation import Data, Grid, represent
from skcamel.camel.search import search, usable
from skcamel.camel.thresholds import METRICS, thresholds
from skcamel.metrics import LOSSES, NAMES, evaluate
from skcamel.presets import PRESETS

ALPHAS, LAMBDA2S = (0.0, 0.4, 0.8), (0.01, 0.1, 1.0)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(70, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(70, 5)) > 0.8).astype(int)
    Y[:3] = np.eye(3, 5)
    return X[:60], Y[:60], X[60:]


def checked(X, Y, weights=None):
    if weights is None:
        weights = np.ones(len(X))
    data = Data(X, np.where(Y > 0, 1.0, -1.0), weights)
    return data, correlation.learn(data.Y).S


@pytest.mark.parametrize("criterion", NAMES)
def test_the_winner_leads_the_table_and_keeps_its_scores_and_solution(rows, criterion):
    X, Y, new = rows
    data, S = checked(X, Y)
    grid = Grid(
        ALPHAS,
        (1.0,),
        LAMBDA2S,
        tuple(product(("none", "standard"), ("rbf", "laplacian"), (0.5, 1.0))),
    )
    found = search(represent(data, grid, None), grid, S, criterion)
    (best,) = found.models
    values = np.array(
        [-m[criterion] if criterion in LOSSES else m[criterion] for m in found.metrics]
    )
    assert best.params == found.params[values.argmax()]
    assert evaluate(Y, best.scores, best.scores > 0) == pytest.approx(
        found.metrics[values.argmax()], abs=1e-12
    )
    model = CamelClassifier(**best.params).fit(X, Y)
    assert_allclose(best.solution.dual_coef, model.dual_coef_, atol=1e-9)


@pytest.mark.parametrize("criterion", ["micro_f1", "average_precision"])
def test_a_metric_of_decisions_compares_candidates_by_tuned_thresholds(rows, criterion):
    X, Y, _ = rows
    model = CamelClassifierCV(
        (0.0, 0.5), lambda2s=(0.01, 0.1), scoring=criterion, threshold="macro_f1"
    ).fit(X, Y)
    for params, value in zip(
        model.cv_results_["params"], model.cv_results_["mean_test_micro_f1"], strict=True
    ):
        data, S = checked(X, Y)
        K = kernel.Kernel("rbf", params["bandwidth"])(X, X)
        scores = leave_one_out_scores(
            K,
            data.Y,
            correlation.collaboration(S, params["alpha"]),
            params["lambda1"],
            params["lambda2"],
        )
        at = thresholds("macro_f1" if criterion in METRICS else "zero", Y > 0, scores)
        assert value == pytest.approx(evaluate(Y, scores, scores > at)["micro_f1"], abs=1e-9)


def test_members_have_the_least_squared_error_of_each_representation(rows):
    X, Y, _ = rows
    data, S = checked(X, Y)
    grid = Grid(
        ALPHAS, (1.0,), LAMBDA2S, tuple(product(("none", "standard"), ("rbf",), (0.5, 1.0)))
    )
    found = search(represent(data, grid, None), grid, S, "average_precision", combine=True)
    assert len(found.models) == 4
    for k, member in enumerate(found.models):
        width = len(found.params) // len(grid.places)
        own = range(k * width, (k + 1) * width)
        errors = {}
        for index in (index for index in own if found.params[index]["alpha"] <= 0.5):
            only = grid.only(index)
            (one,) = search(represent(data, only, None), only, S, "average_precision").models
            errors[index] = ((one.scores - data.Y) ** 2).sum()
        assert member.params == found.params[min(errors, key=errors.__getitem__)]


def test_lambda2_of_the_linear_kernel_counts_mean_eigenvalues(rows, rng):
    X, Y, _ = rows
    weights = rng.integers(1, 4, size=60).astype(float)
    for w in (None, weights):
        share = np.full(60, 1 / 60) if w is None else w / w.sum()
        unit = share @ ((X - share @ X) ** 2).sum(axis=1)
        for cv in ("loo", 3):
            found = CamelClassifierCV((0.5,), lambda2s=(0.1, 2.0), kernels=("linear",), cv=cv).fit(
                X, Y, sample_weight=w
            )
            assert_allclose(found.cv_results_["param_lambda2"], [0.1 * unit, 2 * unit])
    far, near = (
        CamelClassifierCV((0.5,), kernels=("linear",)).fit(scale * X, Y) for scale in (1000.0, 1.0)
    )
    assert_allclose(far.decision_function(1000 * X), near.decision_function(X), atol=1e-9)


def test_a_criterion_that_no_row_defines_gives_way_to_hamming_loss(rows):
    X, Y, _ = rows
    models = {
        name: CamelClassifierCV(ALPHAS, (1.0,), LAMBDA2S, scoring=name).fit(X, Y[:, :1])
        for name in ("coverage", "hamming_loss")
    }
    assert models["coverage"].scoring_ == models["hamming_loss"].scoring_ == "hamming_loss"
    assert models["coverage"].best_params_ == models["hamming_loss"].best_params_
    full = np.ones((3, 2))
    assert usable("coverage", full) == "hamming_loss"
    assert (
        usable("coverage", np.vstack([full, [1.0, -1.0]]), np.array([1.0, 1.0, 1.0, 0.0]))
        == "hamming_loss"
    )
    assert usable("macro_f1", full) == "macro_f1"


def test_representations_take_the_place_of_the_product(rows):
    X, Y, _ = rows
    tried = (("standard", "laplacian", 0.5), ("none", "rbf", 2.0))
    model = CamelClassifierCV((0.5,), lambda2s=(0.1,), representations=tried).fit(X, Y)
    assert [(p["scaling"], p["kernel"]) for p in model.cv_results_["params"]] == [
        place[:2] for place in tried
    ]
    for wrong in (
        (),
        "none",
        (("none", "rbf"),),
        (("none", "rbf", 0.0),),
        (("odd", "rbf", 1.0),),
        (("none", "odd", 1.0),),
    ):
        with pytest.raises(ValueError, match=r"representations|scaling|kernel"):
            CamelClassifierCV(representations=wrong).fit(X, Y)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_gives_an_estimator_whose_parameters_can_be_overruled(preset):
    model = CamelClassifierCV.from_preset(preset, sparsity=0.5, alphas=(0.2,))
    assert (
        model.get_params()
        == CamelClassifierCV(**PRESETS[preset] | {"sparsity": 0.5, "alphas": (0.2,)}).get_params()
    )
    with pytest.raises(ValueError, match="preset"):
        CamelClassifierCV.from_preset("fastest")
