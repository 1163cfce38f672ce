"""Labels with unknown entries: the solution counts known entries alone, and leave-one-out scores are near those of refits."""

import numpy as np
import pytest

from reference import solver as literal
from skcamel.arrays import to_numpy
from skcamel.camel import correlation, spectral, unknown
from solve import problems

ALPHAS = (0.0, 0.3, 0.7)
PENALTIES = ((1.0, 0.01), (1.0, 0.1), (0.1, 1.0), (10.0, 0.05))


def hide(Y, share, seed=0):
    """Some entries unknown, but one row and one label less than all."""
    hidden = np.random.default_rng(seed).random(Y.shape) < share
    hidden[np.arange(Y.shape[1]) % len(Y), np.arange(Y.shape[1])] = False
    return np.where(hidden, np.nan, Y)


def solved(K, Y, G, lambda1, lambda2, weights=None, xp=np.array):
    spectrum = spectral.decompose(xp(K) + 0.0, None if weights is None else xp(weights))
    return unknown.solve_in(
        spectrum, xp(Y), spectral.label_basis(xp(G)), lambda1=lambda1, lambda2=lambda2
    )


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("lambda1", "lambda2"), PENALTIES)
def test_scores_solve_the_problem_of_the_known_entries(kind, alpha, lambda1, lambda2, xp):
    K, Y, S = problems.make(kind)
    Y, G = hide(Y, 0.5), correlation.collaboration(S, alpha)
    solution, _ = solved(K, Y, G, lambda1, lambda2, xp=xp)
    scores = K @ to_numpy(solution.dual_coef) + to_numpy(solution.intercept)
    np.testing.assert_allclose(
        scores, literal.known_entries_scores(K, Y, G, lambda1, lambda2), atol=1e-8
    )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_weights_count_for_known_entries(alpha, rng):
    K, Y, S = problems.make("plain")
    Y, G, weights = (
        hide(Y, 0.4),
        correlation.collaboration(S, alpha),
        rng.choice([0.3, 1.0, 2.0, 3.5], size=len(K)),
    )
    solution, _ = solved(K, Y, G, 1.0, 0.05, weights)
    expected = literal.known_entries_scores(K, Y, G, 1.0, 0.05, weights)
    np.testing.assert_allclose(K @ solution.dual_coef + solution.intercept, expected, atol=1e-8)


def test_the_papers_variables_minimise_the_objective_of_the_known_entries(rng):
    K, Y, S = problems.make("plain")
    Y, G = hide(Y, 0.5), correlation.collaboration(S, 0.5)
    s, _ = solved(K, Y, G, 1.0, 0.1)

    def value(A, b, Z):
        return literal.objective(K, Y, G, A, b, Z, lambda1=1.0, lambda2=0.1)

    best = value(s.A, s.b, s.Z)
    for scale in (1e-3, 1e-1):
        assert (
            value(*(part + scale * rng.normal(size=part.shape) for part in (s.A, s.b, s.Z))) > best
        )
    np.testing.assert_allclose(s.dual_coef, s.A @ G / 0.1, atol=1e-10)
    np.testing.assert_allclose(s.intercept, s.b @ G, atol=1e-10)


def test_nothing_unknown_is_the_complete_problem():
    K, Y, S = problems.make("plain")
    spectrum, basis = (
        spectral.decompose(K.copy()),
        spectral.label_basis(correlation.collaboration(S, 0.6)),
    )
    targets = spectral.project(spectrum, Y)
    solution, scores = unknown.solve_in(spectrum, Y, basis, lambda1=1.0, lambda2=0.1)
    complete = spectral.solve_in(spectrum, targets, basis, lambda1=1.0, lambda2=0.1)
    (exact,) = spectral.leave_one_out(spectrum, targets, [basis], [(1.0, 0.1)])
    np.testing.assert_array_equal(solution.dual_coef, complete.dual_coef)
    np.testing.assert_allclose(scores, exact, atol=1e-12)


def test_groups_are_refused():
    K, Y, S = problems.make("plain")
    spectrum, basis = spectral.decompose(K.copy()), spectral.label_basis(S)
    with pytest.raises(ValueError, match=r"groups has 16 entries.*GroupKFold\(5\)"):
        next(unknown.leave_one_out(spectrum, hide(Y, 0.4), [basis], PENALTIES, np.arange(16) // 2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("share", "closer"), [(0.2, 0.8), (0.5, 0.6)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_leave_one_out_is_near_that_of_refits_and_not_optimistic(weighted, share, closer, alpha):
    """Errors of known entries against n refits; scores that hold the filling fixed are farther away."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    Y = np.where(X @ rng.normal(size=(3, 4)) + rng.normal(size=(90, 4)) > 0, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8)
    weights = rng.choice([1.0, 2.0], size=90) if weighted else None
    hidden, G = hide(Y, share), correlation.collaboration(correlation.learn(Y).S, alpha)
    spectrum, basis = spectral.decompose(K.copy(), weights), spectral.label_basis(G)
    _, scores = unknown.solve_in(spectrum, hidden, basis, lambda1=1.0, lambda2=0.1)
    filled, _ = unknown.fill(spectrum, hidden, basis, (1.0, 0.1))
    (held,) = spectral.leave_one_out(
        spectrum, spectral.project(spectrum, filled), [basis], [(1.0, 0.1)]
    )
    truth, known = np.empty(Y.shape), ~np.isnan(hidden)
    for i in range(90):
        w, rest = np.ones(90) if weights is None else weights.copy(), hidden.copy()
        w[i] -= 1
        rest[i] = hidden[i] if w[i] else np.nan
        w[i] = w[i] or 1.0
        truth[i] = (lambda s: (K @ s.dual_coef + s.intercept)[i])(
            solved(K, rest, G, 1.0, 0.1, w)[0]
        )
    distance, of_held = (np.sqrt(((x - truth)[known] ** 2).mean()) for x in (scores, held))
    assert distance < closer * of_held
    error, true_error = (((x - hidden)[known] ** 2).mean() for x in (scores, truth))
    assert error == pytest.approx(true_error, rel=0.05)


def test_a_label_that_nobody_knows_scores_0_and_leaves_the_others_alone():
    K, Y, _ = problems.make("plain")
    Y = hide(Y, 0.3)
    Y[:, 2] = np.nan
    S = correlation.learn(Y).S
    assert not S[2].any()
    assert not S[:, 2].any()
    rest = [0, 1, 3]
    for alpha in (0.5, 1.0):
        solution, scores = solved(K, Y, correlation.collaboration(S, alpha), 1.0, 0.1)
        others, left = solved(
            K, Y[:, rest], correlation.collaboration(S[np.ix_(rest, rest)], alpha), 1.0, 0.1
        )
        assert not solution.dual_coef[:, 2].any()
        assert solution.intercept[2] == 0
        assert not scores[:, 2].any()
        np.testing.assert_allclose(solution.dual_coef[:, rest], others.dual_coef, atol=1e-9)
        np.testing.assert_allclose(scores[:, rest], left, atol=0.05)
