"""The closed form is the limit of Algorithm 1, its leave-one-out scores are those of n refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference import solver as literal
from skcamel.arrays import to_numpy
from skcamel.camel import alternating, correlation, spectral
from solve import problems
from solve.problems import scores_of, solved

ALPHAS = (0.0, 0.3, 0.7, 1.0)
PENALTIES = ((1.0, 0.001), (1.0, 0.1), (0.1, 1.0), (10.0, 0.01))


@pytest.fixture(params=problems.KINDS)
def small(request):
    return problems.make(request.param)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_scores_are_the_fixed_point_of_algorithm_1_and_of_n_refits(small, alpha, weighted, rng, xp):
    K, Y, S = small
    G = correlation.collaboration(S, alpha)
    weights = rng.choice([0.3, 1.0, 2.0, 3.5], size=len(K)) if weighted else None
    for penalty in PENALTIES[:: 3 if weighted else 1]:
        spectrum, targets, solution = solved(K, Y, G, *penalty, weights, xp)
        wanted = literal.fixed_point_scores(K, Y, G, *penalty, weights)
        assert_allclose(scores_of(solution, K), wanted, atol=1e-8)
        basis = spectral.label_basis(xp(G))
        (scores,) = spectral.leave_one_out(spectrum, targets, [basis], [penalty])
        wanted = literal.leave_one_out_scores(K, Y, G, *penalty, weights)
        assert_allclose(to_numpy(scores), wanted, atol=1e-8)


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_papers_loop_ends_at_the_closed_form_where_G_is_well_conditioned(kind, alpha, xp):
    K, Y, S = problems.make(kind)
    G = correlation.collaboration(S, alpha)
    if np.linalg.svd(G, compute_uv=False).min() < 0.1 and kind != "singular G":
        turned = np.roll(np.eye(len(S)), 1, axis=1) * 0.5
        G = correlation.collaboration(turned, alpha) + 0.1 * np.eye(len(S))
    until = {"tol": 1e-13, "max_iter": 20_000}
    loop = alternating.solve(xp(K), xp(Y), xp(G), lambda1=1.0, lambda2=0.1, **until)
    _, _, exact = solved(K, Y, G, 1.0, 0.1)
    assert_allclose(scores_of(loop, K), scores_of(exact, K), atol=1e-8)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_papers_variables_satisfy_its_equations(small, alpha, weighted, rng):
    K, Y, S = small
    G = correlation.collaboration(S, alpha)
    weights = rng.uniform(0.5, 2, size=len(K)) if weighted else None
    _, _, s = solved(K, Y, G, 1.0, 0.1, weights)
    live = spectral.label_basis(G)
    unreached = Y - Y @ live.R @ live.R.T  # what lies outside the range of G no Z can reach
    penalties = {"lambda1": 1.0, "lambda2": 0.1, "weights": weights}
    residual = literal.stationarity(K, Y, G, s.A, s.b, s.Z, **penalties)
    assert residual < 1e-9 * max(1.0, abs(s.Z).max(), abs(unreached).max())
    assert_allclose(s.dual_coef, s.A @ G / 0.1, atol=1e-9 * max(1, abs(s.A).max()))
    assert_allclose(s.intercept, s.b @ G, atol=1e-9 * max(1, abs(s.b).max()))


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
        assert_allclose(diagonal(rho), direct(rho), rtol=1e-12)


@pytest.mark.parametrize("lambda2", [1e-3, 1e-5, 1e-8])
def test_small_ridges_lose_no_digits_to_the_constant_direction(lambda2):
    """A kernel with a large constant part; centring must not leave any of it behind."""
    K, Y, S = problems.make("plain")
    G = correlation.collaboration(S, 0.3)
    _, _, plain = solved(K, Y, G, 1.0, lambda2)
    _, _, lifted = solved(K + 1e3, Y, G, 1.0, lambda2)
    scale = abs(plain.dual_coef).max()
    assert_allclose(lifted.dual_coef / scale, plain.dual_coef / scale, atol=1e-7)
