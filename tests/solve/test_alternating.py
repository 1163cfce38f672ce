"""The paper's Algorithm 1, and that the closed form is where it goes."""

import numpy as np
import pytest

from skcamel.arrays import to_numpy
from skcamel.camel import alternating, correlation, spectral
from solve import problems


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.7, 1.0])
def test_the_loop_ends_at_the_closed_form_where_G_is_well_conditioned(kind, alpha, xp):
    K, Y, S = problems.make(kind)
    G = correlation.collaboration(S, alpha)
    if np.linalg.svd(G, compute_uv=False).min() < 0.1 and kind != "singular G":
        G = correlation.collaboration(
            np.roll(np.eye(len(S)), 1, axis=1) * 0.5, alpha
        ) + 0.1 * np.eye(len(S))
    loop = alternating.solve(
        xp(K), xp(Y), xp(G), lambda1=1.0, lambda2=0.1, tol=1e-13, max_iter=20_000
    )
    spectrum = spectral.decompose(K.copy())
    exact = spectral.solve_in(
        spectrum, spectral.project(spectrum, Y), spectral.label_basis(G), lambda1=1.0, lambda2=0.1
    )
    scores = K @ to_numpy(loop.dual_coef) + to_numpy(loop.intercept)
    np.testing.assert_allclose(scores, K @ exact.dual_coef + exact.intercept, atol=1e-8)


def test_the_change_of_Z_falls_and_is_recorded():
    K, Y, S = problems.make("plain")
    loop = alternating.solve(
        K, Y, correlation.collaboration(S, 0.5), lambda1=1.0, lambda2=0.1, tol=1e-8
    )
    assert len(loop.convergence) == loop.n_iter > 3
    assert (np.diff(loop.convergence) < 0).all()
    assert loop.convergence[-1] <= 1e-8 * np.linalg.norm(loop.Z)


def test_weights_equal_repetition(rng):
    K, Y, S = problems.make("plain")
    G = correlation.collaboration(S, 0.4)
    weights = rng.integers(1, 4, size=len(K))
    index = np.repeat(np.arange(len(K)), weights)
    options = {"lambda1": 1.0, "lambda2": 0.1, "tol": 1e-12}
    weighted = alternating.solve(K, Y, G, weights=weights.astype(float), **options)
    repeated = alternating.solve(K[np.ix_(index, index)], Y[index], G, **options)
    of_weighted = K @ weighted.dual_coef + weighted.intercept
    np.testing.assert_allclose(
        of_weighted, K[:, index] @ repeated.dual_coef + repeated.intercept, atol=1e-8
    )
