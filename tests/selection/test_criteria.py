"""A winner for each criterion from one search is what seven searches would choose."""

import numpy as np
import pytest

from skcamel import CamelClassifierCV, correlation
from skcamel.metrics import NAMES, macro_f1, micro_f1
from skcamel.selection import criteria
from skcamel.selection.search import Data, Grid
from skcamel.selection.thresholds import Rule

ALPHAS, LAMBDA2S = (0.0, 0.4, 0.8), (0.01, 0.1, 1.0)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(70, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(70, 5)) > 0.8).astype(int)
    Y[:3] = np.eye(3, 5)
    return X[:60], Y[:60], X[60:]


def checked(X, Y):
    data = Data(X, np.where(Y > 0, 1.0, -1.0), None)
    return data, correlation.learn(data.Y).S


@pytest.mark.parametrize("criterion", NAMES)
def test_each_winner_is_the_choice_of_its_own_search(criterion, rows):
    X, Y, new = rows
    data, S = checked(X, Y)
    grids = [Grid(ALPHAS, (1.0,), LAMBDA2S, (0.5, 1.0), ("rbf",), ("none", "standard"))]
    found = criteria.winners(data, grids, S)
    model = CamelClassifierCV(ALPHAS, (1.0,), LAMBDA2S, (0.5, 1.0), scalings=("none", "standard"), scoring=criterion).fit(X, Y)
    assert found[criterion].params == model.best_params_
    assert found[criterion].score == pytest.approx(model.best_score_, abs=1e-12)
    scores, decisions = criteria.predict(found, data, new)[criterion]
    np.testing.assert_allclose(scores, model.decision_function(new), atol=1e-9)
    np.testing.assert_array_equal(decisions, model.predict(new))


@pytest.mark.parametrize("tuned", [False, True])
def test_a_criterion_that_is_undefined_takes_the_choice_of_hamming_loss(rows, tuned):
    X, Y, _ = rows
    data, S = checked(X, Y[:, :1])
    grids = [criteria.single("none", "rbf", 1.0, alphas=ALPHAS, lambda2s=LAMBDA2S)]
    found = criteria.winners(data, grids, S, tuned=tuned)
    assert found["average_precision"] is found["hamming_loss"]
    model = CamelClassifierCV(ALPHAS, (1.0,), LAMBDA2S, scoring="average_precision").fit(X, Y[:, :1])
    assert criteria.winners(data, grids, S)["average_precision"].params == model.best_params_ != next(iter(grids[0].candidates()))


def test_grids_are_searched_as_if_they_were_one(rows):
    X, Y, _ = rows
    data, S = checked(X, Y)
    together = criteria.winners(data, [Grid(ALPHAS, (1.0,), LAMBDA2S, (0.5, 1.0), ("rbf",), ("none",))], S)
    apart = criteria.winners(data, [criteria.single("none", "rbf", m, alphas=ALPHAS, lambda2s=LAMBDA2S) for m in (0.5, 1.0)], S)
    assert {name: winner.params for name, winner in together.items()} == {name: winner.params for name, winner in apart.items()}


def test_ranking_criteria_do_not_depend_on_tuned_cuts(rows):
    X, Y, _ = rows
    data, S = checked(X, Y)
    grids = [criteria.single("none", "rbf", 1.0, alphas=ALPHAS, lambda2s=LAMBDA2S)]
    plain, tuned = criteria.winners(data, grids, S), criteria.winners(data, grids, S, tuned=True)
    for name in ("one_error", "coverage", "ranking_loss", "average_precision"):
        assert tuned[name].params == plain[name].params
        assert tuned[name].rule == criteria.ZERO


def test_tuned_winners_decide_with_the_cuts_of_their_rule(rows):
    X, Y, new = rows
    data, S = checked(X, Y)
    found = criteria.winners(data, [criteria.single("none", "rbf", 1.0, alphas=(0.4,), lambda2s=(0.1,))], S, tuned=True)
    answers = criteria.predict(found, data, new)
    for name in ("hamming_loss", "macro_f1", "micro_f1"):
        winner = found[name]
        model = CamelClassifierCV((0.4,), lambda2s=(0.1,), threshold=winner.rule.mode, threshold_metric=winner.rule.metric).fit(X, Y)
        np.testing.assert_array_equal(answers[name][1], model.predict(new))


def test_metrics_of_parts_are_means_over_the_parts(rows, rng):
    _, Y, _ = rows
    relevant, decided = Y > 0, rng.random(Y.shape) < 0.3
    parts = criteria._Parts(relevant, seed=3)
    for name, metric in (("macro_f1", macro_f1), ("micro_f1", micro_f1)):
        literal = [metric(relevant[m > 0].astype(int), decided[m > 0].astype(int)) for m in parts.members]
        assert parts.value(name, decided) == pytest.approx(np.mean(literal), abs=1e-12)
    assert parts.value("hamming_loss", decided) == pytest.approx(-np.mean(relevant != decided))


def test_no_cut_is_judged_on_rows_that_set_it(rows, rng):
    _, Y, _ = rows
    relevant, scores, rule = Y > 0, rng.normal(size=Y.shape), Rule("label", "macro_f1")
    parts = criteria._Parts(relevant, seed=0)
    decided = parts.decisions(scores, rule)
    assert sum(int(group.sum()) for group in parts.groups) == len(Y)
    for group in parts.groups:
        cuts = rule.cuts(relevant[~group], scores[~group])
        np.testing.assert_array_equal(decided[group], scores[group] > cuts)


def test_weights_and_tuned_cuts_are_refused_together(rows):
    X, Y, _ = rows
    data, S = checked(X, Y)
    with pytest.raises(ValueError, match="equal weight"):
        criteria.winners(Data(data.X, data.Y, np.ones(len(X))), [], S, tuned=True)
