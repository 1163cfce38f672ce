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
