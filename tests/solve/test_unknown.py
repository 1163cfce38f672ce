"""Unknown labels: known entries alone count, and leave-one-out is near n refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import solver as literal
from skcamel.camel import correlation, spectral, unknown
from solve import problems
from solve.problems import scores_of

ALPHAS = (0.0, 0.3, 0.7)
PENALTIES = ((1.0, 0.01), (1.0, 0.1), (0.1, 1.0), (10.0, 0.05))


def hide(Y, share, seed=0):
    """Some entries unknown, but one row and one label less than all."""
    hidden = np.random.default_rng(seed).random(Y.shape) < share
    hidden[np.arange(Y.shape[1]) % len(Y), np.arange(Y.shape[1])] = False
    return np.where(hidden, np.nan, Y)


def solved(K, Y, G, lambda1, lambda2, weights=None, xp=np.array):
    spectrum = spectral.decompose(xp(K) + 0.0, None if weights is None else xp(weights))
    basis = spectral.label_basis(xp(G))
    return unknown.solve_in(spectrum, xp(Y), basis, lambda1=lambda1, lambda2=lambda2)


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_solve_the_problem_of_the_known_entries(kind, alpha, weighted, rng, xp):
    K, Y, S = problems.make(kind)
    Y, G = hide(Y, 0.5), correlation.collaboration(S, alpha)
    weights = rng.choice([0.3, 1.0, 2.0, 3.5], size=len(K)) if weighted else None
    for penalty in PENALTIES[:: 3 if weighted else 1]:
        solution, _ = solved(K, Y, G, *penalty, weights, xp)
        expected = literal.known_entries_scores(K, Y, G, *penalty, weights)
        assert_allclose(scores_of(solution, K), expected, atol=1e-8)


def test_the_papers_variables_minimise_the_objective_of_the_known_entries(rng):
    K, Y, S = problems.make("plain")
    Y, G = hide(Y, 0.5), correlation.collaboration(S, 0.5)
    s, _ = solved(K, Y, G, 1.0, 0.1)
    best = literal.objective(K, Y, G, s.A, s.b, s.Z, lambda1=1.0, lambda2=0.1)
    for scale in (1e-3, 1e-1):
        moved = [part + scale * rng.normal(size=part.shape) for part in (s.A, s.b, s.Z)]
        assert literal.objective(K, Y, G, *moved, lambda1=1.0, lambda2=0.1) > best
    assert_allclose(s.dual_coef, s.A @ G / 0.1, atol=1e-10)
    assert_allclose(s.intercept, s.b @ G, atol=1e-10)


def test_nothing_unknown_is_the_complete_problem():
    K, Y, S = problems.make("plain")
    G = correlation.collaboration(S, 0.6)
    spectrum, targets, complete = problems.solved(K, Y, G, 1.0, 0.1)
    (exact,) = spectral.leave_one_out(spectrum, targets, [spectral.label_basis(G)], [(1.0, 0.1)])
    solution, scores = solved(K, Y, G, 1.0, 0.1)
    assert_array_equal(solution.dual_coef, complete.dual_coef)
    assert_allclose(scores, exact, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("share", "closer"), [(0.2, 0.8), (0.5, 0.65)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_leave_one_out_is_near_that_of_refits_and_not_optimistic(weighted, share, closer, alpha):
    """Errors of known entries against n refits; scores with the filling fixed are farther away."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    Y = np.where(X @ rng.normal(size=(3, 4)) + rng.normal(size=(90, 4)) > 0, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8)
    weights = rng.choice([1.0, 2.0], size=90) if weighted else np.ones(90)
    hidden, G = hide(Y, share), correlation.collaboration(correlation.learn(Y).S, alpha)
    spectrum, basis = spectral.decompose(K.copy(), weights), spectral.label_basis(G)
    _, scores = unknown.solve_in(spectrum, hidden, basis, lambda1=1.0, lambda2=0.1)
    filled = unknown.fill(spectrum, hidden, basis, (1.0, 0.1)).labels
    targets = spectral.project(spectrum, filled)
    (held,) = spectral.leave_one_out(spectrum, targets, [basis], [(1.0, 0.1)])
    truth, known = np.empty(Y.shape), ~np.isnan(hidden)
    for i in range(90):
        w, rest = weights.copy(), hidden.copy()
        if w[i] == 1:
            rest[i] = np.nan  # a row of which nothing is known decides nothing
        else:
            w[i] -= 1
        solution, _ = solved(K, rest, G, 1.0, 0.1, w)
        truth[i] = scores_of(solution, K)[i]
    distance, of_held = (np.sqrt(((x - truth)[known] ** 2).mean()) for x in (scores, held))
    assert distance < closer * of_held
    error, true_error = (((x - hidden)[known] ** 2).mean() for x in (scores, truth))
    assert error == pytest.approx(true_error, rel=0.05)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_a_label_that_nobody_knows_scores_0_and_leaves_the_others_alone(alpha):
    K, Y, _ = problems.make("plain")
    Y = hide(Y, 0.3)
    Y[:, 2] = np.nan
    S, rest = correlation.learn(Y).S, [0, 1, 3]
    assert not S[2].any()
    assert not S[:, 2].any()
    G = correlation.collaboration(S, alpha)
    solution, scores = solved(K, Y, G, 1.0, 0.1)
    G = correlation.collaboration(S[np.ix_(rest, rest)], alpha)
    others, left = solved(K, Y[:, rest], G, 1.0, 0.1)
    assert not solution.dual_coef[:, 2].any()
    assert solution.intercept[2] == 0
    assert not scores[:, 2].any()
    assert_allclose(solution.dual_coef[:, rest], others.dual_coef, atol=1e-9)
    assert_allclose(scores[:, rest], left, atol=0.05)
