"""The closed form is the fixed point of Algorithm 1, its leave-one-out scores are those of n refits."""

import numpy as np
import pytest

from reference import solver as literal
from skcamel.arrays import to_numpy
from skcamel.camel import correlation, spectral
from solve import problems

ALPHAS = (0.0, 0.3, 0.7, 1.0)
PENALTIES = ((1.0, 0.001), (1.0, 0.1), (0.1, 1.0), (10.0, 0.01))


@pytest.fixture(params=problems.KINDS)
def small(request):
    return problems.make(request.param)


def solved(K, Y, G, lambda1, lambda2, weights=None, xp=np.array):
    w = None if weights is None else xp(weights)
    spectrum = spectral.decompose(xp(K) + 0.0, w)
    targets = spectral.project(spectrum, xp(Y))
    return (
        spectrum,
        targets,
        spectral.solve_in(
            spectrum, targets, spectral.label_basis(xp(G)), lambda1=lambda1, lambda2=lambda2
        ),
    )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("lambda1", "lambda2"), PENALTIES)
def test_scores_are_the_fixed_point_of_algorithm_1(small, alpha, lambda1, lambda2, xp):
    G = correlation.collaboration(small.S, alpha)
    _, _, solution = solved(small.K, small.Y, G, lambda1, lambda2, xp=xp)
    scores = small.K @ to_numpy(solution.dual_coef) + to_numpy(solution.intercept)
    np.testing.assert_allclose(
        scores, literal.fixed_point_scores(small.K, small.Y, G, lambda1, lambda2), atol=1e-8
    )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("lambda1", "lambda2"), PENALTIES)
def test_leave_one_out_scores_are_those_of_n_refits(small, alpha, lambda1, lambda2, xp):
    G = correlation.collaboration(small.S, alpha)
    spectrum, targets, _ = solved(small.K, small.Y, G, lambda1, lambda2, xp=xp)
    basis = spectral.label_basis(xp(G))
    (scores,) = spectral.leave_one_out(spectrum, targets, [basis], [(lambda1, lambda2)])
    np.testing.assert_allclose(
        to_numpy(scores),
        literal.leave_one_out_scores(small.K, small.Y, G, lambda1, lambda2),
        atol=1e-8,
    )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_weighted_scores_and_leave_one_out_are_those_of_the_weighted_problem(alpha, rng, xp):
    K, Y, S = problems.make("plain")
    G = correlation.collaboration(S, alpha)
    weights = rng.choice([0.3, 1.0, 2.0, 3.5], size=len(K))
    spectrum, targets, solution = solved(K, Y, G, 1.0, 0.05, weights, xp)
    scores = K @ to_numpy(solution.dual_coef) + to_numpy(solution.intercept)
    np.testing.assert_allclose(
        scores, literal.fixed_point_scores(K, Y, G, 1.0, 0.05, weights), atol=1e-8
    )
    (loo,) = spectral.leave_one_out(spectrum, targets, [spectral.label_basis(xp(G))], [(1.0, 0.05)])
    np.testing.assert_allclose(
        to_numpy(loo), literal.leave_one_out_scores(K, Y, G, 1.0, 0.05, weights), atol=1e-8
    )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_papers_variables_satisfy_its_equations(small, alpha, weighted, rng):
    G = correlation.collaboration(small.S, alpha)
    weights = rng.uniform(0.5, 2, size=len(small.K)) if weighted else None
    _, _, s = solved(small.K, small.Y, G, 1.0, 0.1, weights)
    live = spectral.label_basis(G)
    Y = small.Y @ live.R @ live.R.T  # what lies outside the range of G no Z can reach
    Y_unreached = small.Y - Y
    residual = literal.stationarity(
        small.K, small.Y, G, s.A, s.b, s.Z, lambda1=1.0, lambda2=0.1, weights=weights
    )
    assert residual < 1e-9 * max(1.0, abs(s.Z).max(), abs(Y_unreached).max())
    np.testing.assert_allclose(s.dual_coef, s.A @ G / 0.1, atol=1e-9 * max(1, abs(s.A).max()))
    np.testing.assert_allclose(s.intercept, s.b @ G, atol=1e-9 * max(1, abs(s.b).max()))


@pytest.mark.parametrize("spread", [(1e-3, 1e2), (1e-6, 1e6), (1e-9, 1.0), (1e-3, 1e12)])
def test_interpolated_diagonal_equals_the_direct_one_to_rounding(spread, rng):
    X = rng.normal(size=(60, 2))
    spectrum = spectral.decompose(np.exp(-((X[:, None] - X[None]) ** 2).sum(-1)))
    ridges = np.exp(np.linspace(*np.log(spread), 400))
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, [ridges])
    direct = spectral.Diagonal(spectrum.values, spectrum.vectors, [])
    assert diagonal.nodes is not None
    assert direct.nodes is None
    for rho in (ridges, diagonal.nodes.rho):
        np.testing.assert_allclose(diagonal(rho), direct(rho), rtol=1e-12)


def test_held_out_scores_are_those_of_the_solution(rng):
    K, Y, S = problems.make("plain")
    train, test = slice(0, 11), slice(11, None)
    weights = rng.uniform(0.5, 2, 11)
    spectrum = spectral.decompose(K[train, train].copy(), weights)
    targets = spectral.project(spectrum, Y[train])
    for alpha in ALPHAS:
        G = correlation.collaboration(S, alpha)
        (scores,) = spectral.held_out(
            spectrum, targets, [spectral.label_basis(G)], [(1.0, 0.1)], K[test, train]
        )
        s = spectral.solve_in(spectrum, targets, spectral.label_basis(G), lambda1=1.0, lambda2=0.1)
        np.testing.assert_allclose(scores, K[test, train] @ s.dual_coef + s.intercept, atol=1e-10)


@pytest.mark.parametrize("lambda2", [1e-3, 1e-5, 1e-8])
def test_small_ridges_lose_no_digits_to_the_constant_direction(lambda2):
    """A kernel with a large constant part; centring must not leave any of it behind."""
    K, Y, S = problems.make("plain")
    G = correlation.collaboration(S, 0.3)
    _, _, plain = solved(K, Y, G, 1.0, lambda2)
    _, _, lifted = solved(K + 1e3, Y, G, 1.0, lambda2)
    scale = abs(plain.dual_coef).max()
    np.testing.assert_allclose(lifted.dual_coef / scale, plain.dual_coef / scale, atol=1e-7)


def test_a_null_direction_of_G_contributes_nothing_not_even_its_mean():
    K, Y, S = problems.make("singular G")
    basis = spectral.label_basis(S)
    assert basis.d.shape == (2,)
    _, _, s = solved(K, Y, S, 1.0, 0.1)
    scores = K @ s.dual_coef + s.intercept
    outside = np.eye(4) - basis.R @ basis.R.T
    np.testing.assert_allclose(scores @ outside, 0, atol=1e-12)


def test_an_indefinite_kernel_is_refused():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        spectral.decompose(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))


def test_one_row_has_nothing_to_learn_from():
    spectrum = spectral.decompose(np.ones((1, 1)))
    targets = spectral.project(spectrum, np.array([[1.0, -1.0]]))
    s = spectral.solve_in(
        spectrum, targets, spectral.label_basis(np.eye(2)), lambda1=1.0, lambda2=0.1
    )
    np.testing.assert_allclose(s.intercept, [1, -1])
    (loo,) = spectral.leave_one_out(
        spectrum, targets, [spectral.label_basis(np.eye(2))], [(1.0, 0.1)]
    )
    assert np.isfinite(loo).all()
